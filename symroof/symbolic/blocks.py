"""How a call over large arrays is cut into blocks that fit a core's cache, each input keeping its own thin shape."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

BLOCK = 32768
"""Points of a block: a quarter of a megabyte each array."""

# The C library gives the memory of an array of that size back to the system as soon as it is free, and a formula makes dozens of them in every block:
# more than half of the time would go into getting it again. It keeps pieces as large as the largest that it has seen come back (up to 32 MB).
np.empty(2**21)


def blocks(shape: Sequence[int], most: int = BLOCK) -> Iterator[tuple[slice, ...]]:
    """Slices that cover a shape, of so many points at most each: whole last axes as far as they fit, then parts of one, then one by one.

    >>> [[(part.start, part.stop) for part in place] for place in blocks((2, 3), 4)]
    [[(0, 1), (0, 3)], [(1, 2), (0, 3)]]
    """
    steps, left = [], most
    for length in reversed(shape):
        steps.append(max(1, min(length, left)))
        left //= steps[-1]
    steps.reverse()

    def part(axis: int) -> Iterator[tuple[slice, ...]]:
        if axis == len(shape):
            yield ()
            return
        for start in range(0, shape[axis], steps[axis]):
            for rest in part(axis + 1):
                yield slice(start, min(start + steps[axis], shape[axis])), *rest

    return part(0)


def cut(x: Array, place: tuple[slice, ...]) -> Array:
    """The part of an input that belongs to a block; an axis along which it does not vary stays as it is.

    >>> cut(np.arange(6.0).reshape(3, 2, 1), (slice(1, 2), slice(0, 1), slice(0, 9))).ravel()
    array([2.])
    """
    own = place[len(place) - x.ndim :]
    return x[
        tuple(
            part if length != 1 else slice(None) for part, length in zip(own, x.shape, strict=True)
        )
    ]
