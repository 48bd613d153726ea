"""A claimed latency or rate against the roof: what no server reaches, or which share of it, and which share is usual."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symroof.cases.binding import Binding
from symroof.cases.case_results import Answers
from symroof.claims.derive_claim import derived
from symroof.claims.judgement import Judgement
from symroof.units import format_quantity, significant

RATES = ("token/s", "request/s")


def beside_the_roof(judgement: Judgement) -> Judgement:
    """A wrong claim of a latency or a rate at 100 % of peak, which no named slip explains, with its share of the roof.

    One that is faster than the roof is impossible; a slower one may have been measured, and the usual share is that of the catalogue's measurements.
    """
    claim, bound = judgement.claim, judgement.value
    named = any(slip.named for slip in judgement.slips)
    if judgement.verdict != "wrong" or claim.form != "quantity" or named or judgement.ratio is None or not bound or judgement.unit not in ("s", *RATES):
        return judgement
    answers = derived(claim).answers
    if answers is not None and answers.roof is not None and answers.case.theory.timed(claim.quantity or ""):
        return _within(judgement, answers)
    if answers is None or answers.binding.hardware is None or not answers.case.theory.timed(claim.quantity or ""):
        return judgement
    share = judgement.ratio if judgement.unit in RATES else 1 / judgement.ratio
    if share > 1:
        return _said(judgement, "above the roof: impossible")
    usual = _usual(answers, claim.quantity or "", bound)
    return _said(judgement, f"{_percent(share)} % of the roof" + (f"; usual is {usual}" if usual else ""))


def _within(judgement: Judgement, answers: Answers) -> Judgement:
    """A claim that is held against measured efficiencies, with whether it lies between what these allow."""
    expected = answers.get(judgement.claim.quantity or "")
    if expected is None or expected.low is None or expected.high is None or judgement.value is None or judgement.ratio is None:
        return judgement
    ends = " to ".join(format_quantity(end, judgement.unit, 3) for end in (expected.low, expected.high))
    inside = expected.low <= judgement.ratio * judgement.value <= expected.high
    return _said(judgement, f"{'between' if inside else 'not between'} the ends of what measured efficiencies allow: {ends}")


def _said(judgement: Judgement, words: str) -> Judgement:
    return replace(judgement, reason=f"{judgement.reason}; {words}" if judgement.reason else words)


def _usual(answers: Answers, name: str, bound: Fraction) -> str:
    """The shares of the roof between which measurements of this kind of device lie; empty where they say nothing of it."""
    measured = Answers(measured_case(answers.binding)).get(name)
    if measured is None or measured.low is None or measured.high is None:
        return ""
    shares = sorted(bound / end if measured.symbol.unit == "s" else end / bound for end in (measured.low, measured.high))
    return f"{_percent(shares[0])} to {_percent(shares[1])} %"


def measured_case(binding: Binding) -> Binding:
    """The same case at measured efficiencies."""
    return replace(binding, selection=replace(binding.selection, efficiency="measured")).variant()


def _percent(share: Fraction) -> str:
    return significant(100 * share, 2)
