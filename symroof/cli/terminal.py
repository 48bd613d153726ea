"""What a terminal is: its width, its colours, and tables and sentences that fit it."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import click

from symroof.table_formats import FAILS, IN_PART, PASSES, text_table, width

NARROWEST, USUAL = 60, 100
"""Columns below which nothing is fitted, and those assumed where the output is no terminal."""
SLIMMEST = 8
"""Columns that a column keeps in any case."""
BEFORE_UNIT = re.compile(
    r"(?<=\d) (?=%|[a-zµ]?s\b|[kMGT]?(?:B|FLOP|bytes?|tokens?|requests?)\b|USD)"
)
TIED = "\N{NO-BREAK SPACE}"
MARKS = re.compile(f"{PASSES}|{FAILS}|^ *{IN_PART}(?= )|^!.*$", re.MULTILINE)
COLOURS = {PASSES: "green", FAILS: "red", IN_PART: "yellow", "!": "yellow"}


def columns() -> int:
    """The width to write for: that of the terminal, of ``COLUMNS``, or 100."""
    return max(NARROWEST, shutil.get_terminal_size((USUAL, 25)).columns)


def takes_colours() -> bool:
    """Whether the command writes styles: on a terminal, unless ``NO_COLOR`` says no."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def coloured(text: str) -> str:
    """Marks of verdicts and warnings in their colours."""
    return MARKS.sub(lambda found: click.style(found[0], fg=COLOURS[found[0].strip()[0]]), text)


def clipped(text: str, room: int) -> str:
    """A text in so many columns: a longer one ends in an ellipsis."""
    if width(text) <= room:
        return text
    kept = text[: max(room - 1, 1)]
    while width(kept) > room - 1 and len(kept) > 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def wrapped(text: str, indent: str = "  ", first: str = "", most: int | None = None) -> list[str]:
    """A sentence in lines of the terminal's width; of more than ``most`` lines the last ends in an ellipsis."""
    indents = {"initial_indent": first, "subsequent_indent": indent}
    lines = _broken(text, columns(), break_long_words=False, **indents)
    if most is None or len(lines) <= most:
        return lines
    last = f"{lines[most - 1]} …"
    return [*lines[: most - 1], clipped(last, columns()) if width(last) > columns() else last]


def reflowed(lines: Iterable[str]) -> list[str]:
    """Lines in the terminal's width; one that is too long goes on below itself, four columns in."""
    made: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        fits = width(line) <= columns()
        made += [line] if fits else wrapped(line.strip(), f"{indent}    ", indent)
    return made


def warning_lines(warnings: Iterable[str], most: int = 4) -> list[str]:
    """Warnings, each once and marked, in lines of the terminal's width; beyond ``most`` they are counted."""
    each = list(dict.fromkeys(warnings))
    lines = [line for text in each[:most] for line in wrapped(text, "  ", "! ")]
    left = len(each) - most
    return lines + [f"! and {left} more warning{'s' * (left > 1)}"] * (left > 0)


def fits(table: Iterable[Sequence[str]]) -> bool:
    """Whether a table has room in the terminal as it is."""
    return sum(max(map(width, column)) + 2 for column in zip(*table, strict=True)) <= columns()


def fitted_table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    indent: str = "",
    flexible: int | None = None,
    clip: bool = False,
    left: bool = False,
) -> str:
    """A table in the terminal's width.

    What is too much is taken from the ``flexible`` column first, which is wrapped or with ``clip`` cut, and then from the widest of all columns,
    which are wrapped; none keeps less than ``SLIMMEST``.
    """
    every = [header, *rows] if header else rows
    count = max(map(len, every), default=0)
    widths = [max(width(row[i]) for row in every if i < len(row)) for i in range(count)]
    over = sum(widths) + 2 * (count - 1) + len(indent) - columns()
    kept = None if flexible is None or not widths else flexible % count
    if kept is not None:
        given = max(min(over, widths[kept] - SLIMMEST), 0)
        widths[kept] -= given
        over -= given
    for _ in range(over):
        widest = max((i for i in range(count) if i != kept), key=widths.__getitem__, default=0)
        if widths[widest] <= SLIMMEST:
            break
        widths[widest] -= 1
    lines: list[list[str]] = []
    for row in rows:
        cells = [
            [clipped(cell, widths[i])] if clip and i == kept else _folded(cell, widths[i])
            for i, cell in enumerate(row)
        ]
        lines += map(list, itertools.zip_longest(*cells, fillvalue=""))
    head = [clipped(cell, widths[i]) for i, cell in enumerate(header)]
    return text_table(lines, head, indent, left)


def _folded(cell: str, room: int) -> list[str]:
    """A cell in lines of so many columns; a formula or an address that is longer goes on in the next."""
    if width(cell) <= room:
        return [cell]
    return _broken(cell, room, subsequent_indent="  " * (room > 2 * SLIMMEST)) or [""]


def _broken(text: str, room: int, **options: Any) -> list[str]:
    """A text in lines of so many columns; a number keeps its unit."""
    lines = textwrap.wrap(BEFORE_UNIT.sub(TIED, text), room, break_on_hyphens=False, **options)
    return [line.replace(TIED, " ") for line in lines]
