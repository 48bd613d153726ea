"""A grid: quantities of cases along axes. Labels make the cases; along the other axes each case is evaluated at arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import Output, output
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import PRICE
from symroof.sweep.axes import Axis
from symroof.sweep.sweep_quantities import FITS
from symroof.symbolic.blocks import Array, blocks
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import names
from symroof.theory.case import Case
from symroof.theory.quantities import QUANTITIES

TRUTHS = (False, True)
ENDS = {"low": np.fmin, "high": np.maximum}
"""The ends of what is expected; a high end is known where it is at every corner."""
ROWS = 2**18
"""Points that are computed, and written as rows, together."""


@dataclass(frozen=True)
class Variable:
    """A quantity on the grid, or one end of what is expected of it.

    Attributes:
        dims: the axes it depends on, in the order of the grid.
        words: what an integer stands for where it is no number; ``-1`` is no value.
        everywhere: whether every case has a formula for it.
    """

    quantity: str
    units: str
    long_name: str
    dims: tuple[str, ...]
    words: tuple[Any, ...] = ()
    everywhere: bool = True
    end: str = ""

    @property
    def name(self) -> str:
        return f"{self.quantity}_{self.end}" if self.end else self.quantity

    @property
    def dtype(self) -> Any:
        return np.dtype(np.int8 if self.words else np.float64)

    @property
    def attributes(self) -> dict[str, str]:
        """Unit and meaning."""
        return {"units": self.units or "1", "long_name": self.long_name}


@dataclass(frozen=True)
class Grid:
    """Quantities over axes, those of labels first; ``missing`` says of each case what has no value, and why."""

    title: str
    axes: tuple[Axis, ...]
    quantities: tuple[str, ...]
    cases: tuple[BoundCase, ...]
    missing: tuple[Mapping[str, str], ...]

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes))

    @property
    def points(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def labelled(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.labelled)

    @cached_property
    def moved(self) -> frozenset[str]:
        """The inputs that move along an axis."""
        return frozenset(axis.name for axis in self.axes if not axis.labelled)

    # ---------------------------------------------------------------------------- what there is

    @cached_property
    def _open(self) -> list[Case]:
        """The cases, for any values of the numeric axes."""
        return [each.case.without_values(self.moved, rounded=True) for each in self.cases]

    @cached_property
    def _outputs(self) -> list[dict[str, Output]]:
        """The quantities that have a formula in each case."""
        found: list[dict[str, Output]] = [{} for _ in self.cases]
        for case, known in zip(self._open, found, strict=True):
            for name in self.quantities:
                try:
                    known[name] = output(name, self.moved, case)
                except NoValue:
                    continue
        return found

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The quantities in order; behind times, rates and costs the ends of what is expected."""
        made: list[Variable] = []
        for name in self.quantities:
            own = self._variable(name)
            made.append(own)
            timed = any(each.measured_box and each.case.theory.timed(name) for each in self.cases)
            priced = any(self._prices(i, name) for i in range(len(self.cases)))
            for end in ENDS if (timed or priced) and not own.words else ():
                made.append(replace(own, end=end, long_name=f"{own.long_name}, {end} end"))
        return tuple(made)

    def _prices(self, number: int, name: str) -> tuple[float, ...]:
        """The ends of the list prices that move a quantity, over their median: a cost is in proportion to the price."""
        case = self.cases[number]
        priced = PRICE not in self.moved and case.priced(name)
        return tuple(float(x / case.case.value(PRICE)) for x in case.list_prices if priced)

    def _variable(self, name: str) -> Variable:
        symbol = self.cases[0].case.theory.symbol(name)
        having = [i for i, known in enumerate(self._outputs) if name in known]
        outputs = [self._outputs[i][name] for i in having]
        words: tuple[Any, ...] = tuple(dict.fromkeys(w for each in outputs for w in each.labels))
        if any(each.truth for each in outputs):
            words = TRUTHS
        reached = [self._reached(i, name) if i in having else None for i in range(len(self.cases))]
        along = self.differing(reached) | {
            by
            for by in self.moved
            if any(self._open[i].moves(name, frozenset((by,)), self.moved) for i in having)
        }
        dims = tuple(by for by in self.dims if by in along)
        everywhere = len(having) == len(self.cases)
        return Variable(name, symbol.unit, symbol.meaning, dims, words, everywhere)

    def _reached(self, number: int, name: str) -> Hashable:
        """Every formula that a quantity leads to: cases with the same ones give the same value."""
        case, box = self._open[number], self.cases[number].box
        formulas: dict[str, Hashable] = {}
        left = [name]
        while left:
            at = left.pop()
            if at in formulas or at in self.moved:
                continue
            tree = case.formula_or_name(at, changed=self.moved)
            formulas[at] = (tree, box.get(at))
            conditions = (case.search(at, self.moved), QUANTITIES.get(at))
            left += [*names(tree), *(n for each in conditions if each for n in each.required_names)]
        return frozenset(formulas.items())

    def differing(self, values: Sequence[Hashable]) -> set[str]:
        """The axes of labels along which values differ, one value a case."""
        numbers: dict[Hashable, int] = {}
        cube = np.array([numbers.setdefault(value, len(numbers)) for value in values])
        cube = cube.reshape([len(axis) for axis in self.labelled])
        first = (np.take(cube, [0], axis=k) for k in range(cube.ndim))
        return {a.name for a, at in zip(self.labelled, first, strict=True) if (cube != at).any()}

    # ---------------------------------------------------------------------------- values

    @cached_property
    def groups(self) -> list[list[Variable]]:
        """The variables, those along the same axes together."""
        found: dict[tuple[str, ...], list[Variable]] = {}
        for variable in self.variables:
            found.setdefault(variable.dims, []).append(variable)
        return list(found.values())

    def values(self, group: Sequence[Variable], at: Mapping[str, Any] | None = None) -> list[Array]:
        """The variables of one group, at some places along their axes where ``at`` says so."""
        axes = [axis for axis in self.axes if axis.name in group[0].dims]
        places = {a.name: np.arange(len(a))[(at or {}).get(a.name, slice(None))] for a in axes}
        found = [np.empty(list(map(len, places.values())), each.dtype) for each in group]
        ticks = {a.name: a.array[places[a.name]] for a in axes if not a.labelled}
        along = [places.get(a.name, (0,)) for a in self.labelled]
        sizes = [len(a) for a in self.labelled]
        for corner in itertools.product(*map(enumerate, along)):
            index: list[Any] = [
                i for a, (i, _) in zip(self.labelled, corner, strict=True) if a.name in places
            ]
            case = int(np.ravel_multi_index([place for _, place in corner], sizes)) if sizes else 0
            for block in blocks([len(each) for each in ticks.values()]):
                cut = (each[part] for each, part in zip(ticks.values(), block, strict=True))
                here = dict(zip(ticks, np.ix_(*cut), strict=True))
                for array, value in zip(found, self._at(case, group, here), strict=True):
                    array[(*index, *block)] = value
        return found

    def _at(
        self, number: int, group: Sequence[Variable], ticks: Mapping[str, Array]
    ) -> Iterator[Any]:
        """Variables of one case at arrays of the numeric axes."""
        outputs, points = self._outputs[number], self.cases[number].measured_corners
        here = self._open[number].changed(ticks)
        thin = (-1, *[1] * len(ticks))
        corners = here.changed(
            {by: np.reshape([float(p[by]) for p in points], thin) for by in points[0]}
            if points
            else {}
        )
        for variable in group:
            own = outputs.get(variable.quantity)
            if own is None:
                yield -1 if variable.words else np.nan
                continue
            with np.errstate(all="ignore"):
                value = own.of(here)
                if variable.end:
                    end, spread = ENDS[variable.end], np.asarray(own.of(corners))
                    each = end.reduce(spread, axis=0) if spread.ndim > len(ticks) else spread
                    value = end(value, each)
                    if prices := self._prices(number, variable.quantity):
                        value = value * (min if variable.end == "low" else max)(prices)
            if own.labels and own.labels != variable.words:
                value = np.array([*map(variable.words.index, own.labels), -1])[value]
            yield value

    @cached_property
    def unfit(self) -> int:
        """Points that do not fit in memory."""
        fits = [variable for variable in self.variables if variable.name == FITS]
        if not fits:
            return 0
        dims = fits[0].dims
        sizes = [len(axis) for axis in self.axes if axis.name in dims]
        parts = (dict(zip(dims, block, strict=True)) for block in blocks(sizes, ROWS))
        count = sum(int((self.values(fits, at)[0] == 0).sum()) for at in parts)
        return count * self.points // math.prod(sizes)

    def rows(self) -> Iterator[tuple[tuple[int, ...], dict[str, Array]]]:
        """The points in order, a block at a time: its shape, and each column along its own axes alone."""
        for block in blocks(self.shape, ROWS):
            at = dict(zip(self.dims, block, strict=True))
            found = {axis.name: axis.array[at[axis.name]] for axis in self.axes}
            dims = {name: (name,) for name in self.dims} | {v.name: v.dims for v in self.variables}
            for group in self.groups:
                values = self.values(group, at)
                found |= {v.name: each for v, each in zip(group, values, strict=True)}
            yield (
                tuple(part.stop - part.start for part in block),
                {name: self.spread(found[name], own) for name, own in dims.items()},
            )

    def spread(self, values: Array, dims: Sequence[str]) -> Array:
        """Values along some of the axes, with an axis of one place for each of the others."""
        missing = tuple(k for k, name in enumerate(self.dims) if name not in dims)
        return np.expand_dims(values, missing)
