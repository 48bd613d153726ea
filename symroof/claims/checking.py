"""Files of claims checked: read, judged one by one, held against each other, and told with their places.

>>> report = check_text("A prompt of 4,096 tokens takes 2.68 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->", "notes.md")
>>> report.claims[0].verdict, report.claims[0].derived, report.claims[0].correction
('wrong', '1.3422 GB', '1.34 GB')
>>> report.summary
{'wrong': 1}
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symroof.claims.checked import Checked, Report
from symroof.claims.conflicts import resolved, stated
from symroof.claims.correcting import corrected_text
from symroof.claims.judging import Judgement, judge
from symroof.claims.naming import misnamed
from symroof.claims.notes import Note, read_note
from symroof.specs.claims import ClaimSpec, ClaimsSpec
from symroof.specs.errors import InputError, Problem
from symroof.specs.fields import build
from symroof.specs.strict_yaml import Document, loads, read_text
from symroof.theory.theory import UnknownName

NOTES = (".md", ".markdown")


def check(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> Report:
    """Check the hand calculations of claim files and Markdown notes.

    Raises:
        InputError: everything wrong with the files, each at its place; then nothing is judged.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    sources: list[Source] = []
    problems: list[Problem] = []
    for path in several:
        try:
            sources.append(read(read_text(path), os.fspath(path)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return _judged(sources)


def check_text(text: str, file: str) -> Report:
    """The same for a text; the file's name tells what it is."""
    return _judged([read(text, file)])


@dataclass(frozen=True)
class Source:
    """A file of claims that was read and whose names are all known."""

    document: Document
    spec: ClaimsSpec
    note: Note | None = None


def read(text: str, file: str) -> Source:
    """A file of claims: a Markdown note by its ending, a claim file else.

    Raises:
        InputError: everything wrong with it.
    """
    note = read_note(text, file) if Path(file).suffix.lower() in NOTES else None
    document = note.document if note else loads(text, file)
    if isinstance(document.data, dict) and "claims" not in document.data:
        raise InputError(Problem(file, "holds no claims", 1, 1, hint="`symroof init claims` writes a starter; a note's name ends in .md"))
    spec = build(document, ClaimsSpec)
    if problems := misnamed(document, spec):
        raise InputError(problems)
    return Source(document, spec, note)


def _judged(sources: list[Source]) -> Report:
    claims: list[Checked] = []
    for source in sources:
        spelled = [_as_written(source.document, i, claim) for i, claim in enumerate(source.spec.claims)]
        judged = resolved([_judge(claim) for claim in spelled])
        claims += [_checked(source, i, judgement) for i, judgement in enumerate(judged)]
    return Report(tuple(claims), tuple(source.document.file for source in sources))


def _judge(claim: ClaimSpec) -> Judgement:
    """A claim judged; one that speaks of a part the model does not have (``n_heads.global``) is unchecked."""
    try:
        return judge(claim)
    except UnknownName as error:
        return Judgement(claim, "unchecked", str(claim.value or ""), reason=f"unknown name {error.args[0]!r}: this model has no such part")


def _as_written(document: Document, index: int, claim: ClaimSpec) -> ClaimSpec:
    """A claim whose numbers are the texts they stood as: ``1.20`` claims a digit more than 6/5."""

    def text(value: Any, *place: str | int) -> Any:
        return document.written.get(("claims", index, *place), value)

    changes: dict[str, Any] = {"value": text(claim.value, "value")}
    if isinstance(stated := claim.values.get("value"), list):
        changes["values"] = {**claim.values, "value": [text(value, "values", "value", i) for i, value in enumerate(stated)]}
    if claim.steps:
        changes["steps"] = tuple(step.model_copy(update={"value": text(step.value, "steps", i, "value")}) for i, step in enumerate(claim.steps))
    return claim.model_copy(update=changes)


def _checked(source: Source, index: int, judgement: Judgement) -> Checked:
    note = source.note
    figure = note.figures[index] if note else None
    line, column = note.places[index] if note else source.document.places[("claims", index)]
    value = judgement.claim.value
    claimed = figure.text if figure else judgement.claimed or ("" if value is None else str(value))
    correction = _correction(judgement, claimed) if judgement.verdict == "wrong" else ""
    return Checked(judgement, source.document.file, line, column, claimed, correction, figure)


def _correction(judgement: Judgement, claimed: str) -> str:
    """What to write instead: the same with the right number in it, or what was derived; of a bound or a range only its author knows."""
    if judgement.parts:
        return ""
    found = stated(judgement)
    if found and (found.operator or found.low is not None):
        return ""
    return corrected_text(claimed, judgement.value) or judgement.derived
