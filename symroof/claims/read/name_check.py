"""The names in a claim: a slip of the pen in one is an error with its place, not a claim left unchecked.

A claim that is understood and lacks an input stays unchecked, with the reason; the name ``kv_cache_byts`` is a
mistake in the file.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

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
        problems += [
            document.problem(("claims", i, *place), message, hint)
            for place, message, hint in _readable_faults(claim)
        ]
        if claim.conflicts_with is not None and (
            claim.conflicts_with not in ids or claim.conflicts_with == claim.id
        ):
            message = (
                "is the claim itself"
                if claim.conflicts_with == claim.id
                else "is the id of no claim in this file"
            )
            problems.append(
                document.problem(
                    ("claims", i, "conflicts_with"),
                    f"{claim.conflicts_with[:60]} {message}",
                    nearest(claim.conflicts_with, ids),
                )
            )
    return problems


def _readable_faults(claim: ClaimSpec) -> list[Fault]:
    """The faults of a claim; where symroof fails in looking for them, the claim's own judgement says so, and the others are read."""
    try:
        return list(faults(claim))
    except Exception:
        return []


def faults(claim: ClaimSpec) -> Iterator[Fault]:
    """Unknown names, and settings that cannot be read."""
    try:
        own = declarations_of(claim.given)
    except InputError as error:
        first = error.problems[0]
        yield ("given", "theory"), f"{first.path or first.file}: {first.message}", first.hint
        return
    for name in NAMED:
        if (quantity := getattr(claim, name)) is not None:
            yield from _quantity((IN_FILES.get(name, name),), quantity, own)
    if claim.threshold is not None:
        yield from _threshold(claim.threshold, own)
    for name in ("expression", "relation"):
        if (formula := getattr(claim, name)) is not None:
            yield from _formula((name,), formula, own)
    yield from _settings(("given",), claim.given, own)
    yield from _settings(("needs",), claim.needs, own, claim.given)
    yield from _settings(("for_all",), claim.for_all, own, claim.given)
    for i, case in enumerate(claim.between):
        yield from _settings(("between", i), case, own, claim.given)
    for name in sorted(set(claim.values) - {"value"} - SETTABLE):
        yield from _quantity(("values", name), name, own)
    before: list[str] = []
    for i, step in enumerate(claim.steps):
        if step.quantity is not None:
            yield from _quantity(("steps", i, "quantity"), step.quantity, own)
        if step.expression is not None:
            yield from _formula(("steps", i, "expression"), step.expression, own, before)
        yield from _settings(("steps", i, "given"), step.given, own, claim.given)
        before.append(step.name)


def _quantity(place: Location, name: str, own: Declarations) -> Iterator[Fault]:
    try:
        known(base_name(printed_name(name)), own)  # whether it has such a part depends on the model
    except InputError as error:
        yield place, f"{name[:60]}: {error.problems[0].message}", error.problems[0].hint


def _threshold(source: str, own: Declarations) -> Iterator[Fault]:
    if "=" in source:
        yield from _formula(("threshold",), source, own)
    elif own.threshold(base_name(source.strip())) is None:
        yield (
            ("threshold",),
            f"{source[:60]}: no such threshold",
            nearest(source, THRESHOLDS) or "a threshold is a name or an equation: 'lhs = rhs'",
        )


def _formula(
    place: Location, source: str, own: Declarations, before: Sequence[str] = ()
) -> Iterator[Fault]:
    try:
        used = names(written(source))
    except FormulaError as error:
        yield place, f"{error.message} (column {error.column} of {source[:60]!r})", ""
        return
    for name in used:
        if name not in before and own.symbol(base_name(printed_name(name))) is None:
            yield place, f"unknown name {name[:60]!r}", nearest(name, [*own.known, *before])


def _settings(
    place: Location, chosen: Settings, own: Declarations, base: Settings | None = None
) -> Iterator[Fault]:
    """The faults of settings laid over those of the claim."""
    base = base or {}
    for name, kind in KINDS.items():
        if name in chosen:
            yield from _entry((*place, name), kind, chosen[name], chosen.get("assume_family"))
    for name in NESTED:
        if name in chosen and not isinstance(chosen[name], Mapping):
            yield (
                (*place, name),
                "expected keys and values",
                f"write {name}: {{...}}, or {name}.NAME=VALUE in a note",
            )
            return
    yield from _unitless(place, chosen, own)
    try:
        study_of(
            {
                name: value
                for name, value in merged_settings(base, chosen).items()
                if name == "theory" or (name not in SPECS and (name in chosen or name not in base))
            }
        )
    except InputError as error:
        for problem in error.problems:
            inner = next((name for name in (problem.path, problem.file) if name in chosen), None)
            yield (
                ((*place, inner) if inner else place),
                problem.message if inner else f"{problem.path or problem.file}: {problem.message}",
                problem.hint,
            )


def _unitless(place: Location, settings: Settings, own: Declarations) -> Iterator[Fault]:
    """Bare numbers of symbols with a unit: in Python they are in base units, in a file they are ambiguous."""
    targets = settings.get("targets", {})
    named = [((*place, name), canonical(str(name)), value) for name, value in settings.items()]
    named += [
        ((*place, "targets", name), TARGET_SYMBOLS[name], value)
        for name, value in targets.items()
        if name in TARGET_SYMBOLS
    ]
    for where, name, value in named:
        if own.symbol(base_name(name)) is None:
            continue
        for item in value if isinstance(value, list) else [value]:
            if (
                isinstance(item, (int, Fraction))
                and not isinstance(item, bool)
                and needs_unit(symbol_of(name, own))
            ):
                try:
                    setting(name, item, own=own)
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
