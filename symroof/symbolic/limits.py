"""The limit of an expression at an end of an unknown's axis: a number, zero, or growth without bound.

Near an end only the lowest or the highest powers of numerator and denominator matter, and of a maximum only the arm that is the larger one from
some point on. Both are read off the leading coefficients, never off a value far out.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import sympy
from sympy import Ge, Symbol

from symroof.symbolic.arms import choices, lead
from symroof.symbolic.polynomials import NoClosedForm, fraction

End = Literal[0, "infinity"]
"""The end of the axis that the unknown goes to."""

Known = Callable[[Any], int | None]
"""The sign of a coefficient: +1, -1, 0 for zero, None where it is not known."""


@dataclass(frozen=True)
class Leading:
    """The term ``coefficient*x**power`` that is left near an end.

    Attributes:
        whole: whether that term is all there is, so that nothing was left out.
        conditions: what makes its arms win, where signs alone do not tell.
    """

    coefficient: Any
    power: int
    whole: bool
    conditions: tuple[Any, ...] = ()

    def limit(self, to: End) -> Any:
        """The limit, or None where the term grows without bound."""
        if self.power == 0 or self.coefficient == 0:
            return self.coefficient
        return sympy.S.Zero if (self.power > 0) == (to == 0) else None

    def term(self, x: Symbol) -> Any:
        """The term itself."""
        return self.coefficient * x**self.power


def leading(expr: Any, x: Symbol, to: End, known: Known) -> Leading:
    """The leading term of an expression without maxima that ``x`` moves.

    >>> from symroof.symbolic.polynomials import sign
    >>> a, k, p, w, batch, context = sympy.symbols("a k p w batch context", positive=True)
    >>> intensity = batch*(p + a*context)/(w + k*batch*context)
    >>> leading(intensity, batch, "infinity", sign).coefficient
    (a*context + p)/(context*k)

    Raises:
        NoClosedForm: it is no quotient of polynomials in ``x``.
    """
    over, under = ({k: c for k, c in p.items() if known(c) != 0} for p in fraction(expr, x))
    if not under:
        raise NoClosedForm("the denominator vanishes")
    if not over:
        return Leading(sympy.S.Zero, 0, whole=True)
    pick = min if to == 0 else max
    top, bottom = pick(over), pick(under)
    coefficient = sympy.gcd_terms(over[top]) / sympy.gcd_terms(under[bottom])
    return Leading(coefficient, top - bottom, whole=len(over) == len(under) == 1)


def leading_terms(expr: Any, x: Symbol, to: End, known: Known) -> Iterator[Leading]:
    """The leading term on every arm that can win near the end: one where the signs decide, else each with its conditions.

    Raises:
        NoClosedForm: the unknown is rounded or is in an exponent, or a sum holds steps on different arms.

    >>> from symroof.symbolic.polynomials import sign
    >>> from symroof.symbolic.expressions import Max
    >>> a, b, c, x = sympy.symbols("a b c x", positive=True)
    >>> shape = lambda part: 0 if part == 0 else sign(part) or None
    >>> for term in leading_terms(Max(a*x + b, c*x), x, "infinity", shape):
    ...     print(term.term(x), term.conditions)
    a*x (a >= c,)
    c*x (c >= a,)
    """

    def possible(arms: list[tuple[Any, ...]], held: list[Any]) -> list[tuple[int, tuple[Any, ...]]]:
        duels = [[_decided(duel, x, to, known) for duel in arm] for arm in arms]
        found = [
            (i, tuple(dict.fromkeys(d for d in arm if d is not True)))
            for i, arm in enumerate(duels)
            if False not in arm
        ]
        if not found:
            raise NoClosedForm("steps of both kinds in one sum")
        certain = [each for each in found if not each[1]]
        return certain[:1] or found  # of arms that are the same, the first

    for settled, conditions in choices(expr, x, possible):
        term = leading(settled, x, to, known)
        yield Leading(term.coefficient, term.power, term.whole, conditions)


def _decided(duel: Any, x: Symbol, to: End, known: Known) -> Any:
    """Whether an arm wins against another near the end, or the condition under which it does."""
    ahead = leading(lead(duel), x, to, known)
    sign = 0 if ahead.coefficient == 0 else known(ahead.coefficient)
    if sign is not None:
        return sign >= 0
    sides = (duel.lhs, duel.rhs) if isinstance(duel, Ge) else (duel.rhs, duel.lhs)
    own, its = (leading(side, x, to, known) for side in sides)
    if own.power == its.power == ahead.power:
        return Ge(*sympy.fraction(own.coefficient / its.coefficient), evaluate=False)
    return Ge(ahead.coefficient, 0, evaluate=False)
