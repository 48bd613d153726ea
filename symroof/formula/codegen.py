"""Generates code from a formula: a Python function over any kind of number, or JavaScript for the live page.

``e`` is the environment that gives names their values. The functions in the code depend on the kind of number: exact fractions
(:mod:`symroof.formula.evaluate`), NumPy arrays (:mod:`symroof.arrays.functions`), or the page's doubles (``templates/live/kernels.js``).

>>> from symroof.formula.parse import parse
>>> print(python(parse("2*max(a, b) + a/b"), ()).text)
def formula(e):
    v = e.value
    return ((k0*max(v('a'),v('b')))+div(v('a'),v('b')))
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
    """The text of a function, and the objects it refers to by name: its numbers, and nodes whose exact value may be needed."""

    text: str
    constants: dict[str, Any]


def python(
    tree: Expr, bound: Sequence[str], moving: Collection[str] | None = None
) -> GeneratedCode:
    """A formula as a function of its environment and its ``bound`` names.

    A product stops at a zero factor: the following ones need no value. With ``moving``, the names that are arrays, factors that
    are none come first, and products, roundings and comparisons are calls that know their node.
    """
    return _Python(tree, tuple(bound), moving).source()


class _Python:
    def __init__(self, tree: Expr, bound: tuple[str, ...], moving: Collection[str] | None) -> None:
        self.tree, self.bound, self.moving = tree, bound, moving
        self.constants: dict[str, Any] = {}
        self.known: dict[Any, str] = {}
        self.uses = Counter(child for node in parts(tree) for child in children(node))
        self.functions: dict[Expr, tuple[str, tuple[str, ...], str]] = {}
        self.indices: tuple[str, ...] = bound
        self.temporaries = 0

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
            if node.name in self.indices:
                return _local(node.name)
            return (
                f"v({node.name!r})"
                if type(node.name) is str
                else f"v({self.constant('u', node.name)})"
            )  # a formula used as a name
        if type(node) is Num:
            return self.constant("k", node.value if self.moving is None else float(node.value))
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

    def constant(self, letter: str, value: Any) -> str:
        """The name of an object of the source."""
        key = (letter, value)
        if key not in self.known:
            self.known[key] = f"{letter}{len(self.known)}"
            self.constants[self.known[key]] = value
        return self.known[key]

    def rule(self, node: Expr, depth: int) -> str:
        def go(part: Expr) -> str:
            return self.go(part, depth)

        match node:
            case Neg(arg):
                return f"(-{go(arg)})"
            case Add(terms):
                return self.sum_of([go(term) for term in self.still_first(terms)])
            case Mul(factors):
                return self.product(self.still_first(factors), go)
            case Div(over, under):
                return (
                    f"({go(over)}/{go(under)})"
                    if isinstance(under, Num) and under.value
                    else f"div({go(over)},{go(under)})"
                )
            case Pow(base, exponent):
                return f"pow({go(base)},{go(exponent)})"
            case Call(function, args):
                return self.call(node, function, args, go)
            case Sum(body, index, first, last):
                return self.total(body, index, first, last, depth)
            case QuantityAt(name, changes):
                return f"e.at({repr(name) if type(name) is str else self.constant('u', name)},{{{','.join(f'{key!r}:{go(value)}' for key, value in changes)}}})"
            case Compare(operator, left, right):
                if self.moving is None:
                    return f"({go(left)}{COMPARISONS[operator]}{go(right)})"
                return f"holds({operator!r},{go(left)},{go(right)},{self.asked(node)})"
            case ArgMax(arms):
                pairs = ",".join(f"({label!r},{go(arm)})" for label, arm in arms)
                return (
                    f"largest({self.asked(node) + ',' if self.moving is not None else ''}{pairs})"
                )
        raise TypeError(f"not a formula: {node!r}")

    def asked(self, node: Expr) -> str:
        """The arguments for an exact evaluation of a node: environment, node, and the indices of enclosing sums."""
        inside = [name for name in names(node) if name in self.indices]
        return f"e,{self.constant('n', node)},{{{','.join(f'{name!r}:{_local(name)}' for name in inside)}}}"

    def still_first(self, parts_: Sequence[Expr]) -> list[Expr]:
        """Numbers before arrays, where that is known: an array is then multiplied once."""
        if self.moving is None:
            return list(parts_)
        return sorted(
            parts_,
            key=lambda part: any(
                name in self.moving or name in self.indices  # type: ignore[operator]
                for name in names(part)
            ),
        )

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
        rest = self.product(others, go)
        if isinstance(first, Num) or all(isinstance(other, Num) for other in others):
            return f"({go(first)}*{rest})"
        if self.moving is not None:
            return f"product(e,{go(first)},lambda:{rest})"
        self.temporaries += 1
        held = f"t{self.temporaries}"
        return f"({held}*{rest} if ({held}:={go(first)}) else {held})"

    def call(self, node: Call, function: str, args: Sequence[Expr], go: Go) -> str:
        if function == "of_largest":
            pairs = ",".join(
                f"({go(key)},lambda:{go(value)})"
                for key, value in zip(args[::2], args[1::2], strict=True)
            )
            return f"of_largest({self.asked(node) + ',' if self.moving is not None else ''}{pairs})"
        if function in ("ceil", "floor"):
            return self.rounding(function, args[0], go)
        return (
            f"{function}({','.join(map(go, args))})"
            if function in OWN
            else f"elementary({','.join((repr(function), *map(go, args)))})"
        )

    def rounding(self, function: str, arg: Expr, go: Go) -> str:
        """A rounding of a maximum, arm by arm: each may be a quotient of integers."""
        if isinstance(arg, Call) and arg.function in ("max", "min"):
            return f"{arg.function}({','.join(self.rounding(function, inner, go) for inner in arg.args)})"
        over, under = (go(arg.over), go(arg.under)) if isinstance(arg, Div) else (go(arg), "1")
        return f"{function}({over},{under}{',' + self.asked(Call(function, (arg,))) if self.moving is not None else ''})"

    def total(self, body: Expr, index: str, first: Expr, last: Expr, depth: int) -> str:
        start, end = self.go(first, depth), self.go(last, depth)
        if isinstance(body, Pow) and body.exponent == Name(index) and index not in names(body.base):
            return f"geometric({start},{end},{self.go(body.base, depth)})"
        outer, self.indices = self.indices, (*self.indices, index)
        text = f"total({'e,' if self.moving is not None else ''}lambda {_local(index)}:{self.go(body, depth)},{start},{end})"
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
