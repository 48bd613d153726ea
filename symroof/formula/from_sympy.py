"""Converts a SymPy object to a formula, node by node, never by printing and parsing; unsupported parts are named in the error.

>>> import sympy
>>> from symroof.formula.text import text
>>> x, y = sympy.symbols("batch context")
>>> text(from_sympy(sympy.Max(2*x/y, sympy.ceiling(x)) + sympy.sqrt(y)))
'sqrt(context) + max(ceil(batch), 2*batch/context)'
>>> from_sympy(1 + sympy.Integral(x, x))
Traceback (most recent call last):
    ...
symroof.formula.from_sympy.UnsupportedExpression: an Integral has no meaning here: Integral(batch, batch)
"""

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache, reduce
from typing import Any

from symroof.formula import build
from symroof.formula.parse import LARGEST_EXPONENT
from symroof.formula.rewrite import substitute
from symroof.formula.sympy_functions import name_of
from symroof.formula.tree import (
    ONE,
    ZERO,
    ArgMax,
    Call,
    Compare,
    DerivativeName,
    Expr,
    Name,
    Num,
    Sum,
)

DEEPEST, MOST_NODES, MOST_BITS = 100, 100_000, 4096
SHOWN = 80
"""Characters of an expression that an error repeats."""


class UnsupportedExpression(ValueError):
    """A part of a SymPy object that formulas do not support."""


def is_sympy(thing: object) -> bool:
    """Whether something is a SymPy object, without loading SymPy.

    >>> is_sympy("batch"), is_sympy(3)
    (False, False)
    """
    basic = getattr(sys.modules.get("sympy"), "Basic", None)
    return basic is not None and (
        isinstance(thing, basic) or type(thing).__module__.startswith("sympy.")
    )


def shown(thing: Any, most: int = SHOWN) -> str:
    """The beginning of an expression as text, or its type if SymPy cannot print it (thousands of digits or levels)."""
    try:
        return str(thing)[:most]
    except (ValueError, RecursionError):
        return f"<{type(thing).__name__}>"


def from_sympy(expression: Any) -> Expr:
    """The formula of a SymPy expression or relation; a symbol is taken by its name.

    Raises:
        UnsupportedExpression: a part that has no counterpart, an expression that is too large.
    """
    if not getattr(expression, "__hash__", None):  # a mutable matrix
        raise _refused(expression)
    return _Walker().go(expression, 0)


class _Walker:
    def __init__(self) -> None:
        self.results: dict[Any, Expr] = {}

    def go(self, node: Any, depth: int) -> Expr:
        if depth > DEEPEST or len(self.results) > MOST_NODES:
            raise UnsupportedExpression(
                f"an expression has at most {DEEPEST} levels and {MOST_NODES:,} parts"
            )
        if node not in self.results:
            rule = next((rule for kind, rule in _rules() if isinstance(node, kind)), None)
            if rule is None:
                raise _refused(node)
            self.results[node] = rule(node, lambda part: self.go(part, depth + 1))
        return self.results[node]


Go = Callable[[Any], Expr]


def _refused(node: Any) -> UnsupportedExpression:
    kind = type(node).__name__
    article = "an" if kind[0] in "AEIOUaeiou" else "a"
    return UnsupportedExpression(f"{article} {kind} has no meaning here: {shown(node)}")


def _number(node: Any, go: Go) -> Expr:
    value = Fraction(str(node)) if node.is_Float else Fraction(int(node.p), int(node.q))
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise UnsupportedExpression(f"a number has at most {MOST_BITS} bits")
    return Num(value)


def _product(node: Any, go: Go) -> Expr:
    """Factors over those with a negative exponent; a quotient of logarithms by that of 2 is ``log2``."""
    over, under = _without_logarithms(list(node.args))
    above: list[Expr] = [build.call("log2", go(arg)) for arg in under]
    below: list[Expr] = []
    for factor in over:
        base, exponent = factor.as_base_exp()
        if exponent.is_Number and exponent.is_negative:
            below.append(go(base**-exponent))
        elif factor.is_Rational and factor.q != 1:
            above.insert(0, go(factor.func(factor.p)) if factor.p != 1 else ONE)
            below.insert(0, Num(Fraction(int(factor.q))))
        else:
            above.append(go(factor))
    top = build.mul(*above) if above else ONE
    return build.div(top, build.mul(*below)) if below else top


