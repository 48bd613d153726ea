"""The derivative of a formula by a name: a formula again, in which the derivatives of other names are names.

Maxima, sums and quantities at changed inputs have rules of their own, as has the chain rule over names; what is left are sums,
products, powers and SymPy's functions. ``sympy.diff`` would take ten times as long.

>>> from symroof.symbolic.printing import text
>>> from symroof.symbolic.reading import parse
>>> sorted(text(derivative(parse("2*y*x"), "x")).split(" + "))
['2*Derivative(y, x)*x', '2*y']
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import sympy

from symroof.symbolic.expressions import (
    ONE,
    ZERO,
    At,
    DerivativeName,
    Expr,
    Max,
    Min,
    OfLargest,
    Total,
    UndefinedValue,
    at,
    is_condition_or_label,
    of_largest,
    sums,
    symbol,
    total,
)

SLOPE_BY_TERM_COUNT = DerivativeName.of("sum", "number of its terms")
"""The derivative of a sum by its number of terms, which has no value."""


def derivative(expr: Expr, by: str, moves: Callable[[str], bool] = lambda name: True) -> Expr:
    """The derivative of a formula by one of its names, on the active arm; a rounding is constant between its jumps.

    Where two arms are equal it is the mean of their derivatives, which is exact where kinks cancel, as in ``max(x, 1)*min(x, 1)``.

    Args:
        expr: the formula.
        by: the name to differentiate by.
        moves: whether another name may depend on it; its derivative is then in the result as a :class:`DerivativeName`.

    Raises:
        UndefinedValue: of a condition or a label, or of a function without a known derivative.

    >>> from symroof.symbolic.printing import text
    >>> from symroof.symbolic.reading import parse
    >>> text(derivative(parse("max(itl, ceil(batch)*ttft)"), "batch", lambda name: name == "itl"))
    'of_largest(min(itl, ttft*ceil(batch)), Derivative(itl, batch)/2, itl, Derivative(itl, batch), ttft*ceil(batch), 0)'
    """
    if is_condition_or_label(expr):
        raise UndefinedValue("a condition or a label has no slope")
    return _Slopes(by, moves, {node.index for node in sums(expr)}).of(expr)


class _Slopes:
    def __init__(self, by: str, moves: Callable[[str], bool], indices: set[str]) -> None:
        self.by, self.moves, self.indices = by, moves, indices
        self.known: dict[Any, Any] = {}

    def of(self, expr: Any) -> Any:
        if expr not in self.known:
            self.known[expr] = self.slope(expr)
        return self.known[expr]

    def of_name(self, name: str) -> Any:
        if name == self.by:
            return ONE
        moving = name not in self.indices and self.moves(name)
        return symbol(DerivativeName.of(name, self.by)) if moving else ZERO

    def slope(self, node: Any) -> Any:
        match node:
            case sympy.Symbol():
                return self.of_name(node.name)
            case sympy.Add():
                return sympy.Add(*map(self.of, node.args))
            case sympy.Mul():
                each = [
                    sympy.Mul(slope, *node.args[:i], *node.args[i + 1 :])
                    for i, slope in enumerate(map(self.of, node.args))
                    if slope != 0
                ]
                return sympy.Add(*each)
            case sympy.Pow():
                base, exponent = map(self.of, node.args)
                along = ZERO if base == 0 else node.exp * node.base ** (node.exp - 1) * base
                return along if exponent == 0 else along + node * sympy.log(node.base) * exponent
            case sympy.ceiling() | sympy.floor():
                return ZERO
            case sympy.Max() | sympy.Min():
                sign = 1 if isinstance(node, sympy.Max) else -1
                return _of_largest_arm([(sign * arg, self.of(arg)) for arg in node.args])
            case OfLargest():
                return of_largest(*chain(*zip(node.keys, map(self.of, node.values), strict=True)))
            case At():  # the chain rule over the changed inputs, plus the direct dependence
                changes, direct = dict(node.changes), {}
                if self.by not in changes and self.moves(node.name):
                    direct = {self.by: ONE}
                slopes = {key: self.of(value) for key, value in changes.items()} | direct
                return sympy.Add(
                    *(
                        slope * at(DerivativeName.of(node.name, key), node.changes)
                        for key, slope in slopes.items()
                    )
                )
            case Total():  # a factor without value marks that the number of terms depends on the name
                body, bounds = self.of(node.body), (self.of(node.first), self.of(node.last))
                slope = ZERO if body == 0 else total(body, node.index, node.first, node.last)
                return sympy.Add(slope, *(bound * symbol(SLOPE_BY_TERM_COUNT) for bound in bounds))
        inner = ((i, self.of(arg)) for i, arg in enumerate(node.args, 1))
        return sympy.Add(*(_partial(node, i) * slope for i, slope in inner if slope != 0))


def _partial(function: Any, argument: int) -> Any:
    """The derivative of a function of SymPy by one of its arguments.

    Raises:
        UndefinedValue: SymPy has none.
    """
    try:
        found = function.fdiff(argument)
    except sympy.core.function.ArgumentIndexError:
        found = sympy.nan
    if found.has(sympy.Derivative, sympy.Subs, sympy.nan, sympy.zoo):
        raise UndefinedValue(f"the slope of {type(function).__name__}()")
    return found


def _of_largest_arm(arms: list[tuple[Any, Any]]) -> Any:
    """The derivative of the largest arm, built arm by arm, each with its own; the mean of two equal arms."""
    largest, slope = arms[0]
    for arm, other in arms[1:]:
        if other != slope:
            meeting = Min(largest, arm)
            slope = of_largest(meeting, sympy.S.Half * (slope + other), largest, slope, arm, other)
        largest = Max(largest, arm)
    return slope
