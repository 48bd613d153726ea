"""A note with an annotation drafted behind each number that has a unit; but for these comments no byte of it changes.

>>> drafted = draft("The KV cache of Llama-3-70B takes 1.34 GB at 4,096 tokens of context.", "note.md")
>>> [(one.text, one.quantity, one.given) for one in drafted.drafts][0]
('1.34 GB', 'kv_cache_bytes', {'model': 'llama-3-70b', 'context': '4096'})
>>> drafted.content[:93]
'The KV cache of Llama-3-70B takes 1.34 GB<!-- symroof: kv_cache_bytes model=llama-3-70b conte'
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from symroof.claims.corrected_copies import DOUBTFUL
from symroof.claims.draft.guess_case import guess_case
from symroof.claims.draft.guess_quantity import Guess, as_written, guess, kind_of, numbers
from symroof.claims.draft.named_parts import named
from symroof.claims.draft.note_blocks import Block, Whole, read_blocks
from symroof.claims.draft.note_words import NoteWords
from symroof.claims.draft.numbers_beside import of_several_devices
from symroof.claims.read.annotations import fields
from symroof.claims.read.claim_files import Source, read_on
from symroof.claims.read.markdown import line_starts, passages
from symroof.claims.read.markdown_notes import DEFAULT, LEAD, MOST_ANNOTATIONS
from symroof.claims.read.numbers import Figure
from symroof.errors import InputError
from symroof.theory.symbols import INPUTS

MOST_NUMBERS = 2000
"""Numbers of one file that are looked at."""
ANNOTATED = re.compile(r"\s{0,3}<!--\s*symroof\s*:", re.IGNORECASE)
CLOSING = re.compile(r"(?:\*{1,3}|_{1,3}|~~)(?![\w*_])|\}")
LABELLED = "0.1"
"""Tolerance of a memory size: a card's label is up to a tenth less or more than what its driver reports."""


@dataclass(frozen=True)
class Draft:
    """A drafted annotation.

    Attributes:
        line, column: where the number stands.
        text: the number as it stands there.
        start, at: where the number begins, and where the annotation goes.
        figure: the number as it was read.
        in_head: whether its unit stands in the head of its column, or farther behind it.
        quantity: what the number probably is.
        given: the settings of its case.
        doubts: what a person should look at.
        value: the number as the annotation refers to it; empty where it is the nearest.
    """

    line: int
    column: int
    text: str
    start: int
    at: int
    quantity: str
    given: dict[str, str]
    doubts: tuple[str, ...]
    figure: Figure
    in_head: bool = False
    value: str = ""

    @property
    def annotation(self) -> str:
        """The comment.

        >>> from symroof.claims.read.numbers import figures
        >>> [figure] = figures("5 ms")
        >>> Draft(1, 1, "5 ms", 0, 4, "itl", {"batch": "8", "mfu": "50 %"}, ("or tpot",), figure).annotation
        "<!-- symroof: itl batch=8 mfu='50 %' note='doubtful: or tpot' -->"
        """
        words = [self.quantity, *(f"{name}={_quoted(value)}" for name, value in self.given.items())]
        if self.quantity == "mem_capacity" and "hardware" in self.given:
            words.append(f"tolerance={LABELLED}")
        if self.value:
            words.append(f"value={_quoted(self.value)}")
        if self.doubts:
            words.append(f"note={_quoted(f'{DOUBTFUL}: ' + '; '.join(self.doubts))}")
        return f"<!-- symroof: {' '.join(words)} -->"

    def as_json(self) -> dict[str, Any]:
        return {"line": self.line, "column": self.column, "number": self.text, "quantity": self.quantity, "given": self.given, "doubtful": list(self.doubts)}


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w.+-]+", value) else f"'{value}'"


@dataclass(frozen=True)
class Left:
    """A number with a unit that no annotation is drafted for."""

    line: int
    column: int
    text: str
    why: str

    def as_json(self) -> dict[str, Any]:
        return {"line": self.line, "column": self.column, "number": self.text, "why": self.why}


