"""Numbers of a file that follow from others of it: a rate worked out of a latency that is wrong, or right under a condition, is so for the same reason.

>>> from symroof.claims.check import check_text
>>> case = "model=llama-3-8b hardware=a100-80gb-sxm batch=32 context=4096"
>>> text = f"A step takes 7.4 ms, <!-- symroof: itl {case} --> that is 4324 tokens/s. <!-- symroof: decode_throughput {case} -->"
>>> [(claim.verdict, claim.slips[0].slip) for claim in check_text(text, "note.md").claims]
[('conditional', 'kv_ignored'), ('conditional', 'kv_ignored')]
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.claims.judgement import Judgement
from symroof.claims.read.written_number import WrittenNumber, read_written
from symroof.claims.slips.explanation import SlipExplanation, factor_text
from symroof.theory.spellings import printed_name
from symroof.units import UnitError, describe, parse_quantity, parse_unit, strict


def by_id(judgements: Sequence[Judgement]) -> dict[str, Judgement]:
    """Judgements by the id of their claim."""
    return {judgement.claim.id: judgement for judgement in judgements}


def with_conflict(judgement: Judgement, others: Mapping[str, Judgement]) -> Judgement:
    """A judgement compared with the claim that it names in ``conflicts_with``; one that could not be judged for a fault stays so."""
    other = others.get(judgement.claim.conflicts_with or "")
    if other is None or judgement.error is not None:
        return judgement
    one, two = claimed_value(judgement), claimed_value(other)
    if (
        one is None
        or two is None
        or compatible(one, two)
        or len({strict(parse_unit(_unit(claim)).dimension) for claim in (judgement, other)}) > 1
    ):
        return judgement
    reason = (
        f"{judgement.claimed} here and {other.claimed} in {other.claim.id} cannot both be right"
    )
    return replace(
        judgement,
        verdict="inconsistent",
        reason=reason + (f"; derived {judgement.derived}" if judgement.derived else ""),
    )


def claimed_value(judgement: Judgement) -> WrittenNumber | None:
    """The claimed value as it was read, also where nothing could be derived; None where it could not be read."""
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
    if one.value == two.value:
        return True
    # ranges that only touch: each would have to be at its very edge
    (low, high), (least, most) = _possible_range(one), _possible_range(two)
    return (low is None or most is None or low < most) and (
        least is None or high is None or least < high
    )


def _possible_range(written: WrittenNumber) -> tuple[Fraction | None, Fraction | None]:
    """The least and the most a written value can mean; None for no limit."""
    value = written.value or Fraction(0)
    if written.operator:
        return (None, value) if written.operator.startswith("<") else (value, None)
    low, high = (
        (written.low, written.high)
        if written.low is not None and written.high is not None
        else (value, value)
    )
    return low - written.margin, high + written.margin


LATENCIES = ("itl", "tpot")
RATES = ("decode_throughput", "user_rate", "decode_throughput_per_device")
"""Rates that a latency of the same case divides."""
NOT_AS_STATED = ("wrong", "conditional")
PER_SECOND = (None, "", "second")
"""What the words around a number may say that it is of: a rate is of a second."""


def with_derived_rates(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Judgements with those of wrong rates that follow from a latency before them."""
    settled: list[Judgement] = []
    for judgement in judgements:
        source = (
            _source(judgement, settled)
            if judgement.verdict == "wrong" and _name(judgement) in RATES
            else None
        )
        settled.append(_as_wrong_as(judgement, source) if source else judgement)
    return settled


def _name(judgement: Judgement) -> str:
    claim = judgement.claim
    return (
        printed_name(claim.quantity)
        if claim.quantity
        and claim.form == "quantity"
        and claim.per in PER_SECOND
        and not judgement.parts
        else ""
    )


def _source(rate: Judgement, before: Sequence[Judgement]) -> Judgement | None:
    """The nearest latency before, of the same case, from whose number a rate follows."""
    same = (
        one
        for one in reversed(before)
        if one.verdict in NOT_AS_STATED
        and _name(one) in LATENCIES
        and one.claim.given == rate.claim.given
    )
    return next((one for one in same if _follows(rate, one)), None)


def _follows(rate: Judgement, latency: Judgement) -> bool:
    written = claimed_value(rate)
    expected = _expected(rate, latency)
    return (
        written is not None
        and written.value is not None
        and not written.operator
        and expected is not None
        and written.agrees(expected)
    )


def _expected(rate: Judgement, latency: Judgement) -> Fraction | None:
    """The rate at the latency that is written: both are wrong by one factor."""
    return rate.value / latency.ratio if rate.value and latency.ratio else None


def _as_wrong_as(rate: Judgement, latency: Judgement) -> Judgement:
    """A rate that is as wrong as the latency it is worked out of, or holds under the same condition; it has no slip of its own."""
    place = f" in line {latency.claim.line}" if latency.claim.line else f" in {latency.claim.id}"
    expected, true = _expected(rate, latency) or Fraction(1), rate.value or Fraction(1)
    slips = tuple(
        SlipExplanation(
            slip.slip, True, expected, slip.chance, f"{slip.cause}: {factor_text(expected / true)}"
        )
        for slip in latency.slips
        if slip.named
    )
    reason = f"follows from {latency.claimed}{place}"
    if latency.verdict == "conditional":
        return replace(
            rate,
            verdict="conditional",
            needs=latency.needs,
            slips=slips,
            reason=f"{reason}, which {latency.reason.partition(';')[0]}",
        )
    return replace(rate, slips=slips, reason=reason)
