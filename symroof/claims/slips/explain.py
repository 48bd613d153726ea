"""Why a claim is wrong: the slips that lead to exactly what was written, and how far each explanation can be trusted.

A checker that can explain anything explains nothing. One change explains a claim; two do only where the claim has four
digits or more and no single one does. An explanation is named where a random error of that size would seldom have had
one; else it is suggested. A slip with a free parameter is only ever suggested.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.claims.claim_settings import settings_text, with_settings
from symroof.claims.derive_claim import Derived, Steps, derived
from symroof.claims.read.written_number import CLOSE_ENOUGH, WrittenNumber, read_written
from symroof.claims.slips.context import FAILURES, Context, context_of
from symroof.claims.slips.explanation import (
    MOST_CHANCE,
    SlipExplanation,
    agreeing_ranges,
    chance,
    factor_text,
)
from symroof.claims.slips.free_parameters import fitted_parameters
from symroof.claims.slips.label_slips import explain_label
from symroof.claims.slips.predictions import SlipPrediction, predictions, two_slips
from symroof.claims.slips.simplifications import (
    NO_LINKS,
    SIMPLIFIED_FORMS,
    simplified_settings,
    uses_links,
    with_round_params,
)
from symroof.claims.slips.slip_catalogue import CATALOGUE, OTHER_COUNTS, Slip
from symroof.specs.claims import ClaimSpec
from symroof.units import describe, format_quantity, parse_unit, settled

SELDOM_IN_PAIRS = 0.06
"""The same where two slips are needed: there are so many pairs."""
PLAIN_FACTOR = Fraction(3, 2)
"""The factor from which on the effect of a slip is plain to see in few digits."""
WORTH_SAYING = 1 / 3
"""The share up to which two slips of a rough number are suggested: an explanation that fits any number is worthless."""
PAIRED_DIGITS = 4
"""Digits from which on a claim is fine enough for two slips at once, or for one wrong digit."""
BINARY = "gb_gib"
"""The unit error that occurs together with any other: half of all texts write KB for KiB."""
OF_NOTATION = frozenset(
    {BINARY, "bits_bytes", "decimal_point", "decimal_binary_k", "inverted_ratio", "hours_seconds"}
)
"""Slips of units, whose factors any count of a power of two is made of."""
MOST_CHANGES = 14
"""Changes of the case that are tried two by two."""
MOST_SUGGESTIONS = 3
MOST_LEVELS = 3
"""Simplified counts that are combined with a slip."""


def explanations(claim: ClaimSpec) -> tuple[SlipExplanation, ...]:
    """The slips behind a claim's value; a value of the inverse dimension is a ratio upside down, and a bound, a truth or a label
    is only ever suggested one."""
    result = derived(claim)
    if result.value is None:
        return ()
    try:
        written = read_written(claim.value, result.unit if result.number is not None else "")
    except ValueError:
        return upside_down(claim.value, result) if result.number is not None else ()
    if not written.operator and written.word is None:
        return explain(claim, written, result)
    return (
        () if claim.for_all else explain_label(claim, written, result)
    )  # a range has room for too many changes to tell one from another


def upside_down(value: object, derived: Derived) -> tuple[SlipExplanation, ...]:
    """A value in the inverse of the derived value's unit: the formula is upside down, or its result was read as the inverse.

    >>> first, *_ = upside_down("24 token/s", Derived(Fraction(140, 3350), "s"))
    >>> first.slip, first.text
    ('inverted_ratio', 'the formula is upside down: it gives 41.79 ms, and its inverse is what is claimed')
    """
    true = derived.number
    assert true is not None
    try:
        written = read_written(
            value,
            describe(tuple((name, -power) for name, power in parse_unit(derived.unit).dimension)),
        )
    except ValueError:
        return ()
    if written.value is None or written.operator or written.value <= 0 or true <= 0:
        return ()
    gives = f"it gives {format_quantity(true, derived.unit)}"
    options = {
        1 / true: f"the formula is upside down: {gives}, and its inverse is what is claimed",
        true: f"the result is read as its inverse: {gives}",
        1000 * true: f"the result in thousandths is read as its inverse: {gives}",
    }
    share = chance(float(written.number), float(1 / true), agreeing_ranges(options, written))
    return tuple(
        SlipExplanation("inverted_ratio", share <= MOST_CHANCE, v, share, text)
        for v, text in options.items()
        if written.agrees(v)
    )[:1]


def explain(
    claim: ClaimSpec, written: WrittenNumber, derived: Derived, steps: Steps | None = None
) -> tuple[SlipExplanation, ...]:
    """The slips that lead to what was written, best first; nothing for a bound, a label or what has no value.

    ``steps`` are the numbers that arithmetic may name besides the case's.

    >>> claim = ClaimSpec(id="kv", quantity="kv_cache_bytes", given={"model": "llama-3-70b", "prompt": 4096}, value="10.74 GB")
    >>> first, *_ = explain(claim, read_written("10.74 GB", "byte"), derived(claim))
    >>> first.slip, first.named, first.text
    ('gqa_forgotten', True, 'query heads used for KV heads in the cache: ×8')
    """
    if (
        written.value is None
        or written.operator
        or written.value <= 0
        or derived.number is None
        or derived.number <= 0
    ):
        return ()
    context = context_of(claim, derived, written.text, steps)
    singles = [
        p
        for slip in CATALOGUE
        for p in predictions(context, slip)
        if _differs(p.value, context, written) and p.digits <= written.digits
    ]
    explained = _of_formulas(singles, context, written) or _of_digits(singles, context, written)
    if not explained:
        simplified_settings, pairs = (
            _of_levels(singles, context, written),
            _of_pairs(singles, context, written),
        )
        explained = (
            simplified_settings
            if simplified_settings and (simplified_settings[0].named or not pairs)
            else pairs
        )
    return (*explained, *fitted_parameters(context, written.value))


def _differs(value: Fraction, context: Context, written: WrittenNumber) -> bool:
    """Whether a prediction differs from the true value by more than the digits written can hide."""
    return abs(value / context.value - 1) > written.half_unit / written.number


def _of_formulas(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """Single slips of the catalogue."""
    matches = _ordered(singles, written)
    if not matches:
        return []

    def share_of(predictions: Iterable[SlipPrediction]) -> float:
        return chance(
            float(written.number),
            float(context.value),
            agreeing_ranges([p.value for p in predictions], written),
        )

    frequent = [
        p
        for p in singles
        if p.common and max(p.value, context.value) > PLAIN_FACTOR * min(p.value, context.value)
    ]
    share, common = share_of(singles), share_of(frequent)
    often = (
        share > MOST_CHANCE >= common and len(context.cases) == 1
    )  # many slips would do; of those that happen all the time few
    if often:
        matches.sort(key=lambda p: p not in frequent)
    twins = _twins(matches[0], singles, context)
    matches = [
        replace(matches[0], texts=(" or ".join((*matches[0].texts, *map(_said, twins))),)),
        *matches[1:],
    ]
    explained = [
        one
        for p in matches
        for own in [common if often and p in frequent else share]
        for one in _explained(p, own <= MOST_CHANCE, own, context)
    ]
    explained += [
        explanation for p in twins for explanation in _explained(p, False, share, context)
    ]
    return explained if share <= MOST_CHANCE else explained[:MOST_SUGGESTIONS]


def _twins(
    found: SlipPrediction, singles: Sequence[SlipPrediction], context: Context
) -> list[SlipPrediction]:
    """Two slips that lead to exactly the same as a count read twice or left out: 28 layers are 7 query heads for each KV head of 4 requests."""
    if not (found.misreading and found.misreading.depends_on):
        return []
    able = [p for p in singles if p.slips[0] not in OF_NOTATION and p.slips != found.slips]
    return [pair for pair in _pairs(able, context) if pair.value == found.value][:1]


def _said(prediction: SlipPrediction) -> str:
    return " and ".join(prediction.texts)


def _of_digits(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """Two digits swapped, from three digits on."""
    if written.digits < PAIRED_DIGITS - 1 or written.low is not None or written.hedged_number:
        return []
    options = digit_slips(context.value, 2 * written.half_unit)
    text = options.get(written.number)
    if text is None:
        return []
    half = float(written.half_unit)
    reached = [
        *agreeing_ranges([p.value for p in singles], written),
        *((float(v) - half, float(v) + half) for v in options),
    ]
    share = chance(float(written.number), float(context.value), reached)
    named = share <= MOST_CHANCE
    return [
        SlipExplanation(
            "arithmetic",
            named,
            written.number,
            share,
            f"{text}: {factor_text(written.number / context.value)}",
        )
    ]


def _of_levels(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """One slip combined with a simplified count, where the count alone does not give the claim."""
    if context.steps or context.claim.values or context.claim.form not in SIMPLIFIED_FORMS:
        return []
    plain: list[dict[str, Any]] = simplified_settings(context.claim)[:MOST_LEVELS]
    links = (
        [{**settings, **NO_LINKS} for settings in (*plain[:1], {})]
        if uses_links(context.claim) and context.claim.form == "quantity"
        else []
    )
    reached, matches = [p.value for p in singles], []
    first: Sequence[SlipPrediction] = singles
    for settings in (*plain, *links):
        own = _at(context, settings, CATALOGUE, written)
        first = own if plain and settings is plain[0] else first
        reached += [p.value for p in own]
        matches += [(p, settings) for p in _ordered(own, written)]
    near = {
        name for p in first if abs(p.value / written.number - 1) < CLOSE_ENOUGH for name in p.slips
    }
    for settings in with_round_params(context.claim, plain[0] if plain else {}) if near else ():
        own = _at(context, settings, [slip for slip in CATALOGUE if slip.name in near], written)
        reached += [p.value for p in own]
        matches += [(p, settings) for p in _ordered(own, written)]
    share = (
        chance(float(written.number), float(context.value), agreeing_ranges(reached, written))
        if matches
        else 1.0
    )
    named = share <= SELDOM_IN_PAIRS and written.digits >= PAIRED_DIGITS - 1
    by_slip = {p.slips: (p, settings) for p, settings in reversed(matches)}
    return [
        replace(one, text=f"{one.text}, at {settings_text(settings)}")
        for p, settings in list(reversed(by_slip.values()))[:MOST_SUGGESTIONS]
        for one in _explained(p, named, share, context)
    ]


def _at(
    context: Context, settings: dict[str, Any], slips: Iterable[Slip], written: WrittenNumber
) -> list[SlipPrediction]:
    """The predictions of slips combined with a simplified count; none that the count alone gives, and none of a slip that is such a count."""
    claim = with_settings(context.claim, settings)
    try:
        there = context_of(claim, derived(claim), written.text)
    except FAILURES:
        return []
    if there.value <= 0:
        return []
    tried = [slip for slip in slips if "assume" not in settings or slip.name not in OTHER_COUNTS]
    every = (p for slip in tried for p in predictions(there, slip) if p.digits <= written.digits)
    return [
        p
        for p in every
        if _differs(p.value, context, written) and abs(p.value / there.value - 1) > CLOSE_ENOUGH
    ]


def _of_pairs(
    singles: Sequence[SlipPrediction], context: Context, written: WrittenNumber
) -> list[SlipExplanation]:
    """Two slips at once, where the claim is fine enough to tell; in a rough one, a slip in a number whose prefix was binary is suggested."""
    if written.low is not None:
        return []
    fine = written.digits >= PAIRED_DIGITS
    pairs = [
        p
        for p in _pairs(singles, context)
        if _differs(p.value, context, written) and (fine or BINARY in p.slips)
    ]
    matches = _ordered(pairs, written)
    if not matches:
        return []
    share = chance(
        float(written.number),
        float(context.value),
        agreeing_ranges([p.value for p in (*singles, *pairs)], written),
    )
    if fine or share <= WORTH_SAYING:
        return _explained(matches[0], fine and share <= SELDOM_IN_PAIRS, share, context)
    return []


def _pairs(singles: Sequence[SlipPrediction], context: Context) -> Iterator[SlipPrediction]:
    """Every two slips of different values: two changes of the case, or a change and a result read otherwise."""
    cases = _distinct(p for p in singles if p.paired and p.changes is not None)[:MOST_CHANGES]
    results = _distinct(p for p in singles if p.paired and p.misreading is not None)
    for first, second in itertools.combinations([*cases, *results], 2):
        if first.slips != second.slips and (both := two_slips(context, first, second)) is not None:
            yield both


def _distinct(predictions: Iterable[SlipPrediction]) -> list[SlipPrediction]:
    """The first prediction of each value."""
    first: dict[Fraction, SlipPrediction] = {}
    for prediction in predictions:
        first.setdefault(prediction.value, prediction)
    return list(first.values())


def _ordered(predictions: Iterable[SlipPrediction], written: WrittenNumber) -> list[SlipPrediction]:
    """The predictions that agree: those that round to the claim before those cut off to it, then by the catalogue; each slip once."""
    matches: dict[tuple[str, ...], SlipPrediction] = {}
    agreeing = (p for p in predictions if written.agrees(p.value))
    for prediction in sorted(
        agreeing, key=lambda p: abs(p.value - written.number) > written.margin
    ):
        matches.setdefault(prediction.slips, prediction)
    return list(matches.values())


def _explained(
    prediction: SlipPrediction, named: bool, share: float, context: Context
) -> list[SlipExplanation]:
    """A prediction in words; two slips at once are listed under both names."""
    text = f"{_said(prediction)}: {factor_text(prediction.value / context.value)}"
    return [
        SlipExplanation(slip, named, prediction.value, share, text) for slip in prediction.slips
    ]


def swapped_digits(digits: str) -> Iterator[str]:
    """Every way of swapping two neighbouring digits that differ.

    >>> list(swapped_digits("1978"))
    ['9178', '1798', '1987']
    """
    for i, (first, second) in enumerate(itertools.pairwise(digits)):
        if first != second:
            yield digits[:i] + second + first + digits[i + 2 :]


def digit_slips(derived: Fraction, unit: Fraction) -> dict[Fraction, str]:
    """The derived value, written to whole multiples of ``unit``, with two digits swapped; and which number that was.

    The value may have been rounded or cut off before.

    >>> digit_slips(Fraction("1978.9"), Fraction(1))[Fraction(1987)]
    'two digits swapped in 1978'
    """
    exact = settled(derived / unit)
    whole = {str(round(exact)), str(exact.numerator // exact.denominator)}
    slipped: dict[Fraction, str] = {}
    for digits in sorted(whole):
        for read in swapped_digits(digits):
            if read not in whole and read[0] != "0":
                slipped.setdefault(int(read) * unit, f"two digits swapped in {digits}")
    return slipped
