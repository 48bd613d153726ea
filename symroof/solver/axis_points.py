"""The points at which a scan begins: evenly spaced in their logarithm, and the first whole numbers."""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

LEAST, MOST = Fraction(1, 10**15), Fraction(10**24)
PER_DECADE = 8
EVERY = 1024
"""Whole numbers from one on that are all looked at where rough values make that cheap: a sum of so many parts may turn back at each of them."""


@lru_cache(maxsize=64)
def grid(low: Fraction, high: Fraction | None, whole: bool) -> tuple[Fraction, ...]:
    """Points to look at: evenly spaced in their logarithm, the ends of a bounded axis among them."""
    start = Fraction(1) if whole else max(low, LEAST)
    end = high or MOST
    steps = max(2, round(PER_DECADE * (_digits(end) - _digits(start))))
    ratio = (float(end) / float(start)) ** (1 / steps)
    inside = [Fraction(float(start) * ratio**i) for i in range(1, steps)]
    points = [Fraction(round(p)) for p in inside] if whole else [short(p) for p in inside]
    return tuple(sorted({start, *points, end}))


@dataclass(frozen=True)
class Axis:
    """The points at which every search of an axis begins, in order.

    Attributes:
        floats: the same as floats.
        grid: which of them are on the grid; the others are looked at in floats alone.
    """

    points: tuple[Fraction, ...]
    floats: tuple[float, ...]
    grid: tuple[int, ...]

    @staticmethod
    @lru_cache(maxsize=64)
    def of(low: Fraction, high: Fraction | None, whole: bool, between: bool) -> Axis:
        """The grid; ``between`` adds the first whole numbers that are not on it."""
        on_grid = set(grid(low, high, whole))
        numbers = range(max(math.ceil(low), 1), math.floor(min(high or EVERY, EVERY)) + 1) if between else ()
        points = tuple(sorted(on_grid.union(map(Fraction, numbers))))
        return Axis(points, tuple(map(float, points)), tuple(i for i, point in enumerate(points) if point in on_grid))


def with_more(points: list[tuple[Fraction, Any]], others: list[tuple[Fraction, Any]]) -> list[tuple[Fraction, Any]]:
    """Points in order with a few others among them."""
    merged = list(points)
    for other in others:
        insort(merged, other, key=lambda point: point[0])
    return merged


def _digits(x: Fraction) -> int:
    return len(str(x.numerator)) - len(str(x.denominator))


def short(x: Fraction) -> Fraction:
    """A nearby number that is cheap to calculate with."""
    return Fraction(f"{float(x):.6g}")
