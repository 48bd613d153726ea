"""Names that may be zero or negative, in a solver whose symbols are positive: each is a difference of two while a sign is asked for, then itself again.

>>> from symroof.formula.parse import parse
>>> from symroof.formula.text import text
>>> text(apart(parse("3*gap*x"), ["gap"])), text(together(apart(parse("3*gap*x"), ["gap"]), ["gap"]))
('3*(gap above zero - gap below zero)*x', '3*gap*x')
"""

from collections.abc import Iterable
from dataclasses import replace

from symroof.formula import build
from symroof.formula.rewrite import substitute
from symroof.formula.tree import ZERO, Compare, Name, Tree
from symroof.solver.result import Branch, Condition, Crossing


def apart(tree: Tree, signed: Iterable[str]) -> Tree:
    """A formula in which each signed name is how far it lies above zero, less how far below."""
    return substitute(tree, {name: build.sub(Name(_above(name)), Name(_below(name))) for name in signed})


def together(tree: Tree, signed: Iterable[str]) -> Tree:
    """The same in the names again: what holds for every two numbers holds for the name and zero."""
    return substitute(tree, {part: whole for name in signed for part, whole in ((_above(name), Name(name)), (_below(name), ZERO))})


def crossing_together(crossing: Crossing, signed: Iterable[str]) -> Crossing:
    """A crossing without numbers in the names again."""
    signed = tuple(signed)

    def relation(tree: Compare) -> Compare:
        return Compare(tree.operator, together(tree.left, signed), together(tree.right, signed))

    def condition(each: Condition) -> Condition:
        return replace(each, tree=relation(each.tree), spoken=relation(each.spoken) if each.spoken else None)

    def branch(each: Branch) -> Branch:
        form, spoken = (together(tree, signed) if tree is not None else None for tree in (each.closed_form, each.spoken))
        named = tuple((name, together(tree, signed)) for name, tree in each.named)
        return replace(each, closed_form=form, spoken=spoken, named=named, conditions=tuple(map(condition, each.conditions)))

    return replace(crossing, branches=tuple(map(branch, crossing.branches))) if signed else crossing


def _above(name: str) -> str:
    """With spaces, which no name of anybody has."""
    return f"{name} above zero"


def _below(name: str) -> str:
    return f"{name} below zero"
