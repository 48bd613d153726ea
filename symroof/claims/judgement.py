"""The verdict on a claim, and a written value compared with a derived one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from symroof.claims.derive_claim import Derived
from symroof.claims.read.written_number import WrittenNumber, read_written
from symroof.claims.slips.explanation import SlipExplanation
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.units import format_quantity, parse_unit, significant

HOLDS = ("exact", "rounded", "approximate")
PLAUSIBLE = "plausible"
"""A time, rate, cost or threshold without a stated efficiency that is not the bound, and lies in the expected interval."""
ORDER = (*HOLDS, PLAUSIBLE, "conditional", "inconsistent", "wrong", "unchecked")
"""From best to worst; a row of values is as good as its worst."""
SHOWN_IN = {"USD/s": "USD/hour"}
"""Units shown in place of the base unit."""
FIGURE_DIGITS = 4
"""Digits from which a figure of a data sheet claims to be that figure."""


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim and its reasons.

    Attributes:
        verdict: one of :data:`ORDER`.
        claimed, derived: as text.
        ratio: claimed over derived, where both are numbers.
        tolerance: how far the derived value may lie off, as a share.
        needs: assumptions that the text does not state and under which the claim holds.
        flags: ``does_not_fit``, ``dimension``, ``regime``.
        reason: a sentence. impossible: a time below its bound, or a rate above it.
        value: the derived value, for a correction.
        ranged: whether that is in the middle of ranges that the claim states: one number of many.
        slips: what would lead to the claimed value, best first.
        parts: the values of a row, or the steps of a chain.
        error: why it could not be judged, where that is a fault: an InputError of what it states, a TimeoutError where the time of
            its file was up, and anything else where symroof itself failed. A missing input is no fault.
    """

    claim: ClaimSpec = field(hash=False)
    verdict: str
    claimed: str = ""
    derived: str = ""
    ratio: Fraction | None = None
    tolerance: Fraction | None = None
    needs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    impossible: bool = False
    value: Fraction | None = None
    unit: str = ""
    ranged: bool = False
    slips: tuple[SlipExplanation, ...] = ()
    parts: tuple[Judgement, ...] = ()
    error: Exception | None = field(default=None, compare=False)


def worst(parts: Sequence[Judgement]) -> Judgement:
    """The first with the worst verdict."""
    return max(parts, key=lambda part: ORDER.index(part.verdict))


def joined(parts: Sequence[Judgement]) -> dict[str, Any]:
    """The fields of a judgement that its parts make up together."""
    texts = {
        name: ", ".join(getattr(part, name) for part in parts) for name in ("claimed", "derived")
    }
    return {**texts, "flags": flags_of(*parts), "parts": tuple(parts)}


def flags_of(*judgements: Judgement) -> tuple[str, ...]:
    """The flags of several judgements, each once."""
    return tuple(dict.fromkeys(flag for judgement in judgements for flag in judgement.flags))


def compared(claim: ClaimSpec, written: WrittenNumber, derived: Derived) -> Judgement:
    """A written value compared with a derived one, or with an equally correct alternative."""
    limit = tolerance_of(claim, written.digits)
    options = [value for value in (derived.value, derived.alternative) if value is not None]
    verdict = min((written.verdict(value, limit) for value in options), key=ORDER.index)
    if derived.value == "in part" and written.word is not None:
        verdict = "conditional"
    within = (
        verdict == "wrong"
        and derived.range is not None
        and written.value is not None
        and derived.range[0] <= written.value <= derived.range[1]
    )
    number = derived.number
    return Judgement(
        claim, "conditional" if within else verdict, written.text, value_text(derived.value, derived.unit), ratio=written.value / number if number and written.value is not None else None,
        tolerance=limit if limit is not None else written.margin / abs(written.value) if written.value else None, flags=derived.flags,
        needs=_inside(derived) if within else (), reason=_reason(written, derived, verdict), value=number, unit=derived.unit, ranged=derived.range is not None,
    )  # fmt: skip


def _inside(derived: Derived) -> tuple[str, ...]:
    """What a number needs that is met within the ranges of a claim and not in their middle: ``some prompt of 512..4096``."""
    answers = derived.answers
    return (
        tuple(
            f"some {name} of {answers.given[name].setting.text}"
            for name in answers.box
            if name not in answers.measured_box
        )
        if answers
        else ()
    )


def tolerance_of(claim: ClaimSpec, digits: int = 0) -> Fraction | None:
    """The tolerance the text states, as a share; a figure of a data sheet written with many digits has none."""
    if claim.tolerance is None:
        return Fraction(0) if claim.form == "catalogue" and digits >= FIGURE_DIGITS else None
    try:
        share = read_written(claim.tolerance, "").value
    except ValueError as error:
        raise InputError(Problem("tolerance", str(error))) from None
    if share is None or share < 0:
        raise InputError(
            Problem(
                "tolerance",
                f"{str(claim.tolerance)[:40]!r} is not a share of the value",
                hint="write '5 %' or 0.05",
            )
        )
    return share


def _reason(written: WrittenNumber, derived: Derived, verdict: str) -> str:
    if derived.value == "in part":
        return "holds in only part of the range" + (f": {derived.reason}" if derived.reason else "")
    if verdict == "approximate" and derived.number is not None and written.hedged(derived.number):
        return f"within the tolerance of a hedged number of {written.digits} digit{'s' * (written.digits > 1)}"
    if verdict == "rounded" and written.operator:
        return "the limit, rounded"
    if (
        verdict == "rounded"
        and derived.number is not None
        and written.value is not None
        and abs(derived.number - written.value) > written.margin
    ):
        return "digits were cut off, not rounded"
    if verdict == "wrong" and derived.range is not None:
        return f"over the ranges it is {value_text(derived.range[0], derived.unit)} to {value_text(derived.range[1], derived.unit)}, in their middle {value_text(derived.value, derived.unit)}"
    return derived.reason if verdict == "wrong" else ""


def value_text(value: Fraction | str | bool | None, unit: str) -> str:
    """A derived value as text, a price by the hour.

    >>> value_text(Fraction(179, 360000), "USD/s"), value_text(Fraction(1, 40), "s"), value_text(True, "")
    ('1.79 USD/hour', '25 ms', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Fraction) and (shown := SHOWN_IN.get(unit)):
        return f"{significant(value / parse_unit(shown).size, 5)} {shown}"
    return format_quantity(value, unit, 5) if isinstance(value, float | Fraction) else str(value)
