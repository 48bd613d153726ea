"""The thresholds of a review whose closed forms hold for every setting of a live page, ready to be printed."""

from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.solve import solve, symbolic_answer
from symroof.cases.case_results import Answers
from symroof.errors import InputError
from symroof.formula import build
from symroof.formula.evaluate import NoValue
from symroof.formula.tree import Tree
from symroof.solver.result import Branch
from symroof.theory.layout import DEGREES
from symroof.theory.thresholds import Threshold

MOST_BRANCHES = 8
AGREE = Fraction(1, 10**12)


@dataclass(frozen=True)
class ClosedForm:
    """A threshold with every closed form it can take; which one holds is a matter of the numbers.

    Attributes:
        difference: left side less right side, whose sign says which is larger where they never meet.
        branches: the value and the conditions under which it is the answer.
    """

    threshold: Threshold
    difference: Tree
    branches: tuple[tuple[Tree, tuple[Tree, ...]], ...]


def closed_form(threshold: Threshold, subject: Answers, free: Answers) -> ClosedForm | None:
    """The closed forms of a threshold; None where it has none, or where they are not its answer for the subject.

    ``free`` is the same case where the inputs that the page moves may be any number.
    """
    if threshold.unknown in DEGREES:
        return None
    answer = symbolic_answer(threshold.name, free)
    if answer is None or len(answer[1].branches) > MOST_BRANCHES:
        return None
    relation, crossing = answer
    branches = tuple(_branch(branch) for branch in crossing.branches if branch.closed_form is not None)
    made = ClosedForm(threshold, build.sub(relation.left, relation.right), branches)
    return made if _is_answer(made, subject, free) else None


def _branch(branch: Branch) -> tuple[Tree, tuple[Tree, ...]]:
    assert branch.closed_form is not None
    return branch.closed_form, tuple(condition.tree for condition in branch.conditions)


def _is_answer(made: ClosedForm, subject: Answers, free: Answers) -> bool:
    """Whether the least value whose conditions hold is the threshold as it is solved with the subject's numbers."""
    try:
        solved = solve(made.threshold.name, subject).value
    except (InputError, NoValue):
        return False
    values = [value for value in (_value(form, conditions, made.threshold.unknown, free) for form, conditions in made.branches) if value is not None]
    if solved is None or not values:
        return solved is None and not values
    return abs(min(values) - solved) <= AGREE * abs(solved)


def _value(form: Tree, conditions: tuple[Tree, ...], unknown: str, free: Answers) -> Fraction | None:
    try:
        value = Fraction(free.case.evaluate(form))
        there = free.case.changed({unknown: value})
        return value if value > 0 and all(there.evaluate(condition) for condition in conditions) else None
    except NoValue:
        return None
