"""A formula in the order in which others mention its names: SymPy has an order of its own, which no person would write."""

from collections.abc import Mapping

from symroof.formula import build
from symroof.formula.rewrite import rebuild
from symroof.formula.tree import Add, Expr, Mul, Num, names


def places_of(*trees: Expr) -> dict[str, int]:
    """The names of some formulas, numbered in the order in which they are mentioned."""
    known = dict.fromkeys(name for tree in trees for name in names(tree))
    return {name: i for i, name in enumerate(known)}


def ordered(tree: Expr, places: Mapping[str, int]) -> Expr:
    """A formula with its factors, and its terms without and then with a minus sign, in the order of their names.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(ordered(parse("-c + (c + b)*a*2"), {"a": 0, "b": 1, "c": 2}))
    '2*a*(b + c) - c'
    """
    made: dict[Expr, Expr] = {}

    def place(part: Expr) -> tuple[int, ...]:
        found = sorted(places.get(name, len(places)) for name in names(part))
        return tuple(found) or (-1,)

    def go(node: Expr) -> Expr:
        if node not in made:
            whole = rebuild(node, go)
            if isinstance(whole, Add):
                whole = Add(
                    tuple(
                        sorted(
                            whole.terms,
                            key=lambda t: (build.is_negative(t), isinstance(t, Num), place(t)),
                        )
                    )
                )
            elif isinstance(whole, Mul):
                whole = Mul(
                    tuple(
                        sorted(
                            whole.factors,
                            key=lambda f: (not isinstance(f, Num), isinstance(f, Add), place(f)),
                        )
                    )
                )
            made[node] = whole
        return made[node]

    return go(tree)
