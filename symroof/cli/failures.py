"""What went wrong, on standard error: faults of the input, and bugs in symroof, each with its exit code."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING

from symroof.cli.output import say, say_json
from symroof.errors import visible

if TYPE_CHECKING:
    from symroof.errors import Problem

BAD_INPUT, BUG = 2, 101


def print_problems(problems: Iterable[Problem], as_json: bool) -> None:
    """Every fault with its place and hint, or all of them as one object."""
    if as_json:
        say_json({"schema": "symroof/error/1", "errors": [problem.as_json() for problem in problems]}, err=True)
    else:
        for problem in problems:
            say(str(problem), err=True)


def report_bug(error: Exception, where: str = "", debug: bool = False) -> int:
    """One line about a bug in symroof, its traceback before it where ``--debug`` is set; returns the exit code."""
    if debug:
        say("".join(traceback.format_exception(error)), err=True)
    place = f"{where}: " if where else ""
    ask = "report it with the traceback above" if debug else "`symroof --debug …` shows where; report it"
    line = f"symroof: {place}a bug in symroof: {type(error).__name__}: {str(error)[:200]} ({ask})"
    say(visible(line), err=True)
    return BUG
