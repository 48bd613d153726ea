"""Why a claim is wrong: the slips that lead to exactly what was written, and how far each
explanation can be trusted.

A checker that can explain anything explains nothing. One change explains a claim; two do only where
the claim has four digits or more and no single one does. An explanation is named where a random
error of that size would seldom have had one; else, and where it has a free parameter, suggested.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.cases.values import plain_value
from symroof.claims.derive_claim import Derived, Steps
from symroof.claims.slips import (
    CATALOGUE,
    Context,
    SlipPrediction,
    context_of,
    predictions,
    two_slips,
)
from symroof.claims.written_number import WrittenNumber, read_written
from symroof.specs.claims import ClaimSpec
from symroof.units import describe, format_quantity, parse_unit, settled, significant

MOST_CHANCE = 0.2
"""A claim is named a slip where at most this share of random errors of its size would have been explained too."""
PLAIN_FACTOR = Fraction(3, 2)
"""The factor from which on the effect of a slip is plain to see in few digits."""
WIDEST, NARROWEST, SIZES = math.log(2), math.log(1.05), 3
"""A random error of the same size: the claim moved, evenly in its logarithm, by up to a factor of two either way; after a
small error by up to thrice that error, since slips with small effects are close together."""
NOTHING = 1e-300
"""The end of a span that has none below."""


@dataclass(frozen=True)
class SlipExplanation:
    """A slip that leads to the claimed value.

    Attributes:
        slip: its name; where it takes two, each has an explanation with the same text.
        named: whether it is reported as the reason; otherwise it is a suggestion.
        explains: the value it predicts, in base units; of a formula the formula.
        chance: the share of random errors of that size that the catalogue would have explained as well.
        cause: a sentence.
        times: the factor it makes: ``×8``.
    """

    slip: str
    named: bool
    explains: Fraction | str
    chance: float
    cause: str
    times: str = ""

    @property
    def text(self) -> str:
        """The sentence with its factor."""
        return ": ".join(filter(None, (self.cause, self.times)))

    def as_json(self) -> dict[str, Any]:
        numbers = {"explains": plain_value(self.explains), "chance": round(self.chance, 4)}
        return {"slip": self.slip, "named": self.named, **numbers, "text": self.text}


def factor_text(ratio: Fraction) -> str:
    """The factor that a slip makes: ``×8``, ``÷2``."""
    return f"×{significant(ratio)}" if ratio >= 1 else f"÷{significant(1 / ratio)}"


def chance(claimed: float, true: float, explained: Iterable[tuple[float, float]]) -> float:
    """The share of the claim's neighbourhood that lies in one of the spans of explained claims.

    >>> round(chance(8.0, 1.0, [(7.9, 8.1), (8.0, 8.2), (100, 101)]), 3)
    0.027
    >>> chance(8.0, 1.0, [(0, math.inf)])
    1.0
    """
    centre = math.log(claimed)
    reach = min(WIDEST, max(NARROWEST, SIZES * abs(math.log(claimed / true))))
    low, high = centre - reach, centre + reach
    covered, reached = 0.0, low
    for start, end in sorted(span for span in explained if 0 <= span[0] < span[1]):
        first = max(math.log(max(start, NOTHING)), reached)
        reached = max(reached, min(math.log(end), high))
        covered += max(reached - first, 0.0)
    return covered / (high - low)


def agreeing_ranges(
    values: Iterable[Fraction], written: WrittenNumber
) -> list[tuple[float, float]]:
    """For each value, the claims that would have agreed with it at the precision written.

    >>> from symroof.claims.written_number import read_written
    >>> [(round(low, 4), round(high, 4)) for low, high in agreeing_ranges([Fraction(200)], read_written("100", ""))]
    [(198.0198, 201.005)]
    """
    number, low = written.number, written.low - written.margin
    if low <= 0:
        return [(NOTHING, 1 / NOTHING)]
    cut = 0 if written.is_range else 2 * written.half_unit
    high = written.high + max(written.margin, cut)
    return [(float(value * number / high), float(value * number / low)) for value in values]


SELDOM_IN_PAIRS = 0.06
"""The same where two slips are needed: there are so many pairs."""
WORTH_SAYING = 1 / 3
"""The share up to which two slips of a rough number are suggested."""
PAIRED_DIGITS = 4
"""Digits from which on a claim is fine enough for two slips at once, or for one wrong digit."""
BINARY = "gb_gib"
"""The unit error that occurs together with any other: half of all texts write KB for KiB."""
MOST_CHANGES = 14
"""Changes of the case that are tried two by two."""
MOST_SUGGESTIONS = 3
EFFICIENCIES = (("mfu", "of the peak"), ("mbu", "of the bandwidth"))
"""Shares of a device's limits, each with the limit it is a share of."""
LEAST, CLOSE = Fraction(1, 20), Fraction(1, 1000)
"""The least efficiency worth a suggestion, and how close the claim has to be met with it."""


