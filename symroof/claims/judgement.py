"""The verdict on a claim, and a written value held against a derived one."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symroof.claims.derive_claim import Derived
from symroof.claims.read.written_number import Written, read_written
from symroof.claims.slips.explanation import Explanation
from symroof.errors import InputError, Problem
from symroof.specs.claims import ClaimSpec
from symroof.units import format_quantity

HOLDS = ("exact", "rounded", "approximate")
FIGURE = 4
"""Digits from which a figure of a data sheet claims to be that figure."""
ORDER = ("exact", "rounded", "approximate", "conditional", "inconsistent", "wrong", "unchecked")
"""From best to worst; a row of values is as good as its worst."""


@dataclass(frozen=True)
class Judgement:
    """What came of a claim.

    Attributes:
        verdict: ``exact``, ``rounded``, ``approximate``, ``wrong``, ``inconsistent``, ``conditional``, ``unchecked``.
        claimed, derived: as text.
        ratio: claimed over derived, where both are numbers.
        tolerance: how far the derived value may lie off, as a share.
        needs: what the text does not say and has to be so for the claim to hold.
        flags: ``does_not_fit``, ``dimension``, ``regime``.
        reason: a sentence.
        value: the derived value, for a correction.
        slips: what would lead to the claimed value, best first.
    """

    claim: ClaimSpec
    verdict: str
    claimed: str = ""
    derived: str = ""
    ratio: Fraction | None = None
    tolerance: Fraction | None = None
    needs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    value: Fraction | None = None
    unit: str = ""
    slips: tuple[Explanation, ...] = ()
    parts: tuple[Judgement, ...] = field(default=())


def held(claim: ClaimSpec, written: Written, found: Derived) -> Judgement:
    """A written value held against a derived one."""
    limit = tolerance_of(claim, written.digits)
    options = [found.value, *([found.other] if found.other is not None else [])]
    best = min((written.verdict(option, limit) for option in options if option is not None), key=ORDER.index)
    value = found.value
    number = value if isinstance(value, Fraction) else None
    if value == "in part" and written.word is not None:
        best = "conditional"
    return Judgement(
        claim, best, written.text, shown(value, found.unit), ratio=written.value / number if number and written.value is not None else None,
        tolerance=limit if limit is not None else _room(written), flags=found.flags, reason=_words(written, found, best), value=number, unit=found.unit,
    )  # fmt: skip


def _room(written: Written) -> Fraction | None:
    return written.room / abs(written.value) if written.value else None


def tolerance_of(claim: ClaimSpec, digits: int = 0) -> Fraction | None:
    """The tolerance the text states, as a share; a figure of a data sheet written with many digits has none."""
    if claim.tolerance is None:
        return Fraction(0) if claim.form == "catalogue" and digits >= FIGURE else None
    try:
        return read_written(claim.tolerance, "").value
    except ValueError as error:
        raise InputError(Problem("tolerance", str(error))) from None


def _words(written: Written, found: Derived, verdict: str) -> str:
    if found.value == "in part":
        return f"holds in a part of the range only: {found.why}" if found.why else "holds in a part of the range only"
    if verdict == "rounded" and isinstance(found.value, Fraction) and written.value is not None and abs(found.value - written.value) > written.room:
        return "digits were cut off, not rounded"
    return found.why if verdict == "wrong" else ""


def shown(value: Fraction | str | bool | None, unit: str) -> str:
    """A derived value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return format_quantity(value, unit, 5) if isinstance(value, Fraction) else str(value)
