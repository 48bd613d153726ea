"""Where specs lie and how a name finds one: the shipped catalogue, or a path."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from symroof.shipped import data_folder
from symroof.specs.errors import InputError, Problem, nearest
from symroof.specs.strict_yaml import Document, load
from symroof.witness import looked_at

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
SINGULAR = {"hardware": "hardware", "models": "model", "presets": "preset", "studies": "study"}


@dataclass(frozen=True)
class Entry:
    """One catalogue entry before validation: what a listing needs."""

    name: str
    title: str
    aliases: tuple[str, ...]
    path: Path
    document: Document


@lru_cache(maxsize=8)
def entries(kind: str) -> dict[str, Entry]:
    """Every shipped entry of a kind by name, sorted."""
    found = {}
    for path in sorted(data_folder("specs").joinpath(kind).glob("*.yaml")):
        document = load(path)
        data: Any = document.data if isinstance(document.data, dict) else {}
        found[path.stem] = Entry(path.stem, str(data.get("title", path.stem)), tuple(map(str, data.get("aliases") or ())), path, document)
    return found


def is_path(name: str) -> bool:
    """Whether a name is meant as a file: it has a slash or an ending of a spec file."""
    return os.sep in name or "/" in name or name.lower().endswith((".yaml", ".yml", ".json", ".gguf"))


def holds(kind: str, name: str) -> bool:
    """Whether the catalogue has an entry by a name or an alias."""
    wanted = name.lower()
    shipped = entries(kind)
    return wanted in shipped or any(wanted in entry.aliases for entry in shipped.values())


def located(name: str, base: Path | None) -> str | Path:
    """Where a path leads that a file names: beside that file, or else from the working directory."""
    beside = base / name if base else None
    if beside:
        looked_at(beside)
    return beside if beside and os.path.isfile(beside) else name


def find(kind: str, name: str, base: Path | None = None) -> Document:
    """The document behind a name or a path; a relative path is looked up from ``base`` first.

    Raises:
        InputError: no such entry, with the nearest name.
    """
    if is_path(name):
        return load(located(name, base))
    wanted = name.lower()
    if not NAME.fullmatch(wanted):
        raise InputError(Problem(name[:80], f"no such {SINGULAR[kind]} in the catalogue", hint="names have letters, digits, '.', '_' and '-'"))
    stem = data_folder("specs") / kind / f"{wanted}.yaml"
    if stem.name == f"{wanted}.yaml" and stem.is_file() and not wanted.startswith("."):
        return load(stem)
    for entry in entries(kind).values():
        if wanted in entry.aliases:
            return entry.document
    known = [alias for entry in entries(kind).values() for alias in (entry.name, *entry.aliases)]
    hint = nearest(wanted, known) or f"`symroof list {kind}` shows the catalogue; a path to a spec file works too"
    raise InputError(Problem(name, f"no such {SINGULAR[kind]} in the catalogue", hint=hint))
