"""Piecewise polynomials in an integer index: exact closed forms of sums over steps.

A step's time is the larger of two polynomials in the step number. Its sum over 100,000 steps needs no loop: cut the
index range where the arms cross, sum each piece in closed form. Coefficients may be any exact number type.

>>> j = PiecewisePolynomial.index(1, 10)
>>> (j.maximum(PiecewisePolynomial.constant(4, 1, 10))).total()    # 4+4+4+4+5+6+7+8+9+10
Fraction(61, 1)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb, floor
from typing import Any

Coefficients = tuple[Any, ...]
"""Lowest power first."""
Pieces = tuple[tuple[int, int, Coefficients], ...]
"""First and last index of each piece, and the polynomial on it."""
TERMS_PER_STEP = 4
"""A rounded line is taken step by step where its steps hold at least so many terms on average: with fewer, a loop is as quick."""


class NotPolynomial(ArithmeticError):
    """The formula is not a polynomial in the index (a quotient by it, a rounding with many steps): sum it term by term instead."""


@dataclass(frozen=True)
class PiecewisePolynomial:
    """Pieces ``(first, last, coefficients)`` that cover a range of whole numbers without gaps."""

    pieces: Pieces
    of: int = 0
    """Which index it is a polynomial in, where there may be several; 0 in any."""

    @classmethod
    def index(cls, first: int, last: int, of: int = 0) -> PiecewisePolynomial:
        return cls(((first, last, (Fraction(0), Fraction(1))),), of)

    @classmethod
    def constant(cls, value: Any, first: int, last: int, of: int = 0) -> PiecewisePolynomial:
        return cls(((first, last, (value,)),), of)

    @property
    def range(self) -> tuple[int, int]:
        """First and last index."""
        return self.pieces[0][0], self.pieces[-1][1]

    def _aligned(self, other: Any) -> list[tuple[int, int, Coefficients, Coefficients]]:
        if not isinstance(other, PiecewisePolynomial):
            return [(a, b, p, (other,)) for a, b, p in self.pieces]
        if self.of != other.of or self.range != other.range:
            raise NotPolynomial("two indices at once")
        return list(_both(self.pieces, other.pieces))

    def __add__(self, other: Any) -> PiecewisePolynomial:
        return self._of(tuple((a, b, added(p, q)) for a, b, p, q in self._aligned(other)))

    def __mul__(self, other: Any) -> PiecewisePolynomial:
        return self._of(tuple((a, b, times(p, q)) for a, b, p, q in self._aligned(other)))

    def _of(self, pieces: Pieces) -> PiecewisePolynomial:
        return PiecewisePolynomial(pieces, self.of)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> PiecewisePolynomial:
        return self * Fraction(-1)

    def __sub__(self, other: Any) -> PiecewisePolynomial:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> PiecewisePolynomial:
        return (-self).__add__(other)

    def __truediv__(self, other: Any) -> PiecewisePolynomial:
        if isinstance(other, PiecewisePolynomial):
            if any(len(p) > 1 and any(c != 0 for c in p[1:]) for _, _, p in other.pieces):
                raise NotPolynomial("division by the index of a sum")
            other = other._of(tuple((a, b, (1 / p[0],)) for a, b, p in other.pieces))
            return self.__mul__(other)
        return self._of(tuple((a, b, tuple(c / other for c in p)) for a, b, p in self.pieces))

    def __rtruediv__(self, other: Any) -> PiecewisePolynomial:
        return PiecewisePolynomial.constant(other, *self.range, self.of) / self

    def __pow__(self, exponent: int) -> PiecewisePolynomial:
        result = PiecewisePolynomial.constant(Fraction(1), *self.range, self.of)
        for _ in range(exponent):
            result = result * self
        return result

    def maximum(self, other: Any) -> PiecewisePolynomial:
        """The larger of the two, cut where they cross."""
        return self._choose(other, larger=True)

    def minimum(self, other: Any) -> PiecewisePolynomial:
        return self._choose(other, larger=False)

    def _choose(self, other: Any, larger: bool) -> PiecewisePolynomial:
        pieces = []
        for a, b, p, q in self._aligned(other):
            difference = added(p, tuple(-c for c in q))
            for start, end in _constant_sign(difference, a, b):
                first_wins = (at(difference, start) > 0) == larger
                pieces.append((start, end, p if first_wins else q))
        return self._of(tuple(pieces))

    def rounded(self, up: bool) -> PiecewisePolynomial:
        """The piecewise line rounded to integers: constant between steps.

        >>> PiecewisePolynomial(((0, 11, (Fraction(1), Fraction(1, 4))),)).rounded(up=False).pieces
        ((0, 3, (Fraction(1, 1),)), (4, 7, (Fraction(2, 1),)), (8, 11, (Fraction(3, 1),)))

        Raises:
            NotPolynomial: it is not a line, or has too many steps.
        """
        lines = [(a, b, *_line(p)) for a, b, p in self.pieces]
        steps = sum(1 + abs(slope) * (b - a) for a, b, _, slope in lines)
        first, last = self.range
        if TERMS_PER_STEP * (steps - len(lines)) > last - first:
            raise NotPolynomial("a rounding of the index of a sum")
        sign = -1 if up else 1  # rounded up is minus its negative rounded down
        return self._of(
            tuple(
                (a, b, (Fraction(sign * step),))
                for first, last, c, slope in lines
                for a, b, step in _steps(sign * c, sign * slope, first, last)
            )
        )

    def total(self) -> Any:
        """The sum over every whole index of the range."""
        result: Any = Fraction(0)
        for first, last, coefficients in self.pieces:
            for power, coefficient in enumerate(coefficients):
                result = result + coefficient * (
                    power_sum(Fraction(last), power) - power_sum(Fraction(first - 1), power)
                )
        return result


def _both(pieces: Pieces, others: Pieces) -> Iterator[tuple[int, int, Coefficients, Coefficients]]:
    """The common pieces of two piecewise functions, in one pass."""
    i = k = 0
    while i < len(pieces) and k < len(others):
        (a, b, p), (c, d, q) = pieces[i], others[k]
        yield max(a, c), min(b, d), p, q
        i, k = i + (b <= d), k + (d <= b)


def _line(p: Coefficients) -> tuple[Fraction, Fraction]:
    """The value at zero and the slope of a line; a number that carries a derivative counts as its value, as in every rounding."""
    if any(c != 0 for c in p[2:]):
        raise NotPolynomial("a rounding of the index of a sum")
    constant, slope = (getattr(c, "value", c) for c in (*p, Fraction(0))[:2])
    if not (isinstance(constant, Fraction) and isinstance(slope, Fraction)):
        raise NotPolynomial("a rounding of floats")
    return constant, slope


def _steps(
    constant: Fraction, slope: Fraction, first: int, last: int
) -> Iterator[tuple[int, int, int]]:
    """First and last index and value of every step of a line rounded down."""
    start = first
    while start <= last:
        step = floor(constant + slope * start)
        end = last
        if slope:
            end = (
                ceil((step + 1 - constant) / slope) - 1
                if slope > 0
                else floor((step - constant) / slope)
            )
        yield start, min(end, last), step
        start = end + 1


def added(p: Coefficients, q: Coefficients) -> Coefficients:
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return tuple(c + shorter[i] if i < len(shorter) else c for i, c in enumerate(longer))


def times(p: Coefficients, q: Coefficients) -> Coefficients:
    if len(q) == 1:
        return tuple(c * q[0] for c in p)
    if len(p) == 1:
        return tuple(p[0] * c for c in q)
    result: list[Any] = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for k, b in enumerate(q):
            result[i + k] = result[i + k] + a * b
    return tuple(result)


def at(p: Coefficients, index: Any) -> Any:
    *lower, value = p
    for coefficient in reversed(lower):
        value = value * index + coefficient
    return value


def power_sum(n: Any, power: int) -> Any:
    """``1**power + ... + n**power`` (and its polynomial continuation to 0 and below), by telescoping; ``n`` may be an array.

    >>> power_sum(Fraction(4), 2), power_sum(Fraction(-1), 0)
    (Fraction(30, 1), Fraction(-1, 1))
    """
    if power == 0:
        return n
    if power == 1:
        return n * (n + 1) / 2
    if power == 2:
        return n * (n + 1) * (2 * n + 1) / 6
    known = sum(comb(power + 1, i) * power_sum(n, i) for i in range(power))
    return ((n + 1) ** (power + 1) - 1 - known) / (power + 1)


def _constant_sign(p: Coefficients, first: int, last: int) -> list[tuple[int, int]]:
    """Cut a range so that the polynomial is positive on all of a part or on none of it."""
    degree = max((i for i, c in enumerate(p) if c != 0), default=0)
    if degree == 0:
        return [(first, last)]
    if degree == 1:
        return _line_signs(p, first, last)
    slope = tuple(i * c for i, c in enumerate(p) if i)
    cuts: list[tuple[int, int]] = []
    for start, end in _constant_sign(slope, first, last):
        inside = _first_change(p, start, end)
        cuts += [(start, end)] if inside is None else [(start, inside - 1), (inside, end)]
    return [cut for piece in cuts for cut in _ends(p, *piece)]


def _line_signs(p: Coefficients, first: int, last: int) -> list[tuple[int, int]]:
    """A range cut at the first whole number beyond the zero of a line, or of a falling line at its zero."""
    constant, slope = map(_plain, p[:2])
    change = (
        (-constant) // slope + 1 if slope > 0 else -(constant // slope)
    )  # quotients of whole numbers would be floats
    return [(first, change - 1), (change, last)] if first < change <= last else [(first, last)]


def _plain(c: Any) -> Any:
    """A number without the derivative that it may carry."""
    return getattr(c, "value", c)


def _ends(p: Coefficients, start: int, end: int) -> list[tuple[int, int]]:
    """A monotone piece may still turn between its last two integers; cut there if the sign differs."""
    if start < end and (at(p, start) > 0) != (at(p, end) > 0):
        change = _first_change(p, start, end)
        if change is not None:
            return [(start, change - 1), (change, end)]
    return [(start, end)]


def _first_change(p: Coefficients, start: int, end: int) -> int | None:
    """The first index of a monotone range whose sign differs from the start's, by bisection."""
    positive = at(p, start) > 0
    if (at(p, end) > 0) == positive:
        return None
    return start + bisect_left(
        range(start, end), True, key=lambda index: (at(p, index) > 0) != positive
    )