def upside_down(value: object, derived: Derived) -> tuple[SlipExplanation, ...]:
    """A value in the inverse of the derived value's unit: the formula is upside down.

    >>> first, *_ = upside_down("24 token/s", Derived(Fraction(140, 3350), "s"))
    >>> first.slip, first.text
    ('inverted_ratio', 'the formula is upside down: it gives 41.79 ms, and its inverse is what is claimed')
    """
    true, unit = derived.number, parse_unit(derived.unit)
    inverse = describe(tuple((name, -power) for name, power in unit.dimension))
    try:
        written = read_written(value, inverse)
    except ValueError:
        return ()
    if not written.above_zero or not true or true <= 0:
        return ()
    gives = f"it gives {format_quantity(true, derived.unit)}"
    options = {
        1 / true: f"the formula is upside down: {gives}, and its inverse is what is claimed",
        true: f"the result is read as its inverse: {gives}",
        1000 * true: f"the result in thousandths is read as its inverse: {gives}",
    }
    share = chance(float(written.number), float(1 / true), agreeing_ranges(options, written))
    option = next(filter(written.agrees, options), None)
    if option is None:
        return ()
    named = share <= MOST_CHANCE
    return (SlipExplanation("inverted_ratio", named, option, share, options[option]),)


def explain(
    claim: ClaimSpec, written: WrittenNumber | None, derived: Derived, steps: Steps | None = None
) -> tuple[SlipExplanation, ...]:
    """The slips that lead to what was written, best first; nothing for a bound or a label.

    What could not be read is of another dimension: of the inverse one where the formula is upside
    down. ``steps`` are the numbers that arithmetic may name besides the case's.

    >>> from symroof.claims.derive_claim import derived
    >>> claim = ClaimSpec(id="kv", quantity="kv_cache_bytes", given={"model": "llama-3-70b", "prompt": 4096}, value="10.74 GB")
    >>> first, *_ = explain(claim, read_written("10.74 GB", "byte"), derived(claim))
    >>> first.slip, first.named, first.text
    ('gqa_forgotten', True, 'query heads used for KV heads in the cache: ×8')
    """
    true = derived.number
    if true is None or true <= 0:
        return ()
    if written is None:
        return upside_down(claim.value, derived)
    claimed = written.value
    if claimed is None or written.operator or claimed <= 0:
        return ()
    context = context_of(claim, derived, written.text, steps)
    every = (prediction for way in CATALOGUE for prediction in predictions(context, way))
    able = (p for p in every if p.way.least_digits <= written.digits)
    singles = [p for p in able if _differs(p, context, written)]
    tried = (of(singles, context, written) for of in (_of_one_slip, _of_digits, _of_two_slips))
    found = next(filter(None, tried), [])
    if not found and written.hedged_number and not claimed % (20 * written.half_unit):
        half, digits = 10 * written.half_unit, written.digits - 1  # "about 280": the 0 is rounded
        rounded = replace(written, half_unit=half, digits=digits, hedged_number=False)
        return explain(claim, rounded, derived, steps)
    return (*found, *_of_free_parameters(context, claimed))


def _differs(prediction: SlipPrediction, context: Context, written: WrittenNumber) -> bool:
    """Whether a prediction differs from the true value by more than the digits can hide."""
    return abs(prediction.value / context.value - 1) > written.half_unit / written.number


def _share(
    values: Iterable[Fraction],
    context: Context,
    written: WrittenNumber,
    more: Iterable[tuple[float, float]] = (),
) -> float:
    """The share of random errors of the claim's size that some predicted value would explain."""
    reached = (*agreeing_ranges(values, written), *more)
    return chance(float(written.number), float(context.value), reached)


