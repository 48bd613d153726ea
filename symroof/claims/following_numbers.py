"""Numbers of a file that follow from others of it: a rate worked out of a latency that is wrong, or right under a condition, is so for the same reason.

>>> from symroof.claims.check import check_text
>>> case = "model=llama-3-8b hardware=a100-80gb-sxm batch=32 context=4096"
>>> text = f"A step takes 7.4 ms, <!-- symroof: itl {case} --> that is 4324 tokens/s. <!-- symroof: decode_throughput {case} -->"
>>> [(claim.verdict, claim.slips[0].slip) for claim in check_text(text, "note.md").claims]
[('conditional', 'kv_ignored'), ('conditional', 'kv_ignored')]
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.claims.conflicts import stated
from symroof.claims.judgement import Judgement
from symroof.claims.slips.explanation import Explanation, times
from symroof.theory.spellings import printed_name

LATENCIES = ("itl", "tpot")
RATES = ("decode_throughput", "user_rate", "decode_throughput_per_device")
"""Rates that a latency of the same case divides."""
OFF = ("wrong", "conditional")
WHOLE = (None, "", "second")
"""What the words around a number may say that it is of: a rate is of a second."""


def following(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Judgements with those of wrong rates that follow from a latency before them."""
    settled: list[Judgement] = []
    for judgement in judgements:
        source = _source(judgement, settled) if judgement.verdict == "wrong" and _name(judgement) in RATES else None
        settled.append(_resting(judgement, source) if source else judgement)
    return settled


def _name(judgement: Judgement) -> str:
    claim = judgement.claim
    return printed_name(claim.quantity) if claim.quantity and claim.form == "quantity" and claim.per in WHOLE and not judgement.parts else ""


def _source(rate: Judgement, before: Sequence[Judgement]) -> Judgement | None:
    """The nearest latency before, of the same case, from whose number a rate follows."""
    same = (one for one in reversed(before) if one.verdict in OFF and _name(one) in LATENCIES and one.claim.given == rate.claim.given)
    return next((one for one in same if _follows(rate, one)), None)


def _follows(rate: Judgement, latency: Judgement) -> bool:
    written = stated(rate)
    expected = _expected(rate, latency)
    return written is not None and written.value is not None and not written.operator and expected is not None and written.agrees(expected)


def _expected(rate: Judgement, latency: Judgement) -> Fraction | None:
    """The rate at the latency that is written: both are wrong by one factor."""
    return rate.value / latency.ratio if rate.value and latency.ratio else None


def _resting(rate: Judgement, latency: Judgement) -> Judgement:
    """A rate that is as wrong as the latency it is worked out of, or holds under the same condition; it has no slip of its own."""
    place = f" in line {latency.claim.line}" if latency.claim.line else f" in {latency.claim.id}"
    expected, true = _expected(rate, latency) or Fraction(1), rate.value or Fraction(1)
    slips = tuple(Explanation(slip.slip, True, expected, slip.chance, f"{slip.cause}: {times(expected / true)}") for slip in latency.slips if slip.named)
    reason = f"follows from {latency.claimed}{place}"
    if latency.verdict == "conditional":
        return replace(rate, verdict="conditional", needs=latency.needs, slips=slips, reason=f"{reason}, which {latency.reason.partition(';')[0]}")
    return replace(rate, slips=slips, reason=reason)
