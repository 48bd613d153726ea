"""A formula somebody wrote, held against the one derived: equal, off by a factor or by a term, and the slip that leads there."""

from __future__ import annotations

from dataclasses import replace

from symroof.claims.claim_study import changed
from symroof.claims.formula_sides import SAYABLE, Level, Sides
from symroof.claims.judgement import Judgement, tolerance_of
from symroof.claims.read.written_number import CLOSE_ENOUGH
from symroof.claims.slips.formula_slips import formula_slips
from symroof.claims.unstated_assumptions import counted_otherwise
from symroof.specs.claims import ClaimSpec
from symroof.theory.switches import DETAIL


def formula(claim: ClaimSpec) -> Judgement:
    """Equal is exact; close in numbers of the case is approximate; equal at another level of detail is conditional.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    sides = Sides(claim, claim.given)
    own = sides.compared()
    stands = Judgement(claim, "exact", claim.formula or "", sides.said())
    if own.verdict == "equal":
        return stands
    ratio, limit = sides.in_numbers(), tolerance_of(claim)
    if ratio is not None and abs(ratio - 1) <= (CLOSE_ENOUGH if limit is None else limit):
        slips = formula_slips([Level("", sides, own)]) if limit is None else ()
        return replace(stands, verdict="approximate", ratio=ratio, slips=slips, reason=f"{own}; {float(ratio):.4g} times here")
    levels = [Level("", sides, own)]
    for detail in DETAIL if "detail" not in claim.given.get("assume", {}) else ():
        there = Sides(claim, changed(claim.given, {"assume": {"detail": detail}}))
        levels.append(Level(f"detail {detail}", there, there.compared()))
        if levels[-1].own.verdict == "equal":
            return replace(stands, verdict="conditional", needs=(levels[-1].says,), reason=f"holds at {levels[-1].says}; {own}")
    return _missed(replace(stands, ratio=ratio, reason=_in_a_line(str(own))), levels)


def _in_a_line(said: str) -> str:
    """A comparison as far as it fits beside a claim: factors between maxima are long, and nobody reads them."""
    return said if len(said) <= SAYABLE else f"{said[:SAYABLE].rpartition(' ')[0]} …"


def _missed(found: Judgement, levels: list[Level]) -> Judgement:
    """A formula that nothing makes equal: wrong, or right under another way to count that it does not state."""
    slips = formula_slips(levels)
    if counted_otherwise(slips):
        return replace(found, verdict="conditional", needs=(slips[0].text,), slips=slips, reason=f"holds where {slips[0].text}; {found.reason}")
    flags = ("dimension",) if levels[0].own.verdict == "dimension" else ()
    return replace(found, verdict="wrong", flags=flags, slips=slips)
