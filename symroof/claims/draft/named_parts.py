"""The models and devices of the catalogue that a text names, in whatever spelling.

>>> [(name.kind, name.entry) for name in named("Llama 3.1 70B on 4xH100s, and the 8B")]
[('model', 'llama-3.1-70b'), ('hardware', 'h100-sxm'), ('model', 'llama-3.1-8b')]
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from symroof.specs.catalogue import entries

MOST_WORDS = 6
WORD = re.compile(r"\d{1,4}(?=[x×][A-Za-z]{1,4}\d)|[x×](?=[A-Z])|[A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*")
BETWEEN = re.compile(r"[-_ \u00a0\u2011(]{0,3}")
SIZE = re.compile(r"\d+(?:\.\d+)?b(?:-?a\d+(?:\.\d+)?b)?|\d+x\d+b")
ENDING = re.compile(r"[^a-z0-9.]+")
LABEL = re.compile(r"[ -]?\d{2,3} ?GB\b(?!/)", re.IGNORECASE)
"""The size of its memory in a device's name: ``H100 80GB``."""

CALLED = {
    "hardware": {
        "h100sxm": "h100-sxm", "h100": "h100-sxm", "a100sxm": "a100-80gb-sxm", "h100pcie": "h100-pcie", "h200": "h200", "gb200": "gb200", "4090": "rtx-4090",
        "3090": "rtx-3090", "5090": "rtx-5090", "rtx6000ada": "rtx-6000-ada", "v100": "v100-sxm2-32gb", "m3max": "m3-max", "m2ultra": "m2-ultra", "m4max": "m4-max",
        "tpuv5e": "tpu-v5e", "v5e": "tpu-v5e", "v5p": "tpu-v5p", "v6e": "tpu-v6e", "tpuv6e": "tpu-v6e",
    },
    "model": {
        "mistral7b": "mistral-7b-v0.3", "mistrallarge": "mistral-large-123b", "mistralnemo": "mistral-nemo-12b", "mistralsmall": "mistral-small-24b", "mixtral": "mixtral-8x7b",
        "deepseekr1": "deepseek-v3", "deepseekv3": "deepseek-v3", "r1": "deepseek-v3", "kimik2": "kimi-k2", "dbrx": "dbrx", "grok1": "grok-1", "gptoss": "gpt-oss-120b",
        "llama70b": "llama-3.1-70b", "llama8b": "llama-3.1-8b", "llama405b": "llama-3.1-405b", "phi4": "phi-4", "maverick": "llama-4-maverick", "scout": "llama-4-scout",
    },
}  # fmt: skip
"""What people write for an entry that is none of its own names; a card's number alone counts where no unit follows it."""
NUMBERS_ALONE = re.compile(r"(?:\b(?:an?|one|two|single|dual|rtx|the|my|per|each|\d+\s?[x×])\s*)$", re.IGNORECASE)


@dataclass(frozen=True)
class Name:
    """An entry that a text names.

    Attributes:
        kind: ``model`` or ``hardware``.
        entry: its name in the catalogue.
        start, end: where it stands.
        count: devices that stand before it (``8xH100``); 0 where none do.
        sized: whether it is only a size, of the family named last.
    """

    kind: str
    entry: str
    start: int
    end: int
    count: int = 0
    sized: bool = False


@lru_cache(maxsize=1)
def _spellings() -> dict[str, tuple[str, str]]:
    """Every spelling, squeezed, with its kind and entry."""
    known: dict[str, tuple[str, str]] = {}
    for kind, folder in (("model", "models"), ("hardware", "hardware")):
        for entry in entries(folder).values():
            for spelling in (entry.title.partition("(")[0], *entry.aliases, entry.name):
                words = [
                    word
                    for word in ENDING.split(spelling.lower())
                    if word and word not in ("nvidia", "amd", "intel", "google", "apple", "cloud", "geforce", "instinct")
                ]
                known["".join(words)] = (kind, entry.name)
        known |= {spelling: (kind, name) for spelling, name in CALLED[kind].items()}
    return {spelling: entry for spelling, entry in known.items() if len(spelling) > 1}


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    """What spellings and families begin with: where none does, no longer name does."""
    return frozenset(name[:size] for name in (*_spellings(), *_families()) for size in range(1, len(name) + 1))


