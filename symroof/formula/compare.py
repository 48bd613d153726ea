"""Compares a claimed formula with the derived one: equal, off by a factor, or which terms and arms differ.

Formulas are compared over the names they hold; the meaning of the names is unknown here. Equality is decided exactly
if both are quotients of polynomials, or maxima of such; otherwise at random points, and the result says so.

>>> from symroof.formula.parse import parse
>>> print(compare(parse("2*n_layers*n_heads*head_dim"), parse("2*n_layers*n_kv_heads*head_dim")))
is n_heads/n_kv_heads times what is derived
>>> print(compare(parse("2*p*s + 4*n*d*s^2"), parse("2*p*s + 2*n*d*s^2")))
d*n*s**2: you have 4, derived 2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from symroof.formula import build
from symroof.formula import random_points as points
from symroof.formula.build import is_negative
from symroof.formula.canonical_form import NoForm, NormalForms, Quotient
from symroof.formula.dimension import DimensionError, dimension
from symroof.formula.polynomial import (
    Monomial,
    Polynomial,
    TooLarge,
    WorkBudget,
    product_of,
    ratio,
    scaled,
    tree_of,
)
from symroof.formula.rewrite import rebuild, without_rounding
from symroof.formula.text import WORK, number_text, text
from symroof.formula.tree import ONE, ArgMax, Call, Expr, Name, Num, names
from symroof.units import Dimension, describe, significant, strict

Verdict = Literal[
    "equal", "dimension", "factor", "inverted", "terms", "arms", "different", "undecided"
]


@dataclass(frozen=True)
class TermDifference:
    """One power product whose coefficients differ; 0 if a side lacks it.

    Attributes:
        product: the power product, 1 for a plain number.
        claimed, derived: its coefficients.
        under: whether it is in the denominator, with equal numerators.
        bar: the common denominator, if the terms are those of the numerators.
    """

    product: Expr
    claimed: Fraction
    derived: Fraction
    under: bool = False
    bar: Expr = ONE

    def __str__(self) -> str:
        place = (
            " in the denominator"
            if self.under
            else ""
            if self.bar == ONE
            else f" over {text(self.bar)}"
        )
        ours, theirs = (
            number_text(value) if value else "none" for value in (self.claimed, self.derived)
        )
        return f"{text(self.product)}{place}: you have {ours}, derived {theirs}"


@dataclass(frozen=True)
class ArmDifference:
    """Arms of a maximum or minimum that differ; None if a side has no such arm."""

    claimed: Expr | None
    derived: Expr | None
    comparison: Comparison | None = None

    def __str__(self) -> str:
        if self.comparison and self.claimed:
            return f"arm {text(self.claimed)}: {self.comparison}"
        return (
            f"extra arm {text(self.claimed)}"
            if self.claimed
            else f"missing arm {text(self.derived)}"
            if self.derived
            else ""
        )


@dataclass(frozen=True)
class Comparison:
    """How a claimed formula compares with the derived one.

    Attributes:
        verdict: the plainest true answer; ``dimension`` comes first, then the others in the order of the type.
        exact: certain, by algebra or by a point at which the two differ; otherwise so at all ``points`` random points.
        dimension: the error in the dimension, if there is one.
        factor: claimed over derived, if that is a product of powers or depends on one name only.
        ratio: the factor, if it is a number.
        inverted: whether claimed times derived is 1.
        terms: power products with different coefficients, if both are sums over the same denominator.
        arms: differing arms of a maximum or minimum.
        low, high: the smallest and largest ratio of claimed to derived at random points, if they differ.
    """

    verdict: Verdict
    exact: bool = True
    dimension: str = ""
    factor: Expr | None = None
    ratio: Fraction | None = None
    inverted: bool = False
    terms: tuple[TermDifference, ...] = ()
    arms: tuple[ArmDifference, ...] = ()
    low: float | Fraction | None = None
    high: float | Fraction | None = None
    points: int = 0

    def __str__(self) -> str:
        match self.verdict:
            case "equal":
                return "equal" if self.exact else f"equal at {self.points} random points"
            case "dimension":
                return self.dimension
            case "factor" if self.factor:
                return f"is {text(self.factor)} times what is derived"
            case "inverted":
                return "is the inverse of what is derived"
            case "terms" | "arms":
                return "; ".join(map(str, (*self.terms, *self.arms)))
            case "different" if self.low is not None and self.low == self.high:
                return f"is {significant(self.low, 3)} times what is derived where neither is zero, and differs elsewhere"
            case "different" if self.low is not None and self.high is not None:
                return f"differs: at random values it is {significant(self.low, 3)} to {significant(self.high, 3)} times what is derived"
        return "cannot be decided" if self.verdict == "undecided" else "differs"


MOST_SHOWN_TERMS = 64
DEEPEST = 4
"""How deep nested maxima are compared."""


def compare(
    claimed: Expr, derived: Expr, of: Callable[[str], Dimension] | None = None, seed: int = 0
) -> Comparison:
    """Compare two formulas over the same names, in bounded time; ``of`` gives the dimension of a name.

    FLOPs are numbers here: ``2*params*prompt`` is how people write work. ``seed`` draws the random points.

    >>> from symroof.formula.parse import parse
    >>> compare(parse("max(b/w, f/p) + t"), parse("t + max(f/p, b/w)")).verdict
    'equal'
    """
    result = _compared(claimed, derived, NormalForms(), seed, 0)
    wrong = _dimension_disagrees(claimed, derived, of) if of and result.verdict != "equal" else ""
    return replace(result, verdict="dimension", dimension=wrong) if wrong else result


def same(claimed: Expr, derived: Expr, forms: NormalForms | None = None) -> bool:
    """Whether two formulas are certainly equal; fast if they are not, because one point is enough. ``forms``
    passed from call to call cache results; the work limit is per call.

    >>> from symroof.formula.parse import parse
    >>> same(parse("a*(b + c)"), parse("a*b + c*a")), same(parse("a*(b + c)"), parse("a*b + c"))
    (True, False)
    """
    differ = points.differ(claimed, derived, seed=0)
    if differ:
        return False
    forms = forms or NormalForms()
    forms.work = WorkBudget()
    try:
        ours, theirs = forms.of(claimed), forms.of(derived)
        equal = forms.work.times(ours.over, theirs.under) == forms.work.times(
            theirs.over, ours.under
        )
        if equal or not _has_atoms(ours, theirs, forms):
            return equal
    except (TooLarge, NoForm):
        pass
    if differ is None:  # an unstable queue has a value almost nowhere
        return False
    seen = points.compare_at_points(claimed, derived, seed=0, to_a_difference=True)
    return seen is not None and seen.equal and not seen.untried


def lower_order(claimed: Expr, derived: Expr, name: str) -> bool:
    """Whether two formulas differ only in terms that are negligible if a name is large: each has one power of it less
    than a term that both have, with a coefficient no smaller.

    >>> from symroof.formula.parse import parse
    >>> lower_order(parse("2*p*s + n*s^2"), parse("2*p*s + n*s*(s + 1)"), "s")
    True
    >>> lower_order(parse("p*s + n*s^2"), parse("2*p*s + n*s*(s + 1)"), "s")  # another coefficient
    False
    """
    forms = NormalForms()
    try:
        ours, theirs = forms.of(claimed), forms.of(derived)
        left, right = (
            forms.work.times(ours.over, theirs.under),
            forms.work.times(theirs.over, ours.under),
        )
    except (TooLarge, NoForm):
        return False
    zero = Fraction(0)
    differing = {
        m: left.get(m, zero) - right.get(m, zero)
        for m in {**left, **right}
        if left.get(m, zero) != right.get(m, zero)
    }
    times_name = forms.of(Name(name)).over

    def beside(monomial: Monomial, by: Fraction) -> bool:
        ((greater, _),) = forms.work.times({monomial: Fraction(1)}, times_name).items()
        return left.get(greater, zero) == right.get(greater, zero) and abs(
            left.get(greater, zero)
        ) >= abs(by)

    return bool(differing) and all(beside(monomial, by) for monomial, by in differing.items())


def _has_atoms(ours: Quotient, theirs: Quotient, forms: NormalForms) -> bool:
    """Whether a quotient contains maxima, roots or the like, whose equality algebra cannot always decide."""
    return any(
        name in forms.atoms
        for p in (ours.over, ours.under, theirs.over, theirs.under)
        for monomial in p
        for name, _ in monomial
    )


def _dimension_disagrees(claimed: Expr, derived: Expr, of: Callable[[str], Dimension]) -> str:
    def bare(name: str) -> Dimension:
        return _without_work(strict(of(name)))

    try:
        ours = dimension(_unitless_work(claimed), bare)
    except DimensionError as error:
        return str(error)
    theirs = dimension(_unitless_work(derived), bare)
    return (
        f"is {describe(ours)}, but what is derived is {describe(theirs)}" if ours != theirs else ""
    )


def _without_work(unit: Dimension) -> Dimension:
    return tuple(pair for pair in unit if pair[0] != WORK[0][0])


def _unitless_work(tree: Expr) -> Expr:
    return (
        Num(tree.value, _without_work(tree.dimension))
        if isinstance(tree, Num)
        else rebuild(tree, _unitless_work)
    )


def _compared(
    claimed: Expr, derived: Expr, forms: NormalForms, seed: int, depth: int
) -> Comparison:
    if claimed == derived or isinstance(claimed, ArgMax) or isinstance(derived, ArgMax):
        return Comparison("equal" if claimed == derived else "different")
    try:
        ours, theirs = forms.of(claimed), forms.of(derived)
        result = _by_form(ours, theirs, forms, claimed, derived, seed, depth)
    except (TooLarge, NoForm):
        result = Comparison("different", exact=False)
    if depth or (
        result.exact and result.verdict in ("equal", "inverted", "factor")
    ):  # arms are compared by algebra alone: they may be many
        return result
    return _at_points(result, claimed, derived, seed)


def _by_form(
    ours: Quotient,
    theirs: Quotient,
    forms: NormalForms,
    claimed: Expr,
    derived: Expr,
    seed: int,
    depth: int,
) -> Comparison:
    """The comparison by algebra alone."""
    times = forms.work.times
    left, right = times(ours.over, theirs.under), times(theirs.over, ours.under)
    if left == right:
        return Comparison("equal")
    rational = not any(
        name in forms.atoms for p in (left, right) for monomial in p for name, _ in monomial
    )
    inverted = _inverted(ours, theirs, forms)
    by = ratio(left, right)
    if by and not by[1]:
        return Comparison("factor", factor=build.number(by[0]), ratio=by[0], inverted=inverted)
    whole = product_of(by[1], forms.atoms, by[0]) if by else None
    if inverted:
        return Comparison("inverted", factor=whole, inverted=True)
    if by and not any(name in forms.atoms for name, _ in by[1]):
        return Comparison("factor", factor=whole)
    terms = _terms(ours, theirs, forms)
    arms = _arms(terms, forms, seed, depth)
    if arms:
        return Comparison("arms", exact=False, arms=arms)
    moving = (
        whole
        if by and not _exchanges(by[1], forms)
        else factor_of_one_name(claimed, derived, forms)
    )
    if moving is not None:
        return Comparison("factor", exact=rational, factor=moving, terms=() if by else terms)
    return Comparison("terms" if terms else "different", exact=rational, terms=terms)


def _exchanges(by: Monomial, forms: NormalForms) -> bool:
    """Whether a factor replaces one maximum by another, which nobody would call a factor."""
    exponents = [exponent for name, exponent in by if name in forms.atoms]
    return bool(exponents) and min(exponents) < 0 < max(exponents)


def _inverted(ours: Quotient, theirs: Quotient, forms: NormalForms) -> bool:
    product = ratio(
        forms.work.times(ours.over, theirs.over), forms.work.times(ours.under, theirs.under)
    )
    return product == (Fraction(1), ())


def _terms(ours: Quotient, theirs: Quotient, forms: NormalForms) -> tuple[TermDifference, ...]:
    """Differences of coefficients in the numerators, or in the denominators if only those differ."""
    if ours.under == theirs.under:
        terms = _differences(ours.over, theirs.over, False, forms, tree_of(ours.under, forms.atoms))
    elif ours.over == theirs.over or (by := ratio(ours.over, theirs.over)) is None:
        terms = (
            _differences(ours.under, theirs.under, True, forms) if ours.over == theirs.over else ()
        )
    else:  # equal numerators except for a factor, which is moved to the denominator
        inverse = tuple((name, -exponent) for name, exponent in by[1])
        terms = _differences(scaled(ours.under, 1 / by[0], inverse), theirs.under, True, forms)
    return terms if len(terms) <= MOST_SHOWN_TERMS else ()


def _differences(
    p: Polynomial, q: Polynomial, under: bool, forms: NormalForms, bar: Expr = ONE
) -> tuple[TermDifference, ...]:
    zero = Fraction(0)
    differing = (m for m in {**p, **q} if p.get(m, zero) != q.get(m, zero))
    return tuple(
        TermDifference(product_of(m, forms.atoms), p.get(m, zero), q.get(m, zero), under, bar)
        for m in differing
    )


def _arms(
    terms: tuple[TermDifference, ...], forms: NormalForms, seed: int, depth: int
) -> tuple[ArmDifference, ...]:
    """The arms that differ, if a maximum or a term replaces another maximum."""
    extra = [build.mul(build.number(t.claimed), t.product) for t in terms if not t.derived]
    missing = [build.mul(build.number(t.derived), t.product) for t in terms if not t.claimed]
    both = [t for t in terms if t.claimed and t.derived]
    if depth >= DEEPEST or both or not extra or not missing or any(t.under for t in terms):
        return ()
    ours, theirs = _split(extra), _split(missing)
    if ours is None and theirs is None:
        return ()
    if ours and theirs and ours[0] != theirs[0]:
        return ()
    left = ours[1] if ours else [build.add(*extra)]
    right = theirs[1] if theirs else [build.add(*missing)]
    arms = _matched(left, right, forms, seed, depth)
    one_sided = ours is None or theirs is None
    return () if one_sided and any(arm.claimed and arm.derived for arm in arms) else arms


def _split(terms: list[Expr]) -> tuple[str, list[Expr]] | None:
    """A single product with one maximum, as the function's name and its arms, each times the other factors."""
    if len(terms) != 1:
        return None
    above, below = build.numerator_and_denominator(terms[0])
    calls = [part for part in above if isinstance(part, Call) and part.function in ("max", "min")]
    if len(calls) != 1:
        return None
    rest = [part for part in above if part is not calls[0]]
    bar = build.mul(*below) if below else build.number(1)
    turned = (
        sum(is_negative(part) for part in rest) % 2 == 1
    )  # minus a maximum is the minimum of the negated arms
    function = {"max": "min", "min": "max"}[calls[0].function] if turned else calls[0].function
    return function, [build.div(build.mul(arg, *rest), bar) for arg in calls[0].args]


