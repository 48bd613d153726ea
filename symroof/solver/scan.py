"""Crossings that no closed form gives: signs on a logarithmic grid, near misses looked into, every change bisected."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from symroof.formula.evaluate import NotGiven, NoValue
from symroof.formula.tree import Total, Tree, mentions, parts
from symroof.solver.result import NUMERIC, Crossing
from symroof.solver.roots import sign

LEAST, MOST = Fraction(1, 10**15), Fraction(10**24)
PER_DECADE = 8
HALVINGS = 110
"""Enough to bring a bracket of a grid's step to 30 digits."""
NEAR, POLE_GROWTH = Fraction(1, 10**12), 10**4
"""How near a change of side is looked at, and how much larger the difference must be there for it to be a pole."""
GOLDEN = Fraction(618034, 10**6)
DIP_STEPS = 40

Gap = Callable[[Fraction], Fraction | None]
"""The difference of the sides at a point; None where it has no value."""


def scan(difference: Tree, x: str, evaluate: Callable[[Tree, dict[str, Fraction]], Fraction], low: Fraction, high: Fraction | None) -> Crossing:
    """The crossings of any formula, by its signs on a grid.

    Where the unknown bounds a sum only whole numbers are tried: between them the sum has no meaning.

    Raises:
        NoValue: the equation has no value anywhere on the axis.
        NotGiven: a name in it has none.
    """
    whole = any(isinstance(node, Total) and (mentions(node.first, x) or mentions(node.last, x)) for node in parts(difference))

    def gap(point: Fraction) -> Fraction | None:
        try:
            return evaluate(difference, {x: point})
        except NotGiven:
            raise
        except NoValue:
            return None

    points = [(point, g) for point in grid(low, high, whole) if (g := gap(point)) is not None]
    if not points:
        raise NoValue("the equation has no value anywhere on the axis")
    searched = (points[0][0], points[-1][0])
    if all(g == 0 for _, g in points):
        return Crossing("identical", NUMERIC, domain=(low, high), searched=searched)
    if not whole:
        points = sorted([*points, *dips(gap, points)])
    values = [points[0][0]] if points[0][1] == 0 else []
    if whole and low == 0:
        values += _below_one(gap, points[0])
    for (a, before), (b, after) in pairwise(points):
        if after == 0:
            values.append(b)
        elif sign(before) * sign(after) < 0:
            root = bisected(gap, a, b, sign(before), whole)
            if whole or not _pole(gap, root, max(abs(before), abs(after))):
                values.append(root)
    if values:
        return Crossing("crosses", NUMERIC, (), tuple(_apart(points, values)), (low, high), searched=searched)
    return Crossing("lhs_above" if points[0][1] > 0 else "lhs_below", NUMERIC, domain=(low, high), searched=searched)


def _below_one(gap: Gap, first: tuple[Fraction, Fraction]) -> list[Fraction]:
    """The crossing below one of something counted: the share of the first step after which the sides have changed over."""
    none, one = gap(Fraction(0)), first[1]
    return [none / (none - one)] if first[0] == 1 and none is not None and none * one < 0 else []


def _apart(points: list[tuple[Fraction, Fraction]], values: list[Fraction]) -> list[Fraction]:
    """The crossings; of a stretch of the grid where the sides are the same, its ends."""
    zeros = {point for point, g in points if g == 0}
    order = [point for point, _ in points]
    neighbours = {b: (a, c) for a, b, c in zip(order, order[1:], order[2:], strict=False)}
    return [v for v in values if v not in neighbours or not (v in zeros and neighbours[v][0] in zeros and neighbours[v][1] in zeros)]


def grid(low: Fraction, high: Fraction | None, whole: bool) -> list[Fraction]:
    """Points to look at: evenly spaced in their logarithm, the ends of a bounded axis among them."""
    start = Fraction(1) if whole else max(low, LEAST)
    end = high or MOST
    steps = max(2, round(PER_DECADE * (_digits(end) - _digits(start))))
    ratio = (float(end) / float(start)) ** (1 / steps)
    inside = [Fraction(float(start) * ratio**i) for i in range(1, steps)]
    points = [Fraction(round(p)) for p in inside] if whole else [_short(p) for p in inside]
    return sorted({start, *points, end})


def _digits(x: Fraction) -> int:
    return len(str(x.numerator)) - len(str(x.denominator))


def _short(x: Fraction) -> Fraction:
    """A nearby number that is cheap to calculate with."""
    return Fraction(f"{float(x):.6g}")


def dips(gap: Gap, points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Where the difference comes nearest to zero between points of one sign: two crossings may lie within one step."""
    nearest = []
    for (a, before), (_, here), (c, after) in zip(points, points[1:], points[2:], strict=False):
        if sign(before) == sign(here) == sign(after) != 0 and abs(here) <= min(abs(before), abs(after)) and abs(here) < max(abs(before), abs(after)):
            point = _golden(gap, a, c, sign(here))
            if point is not None:
                nearest.append(point)
    return nearest


def _golden(gap: Gap, low: Fraction, high: Fraction, side: int) -> tuple[Fraction, Fraction] | None:
    """The point of an interval where the difference is least on its side of zero, or the first beyond zero."""
    for _ in range(DIP_STEPS):
        width = GOLDEN * (high - low)
        a, b = _short(high - width), _short(low + width)
        at_a, at_b = gap(a), gap(b)
        if at_a is None or at_b is None:
            return None
        for point, here in ((a, at_a), (b, at_b)):
            if sign(here) != side:
                return point, here
        if not low < a < b < high:
            break
        low, high = (low, b) if abs(at_a) < abs(at_b) else (a, high)
    return None


def _pole(gap: Gap, point: Fraction, around: Fraction) -> bool:
    """Whether the sides change over because a denominator passes zero there: they do not meet, they fly apart."""
    near = [abs(g) for side in (point * (1 - NEAR), point * (1 + NEAR)) if (g := gap(side)) is not None]
    return bool(near) and min(near) > around * POLE_GROWTH


def bisected(gap: Gap, low: Fraction, high: Fraction, before: int, whole: bool) -> Fraction:
    """The crossing in a bracket; of whole numbers the first beyond it."""
    for _ in range(HALVINGS):
        middle = Fraction((low + high) // 2) if whole else ((low + high) / 2).limit_denominator(10**36)
        if middle in (low, high):
            break
        here = gap(middle)
        if here == 0 and not whole:
            return middle
        low, high = (middle, high) if here is not None and sign(here) == before else (low, middle)
    return high
