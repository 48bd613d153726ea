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
        search.settle_zeros()
        return search.answers(axes, spans)


class _Search:
    """Points of all axes in order, one axis after another: rows of where each lies, the gap between the sides, its case, and the size of the sides."""

    def __init__(self, sides: Sides, axes: Sequence[Axis]) -> None:
        self.sides, self.whole = sides, axes[0].whole
        self.points = np.zeros((4, 0))
        self.met: list[tuple[float, Any]] = []  # crossings by value and case
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
                place = self.short(float(self.x[least]), case)
                self.add(place, case)
                self.y[(self.x == place) & (self.case == case)] = 0.0

    def dips(self) -> Any:
        """The points nearest to zero among their neighbours, unless the gap would have to fall many times as far again."""
        side, size, one = np.sign(self.y), np.abs(self.y), self.pairs()
        here, low = size[1:-1], np.maximum(size[:-2], size[2:])
        same = one[:-1] & one[1:] & (side[:-2] * side[1:-1] > 0) & (side[1:-1] * side[2:] > 0)
        least = (here <= np.minimum(size[:-2], size[2:])) & (here < low)
        worth = same & least & (FLAT * (low - here) >= here)
        return np.flatnonzero(worth)[: PLACES * (1 + int(self.case.max(initial=0)))] + 1

    def settle_zeros(self) -> None:
        """What the points mean at which the sides are equal. A stretch of them is met at its ends; one so narrow that the sides only come too near
        each other is a crossing, which is still to be found, or its middle where they touch."""
        zero, one = self.y == 0, self.pairs()
        first = np.flatnonzero(zero & ~np.r_[False, zero[:-1] & one])
        last = np.flatnonzero(zero & ~np.r_[zero[1:] & one, False])
        inside, beside = np.r_[first, last], np.r_[first - 1, last + 1]
        outside = np.clip(beside, 0, len(zero) - 1)
        known = (outside == beside) & (self.case[outside] == self.case[inside])
        known &= ~np.isnan(self.y[outside])

        def differs(x: Any, case: Any) -> Any:
            return np.where(self.gap(x, case) != 0, 1.0, -1.0)

        at, ends, beyond = self.case[inside], self.x[inside], np.full(len(inside), np.nan)
        ends[known], beyond[known] = self.parted(
            ends[known], self.x[outside[known]], at[known], differs
        )
        (low, high), (before, behind), case = (
            np.split(ends, 2),
            np.split(beyond, 2),
            self.case[first],
        )
        narrow = ~np.isnan(before + behind) & (high - low <= NARROW * low) & (not self.whole)
        met = (known | self.whole | np.tile(first == last, 2)) & ~np.tile(narrow, 2)
        self.met = list(zip(ends[met], at[met], strict=True))
        touch = narrow.copy()
        touch[narrow] = (
            self.gap(before[narrow], case[narrow]) * self.gap(behind[narrow], case[narrow]) > 0
        )
        for x, own in zip((low[touch] + high[touch]) / 2, case[touch], strict=True):
            self.met.append((self.short(x, own), own))
        kept = ~zero
        kept[zero] = ~np.repeat(narrow, last - first + 1)
        self.points = self.points[:, kept]
        self.add(np.r_[before[narrow], behind[narrow]], np.tile(case[narrow], 2))

    def short(self, x: float, case: Any) -> float:
        """The short number that a place is, if the sides are equal there."""
        shorts = (float(f"{x:.{digits}g}") for digits in (6, 9))
        return next((short for short in shorts if self.gap(short, case) == 0), x)

    def answers(
        self, axes: Sequence[Axis], spans: Sequence[tuple[float, float] | None]
    ) -> list[Crossings]:
        """The crossings of each axis, or which side stays the larger."""
        changes = np.flatnonzero(self.pairs() & (np.sign(self.y[:-1]) * np.sign(self.y[1:]) < 0))
        a, b, at = self.x[changes], self.x[changes + 1], self.case[changes]
        side = np.sign(self.y[changes])

        def passed(x: Any, case: Any) -> Any:
            return -self.gap(x, case, exactly=True) * side

        _, roots = self.parted(a, b, at, passed)
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
        met = [*roots, *(x for x, own in self.met if own == case)] if np.any(y) else []
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

    def parted(self, a: Any, b: Any, case: Any, value: Callable[[Any, Any], Any]) -> Any:
        """The last place where a value is below zero and the first where it is not, between each two points, all together.

        The stretches are parted evenly, and around where a secant meets zero. It comes so near a smooth crossing that points around it close the
        bracket within a few turns; a jump takes one turn a digit.
        """
        rows, shares = np.arange(len(a)), np.linspace(0, 1, SECTIONS + 1)[1:-1, None]
        beside = np.r_[0, [sign * 10.0**-k for k in (2, 4, 6, 8) for sign in (-1, 1)]][:, None]
        before, behind = value(a, case), value(b, case)
        while np.any(np.abs(b - a) > (1 if self.whole else 4e-16 * np.abs(b))):
            secant = a + (b - a) * before / (before - behind)
            points = np.vstack([a + (b - a) * shares, secant + (b - a) * beside])
            points = np.where(
                np.isnan(points), (a + b) / 2, np.rint(points) if self.whole else points
            )
            points = np.clip(points, np.minimum(a, b), np.maximum(a, b))
            points = np.take_along_axis(points, np.argsort(np.abs(points - a), axis=0), axis=0)
            values = np.vstack([before, value(points, case), behind])
            points, beyond = np.vstack([a, points, b]), values >= 0
            beyond[0], beyond[-1] = False, True
            place = np.argmax(beyond, axis=0)
            a, b, before, behind = (
                each[at, rows] for each in (points, values) for at in (place - 1, place)
            )
        return a, b