def _matched(
    left: list[Expr], right: list[Expr], forms: NormalForms, seed: int, depth: int
) -> tuple[ArmDifference, ...]:
    """Differences after pairing equal arms, then each other arm with the nearest."""
    keys = [{forms.of(arm).key(): arm for arm in arms} for arms in (left, right)]
    ours = [arm for key, arm in keys[0].items() if key not in keys[1]]
    theirs = [arm for key, arm in keys[1].items() if key not in keys[0]]
    differing: list[ArmDifference] = []
    for arm in ours:
        pairs = [(_compared(arm, other, forms, seed, depth + 1), other) for other in theirs]
        if not pairs:
            differing.append(ArmDifference(arm, None))
            continue
        best, other = min(
            pairs,
            key=lambda pair: (_distance(pair[0]), -len(set(names(arm)) & set(names(pair[1])))),
        )
        theirs.remove(other)
        if best.verdict != "equal":
            differing.append(ArmDifference(arm, other, best))
    return (*differing, *(ArmDifference(None, arm) for arm in theirs))


def _distance(comparison: Comparison) -> int:
    order: dict[str, int] = {"equal": 0, "factor": 1, "terms": 2, "arms": 2, "inverted": 3}
    return order.get(comparison.verdict, 4)


def _at_points(by_algebra: Comparison, claimed: Expr, derived: Expr, seed: int) -> Comparison:
    """The comparison completed by random points: equal, a constant factor, or how far apart.

    If no point gives both a value, as for unstable queues, formulas that differ without their roundings differ; if those are
    equal, it stays undecided.
    """
    seen = points.compare_at_points(claimed, derived, seed)
    if seen is None:
        above = points.compare_at_points(without_rounding(claimed), without_rounding(derived), seed)
        seen = above if above and not above.equal else None
    if seen is None:
        return by_algebra if by_algebra.exact else replace(by_algebra, verdict="undecided")
    shown = {"exact": False, "points": seen.points}
    if not by_algebra.exact and seen.equal:
        return Comparison("equal", arms=by_algebra.arms, **shown)  # type: ignore[arg-type]
    if not by_algebra.exact and seen.constant is not None:
        return Comparison(
            "factor",
            factor=build.number(seen.constant),
            ratio=seen.constant,
            **shown,  # type: ignore[arg-type]
        )
    low, high = (min(seen.ratios), max(seen.ratios)) if seen.ratios else (None, None)
    return replace(by_algebra, exact=True, low=low, high=high, points=seen.points)