@dataclass(frozen=True)
class Drafted:
    """A note with drafted annotations.

    Attributes:
        content: its text with them.
        drafts: each of them, in order.
        left: the numbers with a unit that have none, in order.
        annotated: how many numbers had one before.
    """

    file: str
    content: str
    drafts: tuple[Draft, ...]
    left: tuple[Left, ...]
    annotated: int

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "drafts": [one.as_json() for one in self.drafts], "left": [one.as_json() for one in self.left], "annotated": self.annotated}


def draft(text: str, file: str) -> Drafted:
    """Draft an annotation behind each number of a note that has a unit and none yet.

    Raises:
        InputError: annotations of the note that cannot be read, each at its place.
    """
    source = read_on(text, file)
    if source.problems:
        raise InputError(source.problems)
    blocks, whole = read_blocks(text)
    drafter = _Drafter(text, blocks, whole, source)
    drafts = drafter.readable(drafter.drafts(), file)
    left = sorted(drafter.left, key=lambda one: (one.line, one.column))
    return Drafted(file, annotated(text, drafts), tuple(drafts), tuple(left), len(drafter.owned))


def annotated(text: str, drafts: Sequence[Draft]) -> str:
    """A text with annotations put in."""
    parts, before = [], 0
    for one in sorted(drafts, key=lambda one: (one.at, one.start)):
        parts += [text[before : one.at], one.annotation]
        before = one.at
    return "".join([*parts, text[before:]])


def _defaults(text: str) -> dict[str, str]:
    """The settings that a note's own annotations set for all after them."""
    settings: dict[str, str] = {}
    for passage in passages(text) if "symroof" in text.lower() else ():
        lead = LEAD.match(passage.comment)
        body = passage.comment[lead.end() :] if lead else ""
        if DEFAULT.match(body):
            given = fields(body).data.get("given", {})
            settings |= {name: str(value) for name, value in given.items() if isinstance(value, (str, int))}
    return settings


def _as_elsewhere(guesses: Sequence[tuple[int, Figure, Guess]]) -> list[tuple[int, Figure, Guess]]:
    """Guesses in which a number that hardly speaks for itself is what the same number clearly is elsewhere in the note."""
    clear = {(figure.number, figure.unit): one for _, figure, one in guesses if one.clear}

    def settled(figure: Figure, one: Guess) -> Guess:
        other = clear.get((figure.number, figure.unit))
        adopts = other and not one.clear and len(figure.digits) > 2 and (not one.quantity or other.quantity in (one.quantity, one.rival))
        return other if other and adopts else one

    return [(index, figure, settled(figure, one)) for index, figure, one in guesses]


