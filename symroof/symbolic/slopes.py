"""The derivative of a formula by a name: a formula again, in which the derivatives of other names are names.

SymPy differentiates what is smooth. Maxima, roundings, sums and quantities at changed inputs are put aside as symbols first, each
with a slope of its own.

>>> from symroof.symbolic.printing import text
>>> from symroof.symbolic.reading import parse
>>> sorted(text(derivative(parse("2*y*x"), "x")).split(" + "))
['2*Derivative(y, x)*x', '2*y']
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import Any

import sympy

from symroof.errors import UndefinedValue
from symroof.symbolic.expressions import (
    EACH,
    ONE,
    ZERO,
    DerivativeName,
    Expr,
    at,
    is_condition_or_label,
    of_largest,
    sums,
    symbol,
    total,
)
from symroof.symbolic.nodes import At, Max, Min, OfLargest, Total

SLOPE_BY_TERM_COUNT = DerivativeName.of("sum", "number of its terms")
"""The derivative of a sum by its number of terms, which has no value."""
HOLES = (sympy.Max, sympy.Min, sympy.ceiling, sympy.floor, OfLargest, At, Total)
"""What SymPy would differentiate otherwise than is meant here, or not at all."""


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
        """The chain rule over the names and over what is put aside."""
        if expr not in self.known:
            self.known[expr] = self.of_hole(expr) if isinstance(expr, HOLES) else self.smooth(expr)
        return self.known[expr]

    def smooth(self, expr: Any) -> Any:
        slope = ZERO
        for part in _inner(expr)[1]:
            inner = self.of_name(part.name) if part.is_Symbol else self.of(part)
            if inner == 0:
                continue
            term = _partial(expr, part) * inner
            if self.by == EACH and any(not power.exp.is_number for power in term.atoms(sympy.Pow)):
                # of a power of nothing, what does not move is not computed
                term = OfLargest(ZERO, ZERO, Max(inner, -inner), term)
            slope += term
        return slope

    def of_name(self, name: str) -> Any:
        if name == self.by:
            return ONE
        moving = name not in self.indices and self.moves(name)
        return symbol(DerivativeName.of(name, self.by)) if moving else ZERO

    def of_hole(self, node: Any) -> Any:
        match node:
            case sympy.Max() | sympy.Min():
                sign = 1 if isinstance(node, sympy.Max) else -1
                return _of_largest_arm([(sign * arg, self.of(arg)) for arg in node.args])
            case OfLargest():
                return of_largest(*chain(*zip(node.keys, map(self.of, node.values), strict=True)))
            case At() if self.by == EACH:  # what the changed inputs move by is changed with them
                slopes = {key: self.of(x) for key, x in node.changes}
                moved = {x: slope for x, slope in slopes.items() if slope != 0 or self.moves(x)}
                if not moved and not self.moves(node.name):
                    return ZERO
                seeds = [(DerivativeName.of(x, EACH), slope) for x, slope in moved.items()]
                return at(DerivativeName.of(node.name, EACH), (*node.changes, *seeds))
            case At():  # the chain rule over the changed inputs, plus the direct dependence
                changes, direct = dict(node.changes), {}
                if self.by not in changes and self.moves(node.name):
                    direct = {self.by: ONE}
                slopes = {key: self.of(value) for key, value in changes.items()} | direct
                by_each = {x: at(DerivativeName.of(node.name, x), node.changes) for x in slopes}
                return sympy.Add(*(slope * by_each[x] for x, slope in slopes.items()))
            case Total():  # a factor without value marks that the number of terms depends on the name
                body, bounds = self.of(node.body), (self.of(node.first), self.of(node.last))
                slope = ZERO if body == 0 else total(body, node.index, node.first, node.last)
                return sympy.Add(slope, *(bound * symbol(SLOPE_BY_TERM_COUNT) for bound in bounds))
        return ZERO


def _outermost(expr: Any) -> dict[Any, None]:
    """The parts to put aside that are in no other, each once."""
    if isinstance(expr, HOLES):
        return {expr: None}
    return {hole: None for arg in expr.args for hole in _outermost(arg)}


@lru_cache(maxsize=8192)
def _inner(expr: Any) -> tuple[Any, dict[Any, Any]]:
    """An expression with symbols for what is put aside, and what it is made of: parts and names, each with its symbol."""
    holes = {hole: sympy.Dummy(real=True) for hole in _outermost(expr)}
    body = expr.xreplace(holes)
    named = sorted(body.free_symbols - {*holes.values()}, key=lambda part: str(part.name))
    return body, {**{part: part for part in named}, **holes}


@lru_cache(maxsize=32768)
def _partial(expr: Any, part: Any) -> Any:
    """SymPy's derivative by a name or a part that is put aside; the same whatever the whole is differentiated by."""
    body, symbols = _inner(expr)
    found = sympy.diff(body, symbols[part])
    if found.has(sympy.Derivative, sympy.Subs, sympy.nan, sympy.zoo):
        raise UndefinedValue(f"the slope of {type(expr).__name__}()")
    return found.xreplace({own: hole for hole, own in symbols.items()})


def _of_largest_arm(arms: list[tuple[Any, Any]]) -> Any:
    """The derivative of the largest arm, built arm by arm, each with its own; the mean of two equal arms."""
    largest, slope = arms[0]
    for arm, other in arms[1:]:
        if other != slope:
            meeting = Min(largest, arm)
            slope = of_largest(meeting, sympy.S.Half * (slope + other), largest, slope, arm, other)
        largest = Max(largest, arm)
    return slope
