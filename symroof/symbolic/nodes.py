"""The nodes of formulas that SymPy lacks, those of its own that keep their arguments, and the functions of the grammar.

SymPy would compare and factor the arguments of maxima, minima and roundings for minutes.

>>> a, b = sympy.symbols("a b", positive=True)
>>> Max(a + b, b)*2
2*Max(b, a + b)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import sympy
from sympy.core.symbol import Str

from symroof.units import Dimension, parse_unit


class _Remembers:
    """Remembers its free symbols: SymPy collects them again for each question about signs, however often parts are shared."""

    @property
    def free_symbols(self) -> set[Any]:
        found = self.__dict__.get("_free")
        if found is None:
            found = self.__dict__["_free"] = frozenset(self.collected_symbols())
        return set(found)

    def collected_symbols(self) -> set[Any]:
        return set().union(*(arg.free_symbols for arg in self.args))  # type: ignore[attr-defined]


_NODES: WeakValueDictionary[tuple[Any, ...], Any] = WeakValueDictionary()


def _interned(kind: Any, args: tuple[Any, ...]) -> Any:
    """The one node of a kind over these arguments: SymPy compares equal nodes part by part, which takes minutes where parts are shared."""
    key = kind, *args
    made = _NODES.get(key)
    if made is None:
        made = _NODES[key] = sympy.Expr.__new__(kind, *args)
    return made


class _Kept(_Remembers):
    """A function of SymPy that keeps its arguments; numbers alone are computed."""

    plain: Any

    def __new__(cls, *args: Any, **options: Any) -> Any:
        args = tuple(map(sympy.sympify, args))
        if all(arg.is_Rational or arg.is_Float for arg in args):
            return cls.plain(*args)
        return cls.kept(*args)

    @classmethod
    def kept(cls, *args: Any) -> Any:
        """The function of these arguments in this order."""
        made = _interned(cls, args)
        made._argset = frozenset(args)  # what SymPy's maxima keep beside their arguments
        return made

    def doit(self, **hints: Any) -> Any:
        return self.plain(*(arg.doit(**hints) for arg in self.args))  # type: ignore[attr-defined]


class _Extreme(_Kept):
    side: int

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Nested ones are opened, equal arguments stand once, numbers become one."""
        flat = [
            x
            for arg in args
            for x in (arg.args if type(arg) is cls else (sympy.sympify(arg),))  # type: ignore[attr-defined]
        ]
        numbers = [x for x in flat if x.is_Rational or x.is_Float]
        rest = dict.fromkeys(x for x in flat if not (x.is_Rational or x.is_Float))
        args = (*rest, *([cls.plain(*numbers)] if numbers else ()))
        return args[0] if len(args) == 1 else cls.kept(*args)

    def fdiff(self, argindex: int = 1) -> Any:
        """1 where this argument is beyond all others; no ``Piecewise``: ``solve`` would take that for a line."""
        own, others = self.args[argindex - 1], list(self.args)  # type: ignore[attr-defined]
        del others[argindex - 1]
        return sympy.Heaviside(self.side * (own - type(self)(*others)))

    def _eval_evalf(self, prec: int) -> Any:
        return self.plain(*(arg._evalf(prec) for arg in self.args))  # type: ignore[attr-defined]

    def _eval_is_positive(self) -> Any:
        return True if all(arg.is_positive for arg in self.args) else None  # type: ignore[attr-defined]

    def _eval_is_nonnegative(self) -> Any:
        return True if all(arg.is_nonnegative for arg in self.args) else None  # type: ignore[attr-defined]

    def _eval_is_extended_real(self) -> Any:
        return True

    _eval_is_real = _eval_is_extended_real


class Max(_Extreme, sympy.Max):  # type: ignore[misc]
    """The largest argument."""

    plain, side = sympy.Max, 1


class Min(_Extreme, sympy.Min):  # type: ignore[misc]
    """The smallest argument."""

    plain, side = sympy.Min, -1


class ceiling(_Kept, sympy.ceiling):  # type: ignore[misc]
    """The next whole number; named as SymPy's, because printers look no further than a function's name."""

    plain = sympy.ceiling


class floor(_Kept, sympy.floor):  # type: ignore[misc]
    """The whole number below."""

    plain = sympy.floor


