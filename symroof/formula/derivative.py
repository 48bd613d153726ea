"""The derivative of a formula by a name: a formula again, in which the derivatives of other names are names.

>>> from symroof.formula.parse import parse
>>> from symroof.formula.text import text
>>> text(derivative(parse("2*itl*batch"), "batch"))
'2*Derivative(itl, batch)*batch + 2*itl'
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symroof.formula import build
from symroof.formula.from_sympy import UnsupportedExpression, from_sympy
from symroof.formula.rewrite import substitute
from symroof.formula.sympy_functions import NoRealValue, arguments, slope
from symroof.formula.tree import (
    ONE,
    ZERO,
    Add,
    ArgMax,
    Call,
    Compare,
    DerivativeName,
    Div,
    Expr,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    QuantityAt,
    Sum,
    mapper,
    sums,
)
from symroof.symbolic.no_value import UndefinedValue

Rule = Callable[[Any, Callable[[Expr], Expr]], Expr]
"""The derivative of a node, from those of its parts."""
TWO = Num(Fraction(2))
SLOPE_BY_TERM_COUNT = DerivativeName.of("sum", "number of its terms")
"""The derivative of a sum by its number of terms, which has no value."""


def derivative(tree: Expr, by: str, moves: Callable[[str], bool] = lambda name: True) -> Expr:
    """The derivative of a formula by one of its names, on the active arm; a rounding is constant between its jumps.

    Where two arms are equal it is the mean of their derivatives, which is exact where kinks cancel, as in ``max(x, 1)*min(x, 1)``.

    Args:
        tree: the formula.
        by: the name to differentiate by.
        moves: whether another name may depend on it; its derivative is then in the result as a :class:`DerivativeName`.

    Raises:
        UndefinedValue: of a condition or a label, or of a function without a known derivative.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(derivative(parse("max(itl, ceil(batch)*ttft)"), "batch", lambda name: name == "itl"))
    'of_largest(min(itl, ceil(batch)*ttft), Derivative(itl, batch)/2, itl, Derivative(itl, batch), ceil(batch)*ttft, 0)'
    """
    indices = {total.index for total in sums(tree)}

    def of_name(node: Name, go: Any) -> Expr:
        if node.name == by:
            return ONE
        return (
            Name(DerivativeName.of(node.name, by))
            if node.name not in indices and moves(node.name)
            else ZERO
        )

    def at(node: QuantityAt, go: Any) -> Expr:
        """The chain rule over the changed inputs, plus the direct dependence."""
        inner = [
            build.mul(QuantityAt(DerivativeName.of(node.name, key), node.changes), go(value))
            for key, value in node.changes
        ]
        beside = by not in dict(node.changes) and moves(node.name)
        return build.add(
            *inner, QuantityAt(DerivativeName.of(node.name, by), node.changes) if beside else ZERO
        )

    rules: dict[type, Rule] = {**RULES, Name: of_name, QuantityAt: at}
    return mapper(rules)(tree)


def _product(node: Mul, go: Any) -> Expr:
    return build.add(
        *(
            build.mul(*node.factors[:i], go(factor), *node.factors[i + 1 :])
            for i, factor in enumerate(node.factors)
        )
    )


def _quotient(node: Div, go: Any) -> Expr:
    over, under = go(node.over), go(node.under)
    return build.sub(
        build.div(over, node.under),
        build.div(build.mul(node.over, under), build.power(node.under, TWO)),
    )


def _power(node: Pow, go: Any) -> Expr:
    base, exponent = go(node.base), go(node.exponent)
    by_base = (
        build.mul(node.exponent, build.power(node.base, build.sub(node.exponent, ONE)), base)
        if base != ZERO
        else ZERO
    )
    by_exponent = (
        build.mul(node, build.call("log", node.base), exponent) if exponent != ZERO else ZERO
    )
    return build.add(by_base, by_exponent)


def _total(node: Sum, go: Any) -> Expr:
    """The sum of the derivatives of its terms; a factor without value marks that the number of terms depends on the name."""
    body, bounds = go(node.body), (go(node.first), go(node.last))
    inner = ZERO if body == ZERO else Sum(body, node.index, node.first, node.last)
    return build.add(
        inner, *(build.mul(bound, Name(SLOPE_BY_TERM_COUNT)) for bound in bounds if bound != ZERO)
    )


def _chosen(keys: tuple[Expr, ...], values: tuple[Expr, ...]) -> Expr:
    """The value of the largest key; if all values are equal, that value."""
    return (
        values[0]
        if len(set(values)) == 1
        else build.call(
            "of_largest", *(part for pair in zip(keys, values, strict=True) for part in pair)
        )
    )


def _of_largest_arm(arms: tuple[Expr, ...], slopes: tuple[Expr, ...]) -> Expr:
    """The derivative of the largest arm, built arm by arm; the mean of two equal arms."""
    largest, slope = arms[0], slopes[0]
    for arm, other in zip(arms[1:], slopes[1:], strict=True):
        meeting = (build.call("min", largest, arm), largest, arm)
        slope = (
            _chosen(meeting, (build.div(build.add(slope, other), TWO), slope, other))
            if other != slope
            else slope
        )
        largest = build.call("max", largest, arm)
    return slope


def _called(node: Call, go: Any) -> Expr:
    if node.function == "of_largest":
        return _chosen(node.args[::2], tuple(map(go, node.args[1::2])))
    if not node.args:  # a constant
        return ZERO
    inner = tuple(map(go, node.args))
    if node.function in ("max", "min"):
        return _of_largest_arm(
            node.args if node.function == "max" else tuple(map(build.neg, node.args)), inner
        )
    outer = OUTER.get(node.function)
    if outer:
        return build.mul(outer(node), inner[0]) if inner[0] != ZERO else ZERO
    moved = ((i, own) for i, own in enumerate(inner) if own != ZERO)
    return build.add(ZERO, *(build.mul(_partial(node, i), own) for i, own in moved))


def _partial(node: Call, place: int) -> Expr:
    """The derivative of a function of SymPy by one of its arguments."""
    try:
        made = from_sympy(slope(node.function, len(node.args), place))
    except (UnsupportedExpression, NoRealValue):
        raise UndefinedValue(f"the slope of {node.function}()") from None
    return substitute(made, dict(zip(arguments(len(node.args)), node.args, strict=True)))


OUTER: dict[str, Callable[[Call], Expr]] = {
    "ceil": lambda node: ZERO,
    "floor": lambda node: ZERO,
    "sqrt": lambda node: build.div(ONE, build.mul(TWO, node)),
    "log": lambda node: build.div(ONE, node.args[0]),
    "log2": lambda node: build.div(ONE, build.mul(node.args[0], build.call("log", TWO))),
    "exp": lambda node: node,
}
"""The derivative of each function of one argument by that argument."""


def _no_number(node: Expr, go: Any) -> Expr:
    raise UndefinedValue("a condition or a label has no slope")


RULES: dict[type, Rule] = {
    Num: lambda node, go: ZERO,
    Neg: lambda node, go: build.neg(go(node.arg)),
    Add: lambda node, go: build.add(*map(go, node.terms)),
    Mul: _product,
    Div: _quotient,
    Pow: _power,
    Call: _called,
    Sum: _total,
    Compare: _no_number,
    ArgMax: _no_number,
}
"""The derivative of each kind of node, except names."""
