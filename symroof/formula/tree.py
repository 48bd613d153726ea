"""The formula tree: immutable nodes, and nothing that asks a question of them.

Each question (text, LaTeX, dimension, exact value, SymPy, ...) is one small file beside this one. The tree keeps the
order in which a formula was written; :mod:`symroof.formula.build` has the constructors that keep it tidy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import is_
from typing import Any, TypeAlias, TypeVar, dataclass_transform

from symroof.units import PLAIN, Dimension

T = TypeVar("T")


class _Hashed:
    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _node(cls: type[T]) -> type[T]:
    """A frozen dataclass that works its hash out once: trees are keys wherever a formula is looked up."""
    made = dataclass(frozen=True, slots=True)(cls)
    worked_out = made.__hash__

    def remembered(self: Any) -> int:
        try:
            return self._hash  # type: ignore[no-any-return]
        except AttributeError:
            object.__setattr__(self, "_hash", worked_out(self))
            return self._hash  # type: ignore[no-any-return]

    made.__hash__ = remembered  # type: ignore[method-assign]
    return made


@_node
class Num(_Hashed):
    """A number; ``dimension`` is that of the unit written beside it (``2 FLOP``), value in base units."""

    value: Fraction
    dimension: Dimension = PLAIN


@_node
class Name(_Hashed):
    """A symbol or quantity. A dotted name (``n_layers.local``) belongs to one kind of layer."""

    name: str


@_node
class Neg(_Hashed):
    arg: Tree


@_node
class Add(_Hashed):
    terms: tuple[Tree, ...]


@_node
class Mul(_Hashed):
    factors: tuple[Tree, ...]


@_node
class Div(_Hashed):
    over: Tree
    under: Tree


@_node
class Pow(_Hashed):
    base: Tree
    exponent: Tree


@_node
class Call(_Hashed):
    """``max``, ``min``, ``ceil``, ``floor``, ``sqrt`` or ``log2`` of its arguments."""

    function: str
    args: tuple[Tree, ...]


@_node
class Total(_Hashed):
    """``sum(body, index, first, last)``: the sum over every whole ``index`` from first to last."""

    body: Tree
    index: str
    first: Tree
    last: Tree


@_node
class At(_Hashed):
    """A quantity at a changed input: ``itl(context = prompt + step)``."""

    name: str
    changes: tuple[tuple[str, Tree], ...]


@_node
class Compare(_Hashed):
    """A relation, true or false: ``memory_bytes <= tp*mem_capacity``."""

    operator: str
    left: Tree
    right: Tree


@_node
class Largest(_Hashed):
    """The label of the largest arm; a tie goes to the arm named first."""

    arms: tuple[tuple[str, Tree], ...]


Tree: TypeAlias = Num | Name | Neg | Add | Mul | Div | Pow | Call | Total | At | Compare | Largest

ZERO, ONE = Num(Fraction(0)), Num(Fraction(1))


CHILDREN: dict[type, Callable[[Any], tuple[Tree, ...]]] = {
    Num: lambda tree: (),
    Name: lambda tree: (),
    Neg: lambda tree: (tree.arg,),
    Add: lambda tree: tree.terms,
    Mul: lambda tree: tree.factors,
    Call: lambda tree: tree.args,
    Div: lambda tree: (tree.over, tree.under),
    Pow: lambda tree: (tree.base, tree.exponent),
    Compare: lambda tree: (tree.left, tree.right),
    Total: lambda tree: (tree.body, tree.first, tree.last),
    At: lambda tree: tuple(value for _, value in tree.changes),
    Largest: lambda tree: tuple(arm for _, arm in tree.arms),
}


def children(tree: Tree) -> tuple[Tree, ...]:
    """The sub-trees, in written order."""
    return CHILDREN[type(tree)](tree)


def walk(tree: Tree) -> Iterator[Tree]:
    """Every node, parents first, in written order."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if below := CHILDREN[type(node)](node):
            stack.extend(below[::-1])


