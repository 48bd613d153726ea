"""What people call models and parts: names on the hub, names a vendor or a driver prints, in any case and punctuation.

A name of the hub leads to the model it is a tuning or a storage of; a part's name to the one part that has every word of it.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symroof.specs.strict_yaml import Document

HUB = "https://huggingface.co/"
TUNED = frozenset(["instruct", "it", "chat", "hf", "base", "pt", "thinking", "dynamo", "bf16", "fp16"])
"""Words of a name that change no dimension: how a model was trained last, which library or plain format its files are for."""

STORED_AS = {
    "fp8": "fp8", "dynamic": "fp8", "awq": "awq", "gptq": "gptq", "int4": "w4a16", "w4a16": "w4a16", "w8a8": "w8a8", "w8a16": "w8a16", "int8": "int8",
    "nvfp4": "nvfp4", "fp4": "nvfp4", "mxfp4": "mxfp4", "bnb": "nf4", "4bit": "nf4", "8bit": "int8", "gguf": "q4_k_m", "quantized": "",
}  # fmt: skip
"""Words that say how a checkpoint is stored, each with the precision that stands for it; empty where the word alone says too little."""

VERSION = re.compile(r"\d{4}|v\d+(?:\.\d+)*")
NEAR = 3


@dataclass(frozen=True)
class Entry:
    """One catalogue entry before validation: what a listing needs."""

    name: str
    title: str
    aliases: tuple[str, ...]
    path: Path
    document: Document


@dataclass(frozen=True)
class Named:
    """A model of the catalogue behind a name.

    Attributes:
        name: its name or alias.
        stored: the precision that the name speaks of, and the word it says so with; empty where it speaks of none.
        version: what of the name the catalogue does not tell apart.
    """

    name: str
    stored: str = ""
    stored_word: str = ""
    version: str = ""

    def remark(self, precision_chosen: bool = False) -> str:
        """What the name speaks of that is not taken from it."""
        says = []
        if self.stored and not precision_chosen:
            says.append(f"its name says {self.stored_word}: --weights {self.stored} takes the weights as such a checkpoint stores them")
        if self.version:
            says.append(f"the catalogue does not tell its {self.version} apart: give its config.json if that one differs")
        return "; ".join(says)


def model_named(name: str, shipped: Mapping[str, Entry]) -> Named | None:
    """The model of the catalogue behind a name of the hub, with or without its organisation."""
    for entry in shipped.values():
        if _address(entry) == name.lower():
            return Named(entry.name)
    words, word = _words(name)
    known = {"-".join(_words(spelling)[0]): leads_to for spelling, leads_to in _spellings(shipped)}
    left_out: list[str] = []
    while words:
        for spelled in (words, words[1:] if words[0] == "meta" else words):
            if match := known.get("-".join(spelled)):
                return Named(match, STORED_AS.get(word, ""), word, "-".join(left_out))
        if not VERSION.fullmatch(words[-1]):
            return None
        left_out.insert(0, words.pop())
    return None


def _spellings(shipped: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Every spelling of every entry with the name it leads to; where two are alike the later wins, and names are the last."""
    for entry in shipped.values():
        if address := _address(entry):
            yield address, entry.name
    for entry in shipped.values():
        yield from ((alias, alias) for alias in entry.aliases)
    for entry in shipped.values():
        yield entry.name, entry.name


def _address(entry: Entry) -> str:
    """The name on the hub that an entry was read from; empty where it was read elsewhere."""
    data: Any = entry.document.data
    address = str((data.get("source") or {}).get("address", "")).lower().rstrip("/")
    return address.removeprefix(HUB) if address.startswith(HUB) else ""


def _words(name: str) -> tuple[list[str], str]:
    """The words that tell one model from another, and the one that says how it is stored."""
    words = re.split(r"[-_ ]+", name.rpartition("/")[2].lower().replace("quantized.", "quantized-"))
    stored = [word for word in words[1:] if word in STORED_AS]
    telling = [word for i, word in enumerate(words) if not i or (word not in TUNED and word not in STORED_AS)]
    named = [word for word in stored if STORED_AS[word]]
    return telling, next((word for word in named if word not in ("int4", "int8", "dynamic", "4bit", "8bit")), named[0] if named else "")


def near_models(name: str, shipped: Mapping[str, Entry]) -> list[str]:
    """The models of the catalogue whose names are nearest."""
    own = {alias: entry.name for entry in shipped.values() for alias in entry.aliases}
    spellings = {"-".join(_words(spelling)[0]): own.get(leads_to, leads_to) for spelling, leads_to in _spellings(shipped)}
    near = difflib.get_close_matches("-".join(_words(name)[0]), spellings, n=3 * NEAR, cutoff=0.6)
    return list(dict.fromkeys(spellings[spelling] for spelling in near))[:NEAR]


# ------------------------------------------------------------------------------------------------------------- parts

VENDORS = frozenset(["nvidia", "amd", "intel", "google", "apple", "cloud", "tesla", "instinct", "geforce", "radeon", "gpu", "graphics", "accelerator", "oam"])
"""Words that tell no part from another."""


def parts_named(name: str, shipped: Mapping[str, Entry]) -> list[str]:
    """The parts that a name may mean, the only one where it means one.

    A part matches whose name, alias or title is the same but for case, spaces and punctuation; or else every part that has all
    of the words: of its names, its title, its memory. Among these, one that is called by some of the words alone wins:
    ``H100 80GB`` is what ``h100`` is.
    """
    words = _part_words(name)
    squeezed = "".join(words)
    if not squeezed:
        return []
    same = [entry.name for entry in shipped.values() if squeezed in {"".join(_part_words(spelling)) for spelling in (*_called(entry), entry.title)}]
    if len(same) == 1:
        return same
    having = [entry for entry in shipped.values() if set(words) <= _all_words(entry)]
    called = [entry for entry in having if any(set(_part_words(spelling)) <= set(words) for spelling in _called(entry))]
    return [entry.name for entry in (called if len(called) == 1 else having)]


def _called(entry: Entry) -> tuple[str, ...]:
    return (entry.name, *entry.aliases)


def _part_words(text: str) -> list[str]:
    """The words of a part's name, ``80 GB`` as one, without its vendor's."""
    joined = re.sub(r"(\d+)[\s_-]*(gi?b)\b", r"\1\2", text.lower())
    return [word for word in re.findall(r"[a-z0-9]+", joined) if word not in VENDORS]


def _all_words(entry: Entry) -> set[str]:
    data: Any = entry.document.data
    memory = (data.get("memory") or {}).get("kind", "")
    return {word for text in (*_called(entry), entry.title, str(memory)) for word in _part_words(text)}
