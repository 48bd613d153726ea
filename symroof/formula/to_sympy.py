"""A formula as a SymPy expression: symbols made in one place, exact rationals, nothing simplified.

SymPy is imported when the first formula is converted; untrusted text never reaches its parsers.

>>> from symroof.formula.parse import parse
>>> to_sympy(parse("2*params/(mfu*peak_flops)"))
2*params/(mfu*peak_flops)
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from symroof.formula.sympy_functions import of_sympy
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
)


@cache
def symbol(name: str) -> Any:
    """The positive symbol of a name (never ``integer=True``: SymPy then drops roots that are not whole)."""
    import sympy

    return sympy.Symbol(name, positive=True)


def to_sympy(tree: Expr, of: Callable[[str], Any] = symbol) -> Any:
    """The expression; ``of`` gives the symbol of a name, by default a positive one.

    A sum stays a ``Sum``, a choice becomes a ``Piecewise``, a label a ``Piecewise`` over plain symbols of the labels, a
    quantity at a changed input an unknown function of the change.
    """
    return writer(of)(tree)


def writer(of: Callable[[str], Any], lazy: bool = False) -> Callable[[Expr], Any]:
    """A function that converts like :func:`to_sympy` and converts shared parts once; ``lazy`` maxima and roundings are never compared."""
    return mapper(
        {
            **_rules(lazy),
            Name: lambda node, go: of(node.name),
            Sum: lambda node, go: _sum(node, go, of),
        }
    )


def label(name: str) -> Any:
    """The symbol of a label such as ``compute``, without assumptions because it is not a number."""
    import sympy

    return sympy.Symbol(name)


def _sum(node: Sum, go: Callable[[Expr], Any], of: Callable[[str], Any]) -> Any:
    import sympy

    return sympy.Sum(go(node.body), (of(node.index), go(node.first), go(node.last)))


def _of_largest(keys: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """The value whose key is largest, the first of equal ones."""
    import sympy

    arms = [
        (value, sympy.And(*(sympy.Ge(key, other) for other in keys[i + 1 :])))
        for i, (key, value) in enumerate(zip(keys, values, strict=True))
    ]
    return sympy.Piecewise(*arms)


def _extreme(function: Any) -> Callable[..., Any]:
    """``Max`` or ``Min`` unevaluated: SymPy would factor every argument to compare them, which takes seconds for long ones."""
    return lambda *args: function(*args, evaluate=False)


def _rounded(function: Any) -> Callable[[Any], Any]:
    """``ceiling`` or ``floor``; unevaluated for a sum, which SymPy would rebuild to check whether it is a number."""
    import sympy

    return lambda arg: function(arg, evaluate=not arg.has(sympy.Sum))


@cache
def _rules(lazy: bool) -> dict[type, Any]:
    """How each kind of node becomes an expression."""
    import sympy

    functions: dict[str, Any] = {
        "max": _extreme(sympy.Max),
        "min": _extreme(sympy.Min),
        "ceil": _rounded(sympy.ceiling),
        "floor": _rounded(sympy.floor),
        "sqrt": sympy.sqrt,
        "log2": lambda x: sympy.log(x, 2),
        "log": sympy.log,
        "exp": sympy.exp,
        "of_largest": lambda *args: _of_largest(args[::2], args[1::2]),
    }
    if lazy:
        from symroof.symbolic.lazy import WRITTEN

        functions |= WRITTEN
    relations = {"<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt, "=": sympy.Eq}
    return {
        Num: lambda node, go: sympy.Rational(node.value.numerator, node.value.denominator),
        Neg: lambda node, go: -go(node.arg),
        Add: lambda node, go: sympy.Add(*map(go, node.terms)),
        Mul: lambda node, go: sympy.Mul(*map(go, node.factors)),
        Div: lambda node, go: go(node.over) / go(node.under),
        Pow: lambda node, go: go(node.base) ** go(node.exponent),
        Call: lambda node, go: (
            (functions.get(node.function) or of_sympy(node.function))(*map(go, node.args))
            if node.args
            else of_sympy(node.function)
        ),
        QuantityAt: lambda node, go: sympy.Function(node.name)(*map(go, children(node))),
        Compare: lambda node, go: relations[node.operator](go(node.left), go(node.right)),
        ArgMax: lambda node, go: _of_largest(
            tuple(go(arm) for _, arm in node.arms), tuple(label(name) for name, _ in node.arms)
        ),
    }
