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
from typing import Any

import sympy
from sympy import Dummy, Symbol
from sympy.core.symbol import Str
from sympy.logic.boolalg import BooleanAtom

from symroof.symbolic.applied import Quantity
from symroof.symbolic.expressions import (
    KEPT,
    ONE,
    OURS,
    ZERO,
    At,
    Expr,
    Label,
    OfLargest,
    Total,
    at,
    label,
    number,
    of_largest,
    relation,
    substitute,
    symbol,
    total,
)
from symroof.symbolic.no_value import UndefinedValue
from symroof.symbolic.reading import LARGEST_EXPONENT
from symroof.symbolic.slopes import derivative

Max, Min, floor = KEPT["max"], KEPT["min"], KEPT["floor"]
DEEPEST, MOST_NODES, MOST_BITS = 100, 100_000, 4096
SHOWN = 80
"""Characters of an expression that an error repeats."""
RELATIONS = (sympy.Eq, sympy.Le, sympy.Ge, sympy.Lt, sympy.Gt)


class UnsupportedExpression(ValueError):
    """A part of a SymPy object that formulas do not support."""


def is_sympy(thing: object) -> bool:
    """Whether something is a SymPy object.

    >>> is_sympy("batch"), is_sympy(3), is_sympy(sympy.Integer(3))
    (False, False, True)
    """
    return isinstance(thing, sympy.Basic) or type(thing).__module__.startswith("sympy.")


def shown(thing: Any, most: int = SHOWN) -> str:
    """The beginning of an expression as text, or its type if SymPy cannot print it (thousands of digits or levels)."""
    try:
        return str(thing)[:most]
    except (ValueError, RecursionError):
        return f"<{type(thing).__name__}>"


def by_name(found: Any) -> str:
    """The name of a symbol or a quantity, whatever else it is."""
    return found.name  # type: ignore[no-any-return]


