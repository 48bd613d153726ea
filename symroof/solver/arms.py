"""The maxima and minima that an unknown moves: their place, the ends of a sum at which to compare them, and the winner."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from symroof.formula import build
from symroof.formula.rewrite import replaced, substitute
from symroof.formula.tree import (
    Add,
    Call,
    Compare,
    Expr,
    Num,
    children,
    mentions,
    names,
    parts,
    sums,
)
from symroof.solver.rational import NotRational


@lru_cache(maxsize=4096)
def innermost(tree: Expr, x: str) -> Call | None:
    """A maximum or minimum that the unknown, or the index of a sum that the unknown moves, moves; its arms hold no other."""
    return _deepest(tree, frozenset({x, *(node.index for node in sums(tree) if mentions(node, x))}))


@lru_cache(maxsize=16384)
def _deepest(tree: Expr, moving: frozenset[str]) -> Call | None:
    """The first maximum or minimum in written order that some names move, and that holds no other."""
    moves = not moving.isdisjoint(names(tree))
    if not moves and not sums(tree):  # the index of a sum is free inside it alone
        return None
    inner = next(
        (choice for part in children(tree) if (choice := _deepest(part, moving)) is not None), None
    )
    return inner or (
        tree if moves and isinstance(tree, Call) and tree.function in ("max", "min") else None
    )


def ends(tree: Expr, node: Call) -> list[dict[str, Expr]]:
    """Where to compare the arms: at once, or at both ends of the sum that contains them."""
    outer = next(
        (outer for outer in sums(tree) if outer.index in names(node) and node in parts(outer.body)),
        None,
    )
    return [{outer.index: outer.first}, {outer.index: outer.last}] if outer else [{}]


def beats(node: Call, winner: Expr, loser: Expr) -> Compare:
    """The condition under which one arm wins against another: ``ceil(x) - 3 >= -3`` is written ``ceil(x) >= 0``."""
    relation = ">=" if node.function == "max" else "<="
    shift = next(
        (
            build.neg(term)
            for term in (winner.terms if isinstance(winner, Add) else ())
            if isinstance(term, Num)
        ),
        None,
    )
    if shift is not None and isinstance(loser, Num):
        winner, loser = build.add(winner, shift), build.add(loser, shift)
    return Compare(relation, winner, loser)


def winner(node: Call, sides: list[dict[str, Expr]], number: Callable[[Expr], Fraction]) -> Expr:
    """The arm that wins where ``number`` gives the value of each; of equal arms the first.

    Raises:
        NotRational: different arms win at the two ends of a sum.
    """
    pick = max if node.function == "max" else min
    winners = {
        pick(range(len(node.args)), key=lambda i: number(substitute(node.args[i], end)))
        for end in sides
    }
    if len(winners) > 1:
        raise NotRational("steps of both kinds in one sum")
    return node.args[winners.pop()]


def winning_arms(tree: Expr, x: str, number: Callable[[Expr], Fraction]) -> Expr:
    """The tree with every maximum that the unknown moves replaced by the arm that wins by value.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> values = {"3*x": Fraction(6), "y": Fraction(5)}
    >>> text(winning_arms(parse("max(3*x, y) + z"), "x", lambda arm: values[text(arm)]))
    '3*x + z'
    """
    while (node := innermost(tree, x)) is not None:
        tree = replaced(tree, node, winner(node, ends(tree, node), number))
    return tree
