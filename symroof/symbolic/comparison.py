"""Compares a claimed formula with the derived one: equal, off by a factor, or which terms and arms differ.

Formulas are compared over the names they hold; the meaning of the names is unknown here. Equality is decided exactly
if both are quotients of polynomials, or maxima of such; otherwise at random points, and the result says so.

>>> from symroof.symbolic.reading import parse
>>> print(compare(parse("2*n_layers*n_heads*head_dim"), parse("2*n_layers*n_kv_heads*head_dim")))
is n_heads/n_kv_heads times what is derived
>>> print(compare(parse("2*p*s + 4*n*d*s^2"), parse("2*p*s + 2*n*d*s^2")))
d*n*s**2: you have 4, derived 2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import sympy
from sympy import QQ, Add, Mul

from symroof.symbolic import random_points as points
from symroof.symbolic.dimensions import DimensionError, dimension
from symroof.symbolic.expressions import (
    ONE,
    Expr,
    is_label,
    is_negative,
    names,
    number,
    rebuild,
    symbol,
    without_rounding,
)
from symroof.symbolic.normal_forms import NoForm, NormalForms, Quotient, TooLarge
from symroof.symbolic.printing import WORK, number_text, ordered_terms, text
from symroof.symbolic.reading import Measured
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
        place = "" if self.bar == ONE else f" over {text(self.bar)}"
        place = " in the denominator" if self.under else place
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
        if self.claimed is None:
            return f"missing arm {text(self.derived)}"
        if self.comparison is None:
            return f"extra arm {text(self.claimed)}"
        return f"arm {text(self.claimed)}: {self.comparison}"


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
            case "factor" if self.factor is not None:
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
NEAREST = {"equal": 0, "factor": 1, "terms": 2, "arms": 2, "inverted": 3}
"""How near two arms are that compare so."""


def compare(
    claimed: Expr,
    derived: Expr,
    of: Callable[[str], Dimension] | None = None,
    written: tuple[Expr, Expr] | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare two formulas over the same names, in bounded time.

    Args:
        claimed, derived: the formulas.
        of: gives the dimension of a name; without it dimensions do not matter. FLOPs are numbers here: ``2*params*prompt`` is how
            people write work.
        written: the two with the units of their numbers, where they have any.
        seed: draws the random points.

    >>> from symroof.symbolic.reading import parse
    >>> compare(parse("max(b/w, f/p) + t"), parse("t + max(f/p, b/w)")).verdict
    'equal'
    """
    result = _compared(claimed, derived)
    if not (result.exact and result.verdict in ("equal", "inverted", "factor")):
        result = _at_points(result, claimed, derived, seed)
    if of is None or result.verdict == "equal":
        return result
    wrong = _dimension_disagrees(*(written or (claimed, derived)), of)
    return replace(result, verdict="dimension", dimension=wrong) if wrong else result


def same(claimed: Expr, derived: Expr) -> bool:
    """Whether two formulas are certainly equal; fast if they are not, because one point is enough.

    >>> from symroof.symbolic.reading import parse
    >>> same(parse("a*(b + c)"), parse("a*b + c*a")), same(parse("a*(b + c)"), parse("a*b + c"))
    (True, False)
    """
    differ = points.differ(claimed, derived)
    if differ:
        return False
    try:
        forms = NormalForms(claimed, derived)
        left, right = forms.crossed(forms.of(claimed), forms.of(derived))
        if left == right or not forms.has_functions:
            return bool(left == right)
    except (TooLarge, NoForm):
        pass
    if differ is None:  # an unstable queue has a value almost nowhere
        return False
    seen = points.compare_at_points(claimed, derived, to_a_difference=True)
    return seen is not None and seen.equal and not seen.untried


def lower_order(claimed: Expr, derived: Expr, name: str) -> bool:
    """Whether two formulas differ only in terms that are negligible if a name is large: each has one power of it less
    than a term that both have, with a coefficient no smaller.

    >>> from symroof.symbolic.reading import parse
    >>> lower_order(parse("2*p*s + n*s^2"), parse("2*p*s + n*s*(s + 1)"), "s")
    True
    >>> lower_order(parse("p*s + n*s^2"), parse("2*p*s + n*s*(s + 1)"), "s")  # another coefficient
    False
    """
    try:
        forms = NormalForms(claimed, derived)
        left, right = forms.crossed(forms.of(claimed), forms.of(derived))
    except (TooLarge, NoForm):
        return False
    if left == right or symbol(name) not in forms.stands:
        return False
    place = forms.stands.index(symbol(name))

    def negligible(exponents: tuple[int, ...], factor: Any) -> bool:
        greater = (*exponents[:place], exponents[place] + 1, *exponents[place + 1 :])
        both = left.get(greater, 0)
        return bool(both == right.get(greater, 0) and abs(both) >= abs(factor))

    return all(negligible(*term) for term in (left - right).iterterms())


