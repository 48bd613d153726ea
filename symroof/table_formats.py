"""Tables as aligned text and as HTML."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest

PASSES, FAILS, IN_PART = "✓", "✗", "~"
"""The marks of verdicts."""
UNKNOWN = "not known"
"""Stands for a missing value."""
NUMERIC = re.compile(r"[-+~]?\d[\d.,]*(e[-+]?\d+)?\s?\S*( \([^()]*\))*$")
"""A number with its unit and text in parentheses."""


def width(text: str) -> int:
    """Terminal columns of a text."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return sum(not unicodedata.combining(c) for c in text) + wide


def text_table(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), indent: str = "", left: bool = False
) -> str:
    """Aligned columns; a column whose cells are mostly numbers is right-aligned, unless all are to be aligned ``left``.

    >>> print(text_table([["ttft", "514.7 ms"], ["itl", "26.15 ms"]]))
    ttft  514.7 ms
    itl   26.15 ms
    """
    columns = list(zip_longest(*([header] if header else []), *rows, fillvalue=""))
    widths = [max(map(width, column)) for column in columns]
    right = [not left and mostly_numbers(column[bool(header) :]) for column in columns]
    lines = []
    for row in zip(*columns, strict=True):
        gaps = [" " * (space - width(cell)) for cell, space in zip(row, widths, strict=True)]
        cells = zip(row, gaps, right, strict=True)
        lines.append("  ".join(gap + cell if to else cell + gap for cell, gap, to in cells))
    if header:
        lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join((indent + line).rstrip() for line in lines)


def mostly_numbers(cells: Sequence[str]) -> bool:
    """Whether more than half of the known cells are numbers."""
    filled = [cell for cell in cells if cell not in ("", UNKNOWN)]
    return bool(filled) and sum(bool(NUMERIC.match(cell)) for cell in filled) * 2 > len(filled)


def card(sentences: Iterable[str], table: str) -> str:
    """Sentences and a table, as notebooks show them.

    >>> print(card(["a < b"], "<table></table>"))
    <p>a &lt; b</p>
    <table></table>
    """
    said = "<br>".join(escape(text) for text in sentences if text)
    return "\n".join(filter(None, (f"<p>{said}</p>" if said else "", table)))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Header, rows and caption as an HTML table; every text is escaped.

    >>> print(html_table(["name"], [["a < b"]]))
    <table>
    <tr><th>name</th></tr>
    <tr><td>a &lt; b</td></tr>
    </table>
    """

    def line(tag: str, texts: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts) + "</tr>"

    above = [f"<caption>{escape(caption)}</caption>"] if caption else []
    return "\n".join(
        ["<table>", *above, line("th", header), *(line("td", row) for row in rows), "</table>"]
    )
