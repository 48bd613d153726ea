"""A claimed formula against the derived one: equal, equal under a switch that is named, one mistake
of the catalogue away, off by a factor, or wrong.

Formulas are compared over the inputs that the claim's lead to, where their values at random points
refute, and dozens of equal ones over all magnitudes confirm. A mistake is the derived formula made
again with it.
"""

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from symroof.analysis.solve import solve
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import ROLE_INPUT
from symroof.claims.checked import Checked, tolerance_of
from symroof.claims.claim_settings import (
    Settings,
    merged_settings,
    settings_text,
    study_of,
    with_settings,
)
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
from symroof.errors import InputError, NoValue, NoValueHere, Problem
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.dimensions import DimensionError, check
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
from symroof.symbolic.random_points import RandomPoint, equal_at_points
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.case import Case
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
ERRORS = [way for way in CATALOGUE if way.slip not in OTHER_COUNTS]
MISTAKEN = frozenset(choice for way in ERRORS for choice in way.sets.get("assume", {}).items())
"""Choices that are mistakes with a name of their own rather than another way to count."""


def equal(claimed: Expr, derived: Expr) -> bool:
    """Whether two formulas have the same value wherever they are tried.

    >>> equal(parse("a*(b + c)"), parse("a*b + c*a")), equal(parse("a*(b + c)"), parse("a*b + c"))
    (True, False)
    """
    return claimed == derived or bool(equal_at_points(claimed, derived, differing=1))


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


