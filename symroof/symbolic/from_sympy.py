"""What a caller hands over in SymPy, as a formula: node by node, bounded, never by printing and parsing; what has no meaning is named.

>>> x, y = sympy.symbols("batch context", positive=True)
>>> to_core(sympy.Max(2*x/y, sympy.ceiling(x)) + sympy.sqrt(y))
sqrt(context) + Max(2*batch/context, ceiling(batch))
>>> to_core(1 + sympy.Integral(x, x))
Traceback (most recent call last):
    ...
symroof.symbolic.from_sympy.UnsupportedExpression: an Integral has no meaning here: Integral(batch, batch)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from operator import attrgetter
from typing import Any

import sympy
from sympy import Dummy, Symbol
from sympy.core.symbol import Str
from sympy.logic.boolalg import BooleanAtom

from symroof.errors import UndefinedValue
from symroof.symbolic.applied import Quantity
from symroof.symbolic.expressions import (
    ONE,
    ZERO,
    Expr,
    at,
    label,
    number,
    of_largest,
    operator_of,
    relation,
    substitute,
    symbol,
    total,
)
from symroof.symbolic.nodes import OURS, Max, Min, Opaque, floor
from symroof.symbolic.reading import LARGEST_EXPONENT
from symroof.symbolic.slopes import derivative

DEEPEST, MOST_NODES, MOST_BITS = 100, 100_000, 4096
IN_OTHERS: dict[Any, Callable[..., Expr]] = {
    **OURS,
    sympy.Abs: lambda x: Max(x, -x),
    sympy.sign: lambda x: of_largest(ZERO, ZERO, x, ONE, -x, -ONE),
    sympy.Mod: lambda x, y: x - y * floor(x / y),
    sympy.Heaviside: lambda x, zero: of_largest(Min(x, ZERO), zero, x, ONE, ZERO, ZERO),
    sympy.DiracDelta: lambda *args: ZERO,
}
"""Functions that formulas say with others. ``Heaviside`` comes from derivatives of a maximum: of the active arm, or the mean of two equal ones;
``DiracDelta`` from second ones, away from the kinks."""


class UnsupportedExpression(ValueError):
    """A part of a SymPy object that formulas do not support."""


def is_sympy(thing: object) -> bool:
    """Whether something is a SymPy object.

    >>> is_sympy("batch"), is_sympy(3), is_sympy(sympy.Integer(3))
    (False, False, True)
    """
    return isinstance(thing, sympy.Basic) or type(thing).__module__.startswith("sympy.")


def shown(thing: Any, most: int = 80) -> str:
    """The beginning of an expression as text, or its type if SymPy cannot print it (thousands of digits or levels)."""
    try:
        return str(thing)[:most]
    except (ValueError, RecursionError):
        return f"<{type(thing).__name__}>"


def to_core(
    expression: Any,
    name: Callable[[Any], str] = attrgetter("name"),
    constant: Callable[[str], bool] = lambda name: False,
) -> Expr:
    """The formula of a SymPy expression or relation.

    Args:
        expression: what the caller wrote.
        name: the name that a symbol stands for; it raises for one that stands for none.
        constant: whether a name depends on no other.

    Raises:
        UnsupportedExpression: a part that has no meaning in formulas, an expression that is too large.
    """
    if not getattr(expression, "__hash__", None):  # a mutable matrix
        raise _refused(expression)
    return _Walker(name, constant).go(expression)


class _Walker:
    def __init__(self, name: Callable[[Any], str], constant: Callable[[str], bool]) -> None:
        self.name, self.constant, self.depth = name, constant, 0
        self.bound: dict[Any, str] = {}
        self.results: dict[Any, Expr] = {}

    def go(self, node: Any) -> Expr:
        self.deeper()
        if node not in self.results:
            rule = next((rule for kind, rule in RULES if isinstance(node, kind)), None)
            if rule is None:
                raise _refused(node)
            self.results[node] = rule(self, node)
        self.depth -= 1
        return self.results[node]

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST + 1 or len(self.results) > MOST_NODES:
            message = f"an expression has at most {DEEPEST} levels and {MOST_NODES:,} parts"
            raise UnsupportedExpression(message)

    def symbol(self, node: Any) -> Expr:
        return symbol(self.bound.get(node) or self.name(node))

    def quantity(self, node: Any) -> Expr:
        own = self.name(node)
        changes = {key: self.go(value) for key, value in node.changes.items()}
        return at(own, changes) if changes else symbol(own)

    def rational(self, node: Any) -> Expr:
        exact = number(Fraction(str(node))) if node.is_Float else node
        if max(int(exact.p).bit_length(), int(exact.q).bit_length()) > MOST_BITS:
            raise UnsupportedExpression(f"a number has at most {MOST_BITS} bits")
        return exact

    def same(self, node: Any) -> Expr:
        """The same over the formulas of its parts; itself where it has no names."""
        made = [part if isinstance(part, Str) else self.go(part) for part in node.args]
        if all(new is old for new, old in zip(made, node.args, strict=True)):
            return node
        return node.func(*made)

    def power(self, node: Any) -> Expr:
        if node.exp.is_Number and abs(node.exp) > LARGEST_EXPONENT:
            raise UnsupportedExpression(f"an exponent is at most {LARGEST_EXPONENT}: {shown(node)}")
        return self.same(node)

    def function(self, node: Any) -> Expr:
        """A function of SymPy that has values, and none that a person made up."""
        for kind, said in IN_OTHERS.items():
            if isinstance(node, kind):
                return said(*map(self.go, node.args))
        if getattr(sympy, type(node).__name__, None) is not type(node):
            raise _refused(node)
        return self.same(node)

    def bind(self, variable: Any, lasting: bool = False) -> tuple[Any, str]:
        """A symbol in place of a bound one, so that what depends on it is taken at its values; and its name."""
        new, name = Dummy(variable.name, real=True), variable.name
        if not lasting or name in self.bound.values() or self.constant(name):
            name = f"{name}_{len(self.bound)}"
        self.bound[new] = name
        return new, name

    def derivative(self, node: Any) -> Expr:
        """A derivative that SymPy has not taken; those of names are names."""
        made = self.go(node.expr)
        for by, times in node.variable_count:
            if not times.is_Integer:
                raise UnsupportedExpression(f"a derivative is taken so many times: {shown(node)}")
            inner = self.go(by)
            if not inner.is_Symbol:
                raise UnsupportedExpression(f"a derivative is by names: {shown(node)}")
            moves = partial(self.moves, by in self.bound)
            for _ in range(int(times)):
                try:
                    made = derivative(made, inner.name, moves)
                except UndefinedValue as error:
                    raise UnsupportedExpression(f"{error}: it has no meaning here") from None
        return made

    def moves(self, by_bound: bool, name: str) -> bool:
        """Whether a name may depend on what is differentiated by."""
        return not (by_bound or self.constant(name) or name in self.bound.values())

    def substituted(self, node: Any) -> Expr:
        """``Subs``: an expression with some symbols substituted, in what depends on them, too."""
        inner, points = node.expr, {}
        for variable, point in zip(node.variables, node.point, strict=True):
            new, name = self.bind(variable)
            inner, points[name] = inner.xreplace({variable: new}), self.go(point)
        return substitute(self.go(inner), points)

    def sum(self, node: Any) -> Expr:
        body, bounds = node.function, []
        for index, first, last in node.limits:
            new, name = self.bind(index, lasting=True)
            body = body.xreplace({index: new})
            bounds.append((name, self.go(first), self.go(last)))
        return reduce(lambda made, each: total(made, *each), bounds, self.go(body))

    def choice(self, node: Any) -> Expr:
        """A ``Piecewise``: the label of the largest arm where all values are labels, else a choice by each condition in turn."""
        *others, (last, sure) = [(pair.expr, pair.cond) for pair in node.args]
        if sure != True:  # noqa: E712
            raise UnsupportedExpression(
                f"a Piecewise without a value for every case has no meaning here: {shown(node)}"
            )
        if keys := _keys_of_labels(others, last):
            texts = (str(value) for value in (*(value for value, _ in others), last))
            return label([(text, self.go(key)) for text, key in zip(texts, keys, strict=True)])
        made = self.go(last)
        for value, condition in reversed(others):
            made = self.where(condition.to_nnf(simplify=False), self.go(value), made)
        return made

    def where(self, condition: Any, value: Expr, otherwise: Expr) -> Expr:
        """A value where a condition holds, else another."""
        self.deeper()
        match condition:
            case sympy.And():
                for part in condition.args:
                    value = self.where(part, value, otherwise)
            case sympy.Or():
                for part in condition.args:
                    otherwise = self.where(part, value, otherwise)
                value = otherwise
            case BooleanAtom():
                value = value if condition else otherwise
            case sympy.Ge() | sympy.Le():
                larger, smaller = self.go(condition.gts), self.go(condition.lts)
                value = of_largest(larger, value, smaller, otherwise)
            case sympy.Gt() | sympy.Lt():
                larger, smaller = self.go(condition.gts), self.go(condition.lts)
                value = of_largest(smaller, otherwise, larger, value)
            case _:
                raise _refused(condition)
        self.depth -= 1
        return value

    def relation(self, node: Any) -> Expr:
        return relation(operator_of(node), *map(self.go, node.args))


def _refused(node: Any) -> UnsupportedExpression:
    kind = type(node).__name__
    article = "an" if kind[0] in "AEIOUaeiou" else "a"
    return UnsupportedExpression(f"{article} {kind} has no meaning here: {shown(node)}")


def _keys_of_labels(others: list[tuple[Any, Any]], last: Any) -> list[Any]:
    """What is compared in a choice of labels, in the form that :func:`symroof.symbolic.applied.translator` writes; empty for anything else."""
    values = (*(value for value, _ in others), last)
    if not all(isinstance(value, Symbol) and value.is_real is None for value in values):
        return []
    keys: list[Any] = []
    for _, condition in others:
        parts = sympy.And.make_args(condition)
        if not all(isinstance(part, (sympy.Ge, sympy.Le)) for part in parts):
            return []
        keys += {part.gts for part in parts}
        smallest = next(iter(parts)).lts
    return [*keys, smallest] if len(keys) == len(others) else []


RULES: tuple[tuple[Any, Callable[[_Walker, Any], Expr]], ...] = (
    (Symbol, _Walker.symbol),
    (Quantity, _Walker.quantity),
    ((sympy.Rational, sympy.Float), _Walker.rational),
    ((sympy.Add, sympy.Mul, Opaque), _Walker.same),
    (sympy.Pow, _Walker.power),
    (sympy.Derivative, _Walker.derivative),
    (sympy.Subs, _Walker.substituted),
    (sympy.Sum, _Walker.sum),
    (sympy.Piecewise, _Walker.choice),
    (sympy.NumberSymbol, lambda walker, node: node),
    ((sympy.Eq, sympy.Le, sympy.Ge, sympy.Lt, sympy.Gt), _Walker.relation),
    ((sympy.Max, sympy.Min, sympy.Function), _Walker.function),
)
"""The conversion for each SymPy type; the first match applies."""
