"""What formulas are made of: SymPy expressions over the symbols of names, and the few functions that SymPy lacks.

A formula is small and names other quantities; it is never written out over all inputs to be computed. Maxima, minima and
roundings keep their arguments: SymPy would compare and factor them for minutes.

>>> a, b = symbol("a"), symbol("b")
>>> Max(a + b, b)*2
2*Max(b, a + b)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, KeysView, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, TypeGuard
from weakref import WeakValueDictionary

import sympy
from sympy import S
from sympy.core.relational import Relational
from sympy.core.symbol import Str

Expr: TypeAlias = Any
"""A SymPy expression, or a relation of two; SymPy has no types."""

ZERO, ONE = S.Zero, S.One
RELATIONS: dict[str, Any] = {
    "<=": sympy.Le,
    ">=": sympy.Ge,
    "<": sympy.Lt,
    ">": sympy.Gt,
    "=": sympy.Eq,
}
DEEPEST = 64
"""The depth beyond which names are no longer inlined; this ends circular definitions."""
WRITTEN_OUT = 100_000
"""The most nodes of a formula that is written out over its inputs: SymPy and comparisons take minutes for the few that have more."""


class NoValue(ArithmeticError):
    """The formula has no value here; the message says why."""


class UndefinedValue(NoValue):
    """A name in the formula has no value at any point."""


class DerivativeName(str):
    """The name of a derivative: how fast a quantity changes with an input, with all other inputs fixed.

    Attributes:
        quantity: what changes; it may be a derivative itself.
        by: the input that it is differentiated by.

    >>> DerivativeName.of("itl", "batch")
    'Derivative(itl, batch)'
    """

    quantity: str
    by: str

    @classmethod
    def of(cls, quantity: str, by: str) -> DerivativeName:
        made = cls(f"Derivative({quantity}, {by})")
        made.quantity, made.by = quantity, by
        return made


_SYMBOLS: dict[str, Any] = {}
SIGNED: set[str] = set()
"""Names that are declared to take negative values."""


def symbol(name: str) -> Any:
    """The one symbol of a name: positive, as SymPy then decides quickly what it asks of signs; real where it may be negative.

    Zero is no exception that matters: nothing here divides by a name because its symbol is positive, and relations are never decided.
    """
    found = _SYMBOLS.get(name)
    if found is None or type(found.name) is not type(name):
        signed = name in SIGNED or isinstance(name, DerivativeName)
        found = _SYMBOLS[name] = sympy.Symbol(name, **{"real" if signed else "positive": True})
    return found


def declare_signed(name: str) -> None:
    """Say that a name may be negative."""
    SIGNED.add(name)
    _SYMBOLS.pop(name, None)


class _Remembers:
    """Remembers its free symbols: SymPy collects them again for each question about signs, however often parts are shared."""

    @property
    def free_symbols(self) -> set[Any]:
        found = self.__dict__.get("_free")
        if found is None:
            found = self.__dict__["_free"] = frozenset(self._collected())
        return set(found)

    def _collected(self) -> set[Any]:
        return set().union(*(arg.free_symbols for arg in self.args))  # type: ignore[attr-defined]


_ORDER: dict[str, int] = {}


def declare_order(declared: Iterable[str]) -> None:
    """Names in the order in which formulas mention them; those declared before keep their places."""
    for name in declared:
        _ORDER.setdefault(name, len(_ORDER))


def place(name: str) -> tuple[int, str]:
    """Where a name stands among others: as declared, unknown ones last."""
    known = _ORDER.get(name.partition(".")[0])
    return (len(_ORDER) if known is None else known, name)


def in_order(found: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of their declaration."""
    return tuple(sorted(found, key=place))


def number(value: Any) -> Any:
    """A number of formulas: of a fraction, a whole number, a decimal text, or the decimal that a float is printed as.

    >>> number(Fraction(1, 3)), number("0.25"), number(2.0), number(0.1)
    (1/3, 1/4, 2, 1/10)
    """
    exact = Fraction(repr(float(value)) if isinstance(value, float) else value)
    return sympy.Rational(*exact.as_integer_ratio())


def fraction(value: Any) -> Fraction:
    """The fraction of an exact number."""
    return Fraction(int(value.p), int(value.q))


# ------------------------------------------------------------------------------------------- what SymPy compares too eagerly


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


KEPT = {"max": Max, "min": Min, "ceil": ceiling, "floor": floor}
"""By the names of the grammar."""
OURS: dict[Any, Any] = {
    sympy.Max: Max,
    sympy.Min: Min,
    sympy.ceiling: ceiling,
    sympy.floor: floor,
}
"""By SymPy's own, of which they are subclasses."""


