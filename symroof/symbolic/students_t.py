"""Student's t: how far the mean of few numbers may lie from the true one."""

from typing import Any

import numpy as np

from symroof.symbolic.axis_points import Axis
from symroof.symbolic.crossings import crossings


def t_probability(t: Any, freedom: int) -> Any:
    """The probability that Student's t lies between -t and t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

    >>> [round(float(t_probability(t, freedom)), 6) for t, freedom in ((1.0, 1), (2.0, 2))]
    [0.5, 0.816497]
    """
    angle = np.arctan(t / np.sqrt(freedom))
    sine, cosine = np.sin(angle), np.cos(angle)
    term = cosine if freedom % 2 else 1.0
    total = 0.0
    for k in range(freedom % 2 + 2, freedom + 1, 2):
        total = total + term
        term = term * cosine * cosine * (k - 1) / k
    return 2 / np.pi * (angle + sine * total) if freedom % 2 else sine * total


def t_quantile(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t.

    >>> round(t_quantile(0.95, 10), 3)
    2.228
    """
    return crossings(lambda t, _: (t_probability(t, freedom), level), [Axis()])[0].values[0]
