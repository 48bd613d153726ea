"""Markdown as far as annotations need it: which comments are annotations, and the text before each.

markdown-it-py says where paragraphs, items, headings, tables and code are. Everything that is not
prose (comments, tags, addresses) is blanked, not cut, so that places in a passage are places in the
file. A formula is no prose either, but its place shows that one stands there: ``FORMULA``.

>>> [passage] = passages("A cache of 1.34 GB. <!-- symroof: kv_cache_bytes -->")
>>> passage.comment, passage.prose
('symroof: kv_cache_bytes', 'A cache of 1.34 GB. ')
>>> list(passages("`1.34 GB <!-- symroof: kv_cache_bytes -->`"))
[]
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from symroof.errors import InputError, Problem

LONGEST_PASSAGE = 1200
"""Characters before a comment that are looked at: a bound for a file that is one paragraph."""
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
NOT_CODE = re.compile(r"\\.|(?P<ticks>`+)(?!`)|<!--", re.DOTALL)
EMPTY_LINE = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t>]*(?=[\r\n])")
CELL = "\ue001"
"""Stands where a line of a notebook's cell begins, behind what JSON has before it."""
QUOTE_MARKS = re.compile(rf"^[ \t]*[>{CELL}][ \t>]*", re.MULTILINE)
BEFORE_CELL = re.compile(rf"^[ \t]*{CELL}", re.MULTILINE)
NO_PROSE = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\]\([^()\s]{0,300}\)|<https?:[^<>\s]{0,300}>")
FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in place of every character of a formula."""
COMMENT = "\ue000"
"""Stands in place of a comment while blocks are looked for: a line of it is not empty."""
_SAME_PARAGRAPH = r"(?!(?:\r\n|\r|\n)[ \t>]*[\r\n])"
MATH = re.compile(
    rf"(?<![\\$])\$\$(?:\\.|{_SAME_PARAGRAPH}[^$\\]){{1,2000}}\$\$"
    r"|(?<![\\$])\$`[^`$\r\n]{1,400}`\$"
    rf"|(?<![\\\w])\$(?=[^\s).,;:\]])(?:\\.|{_SAME_PARAGRAPH}[^$\\`|]){{1,400}}(?<![\s(])\$(?!\d)"
    rf"|\\\((?:{_SAME_PARAGRAPH}[^\\]|\\[^()]){{1,400}}\\\)"
    rf"|\\\[(?:{_SAME_PARAGRAPH}[^\\]|\\[^\[\]]){{1,2000}}\\\]",
    re.DOTALL,
)
"""A formula in LaTeX. One between single dollars has no blank inside them and no digit behind."""
BAR = re.compile(r"(?<!\\)\|")
MARK = re.compile(r"\s*symroof\b", re.IGNORECASE)
PARSER = MarkdownIt("commonmark").enable("table").disable("inline")


@dataclass(frozen=True)
class Block:
    """A stretch of prose: a paragraph, an item, a heading, or the ``head`` or a ``row`` of a table."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Passage:
    """A comment, and the prose before it.

    Attributes:
        start: where the prose begins in the file.
        prose: the prose up to the comment, as long as the original text.
        comment: the comment's text, trimmed.
        at: where that text begins in the file.
        closed: whether the comment ends.
        row: the table row before it, if it is in one; a bar is then written ``\\|``.
        ends: where the comment ends in the file.
    """

    start: int
    prose: str
    comment: str
    at: int
    closed: bool = True
    row: str = ""
    ends: int = 0


@dataclass(frozen=True)
class Scanned:
    """A Markdown text: its comments, its blocks, and the text with only its prose left."""

    comments: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...]
    prose: str


def line_starts(text: str) -> list[int]:
    """Where each line begins; ``\\n``, ``\\r\\n`` and ``\\r`` end one, as they do for editors."""
    return [match.start() for match in LINE.finditer(text)] or [0]


@lru_cache(maxsize=8)
def scanned(text: str) -> Scanned:
    """A text looked through once."""
    starts = [*line_starts(text), len(text)]

    def span(lines: list[int]) -> tuple[int, int]:
        return starts[lines[0]], starts[min(lines[1], len(starts) - 1)]

    tokens = PARSER.parse(BEFORE_CELL.sub("", text))
    code = [span(one.map) for one in tokens if one.type in ("fence", "code_block") and one.map]
    without_code = _filled(text, code, " ")
    comments = tuple(_comments(without_code))
    blocks: dict[int, Block] = {}
    kind = "text"
    marked = _filled(without_code, comments, COMMENT)
    for token in PARSER.parse(BEFORE_CELL.sub("", marked)):
        kind = {"thead_open": "head", "tbody_open": "row", "table_close": "text"}.get(
            token.type, kind
        )
        if token.type == "inline" and token.map:
            start, end = span(token.map)
            blocks.setdefault(start, Block(start, end, kind))
    prose = _filled(without_code, comments, " ")
    for pattern in (QUOTE_MARKS, NO_PROSE):
        prose = pattern.sub(lambda match: " " * len(match[0]), prose)
    prose = MATH.sub(lambda match: re.sub(r"[^\r\n]", FORMULA, match[0]), prose)
    return Scanned(comments, tuple(sorted(blocks.values(), key=lambda one: one.start)), prose)


