"""Formulas as SymPy solves them, and back: symbols with signs, its own sums, and choices as a ``Piecewise``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.core.symbol import Str

from symroof.symbolic.expressions import OURS, Label, OfLargest, Total, symbol, total


def by_label(name: str) -> Any:
    """The symbol of a label such as ``compute``, without assumptions because it is not a number."""
    return sympy.Symbol(name)


def chosen(keys: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """The value whose key is largest, the first of equal ones."""
    arms = [
        (value, sympy.And(*(sympy.Ge(key, other, evaluate=False) for other in keys[i + 1 :])))
        for i, (key, value) in enumerate(zip(keys, values, strict=True))
    ]
    return sympy.Piecewise(*arms, evaluate=False)


class Solvable:
    """Turns formulas into what SymPy solves; ``of`` gives the symbol of a name. Of equal parts one is turned.

    >>> from symroof.symbolic.reading import parse
    >>> Solvable(lambda name: sympy.Symbol(name, positive=True))(parse("sum(a*j, j, 1, n)"))
    Sum(a*j, (j, 1, n))
    """

    def __init__(self, of: Callable[[str], Any]) -> None:
        self.of = of
        self.known: dict[Any, Any] = {}

    def __call__(self, node: Any) -> Any:
        if node not in self.known:
            self.known[node] = self._turned(node)
        return self.known[node]

    def _turned(self, node: Any) -> Any:
        if node.is_Symbol:
            return self.of(node.name)
        if isinstance(node, Str) or not node.args:
            return node
        args = tuple(map(self, node.args))
        if isinstance(node, Total):
            return sympy.Sum(args[0], (self.of(node.index), args[2], args[3]))
        if isinstance(node, OfLargest):
            return chosen(args[::2], args[1::2])
        if isinstance(node, Label):
            return chosen(args[1::2], tuple(by_label(name) for name, _ in node.arms))
        if isinstance(node, Relational):
            return node.func(*args, evaluate=False)
        return node.func(*args)


def formula(expr: Any) -> Any:
    """The formula of an expression over plain symbols; None where it is infinite or not real.

    >>> a, b = sympy.symbols("a b", positive=True)
    >>> formula(sympy.Piecewise((a, a >= b), (b, True))*2)
    2*OfLargest(a, a, b, b)
    """
    if expr.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I):
        return None
    return _back(expr, {})


def _back(node: Any, known: dict[Any, Any]) -> Any:
    if node not in known:
        known[node] = _returned(node, lambda part: _back(part, known))
    return known[node]


def _returned(node: Any, go: Callable[[Any], Any]) -> Any:
    if node.is_Symbol:
        return symbol(node.name)
    if isinstance(node, Str) or not node.args:
        return node
    if isinstance(node, sympy.Piecewise):
        return _choice(node, go)
    if isinstance(node, sympy.Sum):
        index, first, last = node.limits[0]
        return total(go(node.function), index.name, go(first), go(last))
    args = tuple(map(go, node.args))
    if isinstance(node, Relational):
        return node.func(*args, evaluate=False)
    ours = next((mine for theirs, mine in OURS.items() if isinstance(node, theirs)), None)
    return (ours or node.func)(*args)


def _choice(node: Any, go: Callable[[Any], Any]) -> Any:
    """The pairs of a choice whose conditions compare keys: that of each arm against all later ones."""
    keys: list[Any] = []
    for _, condition in node.args[:-1]:
        duel = condition.args[0] if isinstance(condition, sympy.And) else condition
        keys.append(duel.gts)
    last = node.args[-2][1]
    keys.append((last.args[-1] if isinstance(last, sympy.And) else last).lts)
    values = (value for value, _ in node.args)
    return OfLargest(*(go(part) for pair in zip(keys, values, strict=True) for part in pair))
