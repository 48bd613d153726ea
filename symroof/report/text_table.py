"""A plain-text table: columns lined up, numbers to the right, no more."""

import re
import unicodedata
from collections.abc import Sequence

from symroof.report.markup import UNKNOWN, markdown_text

NUMERIC = re.compile(r"[-+~]?\d[\d.,]*(e[-+]?\d+)?\s?\S*( \([^()]*\))*$")
"""A number, its unit, and what may stand in parentheses behind it."""


def width(text: str) -> int:
    """Columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), indent: str = "") -> str:
    """Rows as lined-up text; a column is right-aligned where most of its cells are numbers.

    >>> print(table([["ttft", "514.7 ms"], ["itl", "26.15 ms"]]))
    ttft  514.7 ms
    itl   26.15 ms
    """
    everything = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    if not everything:
        return ""
    columns = max(map(len, everything))
    for row in everything:
        row.extend([""] * (columns - len(row)))
    widths = [max(width(row[i]) for row in everything) for i in range(columns)]
    right = [mostly_numbers([row[i] for row in rows if i < len(row)]) for i in range(columns)]
    lines = [_line(row, widths, right) for row in everything]
    if header:
        lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join((indent + line).rstrip() for line in lines)


def markdown_table(rows: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """The same in GitHub's Markdown, cells escaped.

    >>> print(markdown_table([["a_b", "1"]], ["name", "value"]))
    | name | value |
    | --- | --- |
    | a\\_b | 1 |
    """
    lines = [header, ["---"] * len(header)]
    written = [[markdown_text(cell) for cell in header], lines[1], *([markdown_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in written)


def mostly_numbers(cells: Sequence[str]) -> bool:
    """Whether more than half of the cells that say something are numbers."""
    filled = [cell for cell in cells if cell not in ("", UNKNOWN)]
    return bool(filled) and sum(bool(NUMERIC.match(cell)) for cell in filled) * 2 > len(filled)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for cell, space, to_right in zip(row, widths, right, strict=True):
        padding = " " * (space - width(cell))
        cells.append(padding + cell if to_right else cell + padding)
    return "  ".join(cells)
