"""The whole number that a crossing allows, from the sides of the equation at it and at its neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from symroof.analysis.equation import Equation, balanced
from symroof.symbolic.crossings import SAME
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.thresholds import Threshold

MOST_DEGREES = 1024
"""How many numbers of devices beyond a crossing are tried."""
LIMIT, REACH = "limit", "reach"
CLOSE = 1e-12
"""How near a crossing lies to a whole number that it is, as a share of it."""
SIDES = {"lhs_above": 1, "lhs_below": -1}
"""The sign of left less right, by verdict."""

Stretch = tuple[int, int | None]
"""The first and the last whole number of a stretch; None for the last where it has no end."""


def to_whole(value: float, kind: str) -> int:
    """A crossing as a whole number: down to the last that keeps a limit, up to the first that reaches."""
    near = round(value)
    if abs(value - near) < CLOSE * max(near, 1):
        return near
    return math.floor(value) if kind == LIMIT else math.ceil(value)


def degrees(case: Case, first: int) -> Iterator[int]:
    """Numbers of devices that can share out the key and value heads, from one on."""
    return filter(case.can_split_heads, range(first, first + MOST_DEGREES))


def stretch_text(stretch: Stretch) -> str:
    """``2``, ``139 to 1,505`` or ``12 and more``."""
    first, last = stretch
    if last is None:
        return f"{first:,} and more"
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def longest(found: tuple[Stretch, ...]) -> Stretch | None:
    """The stretch to act on; None without any."""
    return max(found, key=lambda each: (each[1] or math.inf) - each[0], default=None)


def stretches(
    posed: Equation, values: Sequence[float], threshold: Threshold | None
) -> tuple[Stretch, ...]:
    """First and last of each run of whole numbers at which a threshold holds that can start to hold more than once; else empty.

    No crossing lies within a run that is looked at; the numbers next to one, where a jump may fall, are each looked at alone.
    """
    if not values or threshold is None or not threshold.holds:
        return ()
    near = {math.floor(value) + k for value in values for k in (0, 1, 2)}
    starts = sorted({1, *(n for n in near if n > 1)})
    holds, found = SIDES[threshold.holds], list[Stretch]()
    for first, last in zip(starts, (*(n - 1 for n in starts[1:]), None), strict=True):
        if side(posed, 2 * first if last is None else (first + last) // 2) != holds:
            continue
        joined = bool(found) and found[-1][1] == first - 1
        found.append((found.pop()[0] if joined else first, last))
    return tuple(found)


def rounded(posed: Equation, values: Sequence[float], value: float, kind: str) -> int:
    """One of the crossings as the whole number it allows: the last that keeps a limit, the first that reaches.

    The sides are evaluated at the candidate and its neighbours, as a jump may lie just behind a whole number.
    """
    down, up = to_whole(value, LIMIT), to_whole(value, REACH)
    larger, devices = before(posed, values, value), posed.unknown == "tp"
    if not larger:
        return to_whole(value, kind)
    if kind == LIMIT and not devices:
        kept = (n for n in (down, down - 1) if n < 1 or side(posed, n) in (larger, 0))
        return next(kept, down)
    tried = degrees(posed.bound_case.case, max(up, 1)) if devices else (up, up + 1)
    reached = (n for n in tried if n >= 1 and side(posed, n) in (-larger, 0))
    return next(reached, max(up, 1))


def before(posed: Equation, values: Sequence[float], value: float) -> int:
    """Which side is the larger just before one of the crossings; 0 where that is undecided."""
    axis = posed.axis(posed.bound_case.case)
    earlier = max((v for v in values if v < value), default=axis.low)
    larger = side(posed, (earlier + value) / 2)
    if larger is None and axis.counted:  # between whole numbers a sum has no value
        larger = side(posed, math.ceil(value) - 1)
    return larger or 0


def side(posed: Equation, point: float) -> int | None:
    """The sign of left less right at a value of the unknown, by the definitions themselves."""
    there = posed.bound_case.case.changed({posed.unknown: point})
    try:
        left, right = (float(there.evaluate(each)) for each in balanced(posed.relation).args)
    except (NoValue, OverflowError):
        return None
    if abs(left - right) <= SAME * max(abs(left), abs(right)):
        return 0
    return 1 if left > right else -1
