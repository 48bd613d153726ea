"""Formulas of a review: LaTeX for texts, with the MathML that a page shows instead."""

from collections.abc import Callable

from symroof.formula.latex import latex
from symroof.formula.mathml import mathml, spelling, words
from symroof.formula.tree import Tree
from symroof.report.markup import Math

NOTHING = Math("", "<mi></mi>")
"""The left side of a line that goes on; without an element there, browsers leave no room around the sign."""


def formula(tree: Tree, spell: Callable[[str], str]) -> Math:
    """A formula whose names are spelled in LaTeX."""
    return Math(latex(tree, spell), mathml(tree, lambda name: spelling(spell(name))))


def symbol(spelled: str) -> Math:
    """A name as formulas spell it."""
    return Math(spelled, spelling(spelled))


def in_words(text: str) -> Math:
    """A value in words within a formula."""
    escaped = text.replace("%", r"\%").replace("µ", r"}\mu\text{")
    return Math(rf"\text{{{escaped}}}", words(text))


def equation(*sides: Math) -> Math:
    """Things that are equal, in one line."""
    return Math(" = ".join(sides), "<mo>=</mo>".join(side.mathml for side in sides))
