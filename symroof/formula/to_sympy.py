"""A formula as a SymPy expression: positive symbols made in one place, exact rationals, nothing simplified.

SymPy is loaded here and nowhere else in the formula room; text of strangers never reaches its parsers.

>>> from symroof.formula.parse import parse
>>> to_sympy(parse("2*params/(mfu*peak_flops)"))
2*params/(mfu*peak_flops)
"""

from __future__ import annotations

from functools import cache
from typing import Any

from symroof.formula.tree import Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree, children, mapper


@cache
def symbol(name: str) -> Any:
    """The one positive symbol of a name (never ``integer=True``: SymPy then drops roots that are not whole)."""
    import sympy

    return sympy.Symbol(name, positive=True)


def to_sympy(tree: Tree) -> Any:
    """The expression; ``sum`` becomes an unevaluated ``Sum``, a quantity at a changed input a function of it."""
    return mapper(_rules())(tree)


@cache
def _rules() -> dict[type, Any]:
    """How each kind of node becomes an expression."""
    import sympy

    functions = {"max": sympy.Max, "min": sympy.Min, "ceil": sympy.ceiling, "floor": sympy.floor, "sqrt": sympy.sqrt, "log2": lambda x: sympy.log(x, 2)}
    relations = {"<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt, "=": sympy.Eq}

    def of_largest(*args: Any) -> Any:
        keys, values = args[::2], args[1::2]
        return sympy.Piecewise(*((value, sympy.And(*(key >= other for other in keys))) for key, value in zip(keys, values, strict=True)))

    functions["of_largest"] = of_largest
    return {
        Num: lambda node, go: sympy.Rational(node.value.numerator, node.value.denominator),
        Name: lambda node, go: symbol(node.name),
        Neg: lambda node, go: -go(node.arg),
        Add: lambda node, go: sympy.Add(*map(go, node.terms)),
        Mul: lambda node, go: sympy.Mul(*map(go, node.factors)),
        Div: lambda node, go: go(node.over) / go(node.under),
        Pow: lambda node, go: go(node.base) ** go(node.exponent),
        Call: lambda node, go: functions[node.function](*map(go, node.args)),
        Total: lambda node, go: sympy.Sum(go(node.body), (symbol(node.index), go(node.first), go(node.last))),
        At: lambda node, go: sympy.Function(node.name)(*map(go, children(node))),
        Compare: lambda node, go: relations[node.operator](go(node.left), go(node.right)),
        Largest: lambda node, go: sympy.Function("largest")(*map(go, children(node))),
    }
