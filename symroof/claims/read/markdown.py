"""Markdown as far as annotations need it: which comments are annotations, and the text before each.

Fenced code, indented code and code spans are not read. A passage is the text of one paragraph, list item, heading or table
cell up to the comment; offsets within a passage equal offsets in the file, since
all that is not prose (other comments, tags, addresses) is blanked, not cut. A formula is no prose either, but its place shows that
one stands there: ``FORMULA``. The text is scanned once.

>>> [passage] = passages("A cache of 1.34 GB. <!-- symroof: kv_cache_bytes -->")
>>> passage.comment, passage.prose
('symroof: kv_cache_bytes', 'A cache of 1.34 GB. ')
>>> list(passages("`1.34 GB <!-- symroof: kv_cache_bytes -->`"))
[]
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST_PASSAGE = 1200
"""Characters before a comment that are looked at: enough for any paragraph, and a bound for a file that is one."""

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`\r\n]*[\r\n]*$)|~{3,})")
ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]|\[\^[^\]\s]{1,60}\]:)[ \t]+")
HEADING = re.compile(r"[ >]*#{1,6}[ \t]")
QUOTE_MARKS = re.compile(r"^[ \t]*>[ \t>]*", re.MULTILINE)
NO_PROSE = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\]\([^()\s]{0,300}\)|<https?:[^<>\s]{0,300}>")
FORMULA = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands in place of every character of a formula."""
_SAME_PARAGRAPH = r"(?!(?:\r\n|\r|\n)[ \t>]*[\r\n])"
MATH = re.compile(
    rf"(?<![\\$])\$\$(?:\\.|{_SAME_PARAGRAPH}[^$\\]){{1,2000}}\$\$"
    r"|(?<![\\$])\$`[^`$\r\n]{1,400}`\$"
    rf"|(?<![\\\w])\$(?=[^\s).,;:\]])(?:\\.|{_SAME_PARAGRAPH}[^$\\`|]){{1,400}}(?<![\s(])\$(?!\d)"
    rf"|\\\((?:{_SAME_PARAGRAPH}[^\\]|\\[^()]){{1,400}}\\\)"
    rf"|\\\[(?:{_SAME_PARAGRAPH}[^\\]|\\[^\[\]]){{1,2000}}\\\]",
    re.DOTALL,
)
"""A formula in LaTeX. One between single dollars has no blank inside them and no digit behind; else the dollars are money."""
INLINE = re.compile(r"\\.|`+|<!--", re.DOTALL)
BAR = re.compile(r"(?<!\\)\|")
MARK = re.compile(r"\s*symroof\b", re.IGNORECASE)
NESTED_MARK = re.compile(r"<!--\s*symroof\s*:", re.IGNORECASE)


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
        swallowed: whether it is nested in another comment, which is closed.
    """

    start: int
    prose: str
    comment: str
    at: int
    closed: bool = True
    row: str = ""
    ends: int = 0
    swallowed: bool = False


def passages(text: str) -> Iterator[Passage]:
    """Every annotation of a Markdown text outside code, in order."""
    found = MarkdownScan(text)
    for index, (opens, ends) in enumerate(found.comments):
        if MARK.match(text, opens + 4, ends):
            yield _passage(text, found, index)
        elif lost := NESTED_MARK.search(text, opens + 4, ends):
            yield Passage(lost.start(), "", lost[0], lost.start(), swallowed=True)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The prose of every paragraph, item, heading and table row outside code, comments blanked, with the place where it begins.

    >>> [(start, prose.strip()) for start, prose in blocks("One. <!-- no -->\\n\\n~~~\\ncode\\n~~~\\nTwo.")]
    [(0, 'One.'), (31, 'Two.')]
    """
    blank, breaks = _prose_of(text)
    for low, high in itertools.pairwise(sorted({*breaks, len(text)})):
        if blank[low:high].strip():
            yield low, blank[low:high]


def prose_of(text: str) -> str:
    """A whole text with everything blanked that is not prose: code, comments, tags, addresses."""
    return _prose_of(text)[0]


def _prose_of(text: str) -> tuple[str, list[int]]:
    found = MarkdownScan(text)
    characters = list(text)
    for low, high in [*found.comments, *found.code]:
        characters[low:high] = [
            " " if character not in "\r\n" else character for character in text[low:high]
        ]
    return _without_markup("".join(characters)), found.breaks


def _without_markup(text: str) -> str:
    for pattern in (QUOTE_MARKS, NO_PROSE):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return MATH.sub(lambda match: re.sub(r"[^\r\n]", FORMULA, match[0]), text)


def line_starts(text: str) -> list[int]:
    """Where each line begins; ``\\n``, ``\\r\\n`` and ``\\r`` end one, as they do for editors."""
    return [match.start() for match in LINE.finditer(text)] or [0]


