"""Numbers of a file that follow from others of it: a rate worked out of a latency that is wrong, or
right under a condition, is so for the same reason; and claims that contradict each other.

>>> from symroof.claims.check import check_text
>>> case = "model=llama-3-8b hardware=a100-80gb-sxm batch=32 context=4096"
>>> text = f"A step takes 7.4 ms, <!-- symroof: itl {case} --> that is 4324 tokens/s. <!-- symroof: decode_throughput {case} -->"
>>> [(claim.verdict, claim.slips[0].slip) for claim in check_text(text, "note.md").claims]
[('conditional', 'kv_ignored'), ('conditional', 'kv_ignored')]
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

from symroof.claims.checked import Checked
from symroof.claims.read.written_number import WrittenNumber
from symroof.claims.slips.explanation import SlipExplanation, factor_text
from symroof.errors import InputError, Problem, nearest
from symroof.theory.spellings import printed_name
from symroof.units import parse_unit, strict

LATENCIES = ("itl", "tpot")
RATES = ("decode_throughput", "user_rate", "decode_throughput_per_device")
"""Rates that a latency of the same case divides."""


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


def with_derived_rates(claims: Sequence[Checked]) -> list[Checked]:
    """Claims with those of wrong rates that follow from a latency before them."""
    settled: list[Checked] = []
    for claim in claims:
        wrong_rate = claim.verdict == "wrong" and _name(claim) in RATES
        before = [one for one in reversed(settled) if wrong_rate and _name(one) in LATENCIES]
        sources = (one for one in before if one.verdict in ("wrong", "conditional"))
        same = (one for one in sources if one.claim.given == claim.claim.given)
        settled.append(next(filter(None, (_as_wrong_as(claim, one) for one in same)), claim))
    return settled


def _name(checked: Checked) -> str:
    """The quantity that a claim states as a whole, in seconds or by the second."""
    claim = checked.claim
    if claim.form != "quantity" or checked.parts or claim.per not in (None, "", "second"):
        return ""
    return printed_name(claim.quantity or "")


def _as_wrong_as(rate: Checked, latency: Checked) -> Checked | None:
    """A rate that is as wrong as the latency it is worked out of, or holds under the same condition;
    it has no slip of its own. None where it does not follow from that."""
    written = rate.number_claimed
    if not rate.value or not latency.ratio or written is None or written.value is None:
        return None
    expected = rate.value / latency.ratio  # both are wrong by one factor
    if written.operator or not written.agrees(expected):
        return None
    line = latency.claim.line
    factor = factor_text(Fraction(expected) / rate.value)
    slips = tuple(
        SlipExplanation(slip.slip, True, expected, slip.chance, f"{slip.cause}: {factor}")
        for slip in latency.slips
        if slip.named
    )
    place = f" in line {line}" if line else f" in {latency.id}"
    reason = f"follows from {latency.claimed}{place}"
    if latency.verdict != "conditional":
        return replace(rate, slips=slips, reason=reason)
    return replace(
        rate,
        verdict="conditional",
        assumptions_needed=latency.assumptions_needed,
        slips=slips,
        reason=f"{reason}, which {latency.reason.partition(';')[0]}",
    )
