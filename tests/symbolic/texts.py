"""Random formulas as text, with values for their names, and what Python itself makes of them."""

import math
from fractions import Fraction

import numpy as np
import sympy
from hypothesis import strategies as st

from symroof.symbolic.expressions import fraction
from symroof.symbolic.nodes import Total

NAMES = ("a", "b", "c", "prompt", "x1")


class Values:
    """Values of names, as floats or arrays; a quantity at changed inputs is out of place here."""

    def __init__(self, values):
        self.values = {
            name: value if np.ndim(value) else float(value) for name, value in values.items()
        }
        self.axes = max(map(np.ndim, self.values.values()), default=0)

    def value(self, name):
        return self.values[name]

    def at(self, name, changes):
        raise AssertionError(name)


def exact_value(tree, point):
    """The value of a formula in Python's own fractions; None where it divides by zero."""

    def go(node):
        if node.is_Symbol:
            return Fraction(point[node.name])
        if node.is_Rational:
            return fraction(node)
        if isinstance(node, Total):
            steps = range(int(go(node.first)), int(go(node.last)) + 1)
            terms = (exact_value(node.body, {**point, node.index: j}) for j in steps)
            return sum(terms, Fraction(0))
        args = list(map(go, node.args))
        if node.is_Add:
            return sum(args)
        if node.is_Mul:
            return math.prod(args)
        if node.is_Pow:
            return args[0] ** args[1]
        return next(made for kind, made in FUNCTIONS.items() if isinstance(node, kind))(*args)

    try:
        return go(tree)
    except ZeroDivisionError:
        return None


FUNCTIONS = {
    sympy.Max: lambda *args: max(args),
    sympy.Min: lambda *args: min(args),
    sympy.ceiling: lambda x: Fraction(math.ceil(x)),
    sympy.floor: lambda x: Fraction(math.floor(x)),
}


def quotients(over, under):
    """Fractions of two whole numbers: ``st.fractions`` takes ten times as long to draw one."""
    return st.tuples(over, under).map(lambda pair: Fraction(*pair))


positive = quotients(st.integers(1, 60), st.integers(1, 60))
points = st.fixed_dictionaries(dict.fromkeys(NAMES, positive))
numbers = st.integers(0, 30).map(str) | st.sampled_from(
    ["0.5", "2.25", "1e3", "1.5e-2", ".75", "12."]
)


def _joined(inner, operators):
    return st.lists(inner, min_size=2, max_size=4).flatmap(
        lambda parts: st.lists(
            st.sampled_from(operators), min_size=len(parts) - 1, max_size=len(parts) - 1
        ).map(
            lambda signs: (
                parts[0]
                + "".join(f"{sign}{part}" for sign, part in zip(signs, parts[1:], strict=True))
            )
        )
    )


def _grown(inner):
    """Operators side by side without parentheses, so that precedence is what decides."""
    bracketed = inner.map(lambda text: f"({text})")
    either = inner | bracketed
    powers = st.tuples(bracketed | st.sampled_from(NAMES), st.integers(-3, 4)).map(
        lambda pair: f"{pair[0]}**{pair[1]}"
    )
    signed = either.map(lambda text: f"-{text}")
    return _joined(either, ["+", "-", "*", "/", " + ", " * "]) | powers | signed


arithmetic = st.recursive(numbers | st.sampled_from(NAMES), _grown, max_leaves=12)
"""Formulas of ``+ - * / **``, numbers, names and parentheses."""

with_functions = st.recursive(
    numbers | st.sampled_from(NAMES),
    lambda inner: (
        _grown(inner)
        | st.tuples(st.sampled_from(["max", "min"]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda call: f"{call[0]}({', '.join(call[1])})"
        )
        | st.tuples(st.sampled_from(["ceil", "floor"]), inner).map(
            lambda call: f"{call[0]}({call[1]})"
        )
    ),
    max_leaves=10,
)
"""The same with ``max min ceil floor``."""
