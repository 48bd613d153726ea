"""The names in a claim: a slip of the pen in one is an error with its place, not a claim left unchecked.

A claim that is understood and lacks an input stays unchecked, with the reason; the name ``kv_cache_byts`` is a
mistake in the file.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from symroof.claims.claim_settings import (
    NESTED,
    SETTABLE,
    SPECS,
    Settings,
    declarations_of,
    merged_settings,
    study_of,
)
from symroof.claims.read.annotations import IN_FILES
from symroof.errors import InputError, Problem, nearest, split_hint
from symroof.specs.catalogue import find, is_path
from symroof.specs.claims import ClaimSpec, ClaimsSpec
from symroof.specs.input_values import needs_unit, setting, symbol_of
from symroof.specs.model_files import read_model
from symroof.strict_yaml import Document, Location
from symroof.symbolic.expressions import names
from symroof.symbolic.reading import FormulaError, written
from symroof.theory.declarations import Declarations
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import TARGET_SYMBOLS, base_name, canonical
from symroof.theory.sympy_input import known
from symroof.theory.thresholds import THRESHOLDS

Fault = tuple[Location, str, str]
"""Place below the claim, message, hint."""

KINDS = {"model": "models", "hardware": "hardware", "preset": "presets", "theory": "theories"}
NAMED = ("quantity", "compare", "moves", "with_", "solve_for")


def name_problems(document: Document, spec: ClaimsSpec) -> list[Problem]:
    """Every unknown name of a file of claims, at its place."""
    problems = []
    ids = [claim.id for claim in spec.claims]
    for i, claim in enumerate(spec.claims):
        found: list[Fault] = []
        with suppress(Exception):  # where symroof itself fails, the verdict on the claim says so
            found = list(faults(claim))
        other = claim.conflicts_with
        if other is not None and (other not in ids or other == claim.id):
            message = (
                "is the claim itself" if other == claim.id else "is the id of no claim in this file"
            )
            found.append((("conflicts_with",), f"{other[:60]} {message}", nearest(other, ids)))
        for place, message, hint in found:
            problems.append(document.problem(("claims", i, *place), message, hint))
    return problems


def faults(claim: ClaimSpec) -> Iterator[Fault]:
    """Unknown names, and settings that cannot be read."""
    try:
        own = declarations_of(claim.given)
    except InputError as error:
        first = error.problems[0]
        yield ("given", "theory"), f"{first.path or first.file}: {first.message}", first.hint
        return
    quantities: list[tuple[Location, str]] = [
        ((IN_FILES.get(field, field),), name)
        for field in NAMED
        if (name := getattr(claim, field)) is not None
    ]
    rows = sorted(set(claim.values) - {"value"} - SETTABLE)
    quantities += [(("values", name), name) for name in rows]
    formulas: list[tuple[Location, str, list[str]]] = [
        ((field,), source, [])
        for field in ("threshold", "expression", "relation")
        if (source := getattr(claim, field)) is not None and (field != "threshold" or "=" in source)
    ]
    settings: list[tuple[Location, Settings, Settings]] = [(("given",), claim.given, {})]
    settings += [(("needs",), claim.needs, claim.given), (("for_all",), claim.for_all, claim.given)]
    settings += [(("between", i), case, claim.given) for i, case in enumerate(claim.between)]
    before: list[str] = []
    for i, step in enumerate(claim.steps):
        if step.quantity is not None:
            quantities.append((("steps", i, "quantity"), step.quantity))
        if step.expression is not None:
            formulas.append((("steps", i, "expression"), step.expression, [*before]))
        settings.append((("steps", i, "given"), step.given, claim.given))
        before.append(step.name)
    for place, name in quantities:
        try:  # whether the model has such a part is seen where it is derived
            known(base_name(printed_name(name)), own)
        except InputError as error:
            yield place, f"{name[:60]}: {error.problems[0].message}", error.problems[0].hint
    named = claim.threshold
    if named is not None and "=" not in named and own.threshold(base_name(named.strip())) is None:
        hint = nearest(named, THRESHOLDS) or "a threshold is a name or an equation: 'lhs = rhs'"
        yield ("threshold",), f"{named[:60]}: no such threshold", hint
    for place, source, steps in formulas:
        yield from _formula(place, source, own, steps)
    for place, chosen, base in settings:
        yield from _settings(place, chosen, own, base)


def _formula(
    place: Location, source: str, own: Declarations, steps: Sequence[str]
) -> Iterator[Fault]:
    try:
        used = names(written(source))
    except FormulaError as error:
        yield place, f"{error.message} (column {error.column} of {source[:60]!r})", ""
        return
    for name in used:
        if name not in steps and own.symbol(base_name(printed_name(name))) is None:
            yield place, f"unknown name {name[:60]!r}", nearest(name, [*own.known, *steps])


def _settings(
    place: Location, chosen: Settings, own: Declarations, base: Settings
) -> Iterator[Fault]:
    """The faults of settings laid over those of the claim."""
    for name, kind in KINDS.items():
        if name in chosen and (fault := _entry(kind, chosen[name], chosen.get("assume_family"))):
            yield ((*place, name), *fault)
    for name in NESTED:
        if not isinstance(chosen.get(name, {}), Mapping):
            hint = f"write {name}: {{...}}, or {name}.NAME=VALUE in a note"
            yield (*place, name), "expected keys and values", hint
            return
    yield from _unitless(place, chosen, own)
    others = {
        name: value
        for name, value in merged_settings(base, chosen).items()
        if name == "theory" or (name not in SPECS and (name in chosen or name not in base))
    }
    try:
        study_of(others)
    except InputError as error:
        for problem in error.problems:
            if inner := [name for name in (problem.path, problem.file) if name in chosen]:
                yield (*place, inner[0]), problem.message, problem.hint
            else:
                message = f"{problem.path or problem.file}: {problem.message}"
                yield place, message, problem.hint


def _unitless(place: Location, settings: Settings, own: Declarations) -> Iterator[Fault]:
    """Bare numbers of symbols with a unit: in Python they are in base units, in a file they are ambiguous."""
    named: list[tuple[Location, str, Any]] = [
        ((name,), canonical(str(name)), value) for name, value in settings.items()
    ]
    for name, value in settings.get("targets", {}).items():
        named.append((("targets", name), TARGET_SYMBOLS.get(name, ""), value))
    for below, name, value in named:
        for item in value if isinstance(value, list) else [value]:
            bare = isinstance(item, (int, Fraction)) and not isinstance(item, bool)
            if bare and own.symbol(base_name(name)) and needs_unit(symbol_of(name, own)):
                try:
                    setting(name, item, own=own)
                except ValueError as error:
                    yield ((*place, *below), *split_hint(str(error)))


def _entry(kind: str, name: object, family: str | None) -> tuple[str, str] | None:
    """What is wrong with the name of a model, a device, a preset or a theory, and a hint."""
    if not isinstance(name, str):
        return "expected one name", f"`symroof list {kind}` shows them"
    if is_path(name) and not (os.path.isfile(name) or os.path.isdir(name)):
        return f"{name[:80]}: no such file", ""
    try:
        read_model(name, None, family) if kind == "models" else find(kind, name)
    except InputError as error:
        return f"{name[:80]}: {error.problems[0].message}", error.problems[0].hint
    return None
