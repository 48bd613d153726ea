"""Formulas made from formulas: parts replaced, definitions inlined, names substituted."""

from collections.abc import Callable, Collection
from functools import lru_cache, partial
from operator import is_
from typing import Any

from symroof.formula import build
from symroof.formula.tree import (
    CHILDREN,
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
    names,
    sums,
)


@lru_cache(maxsize=2048)
def replaced(tree: Expr, old: Expr, new: Expr) -> Expr:
    """The formula with one of its parts replaced everywhere; cached, because an equation is solved at every corner of its ranges.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(replaced(parse("a*ceil(x/b) + ceil(x/b)"), parse("ceil(x/b)"), Name("blocks")))
    'a*blocks + blocks'
    """

    free = frozenset(names(old)) - _indices(tree)
    made = {old: new}

    def go(node: Expr) -> Expr:
        changed = made.get(node)
        if changed is None:
            changed = made[node] = rebuild(node, go) if free.issubset(names(node)) else node
        return changed

    return go(tree)


def _indices(tree: Expr) -> frozenset[str]:
    """The indices of the sums in a formula, which are not free names."""
    return frozenset(node.index for node in sums(tree))


def rebuild(tree: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The same node over changed children, through the simplifying constructors; the node itself if no child changes."""
    before = CHILDREN[type(tree)](tree)
    if not before:
        return tree
    after = tuple(map(change, before))
    return tree if all(map(is_, after, before)) else REBUILT[type(tree)](tree, after)


def unrounded_argument(tree: Expr) -> Expr | None:
    """The argument of a rounding or of a maximum with a number: ``x`` in ``ceil(x)`` and ``max(x, 0)``; None for anything else.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(unrounded_argument(parse("max(heads/tp, 1)"))), text(unrounded_argument(parse("ceil(x/16)"))), unrounded_argument(parse("max(a, b)"))
    ('heads/tp', 'x/16', None)
    """
    if not isinstance(tree, Call):
        return None
    if tree.function in ("floor", "ceil"):
        return tree.args[0]
    others = [arg for arg in tree.args if not isinstance(arg, Num)]
    return (
        others[0] if tree.function == "max" and len(tree.args) == 2 and len(others) == 1 else None
    )


def without_rounding(tree: Expr, bent: Collection[Expr] | None = None) -> Expr:
    """The formula with some of its roundings and maxima with a number replaced by their argument, by default all.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(without_rounding(parse("a/max(1 - max(floor(u), 0), 0)"))), text(without_rounding(parse("max(floor(u), 0)"), [parse("max(floor(u), 0)")]))
    ('a/(1 - u)', 'floor(u)')
    """
    made: dict[Expr, Expr] = {}  # parts occur in many places

    def go(node: Expr) -> Expr:
        if node not in made:
            inner = unrounded_argument(node) if bent is None or node in bent else None
            made[node] = rebuild(node, go) if inner is None else go(inner)
        return made[node]

    return go(tree)


REBUILT: dict[type, Callable[[Any, tuple[Expr, ...]], Expr]] = {
    Mul: lambda tree, parts: build.mul(*parts),
    Add: lambda tree, parts: build.add(*parts),
    Div: lambda tree, parts: build.div(*parts),
    Neg: lambda tree, parts: build.neg(*parts),
    Pow: lambda tree, parts: build.power(*parts),
    Call: lambda tree, parts: build.call(tree.function, *parts),
    Sum: lambda tree, parts: total(parts[0], tree.index, parts[1], parts[2]),
    QuantityAt: lambda tree, parts: QuantityAt(
        tree.name, tuple((key, value) for (key, _), value in zip(tree.changes, parts, strict=True))
    ),
    Compare: lambda tree, parts: Compare(tree.operator, *parts),
    ArgMax: lambda tree, parts: ArgMax(
        tuple((label, value) for (label, _), value in zip(tree.arms, parts, strict=True))
    ),
}
"""A node of the same kind over other children."""


DEEPEST = 64
"""The depth beyond which names are no longer inlined; this ends circular definitions."""


def inline(tree: Expr, formula: Callable[[str, frozenset[str]], Expr | None]) -> Expr:
    """Inlines the formulas of names, recursively; at changed inputs a formula is inlined with the changes.

    ``formula`` gives the formula of a name when some names are changed; None, or the name itself, keeps the name.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> formulas = {"cache": parse("batch*context"), "peak": parse("cache(context = prompt + output)")}
    >>> text(inline(parse("2*peak"), lambda name, changed: formulas.get(name)))
    '2*batch*(prompt + output)'
    """

    inlined: dict[
        frozenset[tuple[str, Expr]], dict[str, Expr]
    ] = {}  # most names occur in several places, most places have few changes

    def at(changes: dict[str, Expr]) -> Callable[[Expr, int], Expr]:
        """The function that inlines formulas under some changes."""
        made, changed = inlined.setdefault(frozenset(changes.items()), {}), frozenset(changes)

        def put(name: str, depth: int) -> Expr:
            if name in changes:
                return changes[name]
            if name not in made:
                inner = formula(name, changed)
                made[name] = Name(name)  # a circular definition sees it as a name
                made[name] = (
                    Name(name)
                    if inner is None or inner == Name(name) or depth > DEEPEST
                    else go(inner, depth + 1)
                )
            return made[name]

        def go(node: Expr, depth: int) -> Expr:
            if type(node) is Name:
                value = put(node.name, depth)
                return node if value == node else value
            if type(node) is QuantityAt:
                changed_here = changes | {key: go(value, depth) for key, value in node.changes}
                return (
                    changed_here[node.name]
                    if node.name in changed_here
                    else at(changed_here)(Name(node.name), depth)
                )
            return rebuild(node, lambda child: go(child, depth))

        return go

    return at({})(tree, 0)


def substitute(tree: Expr, values: dict[str, Expr]) -> Expr:
    """Substitute formulas for names, all at once; the index of a sum is not substituted inside it.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(substitute(parse("requests*(past + new)"), {"past": parse("context - 1"), "new": parse("1"), "requests": Name("batch")}))
    'batch*context'
    """
    named = values.keys()
    made: dict[Expr, Expr] = {}  # of equal parts, one is changed

    def go(node: Expr) -> Expr:
        if type(node) is Name:
            return values.get(node.name, node)
        if named.isdisjoint(names(node)):
            return node
        changed = made.get(node)
        if changed is None:
            inner: Callable[[Expr], Expr] = go
            if type(node) is Sum and node.index in values:
                inner = partial(
                    substitute,
                    values={name: value for name, value in values.items() if name != node.index},
                )
            changed = made[node] = rebuild(node, inner)
        return changed

    return go(tree)


def rename(tree: Expr, table: dict[str, str]) -> Expr:
    """The same formula with names renamed, changed inputs included; names that are not in the table stay.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(rename(parse("ITL(C = S + 1)"), {"ITL": "itl", "C": "context", "S": "prompt"}))
    'itl(context = prompt + 1)'
    """
    match tree:
        case Name(name):
            return Name(table[name]) if name in table else tree
        case QuantityAt(name, pairs):
            return QuantityAt(
                table.get(name, name),
                tuple((table.get(key, key), rename(value, table)) for key, value in pairs),
            )
        case Sum(body, index, first, last):
            inner = {name: other for name, other in table.items() if name != index}
            return total(rename(body, inner), index, rename(first, table), rename(last, table))
    return rebuild(tree, lambda child: rename(child, table))


def total(body: Expr, index: str, first: Expr, last: Expr) -> Expr:
    """A sum over an index; for a single index value, the body at that value."""
    if first == last:
        return substitute(body, {index: first})
    return Sum(body, index, first, last)
