"""What formulas are made of: SymPy expressions over the symbols of names, their parts, and formulas from formulas.

A formula is small and names other quantities; it is never written out over all inputs to be computed.

>>> substitute(symbol("a") + symbol("b"), {"b": number("0.5")})
a + 1/2
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, KeysView, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, TypeGuard

import sympy
from sympy import Eq, Ge, Gt, Le, Lt, S
from sympy.core.relational import Relational
from sympy.core.symbol import Str

from symroof.symbolic.nodes import At, OfLargest, Total

Expr: TypeAlias = Any
"""A SymPy expression, or a relation of two; SymPy has no types."""

ZERO, ONE = S.Zero, S.One
RELATIONS: dict[str, Any] = {"<=": Le, ">=": Ge, "<": Lt, ">": Gt, "=": Eq}
DEEPEST = 64
"""The depth beyond which names are no longer inlined; this ends circular definitions."""
WRITTEN_OUT = 100_000
"""The most nodes of a formula that is written out over its inputs: SymPy and comparisons take minutes for the few that have more."""


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


EACH = "each input"
"""What a derivative by every input at once is by: each input then has as such a derivative what it moves by."""
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


@lru_cache(maxsize=4096)
def parts(expr: Any) -> KeysView[Any]:
    """Every different node, parents first; whether a formula contains another is one look-up.

    >>> a, b = symbol("a"), symbol("b")
    >>> b**2 in parts(2*b**2 + a)
    True
    """
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


@lru_cache(maxsize=4096)
def sums(expr: Any) -> tuple[Any, ...]:
    """The sums in a formula, each once."""
    return tuple(part for part in parts(expr) if isinstance(part, Total))


@lru_cache(maxsize=4096)
def changed_inputs(expr: Any) -> tuple[str, ...]:
    """The inputs that quantities in a formula are taken at other values of."""
    return tuple(key for part in parts(expr) if isinstance(part, At) for key, _ in part.changes)


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
                ends = go(node.first), go(node.last)
                changed = total(substitute(node.body, inner), node.index, *ends)
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
        changes = [(table.get(key, key), rename(value, table)) for key, value in expr.changes]
        return at(table.get(expr.name, expr.name), changes)
    if isinstance(expr, Total):
        inner = {name: other for name, other in table.items() if name != expr.index}
        ends = (rename(end, table) for end in (expr.first, expr.last))
        return total(rename(expr.body, inner), expr.index, *ends)
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
    # most names occur in several places, most places have few changes
    inlined: dict[frozenset[tuple[str, Any]], dict[str, Any]] = {}

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
                return under(here)(symbol(node.name), depth)
            return rebuild(node, lambda part: go(part, depth))

        return go

    return bounded(under({})(expr, 0))


def is_negative(term: Any) -> bool:
    """Whether a term is written with a minus sign."""
    return bool(term.as_coeff_Mul()[0].is_negative)
