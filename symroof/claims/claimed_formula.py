"""Both sides of a claim that states a formula, over the same names, and whether they are equal.

Random points refute, and dozens of equal ones over all magnitudes confirm.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.cases.bound_case import BoundCase
from symroof.cases.input import ROLE_INPUT
from symroof.claims.claim_settings import study_of, with_settings
from symroof.claims.derive_claim import check_numbers, checked_names, formula_errors, quantity_name
from symroof.errors import InputError, NoValueHere, Problem
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.dimensions import DimensionError, check
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    WRITTEN_OUT,
    Expr,
    is_condition_or_label,
    is_label,
    is_relation,
    names,
    number,
    size,
    substitute,
    symbol,
)
from symroof.symbolic.printing import number_text, text
from symroof.symbolic.random_points import RandomPoint, compare_at_points
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.declarations import neutral_default
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import printed_name, resolved

LONGEST_FORMULA = 200
"""Characters of a derived formula that fit next to a claim."""


def equal(claimed: Expr, derived: Expr) -> bool:
    """Whether two formulas have the same value wherever they are tried.

    >>> equal(parse("a*(b + c)"), parse("a*b + c*a")), equal(parse("a*(b + c)"), parse("a*b + c"))
    (True, False)
    """
    if claimed == derived:
        return True
    seen = compare_at_points(claimed, derived, to_a_difference=True)
    return seen is not None and seen.equal and not seen.untried


def factor_of(claimed: Expr, derived: Expr) -> Expr | None:
    """Claimed over derived where that is a number times powers of names; else None.

    >>> text(factor_of(parse("2*l*h*d"), parse("2*l*k*d")))
    'h/k'
    """
    point = RandomPoint("factor", 2, whole=False)

    def ratio(at: dict[str, float] | None = None) -> float:
        return float(point.evaluate(claimed, at) / point.evaluate(derived, at))

    try:
        rest, factor = ratio(), number(1)
        for name in sorted({*names(claimed), *names(derived)}):
            double = ratio({name: 2 * point.value(name)}) / ratio()
            power = Fraction(math.log2(double)).limit_denominator(2)
            factor *= symbol(name) ** number(power)
            rest /= point.value(name) ** float(power)
    except (NoValue, ArithmeticError, ValueError, TypeError, LookupError):
        return None
    factor *= number(Fraction(rest).limit_denominator(10**6))
    return factor if factor != 0 and equal(claimed, factor * derived) else None


@dataclass(frozen=True)
class Sides:
    """The claimed formula and the derived one under the claim's settings.

    Raises, when a side is read:
        InputError: what cannot be read, an unknown name, a threshold without a closed form.
    """

    claim: ClaimSpec
    label: str = ""

    def under(self, changes: dict[str, Any], label: str = "") -> "Sides":
        """The same under other settings."""
        return replace(self, claim=with_settings(self.claim, changes), label=label)

    @cached_property
    def _set(self) -> BoundCase:
        return study_of(self.claim.given).first

    @cached_property
    def answers(self) -> BoundCase:
        """The claim's case; a degree of parallelism in the formula may be any number there."""
        case = self._set.case
        free = [name for name in names(self.claimed) if name in DEGREES]
        single = [name for name in free if name not in case.given or case.value(name) == 1]
        return self._set.without_values(single)

    @cached_property
    def claimed(self) -> Expr:
        """The claim's formula over symroof's names; ``where`` defines letters of its own."""
        source = self.claim.formula or ""
        with formula_errors("formula", source):
            own = {str(n): resolved(parse(str(value))) for n, value in self.claim.where.items()}
            tree = parse(source)
            if any(map(is_condition_or_label, own.values())):
                raise FormulaError("a comparison in where is no number to calculate with", 1)
        put = {name: own.get(name, symbol(printed_name(name))) for name in names(tree)}
        case = self._set.case
        hint = "define it in where"
        tree = checked_names("formula", substitute(tree, put), case, source, hint)
        check_numbers("formula", tree, case)
        return tree

    @cached_property
    def _solution(self) -> Any:
        from symroof.analysis.solve import solve

        return solve(self.claim.threshold or "", self.answers, self.claim.solve_for)

    @cached_property
    def name(self) -> str:
        """The claimed quantity, or what a threshold is solved for."""
        if self.claim.threshold:
            return str(self._solution.unknown)
        return quantity_name(self.claim.quantity, self.claim.given)

    @cached_property
    def derived(self) -> Expr:
        """The definition of the quantity, or the closed form of the threshold."""
        if self.claim.threshold:
            branch = self._solution.branch
            if branch is None or branch.closed_form is None:
                message = "has no closed form to compare with"
                raise NoValueHere(Problem(self.claim.threshold, message))
            return branch.closed_form
        definition = self.answers.case.formula_or_name(self.name, complete=False)
        if is_relation(definition) or is_label(definition):
            message = f"{self.name} is true/false or a category, not a formula"
            raise InputError(Problem("quantity", message))
        return definition

    @cached_property
    def stops(self) -> tuple[frozenset[str], ...]:
        """Where formulas are written out to: the names of the claim's, and its inputs alone."""
        own, theory = frozenset(names(self.claimed)), self.answers.case.theory
        inputs = frozenset(name for name in own if theory.definition(name) is None)
        return (own, inputs) if inputs != own else (own,)

    def expanded(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """A formula over inputs and the names where it stops, no number put in."""
        case = self.answers.case
        formulas = {name: value for name, value in case.given.items() if not value.is_Number}
        return case.theory.expand(tree, formulas, stops)

    @cached_property
    def stated(self) -> frozenset[str]:
        """The names that the claim sets."""
        return frozenset(ROLE_INPUT.get(name, printed_name(name)) for name in self.claim.given)

    @cached_property
    def unstated_widths(self) -> dict[str, Expr]:
        """Bytes per number that a claim neither names nor states, as ``2*params``: those of its
        case."""
        case, inputs = self.answers.case, self.expanded(self.claimed, self.stops[-1])
        said = {*names(inputs), *names(self.claimed), *self.stated}
        needed = {*names(self.expanded(self.derived, self.stops[-1]))} - said
        widths = (name for name in ROLE_INPUT.values() if name in needed)
        return {name: number(Fraction(case.value(name))) for name in widths}

    def put(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """The same with the numbers the claim sets, neutral defaults, and widths it leaves out."""
        case = self.answers.case
        given = {name for name in self.stated if name in case.given and case.given[name].is_Number}
        whole = self.expanded(tree, stops | given)
        values = {name: case.given[name] for name in given - stops} | self.unstated_widths
        for name in names(whole):
            if name not in case.given and name not in stops and name not in values:
                values |= {name: default} if (default := neutral_default(name)) is not None else {}
        return substitute(whole, values)

    @cached_property
    def pairs(self) -> list[tuple[Expr, Expr]]:
        """The claimed and the derived formula, written out to each depth; none where the derived
        one, of rates under load, is too long to be compared but in numbers."""
        if size(self.expanded(self.derived, self.stops[-1])) > WRITTEN_OUT:
            return []
        return [(self.put(self.claimed, s), self.put(self.derived, s)) for s in self.stops]

    @cached_property
    def equal(self) -> bool:
        return any(equal(*pair) for pair in self.pairs)

    @property
    def equal_for_long_prompts(self) -> bool:
        """Whether they are equal where a token more in a prompt is left out: ``S^2``, ``S*(S + 1)``."""
        prompt = symbol("prompt")
        return any(
            equal(claimed, longer)
            for claimed, derived in self.pairs
            if (longer := derived.xreplace({prompt + 1: prompt})) != derived
        )

    @cached_property
    def ratio(self) -> Fraction | None:
        """Claimed over derived in the claim's case, where it has numbers."""
        case = self.answers.case
        try:
            return Fraction(case.evaluate(self.claimed)) / Fraction(case.evaluate(self.derived))
        except (NoValue, TypeError, LookupError, ArithmeticError):
            return None

    def wrong_dimension(self) -> str:
        """What is wrong with the dimension of the claimed formula; numbers have any unit."""
        of = self.answers.case.theory.dimension
        try:
            check(self.claimed, of(self.name), of, self.name, bare=True)
        except DimensionError as error:
            return str(error)
        return ""

    def widths_text(self) -> str:
        """The bytes per number that it leaves out, in words."""
        widths = self.unstated_widths.items()
        return ", ".join(f"{name} = {number_text(Fraction(x))} byte" for name, x in widths)

    def difference(self) -> str:
        """How the claimed formula differs, in a phrase."""
        if self.pairs and (factor := factor_of(*self.pairs[0])):
            return f"is {text(factor)} times what is derived"
        return "differs by more than a factor"

    def shown(self) -> str:
        """The derived formula in the names of the claim, where it is short enough."""
        opened = text(self.pairs[0][1]) if self.pairs else ""
        fits = 0 < len(opened) <= LONGEST_FORMULA
        return opened if fits else text(self.derived)[:LONGEST_FORMULA]
