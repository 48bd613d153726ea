"""Formulas of a case as SymPy expressions, and the exact numbers to put into them."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import sympy

from symroof.cases.bound_case import BoundCase
from symroof.errors import NoValueHere, Problem
from symroof.symbolic.applied import Quantity, label_symbol
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import (
    WRITTEN_OUT,
    At,
    Expr,
    inline,
    inlined_size,
    names,
    parts,
    substitute,
)
from symroof.symbolic.expressions import symbol as named_formula
from symroof.symbolic.from_sympy import UnsupportedExpression, to_core
from symroof.symbols import expressions, symbol
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import UnknownName
from symroof.units import is_whole


def in_sympy(formula: Expr, bound_case: BoundCase) -> Any:
    """A formula in the symbols of :mod:`symroof.symbols`, quantities at changed inputs written out as far as the change reaches.

    >>> from symroof.analysis.study import Study
    >>> from symroof.symbolic.reading import parse
    >>> in_sympy(parse("weight_bytes + kv_cache_bytes(context = prompt + output)"), Study("llama-3-8b").first)
    batch*kv_bytes_per_token*(output + prompt) + weight_bytes
    """
    if bound_case.memo.in_sympy is None:
        bound_case.memo.in_sympy = expressions(bound_case.case.theory.own)
    try:
        return bound_case.memo.in_sympy(with_changes_substituted(formula, bound_case))
    except UndefinedValue as error:  # a part of it has no derivative
        raise NoValueHere(Problem("expression", f"has no formula: {error}")) from None


def with_changes_substituted(formula: Expr, bound_case: BoundCase) -> Expr:
    """A formula whose quantities at changed inputs are replaced by their definitions, as far as the change reaches; as it is where that is too long."""
    if not _has_changes(formula):
        return formula
    case = bound_case.case

    def definition(name: str, changed: frozenset[str]) -> Expr | None:
        moved = any(key in case.dependencies(name) for key in changed)
        return case.formula_or_name(name, changed=changed) if moved else None

    written = inlined_size(formula, definition) <= WRITTEN_OUT
    return inline(formula, definition) if written else formula


def _has_changes(formula: Expr) -> bool:
    return any(isinstance(node, At) for node in parts(formula))


def definition_in_sympy(name: str, bound_case: BoundCase, depth: int | None = None) -> Any:
    """The expression of a quantity: over inputs (its symbol where that is too long), or its definitions substituted so many times."""
    formula = named_formula(name)
    if depth is None:
        expanded = with_changes_substituted(bound_case.case.expanded(formula), bound_case)
        return in_sympy(formula if _has_changes(expanded) else expanded, bound_case)
    for _ in range(depth):
        formula = with_changes_substituted(formula, bound_case)
        found = {name: bound_case.case.readable_formula(name) for name in names(formula)}
        formula = substitute(formula, {name: own for name, own in found.items() if names(own)})
    return in_sympy(formula, bound_case)


class Values(dict[Any, Any]):
    """Symbol -> exact number in one case. A derived quantity is found as well, at changed inputs and its derivatives, too, and computed when it
    is: ``xreplace`` substitutes it.

    >>> from symroof.analysis.study import Study
    >>> from symroof.symbols import batch, kv_cache_bytes
    >>> slope = sympy.diff(kv_cache_bytes*batch, batch)
    >>> slope, slope.xreplace(values(Study("llama-3-8b", prompt=1, batch=2).first))
    (batch*Derivative(kv_cache_bytes, batch) + kv_cache_bytes, 524288)
    """

    def __init__(self, numbers: Mapping[Any, Any], bound_case: BoundCase) -> None:
        super().__init__(numbers)
        self._answers = bound_case

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or self._found(key) is not None

    def __missing__(self, key: Any) -> Any:
        found = self._found(key)
        if found is None:
            raise KeyError(key)
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def _found(self, key: Any) -> Any:
        """The number of a quantity, of a derivative, or of an input that nobody gave as a whole; None of anything else, or where it has none."""
        if not isinstance(key, (Quantity, sympy.Symbol, sympy.Derivative, sympy.Subs)):
            return None
        case = self._answers.case
        try:
            if key.is_Symbol and key != symbol(key.name, case.theory.own):
                return None
            formula = to_core(key, constant=lambda name: name in INPUTS)
            return number(case.value(formula.name) if formula.is_Symbol else case.evaluate(formula))
        except (UnsupportedExpression, NoValue, UnknownName):
            return None


def values(bound_case: BoundCase, quantities: bool = False) -> Values:
    """Symbol -> exact number: every input that has a value, defaults included, and what has a value but no formula; with ``quantities`` all."""
    case = bound_case.case
    declared = (known.name for known in case.theory.own.inputs)
    inputs = [
        name
        for name in dict.fromkeys((*case.given, *INPUTS, *declared))
        if name in case.given or case.default(name) is not None
    ]
    searched = (name for name in QUANTITIES if case.theory.definition(name) is None)
    numbers: dict[Any, Any] = {}
    for name in dict.fromkeys((*inputs, *(bound_case.quantities() if quantities else searched))):
        with suppress(NoValue, UnknownName):
            numbers[symbol(name, case.theory.own)] = number(case.value(name))
    return Values(numbers, bound_case)


def number(value: Any) -> Any:
    """A value as SymPy has it: a rational, a truth, or the symbol of a label."""
    if isinstance(value, float):
        return sympy.Integer(int(value)) if is_whole(value) else sympy.Float(value)
    return sympy.sympify(value) if isinstance(value, bool) else label_symbol(str(value))


def expression(form: Expr, bound_case: BoundCase) -> Any:
    """A formula in SymPy. Where degrees are free in the case, what it names only then is written out."""
    case = bound_case.case
    if case.free:
        known = bound_case.given_case.theory.definition
        opened = {
            name: case.expanded(named_formula(name), complete=False)
            for name in names(form)
            if known(name) is None
        }
        form = substitute(form, opened)
    return in_sympy(form, bound_case)


def relations(conditions: Iterable[Expr], bound_case: BoundCase) -> tuple[Any, ...]:
    """Conditions as SymPy relations; those that declared signs decide are left out."""
    return tuple(filter(is_open, (expression(condition, bound_case) for condition in conditions)))


def is_open(relation: Any) -> bool:
    """Whether declared signs do not decide a relation in its favour."""
    return bool(relation != True)  # noqa: E712
