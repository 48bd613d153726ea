"""The formula tree: immutable nodes without operations.

Each operation (text, LaTeX, dimension, code, SymPy, ...) is a module next to this one. The tree keeps the
order in which a formula was written; :mod:`symroof.formula.build` has the constructors that simplify on the way.

Users see SymPy expressions; an ``eval`` avoids the import of SymPy, which takes as long as the rest of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, KeysView, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar, dataclass_transform

from symroof.units import PLAIN, Dimension

T = TypeVar("T")


class _Hashed:
    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _node(cls: type[T]) -> type[T]:
    """A frozen dataclass that computes its hash once: trees are keys wherever a formula is looked up."""
    node = dataclass(frozen=True, slots=True)(cls)
    computed = node.__hash__

    def cached(self: Any) -> int:
        try:
            return self._hash  # type: ignore[no-any-return]
        except AttributeError:
            object.__setattr__(self, "_hash", computed(self))
            return self._hash  # type: ignore[no-any-return]

    node.__hash__ = cached  # type: ignore[method-assign]
    if node.__name__ not in LEAVES:
        node.__eq__ = _equal  # type: ignore[method-assign]
    return node


LEAVES = ("Num", "Name")


def _equal(one: Any, other: object) -> Any:
    """Whether two trees are equal; each pair of parts is compared once, as trees share parts that written out are millions."""
    if other.__class__ is not one.__class__:
        return NotImplemented
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Any, Any]] = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if a.__class__ is not b.__class__ or hash(a) != hash(b):
            return False
        seen.add((id(a), id(b)))
        for left, right in zip(_flat(a), _flat(b), strict=True):
            if isinstance(left, _Hashed) and left.__class__.__name__ not in LEAVES:
                waiting.append((left, right))
            elif left != right:
                return False
    return True


def _flat(node: Any) -> list[Any]:
    """What a node consists of, lists opened: a mark of their length first."""
    found: list[Any] = []
    values = [getattr(node, name) for name in node.__dataclass_fields__]
    while values:
        value = values.pop()
        if isinstance(value, tuple):
            found.append(len(value))
            values.extend(value)
        else:
            found.append(value)
    return found


@_node
class Num(_Hashed):
    """A number; ``dimension`` is that of its unit (``2 FLOP``), the value is in base units."""

    value: Fraction
    dimension: Dimension = PLAIN

    def __eq__(self, other: object) -> bool:
        """Whether numbers and units are equal; comparing two fractions checks for other number types first, which takes most of the time."""
        if other.__class__ is not Num:
            return NotImplemented
        return (
            self.value.as_integer_ratio() == other.value.as_integer_ratio()
            and self.dimension == other.dimension
        )


@_node
class Name(_Hashed):
    """A symbol or quantity. A dotted name (``n_layers.local``) belongs to one kind of layer."""

    name: str


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


@_node
class Neg(_Hashed):
    arg: Expr


@_node
class Add(_Hashed):
    terms: tuple[Expr, ...]


@_node
class Mul(_Hashed):
    factors: tuple[Expr, ...]


@_node
class Div(_Hashed):
    over: Expr
    under: Expr


@_node
class Pow(_Hashed):
    base: Expr
    exponent: Expr


@_node
class Call(_Hashed):
    """``max``, ``min``, ``ceil``, ``floor``, ``sqrt``, ``log2``, ``log`` or ``exp`` of its arguments, or another function of SymPy; a constant (``pi``) has none."""

    function: str
    args: tuple[Expr, ...]


@_node
class Sum(_Hashed):
    """``sum(body, index, first, last)``: the sum over every whole ``index`` from first to last."""

    body: Expr
    index: str
    first: Expr
    last: Expr


@_node
class QuantityAt(_Hashed):
    """A quantity at a changed input: ``itl(context = prompt + step)``."""

    name: str
    changes: tuple[tuple[str, Expr], ...]


@_node
class Compare(_Hashed):
    """A relation, true or false: ``memory_bytes <= tp*mem_capacity``."""

    operator: str
    left: Expr
    right: Expr


@_node
class ArgMax(_Hashed):
    """The label of the largest arm; a tie goes to the arm named first."""

    arms: tuple[tuple[str, Expr], ...]


Expr: TypeAlias = (
    Num | Name | Neg | Add | Mul | Div | Pow | Call | Sum | QuantityAt | Compare | ArgMax
)

ZERO, ONE = Num(Fraction(0)), Num(Fraction(1))
PI = Call("pi", ())


CHILDREN: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Num: lambda tree: (),
    Name: lambda tree: (),
    Neg: lambda tree: (tree.arg,),
    Add: lambda tree: tree.terms,
    Mul: lambda tree: tree.factors,
    Call: lambda tree: tree.args,
    Div: lambda tree: (tree.over, tree.under),
    Pow: lambda tree: (tree.base, tree.exponent),
    Compare: lambda tree: (tree.left, tree.right),
    Sum: lambda tree: (tree.body, tree.first, tree.last),
    QuantityAt: lambda tree: tuple(value for _, value in tree.changes),
    ArgMax: lambda tree: tuple(arm for _, arm in tree.arms),
}


def children(tree: Expr) -> tuple[Expr, ...]:
    """The sub-trees, in written order."""
    return CHILDREN[type(tree)](tree)


def walk(tree: Expr) -> Iterator[Expr]:
    """Every node, parents first, in written order."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if below := CHILDREN[type(node)](node):
            stack.extend(below[::-1])


