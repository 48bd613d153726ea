"""A claimed formula against the derived one: equal, equal under a switch that is named, one mistake
of the catalogue away, off by a factor, or wrong.

Formulas are compared over the inputs that the claim's lead to, where their values at random points
refute, and dozens of equal ones over all magnitudes confirm. A mistake is the derived formula made
again with it.
"""

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from symroof.analysis.solve import solve
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import ROLE_INPUT
from symroof.claims.checked import Checked, Difference, tolerance_of
from symroof.claims.claim_settings import settings_text, study_of, with_settings
from symroof.claims.derive_claim import quantity_name, read_formula
from symroof.claims.explain_slips import SlipExplanation
from symroof.claims.slips import (
    CATALOGUE,
    FAILURES,
    OTHER_COUNTS,
    Context,
    Way,
    can_change,
    can_happen,
    formula_of,
)
from symroof.claims.written_number import CLOSE_ENOUGH
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
from symroof.theory.switches import DETAIL, SWITCHES, expand_detail

LONGEST_FORMULA = 200
"""Characters of a derived formula that fit next to a claim."""
SECONDS = 3.0
"""Processor time of the search for what a formula leaves out, and of that for its mistake."""
FLOORS = frozenset({"compute_floor_ignored", "memory_floor_ignored"})
"""Mistakes that leave one arm of the roofline out, which is right where the other binds."""
MISTAKEN = frozenset(
    choice
    for way in CATALOGUE
    if way.slip not in OTHER_COUNTS
    for choice in way.sets.get("assume", {}).items()
)
"""Choices that are mistakes with a name of their own rather than another way to count."""


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

    def under(self, changes: dict[str, Any]) -> "Sides":
        """The same under other settings, which its label names."""
        label = ", ".join(filter(None, (self.label, settings_text(changes))))
        return Sides(with_settings(self.claim, changes), label)

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

        def put(tree: Expr) -> Expr:
            own = {str(n): resolved(parse(str(value))) for n, value in self.claim.where.items()}
            if any(map(is_condition_or_label, own.values())):
                raise FormulaError("a comparison in where is no number to calculate with", 1)
            return substitute(
                tree, {name: own.get(name, symbol(printed_name(name))) for name in names(tree)}
            )

        source, hint = self.claim.formula or "", "define it in where"
        return read_formula("formula", source, self._set.case, put, hint=hint, alone=False)

    @cached_property
    def _derivation(self) -> tuple[str, Expr]:
        """The claimed quantity and its definition, or what a threshold is solved for and its closed form."""
        if threshold := self.claim.threshold:
            solution = solve(threshold, self.answers, self.claim.solve_for)
            if solution.branch is None or solution.branch.closed_form is None:
                raise NoValueHere(Problem(threshold, "has no closed form to compare with"))
            return str(solution.unknown), solution.branch.closed_form
        name = quantity_name(self.claim.quantity, self.claim.given)
        definition = self.answers.case.formula_or_name(name, complete=False)
        if is_relation(definition) or is_label(definition):
            message = f"{name} is true/false or a category, not a formula"
            raise InputError(Problem("quantity", message))
        return name, definition

    @property
    def name(self) -> str:
        return self._derivation[0]

    @property
    def derived(self) -> Expr:
        return self._derivation[1]

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The names of the claim's formula that no definition leads further from."""
        theory = self.answers.case.theory
        return frozenset(name for name in names(self.claimed) if theory.definition(name) is None)

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
    def widths(self) -> dict[str, Expr]:
        """Bytes per number that a claim neither names nor states, as ``2*params``: those of its
        case."""
        said = {*names(self.expanded(self.claimed, self.inputs)), *names(self.claimed)}
        needed = {*names(self.expanded(self.derived, self.inputs))} - said - self.stated
        widths = (name for name in ROLE_INPUT.values() if name in needed)
        return {name: number(Fraction(self.answers.case.value(name))) for name in widths}

    def put(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """The same with the numbers the claim sets, neutral defaults, and widths it leaves out."""
        case = self.answers.case
        given = {name for name in self.stated if name in case.given and case.given[name].is_Number}
        whole = self.expanded(tree, stops | given)
        values = {name: case.given[name] for name in given - stops} | self.widths
        for name in {*names(whole)} - {*case.given, *stops, *values}:
            values |= {name: default} if (default := neutral_default(name)) is not None else {}
        return substitute(whole, values)

    @cached_property
    def pair(self) -> tuple[Expr, Expr] | None:
        """The claimed and the derived formula, written out; None where the derived one, of rates
        under load, is too long to be compared but in numbers."""
        if size(self.expanded(self.derived, self.inputs)) > WRITTEN_OUT:
            return None
        return self.put(self.claimed, self.inputs), self.put(self.derived, self.inputs)

    @cached_property
    def equal(self) -> bool:
        return self.pair is not None and equal(*self.pair)

    @property
    def equal_for_long_prompts(self) -> bool:
        """Whether they are equal where a token more in a prompt is left out: ``S^2``, ``S*(S + 1)``."""
        if self.pair is None:
            return False
        prompt, (claimed, derived) = symbol("prompt"), self.pair
        longer = derived.xreplace({prompt + 1: prompt})
        return longer != derived and equal(claimed, longer)

    @cached_property
    def factor(self) -> Expr | None:
        """Claimed over derived where that is a number times powers of names."""
        return factor_of(*self.pair) if self.pair else None

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

    def shown(self) -> str:
        """The derived formula in the names of the claim, where it is short enough."""
        own = frozenset(names(self.claimed))
        opened = text(self.put(self.derived, own)) if self.pair else ""
        fits = 0 < len(opened) <= LONGEST_FORMULA
        return opened if fits else text(self.derived)[:LONGEST_FORMULA]


def judge_formula(claim: ClaimSpec) -> Checked:
    """Equal is exact; equal under a named condition is conditional; near in numbers approximate.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    from symroof.symbols import expression

    sides = Sides(claim)
    limit, ratio = tolerance_of(claim), sides.ratio
    near = ratio is not None and abs(ratio - 1) <= (CLOSE_ENOUGH if limit is None else limit)
    found = Checked(claim, "exact", claim.formula or "", sides.shown())
    if sides.equal:
        of = (f"{name} = {number_text(Fraction(x))} byte" for name, x in sides.widths.items())
        if (widths := ", ".join(of)) and "model" not in claim.given:
            return found.conditional(widths, f"holds where {widths}")
        one = "batch" in {*names(sides.derived)} - {*names(sides.claimed)} - sides.stated
        return replace(found, reason=f"with {widths} here" if widths else "at a batch of 1" * one)
    dimension = sides.wrong_dimension()
    if ratio == 1 and not dimension:
        return replace(found, reason="in the numbers of this case")
    levels = [sides] if sides.pair else []
    if levels and "detail" not in claim.given.get("assume", {}):
        levels += [sides.under({"assume": {"detail": one}}) for one in DETAIL]
    factor, difference = None, "differs by more than a factor"
    if sides.factor is not None:
        factor = expression(sides.factor)
        difference = f"is {text(sides.factor)} times what is derived"
    found = replace(found, difference=Difference(factor))
    if not dimension and not near and (needs := _condition(iter(levels[1:]))):
        return found.conditional(needs, f"holds at {needs}; {difference}")
    level, slips = _slips(sides, levels if limit is None or not near else [])
    found = replace(found, ratio=ratio, slips=slips, reason=dimension or difference)
    if near and ratio is not None:
        reason = f"{found.reason}; {float(ratio):.4g} times here"
        return replace(found, verdict="approximate", reason=reason)
    first = slips[0] if slips else None
    # one arm of the roofline is right where the other does not bind in the claim's case
    binds = level.ratio is None or abs(level.ratio - 1) <= CLOSE_ENOUGH
    if first and (first.slip in OTHER_COUNTS or (first.slip in FLOORS and binds)):
        return found.conditional(first.cause, f"holds with {first.cause}; {difference}")
    needs = "" if slips or dimension else _condition(_ways(levels))
    if needs:
        return found.conditional(needs, f"holds with {needs}; {difference}")
    if ratio is None and not (sides.pair and compare_at_points(*sides.pair)):
        reason = "undecided: too long to be compared without numbers"
        reason = "undecided: no values that were tried show a difference" if sides.pair else reason
        return replace(found, verdict="unchecked", reason=reason, difference=None)
    return replace(found, verdict="wrong", flags=("dimension",) if dimension else ())


def _condition(ways: Iterator[Sides]) -> str:
    """The first of some ways to count under which a formula is right, in words; empty for none."""
    end = time.process_time() + SECONDS
    while time.process_time() < end and (way := next(ways, None)):
        with suppress(*FAILURES):
            if way.equal:
                return way.label
            if way.equal_for_long_prompts:
                return ", ".join(filter(None, ("prompt + 1 taken as prompt", way.label)))
    return ""


def _ways(levels: list[Sides]) -> Iterator[Sides]:
    """Ways to count: at each level of detail, and there with one switch more."""
    yield from levels
    for level in levels:
        counted = expand_detail({k: str(v) for k, v in level.claim.given.get("assume", {}).items()})
        for switch, declared in SWITCHES.items():
            for value in declared.values if switch not in counted else ():
                if value != declared.default and (switch, value) not in MISTAKEN:
                    yield level.under({"assume": {switch: value}})


def _slips(sides: Sides, levels: list[Sides]) -> tuple[Sides, tuple[SlipExplanation, ...]]:
    """The mistakes that lead to a formula, and the first level of detail where there are any."""
    end = time.process_time() + SECONDS
    for level in levels:
        found: dict[str, SlipExplanation] = {}
        more = f", at {level.label}" if level.label else ""
        more += f": ×{text(level.factor)}" if level.factor is not None else ""
        for way in _possible(level):
            if way.slip in found or time.process_time() > end:
                continue
            with suppress(*FAILURES):
                if equal(
                    level.put(level.claimed, level.inputs), _with_slip(level, way, level.inputs)
                ):
                    made = text(_with_slip(level, way, frozenset(names(level.claimed))))
                    explained = SlipExplanation(way.slip, True, made, 0.0, way.text + more)
                    found[way.slip] = explained
        if found:
            return level, tuple(found.values())
    return sides, ()


def _possible(sides: Sides) -> Iterator[Way]:
    """Every way of every mistake that can happen in the derived formula."""
    bound, claim = sides.answers, sides.claim
    unit = "" if claim.threshold else bound.case.theory.symbol(sides.name).unit
    context = Context(claim, Fraction(1), unit)
    for way in CATALOGUE:
        if way.numbers_only:
            continue
        # a precision that nobody states is in no formula
        sets = {k: v for k, v in way.sets.items() if k not in ROLE_INPUT or k in claim.given}
        changes = any(can_change(context, name, value) for name, value in sets.items())
        if can_happen(way, unit, context.known_names) if way.result else changes:
            yield way


def _with_slip(sides: Sides, way: Way, stops: frozenset[str]) -> Expr:
    """The derived formula with a mistake in it, written out.

    Raises:
        InputError, ArithmeticError, LookupError: the case has no such thing.
    """
    # a switch and a precision make another case
    chosen = {k: v for k, v in way.sets.items() if k == "assume" or k in ROLE_INPUT}
    formulas = {k: formula_of(v) for k, v in way.sets.items() if k not in chosen}
    there, moved = sides.under(chosen) if chosen else sides, frozenset(formulas)
    made = symbol(there.name) if there.name in moved else there.derived
    if way.result:
        made = substitute(formula_of(way.result), {"value": made})
    whole = there.expanded(made, stops | moved) if moved else made
    return there.put(substitute(whole, formulas), stops)
