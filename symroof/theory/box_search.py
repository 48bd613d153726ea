"""The largest value of a function over a box, by a search that ends after so much work, the same on every machine."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from symroof.formula.evaluate import EFFORT, NoValue

Box = Mapping[str, tuple[Fraction, Fraction]]
Point = dict[str, Fraction]

GRID = {1: 65, 2: 17, 3: 7, 4: 5}
"""Points along each axis, by the number of axes; a box with more axes is not searched."""
ROUNDS, STEPS, PEAKS = 3, 44, 2
"""Rounds over the axes, steps of golden section along one, and how many peaks of the grid are refined."""
GOLDEN = Fraction(618033988749895, 10**15)


class NotWorkedOut(NoValue):
    """The range of a quantity takes too long to search."""

    def __init__(self) -> None:
        super().__init__("range not worked out")


@dataclass
class Budget:
    """The nodes of formulas that searches may still evaluate.

    Attributes:
        search: how many one search may, half a second or less.
        left: how many all searches of a case may together.
    """

    search: int = 200_000
    left: int = 1_000_000

    def within(self, f: Callable[[Point], Fraction]) -> Callable[[Point], Fraction]:
        """The function for one search: it raises :class:`NotWorkedOut` where the budget is spent."""
        limit = EFFORT.nodes + self.search

        def checked(point: Point) -> Fraction:
            before = EFFORT.nodes
            if before > limit or self.left <= 0:
                raise NotWorkedOut
            value = f(point)
            self.left -= EFFORT.nodes - before
            return value

        return checked


def largest(f: Callable[[Point], Fraction], box: Box, budget: Budget) -> Fraction:
    """The largest value of ``f`` over a box: a grid, then its highest peaks refined along each axis in turn.

    Raises:
        NotWorkedOut: the budget is spent before the search is done, or the box has too many axes.
    """
    if len(box) not in GRID:
        raise NotWorkedOut
    f, names, points = budget.within(f), list(box), GRID[len(box)]
    axes = [[low + (high - low) * i / (points - 1) for i in range(points)] for low, high in box.values()]
    values = {place: f({name: axes[k][i] for k, (name, i) in enumerate(zip(names, place, strict=True))}) for place in _places(points, len(names))}
    best = max(values.values())
    for place in sorted(_peaks(values), key=lambda place: values[place], reverse=True)[:PEAKS]:
        point = {name: axes[k][i] for k, (name, i) in enumerate(zip(names, place, strict=True))}
        for _ in range(ROUNDS if len(names) > 1 else 1):  # along a single axis there is nothing to come back to
            before = dict(point)
            for name in names:
                width = (box[name][1] - box[name][0]) / (points - 1)
                low, high = max(box[name][0], point[name] - width), min(box[name][1], point[name] + width)
                point[name], value = _golden(partial(_along, f, dict(point), name), low, high)
                best = max(best, value)
            if point == before:
                break
    return best


def _places(points: int, axes: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(points), repeat=axes)


def _peaks(values: Mapping[tuple[int, ...], Fraction]) -> Iterator[tuple[int, ...]]:
    """The places of a grid that none beside them along an axis exceeds."""
    for place, value in values.items():
        beside = ((*place[:k], i + step, *place[k + 1 :]) for k, i in enumerate(place) for step in (-1, 1))
        if all(values.get(other, value) <= value for other in beside):
            yield place


def _along(f: Callable[[Point], Fraction], point: Point, name: str, x: Fraction) -> Fraction:
    return f({**point, name: x})


def _golden(f: Callable[[Fraction], Fraction], low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Golden-section search for a maximum, to about 1e-9 of the interval; its ends count too."""
    ends = [(low, f(low)), (high, f(high))]
    a, b = _split(low, high)
    at_a, at_b = f(a), f(b)
    for _ in range(STEPS):
        if at_a > at_b:
            high, b, at_b = b, a, at_a
            a = _split(low, high)[0]
            at_a = f(a)
        else:
            low, a, at_a = a, b, at_b
            b = _split(low, high)[1]
            at_b = f(b)
    return max([*ends, (a, at_a), (b, at_b)], key=lambda pair: pair[1])


def _split(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    return (high - GOLDEN * (high - low)).limit_denominator(10**15), (low + GOLDEN * (high - low)).limit_denominator(10**15)
