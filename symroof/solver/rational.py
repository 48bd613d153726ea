"""A formula as a quotient of polynomials in one unknown, its coefficients left as they are.

Coefficients are never expanded: that keeps closed forms readable, in the names of the declarations, and makes solving fast.

>>> from symroof.formula.parse import parse
>>> from symroof.formula.text import text
>>> over, under = rational(parse("a*(b*x + c)/(x*d) - e"), "x")
>>> {power: text(c) for power, c in over.items()}, {power: text(c) for power, c in under.items()}
({1: 'a*b - e*d', 0: 'a*c'}, {1: 'd'})
"""

from collections.abc import Iterable
from functools import lru_cache

from symroof.formula import build, rewrite
from symroof.formula.tree import (
    ONE,
    ZERO,
    Add,
    Call,
    Div,
    Expr,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    Sum,
    children,
    mentions,
)

Polynomial = dict[int, Expr]
"""Power of the unknown -> coefficient; never changed once it is made."""

LARGEST_POWER = 16
MOST_NODES = 100_000
"""Nodes of a coefficient, written out: quotients of quotients multiply, and longer ones take minutes to compare and are read by nobody."""


class NotRational(ArithmeticError):
    """The formula is no quotient of polynomials in the unknown: it is rounded, or is in an exponent."""


CHOSEN = "which of two formulas holds depends on the unknown"
"""The unknown is under ``of_largest``."""


@lru_cache(maxsize=8192)
def rational(tree: Expr, x: str) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator in powers of ``x``; cached, because the arms of a maximum share most of their parts.

    Raises:
        NotRational: ``x`` under a maximum, a rounding, a root, or in an exponent.
    """
    if not mentions(tree, x):
        top, bottom = _fraction(tree)
        return {0: top}, {0: bottom}
    match tree:
        case Name():
            return {1: ONE}, {0: ONE}
        case Neg(arg):
            over, under = rational(arg, x)
            return scaled(over, build.number(-1)), under
        case Add(terms):
            return _sum([rational(term, x) for term in terms])
        case Mul(factors):
            return _product([rational(factor, x) for factor in factors])
        case Div(over, under):
            (a, b), (c, d) = rational(over, x), rational(under, x)
            return _reduced(times(a, d), times(b, c))
        case Pow(base, Num(power)) if power.denominator == 1 and 0 < abs(power) <= LARGEST_POWER:
            over, under = rational(base, x)
            over, under = (over, under) if power > 0 else (under, over)
            return _repeated(over, abs(int(power))), _repeated(under, abs(int(power)))
        case Sum(body, index, first, last):
            try:
                return rational(closed_sum(body, index, first, last), x)
            except NotRational:
                if mentions(first, x) or mentions(last, x):
                    raise
                return _summed(body, index, first, last, x)
        case Call(function, _):
            raise NotRational(
                CHOSEN
                if function == "of_largest"
                else f"the unknown is an argument of {function}()"
            )
    raise NotRational("the unknown is in an exponent")


def _fraction(tree: Expr) -> tuple[Expr, Expr]:
    """A tree as one quotient: ``2*(n - 1)/n*d`` over ``n``, so that equal factors above and below the bar cancel."""
    above, below = build.numerator_and_denominator(tree)
    if not below:
        return tree, ONE
    numbers = [factor for factor in below if isinstance(factor, Num)]
    whole = build.div(
        build.mul(*above), build.mul(*(factor for factor in below if not isinstance(factor, Num)))
    )
    over, under = (whole.over, whole.under) if isinstance(whole, Div) else (whole, ONE)
    return build.div(over, build.mul(*numbers)) if numbers else over, under


def _summed(
    body: Expr, index: str, first: Expr, last: Expr, x: str
) -> tuple[Polynomial, Polynomial]:
    """A sum whose number of terms ``x`` does not move, power by power: its coefficients are sums that need no closed form.

    Raises:
        NotRational: the terms have denominators that ``x`` moves.
    """
    over, under = rational(body, x)
    if set(under) != {0}:
        raise NotRational("a sum of terms over different denominators")
    return _collected(
        (power, rewrite.total(build.div(c, under[0]), index, first, last))
        for power, c in over.items()
    ), {0: ONE}


def closed_sum(body: Expr, index: str, first: Expr, last: Expr) -> Expr:
    """A sum of a polynomial of degree 2 or less in its index, written out.

    Raises:
        NotRational: the body is no such polynomial.
    """
    over, under = rational(body, index)
    if set(under) != {0} or max(over) > 2:
        raise NotRational("a sum that has no closed form")
    before = build.sub(first, ONE)
    terms = []
    for power, coefficient in over.items():
        terms.append(
            build.mul(
                build.div(coefficient, under[0]),
                build.sub(_power_sum(last, power), _power_sum(before, power)),
            )
        )
    return build.add(ZERO, *terms)


def _power_sum(n: Expr, power: int) -> Expr:
    after = build.add(n, ONE)
    if power == 0:
        return n
    if power == 1:
        return build.div(build.mul(n, after), build.number(2))
    return build.div(
        build.mul(n, after, build.add(build.mul(build.number(2), n), ONE)), build.number(6)
    )


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    return _collected((i + k, build.mul(a, b)) for i, a in p.items() for k, b in q.items())


def scaled(p: Polynomial, factor: Expr) -> Polynomial:
    return {power: build.mul(factor, coefficient) for power, coefficient in p.items()}


def _collected(terms: Iterable[tuple[int, Expr]]) -> Polynomial:
    """The polynomial of some terms, powers whose coefficients are zero left out."""
    by_power: dict[int, list[Expr]] = {}
    for power, coefficient in terms:
        by_power.setdefault(power, []).append(coefficient)
    sums = {power: build.add(*coefficients) for power, coefficients in by_power.items()}
    if any(written_out(c) > MOST_NODES for c in sums.values()):
        raise NotRational("its closed form is too long to be written out")
    return {power: c for power, c in sums.items() if c != ZERO} or {0: ZERO}


@lru_cache(maxsize=65536)
def written_out(tree: Expr) -> int:
    """The nodes of a formula, those of parts that occur again each time."""
    return 1 + sum(map(written_out, children(tree)))


def _repeated(p: Polynomial, power: int) -> Polynomial:
    result = p
    for _ in range(power - 1):
        result = times(result, p)
    return result


def _product(parts: list[tuple[Polynomial, Polynomial]]) -> tuple[Polynomial, Polynomial]:
    over, under = parts[0]
    for a, b in parts[1:]:
        over, under = times(over, a), times(under, b)
    return _reduced(over, under)


def _sum(parts: list[tuple[Polynomial, Polynomial]]) -> tuple[Polynomial, Polynomial]:
    """Terms with one denominator are added at once; then the few different ones are brought together."""
    by_denominator: list[tuple[Polynomial, list[Polynomial]]] = []
    for over, under in parts:
        group = next((tops for bottom, tops in by_denominator if bottom == under), None)
        if group is None:
            by_denominator.append((under, [over]))
        else:
            group.append(over)
    over, under = _added(by_denominator[0][1]), by_denominator[0][0]
    for bottom, tops in by_denominator[1:]:
        own, other = _without_shared(under, bottom)
        over = _added([times(over, other), times(_added(tops), own)])
        under = times(under, other)
    return over, under


def _added(parts: list[Polynomial]) -> Polynomial:
    return _collected(term for part in parts for term in part.items())


def _without_shared(first: Polynomial, second: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Two one-term denominators without common factors, so that sums do not grow: ``tp*a`` and ``tp*b`` give a, b."""
    if len(first) > 1 or len(second) > 1:
        return first, second
    (i, a), (k, b) = next(iter(first.items())), next(iter(second.items()))
    quotient = build.div(a, b)
    over, under = (quotient.over, quotient.under) if isinstance(quotient, Div) else (quotient, ONE)
    low = min(i, k)
    return {i - low: over}, {k - low: under}