def expanded_terms(expr: Expr) -> list[Expr]:
    """The terms of a formula that is written out as a sum of products; none if it is a quotient of sums, or too long.

    >>> from symroof.symbolic.reading import parse
    >>> expanded_terms(parse("a*(b + c)/d")) == [parse("a*b/d"), parse("a*c/d")]
    True
    """
    try:
        forms = NormalForms(expr)
        form = forms.of(expr)
    except (TooLarge, NoForm):
        return []
    return ordered_terms(Add.make_args(forms.over(form))) if form.under == 1 else []


# ------------------------------------------------------------------------------------------------------------- dimensions


def _dimension_disagrees(claimed: Expr, derived: Expr, of: Callable[[str], Dimension]) -> str:
    units: dict[str, Dimension] = {}

    def named(node: Expr) -> Expr:
        """The formula with a name for each number that has a unit."""
        if not isinstance(node, Measured):
            return rebuild(node, named)
        units[text(node)] = node.dimension
        return symbol(text(node))

    def bare(name: str) -> Dimension:
        unit = units[name] if name in units else strict(of(name))
        return tuple(pair for pair in unit if pair not in WORK)

    try:
        theirs = dimension(named(derived), bare)
    except DimensionError:
        return ""
    try:
        ours = dimension(named(claimed), bare)
    except DimensionError as error:
        return str(error)
    same = ours == theirs
    return "" if same else f"is {describe(ours)}, but what is derived is {describe(theirs)}"


# ---------------------------------------------------------------------------------------------------------------- algebra


def _compared(
    claimed: Expr, derived: Expr, forms: NormalForms | None = None, depth: int = 0
) -> Comparison:
    """The comparison by algebra alone."""
    if claimed == derived or is_label(claimed) or is_label(derived):
        return Comparison("equal" if claimed == derived else "different")
    try:
        return _by_form(claimed, derived, forms or NormalForms(claimed, derived), depth)
    except (TooLarge, NoForm):
        return Comparison("different", exact=False)


def _by_form(claimed: Expr, derived: Expr, forms: NormalForms, depth: int) -> Comparison:
    ours, theirs = forms.of(claimed), forms.of(derived)
    left, right = forms.crossed(ours, theirs)
    if left == right:
        return Comparison("equal")
    rational = not forms.has_functions
    inverted = claimed * derived == ONE or bool(theirs.over and ours == forms.inverse(theirs))
    by = forms.ratio(left, right)
    whole = forms.term(*by) if by else None
    if by and not any(by[1]):
        return Comparison("factor", factor=whole, ratio=_fraction(by[0]), inverted=inverted)
    if inverted:
        return Comparison("inverted", factor=whole, inverted=True)
    if by and not any(forms.of_functions(by[1])):
        return Comparison("factor", factor=whole)
    terms = _terms(ours, theirs, forms)
    arms = _arms(terms, forms, depth)
    if arms:
        return Comparison("arms", exact=False, arms=arms)
    if by is None or _exchanges(forms.of_functions(by[1])):
        whole = factor_of_one_name(claimed, derived, forms)
    if whole is not None:
        return Comparison("factor", exact=rational, factor=whole, terms=() if by else terms)
    return Comparison("terms" if terms else "different", exact=rational, terms=terms)


def _exchanges(powers: tuple[int, ...]) -> bool:
    """Whether a factor replaces one maximum by another, which nobody would call a factor."""
    return min(powers) < 0 < max(powers)


def factor_of_one_name(claimed: Expr, derived: Expr, forms: NormalForms) -> Expr | None:
    """Claimed over derived if it depends on one name only, such as ``output/(output - 1)``: equal factors are cancelled.

    >>> from symroof.symbolic.reading import parse
    >>> one, other = parse("output*itl"), parse("(output - 1)*itl")
    >>> text(factor_of_one_name(one, other, NormalForms(one, other)))
    'output/(output - 1)'
    """
    sides = (Counter[Quotient](), Counter[Quotient]())
    number = ONE
    for counted, side, sign in zip(sides, (claimed, derived), (1, -1), strict=True):
        for factor in Mul.make_args(side):
            base, power = factor.as_base_exp()
            base, power = (base, int(power)) if power.is_Integer else (factor, 1)
            form = forms.of(base)
            if not form.over:
                return None
            number *= QQ.to_sympy(form.number) ** (sign * power)
            if not factor.is_Number:
                counted[form._replace(number=QQ.one)] += power
    ours, theirs = sides
    if not any(ours[form] == power for form, power in theirs.items()):
        return None  # nothing is in both
    ours.subtract(theirs)
    left = Mul(number, *(forms.shown(form) ** power for form, power in ours.items()))
    made = forms.shown(forms.of(left))
    return made if len(names(made)) == 1 else None


