"""Bounds, truths, labels and directions that are wrong: the one change that would make them true, where there is but one.

They hold little information: a bound is met by half of all values, a truth by every second answer. So an explanation here is
suggested and never named, and there is none where two slips would do.
"""

from fractions import Fraction
from math import inf

from symroof.cases.bound_case import BoundCase
from symroof.claims.derive_claim import Derived, Value
from symroof.claims.read.written_number import CLOSE_ENOUGH, WrittenNumber
from symroof.claims.slips.context import Context, context_of
from symroof.claims.slips.explanation import SlipExplanation, chance
from symroof.claims.slips.predictions import case_changes
from symroof.claims.slips.slip_catalogue import CATALOGUE, MisreadResult, RoundedFigure
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.expressions import is_label
from symroof.units import format_quantity

DIRECTIONS = 3
"""Up, down, or not at all."""
TRUTHS = 2


def explain_label(
    claim: ClaimSpec, written: WrittenNumber, derived: Derived
) -> tuple[SlipExplanation, ...]:
    """The slip after which a wrong bound or answer holds, if only one does; changes of the case, no result read otherwise.

    >>> from symroof.claims.derive_claim import derived
    >>> from symroof.claims.read.written_number import read_written
    >>> settings = {"model": "llama-3-8b", "hardware": "h100-sxm", "prompt": 1000, "batch": 200}
    >>> claim = ClaimSpec(id="b", relation="batch > 100", given=settings, value=False)
    >>> [slip.text for slip in explain_label(claim, read_written(False, ""), derived(claim))]
    ['one request in place of the batch: then false']
    """
    context = context_of(claim, derived, written.text)
    outcomes = _outcomes(context)
    holding = [
        (slip, text, outcome) for slip, text, outcome in outcomes if _holds(written, outcome)
    ]
    if claim.relation == "fits":  # texts ask whether the weights fit
        holding = [one for one in holding if one[0] == "kv_ignored"] or holding
    if len({slip for slip, _, _ in holding}) != 1:
        return ()
    slip, text, outcome = holding[0]
    by_chance = _by_chance(context, written, derived, [reached for _, _, reached in outcomes])
    label = str(outcome).lower()
    shown = (
        format_quantity(outcome, derived.unit, 4)
        if isinstance(outcome, float | Fraction)
        else label
    )
    return (
        SlipExplanation(
            slip,
            False,
            outcome if isinstance(outcome, float | Fraction) else label,
            by_chance,
            f"{text}: then {shown}",
        ),
    )


def _outcomes(context: Context) -> list[tuple[str, str, Value]]:
    """The outcome after each change of the catalogue."""
    ways = [
        (slip.name, variant)
        for slip in CATALOGUE
        for variant in slip.variants
        if not isinstance(variant, (MisreadResult, RoundedFigure))
    ]
    tried = [
        (name, text, context.outcome_with(sets))
        for name, variant in ways
        for text, sets in case_changes(context, variant)
    ]
    return [(name, text, outcome) for name, text, outcome in tried if outcome is not None]


def _holds(written: WrittenNumber, outcome: Value) -> bool:
    if written.operator:
        least = written.operator.startswith(
            ">"
        )  # whoever works out 42 writes "at least 42", not "at least 21"
        return (
            isinstance(outcome, float | Fraction)
            and written.agrees(outcome)
            and not (least and outcome > written.number * (1 + CLOSE_ENOUGH))
        )
    return (
        written.word is not None
        and written.word == outcome
        and isinstance(written.word, bool) == isinstance(outcome, bool)
    )


def _by_chance(
    context: Context, written: WrittenNumber, derived: Derived, reached: list[Value]
) -> float:
    """The share of wrong bounds about as wrong, or of wrong answers, that some change would make true."""
    if not written.operator:
        others = {str(outcome) for outcome in reached} - {str(derived.value)}
        return min(1.0, len(others) / (_answers(context.claim, context.answers) - 1))
    values = [
        float(outcome)
        for outcome in reached
        if isinstance(outcome, float | Fraction) and outcome > 0
    ]
    span = (min(values), inf) if written.operator.startswith("<") else (0.0, max(values))
    if written.number > 0 < context.value:
        return chance(float(written.number), float(context.value), [span])
    return 1.0


def _answers(claim: ClaimSpec, answers: BoundCase) -> int:
    """How many answers a question has."""
    asked = answers.case.formula_or_name(claim.relation or claim.quantity or "")
    return DIRECTIONS if claim.moves else len(asked.arms) if is_label(asked) else TRUTHS
