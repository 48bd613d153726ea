"""Formulas of a case as SymPy expressions, and the exact numbers to put into them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.errors import NoValueHere, Problem
from symroof.formula.evaluate import NoValue, UndefinedValue
from symroof.formula.from_sympy import UnsupportedExpression, from_sympy
from symroof.formula.rewrite import inline, substitute
from symroof.formula.to_sympy import label
from symroof.formula.tree import WRITTEN_OUT, Expr, Name, QuantityAt, names, parts, size
from symroof.symbols import expressions, symbol
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import resolved
from symroof.theory.symbols import INPUTS
from symroof.theory.theory import UnknownName
from symroof.units import is_whole


def in_sympy(tree: Expr, bound_case: BoundCase) -> Any:
    """A formula in the symbols of :mod:`symroof.symbols`, quantities at changed inputs written out as far as the change reaches.

    >>> from symroof.analysis.study import Study
    >>> from symroof.formula.parse import parse
    >>> in_sympy(parse("weight_bytes + kv_cache_bytes(context = prompt + output)"), Study("llama-3-8b").first)
    batch*kv_bytes_per_token*(output + prompt) + weight_bytes
    """
    if bound_case.memo.in_sympy is None:
        bound_case.memo.in_sympy = expressions(bound_case.case.theory.own)
    try:
        return bound_case.memo.in_sympy(with_changes_substituted(tree, bound_case))
    except UndefinedValue as error:  # a part of it has no derivative
        raise NoValueHere(Problem("expression", f"has no formula: {error}")) from None


def with_changes_substituted(tree: Expr, bound_case: BoundCase) -> Expr:
    """A formula whose quantities at changed inputs are replaced by their definitions, as far as the change reaches; as it is where that is too long."""
    if not _has_changes(tree):
        return tree
    case = bound_case.case

    def formula(name: str, changed: frozenset[str]) -> Expr | None:
        moved = any(key in case.dependencies(name) for key in changed)
        return case.formula_or_name(name, changed=changed) if moved else None

    written = inline(tree, formula)
    return written if size(written) <= WRITTEN_OUT else tree


def _has_changes(tree: Expr) -> bool:
    return any(isinstance(node, QuantityAt) for node in parts(tree))


def definition_in_sympy(name: str, bound_case: BoundCase, depth: int | None = None) -> Any:
    """The expression of a quantity: over inputs (its symbol where that is too long), or its definitions substituted so many times."""
    if depth is None:
        expanded = with_changes_substituted(bound_case.case.expanded(Name(name)), bound_case)
        return in_sympy(Name(name) if _has_changes(expanded) else expanded, bound_case)
    tree: Expr = Name(name)
    for _ in range(depth):
        tree = _substituted_once(with_changes_substituted(tree, bound_case), bound_case)
    return in_sympy(tree, bound_case)


def _substituted_once(tree: Expr, bound_case: BoundCase) -> Expr:
    """A formula with the definition of each of its names; a name of a number remains."""

    def formula(name: str) -> Expr:
        definition = bound_case.case.readable_formula(name)
        return definition if names(definition) else Name(name)

    return substitute(tree, {name: formula(name) for name in names(tree)})


class Values(dict[Any, Any]):
    """Symbol -> exact number in one case. A derived quantity, or the derivative of one, is found as well, and computed when it is: ``xreplace`` substitutes it.

    >>> import sympy
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
        """The number of a quantity or of a derivative; None of anything else, or where it has none."""
        case = self._answers.case
        try:
            if getattr(key, "is_Derivative", False) and key.expr.is_Symbol:
                return number(case.evaluate(resolved(from_sympy(key))))
            if getattr(key, "is_Symbol", False) and key == symbol(key.name, case.theory.own):
                return number(case.value(key.name))
        except (UnsupportedExpression, NoValue, UnknownName):
            pass
        return None


def values(bound_case: BoundCase, quantities: bool = False) -> Values:
    """Symbol -> exact number: every input that has a value, defaults included, and what has a value but no formula; with ``quantities`` all."""
    case = bound_case.case
    declared = (symbol.name for symbol in case.theory.own.inputs)
    inputs = (
        name
        for name in dict.fromkeys((*case.given, *INPUTS, *declared))
        if name in case.given or case.default(name) is not None
    )
    derived = (
        bound_case.quantities()
        if quantities
        else (name for name in QUANTITIES if case.theory.definition(name) is None)
    )
    numbers: dict[Any, Any] = {}
    for name in dict.fromkeys((*inputs, *derived)):
        try:
            numbers[symbol(name, case.theory.own)] = number(case.value(name))
        except (NoValue, UnknownName):
            continue
    return Values(numbers, bound_case)


def number(value: Any) -> Any:
    """A value as SymPy has it: a rational, a truth, or the symbol of a label."""
    import sympy

    if isinstance(value, float | Fraction):
        return sympy.Integer(int(value)) if is_whole(value) else sympy.Float(value)
    return sympy.true if value is True else sympy.false if value is False else label(str(value))
