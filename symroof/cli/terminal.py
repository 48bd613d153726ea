"""What a terminal is: its width, its colours, and tables and sentences that fit it."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

import click

from symroof.table_formats import FAILS, IN_PART, PASSES, text_table, width

NARROWEST, USUAL = 60, 100
"""Columns below which nothing is fitted, and those assumed where the output is no terminal."""
SLIMMEST = 10
"""Columns that a column keeps in any case."""
MARKS = re.compile(f"{PASSES}|{FAILS}|^ *{IN_PART}(?= )|^!.*$", re.MULTILINE)
COLOURS = {PASSES: "green", FAILS: "red", IN_PART: "yellow", "!": "yellow"}


def columns() -> int:
    """The width to write for: that of the terminal, of ``COLUMNS``, or 100.

    >>> columns() >= NARROWEST
    True
    """
    return max(NARROWEST, shutil.get_terminal_size((USUAL, 25)).columns)


def choose_colour(context: click.Context, _: click.Parameter, wanted: bool | None) -> None:
    """Whether styles reach the output: as the option says; else never with ``NO_COLOR``, and only on a terminal."""
    if wanted is not None:
        context.color = wanted
    elif context.color is None and os.environ.get("NO_COLOR"):
        context.color = False


def colour_option() -> click.Option:
    """``--color`` and ``--no-color``, which every command has."""
    return click.Option(
        ["--color/--no-color"],
        default=None,
        is_eager=True,
        expose_value=False,
        callback=choose_colour,
        help="Colour (default: on a terminal, unless NO_COLOR).",
    )


def takes_colours() -> bool:
    """Whether the command writes styles: as ``--color`` and ``NO_COLOR`` say, else where its output is a terminal."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    return sys.stdout is not None and sys.stdout.isatty()


def coloured(text: str) -> str:
    """Marks of verdicts and warnings in their colours.

    >>> coloured("✓ h200")
    '\\x1b[32m✓\\x1b[0m h200'
    """
    return MARKS.sub(lambda found: click.style(found[0], fg=COLOURS[found[0].strip()[0]]), text)


def clipped(text: str, room: int) -> str:
    """A text in so many columns: a longer one ends in an ellipsis.

    >>> clipped("time to first token", 12)
    'time to fir…'
    """
    if width(text) <= room:
        return text
    kept = text[: max(room - 1, 1)]
    while width(kept) > room - 1 and len(kept) > 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def wrapped(
    text: str, indent: str = "", first: str | None = None, most: int | None = None
) -> list[str]:
    """A sentence in lines of the terminal's width; of more than ``most`` lines the last ends in an ellipsis."""
    lines = textwrap.wrap(
        text,
        columns(),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if most is not None and len(lines) > most:
        lines = [
            *lines[: most - 1],
            clipped(lines[most - 1] + " …", columns())
            if len(lines[most - 1]) + 2 > columns()
            else lines[most - 1] + " …",
        ]
    return lines


def reflowed(lines: Iterable[str]) -> list[str]:
    """Lines in the terminal's width; one that is too long goes on below itself, four columns in."""
    made: list[str] = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        made += (
            wrapped(line.strip(), f"{indent}    ", indent) if width(line) > columns() else [line]
        )
    return made


def warning_lines(warnings: Iterable[str], most: int = 4) -> list[str]:
    """Warnings, each once and marked, in lines of the terminal's width; beyond ``most`` they are counted."""
    each = list(dict.fromkeys(warnings))
    lines = [line for text in each[:most] for line in wrapped(text, "  ", "! ")]
    left_out = len(each) - most
    return (
        [*lines, f"! and {left_out} more warning{'s' * (left_out > 1)}"] if left_out > 0 else lines
    )


def fitted_table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    indent: str = "",
    flexible: int = -1,
    clip: bool = True,
    left: bool = False,
) -> str:
    """A table in the terminal's width: what is too much for it is cut from one column, by default the last, or wrapped there.

    Where that column would keep less than ``SLIMMEST``, the widest of the others are wrapped as well.
    """
    widths = _widths(rows, header)
    if not widths:
        return ""
    place = flexible % len(widths)
    over = sum(widths) - _room(len(widths), indent)
    widths[place] -= max(min(over, widths[place] - SLIMMEST), 0)
    widths = _slimmed(widths, indent, place)
    shown = [list(header)] if header else []
    shown = [[clipped(cell, widths[i]) for i, cell in enumerate(row)] for row in shown]
    fitted = []
    for row in rows:
        fitted += _stacked(
            [
                [clipped(cell, widths[i])] if clip and i == place else _folded(cell, widths[i])
                for i, cell in enumerate(row)
            ]
        )
    return text_table(fitted, shown[0] if shown else (), indent, left)


def folded_table(
    rows: Sequence[Sequence[str]], header: Sequence[str] = (), indent: str = "", left: bool = False
) -> str:
    """A table in the terminal's width whose widest columns are wrapped, the widest first."""
    widths = _slimmed(_widths(rows, header), indent)
    folded = [
        line
        for row in rows
        for line in _stacked([_folded(cell, widths[i]) for i, cell in enumerate(row)])
    ]
    return text_table(
        folded, [clipped(cell, widths[i]) for i, cell in enumerate(header)], indent, left
    )


def _widths(rows: Sequence[Sequence[str]], header: Sequence[str]) -> list[int]:
    """The columns that each column of a table wants."""
    every = [header, *rows] if header else list(rows)
    return [
        max((width(row[i]) for row in every if i < len(row)), default=0)
        for i in range(max(map(len, every), default=0))
    ]


def _room(count: int, indent: str) -> int:
    """The columns of the terminal for the cells of a table of so many columns."""
    return columns() - len(indent) - 2 * (count - 1)


def _slimmed(widths: Sequence[int], indent: str, kept: int = -1) -> list[int]:
    """Widths that fit the terminal, the widest made slimmer first; that of ``kept`` stays as it is."""
    slim = list(widths)
    for _ in range(max(sum(slim) - _room(len(slim), indent), 0)):
        widest = max((i for i in range(len(slim)) if i != kept), key=slim.__getitem__, default=-1)
        if widest < 0 or slim[widest] <= SLIMMEST:
            break
        slim[widest] -= 1
    return slim


def _folded(cell: str, room: int) -> list[str]:
    """A cell in lines of so many columns; a formula or an address that is longer goes on in the next."""
    if width(cell) <= room:
        return [cell]
    return textwrap.wrap(cell, room, subsequent_indent="  ", break_on_hyphens=False) or [""]


def _stacked(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    """A row whose cells have several lines as rows."""
    return [
        [cell[line] if line < len(cell) else "" for cell in cells]
        for line in range(max(map(len, cells), default=0))
    ]
