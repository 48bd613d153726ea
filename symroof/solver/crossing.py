"""The solver: closed forms where there are any, else a look along the axis, and which of the two it was."""

from __future__ import annotations

from fractions import Fraction

from symroof.formula.tree import Tree
from symroof.solver.axis_walk import Walk
from symroof.solver.inversion import exact
from symroof.solver.rational import NotRational
from symroof.solver.result import Crossing, Evaluate
from symroof.solver.scan import scan


def crossing(difference: Tree, x: str, evaluate: Evaluate, low: Fraction = Fraction(0), high: Fraction | None = None) -> Crossing:
    """Where a difference of two sides is zero, for ``x`` above ``low`` (zero or more) and up to ``high``.

    Args:
        difference: left side less right side, opened as far as ``x`` reaches.
        evaluate: the exact value of a tree, with ``x`` set.

    Raises:
        NoValue: the sides have no value anywhere on the axis, or a name in them has none.

    >>> from symroof.formula.evaluate import evaluate as value
    >>> from symroof.formula.parse import parse
    >>> class Numbers(dict):
    ...     value = dict.__getitem__
    >>> env = Numbers(a=Fraction(3), b=Fraction(16))
    >>> found = crossing(parse("a*ceil(x/b) - 13"), "x", lambda tree, at: value(tree, env, at))
    >>> found.verdict, found.method, found.values    # four blocks reach 12, the fifth begins just after 64
    ('crosses', 'closed_form', (Fraction(64, 1),))
    """
    try:
        return exact(difference, Walk(x, evaluate, low, high))
    except NotRational:
        return scan(difference, x, evaluate, low, high)
