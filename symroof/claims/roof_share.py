"""A claimed latency or rate against the roof: impossible, what measurements lead to expect, or which
share of the roof it is."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.cases.input import AT_PEAK
from symroof.claims.checked import HOLDS, Checked
from symroof.claims.claim_settings import study_of
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.derive_claim import quantity_name
from symroof.specs.engine_profile import DEFAULT as DEFAULT_PROFILE
from symroof.symbolic.expressions import symbol
from symroof.units import format_quantity, significant

RATES = ("token/s", "request/s")
WIDEST = 3
"""An expected interval whose ends differ by more says nothing of a number inside."""


def with_roof_share(judged: Checked) -> Checked:
    """A claim of a latency or a rate held against the roof: one at the roof has what measurements
    lead to expect beside it, one that a named slip explains is only told to be impossible where it is."""
    claim, ratio, found = judged.claim, judged.ratio, judged.found
    if judged.verdict not in ("wrong", *HOLDS) or not ratio or not found or not found.number:
        return judged
    # over ranges there is no one roof
    if found.range or claim.form not in ("quantity", "threshold"):
        return judged
    answers, name, unit = study_of(claim.given).first, claim.quantity or "", found.unit
    timed = claim.form == "quantity" and answers.case.theory.timed(name)
    if judged.verdict in HOLDS:
        if not timed or not (prediction := _prediction(judged)):
            return judged
        said = f"right at the theoretical limit: {prediction[2]}"
        return replace(judged, reason=_joined(judged.reason, said), at_limit=True)
    named = any(slip.named for slip in judged.slips)
    if not named and (prediction := _prediction(judged)):
        judged = _as_expected(judged, *prediction)
    if judged.verdict != "wrong" or unit not in ("s", *RATES) or not timed:
        return judged
    words, impossible = "", False
    if answers.at_peak is None and answers.hardware is not None and (ratio > 0 or unit == "s"):
        share = ratio if unit in RATES or ratio <= 0 else 1 / ratio
        impossible = not 0 < share <= 1
        words = f"{significant(100 * share, 2)} % of the roof"
        words = "above the roof: impossible" if impossible else words
    reason = _joined(judged.reason, "" if named else words)
    return replace(judged, reason=reason, impossible=impossible)


def _joined(reason: str, more: str) -> str:
    return "; ".join(filter(None, (reason, more)))


def _prediction(judged: Checked) -> tuple[float, float, str] | None:
    """What measurements lead to expect with the default engine: the ends of its interval, and words
    for it; None where the claim states how it counts."""
    claim, bound = judged.claim, judged.value
    if not claim.given.keys().isdisjoint((*AT_PEAK, "efficiency", "engine", "preset")):
        return None
    study = study_of({**claim.given, "engine": DEFAULT_PROFILE})
    name = quantity_name(claim.quantity, claim.given) if claim.quantity else ""
    divided = bool(name) and claimed_quantity_formula(claim, name) != symbol(name)
    if divided or not study.first.measured_box or bound is None:
        return None
    expected: Any = study.first.get(name) if name else study.solve(claim.threshold, claim.solve_for)
    if expected is None or expected.low is None or expected.low == expected.high:
        return None
    value, low, high, limit = (
        format_quantity(Fraction(x), judged.unit, 3)
        for x in (expected.value, expected.low, expected.high, bound)
    )
    which = "maximum" if judged.unit in RATES else "minimum"
    text = f"predicted {value} ({low} to {high}), theoretical {which} {limit}"
    return expected.low, expected.high, text


def _as_expected(judged: Checked, low: float, high: float, said: str) -> Checked:
    """A number that differs from the bound, held against what measurements lead to expect."""
    if not low <= judged.value * judged.ratio <= high:
        return replace(judged, reason=_joined(judged.reason, said))
    if low <= 0 or high > WIDEST * low:
        reason = f"{said}: an interval too wide to judge by"
        return replace(judged, verdict="unchecked", reason=reason, slips=())
    return replace(judged, verdict="plausible", reason=said, slips=())
