"""What the functions in the source of a formula are over NumPy arrays, and over polynomials in the index of a sum. NaN stands for no value.

Functions that round or compare are told their node, so that they can ask for its exact value where floats cannot decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Protocol

import numpy as np

from symroof.arrays.step_polynomials import Steps
from symroof.formula.evaluate import MOST_TERMS, NoValue
from symroof.formula.piecewise import NotPolynomial
from symroof.formula.sympy_functions import over_arrays
from symroof.formula.tree import Expr

NEAR_WHOLE, NEAR_EQUAL = 1e-9, 1e-11
"""How near a quotient lies to a whole number, or two values to each other as a share of them, before the exact value is asked for."""
WHOLE_IN_FLOATS = 2.0**52
"""Below it a quotient of whole numbers never rounds to a whole number that it is not."""
NOWHERE = -1
TOGETHER = 2**16
"""Terms of a sum, of all points, that are computed at once where it is taken term by term."""


class ArrayContext(Protocol):
    """Where a formula asks for its names, as :class:`symroof.arrays.values.ArrayContext` does.

    Attributes:
        axes: how many axes its arrays have.
        zero_products: whether a product is looked at for factors that are zero next to some without a value.
    """

    axes: int
    zero_products: bool

    def exact_where(
        self,
        result: Any,
        doubt: Any,
        node: Expr,
        index: Mapping[str, Any],
        code: Callable[[Any], float] = ...,
    ) -> Any:
        """The result with the exact value of a node in every doubtful place."""
        ...


def div(over: Any, under: Any) -> Any:
    """A quotient; no value where the divisor is zero."""
    if isinstance(under, Steps):
        return (over if isinstance(over, Steps) else under.power(0) * over).over(under, div)
    if isinstance(over, Steps):
        return over.over(under, div)
    if isinstance(under, float):
        if not under:
            raise NoValue("division by zero")
        return over / under
    with np.errstate(all="ignore"):
        return over / (under if np.all(under) else np.where(under == 0, np.nan, under))


def product(e: ArrayContext, first: Any, rest: Callable[[], Any]) -> Any:
    """A product; where its first factor is zero the others need not have a value, which is looked at with care alone."""
    if isinstance(first, float) and not first:
        return first
    try:
        result = first * rest()
    except NoValue:
        if isinstance(first, Steps) or np.all(first):
            raise
        result = np.nan
    if not e.zero_products or isinstance(result, Steps) or np.all(first):
        return result
    return np.where(np.equal(first, 0), 0.0, result)


def _extreme(args: tuple[Any, ...], larger: bool) -> Any:
    steps = [arg for arg in args if isinstance(arg, Steps)]
    others = [arg for arg in args if not isinstance(arg, Steps)]
    if not steps:
        return reduce(np.maximum if larger else np.minimum, others)
    best = steps[0]
    for other in (*steps[1:], *([_extreme(tuple(others), larger)] if others else ())):
        best = best.maximum(other, larger)
    return best


def _rounded(
    over: Any, under: Any, up: bool, e: ArrayContext, node: Expr, index: Mapping[str, Any]
) -> Any:
    """A quotient rounded to a whole number: exact where both are whole numbers, and asked for exactly next to a whole number else."""
    if isinstance(over, Steps) or isinstance(under, Steps):
        return (over if isinstance(under, int) else div(over, under)).rounded(up)
    quotient = over if isinstance(under, int) else div(over, under)
    result = np.ceil(quotient) if up else np.floor(quotient)
    near = np.abs(quotient - np.rint(quotient)) <= NEAR_WHOLE * (np.abs(quotient) + 1)
    if np.any(near):
        plain = (
            (np.rint(over) == over)
            & (np.rint(under) == under)
            & (np.abs(over) < WHOLE_IN_FLOATS)
            & (np.abs(under) < WHOLE_IN_FLOATS)
        )
        return e.exact_where(result, near & ~plain, node, index)
    return result


def pow_(base: Any, exponent: Any) -> Any:
    """A power; none of zero to a negative exponent, or of a negative number to a broken one."""
    if isinstance(base, Steps) or isinstance(exponent, Steps):
        if (
            isinstance(base, Steps)
            and isinstance(exponent, float)
            and exponent == int(exponent)
            and 0 <= exponent <= 8
        ):
            return base.power(int(exponent))
        return (
            base.of_constant(pow_, exponent)
            if isinstance(base, Steps)
            else exponent.of_constant(lambda x: pow_(base, x))
        )
    with np.errstate(all="ignore"):
        if isinstance(exponent, float) and exponent in (1.0, 2.0, -1.0):
            return base if exponent == 1 else base * base if exponent == 2 else div(1.0, base)
        none = np.equal(base, 0) & np.less(exponent, 0)
        return (
            np.where(none, np.nan, np.power(np.where(none, 1.0, base), exponent))
            if np.any(none)
            else np.power(base, exponent)
        )


def _of_constants(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return x.of_constant(function) if isinstance(x, Steps) else function(x)

    return of


def _near(a: Any, b: Any) -> Any:
    return np.abs(a - b) <= NEAR_EQUAL * np.maximum(np.abs(a), np.abs(b))


COMPARED = {
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "<": np.less,
    ">": np.greater,
    "=": np.equal,
}


def holds(
    operator: str, left: Any, right: Any, e: ArrayContext, node: Expr, index: Mapping[str, Any]
) -> Any:
    """A relation, as floats that are 1 where it holds, 0 where it does not, NaN where a side has no value."""
    _refuse_polynomials(left, right)
    result, distance = COMPARED[operator](left, right), np.abs(left - right)
    if not np.size(distance) or np.min(distance) > NEAR_EQUAL * max(
        _size(left), _size(right)
    ):  # far from equal everywhere, and nothing without a value
        return result.astype(float)
    result = np.where(np.isnan(distance), np.nan, result)
    near = _near(left, right)
    return e.exact_where(result, near, node, index) if np.any(near) else result


def _size(x: Any) -> float:
    """The largest absolute value."""
    return abs(x) if isinstance(x, float) else float(max(np.max(x), -np.min(x)))


def largest(e: ArrayContext, node: Expr, index: Mapping[str, Any], *arms: tuple[str, Any]) -> Any:
    """The place of the largest arm, as a float; a tie goes to the arm named first."""
    _refuse_polynomials(*(arm for _, arm in arms))
    values = np.stack(np.broadcast_arrays(*(np.asarray(arm, dtype=float) for _, arm in arms)))
    result = np.where(np.isnan(values).any(axis=0), np.nan, np.argmax(values, axis=0))
    best = values.max(axis=0)
    near = (_near(values, best)).sum(axis=0) > 1
    labels = [label for label, _ in arms]
    return (
        e.exact_where(result, near, node, index, lambda label: float(labels.index(label)))
        if np.any(near)
        else result
    )


def of_largest(
    e: ArrayContext, node: Expr, index: Mapping[str, Any], *pairs: tuple[Any, Callable[[], Any]]
) -> Any:
    """Of pairs (key, value) the value whose key is largest; a tie goes to the first. What is chosen nowhere is not computed."""
    keys = [key for key, _ in pairs]
    _refuse_polynomials(*keys)
    stacked = np.stack(np.broadcast_arrays(*(np.asarray(key, dtype=float) for key in keys)))
    place = np.where(np.isnan(stacked).any(axis=0), NOWHERE, np.argmax(stacked, axis=0))
    near = (_near(stacked, stacked.max(axis=0))).sum(axis=0) > 1
    chosen = [i for i in range(len(pairs)) if np.any(place == i)]
    if len(chosen) == 1 and not np.any(near) and np.all(place == chosen[0]):
        return pairs[chosen[0]][1]()
    result: Any = np.nan
    for i in chosen:
        try:
            value = pairs[i][1]()
        except NoValue:
            if np.all(place == i):
                raise
            continue
        _refuse_polynomials(value)
        result = np.where(place == i, value, result)
    return e.exact_where(result, near, node, index) if np.any(near) else result


def _elementary(function: str, *args: Any) -> Any:
    """A function of SymPy that the grammar has not."""
    _refuse_polynomials(*args)
    return over_arrays(function)(*args)


def _refuse_polynomials(*values: Any) -> None:
    if any(isinstance(value, Steps) for value in values):
        raise NotPolynomial("a choice by the index of a sum")


def geometric(first: Any, last: Any, ratio: Any) -> Any:
    """A sum of powers of one ratio; near a ratio of 1 by the logarithm, which loses no digits there."""
    _refuse_polynomials(first, last, ratio)
    with np.errstate(all="ignore"):
        count = last - first + 1
        plain = np.where((ratio == 1) | (ratio <= 0), 0.5, ratio)
        shrinking = np.where(
            ratio <= 0,
            1 - np.power(np.where(ratio <= 0, ratio, 0.5), count),
            -np.expm1(count * np.log(plain)),
        )
        under = np.where(ratio <= 0, 1 - ratio, -np.expm1(np.log(plain)))
        total = np.where(
            ratio == 1, count, pow_(np.where(ratio <= 0, ratio, plain), first) * shrinking / under
        )
        return np.where(
            count > 0,
            np.where(np.less(ratio, 0), np.nan, total),
            np.where(np.isnan(count), np.nan, 0.0),
        )


def total(e: ArrayContext, body: Callable[[Any], Any], first: Any, last: Any) -> Any:
    """The sum of a body over every whole index: piece by piece in closed form, or term by term; NaN where a bound is not whole."""
    _refuse_polynomials(first, last)
    whole = (np.rint(first) == first) & (np.rint(last) == last)
    first, last = np.where(whole, first, 1.0), np.where(whole, last, 0.0)
    if np.all(last < first):  # nothing to add up, whatever a term would be
        result = np.zeros(np.shape(last - first))
    else:
        index = Steps.index(first, last)
        try:
            value = body(index)
            result = (
                value.total()
                if isinstance(value, Steps) and value.same_index(index)
                else value * np.maximum(last - first + 1, 0.0)
            )
            if np.any(last < first) and not isinstance(result, Steps):
                result = np.where(last < first, 0.0, result)
        except NotPolynomial:
            result = _term_by_term(e, body, first, last)
    if np.all(whole):
        return result
    _refuse_polynomials(result)
    return np.where(whole, result, np.nan)


def _term_by_term(e: ArrayContext, body: Callable[[Any], Any], first: Any, last: Any) -> Any:
    """The same, so many terms of every point at a time; longer sums than an exact one may be have no value."""
    too_long = last - first >= MOST_TERMS
    end = np.where(too_long, first - 1, last)
    result: Any = np.zeros(np.shape(end - first))
    low, high, axes = np.min(first), np.max(end), e.axes
    e.axes += 1
    try:
        while low <= high:
            together = max(1, TOGETHER // max(1, np.size(result)))
            index = np.arange(low, min(low + together, high + 1)).reshape(-1, *(1,) * axes)
            each = body(index)
            _refuse_polynomials(each)
            terms = np.where((first <= index) & (index <= end), each, 0.0)
            result = result + terms.sum(axis=0)
            low += together
    finally:
        e.axes = axes
    return np.where(too_long, np.nan, result) if np.any(too_long) else result


ARRAYS: dict[str, Callable[..., Any]] = {
    "max": lambda *args: _extreme(args, True),
    "min": lambda *args: _extreme(args, False),
    "ceil": lambda over, under, *asked: _rounded(over, under, True, *asked),
    "floor": lambda over, under, *asked: _rounded(over, under, False, *asked),
    "sqrt": _of_constants(lambda x: np.sqrt(np.where(np.less(x, 0), np.nan, x))),
    "log2": _of_constants(lambda x: np.log2(np.where(np.greater(x, 0), x, np.nan))),
    "log": _of_constants(lambda x: np.log(np.where(np.greater(x, 0), x, np.nan))),
    "exp": _of_constants(np.exp),
    "pi": lambda: np.pi,
    "elementary": _elementary,
    "div": div,
    "pow": pow_,
    "product": product,
    "holds": holds,
    "of_largest": of_largest,
    "largest": largest,
    "geometric": geometric,
    "total": total,
}
"""What the functions in the source of a formula are over arrays."""
