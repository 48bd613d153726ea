"""Claims of a file that contradict each other."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from symroof.claims.checked import Checked
from symroof.claims.read.written_number import WrittenNumber
from symroof.errors import InputError, Problem, nearest
from symroof.units import parse_unit, strict


def with_conflict(claim: Checked, others: Mapping[str, Checked]) -> Checked:
    """A claim compared with the one that it names in ``conflicts_with``."""
    named = claim.claim.conflicts_with
    if named is None or claim.error is not None:
        return claim
    other = others.get(named)
    if other is None or other.claim is claim.claim:
        fault = "is the claim itself" if other else "is the id of no claim in this file"
        problem = Problem("conflicts_with", f"{named[:60]} {fault}", hint=nearest(named, others))
        return replace(claim, verdict="unchecked", reason=fault, error=InputError(problem))
    one, two = claim.number_claimed, other.number_claimed
    units = {strict(parse_unit(each.base_unit).dimension) for each in (claim, other)}
    if one is None or two is None or compatible(one, two) or len(units) > 1:
        return claim
    both = f"{claim.claimed} here and {other.claimed} in {other.id} cannot both be right"
    derived = f"; derived {claim.derived}" if claim.derived else ""
    return replace(claim, verdict="inconsistent", reason=both + derived)


def compatible(one: WrittenNumber, two: WrittenNumber) -> bool:
    """Whether one value can be what both claim, at the precision each is written with.

    >>> from symroof.claims.read.written_number import read_written
    >>> compatible(read_written("24", ""), read_written("23.9", "")), compatible(read_written("24", ""), read_written("22", ""))
    (True, False)
    """
    if one.value is None or two.value is None:
        return one.word == two.word
    ends = []
    for written, value in ((one, one.value), (two, two.value)):
        low, high = (value if end is None else end for end in (written.low, written.high))
        spans = {"<": (-inf, float(value)), ">": (float(value), inf)}
        plain = float(low - written.margin), float(high + written.margin)
        ends.append(spans.get(written.operator[:1], plain))
    # ranges that only touch: each would have to be at its very edge
    return one.value == two.value or max(ends[0][0], ends[1][0]) < min(ends[0][1], ends[1][1])
