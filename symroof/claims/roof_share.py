"""A claimed latency or rate against the roof: impossible, what measurements lead to expect, or which
share of the roof it is, and which share is usual."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import AT_PEAK
from symroof.claims.claim_settings import study_of
from symroof.claims.derive_claim import derived, quantity_name
from symroof.claims.judgement import PLAUSIBLE, Judgement
from symroof.specs.engine_profile import DEFAULT as DEFAULT_PROFILE
from symroof.units import format_quantity, significant

RATES = ("token/s", "request/s")
WIDEST = 3
"""An expected interval whose ends differ by more says nothing of a number inside."""


def with_roof_share(judgement: Judgement) -> Judgement:
    """A wrong claim of a latency or a rate held against the roof; one that a named slip explains is
    only told to be impossible where it is."""
    claim, bound, ratio = judgement.claim, judgement.value, judgement.ratio
    named = any(slip.named for slip in judgement.slips)
    if judgement.verdict != "wrong" or ratio is None or not bound:
        return judgement
    if claim.form not in ("quantity", "threshold"):
        return judgement
    found = derived(claim)
    answers = found.answers
    if answers is None or found.range is not None:  # over ranges there is no one roof
        return judgement
    if not named and (inside := _as_expected(judgement)):
        return inside
    unit, name = judgement.unit, claim.quantity or ""
    if claim.form != "quantity" or unit not in ("s", *RATES) or not answers.case.theory.timed(name):
        return judgement
    if answers.at_peak is not None:
        words = "" if named else _within(answers, name, bound * ratio, unit)
        return _with_reason(judgement, words)
    if answers.hardware is None or (ratio <= 0 and unit in RATES):
        return judgement
    share = ratio if unit in RATES or ratio <= 0 else 1 / ratio
    if share > 1 or share <= 0:
        words = "" if named else "above the roof: impossible"
        return replace(_with_reason(judgement, words), impossible=True)
    if named:
        return judgement
    usual = _usual(answers, name, bound)
    words = f"{_percent(share)} % of the roof" + (f"; typical is {usual}" if usual else "")
    return _with_reason(judgement, words)


def _as_expected(judgement: Judgement) -> Judgement | None:
    """A number that differs from the bound, and is what measurements lead to expect of the default
    engine; None where it is not, or efficiencies are stated."""
    claim, bound, ratio = judgement.claim, judgement.value, judgement.ratio
    if claim.per or not claim.given.keys().isdisjoint((*AT_PEAK, "efficiency", "engine", "preset")):
        return None
    study = study_of({**claim.given, "engine": DEFAULT_PROFILE})
    if not study.first.measured_box or bound is None or ratio is None:
        return None
    name = quantity_name(claim.quantity, claim.given) if claim.quantity else ""
    expected: Any = study.first.get(name) if name else study.solve(claim.threshold, claim.solve_for)
    if expected is None or expected.low is None or expected.low == expected.high:
        return None
    low, high = expected.low, expected.high
    if not low <= bound * ratio <= high:
        return None
    value, *ends, least = (
        format_quantity(Fraction(x), judgement.unit, 3) for x in (expected.value, low, high, bound)
    )
    said = f"expected {value} ({' to '.join(ends)}), bound {least}"
    if low <= 0 or high > WIDEST * low:
        reason = f"{said}: an interval too wide to judge by"
        return replace(judgement, verdict="unchecked", reason=reason, slips=())
    return replace(judgement, verdict=PLAUSIBLE, reason=said, slips=())


def _within(answers: BoundCase, name: str, number: Fraction, unit: str) -> str:
    """Whether a number lies between what measured efficiencies allow, where the case has these."""
    expected = answers.get(name)
    if expected is None or expected.low is None or expected.high is None:
        return ""
    ends = " to ".join(format_quantity(end, unit, 3) for end in (expected.low, expected.high))
    inside = "between" if expected.low <= number <= expected.high else "not between"
    return f"{inside} the ends of what measured efficiencies allow: {ends}"


def _with_reason(judgement: Judgement, words: str) -> Judgement:
    """A judgement with words appended to its reason."""
    return replace(judgement, reason="; ".join(filter(None, (judgement.reason, words))))


def _usual(answers: BoundCase, name: str, bound: Fraction) -> str:
    """The shares of the roof between which measurements of this kind of device lie."""
    request = replace(answers.request, efficiency="measured")
    measured = variant(replace(answers, request=request)).get(name)
    if measured is None or measured.low is None or measured.high is None:
        return ""
    timed = measured.symbol.unit == "s"
    ends = sorted(bound / x if timed else x / bound for x in (measured.low, measured.high))
    return f"{_percent(ends[0])} to {_percent(ends[1])} %"


def _percent(share: Fraction) -> str:
    return significant(100 * share, 2)
