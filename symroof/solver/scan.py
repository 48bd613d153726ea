"""Crossings that no closed form gives: signs on a logarithmic grid, near misses looked into, every change narrowed down.

The parts of a search are generators that ask for the difference at points and are sent it, in floats. Whatever can be looked at in
the same turn is, of one equation in several cases too: an array costs little more than a number.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, islice, pairwise
from typing import Any, TypeAlias, TypeVar

from symroof.formula.evaluate import NotGiven, NoValue, written
from symroof.formula.tree import Tree, mentions, sums
from symroof.solver.result import NUMERIC, Crossing
from symroof.solver.roots import sign

LEAST, MOST = Fraction(1, 10**15), Fraction(10**24)
PER_DECADE = 8
TURNS, DIGITS = 250, Fraction(1, 10**30)
"""How often a bracket is looked into, and how narrow it gets, as a share of the crossing."""
FLOAT_DIGITS, FEWER_TURNS, FEWER_DIGITS = Fraction(1, 10**17), 6, Fraction(1, 10**12)
"""How narrow it gets where the crossing only shows how far another can move; after so many turns, that a jump takes, fewer digits will do."""
GAIN, SECANTS = Fraction(1, 10**4), 4
"""The share of a bracket that two turns leave of it at most, or the crossing is not smooth: then it is halved every so many turns."""
SECTIONS, DIP_SECTIONS = 128, 8
"""Parts of a bracket that are looked at together, roughly, and of a stretch where the difference comes near zero."""
NEAR, POLE_GROWTH = Fraction(1, 10**12), 10**4
"""How near a change of side is looked at, and how much larger the difference must be there for it to be a pole."""
ROUGHLY = Fraction(1, 10**11)
"""How narrow rough values make a bracket, as a share of the crossing: nearer to a jump they have to be worked out exactly."""
EDGE_TURNS, EDGE_SECTIONS = 4, 32
"""How often the stretch between a point with a value and one without is looked into, and in how many parts."""
FLAT = 10
"""How many times the difference would have to fall as far again as it does towards its least value, for a dip to be given up."""
STRIDE = 8
"""Of a stretch of points that floats leave open, one in so many is looked at exactly first."""
EVERY = 1024
"""Whole numbers from one on that are all looked at where rough values make that cheap: a sum of so many parts may turn back at each of them."""

T = TypeVar("T")
Points: TypeAlias = Sequence[Any]
"""Points to look at, fractions or floats."""
Rough = Callable[[Points], Sequence[float]]
"""The difference of the sides at many points, in floats; NaN where floats do not show its sign, or it has no value."""
Value: TypeAlias = Any
"""A fraction, or a float."""
Search: TypeAlias = Generator[Points, Sequence[float], T]
"""A part of a search: it asks for the difference at points, and is sent what :data:`Rough` gives."""


def together(searches: Iterable[Search[T]]) -> Search[list[T]]:
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


def answered(search: Search[T], rough: Rough | None) -> T:
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
        thorough: whether, of a stretch of points at which floats show nothing, all are looked at exactly that lie beside one with a value;
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
        except NotGiven:
            raise
        except NoValue:
            return None

    def at(self, points: Sequence[Fraction]) -> Search[list[Value | None]]:
        """Its values at many points: their signs are right, their sizes may be floats."""
        values = yield points
        return [value if value == value else self(point) for point, value in zip(points, values, strict=True)]


def scan(
    difference: Tree,
    x: str,
    evaluate: Callable[[Tree, dict[str, Fraction]], Fraction],
    low: Fraction,
    high: Fraction | None,
    rough: Rough | None = None,
) -> Crossing:
    """The crossings of any formula, by its signs on a grid; ``rough`` values spare exact ones away from the crossings.

    Where the unknown bounds a sum only whole numbers are tried: between them the sum has no meaning.

    Raises:
        NoValue: the equation has no value anywhere on the axis.
        NotGiven: a name in it has none.
    """
    gap = Gap(lambda point: evaluate(difference, {x: point}), rough is not None)
    return answered(crossings(gap, low, high, counts_terms(difference, x)), rough)


def counts_terms(difference: Tree, x: str) -> bool:
    """Whether the unknown bounds a sum."""
    return any(mentions(node.first, x) or mentions(node.last, x) for node in sums(difference))


def crossings(gap: Gap, low: Fraction, high: Fraction | None, whole: bool) -> Search[Crossing]:
    """The search for all crossings along an axis, of whole numbers or of any.

    Raises:
        NoValue, NotGiven: as :func:`scan`.
    """
    axis = Axis.of(low, high, whole, between=whole and gap.floats)
    everywhere = _settled(gap, axis, (yield axis.floats))
    last = yield from _last_values(gap, everywhere, whole)
    points: list[tuple[Fraction, Value]] = [(point, g) for point, g in with_more(everywhere, last) if g is not None]
    if not points:
        raise NoValue("the equation has no value anywhere on the axis")
    searched = (points[0][0], points[-1][0])
    if all(g == 0 for _, g in points):
        return Crossing("identical", NUMERIC, domain=(low, high), searched=searched)
    if not whole:
        points = with_more(points, (yield from dips(gap, points)))
    values: list[Fraction] = [points[0][0]] if points[0][1] == 0 else []
    poles: list[Fraction] = []
    if whole and low == 0:
        values += _below_one(gap, points[0][0])
    steps = list(pairwise(with_more(points, _beside_zeros(gap, points, whole))))
    changes = [(a, b, sign(before), max(abs(before), abs(after))) for (a, before), (b, after) in steps if before < 0 < after or after < 0 < before]
    brackets = yield from together(_sectioned(gap, a, b, side, whole) for a, b, side, _ in changes)
    for (a, b, side, around), bracket in zip(changes, brackets, strict=True):
        root = narrowed(gap, a, b, bracket, side, whole)
        if root is not None:
            (values if whole or not _pole(gap, root, around) else poles).append(root)
    values = sorted([*values, *(b for _, (b, after) in steps if after == 0)])
    if values:
        return Crossing("crosses", NUMERIC, (), tuple(_apart(points, values)), (low, high), searched=searched)
    if poles:  # the sides change over there without meeting: the verdict holds for the axis up to the first
        high, searched = poles[0], (searched[0], max(point for point, _ in points if point < poles[0]))
    return Crossing("lhs_above" if points[0][1] > 0 else "lhs_below", NUMERIC, domain=(low, high), searched=searched)


def _settled(gap: Gap, axis: Axis, values: Sequence[float]) -> list[tuple[Fraction, Value | None]]:
    """The points with their values, on the grid exact where floats show nothing."""
    known: dict[int, Value | None] = {i: value for i, value in enumerate(values) if value == value}
    runs = [list(run) for undecided, run in groupby(axis.grid, key=lambda i: i not in known) if undecided]
    for run in runs:
        looked_at = [*range(0, len(run), STRIDE), *([len(run) - 1] if (len(run) - 1) % STRIDE else [])]
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


def _last_values(gap: Gap, points: list[tuple[Fraction, Value | None]], whole: bool) -> Search[list[tuple[Fraction, Value]]]:
    """The last points with a value beside those without one: a queue grows beyond every limit before it has no steady state."""
    edges = [(a, b) if after is None else (b, a) for (a, before), (b, after) in pairwise(points) if (before is None) != (after is None)]
    last = yield from together(_last_value(gap, inside, outside, whole) for inside, outside in edges)
    return [each for each in last if each is not None]


def _last_value(gap: Gap, inside: Fraction, outside: Fraction, whole: bool) -> Search[tuple[Fraction, Value] | None]:
    """Between a point with a value and one without, the last that is looked at with one; None where that is the first."""
    last = None
    for _ in range(EDGE_TURNS):
        start, end = float(inside), float(outside)
        between = (start + (end - start) * i / EDGE_SECTIONS for i in range(1, EDGE_SECTIONS))
        numbers = list(dict.fromkeys(number for x in between if (number := float(math.floor(x) if whole else f"{x:.6g}")) not in (inside, outside)))
        for number, value in zip(numbers, (yield numbers), strict=True):
            point = written(number)
            here = value if value == value else gap(point)
            if here is None:
                outside = point
                break
            inside, last = point, (point, here)
    return last


def _beside_zeros(gap: Gap, points: list[tuple[Fraction, Value]], whole: bool) -> list[tuple[Fraction, Value]]:
    """Points right beside those where the sides meet: within the same step they may meet again."""
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


def _apart(points: list[tuple[Fraction, Value]], values: list[Fraction]) -> list[Fraction]:
    """The crossings; of a stretch of the grid where the sides are the same, its ends."""
    zeros = {point for point, g in points if g == 0}
    if not zeros:
        return values
    order = [point for point, _ in points]
    neighbours = {b: (a, c) for a, b, c in zip(order, order[1:], order[2:], strict=False)}
    return [v for v in values if v not in neighbours or not (v in zeros and neighbours[v][0] in zeros and neighbours[v][1] in zeros)]


@lru_cache(maxsize=64)
def grid(low: Fraction, high: Fraction | None, whole: bool) -> tuple[Fraction, ...]:
    """Points to look at: evenly spaced in their logarithm, the ends of a bounded axis among them."""
    start = Fraction(1) if whole else max(low, LEAST)
    end = high or MOST
    steps = max(2, round(PER_DECADE * (_digits(end) - _digits(start))))
    ratio = (float(end) / float(start)) ** (1 / steps)
    inside = [Fraction(float(start) * ratio**i) for i in range(1, steps)]
    points = [Fraction(round(p)) for p in inside] if whole else [_short(p) for p in inside]
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


def _short(x: Fraction) -> Fraction:
    """A nearby number that is cheap to calculate with."""
    return Fraction(f"{float(x):.6g}")


def dips(gap: Gap, points: list[tuple[Fraction, Value]]) -> Search[list[tuple[Fraction, Value]]]:
    """Where the difference comes nearest to zero between points of one sign: two crossings may lie within one step."""
    near = [
        _least(gap, a, c, sign(here))
        for (a, before), (_, here), (c, after) in zip(points, points[1:], points[2:], strict=False)
        if sign(before) == sign(here) == sign(after) != 0 and abs(here) <= min(abs(before), abs(after)) and abs(here) < max(abs(before), abs(after))
    ]
    return [point for point in (yield from together(near)) if point is not None]


def _least(gap: Gap, low: Fraction, high: Fraction, side: int) -> Search[tuple[Fraction, Value] | None]:
    """The first point beyond zero that shows where an interval is searched for the least difference; None where it stays on its side."""
    while _rise(points := [low, *(_short(low + (high - low) * i / DIP_SECTIONS) for i in range(1, DIP_SECTIONS)), high]):
        values = yield from gap.at(points[1:-1])
        for point, here in zip(points[1:-1], values, strict=True):
            if here is not None and sign(here) != side:
                return point, here
        sizes = [math.inf if here is None else float(abs(here)) for here in values]
        least = min(range(len(sizes)), key=sizes.__getitem__)
        low, high = points[least], points[least + 2]
        if 0 < least < len(sizes) - 1 and FLAT * (max(sizes[least - 1], sizes[least + 1]) - sizes[least]) < sizes[least]:
            break
    return None


def _rise(points: list[Fraction]) -> bool:
    """Whether numbers of a few digits tell the points apart."""
    return all(a < b for a, b in pairwise(points))


def _pole(gap: Gap, point: Fraction, around: Value) -> bool:
    """Whether the sides change over because a denominator passes zero there: they do not meet, they fly apart."""
    near = False
    for side in (point * (1 - NEAR), point * (1 + NEAR)):
        value = gap(side)
        if value is not None and abs(value) <= around * POLE_GROWTH:
            return False
        near = near or value is not None
    return near


def narrowed(gap: Gap, start: Fraction, end: Fraction, bracket: tuple[Fraction, Fraction], before: int, whole: bool) -> Fraction | None:
    """The crossing between two points, which rough values put in a bracket; of whole numbers the first beyond it. None where floats misled.

    A secant meets a straight line exactly, and comes so near to a smooth crossing that another point just beyond closes the bracket.
    Where that gains little (a jump, a bend), plain numbers are tried, and from time to time the bracket is halved.
    """
    low, high = bracket
    below, above = gap(low), gap(high)
    if below is None or above is None or below * above >= 0:
        return _halved(gap, start, end, before, whole) if not _same_side(gap(start), gap(end)) else None
    side, straight, plain = 0, True, False
    points: Iterator[Fraction] = iter(())
    widths: list[Fraction] = []
    for turn in range(TURNS):
        widths.append(high - low)
        if widths[-1] <= (1 if whole else _enough(gap, turn) * high):
            break
        slow = turn > 1 and widths[-1] > GAIN * widths[-3]
        secant = high if slow and turn % SECANTS == 0 else low + (high - low) * below / (below - above)
        if slow and not (plain or whole):
            plain, points = True, _plain_numbers(low, high)
        middle = next(points, None) or secant
        middle = Fraction(math.floor(middle)) if whole else middle.limit_denominator(10**40)
        if not low < middle < high:
            middle = Fraction((low + high) // 2) if whole else (low + high) / 2
        here = gap(middle)
        if here is None or here == 0:
            return middle if here == 0 and not whole else _halved(gap, low, middle, before, whole)
        moved = 1 if sign(here) == before else -1
        halve = straight or moved == side  # an end that stands still has its value halved: the next point lies just beyond the crossing
        if moved == 1:
            low, below, above = middle, here, above / 2 if halve else above
        else:
            high, above, below = middle, here, below / 2 if halve else below
        side, straight = moved, not halve
    return high


def _enough(gap: Gap, turn: int) -> Fraction:
    """How narrow a bracket has to be after so many turns, as a share of the crossing."""
    return DIGITS if gap.thorough else FLOAT_DIGITS if turn < FEWER_TURNS else FEWER_DIGITS


def _plain_numbers(low: Fraction, high: Fraction) -> Iterator[Fraction]:
    """Where most jumps lie: at plain numbers; and what lies right beside them."""
    plain = ((low + high) / 2).limit_denominator(10**6)
    return (point for point in (plain, plain * (1 + DIGITS / 2), plain * (1 - DIGITS / 2)) if low < point < high)


def _same_side(first: Fraction | None, second: Fraction | None) -> bool:
    """Whether the exact difference has one sign at both ends, so that the sides do not change over between them."""
    return first is not None and second is not None and first * second > 0


def _sectioned(gap: Gap, low: Fraction, high: Fraction, before: int, whole: bool) -> Search[tuple[Fraction, Fraction]]:
    """A bracket made as narrow as rough values can."""
    while gap.floats and high - low > ROUGHLY * high and (points := _inside(low, high, whole)):
        values = yield points
        sides = [(point, sign(value)) for point, value in zip(points, values, strict=True) if value == value]
        beyond = next((point for point, side in sides if side == -before), None)
        short = max((point for point, side in sides if side == before and (beyond is None or point < beyond)), default=None)
        low, high = (low if short is None else written(short)), (high if beyond is None else written(beyond))
        if (short is None and beyond is None) or len(sides) < len(points):
            break
    return low, high


def _inside(low: Fraction, high: Fraction, whole: bool) -> list[float]:
    """Floats that part a bracket."""
    start, end = float(low), float(high)
    points = (start + (end - start) * i / SECTIONS for i in range(1, SECTIONS))
    return sorted({point for x in points if (point := float(math.floor(x)) if whole else x) > start})


def _halved(gap: Gap, low: Fraction, high: Fraction, before: int, whole: bool) -> Fraction:
    """The crossing in a bracket in which there is no value at some points: they count as beyond it."""
    for _ in range(TURNS):
        middle = Fraction((low + high) // 2) if whole else ((low + high) / 2).limit_denominator(10**36)
        if middle in (low, high) or (not whole and high - low <= DIGITS * high):
            break
        here = gap(middle)
        low, high = (middle, high) if here is not None and sign(here) == before else (low, middle)
    return high
