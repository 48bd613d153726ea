"""A grid: quantities of cases along axes. Labels make the cases; along the other axes each case is evaluated at arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import Output, output
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import PRICE
from symroof.sweep.axes import Axis
from symroof.symbolic.evaluation import Array, NoValue, blocks
from symroof.theory.case import Case

FITS = "fits"
ENDS = {"low": np.fmin, "high": np.maximum}
"""The ends of what is expected; a high end is known where it is at every corner."""


@dataclass(frozen=True)
class Variable:
    """A quantity on the grid, or one end of what is expected of it.

    Attributes:
        dtype: of its values: floats, truths, or texts, which are empty where there is no value.
    """

    quantity: str
    units: str
    long_name: str
    dtype: np.dtype[Any]
    end: str = ""

    @property
    def name(self) -> str:
        return f"{self.quantity}_{self.end}" if self.end else self.quantity

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
            for end in ENDS if (timed or priced) and own.dtype == float else ():
                made.append(replace(own, end=end, long_name=f"{own.long_name}, {end} end"))
        return tuple(made)

    def _prices(self, number: int, name: str) -> tuple[float, ...]:
        """The ends of the list prices that move a quantity, over their median: a cost is in proportion to the price."""
        case = self.cases[number]
        priced = PRICE not in self.moved and case.priced(name)
        return tuple(float(x / case.case.value(PRICE)) for x in case.list_prices if priced)

    def _variable(self, name: str) -> Variable:
        """A truth that some cases do not have is a text, as a label is: only texts can say that there is no value."""
        symbol = self.cases[0].case.theory.symbol(name)
        having = [known[name] for known in self._outputs if name in known]
        truth, words = any(each.truth for each in having), {w for x in having for w in x.labels}
        dtype = np.dtype(bool if truth else float)
        if words or (truth and len(having) < len(self.cases)):
            dtype = np.array([*words, "false"]).dtype
        return Variable(name, symbol.unit, symbol.meaning, dtype)

    # ---------------------------------------------------------------------------- values

    def blocks(self) -> Iterator[dict[str, Array]]:
        """The points in order, a block at a time: each axis and variable at all of its points."""
        for place in blocks(self.shape):
            parts = (axis.values[part] for axis, part in zip(self.axes, place, strict=True))
            columns = np.meshgrid(*parts, indexing="ij")
            names = (*self.dims, *(variable.name for variable in self.variables))
            yield dict(zip(names, (*columns, *self.at(place)), strict=True))

    def whole(self) -> list[Array]:
        """Every variable at all points."""
        found = [np.empty(self.shape, variable.dtype) for variable in self.variables]
        for place in blocks(self.shape):
            for array, values in zip(found, self.at(place), strict=True):
                array[place] = values
        return found

    def at(self, place: Sequence[slice], only: Sequence[Variable] = ()) -> list[Array]:
        """The variables at the points of a block."""
        asked, count = only or self.variables, len(self.labelled)
        ranges = [range(length)[part] for length, part in zip(self.shape, place, strict=True)]
        found = [np.empty([*map(len, ranges)], each.dtype) for each in asked]
        moved = [axis.values[part] for axis, part in zip(self.axes, place, strict=True)][count:]
        ticks = dict(zip(self.dims[count:], np.ix_(*moved), strict=True))
        for corner in np.ndindex(*map(len, ranges[:count])):
            labels = [each[i] for each, i in zip(ranges, corner, strict=False)]
            case = int(np.ravel_multi_index(labels, self.shape[:count])) if count else 0
            for array, value in zip(found, self._at(case, asked, ticks), strict=True):
                array[corner] = value
        return found

    def _at(
        self, number: int, asked: Sequence[Variable], ticks: Mapping[str, Array]
    ) -> Iterator[Any]:
        """Variables of one case at arrays of the numeric axes."""
        outputs, points = self._outputs[number], self.cases[number].measured_corners
        here = self._open[number].changed(ticks)
        thin = (-1, *[1] * len(ticks))
        ends = {by: np.reshape([float(p[by]) for p in points], thin) for by in (points or [{}])[0]}
        corners = here.changed(ends)
        for variable in asked:
            own = outputs.get(variable.quantity)
            if own is None:
                yield "" if variable.dtype.kind == "U" else np.nan
                continue
            with np.errstate(all="ignore"):
                value = own.of(here)
                if variable.end:
                    end, spread = ENDS[variable.end], np.asarray(own.of(corners))
                    each = end.reduce(spread, axis=0) if spread.ndim > len(ticks) else spread
                    value = end(value, each)
                    if prices := self._prices(number, variable.quantity):
                        value = value * (min if variable.end == "low" else max)(prices)
            if own.truth and variable.dtype.kind == "U":
                value = np.where(value, "true", "false")
            yield value

    @cached_property
    def unfit(self) -> int:
        """Points that do not fit in memory."""
        fits = [variable for variable in self.variables if variable.name == FITS]
        if not fits:
            return 0
        no = False if fits[0].dtype == bool else "false"
        return sum(int((self.at(place, fits)[0] == no).sum()) for place in blocks(self.shape))