def _without_logarithms(factors: list[Any]) -> tuple[list[Any], list[Any]]:
    """The factors without pairs of ``log(x)`` and ``1/log(2)``, and the arguments x of those pairs."""
    import sympy

    unit = 1 / sympy.log(2)
    arguments = []
    while (
        unit in factors
        and (
            logarithm := next(
                (f for f in factors if isinstance(f, sympy.log) and f != sympy.log(2)), None
            )
        )
        is not None
    ):
        factors.remove(unit)
        factors.remove(logarithm)
        arguments.append(logarithm.args[0])
    return factors, arguments


def _power(node: Any, go: Go) -> Expr:
    base, exponent = node.base, node.exp
    if not exponent.is_Number:
        return build.power(go(base), go(exponent))
    if exponent.is_negative:
        return build.div(ONE, go(base**-exponent))
    if exponent.is_Rational and exponent.q == 2:
        root = build.call("sqrt", go(base))
        return root if exponent.p == 1 else build.power(root, Num(Fraction(int(exponent.p))))
    if exponent > LARGEST_EXPONENT:
        raise UnsupportedExpression(f"an exponent is at most {LARGEST_EXPONENT}: {shown(node)}")
    return build.power(go(base), go(exponent))


def _logarithm(node: Any, go: Go) -> Expr:
    """A natural logarithm; that of SymPy to another base is a quotient of two."""
    return build.call("log", go(node.args[0]))


def _sum(node: Any, go: Go) -> Expr:
    body = go(node.function)
    for limits in node.limits:
        if len(limits) != 3:
            raise UnsupportedExpression(f"a Sum without bounds has no meaning here: {shown(node)}")
        body = Sum(body, str(limits[0]), go(limits[1]), go(limits[2]))
    return body


def _called(function: str) -> Callable[[Any, Go], Expr]:
    return lambda node, go: build.call(function, *map(go, node.args))


def _relation(operator: str) -> Callable[[Any, Go], Expr]:
    return lambda node, go: Compare(operator, go(node.lhs), go(node.rhs))


def _absolute(node: Any, go: Go) -> Expr:
    inner = go(node.args[0])
    return build.call("max", inner, build.neg(inner))


def _sign(node: Any, go: Go) -> Expr:
    inner = go(node.args[0])
    return build.call("of_largest", ZERO, ZERO, inner, ONE, build.neg(inner), build.neg(ONE))


def _remainder(node: Any, go: Go) -> Expr:
    """``Mod``, of the sign of the divisor."""
    over, under = map(go, node.args)
    return build.sub(over, build.mul(under, build.call("floor", build.div(over, under))))


def _elementary(node: Any, go: Go) -> Expr:
    """Any other function or constant of SymPy that has values."""
    name = name_of(node)
    if not name:
        raise _refused(node)
    return Call(name, tuple(map(go, node.args)))


def _step(node: Any, go: Go) -> Expr:
    """``Heaviside``, from derivatives of a maximum: the derivative of the active arm, or the mean of two equal arms."""
    inner, at_zero = map(go, node.args)
    return build.call("of_largest", build.call("min", inner, ZERO), at_zero, inner, ONE, ZERO, ZERO)


def _derivative(node: Any, go: Go) -> Expr:
    """An unevaluated derivative: of a symbol, its name; of a rounding, 0 (between jumps); of anything else, evaluated."""
    import sympy

    if isinstance(node.expr, (sympy.floor, sympy.ceiling)):
        return ZERO
    if not node.expr.is_Symbol:
        return _of_parts(node, go)
    name = node.expr.name
    for by, times in node.variable_count:
        if not by.is_Symbol or not times.is_Integer:
            raise UnsupportedExpression(f"a derivative is by symbols, so many times: {shown(node)}")
        for _ in range(int(times)):
            name = DerivativeName.of(name, by.name)
    return Name(name)


def _of_parts(node: Any, go: Go) -> Expr:
    """Evaluates a derivative, with every symbol depending on those it is taken by."""
    import sympy

    from symroof.formula.quantity_symbol import quantity_symbol

    moving = {
        symbol: quantity_symbol(symbol.name)
        for symbol in node.expr.free_symbols - set(node.variables)
    }
    taken = node.func(
        node.expr.xreplace(moving).rewrite(sympy.Mod, sympy.floor), *node.variable_count
    ).doit()
    if isinstance(taken, sympy.Derivative) and not taken.expr.is_Symbol:
        raise _refused(node)
    return go(taken)


