"""Searches along an axis as generators, so that whatever can be looked at in the same turn is.

They ask for the difference of two sides at points and are sent it, in floats. Of one equation in several cases too, an array costs little
more than a number.
"""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from symroof.formula.evaluate import NoValue, UndefinedValue

T = TypeVar("T")
Points: TypeAlias = Sequence[Any]
"""Points to look at, fractions or floats."""
Rough = Callable[[Points], Sequence[float]]
"""The difference of the sides at many points, in floats; NaN where floats do not show its sign, or it has no value."""
Value: TypeAlias = Any
"""A fraction, or a float."""
Search: TypeAlias = Generator[Points, Sequence[float], T]
"""A part of a search: it asks for the difference at points, and is sent what :data:`Rough` gives."""


def search_together(searches: Iterable[Search[T]]) -> Search[list[T]]:
    """Several searches as one: what they ask for in the same turn is looked at together."""
    running = list(searches)
    results: dict[int, T] = {}
    asked: dict[int, Points] = {}

    def turn(i: int, sent: Sequence[float] | None) -> None:
        try:
            asked[i] = running[i].send(sent)  # type: ignore[arg-type]
        except StopIteration as end:
            results[i] = end.value
            asked.pop(i, None)

    for i in range(len(running)):
        turn(i, None)
    while asked:
        lengths = [(i, len(points)) for i, points in asked.items()]
        values = iter((yield [point for points in asked.values() for point in points]))
        for i, length in lengths:
            turn(i, list(islice(values, length)))
    return [results[i] for i in range(len(running))]


def run_search(search: Search[T], rough: Rough | None) -> T:
    """The result of a search; without rough values it is sent that floats show nothing."""
    sent: Any = None
    while True:
        try:
            points = search.send(sent)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        sent = rough(points) if rough else [math.nan] * len(points)


@dataclass
class Gap:
    """The difference of two sides along an axis.

    Attributes:
        floats: whether rough values are to be had.
        thorough: whether, of a stretch of points at which floats show nothing, all are looked at exactly that lie next to one with a value;
            else one in :data:`STRIDE` is, and all between two that differ. A jump that is at no plain number is narrowed down to
            :data:`DIGITS` of it; else to :data:`FEWER_DIGITS`.
    """

    exact: Callable[[Fraction], Fraction]
    floats: bool = False
    thorough: bool = True

    def __call__(self, point: Fraction) -> Fraction | None:
        """Its value at a point; None where it has none."""
        try:
            return self.exact(point)
        except UndefinedValue:
            raise
        except NoValue:
            return None

    def at(self, points: Sequence[Fraction]) -> Search[list[Value | None]]:
        """Its values at many points: their signs are right, their sizes may be floats."""
        values = yield points
        return [
            value if value == value else self(point)
            for point, value in zip(points, values, strict=True)
        ]
