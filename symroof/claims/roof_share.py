"""A claimed latency or rate against the roof: impossible, what measurements lead to expect, or which
share of the roof it is."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.cases.input import AT_PEAK
from symroof.claims.checked import Checked
from symroof.claims.claim_settings import study_of
from symroof.claims.derive_claim import quantity_name
from symroof.specs.engine_profile import DEFAULT as DEFAULT_PROFILE
from symroof.units import format_quantity, significant

RATES = ("token/s", "request/s")
WIDEST = 3
"""An expected interval whose ends differ by more says nothing of a number inside."""


def with_roof_share(judged: Checked) -> Checked:
    """A wrong claim of a latency or a rate held against the roof; one that a named slip explains is
    only told to be impossible where it is."""
    claim, bound, ratio, found = judged.claim, judged.value, judged.ratio, judged.found
    if judged.verdict != "wrong" or ratio is None or not bound or found is None:
        return judged
    answers, name, unit = found.answers, claim.quantity or "", judged.unit
    # over ranges there is no one roof
    if answers is None or found.range or claim.form not in ("quantity", "threshold"):
        return judged
    named = any(slip.named for slip in judged.slips)
    if not named:
        judged = _as_expected(judged)
        if judged.verdict != "wrong":
            return judged
    if claim.form != "quantity" or unit not in ("s", *RATES) or not answers.case.theory.timed(name):
        return judged
    words, impossible = "", False
    if answers.at_peak is None and answers.hardware is not None and (ratio > 0 or unit == "s"):
        share = ratio if unit in RATES or ratio <= 0 else 1 / ratio
        impossible = not 0 < share <= 1
        words = f"{significant(100 * share, 2)} % of the roof"
        words = "above the roof: impossible" if impossible else words
    reason = "; ".join(filter(None, (judged.reason, "" if named else words)))
    return replace(judged, reason=reason, impossible=impossible)


def _as_expected(judged: Checked) -> Checked:
    """A number that differs from the bound, held against what measurements lead to expect of the
    default engine, where no efficiencies are stated."""
    claim, bound, ratio = judged.claim, judged.value, judged.ratio
    if claim.per or not claim.given.keys().isdisjoint((*AT_PEAK, "efficiency", "engine", "preset")):
        return judged
    study = study_of({**claim.given, "engine": DEFAULT_PROFILE})
    if not study.first.measured_box or bound is None or ratio is None:
        return judged
    name = quantity_name(claim.quantity, claim.given) if claim.quantity else ""
    expected: Any = study.first.get(name) if name else study.solve(claim.threshold, claim.solve_for)
    if expected is None or expected.low is None or expected.low == expected.high:
        return judged
    low, high = expected.low, expected.high
    value, *ends, least = (
        format_quantity(Fraction(x), judged.unit, 3) for x in (expected.value, low, high, bound)
    )
    said = f"predicted {value} ({' to '.join(ends)}), theoretical minimum {least}"
    if not low <= bound * ratio <= high:
        return replace(judged, reason="; ".join(filter(None, (judged.reason, said))))
    if low <= 0 or high > WIDEST * low:
        reason = f"{said}: an interval too wide to judge by"
        return replace(judged, verdict="unchecked", reason=reason, slips=())
    return replace(judged, verdict="plausible", reason=said, slips=())
