"""Formulas at many points: parts that occur several times have their value worked out once at each; in a formula that comes again they get names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from symroof.formula.evaluate import Environment, Shared, evaluate
from symroof.formula.rewrite import rebuild, with_children
from symroof.formula.tree import Name, Num, Total, Tree, children, names, parts

WORTH_NAMING = 3
"""Points from which on a formula has its repeated parts named; before, finding them costs more than it spares."""


@lru_cache(maxsize=64)
def named_parts(tree: Tree) -> tuple[Tree, Mapping[str, Tree]]:
    """A formula with names for its repeated parts, and those parts; what moves with the index of a sum has none.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> top, named = named_parts(parse("max(a + b, c)/(a + b)"))
    >>> text(top), {name: text(part) for name, part in named.items()}
    ('max((0), c)/(0)', {'(0)': 'a + b'})
    """
    indices = {node.index for node in parts(tree) if isinstance(node, Total)}
    uses = Counter(child for node in parts(tree) for child in children(node))
    made: dict[Tree, Tree] = {}
    named: dict[str, Tree] = {}

    def go(node: Tree) -> Tree:
        if node not in made:
            made[node] = rebuild(node, go)
            if uses[node] > 1 and not isinstance(node, (Name, Num)) and indices.isdisjoint(names(node)):
                name = f"({len(named)})"  # no name that a formula can hold
                named[name], made[node] = made[node], Name(name)
        return made[node]

    return go(tree), named


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

    >>> from fractions import Fraction
    >>> from symroof.formula.parse import parse
    >>> class Numbers(dict):
    ...     value = dict.__getitem__
    >>> value = Repeated(Numbers(a=Fraction(2)))
    >>> [int(value(parse("(a*x + 1)*(a*x + 1) - x"), {"x": Fraction(x)})) for x in range(5)]
    [1, 8, 23, 46, 77]
    """

    env: Environment
    _points: Counter[Tree] = field(default_factory=Counter)
    _settled: dict[tuple[Tree, frozenset[str]], Tree] = field(default_factory=dict)
    _anywhere: Shared = field(default_factory=lambda: Shared({}))
    _here: Shared = field(default_factory=lambda: Shared({}))

    def __call__(self, tree: Tree, at: Mapping[str, Any]) -> Any:
        if not at:  # coefficients of one equation are made of the same parts
            return evaluate(tree, self.env, self._anywhere)
        self._points[tree] += 1
        if self._points[tree] < WORTH_NAMING:
            if self._here != at:
                self._here = Shared(at)
            return evaluate(tree, self.env, self._here)
        key = tree, frozenset(at)
        if key not in self._settled:
            self._settled[key] = with_numbers(tree, key[1], self.env)
        top, named = named_parts(self._settled[key])
        return evaluate(top, Point(self.env, named, at), at)


def with_numbers(tree: Tree, moving: frozenset[str], env: Environment) -> Tree:
    """A formula with numbers for its largest parts that nothing moves; a part without a value, or whose value is no fraction, stays as it is.

    >>> from fractions import Fraction
    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> class Numbers(dict):
    ...     value = dict.__getitem__
    >>> text(with_numbers(parse("max(a*b + 1, x)/(a + b)"), frozenset("x"), Numbers(a=Fraction(2), b=Fraction(3))))
    'max(7, x)/5'
    """
    moved = moving | {node.index for node in parts(tree) if isinstance(node, Total)}
    made: dict[Tree, Tree] = {}

    def go(node: Tree) -> Tree:
        if node not in made:
            settled = not isinstance(node, Num) and moved.isdisjoint(names(node)) and number(node)
            made[node] = settled or with_children(node, tuple(map(go, children(node))))
        return made[node]

    def number(node: Tree) -> Tree | None:
        try:
            value = evaluate(node, env, known)
        except (ArithmeticError, LookupError):  # said where it is reached, if it ever is
            return None
        return Num(value) if type(value) is Fraction else None

    known = Shared({})
    return go(tree)
