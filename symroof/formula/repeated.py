"""Formulas at many points: what the point does not move is worked out once, and of parts that occur several times each once at a point."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from symroof.formula.evaluate import Environment, Shared, evaluate
from symroof.formula.rewrite import with_children
from symroof.formula.tree import Name, Num, Total, Tree, children, names, parts

WORTH_NAMING = 3
"""Points from which on a formula is taken in parts; before, finding them costs more than it spares."""


@dataclass(frozen=True)
class Parted:
    """A formula with names for some of its parts, and those parts.

    Attributes:
        still: the largest parts that the point does not move; of these each is worked out once for all points.
        named: the parts that occur several times, but for those that move with the index of a sum; worked out once at each point.
    """

    top: Tree
    still: Mapping[str, Tree]
    named: Mapping[str, Tree]


@lru_cache(maxsize=64)
def parted(tree: Tree, moving: frozenset[str]) -> Parted:
    """A formula in parts, for points that differ in the ``moving`` names.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> made = parted(parse("max(a + x, c/b)/(a + x)"), frozenset("x"))
    >>> text(made.top), {name: text(part) for parts in (made.still, made.named) for name, part in parts.items()}
    ('max((1), (2))/(1)', {'(0)': 'a', '(2)': 'c/b', '(1)': '(0) + x'})
    """
    indices = {node.index for node in parts(tree) if isinstance(node, Total)}
    moved = moving | indices
    uses = Counter(child for node in parts(tree) for child in children(node))
    made: dict[Tree, Tree] = {}
    still: dict[str, Tree] = {}
    named: dict[str, Tree] = {}

    def go(node: Tree) -> Tree:
        if node not in made:
            made[node] = put(node)
        return made[node]

    def put(node: Tree) -> Tree:
        if isinstance(node, Num):
            return node
        if moved.isdisjoint(names(node)):
            return apart(node, still)
        inner = with_children(node, tuple(map(go, children(node))))
        return apart(inner, named) if uses[node] > 1 and not isinstance(node, Name) and indices.isdisjoint(names(node)) else inner

    def apart(node: Tree, group: dict[str, Tree]) -> Tree:
        name = f"({len(still) + len(named)})"  # no name that a formula can hold
        group[name] = node
        return Name(name)

    return Parted(go(tree), still, named)


@dataclass
class Point:
    """An environment at one point, where named parts are evaluated when first used."""

    env: Environment
    named: Mapping[str, Tree]
    bound: Mapping[str, Any]
    _values: dict[str, Any] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        part = self.named.get(name)
        if part is None:
            return self.env.value(name)
        if name not in self._values:
            self._values[name] = evaluate(part, self, self.bound)
        return self._values[name]

    def at(self, name: str, changes: Mapping[str, Any]) -> Any:
        return self.env.at(name, changes)


@dataclass
class Repeated:
    """The exact value of formulas, each perhaps at many points.

    Attributes:
        worth_naming: points from which on a formula is taken in parts; fewer where it has many points in other environments too.

    >>> from fractions import Fraction
    >>> from symroof.formula.parse import parse
    >>> class Numbers(dict):
    ...     value = dict.__getitem__
    >>> value = Repeated(Numbers(a=Fraction(2)))
    >>> [int(value(parse("(a*x + 1)*(a*x + 1) - x"), {"x": Fraction(x)})) for x in range(5)]
    [1, 8, 23, 46, 77]
    """

    env: Environment
    worth_naming: int = WORTH_NAMING
    _points: Counter[Tree] = field(default_factory=Counter)
    _still: dict[tuple[Tree, frozenset[str]], Point] = field(default_factory=dict)
    _anywhere: Shared = field(default_factory=lambda: Shared({}))
    _here: Shared = field(default_factory=lambda: Shared({}))

    def __call__(self, tree: Tree, at: Mapping[str, Any]) -> Any:
        if not at:  # coefficients of one equation are made of the same parts
            return evaluate(tree, self.env, self._anywhere)
        self._points[tree] += 1
        if self._points[tree] < self.worth_naming:
            if self._here != at:
                self._here = Shared(at)
            return evaluate(tree, self.env, self._here)
        key = tree, frozenset(at)
        formula = parted(*key)
        if key not in self._still:
            self._still[key] = Point(self.env, formula.still, Shared({}))
        return evaluate(formula.top, Point(self._still[key], formula.named, at), at)