# ---------------------------------------------------------------------------------------------------- what SymPy lacks


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

    def _collected(self) -> set[Any]:
        body, _, first, last = self.args
        inside: set[Any] = body.free_symbols - {symbol(self.index)}
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


def at(name: str, changes: Mapping[str, Any] | Collection[tuple[str, Any]]) -> Any:
    """A quantity at changed inputs.

    >>> at("itl", {"context": symbol("prompt") + 1})
    At(itl, context, prompt + 1)
    """
    pairs = changes.items() if isinstance(changes, Mapping) else changes
    return At(Str(name), *(part for key, value in pairs for part in (Str(key), value)))


def label(arms: Collection[tuple[str, Any]]) -> Any:
    """The text of the largest of some values."""
    return OfLargest(*(part for text, value in arms for part in (value, Str(text))))


def total(body: Any, index: str, first: Any, last: Any) -> Any:
    """A sum over an index; for a single index value that is no number, the body at that value."""
    if first == last and not first.is_number:
        return substitute(body, {index: first})
    return Total(body, Str(index), first, last)


def of_largest(*pairs: Any) -> Any:
    """The value of the largest of some keys; the one value where all are equal."""
    values = set(pairs[1::2])
    return values.pop() if len(values) == 1 else OfLargest(*pairs)


def relation(operator: str, left: Any, right: Any) -> Any:
    """A comparison, never decided on the way: ``relation("<=", memory, capacity)``."""
    return RELATIONS[operator](left, right, evaluate=False)


def operator_of(comparison: Any) -> str:
    """How the grammar writes the sign of a relation."""
    return "=" if comparison.rel_op == "==" else comparison.rel_op


def is_number(value: Any) -> TypeGuard[Any]:
    """Whether something is a number of SymPy's; a range of values, or nothing, is none."""
    return isinstance(value, sympy.Number)


def is_condition_or_label(expr: Any) -> bool:
    """Whether a formula gives a truth or a label, with which formulas cannot calculate."""
    return is_relation(expr) or is_label(expr)


def is_relation(expr: Any) -> bool:
    return isinstance(expr, Relational)


def is_label(expr: Any) -> bool:
    return isinstance(expr, OfLargest) and isinstance(expr.args[1], Str)


# ------------------------------------------------------------------------------------------------------ parts and names


def parts(expr: Any) -> KeysView[Any]:
    """Every different node, parents first; whether a formula contains another is one look-up.

    >>> a, b = symbol("a"), symbol("b")
    >>> Max(a, b) in parts(2*Max(a, b) + a)
    True
    """
    return _parts(expr)


@lru_cache(maxsize=4096)
def _parts(expr: Any) -> KeysView[Any]:
    seen: dict[Any, None] = {}
    stack = [expr]
    while stack:
        node = stack.pop()
        if node not in seen and not isinstance(node, Str):
            seen[node] = None
            stack.extend(node.args[::-1])
    return seen.keys()


@lru_cache(maxsize=2**17)
def size(expr: Any) -> int:
    """How many nodes a formula has when it is written out; equal parts are added as often as they occur.

    >>> size(2*symbol("a") + symbol("b"))
    5
    """
    return 1 + sum(map(size, expr.args))


@lru_cache(maxsize=32768)
def names(expr: Any) -> tuple[str, ...]:
    """The free names in the order of their declaration, quantities at changed inputs among them; the index of a sum is not free.

    >>> names(2*symbol("a1")*symbol("b1") + symbol("a1"))
    ('a1', 'b1')
    """
    if expr.is_Symbol:
        return (expr.name,)
    if not expr.args:
        return ()
    found = {expr.name} if isinstance(expr, At) else set()
    for arg in expr.args:
        if not isinstance(arg, Str):
            hidden = {expr.index} if isinstance(expr, Total) and arg is expr.body else set()
            found |= set(names(arg)) - hidden
    return in_order(found)


def mentions(expr: Any, name: str) -> bool:
    """Whether a name occurs free in a formula."""
    return name in names(expr)


@lru_cache(maxsize=4096)
def sums(expr: Any) -> tuple[Any, ...]:
    """The sums in a formula, each once."""
    return tuple(part for part in parts(expr) if isinstance(part, Total))


@lru_cache(maxsize=4096)
def changed_inputs(expr: Any) -> tuple[str, ...]:
    """The inputs that quantities in a formula are taken at other values of."""
    return tuple(key for part in parts(expr) if isinstance(part, At) for key, _ in part.changes)


# ----------------------------------------------------------------------------------------------------- formulas from formulas


