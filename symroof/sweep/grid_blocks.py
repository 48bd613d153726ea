"""A grid in blocks that follow each other row by row: each is computed whole, and few of them are in memory at once."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.tracking import Track, untracked
from symroof.sweep.plan import LABEL, NUMBER, Plan, Variable
from symroof.symbolic.blocks import Array, blocks

BLOCK = 2**18
"""Points of a block: with a dozen quantities 25 MB, and the compiled function cuts it further to stay in cache."""


@dataclass(frozen=True)
class GridBlock:
    """A part of one case's grid: ``start`` and ``stop`` along each numeric axis."""

    case: int
    start: tuple[int, ...]
    stop: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(b - a for a, b in zip(self.start, self.stop, strict=True))

    @property
    def points(self) -> int:
        return math.prod(self.shape)


class Grid:
    """A plan that is computed block by block.

    A value of a block has the axes that its quantity depends on, in order: float64 with NaN where there is none, or int8
    with -1 where there is none: 0 and 1 for truths, places in ``labels`` for labels.
    """

    def __init__(self, plan: Plan, most: int = BLOCK) -> None:
        self.plan = plan
        places = blocks(tuple(map(len, plan.numeric)), most)
        self.cuts = [
            (tuple(part.start for part in place), tuple(part.stop for part in place))
            for place in places
        ]
        self.together = max(1, most // math.prod(map(len, plan.numeric)))

    def __len__(self) -> int:
        """Batches there are."""
        return -(-len(self.plan.cases) // self.together) * len(self.cuts)

    def batch(self, number: int) -> list[GridBlock]:
        """Blocks that are written together: one of a large grid, or those of several cases of a small one."""
        place, cut = divmod(number, len(self.cuts))
        cases = range(place * self.together, min((place + 1) * self.together, len(self.plan.cases)))
        return [GridBlock(case, *self.cuts[cut]) for case in cases]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return self.plan.variables

    def values(self, block: GridBlock) -> dict[str, Array]:
        """Every quantity of one block."""
        function = self.plan.functions[block.case]
        numeric = self.plan.numeric
        ticks = [
            axis.floats[a:b] for axis, a, b in zip(numeric, block.start, block.stop, strict=True)
        ]
        outputs = dict(zip(function.outputs, function.codes(*np.ix_(*ticks)), strict=True))
        return {
            v.name: self._own(v, outputs.get(v.name), block, function.labels)
            for v in self.variables
        }

    def _own(
        self, variable: Variable, output: Array | None, block: GridBlock, labels: Any
    ) -> Array:
        """Along the axes it depends on, and no more."""
        index = tuple(
            slice(None) if axis.name in variable.dims else 0 for axis in self.plan.numeric
        )
        own = tuple(
            n
            for n, axis in zip(block.shape, self.plan.numeric, strict=True)
            if axis.name in variable.dims
        )
        if output is None:
            return (
                np.full(own, np.nan) if variable.kind == NUMBER else np.full(own, -1, dtype=np.int8)
            )
        values = output[index]
        if variable.kind == LABEL and tuple(labels[variable.name]) != variable.labels:
            places = np.array(
                [*(variable.labels.index(label) for label in labels[variable.name]), -1],
                dtype=np.int8,
            )
            values = places[values]
        return np.array(values, dtype=np.float64 if variable.kind == NUMBER else np.int8)

    def at(self, block: GridBlock) -> tuple[int, ...]:
        """The places of the block's case along the axes of labels."""
        sizes = [len(axis) for axis in self.plan.labelled]
        return tuple(int(i) for i in np.unravel_index(block.case, sizes)) if sizes else ()

    def region(self, variable: Variable, block: GridBlock) -> tuple[slice, ...] | None:
        """Where a block's values of a quantity go in the whole; nothing where another block has brought them."""
        places: list[slice] = []
        labelled = [(i, i + 1) for i in self.at(block)]
        for axis, (a, b) in zip(
            self.plan.axes, [*labelled, *zip(block.start, block.stop, strict=True)], strict=True
        ):
            if axis.name in variable.dims:
                places.append(slice(a, b))
            elif a:
                return None
        return tuple(places)

    def put(self, block: GridBlock, values: Mapping[str, Array], goals: Mapping[str, Any]) -> None:
        """A block's values to where they go in the whole."""
        for variable in self.variables:
            place = self.region(variable, block)
            if place is not None:
                goals[variable.name][place] = values[variable.name].reshape(
                    [part.stop - part.start for part in place]
                )

    def unfit(self, block: GridBlock, values: Mapping[str, Array]) -> int:
        """Points of a block that do not fit in memory."""
        return (
            0
            if "fits" not in values
            else int((values["fits"] == 0).sum()) * block.points // max(1, values["fits"].size)
        )

    def sizes(self, variable: Variable) -> tuple[int, ...]:
        lengths = dict(zip(self.plan.dims, self.plan.shape, strict=True))
        return tuple(lengths[name] for name in variable.dims)

    def rows(self, variable: Variable, block: GridBlock, values: Array) -> Array:
        """A block's values of a quantity for every point, in the order of rows."""
        own = tuple(
            n if axis.name in variable.dims else 1
            for n, axis in zip(block.shape, self.plan.numeric, strict=True)
        )
        return np.broadcast_to(values.reshape(own), block.shape).ravel()

    def __iter__(self) -> Iterator[list[GridBlock]]:
        return (self.batch(number) for number in range(len(self)))


class Filled:
    """The batches of a grid in order, each block with its values; ``unfit`` counts the points so far that do not fit in memory."""

    def __init__(self, grid: Grid, track: Track = untracked) -> None:
        self._grid, self._track = grid, track
        self.unfit = 0

    def __iter__(self) -> Iterator[list[tuple[GridBlock, dict[str, Array]]]]:
        for batch in self._track(self._grid, "sweeping"):
            filled = [(block, self._grid.values(block)) for block in batch]
            self.unfit += sum(self._grid.unfit(block, values) for block, values in filled)
            yield filled


def collected(grid: Grid) -> dict[str, Array]:
    """Every quantity whole, in memory, along the axes it depends on."""
    whole = {
        v.name: np.empty(grid.sizes(v), dtype=np.float64 if v.kind == NUMBER else np.int8)
        for v in grid.variables
    }
    for block in itertools.chain.from_iterable(grid):
        grid.put(block, grid.values(block), whole)
    return whole
