"""Corrected copies of notes: which numbers are put right, and where the copy goes. The original stays unless it is asked for."""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path

from symroof.claims.checked import Checked, Report
from symroof.claims.checking import check_text
from symroof.claims.correcting import in_its_unit, replaceable, replaced
from symroof.claims.figures import Figure
from symroof.claims.judging import HOLDS
from symroof.claims.reading import NOTES
from symroof.specs.errors import InputError, Problem
from symroof.specs.strict_yaml import read_text


@dataclass(frozen=True)
class Copy:
    """A corrected note, ready to be written.

    Attributes:
        goal: where to.
        content: the whole file.
        corrected, left: how many wrong claims were put right, and how many could not be.
    """

    goal: Path
    content: bytes
    corrected: int
    left: int


def copies(report: Report, out: str | None = None, in_place: bool = False) -> list[Copy]:
    """A corrected copy of each note with something to correct; of each note, where ``out`` says so.

    Raises:
        InputError: no note among the files, a goal that is one of them, one goal for several notes.
    """
    notes = [file for file in dict.fromkeys(report.files) if Path(file).suffix.lower() in NOTES]
    if not notes:
        raise InputError(Problem(", ".join(report.files)[:200], "is no Markdown note; only numbers in notes are corrected"))
    originals = {Path(file).resolve() for file in report.files}
    made: dict[Path, Copy] = {}
    for file in notes:
        goal = Path(file).resolve() if in_place else _goal(file, out, len(notes))
        if not in_place and goal.resolve() in originals:
            raise InputError(Problem(str(goal), "is an original; a corrected copy never replaces one", hint="--in-place if that is wanted"))
        if goal in made:
            raise InputError(Problem(str(goal), "would hold two corrected notes", hint="check them one at a time"))
        copy = corrected(file, [claim for claim in report.claims if claim.file == file], goal)
        if copy.corrected or (out is not None and not in_place):
            made[goal] = copy
    return list(made.values())


def _goal(file: str, out: str | None, notes: int) -> Path:
    path = Path(file)
    if out is None:
        return path.with_name(f"{path.stem}.fixed{path.suffix}")
    if out.endswith(("/", os.sep)) or Path(out).is_dir():
        return Path(out) / path.name
    if notes > 1:
        raise InputError(Problem(out, "is one file for several notes", hint="give a folder: -o DIR/"))
    return Path(out)


def corrected(file: str, claims: list[Checked], goal: Path) -> Copy:
    """A note with every wrong number replaced that can be; line ends and byte-order mark stay as they are."""
    wrong = [i for i, claim in enumerate(claims) if claim.verdict == "wrong"]
    changes: dict[int, tuple[Figure, str]] = {}
    for i in wrong:
        figure, value = claims[i].figure, claims[i].judgement.value
        if figure and value is not None and replaceable(figure) and (digits := in_its_unit(figure, value)):
            changes[i] = (figure, digits)
    original = read_text(file)
    text, count = replaced(original, _that_hold(original, changes, file, len(claims)))
    mark = codecs.BOM_UTF8 if _marked(file) else b""
    return Copy(goal, mark + text.encode("utf-8"), count, len(wrong) - count)


def _that_hold(original: str, changes: dict[int, tuple[Figure, str]], file: str, count: int) -> list[tuple[Figure, str]]:
    """The changes after which their claims hold: a number that was read otherwise than it was meant stays as it is."""
    try:
        again = check_text(replaced(original, changes.values())[0], file).claims
    except InputError:
        return []
    return [change for i, change in changes.items() if len(again) == count and again[i].verdict in HOLDS]


def _marked(file: str) -> bool:
    with open(file, "rb") as handle:
        return handle.read(3) == codecs.BOM_UTF8
