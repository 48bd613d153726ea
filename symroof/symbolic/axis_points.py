"""What is known of the axes of a search: points in order with the gap between two sides at each, and more of them where it is worth a look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST, MOST, MOST_COUNTED = 1e-15, 1e24, 1e15
"""The ends of an axis that has none of its own. Counts end where floats still tell a number from the next."""
PER_DECADE = 16
EVERY = 1024
"""Whole numbers from one on that are all looked at: a sum of so many terms may turn back at each of them."""
SAME = 4e-14
"""Two sides whose difference is a smaller share of them are equal: floats do not tell more."""
FADING = 1e-12
"""The same far from what floats can tell: a difference that small which still shrinks only ends in their rounding."""
SECTIONS, TURNS = 24, 5
PLACES = 24
"""Places of one axis that are looked into together."""
DEEPEST, TOUCH = 12, 1e-9
"""How often a dip is looked into, and the share of it that is left where the sides touch."""
FLAT = 10
"""How many times a difference has to fall as far again as it does towards its least value, for a dip to be given up."""
NARROW = 1e-5
"""The share of itself over which sides that touch cannot be told apart: a stretch of equal sides is wider."""

Sides = Callable[[Any, Any], tuple[Any, Any]]
"""Left and right at points of an axis; the second array says of which case each point is. NaN where a side has no value."""


@dataclass(frozen=True)
class Axis:
    """Where an unknown can lie: above ``low``, up to ``high``.

    Attributes:
        whole: whether only whole numbers have a meaning, as of the bound of a sum.
        counted: whether the unknown counts things, so that an axis without an end ends at :data:`MOST_COUNTED`.
    """

    low: float = 0.0
    high: float | None = None
    whole: bool = False
    counted: bool = False

    @property
    def end(self) -> float:
        return self.high or (MOST_COUNTED if self.counted or self.whole else MOST)

    def grid(self) -> Any:
        """Points evenly spaced in their logarithm, both ends among them, and the first whole numbers of what is whole."""
        start = 1.0 if self.whole else max(self.low, LEAST)
        steps = max(2, round(PER_DECADE * np.log10(max(self.end / start, 1))))
        points = np.geomspace(start, max(self.end, start), steps + 1)
        points[-1] = max(self.end, start)
        if not self.whole:
            return points
        first = np.arange(max(np.ceil(self.low), 1), min(self.end, EVERY) + 1)
        return np.unique(np.concatenate([np.rint(points), first]))


@dataclass(frozen=True)
class Crossings:
    """Where two sides meet.

    Attributes:
        verdict: ``crosses``, ``lhs_above``, ``lhs_below``, ``identical``, or ``none`` where there is no value on the axis.
        values: the crossings in rising order; of a stretch where the sides are equal its ends.
        searched: the first and the last point with a value.
        pole: where the sides change over without meeting: the verdict holds up to there.
    """

    verdict: str
    values: tuple[float, ...] = ()
    searched: tuple[float, float] = (LEAST, MOST)
    pole: float | None = None


@dataclass
class Gap:
    """Left side less right side; 0 where floats do not tell them apart."""

    sides: Sides

    def __call__(self, x: Any, case: Any, exactly: bool = False) -> Any:
        x = np.asarray(x, dtype=float)
        if not x.size:
            return np.zeros(x.shape)
        left, right = (np.broadcast_to(side, x.shape) for side in self.sides(x, case))
        gap, size = left - right, np.maximum(np.abs(left), np.abs(right))
        if not exactly:
            gap = np.where(np.abs(gap) <= SAME * size, 0.0, gap)
            self.size = size
        return np.where(np.isfinite(size), gap, np.nan)

    def at(self, x: float, case: int) -> float:
        return float(self(np.array([x]), np.array([case]))[0])


@dataclass
class Points:
    """What is known of all axes: points in order, one axis after another, the gap at each, and the size of the sides there."""

    x: Any
    y: Any
    case: Any
    size: Any

    @classmethod
    def of(cls, gap: Gap, axes: Sequence[Axis]) -> Points:
        grids = [axis.grid() for axis in axes]
        x, case = np.concatenate(grids), np.repeat(np.arange(len(axes)), [len(g) for g in grids])
        y = gap(x, case)
        return cls(x, y, case, gap.size)

    def __getitem__(self, chosen: Any) -> Points:
        return Points(self.x[chosen], self.y[chosen], self.case[chosen], self.size[chosen])

    def of_case(self, case: int) -> Points:
        return self[self.case == case]

    def merged(self, gap: Gap, x: Any, case: Any) -> Points:
        """With further points, looked at in one call."""
        if not len(x):
            return self
        y = gap(x, case)
        x, y = np.concatenate([self.x, x]), np.concatenate([self.y, y])
        case, size = np.concatenate([self.case, case]), np.concatenate([self.size, gap.size])
        order = np.lexsort((x, case))
        first = np.r_[True, (np.diff(x[order]) != 0) | (np.diff(case[order]) != 0)]
        return Points(x, y, case, size)[order[first]]

    def pairs(self) -> Any:
        """Whether a point and the next lie on one axis."""
        return self.case[:-1] == self.case[1:]

    def with_edges(self, gap: Gap, whole: bool) -> Points:
        """Points close to where values end: a queue grows beyond every limit before it has no steady state."""
        points, none = self, np.isnan(self.y)
        for _ in range(TURNS):
            edges = np.flatnonzero(points.pairs() & (none[:-1] != none[1:]))
            more = sections(points.x[edges], points.x[edges + 1], whole)
            points = points.merged(gap, *_flat(more, points.case[edges]))
            none = np.isnan(points.y)
        edges = np.flatnonzero(points.pairs() & (none[:-1] != none[1:]))
        shorts = np.array([float(f"{x:.6g}") for x in points.x[edges]])
        between = (points.x[edges] <= shorts) & (shorts <= points.x[edges + 1])
        return points.merged(gap, shorts[between], points.case[edges][between])

    def without_fading(self) -> Points:
        """Without the points at an end where the sides only come so near each other that floats do not tell them apart."""
        gone = np.zeros(len(self.x), dtype=bool)
        for case in np.unique(self.case):
            known = np.flatnonzero((self.case == case) & ~np.isnan(self.y))
            for along in (known, known[::-1]):
                differs = along[self.y[along] != 0]
                if not len(differs) or differs[0] == along[0]:
                    continue
                first = self.y[differs[:2]] / self.size[differs[:2]]
                if np.all(np.abs(first) < [FADING, 10 * FADING][: len(first)]):
                    gone[along[: np.flatnonzero(along == differs[0])[0]]] = True
        return self[~gone]

    def with_dips(self, gap: Gap) -> Points:
        """More points where the gap comes nearest to zero without a change of sides: two crossings may lie in one step, or the sides may touch."""
        points, near = self, self.dips()
        starts = [
            (
                points.case[i],
                points.x[i - 1],
                points.x[i + 1],
                np.max(np.abs(points.y[i - 1 : i + 2])),
            )
            for i in near
        ]
        for turn in range(DEEPEST):
            if turn == TURNS:
                near = np.array([i for i in near if points.is_kink(i, starts)], dtype=int)
            if not len(near):
                break
            more = sections(points.x[near - 1], points.x[near + 1], False)
            points = points.merged(gap, *_flat(more, points.case[near]))
            near = points.dips()
        for case, low, high, before in starts:
            inside = np.flatnonzero((points.case == case) & (points.x >= low) & (points.x <= high))
            least = inside[np.argmin(np.abs(points.y[inside]))]
            one_side = len(set(np.sign(points.y[inside]))) == 1
            if (
                one_side
                and abs(points.y[least]) <= TOUCH * before
                and inside[0] < least < inside[-1]
            ):
                points = points.touching(gap, least)
        return points

    def touching(self, gap: Gap, i: int) -> Points:
        """With the place where the sides touch near a point: the least of the parabola through it and its neighbours."""
        (a, b, c), (p, q, r) = self.x[i - 1 : i + 2], self.y[i - 1 : i + 2]
        left, right = (b - a) * (q - r), (b - c) * (q - p)
        place = (
            b - ((b - a) * left - (b - c) * right) / (2 * (left - right)) if left != right else b
        )
        return self.with_zero(gap, float(place), int(self.case[i]))

    def is_kink(self, i: int, starts: list[tuple[int, float, float, float]]) -> bool:
        """Whether the gap falls towards a point as two lines do, not as a parabola, whose least value soon is nothing but rounding."""
        start = next(
            (s for s in starts if s[0] == self.case[i] and s[1] <= self.x[i] <= s[2]), None
        )
        if start is None:
            return False
        share = (self.x[i + 1] - self.x[i - 1]) / (start[2] - start[1])
        return bool(max(abs(self.y[i - 1]), abs(self.y[i + 1])) > share * start[3] / SECTIONS)

    def dips(self) -> Any:
        """The points nearest to zero among their neighbours, unless the gap would have to fall many times as far again."""
        side, size, one = np.sign(self.y), np.abs(self.y), self.pairs()
        here, low = size[1:-1], np.maximum(size[:-2], size[2:])
        same = one[:-1] & one[1:] & (side[:-2] * side[1:-1] > 0) & (side[1:-1] * side[2:] > 0)
        least = (
            (here <= size[:-2]) & (here <= size[2:]) & (here < low) & (FLAT * (low - here) >= here)
        )
        return np.flatnonzero(same & least)[: PLACES * (1 + int(self.case.max(initial=0)))] + 1

    def without_narrow(self, gap: Gap) -> Points:
        """With one point for a stretch of equal sides so narrow that they only come too near each other: the crossing inside it is still to be found,
        and where they touch it is its middle."""
        zero = self.y == 0
        starts = np.flatnonzero(zero & ~np.r_[False, zero[:-1] & self.pairs()])
        ends = np.flatnonzero(zero & ~np.r_[zero[1:] & self.pairs(), False])
        points, kept = self, np.ones(len(self.x), dtype=bool)
        middles = []
        further: list[tuple[Any, int]] = []
        for first, last in zip(starts, ends, strict=True):
            if first == 0 or last + 1 == len(zero) or self.case[first - 1] != self.case[last + 1]:
                continue
            low, high = self.x[first - 1], self.x[last + 1]
            before, after = np.sign(self.y[[first - 1, last + 1]])
            if high - low > 3 * NARROW * self.x[first] or np.isnan(before * after):
                continue
            case = int(self.case[first])
            between = np.linspace(low, high, 8 * SECTIONS + 1)
            if before * after > 0 and np.any(
                gap(between, np.full(len(between), case)) * before < 0
            ):
                further.append((between, case))  # two crossings, not one touch
                continue
            kept[first : last + 1] = False
            if before * after > 0:
                middles.append(((self.x[first] + self.x[last]) / 2, case))
        points = points[kept]
        for x, case in further:
            points = points.merged(gap, x, np.full(len(x), case))
        for x, case in middles:
            points = points.with_zero(gap, x, case)
        return points

    def with_zero(self, gap: Gap, x: float, case: int) -> Points:
        """With a place where the sides are equal: the short number that it is, if they are there."""
        shorts = (float(f"{x:.{digits}g}") for digits in (6, 9))
        place = next((short for short in shorts if gap.at(short, case) == 0), x)
        made = self.merged(gap, np.array([place]), np.array([case]))
        made.y[(made.x == place) & (made.case == case)] = 0.0
        return made

    def beside_zeros(self, gap: Gap, whole: bool) -> Points:
        """Points just beside those where the sides meet: in the same step they may meet again."""
        differs = self.y != 0
        alone = np.r_[False, differs[:-1]] | np.r_[differs[1:], False]
        x, case = (np.tile(known[~differs & alone], 2) for known in (self.x, self.case))
        step = (1.0 if whole else NARROW * x) * np.repeat([-1, 1], len(x) // 2)
        spans = {one: self.of_case(one).x[[0, -1]] for one in np.unique(case)}
        ends = np.array([spans[one] for one in case]).reshape(-1, 2)
        inside = (ends[:, 0] <= x + step) & (x + step <= ends[:, 1])
        return self.merged(gap, (x + step)[inside], case[inside])

    def changes(self) -> Any:
        """Where one side is the larger at a point and the other at the next."""
        return np.flatnonzero(self.pairs() & (np.sign(self.y[:-1]) * np.sign(self.y[1:]) < 0))

    def zeros(self, gap: Gap, whole: bool, case: int) -> list[float]:
        """Points where the sides are equal; of a stretch of them its ends, but those of the axis only if it is of whole numbers."""
        x, y = self.x[~np.isnan(self.y)], self.y[~np.isnan(self.y)]
        if not np.any(y):
            return []
        marks = np.diff(np.r_[0, (y == 0).astype(int), 0])
        ends: list[float] = []
        firsts, lasts = np.flatnonzero(marks == 1), np.flatnonzero(marks == -1) - 1
        for first, last in zip(firsts, lasts, strict=True):
            if first == last:
                ends.append(float(x[first]))
                continue
            for inside, outside in ((first, first - 1), (last, last + 1)):
                if 0 <= outside < len(x):
                    ends.append(_end(gap, x[outside], x[inside], case, whole))
                elif whole:
                    ends.append(float(x[inside]))
        return ends

    def span(self) -> tuple[float, float] | None:
        """The first and the last point with a value."""
        x = self.x[~np.isnan(self.y)]
        return (float(x[0]), float(x[-1])) if len(x) else None

    def answer(
        self, values: list[float], poles: Any, searched: tuple[float, float] | None
    ) -> Crossings:
        if searched is None:
            return Crossings("none")
        known = ~np.isnan(self.y)
        x, y = self.x[known], self.y[known]
        if values:
            return Crossings("crosses", tuple(values), searched)
        if not y.any():
            return Crossings("identical", (), searched)
        pole = float(f"{poles.min():.12g}") if len(poles) else None
        if pole is not None:
            searched = (searched[0], float(x[x < pole][-1]))
        first = y[y != 0][0]
        return Crossings("lhs_above" if first > 0 else "lhs_below", (), searched, pole)


def sections(a: Any, b: Any, whole: bool) -> Any:
    """Points that part each stretch evenly, a column a stretch."""
    inner = a + (b - a) * np.linspace(0, 1, SECTIONS + 1)[1:-1, None]
    return np.rint(inner) if whole else inner


def _flat(points: Any, case: Any) -> tuple[Any, Any]:
    return points.reshape(-1), np.broadcast_to(case, points.shape).reshape(-1)


def _end(gap: Gap, outside: float, inside: float, case: int, whole: bool) -> float:
    """The last point of a stretch of equal sides on the way to a point where they differ."""
    while True:
        points = np.linspace(inside, outside, 4 * SECTIONS + 1)
        points = np.rint(points) if whole else points
        differs = np.flatnonzero(gap(points, np.full(len(points), case)) != 0)
        place = differs[0] if len(differs) else len(points) - 1
        if place == 0 or abs(points[place] - points[place - 1]) <= (
            1 if whole else 4e-16 * abs(inside)
        ):
            return float(points[max(place - 1, 0)])
        if {points[place - 1], points[place]} == {inside, outside}:
            return float(points[place - 1])
        inside, outside = points[place - 1], points[place]