def factored(p: Polynomial) -> Polynomial:
    """The polynomial with the common factors of a coefficient's terms written once."""
    return {
        power: build.factored(*map(build.as_fraction, terms_of(coefficient)))
        for power, coefficient in p.items()
    }


def _reduced(over: Polynomial, under: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Common powers of the unknown cancelled (it is positive)."""
    low = min(min(over), min(under))
    return (
        ({p - low: c for p, c in over.items()}, {p - low: c for p, c in under.items()})
        if low
        else (over, under)
    )


def shared_factors_out(p: Polynomial) -> Polynomial:
    """The polynomial without factors that every term of every coefficient has: they do not move its roots."""
    lists = [_term_factors(term) for coefficient in p.values() for term in terms_of(coefficient)]
    shared = (
        [factor for factor in lists[0] if all(factor in other for other in lists)] if lists else []
    )
    for factor in shared:
        p = {power: _divided(coefficient, factor) for power, coefficient in p.items()}
    return p


def quotient(over: Expr, under: Expr) -> Expr:
    """A quotient of sums without the factors that every term above and below the bar has.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(quotient(parse("a*x"), parse("a*x + b*x/2")))
    'a/(a + b/2)'
    """
    parts = shared_factors_out({1: over, 0: under})
    return build.div(parts[1], parts[0])


def terms_of(tree: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; of anything else, itself."""
    return tree.terms if isinstance(tree, Add) else (tree,)


def _term_factors(term: Expr) -> list[Expr]:
    if isinstance(term, Neg):
        return _term_factors(term.arg)
    if isinstance(term, Div):
        return _term_factors(term.over)
    return [
        f for f in (term.factors if isinstance(term, Mul) else (term,)) if not isinstance(f, Num)
    ]


def _divided(coefficient: Expr, factor: Expr) -> Expr:
    return build.add(*(build.div(term, factor) for term in terms_of(coefficient)))
