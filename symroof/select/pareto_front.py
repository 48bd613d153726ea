"""The Pareto front: points that no other beats in every respect at once."""

from collections.abc import Sequence
from typing import Any


def front(points: Sequence[Sequence[Any]], larger: Sequence[bool]) -> tuple[int, ...]:
    """The places of the points that no other point beats: as good in every respect, and better in one.

    ``larger`` says of each respect whether more of it is better. Equal points stand beside each other on the front.

    >>> latency_and_rate = [(20, 100), (30, 150), (40, 120), (30, 150)]
    >>> front(latency_and_rate, larger=(False, True))
    (0, 1, 3)

    Raises:
        ValueError: a point that speaks of more or fewer respects than ``larger`` does.
    """
    signed = [tuple(value if more else -value for value, more in zip(point, larger, strict=True)) for point in points]
    return tuple(i for i, point in enumerate(signed) if not any(_beats(other, point) for other in signed))


def _beats(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return a != b and all(x >= y for x, y in zip(a, b, strict=True))
