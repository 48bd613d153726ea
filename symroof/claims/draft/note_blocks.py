r"""A note as a draft reads it: blocks of prose with the headings and table heads over them, each character with its place in the file.

Front matter, code, tags and addresses hold no numbers that are drafted; comments are cut out, so that a note reads the same
with annotations and without. Everything is a fixed number of walks through the text.

>>> [title, block] = blocks("# Memory\n\nIt takes 1.34 GB <!-- x --> of cache.")
>>> block.text, block.headings, block.place(18)
('It takes 1.34 GB  of cache.', ('Memory',), 38)
"""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from symroof.claims.read.markdown import BAR, QUOTE_MARKS, Walk, walked

FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:(?!---)[^\r\n]*\r?\n)*?---[ \t]*(?:\r?\n|$)")
TARGET = r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\r\n]*\")?\)"
NOISE = (
    re.compile(rf"!\[[^\[\]\r\n]*\]{TARGET}"),
    re.compile(rf"(?<=\]){TARGET}"),
    re.compile(r"</?[A-Za-z][^<>]*>"),
    re.compile(r"(?:https?://|www\.)[^\s<>]*"),
    re.compile(r"^ {0,3}\[(?!\^)[^\]\r\n]{1,200}\]:[ \t]*\S[^\r\n]*$", re.MULTILINE),
    QUOTE_MARKS,
)
"""Images, the addresses of links, tags, addresses, definitions of links, marks of quotations."""
RAW = re.compile(r"<(pre|script|style|textarea|code|svg|math)\b", re.IGNORECASE)
OPENED = re.compile(r"\\(?:([(\[])|begin\{((?:equation|align|gather|displaymath|multline)\*?)\})")
MATH = (re.compile(r"\$\$(?:[^$\\]|\\.)*\$\$", re.DOTALL), re.compile(r"(?<![\\$\w])\$(?=[^\s$])(?:[^$\\\r\n]|\\.){1,400}?(?<!\s)\$(?![\d$])"))
LINK = re.compile(rf"!?\[[^\[\]\r\n]*\](?:{TARGET}|\[[^\[\]\r\n]*\])")
UNDERLINE = re.compile(r"^[ \t>]*(=+|-+)[ \t]*$")
RULE_OF_HEAD = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
HEADING = re.compile(r"^[ \t>]*(#{1,6})[ \t]+(.*?)[ \t#]*$", re.DOTALL)
ITEM = re.compile(r"(?:^|[\r\n])[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+$")
"""The marker of an item, before its words."""
BOLD_LINE = re.compile(r"^\s*(?:\*\*[^*\r\n]{1,120}\*\*|__[^_\r\n]{1,120}__):?\s*$")
MARKS = re.compile(r"[*`]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
BOLD_LEVEL = 7
ON_ONE_LINE = {ord("\n"): " ", ord("\r"): " ", ord("\u00a0"): " "}
LONGEST_LABEL = 200
LONGEST_BLOCK = 20_000
"""Characters of a block that are read: a paragraph never has so many."""


@dataclass(frozen=True)
class Block:
    """A paragraph, an item, a heading or a cell.

    Attributes:
        text: its prose on one line without comments; what else is no prose is blank.
        pieces: where stretches of the text begin, in it and in the file.
        headings: those over it, the nearest last.
        column, row: the head of its column and the first cell of its row; empty outside tables.
        siblings: the other cells of its row, each behind the head of its column.
        is_title: whether it is a heading.
        is_item: whether it is an item of a list.
        table: which table it is a cell of; 0 outside tables.
    """

    text: str
    pieces: tuple[tuple[int, int], ...]
    headings: tuple[str, ...] = ()
    column: str = ""
    row: str = ""
    siblings: tuple[str, ...] = ()
    is_title: bool = False
    is_item: bool = False
    table: int = 0

    def place(self, at: int) -> int:
        """Where a character of the text, or the end of one before it, stands in the file."""
        piece = max(bisect.bisect_right(self.pieces, (at, 1 << 62)) - 1, 0)
        if piece and self.pieces[piece][0] == at:  # an end belongs to what is before it
            piece -= 1
        return self.pieces[piece][1] + at - self.pieces[piece][0]


@dataclass(frozen=True)
class Whole:
    """Stretches of a file that an annotation does not stand in, and those whose numbers are left alone."""

    spans: tuple[tuple[int, int], ...]
    closed: tuple[tuple[int, int], ...]

    def after(self, place: int) -> int:
        """The first place from one on where a comment may stand."""
        for start, end in _around(self.spans, place):
            if start < place < end:
                return end
        return place

    def closes(self, place: int) -> bool:
        """Whether a number at a place is left alone."""
        return any(start <= place < end for start, end in _around(self.closed, place))


def _around(spans: tuple[tuple[int, int], ...], place: int) -> tuple[tuple[int, int], ...]:
    index = bisect.bisect_right(spans, (place, 1 << 62))
    return spans[max(index - 2, 0) : index + 1]


def blocks(text: str) -> list[Block]:
    """The blocks of a note, in order."""
    return read_blocks(text)[0]


def read_blocks(text: str) -> tuple[list[Block], Whole]:
    """The blocks of a note, and where in it no annotation stands."""
    walk = walked(text)
    quiet, whole = _quiet(text, walk)
    return list(_Reader(quiet, walk).run()), whole


def _quiet(text: str, walk: Walk) -> tuple[str, Whole]:
    """The text with all that is no prose blanked, and the stretches that hang together."""
    front = FRONT_MATTER.match(text)
    blank = [*walk.code, *_raw(text), *([front.span()] if front else [])]
    quiet = _blanked(text, [*walk.comments, *blank])
    spans = [*walk.spans, *_enclosed(quiet), *(match.span() for pattern in (*MATH, LINK) for match in pattern.finditer(quiet))]
    for pattern in NOISE:
        quiet = pattern.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]), quiet)
    closed = [span for span in walk.spans if not re.fullmatch(r"`+\s?[~≈]?\$?\d[\d.,]*\s?[A-Za-zµ%/ ]{0,20}`+", text[slice(*span)])]
    return quiet, Whole(_merged(spans), _merged(closed))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    characters = list(text)
    for start, end in spans:
        characters[start:end] = [mark if mark in "\r\n" else " " for mark in characters[start:end]]
    return "".join(characters)


