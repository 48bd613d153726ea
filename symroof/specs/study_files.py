"""Studies and theories as files: which names they declare, read before anything that may speak of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symroof.errors import InputError
from symroof.specs.catalogue import find, has_entry
from symroof.specs.fields import build
from symroof.specs.file_kinds import IDENTIFYING_KEYS
from symroof.specs.study import StudySpec
from symroof.strict_yaml import Document, load
from symroof.theory.declarations import NONE, Declarations

if TYPE_CHECKING:
    from symroof.specs.user_theory import TheorySpec


def study_document(path: str) -> Document:
    """The file of a study or a theory, or the shipped one of that name.

    Raises:
        InputError: no such file, no such name.
    """
    study, theory = (has_entry(kind, path) for kind in ("studies", "theories"))
    if Path(path).is_file() or (Path(path).exists() and not (study or theory)):
        return load(path)  # a folder hides no name
    return find("theories" if theory and not study else "studies", path)


def is_theory(document: Document) -> bool:
    """Whether a document is a theory of its own rather than a study."""
    return isinstance(document.data, dict) and any(
        key in document.data for key in IDENTIFYING_KEYS["theory"]
    )


def read_theory(document: Document) -> tuple[TheorySpec, Declarations]:
    """A theory file and what it declares.

    Raises:
        InputError: everything wrong with it.
    """
    from symroof.specs.user_theory import TheorySpec

    spec = build(document, TheorySpec)
    return spec, spec.declarations()


def read_study(document: Document) -> tuple[StudySpec, Declarations]:
    """A study and what it declares, the names of its theory included.

    Raises:
        InputError: everything wrong with it, or with its theory.
    """
    theory = _theory_of(document)
    spec = build(document, StudySpec, theory)
    return spec, spec.declarations(theory)


def declared_in(name: str) -> Declarations:
    """What a theory or a study declares, by its file or the shipped name of a theory.

    Raises:
        InputError: no such file or name, everything wrong with it.
    """
    document = find("theories", name)
    return read_theory(document)[1] if is_theory(document) else read_study(document)[1]


def _theory_of(document: Document) -> Declarations:
    """What the theory that a study names declares; a name that leads nowhere is a fault of the study's line."""
    name = document.data.get("theory") if isinstance(document.data, dict) else None
    if not isinstance(name, str):
        return NONE
    try:
        return read_theory(find("theories", name, Path(document.file).resolve().parent))[1]
    except InputError as error:
        first = error.problems[0]
        if first.line is not None:  # a fault inside the file has a place of its own
            raise
        raise InputError(
            document.problem(("theory",), f"{name[:60]}: {first.message}", first.hint)
        ) from None
