"""Roots of polynomials of degree one and two in named coefficients, each with the conditions of its existence."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from symroof.formula import build
from symroof.formula.rewrite import substitute
from symroof.formula.tree import ZERO, Call, Compare, Expr, Name, Num, children, walk
from symroof.solver.rational import Polynomial

COEFFICIENTS = {2: "c2", 1: "c1", 0: "c0"}
"""The names of the coefficients of a long polynomial: ``c2*x**2 + c1*x + c0``."""
LONGEST_INLINE = 20
"""Nodes of the coefficients beyond which they are called by name."""


@dataclass(frozen=True)
class Form:
    """A root in closed form with the conditions of its existence, in coefficients that may have names."""

    abbreviated: Expr
    conditions: tuple[Compare, ...]
    named: tuple[tuple[str, Expr], ...] = ()

    def expand(self, tree: Expr) -> Expr:
        """A tree of this form with the coefficients written out."""
        return substitute(tree, dict(self.named)) if self.named else tree


Sign = Callable[[Expr], int]
"""+1, -1, or 0 where the sign of a coefficient is zero or not known."""


def plain_sign(tree: Expr) -> int:
    """The sign of a formula by its shape, all symbols being positive; 0 where the shape does not decide."""
    if plainly_positive(tree):
        return 1
    return -1 if plainly_positive(build.negated(tree)) else 0


def known_sign(tree: Expr) -> int | None:
    """The sign by shape, where zero and unknown differ: 0 for zero, None where the shape does not decide.

    >>> from symroof.formula.parse import parse
    >>> known_sign(parse("a + b")), known_sign(parse("-a")), known_sign(parse("0")), known_sign(parse("a - b"))
    (1, -1, 0, None)
    """
    return 0 if tree == ZERO else plain_sign(tree) or None


POSITIVE = frozenset({"max", "min", "ceil", "floor", "sqrt", "exp", "pi", "of_largest"})
"""Functions of positive numbers that are not negative; of a logarithm, a sine and the like the shape does not tell."""


@lru_cache(maxsize=16384)
def plainly_positive(tree: Expr) -> bool:
    """Whether a formula has no minus sign anywhere, and no function that may be negative of a positive number: positive symbols make it positive."""
    if isinstance(tree, Call) and tree.function not in POSITIVE:
        return (
            tree.function in ("log", "log2")
            and isinstance(tree.args[0], Num)
            and tree.args[0].value > 1
        )
    return not build.is_negative(tree) and all(map(plainly_positive, children(tree)))


def closed_forms(p: Polynomial, sign: Sign) -> list[Form]:
    """Roots of a polynomial of degree one or two.

    ``sign`` gives the sign of a coefficient, so that fractions are written over a positive denominator.
    """
    least = min(p)
    p = {power - least: c for power, c in p.items()}
    if set(p) == {0, 1}:
        return [_linear(p[1], p[0], sign)]
    if set(p) == {0, 2}:
        inside = _linear(p[2], p[0], sign)
        return [Form(build.call("sqrt", inside.abbreviated), inside.conditions)]
    if set(p) == {0, 1, 2}:
        return _quadratic(p, sign)
    return []


def _linear(slope: Expr, start: Expr, sign: Sign) -> Form:
    """The root of ``slope*x + start``, written over the denominator that has to be positive; the conditions that it exists."""
    over, under = (
        (start, build.negated(slope))
        if _turned(slope, start, sign)
        else (build.negated(start), slope)
    )
    root = build.div(over, under)
    if not (
        plain_sign(over) or plain_sign(under) or sign(over) or sign(under)
    ):  # both may turn: they have to agree
        return Form(root, (Compare(">", root, ZERO),))
    return Form(
        root,
        tuple(Compare(">", part, ZERO) for part in (over, under) if not plainly_positive(part)),
    )


def _turned(slope: Expr, start: Expr, sign: Sign) -> bool:
    """Whether the root reads better as ``start/-slope``: a plainly positive part stays positive, the other becomes the condition."""
    for part in (slope, build.negated(start)):
        if plain := plain_sign(part):
            return plain < 0
    return sign(slope) < 0


def _quadratic(p: Polynomial, sign: Sign) -> list[Form]:
    """The positive roots of ``a*x**2 + b*x + c``, in the forms that do not cancel where ``a`` is small."""
    if sign(p[2]) < 0:
        p = {power: build.negated(coefficient) for power, coefficient in p.items()}
    long = sum(1 for coefficient in p.values() for _ in walk(coefficient)) > LONGEST_INLINE
    named = (
        tuple((COEFFICIENTS[power], p[power]) for power in sorted(p, reverse=True)) if long else ()
    )
    abbreviated: Polynomial = {power: Name(COEFFICIENTS[power]) for power in p} if long else p
    return [Form(form, conditions, named) for form, conditions in _roots(p, abbreviated, sign)]


def _roots(
    p: Polynomial, abbreviated: Polynomial, sign: Sign
) -> list[tuple[Expr, tuple[Compare, ...]]]:
    """Descartes: the signs of the coefficients tell how many roots are positive, as far as they are known; of two the smaller comes first."""
    two, (a, b, c) = build.number(2), (abbreviated[2], abbreviated[1], abbreviated[0])
    inside = build.sub(build.power(b, two), build.mul(build.number(4), a, c))
    root, minus_b = build.call("sqrt", inside), build.negated(b)
    twice_a, twice_c = build.mul(two, a), build.mul(two, c)
    grown, shrunk = (
        build.div(build.add(minus_b, root), twice_a),
        build.div(build.negated(twice_c), build.add(b, root)),
    )
    real, below = Compare(">=", inside, ZERO), Compare("<", c, ZERO)
    near, other = (
        build.div(twice_c, build.add(minus_b, root)),
        build.div(build.sub(minus_b, root), twice_a),
    )
    if not sign(p[2]):  # either way up, or a line: one of the two forms holds for that as well
        either = {1: (shrunk, other), 0: (shrunk, near), -1: (near, grown)}[sign(p[1])]
        return [(form, (real, Compare(">", form, ZERO))) for form in either]
    if plain_sign(p[2]) > 0 and plain_sign(p[0]) < 0:
        return [(shrunk if sign(p[1]) >= 0 else grown, ())]
    if sign(p[1]) > 0:
        return [(shrunk, (below,))]
    if sign(p[1]) < 0:
        return [(near, (real, Compare(">", c, ZERO))), (grown, (real,))]
    return [(form, (real, Compare(">", form, ZERO))) for form in (other, grown)]