WRITTEN_OUT = 100_000
"""The most nodes of a formula that is written out over its inputs: SymPy and comparisons take minutes for the few that have more."""


def size(tree: Expr) -> int:
    """How many nodes a formula has when it is written out; equal parts that are one object are counted once and added as often as they occur.

    >>> from symroof.formula.parse import parse
    >>> size(parse("2*a + b"))
    5
    """
    counted: dict[int, int] = {}

    def go(node: Expr) -> int:
        if id(node) not in counted:
            counted[id(node)] = 1 + sum(map(go, children(node)))
        return counted[id(node)]

    return go(tree)


def mapper(rules: Mapping[type, Callable[[Any, Callable[[Expr], T]], T]]) -> Callable[[Expr], T]:
    """A function of formulas from a rule for each kind of node: ``rule(node, go)``, where ``go(part)`` is the result of a part.

    A rule asks only for the parts it needs; of equal parts the result is computed once.

    >>> from symroof.formula.parse import parse
    >>> degree = mapper({Num: lambda node, go: 0, Name: lambda node, go: 1, Mul: lambda node, go: sum(map(go, node.factors))})
    >>> degree(parse("2*a*b"))
    2

    Raises:
        TypeError: a kind of node without a rule.
    """
    results: dict[Expr, T] = {}

    def go(node: Expr) -> T:
        try:
            return results[node]
        except KeyError:
            pass
        rule = rules.get(type(node))
        if rule is None:
            raise TypeError(f"no rule for {node!r}")
        result = results[node] = rule(node, go)
        return result

    return go


@lru_cache(maxsize=2048)
def parts(tree: Expr) -> KeysView[Expr]:
    """Every different node, each once where it first occurs in :func:`walk`; whether a formula contains another is one look-up.

    >>> from symroof.formula.parse import parse
    >>> tree = parse("max(a, b)*c + max(a, b)/d")
    >>> len(list(walk(tree))), len(parts(tree))
    (11, 8)
    """
    seen: dict[Expr, None] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        before = len(seen)
        seen[node] = None
        if len(seen) > before:
            stack.extend(CHILDREN[type(node)](node)[::-1])
    return seen.keys()


@lru_cache(maxsize=16384)
def names(tree: Expr) -> tuple[str, ...]:
    """The free names, each once, in the order they are written; the index of a sum is not free.

    >>> from symroof.formula.parse import parse
    >>> names(parse("2*params*prompt + params"))
    ('params', 'prompt')
    """
    match tree:
        case Name(name):
            return (name,)
        case Sum(body, index, first, last):
            return tuple(
                dict.fromkeys(
                    (*(name for name in names(body) if name != index), *names(first), *names(last))
                )
            )
    own = (tree.name,) if isinstance(tree, QuantityAt) else ()
    return tuple(
        dict.fromkeys((*own, *(name for child in children(tree) for name in names(child))))
    )


@lru_cache(maxsize=16384)
def sums(tree: Expr) -> tuple[Sum, ...]:
    """The sums in a formula, each once, in written order."""
    own = (tree,) if isinstance(tree, Sum) else ()
    return tuple(dict.fromkeys((*own, *(inner for part in children(tree) for inner in sums(part)))))


@lru_cache(maxsize=4096)
def changed_inputs(tree: Expr) -> tuple[str, ...]:
    """The inputs that quantities in a formula are taken at other values of, as they are written.

    >>> from symroof.formula.parse import parse
    >>> changed_inputs(parse("ttft + sum(itl(context = prompt + j), j, 1, output)"))
    ('context',)
    """
    return tuple(
        key for node in parts(tree) if isinstance(node, QuantityAt) for key, _ in node.changes
    )


def mentions(tree: Expr, name: str) -> bool:
    """Whether a name occurs free in a tree."""
    return name in names(tree)
