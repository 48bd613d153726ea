"""Markdown as far as annotations need it: which comments are annotations, and the text before each.

markdown-it-py reads paragraphs, items, headings, tables, code, tags and links. What is not prose (comments, tags,
addresses) is blanked, not cut, so that every place in the prose is one in the file. A formula is no
prose either, but its place shows that one stands there: ``FORMULA``.

>>> note = read_note("A cache of 1.34 GB. <!-- symroof: kv_cache_bytes -->", "note.md")
>>> [passage] = note.passages()
>>> passage.comment, passage.prose
('symroof: kv_cache_bytes', 'A cache of 1.34 GB. ')
>>> list(read_note("`1.34 GB <!-- symroof: kv_cache_bytes -->`", "note.md").passages())
[]
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from symroof.errors import InputError, Problem, why
from symroof.strict_yaml import loads

LONGEST_PASSAGE = 1200
"""Characters before a comment that are looked at: a bound for a file that is one paragraph."""
FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in place of every character of a formula."""
COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
EMPTY_LINE = re.compile(r"^[ \t]*$", re.MULTILINE)
UNCLOSED = re.compile(r"<!--\s*symroof\b", re.IGNORECASE)
_IN_PARAGRAPH = r"(?!\n[ \t>]*\n)"
MATH = re.compile(
    rf"(?<![\\$])\$\$(?:\\.|{_IN_PARAGRAPH}[^$\\]){{1,2000}}\$\$"
    r"|(?<![\\$])\$`[^`$\n]{1,400}`\$"
    rf"|(?<![\\\w])\$(?=[^\s).,;:\]])(?:\\.|{_IN_PARAGRAPH}[^$\\`|]){{1,400}}(?<![\s(])\$(?!\d)"
    rf"|\\\((?:{_IN_PARAGRAPH}[^\\]|\\[^()]){{1,400}}\\\)"
    rf"|\\\[(?:{_IN_PARAGRAPH}[^\\]|\\[^\[\]]){{1,2000}}\\\]",
    re.DOTALL,
)
"""A formula in LaTeX. One between single dollars has no blank inside them and no digit behind."""
CELL_END = " | "
MARK = re.compile(r"\s*symroof\b", re.IGNORECASE)
PARSER = MarkdownIt("commonmark").enable("table")
PARSER.disable(["html_block", "emphasis", "entity", "text_join"])
NOTEBOOK = ".ipynb"
LINE_END = re.compile(r"\r\n|\r|\n")
SURROGATES = re.compile(r"\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w")
"""A character beyond 16 bits as JSON escapes it, in two halves; YAML knows no halves."""
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
        row: the table row before it, if it is in one.
        ends: where the comment ends in the note.
    """

    start: int
    prose: str
    comment: str
    at: int
    closed: bool
    row: str
    ends: int


class Note:
    """The prose of a text, block by block, with the place of every character in the file.

    Attributes:
        prose: all of it, the rest blanked.
        blocks: where each paragraph, item, heading and row of a table begins and ends in it, and whether it is a row.
    """

    def __init__(self, lines: list[tuple[str, Place]]) -> None:
        """Read a text of lines, each with its place in the file."""
        text = MATH.sub(_formula, "\n".join(line for line, _ in lines))
        text = COMMENT.sub(lambda match: EMPTY_LINE.sub(FORMULA, match[0]), text)
        self.lines, self.sources = lines, text.split("\n")
        self.prose = ""
        self.blocks: list[tuple[int, int, bool]] = []
        self._comments: list[tuple[int, str]] = []
        self._starts: list[int] = [0]
        self._places: list[Place] = [(1, 1)]
        self._after = 0, 0
        """The line that was read last, and where what was read of it ends."""
        start, row = 0, False
        for token in PARSER.parse(text):
            if token.type == "tr_open":
                start, row = len(self.prose), True
            elif token.type == "tr_close":
                self.blocks.append((start, len(self.prose), True))
                row = False
            elif token.type == "inline":
                start = start if row else len(self.prose)
                self._add(token)
                self.prose += CELL_END if row else "\n\n"
                if not row:
                    self.blocks.append((start, len(self.prose), False))

    def _add(self, token: Token) -> None:
        """The prose of a block, or of a cell."""
        content, begin = token.content, len(self.prose)
        at = begin
        for n, line in enumerate(content.split("\n"), (token.map or [0])[0]):
            # a bar in a cell is written with a backslash
            after = self._after[1] if self._after[0] == n else 0
            column = max(self.sources[n].find(text, after) for text in (line, line.split("|")[0]))
            number, first = self.lines[n][1]
            self._starts.append(at)
            self._places.append((number, first + max(column, 0)))
            self._after = n, column + len(line)
            at += len(line) + 1
        prose, end = list(re.sub(r"[^\n]", " ", content)), 0
        for child in token.children or ():
            place = content.find(child.content, end)
            if not child.content or place < 0:
                continue
            end = place + len(child.content)
            if child.type == "text" and (unclosed := UNCLOSED.search(child.content)):
                place += unclosed.start()
                self._comments.append((begin + place, content[place:][:LONGEST_PASSAGE]))
                break
            if child.type in ("text", "text_special", "code_inline"):
                prose[place:end] = child.content
            elif child.content.startswith("<!--"):
                self._comments.append((begin + place, child.content))
        self.prose += "".join(prose)

    def place(self, at: int) -> Place:
        """The line and column of the file where a place of the prose is."""
        i = bisect.bisect_right(self._starts, at) - 1
        line, column = self._places[i]
        return line, column + at - self._starts[i]

    def passages(self) -> Iterator[Passage]:
        """Every annotation outside code, in order."""
        for opens, comment in self._comments:
            if not MARK.match(comment, 4):
                continue
            closed = comment.endswith("-->")
            inner = comment[4 : -3 if closed else None]
            block = self.blocks[bisect.bisect(self.blocks, opens, key=itemgetter(0)) - 1]
            start = max(block[0], opens - LONGEST_PASSAGE)
            prose = self.prose[start:opens]
            row = prose if block[2] else ""
            cell = row.rfind(CELL_END) + len(CELL_END) if CELL_END in row else 0
            if row and prose[cell:].strip():  # in a cell of its own it is about the whole row
                start, prose = start + cell, prose[cell:]
            at, ends = opens + 4 + len(inner) - len(inner.lstrip()), opens + len(comment)
            yield Passage(start, prose, inner.strip(), at, closed, row, ends)


def _formula(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", FORMULA, match[0])


def read_note(text: str, file: str) -> Note:
    """The Markdown in a file: all of a note, the Markdown cells of a notebook.

    Raises:
        InputError: no notebook.

    >>> cell = '{"cell_type": "markdown", "source": ["Takes\\\\n", "1.34 GB."]}'
    >>> read_note('{"cells": [' + cell + ', {"cell_type": "code", "source": ["5"]}]}', "a.ipynb").prose
    'Takes\\n1.34 GB.\\n\\n'
    """
    if Path(file).suffix.lower() != NOTEBOOK:
        return Note([(line, (n, 1)) for n, line in enumerate(LINE_END.split(text), 1)])
    try:
        return Note(list(_cells(text, file)))
    except InputError as error:
        reason = why(error.problems)
    except (AttributeError, KeyError, TypeError):  # something else stands in place of cells
        reason = "it has no cells"
    raise InputError(Problem(file, f"cannot be read as a notebook: {reason}", 1, 1))


def _cells(text: str, file: str) -> Iterator[tuple[str, Place]]:
    """The lines of the Markdown cells of a notebook, which is YAML as well, an empty one behind each."""
    whole = SURROGATES.sub(lambda match: json.loads(f'"{match[0]}"'), text)
    document = loads(whole, file, [])  # outputs may hold any number
    for i, cell in enumerate(document.data["cells"]):
        if cell["cell_type"] == "markdown":
            source: Any = cell["source"]
            for j, string in enumerate(source if isinstance(source, list) else [source]):
                at = ("cells", i, "source", j)
                line, column = document.places[at if isinstance(source, list) else at[:3]]
                for one in LINE_END.split(string.rstrip("\n")):
                    yield one, (line, column + 1)
            yield "", (1, 1)