def _at(node: Any, go: Go) -> Expr:
    """``Subs``: an expression with some symbols substituted."""
    return substitute(
        go(node.expr),
        {symbol.name: go(point) for symbol, point in zip(node.variables, node.point, strict=True)},
    )


def _choice(node: Any, go: Go) -> Expr:
    """A ``Piecewise``: the label of the largest arm where all values are labels, else a choice by each condition in turn."""
    pairs = [(pair.expr, pair.cond) for pair in node.args]
    labelled = _labels(pairs, go)
    if labelled is not None:
        return labelled
    if pairs[-1][1] != True:  # noqa: E712
        raise UnsupportedExpression(
            f"a Piecewise without a value for every case has no meaning here: {shown(node)}"
        )
    return reduce(
        lambda otherwise, pair: _if(pair[1], go(pair[0]), otherwise, go),
        reversed(pairs[:-1]),
        go(pairs[-1][0]),
    )


def _if(condition: Any, value: Expr, otherwise: Expr, go: Go) -> Expr:
    import sympy

    if isinstance(condition, sympy.And):
        return reduce(lambda inner, part: _if(part, inner, otherwise, go), condition.args, value)
    if isinstance(condition, sympy.Or):
        return reduce(lambda inner, part: _if(part, value, inner, go), condition.args, otherwise)
    if isinstance(condition, sympy.Not):
        return _if(condition.args[0], otherwise, value, go)
    if isinstance(condition, sympy.ITE):
        first, then, other = condition.args
        return _if(first, _if(then, value, otherwise, go), _if(other, value, otherwise, go), go)
    if condition in (True, False):
        return value if condition else otherwise
    if not isinstance(condition, (sympy.Ge, sympy.Le, sympy.Gt, sympy.Lt)):
        raise _refused(condition)
    larger, smaller = go(condition.gts), go(condition.lts)
    if isinstance(condition, (sympy.Ge, sympy.Le)):
        return build.call("of_largest", larger, value, smaller, otherwise)
    return build.call("of_largest", smaller, otherwise, larger, value)


def _labels(pairs: list[tuple[Any, Any]], go: Go) -> Expr | None:
    """The label of the largest arm, in the form that :func:`symroof.formula.to_sympy.to_sympy` writes; None for anything else."""
    import sympy

    if (
        not all(isinstance(value, sympy.Symbol) and value.is_real is None for value, _ in pairs)
        or pairs[-1][1] != True  # noqa: E712
    ):
        return None
    against = [
        [_larger_first(part) for part in (cond.args if isinstance(cond, sympy.And) else (cond,))]
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
    return ArgMax(tuple((str(value), go(key)) for (value, _), key in zip(pairs, keys, strict=True)))


def _larger_first(relation: Any) -> tuple[Any, Any] | None:
    """Both sides of ``a >= b``, whichever way it is written."""
    import sympy

    return (relation.gts, relation.lts) if isinstance(relation, (sympy.Ge, sympy.Le)) else None


@cache
def _rules() -> tuple[tuple[Any, Callable[[Any, Go], Expr]], ...]:
    """The conversion for each SymPy type; the first match applies."""
    import sympy

    return (
        (sympy.Symbol, lambda node, go: Name(node.name)),
        ((sympy.Rational, sympy.Float), _number),
        (sympy.Add, lambda node, go: build.add(*map(go, node.args))),
        (sympy.Mul, _product),
        (sympy.exp, lambda node, go: build.call("exp", go(node.exp))),
        (type(sympy.E), lambda node, go: build.call("exp", ONE)),
        (sympy.Pow, _power),
        (sympy.Max, _called("max")),
        (sympy.Min, _called("min")),
        (sympy.ceiling, _called("ceil")),
        (sympy.floor, _called("floor")),
        (sympy.log, _logarithm),
        (sympy.Abs, _absolute),
        (sympy.sign, _sign),
        (sympy.Mod, _remainder),
        (sympy.Heaviside, _step),
        (
            sympy.DiracDelta,
            lambda node, go: ZERO,
        ),  # second derivative of a maximum, away from its kinks
        (sympy.Derivative, _derivative),
        (sympy.Subs, _at),
        (sympy.Sum, _sum),
        (sympy.Piecewise, _choice),
        ((sympy.Function, sympy.NumberSymbol), _elementary),
        (sympy.Eq, _relation("=")),
        (sympy.Le, _relation("<=")),
        (sympy.Ge, _relation(">=")),
        (sympy.Lt, _relation("<")),
        (sympy.Gt, _relation(">")),
    )
