"""A crossing between two points, narrowed down: in floats as far as they tell, then exactly."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from symroof.formula.evaluate import exact_decimal
from symroof.solver.joint_search import Gap, Search
from symroof.solver.roots import sign

Number = TypeVar("Number", float, Fraction)

TURNS, DIGITS = 250, Fraction(1, 10**30)
"""How often a bracket is looked into, and how narrow it gets, as a share of the crossing."""
FLOAT_DIGITS, FEWER_TURNS, FEWER_DIGITS = Fraction(1, 10**17), 6, Fraction(1, 10**12)
"""How narrow it gets where the crossing only shows how far another can move; after so many turns, that a jump takes, fewer digits will do."""
GAIN, SECANTS = Fraction(1, 10**4), 4
"""The share of a bracket that two turns leave of it at most, or the crossing is not smooth: then it is halved every so many turns."""
SECTIONS = 128
"""Parts of a bracket that are looked at together, roughly."""
ROUGHLY = Fraction(1, 10**11)
"""How narrow rough values make a bracket, as a share of the crossing: nearer to a jump they have to be computed exactly."""


def narrow(
    gap: Gap,
    start: Fraction,
    end: Fraction,
    bracket: tuple[Fraction, Fraction],
    before: int,
    whole: bool,
) -> Fraction | None:
    """The crossing between two points, which rough values put in a bracket; of whole numbers the first beyond it. None where floats misled.

    A secant meets a straight line exactly, and comes so near to a smooth crossing that another point just beyond closes the bracket.
    Where that gains little (a jump, a bend), plain numbers are tried, and from time to time the bracket is halved.
    """
    low, high = bracket
    below, above = gap(low), gap(high)
    if below is None or above is None or below * above >= 0:
        return (
            halve(gap, start, end, before, whole) if not _same_side(gap(start), gap(end)) else None
        )
    side, straight, plain = 0, True, False
    points: Iterator[Fraction] = iter(())
    widths: list[Fraction] = []
    for turn in range(TURNS):
        widths.append(high - low)
        if widths[-1] <= (1 if whole else _enough(gap, turn) * high):
            break
        slow = turn > 1 and widths[-1] > GAIN * widths[-3]
        secant = (
            high if slow and turn % SECANTS == 0 else low + (high - low) * below / (below - above)
        )
        if slow and not (plain or whole):
            plain, points = True, _plain_numbers(low, high)
        middle = next(points, None) or secant
        middle = Fraction(math.floor(middle)) if whole else middle.limit_denominator(10**40)
        if not low < middle < high:
            middle = Fraction((low + high) // 2) if whole else (low + high) / 2
        here = gap(middle)
        if here is None or here == 0:
            return middle if here == 0 and not whole else halve(gap, low, middle, before, whole)
        moved = 1 if sign(here) == before else -1
        damped = (
            straight or moved == side
        )  # the value of an end that does not move is halved: the next point lies just beyond the crossing
        if moved == 1:
            low, below, above = middle, here, above / 2 if damped else above
        else:
            high, above, below = middle, here, below / 2 if damped else below
        side, straight = moved, not damped
    return high


def _enough(gap: Gap, turn: int) -> Fraction:
    """How narrow a bracket has to be after so many turns, as a share of the crossing."""
    return DIGITS if gap.thorough else FLOAT_DIGITS if turn < FEWER_TURNS else FEWER_DIGITS


def _plain_numbers(low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """Where most jumps lie: at plain numbers; and what lies just next to them."""
    plain = ((low + high) / 2).limit_denominator(10**6)
    return (
        point
        for point in (plain, plain * (1 + DIGITS / 2), plain * (1 - DIGITS / 2))
        if low < point < high
    )


def _same_side(first: Fraction | None, second: Fraction | None) -> bool:
    """Whether the exact difference has one sign at both ends, so that the sides do not change over between them."""
    return first is not None and second is not None and first * second > 0


def narrow_roughly(
    gap: Gap, low: Fraction, high: Fraction, before: int, whole: bool
) -> Search[tuple[Fraction, Fraction]]:
    """A bracket made as narrow as rough values can."""
    while gap.floats and high - low > ROUGHLY * high and (points := _inside(low, high, whole)):
        values = yield points
        sides = [
            (point, sign(value))
            for point, value in zip(points, values, strict=True)
            if value == value
        ]
        beyond = next((point for point, side in sides if side == -before), None)
        short = max(
            (
                point
                for point, side in sides
                if side == before and (beyond is None or point < beyond)
            ),
            default=None,
        )
        low, high = (
            (low if short is None else exact_decimal(short)),
            (high if beyond is None else exact_decimal(beyond)),
        )
        if (short is None and beyond is None) or len(sides) < len(points):
            break
    return low, high


def _inside(low: Fraction, high: Fraction, whole: bool) -> list[float]:
    """Floats that part a bracket."""
    start, end = float(low), float(high)
    points = (start + (end - start) * i / SECTIONS for i in range(1, SECTIONS))
    return sorted(
        {point for x in points if (point := float(math.floor(x)) if whole else x) > start}
    )


def halve(gap: Gap, low: Fraction, high: Fraction, before: int, whole: bool) -> Fraction:
    """The crossing in a bracket in which there is no value at some points: they count as beyond it."""

    def beyond(point: Fraction) -> bool:
        here = gap(point)
        return here is None or sign(here) != before

    def middle(low: Fraction, high: Fraction) -> Fraction:
        if not whole and high - low <= DIGITS * high:
            return high
        return (
            Fraction((low + high) // 2) if whole else ((low + high) / 2).limit_denominator(10**36)
        )

    return bisect(beyond, low, high, TURNS, middle)[1]


def bisect(
    beyond: Callable[[Number], bool | None],
    low: Number,
    high: Number,
    turns: int,
    middle: Callable[[Number, Number], Number] | None = None,
) -> tuple[Number, Number]:
    """The last two points between which something changes over, from two where it does, in whichever order: halved so many times, or until no
    point lies between them. Where ``beyond`` says None of a point, that is it.

    >>> bisect(lambda x: x * x > 2, 1.0, 2.0, 60)[0] ** 2
    1.9999999999999996
    """
    for _ in range(turns):
        point = middle(low, high) if middle else (low + high) / 2
        if point in (low, high):
            break
        past = beyond(point)
        if past is None:
            return point, point
        low, high = (low, point) if past else (point, high)
    return low, high
