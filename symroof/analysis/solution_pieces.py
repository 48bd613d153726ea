"""An answer without numbers as one expression: a piece for each candidate, under conditions free of the unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import sympy

from symroof.analysis.closed_branches import Branch, written
from symroof.analysis.equation import solvable
from symroof.analysis.in_sympy import expression, is_open
from symroof.cases.bound_case import BoundCase
from symroof.symbolic.arms import holds
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    Max,
    halves,
    names,
    substitute,
    symbol,
)
from symroof.symbolic.polynomials import NoClosedForm, fraction, sign
from symroof.symbolic.random_points import RandomPoint
from symroof.theory.symbols import INPUTS, base_name


def piecewise(branches: Iterable[Branch], unknown: str, bound_case: BoundCase) -> Any:
    """Every candidate, each where its conditions hold at it; a single one without conditions is the expression itself.

    The conditions do not contain the unknown: the candidate is put in its place. SymPy compares neither infinite nor complex numbers, and does not
    stop at the first condition that fails: so conditions are multiplied by the denominator, and have no roots and logarithms of negative numbers.

    >>> from symroof.analysis.study import Study
    >>> Study().solve("max(kv_cache_bytes, weight_bytes) = mem_capacity", "batch").sympy
    Piecewise((mem_capacity/(context*kv_bytes_per_token), mem_capacity - weight_bytes >= 0))
    """
    roots = [_Root.of(branch, unknown, bound_case) for branch in branches]

    def relation(plain: Any) -> Any:
        return expression(written(plain), bound_case)

    ways = [
        (
            expression(root.tree, bound_case),
            sympy.And(*filter(is_open, map(relation, root.conditions))),
        )
        for root in roots
    ]
    pieces = list(ways)
    for first, later in sorted(_out_of_order(roots)):  # the answer is the first crossing
        (form, met), also = pieces[first], ways[later][1]
        not_later = relation(_real(sympy.Le(roots[first].form, roots[later].form, evaluate=False)))
        pieces[first] = (form, sympy.And(met, sympy.Or(sympy.Not(also), not_later)))
    pieces = [(form, condition) for form, condition in pieces if condition is not sympy.false]
    if not pieces:
        return sympy.nan
    if len(pieces) == 1 and pieces[0][1] is sympy.true:
        return pieces[0][0]
    return sympy.Piecewise(*pieces, evaluate=False)


@dataclass(frozen=True)
class _Root:
    """A candidate in plain symbols, with the conditions in which it stands for the unknown."""

    tree: Expr
    form: Any
    conditions: tuple[Any, ...]

    @classmethod
    def of(cls, branch: Branch, unknown: str, bound_case: BoundCase) -> _Root:
        assert branch.closed_form is not None, "answers without numbers are closed"
        form = solvable(branch.closed_form, bound_case)
        met = [solvable(c.tree, bound_case) for c in branch.conditions]
        x = solvable(symbol(unknown), bound_case)
        over, under = sympy.fraction(form)
        positive = sign(under) > 0 or sympy.Gt(under, 0, evaluate=False) in met
        inside = (_real(_without_bars(condition, x, over, under, positive)) for condition in met)
        return cls(
            branch.closed_form,
            form,
            (*_exists(branch.closed_form, bound_case), *(c for c in inside if c is not sympy.true)),
        )


def _without_bars(condition: Any, x: Any, over: Any, under: Any, positive: bool) -> Any:
    """A condition with ``over/under`` for the unknown, multiplied by what is positive: powers of ``under``, over one of the root."""
    if not isinstance(condition, sympy.core.relational.Relational):
        return condition
    kind, left, right = condition.func, condition.lhs, condition.rhs
    if x not in condition.free_symbols:
        if right != 0:
            return condition
        top, bottom = sympy.fraction(left)
        return kind(top if sign(bottom) > 0 else top * bottom, 0, evaluate=False)
    try:
        above, below = fraction(left - right, x)
    except NoClosedForm:
        above, below = {}, {}
    if not above or not all(sign(c) > 0 for c in below.values()):
        return kind(*(side.xreplace({x: over / under}) for side in (left, right)), evaluate=False)
    least = min(above)
    degree = max(above) - least
    degree += 0 if positive else degree % 2
    terms = (c * over ** (k - least) * under ** (degree - k + least) for k, c in above.items())
    return kind(_primitive(sympy.Add(*terms)), 0, evaluate=False)


def _primitive(expr: Any) -> Any:
    """A sum without the factors of all its terms that are positive."""
    return sympy.Mul(
        *(
            part
            for part in sympy.Mul.make_args(sympy.gcd_terms(expr))
            if not sign(part) > 0 or part.is_Add
        )
    )


def _real(expr: Any) -> Any:
    """An expression without roots and logarithms of what may be negative."""
    if not expr.args:
        return expr
    args = [_real(arg) for arg in expr.args]
    if expr.is_Pow and expr.exp.is_Rational and not expr.exp.is_Integer and not sign(expr.base) > 0:
        return Max(args[0], 0) ** expr.exp
    if isinstance(expr, sympy.log) and not sign(expr.args[0]) > 0:
        return sympy.log(sympy.Abs(args[0]))
    relational = isinstance(expr, sympy.core.relational.Relational)
    return expr.func(*args, evaluate=False) if relational else expr.func(*args)


POINTS, DECADES = 60, 2
"""Random values of all names at which candidates are looked at together, and over how many decades either way."""


def _out_of_order(roots: Sequence[_Root]) -> set[tuple[int, int]]:
    """Pairs of candidates of which both may hold, and the later one be the smaller, as random values of their names show."""
    found = set[tuple[int, int]]()
    for seed in range(POINTS if len(roots) > 1 else 0):
        point = RandomPoint(f"{seed}", DECADES, whole=False)
        values = dict[int, float]()
        for place, root in enumerate(roots):
            with suppress(ArithmeticError):
                if all(holds(condition, point.evaluate, {}) for condition in root.conditions):
                    values[place] = point.evaluate(root.form)
        found |= {(i, k) for i, k in combinations(values, 2) if values[k] < values[i]}
    return found


def _exists(form: Expr, bound_case: BoundCase) -> Iterator[Any]:
    """That inputs which may be 0 do not make a root 0, or divide by it: the shape of a root is looked at as if all were positive."""
    for factor in chain(*halves(sympy.Mul.make_args(form))):
        whole = bound_case.case.expanded(factor, complete=False)
        nothing = {
            name: ZERO
            for name in names(whole)
            if base_name(name) in INPUTS and INPUTS[base_name(name)].may_vanish
        }
        plain = solvable(factor, bound_case)
        if sign(plain) > 0 and substitute(whole, dict(nothing)) == ZERO:
            yield sympy.Gt(plain, 0, evaluate=False)
