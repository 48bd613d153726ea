"""Products of quotients as one quotient, and the factors above and below its bar."""

from symroof.formula.build import cached, div, mul, number
from symroof.formula.tree import Div, Mul, Neg, Tree


@cached
def fraction(tree: Tree) -> Tree:
    """A product with quotients in it as one quotient, so that equal factors meet and cancel.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(Mul((parse("a/(b*c)"), parse("c*d/2"))))
    'a/(b*c)*(c*d/2)'
    >>> text(fraction(Mul((parse("a/(b*c)"), parse("c*d/2")))))
    'a*d/(2*b)'
    """
    above, below = above_and_below(tree)
    return div(mul(*above), mul(*below))


def above_and_below(tree: Tree) -> tuple[list[Tree], list[Tree]]:
    """The factors above and below the bar of a product of quotients."""
    match tree:
        case Neg(arg):
            above, below = above_and_below(arg)
            return [number(-1), *above], below
        case Mul(factors):
            parts = [above_and_below(factor) for factor in factors]
            return [x for above, _ in parts for x in above], [x for _, below in parts for x in below]
        case Div(over, under):
            (a, b), (c, d) = above_and_below(over), above_and_below(under)
            return a + d, b + c
    return [tree], []
