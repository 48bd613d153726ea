"""Prints a formula once as a Python function of its environment, which gives names their values: floats or arrays along scenarios.

``e`` is the environment; what the functions do is :mod:`symroof.symbolic.kernels`. The live page has the same as JavaScript.

>>> from symroof.formula.parse import parse
>>> print(python(parse("2*max(a, b) + a/b"), ()).text)
def formula(e):
    v = e.value
    return ((2.0*max(v('a'),v('b')))+div(v('a'),v('b')))
>>> javascript(parse("max(weight_bytes/(mbu*mem_bandwidth), itl(context = prompt + 1))"))
'max(div(e.v("weight_bytes"),(e.v("mbu")*e.v("mem_bandwidth"))),e.at("itl",{"context":(e.v("prompt")+1)}))'
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from symroof.formula.parse import FUNCTIONS
from symroof.formula.tree import (
    Add,
    ArgMax,
    Call,
    Compare,
    Div,
    Expr,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    QuantityAt,
    Sum,
    children,
    mapper,
    names,
    parts,
)

Go = Callable[[Expr], str]
ASKS = re.compile(r"\bv\(")

OWN = frozenset({*FUNCTIONS, "pi"})
"""Functions that generated code calls by name; all others are SymPy's."""
DEEPEST, WORTH_SHARING, LONGEST_SUM = 24, 4, 64
"""Deeper parts, and repeated parts of at least this many nodes, become functions; longer sums are nested."""


@dataclass(frozen=True)
class GeneratedCode:
    """The text of a function, and the names that it refers to by variables: formulas used as names."""

    text: str
    constants: dict[str, Any]


def python(tree: Expr, bound: Sequence[str], careful: bool = False) -> GeneratedCode:
    """A formula as a function of its environment and its ``bound`` names.

    With ``careful``, the factors of a product behind one that is zero need no value.
    """
    return _Python(tree, tuple(bound), careful).source()


class _Python:
    def __init__(self, tree: Expr, bound: tuple[str, ...], careful: bool) -> None:
        self.tree, self.bound, self.careful = tree, bound, careful
        self.constants: dict[str, Any] = {}
        self.uses = Counter(child for node in parts(tree) for child in children(node))
        self.functions: dict[Expr, tuple[str, tuple[str, ...], str]] = {}
        self.indices: tuple[str, ...] = bound

    def source(self) -> GeneratedCode:
        result = self.go(self.tree, 0)
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

    def go(self, node: Expr, depth: int) -> str:
        """The text of a part; for a deep or repeated part, the call of its function."""
        if type(node) is Name:
            return (
                _local(node.name) if node.name in self.indices else f"v({self.quoted(node.name)})"
            )
        if type(node) is Num:
            return repr(float(node.value)) if node.value >= 0 else f"({float(node.value)!r})"
        shared = self.uses[node] > 1 and len(parts(node)) >= WORTH_SHARING
        if not (shared or depth >= DEEPEST):
            return self.rule(node, depth + 1)
        if node not in self.functions:
            used = tuple(
                _local(name)
                for name in names(node)
                if name in self.indices and name not in self.bound
            )
            name = f"p{len(self.functions)}"
            self.functions[node] = name, used, ""
            self.functions[node] = name, used, self.rule(node, 1)
        name, used, _ = self.functions[node]
        return f"{name}({', '.join(used)})"

    def quoted(self, name: str) -> str:
        """A name in quotes; a formula used as a name is a variable."""
        if type(name) is str:
            return repr(name)
        known = next((key for key, value in self.constants.items() if value is name), None)
        key = known or f"u{len(self.constants)}"
        self.constants[key] = name
        return key

    def rule(self, node: Expr, depth: int) -> str:
        def go(part: Expr) -> str:
            return self.go(part, depth)

        match node:
            case Neg(arg):
                return f"(-{go(arg)})"
            case Add(terms):
                return self.sum_of(list(map(go, terms)))
            case Mul(factors):
                return self.product(factors, go)
            case Div(over, Num(value)) if value:
                return f"({go(over)}/{float(value)!r})"
            case Div(over, under):
                return f"div({go(over)},{go(under)})"
            case Pow(base, exponent):
                return f"pow({go(base)},{go(exponent)})"
            case Call("pi"):
                return "pi"
            case Call("of_largest", args):
                pairs = zip(args[::2], args[1::2], strict=True)
                return f"of_largest({','.join(f'({go(key)},lambda:{go(value)})' for key, value in pairs)})"
            case Call(function, args):
                called = f"{function}(" if function in OWN else f"elementary({function!r},"
                return f"{called}{','.join(map(go, args))})"
            case Sum(body, index, first, last):
                return self.total(body, index, first, last, depth)
            case QuantityAt(name, changes):
                changed = ",".join(f"{key!r}:{go(value)}" for key, value in changes)
                return f"e.at({self.quoted(name)},{{{changed}}})"
            case Compare(operator, left, right):
                return f"holds({operator!r},{go(left)},{go(right)})"
            case ArgMax(arms):
                return f"largest({','.join(f'({label!r},{go(arm)})' for label, arm in arms)})"
        raise TypeError(f"not a formula: {node!r}")

    def sum_of(self, texts: list[str]) -> str:
        if len(texts) <= LONGEST_SUM:
            return f"({'+'.join(texts)})"
        return self.sum_of(
            [self.sum_of(texts[i : i + LONGEST_SUM]) for i in range(0, len(texts), LONGEST_SUM)]
        )

    def product(self, factors: Sequence[Expr], go: Go) -> str:
        first, *others = factors
        if not others:
            return go(first)
        if not self.careful:
            return f"({'*'.join(map(go, factors))})"
        if isinstance(first, Num) or all(isinstance(other, Num) for other in others):
            return f"({go(first)}*{self.product(others, go)})"
        return f"product({go(first)},lambda:{self.product(others, go)})"

    def total(self, body: Expr, index: str, first: Expr, last: Expr, depth: int) -> str:
        start, end = self.go(first, depth), self.go(last, depth)
        if isinstance(body, Pow) and body.exponent == Name(index) and index not in names(body.base):
            return f"geometric({start},{end},{self.go(body.base, depth)})"
        outer, self.indices = self.indices, (*self.indices, index)
        text = f"total(e.axes,lambda {_local(index)}:{self.go(body, depth)},{start},{end})"
        self.indices = outer
        return text


