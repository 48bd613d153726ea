"""A formula as a SymPy expression: positive symbols made in one place, exact rationals, nothing simplified.

SymPy is loaded here and nowhere else in the formula room; text of strangers never reaches its parsers.

>>> from symroof.formula.parse import parse
>>> to_sympy(parse("2*params/(mfu*peak_flops)"))
2*params/(mfu*peak_flops)
"""

from __future__ import annotations

from functools import cache
from typing import Any

from symroof.formula.tree import Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree


@cache
def symbol(name: str) -> Any:
    """The one positive symbol of a name (never ``integer=True``: SymPy then drops roots that are not whole)."""
    import sympy

    return sympy.Symbol(name, positive=True)


def to_sympy(tree: Tree) -> Any:
    """The expression; ``sum`` becomes an unevaluated ``Sum``, a quantity at a changed input a function of it."""
    import sympy

    functions = {"max": sympy.Max, "min": sympy.Min, "ceil": sympy.ceiling, "floor": sympy.floor, "sqrt": sympy.sqrt, "log2": lambda x: sympy.log(x, 2)}
    relations = {"<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt, "=": sympy.Eq}

    def go(node: Tree) -> Any:
        match node:
            case Num(value):
                return sympy.Rational(value.numerator, value.denominator)
            case Name(name):
                return symbol(name)
            case Neg(arg):
                return -go(arg)
            case Add(terms):
                return sympy.Add(*map(go, terms))
            case Mul(factors):
                return sympy.Mul(*map(go, factors))
            case Div(over, under):
                return go(over) / go(under)
            case Pow(base, exponent):
                return go(base) ** go(exponent)
            case Call("of_largest", args):
                keys, values = [go(key) for key in args[::2]], [go(value) for value in args[1::2]]
                return sympy.Piecewise(*((value, sympy.And(*(key >= other for other in keys))) for key, value in zip(keys, values, strict=True)))
            case Call(function, args):
                return functions[function](*map(go, args))
            case Total(body, index, first, last):
                return sympy.Sum(go(body), (symbol(index), go(first), go(last)))
            case At(name, changes):
                return sympy.Function(name)(*(go(value) for _, value in changes))
            case Compare(operator, left, right):
                return relations[operator](go(left), go(right))
            case Largest(arms):
                return sympy.Function("largest")(*(go(arm) for _, arm in arms))
        raise TypeError(f"not a formula tree: {node!r}")

    return go(tree)
