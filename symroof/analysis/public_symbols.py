"""Formulas and conditions of an answer in the symbols of :mod:`symroof.symbols`."""

from collections.abc import Iterable
from typing import Any

from symroof.analysis.expressions import in_sympy
from symroof.cases.bound_case import BoundCase
from symroof.formula.rewrite import substitute
from symroof.formula.tree import Expr, Name, names


def expression(form: Expr, bound_case: BoundCase) -> Any:
    """A formula in SymPy. Where degrees are free in the case, what it names only then is written out."""
    if bound_case.case.free:
        own = bound_case.given_case.theory
        form = substitute(
            form,
            {
                name: bound_case.case.expanded(Name(name), complete=False)
                for name in names(form)
                if own.definition(name) is None
            },
        )
    return in_sympy(form, bound_case)


def relations(conditions: Iterable[Expr], bound_case: BoundCase) -> tuple[Any, ...]:
    """Conditions as SymPy relations; those that declared signs decide are left out."""
    return tuple(filter(is_open, (expression(condition, bound_case) for condition in conditions)))


def is_open(relation: Any) -> bool:
    """Whether declared signs do not decide a relation in its favour."""
    return bool(relation != True)  # noqa: E712
