"""Formulas and answers of a case as SymPy expressions, and the exact numbers to put into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, combinations
from typing import Any

import sympy

from symroof.cases.bound_case import BoundCase
from symroof.errors import NoValue, NoValueHere, Problem, UndefinedValue
from symroof.symbolic.applied import Quantity, label_symbol
from symroof.symbolic.closed_forms import holds
from symroof.symbolic.expressions import (
    WRITTEN_OUT,
    ZERO,
    Expr,
    TooLong,
    changed_inputs,
    inline,
    is_relation,
    names,
    substitute,
)
from symroof.symbolic.expressions import symbol as named_formula
from symroof.symbolic.from_sympy import UnsupportedExpression, to_core
from symroof.symbolic.nodes import Max, halves
from symroof.symbolic.random_points import RandomPoint
from symroof.symbolic.roots import Form, NoClosedForm, fraction, sign
from symroof.symbols import expressions, symbol
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, base_name
from symroof.theory.theory import UnknownName
from symroof.units import is_whole


def in_sympy(formula: Expr, bound_case: BoundCase) -> Any:
    """A formula in the symbols of :mod:`symroof.symbols`, quantities at changed inputs written out as far as the change reaches.

    >>> from symroof.analysis.study import Study
    >>> from symroof.symbolic.reading import parse
    >>> in_sympy(parse("weight_bytes + kv_cache_bytes(context = prompt + output)"), Study("llama-3-8b").first)
    batch*kv_bytes_per_token*(output + prompt) + weight_bytes
    """
    translated = bound_case.once("in_sympy", partial(expressions, bound_case.case.theory.own))
    try:
        return translated(with_changes_substituted(formula, bound_case))
    except UndefinedValue as error:  # a part of it has no derivative
        raise NoValueHere(Problem("expression", f"has no formula: {error}")) from None


def with_changes_substituted(formula: Expr, bound_case: BoundCase) -> Expr:
    """A formula whose quantities at changed inputs are replaced by their definitions, as far as the change reaches; as it is where that is too long."""
    if not changed_inputs(formula):
        return formula
    case = bound_case.case

    def definition(name: str, changed: frozenset[str]) -> Expr | None:
        moved = any(key in case.dependencies(name) for key in changed)
        return case.formula_or_name(name, changed=changed) if moved else None

    with suppress(TooLong):
        return inline(formula, definition, WRITTEN_OUT)
    return formula


def definition_in_sympy(name: str, bound_case: BoundCase, depth: int | None = None) -> Any:
    """The expression of a quantity: over inputs (its symbol where that is too long), or its definitions substituted so many times."""
    formula = named_formula(name)
    if depth is None:
        expanded = with_changes_substituted(bound_case.case.expanded(formula), bound_case)
        return in_sympy(formula if changed_inputs(expanded) else expanded, bound_case)
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
    inputs = (*case.given, *INPUTS, *(known.name for known in case.theory.own.inputs))
    searched = (name for name in QUANTITIES if case.theory.definition(name) is None)
    numbers: dict[Any, Any] = {}
    for name in dict.fromkeys((*inputs, *(bound_case.known if quantities else searched))):
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
        opened = {name: named_formula(name) for name in names(form) if known(name) is None}
        form = substitute(form, {n: case.expanded(x, complete=False) for n, x in opened.items()})
    return in_sympy(form, bound_case)


def relations(conditions: Iterable[Expr], bound_case: BoundCase) -> tuple[Any, ...]:
    """Conditions as SymPy relations; those that declared signs decide are left out."""
    made = (expression(condition, bound_case) for condition in conditions)
    return tuple(relation for relation in made if relation is not sympy.true)


def definitions(
    formulas: Iterable[Expr], unknown: str, bound_case: BoundCase, complete: bool | None
) -> dict[Any, Any]:
    """Symbol -> expression in inputs, of every derived quantity in some formulas; ``complete`` as in :meth:`symroof.theory.case.Case.expanded`."""
    case, found = bound_case.case, dict[Any, Any]()
    for name in dict.fromkeys(name for tree in formulas for name in names(tree)):
        if name != unknown and case.theory.definition(name) is not None:
            tree = case.expanded(named_formula(name), complete=complete)
            if tree != named_formula(name):
                found[symbol(name, case.theory.own)] = in_sympy(tree, bound_case)
    return found


def piecewise(forms: Sequence[Form], x: Any, bound_case: BoundCase) -> Any:
    """Every closed form without numbers, each where its conditions hold at it; a single one without conditions is the expression itself.

    The conditions do not contain the unknown: the form is put in its place. SymPy compares neither infinite nor complex numbers, and does not
    stop at the first condition that fails: so conditions are multiplied by the denominator, and have no roots and logarithms of negative numbers.

    >>> from symroof.analysis.study import Study
    >>> Study().solve("max(kv_cache_bytes, weight_bytes) = mem_capacity", "batch").sympy
    Piecewise((mem_capacity/(context*kv_bytes_per_token), mem_capacity - weight_bytes >= 0))
    """
    roots = [(form.closed_form, _existing(form, x, bound_case)) for form in forms]
    relation = partial(expression, bound_case=bound_case)
    ways = [(relation(form), sympy.And(*map(relation, met))) for form, met in roots]
    pieces = list(ways)
    for first, later in sorted(_out_of_order(roots)):  # the answer is the first crossing
        (form, met), also = pieces[first], ways[later][1]
        not_later = relation(_real(sympy.Le(roots[first][0], roots[later][0], evaluate=False)))
        pieces[first] = (form, sympy.And(met, sympy.Or(sympy.Not(also), not_later)))
    pieces = [(form, condition) for form, condition in pieces if condition is not sympy.false]
    if not pieces:
        return sympy.nan
    if len(pieces) == 1 and pieces[0][1] is sympy.true:
        return pieces[0][0]
    return sympy.Piecewise(*pieces, evaluate=False)


def _existing(form: Form, x: Any, bound_case: BoundCase) -> tuple[Any, ...]:
    """The conditions of a form, with the form in the place of the unknown."""
    root, made = form.closed_form, []
    for factor in chain(*halves(sympy.Mul.make_args(root))):
        # inputs that may be 0 do not make a root 0, or divide by it: its shape is looked at as if all were positive
        whole = bound_case.case.expanded(factor, complete=False)
        nothing = {n: ZERO for n in names(whole) if base_name(n) in MAY_VANISH}
        if sign(factor) > 0 and substitute(whole, nothing) == ZERO:
            made.append(sympy.Gt(factor, 0, evaluate=False))
    over, under = sympy.fraction(root)
    positive = sign(under) > 0 or sympy.Gt(under, 0, evaluate=False) in form.trees
    for condition in form.trees:
        left, right = condition.args
        if x in condition.free_symbols:
            left, right = _in_place(left - right, x, over, under, positive), 0
        elif right == 0:
            top, bottom = sympy.fraction(left)
            left = top if sign(bottom) > 0 else top * bottom
        made.append(_real(condition.func(left, right, evaluate=False)))
    return tuple(made)


def _in_place(lead: Any, x: Any, over: Any, under: Any, positive: bool) -> Any:
    """A lead with ``over/under`` for the unknown, multiplied by what is positive: powers of ``under``, over one of the root."""
    above, below = dict[int, Any](), dict[int, Any]()
    with suppress(NoClosedForm):
        above, below = fraction(lead, x)
    if not above or not all(sign(c) > 0 for c in below.values()):
        return lead.xreplace({x: over / under})
    least = min(above)
    degree = max(above) - least
    degree += 0 if positive else degree % 2
    terms = (c * over ** (k - least) * under ** (degree - k + least) for k, c in above.items())
    factors = sympy.Mul.make_args(sympy.gcd_terms(sympy.Add(*terms)))
    return sympy.Mul(*(own for own in factors if own.is_Add or not sign(own) > 0))


def _real(expr: Any) -> Any:
    """An expression without roots and logarithms of what may be negative."""
    if not expr.args:
        return expr
    args = [_real(arg) for arg in expr.args]
    if expr.is_Pow and expr.exp.is_Rational and not expr.exp.is_Integer and not sign(expr.base) > 0:
        return Max(args[0], 0) ** expr.exp
    if isinstance(expr, sympy.log) and not sign(expr.args[0]) > 0:
        return sympy.log(sympy.Abs(args[0]))
    return expr.func(*args, evaluate=False) if is_relation(expr) else expr.func(*args)


MAY_VANISH = {name for name, declared in INPUTS.items() if declared.may_vanish}
POINTS, DECADES = 60, 2
"""Random values of all names at which candidates are looked at together, and over how many decades either way."""


def _out_of_order(roots: Sequence[tuple[Any, tuple[Any, ...]]]) -> set[tuple[int, int]]:
    """Pairs of candidates of which both may hold, and the later one be the smaller, as random values of their names show."""
    found = set[tuple[int, int]]()
    for seed in range(POINTS if len(roots) > 1 else 0):
        point = RandomPoint(f"{seed}", DECADES, whole=False)
        values = dict[int, float]()
        for place, (form, conditions) in enumerate(roots):
            with suppress(ArithmeticError):
                if all(holds(condition, point.evaluate, {}) for condition in conditions):
                    values[place] = point.evaluate(form)
        found |= {(i, k) for i, k in combinations(values, 2) if values[k] < values[i]}
    return found
