"""The solver: closed forms where there are any, else a look along the axis, and which of the two it was."""

from __future__ import annotations

from fractions import Fraction

from symroof.crossings.crossing import Crossing, Evaluate
from symroof.crossings.inverse import exact
from symroof.crossings.rational import NotRational
from symroof.crossings.scan import scan
from symroof.crossings.walk import Walk
from symroof.formula.tree import Tree


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
