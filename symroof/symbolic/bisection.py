"""Where something changes over between two points, by halving."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

Number = TypeVar("Number", float, Fraction)


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
