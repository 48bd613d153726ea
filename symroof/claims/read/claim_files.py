"""Files of claims read: a fault is reported at its place and skips that claim; the others are still read.

A skipped claim stays in its place as an unchecked one, so that nothing is lost and no claim is judged on partial data.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

from symroof.claims.claim_settings import normalized, with_theory
from symroof.claims.read.markdown_notes import NOTES, Note, read_note
from symroof.claims.read.name_check import name_problems
from symroof.errors import InputError, Problem, why
from symroof.specs.claims import ClaimsSpec
from symroof.specs.fields import build
from symroof.strict_yaml import Document, loads

CLAIM_FILES = (".yaml", ".yml", ".json", "")
FILE_HINT = "claims are read in Markdown notes (.md), notebooks (.ipynb) and claim files (.yaml); `symroof init claims` writes one"
READABLE: dict[str, Any] = {"id": str, "says": str, "value": (str, int, Fraction), "line": int}
"""Fields of a faulty claim that are shown, where they are of these types."""


@dataclass(frozen=True)
class ClaimFile:
    """A file of claims that was read.

    Attributes:
        problems: all of its faults.
        skipped: the claims that cannot be judged for them, by their place in the file.
    """

    document: Document
    spec: ClaimsSpec
    note: Note | None = None
    problems: tuple[Problem, ...] = ()
    skipped: frozenset[int] = frozenset()


def read_claims(text: str, file: str) -> ClaimFile:
    """A file of claims without faults: a Markdown note by its ending, a claim file else.

    Raises:
        InputError: all of its faults.
    """
    source = read_claims_leniently(text, file)
    if source.problems:
        raise InputError(source.problems)
    return source


def read_claims_leniently(
    text: str, file: str, declared: Mapping[str, str] = MappingProxyType({})
) -> ClaimFile:
    """The same, but claims that cannot be read are skipped; ``declared`` maps names that a study declares to the file that declares them.

    Raises:
        InputError: a fault of the file as a whole.
    """
    noted: list[Problem] = []
    note = read_note(text, file, declared) if Path(file).suffix.lower() in NOTES else None
    document = note.document if note else _normalized(_loaded(text, file, noted), noted, declared)
    if isinstance(document.data, dict) and "claims" not in document.data:
        raise InputError(
            Problem(
                file,
                "holds no claims",
                1,
                1,
                hint="`symroof init claims` writes a starter; a note's name ends in .md",
            )
        )
    every, aside = [*(note.problems if note else ())], set(note.skipped if note else ())
    problems: Sequence[Problem] = noted
    while True:
        every += _distinct(problems)
        late = _claims_of(problems, every) - aside
        document, aside = _without(document, late, problems), aside | late
        spec, problems = _built(document)
        if spec and not problems:
            return ClaimFile(
                document,
                spec,
                note,
                tuple(sorted(every, key=lambda problem: (problem.line or 0, problem.column or 0))),
                frozenset(aside),
            )


def not_a_claim_file(file: str) -> Problem:
    """The problem of a file type that cannot hold claims: a PDF, a web page."""
    suffix = Path(file).suffix
    return Problem(
        file,
        f"a {suffix} file cannot hold claims" if suffix else "cannot hold claims",
        hint=FILE_HINT,
    )


def _loaded(text: str, file: str, noted: list[Problem]) -> Document:
    """The document of a claim file.

    Raises:
        InputError: it is none, with all that is wrong, or for a file of another kind that alone.
    """
    if Path(file).suffix.lower() in CLAIM_FILES:
        return loads(text, file, noted)
    try:
        document = loads(text, file, noted)
    except InputError:
        raise InputError(not_a_claim_file(file)) from None
    if not isinstance(document.data, dict) or "claims" not in document.data:
        raise InputError(not_a_claim_file(file))
    return document


def _built(document: Document) -> tuple[ClaimsSpec | None, Sequence[Problem]]:
    """The claims of a document, or their faults: first of their fields, then of the names in them."""
    try:
        spec = build(document, ClaimsSpec)
    except InputError as error:
        return None, error.problems
    return spec, name_problems(document, spec)


def _normalized(document: Document, noted: list[Problem], declared: Mapping[str, str]) -> Document:
    """A claim file with the settings of its claims normalized."""
    claims = document.data.get("claims") if isinstance(document.data, dict) else None
    if not isinstance(claims, list):
        return document
    base, whole, places = Path(document.file).resolve().parent, list(claims), dict(document.places)
    for i, claim in enumerate(claims):
        if isinstance(claim, dict):
            result = normalized(claim, base)
            whole[i] = with_theory(result.data, declared)
            noted += [
                document.problem(("claims", i, *place), message) for place, message in result.faults
            ]
            for now, before in result.moved.items():
                places.setdefault(("claims", i, *now), document.places[("claims", i, *before)])
    return replace(document, data={**document.data, "claims": whole}, places=places)


def _claims_of(problems: Iterable[Problem], every: Sequence[Problem]) -> set[int]:
    """Which claims the problems are of.

    Raises:
        InputError: one is of none, but of the file as a whole; then with every problem so far.
    """
    indices = {
        problem.location[1]
        if problem.location[:1] == ("claims",) and len(problem.location) > 1
        else None
        for problem in problems
    }
    claims = {index for index in indices if isinstance(index, int)}
    if claims != indices:
        raise InputError(every)
    return claims


def _without(document: Document, aside: set[int], problems: Iterable[Problem]) -> Document:
    """The document with some of its claims skipped."""
    if not aside:
        return document
    taken = {
        claim.get("id")
        for i, claim in enumerate(document.data["claims"])
        if isinstance(claim, dict) and i not in aside
    }
    claims = list(document.data["claims"])
    for index in sorted(aside):
        reasons = [problem for problem in problems if problem.location[:2] == ("claims", index)]
        claims[index] = skipped_claim(claims[index], why(reasons), f"claim-{index + 1}", taken)
        taken.add(claims[index]["id"])
    return replace(document, data={**document.data, "claims": claims})


def skipped_claim(claim: object, reason: str, name: str, taken: set[Any]) -> dict[str, Any]:
    """A claim that is not judged, in the place of one that cannot be: its readable fields stay."""
    data = claim if isinstance(claim, dict) else {}
    readable = {key: data[key] for key, kind in READABLE.items() if isinstance(data.get(key), kind)}
    while readable.setdefault("id", name) in taken:
        readable["id"] += "-2"
    return {**readable, "unchecked": reason or "cannot be read"}


def _distinct(problems: Iterable[Problem]) -> list[Problem]:
    """Every problem once: a fault of a default is one of each claim after it."""
    return list(
        {(problem.line, problem.column, problem.message): problem for problem in problems}.values()
    )
