"""How the points of a call lie along three axes: outer, rows, columns, in the order they have in memory.

>>> import numpy as np
>>> batch, prompt, tp = np.arange(1, 513)[:, None, None], np.arange(1, 1025)[None, :, None], np.array([1, 2, 4, 8])
>>> Layout.of([batch, prompt, tp]).sizes        # four columns are too few: prompt and tp are columns together
(1, 512, 4096)
>>> Layout.of([np.zeros((30, 20, 90)), np.ones(90)]).sizes
(1, 600, 90)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

BLOCK = 32_768
"""Points of a block: one block has to stay in a core's cache (a quarter of a megabyte each array)."""
WIDE = 1 << 18
"""How many values that move along one axis only are prepared at once."""
FEWEST_COLUMNS, MOST_ROWS = 16, 4096
"""Fewer columns cost more in starting loops than they hold; more rows are not taken together from several dimensions."""


@dataclass(frozen=True)
class Layout:
    """The dimensions of a result as three axes.

    Attributes:
        shape: of the result.
        outer, rows: how many of its dimensions, from the front, make up the outer axis, and the rows; the rest are columns.
    """

    shape: tuple[int, ...]
    outer: int
    rows: int

    @classmethod
    def of(cls, inputs: Sequence[Any]) -> Layout:
        """The layout of arrays that broadcast against each other.

        Raises:
            ValueError: they do not.
        """
        shape = np.broadcast_shapes(*(np.shape(x) for x in inputs))
        start = _first(shape, lambda columns, _: columns < FEWEST_COLUMNS)
        top = _first(shape[:start], lambda rows, longer: rows == 1 or longer <= MOST_ROWS)
        return cls(shape, top, start - top)

    @cached_property
    def parts(self) -> tuple[slice, slice, slice]:
        """The dimensions of each axis."""
        return slice(0, self.outer), slice(self.outer, self.outer + self.rows), slice(self.outer + self.rows, None)

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """How long the three axes are."""
        outer, rows, columns = (math.prod(self.shape[part]) for part in self.parts)
        return outer, rows, columns

    def three(self, x: Any) -> np.ndarray[Any, Any]:
        """An input with the three axes, of length 1 where it does not vary."""
        full = np.asarray(x, dtype=float).reshape((1,) * (len(self.shape) - np.ndim(x)) + np.shape(x))
        varies = [any(length != 1 for length in full.shape[part]) for part in self.parts]
        spread = [length if moves else 1 for part, moves in zip(self.parts, varies, strict=True) for length in self.shape[part]]
        return np.broadcast_to(full, spread).reshape([size if moves else 1 for size, moves in zip(self.sizes, varies, strict=True)])

    def folded(self, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        """An array of the result's shape seen along the three axes; None where that would be a copy."""
        return out.reshape(self.sizes) if out.flags.c_contiguous else None

    def chunks(self) -> Iterator[slice]:
        """Parts of the outer axis for which rows and columns are prepared at once."""
        outer, rows, columns = self.sizes
        step = max(1, WIDE // (rows + columns))
        yield from (slice(i, min(i + step, outer)) for i in range(0, outer, step))

    def blocks(self, chunk: slice) -> Iterator[tuple[slice, slice, slice]]:
        """Blocks of a chunk; whole rows where they fit, one row where one does not, and several tables where they do."""
        _, rows, columns = self.sizes
        wide = min(columns, BLOCK)
        high = min(rows, BLOCK // wide)
        deep = BLOCK // (wide * high)
        for o in range(chunk.start, chunk.stop, deep):
            for r in range(0, rows, high):
                for c in range(0, columns, wide):
                    yield slice(o, min(o + deep, chunk.stop)), slice(r, min(r + high, rows)), slice(c, min(c + wide, columns))


def _first(shape: tuple[int, ...], go_on: Callable[[int, int], bool]) -> int:
    """The first of the last dimensions that are taken together: ``go_on`` decides by their length, and by that with the next."""
    start, length = len(shape), 1
    while start and go_on(length, length * shape[start - 1]):
        start -= 1
        length *= shape[start]
    return start


def cut(x: np.ndarray[Any, Any], place: tuple[slice, ...]) -> np.ndarray[Any, Any]:
    """The part of an array with three axes that belongs to a block."""
    return x[tuple(part if length != 1 else slice(None) for part, length in zip(place, x.shape, strict=True))]
