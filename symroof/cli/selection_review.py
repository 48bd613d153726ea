"""The command that reviews the configuration a selection puts first: the caller's own words, with what was chosen."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from symroof.cases.input import ROLE_INPUT
from symroof.cli.options import SYMBOL_OPTIONS
from symroof.specs.catalogue import has_entry
from symroof.theory.layout import DEGREES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symroof.cases.bound_case import BoundCase
    from symroof.select.selection import Selection

WITH_VALUE = ("--among", "--by", "--show", "--lacks", "--format", "--hardware", "--system")
FLAGS = ("--details", "-v", "--strict", "--json", "--color", "--no-color", "--debug")
"""Options of ``select`` that a review has not, and those that the choice replaces."""
CHOSEN = ("batch", *DEGREES, *ROLE_INPUT)
"""What else the choice replaces."""


def review_line(choice: Selection, words: Sequence[str]) -> str:
    """``symroof report`` of the first configuration, from the words ``select`` was called with; empty where options do not say it all: a device that is
    no name of the catalogue, prefills on devices of their own.

    Args:
        words: the command line, ``symroof`` left out.
    """
    run = choice.configurations[0].run
    case = run.bound_case
    apart = case.request.prefill or "prefill_devices" in case.given
    if (
        choice.configurations[0].state != "passes"
        or apart
        or case.hardware is None
        or not has_entry("hardware", case.hardware.name)
    ):
        return ""
    dropped = (
        *WITH_VALUE,
        *(["--model"] if case.several_models else []),
        *(flag for name in CHOSEN if name in SYMBOL_OPTIONS for flag in SYMBOL_OPTIONS[name][0]),
    )
    chosen = [
        *(["--model", case.model.name] if case.several_models and case.model else []),
        "--hardware",
        case.hardware.name,
    ]
    return shlex.join(["symroof", "report", *_kept(words, dropped), *chosen, *_settings(case)])


def _kept(words: Sequence[str], dropped: Sequence[str]) -> Iterator[str]:
    """The words without the command and without some options and their values."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in dropped:
            skip = True
        elif word not in ("select", *FLAGS) and not word.startswith(
            tuple(f"{option}=" for option in dropped)
        ):
            yield word


def _settings(case: BoundCase) -> Iterator[str]:
    """Degrees, batch, and everything else that the candidates vary in."""
    for name in (*DEGREES, "batch"):
        if name in case.given and (
            name == "batch" or name in dict(case.varied) or case.case.value(name) != 1
        ):
            yield from (f"--{name.replace('_', '-')}", str(int(case.case.value(name))))
    for name, value in case.varied:
        if name in ROLE_INPUT:
            yield from (f"--{name}", value)
        elif name not in (*DEGREES, "batch", "hardware", "model"):
            yield from ("--set", f"{name}={value}")
