"""Markdown as far as annotations need it: which comments are annotations, and the text before each.

markdown-it-py says where paragraphs, items, headings, tables and code are. Everything that is not
prose (comments, tags, addresses) is blanked, not cut, so that places in a passage are places in the
note. A formula is no prose either, but its place shows that one stands there: ``FORMULA``.

>>> note = note_text("A cache of 1.34 GB. <!-- symroof: kv_cache_bytes -->", "note.md")
>>> [passage] = note.passages()
>>> passage.comment, passage.prose
('symroof: kv_cache_bytes', 'A cache of 1.34 GB. ')
>>> list(note_text("`1.34 GB <!-- symroof: kv_cache_bytes -->`", "note.md").passages())
[]
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from symroof.errors import InputError, Problem

LONGEST_PASSAGE = 1200
"""Characters before a comment that are looked at: a bound for a file that is one paragraph."""
FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in place of every character of a formula."""
COMMENT = "\ue000"
"""Stands in place of a comment while blocks are looked for: a line of it is not empty."""
QUOTE_MARKS = re.compile(r"^[ \t]*>[ \t>]*", re.MULTILINE)
NO_PROSE = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\]\([^()\s]{0,300}\)|<https?:[^<>\s]{0,300}>")
_IN_PARAGRAPH = r"(?!\n[ \t>]*\n)"
COMMENTS = re.compile(
    rf"\\.|(?<!`)(`+)(?!`)(?:{_IN_PARAGRAPH}.){{1,500}}?(?<!`)\1(?!`)|`+"
    r"|(?P<comment><!(?=--).*?(?:-->|\Z))",
    re.DOTALL,
)
"""A comment, or what holds none: an escape, a span of code. A comment without an end goes on to the end."""
MATH = re.compile(
    rf"(?<![\\$])\$\$(?:\\.|{_IN_PARAGRAPH}[^$\\]){{1,2000}}\$\$"
    r"|(?<![\\$])\$`[^`$\n]{1,400}`\$"
    rf"|(?<![\\\w])\$(?=[^\s).,;:\]])(?:\\.|{_IN_PARAGRAPH}[^$\\`|]){{1,400}}(?<![\s(])\$(?!\d)"
    rf"|\\\((?:{_IN_PARAGRAPH}[^\\]|\\[^()]){{1,400}}\\\)"
    rf"|\\\[(?:{_IN_PARAGRAPH}[^\\]|\\[^\[\]]){{1,2000}}\\\]",
    re.DOTALL,
)
"""A formula in LaTeX. One between single dollars has no blank inside them and no digit behind."""
BAR = re.compile(r"(?<!\\)\|")
MARK = re.compile(r"\s*symroof\b", re.IGNORECASE)
PARSER = MarkdownIt("commonmark").enable("table").disable("inline")
Span = tuple[int, int]
Place = tuple[int, int]
"""Line and column, from 1 on."""


@dataclass(frozen=True)
class Passage:
    """A comment, and the prose before it.

    Attributes:
        start: where the prose begins in the note.
        prose: the prose up to the comment, as long as the original text.
        comment: the comment's text, trimmed.
        at: where that text begins in the note.
        closed: whether the comment ends.
        row: the table row before it, if it is in one; a bar is then written ``\\|``.
        ends: where the comment ends in the note.
    """

    start: int
    prose: str
    comment: str
    at: int
    closed: bool
    row: str
    ends: int


