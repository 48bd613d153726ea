"""Drafted copies of notes: each with its path, made whole before any is written."""

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symroof.claims.corrected_copies import goals_of
from symroof.claims.draft.drafted_annotations import Drafted
from symroof.claims.draft.drafted_copy import draft
from symroof.claims.read.markdown_notes import is_latex
from symroof.errors import InputError, Problem
from symroof.specs.strict_yaml import read_text

MARKDOWN = (".md", ".markdown")
"""Notes in which a comment may stand behind any number; in LaTeX source it would end its line."""


@dataclass(frozen=True)
class DraftedFile:
    """A drafted copy, ready to be written: the path it goes to and its bytes."""

    goal: Path
    content: bytes
    drafted: Drafted


def drafted_files(files: Sequence[str], out: str | None = None, in_place: bool = False) -> list[DraftedFile]:
    """A drafted copy of each note; line ends and byte-order mark stay as they are.

    Raises:
        InputError: no note among the files, a goal that is one of them, annotations that cannot be read.
    """
    notes = [file for file in files if Path(file).suffix.lower() in MARKDOWN]
    if not notes:
        latex = any(is_latex(file) for file in files)
        hint = "in LaTeX source write `% symroof: QUANTITY NAME=VALUE …` at the end of a number's line; `symroof check` reads it" if latex else ""
        raise InputError(Problem(", ".join(files)[:200], "is not a Markdown note: annotations are drafted in those (.md) only", hint=hint))
    made: list[DraftedFile] = []
    problems: list[Problem] = []
    for file, goal in goals_of(notes, out, in_place, "drafted").items():
        try:
            drafted = draft(read_text(file), file)
        except InputError as error:
            problems += error.problems
            continue
        mark = codecs.BOM_UTF8 if Path(file).read_bytes().startswith(codecs.BOM_UTF8) else b""
        made.append(DraftedFile(goal, mark + drafted.content.encode("utf-8"), drafted))
    if problems:
        raise InputError(problems)
    return made


def as_json(made: Iterable[DraftedFile]) -> dict[str, Any]:
    """The drafts of some files, in the form of the JSON output."""
    return {"schema": "symroof/draft/1", "files": [{**copy.drafted.as_json(), "copy": str(copy.goal)} for copy in made]}
