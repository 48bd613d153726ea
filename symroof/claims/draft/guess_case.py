"""The case a number of a note is of: the settings its quantity moves with, each from the nearest words that state it.

Nearest means: its row and column, its sentence, its paragraph, the headings over it, what comes before, what comes after. A batch
reaches no farther than its paragraph or table; a model reaches through the note.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from symroof.claims.draft.case_words import NEAR, OF_WEIGHTS, Setting, count, settings
from symroof.claims.draft.guess_quantity import sentence_around
from symroof.claims.draft.named_parts import Name, named
from symroof.claims.draft.note_blocks import Block
from symroof.claims.read.numbers import Figure
from symroof.theory.layout import Layout
from symroof.theory.symbols import GROUPS, INPUTS
from symroof.theory.theory import theory

DEVICE_INPUTS = frozenset(["peak_flops", "mem_bandwidth", "mem_capacity", "link_bandwidth", "l2_bandwidth", "l2_capacity", "power"])
MODEL_INPUTS = frozenset([*(symbol.name for symbol in GROUPS["architecture"]), "params", "active_params"])
STATED = frozenset(["price", "power", "mfu", "mbu", "memory_reserve", "host_bandwidth", "disk_bandwidth", "network_bandwidth", "output", "chunk", "arrival_rate", "acceptance", "hit_rate",
                    "step_overhead", "prompt", "context", "draft_tokens", "cached_prefix"])  # fmt: skip
"""Inputs that a note states as numbers of their own, which its other numbers then rest on."""
NARROW = frozenset(["batch", "mfu", "mbu", "chunk", "dp", "step_overhead"])
"""Settings that reach no farther than their paragraph, their headings, or the table they introduce."""
PRECISIONS = frozenset(["weights", "kv"])
SAME = {"bf16": "fp16"}
"""Precisions of one width."""
EIGHT_BITS = frozenset(["fp8", "int8", "w8a8"])
ASSUMED = frozenset(["mfu", "mbu"])
"""Settings that hold from where they are stated on."""
OF_BATCHES = ("memory_bytes", "memory_util", "throughput", "cost", "energy", "sustained", "price_per")
"""Parts of the names of quantities that mean little at a batch of one, so that theirs is looked for in the whole note."""
OF_ONE_SENTENCE = frozenset(["kv_cache_bytes", "kv_cache_bytes_per_device"])
"""Quantities whose batch stands in their own sentence: the next one may speak of one request again."""
NOT_OF = {"concurrency": {"batch"}, "free_memory": {"batch"}, "energy_per_token": {"power"}, "decode_energy_per_token": {"power"}}
"""Inputs that words near a quantity usually do not mean."""
OWN_ROW, SENTENCE, PARAGRAPH, HEADING, ELSEWHERE = range(5)


@dataclass(frozen=True)
class Stated:
    """A value that a note states somewhere, and how far from the number that uses it."""

    value: str
    reach: int
    soft: bool = False


@dataclass
class Case:
    """The settings of a draft, and what of it is doubtful."""

    given: dict[str, str] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)


class NoteWords:
    """What the blocks of a note state, looked up by nearness."""

    def __init__(self, blocks: Sequence[Block], defaults: dict[str, str]) -> None:
        self.blocks, self.defaults = blocks, defaults
        self.prose: dict[str, list[tuple[int, int, str, bool]]] = {}
        self.cells: dict[str, list[tuple[int, int, str, bool]]] = {}
        family = ""
        for index, block in enumerate(blocks):
            names = named(block.text, family)
            family = next((name.entry.rpartition("-")[0].replace("-", "") for name in reversed(names) if name.kind == "model"), family)
            for word in (*_of_names(names), *settings(block.text)):
                self._add(index, word)
        self._of_cache_only()
        self.intros = list(_intros(blocks))

    def _of_cache_only(self) -> None:
        """A precision that stands alone is that of the cache where the note names it for the cache and never for the weights."""
        stores = (self.prose, self.cells)
        named_for = {name: {word[2] for store in stores for word in store.get(name, []) if not word[3]} for name in ("weights", "kv")}
        for store in stores:
            for word in [word for word in store.get("weights", []) if word[3] and word[2] in named_for["kv"] - named_for["weights"]]:
                store["weights"].remove(word)
                bisect.insort(store.setdefault("kv", []), word)

    def _add(self, index: int, word: Setting) -> None:
        store = self.cells if self.blocks[index].table else self.prose
        bisect.insort(store.setdefault(word.name, []), (index, word.start, word.value, word.soft))

    def state(self, index: int, name: str, figure: Figure) -> None:
        """A number of the note that is an input: what comes near it rests on it."""
        store = self.cells if self.blocks[index].table else self.prose
        if name not in ("prompt", "context") and "context" in store:
            store["context"] = [word for word in store["context"] if not (word[0] == index and word[3] and figure.start <= word[1] < figure.stop)]
        self._add(index, Setting(name, written_value(figure), figure.start, figure.stop))

    def of_cache(self, index: int, figure: Figure) -> None:
        """A precision beside a size of the cache is that of the cache, unless words between them speak of the weights."""
        store = self.cells if self.blocks[index].table else self.prose
        text = self.blocks[index].text
        for word in [word for word in store.get("weights", []) if word[0] == index]:
            low, high = sorted((word[1], figure.start))
            if high - low < NEAR and not OF_WEIGHTS.search(text, low, high):
                store["weights"].remove(word)
                bisect.insort(store.setdefault("kv", []), word)

    def several(self, name: str) -> bool:
        """Whether a note states more than one value."""
        return (
            len({SAME.get(value, value) for store in (self.prose, self.cells) for _, _, value, soft in store.get(name, []) if not soft or name in PRECISIONS})
            > 1
        )

    def nearest(self, name: str, index: int, figure: Figure, whole: bool = False) -> Stated | None:
        """The value of a setting for a number of a block; a narrow one from the ``whole`` note where that is asked for.

        A group that is only inferred from a count of cards stands back behind one that is stated anywhere.
        """
        if name == "tp" and (stated := self._nearest(name, index, figure, whole, hard=True)):
            return stated
        return self._nearest(name, index, figure, whole, hard=False)

    def _nearest(self, name: str, index: int, figure: Figure, whole: bool, hard: bool) -> Stated | None:
        block = self.blocks[index]
        if block.table and (value := _in_row(block, name, hard)):
            return value
        inside = [word for word in self._of_block(name, index) if not (hard and word[3])]
        if name in ASSUMED:
            inside = [word for word in inside if word[1] < figure.start]
        if inside:
            start, end = sentence_around(block, figure.start)
            here = [word for word in inside if start <= word[1] < end]
            nearest = min(here or inside, key=lambda word: (word[3], abs(word[1] - figure.start)))
            return Stated(nearest[2], SENTENCE if here else PARAGRAPH, nearest[3])
        for heading in reversed(block.headings):
            if word := _first(heading, name, hard):
                return Stated(word.value, HEADING, word.soft)
        intro = self.intros[index]
        if intro is not None and (words := [word for word in self._of_block(name, intro) if not (hard and word[3])]):
            return Stated(words[-1][2], PARAGRAPH, words[-1][3])
        if column := self._in_column(name, index, hard):
            return column
        return None if name in NARROW and not whole else self._elsewhere(name, index, hard)

    def _in_column(self, name: str, index: int, hard: bool) -> Stated | None:
        """A value in another cell of the column, the nearest before or the first after."""
        block = self.blocks[index]
        words = self.cells.get(name, []) if block.table and block.column else []
        same = [word for word in words if self.blocks[word[0]].table == block.table and self.blocks[word[0]].column == block.column and not (hard and word[3])]
        if not same:
            return None
        at = bisect.bisect_left(same, (index,))
        chosen = same[at - 1] if at else same[0]
        return Stated(chosen[2], PARAGRAPH, chosen[3])

    def _of_block(self, name: str, index: int) -> list[tuple[int, int, str, bool]]:
        for store in (self.prose, self.cells):
            words = store.get(name, [])
            low, high = bisect.bisect_left(words, (index,)), bisect.bisect_left(words, (index + 1,))
            if low < high:
                return words[low:high]
        return []

    def _elsewhere(self, name: str, index: int, hard: bool) -> Stated | None:
        """The last value before a block, else what the note says by an annotation, else the first after it; prose before tables."""
        for store in (self.prose, self.cells):
            words = store.get(name, [])
            words = [word for word in words if not word[3]] or ([] if hard else words)
            at = bisect.bisect_left(words, (index,))
            if at and store is self.prose:
                return Stated(words[at - 1][2], ELSEWHERE, words[at - 1][3])
            if name in self.defaults:
                return Stated(self.defaults[name], HEADING)
            if words and (at or not words[0][3]):
                chosen = words[at - 1] if at else words[0]
                return Stated(chosen[2], ELSEWHERE, chosen[3])
        return Stated(self.defaults[name], HEADING) if name in self.defaults else None


def _of_names(names: Sequence[Name]) -> Iterator[Setting]:
    """Models and devices as settings; several devices are perhaps a group."""
    for name in names:
        yield Setting(name.kind, name.entry, name.start, name.end, name.sized)
        if name.count:
            yield Setting("tp", str(name.count), name.start, name.end, True)


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[Setting, ...]:
    return (*_of_names(named(text)), *settings(text))


def _first(text: str, name: str, hard: bool = False) -> Setting | None:
    """The first value of a setting in a text, one that is stated before one that is inferred."""
    words = [word for word in _words(text) if word.name == name and not (hard and word.soft)]
    return min(words, key=lambda word: word.soft) if words else None


def _in_row(block: Block, name: str, hard: bool) -> Stated | None:
    """A value in the column's head, the row's label, the cell or the other cells of its row."""
    for text in (f"{block.column} {block.text}", block.row, *block.siblings):
        if word := _first(text, name, hard):
            return Stated(word.value, OWN_ROW, word.soft)
    return None


def _intros(blocks: Sequence[Block]) -> Iterator[int | None]:
    """The block that introduces each: the prose before its table, or a paragraph that ends with a colon."""
    last: int | None = None
    for index, block in enumerate(blocks):
        introduced = last is not None and (block.table or blocks[last].text.rstrip().endswith(":"))
        yield last if introduced else None
        if not block.table and not (introduced and blocks[last or 0].text.rstrip().endswith(":")):
            last = index


@lru_cache(maxsize=512)
def moved_by(quantity: str) -> frozenset[str]:
    """The names a quantity moves with, on any layout of devices."""
    return theory(layout=Layout(tp=True, dp=True)).ancestry(quantity)


def guess_case(words: NoteWords, index: int, figure: Figure, quantity: str) -> Case:
    """The settings of a number of a block."""
    case = Case()
    moves = moved_by(quantity)

    def take(name: str) -> str:
        far = name == "batch" and any(part in quantity for part in OF_BATCHES)
        stated = words.nearest(name, index, figure, far)
        if stated is None or (name == "batch" and quantity in OF_ONE_SENTENCE and stated.reach == PARAGRAPH):
            return ""
        case.given[name] = stated.value
        if (stated.soft and name not in PRECISIONS) or (stated.reach == ELSEWHERE and (far or words.several(name))):
            case.doubts.append(f"{name} {stated.value}")
        return stated.value

    if moves & MODEL_INPUTS and not take("model"):
        case.doubts.append("no model of the catalogue is named")
    if moves & DEVICE_INPUTS:
        take("hardware")
    if "weight_bytes_per_param" in moves or "peak_flops" in moves:
        weights = take("weights")
        if weights in EIGHT_BITS and "peak_flops" in moves:
            case.given["activations"] = weights
    if "kv_bytes_per_element" in moves:
        take("kv")
    _lengths(words, index, figure, quantity, case)
    for name in ("batch", "tp", "pp", "ep", "dp", *sorted(STATED - {"prompt", "context"})):
        if name == "output" and not case.given.keys() & {"prompt", "context"}:
            continue
        if name in moves and name != quantity and name not in NOT_OF.get(quantity, ()):
            take(name)
    if quantity.endswith("_per_device") and "tp" in moves and "tp" not in case.given:
        case.doubts.append("tp is not stated")
    if quantity == "devices":
        _devices(case, written_value(figure))
    if (
        (quantity in INPUTS or quantity == "context")
        and not (quantity in DEVICE_INPUTS and "hardware" in case.given)
        and not (quantity in ("params", "active_params") and "model" in case.given)
    ):
        case.given = {quantity: written_value(figure)}
        case.doubts = []
    if quantity == "weight_bytes_per_param":
        case.given = {"weights": case.given.get("weights", "fp16")}
    return case


def _devices(case: Case, devices: str) -> None:
    """The copies of a group that so many devices make, or one group of all of them."""
    group = int(case.given.get("tp", "0"))
    many = int(devices) if devices.isdigit() else 0
    copies = many // group if group and many % group == 0 else 0
    case.given = {"tp": str(group), "dp": str(copies)} if copies else {"tp": devices}
    case.doubts = [] if copies else ["one group of all devices"]


def _lengths(words: NoteWords, index: int, figure: Figure, quantity: str, case: Case) -> None:
    """The prompt or the context of a quantity that moves with either: whichever is stated nearer."""
    moves = moved_by(quantity)
    if not moves & {"prompt", "context"} or quantity in ("prompt", "context"):
        return
    stated = {name: value for name in ("prompt", "context") if (value := words.nearest(name, index, figure))}
    if quantity == "free_memory" and all(value.reach > SENTENCE for value in stated.values()):
        case.given["prompt"] = "1"
        case.doubts.append("beside the weights alone")
        return
    if not stated:
        return
    name = min(stated, key=lambda one: (stated[one].reach, stated[one].soft))
    value = stated[name]
    as_context = name == "context" and "context" in moves and "peak_context" not in moves
    case.given["context" if as_context else "prompt"] = value.value
    if value.soft or (value.reach == ELSEWHERE and words.several(name)):
        case.doubts.append(f"{name} {value.value}")


def written_value(figure: Figure) -> str:
    """A number as an annotation sets it: ``2.50 USD/hour``, ``4096``, ``50 %``.

    >>> from symroof.claims.read.numbers import figures
    >>> [written_value(figure) for figure in figures("$2.50/hour, 4,096 tokens, about 50 %")]
    ['2.50 USD/hour', '4096', '50 %']
    """
    number = figure.number.replace(",", "")
    if figure.unit in ("token", "request", "device", ""):
        return count(figure.digits) if not figure.power and "." not in figure.digits else number
    return f"{number} {'/'.join(piece for piece in figure.unit.split('/') if piece not in ('device', 'request'))}"
