"""Functions that only SymPy expressions have (``sin``, ``erf``, ``binomial`` ...): their values.

The grammar of text has none of them: they enter as SymPy objects, and code that is printed of formulas calls them by their names.

>>> value("binomial", 5.0, 2.0), value("erf", 0.5)
(10.0, 0.5204998778130465)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import sympy

IN_NUMPY = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}
"""Functions that NumPy has, by SymPy's name; all others are evaluated point by point."""


class NoRealValue(ArithmeticError):
    """A function has no real value at a point."""


def is_known(node: Any) -> bool:
    """Whether a function is SymPy's own, which has values, and not one that a person made up.

    >>> x = sympy.Symbol("x")
    >>> is_known(sympy.sin(x)), is_known(sympy.Function("sin")(x))
    (True, False)
    """
    return getattr(sympy, type(node).__name__, None) is type(node)


@lru_cache(maxsize=4096)
def value(function: str, *args: float) -> float:
    """The value of a function.

    Raises:
        NoRealValue: it has none here.
    """
    try:
        numbers = [sympy.Integer(int(x)) if x == int(x) else sympy.Float(x) for x in args]
        return float(getattr(sympy, function)(*numbers).evalf())
    except (TypeError, ValueError, ArithmeticError, NotImplementedError):
        raise NoRealValue(f"{function}({', '.join(map(str, args))}) is no real number") from None


@cache
def over_arrays(function: str) -> Callable[..., Any]:
    """A function over NumPy arrays; NaN where it has no real value."""
    import numpy as np

    if function in IN_NUMPY:
        return _quiet(getattr(np, IN_NUMPY[function]))

    @cache
    def at_points(count: int) -> Any:
        places = sympy.symbols(f"x:{count}", real=True)
        made = getattr(sympy, function)(*places)
        rough = sympy.lambdify(places, made, "mpmath", dummify=True)
        return np.vectorize(_at_point(function, rough), otypes=[float])

    return lambda *arrays: at_points(len(arrays))(*arrays)


def _quiet(function: Any) -> Callable[..., Any]:
    """A NumPy function that gives no warnings."""
    import numpy as np

    def of(*arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arrays)

    return of


def _at_point(function: str, rough: Any) -> Callable[..., float]:
    """A function of floats: fast if possible, SymPy's own if that fails (``binomial(1, 3)`` by gamma functions), NaN without a real value."""

    def of(*args: float) -> float:
        try:
            return float(rough(*map(float, args)))
        except (TypeError, ValueError, ArithmeticError, NotImplementedError):
            pass
        try:
            return value(function, *args)
        except NoRealValue:
            return float("nan")

    return of