@dataclass(frozen=True)
class NoteText:
    """The Markdown of a file, in pieces each of which has its place there."""

    pieces: tuple[tuple[str, Place], ...]

    @cached_property
    def text(self) -> str:
        return "".join(piece for piece, _ in self.pieces)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(piece) for piece, _ in self.pieces)]

    def place(self, at: int) -> Place:
        """The line and column of the file where a place of the text is."""
        i = min(bisect.bisect_right(self._starts, at), len(self.pieces)) - 1
        line, column = self.pieces[i][1]
        return line, column + at - self._starts[i]

    @cached_property
    def _without_code(self) -> str:
        code = [span for kind, span in _blocks(self.text) if kind in ("fence", "code_block")]
        return _filled(self.text, code, " ")

    @cached_property
    def _comments(self) -> list[Span]:
        found = COMMENTS.finditer(self._without_code)
        return [match.span() for match in found if match["comment"]]

    @cached_property
    def _prose(self) -> str:
        """The text with all but its prose blanked."""
        prose = _filled(self._without_code, self._comments, " ")
        for pattern in (QUOTE_MARKS, NO_PROSE):
            prose = pattern.sub(lambda match: " " * len(match[0]), prose)
        return MATH.sub(lambda match: re.sub(r"[^\n]", FORMULA, match[0]), prose)

    @cached_property
    def _spans(self) -> dict[Span, bool]:
        """Paragraphs, items, headings and rows of tables; whether each is a row below the head."""
        spans, in_rows = {}, False
        for kind, span in _blocks(_filled(self._without_code, self._comments, COMMENT)):
            in_rows = kind == "tbody_open" or (in_rows and kind != "table_close")
            if kind == "inline":
                spans[span] = in_rows
        return spans

    def blocks(self) -> Iterator[tuple[int, str]]:
        """The prose of every paragraph, item, heading and table row, with the place where it begins.

        >>> note = note_text("One. <!-- no -->\\n\\n~~~\\ncode\\n~~~\\nTwo.", "note.md")
        >>> [(start, prose.strip()) for start, prose in note.blocks()]
        [(0, 'One.'), (31, 'Two.')]
        """
        return ((start, self._prose[start:end]) for start, end in self._spans)

    def passages(self) -> Iterator[Passage]:
        """Every annotation outside code, in order."""
        text, spans = self.text, sorted(self._spans)
        for opens, ends in self._comments:
            if not MARK.match(text, opens + 4, ends):
                continue
            closed = text.endswith("-->", opens, ends)
            limit = max(ends - 3, opens + 4) if closed else min(ends, opens + LONGEST_PASSAGE)
            inner = text[opens + 4 : limit]
            at = opens + 4 + len(inner) - len(inner.lstrip())
            block = spans[max(bisect.bisect(spans, (opens, len(text))) - 1, 0)] if spans else (0, 0)
            inside = block[0] <= opens < block[1]
            start = max(block[0], opens - LONGEST_PASSAGE) if inside else opens
            prose = self._prose[start:opens]
            row = prose if inside and self._spans[block] else ""
            cell = max((match.end() for match in BAR.finditer(row)), default=0)
            if row and prose[cell:].strip():  # in a cell of its own it is about the whole row
                start, prose = start + cell, prose[cell:]
            yield Passage(start, prose, inner.strip(), at, closed, row, ends)


def _blocks(text: str) -> Iterator[tuple[str, Span]]:
    """The blocks of a Markdown text as markdown-it-py names them; one without lines is empty."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    starts += [len(text)] * 2
    for token in PARSER.parse(text):
        first, last = token.map or (0, 0)
        yield token.type, (starts[first], starts[min(last, len(starts) - 1)])


def _filled(text: str, spans: Iterable[Span], mark: str) -> str:
    """A text with some of its stretches filled, the ends of lines kept."""
    parts, place = [], 0
    for start, end in spans:
        parts += [text[place:start], re.sub(r"[^\n]", mark, text[start:end])]
        place = end
    return "".join([*parts, text[place:]])


# ------------------------------------------------------------------------------- files of notes

NOTEBOOK = ".ipynb"
LINE_END = re.compile(r"\r\n|\r|\n")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
RUN = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.|[^\\]+")
"""A stretch of a string of JSON that is escaped, or is as it stands."""


def note_text(text: str, file: str) -> NoteText:
    """The Markdown in a file: all of a note, the Markdown cells of a notebook.

    Raises:
        InputError: no notebook.

    >>> cell = '{"cell_type": "markdown", "source": ["Takes\\\\n", "1.34 GB."]}'
    >>> note_text('{"cells": [' + cell + ', {"cell_type": "code", "source": ["5"]}]}', "a.ipynb").text
    'Takes\\n1.34 GB.\\n\\n'
    """
    lines = LINE_END.split(text)
    if Path(file).suffix.lower() != NOTEBOOK:
        return NoteText(tuple((line + "\n", (n, 1)) for n, line in enumerate(lines, 1)))
    try:
        return NoteText(tuple(_cells(lines)) or (("", (1, 1)),))
    except (ValueError, RecursionError) as error:
        reason = str(error.args[0] if error.args else error)[:120]
    except (AttributeError, TypeError):  # JSON in which something else stands in place of cells
        reason = "it has no cells"
    raise InputError(Problem(file, f"cannot be read as a notebook: {reason}", 1, 1))


def _cells(lines: list[str]) -> Iterator[tuple[str, Place]]:
    """The Markdown cells of a notebook in pieces, an empty line behind each."""

    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name.split(" ", 2)[2]: value for name, value in pairs}

    def placed(line: str, n: int) -> str:
        return STRING.sub(lambda match: f'"{n} {match.start()} {match[0][1:]}', line)

    # every string begins with its own line and column, keys included
    marked = "\n".join(map(placed, lines, count(1)))
    for cell in json.loads(marked, object_pairs_hook=named).get("cells", ()):
        source = cell.get("source", [])
        if cell.get("cell_type", "").endswith(" markdown"):
            for string in source if isinstance(source, list) else [source]:
                line, column = map(int, string.split(" ", 2)[:2])
                raw = STRING.match(lines[line - 1], column)[0]  # type: ignore[index]
                for run in RUN.finditer(raw, 1, len(raw) - 1):
                    plain = json.loads(f'"{run[0]}"').replace("\r", " ")
                    yield plain, (line, column + run.start() + 1)
            yield "\n\n", (1, 1)