def _terms(ours: Quotient, theirs: Quotient, forms: NormalForms) -> tuple[TermDifference, ...]:
    """Differences of coefficients in the numerators, or in the denominators if only those differ."""
    under = ours.under != theirs.under
    if under and ours.over != theirs.over:
        return ()
    if under:  # equal numerators except for a factor, which is moved to the denominator
        below = [forms.inverse(form) for form in (ours, theirs)]
        ours, theirs = (form.times(theirs.number, theirs.powers) for form in below)
    left, right, shared = forms.aligned(ours, theirs)
    differing = [*(left - right).itermonoms()]
    if not differing or len(differing) > MOST_SHOWN_TERMS:
        return ()
    bar = ONE if under else forms.sum(ours.under)
    found = {
        forms.term(1, one) * shared: (_fraction(left.get(one, 0)), _fraction(right.get(one, 0)))
        for one in differing
    }
    ordered = sorted(ordered_terms(found), key=lambda product: not found[product][0])
    return tuple(
        TermDifference(product, mine, derived, under, bar)
        for product, (mine, derived) in ((product, found[product]) for product in ordered)
    )


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.numerator), int(value.denominator))


def _arms(
    terms: tuple[TermDifference, ...], forms: NormalForms, depth: int
) -> tuple[ArmDifference, ...]:
    """The arms that differ, if a maximum or a term replaces another maximum."""
    extra = [number(term.claimed) * term.product for term in terms if not term.derived]
    missing = [number(term.derived) * term.product for term in terms if not term.claimed]
    both = [term for term in terms if term.claimed and term.derived]
    if depth >= DEEPEST or both or not extra or not missing or any(term.under for term in terms):
        return ()
    ours, theirs = _split(extra), _split(missing)
    if ours is None and theirs is None:
        return ()
    if ours and theirs and ours[0] != theirs[0]:
        return ()
    left = ours[1] if ours else [Add(*extra)]
    right = theirs[1] if theirs else [Add(*missing)]
    arms = _matched(left, right, forms, depth)
    paired = any(arm.comparison for arm in arms)
    return () if paired and (ours is None or theirs is None) else arms


def _split(terms: list[Expr]) -> tuple[str, list[Expr]] | None:
    """A single product with one maximum, as the function's name and its arms, each times the other factors."""
    if len(terms) != 1:
        return None
    factors = Mul.make_args(terms[0])
    extremes = [part for part in factors if isinstance(part, (sympy.Max, sympy.Min))]
    if len(extremes) != 1:
        return None
    rest = Mul(*(part for part in factors if part is not extremes[0]))
    # minus a maximum is the minimum of the negated arms
    largest = isinstance(extremes[0], sympy.Max) != is_negative(rest)
    return "max" if largest else "min", [arg * rest for arg in extremes[0].args]


def _matched(
    left: list[Expr], right: list[Expr], forms: NormalForms, depth: int
) -> tuple[ArmDifference, ...]:
    """Differences after pairing equal arms, then each other arm with the nearest."""
    mine, others = ({forms.of(arm): arm for arm in arms} for arms in (left, right))
    theirs = [arm for form, arm in others.items() if form not in mine]
    differing: list[ArmDifference] = []
    for arm in (arm for form, arm in mine.items() if form not in others):
        pairs = [(_compared(arm, other, forms, depth + 1), other) for other in theirs]
        if not pairs:
            differing.append(ArmDifference(arm, None))
            continue
        best, other = min(pairs, key=lambda pair: _distance(pair[0], arm, pair[1]))
        theirs.remove(other)
        if best.verdict != "equal":
            differing.append(ArmDifference(arm, other, best))
    return (*differing, *(ArmDifference(None, arm) for arm in theirs))


def _distance(comparison: Comparison, ours: Expr, theirs: Expr) -> tuple[int, int]:
    shared = {*names(ours)}.intersection(names(theirs))
    return NEAREST.get(comparison.verdict, 4), -len(shared)


# ----------------------------------------------------------------------------------------------------------- random points


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
    if not by_algebra.exact and seen.equal:
        return Comparison("equal", exact=False, arms=by_algebra.arms, points=seen.points)
    ratio = seen.constant
    if not by_algebra.exact and ratio is not None:
        return Comparison(
            "factor", exact=False, factor=number(ratio), ratio=ratio, points=seen.points
        )
    low, high = (min(seen.ratios), max(seen.ratios)) if seen.ratios else (None, None)
    return replace(by_algebra, exact=True, low=low, high=high, points=seen.points)