def _filled(text: str, spans: Iterator[tuple[int, int]] | list | tuple, mark: str) -> str:  # type: ignore[type-arg]
    """A text with some of its stretches filled, the ends of lines kept."""
    parts, place = [], 0
    for start, end in spans:
        parts += [text[place:start], re.sub(r"[^\r\n]", mark, text[start:end])]
        place = end
    return "".join([*parts, text[place:]])


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Where comments lie that are in no code span; one without an end goes on to the end."""
    ticks: dict[int, list[int]] = {}
    for run in re.finditer("`+", text):
        ticks.setdefault(len(run[0]), []).append(run.start())
    empty, place = [match.start() for match in EMPTY_LINE.finditer(text)], 0
    while match := NOT_CODE.search(text, place):
        place = match.end()
        if match[0] == "<!--":
            close = text.find("-->", match.start() + 2)
            place = len(text) if close < 0 else close + 3
            yield match.start(), place
        elif match["ticks"]:  # a span of code ends at as many ticks in the same paragraph
            runs = ticks.get(len(match[0]), [])
            after = bisect.bisect_right(runs, match.start())
            blank = bisect.bisect_left(empty, match.start())
            limit = empty[blank] if blank < len(empty) else len(text)
            if after < len(runs) and runs[after] < limit:
                place = runs[after] + len(match[0])


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The prose of every paragraph, item, heading and table row, with the place where it begins.

    >>> [(start, prose.strip()) for start, prose in blocks("One. <!-- no -->\\n\\n~~~\\ncode\\n~~~\\nTwo.")]
    [(0, 'One.'), (31, 'Two.')]
    """
    found = scanned(text)
    for block in found.blocks:
        if found.prose[block.start : block.end].strip():
            yield block.start, found.prose[block.start : block.end]


def passages(text: str) -> Iterator[Passage]:
    """Every annotation of a Markdown text outside code, in order."""
    found = scanned(text)
    starts = [block.start for block in found.blocks]
    for opens, ends in found.comments:
        if not MARK.match(text, opens + 4, ends):
            continue
        closed = text.endswith("-->", opens, ends)
        limit = max(ends - 3, opens + 4) if closed else min(ends, opens + LONGEST_PASSAGE)
        inner = text[opens + 4 : limit]
        at = opens + 4 + len(inner) - len(inner.lstrip())
        i = bisect.bisect_right(starts, opens) - 1
        block = (
            found.blocks[i] if i >= 0 and opens < found.blocks[i].end else Block(opens, opens, "")
        )
        start = max(block.start, opens - LONGEST_PASSAGE)
        prose = found.prose[start:opens]
        row = prose if block.kind == "row" else ""
        cell = max((match.end() for match in BAR.finditer(row)), default=0)
        if row and prose[cell:].strip():  # in a cell of its own it is about the whole row
            start, prose = start + cell, prose[cell:]
        yield Passage(start, prose, inner.strip(), at, closed, row, ends)


# -------------------------------------------------------------------------------------- notebooks
# The text keeps its places: everything but Markdown cells is blanked, not cut. A mark stands where a line of a cell begins.

NOTEBOOK = ".ipynb"
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")


def note_text(text: str, file: str) -> str:
    """The note in a file, as long as the file: of a note the file itself.

    Raises:
        InputError: no notebook.
    """
    if Path(file).suffix.lower() != NOTEBOOK:
        return text
    try:
        return markdown_cells(text)
    except (ValueError, RecursionError) as error:
        reason = str(error.args[0] if error.args else error)[:120]
    except (AttributeError, TypeError):  # JSON in which something else stands in place of cells
        reason = "it has no cells"
    raise InputError(Problem(file, f"cannot be read as a notebook: {reason}", 1, 1))


def markdown_cells(text: str) -> str:
    """The Markdown cells of a notebook.

    >>> book = '{"cells": [{"cell_type": "markdown", "source": ["Takes\\\\n", "1.34 GB."]}, {"cell_type": "code", "source": ["5"]}]}'
    >>> markdown_cells(book).split()
    ['\\ue001Takes', '\\ue0011.34', 'GB.']
    """
    view = [character if character in "\r\n" else " " for character in text]
    for strings in _markdown(text):
        for i, (start, end) in enumerate(strings):
            view[start + 1 : end - 1] = _unescaped(text[start + 1 : end - 1])
            view[start] = CELL
            following = strings[i + 1][0] if i + 1 < len(strings) else None
            if following is None or not re.search(r"[\r\n]", text[end:following]):
                view[end - 1] = "\n"
        view[strings[-1][1]] = "\n"
    return "".join(view)


def _unescaped(text: str) -> str:
    """A string of JSON with its escapes replaced, as long as it was; a line's end at its end is left to the file's own."""

    def plain(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16)).ljust(6)
        if match[2] == "n":
            return "  " if match.end() == len(text) else " \n"
        return f" {match[2]}" if match[2] in '"\\/' else "  "

    return ESCAPE.sub(plain, text)


def _markdown(text: str) -> Iterator[list[tuple[int, int]]]:
    """Where the strings of the source of each Markdown cell lie, quotes included."""
    # every string of the file begins with its own place, keys included
    marked = STRING.sub(lambda match: f'"{match.start()} {match[0][1:]}', text)

    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name.partition(" ")[2]: value for name, value in pairs}

    for cell in json.loads(marked, object_pairs_hook=named).get("cells", ()):
        kind, source = (cell.get(name, "") for name in ("cell_type", "source"))
        if kind.partition(" ")[2] == "markdown":
            strings = source if isinstance(source, list) else [source]
            starts = [int(one.partition(" ")[0]) for one in strings if one]
            if starts:
                yield [STRING.match(text, start).span() for start in starts]  # type: ignore[union-attr]