def factor_of_one_name(claimed: Expr, derived: Expr, forms: NormalForms) -> Expr | None:
    """Claimed over derived if it depends on one name only, such as ``output/(output - 1)``: equal factors are cancelled.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(factor_of_one_name(parse("output*itl"), parse("(output - 1)*itl"), NormalForms()))
    'output/(output - 1)'
    """
    parts = [build.numerator_and_denominator(tree) for tree in (claimed, derived)]
    over = _factors([*parts[0][0], *parts[1][1]], forms)
    under = _factors([*parts[1][0], *parts[0][1]], forms)
    shared = [key for key in over if key in under]
    if not shared:
        return None
    above: dict[str, tuple[Quotient, int]] = {}
    for side, sign in ((over, 1), (under, -1)):
        for key, (form, times) in side.items():
            above[key] = (form, above.get(key, (form, 0))[1] + sign * times)
    left = {key: pair for key, pair in above.items() if pair[1]}
    tree = _tree(
        forms.of(build.div(_product(left, 1, forms), _product(left, -1, forms))), forms
    )  # shared factors cancel in its form
    return tree if len(names(tree)) == 1 else None


def _factors(parts: list[Expr], forms: NormalForms) -> dict[str, tuple[Quotient, int]]:
    """The factors by their normal form, each with its count."""
    counted: dict[str, tuple[Quotient, int]] = {}
    for part in parts:
        form = forms.of(part)
        counted[form.key()] = (form, counted.get(form.key(), (form, 0))[1] + 1)
    return counted


def _tree(form: Quotient, forms: NormalForms) -> Expr:
    return build.div(tree_of(form.over, forms.atoms), tree_of(form.under, forms.atoms))


def _product(parts: dict[str, tuple[Quotient, int]], sign: int, forms: NormalForms) -> Expr:
    return build.mul(
        build.number(1),
        *(
            build.power(_tree(form, forms), build.number(abs(times)))
            for form, times in parts.values()
            if times * sign > 0
        ),
    )