def rebuild(expr: Any, change: Callable[[Any], Any]) -> Any:
    """The same node over changed parts; the node itself if none changes."""
    after = tuple(arg if isinstance(arg, Str) else change(arg) for arg in expr.args)
    if all(new is old for new, old in zip(after, expr.args, strict=True)):
        return expr
    if isinstance(expr, Relational):
        return expr.func(*after, evaluate=False)
    if isinstance(expr, Total):
        return total(after[0], expr.index, after[2], after[3])
    if expr.is_Pow and (after[1].args or after[0].is_Add):
        # SymPy would factor the exponent, and ask for signs without an end
        return expr.func(*after, evaluate=after[1].is_number and not after[0].is_Add)
    return expr.func(*after)


def substitute(expr: Any, values: Mapping[str, Any]) -> Any:
    """Substitute formulas for names, all at once; the index of a sum is not substituted inside it.

    >>> substitute(symbol("requests")*(symbol("past") + 1), {"past": symbol("context") - 1, "requests": symbol("batch")})
    batch*context
    """
    if expr.is_Symbol:
        return values.get(expr.name, expr)
    named = values.keys()
    made: dict[Any, Any] = {}

    def go(node: Any) -> Any:
        if node.is_Symbol:
            return values.get(node.name, node)
        if named.isdisjoint(names(node)):
            return node
        changed = made.get(node)
        if changed is None:
            if isinstance(node, Total) and node.index in values:
                inner = {name: value for name, value in values.items() if name != node.index}
                changed = total(
                    substitute(node.body, inner), node.index, go(node.first), go(node.last)
                )
            else:
                changed = rebuild(node, go)
            made[node] = changed
        return changed

    return go(expr)


def rename(expr: Any, table: Mapping[str, str]) -> Any:
    """The same formula with names renamed, changed inputs included; names that are not in the table stay.

    >>> rename(at("ITL", {"C": symbol("S") + 1}), {"ITL": "itl", "C": "context", "S": "prompt"})
    At(itl, context, prompt + 1)
    """
    if expr.is_Symbol:
        return symbol(table[expr.name]) if expr.name in table else expr
    if isinstance(expr, At):
        return at(
            table.get(expr.name, expr.name),
            [(table.get(key, key), rename(value, table)) for key, value in expr.changes],
        )
    if isinstance(expr, Total):
        inner = {name: other for name, other in table.items() if name != expr.index}
        return total(
            rename(expr.body, inner),
            expr.index,
            rename(expr.first, table),
            rename(expr.last, table),
        )
    return rebuild(expr, lambda part: rename(part, table))


Formula = Callable[[str, frozenset[str]], Any]
"""The formula of a name where some names are changed; None, or the name itself, keeps the name."""


class TooLong(ValueError):
    """A formula that would be longer than it may be."""


def inline(expr: Any, formula: Formula, most: float = math.inf) -> Any:
    """Inlines the formulas of names, recursively; at changed inputs a formula is inlined with the changes.

    ``formula`` gives the formula of a name when some names are changed; None, or the name itself, keeps the name.

    Raises:
        TooLong: it has more than ``most`` nodes; this is found on the way, as under load they are millions.

    >>> formulas = {"cache": symbol("batch")*symbol("context"), "peak": at("cache", {"context": symbol("prompt") + 1})}
    >>> inline(symbol("peak"), lambda name, changed: formulas.get(name))
    batch*(prompt + 1)
    """
    inlined: dict[
        frozenset[tuple[str, Any]], dict[str, Any]
    ] = {}  # most names occur in several places, most places have few changes

    def bounded(made: Any) -> Any:
        if size(made) > most:
            raise TooLong
        return made

    def under(changes: dict[str, Any]) -> Callable[[Any, int], Any]:
        """The function that inlines formulas under some changes."""
        made, changed = inlined.setdefault(frozenset(changes.items()), {}), frozenset(changes)

        def put(name: str, depth: int) -> Any:
            if name in changes:
                return changes[name]
            if name not in made:
                inner = formula(name, changed)
                made[name] = symbol(name)  # a circular definition sees it as a name
                if inner is not None and inner != symbol(name) and depth <= DEEPEST:
                    made[name] = bounded(go(inner, depth + 1))
            return made[name]

        def go(node: Any, depth: int) -> Any:
            if node.is_Symbol:
                return put(node.name, depth)
            if isinstance(node, At):
                here = changes | {key: go(value, depth) for key, value in node.changes}
                return (
                    here[node.name] if node.name in here else under(here)(symbol(node.name), depth)
                )
            return rebuild(node, lambda part: go(part, depth))

        return go

    return bounded(under({})(expr, 0))


def halves(factors: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The factors of a product above and below its bar.

    >>> a, b, c = map(symbol, "abc")
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


def is_negative(term: Any) -> bool:
    """Whether a term is written with a minus sign."""
    return bool(term.as_coeff_Mul()[0].is_negative)
