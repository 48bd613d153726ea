"""Student's t: how far the mean of few numbers may lie from the true one."""

import math

from symroof.symbolic.bisection import bisect


def t_probability(t: float, freedom: int) -> float:
    """The probability that Student's t lies between -t and t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

    >>> round(t_probability(1.0, 1), 6), round(t_probability(2.0, 2), 6)
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


def t_quantile(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t.

    >>> round(t_quantile(0.95, 10), 3)
    2.228
    """
    low, high = 0.0, 1.0
    while t_probability(high, freedom) < level:
        high *= 2
    return bisect(lambda t: t_probability(t, freedom) >= level, low, high, 80)[1]
