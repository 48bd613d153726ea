"""A claimed formula against the derived one: equal, equal under a switch or an identity that is
named, one mistake of the catalogue away, off by a factor, or wrong.

Formulas are compared over the names of the claim, where their values at random points refute, and
dozens of equal ones over all magnitudes confirm. A mistake is the derived formula made again with it.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.cases.input import ROLE_INPUT
from symroof.claims.checked import Checked, tolerance_of
from symroof.claims.claim_settings import settings_text, with_settings
from symroof.claims.claimed_formula import (
    Sides,
    equal,
    factor_of,
)
from symroof.claims.read.written_number import CLOSE_ENOUGH
from symroof.claims.slips.explain import SlipExplanation
from symroof.claims.slips.predictions import FAILURES, can_happen, dependencies, formula_of
from symroof.claims.slips.slip_catalogue import CATALOGUE, OTHER_COUNTS, CaseChange, MisreadResult
from symroof.specs.claims import ClaimSpec
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    Expr,
    names,
    number,
    substitute,
    symbol,
)
from symroof.symbolic.printing import text
from symroof.symbolic.random_points import compare_at_points
from symroof.theory.layout import DEGREES
from symroof.theory.spellings import printed_name
from symroof.theory.switches import DETAIL, SWITCHES, expand_detail

EMBEDDINGS = ("vocab_size", "learned_positions", "more_embeddings")
SECONDS = 3.0
"""Processor time of the search for what a formula leaves out, and of that for its mistake."""
FLOORS = {"compute_floor_ignored": "memory", "memory_floor_ignored": "compute"}
"""Mistakes that leave one arm of the roofline out, and what binds where that is right."""
MISTAKEN = frozenset(
    (switch, value)
    for slip in CATALOGUE
    if slip.name not in OTHER_COUNTS
    for variant in slip.variants
    if isinstance(variant, CaseChange)
    for switch, value in variant.sets.get("assume", {}).items()
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
    if sides.too_long:  # to be compared but in the numbers of its case
        found = Checked(claim, "unchecked", claim.formula or "", text(sides.derived), ratio=ratio)
        if ratio is None:
            return replace(found, reason="undecided: too long to be compared without numbers")
        reason = f"{float(ratio):.4g} times what is derived here"
        return replace(found, verdict="approximate" if near else "wrong", reason=reason)
    stands = Checked(claim, "exact", claim.formula or "", sides.shown())
    if sides.equal:  # one request and one device go without saying
        stated = {*names(sides.claimed), *map(printed_name, claim.given)}
        alone = (claim.quantity or "").endswith("_per_device") and not {*DEGREES} & stated
        batch = "batch" in {*names(sides.derived)} - stated
        taken = [*["a batch of 1"] * batch, *["one device"] * alone]
        return replace(stands, reason=f"at {' on '.join(taken)}" if taken else "")
    dimension = sides.wrong_dimension()
    if ratio == 1 and not dimension:
        return replace(stands, reason="in the numbers of this case")
    inverted = bool(dimension) and equal(sides.pairs[0][0] * sides.pairs[0][1], number(1))
    if dimension and not inverted and (widths := sides.unstated_widths):
        wide = judge_formula(with_settings(claim, widths))
        if wide.verdict != "wrong" or wide.slips:
            return _at_widths(claim, wide, widths)
    if not dimension and not near and (needs := _condition(_levels(sides)[1:])):
        return _conditional(stands, needs, "holds at", sides.difference())
    slips = formula_slips(_levels(sides)) if limit is None or not near else ()
    stands = replace(stands, ratio=ratio, slips=slips, reason=dimension or sides.difference())
    return _unequal(stands, sides, near, bool(dimension))


def _conditional(found: Checked, needs: str, holds: str, more: str = "") -> Checked:
    """A formula that holds under something that it does not say."""
    reason = "; ".join(filter(None, (f"{holds} {needs}", more)))
    return replace(found, verdict="conditional", assumptions_needed=(needs,), reason=reason)


def _unequal(stands: Checked, sides: Sides, near: bool, dimension: bool) -> Checked:
    """A formula equal as it stands in no way: explained by its slips, near in numbers, or wrong."""
    slips, reason = stands.slips, stands.reason
    kinds = {slip.slip for slip in slips if slip.text == slips[0].text}
    floor = len(kinds) == 1 and kinds <= FLOORS.keys()
    said, _, level = (slips[0].text if floor else "").partition(": ×")[0].partition(", at ")
    there = [one.ratio for one in _levels(sides) if floor and one.label == level]
    if any(ratio is None or abs(ratio - 1) <= CLOSE_ENOUGH for ratio in there):
        # right where the other arm of the roofline binds
        phase = "prefill" if "the prefill's" in said else "decode"
        needs = f"{phase} bound by {FLOORS[slips[0].slip]}{f', at {level}' if level else ''}"
        found = _conditional(stands, needs, "holds where")
        return replace(found, reason=found.reason.replace(" bound", " is bound", 1))
    if near and stands.ratio is not None:
        reason = f"{reason}; {float(stands.ratio):.4g} times here"
        return replace(stands, verdict="approximate", reason=reason)
    if kinds and kinds <= OTHER_COUNTS:
        found = _conditional(stands, slips[0].cause, "holds with")
        return replace(found, reason=f"holds with {slips[0].text}; {reason}")
    needs = "" if kinds or dimension else _condition(_ways(sides)) or _without_embeddings(sides)
    if needs:
        return _conditional(stands, needs, "holds with", reason)
    if stands.ratio is None and compare_at_points(*sides.pairs[0]) is None:
        reason = "undecided: no values that were tried show a difference"
        return replace(stands, verdict="unchecked", reason=reason)
    return replace(stands, verdict="wrong", flags=("dimension",) if dimension else ())


def _at_widths(claim: ClaimSpec, wide: Checked, widths: dict[str, str]) -> Checked:
    """A formula with a plain 2 for the bytes of a number: a model says them, else a condition."""
    at = ", ".join(f"{name} = {width}" for name, width in widths.items())
    if wide.verdict == "wrong":
        return replace(wide, claim=claim, flags=(), reason=f"with {at}")
    if "model" in claim.given:
        return replace(wide, claim=claim, reason=wide.reason or f"with {at} here")
    needs = (*wide.assumptions_needed, at)
    reason = f"holds where {'; '.join(needs)}"
    found = replace(wide, claim=claim, verdict="conditional", reason=reason)
    return replace(found, assumptions_needed=needs)


def _levels(sides: Sides) -> list[Sides]:
    """The sides as the claim counts, and at each level of detail that it leaves open."""
    levels = [sides]
    if "detail" not in sides.claim.given.get("assume", {}):
        levels += [sides.under({"assume": {"detail": one}}, f"detail {one}") for one in DETAIL]
    return levels


def _condition(ways: Iterable[Sides]) -> str:
    """The first of some ways to count under which a formula is right, in words; empty for none."""
    end = time.process_time() + SECONDS
    for way in ways:
        if time.process_time() > end:
            break
        with suppress(*FAILURES):
            if way.equal:
                return way.label
            if way.equal_for_long_prompts:
                return ", ".join(filter(None, ("prompt + 1 taken as prompt", way.label)))
    return ""


def _ways(sides: Sides) -> Iterator[Sides]:
    """Ways to count: as the claim does, at each level of detail, and with one switch more."""
    levels = _levels(sides)
    yield from levels
    for level in levels:
        counted = expand_detail({k: str(v) for k, v in level.claim.given.get("assume", {}).items()})
        for switch, declared in SWITCHES.items():
            for value in declared.values if switch not in counted else ():
                if value != declared.default and (switch, value) not in MISTAKEN:
                    words = settings_text({"assume": {switch: value}})
                    label = ", ".join(filter(None, (level.label, words)))
                    yield level.under({"assume": {switch: value}}, label)


def _without_embeddings(sides: Sides) -> str:
    """Parameters that texts count without embeddings and norms: near in the numbers of a model."""
    case = sides.answers.case
    if sides.name not in ("params", "active_params") or sides.ratio is None:
        return ""
    try:
        bare = case.changed({name: Fraction(0) for name in EMBEDDINGS if case.has_value(name)})
        off = case.evaluate(sides.claimed) / bare.evaluate(sides.derived) - 1
    except (NoValue, TypeError, *FAILURES):
        return ""
    return "embeddings left out" if abs(off) <= CLOSE_ENOUGH else ""


# --------------------------------------------------------------------------------------- mistakes


def formula_slips(levels: list[Sides]) -> tuple[SlipExplanation, ...]:
    """The mistakes that lead to a formula, at the first level of detail where there are any."""
    end = time.process_time() + SECONDS
    # a level whose formula has every name of the claimed one is the likeliest
    for level in sorted(
        levels, key=lambda one: len({*names(one.pairs[-1][0])} - {*names(one.pairs[-1][1])})
    ):
        found: dict[str, SlipExplanation] = {}
        factor = factor_of(*level.pairs[0])
        more = f", at {level.label}" if level.label else ""
        more += f": ×{text(factor)}" if factor is not None else ""
        for slip, way in _possible(level):
            if slip not in found and (made := _leads_there(level, way, end)) is not None:
                found[slip] = SlipExplanation(slip, True, text(made), 0.0, way.text + more)
        if found:
            return tuple(found.values())
    return ()


def _possible(sides: Sides) -> list[tuple[str, CaseChange | MisreadResult]]:
    """Every way of every mistake that can happen in the derived formula, floors first."""
    bound, claim = sides.answers, sides.claim
    asked = sides.derived if claim.threshold else symbol(printed_name(claim.quantity or ""))
    needed = dependencies(bound.case, asked)
    unit = "" if claim.threshold else bound.case.theory.symbol(sides.name).unit
    ways: list[tuple[str, CaseChange | MisreadResult]] = []
    for slip in CATALOGUE:
        for way in slip.variants if not slip.numbers_only else ():
            if isinstance(way, MisreadResult) and can_happen(way, unit, needed):
                ways.append((slip.name, way))
            elif isinstance(way, CaseChange):
                roles = {k: v for k, v in way.sets.items() if k in ROLE_INPUT and k in claim.given}
                others = [bound.precisions.get(role) != value for role, value in roles.items()]
                switches = way.sets.get("assume", {}).items()
                others += [bound.assumptions[switch] != value for switch, value in switches]
                if any(others) or way.sets.keys() & needed:
                    ways.append((slip.name, way))
    return sorted(ways, key=lambda way: way[0] not in FLOORS)


def _leads_there(sides: Sides, way: CaseChange | MisreadResult, end: float) -> Expr | None:
    """The derived formula with a mistake in it, where it is the claimed one."""
    if time.process_time() > end:
        return None
    chosen: dict[str, Any] = {}
    formulas: dict[str, Expr] = {}
    if isinstance(way, CaseChange):  # a switch and a precision make another case
        chosen = {k: v for k, v in way.sets.items() if k == "assume" or k in ROLE_INPUT}
        formulas = {k: formula_of(v) for k, v in way.sets.items() if k not in chosen}
    there = sides.under(chosen, sides.label) if chosen else sides
    moved = frozenset(formulas)
    with suppress(*FAILURES):
        for stops, (claimed, _) in zip(sides.stops, sides.pairs, strict=True):
            made = there.derived if there.name not in moved else symbol(there.name)
            if isinstance(way, MisreadResult):
                made = substitute(formula_of(way.formula), {"value": made})
            else:
                made = substitute(there.expanded(made, stops | moved), formulas)
            made = there.put(made, stops)
            if equal(claimed, made):
                return made
            # the claimed formula's own names may be counted in the other way too
            if there is not sides and equal(there.put(there.claimed, stops), made) and made != 0:
                own_names = (there.put(symbol(name), frozenset()) for name in names(there.claimed))
                return made if all(value != 0 for value in own_names) else None
    return None
