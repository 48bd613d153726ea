"""Roots of polynomials of degree one and two in named coefficients, each with the conditions of its existence."""

from __future__ import annotations

from collections.abc import Callable

from symroof.crossings.rational import Polynomial
from symroof.formula import build
from symroof.formula.tree import ZERO, Compare, Tree, walk

Form = tuple[Tree, tuple[Compare, ...]]
Sign = Callable[[Tree], int]
"""+1, -1, or 0 where the sign of a coefficient is zero or not known."""


def plain_sign(tree: Tree) -> int:
    """The sign that the shape of a formula tells, all symbols being positive; 0 where it tells none."""
    if plainly_positive(tree):
        return 1
    return -1 if plainly_positive(build.negated(tree)) else 0


def known_sign(tree: Tree) -> int | None:
    """The sign for those who must tell nothing from not known: 0 is nothing, None where the shape tells none.

    >>> from symroof.formula.parse import parse
    >>> known_sign(parse("a + b")), known_sign(parse("-a")), known_sign(parse("0")), known_sign(parse("a - b"))
    (1, -1, 0, None)
    """
    return 0 if tree == ZERO else plain_sign(tree) or None


def plainly_positive(tree: Tree) -> bool:
    """Whether a formula has no minus sign anywhere: positive symbols make it positive."""
    return not any(build.is_negative(node) for node in walk(tree))


def closed_forms(p: Polynomial, sign: Sign) -> list[Form]:
    """Roots of a polynomial of degree one or two.

    ``sign`` tells the sign of a coefficient, so that fractions are written over a positive denominator.
    """
    least = min(p, default=0)
    p = {power - least: c for power, c in p.items()}
    if set(p) == {0, 1}:
        return [_linear(p[1], p[0], sign)]
    if set(p) == {0, 2}:
        inside, conditions = _linear(p[2], p[0], sign)
        return [(build.call("sqrt", inside), conditions)]
    if set(p) == {0, 1, 2}:
        return _quadratic(p[2], p[1], p[0], sign)
    return []


def _linear(slope: Tree, start: Tree, sign: Sign) -> Form:
    """The root of ``slope*x + start``, written over the denominator that has to be positive; the conditions that it exists."""
    down = sign(slope) < 0 or (sign(slope) == 0 and sign(start) > 0)
    over, under = (start, build.negated(slope)) if down else (build.negated(start), slope)
    if sign(over) < 0:  # the root would be negative: show it over the sign that would have to hold
        over, under = build.negated(over), build.negated(under)
    return build.div(over, under), tuple(Compare(">", part, ZERO) for part in (over, under) if not plainly_positive(part))


def _quadratic(a: Tree, b: Tree, c: Tree, sign: Sign) -> list[Form]:
    """The positive branches; where the outer coefficients have opposite plain signs there is exactly one and it is real."""
    if sign(a) < 0:
        a, b, c = build.negated(a), build.negated(b), build.negated(c)
    inside = build.sub(build.power(b, build.number(2)), build.mul(build.number(4), a, c))
    root = build.call("sqrt", inside)
    twice_a, twice_c, minus_b = build.mul(build.number(2), a), build.mul(build.number(2), c), build.negated(b)
    if plain_sign(a) > 0 and plain_sign(c) < 0:  # Descartes: one change of sign, one positive root
        single = build.div(build.mul(build.number(2), build.negated(c)), build.add(b, root)) if sign(b) >= 0 else build.div(build.add(minus_b, root), twice_a)
        return [(single, ())]
    real = (Compare(">=", inside, ZERO),)
    if sign(b) > 0:  # the forms that do not cancel where a is small
        return [(build.div(build.mul(build.number(2), build.negated(c)), build.add(b, root)), real), (build.div(build.neg(build.add(b, root)), twice_a), real)]
    if sign(b) < 0:
        return [(build.div(build.add(minus_b, root), twice_a), real), (build.div(twice_c, build.add(minus_b, root)), real)]
    forms = (build.div(build.add(minus_b, root), twice_a), build.div(build.sub(minus_b, root), twice_a))
    return [(form, (*real, Compare(">", form, ZERO))) for form in forms]
