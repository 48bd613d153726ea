"""What a terminal is: its width, its colours, and tables and sentences that fit it."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sys
import textwrap
import traceback
from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symroof.errors import InputError, Problem, visible
from symroof.table_formats import FAILS, IN_PART, PASSES, text_table, width

if TYPE_CHECKING:
    from symroof.cases.values import Result


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
            [clipped(cell, room)]
            if width(cell) <= room or (clip and i == kept)
            else _broken(cell, room, subsequent_indent="  " * (room > 2 * SLIMMEST))
            for i, (cell, room) in enumerate(zip(row, widths, strict=False))
        ]
        lines += map(list, itertools.zip_longest(*cells, fillvalue=""))
    head = [clipped(cell, widths[i]) for i, cell in enumerate(header)]
    return text_table(lines, head, indent, left)


def _broken(text: str, room: int, **options: Any) -> list[str]:
    """A text in lines of so many columns; a number keeps its unit."""
    lines = textwrap.wrap(BEFORE_UNIT.sub(TIED, text), room, break_on_hyphens=False, **options)
    return [line.replace(TIED, " ") for line in lines]


T = TypeVar("T")
ERASE_LINE_ABOVE = "\x1b[1A\x1b[2K\r"
BAD_INPUT, BUG = 2, 101
"""Exit codes."""
UNSAFE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Characters that are legal in JSON but unsafe on a terminal: DEL and C1, bidirectional and format characters, lone surrogates."""


def say(text: object, *, err: bool = False, nl: bool = True) -> None:
    """Print text with control and bidirectional characters written out."""
    click.echo(visible(str(text), line_breaks=True), err=err, nl=nl)


def say_marked(text: str) -> None:
    """Print text with its verdicts and warnings in colour, where the output takes colours."""
    shown = visible(text, line_breaks=True)
    click.echo(coloured(shown) if takes_colours() else shown)


def say_json(value: object, *, err: bool = False, **options: Any) -> None:
    """Print an object as JSON, every character that could steer a terminal escaped."""
    click.echo(json_text(value, **options), err=err)


def json_text(value: object, **options: Any) -> str:
    """JSON in which DEL, C1, format characters and lone surrogates are escaped as well as C0.

    >>> json_text({"a": "µ\\x9b2J"})
    '{"a": "µ\\\\u009b2J"}'
    """
    return UNSAFE.sub(
        lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False, **options)
    )


def say_one_of(cases: Sized, doing: str) -> None:
    """Say on standard error that a command takes one case, the first, where several are given."""
    if len(cases) > 1:
        say(f"several cases given; {doing} the first of {len(cases)}", err=True)


def write_file(path: str | os.PathLike[str], content: str | bytes, *read: str | None) -> None:
    """Write an output file atomically and report its name on standard error.

    Raises:
        InputError: it is one of the files that the command ``read``.
    """
    from symroof.output_files import write_atomic

    inputs = [name for name in read if name and os.path.exists(name)]
    if os.path.exists(path) and any(os.path.samefile(path, name) for name in inputs):
        message = "is an input file, which the output would replace"
        raise InputError(Problem(str(path), message, hint="write it to another file"))
    write_atomic(path, content)
    say(f"wrote {path}", err=True)


def print_problems(problems: Iterable[Problem], as_json: bool) -> None:
    """Print every problem with its place and hint, or all of them as one JSON object."""
    if as_json:
        errors = [problem.as_json() for problem in problems]
        say_json({"schema": "symroof/error/1", "errors": errors}, err=True)
    for problem in () if as_json else problems:
        say(str(problem), err=True)


def report_bug(error: Exception, where: str = "", debug: bool = False) -> int:
    """Print one line about a bug in symroof, preceded by the traceback with ``--debug``; returns the exit code."""
    if debug:
        say("".join(traceback.format_exception(error)), err=True)
    place = f"{where}: " if where else ""
    above = "report it with the traceback above"
    ask = above if debug else "`symroof --debug …` shows where; report it"
    line = f"symroof: {place}a bug in symroof: {type(error).__name__}: {str(error)[:200]} ({ask})"
    say(visible(line), err=True)
    return BUG


def progress_bar(items: Collection[T], label: str) -> Iterator[T]:
    """Iterate over the items with a progress bar on standard error, if that is a terminal; it vanishes when it is through."""
    on_terminal = sys.stderr.isatty()
    with click.progressbar(
        items, label=label, show_pos=True, file=sys.stderr, hidden=not on_terminal
    ) as shown:
        yield from shown
    if on_terminal:
        sys.stderr.write(ERASE_LINE_ABOVE)
        sys.stderr.flush()


def starred(name: str, defaulted: bool) -> str:
    """A name, marked with a star if its value is a default."""
    return ("* " if defaulted else "  ") + name


def inputs_table(inputs: dict[str, Result]) -> str:
    """Name, value and source of every input."""
    rows = [[starred(name, i.defaulted), i.text(), i.source] for name, i in inputs.items()]
    return text_table(rows)
