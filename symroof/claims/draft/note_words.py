"""What a note states of its cases, and the nearest statement of a setting for a number.

Nearest means: its row and column, its sentence, its paragraph, the headings over it, what comes before, what comes after.
"""

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from symroof.claims.draft.case_words import NEAR, OF_WEIGHTS, Setting, count, settings
from symroof.claims.draft.guess_quantity import sentence_around
from symroof.claims.draft.named_parts import Name, named
from symroof.claims.draft.note_blocks import Block
from symroof.claims.draft.passing_words import in_its_clause, leads_its_clause, passing
from symroof.claims.read.numbers import Figure

NARROW = frozenset(["batch", "mfu", "mbu", "chunk", "dp", "step_overhead"])
"""Settings that reach no farther than their paragraph, their headings, or the table they introduce."""
PRECISIONS = frozenset(["weights", "kv"])
OF_ONE_NUMBER = PRECISIONS | {"compute"}
"""Settings of which a text states several side by side, each of the number in its own clause."""
SAME = {"bf16": "fp16"}
"""Precisions of one width."""
ASSUMED = frozenset(["mfu", "mbu"])
"""Settings that hold from where they are stated on."""
MOST_STATED = 1000
"""Places of one setting that are remembered: a bound for a file that states nothing else."""
MOST_BESIDE = 6
"""Precisions on either side of a number, in its sentence, of which one may be its own."""
OWN_ROW, SENTENCE, PARAGRAPH, HEADING, ELSEWHERE = range(5)


class Place(NamedTuple):
    """The block and the place in it where a value is stated, the value, whether it is only inferred, and whether it is only of its own sentence."""

    block: int
    start: int
    value: str
    soft: bool
    passing: bool = False


@dataclass(frozen=True)
class Stated:
    """A value that a note states somewhere, how far from the number that uses it, and whether others stand as near."""

    value: str
    reach: int
    soft: bool = False
    several: bool = False


class NoteWords:
    """What the blocks of a note state, looked up by nearness."""

    def __init__(self, blocks: Sequence[Block], defaults: dict[str, str]) -> None:
        self.blocks, self.defaults = blocks, defaults
        self.prose: dict[str, list[Place]] = {}
        self.cells: dict[str, list[Place]] = {}
        family = ""
        for index, block in enumerate(blocks):
            names = named(block.text, family)
            family = next((name.entry.rpartition("-")[0].replace("-", "") for name in reversed(names) if name.kind == "model"), family)
            for word in (*_of_names(names), *settings(block.text)):
                self._add(index, word)
        self.sections = [(*block.headings, block.text) if block.is_title else block.headings for block in blocks]
        self.models = list(self._models())
        self._of_cache_only()
        for name in OF_ONE_NUMBER:
            self.prose[name] = list(self._with_passing(self.prose.get(name, [])))
        self.intros = list(_intros(blocks))

    def _models(self) -> Iterator[str]:
        """The model that each block speaks of: the last one that prose names up to it."""
        words, model, at = [word for word in self.prose.get("model", []) if not word.soft], "", 0
        for index in range(len(self.blocks)):
            while at < len(words) and words[at].block <= index:
                model, at = words[at].value, at + 1
            yield model

    def _of_another(self, one: int, index: int) -> bool:
        """Whether a block is of another model's section than a second one; what stands under a heading over both is of both."""
        over, section = self.sections[one], self.sections[index]
        return section[: len(over)] != over and self.models[one] != self.models[index]

    def _of_cache_only(self) -> None:
        """A precision that stands alone is that of the cache where the note names it for the cache and never for the weights."""
        stores = (self.prose, self.cells)
        named_for = {name: {word[2] for store in stores for word in store.get(name, []) if not word[3]} for name in ("weights", "kv")}
        for store in stores:
            for word in [word for word in store.get("weights", []) if word[3] and word[2] in named_for["kv"] - named_for["weights"]]:
                store["weights"].remove(word)
                bisect.insort(store.setdefault("kv", []), word)

    def _with_passing(self, words: Sequence[Place]) -> Iterator[Place]:
        """The same, with those marked that a text only passes by: what would be, and another case beside the one that it stated first."""
        before, last = "", 0
        for word in words:
            block = self.blocks[word.block]
            before, last = "" if self._of_another(last, word.block) else before, word.block
            low, high = sentence_around(block, word.start)
            another = before not in ("", word.value) and leads_its_clause(block.text, word.start)
            in_passing = not block.is_title and (another or passing(block.text[low:high], word.start - low))
            before = before if in_passing else SAME.get(word.value, word.value)
            yield word._replace(passing=in_passing)

    def _add(self, index: int, word: Setting) -> None:
        store = self.cells if self.blocks[index].table else self.prose
        places = store.setdefault(word.name, [])
        if len(places) < MOST_STATED:
            bisect.insort(places, Place(index, word.start, word.value, word.soft))

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

    def values(self, name: str) -> list[str]:
        """Every value of a setting that a note states, once."""
        return list(dict.fromkeys(word.value for store in (self.prose, self.cells) for word in store.get(name, [])))

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
        if inside and (own := _of_own_block(name, block, inside, figure)):
            return own
        for heading in reversed(block.headings):
            if word := _first(heading, name, hard):
                return Stated(word.value, HEADING, word.soft)
        intro = self.intros[index]
        if intro is not None and (words := [word for word in self._of_block(name, intro) if not (hard and word.soft) and not word.passing]):
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

    def _of_block(self, name: str, index: int) -> list[Place]:
        for store in (self.prose, self.cells):
            words = store.get(name, [])
            low, high = bisect.bisect_left(words, (index,)), bisect.bisect_left(words, (index + 1,))
            if low < high:
                return words[low:high]
        return []

    def _elsewhere(self, name: str, index: int, hard: bool) -> Stated | None:
        """The last value before a block, else what the note says by an annotation, else the first after it; its own section before others, prose before tables."""
        for store in (self.prose, self.cells):
            words = [word for word in store.get(name, []) if not word.passing and (word.block < index or not self._of_another(word.block, index))]
            words = [word for word in words if not word.soft] or ([] if hard else words)
            words = [word for word in words if self.sections[word.block] == self.sections[index]] or words
            several = _several(words)
            at = bisect.bisect_left(words, (index,))
            if at and store is self.prose:
                return Stated(words[at - 1].value, ELSEWHERE, words[at - 1].soft, several)
            if name in self.defaults:
                return Stated(self.defaults[name], HEADING)
            if words and (at or not words[0].soft):
                chosen = words[at - 1] if at else words[0]
                return Stated(chosen.value, ELSEWHERE, chosen.soft, several)
        return Stated(self.defaults[name], HEADING) if name in self.defaults else None