OURS: dict[Any, Any] = {sympy.Max: Max, sympy.Min: Min, sympy.ceiling: ceiling, sympy.floor: floor}
"""By SymPy's own, of which they are subclasses."""


class Opaque(_Remembers, sympy.Function):  # type: ignore[misc]
    """A function that is not evaluated; real, so that products with it stay ordinary products."""

    is_real = True

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return _interned(cls, tuple(map(sympy.sympify, args)))


class At(Opaque):
    """``At(name, input, value, ...)``: a quantity at changed inputs, ``itl(context = prompt + step)``."""

    @property
    def name(self) -> str:
        return self.args[0].name  # type: ignore[no-any-return]

    @property
    def changes(self) -> tuple[tuple[str, Any], ...]:
        pairs = zip(self.args[1::2], self.args[2::2], strict=True)
        return tuple((key.name, value) for key, value in pairs)


class Total(Opaque):
    """``Total(body, index, first, last)``: the sum over every whole index from first to last; only the body has the index."""

    @property
    def body(self) -> Any:
        return self.args[0]

    @property
    def index(self) -> str:
        return self.args[1].name  # type: ignore[no-any-return]

    @property
    def first(self) -> Any:
        return self.args[2]

    @property
    def last(self) -> Any:
        return self.args[3]

    def _eval_is_nonnegative(self) -> Any:
        return self.body.is_nonnegative

    def collected_symbols(self) -> set[Any]:
        body, _, first, last = self.args
        inside = {own for own in body.free_symbols if own.name != self.index}
        return inside | first.free_symbols | last.free_symbols  # type: ignore[no-any-return]


class OfLargest(Opaque):
    """``OfLargest(key, value, ...)``: the value whose key is largest, the first of equal ones; a label where the values are texts."""

    @property
    def keys(self) -> tuple[Any, ...]:
        return self.args[::2]  # type: ignore[no-any-return]

    @property
    def values(self) -> tuple[Any, ...]:
        return self.args[1::2]  # type: ignore[no-any-return]

    @property
    def arms(self) -> tuple[tuple[str, Any], ...]:
        """The text of each key of a label, and the key."""
        return tuple((text.name, key) for key, text in zip(self.keys, self.values, strict=True))


class Measured(Opaque):
    """``Measured(3.35, Str("TB/s"))``: a number with its unit, in a formula as it is written."""

    @property
    def unit(self) -> str:
        return self.args[1].name  # type: ignore[no-any-return]

    @property
    def dimension(self) -> Dimension:
        return parse_unit(self.unit).dimension

    def _sympystr(self, printer: Any) -> str:
        return f"({self.args[0]} {self.unit})"


def halves(factors: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The factors of a product above and below its bar.

    >>> a, b, c = sympy.symbols("a b c", positive=True)
    >>> halves((2*a/(3*b**2*c)).args)
    ([2, a], [3, b**2, c])
    """
    above: list[Any] = []
    below: list[Any] = []
    for factor in factors:
        if factor.is_Rational:
            above += [sympy.Integer(factor.p)] if factor.p != 1 else []
            below += [sympy.Integer(factor.q)] if factor.q != 1 else []
        elif factor.is_Pow and factor.exp.is_Number and factor.exp.is_negative:
            base, exponent = factor.args
            under = base if exponent == -1 else sympy.Pow(base, -exponent, evaluate=False)
            below.append(under)
        else:
            above.append(factor)
    return above, below


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
        return sympy.Rational(repr(math.sqrt(arg)))
    return sympy.sqrt(arg)


def _kept(function: Any, *more: Any) -> Callable[..., Any]:
    """A function of SymPy that is not evaluated."""
    return lambda *args: function(*args, *more, evaluate=False)


def _pairs(*args: Any) -> Any:
    if len(args) % 2:
        raise ValueError("of_largest() takes pairs: what is compared, and the value beside it")
    return OfLargest(*args)


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
    "log2": Function(1, 1, lambda x: sympy.log(x) / sympy.log(2), _kept(sympy.log, 2)),
    "log": Function(1, 1, sympy.log, _kept(sympy.log)),
    "exp": Function(1, 1, sympy.exp, _kept(sympy.exp)),
    "lambertw": Function(1, 2, sympy.LambertW, _kept(sympy.LambertW)),
    "of_largest": Function(2, 64, _pairs, _pairs),
    "sum": Function(4, 4, _sum, _sum),
}
