"""Exact polynomials in many names as ``{monomial: coefficient}``, with bounded work.

A monomial holds whole exponents, negative ones too, because names of this field are positive: ``a/(2*b)`` is one term.

>>> a, b = single("a"), single("b")
>>> work = WorkBudget()
>>> work.times(plus(a, b), plus(a, scaled(b, Fraction(-1)))) == {(("a", 2),): 1, (("b", 2),): -1}
True
"""

import math
from fractions import Fraction

from symroof.formula import build
from symroof.formula.tree import ONE, ZERO, Expr, Name

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]

ONE_TERM: Polynomial = {(): Fraction(1)}
MINUS = Fraction(-1)
MOST_TERMS = 20_000
MOST_STEPS = 60_000
"""Products of terms per comparison: about a quarter of a second."""


class TooLarge(ArithmeticError):
    """The expanded formula has too many terms."""


def constant(value: Fraction) -> Polynomial:
    return {(): value} if value else {}


def single(name: str) -> Polynomial:
    return {((name, 1),): ONE.value}


def plus(p: Polynomial, q: Polynomial) -> Polynomial:
    result = dict(p)
    for monomial, coefficient in q.items():
        add_term(result, monomial, coefficient)
    return result


def add_term(total: Polynomial, monomial: Monomial, coefficient: Fraction) -> None:
    """Add a term to a polynomial that is being built."""
    before = total.get(monomial)
    if before is None:  # most terms are new and need no addition
        total[monomial] = coefficient
    elif after := before + coefficient:
        total[monomial] = after
    else:
        del total[monomial]


def scaled(p: Polynomial, factor: Fraction, by: Monomial = ()) -> Polynomial:
    if factor == 1:
        return (
            {merged(monomial, by): coefficient for monomial, coefficient in p.items()}
            if by
            else dict(p)
        )
    return {merged(monomial, by): coefficient * factor for monomial, coefficient in p.items()}


def merged(m: Monomial, n: Monomial, sign: int = 1) -> Monomial:
    """The product of two monomials, or with ``sign`` -1 their quotient."""
    if not n:
        return m
    powers = dict(m)
    for name, exponent in n:
        powers[name] = powers.get(name, 0) + sign * exponent
    return tuple(sorted((name, exponent) for name, exponent in powers.items() if exponent))


class WorkBudget:
    """Multiplication within a budget of steps."""

    def __init__(self) -> None:
        self.left = MOST_STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLarge

    def times(self, p: Polynomial, q: Polynomial) -> Polynomial:
        if p == ONE_TERM or q == ONE_TERM:
            return q if p == ONE_TERM else p
        result: Polynomial = {}
        for m, a in p.items():
            self.spend(len(q) * (2 + len(m)) // 2)
            for n, b in q.items():
                monomial = merged(m, n)
                result[monomial] = result.get(monomial, Fraction(0)) + a * b
            if len(result) > MOST_TERMS:
                raise TooLarge
        return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}

    def raised(self, p: Polynomial, exponent: int) -> Polynomial:
        if len(p) == 1:
            ((monomial, coefficient),) = p.items()
            return {
                tuple((name, power * exponent) for name, power in monomial): coefficient**exponent
            }
        result = ONE_TERM
        for _ in range(exponent):
            result = self.times(result, p)
        return result


def content(p: Polynomial) -> tuple[Fraction, Monomial]:
    """The positive number and the power product that all terms share."""
    if not p:
        return Fraction(1), ()
    number = Fraction(
        math.gcd(*(c.numerator for c in p.values())), math.lcm(*(c.denominator for c in p.values()))
    )
    terms = [dict(monomial) for monomial in p]
    names = sorted({name for term in terms for name in term})
    lowest = ((name, min(term.get(name, 0) for term in terms)) for name in names)
    return number, tuple((name, exponent) for name, exponent in lowest if exponent)


def primitive(p: Polynomial) -> tuple[Polynomial, Fraction, Monomial]:
    """A polynomial divided by its content, with a positive last term, and the content, which carries the sign."""
    number, shared = content(p)
    if p and p[max(p)] < 0:
        number = -number
    return (
        {merged(monomial, shared, -1): coefficient / number for monomial, coefficient in p.items()},
        number,
        shared,
    )


def ratio(p: Polynomial, q: Polynomial) -> tuple[Fraction, Monomial] | None:
    """The single term t with ``q*t == p``; None if there is none.

    >>> ratio({(("a", 2),): Fraction(6)}, {(("a", 1),): Fraction(2)})
    (Fraction(3, 1), (('a', 1),))
    """
    if not p or not q or len(p) != len(q):
        return None
    by = merged(content(p)[1], content(q)[1], -1)
    first = next(iter(q))
    factor = p.get(merged(first, by), Fraction(0)) / q[first]
    return (factor, by) if factor and scaled(q, factor, by) == p else None


def tree_of(p: Polynomial, atoms: dict[str, Expr]) -> Expr:
    """The polynomial as a formula; ``atoms`` are the formulas of names that stand for one."""
    return build.add(*(product_of(m, atoms, c) for m, c in p.items())) if p else ZERO


def product_of(
    monomial: Monomial, atoms: dict[str, Expr], coefficient: Fraction = ONE.value
) -> Expr:
    """A power product as a formula, negative exponents under a bar."""
    parts = [
        (build.power(atoms.get(name, Name(name)), build.number(abs(exponent))), exponent > 0)
        for name, exponent in monomial
    ]
    above, below = (
        [tree for tree, over in parts if over],
        [tree for tree, over in parts if not over],
    )
    return build.div(
        build.mul(build.number(coefficient.numerator), *above),
        build.mul(build.number(coefficient.denominator), *below),
    )
