"""Prints a formula once as a Python function of its environment, which gives names their values: floats or arrays along scenarios.

``e`` is the environment; what the functions do is :mod:`symroof.symbolic.kernels`.

>>> from symroof.symbolic.reading import parse
>>> print(python(parse("2*max(a, b) + a/b"), ()).text)
def formula(e):
    v = e.value
    return ((2.0*max(v('a'),v('b')))+div(v('a'),v('b')))
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import S
from sympy.core.relational import Relational

from symroof.symbolic.expressions import (
    At,
    Expr,
    Label,
    OfLargest,
    Total,
    halves,
    names,
    operator_of,
    parts,
    symbol,
)

ASKS = re.compile(r"\bv\(")
CALLED = {
    sympy.Max: "max",
    sympy.Min: "min",
    sympy.ceiling: "ceil",
    sympy.floor: "floor",
    sympy.log: "log",
    sympy.exp: "exp",
}
"""Functions that generated code calls by name; all others are SymPy's."""
DEEPEST, WORTH_SHARING, LONGEST_SUM = 24, 4, 64
"""Deeper parts, and repeated parts of at least this many nodes, become functions; longer sums are nested."""
NO_VALUE = "no_value()"


@dataclass(frozen=True)
class GeneratedCode:
    """The text of a function, and the names that it refers to by variables: formulas used as names."""

    text: str
    constants: dict[str, Any]


def python(expr: Expr, bound: Sequence[str], careful: bool = False) -> GeneratedCode:
    """A formula as a function of its environment and its ``bound`` names.

    With ``careful``, the factors of a product beside one that is zero need no value.
    """
    return CodePrinter(tuple(bound), careful).source(expr)


def uses(expr: Expr) -> Counter[Any]:
    """How often each part stands in a formula."""
    return Counter(child for node in parts(expr) for child in node.args)


