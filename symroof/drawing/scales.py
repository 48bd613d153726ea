"""Scales of axes, and the values of their ticks."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic mapping of values to page coordinates.

    >>> scale = Scale(1, 100, 0.0, 200.0, log=True)
    >>> scale(10), scale.inverse(100.0)
    (100.0, 10.0)
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        if self.log:
            if value <= 0:
                return -math.inf if self.start < self.end else math.inf
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def inverse(self, place: float) -> float:
        share = (place - self.start) / (self.end - self.start)
        return (
            self.low * (self.high / self.low) ** share
            if self.log
            else self.low + share * (self.high - self.low)
        )

    def contains(self, value: float) -> bool:
        """Whether a value is on the axis."""
        return self.low <= value <= self.high


def round_values(low: float, high: float, most: int = 7) -> list[float]:
    """Up to ``most`` round values in an interval: steps of 1, 2, 2.5 or 5 times a power of ten.

    >>> round_values(0, 42)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    size = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(
        size * factor for factor in (1, 2, 2.5, 5, 10, 20) if (high - low) / (size * factor) < most
    )
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def linear_ticks(low: float, high: float) -> list[list[float]]:
    """Linear tick sets, from many to few."""
    return [round_values(low, high, most) for most in (8, 6, 4)]


def next_power_of_two(value: float) -> float:
    """The smallest power of two that is not below a value.

    >>> next_power_of_two(5), next_power_of_two(0.3)
    (8.0, 0.5)
    """
    return 2.0 ** math.ceil(math.log2(value) - 1e-9)


def power_of_two_ticks(low: float, high: float) -> list[list[float]]:
    """Power-of-two tick sets, from many to few."""
    powers = [
        2.0**i
        for i in range(math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9) + 1)
    ]
    return [powers[::skip] for skip in (1, 2, 3, 4, 6)]


def log_ticks(low: float, high: float) -> list[list[float]]:
    """Logarithmic tick sets, from many to few; linear ones if the axis is too short for powers of ten.

    >>> log_ticks(1, 100)[1]
    [1.0, 10.0, 100.0]
    """
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    sets = []
    for factors, every in (((1, 2, 5), 1), ((1,), 1), ((1,), 2), ((1,), 3), ((1,), 4)):
        marks = [factor * 10.0**e for e in exponents for factor in factors if e % every == 0]
        sets.append([mark for mark in marks if low * (1 - 1e-9) <= mark <= high * (1 + 1e-9)])
    if len(sets[0]) < 3:
        return [round_values(low, high, most) for most in (6, 5, 4, 3)]
    return [marks for marks in sets if len(marks) > 1]
