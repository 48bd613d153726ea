"""Dual numbers: values that carry their exact derivative by one or several inputs, on the arm that is active.

>>> x = Dual(Fraction(3), Fraction(1))
>>> (x * x / 2).slope
Fraction(3, 1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering, wraps
from typing import Any

Operation = Callable[["Dual", Any], Any]


class Gradient(dict[str, Fraction]):
    """The derivatives of a value by several inputs, found in one evaluation of the formulas.

    >>> x, y = Dual(Fraction(3), Gradient(x=Fraction(1))), Dual(Fraction(5), Gradient(y=Fraction(1)))
    >>> (x * y - x / 2).slope
    {'x': Fraction(9, 2), 'y': Fraction(3, 1)}
    """

    def __add__(self, other: Any) -> Gradient:
        if not isinstance(other, Gradient):  # zero: a number has no slope
            return self
        return Gradient(
            self,
            **{
                name: self[name] + slope if name in self else slope for name, slope in other.items()
            },
        )

    def __mul__(self, number: Any) -> Gradient:
        return Gradient((name, slope * number) for name, slope in self.items())

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Gradient:
        return Gradient((name, -slope) for name, slope in self.items())

    def __sub__(self, other: Any) -> Gradient:
        difference: Gradient = self + (-other)
        return difference

    def __rsub__(self, _: Any) -> Gradient:
        return -self

    def __truediv__(self, number: Any) -> Gradient:
        return Gradient((name, slope / number) for name, slope in self.items())


def _exact_only(operation: Operation) -> Operation:
    """Leave all but exact numbers to the other operand: a piecewise polynomial has dual coefficients."""

    @wraps(operation)
    def guarded(self: Dual, other: Any) -> Any:
        if isinstance(other, (int, Fraction)):
            other = Dual(Fraction(other), Fraction(0))
        return operation(self, other) if isinstance(other, Dual) else NotImplemented

    return guarded


def _with_number(by_number: Operation) -> Callable[[Operation], Operation]:
    """The same, with a shortcut for a plain number, which has no slope."""

    def chosen(operation: Operation) -> Operation:
        exact = _exact_only(operation)

        @wraps(operation)
        def guarded(self: Dual, other: Any) -> Any:
            return (
                by_number(self, other) if isinstance(other, (Fraction, int)) else exact(self, other)
            )

        return guarded

    return chosen


@total_ordering
@dataclass(frozen=True, eq=False)
class Dual:
    """A value with its slope; comparisons use the value only, so ``max`` picks the active arm."""

    value: Fraction
    slope: Any
    """A number, or :class:`Gradient`."""

    @_with_number(lambda dual, number: Dual(dual.value + number, dual.slope))
    def __add__(self, other: Any) -> Any:
        return Dual(self.value + other.value, self.slope + other.slope)

    @_with_number(lambda dual, number: Dual(dual.value * number, dual.slope * number))
    def __mul__(self, other: Any) -> Any:
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    @_exact_only
    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    @_exact_only
    def __rsub__(self, other: Any) -> Any:
        return other + (-self)

    @_with_number(lambda dual, number: Dual(dual.value / number, dual.slope / number))
    def __truediv__(self, other: Any) -> Any:
        return Dual(
            self.value / other.value,
            (self.slope * other.value - self.value * other.slope) / other.value**2,
        )

    @_exact_only
    def __rtruediv__(self, other: Any) -> Any:
        return other / self

    def __pow__(self, exponent: int) -> Dual:
        if exponent == 0:
            return Dual(Fraction(1), Fraction(0))
        return Dual(self.value**exponent, exponent * self.value ** (exponent - 1) * self.slope)

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Dual) else other)

    @_exact_only
    def __lt__(self, other: Any) -> Any:
        return self.value < other.value

    __hash__ = None  # type: ignore[assignment]