class _Drafter:
    """The numbers of one note."""

    def __init__(self, text: str, blocks: Sequence[Block], whole: Whole, source: Source) -> None:
        self.text, self.blocks, self.whole = text, blocks, whole
        self.starts = line_starts(text)
        figures = source.note.figures if source.note else ()
        self.owned = {figure.start for figure in figures if figure}
        self.room = MOST_ANNOTATIONS - len(figures)
        self.left: list[Left] = []

    def drafts(self) -> list[Draft]:
        """A draft for each number that speaks for one."""
        words = NoteWords(self.blocks, _defaults(self.text))
        guesses: list[tuple[int, Figure, Guess]] = []
        before = ""
        for index, block in enumerate(self.blocks):
            last: dict[str, tuple[str, int]] = {}
            for figure in self._numbers(block, MOST_NUMBERS - len(guesses)):
                one = guess(block, figure, before, last.get(kind_of(figure), ("", 0)))
                last[kind_of(figure)] = (one.quantity, figure.start)
                guesses.append((index, figure, one))
                if one.quantity in INPUTS:
                    words.state(index, one.quantity, figure)
                elif one.quantity.startswith("kv_"):
                    words.of_cache(index, figure)
            before = before if block.table else block.text
        return [made for index, figure, one in _as_elsewhere(guesses) if (made := self._draft(words, index, figure, one))]

    def _numbers(self, block: Block, most: int) -> list[Figure]:
        """The numbers of a block that have a unit, but for those inside names and code."""
        if most <= 0 or not any(character.isdigit() for character in block.text):
            return []
        names = [(name.start, name.end) for name in named(block.text)]
        every = [figure for figure in numbers(block) if kind_of(figure) != "none"]
        return [
            figure
            for figure in every[:most]
            if not any(start <= figure.start < end for start, end in names) and not self.whole.closes(block.place(figure.start))
        ]

    def _draft(self, words: NoteWords, index: int, figure: Figure, one: Guess) -> Draft | None:
        block = self.blocks[index]
        start, at = block.place(figure.start), self._behind(block.place(figure.stop))
        if start in self.owned or ANNOTATED.match(self.text, at):
            return None
        line, column = self._position(start)
        if why := self._why_left(block, figure, one):
            self.left += [Left(line, column, figure.text, why)] if figure.unit else []
            return None
        self.room -= 1
        if one.quantity == "peak_flops" and kind_of(figure) == "FLOP":  # 989 TFLOPs, that stands for a rate
            figure = replace(figure, unit=f"{figure.unit}/s")
        case = guess_case(words, index, figure, one.quantity)
        in_head = not as_written(block, figure)
        value = f"{figure.number.replace(',', '')} {figure.unit}" if in_head else ""
        return Draft(line, column, figure.text, start, at, one.quantity, case.given, (*one.doubts, *case.doubts), figure, in_head, value)

    def _why_left(self, block: Block, figure: Figure, one: Guess) -> str:
        """Why a number gets no annotation; empty for one that does."""
        if not one.quantity:
            return "no quantity of inference speaks from its words"
        if one.quantity == "mem_capacity" and of_several_devices(block.text, figure):
            return "it is the memory of several devices together"
        return f"a file has at most {MOST_ANNOTATIONS} annotations" if self.room <= 0 else ""

    def _position(self, place: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.starts, place)
        return line, place - self.starts[line - 1] + 1

    def _behind(self, place: int) -> int:
        """The first place from the end of a number on that is outside of formulas, code, links and marks."""
        for _ in range(4):
            after = self.whole.after(place)
            closing = CLOSING.match(self.text, after)
            moved = closing.end() if closing else after
            if moved == place:
                break
            place = moved
        return place

    def readable(self, drafts: list[Draft], file: str) -> list[Draft]:
        """The drafts that `symroof check` reads as claims about their own number, with a ``value`` where that is not the nearest."""
        for last in (False, True) if drafts else ():
            wrong = self._misread(drafts, file)
            if not wrong:
                break
            if last:
                self.left += [Left(one.line, one.column, one.text, "no annotation behind it would be read") for i, one in enumerate(drafts) if i in wrong]
                return [one for i, one in enumerate(drafts) if i not in wrong]
            drafts = [replace(one, value=wrong[i]) if i in wrong else one for i, one in enumerate(drafts)]
        return drafts

    def _misread(self, drafts: list[Draft], file: str) -> dict[int, str]:
        """The drafts whose claim is about another number or is none, each with the value to name."""
        text = annotated(self.text, drafts)
        source = read_on(text, file)
        if source.note is None:
            return {}
        note, starts = source.note, line_starts(text)
        claims = {place: location[1] for location, place in note.document.places.items() if len(location) == 2}
        ends = sorted((one.at, one.start, len(one.annotation)) for one in drafts)
        grown = [0, *accumulate(length for _, _, length in ends)]
        places = [at for at, _, _ in ends]
        wrong = {}
        for i, one in enumerate(drafts):
            own = bisect.bisect_left(ends, (one.at, one.start, 0))
            at = one.at + grown[own] + len("<!-- ")
            line = bisect.bisect_right(starts, at)
            claim = claims.get((line, at - starts[line - 1] + 1))
            figure = note.figures[claim] if isinstance(claim, int) and claim not in source.aside else None
            number = one.start + grown[bisect.bisect_right(places, one.start)]
            good = figure.start == number if figure else isinstance(claim, int) and claim not in source.aside and one.in_head
            if not good:
                wrong[i] = f"{one.figure.number.replace(',', '')} {one.figure.unit}".strip()
        return wrong
