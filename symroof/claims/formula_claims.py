"""A claimed formula against the derived one: equal, equal under a switch that is named, one mistake
of the catalogue away, off by a factor, or wrong.

Formulas are compared over the names of the claim, where their values at random points refute, and
dozens of equal ones over all magnitudes confirm. A mistake is the derived formula made again with it.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from symroof.cases.input import ROLE_INPUT
from symroof.claims.checked import Checked, tolerance_of
from symroof.claims.claim_settings import settings_text
from symroof.claims.claimed_formula import Sides, equal, factor_of
from symroof.claims.read.written_number import CLOSE_ENOUGH
from symroof.claims.slips.explain import SlipExplanation
from symroof.claims.slips.predictions import (
    CATALOGUE,
    FAILURES,
    OTHER_COUNTS,
    Context,
    Way,
    can_change,
    can_happen,
    formula_of,
)
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.expressions import Expr, names, substitute, symbol
from symroof.symbolic.printing import text
from symroof.symbolic.random_points import compare_at_points
from symroof.theory.switches import DETAIL, SWITCHES, expand_detail

SECONDS = 3.0
"""Processor time of the search for what a formula leaves out, and of that for its mistake."""
FLOORS = frozenset({"compute_floor_ignored", "memory_floor_ignored"})
"""Mistakes that leave one arm of the roofline out, which is right where the other binds."""
MISTAKEN = frozenset(
    (switch, value)
    for slip in CATALOGUE
    if slip.name not in OTHER_COUNTS
    for way in slip.ways
    for switch, value in way.sets.get("assume", {}).items()
)
"""Choices that are mistakes with a name of their own rather than another way to count."""


def judge_formula(claim: ClaimSpec) -> Checked:
    """Equal is exact; equal under a named condition is conditional; near in numbers approximate.

    Raises:
        InputError: what cannot be read, an unknown name.
    """
    sides = Sides(claim)
    limit, ratio = tolerance_of(claim), sides.ratio
    near = ratio is not None and abs(ratio - 1) <= (CLOSE_ENOUGH if limit is None else limit)
    found = Checked(claim, "exact", claim.formula or "", sides.shown())
    if sides.equal:
        widths = sides.widths_text()
        if widths and "model" not in claim.given:
            return _conditional(found, widths, "holds where")
        one = "batch" in {*names(sides.derived)} - {*names(sides.claimed)} - sides.stated
        return replace(found, reason=f"with {widths} here" if widths else "at a batch of 1" * one)
    dimension = sides.wrong_dimension()
    if ratio == 1 and not dimension:
        return replace(found, reason="in the numbers of this case")
    levels = _levels(sides) if sides.pairs else []
    difference = sides.difference()
    if not dimension and not near and (needs := _condition(iter(levels[1:]))):
        return _conditional(found, needs, "holds at", difference)
    level, slips = _slips(sides, levels if limit is None or not near else [])
    found = replace(found, ratio=ratio, slips=slips, reason=dimension or difference)
    if near and ratio is not None:
        reason = f"{found.reason}; {float(ratio):.4g} times here"
        return replace(found, verdict="approximate", reason=reason)
    first = slips[0] if slips else None
    # one arm of the roofline is right where the other does not bind in the claim's case
    binds = level.ratio is None or abs(level.ratio - 1) <= CLOSE_ENOUGH
    if first and (first.slip in OTHER_COUNTS or (first.slip in FLOORS and binds)):
        return _conditional(found, first.cause, "holds with", difference)
    needs = "" if slips or dimension else _condition(_ways(levels))
    if needs:
        return _conditional(found, needs, "holds with", difference)
    if ratio is None and not (sides.pairs and compare_at_points(*sides.pairs[0])):
        reason = "undecided: too long to be compared without numbers"
        reason = "undecided: no values that were tried show a difference" if sides.pairs else reason
        return replace(found, verdict="unchecked", reason=reason)
    return replace(found, verdict="wrong", flags=("dimension",) if dimension else ())


def _conditional(found: Checked, needs: str, holds: str, more: str = "") -> Checked:
    """A formula that holds under something that it does not say."""
    reason = "; ".join(filter(None, (f"{holds} {needs}", more)))
    return replace(found, verdict="conditional", assumptions_needed=(needs,), reason=reason)


def _levels(sides: Sides) -> list[Sides]:
    """The sides as the claim counts, and at each level of detail that it leaves open."""
    levels = [sides]
    if "detail" not in sides.claim.given.get("assume", {}):
        levels += [sides.under({"assume": {"detail": one}}, f"detail {one}") for one in DETAIL]
    return levels


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
                    words = settings_text({"assume": {switch: value}})
                    label = ", ".join(filter(None, (level.label, words)))
                    yield level.under({"assume": {switch: value}}, label)


# --------------------------------------------------------------------------------------- mistakes


def _slips(sides: Sides, levels: list[Sides]) -> tuple[Sides, tuple[SlipExplanation, ...]]:
    """The mistakes that lead to a formula, and the first level of detail where there are any."""
    end = time.process_time() + SECONDS
    for level in levels:
        found: dict[str, SlipExplanation] = {}
        factor = factor_of(*level.pairs[0])
        more = f", at {level.label}" if level.label else ""
        more += f": ×{text(factor)}" if factor is not None else ""
        for slip, way in _possible(level):
            if slip in found or time.process_time() > end:
                continue
            made = _with_slip(level, way)
            if any(
                equal(claimed, one) for (claimed, _), one in zip(level.pairs, made, strict=False)
            ):
                found[slip] = SlipExplanation(slip, True, text(made[0]), 0.0, way.text + more)
        if found:
            return level, tuple(found.values())
    return sides, ()


def _possible(sides: Sides) -> Iterator[tuple[str, Way]]:
    """Every way of every mistake that can happen in the derived formula."""
    bound, claim = sides.answers, sides.claim
    unit = "" if claim.threshold else bound.case.theory.symbol(sides.name).unit
    context = Context(claim, Fraction(1), unit)
    for slip in CATALOGUE:
        for way in slip.ways if not slip.numbers_only else ():
            if way.result:
                if can_happen(way, unit, context.known_names):
                    yield slip.name, way
            elif any(
                can_change(context, name, value)
                for name, value in way.sets.items()
                if name not in ROLE_INPUT or name in claim.given  # else it is in no formula
            ):
                yield slip.name, way


def _with_slip(sides: Sides, way: Way) -> list[Expr]:
    """The derived formula with a mistake in it, written out to each depth; none where it has none."""
    # a switch and a precision make another case
    chosen = {k: v for k, v in way.sets.items() if k == "assume" or k in ROLE_INPUT}
    formulas = {k: formula_of(v) for k, v in way.sets.items() if k not in chosen}
    there, moved = sides.under(chosen) if chosen else sides, frozenset(formulas)
    found = []
    with suppress(*FAILURES):
        made = there.derived if there.name not in moved else symbol(there.name)
        if way.result:
            made = substitute(formula_of(way.result), {"value": made})
        for stops in sides.stops:
            whole = there.expanded(made, stops | moved) if moved else made
            found.append(there.put(substitute(whole, formulas), stops))
    return found
