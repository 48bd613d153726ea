"""A formula as a quotient of polynomials, so that different ways of writing a formula give the same result.

Anything that is not a polynomial (a maximum, a rounding, a root, a sum, a quantity at changed inputs) becomes an extra name,
its *atom*, with its own arguments in this form: arms of a maximum in any order, shared factors taken out.

>>> from symroof.formula.parse import parse
>>> form = NormalForms()
>>> form.of(parse("a*max(b, 2*c)/d")) == form.of(parse("max(4*c*a/d, 2*b*a/d)/2"))
True
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from symroof.formula import build
from symroof.formula.polynomial import (
    MINUS,
    ONE_TERM,
    Monomial,
    Polynomial,
    WorkBudget,
    constant,
    content,
    plus,
    primitive,
    ratio,
    scaled,
    single,
    tree_of,
)
from symroof.formula.rewrite import substitute
from symroof.formula.tree import (
    Add,
    ArgMax,
    Call,
    Compare,
    Div,
    Expr,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    QuantityAt,
    Sum,
    names,
)

LARGEST_EXPONENT = 64


class NoForm(ArithmeticError):
    """The formula divides by zero, or is not a number."""


@dataclass(frozen=True)
class Quotient:
    """``over`` by ``under``; the denominator is 1 or a sum without shared factors."""

    over: Polynomial
    under: Polynomial

    def key(self) -> str:
        """The same text for the same form."""
        return f"{sorted(self.over.items())}/{sorted(self.under.items())}"


class NormalForms:
    """Normal forms of formulas over the same atoms, with one work limit for all.

    Attributes:
        atoms: the formula that each atom stands for.
    """

    def __init__(self) -> None:
        self.work = WorkBudget()
        self.atoms: dict[str, Expr] = {}
        self._signs: dict[str, str] = {}
        self._forms: dict[Expr, Quotient] = {}

    def of(self, tree: Expr) -> Quotient:
        """The form of a formula.

        Raises:
            TooLarge: it would take too long.
            NoForm: it divides by zero, or is a relation.
        """
        if tree not in self._forms:
            self.work.spend(1)
            self._forms[tree] = self._of(tree)
        return self._forms[tree]

    def _of(self, tree: Expr) -> Quotient:
        match tree:
            case Num(value):
                return Quotient(constant(value), ONE_TERM)
            case Name(name):
                return Quotient(single(name), ONE_TERM)
            case Neg(arg):
                inner = self.of(arg)
                return Quotient(scaled(inner.over, MINUS), inner.under)
            case Add(terms):
                return self._sum([self.of(term) for term in terms])
            case Mul(factors):
                return self._product([self.of(factor) for factor in factors])
            case Div(over, under):
                return self._product([self.of(over), self._inverse(self.of(under))])
            case Pow(base, Num(exponent)) if (
                exponent.denominator == 1 and abs(exponent) <= LARGEST_EXPONENT
            ):
                inner = self.of(base) if exponent >= 0 else self._inverse(self.of(base))
                n = abs(int(exponent))
                return self._reduced(
                    self.work.raised(inner.over, n), self.work.raised(inner.under, n)
                )
            case Call("max" | "min" as function, args):
                return self._extreme(function, [self.of(arg) for arg in args])
            case Compare() | ArgMax():
                raise NoForm("is not a number")
        return self._atom(tree)

    def _atom(self, tree: Expr) -> Quotient:
        """Any other formula as a name of its own, keyed by the forms of its parts."""
        match tree:
            case Pow(base, exponent):
                return self._named("power", [self.of(base), self.of(exponent)], tree)
            case Call(function, args):
                return self._named(function, [self.of(arg) for arg in args], tree)
            case QuantityAt(name, pairs):
                return self._named(
                    f"{name} at {','.join(sorted(key for key, _ in pairs))}",
                    [self.of(value) for _, value in sorted(pairs)],
                    tree,
                )
            case Sum(body, index, first, last):
                free = next(name for n in count(1) if (name := f"index {n}") not in names(body))
                placed = substitute(body, {index: Name(free)})
                return self._named(
                    f"sum over {free}", [self.of(placed), self.of(first), self.of(last)], tree
                )
        raise NoForm(f"not a formula: {tree!r}")

    def _named(self, kind: str, parts: list[Quotient], tree: Expr) -> Quotient:
        key = f"{kind}({'; '.join(part.key() for part in parts)})"
        if key not in self._signs:
            self._signs[key] = (
                f"atom {len(self._signs)}"  # no name has a space; nested keys would double in length each time
            )
            self.atoms[self._signs[key]] = tree
        return Quotient(single(self._signs[key]), ONE_TERM)

    def _sum(self, parts: list[Quotient]) -> Quotient:
        by_under: list[tuple[Polynomial, Polynomial]] = []
        for part in parts:
            for i, (under, over) in enumerate(by_under):
                if under == part.under:
                    self.work.spend(len(part.over))
                    by_under[i] = (under, plus(over, part.over))
                    break
            else:
                by_under.append((part.under, part.over))
        under, over = by_under[0]
        for other, more in by_under[1:]:
            over = plus(self.work.times(over, other), self.work.times(more, under))
            under = self.work.times(under, other)
        return self._reduced(over, under)

    def _product(self, parts: list[Quotient]) -> Quotient:
        over, under = ONE_TERM, ONE_TERM
        for part in parts:
            over, under = self.work.times(over, part.over), self.work.times(under, part.under)
        return self._reduced(over, under)

    def _inverse(self, part: Quotient) -> Quotient:
        if not part.over:
            raise NoForm("division by zero")
        return self._reduced(part.under, part.over)

    def _reduced(self, over: Polynomial, under: Polynomial) -> Quotient:
        if under == ONE_TERM:
            return Quotient(over, under)
        if not under:
            raise NoForm("division by zero")
        self.work.spend(len(over) + len(under))
        if same := ratio(over, under):
            return Quotient(scaled(ONE_TERM, *same), ONE_TERM)
        below, number, shared = primitive(under)
        inverse: Monomial = tuple((name, -exponent) for name, exponent in shared)
        return Quotient(scaled(over, 1 / number, inverse), below)

    def _extreme(self, function: str, parts: list[Quotient]) -> Quotient:
        """A maximum or minimum: common factors are taken out, equal arms count once, their order does not matter."""
        together: Polynomial = {}
        for i, part in enumerate(parts):
            together |= {
                (*monomial, ("\0", i + 1)): coefficient
                for monomial, coefficient in part.over.items()
            }
        number, powers = content(together)
        shared: Monomial = tuple(
            (name, exponent) for name, exponent in powers if name not in self.atoms and name != "\0"
        )
        inverse: Monomial = tuple((name, -exponent) for name, exponent in shared)
        arms = {
            arm.key(): arm
            for arm in (
                Quotient(scaled(part.over, 1 / number, inverse), part.under) for part in parts
            )
        }
        if len(arms) == 1:
            return parts[0]
        if all(
            arm.under == ONE_TERM and not any(arm.over) for arm in arms.values()
        ):  # only numbers are left
            values = [arm.over.get((), Fraction(0)) for arm in arms.values()]
            return Quotient(
                scaled(constant(max(values) if function == "max" else min(values)), number, shared),
                ONE_TERM,
            )
        ordered = [arms[key] for key in sorted(arms)]
        tree = build.call(
            function,
            *(
                build.div(tree_of(arm.over, self.atoms), tree_of(arm.under, self.atoms))
                for arm in arms.values()
            ),
        )
        inner = self._named(function, ordered, tree)
        return Quotient(scaled(inner.over, number, shared), ONE_TERM)