class MarkdownScan:
    """One pass over the lines.

    Attributes:
        breaks: where blocks begin, in order.
        rows: those that are rows of a table, below its head.
        comments: where comments lie.
        code: where blocks of code lie, fences included.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.breaks = [0]
        self.rows: set[int] = set()
        self.comments: list[tuple[int, int]] = []
        self.code: list[tuple[int, int]] = []
        self.unclosed: int | None = None
        self.ticks = _ticks(text)
        self.blanks = [
            match.start() for match in re.finditer(r"(?:\r\n|\r(?!\n)|\n)[ \t>]*(?=[\r\n])", text)
        ]
        self._run()

    def _run(self) -> None:
        done, table, fence = 0, False, ""
        after_blank, code, in_list = True, False, False
        for match in LINE.finditer(self.text):
            start, line = match.start(), match[0]
            if fence:
                self.code.append(match.span())
                if _closes(line, fence):
                    fence = ""
                    self.breaks.append(match.end())
                continue
            if match.end() <= done:
                continue
            if start < done:
                line, start = self.text[done : match.end()], done
            elif not line.strip(" \t>\r\n"):
                after_blank, table = True, False
                self.breaks.append(match.end())
                continue
            elif opening := FENCE.match(line):
                fence = opening[1]
                self.breaks.append(start)
                self.code.append((start, match.end()))
                continue
            else:
                deep = line.startswith(("    ", "\t"))
                code = deep and not in_list and (after_blank or code)
                in_list = bool(ITEM.match(line)) or (
                    in_list and (deep or not after_blank or line[0] in " \t")
                )
                table = self._begin(start, match.end(), line, table)
            after_blank = False
            if code:
                self.code.append((start, match.end()))
            else:
                done = self._inline(start, match.end())

    def _begin(self, start: int, end: int, line: str, table: bool) -> bool:
        """Note what a line begins; returns whether the lines after it are table rows."""
        if not line.strip(
            " \t>|:-=*_\r\n"
        ):  # a rule, an underline, or the line under a table's head
            self.breaks.append(end)
            return "|" in line and "-" in line
        if table:
            self.breaks.append(start)
            self.rows.add(start)
        elif item := ITEM.match(line):
            self.breaks.append(start + item.end())
        elif HEADING.match(line):
            self.breaks += (start, end)
        return table

    def _inline(self, start: int, end: int) -> int:
        """The comments that begin between two places; returns how far they and code spans reach."""
        place = start
        while place < end:
            match = INLINE.search(self.text, place, end)
            if match is None:
                break
            place = match.end()
            if match[0][0] == "`":
                if (after := self._after_code(match.start(), len(match[0]))) is not None:
                    place = after
            elif match[0] == "<!--" and self.unclosed is None:
                close = self.text.find("-->", match.start() + 2)
                if close < 0:
                    self.unclosed = match.start()
                    self.comments.append((match.start(), len(self.text)))
                    return end
                place = close + 3
                self.comments.append((match.start(), place))
        return max(place, end)

    def _after_code(self, start: int, length: int) -> int | None:
        """Where a code span ends that so many backticks open: at as many, in the same paragraph."""
        runs = self.ticks.get(length, [])
        after = bisect.bisect_right(runs, start)
        if after == len(runs):
            return None
        blank = bisect.bisect_left(self.blanks, start)
        if blank < len(self.blanks) and self.blanks[blank] < runs[after]:
            return None
        return runs[after] + length


def _ticks(text: str) -> dict[int, list[int]]:
    """Where runs of backticks begin, by their length."""
    runs: dict[int, list[int]] = {}
    for match in re.finditer("`+", text):
        runs.setdefault(len(match[0]), []).append(match.start())
    return runs


def _closes(line: str, fence: str) -> bool:
    bare = line.strip(" \t>\r\n")
    return len(bare) >= len(fence) and not bare.strip(fence[0])


def _passage(text: str, found: MarkdownScan, index: int) -> Passage:
    opens, ends = found.comments[index]
    begun = found.breaks[bisect.bisect_right(found.breaks, opens) - 1]
    start = max(begun, opens - LONGEST_PASSAGE)
    closed = opens != found.unclosed
    inner = text[
        opens + 4 : max(ends - 3, opens + 4) if closed else min(ends, opens + LONGEST_PASSAGE)
    ]
    at = opens + 4 + len(inner) - len(inner.lstrip())
    prose = _prose(text[start:opens], start, found.comments, index)
    row = prose if begun in found.rows else ""
    if row:
        cell = max((match.end() for match in BAR.finditer(prose)), default=0)
        if prose[cell:].strip():  # an annotation in a cell of its own is about the whole row
            start, prose = start + cell, prose[cell:]
    return Passage(start, prose, inner.strip(), at, closed, row, ends)


def _prose(raw: str, start: int, comments: list[tuple[int, int]], before: int) -> str:
    """A stretch of the file with everything blanked that is not prose."""
    characters = list(raw)
    for index in range(before - 1, -1, -1):
        low, high = max(comments[index][0] - start, 0), comments[index][1] - start
        if high <= 0:
            break
        characters[low:high] = " " * (high - low)
    return _without_markup("".join(characters))
