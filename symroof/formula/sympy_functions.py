"""Functions and constants that only SymPy expressions have (``sin``, ``erf``, ``binomial`` ...): their values and derivatives.

Formulas refer to them by SymPy's names. The grammar of text has none of them: they enter as SymPy objects.

>>> value("binomial", 5.0, 2.0), value("erf", 0.5)
(10.0, 0.5204998778130465)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

IN_NUMPY = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}
"""Functions that NumPy has, by SymPy's name; all others are evaluated point by point."""


class NoRealValue(ArithmeticError):
    """A function has no real value, or no derivative, at a point."""


def of_sympy(function: str) -> Any:
    """SymPy's function or constant of a name."""
    import sympy

    return getattr(sympy, function)


def name_of(node: Any) -> str:
    """The name of a SymPy function or constant that has values; empty for anything else, such as a function that a person made up.

    >>> import sympy
    >>> name_of(sympy.sin(sympy.Symbol("x"))), name_of(sympy.pi), name_of(sympy.Function("f")(1))
    ('sin', 'pi', '')
    """
    import sympy

    if isinstance(node, sympy.NumberSymbol):
        return str(node)
    kind = type(node)
    return (
        kind.__name__
        if isinstance(node, sympy.Function) and getattr(sympy, kind.__name__, None) is kind
        else ""
    )


@lru_cache(maxsize=4096)
def value(function: str, *args: float) -> float:
    """The value of a function or constant.

    Raises:
        NoRealValue: it has none here.
    """
    import sympy

    made = of_sympy(function)
    try:
        numbers = [sympy.Integer(int(x)) if x == int(x) else sympy.Float(x) for x in args]
        return float((made(*numbers) if args else made).evalf())
    except (TypeError, ValueError, ArithmeticError, NotImplementedError):
        raise NoRealValue(f"{function}({', '.join(map(str, args))}) is no real number") from None


def arguments(count: int) -> list[str]:
    """Names for the arguments of a function that no formula can contain."""
    return [f"~{i}" for i in range(count)]


@cache
def _places(count: int) -> tuple[Any, ...]:
    """Their symbols."""
    import sympy

    return tuple(sympy.Symbol(name, real=True) for name in arguments(count))


@cache
def slope(function: str, count: int, place: int) -> Any:
    """The derivative of a function of so many arguments by one of them, as a SymPy expression in symbols called as :func:`arguments` are.

    Raises:
        NoRealValue: SymPy knows none.

    >>> slope("erf", 1, 0)
    2*exp(-~0**2)/sqrt(pi)
    """
    import sympy

    try:
        found = of_sympy(function)(*_places(count)).fdiff(place + 1)
    except (sympy.core.function.ArgumentIndexError, NotImplementedError):
        found = sympy.nan
    if found is sympy.nan or found.has(sympy.Derivative, sympy.Subs):
        raise NoRealValue(f"the slope of {function}()")
    return found


@cache
def over_arrays(function: str) -> Callable[..., Any]:
    """A function over NumPy arrays; NaN where it has no real value."""
    import numpy as np
    import sympy

    if function in IN_NUMPY:
        return _quiet(getattr(np, IN_NUMPY[function]))

    @cache
    def at_points(count: int) -> Any:
        places = _places(count)
        return np.vectorize(
            _at_point(
                function,
                sympy.lambdify(places, of_sympy(function)(*places), "mpmath", dummify=True),
            ),
            otypes=[float],
        )

    return lambda *arrays: at_points(len(arrays))(*arrays) if arrays else value(function)


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
        except (NoRealValue, ValueError, OverflowError):  # the latter two: of what is not finite
            return float("nan")

    return of
