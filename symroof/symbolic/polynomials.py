"""Expressions as polynomials in one unknown, whose coefficients are left as they are written: never expanded, they stay readable."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import sympy
from sympy import Symbol

from symroof.symbolic.nodes import Total
from symroof.symbolic.random_points import RandomPoint

LARGEST_POWER = 16

Evaluate = Callable[..., float]
"""The number of a formula, some names of which may be set for it: ``Case.evaluate``. It raises an ArithmeticError where there is none."""


class NoClosedForm(ValueError):
    """Why there is none."""


Powers = dict[int, Any]
"""Power of the unknown -> coefficient."""


def fraction(expr: Any, x: Symbol) -> tuple[Powers, Powers]:
    """Numerator and denominator in powers of ``x``, coefficients left as they are.

    Raises:
        NoClosedForm: it is no quotient of polynomials in ``x``.

    >>> a, b, x = sympy.symbols("a b x")
    >>> fraction(a*(b*x + 1)/x - b, x)
    ({1: a*b - b, 0: a}, {1: 1})
    """
    still: dict[Any, Any] = {}
    whole = sympy.fraction(sympy.together(abbreviated(expr, x, still)))
    back = {dummy: part for part, dummy in still.items()}
    over, under = (
        {k: c.xreplace(back) for (k,), c in sympy.Poly(part, x).terms()} for part in whole
    )
    over = {k: c for k, c in over.items() if c != 0} or {0: sympy.S.Zero}
    low = min(*over, *under)  # common powers of the unknown are cancelled
    return {k - low: c for k, c in over.items()}, {k - low: c for k, c in under.items()}


def abbreviated(
    expr: Any,
    x: Symbol,
    still: dict[Any, Any],
    named: Callable[[Any], Any] = lambda part: sympy.Dummy(),
    inside: bool = False,
) -> Any:
    """The expression with a symbol for each part without the unknown, which SymPy would expand; ``inside`` functions of the unknown, too."""

    def go(part: Any) -> Any:
        if x not in part.free_symbols:
            return part if part.is_Number else still.setdefault(part, named(part))
        if part == x:
            return x
        if part.is_Add or part.is_Mul:
            moving = [arg for arg in part.args if x in arg.free_symbols]
            rest = go(part.func(*(arg for arg in part.args if x not in arg.free_symbols)))
            if part.is_Mul:
                return sympy.Mul(rest, *map(go, moving))
            powers: dict[Any, list[Any]] = {}
            for term in map(go, moving):
                coefficient, power = term.as_independent(x, as_Add=False)
                powers.setdefault(power, []).append(coefficient)
            back = {dummy: own for own, dummy in still.items()}
            added = (go(sympy.Add(*own).xreplace(back)) * p for p, own in powers.items())
            return sympy.Add(rest, *added)
        if part.is_Pow and part.exp.is_Integer and abs(part.exp) <= LARGEST_POWER:
            return go(part.base) ** part.exp
        if not inside:
            raise NoClosedForm(reason(part, x))
        if part.is_Pow and x not in part.base.free_symbols and not part.base.is_Number:
            return still.setdefault(part.base, sympy.Dummy(positive=True)) ** go(part.exp)
        return part.func(*map(go, part.args))

    return go(expr)


def reason(expr: Any, x: Symbol) -> str:
    if (isinstance(expr, sympy.Pow) and x in expr.exp.free_symbols) or isinstance(expr, sympy.exp):
        return "the unknown is in an exponent"
    if isinstance(expr, sympy.Pow) and not expr.exp.is_Rational:
        return "the unknown is raised to a power that is no number"
    names = {"ceiling": "ceil", "Max": "max", "Min": "min", "Pow": "sqrt", "Total": "sum"}
    return f"the unknown is an argument of {names.get(type(expr).__name__, type(expr).__name__)}()"


def added_up(body: Any, index: Symbol, first: Any, last: Any) -> Any:
    """The sum of a polynomial of degree 2 or less in its index.

    Raises:
        NoClosedForm: it is no such polynomial.

    >>> a, j, n = sympy.symbols("a j n")
    >>> added_up(a*j, j, sympy.Integer(1), n)
    a*n*(n + 1)/2
    """
    over, under = fraction(body, index)
    if set(under) != {0} or max(over) > 2:
        raise NoClosedForm("a sum that has no closed form")

    def upto(n: Any) -> tuple[Any, ...]:
        return n, n * (n + 1) / 2, n * (n + 1) * (2 * n + 1) / 6

    ends = list(zip(upto(last), upto(first - 1), strict=True))
    return sympy.Add(*(c / under[0] * (ends[k][0] - ends[k][1]) for k, c in over.items()))


def tidied(over: Powers, x: Symbol) -> tuple[Powers, int]:
    """The polynomial without common factors and denominators of its coefficients, which do not move its roots, and the sign of these.

    A factor of all terms of one coefficient is written once.

    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> tidied({1: a/b, 0: -a/c}, x)
    ({1: c, 0: -b}, 1)
    """
    terms = [term * x**k for k, c in over.items() for term in sympy.Add.make_args(c)]
    whole = sympy.gcd_terms(sympy.Add(*terms))
    factors = sympy.Mul.make_args(whole)
    inner = next((part for part in factors if x in part.free_symbols and part.is_Add), None)
    if inner is None:
        return fraction(whole, x)[0], 1
    shared = sign(sympy.Mul(*(part for part in factors if part is not inner and part != x)))
    made, _ = fraction(inner if shared >= 0 else -inner, x)
    return {k: sympy.gcd_terms(c) if c.is_Add else c for k, c in made.items()}, abs(shared)


def sign(expr: Any) -> int:
    """The sign of an expression by its shape, its symbols having theirs; 0 where the shape does not decide.

    >>> a, b = sympy.symbols("a b", positive=True)
    >>> sign(a + b), sign(-a*b), sign(a - b)
    (1, -1, 0)
    """
    if expr.is_number:
        return bool(expr > 0) - bool(expr < 0) if expr.is_real else 0
    if expr.is_Symbol:
        positive = expr.is_positive or (expr.is_nonnegative and not expr.is_zero)
        return bool(positive) - bool(expr.is_negative)
    if expr.is_Add:
        signs = {sign(term) for term in expr.args}
        return signs.pop() if len(signs) == 1 else 0
    if expr.is_Mul:
        return math.prod(map(sign, expr.args))
    if expr.is_Pow:
        return int(sign(expr.base) > 0 or expr.exp == sympy.Rational(1, 2))
    if isinstance(expr, Total):
        return sign(expr.body)
    kept = isinstance(expr, (sympy.Max, sympy.Min, sympy.ceiling, sympy.floor))
    return int(all(sign(arg) > 0 for arg in expr.args) if kept else isinstance(expr, sympy.exp))


def negated(expr: Any) -> Any:
    """The negative, by turning the terms of a sum among its factors where it has one: ``b*(1 - a)`` is ``b*(a - 1)``."""
    for factor in expr.args if expr.is_Mul and not expr.args[0].is_Number else ():
        if factor.is_Add:
            return sympy.Mul(*(-part if part is factor else part for part in expr.args))
    return -expr


def vanishes(expr: Any) -> bool:
    """Whether an expression is zero whatever its symbols, as random points show, of one size: nothing vanishes beside another."""
    if expr.is_Number or not expr.is_Add:
        return bool(expr == 0)
    known = False
    for seed in "abc":
        with suppress(ArithmeticError):
            if not is_zero(expr, RandomPoint(seed, 0, whole=False).evaluate, 1e-9):
                return False
            known = True
    return known


def terms_size(expr: Any, numbers: Evaluate, at: Mapping[str, float] | None = None) -> float:
    """The sum of the sizes of a formula's terms: what rounding is a share of."""
    return sum(abs(numbers(term, at)) for term in sympy.Add.make_args(expr))


def is_zero(expr: Any, numbers: Evaluate, share: float) -> bool:
    """Whether a number is so small a share of its terms that it is nothing but their rounding."""
    return abs(numbers(expr)) <= share * terms_size(expr, numbers)
