"""Numerical solution of quantities without a closed form: a fixed point, or the largest whole number that satisfies a condition.

Example: the batch that an arrival rate keeps busy depends on step times, which depend on the batch.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symroof.formula.dual import Dual
from symroof.formula.evaluate import NoValue, UndefinedValue

ROUNDS = 200
"""The most iterations of a fixed point."""
DIGITS = Fraction(1, 10**18)
"""The relative precision of a fixed point."""
LARGEST_DENOMINATOR = 10**24
"""The largest denominator of evaluated points: values of the body get longer with it."""


def fixed_point(body: Callable[[Any], Any], high: Fraction) -> Fraction:
    """The least ``x`` from 0 to ``high`` with ``x = body(x)``, or ``high`` if ``body`` stays above. ``body`` must not decrease.

    Exact if ``body`` is piecewise linear with short fractions: a secant through two points of a line finds it exactly.

    >>> fixed_point(lambda x: max(Fraction(3), 1 + x / 2), Fraction(10)), fixed_point(lambda x: x + 1, Fraction(10))
    (Fraction(3, 1), Fraction(10, 1))
    """
    low, end, halved = Fraction(0), high, True  # the first step is a secant
    at, gap, before, gap_before = low, body(low), high, body(high) - high
    if gap_before >= 0:
        return high
    for _ in range(ROUNDS):
        if gap == 0:
            return at
        secant = at - gap * (at - before) / (gap - gap_before) if gap != gap_before else low
        halved = not low < secant < end or not (
            halved or 2 * abs(gap) < abs(gap_before)
        )  # near a kink secants alone converge slowly
        new: Fraction = ((low + end) / 2 if halved else secant).limit_denominator(
            LARGEST_DENOMINATOR
        )
        if abs(new - at) <= DIGITS * new:
            return new
        at, gap, before, gap_before = new, body(new) - new, at, gap
        low, end = (at, end) if gap > 0 else (low, at)
    return at


def largest_whole_number(meets: Callable[[Fraction], Any], high: Fraction) -> Fraction:
    """The largest whole number up to ``high`` at which ``meets`` is 1. Once it is not, it is not for larger numbers; where it has no value
    (an overloaded server) a larger number may still have one. 0 if there is none.

    >>> largest_whole_number(lambda n: int(n * n < 50), Fraction(100)), largest_whole_number(lambda n: 0, Fraction(100)), largest_whole_number(lambda n: 1, Fraction(9, 2))
    (Fraction(7, 1), Fraction(0, 1), Fraction(4, 1))
    """
    fails, passes, met = math.floor(high) + 1, 0, 0
    while fails - passes > 1:
        middle = (passes + fails) // 2
        try:
            value = meets(Fraction(middle))
        except UndefinedValue:
            raise
        except NoValue:
            passes = middle
            continue
        passes, fails, met = (middle, fails, middle) if value == 1 else (passes, middle, met)
    return Fraction(met if met == passes else 0)


def slope(value: Any) -> Any:
    """The derivative of a dual number, or its gradient; 0 for a plain number."""
    return value.slope if isinstance(value, Dual) else Fraction(0)


def slope_of_fixed_point(at: Fraction, own: Fraction, by: Any) -> Dual:
    """A fixed point with its derivative, from those of the body by the fixed point itself and by one or several inputs.

    Half of ``x`` and a quarter of ``y`` is 2 at ``x = 2``, ``y = 4``, and ``x = y/2``:

    >>> slope_of_fixed_point(Fraction(2), Fraction(1, 2), Fraction(1, 4))
    Dual(value=Fraction(2, 1), slope=Fraction(1, 2))
    """
    if own == 1:
        raise NoValue("the fixed point has no slope here")
    return Dual(at, by / (1 - own))
