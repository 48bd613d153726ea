"""Where a quantity can lie when some inputs are ranges.

Every point that is looked at is a scenario of one evaluation: the corners of the box, where a quantity ends that moves one way with every input, and
a grid inside. Interval arithmetic is not used: ``a/(a + b)`` would get a range it never takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.cases.values import NO_RANGE, NOT_EVERYWHERE, RangeNotFound, Result
from symroof.symbolic.evaluation import Array, NoValue
from symroof.symbolic.expressions import Expr, is_label, is_relation, operator_of, symbol
from symroof.symbolic.kernels import holds
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import named
from symroof.theory.theory import UnknownName
from symroof.units import is_whole

Point = Mapping[str, Any]
Window = tuple[Array, ...]
"""A grid: the points that are looked at along each axis."""

MOST_AXES = 5
"""Ranges of a box that has a grid; of more only corners are looked at."""
MOST_CORNERS = 4096
"""The most corners that are looked at."""
GRID = {1: 256, 2: 48, 3: 12, 4: 6, 5: 3}
"""Steps of the grid along each axis, by the number of axes."""
ALONG = 4096
"""Steps along one input that counts things: roundings make teeth of a few each. A quarter of them for each other axis, which is at its ends."""
CHOOSING = frozenset(
    name
    for name, quantity in QUANTITIES.items()
    if quantity.search and quantity.search.kind == "largest"
)
COARSER = 4
"""How many times fewer steps a grid has for quantities that follow a whole number that is searched for at each point."""


@dataclass(frozen=True, eq=False)
class BoxAxis:
    """An input between its two ends, with so many ``steps`` if it counts things; or (``joint``) inputs that are at one of a few corners together, and nowhere between."""

    ends: Sequence[Point]
    steps: float = math.inf
    joint: bool = False

    def points(self, most: int) -> Array:
        """So many steps from one end to the other, evenly, or all there are; of joint corners every place."""
        if self.joint:
            return np.arange(len(self.ends))
        first, last = (float(value) for end in self.ends for value in end.values())
        points = np.linspace(first, last, int(min(most, self.steps)) + 1)
        return points if self.steps == math.inf else np.rint(points)

    def at(self, points: Any) -> dict[str, Any]:
        """The inputs at some of them."""
        if not self.joint:
            return dict.fromkeys(self.ends[0], points)
        return {n: np.array([float(end[n]) for end in self.ends])[points] for n in self.ends[0]}


@dataclass
class Ranges:
    """A case together with the ranges of some of its inputs.

    Attributes:
        box: the ends of each ranged input.
        joint: corners at which some inputs are together, and nowhere between: ranges that are one common widening, list prices.
        searched: whether more than the corners of the box may be looked at.

    >>> from symroof.analysis.study import Study
    >>> ranges = Study("llama-3-8b", "h100-sxm", prompt="512..4096", mfu="0.4..0.6").first.ranges
    >>> ranges.bounds("kv_cache_bytes"), ranges.labels("prefill_bound")
    ((67108864.0, 536870912.0), ('compute',))
    """

    case: Case
    box: Mapping[str, tuple[Any, Any]]
    joint: tuple[Sequence[Point], ...] = ()
    searched: bool = True
    _grids: dict[Any, list[tuple[Window, Case]]] = field(default_factory=dict, init=False)

    def over(self, name: str, result: Result) -> Result:
        """A value with all that it can be over the box; or the flag of why that is not known."""
        try:
            formula = symbol(name) if self.case.search(name) else self.case.formula(name)
            if is_relation(formula):
                truths = self.truths(formula)
                return replace(result, possible=truths if len(truths) > 1 else ())
            if is_label(formula):
                return replace(result, possible=self.labels(name))
            low, high = self.bounds(name)
        except NoValue as error:
            flag = NO_RANGE if isinstance(error, RangeNotFound) else NOT_EVERYWHERE
            return replace(result, flags=(*result.flags, flag))
        return replace(result, low=low, high=high)

    def bounds(self, name: str) -> tuple[float, float]:
        """The least and the largest value of a number over the box.

        Raises:
            RangeNotFound: it takes too long to find them.
            NoValue: it has no value at some point of the box that was looked at.
        """
        found: tuple[float, float] = self._answer(name)
        return found

    def truths(self, relation: Expr) -> tuple[bool, ...]:
        """Every outcome a relation takes over the box; errors are those of :meth:`bounds`."""
        ends = self.bounds(named(relation.lhs - relation.rhs))
        outcomes = {bool(holds(operator_of(relation), end, 0.0)) for end in ends}
        return tuple(sorted(outcomes, reverse=True))

    def labels(self, name: str) -> tuple[str, ...]:
        """Every label of a quantity at the places looked at, in declared order; errors are those of :meth:`bounds`."""
        answer: frozenset[str] = self._answer(name)
        return tuple(label for label in self.labelled(name) if label in answer)

    def labelled(self, name: str) -> tuple[str, ...]:
        """The labels that a quantity may have; none of a number."""
        if self.case.search(name) or not is_label(tree := self.case.formula(name)):
            return ()
        return tuple(label for label, _ in tree.arms)

    def _answer(self, name: str) -> Any:
        """The least and the largest value of a number, or the labels that occur; quantities that the same axes move share their grids.

        Raises:
            NoValue: as :meth:`bounds`; it has a pole between two points of a grid.
        """
        axes = tuple(x for x in self.axes if self.case.moves(name, frozenset(x.ends[0])))
        key = axes, CHOOSING.isdisjoint(self.case.dependencies(name))
        try:
            if key not in self._grids:
                self._grids[key] = [(x, self.scenarios(axes, x)) for x in self._windows(*key)]
            tables = [self._values(name, axes, *grid) for grid in self._grids[key]]
        except (OverflowError, RecursionError):
            raise RangeNotFound from None
        own = self.case.value(name)  # the case itself may beat all points
        if labels := self.labelled(name):
            return frozenset((own, *(labels[int(code)] for x in tables for code in np.unique(x))))
        fine = [k for k, axis in enumerate(axes) if axis.steps == math.inf]
        if any(has_pole(np.moveaxis(values, k, -1)) for values in tables for k in fine):
            raise NoValue("division by zero")
        ends = (*(float(x.min()) for x in tables), *(float(x.max()) for x in tables))
        return min(own, *ends), max(own, *ends)

    @cached_property
    def axes(self) -> tuple[BoxAxis, ...]:
        """The axes of the box; inputs that are at corners together are one."""
        axes, together = [], {name for corners in self.joint for name in corners[0]}
        for name, (low, high) in self.box.items():
            if name in together:
                continue
            counted = False
            with suppress(UnknownName):
                counted = self.case.theory.symbol(name).counted
            whole = counted and is_whole(low) and is_whole(high)
            steps = float(high - low) if whole else math.inf
            axes.append(BoxAxis(({name: low}, {name: high}), steps))
        return (*axes, *(BoxAxis(each, len(each) - 1, joint=True) for each in self.joint))

    @cached_property
    def corners_alone(self) -> bool:
        """Whether nothing but corners is looked at."""
        return not self.searched or sum(not axis.joint for axis in self.axes) > MOST_AXES

    def _windows(self, axes: tuple[BoxAxis, ...], fine: bool) -> list[Window]:
        """The grids: one over the whole box, and one along each input that counts things."""
        ends = tuple(axis.points(1) for axis in axes)
        free = sum(not axis.joint for axis in axes)
        if self.corners_alone or not free:
            if np.prod([len(points) for points in ends]) > MOST_CORNERS:
                raise RangeNotFound
            return [ends]
        coarser = 1 if fine else COARSER
        steps, along = max(GRID[free] // coarser, 2), (ALONG >> 2 * (free - 1)) // coarser
        lines = [
            (*ends[:k], axis.points(along), *ends[k + 1 :])
            for k, axis in enumerate(axes)
            if steps < axis.steps < math.inf and not axis.joint
        ]
        whole = tuple(axis.points(steps) for axis in axes)
        return lines if free == 1 and lines else [whole, *lines]

    def scenarios(self, axes: tuple[BoxAxis, ...], window: Window) -> Case:
        """The case at every point of a grid, one axis of its arrays for each of the grid."""
        inputs: dict[str, Any] = {}
        for k, (axis, points) in enumerate(zip(axes, window, strict=True)):
            inputs |= axis.at(points.reshape([-1 if i == k else 1 for i in range(len(axes))]))
        open_case = self.case.without_values(inputs, rounded=True)
        return open_case.changed(inputs) if inputs else open_case

    def _values(
        self, name: str, axes: tuple[BoxAxis, ...], window: Window, scenarios: Case
    ) -> Array:
        """The values of a quantity at every point of a grid; of a label its place.

        Raises:
            NoValue: it has none at one of them.
        """
        with np.errstate(all="ignore"):
            found = scenarios.value(name)
        if isinstance(found, str):
            found = self.labelled(name).index(found)
        values = np.broadcast_to(found, [len(points) for points in window]).astype(float)
        lacking = np.argwhere(~np.isfinite(values))
        if len(lacking):  # by itself, the point says why
            places = zip(axes, window, lacking[0], strict=True)
            inside = [axis.at(points[i]) for axis, points, i in places]
            self.case.changed({n: x for part in inside for n, x in part.items()}).value(name)
            raise NoValue("a number too large to work with")
        return values


def has_pole(values: Array) -> bool:
    """Whether values rise towards a change of their sign, on both sides of it.

    >>> has_pole(1 / np.linspace(-1, 2, 12)), has_pole(np.linspace(-1, 2, 12))
    (True, False)
    """
    size, flips = np.abs(values), values[..., 1:-2] * values[..., 2:-1] < 0
    rise = (size[..., 1:-2] > size[..., :-3]) & (size[..., 2:-1] > size[..., 3:])
    return bool((flips & rise).any())
