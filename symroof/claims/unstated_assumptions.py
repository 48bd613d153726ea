"""A claim that misses its value: right under an assumption it does not state, or wrong, with the
slips that lead to its value; and a latency or a rate without a stated efficiency, held against the roof.

The simplifications of textbooks count less than everything: there are four, so a number written
with three digits seldom agrees with one by chance; how seldom decides against a slip that would
explain the claim too.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.cases.values import AT_PEAK
from symroof.claims.checked import HOLDS, Checked, tolerance_of
from symroof.claims.claim_settings import Settings, settings_text, study_of
from symroof.claims.denominators import claimed_quantity_formula
from symroof.claims.derive_claim import quantity_name
from symroof.claims.explain_slips import (
    SlipExplanation,
    agreeing_ranges,
    chance,
    explain,
    factor_text,
)
from symroof.claims.slips import CATALOGUE, OTHER_COUNTS, Context
from symroof.specs.claims import ClaimSpec
from symroof.specs.engine_profile import DEFAULT as DEFAULT_PROFILE
from symroof.symbolic.expressions import symbol
from symroof.theory.switches import DETAIL, expand_detail
from symroof.units import format_quantity, significant

SELDOM = 0.2
"""A simplification is reported where at most this share of random errors would agree with one."""
NOTABLE = Fraction(101, 100)
"""The effect from which on what was left out is named."""
TABLE_COUNTED = "the gathered input table counted among the active parameters"
"""How many model cards count them."""
RIGHT = ("exact", "rounded")
SIMPLIFICATIONS: tuple[dict[str, str], ...] = (
    *({"detail": level} for level in reversed(DETAIL) if level != "exact"),
    {"detail": "attention", "attention": "full"},
)
"""The plainest first."""
PARALLEL = ("tp", "pp", "ep", "attention_dp")
NO_LINKS = {"prefill_link_time": "0 s", "decode_link_time": "0 s"}
"""Settings under which what devices send to each other takes no time."""
ROUND_NAME = Fraction(1, 100)
"""How far off a number may be for the rounded parameters of a model's name: 70 for 70.55 billion."""
LEFT_OUT = [way for way in CATALOGUE if [*way.sets.get("assume", {}).values()] == ["off"]]
"""Slips that a plainer count makes, each by a switch."""


def explain_failure(judged: Checked) -> Checked:
    """A claim that misses its value, with the slips that lead to it; a stated tolerance is no slip.

    Of a simplification and a slip that both explain it, the one counts that random errors agree
    with less often.
    """
    claim = judged.claim
    near = judged.verdict == "approximate" and claim.tolerance is None
    if judged.found is None or (judged.verdict != "wrong" and not near):
        return judged
    slips = explain(claim, judged.number, judged.found)
    judged = replace(judged, slips=slips)
    if judged.verdict != "wrong":
        return judged
    otherwise = f"; otherwise {judged.derived}"
    first = slips[0] if slips and slips[0].named else None
    alike = [slip for slip in slips if slip.text == slips[0].text]  # two have one text
    if first and all(slip.named and slip.slip in OTHER_COUNTS for slip in alike):
        return judged.conditional(first.cause, f"holds with {first.text}")
    table = next((slip for slip in slips if slip.cause == TABLE_COUNTED), None)
    if table and claim.quantity == "active_params":
        return judged.conditional(TABLE_COUNTED, f"holds with {table.text}{otherwise}")
    found = simplification(judged)
    if found and (first is None or found[1] <= first.chance):
        needs, left_out = settings_text(found[0]), found[2]
        names = {slip.slip for slip in left_out}
        every = (*left_out, *(slip for slip in slips if slip.slip not in names))
        return replace(judged, slips=every).conditional(needs, f"holds at {needs}{otherwise}")
    return judged


def simplification(judged: Checked) -> tuple[Settings, float, tuple[SlipExplanation, ...]] | None:
    """The plainest simplification under which a wrong claim holds, the share of random errors that
    would hold under one, and the slip that leaves the same out; None where chance would do as well.
    A model is called by its rounded parameters, so a number may be a hundredth off.
    """
    claim, written, true = judged.claim, judged.number, judged.value
    if written is None or not written.above_zero or true is None or true <= 0:
        return None
    number, context = written.number, Context(claim, true, judged.unit)
    plain = simplified_settings(claim)
    if plain and judged.unit in ("request", "token") and "engine" not in claim.given:
        plain.append({"engine": DEFAULT_PROFILE})
    tried = [(one, value) for one in plain for value in context.values_with(one)]
    values = [value for _, value in tried if value != true]
    share = chance(float(number), float(true), agreeing_ranges(values, written))
    limit = tolerance_of(claim, written.digits)
    right = [one for one, value in tried if written.verdict(value, limit) in RIGHT]
    near = sorted((abs(number / value - 1), i) for i, (_, value) in enumerate(tried))
    close = [tried[i][0] for off, i in near if off <= ROUND_NAME]
    first = next(iter((*right, *close)), None)
    if first is None or share > SELDOM:
        return None
    switched = expand_detail(first.get("assume", {}))
    effects: list[tuple[Fraction, str, str]] = []
    for way in LEFT_OUT:
        if way.sets["assume"].items() <= switched.items():
            off = context.values_with(way.sets)
            effects += [(max(value / true, true / value), way.slip, way.text) for value in off]
    factor, slip, text = max(effects, default=(Fraction(1), "", ""))
    left_out = SlipExplanation(slip, True, number, share, text, factor_text(number / true))
    return first, share, (left_out,) if factor > NOTABLE else ()


def simplified_settings(claim: ClaimSpec) -> list[dict[str, Any]]:
    """Settings under which a claim would be counted more simply, the plainest first; none where it
    says how it counts.

    >>> simplified_settings(ClaimSpec(id="t", quantity="itl", given={"params": "70e9"}, value="1 s"))[:2]
    [{'assume': {'detail': 'weights'}}, {'assume': {'detail': 'kv'}}]
    """
    counted = claim.form in ("quantity", "threshold", "compare")
    if not counted or claim.needs or "preset" in claim.given:
        return []
    stated = {str(name): str(value) for name, value in claim.given.get("assume", {}).items()}
    chosen = expand_detail(stated).keys()
    open_ones = (one for one in SIMPLIFICATIONS if not expand_detail(one).keys() & chosen)
    plain = [{"assume": switches} for switches in open_ones]
    several = any(str(claim.given.get(name, 1)) != "1" for name in PARALLEL)
    return [*plain, *({**settings, **NO_LINKS} for settings in plain if several)]


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
        words = f"right at {significant(100 * share, 2)} % of peak"
        words = "beyond 100 % of peak: impossible" if impossible else words
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
    every = expected.value, expected.low, expected.high, bound
    value, low, high, limit = (format_quantity(Fraction(x), judged.unit, 3) for x in every)
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
