"""A formula as JavaScript, over the functions that ``templates/live/kernels.js`` defines; ``e`` is where it asks for its names.

Names reach JavaScript as quoted keys only, numbers as the nearest double. NaN stands for no value.

>>> from symroof.formula.parse import parse
>>> javascript(parse("max(weight_bytes/(mbu*mem_bandwidth), itl(context = prompt + 1))"))
'max(div(e.v("weight_bytes"),(e.v("mbu")*e.v("mem_bandwidth"))),e.at("itl",{"context":(e.v("prompt")+1)}))'
"""

import json
from collections.abc import Callable, Collection
from typing import Any

from symroof.formula import parse
from symroof.formula.evaluate import FUNCTIONS, NoValue
from symroof.formula.tree import Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree, mapper, names

Go = Callable[[Tree], str]


def javascript(tree: Tree, lacking: Collection[str] = ()) -> str:
    """The formula as an expression in ``e``; a factor that speaks of a ``lacking`` name is asked for only where the factors before it are not zero."""

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
    return f"({go(node.over)}/{go(node.under)})" if plain else f"div({go(node.over)},{go(node.under)})"


def _call(node: Call, go: Go) -> str:
    if not node.args:
        return repr(float(FUNCTIONS[node.function]([])))
    if node.function not in parse.FUNCTIONS:
        raise NoValue(f"{node.function}() has no value in a page")
    if node.function == "of_largest":
        pairs = (f"[{go(key)},()=>{go(value)}]" for key, value in zip(node.args[::2], node.args[1::2], strict=True))
        return f"ofLargest({','.join(pairs)})"
    return f"{node.function}({','.join(map(go, node.args))})"


def _total(node: Total, go: Go) -> str:
    first, last = go(node.first), go(node.last)
    if isinstance(node.body, Pow) and node.body.exponent == Name(node.index) and node.index not in names(node.body.base):
        return f"geometric({go(node.body.base)},{first},{last})"
    return f"e.sum({_key(node.index)},{first},{last},e=>{go(node.body)})"


def _at(node: At, go: Go) -> str:
    changes = ",".join(f"{_key(key)}:{go(value)}" for key, value in node.changes)
    return f"e.at({_key(node.name)},{{{changes}}})"


def _largest(node: Largest, go: Go) -> str:
    return f"largest({','.join(f'[{_key(label)},{go(arm)}]' for label, arm in node.arms)})"


def _key(name: str) -> str:
    """A text as JavaScript takes it, nowhere the end of a script."""
    return json.dumps(name).replace("<", "\\u003c")


def _number(node: Num) -> str:
    over, under = node.value.as_integer_ratio()
    return repr(over) if under == 1 and abs(over) < 2**53 else repr(over / under)


RELATIONS = {"=": "===", "<=": "<=", ">=": ">=", "<": "<", ">": ">"}

RULES: dict[type, Callable[[Any, Go], str]] = {
    Num: lambda node, go: _number(node) if node.value >= 0 else f"({_number(node)})",
    Name: lambda node, go: f"e.v({_key(node.name)})",
    Neg: lambda node, go: f"(-{go(node.arg)})",
    Add: lambda node, go: f"({'+'.join(map(go, node.terms))})",
    Div: _quotient,
    Pow: lambda node, go: f"pow({go(node.base)},{go(node.exponent)})",
    Call: _call,
    Total: _total,
    At: _at,
    Compare: lambda node, go: f"({go(node.left)}{RELATIONS[node.operator]}{go(node.right)})",
    Largest: _largest,
}
