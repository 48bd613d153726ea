"""What a claim names: a slip of the pen in a name is an error with its place, not a claim left unchecked.

A claim that is understood and lacks an input stays unchecked, with the reason; a claim that speaks of ``kv_cache_byts`` is a
mistake in the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from symroof.analysis.study import known
from symroof.claims.claim_cases import GIVEN, PLAIN
from symroof.claims.claim_study import NESTED, changed, study_of
from symroof.claims.read.annotations import IN_FILES
from symroof.errors import InputError, Problem, nearest, split_hint
from symroof.formula.parse import FormulaError, parse
from symroof.formula.tree import names
from symroof.specs.catalogue import find, is_path
from symroof.specs.claims import ClaimSpec, ClaimsSpec
from symroof.specs.model_files import read_model
from symroof.specs.strict_yaml import Document, Location
from symroof.specs.study import needs_unit, setting, symbol_of
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, TARGET_SYMBOLS, base_name, canonical
from symroof.theory.thresholds import THRESHOLDS

Fault = tuple[Location, str, str]
"""Where below the claim, what, and a hint."""

KINDS = {"model": "models", "hardware": "hardware", "preset": "presets"}
NAMED = ("quantity", "compare", "moves", "with_", "solve_for")


def misnamed(document: Document, spec: ClaimsSpec) -> list[Problem]:
    """Every unknown name of a file of claims, at its place."""
    found = []
    ids = [claim.id for claim in spec.claims]
    for i, claim in enumerate(spec.claims):
        found += [document.problem(("claims", i, *place), message, hint) for place, message, hint in faults(claim)]
        if claim.conflicts_with is not None and (claim.conflicts_with not in ids or claim.conflicts_with == claim.id):
            said = "is the claim itself" if claim.conflicts_with == claim.id else "is the id of no claim in this file"
            found.append(document.problem(("claims", i, "conflicts_with"), f"{claim.conflicts_with[:60]} {said}", nearest(claim.conflicts_with, ids)))
    return found


def faults(claim: ClaimSpec) -> Iterator[Fault]:
    """Names nobody knows, and given values that cannot be read."""
    for name in NAMED:
        said = getattr(claim, name)
        if said is not None:
            yield from _quantity((IN_FILES.get(name, name),), said)
    if claim.threshold is not None:
        yield from _threshold(claim.threshold)
    for name in ("expression", "relation"):
        said = getattr(claim, name)
        if said is not None:
            yield from _formula((name,), said)
    yield from _case(("given",), claim.given)
    yield from _case(("needs",), claim.needs, claim.given)
    yield from _case(("for_all",), claim.for_all, claim.given)
    for i, case in enumerate(claim.between):
        yield from _case(("between", i), case, claim.given)
    for name in sorted(set(claim.values) - {"value"}):
        if name not in GIVEN:
            yield from _quantity(("values", name), name)
    before: list[str] = []
    for i, step in enumerate(claim.steps):
        if step.quantity is not None:
            yield from _quantity(("steps", i, "quantity"), step.quantity)
        if step.expression is not None:
            yield from _formula(("steps", i, "expression"), step.expression, before)
        yield from _case(("steps", i, "given"), step.given, claim.given)
        before.append(step.name)


def _quantity(place: Location, name: str) -> Iterator[Fault]:
    try:
        known(base_name(printed_name(name)))  # whether it has such a part depends on the model
    except InputError as error:
        yield place, f"{name[:60]}: {error.problems[0].message}", error.problems[0].hint


def _threshold(said: str) -> Iterator[Fault]:
    if "=" in said:
        yield from _formula(("threshold",), said)
    elif base_name(said.strip()) not in THRESHOLDS:
        yield ("threshold",), f"{said[:60]}: no such threshold", nearest(said, THRESHOLDS) or "a threshold is a name or an equation: 'lhs = rhs'"


def _formula(place: Location, said: str, before: list[str] | None = None) -> Iterator[Fault]:
    try:
        spoken = names(parse(said))
    except FormulaError as error:
        yield place, f"{error.message} (column {error.column} of {said[:60]!r})", ""
        return
    for name in spoken:
        if name not in (before or ()) and base_name(printed_name(name)) not in QUANTITIES and base_name(printed_name(name)) not in INPUTS:
            yield place, f"unknown name {name[:60]!r}", nearest(name, [*QUANTITIES, *INPUTS, *(before or ())])


def _case(place: Location, case: Mapping[str, Any], under: Mapping[str, Any] | None = None) -> Iterator[Fault]:
    """What is wrong with a case as it is given."""
    for name, kind in KINDS.items():
        if name in case:
            yield from _entry((*place, name), kind, case[name], case.get("assume_family"))
    for name in NESTED:
        if name in case and not isinstance(case[name], Mapping):
            yield (*place, name), "expected keys and values", f"write {name}: {{...}}, or {name}.NAME=VALUE in a note"
            return
    yield from _unitless(place, case)
    try:
        study_of({name: value for name, value in changed(under or {}, case).items() if name not in PLAIN and (name in case or name not in (under or {}))})
    except InputError as error:
        for problem in error.problems:
            inner = next((name for name in (problem.path, problem.file) if name in case), None)
            yield ((*place, inner) if inner else place), problem.message if inner else f"{problem.path or problem.file}: {problem.message}", problem.hint


def _unitless(place: Location, case: Mapping[str, Any]) -> Iterator[Fault]:
    """Bare numbers of what has a unit: in Python they are in base units, in a file nobody knows."""
    targets = case.get("targets", {})
    named = [((*place, name), canonical(str(name)), value) for name, value in case.items()]
    named += [((*place, "targets", name), TARGET_SYMBOLS[name], value) for name, value in targets.items() if name in TARGET_SYMBOLS]
    for where, name, value in named:
        if base_name(name) not in INPUTS and base_name(name) not in QUANTITIES:
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, (int, Fraction)) and not isinstance(item, bool) and needs_unit(symbol_of(name)):
                try:
                    setting(name, item)
                except ValueError as error:
                    yield where, *split_hint(str(error))


def _entry(place: Location, kind: str, name: object, family: str | None) -> Iterator[Fault]:
    if not isinstance(name, str):
        yield place, "expected one name", f"`symroof list {kind}` shows them"
        return
    if is_path(name) and not (os.path.isfile(name) or os.path.isdir(name)):
        yield place, f"{name[:80]}: no such file", ""
        return
    try:
        read_model(name, None, family) if kind == "models" else find(kind, name)
    except InputError as error:
        yield place, f"{name[:80]}: {error.problems[0].message}", error.problems[0].hint