def to_core(
    expression: Any,
    name: Callable[[Any], str] = by_name,
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
    return _Walker(name, constant).go(expression, 0)


class _Walker:
    def __init__(self, name: Callable[[Any], str], constant: Callable[[str], bool]) -> None:
        self.name, self.constant = name, constant
        self.bound: dict[Any, str] = {}
        self.results: dict[Any, Expr] = {}

    def go(self, node: Any, depth: int) -> Expr:
        if depth > DEEPEST or len(self.results) > MOST_NODES:
            raise UnsupportedExpression(
                f"an expression has at most {DEEPEST} levels and {MOST_NODES:,} parts"
            )
        if node not in self.results:
            rule = next((rule for kind, rule in RULES if isinstance(node, kind)), None)
            if rule is None:
                raise _refused(node)
            self.results[node] = rule(self, node, depth + 1)
        return self.results[node]

    def parts(self, node: Any, depth: int) -> list[Expr]:
        return [self.go(part, depth) for part in node.args]

    # -------------------------------------------------------------------------------------------------- names and numbers

    def symbol(self, node: Any, depth: int) -> Expr:
        return symbol(self.bound.get(node) or self.name(node))

    def quantity(self, node: Any, depth: int) -> Expr:
        own = self.name(node)
        changes = {key: self.go(value, depth) for key, value in node.changes.items()}
        return at(own, changes) if changes else symbol(own)

    def rational(self, node: Any, depth: int) -> Expr:
        exact = number(Fraction(str(node))) if node.is_Float else node
        if max(int(exact.p).bit_length(), int(exact.q).bit_length()) > MOST_BITS:
            raise UnsupportedExpression(f"a number has at most {MOST_BITS} bits")
        return exact

    # ---------------------------------------------------------------------------------------------------------- functions

    def same(self, node: Any, depth: int) -> Expr:
        """The same over the formulas of its parts; itself where it has no names."""
        made = self.parts(node, depth)
        if all(new is old for new, old in zip(made, node.args, strict=True)):
            return node
        return node.func(*made)

    def power(self, node: Any, depth: int) -> Expr:
        if node.exp.is_Number and abs(node.exp) > LARGEST_EXPONENT:
            raise UnsupportedExpression(f"an exponent is at most {LARGEST_EXPONENT}: {shown(node)}")
        return self.same(node, depth)

    def kept(self, node: Any, depth: int) -> Expr:
        ours = next(ours for theirs, ours in OURS.items() if isinstance(node, theirs))
        return ours(*self.parts(node, depth))

    def absolute(self, node: Any, depth: int) -> Expr:
        (inner,) = self.parts(node, depth)
        return Max(inner, -inner)

    def sign(self, node: Any, depth: int) -> Expr:
        (inner,) = self.parts(node, depth)
        return of_largest(ZERO, ZERO, inner, ONE, -inner, -ONE)

    def remainder(self, node: Any, depth: int) -> Expr:
        """``Mod``, of the sign of the divisor."""
        over, under = self.parts(node, depth)
        return over - under * floor(over / under)

    def step(self, node: Any, depth: int) -> Expr:
        """``Heaviside``, from derivatives of a maximum: the derivative of the active arm, or the mean of two equal arms."""
        inner, at_zero = self.parts(node, depth)
        return of_largest(Min(inner, ZERO), at_zero, inner, ONE, ZERO, ZERO)

    def elementary(self, node: Any, depth: int) -> Expr:
        """Any other function of SymPy that has values, and none that a person made up."""
        if getattr(sympy, type(node).__name__, None) is not type(node):
            raise _refused(node)
        return self.same(node, depth)

    # -------------------------------------------------------------------------- derivatives, sums, values at points, choices

    def bind(self, variable: Any, lasting: bool = False) -> tuple[Any, str]:
        """A symbol in place of a bound one, so that what depends on it is taken at its values; and its name."""
        new, name = Dummy(variable.name, real=True), variable.name
        if not lasting or name in self.bound.values() or self.constant(name):
            name = f"{name}_{len(self.bound)}"
        self.bound[new] = name
        return new, name

    def derivative(self, node: Any, depth: int) -> Expr:
        """A derivative that SymPy has not taken; those of names are names."""
        made = self.go(node.expr, depth)
        for by, times in node.variable_count:
            if not times.is_Integer:
                raise UnsupportedExpression(f"a derivative is taken so many times: {shown(node)}")
            inner = self.go(by, depth)
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

    def substituted(self, node: Any, depth: int) -> Expr:
        """``Subs``: an expression with some symbols substituted, in what depends on them, too."""
        inner, points = node.expr, {}
        for variable, point in zip(node.variables, node.point, strict=True):
            new, name = self.bind(variable)
            inner, points[name] = inner.xreplace({variable: new}), self.go(point, depth)
        return substitute(self.go(inner, depth), points)

    def sum(self, node: Any, depth: int) -> Expr:
        body, bounds = node.function, []
        for index, first, last in node.limits:
            new, name = self.bind(index, lasting=True)
            body = body.xreplace({index: new})
            bounds.append((name, self.go(first, depth), self.go(last, depth)))
        return reduce(lambda made, each: total(made, *each), bounds, self.go(body, depth))

    def choice(self, node: Any, depth: int) -> Expr:
        """A ``Piecewise``: the label of the largest arm where all values are labels, else a choice by each condition in turn."""
        pairs = [(pair.expr, pair.cond) for pair in node.args]
        arms = _label_arms(pairs)
        if arms is not None:
            return label([(text, self.go(key, depth)) for text, key in arms])
        if pairs[-1][1] != True:  # noqa: E712
            raise UnsupportedExpression(
                f"a Piecewise without a value for every case has no meaning here: {shown(node)}"
            )
        return reduce(
            lambda otherwise, pair: self.where(
                pair[1], self.go(pair[0], depth), otherwise, depth + 1
            ),
            reversed(pairs[:-1]),
            self.go(pairs[-1][0], depth),
        )

    def where(self, condition: Any, value: Expr, otherwise: Expr, depth: int) -> Expr:
        """A value where a condition holds, else another."""

        def inner(part: Any, one: Expr, other: Expr) -> Expr:
            return self.where(part, one, other, depth + 1)

        if depth > DEEPEST:
            raise UnsupportedExpression(f"an expression has at most {DEEPEST} levels")
        match condition:
            case sympy.And():
                return reduce(
                    lambda made, part: inner(part, made, otherwise), condition.args, value
                )
            case sympy.Or():
                return reduce(
                    lambda made, part: inner(part, value, made), condition.args, otherwise
                )
            case sympy.Not():
                return inner(condition.args[0], otherwise, value)
            case sympy.ITE():
                first, then, other = condition.args
                return inner(first, inner(then, value, otherwise), inner(other, value, otherwise))
            case BooleanAtom():
                return value if condition else otherwise
            case sympy.Ge() | sympy.Le() | sympy.Gt() | sympy.Lt():
                larger, smaller = self.go(condition.gts, depth), self.go(condition.lts, depth)
                if isinstance(condition, (sympy.Ge, sympy.Le)):
                    return of_largest(larger, value, smaller, otherwise)
                return of_largest(smaller, otherwise, larger, value)
        raise _refused(condition)

    def relation(self, node: Any, depth: int) -> Expr:
        left, right = self.parts(node, depth)
        return relation("=" if node.rel_op == "==" else node.rel_op, left, right)

    # ------------------------------------------------------------------------------------------- what is a formula already

    def opaque(self, node: Any, depth: int) -> Expr:
        args = [part if isinstance(part, Str) else self.go(part, depth) for part in node.args]
        return node.func(*args)


def _refused(node: Any) -> UnsupportedExpression:
    kind = type(node).__name__
    article = "an" if kind[0] in "AEIOUaeiou" else "a"
    return UnsupportedExpression(f"{article} {kind} has no meaning here: {shown(node)}")


def _label_arms(pairs: list[tuple[Any, Any]]) -> list[tuple[str, Any]] | None:
    """The arms of a label, in the form that :func:`symroof.symbolic.applied.to_user` writes; None for anything else."""
    if (
        not all(isinstance(value, Symbol) and value.is_real is None for value, _ in pairs)
        or pairs[-1][1] != True  # noqa: E712
    ):
        return None
    against = [
        [
            (part.gts, part.lts) if isinstance(part, (sympy.Ge, sympy.Le)) else None
            for part in (cond.args if isinstance(cond, sympy.And) else (cond,))
        ]
        for _, cond in pairs[:-1]
    ]
    keys = [parts[0][0] for parts in against if parts[0]]
    if len(keys) < len(pairs) - 1 or any(
        part is None or part[0] != key
        for key, parts in zip(keys, against, strict=True)
        for part in parts
    ):
        return None
    keys += [part[1] for part in against[-1] if part][:1]
    return [(str(value), key) for (value, _), key in zip(pairs, keys, strict=True)]


RULES: tuple[tuple[Any, Callable[[_Walker, Any, int], Expr]], ...] = (
    (Symbol, _Walker.symbol),
    (Quantity, _Walker.quantity),
    ((sympy.Rational, sympy.Float), _Walker.rational),
    ((sympy.Add, sympy.Mul), _Walker.same),
    (sympy.Pow, _Walker.power),
    (tuple(OURS), _Walker.kept),
    (sympy.Abs, _Walker.absolute),
    (sympy.sign, _Walker.sign),
    (sympy.Mod, _Walker.remainder),
    (sympy.Heaviside, _Walker.step),
    (
        sympy.DiracDelta,
        lambda walker, node, depth: ZERO,
    ),  # second derivative of a maximum, away from its kinks
    (sympy.Derivative, _Walker.derivative),
    (sympy.Subs, _Walker.substituted),
    (sympy.Sum, _Walker.sum),
    (sympy.Piecewise, _Walker.choice),
    (sympy.NumberSymbol, lambda walker, node, depth: node),
    (RELATIONS, _Walker.relation),
    ((At, Label, OfLargest, Total), _Walker.opaque),
    (sympy.Function, _Walker.elementary),
)
"""The conversion for each SymPy type; the first match applies."""
