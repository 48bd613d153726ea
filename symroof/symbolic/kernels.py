"""What the functions in a formula's code do: over floats, over NumPy arrays along scenarios, and over polynomials in the index of a sum.

A float without a value raises :class:`NoValue`; in an array NaN stands for no value. What lies within
1e-12 of a whole number is that number, and values that near to each other are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial, reduce
from operator import mul
from typing import Any

import numpy as np
import sympy

from symroof.errors import NoValue, UndefinedValue
from symroof.symbolic.step_polynomials import NotPolynomial, Steps, refuse_polynomials

NEAR = 1e-12
"""Relative distance of what counts as equal, or as whole: rounding errors are a few 1e-15."""
TOGETHER = 2**16
"""Terms of a sum, over all scenarios, that are computed at once where it is taken term by term."""
MOST_TERMS = 20_000
"""The longest sum that is taken term by term."""


def plain(x: Any) -> Any:
    """A Python float where an array holds a single number without an axis."""
    return float(x) if isinstance(x, np.generic | np.ndarray) and x.ndim == 0 else x


def div(over: Any, under: Any) -> Any:
    """A quotient.

    Raises:
        NoValue: division by zero, in floats.
    """
    if isinstance(under, float):
        if not under:
            raise NoValue("division by zero")
        return over / under
    refuse_polynomials(under)
    if isinstance(over, Steps):
        return over.over(under, div)
    with np.errstate(all="ignore"):
        some = under.all() if isinstance(under, np.ndarray) else under  # NumPy's function is slow
        return over / (under if some else np.where(under == 0, np.nan, under))


def product(*factors: Callable[[], Any]) -> Any:
    """A product whose factors need not have a value where another is zero.

    Raises:
        NoValue: a factor has none, and no other is zero everywhere.
    """
    values: list[Any] = []
    missing: NoValue | None = None
    for factor in factors:
        try:
            own = factor()
        except UndefinedValue as error:
            missing = error
            continue
        except NoValue as error:
            missing = missing or error
            continue
        if isinstance(own, float) and not own:
            return own
        values.append(own)
    result = reduce(mul, values, 1.0)
    if missing is None and (isinstance(result, float | Steps) or not np.isnan(result).any()):
        return result
    arrays = [own for own in values if not isinstance(own, Steps)]
    zero = reduce(np.logical_or, (np.equal(own, 0) for own in arrays), False)
    if missing is not None and not np.any(zero):
        raise missing
    return np.where(zero, 0.0, np.nan if missing is not None else result)


def no_value() -> Any:
    """What stands for a part that is infinite or not real.

    Raises:
        NoValue: always.
    """
    raise NoValue("it is infinite, or no real number")


def power(base: Any, exponent: Any) -> Any:
    """A power.

    Raises:
        NoValue: a negative power of zero, a broken one of a negative number, or one too large, in floats.
    """
    if isinstance(base, Steps) and isinstance(exponent, float) and exponent in range(1, 9):
        return reduce(mul, [base] * int(exponent))
    refuse_polynomials(base, exponent)
    alone = isinstance(base, float) and isinstance(exponent, float)
    if alone and not base and exponent < 0:
        raise NoValue("a negative power of zero")
    if alone and base < 0 and exponent != int(exponent):
        raise NoValue("a fractional power of a negative number")
    with np.errstate(all="ignore"):
        twice = isinstance(exponent, float) and exponent == 2
        result = base * base if twice else np.power(base, exponent)
        result = plain(np.where(np.isinf(result), np.nan, result))
    if alone and math.isnan(result):
        raise NoValue("a number too large to work with")
    return result


def _extreme(is_larger: bool) -> Callable[..., Any]:
    of_floats, of_arrays = (max, np.maximum) if is_larger else (min, np.minimum)

    def of(*args: Any) -> Any:
        if all(isinstance(arg, float) for arg in args):
            return of_floats(args)
        steps = [arg for arg in args if isinstance(arg, Steps)]
        others = [arg for arg in args if not isinstance(arg, Steps)]
        if not steps:
            return reduce(of_arrays, others)
        best = steps[0]
        for other in (*steps[1:], *([of(*others)] if others else ())):
            best = best.maximum(other, is_larger)
        return best

    return of


larger, smaller = _extreme(True), _extreme(False)
"""The largest and the smallest of some values."""


def _rounded(x: Any, up: bool) -> Any:
    if isinstance(x, float):
        if not math.isfinite(x):
            raise NoValue("a number too large to work with")
        whole = round(x)
        if abs(x - whole) <= NEAR * abs(whole):
            return float(whole)
        return float(math.ceil(x) if up else math.floor(x))
    refuse_polynomials(x)
    whole = np.rint(x)
    settled = np.abs(x - whole) <= NEAR * np.abs(whole)
    return np.where(settled, whole, np.ceil(x) if up else np.floor(x))


ceiling, floor = partial(_rounded, up=True), partial(_rounded, up=False)
"""The next whole number above, and below."""


def _smooth(
    what: str, function: Callable[[Any], Any], domain: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """A function of one argument with its domain."""

    def of(x: Any) -> Any:
        refuse_polynomials(x)
        if isinstance(x, float) and not domain(x):
            raise NoValue(what)
        with np.errstate(all="ignore"):
            found = plain(function(np.where(domain(x), x, np.nan)))
        if isinstance(found, float) and math.isinf(found):
            raise NoValue("a number too large to work with")
        return found

    return of


sqrt = _smooth("the square root of a negative number", np.sqrt, lambda x: x >= 0)
log = _smooth("the logarithm of a number that is not positive", np.log, lambda x: x > 0)
exp = _smooth("an exponential", np.exp, lambda x: x == x)


def nearly_equal(a: Any, b: Any) -> Any:
    """Whether values are equal but for rounding; nothing finite is near to infinity."""
    return abs(a - b) <= NEAR * np.minimum(np.maximum(abs(a), abs(b)), 1e308)


COMPARED = {"<": np.less, ">": np.greater, "=": np.equal}
"""Each sign of a relation between values that are not nearly equal."""


def holds(operator: str, left: Any, right: Any) -> Any:
    """A relation: a truth of floats; of arrays 1 where it holds, 0 where not, NaN where a side has no value."""
    refuse_polynomials(left, right)
    relation, of_equals = COMPARED[operator[0]], "=" in operator
    if isinstance(left, float) and isinstance(right, float):
        return of_equals if nearly_equal(left, right) else bool(relation(left, right))
    with np.errstate(all="ignore"):
        result = np.where(nearly_equal(left, right), of_equals, relation(left, right))
        return np.where(np.isnan(left - right), np.nan, result)


def _place_of_largest(values: tuple[Any, ...]) -> Any:
    """Where the largest value stands, the first of equal ones; NaN where one has no value."""
    stacked = np.stack(np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in values)))
    best = stacked.max(axis=0)
    place = np.argmax(nearly_equal(stacked, best), axis=0)
    return np.where(np.isnan(best), np.nan, place)


def largest(*arms: tuple[str, Any]) -> Any:
    """The label of the largest arm, the first of equal ones; of arrays its place among the arms."""
    values = tuple(value for _, value in arms)
    refuse_polynomials(*values)
    if all(isinstance(value, float) for value in values):
        return arms[chosen_index(values)][0]
    return _place_of_largest(values)


def of_largest(*pairs: tuple[Any, Callable[[], Any]]) -> Any:
    """Of pairs (key, value) the value whose key is largest, the first of equal ones. What is chosen nowhere is not computed."""
    keys = tuple(key for key, _ in pairs)
    refuse_polynomials(*keys)
    if all(isinstance(key, float) for key in keys):
        return pairs[chosen_index(keys)][1]()
    place = _place_of_largest(keys)
    chosen = [i for i in range(len(pairs)) if np.any(place == i)]
    if len(chosen) == 1 and np.all(place == chosen[0]):
        return pairs[chosen[0]][1]()
    result: Any = np.nan
    for i in chosen:
        try:
            value = pairs[i][1]()
        except UndefinedValue:
            raise
        except NoValue:
            value = np.nan
        refuse_polynomials(value)
        result = np.where(place == i, value, result)
    return result


def chosen_index(keys: tuple[Any, ...] | list[Any]) -> int:
    """The position of the largest of some floats, the first of equal ones."""
    best = max(keys)
    return next(i for i, key in enumerate(keys) if nearly_equal(key, best))


def total(axes: int, body: Callable[[Any], Any], first: Any, last: Any) -> Any:
    """The sum of a body over every whole index: piece by piece in closed form, or term by term; NaN where a bound is not whole.

    Args:
        axes: how many axes the scenarios have.
        body: a term as a function of its index.

    Raises:
        NoValue: of floats, bounds that are not whole or a sum of too many terms.
    """
    refuse_polynomials(first, last)
    whole = np.equal(np.rint(first), first) & np.equal(np.rint(last), last)
    alone = isinstance(first, float) and isinstance(last, float)
    if alone and not whole:
        raise NoValue(f"a sum from {first:g} to {last:g}: both must be whole numbers")
    if alone and last <= first:
        return body(first) if last == first else 0.0
    start, end = np.where(whole, first, 1.0), np.where(whole, last, 0.0)
    if np.all(end < start):  # nothing to add up, whatever a term would be
        return np.where(whole, np.zeros(np.shape(end - start)), np.nan)
    index = Steps.index(start, end)
    try:
        value = body(index)
        own = isinstance(value, Steps) and value.same_index(index)
        result = value.total() if own else value * np.maximum(end - start + 1, 0.0)
        if np.any(end < start) and not isinstance(result, Steps):
            result = np.where(end < start, 0.0, result)
    except NotPolynomial:
        result = _term_by_term(axes, body, start, end)
    if not np.all(whole):
        refuse_polynomials(result)
        result = np.where(whole, result, np.nan)
    return plain(result)


def _term_by_term(axes: int, body: Callable[[Any], Any], first: Any, last: Any) -> Any:
    """The sum, as many terms of all scenarios at a time as fit a block."""
    too_long = last - first >= MOST_TERMS
    if np.all(too_long) and not np.ndim(too_long):
        raise NoValue(f"a sum of {int(last - first + 1)} terms that has no closed form")
    end = np.where(too_long, first - 1, last)
    result: Any = np.zeros(np.shape(end - first))
    low, high = np.min(first), np.max(end)
    while low <= high:
        together = max(1, TOGETHER // max(1, np.size(result)))
        index = np.arange(low, min(low + together, high + 1)).reshape(-1, *(1,) * axes)
        each = body(index)
        refuse_polynomials(each)
        terms = np.where((first <= index) & (index <= end), each, 0.0)
        result = result + terms.sum(axis=0)
        low += together
    return np.where(too_long, np.nan, result) if np.any(too_long) else result


IN_NUMPY = ("sin", "cos", "tan", "sinh", "cosh", "tanh")


def elementary(name: str, *args: Any) -> Any:
    """A function of SymPy that the grammar lacks; what NumPy has not under this name is evaluated point by point.

    >>> elementary("binomial", 5.0, 2.0), elementary("erf", 0.5)
    (10.0, 0.5204998778130465)

    Raises:
        NoValue: of floats, it has no real value.
    """
    refuse_polynomials(*args)
    by_sympy = np.vectorize(partial(_by_sympy, name), otypes=[float])
    with np.errstate(all="ignore"):
        found = plain((getattr(np, name) if name in IN_NUMPY else by_sympy)(*args))
    if isinstance(found, float) and found != found:
        raise NoValue(f"{name}({', '.join(f'{x:g}' for x in args)}) is no real number")
    return found


@lru_cache(maxsize=4096)
def _by_sympy(function: str, *args: float) -> float:
    """The value of a function of SymPy; NaN where it has no real one."""
    try:
        numbers = [sympy.Integer(int(x)) if x == int(x) else sympy.Float(x) for x in args]
        return float(getattr(sympy, function)(*numbers).evalf())
    except (TypeError, ValueError, ArithmeticError, NotImplementedError):
        return math.nan


FUNCTIONS: dict[str, Any] = {
    "max": larger,
    "min": smaller,
    "ceil": ceiling,
    "floor": floor,
    "sqrt": sqrt,
    "log": log,
    "exp": exp,
    "div": div,
    "pow": power,
    "product": product,
    "no_value": no_value,
    "holds": holds,
    "of_largest": of_largest,
    "largest": largest,
    "total": total,
    "elementary": elementary,
}
"""What the code of a formula calls."""
