"""The value of a SymPy expression in floats, its symbols taken from a case."""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from operator import mul
from typing import Any

import sympy

from symroof.symbolic.kernels import MOST_TERMS, ceiling, floor


class NoNumber(ArithmeticError):
    """An expression has no real value here."""


class Numbers:
    """Values of expressions; ``of`` gives that of a name.

    >>> x, y = sympy.symbols("x y")
    >>> numbers = Numbers({"y": 3.0}.__getitem__)
    >>> numbers(sympy.Max(x, y)*2 + sympy.ceiling(x/2), {x: 5.0})
    13.0
    """

    def __init__(self, of: Callable[[str], float]) -> None:
        self.of = of
        self._known: dict[Any, float] = {}

    def __call__(self, expr: Any, at: Mapping[Any, float] | None = None) -> float:
        """The value with some symbols set.

        Raises:
            NoNumber: it has none.
        """
        made: dict[Any, float] = dict(at or {})
        try:
            return self._value(expr, made)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise NoNumber(str(error)) from None

    def size(self, expr: Any, at: Mapping[Any, float] | None = None) -> float:
        """The sum of the sizes of an expression's terms: what rounding is a share of."""
        return sum(abs(self(term, at)) for term in sympy.Add.make_args(expr))

    def _value(self, node: Any, made: dict[Any, float]) -> float:
        if node in made:
            return made[node]
        if node.is_Number:
            return float(node)
        if node.is_Symbol:
            if node not in self._known:
                self._known[node] = float(self.of(node.name))
            return self._known[node]
        if isinstance(node, sympy.Sum):
            return self._sum(node, made)
        if isinstance(node, sympy.Piecewise):
            made[node] = next(
                self._value(arm, made) for arm, when in node.args if self._holds(when, made)
            )
        else:
            made[node] = _worked_out(node, [self._value(arg, made) for arg in node.args])
        return made[node]

    def _holds(self, condition: Any, made: dict[Any, float]) -> bool:
        if isinstance(condition, (sympy.And, sympy.Or)):
            parts = (self._holds(part, made) for part in condition.args)
            return all(parts) if isinstance(condition, sympy.And) else any(parts)
        if isinstance(condition, sympy.core.relational.Relational):
            return bool(
                _compared(condition.rel_op, *(self._value(side, made) for side in condition.args))
            )
        return bool(condition)

    def _sum(self, node: Any, made: dict[Any, float]) -> float:
        index, first, last = node.limits[0]
        start, end = (round(self._value(bound, made)) for bound in (first, last))
        if end - start > MOST_TERMS:
            raise NoNumber("a sum of too many terms")
        outside = {symbol: value for symbol, value in made.items() if symbol.is_Symbol}
        return sum(
            self._value(node.function, {**outside, index: float(i)}) for i in range(start, end + 1)
        )


def _compared(operator: str, left: float, right: float) -> bool:
    return {
        "<=": left <= right,
        ">=": left >= right,
        "<": left < right,
        ">": left > right,
        "==": left == right,
    }[operator]


def _worked_out(node: Any, args: list[float]) -> float:
    """A node of these arguments."""
    match node:
        case sympy.Add():
            return math.fsum(args)
        case sympy.Mul():
            return reduce(mul, args)
        case sympy.Pow():
            value = args[0] ** args[1]
            if isinstance(value, complex):
                raise NoNumber("a root of a negative number")
            return float(value)
        case sympy.Max():
            return max(args)
        case sympy.Min():
            return min(args)
        case sympy.ceiling():
            return float(ceiling(args[0]))
        case sympy.floor():
            return float(floor(args[0]))
        case sympy.log():
            return math.log(args[0])
        case sympy.exp():
            return math.exp(args[0])
    return float(node.func(*args).evalf())
