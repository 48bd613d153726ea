"""The names in a claim: a slip of the pen in one is an error with its place, not a claim left unchecked.

A claim that is understood and lacks an input stays unchecked, with the reason; the name ``kv_cache_byts`` is a
mistake in the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from symroof.analysis.study import known
from symroof.claims.claim_settings import NESTED, SETTABLE, SPECS, Settings, changed, study_of
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
"""Place below the claim, message, hint."""

SYMBOLS = {**QUANTITIES, **INPUTS}
KINDS = {"model": "models", "hardware": "hardware", "preset": "presets"}
NAMED = ("quantity", "compare", "moves", "with_", "solve_for")


def misnamed(document: Document, spec: ClaimsSpec) -> list[Problem]:
    """Every unknown name of a file of claims, at its place."""
    problems = []
    ids = [claim.id for claim in spec.claims]
    for i, claim in enumerate(spec.claims):
        problems += [document.problem(("claims", i, *place), message, hint) for place, message, hint in faults(claim)]
        if claim.conflicts_with is not None and (claim.conflicts_with not in ids or claim.conflicts_with == claim.id):
            message = "is the claim itself" if claim.conflicts_with == claim.id else "is the id of no claim in this file"
            problems.append(document.problem(("claims", i, "conflicts_with"), f"{claim.conflicts_with[:60]} {message}", nearest(claim.conflicts_with, ids)))
    return problems


def faults(claim: ClaimSpec) -> Iterator[Fault]:
    """Unknown names, and settings that cannot be read."""
    for name in NAMED:
        if (quantity := getattr(claim, name)) is not None:
            yield from _quantity((IN_FILES.get(name, name),), quantity)
    if claim.threshold is not None:
        yield from _threshold(claim.threshold)
    for name in ("expression", "relation"):
        if (formula := getattr(claim, name)) is not None:
            yield from _formula((name,), formula)
    yield from _settings(("given",), claim.given)
    yield from _settings(("needs",), claim.needs, claim.given)
    yield from _settings(("for_all",), claim.for_all, claim.given)
    for i, case in enumerate(claim.between):
        yield from _settings(("between", i), case, claim.given)
    for name in sorted(set(claim.values) - {"value"} - SETTABLE):
        yield from _quantity(("values", name), name)
    before: list[str] = []
    for i, step in enumerate(claim.steps):
        if step.quantity is not None:
            yield from _quantity(("steps", i, "quantity"), step.quantity)
        if step.expression is not None:
            yield from _formula(("steps", i, "expression"), step.expression, before)
        yield from _settings(("steps", i, "given"), step.given, claim.given)
        before.append(step.name)


def _quantity(place: Location, name: str) -> Iterator[Fault]:
    try:
        known(base_name(printed_name(name)))  # whether it has such a part depends on the model
    except InputError as error:
        yield place, f"{name[:60]}: {error.problems[0].message}", error.problems[0].hint


def _threshold(source: str) -> Iterator[Fault]:
    if "=" in source:
        yield from _formula(("threshold",), source)
    elif base_name(source.strip()) not in THRESHOLDS:
        yield ("threshold",), f"{source[:60]}: no such threshold", nearest(source, THRESHOLDS) or "a threshold is a name or an equation: 'lhs = rhs'"


def _formula(place: Location, source: str, before: Sequence[str] = ()) -> Iterator[Fault]:
    try:
        used = names(parse(source))
    except FormulaError as error:
        yield place, f"{error.message} (column {error.column} of {source[:60]!r})", ""
        return
    for name in used:
        if name not in before and base_name(printed_name(name)) not in SYMBOLS:
            yield place, f"unknown name {name[:60]!r}", nearest(name, [*SYMBOLS, *before])


def _settings(place: Location, own: Settings, base: Settings | None = None) -> Iterator[Fault]:
    """The faults of settings laid over those of the claim."""
    base = base or {}
    for name, kind in KINDS.items():
        if name in own:
            yield from _entry((*place, name), kind, own[name], own.get("assume_family"))
    for name in NESTED:
        if name in own and not isinstance(own[name], Mapping):
            yield (*place, name), "expected keys and values", f"write {name}: {{...}}, or {name}.NAME=VALUE in a note"
            return
    yield from _unitless(place, own)
    try:
        study_of({name: value for name, value in changed(base, own).items() if name not in SPECS and (name in own or name not in base)})
    except InputError as error:
        for problem in error.problems:
            inner = next((name for name in (problem.path, problem.file) if name in own), None)
            yield ((*place, inner) if inner else place), problem.message if inner else f"{problem.path or problem.file}: {problem.message}", problem.hint


def _unitless(place: Location, settings: Settings) -> Iterator[Fault]:
    """Bare numbers of symbols with a unit: in Python they are in base units, in a file they are ambiguous."""
    targets = settings.get("targets", {})
    named = [((*place, name), canonical(str(name)), value) for name, value in settings.items()]
    named += [((*place, "targets", name), TARGET_SYMBOLS[name], value) for name, value in targets.items() if name in TARGET_SYMBOLS]
    for where, name, value in named:
        if base_name(name) not in SYMBOLS:
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