@lru_cache(maxsize=1)
def _families() -> dict[str, dict[str, str]]:
    """The name of a family, squeezed, with its entries by size: ``qwen2.5`` has ``7b``."""
    families: dict[str, dict[str, str]] = {}
    for name in entries("models"):
        family, _, size = name.rpartition("-")
        if family and SIZE.fullmatch(size):
            families.setdefault(family.replace("-", ""), {})[size] = name
    return families


@lru_cache(maxsize=64)
def named(text: str, family: str = "") -> tuple[Name, ...]:
    """Every name of an entry, in order; a size alone is a model of the family named last."""
    words = list(WORD.finditer(text))
    names: list[Name] = []
    index = 0
    while index < len(words):
        name, used = _at(text, words, index)
        if name:
            names.append(name)
            family = name.entry.rpartition("-")[0].replace("-", "") if name.kind == "model" else family
        else:
            family, sized = _of_family(words, index, family)
            names += sized
        index += max(used, 1)
    return tuple(names)


def _at(text: str, words: list[re.Match[str]], index: int) -> tuple[Name | None, int]:
    """The longest name that begins with a word, and how many words it takes."""
    spellings = _spellings()
    squeezed = ""
    best: tuple[Name | None, int] = (None, 0)
    for size in range(MOST_WORDS):
        if index + size >= len(words):
            break
        word = words[index + size]
        if size and not BETWEEN.fullmatch(text, words[index + size - 1].end(), word.start()):
            break
        if size and "(" in text[words[index + size - 1].end() : word.start()] and not SIZE.fullmatch(word[0].lower()):
            break
        squeezed += word[0].lower()
        if squeezed.rstrip("s") not in _beginnings() and squeezed not in _beginnings():
            break
        entry = spellings.get(squeezed) or (spellings.get(squeezed[:-1]) if squeezed.endswith("s") and len(squeezed) > 2 else None)
        if (
            entry
            and squeezed.rstrip("s").isdigit()
            and not (NUMBERS_ALONE.search(text[max(words[index].start() - 12, 0) : words[index].start()]) or squeezed[-1] == "s")
        ):
            entry = None
        if entry:
            device = entry[0] == "hardware"
            labelled = LABEL.match(text, word.end()) if device else None
            count = _count(text, words, index) if device else 0
            best = (Name(*entry, words[index].start(), labelled.end() if labelled else word.end(), count), size + 1)
    return best


COUNTED = re.compile(r"(?<![\w.,])(\d{1,4}|\d{1,3},\d{3}|two|three|four|eight|sixteen)\s*(?:[x×]\s*|\s)(?:nvidia |amd |google )?$", re.IGNORECASE)
NUMBER_WORDS = {"one": 1, "single": 1, "two": 2, "dual": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10, "twelve": 12, "sixteen": 16,
                "thirty-two": 32, "sixty-four": 64}  # fmt: skip


def _count(text: str, words: list[re.Match[str]], index: int) -> int:
    """The number of devices right before a name."""
    start = words[index].start()
    match = COUNTED.search(text[max(start - 18, 0) : start])
    return NUMBER_WORDS.get(match[1].lower(), 0) or int(match[1].replace(",", "")) if match else 0


def _of_family(words: list[re.Match[str]], index: int, family: str) -> tuple[str, list[Name]]:
    """The family that a word and those after it name, and the model that a size alone is."""
    families = _families()
    word = words[index][0].lower()
    if SIZE.fullmatch(word) and word in families.get(family, {}):
        return family, [Name("model", families[family][word], words[index].start(), words[index].end(), sized=True)]
    if word not in _beginnings():
        return family, []
    for size in (3, 2, 1):
        squeezed = "".join(other[0].lower() for other in words[index : index + size])
        if squeezed in families:
            return squeezed, []
    return family, []
