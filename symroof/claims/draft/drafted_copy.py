"""A note with an annotation drafted behind each number that has a unit; but for these comments no byte of it changes.

>>> drafted = draft("The KV cache of Llama-3-70B takes 1.34 GB at 4,096 tokens of context.", "note.md")
>>> [(one.text, one.quantity, one.given) for one in drafted.drafts][0]
('1.34 GB', 'kv_cache_bytes', {'model': 'llama-3-70b', 'context': '4096'})
>>> drafted.content[:93]
'The KV cache of Llama-3-70B takes 1.34 GB<!-- symroof: kv_cache_bytes model=llama-3-70b conte'
"""

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from symroof.claims.draft.drafted_annotations import Draft, Drafted, Left, annotated
from symroof.claims.draft.guess_case import guess_case, of_another_size, settled
from symroof.claims.draft.guess_quantity import Guess, as_written, guess, kind_of, numbers, sentence_around
from symroof.claims.draft.named_parts import named
from symroof.claims.draft.note_blocks import Block, Whole, read_blocks
from symroof.claims.draft.note_words import NoteWords
from symroof.claims.draft.numbers_beside import many_of, of_several_devices, restated
from symroof.claims.draft.readings import SURE
from symroof.claims.read.annotations import fields
from symroof.claims.read.claim_files import Source, read_on
from symroof.claims.read.markdown import line_starts, passages
from symroof.claims.read.markdown_notes import DEFAULT, LEAD, MOST_ANNOTATIONS
from symroof.claims.read.numbers import Figure
from symroof.errors import InputError
from symroof.theory.symbols import INPUTS

MOST_NUMBERS = 2000
"""Numbers of one file that are looked at."""
MOST_TRIED = 100
"""Doubtful numbers of a file whose readings are worked out."""
OF_A_DEVICE = frozenset(["power", "price", "mem_capacity", "mem_bandwidth", "peak_flops", "link_bandwidth"])
ANNOTATED = re.compile(r"\s{0,3}<!--\s*symroof\s*:", re.IGNORECASE)
CLOSING = re.compile(r"(?:\*{1,3}|_{1,3}|~~)(?![\w*_])|\}")


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


@dataclass(frozen=True)
class Guessed:
    """A number of a block with what it probably is.

    Attributes:
        place: the number whose place says of which case it is: itself, or the one it says again.
        many: whether it is that of so many devices, of which the number before it is one.
    """

    block: int
    figure: Figure
    place: Figure
    guess: Guess
    many: bool = False


def _as_elsewhere(guesses: Sequence[Guessed]) -> list[Guessed]:
    """Guesses in which a number that hardly speaks for itself is what the same number clearly is elsewhere in the note."""
    clear = {(one.figure.number, one.figure.unit): one.guess for one in guesses if one.guess.clear}

    def settled(figure: Figure, one: Guess) -> Guess:
        other = clear.get((figure.number, figure.unit))
        adopts = other and not one.clear and len(figure.digits) > 2 and (one.score < SURE or other.quantity in (one.quantity, one.rival))
        return other if other and adopts else one

    return [replace(one, guess=settled(one.figure, one.guess)) for one in guesses]


class _Drafter:
    """The numbers of one note."""

    def __init__(self, text: str, blocks: Sequence[Block], whole: Whole, source: Source) -> None:
        self.text, self.blocks, self.whole = text, blocks, whole
        self.starts = line_starts(text)
        figures = source.note.figures if source.note else ()
        self.owned = {figure.start for figure in figures if figure}
        self.room = MOST_ANNOTATIONS - len(figures)
        self.left: list[Left] = []
        self.tries = MOST_TRIED

    def drafts(self) -> list[Draft]:
        """A draft for each number that speaks for one."""
        words = NoteWords(self.blocks, _defaults(self.text))
        guesses: list[Guessed] = []
        before = ""
        for index, block in enumerate(self.blocks):
            for guessed in self._of_block(index, before, MOST_NUMBERS - len(guesses)):
                guesses.append(guessed)
                if guessed.guess.quantity in INPUTS:
                    words.state(index, guessed.guess.quantity, guessed.figure)
                elif guessed.guess.quantity.startswith("kv_"):
                    words.of_cache(index, guessed.figure)
            before = before if block.table else block.text
        return [made for guessed in _as_elsewhere(guesses) if (made := self._draft(words, guessed))]

    def _of_block(self, index: int, before: str, most: int) -> Iterator[Guessed]:
        """The numbers of a block, each guessed in the light of those before it; one that says the same again is what that one is."""
        block, last = self.blocks[index], None
        of_kind: dict[str, tuple[str, int]] = {}
        for figure in self._numbers(block, most):
            if last and restated(block.text, last.figure, figure):
                last = replace(last, figure=figure)
            elif last and last.guess.quantity in OF_A_DEVICE and many_of(block.text, last.figure, figure):
                last = Guessed(index, figure, figure, last.guess, many=True)
            else:
                begin = sentence_around(block, figure.start)[0]
                earlier = [quantity for quantity, start in of_kind.values() if start >= begin]
                last = Guessed(index, figure, figure, guess(block, figure, before, of_kind.get(kind_of(figure), ("", 0)), earlier))
            of_kind[kind_of(figure)] = (last.guess.quantity, figure.start)
            yield last

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

    def _draft(self, words: NoteWords, guessed: Guessed) -> Draft | None:
        block, figure, one = self.blocks[guessed.block], guessed.figure, guessed.guess
        start, at = block.place(figure.start), self._behind(block.place(figure.stop))
        if start in self.owned or ANNOTATED.match(self.text, at):
            return None
        line, column = self._position(start)
        if why := self._why_left(block, guessed):
            self.left += [Left(line, column, figure.text, why)] if figure.unit else []
            return None
        self.room -= 1
        if one.quantity == "peak_flops" and kind_of(figure) == "FLOP":  # 989 TFLOPs, that stands for a rate
            figure = replace(figure, unit=f"{figure.unit}/s")
        quantity, given, doubts = self._case(words, guessed)
        in_head = not as_written(block, figure)
        value = f"{figure.number.replace(',', '')} {figure.unit}" if in_head else ""
        return Draft(line, column, figure.text, start, at, quantity, given, doubts, figure, in_head, value)

    def _case(self, words: NoteWords, guessed: Guessed) -> tuple[str, dict[str, str], tuple[str, ...]]:
        """What a number is, of which case, and what is doubtful about it; for a doubtful one the reading that gives the number written, if one does."""
        one = guessed.guess
        case = guess_case(words, guessed.block, guessed.place, one.quantity)
        low, high = sentence_around(self.blocks[guessed.block], guessed.figure.start)
        doubts = (*one.doubts, *case.doubts, *of_another_size(one.quantity, self.blocks[guessed.block].text[low:high]))
        if doubts and self.tries > 0:
            self.tries -= 1
            if reading := settled(words, guessed.block, replace(guessed.figure, start=guessed.place.start), one.quantity, one.rival):
                return reading[0], reading[1].given, ()
        return one.quantity, case.given, doubts

    def _why_left(self, block: Block, guessed: Guessed) -> str:
        """Why a number gets no annotation; empty for one that does."""
        quantity = guessed.guess.quantity
        if not quantity:
            return "no quantity of inference speaks from its words"
        if guessed.many or (quantity == "mem_capacity" and of_several_devices(block.text, guessed.figure)):
            return "it is of several devices together"
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
