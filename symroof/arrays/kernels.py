"""What each operation of a graph is: over arrays by NumPy, or exactly at one point."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from symroof.arrays.graph import FOLDED
from symroof.formula import elementary
from symroof.formula.evaluate import FUNCTIONS, NoValue, power

Kernel = Callable[..., Any]

# ------------------------------------------------------------------------------------------------------- arrays


def _fixed(body: Callable[[Any], Any], high: Any) -> Any:
    """The least ``x`` up to ``high`` with ``x = body(x)``, as :func:`symroof.theory.search.fixed_point` looks for it; no value where a look has none."""
    low, end, halved = np.zeros_like(high), high, np.ones_like(high, dtype=bool)
    at, gap, before, gap_before = low, body(low), high, body(high) - high
    beyond, none = gap_before >= 0, np.isnan(gap) | np.isnan(gap_before)
    for _ in range(TURNS):
        done = beyond | none | (np.abs(gap) <= NARROW * at)
        if np.all(done):
            break
        with np.errstate(all="ignore"):
            secant = at - gap * (at - before) / (gap - gap_before)
        halved = ~((low < secant) & (secant < end)) | ~(halved | (2 * np.abs(gap) < np.abs(gap_before)))
        new = np.where(done, at, np.where(halved, (low + end) / 2, secant))
        at, gap, before, gap_before = new, body(new) - new, at, gap
        low, end, none = np.where(gap > 0, at, low), np.where(gap > 0, end, at), none | np.isnan(gap)
    return np.where(none, np.nan, np.where(beyond, high, at))


def _most(meets: Callable[[Any], Any], high: Any) -> Any:
    """The largest whole number up to ``high`` at which ``meets`` is 1; where it has no value a larger one may have.

    An interval is halved, over a few points several times at once: NumPy takes as long for one number as for some hundreds.
    """
    passes, fails, met = np.zeros_like(high), np.floor(high) + 1, np.zeros_like(high)
    levels = max(1, min(MOST_LEVELS, (TOGETHER // max(1, np.size(high))).bit_length()))
    while np.any(fails - passes > 1):
        middles, node = np.stack(_middles(passes, fails, levels)), np.zeros(np.shape(high), dtype=int)
        values = np.broadcast_to(meets(middles), middles.shape)
        for _ in range(levels):
            middle, value = (np.take_along_axis(column, node[None], 0)[0] for column in (middles, values))
            open_ = fails - passes > 1
            met = np.where(open_ & (value == 1), middle, met)
            passes, fails = np.where(open_ & (value != 0), middle, passes), np.where(open_ & (value == 0), middle, fails)
            node = 2 * node + np.where(value == 0, 1, 2)
    return np.where(np.isnan(high), np.nan, np.where(met == passes, met, 0.0))


def _middles(low: Any, high: Any, levels: int) -> list[Any]:
    """The middles of an interval, of both its halves, of their halves, and so on, in the order of levels."""
    spans, middles = [(low, high)], []
    for start in range(2**levels - 1):
        low, high = spans[start]
        middle = np.floor((low + high) / 2)
        middles.append(middle)
        spans += [(low, middle), (middle, high)]
    return middles


MOST_LEVELS = 4
"""Halvings that are looked at at once: a search for a batch takes a dozen."""
TOGETHER = 1024
"""Numbers that NumPy computes in little more than the time of one call."""
TURNS = 64
NARROW = 2.0**-49
"""The share of its value that a fixed point in floats may be off its body."""
SEARCHES: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {"fixed": _fixed, "most": _most}
"""Values that are searched, over arrays."""


def inverted(x: Any) -> Any:
    """``1/x``, without a value where x is zero."""
    with np.errstate(all="ignore"):
        return np.where(x == 0, np.nan, np.divide(1.0, x))


EXTREME = {"max": np.maximum, "min": np.minimum}
HOLDS = {"<=": np.less_equal, ">=": np.greater_equal, "<": np.less, ">": np.greater, "=": np.equal}


def _logarithm(of: Callable[[Any], Any]) -> Kernel:
    return lambda x: np.where(x > 0, of(np.where(x > 0, x, 1.0)), np.nan)


def _power(base: Any, exponent: Any) -> Any:
    none = (base == 0) & (exponent < 0)
    return np.where(none, np.nan, np.power(np.where(none, 1.0, base), exponent))


def _ramp(value: Any, slope: Any, count: Any) -> Any:
    """The sum of the positive terms of a line: from its higher end down, as far as it stays above zero."""
    count = np.maximum(count, 0.0)
    highest = np.maximum(value, value + slope * (count - 1))
    fall = np.abs(slope)
    level = np.where(highest > 0, count, 0.0)
    terms = np.where(fall > 0, np.clip(np.ceil(highest / np.where(fall > 0, fall, 1.0)), 0.0, count), level)
    return terms * highest - fall * terms * (terms - 1) / 2


def _geometric(ratio: Any, first: Any, last: Any) -> Any:
    """A sum of powers; near a ratio of 1 by the logarithm, which loses no digits there."""
    count = last - first + 1
    plain = np.where((ratio == 1) | (ratio <= 0), 0.5, ratio)
    shrinking = -np.expm1(count * np.log(plain)) / (1 - plain)
    at_zero = np.where((first <= 0) & (last >= 0), 1.0, 0.0)
    total = np.where(ratio == 1, count, np.where(ratio == 0, at_zero, np.power(plain, first) * shrinking))
    return np.where(count > 0, np.where(ratio < 0, np.nan, total), 0.0)


def _of_largest(*pairs: Any) -> Any:
    """Of pairs (key, value) the value whose key is largest; a tie goes to the first."""
    best, chosen = pairs[0], pairs[1]
    for key, value in zip(pairs[2::2], pairs[3::2], strict=True):
        best, chosen = np.maximum(best, key), np.where(key > best, value, chosen)
    return chosen


KNOWN: dict[str, Kernel] = {
    **{kind: (lambda *args, _of=of: reduce(_of, args)) for kind, of in EXTREME.items()},
    "ceil": np.ceil,
    "floor": np.floor,
    "cut": np.floor,
    "sqrt": np.sqrt,
    "log2": _logarithm(np.log2),
    "log": _logarithm(np.log),
    "exp": np.exp,
    "of_largest": _of_largest,
    "power": _power,
    "form": lambda x: x,
    "guard": lambda x, holds: np.where(holds, x, np.nan),
    "whole": lambda x: np.where(np.rint(x) == x, x, np.nan),
    "missing": lambda: np.nan,
    "void": lambda x: np.where(x == 0, 0.0, np.nan),
    "ramp": _ramp,
    "geometric": _geometric,
    **{relation: (lambda x, _holds=holds: _holds(x, 0.0)) for relation, holds in HOLDS.items()},
}
ARRAYS = elementary.Table(KNOWN, elementary.over_arrays)


# -------------------------------------------------------------------------------------------------------- exact


def _guarded(value: Fraction, holds: Any) -> Fraction:
    if not holds:
        raise NoValue("it does not exist here")
    return value


def _whole(x: Fraction) -> Fraction:
    if x.denominator != 1:
        raise NoValue("the bound of a sum is not whole")
    return x


def _missing() -> Fraction:
    raise NoValue("an input is not given")


def _void(x: Fraction) -> Fraction:
    return x if x == 0 else _missing()


def _exact_ramp(value: Fraction, slope: Fraction, count: Fraction) -> Fraction:
    highest, fall = max(value, value + slope * (count - 1)), abs(slope)
    if count <= 0 or highest <= 0:
        return Fraction(0)
    terms = min(Fraction(math.ceil(highest / fall)), count) if fall else count
    return terms * highest - fall * terms * (terms - 1) / 2


def _exact_geometric(ratio: Fraction, first: Fraction, last: Fraction) -> Fraction:
    if last < first:
        return Fraction(0)
    return last - first + 1 if ratio == 1 else (power(ratio, first) - power(ratio, last + 1)) / (1 - ratio)


KNOWN_EXACTLY: dict[str, Kernel] = {
    **FOLDED,
    "cut": lambda x: Fraction(math.floor(x)),
    "form": lambda x: x,
    "guard": _guarded,
    "whole": _whole,
    "missing": _missing,
    "void": _void,
    "ramp": _exact_ramp,
    "geometric": _exact_geometric,
}
EXACT = elementary.Table(KNOWN_EXACTLY, lambda function: lambda *args: FUNCTIONS[function](args))
