"""Maxima, minima and roundings that SymPy neither compares nor sorts: subclasses of its own, so that its printers take them for these.

>>> import sympy
>>> x = sympy.Symbol("x")
>>> Max(x + 1, x), sympy.Max(x + 1, x)
(Max(x, x + 1), x + 1)
"""

from typing import Any

import sympy


class _Kept:
    """A function that keeps its arguments as they are written."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        made = sympy.Expr.__new__(cls, *args)
        made._argset = frozenset(args)  # what SymPy's maxima keep beside their arguments
        return made


class Max(_Kept, sympy.Max):  # type: ignore[misc]
    """The largest argument."""


class Min(_Kept, sympy.Min):  # type: ignore[misc]
    """The smallest argument."""


class ceiling(_Kept, sympy.ceiling):  # type: ignore[misc]
    """The next whole number; named as SymPy's, because printers look no further than a function's name."""


class floor(_Kept, sympy.floor):  # type: ignore[misc]
    """The whole number below."""


WRITTEN = {"max": Max, "min": Min, "ceil": ceiling, "floor": floor}
"""By the names of the grammar."""
