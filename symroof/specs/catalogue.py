"""Where specs are stored and how a name finds one: the shipped catalogue, or a path.

A model's name on the hub leads to the model that it is a fine-tuned or quantized version of; the name of a part, as a vendor or a driver
prints it, to the one part whose entry has every word of it.
"""

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from symroof.errors import InputError, Problem, nearest
from symroof.resources import data_folder
from symroof.strict_yaml import Document, load

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
BUILT_IN = "inference"
"""The theory that is always there, and so no entry of the catalogue: its names are those of ``symroof list quantities``."""
SINGULAR = {
    "hardware": "hardware",
    "models": "model",
    "presets": "preset",
    "studies": "study",
    "measured": "source of measurements",
    "theories": "theory",
    "engines": "engine",
}

HUB = "https://huggingface.co/"
SEPARATOR = re.compile(r"[-_ ]+")
STORED_IN = re.compile(
    r"(?<=[-_ ])(?:(?:ud-)?i?q\d_[a-z0-9]+(?:_[a-z]+)?|quantized\.\w+)(?![a-z0-9])"
)
"""A mixture of llama.cpp, or a scheme of llm-compressor, among the words of a name."""
NUMBER = re.compile(r"\d+")
VERSION = re.compile(r"\d{4}|v\d+(?:\.\d+)*")


@dataclass(frozen=True)
class CatalogueEntry:
    """One catalogue entry before validation: what a listing needs."""

    name: str
    title: str
    aliases: tuple[str, ...]
    path: Path
    document: Document


@dataclass(frozen=True)
class NamedModel:
    """A model of the catalogue behind a name.

    Attributes:
        name: its name or alias.
        stored: the precision that the name speaks of, ``fp16`` of 16 bits; empty where it speaks of none.
        stored_word: the words it says so with.
        remark: what the name speaks of that the catalogue does not tell apart.
        checkpoint: the name on the hub of a checkpoint that the entry describes.
    """

    name: str
    stored: str = ""
    stored_word: str = ""
    remark: str = ""
    checkpoint: str = ""


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    """What words in names say (``specs/names.yaml``)."""
    words: dict[str, Any] = load(data_folder("specs") / "names.yaml").data
    return words


def match_model(name: str, shipped: Mapping[str, CatalogueEntry]) -> NamedModel | None:
    """The model of the catalogue behind a name of the hub, with or without its organisation: an entry of just that name first, then
    the one whose words it has beside those of its storage and its tuning."""
    whole = name.rpartition("/")[2].lower()
    for entry in shipped.values():
        data: Any = entry.document.data
        for each in (str(checkpoint["name"]) for checkpoint in data.get("checkpoints", ())):
            if name.lower() in (each.lower(), each.rpartition("/")[2].lower()):
                return NamedModel(entry.name, checkpoint=each)
    spellings = list(_spellings(shipped))
    exact = dict(reversed(spellings))
    if leads_to := exact.get(name.lower(), exact.get(whole, "")):
        return NamedModel(leads_to)
    stored, said = _storage(name)
    tuned = set(_known()["tuned"])
    known = [(_untold(spelling), leads_to) for spelling, leads_to in reversed(spellings)]
    # Kimi-K2-Thinking before Kimi-K2, whose tunings of no entry it stands for
    known.sort(key=lambda entry: -len(tuned.intersection(entry[0])))
    words, remark, left_out = _untold(name), "", ""
    while words:
        for its_words, match in known:
            if its_words == [word for word in words if word not in tuned or word in its_words]:
                return NamedModel(match, stored, said, remark)
        last = next((i for i in reversed(range(1, len(words))) if words[i] not in tuned), 0)
        if not VERSION.fullmatch(words[last]):
            return None
        left_out = "-".join(filter(None, (words.pop(last), left_out)))
        remark = f"the catalogue does not tell its {left_out} apart: give its config.json if that one differs"
    return None


def _spellings(shipped: Mapping[str, CatalogueEntry]) -> Iterator[tuple[str, str]]:
    """Every spelling of every entry with the name it leads to; of two equal ones the later wins, and names are the last."""
    for entry in shipped.values():
        data: Any = entry.document.data
        address = str((data.get("source") or {}).get("address", "")).lower().rstrip("/")
        if address.startswith(HUB):
            yield address.removeprefix(HUB), entry.name
    for entry in shipped.values():
        yield from ((alias, alias) for alias in entry.aliases)
    for entry in shipped.values():
        yield entry.name, entry.name


