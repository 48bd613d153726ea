"""Crossings that no closed form gives: signs on a logarithmic grid, near misses searched more finely, every sign change narrowed down."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

from symroof.formula.evaluate import NoValue, exact_decimal
from symroof.formula.tree import Expr, mentions, sums
from symroof.solver.bracket import DIGITS, halve, narrow, narrow_roughly
from symroof.solver.joint_search import Gap, Rough, Search, Value, run_search, search_together
from symroof.solver.result import NUMERIC, Crossing
from symroof.solver.roots import sign

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
class ScanAxis:
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
    def of(low: Fraction, high: Fraction | None, whole: bool, between: bool) -> ScanAxis:
        """The grid; ``between`` adds the first whole numbers that are not on it."""
        on_grid = set(grid(low, high, whole))
        numbers = (
            range(max(math.ceil(low), 1), math.floor(min(high or EVERY, EVERY)) + 1)
            if between
            else ()
        )
        points = tuple(sorted(on_grid.union(map(Fraction, numbers))))
        return ScanAxis(
            points,
            tuple(map(float, points)),
            tuple(i for i, point in enumerate(points) if point in on_grid),
        )


def merge_points(
    points: list[tuple[Fraction, Any]], others: list[tuple[Fraction, Any]]
) -> list[tuple[Fraction, Any]]:
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


DIP_SECTIONS = 8
"""Parts of a stretch where the difference comes near zero, that are looked at together."""
NEAR, POLE_GROWTH = Fraction(1, 10**12), 10**4
"""How near a change of side is looked at, and how much larger the difference must be there for it to be a pole."""
EDGE_TURNS, EDGE_SECTIONS = 4, 32
"""How often the stretch between a point with a value and one without is looked into, and in how many parts."""
FLAT = 10
"""How many times the difference would have to fall as far again as it does towards its least value, for a dip to be given up."""
STRIDE = 8
"""Of a stretch of points that floats leave open, one in so many is looked at exactly first."""


def scan(
    difference: Expr,
    x: str,
    evaluate: Callable[[Expr, dict[str, Fraction]], Fraction],
    low: Fraction,
    high: Fraction | None,
    rough: Rough | None = None,
) -> Crossing:
    """The crossings of any formula, by its signs on a grid; ``rough`` values spare exact ones away from the crossings.

    Where the unknown bounds a sum only whole numbers are tried: between them the sum has no meaning.

    Raises:
        NoValue: the equation has no value anywhere on the axis.
        UndefinedValue: a name in it has none.
    """
    gap = Gap(lambda point: evaluate(difference, {x: point}), rough is not None)
    return run_search(crossings(gap, low, high, bounds_a_sum(difference, x)), rough)


def bounds_a_sum(difference: Expr, x: str) -> bool:
    """Whether the unknown bounds a sum."""
    return any(mentions(node.first, x) or mentions(node.last, x) for node in sums(difference))


def crossings(gap: Gap, low: Fraction, high: Fraction | None, whole: bool) -> Search[Crossing]:
    """The search for all crossings along an axis, of whole numbers or of any.

    Raises:
        NoValue, UndefinedValue: as :func:`scan`.
    """
    axis = ScanAxis.of(low, high, whole, between=whole and gap.floats)
    everywhere = _grid_values(gap, axis, (yield axis.floats))
    last = yield from _last_values(gap, everywhere, whole)
    points: list[tuple[Fraction, Value]] = [
        (point, g) for point, g in merge_points(everywhere, last) if g is not None
    ]
    if not points:
        raise NoValue("the equation has no value anywhere on the axis")
    searched = (points[0][0], points[-1][0])
    if all(g == 0 for _, g in points):
        return Crossing("identical", NUMERIC, domain=(low, high), searched=searched)
    if not whole:
        points = merge_points(points, (yield from dips(gap, points)))
    values: list[Fraction] = [points[0][0]] if points[0][1] == 0 else []
    poles: list[Fraction] = []
    if whole and low == 0:
        values += _below_one(gap, points[0][0])
    steps = list(pairwise(merge_points(points, _next_to_zeros(gap, points, whole))))
    changes = [
        (a, b, sign(before), max(abs(before), abs(after)))
        for (a, before), (b, after) in steps
        if before < 0 < after or after < 0 < before
    ]
    brackets = yield from search_together(
        narrow_roughly(gap, a, b, side, whole) for a, b, side, _ in changes
    )
    for (a, b, side, around), bracket in zip(changes, brackets, strict=True):
        root = narrow(gap, a, b, bracket, side, whole)
        if root is not None:
            (values if whole or not _pole(gap, root, around) else poles).append(root)
    values = sorted([*values, *(b for _, (b, after) in steps if after == 0)])
    if values:
        return Crossing(
            "crosses",
            NUMERIC,
            (),
            tuple(_crossings_and_ends(gap, points, values, whole)),
            (low, high),
            searched=searched,
        )
    if poles:  # the sides change over there without meeting: the verdict holds for the axis up to the first
        high, searched = (
            poles[0],
            (searched[0], max(point for point, _ in points if point < poles[0])),
        )
    return Crossing(
        "lhs_above" if points[0][1] > 0 else "lhs_below",
        NUMERIC,
        domain=(low, high),
        searched=searched,
    )


def _grid_values(
    gap: Gap, axis: ScanAxis, values: Sequence[float]
) -> list[tuple[Fraction, Value | None]]:
    """The points with their values, on the grid exact where floats show nothing."""
    known: dict[int, Value | None] = {i: value for i, value in enumerate(values) if value == value}
    runs = [
        list(run)
        for undecided, run in groupby(axis.grid, key=lambda i: i not in known)
        if undecided
    ]
    for run in runs:
        looked_at = [
            *range(0, len(run), STRIDE),
            *([len(run) - 1] if (len(run) - 1) % STRIDE else []),
        ]
        known |= {run[k]: gap(axis.points[run[k]]) for k in looked_at}
        for a, b in pairwise(looked_at):
            before, after = known[run[a]], known[run[b]]
            if _side(before) != _side(after) or (
                gap.thorough and not (gap.floats and before is None)
            ):  # neither floats nor exact values anywhere near: a sum of too many terms
                known |= {i: gap(axis.points[i]) for i in run[a + 1 : b]}
    return [(axis.points[i], known[i]) for i in sorted(known)]


def _side(value: Value | None) -> int | None:
    return None if value is None else sign(value)


def _last_values(
    gap: Gap, points: list[tuple[Fraction, Value | None]], whole: bool
) -> Search[list[tuple[Fraction, Value]]]:
    """The last points with a value next to those without one: a queue grows beyond every limit before it has no steady state."""
    edges = [
        (a, b) if after is None else (b, a)
        for (a, before), (b, after) in pairwise(points)
        if (before is None) != (after is None)
    ]
    last = yield from search_together(
        _last_value(gap, inside, outside, whole) for inside, outside in edges
    )
    return [each for each in last if each is not None]


def _last_value(
    gap: Gap, inside: Fraction, outside: Fraction, whole: bool
) -> Search[tuple[Fraction, Value] | None]:
    """Between a point with a value and one without, the last that is looked at with one; None where that is the first."""
    last = None
    for _ in range(EDGE_TURNS):
        start, end = float(inside), float(outside)
        between = (start + (end - start) * i / EDGE_SECTIONS for i in range(1, EDGE_SECTIONS))
        numbers = list(
            dict.fromkeys(
                number
                for x in between
                if (number := float(math.floor(x) if whole else f"{x:.6g}"))
                not in (inside, outside)
            )
        )
        for number, value in zip(numbers, (yield numbers), strict=True):
            point = exact_decimal(number)
            here = value if value == value else gap(point)
            if here is None:
                outside = point
                break
            inside, last = point, (point, here)
    return last


def _next_to_zeros(
    gap: Gap, points: list[tuple[Fraction, Value]], whole: bool
) -> list[tuple[Fraction, Value]]:
    """Points just next to those where the sides meet: within the same step they may meet again."""
    if all(g for _, g in points):
        return []
    near = []
    for (a, before), (b, after) in pairwise(points):
        for zero, size, end, other in ((a, before, b, after), (b, after, a, before)):
            if size == 0:
                beside = zero + sign(end - zero) * (1 if whole else NEAR * zero)
                g = gap(beside) if a < beside < b else None
                if g is not None and sign(g) * sign(other) < 0:
                    near.append((beside, g))
    return near


def _below_one(gap: Gap, first: Fraction) -> list[Fraction]:
    """The crossing below one of something counted: the share of the first step after which the sides have changed over."""
    if first != 1 or (none := gap(Fraction(0))) is None:
        return []
    one = gap(first)
    return [none / (none - one)] if one is not None and none * one < 0 else []


def _crossings_and_ends(
    gap: Gap, points: list[tuple[Fraction, Value]], values: list[Fraction], whole: bool
) -> list[Fraction]:
    """The crossings; of a stretch where the sides are the same, its ends: where these are the ends of the axis, only whole numbers count."""
    runs = [list(run) for _, run in groupby(points, key=lambda point: point[1] == 0)]
    same: set[Fraction] = set()
    ends = []
    for i, run in enumerate(runs):
        first, last = run[0][0], run[-1][0]
        if run[0][1] or first == last:
            continue
        same.update(point for point, _ in run)
        if i > 0:
            before, size = runs[i - 1][-1]
            ends.append(_end(halve(gap, before, first, sign(size), whole)))
        elif whole:
            ends.append(first)
        if i + 1 < len(runs):
            end = halve(gap, last, runs[i + 1][0][0], 0, whole)
            ends.append(end - 1 if whole else _end(end))
        elif whole:
            ends.append(last)
    return sorted([*(value for value in values if value not in same), *ends])


def _end(point: Fraction) -> Fraction:
    """The end of a stretch, known to :data:`DIGITS`; the plain number that it is."""
    plain = point.limit_denominator(10**6)
    return plain if abs(plain - point) <= DIGITS * point else point


def dips(gap: Gap, points: list[tuple[Fraction, Value]]) -> Search[list[tuple[Fraction, Value]]]:
    """Where the difference comes nearest to zero between points of one sign: two crossings may lie within one step."""
    near = [
        _least(gap, a, c, sign(here))
        for (a, before), (_, here), (c, after) in zip(points, points[1:], points[2:], strict=False)
        if sign(before) == sign(here) == sign(after) != 0
        and abs(here) <= min(abs(before), abs(after))
        and abs(here) < max(abs(before), abs(after))
    ]
    return [point for point in (yield from search_together(near)) if point is not None]


def _least(
    gap: Gap, low: Fraction, high: Fraction, side: int
) -> Search[tuple[Fraction, Value] | None]:
    """The first point beyond zero that shows where an interval is searched for the least difference; None where it stays on its side."""
    while _rise(
        points := [
            low,
            *(short(low + (high - low) * i / DIP_SECTIONS) for i in range(1, DIP_SECTIONS)),
            high,
        ]
    ):
        values = yield from gap.at(points[1:-1])
        for point, here in zip(points[1:-1], values, strict=True):
            if here is not None and sign(here) != side:
                return point, here
        sizes = [math.inf if here is None else float(abs(here)) for here in values]
        least = min(range(len(sizes)), key=sizes.__getitem__)
        low, high = points[least], points[least + 2]
        if (
            0 < least < len(sizes) - 1
            and FLAT * (max(sizes[least - 1], sizes[least + 1]) - sizes[least]) < sizes[least]
        ):
            break
    return None


def _rise(points: list[Fraction]) -> bool:
    """Whether numbers of a few digits tell the points apart."""
    return all(a < b for a, b in pairwise(points))


def _pole(gap: Gap, point: Fraction, around: Value) -> bool:
    """Whether the sides change over because a denominator passes zero there: they do not meet, they diverge."""
    near = False
    for side in (point * (1 - NEAR), point * (1 + NEAR)):
        value = gap(side)
        if value is not None and abs(value) <= around * POLE_GROWTH:
            return False
        near = near or value is not None
    return near
