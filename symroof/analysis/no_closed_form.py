"""Why an equation or a quantity has no closed form in an unknown: a quantity is searched for each of its values, or follows one formula or another."""

from symroof.cases.bound_case import BoundCase
from symroof.formula.tree import Call, Compare, Tree, names
from symroof.solver.rational import CHOSEN


def searched_quantity(tree: Tree, unknown: str, bound_case: BoundCase) -> str:
    """A quantity of an equation or a formula that is searched at each value of the unknown, so that no formula of the unknown has it; empty without one."""
    case = bound_case.case
    ancestry = sorted(frozenset().union(*map(case.theory.ancestry, names(tree))))
    return next((name for name in ancestry if unknown in case.theory.ancestry(name) - {name} and case.search(name, {unknown})), "")


def because_searched(searched: str, unknown: str) -> str:
    """The reason where a quantity is searched."""
    return f"{searched} is searched for each {unknown}"


def because(reason: str, relation: Compare, unknown: str, bound_case: BoundCase) -> str:
    """The reason of the solver by names: the quantity that takes one formula or another as the unknown moves."""
    if reason == CHOSEN:
        case = bound_case.case
        ancestry = sorted(frozenset().union(*map(case.theory.ancestry, names(relation))))
        choices = (name for name in ancestry if case.theory.depends(name, unknown) and _chooses(name, unknown, bound_case))
        reason = f"which formula {next(choices, 'one of its quantities')} follows turns on the unknown"
    return reason.replace("the unknown", unknown)


def _chooses(name: str, unknown: str, bound_case: BoundCase) -> bool:
    """Whether the formula of a quantity is a choice, with the stand-ins for what is missing or as it is declared."""
    formulas = (bound_case.case.stands_for(name, complete, (unknown,)) for complete in (True, False))
    return any(isinstance(formula, Call) and formula.function == "of_largest" for formula in formulas)