class Sides:
    """The claimed formula and the derived one under the claim's settings, which a label names.

    Raises:
        InputError: what cannot be read, an unknown name, a threshold without a closed form.

    Attributes:
        bound: the claim's case; a degree of parallelism in the formula may be any number there.
        name, derived: the claimed quantity and its definition, or what a threshold is solved for and its closed form.
        inputs: the names of the claim's formula that no definition leads further from.
        stated: the names that the claim sets.
        widths: bytes per number that a claim neither names nor states, as ``2*params``: those of its case.
        pair: the claimed and the derived formula, written out; None where the derived one, of rates
            under load, is too long to be compared but in numbers.
    """

    def __init__(self, claim: ClaimSpec, label: str = "") -> None:
        self.claim, self.label = claim, label
        self.others: dict[str, Sides] = {}
        given = study_of(claim.given).first
        self.claimed = _claimed(claim, given.case)
        degrees = [name for name in names(self.claimed) if name in DEGREES]
        single = [n for n in degrees if n not in given.case.given or given.case.value(n) == 1]
        self.bound = given.without_values(single)
        self.case = self.bound.case
        self.name, self.derived = _derivation(claim, self.bound)
        definition, of = self.case.theory.definition, names(self.claimed)
        self.inputs = frozenset(name for name in of if definition(name) is None)
        self.stated = frozenset(ROLE_INPUT.get(n, printed_name(n)) for n in claim.given)
        whole, said = (self.expanded(one, self.inputs) for one in (self.derived, self.claimed))
        left = {*names(whole)} - {*names(said), *of, *self.stated}
        widths = [name for name in ROLE_INPUT.values() if name in left]
        self.widths = {name: number(Fraction(self.case.value(name))) for name in widths}
        self.pair: tuple[Expr, Expr] | None = None
        if size(whole) <= WRITTEN_OUT:
            self.pair = self.put(self.claimed, self.inputs), self.put(self.derived, self.inputs)

    def under(self, changes: Settings) -> "Sides":
        """The same under other settings, which its label names."""
        if not changes:
            return self
        label = ", ".join(filter(None, (self.label, settings_text(changes))))
        if label not in self.others:
            self.others[label] = Sides(with_settings(self.claim, changes), label)
        return self.others[label]

    def expanded(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """A formula over inputs and the names where it stops, no number put in."""
        given = self.case.given.items()
        formulas = {name: value for name, value in given if not value.is_Number}
        return self.case.theory.expand(tree, formulas, stops)

    def put(self, tree: Expr, stops: frozenset[str]) -> Expr:
        """The same with the numbers the claim sets, neutral defaults, and widths it leaves out."""
        own = self.case.given
        given = {name for name in self.stated if name in own and own[name].is_Number}
        whole = self.expanded(tree, stops | given)
        values = {name: own[name] for name in given - stops} | self.widths
        for name in {*names(whole)} - {*own, *stops, *values}:
            values |= {name: default} if (default := neutral_default(name)) is not None else {}
        return substitute(whole, values)

    @cached_property
    def equal(self) -> bool:
        return self.pair is not None and equal(*self.pair)

    @cached_property
    def factor(self) -> Expr | None:
        """Claimed over derived where that is a number times powers of names."""
        return factor_of(*self.pair) if self.pair else None

    @cached_property
    def ratio(self) -> Fraction | None:
        """Claimed over derived in the claim's case, where it has numbers."""
        try:
            claimed, derived = (self.case.evaluate(one) for one in (self.claimed, self.derived))
            return Fraction(claimed) / Fraction(derived)
        except (NoValue, TypeError, LookupError, ArithmeticError):
            return None

    def shown(self) -> str:
        """The derived formula in the names of the claim, where it is short enough."""
        own = frozenset(names(self.claimed))
        opened = text(self.put(self.derived, own)) if self.pair else ""
        fits = 0 < len(opened) <= LONGEST_FORMULA
        return opened if fits else text(self.derived)[:LONGEST_FORMULA]


def _claimed(claim: ClaimSpec, case: Case) -> Expr:
    """The claim's formula over symroof's names; ``where`` defines letters of its own."""

    def put(tree: Expr) -> Expr:
        own = {str(n): resolved(parse(str(value))) for n, value in claim.where.items()}
        if any(map(is_condition_or_label, own.values())):
            raise FormulaError("a comparison in where is no number to calculate with", 1)
        return substitute(tree, {n: own.get(n, symbol(printed_name(n))) for n in names(tree)})

    source, hint = claim.formula or "", "define it in where"
    return read_formula("formula", source, case, put, hint=hint, alone=False)


def _derivation(claim: ClaimSpec, bound: BoundCase) -> tuple[str, Expr]:
    if claim.threshold:
        solution = solve(claim.threshold, bound, claim.solve_for)
        if solution.form is None or solution.form.root is None:
            raise NoValueHere(Problem(claim.threshold, "has no closed form to compare with"))
        return str(solution.unknown), solution.form.closed_form
    name = quantity_name(claim.quantity, claim.given)
    definition = bound.case.formula_or_name(name, complete=False)
    if is_relation(definition) or is_label(definition):
        raise InputError(Problem("quantity", f"{name} is true/false or a category, not a formula"))
    return name, definition


def _wrong_dimension(sides: Sides) -> str:
    """What is wrong with the dimension of the claimed formula; numbers have any unit."""
    of = sides.case.theory.dimension
    try:
        check(sides.claimed, of(sides.name), of, sides.name, bare=True)
    except DimensionError as error:
        return str(error)
    return ""


def judge_formula(claim: ClaimSpec) -> Checked:
    """Equal is exact; equal under a named condition is conditional; near in numbers approximate.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    from symroof.symbols import expressions

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
    dimension = _wrong_dimension(sides)
    if ratio == 1 and not dimension:
        return replace(found, reason="in the numbers of this case")
    levels: list[Settings] = [{}] if sides.pair else []
    if levels and "detail" not in claim.given.get("assume", {}):
        levels += [{"assume": {"detail": one}} for one in DETAIL]
    factor, difference = None, "differs by more than a factor"
    if sides.factor is not None:
        factor = expressions()(sides.factor)
        difference = f"is {text(sides.factor)} times what is derived"
    found = replace(found, factor=factor)
    if not dimension and not near and (needs := _condition(sides, levels[1:])):
        return found.conditional(needs, f"holds at {needs}; {difference}")
    level, slips = _slips(sides, levels if limit is None or not near else [])
    times = None if ratio is None else float(ratio)
    found = replace(found, ratio=times, slips=slips, reason=dimension or difference)
    if near and ratio is not None:
        reason = f"{found.reason}; {float(ratio):.4g} times here"
        return replace(found, verdict="approximate", reason=reason)
    first = slips[0] if slips else None
    # one arm of the roofline is right where the other does not bind in the claim's case
    binds = level.ratio is None or abs(level.ratio - 1) <= CLOSE_ENOUGH
    if first and (first.slip in OTHER_COUNTS or (first.slip in FLOORS and binds)):
        return found.conditional(first.cause, f"holds with {first.cause}; {difference}")
    needs = "" if slips or dimension else _condition(sides, _ways(claim, levels))
    if needs:
        return found.conditional(needs, f"holds with {needs}; {difference}")
    if ratio is None and not (sides.pair and equal_at_points(*sides.pair) is not None):
        reason = "undecided: no numbers that were tried show a difference"
        return replace(found, verdict="unchecked", reason=reason)
    return replace(found, verdict="wrong", flags=("dimension",) if dimension else ())


def _condition(sides: Sides, ways: Iterable[Settings]) -> str:
    """The first of some ways to count under which a formula is right, in words; empty for none."""
    end = time.process_time() + SECONDS
    prompt = symbol("prompt")
    for changes in ways:
        if time.process_time() > end:
            break
        with suppress(*FAILURES):
            way = sides.under(changes)
            if way.equal:
                return way.label
            claimed, derived = way.pair or (prompt, prompt)
            longer = derived.xreplace({prompt + 1: prompt})  # S^2, S*(S + 1)
            if longer != derived and equal(claimed, longer):
                return ", ".join(filter(None, ("prompt + 1 taken as prompt", way.label)))
    return ""


def _ways(claim: ClaimSpec, levels: list[Settings]) -> Iterator[Settings]:
    """Ways to count: at each level of detail, and there with one switch more."""
    yield from levels
    for level in levels:
        chosen = merged_settings(claim.given, level).get("assume", {})
        counted = expand_detail({switch: str(value) for switch, value in chosen.items()})
        for switch, declared in SWITCHES.items():
            for value in declared.values if switch not in counted else ():
                if value != declared.default and (switch, value) not in MISTAKEN:
                    yield merged_settings(level, {"assume": {switch: value}})


def _slips(sides: Sides, levels: list[Settings]) -> tuple[Sides, tuple[SlipExplanation, ...]]:
    """The mistakes that lead to a formula, and the first level of detail where there are any."""
    end = time.process_time() + SECONDS
    for changes in levels:
        found: dict[str, SlipExplanation] = {}
        level = sides
        with suppress(*FAILURES):
            level = sides.under(changes)
            for way in _possible(level):
                if way.slip not in found and time.process_time() <= end:
                    with suppress(*FAILURES):
                        if explained := _explained(level, way):
                            found[way.slip] = explained
        if found:
            return level, tuple(found.values())
    return sides, ()


def _explained(sides: Sides, way: Way) -> SlipExplanation | None:
    """A mistake, where the claimed formula is the derived one with it."""
    claimed = sides.put(sides.claimed, sides.inputs)
    if not equal(claimed, _with_slip(sides, way, sides.inputs)):
        return None
    made = text(_with_slip(sides, way, frozenset(names(sides.claimed))))
    where = f", at {sides.label}" if sides.label else ""
    times = f"×{text(sides.factor)}" if sides.factor is not None else ""
    return SlipExplanation(way.slip, True, made, 0.0, way.text + where, times)


def _possible(sides: Sides) -> Iterator[Way]:
    """Every way of every mistake that can happen in the derived formula."""
    claim, theory = sides.claim, sides.case.theory
    unit = "" if claim.threshold else theory.symbol(sides.name).unit
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
