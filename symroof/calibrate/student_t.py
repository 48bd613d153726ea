"""Student's t distribution for whole degrees of freedom, in closed form."""

from __future__ import annotations

import math


def within(t: float, freedom: int) -> float:
    """The chance that a t variable lies between -t and t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

    >>> round(within(1.0, 1), 6), round(within(2.0, 2), 6)
    (0.5, 0.816497)
    """
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = cosine if freedom % 2 else 1.0
    total = 0.0
    for k in range(freedom % 2 + 2, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    return 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total


def quantile(level: float, freedom: int) -> float:
    """The t that a t variable stays within with a chance of ``level``.

    >>> round(quantile(0.95, 10), 3)
    2.228
    """
    low, high = 0.0, 1.0
    while within(high, freedom) < level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < level else (low, middle)
    return high
