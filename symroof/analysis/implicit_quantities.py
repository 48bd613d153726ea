"""Quantities that no formula gives: the relation that one solves, and why an equation or a quantity has no closed form in an unknown."""

from symroof.cases.bound_case import BoundCase
from symroof.formula import build
from symroof.formula.parse import parse
from symroof.formula.rewrite import rebuild
from symroof.formula.tree import ONE, Call, Compare, Expr, Name, QuantityAt, names
from symroof.solver.rational import CHOSEN


def implicit(name: str, bound_case: BoundCase) -> Compare | None:
    """The relation in the quantity's own name: the fixed point it is the least of, or what the largest whole number meets; None for any other.

    >>> from symroof.analysis.study import Study
    >>> from symroof.formula.text import text
    >>> text(implicit("disaggregated_batch", Study().first))
    'disaggregated_batch = min(prefill_request_rate*slot_steps*loaded_decode_time(batch = disaggregated_batch), batch)'
    >>> implicit("itl", Study().first) is None
    True
    """
    search = bound_case.case.search(name)
    if search is None:
        return None
    high, there = parse(search.high), _there(parse(search.body), search.unknown, name, bound_case)
    return (
        Compare("=", there, ONE)
        if search.kind == "largest"
        else Compare("=", Name(name), build.call("min", there, high))
    )


def _there(tree: Expr, unknown: str, name: str, bound_case: BoundCase) -> Expr:
    """The body where the unknown is the searched quantity, also in quantities that other changes move."""
    if isinstance(tree, (Name, QuantityAt)):
        if tree == Name(unknown):
            return Name(name)
        changes = tree.changes if isinstance(tree, QuantityAt) else ()
        made = tuple((key, _there(value, unknown, name, bound_case)) for key, value in changes)
        moved = unknown in bound_case.case.dependencies(tree.name) and unknown not in dict(made)
        changes = (*made, *([(unknown, Name(name))] if moved else []))
        return QuantityAt(tree.name, changes) if changes else tree
    return rebuild(tree, lambda part: _there(part, unknown, name, bound_case))


def searched_quantity(tree: Expr, unknown: str, bound_case: BoundCase) -> str:
    """A quantity of an equation or a formula that is searched at each value of the unknown, so that no formula of the unknown has it; empty without one."""
    case = bound_case.case
    dependencies = sorted(frozenset().union(*map(case.theory.dependencies, names(tree))))
    return next(
        (
            name
            for name in dependencies
            if unknown in case.dependencies(name) - {name} and case.search(name, {unknown})
        ),
        "",
    )


def because_searched(searched: str, unknown: str) -> str:
    """The reason where a quantity is searched."""
    return f"{searched} is searched for each {unknown}"


def because(reason: str, relation: Compare, unknown: str, bound_case: BoundCase) -> str:
    """The reason of the solver by names: the quantity that takes one formula or another as the unknown moves."""
    if reason == CHOSEN:
        case = bound_case.case
        dependencies = sorted(frozenset().union(*map(case.theory.dependencies, names(relation))))
        choices = (
            name
            for name in dependencies
            if unknown in case.dependencies(name) and _chooses(name, unknown, bound_case)
        )
        reason = (
            f"which formula {next(choices, 'one of its quantities')} follows turns on the unknown"
        )
    return reason.replace("the unknown", unknown)


def _chooses(name: str, unknown: str, bound_case: BoundCase) -> bool:
    """Whether the formula of a quantity is a choice, with the stand-ins for what is missing or as it is declared."""
    formulas = (
        bound_case.case.formula_or_name(name, complete, (unknown,)) for complete in (True, False)
    )
    return any(
        isinstance(formula, Call) and formula.function == "of_largest" for formula in formulas
    )
