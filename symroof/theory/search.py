"""Values that a quantity takes at another value of an input: a fixed point, or the largest whole number that qualifies.

They have no closed form: the batch that an arrival rate keeps busy depends on step times that depend on the batch.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symroof.formula.dual import Dual
from symroof.formula.evaluate import NotGiven, NoValue

ROUNDS, EXACT_ROUNDS = 200, 3
DIGITS = Fraction(1, 10**24)
"""The share of its value to which a fixed point is narrowed down."""


def fixed_point(body: Callable[[Any], Any], high: Fraction) -> Fraction:
    """The least ``x`` from 0 to ``high`` with ``x = body(x)``, or ``high`` where ``body`` stays above. ``body`` does not fall.

    Exact where ``body`` is made of straight lines: a secant of two points of one line meets it exactly.

    >>> fixed_point(lambda x: max(Fraction(3), 1 + x / 2), Fraction(10)), fixed_point(lambda x: x + 1, Fraction(10))
    (Fraction(3, 1), Fraction(10, 1))
    """
    low, above = Fraction(0), body(Fraction(0))
    below = body(high) - high
    if below >= 0:
        return high
    width, again = high - low, 0
    for turn in range(ROUNDS):
        if above == 0 or width <= DIGITS * high:
            return low
        middle: Fraction = low + (high - low) * above / (above - below)
        if turn >= EXACT_ROUNDS:
            middle = (middle if turn % 8 else (low + high) / 2).limit_denominator(10**30)
        gap = body(middle) - middle
        if gap == 0:
            return middle
        if gap > 0:  # an end that stands still has its value halved, or the other would creep towards it
            low, above, below, again = middle, gap, below / 2 if again > 0 else below, 1
        else:
            high, below, above, again = middle, gap, above / 2 if again < 0 else above, -1
        width = high - low
    return (low + high) / 2


def most(meets: Callable[[Fraction], Any], high: Fraction) -> Fraction:
    """The largest whole number up to ``high`` at which ``meets`` is 1: larger ones end that for good, and where it has no value
    (a server that does not keep up) a larger number may yet have one. 0 where it is 1 nowhere.

    >>> most(lambda n: int(n * n < 50), Fraction(100)), most(lambda n: 0, Fraction(100)), most(lambda n: 1, Fraction(9, 2))
    (Fraction(7, 1), Fraction(0, 1), Fraction(4, 1))
    """
    fails, passes, met = math.floor(high) + 1, 0, 0
    while fails - passes > 1:
        middle = (passes + fails) // 2
        try:
            value = meets(Fraction(middle))
        except NotGiven:
            raise
        except NoValue:
            passes = middle
            continue
        passes, fails, met = (middle, fails, middle) if value == 1 else (passes, middle, met)
    return Fraction(met if met == passes else 0)


def slope(value: Any) -> Fraction:
    """The slope that a value carries; nothing moves one that carries none."""
    return value.slope if isinstance(value, Dual) else Fraction(0)


def slope_of_fixed_point(at: Fraction, own: Fraction, by: Fraction) -> Dual:
    """A fixed point of a body with its slope, from the slopes of the body in the fixed point itself and in another input.

    Half of ``x`` and a quarter of ``y`` is 2 at ``x = 2``, ``y = 4``, and ``x = y/2``:

    >>> slope_of_fixed_point(Fraction(2), Fraction(1, 2), Fraction(1, 4))
    Dual(value=Fraction(2, 1), slope=Fraction(1, 2))
    """
    if own == 1:
        raise NoValue("the fixed point has no slope here")
    return Dual(at, by / (1 - own))