def _local(name: str) -> str:
    """A bound name as a variable that no other name in the code has."""
    return "i_" + "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):x}_" for c in name)


COMPARISONS = {"=": "==", "<=": "<=", ">=": ">=", "<": "<", ">": ">"}


# ---------------------------------------------------------------------------------------------------------- JavaScript


def javascript(tree: Expr, lacking: Collection[str] = ()) -> str:
    """The formula as an expression in ``e``, names as quoted keys only, numbers as the nearest double; NaN stands for no value.

    A factor that mentions a ``lacking`` name is evaluated only if the factors before it are not zero.
    """

    def product(node: Mul, go: Go) -> str:
        first, *others = node.factors
        written = go(first)
        for factor in others:
            lazy = any(name in lacking for name in names(factor))
            written = f"product({written},()=>{go(factor)})" if lazy else f"{written}*{go(factor)}"
        return f"({written})"

    return mapper({**RULES, Mul: product})(tree)


def _quotient(node: Div, go: Go) -> str:
    plain = isinstance(node.under, Num) and node.under.value
    return (
        f"({go(node.over)}/{go(node.under)})" if plain else f"div({go(node.over)},{go(node.under)})"
    )


def _call(node: Call, go: Go) -> str:
    if node.function == "of_largest":
        pairs = (
            f"[{go(key)},()=>{go(value)}]"
            for key, value in zip(node.args[::2], node.args[1::2], strict=True)
        )
        return f"ofLargest({','.join(pairs)})"
    if node.function not in OWN:  # not available on the page: no value
        return "NaN"
    return f"{node.function}({','.join(map(go, node.args))})"


def _total(node: Sum, go: Go) -> str:
    first, last = go(node.first), go(node.last)
    if (
        isinstance(node.body, Pow)
        and node.body.exponent == Name(node.index)
        and node.index not in names(node.body.base)
    ):
        return f"geometric({go(node.body.base)},{first},{last})"
    return f"e.sum({_key(node.index)},{first},{last},e=>{go(node.body)})"


def _at(node: QuantityAt, go: Go) -> str:
    changes = ",".join(f"{_key(key)}:{go(value)}" for key, value in node.changes)
    return f"e.at({_key(node.name)},{{{changes}}})"


def _largest(node: ArgMax, go: Go) -> str:
    return f"largest({','.join(f'[{_key(label)},{go(arm)}]' for label, arm in node.arms)})"


def _key(name: str) -> str:
    """A JavaScript string literal that cannot end a script."""
    return json.dumps(name).replace("<", "\\u003c")


def _number(node: Num) -> str:
    over, under = node.value.as_integer_ratio()
    return repr(over) if under == 1 and abs(over) < 2**53 else repr(over / under)


RULES: dict[type, Callable[[Any, Go], str]] = {
    Num: lambda node, go: _number(node) if node.value >= 0 else f"({_number(node)})",
    Name: lambda node, go: f"e.v({_key(node.name)})",
    Neg: lambda node, go: f"(-{go(node.arg)})",
    Add: lambda node, go: f"({'+'.join(map(go, node.terms))})",
    Div: _quotient,
    Pow: lambda node, go: f"pow({go(node.base)},{go(node.exponent)})",
    Call: _call,
    Sum: _total,
    QuantityAt: _at,
    Compare: lambda node, go: (
        f"({go(node.left)}{'=' * (node.operator == '=')}{COMPARISONS[node.operator]}{go(node.right)})"
    ),
    ArgMax: _largest,
}
