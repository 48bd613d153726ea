"""How the inputs of a call lie along axes: what varies together is one axis, the two longest are the rows and columns of blocks.

>>> import numpy as np
>>> batch, prompt, tp = np.arange(1, 513)[:, None, None], np.arange(1, 1025)[None, :, None], np.array([1, 2, 4, 8])
>>> Layout.of([batch, prompt, tp]).sizes        # tp outside, batch down the rows, prompt along the columns
(4, 512, 1024)
>>> Layout.of([np.zeros((30, 20)), np.ones((30, 20))]).sizes        # scattered points have one axis
(1, 1, 600)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

BLOCK = 32_768
"""Points of a block: what is worked out at once has to stay in a core's cache (a quarter of a megabyte each array)."""
WIDE = 1 << 18
"""How much is kept at once of what moves along one axis only."""


@dataclass(frozen=True)
class Layout:
    """The axes of a call: outer ones as one, rows, columns.

    Attributes:
        shape: of the result.
        groups: the dimensions of the result that make up the outer axis, the rows and the columns.
    """

    shape: tuple[int, ...]
    groups: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]

    @classmethod
    def of(cls, inputs: Sequence[Any]) -> Layout:
        """The layout of arrays that broadcast against each other.

        Raises:
            ValueError: they do not.
        """
        shape = np.broadcast_shapes(*(np.shape(x) for x in inputs))
        together: dict[tuple[bool, ...], list[int]] = {}
        for dimension in range(len(shape)):
            varies = tuple(_length(x, dimension - len(shape)) != 1 for x in inputs)
            together.setdefault(varies, []).append(dimension)
        ordered = sorted(together.values(), key=lambda group: (math.prod(shape[d] for d in group), group))
        *outer, rows, columns = [[], [], *ordered][-max(2, len(ordered)) :]
        return cls(shape, (tuple(sorted(d for group in outer for d in group)), tuple(rows), tuple(columns)))

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """How long the three axes are."""
        outer, rows, columns = (math.prod(self.shape[d] for d in group) for group in self.groups)
        return outer, rows, columns

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The dimensions of the result as the three axes have them."""
        return tuple(itertools.chain(*self.groups))

    def three(self, x: Any) -> np.ndarray[Any, Any]:
        """An input with the three axes, of length 1 where it does not vary."""
        full = np.asarray(x, dtype=float).reshape((1,) * (len(self.shape) - np.ndim(x)) + np.shape(x))
        varies = [any(full.shape[d] != 1 for d in group) for group in self.groups]
        spread = [self.shape[d] if moves else 1 for group, moves in zip(self.groups, varies, strict=True) for d in group]
        sizes = [size if moves else 1 for size, moves in zip(self.sizes, varies, strict=True)]
        return np.broadcast_to(full.transpose(self.order), spread).reshape(sizes)

    def empty(self, dtype: Any) -> np.ndarray[Any, Any]:
        """Room for a result, its three axes in a row in memory."""
        return np.empty(self.sizes, dtype)

    def unfolded(self, result: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A result in the shape the inputs ask for."""
        back = np.argsort(self.order)
        return result.reshape([self.shape[d] for d in self.order]).transpose(back)

    def folded(self, out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        """An array of the result's shape seen along the three axes; None where that would be a copy."""
        seen = out.transpose(self.order).reshape(self.sizes)
        return seen if np.shares_memory(seen, out) else None

    def chunks(self) -> Iterator[slice]:
        """Parts of the outer axis for which rows and columns are prepared at once."""
        outer, rows, columns = self.sizes
        step = max(1, WIDE // (rows + columns))
        yield from (slice(i, min(i + step, outer)) for i in range(0, outer, step))

    def blocks(self, chunk: slice) -> Iterator[tuple[slice, slice, slice]]:
        """Blocks of a chunk; whole rows where they fit."""
        _, rows, columns = self.sizes
        wide = min(columns, BLOCK)
        high = min(rows, max(1, BLOCK // wide)) if wide == columns else 1
        deep = max(1, BLOCK // (wide * high)) if high == rows and wide == columns else 1
        for o in range(chunk.start, chunk.stop, deep):
            for r in range(0, rows, high):
                for c in range(0, columns, wide):
                    yield slice(o, min(o + deep, chunk.stop)), slice(r, min(r + high, rows)), slice(c, min(c + wide, columns))


def _length(x: Any, dimension: int) -> int:
    """How long an array is along a dimension counted from the end."""
    shape = np.shape(x)
    return shape[dimension] if -dimension <= len(shape) else 1


def cut(x: np.ndarray[Any, Any], place: tuple[slice, ...]) -> np.ndarray[Any, Any]:
    """The part of an array with three axes that belongs to a block."""
    return x[tuple(part if length != 1 else slice(None) for part, length in zip(place, x.shape, strict=True))]
