"""Where a threshold holds whose sides change over more than once: from a first whole number to a last, perhaps several times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symroof.analysis.solution import Solution

Stretch = tuple[int, int | None]
"""The first and the last whole number of a stretch; None for the last where it has no end."""
SIDES = {"lhs_above": 1, "lhs_below": -1}


def stretches(solution: Solution) -> tuple[Stretch, ...]:
    """The whole numbers from one on at which a threshold with ``holds`` is true, between its crossings and at each side of them.

    >>> from symroof.analysis.study import Study
    >>> case = {"prompt": 2048, "output": 256, "batch": 64, "chunk": 2048, "targets": {"itl": "60 ms"}}
    >>> Study("llama-3-8b", "h100-sxm", **case).solve("max_chunk_sustained_itl").stretches
    ((1, None),)
    """
    threshold = solution.threshold
    if threshold is None or not threshold.holds:
        return ()
    wanted = SIDES[threshold.holds]
    found: list[Stretch] = []
    for first, last in _pieces(solution):
        middle = 2 * first if last is None else (first + last) // 2
        if solution.side(middle) != wanted:
            continue
        if found and found[-1][1] == first - 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return tuple(found)


def _pieces(solution: Solution) -> list[Stretch]:
    """The whole numbers from one on in pieces within which no crossing lies; those next to one, where a jump may fall, each alone."""
    alone = sorted({n for value in solution.values for n in (math.floor(value), math.floor(value) + 1) if n >= 1})
    pieces: list[Stretch] = []
    first = 1
    for n in alone:
        pieces += [(first, n - 1)] if first < n else []
        pieces.append((n, n))
        first = n + 1
    return [*pieces, (first, None)]


def longest(found: tuple[Stretch, ...]) -> Stretch | None:
    """The one to act on; None without any."""
    return max(found, key=lambda each: math.inf if each[1] is None else each[1] - each[0], default=None)


def words(stretch: Stretch) -> str:
    """``2``, ``139 to 1,505`` or ``12 and more``."""
    first, last = stretch
    return f"{first:,} and more" if last is None else f"{first:,}" if first == last else f"{first:,} to {last:,}"
