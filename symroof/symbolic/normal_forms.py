"""A formula as a quotient of polynomials, so that different ways of writing a formula give the same result.

The polynomials are SymPy's sparse ones, all in one ring. Anything that is no polynomial (a maximum, a rounding, a root, a sum,
a quantity at changed inputs) is a generator of its own, with its own arguments in this form: arms of a maximum in any order,
shared factors taken out. Names are positive in meaning, so that ``a/(2*b)`` is one term.

>>> from symroof.symbolic.reading import parse
>>> forms = NormalForms(one := parse("a*max(b, 2*c)/d"), other := parse("max(4*c*a/d, 2*b*a/d)/2"))
>>> forms.of(one) == forms.of(other)
True
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from itertools import chain
from math import comb
from operator import itemgetter
from typing import Any, NamedTuple

import sympy
from sympy import QQ, Add, Dummy, Mul
from sympy.core.symbol import Str
from sympy.polys.monomials import monomial_ldiv, monomial_min, monomial_mul
from sympy.polys.rings import PolyRing

from symroof.symbolic.expressions import (
    At,
    Expr,
    Max,
    Min,
    Total,
    at,
    is_label,
    parts,
    substitute,
    sums,
    symbol,
)

Powers = tuple[int, ...]
"""Those of a product, one for each generator of the ring; they may be negative."""

MOST_WORK = 4_000_000
"""Powers added and bits of coefficients multiplied, per comparison: about a quarter of a second."""
MOST_GENERATORS = 1_500
SPARE = 8
"""Generators for what is in arms of maxima once other factors are multiplied in; rings have a multiple of so many."""


class TooLarge(ArithmeticError):
    """The expanded formula has too many terms."""


class NoForm(ArithmeticError):
    """The formula divides by zero, or is not a number."""


class Quotient(NamedTuple):
    """A number times a product times ``over`` by ``under``: polynomials without shared factors, that begin with a positive term."""

    number: Any
    powers: Powers
    over: Any
    under: Any

    def times(self, number: Any, powers: Powers) -> Quotient:
        """Times a term, which is not zero."""
        shifted = monomial_mul(self.powers, powers) if self.over else self.powers
        return self._replace(number=self.number * number, powers=shifted)


@lru_cache(maxsize=64)
def _ring(generators: int) -> Any:
    """A ring with generators that stand for anything: SymPy takes milliseconds to make one."""
    return PolyRing([Dummy() for _ in range(generators)], QQ)


class NormalForms:
    """Normal forms of some formulas in one ring, with one work limit for all.

    Attributes:
        stands: what each generator in use stands for: the names, then functions.
    """

    def __init__(self, *formulas: Expr) -> None:
        nodes = dict.fromkeys(chain.from_iterable(map(parts, formulas)))
        summed = sum(isinstance(node, Total) for node in nodes)
        indices = {_index(depth) for depth in range(summed)}
        named = sorted({node for node in nodes if node.is_Symbol} | indices, key=str, reverse=True)
        functions = sum(map(_is_function, nodes)) * (2 if summed else 1)
        needed = len(named) + functions + SPARE
        if needed > MOST_GENERATORS:
            raise TooLarge
        self.ring = _ring(needed + -needed % SPARE)
        self.stands: list[Expr] = []
        self._work, self._named = MOST_WORK, len(named)
        self._one = Quotient(QQ.one, self.ring.zero_monom, self.ring.one, self.ring.one)
        self._functions: dict[tuple[Any, ...], Quotient] = {}
        self._known: dict[Expr, Quotient] = {name: self._generator(name) for name in named}

    @property
    def has_functions(self) -> bool:
        """Whether algebra alone cannot always decide: there is something else than names."""
        return len(self.stands) > self._named

    def of(self, expr: Expr) -> Quotient:
        """The form of a formula.

        Raises:
            TooLarge: it would take too long.
            NoForm: it divides by zero, or is a relation.
        """
        if expr not in self._known:
            self._known[expr] = self._of(expr)
        return self._known[expr]

    def _of(self, expr: Expr) -> Quotient:
        if expr.is_Rational or expr.is_Float:
            return self._plain(self.ring.ground_new(QQ.from_sympy(expr)))
        if expr.is_Add:
            return self._sum([self.of(term) for term in expr.args])
        if expr.is_Mul:
            return self._product(self.of(factor) for factor in expr.args)
        if expr.is_Pow and expr.exp.is_Rational:
            return self._power(expr)
        if isinstance(expr, (sympy.Max, sympy.Min)):
            return self._extreme(expr)
        if not isinstance(expr, sympy.Expr) or is_label(expr):
            raise NoForm("is not a number")
        if not expr.args and (expr is sympy.nan or expr.is_infinite):
            raise NoForm("division by zero")
        args = expr.args
        if isinstance(expr, At):
            args = at(expr.name, sorted(expr.changes, key=itemgetter(0))).args
        if isinstance(expr, Total):
            index = _index(len(sums(expr.body)))
            args = (substitute(expr.body, {expr.index: index}), expr.first, expr.last)
        key = (arg if isinstance(arg, Str) else self.of(arg) for arg in args)
        return self._function((expr.func, *key), expr)

    def _function(self, key: tuple[Any, ...], expr: Expr) -> Quotient:
        if key not in self._functions:
            self._functions[key] = self._generator(expr)
        return self._functions[key]

    def _generator(self, expr: Expr) -> Quotient:
        """The next generator, for a name or a function."""
        place = len(self.stands)
        if place == self.ring.ngens:
            raise TooLarge
        self.stands.append(expr)
        return self._one._replace(powers=tuple(int(i == place) for i in range(self.ring.ngens)))

    def _extreme(self, expr: Expr) -> Quotient:
        """A maximum or minimum: common factors are taken out, equal arms count once, their order does not matter."""
        function = Max if isinstance(expr, sympy.Max) else Min
        arms = list(dict.fromkeys(map(self.of, expr.args)))
        if len(arms) == 1:
            return arms[0]
        number = reduce(QQ.gcd, (arm.number for arm in arms))
        shared = monomial_min(*(arm.powers for arm in arms if arm.over))
        shared = shared[: self._named] + self.ring.zero_monom[self._named :]
        out = monomial_ldiv(self.ring.zero_monom, shared)
        arms = [arm.times(1 / number, out) for arm in arms]
        shown = function(*map(self.shown, arms))
        if shown.is_Rational:
            return self.of(shown).times(number, shared)
        return self._function((function, frozenset(arms)), shown).times(number, shared)

    # ---------------------------------------------------------------------------------------------------- arithmetic

    def _plain(self, polynomial: Any) -> Quotient:
        return self._quotient(self.ring.zero_monom, polynomial, self.ring.one)

    def _quotient(self, powers: Powers, over: Any, under: Any) -> Quotient:
        """The form of a product, a polynomial, and one that is the denominator of a form."""
        if not over:
            return Quotient(QQ.zero, self.ring.zero_monom, over, self.ring.one)
        number = over.content() * (-1 if over.LC < 0 else 1)
        shared = monomial_min(*over.itermonoms())
        over = over.quo_term((shared, number))
        over, under = (self.ring.one, self.ring.one) if over == under else (over, under)
        return Quotient(number, monomial_mul(powers, shared), over, under)

    def _times(self, p: Any, q: Any) -> Any:
        """The product of two polynomials."""
        if p == 1 or q == 1:
            return p if q == 1 else q
        self._spend(len(p) * len(q), _bits(p) + _bits(q))
        return p * q

    def _spend(self, products: int, bits: int = 0) -> None:
        self._work -= products * (30 + self.ring.ngens + bits // 8)
        if self._work < 0:
            raise TooLarge

    def _sum(self, forms: list[Quotient]) -> Quotient:
        least = monomial_min(*(form.powers for form in forms))
        by_under: dict[Any, Any] = {}
        for form in forms:
            self._spend(1 + len(form.over))
            over = form.over.mul_term((monomial_ldiv(form.powers, least), form.number))
            by_under[form.under] = by_under.get(form.under, self.ring.zero) + over
        (under, over), *others = by_under.items()
        for other, more in others:
            over = self._times(over, other) + self._times(more, under)
            under = self._times(under, other)
        return self._quotient(least, over, under)

    def _product(self, forms: Iterable[Quotient]) -> Quotient:
        number, powers, over, under = self._one
        for form in forms:
            number, powers = number * form.number, monomial_mul(powers, form.powers)
            over, under = self._times(over, form.over), self._times(under, form.under)
        return self._quotient(powers, over, under).times(number, self.ring.zero_monom)

    def _power(self, expr: Expr) -> Quotient:
        """A whole power, and beside it a root where the exponent is a fraction."""
        base, exponent = self.of(expr.base), abs(expr.exp)
        if not base.over:
            return base if expr.exp.is_positive else self.inverse(base)
        whole, rest = int(exponent), exponent % 1
        over, under = self._raised(base.over, whole), self._raised(base.under, whole)
        made = Quotient(base.number**whole, tuple(whole * n for n in base.powers), over, under)
        if rest:
            made = self._product((made, self._root(base, expr.base, rest)))
        return made if expr.exp.is_positive else self.inverse(made)

    def _root(self, base: Quotient, expr: Expr, power: Any) -> Quotient:
        """A root of a sum times a product: those of both; SymPy has taken any other apart."""
        if base.over == 1 or base.number < 0 or (base.number == 1 and not any(base.powers)):
            return self._function((sympy.Pow, base, power), expr**power)
        within = base._replace(number=QQ.one, powers=self._one.powers)
        both = (self.term(base.number, base.powers), self.shown(within))
        return self._product(self.of(part**power) for part in both)

    def inverse(self, form: Quotient) -> Quotient:
        """One over a form."""
        if not form.over:
            raise NoForm("division by zero")
        powers = monomial_ldiv(self.ring.zero_monom, form.powers)
        return Quotient(1 / form.number, powers, form.under, form.over)

    def _raised(self, p: Any, exponent: int) -> Any:
        terms = comb(exponent + len(p) - 1, exponent)
        self._spend(terms * min(len(p), exponent), exponent * _bits(p))
        return p**exponent

    # ------------------------------------------------------------------------------------------------------- results

    def aligned(self, ours: Quotient, theirs: Quotient) -> tuple[Any, Any, Expr]:
        """Polynomials that are the numerators of two forms but for a product, and that product."""
        least = monomial_min(ours.powers, theirs.powers)
        left, right = (
            form.over.mul_term((monomial_ldiv(form.powers, least), form.number))
            for form in (ours, theirs)
        )
        return left, right, self.term(1, least)

    def crossed(self, ours: Quotient, theirs: Quotient) -> tuple[Any, Any]:
        """Polynomials that are the numerators of two forms over one denominator, but for a product."""
        left = ours._replace(over=self._times(ours.over, theirs.under))
        right = theirs._replace(over=self._times(theirs.over, ours.under))
        return self.aligned(left, right)[:2]

    def ratio(self, left: Any, right: Any) -> tuple[Any, Powers] | None:
        """The single term that one polynomial is times the other, if there is one."""
        ours, theirs = self._plain(left), self._plain(right)
        if not left or ours.over != theirs.over:
            return None
        return ours.number / theirs.number, monomial_ldiv(ours.powers, theirs.powers)

    def of_functions(self, powers: Powers) -> Powers:
        """The powers of what is no name."""
        return powers[self._named :]

    def term(self, number: Any, powers: Powers) -> Expr:
        """A term as a formula."""
        factors = zip(self.stands, powers, strict=False)
        return Mul(QQ.to_sympy(QQ(number)), *(base**n for base, n in factors if n))

    def sum(self, polynomial: Any) -> Expr:
        """A polynomial as a formula."""
        return Add(*(self.term(number, powers) for powers, number in polynomial.iterterms()))

    def over(self, form: Quotient) -> Expr:
        """What stands over the denominator of a form, as a sum."""
        outside = self.term(form.number, form.powers)
        return Add(*(term * outside for term in Add.make_args(self.sum(form.over))))

    def shown(self, form: Quotient) -> Expr:
        """A form as a formula."""
        return self.over(form) / self.sum(form.under)


def _bits(polynomial: Any) -> int:
    """The length of the longest coefficient."""
    factors = polynomial.itercoeffs()
    return max((f.numerator.bit_length() + f.denominator.bit_length() for f in factors), default=0)


def _index(depth: int) -> Expr:
    """The index of a sum over so many other sums: no name has a space."""
    return symbol(f"index {depth}")


def _is_function(node: Any) -> bool:
    """Whether a node needs a generator and is no name."""
    whole = node.is_Pow and node.exp.is_Integer
    return not (node.is_Symbol or node.is_Rational or node.is_Add or node.is_Mul or whole)
