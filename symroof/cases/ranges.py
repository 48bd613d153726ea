"""Where a quantity can lie when some inputs are ranges.

Every point that is looked at is a scenario of one evaluation: the corners of the box, where a quantity ends that moves one way with every input, and
a grid inside. Interval arithmetic is not used: ``a/(a + b)`` would get a range it never takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.cases.values import NOT_EVERYWHERE, Result
from symroof.errors import NoValue
from symroof.symbolic.evaluation import Array
from symroof.symbolic.expressions import is_label, is_relation, symbol
from symroof.theory.case import Case
from symroof.units import is_whole

Point = Mapping[str, Any]
Axis = Mapping[str, Array]
"""The points of a grid along one of its axes: those of one input, or those at which several inputs are together."""

MOST_STEPS = 4096
"""Steps of a grid, and along one input, as roundings make teeth of a few each: a quarter of them for each other axis, which is at its ends."""


@dataclass
class Ranges:
    """A case together with the ranges of some of its inputs.

    Attributes:
        box: the ends of each ranged input.
        joint: corners at which some inputs are together, and nowhere between: ranges that are one common widening, list prices.
        searched: whether more than the corners of the box may be looked at.

    >>> from symroof.analysis.study import Study
    >>> ranges = Study("llama-3-8b", "h100-sxm", prompt="512..4096", mfu="0.4..0.6").first.ranges
    >>> ranges.answer("kv_cache_bytes"), sorted(ranges.answer("prefill_bound"))
    ((67108864.0, 536870912.0), ['compute'])
    """

    case: Case
    box: Mapping[str, tuple[Any, Any]]
    joint: tuple[Sequence[Point], ...] = ()
    searched: bool = True
    _grids: dict[Any, list[tuple[list[Axis], Case]]] = field(default_factory=dict, init=False)

    def over(self, name: str, result: Result) -> Result:
        """A value with all that it can be over the box; or the flag that it has none in part of it."""
        try:
            kinds, found = self.kinds(name), self.answer(name)
        except NoValue:
            return replace(result, flags=(*result.flags, NOT_EVERYWHERE))
        if not kinds:
            return replace(result, low=found[0], high=found[1])
        told = len(found) > 1 or isinstance(result.value, str)
        return replace(result, possible=tuple(x for x in kinds if x in found) if told else ())

    def kinds(self, name: str) -> tuple[Any, ...]:
        """The labels or truths that a quantity may have; none of a number."""
        tree = symbol(name) if self.case.search(name) else self.case.formula(name)
        if is_relation(tree):
            return True, False
        return tuple(label for label, _ in tree.arms) if is_label(tree) else ()

    def answer(self, name: str) -> Any:
        """The least and the largest value of a number, or what occurs of labels or truths; quantities that the same axes move share their grids.

        Raises:
            NoValue: it has no value at some point of the box that was looked at, or a pole between two points of a grid.
        """
        moved = ([self.case.moves(name, frozenset(axis)) for axis in axes] for axes in self.axes)
        free, joint = (tuple(np.flatnonzero(own).tolist()) for own in moved)
        try:
            if (free, joint) not in self._grids:
                self._grids[free, joint] = list(map(self._scenarios, self._windows(free, joint)))
            tables = [self._values(name, *grid) for grid in self._grids[free, joint]]
        except (OverflowError, RecursionError):
            raise NoValue("a number too large to work with") from None
        own = self.case.value(name)  # the case itself may beat all points
        if kinds := self.kinds(name):
            return frozenset((own, *(kinds[int(place)] for x in tables for place in np.unique(x))))
        for k, i in enumerate(free):  # of what counts things a step leads over a pole
            counted = all((x == np.rint(x)).all() for x in self.axes[0][i].values())
            if not counted and any(has_pole(np.moveaxis(x, k, -1)) for x in tables):
                raise NoValue("division by zero")
        ends = (*(float(x.min()) for x in tables), *(float(x.max()) for x in tables))
        return min(own, *ends), max(own, *ends)

    @cached_property
    def axes(self) -> tuple[list[Axis], list[Axis]]:
        """The inputs between two ends, in steps, all there are of what counts things; and those that are at corners together."""
        free, joint = list[Axis](), list[Axis]()
        together = {name for corners in self.joint for name in corners[0]}
        for name in self.box.keys() - together:
            low, high = map(float, self.box[name])
            counted = self.case.theory.symbol(name).counted
            if counted and is_whole(low) and is_whole(high):
                steps = int(min(MOST_STEPS, high - low))
                free.append({name: np.rint(np.linspace(low, high, steps + 1))})
            else:
                free.append({name: np.linspace(low, high, MOST_STEPS + 1)})
        for each in self.joint:
            joint.append({n: np.array([float(x[n]) for x in each]) for n in each[0]})
        return free, joint

    def _windows(self, free: Sequence[int], joint: Sequence[int]) -> list[list[Axis]]:
        """The grids: one over the whole box, and one along each input, or the corners alone."""
        inputs, together = self.axes
        along, corners = [inputs[i] for i in free], [together[i] for i in joint]
        ends = [_thinned(axis, 1) for axis in along]
        if not self.searched or not along:
            return [[*ends, *corners]]
        steps = max(MOST_STEPS >> 2 * (len(along) - 1), 1)
        thin = [_thinned(axis, steps) for axis in along]
        lines = [[*ends[:k], axis, *ends[k + 1 :], *corners] for k, axis in enumerate(thin)]
        evenly = int(MOST_STEPS ** (1 / len(along)))
        whole = [*(_thinned(axis, evenly) for axis in along), *corners]
        return [whole, *lines] if len(along) > 1 else lines

    def _scenarios(self, window: list[Axis]) -> tuple[list[Axis], Case]:
        """The case at every point of a grid, one axis of its arrays for each of the grid."""
        inputs: dict[str, Any] = {}
        for k, axis in enumerate(window):
            shape = [-1 if i == k else 1 for i in range(len(window))]
            inputs |= {name: points.reshape(shape) for name, points in axis.items()}
        open_case = self.case.without_values(inputs, rounded=True)
        return window, open_case.changed(inputs) if inputs else open_case

    def _values(self, name: str, window: list[Axis], scenarios: Case) -> Array:
        """The values of a quantity at every point of a grid; of a label or a truth its place among the kinds.

        Raises:
            NoValue: it has none at one of them.
        """
        with np.errstate(all="ignore"):
            found = scenarios.value(name)
        kinds = self.kinds(name)
        if kinds[:1] == (True,):
            found = np.subtract(1, found)
        elif kinds and isinstance(found, str):
            found = kinds.index(found)
        values = np.broadcast_to(found, list(map(_size, window))).astype(float)
        lacking = np.argwhere(~np.isfinite(values))
        if len(lacking):  # by itself, the point says why
            places = zip(window, lacking[0], strict=True)
            inside = {n: points[i] for axis, i in places for n, points in axis.items()}
            self.case.changed(inside).value(name)
            raise NoValue("a number too large to work with")
        return values


def _size(axis: Axis) -> int:
    return len(next(iter(axis.values())))


def _thinned(axis: Axis, steps: int) -> Axis:
    """No more than so many steps of an axis, from one end to the other."""
    last = _size(axis) - 1
    places = np.rint(np.linspace(0, last, min(steps, last) + 1)).astype(int)
    return {name: points[places] for name, points in axis.items()}


def has_pole(values: Array) -> bool:
    """Whether values rise towards a change of their sign, on both sides of it.

    >>> has_pole(1 / np.linspace(-1, 2, 12)), has_pole(np.linspace(-1, 2, 12))
    (True, False)
    """
    size, flips = np.abs(values), values[..., 1:-2] * values[..., 2:-1] < 0
    rise = (size[..., 1:-2] > size[..., :-3]) & (size[..., 2:-1] > size[..., 3:])
    return bool((flips & rise).any())
