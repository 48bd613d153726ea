"""The limit of a formula at an end of an unknown's axis: a number, zero, or growth without bound.

Near an end only the lowest or the highest powers of numerator and denominator matter, and of a maximum only the arm
that is the larger one from some point on. Both are read off the leading coefficients, never off a value far out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from symroof.formula import build
from symroof.formula.rewrite import replaced, substitute
from symroof.formula.tree import ONE, ZERO, Call, Compare, Div, Expr, Name
from symroof.solver.arms import ends, innermost
from symroof.solver.closed_forms import plainly_positive
from symroof.solver.rational import NotRational, Polynomial, factored, quotient, rational

End = Literal[0, "infinity"]
"""The end of the axis that the unknown goes to."""

Known = Callable[[Expr], int | None]
"""The sign of a coefficient: +1, -1, 0 for zero, None where it is not known."""


@dataclass(frozen=True)
class Leading:
    """The term ``coefficient*x**power`` that is left near an end.

    Attributes:
        whole: whether that term is all there is, so that nothing was left out.
        conditions: what makes its arms win, where signs alone do not tell.
    """

    coefficient: Expr
    power: int
    whole: bool
    conditions: tuple[Compare, ...] = ()

    def limit(self, to: End) -> Expr | None:
        """The limit, or None where the term grows without bound."""
        if self.power == 0 or self.coefficient == ZERO:
            return self.coefficient
        return ZERO if (self.power > 0) == (to == 0) else None

    def term(self, x: str) -> Expr:
        """The term itself."""
        power = build.power(Name(x), build.number(abs(self.power)))
        over, under = (
            (self.coefficient.over, self.coefficient.under)
            if isinstance(self.coefficient, Div)
            else (self.coefficient, ONE)
        )
        return (
            build.div(build.mul(over, power), under)
            if self.power > 0
            else build.div(over, build.mul(under, power))
        )


def leading(tree: Expr, x: str, to: End, sign: Known) -> Leading:
    """The leading term of a formula without maxima that ``x`` moves.

    >>> from symroof.solver.closed_forms import known_sign
    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> intensity = parse("batch*(p + a*context)/(weights + k*batch*context)")
    >>> text(leading(intensity, "batch", "infinity", known_sign).coefficient)
    '(p + a*context)/(k*context)'
    >>> text(leading(intensity, "batch", 0, known_sign).term("batch"))
    '(p + a*context)*batch/weights'

    Raises:
        NotRational: the formula is no quotient of polynomials in ``x``.
    """
    over, under = (_without_zeros(p, sign) for p in _factored(tree, x))
    if not under:
        raise NotRational("the denominator vanishes")
    if not over:
        return Leading(ZERO, 0, whole=True)
    pick = min if to == 0 else max
    top, bottom = pick(over), pick(under)
    return Leading(
        quotient(over[top], under[bottom]), top - bottom, whole=len(over) == len(under) == 1
    )


@lru_cache(maxsize=2048)
def _factored(tree: Expr, x: str) -> tuple[Polynomial, ...]:
    """Numerator and denominator, for both ends of an axis."""
    return tuple(map(factored, rational(tree, x)))


def _without_zeros(p: Polynomial, sign: Known) -> Polynomial:
    return {power: c for power, c in p.items() if sign(c) != 0}


def leading_terms(
    tree: Expr, x: str, to: End, sign: Known, held: tuple[Compare, ...] = ()
) -> Iterator[Leading]:
    """The leading term on every arm that can win near the end: one where the signs decide, else each with its conditions.

    >>> from symroof.solver.closed_forms import known_sign
    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> [text(term.coefficient) for term in leading_terms(parse("max(work/peak, bytes/x)"), "x", "infinity", known_sign)]
    ['work/peak']
    >>> for term in leading_terms(parse("max(a*x + b, c*x)"), "x", "infinity", known_sign):
    ...     print(text(term.term("x")), "while", *map(text, term.conditions))
    a*x while a >= c
    c*x while c >= a

    Raises:
        NotRational: the unknown is rounded or is in an exponent, or a sum holds steps on different arms.
    """
    node = innermost(tree, x)
    if node is None:
        term = leading(tree, x, to, sign)
        yield Leading(term.coefficient, term.power, term.whole, held)
        return
    for winner, wins in _winners(node, ends(tree, node), x, to, sign):
        yield from leading_terms(replaced(tree, node, winner), x, to, sign, (*held, *wins))


def _winners(
    node: Call, sides: list[dict[str, Expr]], x: str, to: End, sign: Known
) -> list[tuple[Expr, tuple[Compare, ...]]]:
    """The arms that may win near the end, each with the conditions left to make it."""
    possible = []
    for i, arm in enumerate(node.args):
        duels = [
            _duel(node, substitute(arm, end), substitute(other, end), x, to, sign)
            for k, other in enumerate(node.args)
            if k != i
            for end in sides
        ]
        if all(duel is not False for duel in duels):
            possible.append(
                (arm, tuple(dict.fromkeys(duel for duel in duels if isinstance(duel, Compare))))
            )
    if not possible:
        raise NotRational("steps of both kinds in one sum")
    certain = [(arm, conditions) for arm, conditions in possible if not conditions]
    return certain[:1] or possible  # of arms that are the same, the first


def _duel(node: Call, arm: Expr, other: Expr, x: str, to: End, sign: Known) -> Compare | bool:
    """Whether an arm wins against another near the end, or the condition under which it does."""
    relation, better = (">=", 1) if node.function == "max" else ("<=", -1)
    ahead = leading(build.sub(arm, other), x, to, sign)
    known = 0 if ahead.coefficient == ZERO else sign(ahead.coefficient)
    if known is not None:
        return known in (0, better)
    own, its = leading(arm, x, to, sign), leading(other, x, to, sign)
    if own.power == its.power == ahead.power:
        return _bare(Compare(relation, own.coefficient, its.coefficient))
    return Compare(relation, ahead.coefficient, ZERO)


def _bare(condition: Compare) -> Compare:
    """A relation of two positive sides without common factors: ``a*b/c >= b/d`` is ``a*d >= c``."""
    if not (plainly_positive(condition.left) and plainly_positive(condition.right)):
        return condition
    ratio = build.as_fraction(build.div(condition.left, condition.right))
    left, right = (ratio.over, ratio.under) if isinstance(ratio, Div) else (ratio, ONE)
    return Compare(condition.operator, left, right)
