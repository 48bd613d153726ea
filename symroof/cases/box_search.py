"""The largest value of a formula over a box: floats find the place, on a lattice of exact points, in work that is counted."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from symroof.arrays.values import Arrays, Formulas
from symroof.cases.search_budget import MOST_AXES, Budget, NotWorkedOut
from symroof.formula.evaluate import NoValue
from symroof.formula.tree import Tree
from symroof.theory.case import Case

Array = np.ndarray[Any, Any]
Place = tuple[int, ...]
"""A point of the lattice: how many steps along each axis."""
Window = tuple[Place, ...]
"""A grid: the steps that are looked at along each axis."""

STEPS = 2**26
"""Points of the lattice along an axis; along one that counts things, the whole numbers."""
GRID = {1: 256, 2: 64, 3: 16, 4: 8, 5: 4}
"""Steps of the first grid along each axis, by the number of axes."""
ALONE = 4096
"""Steps of the first grid along the only axis, where it counts things: roundings make teeth of a few steps each."""
ZOOM = {1: 128, 2: 16, 3: 8, 4: 4, 5: 4}
"""Steps of the grids around a peak."""
COARSER = 2
"""By how much the grids of formulas that choose a batch are coarser: each of their points takes a search, within which there are others."""
PEAKS = 2
"""Peaks of the first grid that are looked at closely."""
FEW_AXES = 2
"""Axes along which two grids around a corner are one."""
ROUNDS = 60
"""Grids around a peak: each is a fraction as wide as the one before, or beside it."""
OVERHEAD = 200
"""Numbers that NumPy computes in the time of one call."""
EXACTLY = 500
"""Numbers that NumPy computes in the time of one exact operation."""
ONE_CASE = 200_000
"""Numbers that NumPy computes in the time of one case, worked out exactly."""
CORNERS = ""
"""The name of the axis along which inputs move from corner to corner."""
MOST_OPERATIONS = 4000
"""Array operations of a case, beyond which no further formula is searched: models of hundreds of different layers."""
WINDOWS = 24
"""Grids whose values are cached: extremes often lie at the same corner of the box."""


@dataclass(frozen=True)
class Axis:
    """An input between two ends, in steps."""

    low: Fraction
    high: Fraction
    steps: int

    @classmethod
    def of(cls, low: Fraction, high: Fraction, whole: bool) -> Axis:
        """The axis of an input; of one that counts things, a step is one thing."""
        return cls(low, high, int(high - low) if whole else STEPS)

    def at(self, step: int) -> Fraction:
        """The value after so many steps."""
        return self.low + (self.high - self.low) * step / max(self.steps, 1)

    def between(self, first: int, last: int, points: int) -> Place:
        """So many steps from one to another, evenly."""
        return tuple(sorted({first + (last - first) * i // (points - 1) for i in range(points)}))

    def around(self, step: int, span: int, points: int, nearer: bool) -> Place:
        """Steps on both sides of one, itself among them, as far as the axis goes; with ``nearer`` some between the first of them too."""
        if not span:
            return (step,)
        near = span // (points - 1) if nearer else 0
        return tuple(sorted({step, *self._beside(step, span, points), *(self._beside(step, near, points) if near else ())}))

    def _beside(self, step: int, span: int, points: int) -> Place:
        return self.between(max(step - span, 0), min(step + span, self.steps), points)


@dataclass
class BoxSearch:
    """Searches the formulas of a case over a box."""

    case: Case
    axes: Mapping[str, Axis]
    budget: Budget
    corners: Sequence[Mapping[str, Fraction]] = ()
    """Where some more inputs of the box stand, all at once: they are looked at there and nowhere between, on one axis that zooms do not move along."""
    stored: Collection[str] = ()
    """Inputs that stay open in the formulas though they stand at one value here, so that the formulas serve other cases too."""
    like: BoxSearch | None = None
    """The search of a case that differs in the values of a few inputs: formulas that were lowered for it are not lowered again."""
    _values: dict[Window, Arrays] = field(default_factory=dict)
    _spending: Budget = field(default_factory=Budget)

    def highest(self, tree: Tree, sign: int, pinned: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """The point of the box where a formula (``sign`` -1: its negative) is largest; ``pinned`` inputs stay at an end.

        A point where it has no value is as good as any: the exact value says why.

        Raises:
            NotWorkedOut: the budget is spent, or the box has too many axes.
        """
        if len(self._axes) > MOST_AXES:
            raise NotWorkedOut
        self._spending = self.budget.limited()
        before = self._spending.left
        try:
            place = self._highest(tree, sign, tuple(None if name not in pinned else self._end(name, pinned[name]) for name in self._axes))
        except (NoValue, OverflowError, RecursionError):  # a sum of too many terms, numbers that are no floats, formulas of hundreds of layers
            raise NotWorkedOut from None
        finally:
            self.budget.left -= before - max(self._spending.left, 0)
        return self._point(place)

    def _point(self, place: Place) -> dict[str, Fraction]:
        """The inputs at a place."""
        point = {name: axis.at(step) for (name, axis), step in zip(self.axes.items(), place, strict=False)}
        return point | dict(self.corners[place[-1]]) if self.corners else point

    @cached_property
    def _axes(self) -> Mapping[str, Axis]:
        """The axes, the one of corners last; no input is called as that."""
        return {**self.axes, CORNERS: Axis.of(Fraction(0), Fraction(len(self.corners) - 1), True)} if self.corners else self.axes

    def _end(self, name: str, value: Fraction) -> int:
        return 0 if value == self.axes[name].low else self.axes[name].steps

    def _highest(self, tree: Tree, sign: int, pinned: tuple[int | None, ...]) -> Place:
        coarser = 1
        steps = ALONE if len(self._axes) == 1 and all(axis.steps != STEPS for axis in self._axes.values()) else GRID[len(self._axes)]
        grid = tuple(axis.between(0, axis.steps, steps // coarser + 1) for axis in self._axes.values())  # of all formulas of a kind: they share its values
        whole = self._at(tree, grid)
        held = tuple(slice(None) if at is None else slice(0, 1) if at == 0 else slice(-1, None) for at in pinned)
        values, seen = sign * whole[held], tuple(steps if at is None else (at,) for steps, at in zip(grid, pinned, strict=True))
        if (none := self._without_value(tree, sign, values, seen)) is not None:
            return none
        free = sum(at is None for name, at in zip(self._axes, pinned, strict=True) if name != CORNERS)
        ends: list[tuple[float, Place]] = []
        for peak in _peaks(values, len(self.axes)):
            centre = tuple(steps[i] for steps, i in zip(seen, peak, strict=True))
            spans = tuple(_widest(steps) if name != CORNERS else 0 for name, steps in zip(self._axes, seen, strict=True))
            ends.append(self._climbed(tree, sign, centre, spans, ZOOM[max(free, 1)] // coarser + 1, ends))
        return max(ends, key=lambda end: end[0])[1]

    def _climbed(
        self, tree: Tree, sign: int, centre: Place, spans: tuple[int, ...], points: int, climbed: Sequence[tuple[float, Place]]
    ) -> tuple[float, Place]:
        """The highest point near a peak, from grids that get finer around the best point of the one before; it ends beside a higher one that was ``climbed``.

        A corner of the box that nothing exceeds in two grids is the peak; along few axes one grid has the points of both.
        """
        best, stood, both = -np.inf, 0, sum(map(bool, spans)) <= FEW_AXES
        for _ in range(ROUNDS):
            corner = self._corner(centre, spans)
            window = tuple(axis.around(at, span, points, corner and both) for axis, at, span in zip(self._axes.values(), centre, spans, strict=True))
            values = sign * self._at(tree, window)
            if (none := self._without_value(tree, sign, values, window)) is not None:
                return np.inf, none
            inner = np.unravel_index(int(np.argmax(values)), values.shape)
            reached = tuple(steps[i] for steps, i in zip(window, inner, strict=True))
            if values[inner] <= best:
                reached = centre
            best = max(best, float(values[inner]))
            stood = stood + 1 if reached == centre else 0
            if stood and (max(spans) <= 1 or (corner and (both or stood > 1))):
                break
            outside = any(span and abs(a - b) >= span for a, b, span in zip(reached, centre, spans, strict=True))
            centre = reached
            if any(top >= best and all(abs(a - b) <= span for a, b, span in zip(reached, other, spans, strict=True)) for top, other in climbed):
                break
            if not outside:
                spans = tuple(min(span, max(_widest(steps), 1)) if span else 0 for span, steps in zip(spans, window, strict=True))
        return best, centre

    def _corner(self, place: Place, spans: tuple[int, ...]) -> bool:
        return all(not span or at in (0, axis.steps) for axis, at, span in zip(self._axes.values(), place, spans, strict=True))

    # ---------------------------------------------------------------------------------------------------- values

    def _without_value(self, tree: Tree, sign: int, values: Array, window: Window) -> Place | None:
        """A place of the grid where there is no value; None where every place has one, exact ones where floats have none (sums of very many terms)."""
        for flat in np.flatnonzero(np.isnan(values)):
            inner = np.unravel_index(int(flat), values.shape)
            place = tuple(steps[i] for steps, i in zip(window, inner, strict=True))
            self._spending.spend(ONE_CASE)
            try:
                values[inner] = sign * float(self.case.changed(self._point(place)).evaluate(tree))
            except NotWorkedOut:
                raise
            except NoValue:
                return place
        return None

    def _at(self, tree: Tree, window: Window) -> Array:
        """The floats of a formula over a grid, NaN where it has no value."""
        if window not in self._values:
            if len(self._values) >= WINDOWS:
                self._values.pop(next(itertools.islice(self._values, 1, None)))  # the first is the grid of all formulas
            self._values[window] = Arrays(self._builder, self._inputs(window))
        shape = tuple(map(len, window))
        self._spending.spend(int(np.prod(shape)) + OVERHEAD)
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(self._values[window].evaluate(tree), dtype=float), shape)

    def _inputs(self, window: Window) -> dict[str, Array]:
        inputs: dict[str, Array] = {}
        for k, ((name, axis), steps) in enumerate(zip(self._axes.items(), window, strict=True)):
            shape = tuple(-1 if i == k else 1 for i in range(len(window)))
            columns = {own: [self.corners[step][own] for step in steps] for own in self.corners[0]} if name == CORNERS else {name: map(axis.at, steps)}
            inputs |= {own: np.array([float(value) for value in column]).reshape(shape) for own, column in columns.items()}
        return inputs

    @cached_property
    def _builder(self) -> Formulas:
        return Formulas(self.case.freed(self._moved, rounded=True))

    @property
    def _moved(self) -> tuple[str, ...]:
        return (*self.axes, *(self.corners[0] if self.corners else ()))

    def serves(self, tree: Tree) -> bool:
        return False


def _widest(steps: Sequence[int]) -> int:
    """The widest gap between neighbours; 0 for a single step."""
    return max((b - a for a, b in itertools.pairwise(steps)), default=0)


def _peaks(values: Array, along: int) -> Iterator[Place]:
    """The highest places of a grid that none beside them along an axis exceeds; of those beside each other along the first axes the highest alone."""
    peak = np.ones(values.shape, dtype=bool)
    for axis, length in enumerate(values.shape):
        for here, there in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
            if length > 1:
                a, b = (tuple(part if k == axis else slice(None) for k in range(values.ndim)) for part in (here, there))
                peak[a] &= values[a] >= values[b]
    order = np.argsort(np.where(peak, -values, np.inf), axis=None, kind="stable")
    taken: list[Place] = []
    for flat in order[:PEAKS]:
        place = tuple(int(i) for i in np.unravel_index(int(flat), values.shape))
        if peak[place] and not any(all(abs(a - b) <= 1 for a, b in zip(place[:along], other[:along], strict=True)) for other in taken):
            taken.append(place)
            yield place
