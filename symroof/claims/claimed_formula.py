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
from symroof.claims.derive_claim import check_numbers, formula_errors, quantity_name
from symroof.errors import InputError, NoValueHere, Problem, nearest
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.dimensions import DimensionError, dimension
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    WRITTEN_OUT,
    Expr,
    is_condition_or_label,
    is_label,
    is_relation,
    names,
    number,
    rebuild,
    size,
    substitute,
    symbol,
)
from symroof.symbolic.printing import WORK, number_text, text
from symroof.symbolic.random_points import RandomPoint, compare_at_points
from symroof.symbolic.reading import FormulaError, Measured, parse, written
from symroof.theory.declarations import neutral_default
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import printed_name, resolved
from symroof.units import Dimension, describe, strict

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
        tree, known = self.read(parse), self._set.case.theory
        if unknown := [name for name in names(tree) if not known.knows(name)]:
            hint = nearest(unknown[0], known.own.known) or "define it in where"
            message = f"unknown name {unknown[0]!r}"
            source = (self.claim.formula or "")[:200]
            raise InputError(Problem("formula", message, hint=hint, source=source))
        check_numbers("formula", tree, self._set.case)
        return tree

    def read(self, reader: Any) -> Expr:
        """The claim's formula in symroof's names, with or without the units of its numbers."""
        source = self.claim.formula or ""
        with formula_errors("formula", source):
            own = {str(n): resolved(reader(str(value))) for n, value in self.claim.where.items()}
            tree = reader(source)
            if any(map(is_condition_or_label, own.values())):
                raise FormulaError("a comparison in where is no number to calculate with", 1)
        put = {name: own.get(name, symbol(printed_name(name))) for name in names(tree)}
        return substitute(tree, put)

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

    def put(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """The same with the numbers the claim sets, and neutral defaults."""
        case = self.answers.case
        stated = {ROLE_INPUT.get(name, printed_name(name)) for name in self.claim.given}
        given = {name for name in stated if name in case.given and case.given[name].is_Number}
        whole = self.expanded(tree, stops | given)
        values = {name: case.given[name] for name in given - stops}
        for name in names(whole):
            if name not in case.given and name not in stops:
                values |= {name: default} if (default := neutral_default(name)) is not None else {}
        return substitute(whole, values)

    @cached_property
    def too_long(self) -> bool:
        """Whether the derived formula is one of the few, rates under load, of too many nodes."""
        return size(self.expanded(self.derived, self.stops[-1])) > WRITTEN_OUT

    @cached_property
    def pairs(self) -> list[tuple[Expr, Expr]]:
        """The claimed and the derived formula, written out to each depth."""
        return [(self.put(self.claimed, s), self.put(self.derived, s)) for s in self.stops]

    @cached_property
    def equal(self) -> bool:
        return any(equal(*pair) for pair in self.pairs)

    @property
    def equal_for_long_prompts(self) -> bool:
        """Whether they are equal but for a token more or less in a prompt: ``S^2``, ``S*(S + 1)``."""
        claimed, derived = self.pairs[-1]
        if not {"prompt"}.issubset(names(claimed)) or "prompt" not in names(derived):
            return False
        seen = []
        for i, prompt in enumerate((1e3, 1e4, 1e6) * 6):
            point = RandomPoint(f"long {i}", 1, whole=False)
            try:
                over = point.evaluate(claimed, {"prompt": prompt})
                off = over / point.evaluate(derived, {"prompt": prompt}) - 1
            except (NoValue, ArithmeticError, LookupError):
                return False
            seen.append(abs(off) * prompt)
        return bool(1e-3 < max(seen) <= 1.01)

    @cached_property
    def ratio(self) -> Fraction | None:
        """Claimed over derived in the claim's case, where it has numbers."""
        case = self.answers.case
        try:
            return Fraction(case.evaluate(self.claimed)) / Fraction(case.evaluate(self.derived))
        except (NoValue, TypeError, LookupError, ArithmeticError):
            return None

    def wrong_dimension(self) -> str:
        """What is wrong with the dimension of the claimed formula; FLOPs are plain numbers here."""
        theory = self.answers.case.theory

        def of(tree: Expr) -> Dimension:
            units: dict[str, Dimension] = {}

            def named(node: Expr) -> Expr:
                if not isinstance(node, Measured):
                    return rebuild(node, named)
                units[text(node)] = node.dimension
                return symbol(text(node))

            def bare(name: str) -> Dimension:
                unit = units[name] if name in units else strict(theory.dimension(name))
                return tuple(pair for pair in unit if pair not in WORK)

            return dimension(named(tree), bare)

        theirs = of(symbol(self.name))
        try:
            ours = of(self.read(written))
        except DimensionError as error:
            return str(error)
        said = f"is {describe(ours)}, but what is derived is {describe(theirs)}"
        return "" if ours == theirs else said

    @cached_property
    def unstated_widths(self) -> dict[str, str]:
        """Bytes per number that a claim neither names nor states: ``2*params``."""
        stated = {ROLE_INPUT.get(name, printed_name(name)) for name in self.claim.given}
        claimed, derived = (self.expanded(s, self.stops[-1]) for s in (self.claimed, self.derived))
        lacking = {*names(derived)} - {*names(claimed)} - stated - {*names(self.claimed)}
        widths = [name for name in ROLE_INPUT.values() if name in lacking]
        values = {name: Fraction(self.answers.case.value(name)) for name in widths}
        return {name: f"{number_text(value)} byte" for name, value in values.items()}

    def difference(self) -> str:
        """How the claimed formula differs, in a phrase."""
        if factor := factor_of(*self.pairs[0]):
            return f"is {text(factor)} times what is derived"
        return "differs by more than a factor"

    def shown(self) -> str:
        """The derived formula in the names of the claim, where it is short enough."""
        opened = text(self.pairs[0][1])
        return opened if len(opened) <= LONGEST_FORMULA else text(self.derived)[:LONGEST_FORMULA]