def _of_one_slip(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """Single slips of the catalogue."""
    matches = _ordered(singles, written)
    if not matches:
        return []
    true = context.value
    plain = (p for p in singles if max(p.value, true) > PLAIN_FACTOR * min(p.value, true))
    frequent = [p for p in plain if p.way.common]
    share, common = (_share([p.value for p in s], context, written) for s in (singles, frequent))
    # many slips would do; of those that happen all the time few
    often = frequent if share > MOST_CHANCE >= common else []
    explained = []
    for p in sorted(matches, key=lambda p: p not in often):
        own = common if p in often else share
        explained += _explained(p, own <= MOST_CHANCE, own, context)
    return explained if share <= MOST_CHANCE else explained[:MOST_SUGGESTIONS]


def _of_digits(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """Two neighbouring digits swapped, from three digits on."""
    rough = written.digits < PAIRED_DIGITS - 1 or written.is_range or written.hedged_number
    options = {} if rough else digit_slips(context.value, 2 * written.half_unit)
    if written.number not in options:
        return []
    half = float(written.half_unit)
    swapped = ((float(value) - half, float(value) + half) for value in options)
    share = _share([p.value for p in singles], context, written, swapped)
    named, times = share <= MOST_CHANCE, factor_text(written.number / context.value)
    cause = options[written.number]
    return [SlipExplanation("arithmetic", named, written.number, share, cause, times)]


def _of_two_slips(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """Two slips at once, where the claim is fine enough to tell; in a rough one, a slip in a number
    whose prefix was binary is suggested."""
    fine = written.digits >= PAIRED_DIGITS
    able = [p for p in reversed(singles) if p.way.paired and not written.is_range]
    cases = list({p.value: p for p in able if not p.way.result}.values())[::-1]
    results = list({p.value: p for p in able if p.way.result}.values())[::-1]
    tried = itertools.combinations([*cases[:MOST_CHANGES], *results], 2)
    both = (two_slips(context, one, two) for one, two in tried if one.slips != two.slips)
    pairs = [p for p in both if p and _differs(p, context, written) and (fine or BINARY in p.slips)]
    if not (matches := _ordered(pairs, written)):
        return []
    share = _share([p.value for p in (*singles, *pairs)], context, written)
    if fine or share <= WORTH_SAYING:
        return _explained(matches[0], fine and share <= SELDOM_IN_PAIRS, share, context)
    return []


def _ordered(predictions: Iterable[SlipPrediction], written: WrittenNumber) -> list[SlipPrediction]:
    """The predictions that agree, those that round to the claim first; each slip once."""
    matches: dict[tuple[str, ...], SlipPrediction] = {}
    agreeing = [p for p in predictions if written.agrees(p.value)]
    agreeing.sort(key=lambda p: abs(p.value - written.number) > written.margin)
    for prediction in agreeing:
        matches.setdefault(prediction.slips, prediction)
    return list(matches.values())


def _explained(
    prediction: SlipPrediction, named: bool, share: float, context: Context
) -> list[SlipExplanation]:
    """A prediction in words; two slips at once are listed under both names."""
    value = prediction.value
    why = " and ".join(prediction.texts), factor_text(value / context.value)
    return [SlipExplanation(slip, named, value, share, *why) for slip in prediction.slips]


def _of_free_parameters(context: Context, claimed: Fraction) -> Iterator[SlipExplanation]:
    """An efficiency or a fixed time that would make the claim true. A parameter can be fitted to
    almost any number, so it is only suggested; ``chance`` is how little it explains."""
    for name, meaning in (one for one in EFFICIENCIES if context.depends_on(one[0])):

        def at(value: Fraction, name: str = name) -> Fraction:
            return next(iter(context.values_with({name: value})), Fraction(0))

        most, least = at(Fraction(1)), at(LEAST)
        low, high = sorted((most, least))
        if not low or not low <= claimed <= high:
            continue
        rising = least > most  # a time is the longer, the less of the peak is reached
        share = LEAST * (least / claimed if rising else claimed / least)
        if share < 1 and abs(at(share) / claimed - 1) < CLOSE:
            text = f"holds at {name} {significant(share, 3)}: that share {meaning} is reached"
            odds = chance(float(claimed), float(context.value), [(float(low), float(high))])
            yield SlipExplanation("hidden_efficiency", False, claimed, odds, text)
    timed = context.unit == "s" and context.claim.form == "quantity"
    if timed and claimed > context.value and context.dependencies is not None:
        left = format_quantity(claimed - context.value, "s", 3)
        text = f"{left} more than derived: a fixed overhead of that length"
        spans = [(float(context.value), float("inf"))]
        odds = chance(float(claimed), float(context.value), spans)
        yield SlipExplanation("hidden_overhead", False, claimed, odds, text)


def digit_slips(derived: Fraction, unit: Fraction) -> dict[Fraction, str]:
    """The derived value, rounded or cut off to whole multiples of ``unit``, with two neighbouring
    digits swapped; and which number that was.

    >>> digit_slips(Fraction("1978.9"), Fraction(1))[Fraction(1987)]
    'two digits swapped in 1978'
    """
    exact = settled(derived / unit)
    whole = {str(round(exact)), str(exact.numerator // exact.denominator)}
    slipped: dict[Fraction, str] = {}
    for digits in sorted(whole):
        for i in range(len(digits) - 1):
            read = digits[:i] + digits[i + 1] + digits[i] + digits[i + 2 :]
            if read not in whole and read[0] != "0":
                slipped.setdefault(int(read) * unit, f"two digits swapped in {digits}")
    return slipped