def _raw(text: str) -> Iterator[tuple[int, int]]:
    """Elements of HTML whose content is shown as it is or not at all."""
    lower, place = text.lower(), 0
    endless: set[str] = set()
    while match := RAW.search(text, place):
        place, name = match.end(), match[1].lower()
        end = -1 if name in endless else lower.find(f"</{name}", place)
        if end < 0:
            endless.add(name)
            continue
        place = end
        yield match.start(), end


def _enclosed(text: str) -> Iterator[tuple[int, int]]:
    """Formulas between the brackets of LaTeX, and its environments."""
    place = 0
    endless: set[str] = set()
    while match := OPENED.search(text, place):
        place = match.end()
        close = {"(": r"\)", "[": r"\]"}.get(match[1] or "", rf"\end{{{match[2]}}}")
        end = -1 if close in endless else text.find(close, place)
        if end < 0:
            endless.add(close)
            continue
        place = end + len(close)
        yield match.start(), place


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


class _Reader:
    """Blocks out of the places where they begin."""

    def __init__(self, quiet: str, walk: Walk) -> None:
        self.quiet, self.walk = quiet, walk
        self.over: list[tuple[int, str]] = []
        self.head: list[str] = []
        self.tables = 0

    def run(self) -> Iterator[Block]:
        starts = sorted(set(self.walk.breaks))
        for start, end in zip(starts, [*starts[1:], len(self.quiet)], strict=True):
            if start in self.walk.rows:
                yield from self._row(start, end)
            elif self.quiet[start:end].strip():
                yield from self._prose(start, end)

    def _prose(self, start: int, end: int) -> Iterator[Block]:
        """A block that is no row; the head of a table is noted for the rows below it."""
        raw = self.quiet[start:end].rstrip()
        lines = raw.splitlines()
        self.head = []
        if len(lines) > 1 and "|" in lines[-2] and RULE_OF_HEAD.match(lines[-1]):
            self.head = [_label(cell) for cell in BAR.split(lines[-2].strip().strip("|"))]
            self.tables += 1
            end = start + len(raw) - len(lines[-1]) - len(lines[-2]) - 1
            if end <= start:
                return
        level, title = self._title(start, raw, lines, self.quiet[start:end])
        is_item = ITEM.search(self.quiet[max(start - 40, 0) : start]) is not None
        block = self._block(start, end, is_title=level > 0, is_item=is_item)
        if level:
            while self.over and self.over[-1][0] >= level:
                self.over.pop()
            self.over.append((level, title[:LONGEST_LABEL]))
        yield block

    def _title(self, start: int, raw: str, lines: list[str], whole: str) -> tuple[int, str]:
        """The level of a heading and its text; 0 for a block that is none, such as one whose last line is the marker of the next item."""
        if start in self.walk.headings and (match := HEADING.match(raw)):
            return len(match[1]), _label(match[2])
        if len(lines) > 1 and (match := UNDERLINE.match(lines[-1])) and not ITEM.search(whole):
            return 1 if "=" in match[1] else 2, _label(" ".join(lines[:-1]))
        return (BOLD_LEVEL, _label(raw)) if len(raw) < LONGEST_LABEL and BOLD_LINE.match(raw) else (0, "")

    def _row(self, start: int, end: int) -> Iterator[Block]:
        """The cells of a row."""
        bars = [start + match.start() for match in BAR.finditer(self.quiet[start:end].rstrip())]
        line_end = start + len(self.quiet[start:end].rstrip())
        first = bars[0] + 1 if bars and not self.quiet[start : bars[0]].strip() else start
        edges = [first, *(bar + 1 for bar in bars if bar >= first)]
        ends = [*(edge - 1 for edge in edges[1:]), line_end]
        cells = [(low, high) for low, high in zip(edges, ends, strict=True) if low <= high]
        labels = [_label(self.quiet[low:high]) for low, high in cells[:50]]
        named = [f"{self.head[i]} {label}" if i < len(self.head) else label for i, label in enumerate(labels)]
        for i, (low, high) in enumerate(cells[:50]):
            if labels[i]:
                column = self.head[i] if i < len(self.head) else ""
                others = tuple(name for j, name in enumerate(named) if j != i)
                yield self._block(low, high, column=column, row=labels[0] if i else "", siblings=others, table=self.tables)

    def _block(self, start: int, end: int, **more: object) -> Block:
        """A stretch of the file without its comments."""
        comments, text = self.walk.comments, ""
        pieces: list[tuple[int, int]] = []
        end = min(end, start + LONGEST_BLOCK)
        for index in range(bisect.bisect_left(comments, (start, 0)) - 1, len(comments)):
            if index < 0:
                continue
            low, high = comments[index]
            if low >= end:
                break
            if low > start:
                pieces.append((len(text), start))
                text += self.quiet[start:low]
            start = max(start, min(high, end))
        pieces.append((len(text), start))
        headings = tuple(title for _, title in self.over)
        return Block((text + self.quiet[start:end]).translate(ON_ONE_LINE), tuple(pieces), headings, **more)  # type: ignore[arg-type]


def _label(text: str) -> str:
    """A heading or a cell on one line without marks."""
    return " ".join(MARKS.sub(" ", text).split())[:LONGEST_LABEL]
