"""Where a threshold holds whose sides change over more than once: from a first whole number to a last, perhaps several times."""

import math
from collections.abc import Callable, Iterable

Stretch = tuple[int, int | None]
"""The first and the last whole number of a stretch; None for the last where it has no end."""
SIDES = {"lhs_above": 1, "lhs_below": -1}


def stretches(
    crossings: Iterable[float], side: Callable[[int], int | None], holds: str
) -> tuple[Stretch, ...]:
    """The whole numbers from one on at which one side is the larger, between the crossings and before and behind them.

    Args:
        side: the sign of left less right at a whole number.
        holds: the verdict whose side is meant, ``lhs_above`` or ``lhs_below``.

    >>> stretches([1.5, 7.0, 10.5], lambda n: 1 if n == 1 or 7 < n < 11 else -1, "lhs_above")
    ((1, 1), (8, 10))
    """
    found: list[Stretch] = []
    for first, last in _pieces(crossings):
        if side(2 * first if last is None else (first + last) // 2) != SIDES[holds]:
            continue
        if found and found[-1][1] == first - 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return tuple(found)


def _pieces(crossings: Iterable[float]) -> list[Stretch]:
    """The whole numbers from one on in pieces within which no crossing lies; those next to one, where a jump may fall, each alone."""
    alone = sorted(
        {n for value in crossings for n in (math.floor(value), math.floor(value) + 1) if n >= 1}
    )
    pieces: list[Stretch] = []
    first = 1
    for n in alone:
        pieces += [(first, n - 1)] if first < n else []
        pieces.append((n, n))
        first = n + 1
    return [*pieces, (first, None)]


def longest(found: tuple[Stretch, ...]) -> Stretch | None:
    """The one to act on; None without any."""
    return max(
        found, key=lambda each: math.inf if each[1] is None else each[1] - each[0], default=None
    )


def words(stretch: Stretch) -> str:
    """``2``, ``139 to 1,505`` or ``12 and more``."""
    first, last = stretch
    return (
        f"{first:,} and more"
        if last is None
        else f"{first:,}"
        if first == last
        else f"{first:,} to {last:,}"
    )
