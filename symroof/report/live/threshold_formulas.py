"""Thresholds whose closed forms hold for every setting of a live page."""

from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.closed_branches import Branch
from symroof.analysis.solve import solve, symbolic_answer
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr
from symroof.theory.layout import DEGREES
from symroof.theory.thresholds import Threshold

MOST_BRANCHES = 8
AGREE = Fraction(1, 10**12)


@dataclass(frozen=True)
class ThresholdFormula:
    """A threshold with all its closed forms; which one applies depends on the numbers.

    Attributes:
        difference: left minus right side; its sign tells which is larger if they never cross.
        branches: values, each with the conditions under which it applies.
    """

    threshold: Threshold
    difference: Expr
    branches: tuple[tuple[Expr, tuple[Expr, ...]], ...]


def threshold_formula(
    threshold: Threshold, subject: BoundCase, symbolic: BoundCase
) -> ThresholdFormula | None:
    """The closed forms of a threshold; None if there are none or they disagree with its solution for the subject.

    ``free`` is the same case with symbolic inputs where the page has controls.
    """
    if threshold.unknown in DEGREES:
        return None
    answer = symbolic_answer(threshold.name, symbolic)
    if answer is None or len(answer[1].every) > MOST_BRANCHES:
        return None
    relation, forms = answer
    branches = tuple(_branch(branch) for branch in forms.every if branch.closed_form is not None)
    made = ThresholdFormula(threshold, (relation.lhs - relation.rhs), branches)
    return made if _is_answer(made, subject, symbolic) else None


def _branch(branch: Branch) -> tuple[Expr, tuple[Expr, ...]]:
    assert branch.closed_form is not None
    return branch.closed_form, tuple(condition.tree for condition in branch.conditions)


def _is_answer(made: ThresholdFormula, subject: BoundCase, symbolic: BoundCase) -> bool:
    """Whether the smallest value whose conditions hold equals the solution for the subject."""
    try:
        solved = solve(made.threshold.name, subject).value
    except (InputError, NoValue):
        return False
    values = [
        value
        for value in (
            _value(form, conditions, made.threshold.unknown, symbolic)
            for form, conditions in made.branches
        )
        if value is not None
    ]
    if solved is None or not values:
        return solved is None and not values
    return abs(min(values) - solved) <= AGREE * abs(solved)


def _value(
    form: Expr, conditions: tuple[Expr, ...], unknown: str, symbolic: BoundCase
) -> Fraction | None:
    try:
        value = Fraction(symbolic.case.evaluate(form))
        there = symbolic.case.changed({unknown: value})
        return (
            value
            if value > 0 and all(there.evaluate(condition) for condition in conditions)
            else None
        )
    except NoValue:
        return None
