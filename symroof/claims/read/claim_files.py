"""Files of claims read: a fault is reported at its place and skips that claim; the others are still read.

A skipped claim stays in its place as an unchecked one, so that nothing is lost and no claim is judged on partial data.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import getitem
from pathlib import Path
from types import MappingProxyType
from typing import Any

from symroof.claims.claim_settings import normalized
from symroof.claims.read.markdown_notes import NOTES, Note, Noted
from symroof.errors import InputError, Problem, why
from symroof.specs.claims import ClaimsSpec
from symroof.specs.fields import build
from symroof.strict_yaml import Document, loads

HOLD_CLAIMS = (*NOTES, ".yaml", ".yml", ".json", "")
"""Endings of files that hold claims."""
FILE_HINT = "claims are read in Markdown notes (.md), notebooks (.ipynb) and claim files (.yaml); `symroof init claims` writes one"
NOTHING: Mapping[str, str] = MappingProxyType({})
READABLE: dict[str, Any] = {"id": str, "says": str, "value": (str, int, Fraction), "line": int}
"""Fields of a faulty claim that are shown, where they are of these types."""


@dataclass(frozen=True)
class ClaimFile:
    """A file of claims that was read.

    Attributes:
        noted: the place of each claim, and what a note tells of it beside its data.
        problems: all of its faults.
        skipped: the claims that cannot be judged for them, by their place in the file.
    """

    document: Document
    spec: ClaimsSpec
    noted: Sequence[Noted]
    problems: tuple[Problem, ...] = ()
    skipped: frozenset[int] = frozenset()


def read_claims(
    text: str,
    file: str,
    defaults: Mapping[str, str] = NOTHING,
) -> ClaimFile:
    """A file of claims: a Markdown note by its ending, a claim file else; claims that cannot be read are skipped.

    ``defaults`` are settings for claims that state none of their own.

    Raises:
        InputError: a fault of the file as a whole.
    """
    early: list[Problem] = []
    suffix = Path(file).suffix
    if suffix.lower() not in HOLD_CLAIMS:
        raise InputError(Problem(file, f"a {suffix} file cannot hold claims", hint=FILE_HINT))
    note = Note(text, file, defaults) if suffix.lower() in NOTES else None
    document = note.document if note else _normalized(loads(text, file, early), early, defaults)
    if isinstance(document.data, dict) and "claims" not in document.data:
        hint = "`symroof init claims` writes a starter; a note's name ends in .md"
        raise InputError(Problem(file, "holds no claims", 1, 1, hint=hint))
    every, aside = [*(note.problems if note else ())], {*(note.skipped if note else ())}
    problems: Sequence[Problem] = early
    while True:
        # a fault of a default is one of each claim after it, told once
        every += {(one.line, one.column, one.message): one for one in problems}.values()
        late = _claims_of(problems, every) - aside
        document, aside = _without(document, late, problems), aside | late
        try:
            spec = build(document, ClaimsSpec)
        except InputError as error:
            problems = error.problems
            continue
        places = (document.places["claims", i] for i in range(len(spec.claims)))
        noted = note.noted if note else [Noted(place) for place in places]
        return ClaimFile(document, spec, noted, tuple(every), frozenset(aside))


def _normalized(document: Document, noted: list[Problem], defaults: Mapping[str, str]) -> Document:
    """A claim file with the settings of its claims normalized."""
    claims = document.data.get("claims") if isinstance(document.data, dict) else None
    if not isinstance(claims, list):
        return document
    # a value is the text it stands as: 1.20 claims a digit more than 6/5
    for location, text in document.written.items():
        if location[2:] == ("value",) or (
            location[2:3] in (("values",), ("steps",)) and "value" in location[3:]
        ):
            reduce(getitem, location[:-1], document.data)[location[-1]] = text
    base, whole, places = Path(document.file).resolve().parent, list(claims), dict(document.places)
    for i, claim in enumerate(claims):
        if isinstance(claim, dict):
            if isinstance(given := claim.get("given", {}), dict) and defaults:
                claim = {**claim, "given": {**defaults, **given}}
            whole[i], faults = normalized(claim, base, places, ("claims", i))
            noted += [document.problem(*fault) for fault in faults]
    return replace(document, data={**document.data, "claims": whole}, places=places)


def _claims_of(problems: Iterable[Problem], every: Sequence[Problem]) -> set[int]:
    """Which claims the problems are of.

    Raises:
        InputError: one is of none, but of the file as a whole; then with every problem so far.
    """
    indices = {(*problem.location, None, None)[:2] for problem in problems}
    claims = {i for name, i in indices if name == "claims" and isinstance(i, int)}
    if len(claims) < len(indices):
        raise InputError(every)
    return claims


def _without(document: Document, aside: set[int], problems: Iterable[Problem]) -> Document:
    """The document with some of its claims skipped: those that are not judged, whose readable fields stay."""
    if not aside:
        return document
    claims = list(document.data["claims"])
    others = (claim for i, claim in enumerate(claims) if i not in aside)
    taken = {claim.get("id") for claim in others if isinstance(claim, dict)}
    for i in sorted(aside):
        reasons = [problem for problem in problems if problem.location[:2] == ("claims", i)]
        data = claims[i] if isinstance(claims[i], dict) else {}
        kept = {key: data[key] for key, kind in READABLE.items() if isinstance(data.get(key), kind)}
        while kept.setdefault("id", f"claim-{i + 1}") in taken:
            kept["id"] += "-2"
        claims[i] = {**kept, "unchecked": why(reasons) or "cannot be read"}
        taken.add(kept["id"])
    return replace(document, data={**document.data, "claims": claims})
