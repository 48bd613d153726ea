"""The elasticity of a quotient of polynomials in one unknown: per cent that it moves when the unknown moves one per cent.

A term ``c*x**k`` moves ``k`` per cent; a sum moves as its terms do, each weighted with its share. So an elasticity is
made of shares, and shares are what people can picture: the cache's share of the bytes, the head's share of the FLOPs.
"""

from symroof.formula import build
from symroof.formula.tree import ZERO, Name, Tree
from symroof.solver.rational import Polynomial, rational, shared_factors_out, terms_of


def elasticity(tree: Tree, x: str) -> Tree:
    """The elasticity of a formula without maxima that ``x`` moves.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(elasticity(parse("(weights + k*batch*x)/bandwidth"), "x"))
    'k*batch*x/(weights + k*batch*x)'
    >>> text(elasticity(parse("p*x/(weights + k*x)"), "x"))
    'weights/(weights + k*x)'
    >>> text(elasticity(parse("a/x^2"), "x"))
    '-2'

    Raises:
        NotRational: the formula is no quotient of polynomials in ``x``.
    """
    over, under = (shared_factors_out(p) for p in rational(tree, x))
    if set(over.values()) == {ZERO}:
        return ZERO
    if len(over) == 1:  # what falls with the denominator: weights/(weights + cache), rather than 1 - cache/(weights + cache)
        return _weighted(under, x, -1, next(iter(over)))
    if len(under) == 1:
        return _weighted(over, x, 1, next(iter(under)))
    return build.add(_weighted(over, x, 1), _weighted(under, x, -1))


def _weighted(p: Polynomial, x: str, direction: int, origin: int = 0) -> Tree:
    """The terms of a polynomial, each times its degree above ``origin``, over the polynomial."""
    terms = [(power, _at_power(term, x, power)) for power, c in sorted(p.items()) for term in terms_of(c)]
    weighted = [(direction * (power - origin), term) for power, term in terms if power != origin]
    moved = build.add(ZERO, *(build.mul(build.number(weight), term) for weight, term in weighted))
    return build.div(moved, build.add(ZERO, *(term for _, term in terms)))


def _at_power(term: Tree, x: str, power: int) -> Tree:
    return build.as_fraction(build.mul(term, build.power(Name(x), build.number(power))))