def _untold(name: str) -> list[str]:
    """The words of a name beside those that say how it is stored."""
    last = STORED_IN.sub("", name.rpartition("/")[2].partition(":")[0].lower())
    first, *rest = SEPARATOR.split(last.removeprefix("meta-"))
    return [first, *(word for word in rest if word and word not in _known()["storage"])]


def _words(name: str) -> list[str]:
    """The words that tell one model from another."""
    return [word for i, word in enumerate(_untold(name)) if not i or word not in _known()["tuned"]]


def _storage(name: str) -> tuple[str, str]:
    """The precision that a name speaks of, and the words it says so with; that of a library of MLX models says so, too."""
    library, _, last = name.lower().rpartition("/")
    text = re.sub("^[^-_ :]+", "mlx" if library.startswith("mlx-") else "", last)
    for entry in _known()["stored"]:
        if found := re.search(rf"(?<![a-z0-9])(?:{entry['has']})(?![a-z0-9])", text):
            return found.expand(entry["precision"]), "-".join(filter(None, found.groups())).upper()
    return "", ""


def match_parts(name: str, shipped: Mapping[str, CatalogueEntry]) -> list[str]:
    """The parts that a name may mean, the only one where it means one.

    A part matches whose name, alias or title is the same but for case, spaces and punctuation; or else every part that has all
    of the words: of its names, its title, its memory. Among these, one that is called by some of the words alone wins:
    ``H100 80GB`` is what ``h100`` is.
    """
    words = _part_words(name)
    same, having, called = list[str](), list[str](), list[str]()
    for entry in shipped.values() if words else ():
        data: Any = entry.document.data
        memory = str((data.get("memory") or {}).get("kind", ""))
        *names, title = map(_part_words, (*_called(entry), entry.title))
        own = [word for each in (*names, title, _part_words(memory)) for word in each]
        if "".join(words) in map("".join, (*names, title)):
            same.append(entry.name)
        if all(word in own or f"{word}gb" in own for word in words):  # H100-80, too
            having.append(entry.name)
            called += [entry.name] * any(set(each) <= set(words) for each in names)
    return next((found for found in (same, called) if len(found) == 1), having)


def _called(entry: CatalogueEntry) -> tuple[str, ...]:
    return (entry.name, *entry.aliases)


def _part_words(text: str) -> list[str]:
    """The words of a part's name, ``80 GB`` as one, without its vendor's."""
    joined = re.sub(r"(\d+)[\s_-]*(gi?b)\b", r"\1\2", text.lower())
    return [word for word in re.findall(r"[a-z0-9]+", joined) if word not in _known()["vendors"]]


# -------------------------------------------------------------------------------------------------------- finding an entry


@lru_cache(maxsize=8)
def entries(kind: str) -> dict[str, CatalogueEntry]:
    """Every shipped entry of a kind by name, sorted."""
    shipped = {}
    for path in sorted(data_folder("specs").joinpath(kind).glob("*.yaml")):
        if path.stem == BUILT_IN:
            continue
        document = load(path)
        data: Any = document.data if isinstance(document.data, dict) else {}
        title, aliases = str(data.get("title", path.stem)), map(str, data.get("aliases") or ())
        shipped[path.stem] = CatalogueEntry(path.stem, title, tuple(aliases), path, document)
    return shipped


ENDINGS = (".yaml", ".yml", ".json", ".gguf")
ON_HUB = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}(?::[\w-]{1,24})?")


def is_path(name: str, base: Path | None = None) -> bool:
    """Whether a name is that of a file: it has an ending of a spec file, or a slash and is no ``organisation/model`` of the hub.

    What lies at such a place, seen from ``base`` or from the working directory, is a file all the same.
    """
    if name.lower().endswith(ENDINGS):
        return True
    if os.sep not in name and "/" not in name:
        return False
    there = os.path.exists(name) or (base is not None and os.path.exists(base / name))
    return there or not ON_HUB.fullmatch(name)


def has_entry(kind: str, name: str) -> bool:
    """Whether the catalogue has an entry by a name or an alias."""
    lower = name.lower()
    if _file_of(kind, lower) is not None:
        return True
    return any(lower in entry.aliases for entry in entries(kind).values())


def model_by_hub_name(name: str) -> NamedModel | None:
    """The model of the catalogue that a name of the hub means; None for a name or an alias, which is the model itself."""
    if has_entry("models", name) or not PRINTED_NAME.fullmatch(name):
        return None
    return match_model(name[:LONGEST_NAME], entries("models"))


