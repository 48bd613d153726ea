"""The one search: where two sides meet along an axis, for several cases at once.

The sides are looked at on a logarithmic grid in one call, then between the points where they change over, come near each other, or begin to have a
value, again in one call for all places together. What is found is looked at from both sides: a pole is no crossing, a jump is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST, LEAST_COUNTED, MOST, MOST_COUNTED = 1e-15, 1e-9, 1e24, 1e15
"""The ends of an axis that has none of its own. Counts end where floats still tell a number from the next, and begin where sides that both are nothing at
nothing do not yet meet by their rounding."""
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
ROUNDED = 4e-15
"""A crossing that near a short number is that number."""
NEAR, POLE_GROWTH = 1e-12, 1e4
"""How near a change of sides is looked at, and how much larger the difference is there if it is a pole."""

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
        least = LEAST_COUNTED if self.counted else LEAST
        start = 1.0 if self.whole else max(self.low, least)
        end = max(self.end, start)
        points = np.geomspace(start, end, max(2, round(PER_DECADE * np.log10(end / start))) + 1)
        points[-1] = end
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


def crossings(sides: Sides, axes: Sequence[Axis]) -> list[Crossings]:
    """The crossings of each case along its axis.

    >>> crossings(lambda x, case: (np.array([3.0, 1.0])[case]*x, 6.0 + 0*x), [Axis(), Axis()])[0].values
    (2.0,)
    """
    with np.errstate(all="ignore"):
        search = _Search(sides, axes)
        search.look_at_edges()
        spans = [search.span(i) for i in range(len(axes))]
        search.leave_out_fading()
        if not search.whole:
            search.look_into_dips()
        search.look_beside_zeros()
        if not search.whole:
            search.part_narrow_zeros()
        return search.answers(axes, spans)


class _Search:
    """Points of all axes in order, one axis after another: rows of where each lies, the gap between the sides, its case, and the size of the sides."""

    def __init__(self, sides: Sides, axes: Sequence[Axis]) -> None:
        self.sides, self.whole = sides, axes[0].whole
        self.points = np.zeros((4, 0))
        grids = [axis.grid() for axis in axes]
        self.add(np.concatenate(grids), np.repeat(np.arange(len(axes)), [len(g) for g in grids]))

    @property
    def x(self) -> Any:
        return self.points[0]

    @property
    def y(self) -> Any:
        return self.points[1]

    @property
    def case(self) -> Any:
        return self.points[2]

    def add(self, x: Any, case: Any) -> None:
        """Look at further points, all in one call."""
        x, case = (np.ravel(each) for each in np.broadcast_arrays(x, case))
        if not x.size:
            return
        more = np.stack([x, self.gap(x, case), case, self.size])
        points = np.hstack([self.points, more])
        points = points[:, np.lexsort((points[0], points[2]))]
        new = np.any(np.diff(points[[0, 2]], axis=1) != 0, axis=0)
        self.points = points[:, np.r_[True, new]]

    def gap(self, x: Any, case: Any, exactly: bool = False) -> Any:
        """Left side less right side; unless ``exactly``, 0 where floats do not tell them apart."""
        x = np.asarray(x, dtype=float)
        if not x.size:
            return np.zeros(x.shape)
        at = np.broadcast_to(case, x.shape).astype(int)
        left, right = (np.broadcast_to(side, x.shape) for side in self.sides(x, at))
        gap, self.size = left - right, np.maximum(np.abs(left), np.abs(right))
        if not exactly:
            gap = np.where(np.abs(gap) <= SAME * self.size, 0.0, gap)
        return np.where(np.isfinite(self.size), gap, np.nan)

    def pairs(self) -> Any:
        """Whether a point and the next lie on one axis."""
        return self.case[:-1] == self.case[1:]

    def span(self, case: int) -> tuple[float, float] | None:
        """The first and the last point of an axis with a value."""
        x = self.x[(self.case == case) & ~np.isnan(self.y)]
        return (float(x[0]), float(x[-1])) if len(x) else None

    def look_at_edges(self) -> None:
        """Close to where values end: a queue grows beyond every limit before it has no steady state."""

        def edges() -> Any:
            none = np.isnan(self.y)
            return np.flatnonzero(self.pairs() & (none[:-1] != none[1:]))

        for _ in range(TURNS):
            self.add(self.sections(near := edges(), near + 1), self.case[near])
        near = edges()
        shorts = np.array([float(f"{x:.6g}") for x in self.x[near]])
        between = (self.x[near] <= shorts) & (shorts <= self.x[near + 1])
        self.add(shorts[between], self.case[near][between])

    def sections(self, first: Any, last: Any) -> Any:
        """Points that part each stretch between two points evenly, a column a stretch."""
        a, b = self.x[first], self.x[last]
        inner = a + (b - a) * np.linspace(0, 1, SECTIONS + 1)[1:-1, None]
        return np.rint(inner) if self.whole else inner

    def leave_out_fading(self) -> None:
        """Without the points at an end where the sides only come so near each other that floats do not tell them apart."""
        gone = np.zeros(len(self.x), dtype=bool)
        for case in np.unique(self.case):
            known = np.flatnonzero((self.case == case) & ~np.isnan(self.y))
            for along in (known, known[::-1]):
                differs = np.flatnonzero(self.y[along] != 0)
                if not len(differs) or differs[0] == 0:
                    continue
                first = along[differs[:2]]
                near = np.abs(self.y[first] / self.points[3][first])
                if np.all(near < [FADING, 10 * FADING][: len(first)]):
                    gone[along[: differs[0]]] = True
        self.points = self.points[:, ~gone]

    def look_into_dips(self) -> None:
        """Where the gap comes nearest to zero without a change of sides: two crossings may lie in one step, or the sides may touch."""
        near = self.dips()
        around = [np.abs(self.y[i - 1 : i + 2]).max() for i in near]
        starts = list(zip(self.case[near], self.x[near - 1], self.x[near + 1], around, strict=True))
        for _ in range(DEEPEST):
            if not len(near):
                break
            self.add(self.sections(near - 1, near + 1), self.case[near])
            near = self.dips()
        for case, low, high, before in starts:
            inside = np.flatnonzero((self.case == case) & (self.x >= low) & (self.x <= high))
            least = inside[np.argmin(np.abs(self.y[inside]))]
            touches = abs(self.y[least]) <= TOUCH * before and inside[0] < least < inside[-1]
            if touches and len(set(np.sign(self.y[inside]))) == 1:
                (a, b, c), (p, q, r) = self.points[:2, least - 1 : least + 2]
                left, right = (b - a) * (q - r), (b - c) * (q - p)  # of the parabola through them
                off = ((b - a) * left - (b - c) * right) / (2 * (left - right))
                self.put_zero(float(b - off) if left != right else float(b), case)

    def dips(self) -> Any:
        """The points nearest to zero among their neighbours, unless the gap would have to fall many times as far again."""
        side, size, one = np.sign(self.y), np.abs(self.y), self.pairs()
        here, low = size[1:-1], np.maximum(size[:-2], size[2:])
        same = one[:-1] & one[1:] & (side[:-2] * side[1:-1] > 0) & (side[1:-1] * side[2:] > 0)
        least = (here <= np.minimum(size[:-2], size[2:])) & (here < low)
        worth = same & least & (FLAT * (low - here) >= here)
        return np.flatnonzero(worth)[: PLACES * (1 + int(self.case.max(initial=0)))] + 1

    def look_beside_zeros(self) -> None:
        """Just beside the points where the sides meet: in the same step they may meet again."""
        differs = self.y != 0
        alone = np.r_[False, differs[:-1]] | np.r_[differs[1:], False]
        x, case = np.tile(self.points[[0, 2]][:, ~differs & alone], 2)
        beside = x + (1.0 if self.whole else NARROW * x) * np.repeat([-1, 1], len(x) // 2)
        first = np.searchsorted(self.case, case)
        last = np.searchsorted(self.case, case, side="right") - 1
        inside = (self.x[first] <= beside) & (beside <= self.x[last])
        self.add(beside[inside], case[inside])

    def part_narrow_zeros(self) -> None:
        """One point for a stretch of equal sides so narrow that they only come too near each other: the crossing inside it is still to be found,
        and where they touch it is its middle."""
        zero = self.y == 0
        starts = np.flatnonzero(zero & ~np.r_[False, zero[:-1] & self.pairs()])
        ends = np.flatnonzero(zero & ~np.r_[zero[1:] & self.pairs(), False])
        kept = np.ones(len(self.x), dtype=bool)
        further, middles = [], []
        for first, last in zip(starts, ends, strict=True):
            if first == 0 or last + 1 == len(zero) or self.case[first - 1] != self.case[last + 1]:
                continue
            (low, high), case = self.x[[first - 1, last + 1]], self.case[first]
            before, after = np.sign(self.y[[first - 1, last + 1]])
            if high - low > 3 * NARROW * self.x[first] or np.isnan(before * after):
                continue
            between = np.linspace(low, high, 8 * SECTIONS + 1)
            if before * after > 0 and np.any(self.gap(between, case) * before < 0):
                further.append((between, case))  # two crossings, not one touch
                continue
            kept[first : last + 1] = False
            if before * after > 0:
                middles.append(((self.x[first] + self.x[last]) / 2, case))
        self.points = self.points[:, kept]
        for x, case in further:
            self.add(x, case)
        for x, case in middles:
            self.put_zero(x, case)

    def put_zero(self, x: float, case: Any) -> None:
        """Say that the sides are equal at a place: at the short number that it is, if they are there."""
        shorts = (float(f"{x:.{digits}g}") for digits in (6, 9))
        place = next((short for short in shorts if self.gap(short, case) == 0), x)
        self.add(place, case)
        self.y[(self.x == place) & (self.case == case)] = 0.0

    def answers(
        self, axes: Sequence[Axis], spans: Sequence[tuple[float, float] | None]
    ) -> list[Crossings]:
        """The crossings of each axis, or which side stays the larger."""
        changes = np.flatnonzero(self.pairs() & (np.sign(self.y[:-1]) * np.sign(self.y[1:]) < 0))
        a, b, at = self.x[changes], self.x[changes + 1], self.case[changes]
        roots = self.narrowed(a, b, self.y[changes], at)
        poles = np.zeros(len(roots), dtype=bool)
        if not self.whole:  # the gap beside a pole is far larger than around it
            around = np.maximum(np.abs(self.y[changes]), np.abs(self.y[changes + 1]))
            near = [np.abs(self.gap(roots * (1 + step), at)) for step in (-NEAR, NEAR)]
            poles = np.fmin(*near) > POLE_GROWTH * around
        return [
            self.answer(axis, i, spans[i], roots[(at == i) & ~poles], roots[(at == i) & poles])
            for i, axis in enumerate(axes)
        ]

    def answer(
        self, axis: Axis, case: int, searched: tuple[float, float] | None, roots: Any, poles: Any
    ) -> Crossings:
        if searched is None:
            return Crossings("none")
        known = (self.case == case) & ~np.isnan(self.y)
        x, y = self.x[known], self.y[known]
        met = [*roots, *self.zeros(x, y, case)]
        if axis.whole and axis.low <= 0 and x[0] == 1:  # the share of the first step
            none, one = self.gap(np.array([0.0, 1.0]), case)
            met += [none / (none - one)] * bool(none * one < 0)
        if met:
            return Crossings("crosses", tuple(sorted({self.plain(x, case) for x in met})), searched)
        if not y.any():
            return Crossings("identical", (), searched)
        pole = float(f"{poles.min():.12g}") if len(poles) else None
        if pole is not None:
            searched = (searched[0], float(x[x < pole][-1]))
        first = y[y != 0][0]
        return Crossings("lhs_above" if first > 0 else "lhs_below", (), searched, pole)

    def plain(self, x: float, case: int) -> float:
        """The short number that a crossing is, as far as floats tell."""
        short = float(f"{x:.12g}")
        off = abs(short - x) / abs(x)
        alike = off <= ROUNDED or (off <= 10 * SAME and self.gap(short, case) == 0)
        return short if alike else float(x)

    def narrowed(self, a: Any, b: Any, before: Any, case: Any) -> Any:
        """The crossing between each two points, all together: the stretches are parted evenly, and around where a secant meets zero.

        A secant comes so near a smooth crossing that points around it close the bracket within a few turns; a jump takes one turn a
        digit. Of whole numbers it is the first behind the change.
        """
        if not len(a):
            return a
        side, rows = np.sign(before), np.arange(len(a))
        ya, yb = before, self.gap(b, case, exactly=True)
        shares = np.linspace(0, 1, SECTIONS + 1)[1:-1, None]
        beside = np.r_[0, [sign * 10.0**-k for k in (2, 4, 6, 8) for sign in (-1, 1)]][:, None]
        for _ in range(60):
            width = b - a
            if np.all(width <= (1 if self.whole else 4e-16 * np.abs(b))):
                break
            secant = np.where(ya != yb, a + width * ya / (ya - yb), (a + b) / 2)
            points = np.clip(np.concatenate([a + width * shares, secant + width * beside]), a, b)
            points = np.floor(points) if self.whole else points
            points = np.sort(np.where(np.isnan(points), (a + b) / 2, points), axis=0)
            y = self.gap(points, case, exactly=True)
            beyond = (y * side <= 0) & (points > a)
            place = np.where(beyond.any(axis=0), np.argmax(beyond, axis=0), len(points))
            points, y = np.vstack([a, points, b]), np.vstack([ya, y, yb])
            a, b = points[place, rows], points[place + 1, rows]
            ya, yb = y[place, rows], y[place + 1, rows]
            ya, yb = np.where(np.isnan(ya), side, ya), np.where(np.isnan(yb), -side, yb)
            b = np.maximum(a, b)
        return b

    def zeros(self, x: Any, y: Any, case: int) -> list[float]:
        """Points of an axis where the sides are equal; of a stretch of them its ends, but those of the axis only if it is of whole numbers."""
        marks = np.diff(np.r_[0, (y == 0).astype(int), 0]) if np.any(y) else np.zeros(0)
        ends: list[float] = []
        firsts, lasts = np.flatnonzero(marks == 1), np.flatnonzero(marks == -1) - 1
        for first, last in zip(firsts, lasts, strict=True):
            if first == last:
                ends.append(float(x[first]))
                continue
            for inside, outside in ((first, first - 1), (last, last + 1)):
                if 0 <= outside < len(x):
                    ends.append(self.end(x[outside], x[inside], case))
                elif self.whole:
                    ends.append(float(x[inside]))
        return ends

    def end(self, outside: float, inside: float, case: int) -> float:
        """The last point of a stretch of equal sides on the way to a point where they differ."""
        while True:
            points = np.linspace(inside, outside, 4 * SECTIONS + 1)
            points = np.rint(points) if self.whole else points
            differs = np.flatnonzero(self.gap(points, case) != 0)
            place = differs[0] if len(differs) else len(points) - 1
            before, behind = points[max(place - 1, 0)], points[place]
            near = 1 if self.whole else 4e-16 * abs(inside)
            if abs(behind - before) <= near or {before, behind} == {inside, outside}:
                return float(before)
            inside, outside = before, behind
