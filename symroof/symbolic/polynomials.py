"""Expressions as polynomials in one unknown, whose coefficients are left as they are written: never expanded, they stay readable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import sympy
from sympy import Symbol

from symroof.symbolic.expressions import Total
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
    if x not in expr.free_symbols:
        return {0: expr}, {0: sympy.S.One}
    if expr == x:
        return {1: sympy.S.One}, {0: sympy.S.One}
    if isinstance(expr, sympy.Add):
        return _sum([fraction(term, x) for term in expr.args])
    if isinstance(expr, sympy.Mul):
        still = [factor for factor in expr.args if x not in factor.free_symbols]
        over, under = {0: sympy.Mul(*still)}, {0: sympy.S.One}
        for factor in expr.args:
            if x in factor.free_symbols:
                above, below = fraction(factor, x)
                over, under = times(over, above), times(under, below)
        return _reduced(over, under)
    if isinstance(expr, sympy.Pow) and expr.exp.is_Integer and abs(expr.exp) <= LARGEST_POWER:
        over, under = fraction(expr.base, x)
        over, under = (over, under) if expr.exp > 0 else (under, over)
        return _repeated(over, abs(int(expr.exp))), _repeated(under, abs(int(expr.exp)))
    raise NoClosedForm(reason(expr, x))


def reason(expr: Any, x: Symbol) -> str:
    if (isinstance(expr, sympy.Pow) and x in expr.exp.free_symbols) or isinstance(expr, sympy.exp):
        return "the unknown is in an exponent"
    if isinstance(expr, sympy.Pow) and not expr.exp.is_Rational:
        return "the unknown is raised to a power that is no number"
    names = {"ceiling": "ceil", "Max": "max", "Min": "min", "Pow": "sqrt", "Total": "sum"}
    return f"the unknown is an argument of {names.get(type(expr).__name__, type(expr).__name__)}()"


def times(p: Powers, q: Powers) -> Powers:
    return _collected((i + k, a * b) for i, a in p.items() for k, b in q.items())


def _collected(terms: Any) -> Powers:
    by_power: dict[int, list[Any]] = {}
    for power, coefficient in terms:
        by_power.setdefault(power, []).append(coefficient)
    sums = {power: sympy.Add(*parts) for power, parts in by_power.items()}
    return {power: c for power, c in sums.items() if c != 0} or {0: sympy.S.Zero}


def _repeated(p: Powers, power: int) -> Powers:
    result = p
    for _ in range(power - 1):
        result = times(result, p)
    return result


def _sum(parts: list[tuple[Powers, Powers]]) -> tuple[Powers, Powers]:
    """Terms over one denominator are added at once; then the few different ones are brought together."""
    groups: list[tuple[Powers, list[Powers]]] = []
    for over, under in parts:
        tops = next((tops for bottom, tops in groups if bottom == under), None)
        if tops is None:
            groups.append((under, [over]))
        else:
            tops.append(over)
    under, tops = groups[0]
    over = _added(tops)
    for bottom, tops in groups[1:]:
        over = _added([times(over, bottom), times(_added(tops), under)])
        under = times(under, bottom)
        over, under = _reduced(over, under)
    return over, under


def _added(parts: list[Powers]) -> Powers:
    return _collected(term for part in parts for term in part.items())


def _reduced(over: Powers, under: Powers) -> tuple[Powers, Powers]:
    """Common powers of the unknown cancelled."""
    low = min(min(over), min(under))
    return {k - low: c for k, c in over.items()}, {k - low: c for k, c in under.items()}


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
    upto = {
        0: lambda n: n,
        1: lambda n: n * (n + 1) / 2,
        2: lambda n: n * (n + 1) * (2 * n + 1) / 6,
    }
    return sympy.Add(
        *(c / under[0] * (upto[k](last) - upto[k](first - 1)) for k, c in over.items())
    )


def tidied(over: Powers, x: Symbol, factored: bool = True) -> tuple[Powers, int]:
    """The polynomial without common factors and denominators of its coefficients, which do not move its roots, and the sign of these.

    A factor of all terms of one coefficient is written once, unless it is not ``factored``.

    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> tidied({1: a/b, 0: -a/c}, x)
    ({0: -b, 1: c}, 1)
    """
    terms = [term * x**k for k, c in over.items() for term in sympy.Add.make_args(c)]
    whole = sympy.gcd_terms(sympy.Add(*terms))
    factors = sympy.Mul.make_args(whole)
    inner = next((part for part in factors if x in part.free_symbols and part.is_Add), None)
    if inner is None:
        return fraction(whole, x)[0], 1
    shared = sign(sympy.Mul(*(part for part in factors if part is not inner and part != x)))
    made, _ = fraction(inner if shared >= 0 else -inner, x)
    if factored:
        made = {k: sympy.gcd_terms(c) if c.is_Add else c for k, c in made.items()}
    return made, abs(shared)


def sign(expr: Any) -> int:
    """The sign of an expression by its shape, its symbols having theirs; 0 where the shape does not decide.

    >>> a, b = sympy.symbols("a b", positive=True)
    >>> sign(a + b), sign(-a*b), sign(a - b)
    (1, -1, 0)
    """
    if expr.is_number:
        return bool(expr > 0) - bool(expr < 0) if expr.is_real else 0
    if expr.is_Symbol:
        return (
            1
            if expr.is_positive or (expr.is_nonnegative and not expr.is_zero)
            else -1
            if expr.is_negative
            else 0
        )
    if expr.is_Add:
        signs = {sign(term) for term in expr.args}
        return signs.pop() if len(signs) == 1 else 0
    if expr.is_Mul:
        result = 1
        for factor in expr.args:
            result *= sign(factor)
        return result
    if expr.is_Pow:
        return 1 if sign(expr.base) > 0 or expr.exp == sympy.Rational(1, 2) else 0
    if isinstance(expr, (sympy.Max, sympy.Min, sympy.ceiling, sympy.floor)):
        return 1 if all(sign(arg) > 0 for arg in expr.args) else 0
    if isinstance(expr, Total):
        return sign(expr.body)
    return 1 if isinstance(expr, sympy.exp) else 0


def negated(expr: Any) -> Any:
    """The negative, by turning the terms of a sum among its factors where it has one: ``b*(1 - a)`` is ``b*(a - 1)``."""
    for factor in expr.args if expr.is_Mul and not expr.args[0].is_Number else ():
        if factor.is_Add:
            return sympy.Mul(*(-part if part is factor else part for part in expr.args))
    return -expr


def vanishes(expr: Any) -> bool:
    """Whether an expression is zero whatever its symbols, as random points show."""
    if expr.is_Number or not expr.is_Add:
        return bool(expr == 0)
    known = False
    for seed in (3, 7, 19):
        try:
            if not is_zero(expr, SmallPoint(f"{seed}", 0, whole=False).evaluate, 1e-9):
                return False
            known = True
        except ArithmeticError:
            continue
    return known


class SmallPoint(RandomPoint):
    """Random numbers of one size: nothing vanishes beside another."""

    def drawn(self, name: str) -> float:
        return Random(f"{name} {self.seed}").uniform(1, 9)


def terms_size(expr: Any, numbers: Evaluate, at: Mapping[str, float] | None = None) -> float:
    """The sum of the sizes of a formula's terms: what rounding is a share of."""
    return sum(abs(numbers(term, at)) for term in sympy.Add.make_args(expr))


def is_zero(expr: Any, numbers: Evaluate, share: float) -> bool:
    """Whether a number is so small a share of its terms that it is nothing but their rounding."""
    return abs(numbers(expr)) <= share * terms_size(expr, numbers)