@lru_cache(maxsize=16384)
def names(tree: Tree) -> tuple[str, ...]:
    """The free names, each once, in the order they are written; the index of a sum is not free.

    >>> from symroof.formula.parse import parse
    >>> names(parse("2*params*prompt + params"))
    ('params', 'prompt')
    """
    found: dict[str, None] = {}

    def collect(node: Tree, bound: frozenset[str]) -> None:
        if isinstance(node, Name) and node.name not in bound:
            found.setdefault(node.name)
        if isinstance(node, At):
            found.setdefault(node.name)
        inner = bound | {node.index} if isinstance(node, Total) else bound
        for child in children(node):
            collect(child, inner)

    collect(tree, frozenset())
    return tuple(found)


@lru_cache(maxsize=16384)
def mentions(tree: Tree, name: str) -> bool:
    """Whether a name occurs free in a tree."""
    if isinstance(tree, Name):
        return tree.name == name
    if isinstance(tree, At) and tree.name == name:
        return True
    if isinstance(tree, Total) and tree.index == name:
        return mentions(tree.first, name) or mentions(tree.last, name)
    return any(mentions(child, name) for child in children(tree))


def rebuild(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The same node over changed children, through the tidy constructors; the node itself where no child changes."""
    before = CHILDREN[type(tree)](tree)
    if not before:
        return tree
    after = tuple(map(change, before))
    return tree if all(map(is_, after, before)) else _over(tree, after)


def _over(tree: Tree, parts: tuple[Tree, ...]) -> Tree:
    """A node of the same kind over other children."""
    from symroof.formula import build

    match tree:
        case Mul():
            return build.mul(*parts)
        case Add():
            return build.add(*parts)
        case Div():
            return build.div(*parts)
        case Neg():
            return build.neg(*parts)
        case Pow():
            return build.power(*parts)
        case Call(function, _):
            return build.call(function, *parts)
        case Total(_, index, _, _):
            return build.total(parts[0], index, parts[1], parts[2])
        case At(name, pairs):
            return At(name, tuple((key, value) for (key, _), value in zip(pairs, parts, strict=True)))
        case Compare(operator, _, _):
            return Compare(operator, *parts)
        case Largest(arms):
            return Largest(tuple((label, value) for (label, _), value in zip(arms, parts, strict=True)))
    raise TypeError(f"not a formula tree: {tree!r}")


DEEPEST = 64
"""Formulas within formulas beyond which a name is left as it is: a definition by itself ends here."""


def inline(tree: Tree, formula: Callable[[str, frozenset[str]], Tree | None]) -> Tree:
    """Formulas put in for names, and for the names in those; at changed inputs a formula is put in with the changes.

    ``formula`` tells what stands for a name where some names are changed; None, or the name itself, leaves it.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> formulas = {"cache": parse("batch*context"), "peak": parse("cache(context = prompt + output)")}
    >>> text(inline(parse("2*peak"), lambda name, changed: formulas.get(name)))
    '2*batch*(prompt + output)'
    """

    unchanged: dict[str, Tree] = {}  # what names come to where nothing is changed: most of them stand in several places

    def put(name: str, changes: dict[str, Tree], depth: int) -> Tree:
        if changes:
            return changes[name] if name in changes else put_in(name, changes, depth)
        if name not in unchanged:
            unchanged[name] = put_in(name, changes, depth)
        return unchanged[name]

    def put_in(name: str, changes: dict[str, Tree], depth: int) -> Tree:
        found = formula(name, frozenset(changes))
        return Name(name) if found is None or found == Name(name) or depth > DEEPEST else go(found, changes, depth + 1)

    def go(node: Tree, changes: dict[str, Tree], depth: int) -> Tree:
        if isinstance(node, Name):
            found = put(node.name, changes, depth)
            return node if found == node else found
        if isinstance(node, At):
            return put(node.name, changes | {key: go(value, changes, depth) for key, value in node.changes}, depth)
        return rebuild(node, lambda child: go(child, changes, depth))

    return go(tree, {}, 0)


def substitute(tree: Tree, values: dict[str, Tree]) -> Tree:
    """Put trees for names, all at once; a sum's own index is left alone.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(substitute(parse("requests*(past + new)"), {"past": parse("context - 1"), "new": ONE, "requests": Name("batch")}))
    'batch*context'
    """
    if isinstance(tree, Name):
        return values.get(tree.name, tree)
    if isinstance(tree, Total) and tree.index in values:
        values = {name: value for name, value in values.items() if name != tree.index}
    return rebuild(tree, lambda child: substitute(child, values))
