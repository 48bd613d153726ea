"""Quantities that no formula gives: the relation that one solves, and why an equation or a quantity has no closed form in an unknown."""

from sympy import Symbol

from symroof.cases.bound_case import BoundCase
from symroof.symbolic.expressions import ONE, At, Expr, Min, at, names, rebuild, symbol
from symroof.symbolic.expressions import relation as compared
from symroof.symbolic.reading import parse


def implicit(name: str, bound_case: BoundCase) -> Expr | None:
    """The relation in the quantity's own name: the fixed point it is the least of, or what the largest whole number meets; None for any other.

    >>> from symroof.analysis.study import Study
    >>> from symroof.symbolic.printing import text
    >>> text(implicit("disaggregated_batch", Study().first))
    'disaggregated_batch = min(slot_steps*loaded_decode_time(batch = max(disaggregated_batch, 1))*prefill_request_rate, batch)'
    >>> implicit("itl", Study().first) is None
    True
    """
    search = bound_case.case.search(name)
    if search is None:
        return None
    high, there = parse(search.high), _there(parse(search.body), search.unknown, name, bound_case)
    return (
        compared("=", there, ONE)
        if search.kind == "largest"
        else compared("=", symbol(name), Min(there, high))
    )


def _there(tree: Expr, unknown: str, name: str, bound_case: BoundCase) -> Expr:
    """The body where the unknown is the searched quantity, also in quantities that other changes move."""
    if isinstance(tree, (Symbol, At)):
        if tree == symbol(unknown):
            return symbol(name)
        changes = tree.changes if isinstance(tree, At) else ()
        made = tuple((key, _there(value, unknown, name, bound_case)) for key, value in changes)
        moved = unknown in bound_case.case.dependencies(tree.name) and unknown not in dict(made)
        changes = (*made, *([(unknown, symbol(name))] if moved else []))
        return at(tree.name, changes) if changes else tree
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


def because(reason: str, unknown: str) -> str:
    """The reason of the solver by names."""
    return reason.replace("the unknown", unknown)
