"""Polynomials in a whole-number index, piece by piece, over arrays: how a sum over steps is taken at once for every point.

A step's time is the larger of two polynomials in the step number. Where they cross differs from point to point: the pieces have array
ends, some of them empty in some places. Cuts that a float puts one step too early or late do no harm, since both arms are equal there.
One point is an array of one.

>>> import numpy as np
>>> j = Steps.index(1.0, np.array([10.0, 3.0]))
>>> j.maximum(4.0).total()    # 4+4+4+4+5+6+7+8+9+10 and 4+4+4
array([61., 12.])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

Coefficients = tuple[Any, ...]
"""Numbers or arrays, lowest power first."""

MOST_PIECES = 64


class NotPolynomial(ArithmeticError):
    """What is no polynomial in the index (a quotient by it, a rounding): it is summed term by term."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Pieces that cover the whole numbers from ``first`` to ``last``.

    Attributes:
        cuts: the first index of every piece but the first, rising in each place.
        pieces: the polynomial of each piece.
    """

    first: Any
    last: Any
    cuts: tuple[Any, ...]
    pieces: tuple[Coefficients, ...]

    __array_ufunc__ = None  # a NumPy array operand leaves the operation to this class

    @classmethod
    def index(cls, first: Any, last: Any) -> Steps:
        """The index itself."""
        return cls(first, last, (), ((0.0, 1.0),))

    def _map(self, of: Callable[[Coefficients], Coefficients]) -> Steps:
        return replace(self, pieces=tuple(map(of, self.pieces)))

    def _with(self, other: Any, of: Callable[[Coefficients, Coefficients], Coefficients]) -> Steps:
        if not isinstance(other, Steps):
            return self._map(lambda p: of(p, (other,)))
        mine, theirs = self._aligned(other)
        return replace(mine, pieces=tuple(map(of, mine.pieces, theirs.pieces)))

    def same_index(self, other: Steps) -> bool:
        """Whether both are of one index; of a sum in a sum there are two."""
        return self.first is other.first and self.last is other.last

    def _aligned(self, other: Steps) -> tuple[Steps, Steps]:
        """Both with the cuts of both."""
        if not self.same_index(other):
            raise NotPolynomial("two indices at once")
        if self.cuts is other.cuts:
            return self, other
        cuts = self.cuts or other.cuts
        if self.cuts and other.cuts:
            if len(self.cuts) + len(other.cuts) >= MOST_PIECES:
                raise NotPolynomial("too many pieces")
            cuts = tuple(np.sort(np.stack(np.broadcast_arrays(*self.cuts, *other.cuts)), axis=0))
        return self._cut(cuts), other._cut(cuts)

    def _cut(self, cuts: tuple[Any, ...]) -> Steps:
        """The same with these cuts, its own among them."""
        if cuts is self.cuts:
            return self
        pieces = [self.pieces[0]]
        for start in cuts:
            piece = self.pieces[0]
            for cut, later in zip(self.cuts, self.pieces[1:], strict=True):
                piece = _where(cut <= start, later, piece)
            pieces.append(piece)
        return replace(self, cuts=cuts, pieces=tuple(pieces))

    def __add__(self, other: Any) -> Steps:
        return self._with(other, added)

    def __mul__(self, other: Any) -> Steps:
        return self._with(other, times)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Steps:
        return self._map(lambda p: tuple(-c for c in p))

    def __sub__(self, other: Any) -> Steps:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Steps:
        return (-self).__add__(other)

    def __truediv__(self, number: float) -> Steps:
        return self._map(lambda p: tuple(c / number for c in p))

    def over(self, under: Any, divide: Callable[[Any, Any], Any]) -> Steps:
        """The quotient by an array."""
        return self._map(lambda p: tuple(divide(c, under) for c in p))

    def maximum(self, other: Any, larger: bool = True) -> Steps:
        """The larger of the two (else the smaller), cut where they cross."""
        mine, theirs = self._aligned(
            other if isinstance(other, Steps) else self._map(lambda p: (other,))
        )
        ends = [mine.first, *mine.cuts, np.add(mine.last, 1)]
        cuts: list[Any] = []
        pieces: list[Coefficients] = []
        for start, stop, p, q in zip(ends, ends[1:], mine.pieces, theirs.pieces, strict=False):
            difference = added(p, tuple(-c for c in q))
            end = np.maximum(stop, start)
            inner = [np.clip(np.floor(root) + 1, start, end) for root in _roots(difference)]
            own = [start, *inner, stop]
            for low, high in pairwise(own):
                wins = at(difference, (low + high - 1) / 2) >= 0
                pieces.append(_where(wins if larger else ~np.asarray(wins), p, q))
            cuts += [*inner, stop]
        return replace(mine, cuts=tuple(cuts[:-1]), pieces=tuple(pieces))

    def total(self) -> Any:
        """The sum over every whole index; nothing where last lies below first."""
        ends = [self.first, *self.cuts, np.add(self.last, 1)]
        result: Any = 0.0
        for start, stop, p in zip(ends, ends[1:], self.pieces, strict=False):
            start = np.maximum(start, self.first)
            terms = np.maximum(np.minimum(stop, np.add(self.last, 1)) - start, 0.0)
            shifted = _shifted(p, start)  # from 0 on: sums of small powers lose no digits
            result = result + shifted[0] * terms
            for power, coefficient in enumerate(shifted[1:], 1):
                result = result + coefficient * power_sum(terms - 1, power)
        return result


def _where(condition: Any, p: Coefficients, q: Coefficients) -> Coefficients:
    longest = max(len(p), len(q))
    p, q = ((*own, *(0.0,) * (longest - len(own))) for own in (p, q))
    return tuple(a if a is b else np.where(condition, a, b) for a, b in zip(p, q, strict=True))


def _shifted(p: Coefficients, start: Any) -> Coefficients:
    """The polynomial in the index less ``start``, by repeated synthetic division."""
    result = list(p)
    for i in range(len(p) - 1):
        for k in range(len(p) - 2, i - 1, -1):
            result[k] = result[k] + start * result[k + 1]
    return tuple(result)


def _roots(p: Coefficients) -> list[Any]:
    """The real roots of a polynomial of degree two at most, in rising order; infinite where there are fewer."""
    while len(p) > 1 and not np.any(p[-1]):
        p = p[:-1]
    if len(p) == 1:
        return []
    if len(p) > 3:
        raise NotPolynomial("a maximum of cubics")
    with np.errstate(all="ignore"):
        if len(p) == 2:
            return [_or_beyond(-np.divide(p[0], p[1]))]
        c, b, a = p
        # no digits are lost where a is small
        half = -0.5 * (b + np.copysign(np.sqrt(b * b - 4 * a * c), b))
        one, other = _or_beyond(np.divide(half, a)), _or_beyond(np.divide(c, half))
        return [np.minimum(one, other), np.maximum(one, other)]


def _or_beyond(root: Any) -> Any:
    """A root, or infinity where there is none."""
    return np.where(np.isnan(root), np.inf, root)


def added(p: Coefficients, q: Coefficients) -> Coefficients:
    """The sum of two polynomials."""
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return tuple(c + shorter[i] if i < len(shorter) else c for i, c in enumerate(longer))


def times(p: Coefficients, q: Coefficients) -> Coefficients:
    """The product of two polynomials."""
    if len(q) == 1:
        return tuple(c * q[0] for c in p)
    if len(p) == 1:
        return tuple(p[0] * c for c in q)
    result: list[Any] = [0.0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for k, b in enumerate(q):
            result[i + k] = result[i + k] + a * b
    return tuple(result)


def at(p: Coefficients, index: Any) -> Any:
    """The value of a polynomial at an index."""
    *lower, value = p
    for coefficient in reversed(lower):
        value = value * index + coefficient
    return value


def power_sum(n: Any, power: int) -> Any:
    """``1**power + ... + n**power`` (and its polynomial continuation to 0 and below); ``n`` may be an array.

    >>> power_sum(4.0, 2), power_sum(-1.0, 0)
    (30.0, -1.0)
    """
    if power == 0:
        return n
    if power == 1:
        return n * (n + 1) / 2
    if power == 2:
        return n * (n + 1) * (2 * n + 1) / 6
    known = sum(comb(power + 1, i) * power_sum(n, i) for i in range(power))
    return ((n + 1) ** (power + 1) - 1 - known) / (power + 1)


def refuse_polynomials(*values: Any) -> None:
    if any(isinstance(value, Steps) for value in values):
        raise NotPolynomial("no polynomial in the index of a sum")
