"""A claimed latency or rate against the roof: impossible, or which share of it, and which share is usual."""

from dataclasses import replace
from fractions import Fraction

from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import AT_PEAK
from symroof.claims.claim_settings import study_of
from symroof.claims.derive_claim import derived, quantity_name
from symroof.claims.judgement import PLAUSIBLE, Judgement
from symroof.specs.engine_profile import DEFAULT as DEFAULT_PROFILE
from symroof.units import format_quantity, significant

RATES = ("token/s", "request/s")
IMPOSSIBLE = "above the roof: impossible"


def with_roof_share(judgement: Judgement) -> Judgement:
    """A wrong claim of a latency or a rate at 100 % of peak, which no named slip explains, with its share of the roof.

    One that is faster than the roof is impossible; a slower one may have been measured, and the usual share is that of the catalogue's measurements.
    """
    claim, bound, wrong = judgement.claim, judgement.value, judgement.verdict == "wrong"
    named = any(slip.named for slip in judgement.slips)
    if not wrong or claim.form not in ("quantity", "threshold") or judgement.ratio is None or not bound:  # fmt: skip
        return judgement
    found = derived(claim)
    answers = found.answers
    if answers is None or found.range is not None:  # over ranges there is no one roof
        return judgement
    if not named and (inside := _as_expected(judgement)):
        return inside
    words, name = "", claim.quantity
    if name and claim.form == "quantity":
        words = roof_share(answers, name, bound, judgement.ratio, judgement.unit)
    reason = "; ".join(filter(None, (judgement.reason, "" if named else words)))
    return replace(judgement, reason=reason, impossible=words == IMPOSSIBLE)


WIDEST = 3
"""An expected interval whose ends differ by more says nothing of a number inside."""


def _as_expected(judgement: Judgement) -> Judgement | None:
    """A number that differs from the bound, and is what measurements lead to expect of the default engine; None where it is not, or efficiencies are stated."""
    claim = judgement.claim
    if not claim.given.keys().isdisjoint((*AT_PEAK, "efficiency", "engine", "preset")) or claim.per:
        return None
    study = study_of({**claim.given, "engine": DEFAULT_PROFILE})
    if not study.first.measured_box:
        return None
    name = quantity_name(claim.quantity, claim.given) if claim.quantity else ""
    expected = study.first.get(name) if name else study.solve(claim.threshold, claim.solve_for)
    low, high, middle = (expected.low, expected.high, expected.value) if expected else (None,) * 3
    number = judgement.value * judgement.ratio  # type: ignore[operator]
    if low is None or high is None or low == high or not low <= number <= high:
        return None
    value, *ends, bound = (
        format_quantity(Fraction(x), judgement.unit, 3)  # type: ignore[arg-type]
        for x in (middle, low, high, judgement.value)
    )
    said = f"expected {value} ({' to '.join(ends)}), bound {bound}"
    if low <= 0 or high > WIDEST * low:
        reason = f"{said}: an interval too wide to judge by"
        return replace(judgement, verdict="unchecked", reason=reason, slips=())
    return replace(judgement, verdict=PLAUSIBLE, reason=said, slips=())


def roof_share(answers: BoundCase, name: str, bound: Fraction, ratio: Fraction, unit: str) -> str:
    """What share of the roof a latency or a rate is, and which share is usual; empty for any other quantity, and where the case has efficiencies of its own.

    Args:
        bound: what the case gives.
        ratio: the stated number over ``bound``.
        unit: of both.

    >>> from symroof.analysis.study import Study
    >>> case = Study("llama-3-8b", "h100-sxm", prompt=2048, efficiency="peak").first
    >>> roof_share(case, "itl", case.result("itl").value, Fraction(2), "s").partition(";")[0], roof_share(case, "itl", Fraction(1), Fraction(1, 2), "s")
    ('50 % of the roof', 'above the roof: impossible')
    """
    if unit not in ("s", *RATES) or not answers.case.theory.timed(name):
        return ""
    if answers.at_peak is not None:
        return _within(answers, name, bound * ratio, unit)
    if answers.hardware is None:
        return ""
    if ratio <= 0:
        return "" if unit in RATES else IMPOSSIBLE
    share = ratio if unit in RATES else 1 / ratio
    if share > 1:
        return IMPOSSIBLE
    usual = _usual(answers, name, bound)
    return f"{_percent(share)} % of the roof" + (f"; typical is {usual}" if usual else "")


def _within(answers: BoundCase, name: str, number: Fraction, unit: str) -> str:
    """Whether a number lies between what measured efficiencies allow, where the case assumes these."""
    expected = answers.get(name)
    if expected is None or expected.low is None or expected.high is None:
        return ""
    ends = " to ".join(format_quantity(end, unit, 3) for end in (expected.low, expected.high))
    return f"{'between' if expected.low <= number <= expected.high else 'not between'} the ends of what measured efficiencies allow: {ends}"


def _usual(answers: BoundCase, name: str, bound: Fraction) -> str:
    """The shares of the roof between which measurements of this kind of device lie; empty where they say nothing of it."""
    measured = measured_case(answers).get(name)
    if measured is None or measured.low is None or measured.high is None:
        return ""
    shares = sorted(
        bound / end if measured.symbol.unit == "s" else end / bound
        for end in (measured.low, measured.high)
    )
    return f"{_percent(shares[0])} to {_percent(shares[1])} %"


def measured_case(answers: BoundCase) -> BoundCase:
    """The same case at measured efficiencies."""
    return variant(replace(answers, request=replace(answers.request, efficiency="measured")))


def _percent(share: Fraction) -> str:
    return significant(100 * share, 2)