class CodePrinter:
    """Prints a formula as a function that asks its environment for names; what repeats or lies deep becomes a function inside."""

    def __init__(self, bound: tuple[str, ...], careful: bool) -> None:
        self.bound, self.careful = bound, careful
        self.constants: dict[str, Any] = {}
        self.uses: Counter[Any] = Counter()
        self.functions: dict[Any, tuple[str, tuple[str, ...], str]] = {}
        self.indices: tuple[str, ...] = bound

    def source(self, expr: Expr) -> GeneratedCode:
        self.uses = uses(expr)
        result = self.go(expr, 0)
        texts = [result, *(text for _, _, text in self.functions.values())]
        lines = [
            f"def formula({', '.join(('e', *map(_local, self.bound)))}):",
            *(["    v = e.value"] if any(ASKS.search(text) for text in texts) else []),
        ]
        if any(not arguments for _, arguments, _ in self.functions.values()):
            lines.append("    m = {}")
        for name, arguments, text in self.functions.values():
            if arguments:
                lines += [f"    def {name}({', '.join(arguments)}):", f"        return {text}"]
            else:
                lines += [
                    f"    def {name}():",
                    f"        if {name!r} not in m:",
                    f"            m[{name!r}] = {text}",
                    f"        return m[{name!r}]",
                ]
        return GeneratedCode("\n".join((*lines, f"    return {result}")), self.constants)

    def go(self, node: Any, depth: int) -> str:
        """The text of a part."""
        if node.is_Symbol:
            return self.name(node.name)
        if node.is_Rational or node.is_Float:
            return _float(float(node))
        shared = self.uses[node] > 1 and len(parts(node)) >= WORTH_SHARING
        return self.part(node) if shared or depth >= DEEPEST else self.rule(node, depth + 1)

    def name(self, name: str) -> str:
        return _local(name) if name in self.indices else f"v({self.quoted(name)})"

    def part(self, node: Any) -> str:
        """The call of the function of a part, which computes it once where no index of a sum occurs in it."""
        if node not in self.functions:
            used = tuple(
                _local(name)
                for name in sorted(names(node))
                if name in self.indices and name not in self.bound
            )
            name = f"p{len(self.functions)}"
            self.functions[node] = name, used, ""
            self.functions[node] = name, used, self.rule(node, 1)
        name, used, _ = self.functions[node]
        return f"{name}({', '.join(used)})"

    def careful_product(self, factors: list[Any], go: Callable[[Any], str]) -> str:
        return f"product({','.join(f'lambda:{go(factor)}' for factor in factors)})"

    def at(self, node: At, go: Callable[[Any], str]) -> str:
        changed = ",".join(f"{key!r}:{go(value)}" for key, value in node.changes)
        return f"e.at({self.quoted(node.name)},{{{changed}}})"

    def sum(self, node: Total, first: str, last: str, depth: int) -> str:
        outer, self.indices = self.indices, (*self.indices, node.index)
        body = self.go(node.body, depth)
        self.indices = outer
        return f"total(e.axes,lambda {_local(node.index)}:{body},{first},{last})"

    def quoted(self, name: str) -> str:
        """A name in quotes; a formula used as a name is a variable."""
        if type(name) is str:
            return repr(name)
        known = next((key for key, value in self.constants.items() if value is name), None)
        key = known or f"u{len(self.constants)}"
        self.constants[key] = name
        return key

    def rule(self, node: Any, depth: int) -> str:
        def go(part: Any) -> str:
            return self.go(part, depth)

        def listed(args: Iterable[Any]) -> str:
            return ",".join(map(go, args))

        if node.is_Mul:
            return self.quotient(*halves(node.args), go)
        if node.is_Add:
            return self.sum_of([go(term) for term in node.args])
        if node.is_Pow:
            return self.power(node.base, node.exp, go)
        if name := next((name for kind, name in CALLED.items() if isinstance(node, kind)), ""):
            return f"{name}({listed(node.args)})"
        if isinstance(node, OfLargest):
            pairs = zip(node.keys, node.values, strict=True)
            return (
                f"of_largest({','.join(f'({go(key)},lambda:{go(value)})' for key, value in pairs)})"
            )
        if isinstance(node, Total):
            return self.total(node, depth)
        if isinstance(node, At):
            return self.at(node, go)
        if isinstance(node, Relational):
            return f"holds({operator_of(node)!r},{go(node.lhs)},{go(node.rhs)})"
        if isinstance(node, Label):
            return f"largest({','.join(f'({label!r},{go(arm)})' for label, arm in node.arms)})"
        if node.is_NumberSymbol:
            return _float(float(node))
        if isinstance(node, sympy.Function):
            return f"elementary({type(node).__name__!r},{listed(node.args)})"
        return NO_VALUE  # infinite, or not real

    def sum_of(self, texts: list[str]) -> str:
        if len(texts) <= LONGEST_SUM:
            first, *more = texts
            rest = (text[1:-1] if text.startswith("(-") else f"+{text}" for text in more)
            return f"({first}{''.join(rest)})"
        return self.sum_of(
            [self.sum_of(texts[i : i + LONGEST_SUM]) for i in range(0, len(texts), LONGEST_SUM)]
        )

    def quotient(self, above: list[Any], below: list[Any], go: Callable[[Any], str]) -> str:
        """A quotient of two products; only what may be zero is divided by with care."""
        over, under = self.product(above or [S.One], go), self.product(below, go) if below else ""
        if not below:
            return over
        plain = len(below) == 1 and below[0].is_Number
        return f"({over}/{under})" if plain else f"div({over},{under})"

    def product(self, factors: list[Any], go: Callable[[Any], str]) -> str:
        if len(factors) == 1:
            return go(factors[0])
        if factors[0] == -1:
            return f"(-{self.product(factors[1:], go)})"
        moving = sum(not factor.is_Number for factor in factors)
        if self.careful and moving > 1:
            return self.careful_product(factors, go)
        return f"({'*'.join(map(go, factors))})"

    def power(self, base: Any, exponent: Any, go: Callable[[Any], str]) -> str:
        if exponent == S.Half:
            return f"sqrt({go(base)})"
        if exponent.is_Rational and exponent.is_negative:
            return self.quotient([], [base**-exponent], go)
        return f"pow({go(base)},{go(exponent)})"

    def total(self, node: Any, depth: int) -> str:
        body, index = node.body, node.index
        start, end = self.go(node.first, depth), self.go(node.last, depth)
        ratio = body.is_Pow and body.exp == symbol(index) and index not in names(body.base)
        if ratio:  # a sum of its powers
            return f"geometric({start},{end},{self.go(body.base, depth)})"
        return self.sum(node, start, end, depth)


def _float(value: float) -> str:
    if not math.isfinite(value):
        return NO_VALUE
    return repr(value) if value >= 0 else f"({value!r})"


def _local(name: str) -> str:
    """A bound name as a variable that no other name in the code has."""
    return "i_" + "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in name)
