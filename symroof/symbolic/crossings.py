"""The one search: where two sides meet along an axis, for several cases at once.

The sides are looked at on a logarithmic grid, then between the points where they change over, come near each other, or begin to have a value. What is
found is looked at from both sides: a pole is no crossing, a jump is one. The search of a case asks for the sides at some points and waits: what all cases
ask for is computed in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
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
Asks = Generator[Any, tuple[Any, Any], Any]
"""A part of a search: it yields points, is sent both sides there, and returns what it has found."""


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

    def grid(self) -> Any:
        """Points evenly spaced in their logarithm, both ends among them, and the first whole numbers of what is whole."""
        least = LEAST_COUNTED if self.counted else LEAST
        start = 1.0 if self.whole else max(self.low, least)
        end = max(self.high or (MOST_COUNTED if self.counted or self.whole else MOST), start)
        points = np.geomspace(start, end, max(2, round(PER_DECADE * np.log10(end / start))) + 1)
        points[-1] = end
        if not self.whole:
            return points
        first = np.arange(max(np.ceil(self.low), 1), min(end, EVERY) + 1)
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
        searches = [_Search(axis).crossings() for axis in axes]
        asked, found = {i: next(search) for i, search in enumerate(searches)}, {}
        while asked:
            x, lengths = np.concatenate([*asked.values()]), [*map(len, asked.values())]
            both = np.broadcast_arrays(*sides(x, np.repeat([*asked], lengths)), x)[:2]
            parts = zip(*(np.split(side, np.cumsum(lengths)[:-1]) for side in both), strict=True)
            for i, answer in zip([*asked], parts, strict=True):
                try:
                    asked[i] = searches[i].send(answer)
                except StopIteration as end:
                    found[i] = end.value
                    del asked[i]
    return [found[i] for i in range(len(axes))]


class _Search:
    """Points of an axis in order: where each lies, and the gap between the sides."""

    def __init__(self, axis: Axis) -> None:
        self.axis, self.whole = axis, axis.whole
        self.x = self.y = np.zeros(0)

    def crossings(self) -> Asks:
        """The crossings, or which side stays the larger."""
        yield from self.add(self.axis.grid())
        yield from self.look_at_edges()
        known = self.x[~np.isnan(self.y)]
        if not len(known):
            return Crossings("none")
        yield from self.leave_out_fading()
        if not self.whole:
            yield from self.look_into_dips()
        met = yield from self.settle_zeros()
        return (yield from self.answer(met, (float(known[0]), float(known[-1]))))

    def add(self, x: Any) -> Asks:
        """Look at further points."""
        x = np.setdiff1d(x, self.x)
        y = yield from self.gap(x)
        order = np.argsort(np.r_[self.x, x])
        self.x, self.y = np.r_[self.x, x][order], np.r_[self.y, y][order]

    def look(self, x: Any) -> Asks:
        """Left side less right side, without a value where one has none, and the size of the larger."""
        x = np.asarray(x, dtype=float)
        left, right = (yield x.ravel()) if x.size else (x, x)
        size = np.maximum(np.abs(left), np.abs(right))
        gap = np.where(np.isfinite(size), left - right, np.nan)
        return gap.reshape(x.shape), size.reshape(x.shape)

    def gap(self, x: Any) -> Asks:
        """The same, 0 where floats do not tell the sides apart."""
        gap, size = yield from self.look(x)
        return np.where(np.abs(gap) <= SAME * size, 0.0, gap)

    def look_at_edges(self) -> Asks:
        """Close to where values end: a queue grows beyond every limit before it has no steady state."""
        for _ in range(TURNS):
            near = np.flatnonzero(np.diff(np.isnan(self.y)))
            yield from self.add(self.sections(near, near + 1))
        near = np.flatnonzero(np.diff(np.isnan(self.y)))
        shorts = np.array([float(f"{x:.6g}") for x in self.x[near]])
        yield from self.add(shorts[(self.x[near] <= shorts) & (shorts <= self.x[near + 1])])

    def sections(self, first: Any, last: Any) -> Any:
        """Points that part each stretch between two points evenly, a column a stretch."""
        a, b = self.x[first], self.x[last]
        inner = a + (b - a) * np.linspace(0, 1, SECTIONS + 1)[1:-1, None]
        return np.rint(inner) if self.whole else inner

    def leave_out_fading(self) -> Asks:
        """Without the points at an end where the sides only come so near each other that floats do not tell them apart."""
        kept, known = np.ones(len(self.x), dtype=bool), np.flatnonzero(~np.isnan(self.y))
        for along in (known, known[::-1]):
            differs = np.flatnonzero(self.y[along] != 0)[:2]
            gap, size = yield from self.look(self.x[along[differs]])
            if len(gap) and np.all(np.abs(gap / size) < [FADING, 10 * FADING][: len(gap)]):
                kept[along[: differs[0]]] = False
        self.x, self.y = self.x[kept], self.y[kept]

    def look_into_dips(self) -> Asks:
        """Where the gap comes nearest to zero without a change of sides: two crossings may lie in one step, or the sides may touch."""
        near = self.dips()
        around = [np.abs(self.y[i - 1 : i + 2]).max() for i in near]
        starts = list(zip(self.x[near - 1], self.x[near + 1], around, strict=True))
        for _ in range(DEEPEST):
            yield from self.add(self.sections(near - 1, near + 1))
            near = self.dips()
        for low, high, before in starts:
            inside = np.flatnonzero((self.x >= low) & (self.x <= high))
            least = inside[np.argmin(np.abs(self.y[inside]))]
            touches = abs(self.y[least]) <= TOUCH * before and inside[0] < least < inside[-1]
            if touches and len(set(np.sign(self.y[inside]))) == 1:
                place = yield from self.short(float(self.x[least]))
                yield from self.add([place])
                self.y[self.x == place] = 0.0

    def dips(self) -> Any:
        """The points nearest to zero among their neighbours, unless the gap would have to fall many times as far again."""
        side, size = np.sign(self.y), np.abs(self.y)
        here, low = size[1:-1], np.maximum(size[:-2], size[2:])
        same = (side[:-2] * side[1:-1] > 0) & (side[1:-1] * side[2:] > 0)
        least = (here <= np.minimum(size[:-2], size[2:])) & (here < low)
        return np.flatnonzero(same & least & (FLAT * (low - here) >= here))[:PLACES] + 1

    def settle_zeros(self) -> Asks:
        """The places at which the sides are equal. A stretch of them is met at its ends; one so narrow that the sides only come too near each other is
        a crossing, which is still to be found, or its middle where they touch."""
        zero, kept = self.y == 0, np.ones(len(self.y), dtype=bool)
        met, beside = list[float](), list[float]()
        edges = np.flatnonzero(np.diff(np.r_[False, zero, False])).reshape(-1, 2) - [0, 1]
        outside = np.clip(edges + np.array([-1, 1]), 0, len(zero) - 1)
        known = ~zero[outside] & ~np.isnan(self.y[outside])

        def differs(x: Any) -> Asks:
            gap = yield from self.gap(x)
            return np.where(gap != 0, 1.0, -1.0)

        ends, beyond = self.x[edges], np.full(edges.shape, np.nan)
        ends[known], beyond[known] = yield from self.parted(
            ends[known], self.x[outside[known]], differs
        )
        for (first, last), (low, high), around, own in zip(edges, ends, beyond, known, strict=True):
            if self.whole or not own.all() or high - low > NARROW * low:
                single = self.whole or first == last
                met += [x for x, is_end in zip((low, high), own, strict=True) if is_end or single]
                continue
            before, behind = yield from self.gap(around)
            if before * behind > 0:
                met.append((yield from self.short((low + high) / 2)))
            kept[first : last + 1] = False
            beside += [*around]
        self.x, self.y = self.x[kept], self.y[kept]
        yield from self.add(beside)
        return met

    def short(self, x: float) -> Asks:
        """The short number that a place is, if the sides are equal there."""
        shorts = np.array([float(f"{x:.{digits}g}") for digits in (6, 9)])
        gap = yield from self.gap(shorts)
        return next(iter(shorts[gap == 0].tolist()), x)

    def answer(self, met: list[float], searched: tuple[float, float]) -> Asks:
        """What is found at the changes of sides and at the places at which they are equal."""
        changes = np.flatnonzero(np.sign(self.y[:-1]) * np.sign(self.y[1:]) < 0)
        side = np.sign(self.y[changes])

        def passed(x: Any) -> Asks:
            gap, _ = yield from self.look(x)
            return -gap * side

        _, roots = yield from self.parted(self.x[changes], self.x[changes + 1], passed)
        poles = np.zeros(len(roots), dtype=bool)
        if not self.whole:  # the gap beside a pole is far larger than around it
            around = np.maximum(np.abs(self.y[changes]), np.abs(self.y[changes + 1]))
            near = yield from self.gap(np.stack([roots * (1 - NEAR), roots * (1 + NEAR)]))
            poles = np.fmin(*np.abs(near)) > POLE_GROWTH * around
        known = ~np.isnan(self.y)
        x, y = self.x[known], self.y[known]
        if not y.any():
            return Crossings("identical", (), searched)
        met = [*met, *roots[~poles]]
        if self.whole and self.axis.low <= 0 and x[0] == 1:  # the share of the first step
            none, one = yield from self.gap([0.0, 1.0])
            met += [none / (none - one)] * bool(none * one < 0)
        if met:
            plain = yield from self.plain(np.unique(met))
            return Crossings("crosses", tuple(sorted({*plain})), searched)
        pole = float(f"{roots.min():.12g}") if len(roots) else None
        if pole is not None:
            searched = (searched[0], float(x[x < pole][-1]))
        first = y[y != 0][0]
        return Crossings("lhs_above" if first > 0 else "lhs_below", (), searched, pole)

    def plain(self, x: Any) -> Asks:
        """The short numbers that crossings are, as far as floats tell."""
        short = np.array([float(f"{each:.12g}") for each in x])
        off, gap = np.abs(short - x) / np.abs(x), (yield from self.gap(short))
        alike = (off <= ROUNDED) | ((off <= 10 * SAME) & (gap == 0))
        return np.where(alike, short, x).tolist()

    def parted(self, a: Any, b: Any, value: Callable[[Any], Asks]) -> Asks:
        """The last place where a value is below zero and the first where it is not, between each two points, all together.

        The stretches are parted evenly, and around where a secant meets zero. It comes so near a smooth crossing that points around it close the
        bracket within a few turns; a jump takes one turn a digit.
        """
        rows, shares = np.arange(len(a)), np.linspace(0, 1, SECTIONS + 1)[1:-1, None]
        beside = np.r_[0, [sign * 10.0**-k for k in (2, 4, 6, 8) for sign in (-1, 1)]][:, None]
        before, behind = yield from value(np.stack([a, b]))
        while np.any(np.abs(b - a) > (1 if self.whole else 4e-16 * np.abs(b))):
            secant = a + (b - a) * before / (before - behind)
            points = np.vstack([a + (b - a) * shares, secant + (b - a) * beside])
            points = np.where(
                np.isnan(points), (a + b) / 2, np.rint(points) if self.whole else points
            )
            points = np.clip(points, np.minimum(a, b), np.maximum(a, b))
            points = np.take_along_axis(points, np.argsort(np.abs(points - a), axis=0), axis=0)
            inside = yield from value(points)
            values = np.vstack([before, inside, behind])
            points, beyond = np.vstack([a, points, b]), values >= 0
            beyond[0], beyond[-1] = False, True
            place = np.argmax(beyond, axis=0)
            a, b, before, behind = (
                each[at, rows] for each in (points, values) for at in (place - 1, place)
            )
        return a, b
