"""Everything a command prints goes through here: untrusted text cannot control the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import traceback
from collections.abc import Collection, Iterable, Iterator, Sized
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symroof.errors import visible

if TYPE_CHECKING:
    from symroof.cases.values import Result
    from symroof.errors import Problem

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
    from symroof.cli.terminal import coloured, takes_colours

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
    from symroof.errors import InputError, Problem
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
    from symroof.table_formats import text_table

    rows = [[starred(name, i.defaulted), i.text(), i.source] for name, i in inputs.items()]
    return text_table(rows)