def resolve_path(name: str, base: Path | None) -> str | Path:
    """A path named in a file, resolved from that file's folder, or else from the working directory.

    Raises:
        InputError: a pipe or a device, which may never end: only a person may name one.
    """
    path = base / name if base and os.path.exists(base / name) else name
    if base and os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise InputError(Problem(name, "is not a regular file"))
    return path


def find(kind: str, name: str, base: Path | None = None) -> Document:
    """The document behind a name or a path; a relative path is looked up from ``base`` first.

    Raises:
        InputError: no such entry, with the nearest name.
    """
    if is_path(name, base):
        return load(resolve_path(name, base))
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


LONGEST_NAME = 200
PRINTED_NAME = re.compile(r"[A-Za-z0-9](?:[\w ,./:()-]*[\w)])?")
"""What may be a name as a vendor, a driver or the hub prints it."""


def entries_matching(kind: str, name: str) -> list[str]:
    """The entries that a name may mean which is neither a name nor an alias: none, one, or several that it does not tell apart."""
    if kind not in ("models", "hardware") or not PRINTED_NAME.fullmatch(name):
        return []
    if kind == "hardware":
        return match_parts(name[:LONGEST_NAME], entries(kind))
    match = match_model(name[:LONGEST_NAME], entries(kind))
    return [match.name] if match else []


def _no_such(kind: str, name: str, matches: list[str]) -> Problem:
    """The error for a name that leads to no entry, or to several."""
    shown, what, shipped = name[:80], SINGULAR[kind], entries(kind)
    if matches:
        few = f"write one of {', '.join(matches)}" if len(matches) <= 12 else ""
        return Problem(shown, "matches several devices", hint=few or f"`symroof list {kind}`")
    if kind == "models" and "/" in name:
        message = "not in the catalogue, and no such path here"
        return Problem(shown, message, hint=hint_for_hub_name(name))
    if kind == "studies" and not name.endswith((".yaml", ".yml")):
        of = next((each for each in ("models", "hardware") if has_entry(each, name)), "")
        option = f"--{of.removesuffix('s')} {name}"
        hint = f"give it as an option: {option}; a list has commas" if of else ""
        if name.endswith((".pdf", ".html", ".md", ".tex")):
            hint = f"symroof report STUDY.yaml --format {name.rpartition('.')[2]}"
        if hint:
            return Problem(shown, "is not a study", hint=hint)
    if "," in name or "*" in name or name == "all":
        plain, of = name[:40].replace(" ", ""), kind.removesuffix("s")
        hint = f"--among {of}={plain} of select, or a list in a study"
        if "," in name:
            both = f"--{of} {plain} on the line, {of}: [{plain.replace(',', ', ')}] in a study"
            hint = f"several: {both}"
        return Problem(shown, "expected a single name", hint=hint)
    counted = re.fullmatch(r"(\d+)\s*[x×*]\s*\w.*|\w.*?\s*(?<![rg]t)[x×*]\s*(\d+)", name.lower())
    if kind == "hardware" and counted:  # 8xH100, h100 x 8
        tp = counted[1] or counted[2]
        number = f"the number of GPUs as --tp {tp} or parallel: {{tp: {tp}}}"
        hint = f"write the name alone, and {number}"
        return Problem(shown, "names a device and how many of them", hint=hint)
    known = [alias for entry in shipped.values() for alias in (entry.name, *entry.aliases)]
    hint = nearest(name.lower()[:LONGEST_NAME], known)
    if kind == "hardware" and re.match("i?mac|apple", name.lower()):
        hint = "name its chip, such as m4-max: `symroof list hardware apple` has all"
    files = "a spec file or a config.json" if kind == "models" else "a spec file"
    listed = f"`symroof list {kind}` shows the catalogue; a path to {files} works too"
    both = f"{hint} {listed}" if kind == "models" and hint else hint or listed
    return Problem(shown, f"no such {what} in the catalogue", hint=both)


def hint_for_hub_name(name: str) -> str:
    """The hint for a name on the hub that the catalogue does not have: a model whose name differs by a slip of the keyboard, and in no number."""
    called = {
        "-".join(_words(spelling)): entry.name
        for entry in entries("models").values()
        for spelling in _called(entry)
    }
    asked = "-".join(_words(name[:LONGEST_NAME]))
    near = difflib.get_close_matches(asked, called, n=3, cutoff=0.9)
    same = (called[each] for each in near if NUMBER.findall(each) == NUMBER.findall(asked))
    meant = next((f"did you mean {each!r}? Or download" for each in same), "download")
    return f"{meant} its config.json and give --model PATH/config.json (`symroof list models`: the catalogue)"
