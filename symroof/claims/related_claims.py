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

from symroof.claims.judgement import Judgement
from symroof.claims.read.written_number import WrittenNumber, read_written
from symroof.claims.slips.explanation import SlipExplanation, factor_text
from symroof.theory.spellings import printed_name
from symroof.units import UnitError, describe, parse_quantity, parse_unit, strict

LATENCIES = ("itl", "tpot")
RATES = ("decode_throughput", "user_rate", "decode_throughput_per_device")
"""Rates that a latency of the same case divides."""
NOT_AS_STATED = ("wrong", "conditional")


def by_id(judgements: Sequence[Judgement]) -> dict[str, Judgement]:
    """Judgements by the id of their claim."""
    return {judgement.claim.id: judgement for judgement in judgements}


def with_conflict(judgement: Judgement, others: Mapping[str, Judgement]) -> Judgement:
    """A judgement compared with the claim that it names in ``conflicts_with``."""
    other = others.get(judgement.claim.conflicts_with or "")
    if other is None or judgement.error is not None:
        return judgement
    one, two = claimed_value(judgement), claimed_value(other)
    units = {strict(parse_unit(_unit(claim)).dimension) for claim in (judgement, other)}
    if one is None or two is None or compatible(one, two) or len(units) > 1:
        return judgement
    both = f"{judgement.claimed} here and {other.claimed} in {other.claim.id} cannot both be right"
    derived = f"; derived {judgement.derived}" if judgement.derived else ""
    return replace(judgement, verdict="inconsistent", reason=both + derived)


def claimed_value(judgement: Judgement) -> WrittenNumber | None:
    """The claimed value as it was read, also where nothing could be derived; None for an unreadable."""
    try:
        return read_written(judgement.claimed, _unit(judgement)) if judgement.claimed else None
    except ValueError:
        return None


def _unit(judgement: Judgement) -> str:
    """The base unit a claimed value is read in: its own where nothing was derived."""
    if judgement.unit or judgement.value is not None:
        return judgement.unit
    try:
        dimension = parse_quantity(judgement.claimed).dimension
        return parse_unit(describe(dimension)).text if dimension else ""
    except UnitError:
        return ""


def compatible(one: WrittenNumber, two: WrittenNumber) -> bool:
    """Whether one value can be what both claim, at the precision each is written with.

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


def with_derived_rates(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Judgements with those of wrong rates that follow from a latency before them."""
    settled: list[Judgement] = []
    for judgement in judgements:
        wrong_rate = judgement.verdict == "wrong" and _name(judgement) in RATES
        before = [one for one in reversed(settled) if wrong_rate and _name(one) in LATENCIES]
        sources = (one for one in before if one.verdict in NOT_AS_STATED)
        same = (one for one in sources if one.claim.given == judgement.claim.given)
        made = (_as_wrong_as(judgement, one) for one in same)
        settled.append(next(filter(None, made), judgement))
    return settled


def _name(judgement: Judgement) -> str:
    """The quantity that a claim states as a whole, in seconds or by the second."""
    claim = judgement.claim
    if claim.form != "quantity" or judgement.parts or claim.per not in (None, "", "second"):
        return ""
    return printed_name(claim.quantity or "")


def _as_wrong_as(rate: Judgement, latency: Judgement) -> Judgement | None:
    """A rate that is as wrong as the latency it is worked out of, or holds under the same condition;
    it has no slip of its own. None where it does not follow from that."""
    written = claimed_value(rate)
    if not rate.value or not latency.ratio or written is None or written.value is None:
        return None
    expected = rate.value / latency.ratio  # both are wrong by one factor
    if written.operator or not written.agrees(expected):
        return None
    claim = latency.claim
    place = f" in line {claim.line}" if claim.line else f" in {claim.id}"
    factor = factor_text(Fraction(expected) / rate.value)
    slips = tuple(
        SlipExplanation(slip.slip, True, expected, slip.chance, f"{slip.cause}: {factor}")
        for slip in latency.slips
        if slip.named
    )
    reason = f"follows from {latency.claimed}{place}"
    if latency.verdict != "conditional":
        return replace(rate, slips=slips, reason=reason)
    reason = f"{reason}, which {latency.reason.partition(';')[0]}"
    return replace(rate, verdict="conditional", needs=latency.needs, slips=slips, reason=reason)
