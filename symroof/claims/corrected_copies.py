"""Corrected copies of notes: which numbers are corrected, and where the copy goes. The original is unchanged unless ``--in-place`` is set."""

import codecs
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from symroof.claims.check import check_text
from symroof.claims.checked import FAILS, HOLDS, Checked, Report
from symroof.claims.corrected_numbers import in_its_unit, replaceable, replaced
from symroof.claims.read.markdown_notes import NOTES
from symroof.claims.read.prose_numbers import Figure
from symroof.errors import InputError, Problem
from symroof.output_files import refuse_link
from symroof.strict_yaml import read_text

AUTHOR = "only its author can decide the correct value"
DOUBTFUL = "doubtful"
"""How the note of an annotation begins whose author is not sure of it: ``note='doubtful: which batch?'``. Its number is never changed."""
Change = tuple[Figure, str]


@dataclass(frozen=True)
class Copy:
    """A corrected note, ready to be written.

    Attributes:
        path: where it is written.
        content: the whole file.
        corrected: the wrong claims that were corrected.
        uncorrected: those that could not be, and why.
        requested: whether it is written even where nothing was corrected.
    """

    path: Path
    content: bytes
    corrected: tuple[Checked, ...]
    uncorrected: tuple[tuple[Checked, str], ...]
    requested: bool = False

    @property
    def written(self) -> bool:
        return self.requested or bool(self.corrected)


def copies(report: Report, out: str | None = None, in_place: bool = False) -> list[Copy]:
    """A corrected copy of each note; one with nothing to correct is written only where ``out`` asks for it.

    Raises:
        InputError: no note among the files, a target that is one of them, one target for several notes.
    """
    made = []
    for file, target in copy_paths(report.files, out, in_place).items():
        claims = [claim for claim in report.claims if claim.file == file]
        made.append(corrected(file, claims, target, requested=out is not None))
    return made


def copy_paths(files: Iterable[str], out: str | None, in_place: bool) -> dict[str, Path]:
    """Where the copy of each note among some files goes: ``NAME.fixed.md`` in the same folder,
    unless ``out`` or ``in_place`` says otherwise.

    Raises:
        InputError: no note among the files, a target that is one of them, one target for several.
        OSError: the name of a copy is taken by a symbolic link.
    """
    every = list(dict.fromkeys(files))
    notes = [file for file in every if Path(file).suffix.lower() in NOTES]
    if not notes:
        message = "is not a Markdown note; only numbers in notes are corrected"
        raise InputError(Problem(", ".join(every)[:200], message))
    originals = {Path(file).resolve() for file in every}
    targets: dict[str, Path] = {}
    for file in notes:
        target = Path(file).resolve() if in_place else _copy_path(file, out, len(notes))
        if not in_place and target != Path(out or ""):
            refuse_link(target)
        if not in_place and target.resolve() in originals:
            message = "is an original; a copy never replaces one"
            raise InputError(Problem(str(target), message, hint="--in-place replaces it"))
        if target in targets.values():
            message = "would hold two corrected notes"
            raise InputError(Problem(str(target), message, hint="take them one at a time"))
        targets[file] = target
    return targets


def _copy_path(file: str, out: str | None, notes: int) -> Path:
    path = Path(file)
    if out is None:
        return path.with_name(f"{path.stem}.fixed{path.suffix}")
    if out.endswith(("/", os.sep)) or Path(out).is_dir():
        return Path(out) / path.name
    if notes > 1:
        message, hint = "is one file for several notes", "give a folder: -o DIR/"
        raise InputError(Problem(out, message, hint=hint))
    return Path(out)


def corrected(file: str, claims: list[Checked], target: Path, requested: bool = False) -> Copy:
    """A note with every wrong number replaced that can be; line ends and byte-order mark stay."""
    original = read_text(file)
    wrong = {i: _change(one) for i, one in enumerate(claims) if one.verdict in FAILS}
    left = {i: reason for i, reason in wrong.items() if isinstance(reason, str)}
    changes = {i: change for i, change in wrong.items() if not isinstance(change, str)}

    # a misread number stays as it is, and so does one that another claim confirms or corrects otherwise
    again: Sequence[Checked] = ()
    with suppress(InputError):
        again = check_text(replaced(original, changes.values()), file).claims
    pairs = zip(claims, again, strict=True) if len(again) == len(claims) else ()
    held: dict[int, bool] = {}
    for before, after in pairs:
        if before.figure:
            start = before.figure.start
            held[start] = held.get(start, True) and after.verdict in HOLDS
    for i in [i for i, (figure, _) in changes.items() if not held.get(figure.start)]:
        left[i] = "a claim of it would fail with the corrected number"
        del changes[i]
    mark = codecs.BOM_UTF8 if Path(file).read_bytes().startswith(codecs.BOM_UTF8) else b""
    content = mark + replaced(original, changes.values()).encode("utf-8")
    fixed = tuple(claims[i] for i in changes)
    others = tuple((claims[i], left[i]) for i in sorted(left))
    return Copy(target, content, fixed, others, requested)


def _change(claim: Checked) -> Change | str:
    """The number to replace and its replacement, or why it stays."""
    figure, value = claim.figure, claim.value
    if (claim.claim.note or "").lower().startswith(DOUBTFUL):
        return "doubtful: not changed; remove its note once the annotation is right"
    if claim.verdict != "wrong":
        return "it contradicts itself or another claim: " + AUTHOR
    if figure is None:
        return "it is not a number in the text"
    if value is None:
        return "no correct number can be derived"
    if not replaceable(figure):
        return "it is a bound or a range: " + AUTHOR
    digits = in_its_unit(figure, value)
    return (figure, digits) if digits else "its unit may be the wrong one: " + AUTHOR
