"""Where specs lie and how a name finds one: the shipped catalogue, or a path."""

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from symroof.errors import InputError, Problem, nearest
from symroof.resources import data_folder
from symroof.specs.names import Entry, Named, model_named, near_models, parts_named
from symroof.specs.strict_yaml import Document, load

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
BUILT_IN = "inference"
"""The theory that is always there, and so no entry of the catalogue: its names are those of ``symroof list quantities``."""
SINGULAR = {"hardware": "hardware", "models": "model", "presets": "preset", "studies": "study", "measured": "source of measurements", "theories": "theory"}


@lru_cache(maxsize=8)
def entries(kind: str) -> dict[str, Entry]:
    """Every shipped entry of a kind by name, sorted."""
    shipped = {}
    for path in sorted(data_folder("specs").joinpath(kind).glob("*.yaml")):
        if path.stem == BUILT_IN:
            continue
        document = load(path)
        data: Any = document.data if isinstance(document.data, dict) else {}
        shipped[path.stem] = Entry(path.stem, str(data.get("title", path.stem)), tuple(map(str, data.get("aliases") or ())), path, document)
    return shipped


ENDINGS = (".yaml", ".yml", ".json", ".gguf")
ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


def is_path(name: str, base: Path | None = None) -> bool:
    """Whether a name is that of a file: it has an ending of a spec file, or a slash and is no ``organisation/model`` of the hub.

    What lies at such a place, seen from ``base`` or from the working directory, is a file all the same.
    """
    if name.lower().endswith(ENDINGS):
        return True
    written = os.sep in name or "/" in name
    return written and (not ON_HUB.fullmatch(name) or os.path.exists(name) or (base is not None and os.path.exists(base / name)))


def holds(kind: str, name: str) -> bool:
    """Whether the catalogue has an entry by a name or an alias."""
    lower = name.lower()
    return _file_of(kind, lower) is not None or any(lower in entry.aliases for entry in entries(kind).values())


def named_model(name: str) -> Named | None:
    """The model of the catalogue that a name of the hub means; None for a name or an alias, which is the model itself."""
    return None if holds("models", name) or not PRINTED.fullmatch(name) else model_named(name[:LONGEST], entries("models"))


def located(name: str, base: Path | None) -> str | Path:
    """Where a path leads that a file names: beside that file, or else from the working directory."""
    beside = base / name if base else None
    return beside if beside and os.path.isfile(beside) else name


def find(kind: str, name: str, base: Path | None = None) -> Document:
    """The document behind a name or a path; a relative path is looked up from ``base`` first.

    Raises:
        InputError: no such entry, with the nearest name.
    """
    if is_path(name, base):
        return load(located(name, base))
    lower = name.lower()
    if (file := _file_of(kind, lower)) is not None:
        return load(file)
    shipped = entries(kind)
    for entry in shipped.values():
        if lower in entry.aliases:
            return entry.document
    matches = entries_matching(kind, name)
    if len(matches) == 1:
        return find(kind, matches[0])
    raise InputError(_no_such(kind, name, matches))


def _file_of(kind: str, name: str) -> Path | None:
    """The file of the entry that has exactly this name, located without reading the others."""
    file = data_folder("specs") / kind / f"{name}.yaml"
    return file if NAME.fullmatch(name) and name != BUILT_IN and file.is_file() else None


LONGEST = 200
PRINTED = re.compile(r"[A-Za-z0-9](?:[\w ,./()-]*[\w)])?")
"""What may be a name as a vendor, a driver or the hub prints it."""


def _model(name: str, shipped: Mapping[str, Entry]) -> list[str]:
    match = model_named(name, shipped)
    return [match.name] if match else []


OTHERWISE: dict[str, Callable[[str, Mapping[str, Entry]], list[str]]] = {"models": _model, "hardware": parts_named}


def entries_matching(kind: str, name: str) -> list[str]:
    """The entries that a name may mean which is neither a name nor an alias: none, one, or several that it does not tell apart."""
    return OTHERWISE[kind](name[:LONGEST], entries(kind)) if kind in OTHERWISE and PRINTED.fullmatch(name) else []


def _no_such(kind: str, name: str, matches: list[str]) -> Problem:
    """The error for a name that leads to no entry, or to several."""
    shown, what, shipped = name[:80], SINGULAR[kind], entries(kind)
    if matches:
        return Problem(
            shown, "is the name of several parts", hint=f"write one of {', '.join(matches)}" if len(matches) <= MOST_MATCHES else f"`symroof list {kind}`"
        )
    if kind == "models" and "/" in name:
        return Problem(shown, "no such model in the catalogue, nor a path here", hint=near_or_file(name))
    if "," in name:
        return Problem(
            shown, "expected a single name", hint=f"several: --among {kind.removesuffix('s')}={name[:40].replace(' ', '')} of select, or a list in a study"
        )
    known = [alias for entry in shipped.values() for alias in (entry.name, *entry.aliases)]
    near_one = nearest(name.lower()[:LONGEST], known)
    plain = "names have letters, digits, '.', '_' and '-'" if not re.fullmatch(r"[\w .()/-]*", name) else ""
    return Problem(
        shown, f"no such {what} in the catalogue", hint=near_one or plain or f"`symroof list {kind}` shows the catalogue; a path to a spec file works too"
    )


MOST_MATCHES = 12


def near_or_file(name: str) -> str:
    """The hint for a name on the hub that the catalogue does not have."""
    near = " or ".join(map(repr, near_models(name[:LONGEST], entries("models"))))
    return f"{f'did you mean {near}? Or give' if near else 'give'} its config.json: --model PATH/config.json"
