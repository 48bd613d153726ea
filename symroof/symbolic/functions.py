"""The functions of the grammar: how many arguments each takes, and what it becomes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import sympy
from sympy.core.symbol import Str

from symroof.symbolic.expressions import number
from symroof.symbolic.nodes import Max, Min, OfLargest, Total, ceiling, floor

LARGEST_ROOTED = 10**9
"""Of a number under a root: SymPy takes that apart into its factors."""


class Function(NamedTuple):
    """The least and the largest number of arguments; what it is in a formula that computes, and in one kept as it is written."""

    least: int
    most: int
    evaluated: Callable[..., Any]
    written: Callable[..., Any]


def _root(arg: Any) -> Any:
    """A square root; of a long number its value, as SymPy would look for the factors for minutes."""
    if arg.is_Rational and arg.is_nonnegative and max(arg.p, arg.q) > LARGEST_ROOTED:
        return number(math.sqrt(arg))
    return sympy.sqrt(arg)


def _log2(x: Any) -> Any:
    return sympy.log(x) / sympy.log(2)


def _kept(function: Any, *more: Any) -> Callable[..., Any]:
    """A function of SymPy that is not evaluated."""
    return lambda *args: function(*args, *more, evaluate=False)


def _sum(body: Any, index: Any, first: Any, last: Any) -> Any:
    if not index.is_Symbol:
        raise ValueError("the second argument of sum() is the name of its index")
    return Total(body, Str(index.name), first, last)


FUNCTIONS = {
    "max": Function(1, 16, Max, Max.kept),
    "min": Function(1, 16, Min, Min.kept),
    "ceil": Function(1, 1, ceiling, ceiling.kept),
    "floor": Function(1, 1, floor, floor.kept),
    "sqrt": Function(1, 1, _root, _kept(sympy.Pow, sympy.S.Half)),
    "log2": Function(1, 1, _log2, _kept(sympy.log, 2)),
    "log": Function(1, 1, sympy.log, _kept(sympy.log)),
    "exp": Function(1, 1, sympy.exp, _kept(sympy.exp)),
    "lambertw": Function(1, 2, sympy.LambertW, _kept(sympy.LambertW)),
    "of_largest": Function(2, 64, OfLargest, OfLargest),
    "sum": Function(4, 4, _sum, _sum),
}