def _several(words: Sequence[Place]) -> bool:
    """Whether they are more than one value."""
    return len({SAME.get(word.value, word.value) for word in words}) > 1


def _of_own_block(name: str, block: Block, words: Sequence[Place], figure: Figure) -> Stated | None:
    """A value that the block of a number states itself: in its sentence, or else in another one that says more than its own case."""
    start, end = sentence_around(block, figure.start)
    here = [word for word in words if start <= word.start < end]
    if here and name in OF_ONE_NUMBER:
        at = bisect.bisect_left(here, (here[0].block, figure.start))
        nearest = min(here[max(at - MOST_BESIDE, 0) : at + MOST_BESIDE], key=lambda word: in_its_clause(block.text, word.start, figure))
    elif here:
        nearest = min(here, key=lambda word: (word.soft, abs(word.start - figure.start)))
    else:
        words = [word for word in words if not word.passing or (block.is_item and word.start < figure.start)]
        if name == "tp":  # cards that a later sentence counts are none of an earlier one's group
            words = [word for word in words if not word.soft or word.start < figure.start]
        if not words:
            return None
        nearest = min(words, key=lambda word: (word.soft, abs(word.start - figure.start)))
    return Stated(nearest.value, SENTENCE if here else PARAGRAPH, nearest.soft)


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


def written_value(figure: Figure) -> str:
    """A number as an annotation sets it: ``2.50 USD/hour``, ``4096``, ``50 %``.

    >>> from symroof.claims.read.numbers import figures
    >>> [written_value(figure) for figure in figures("$2.50/hour, 4,096 tokens, about 50 %, 5 requests/s")]
    ['2.50 USD/hour', '4096', '50 %', '5 request/s']
    """
    number = figure.number.replace(",", "")
    if figure.unit in ("token", "request", "device", ""):
        return count(figure.digits) if not figure.power and "." not in figure.digits else number
    counted, *per = figure.unit.split("/")
    return f"{number} {'/'.join([counted, *(piece for piece in per if piece not in ('device', 'request'))])}"
