"""The two sides of a comparison on the command line: studies, presets, cases in quotes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import line_selection, study_from, study_options
from symroof.cli.terminal import say_one_of
from symroof.errors import InputError, Problem

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.analysis.waterfall import Waterfall

QUANTITIES = "itl,ttft,memory_bytes"

against_option = click.option(
    "--against",
    metavar="B",
    help="Another study, a case in quotes, or a preset that counts this one.",
)
quantities_option = click.option(
    "-q",
    "--quantities",
    default=QUANTITIES,
    show_default=True,
    metavar="NAMES",
    help="The quantities to explain, comma-separated.",
)


def waterfalls_between(
    sides: tuple[Study | str, ...], quantities: str, options: dict[str, Any]
) -> tuple[list[Waterfall], list[Problem]]:
    """The waterfall from the first side to the second for each quantity, and the problems of quantities that have none.

    Args:
        sides: A, B, and the study that presets apply to if that is neither of them.

    Raises:
        InputError: no quantity can be compared.
    """
    from symroof.claims.case_comparison import diff, is_preset

    if len(sides) not in (2, 3):
        message = "give two sides: studies, cases in quotes, or presets (and a study for presets)"
        raise click.UsageError(message)
    names = list(dict.fromkeys(filter(None, map(str.strip, quantities.split(",")))))
    if not names:
        raise click.BadParameter("names no quantity", param_hint="--quantities")
    first, second, *common = (
        study_of_case(side, options) if isinstance(side, str) and not is_preset(side) else side
        for side in sides
    )
    cases = [side for side in (*common, second, first) if not isinstance(side, str)]
    counted = cases[0] if cases else study_from(None, options)
    made: list[Waterfall] = []
    problems: list[Problem] = []
    for name in names:
        try:
            made.append(diff(first, second, name, counted))
        except InputError as error:
            problems += error.problems
    if not made:
        raise InputError(problems)
    return made, problems


def study_of_case(side: str, options: dict[str, Any]) -> Study:
    """A study by path or name, with the options over it; or a quoted command line, which says what the options do not.

    Raises:
        InputError: not a study, a quoted case or a preset.
    """
    from symroof.claims.case_comparison import require_study

    if not is_line(side):
        require_study(side)
        return study_from(side, options)
    try:
        words = shlex.split(side)
    except ValueError as error:
        raise InputError(Problem(side[:80], f"cannot be read as a command line: {error}")) from None
    name = f"symroof diff '{side[:80]}'"
    path, own = _line.main(args=words, prog_name=name, standalone_mode=False)
    study = study_from(path, options, needs_case=False)
    study.select(line_selection(own, study.declared))
    say_one_of(study.cases, f"of {side!r} taking")  # of a file the first is the baseline
    return study


def is_line(side: str) -> bool:
    """Whether a side is a case in quotes."""
    from symroof.claims.case_comparison import is_file

    return (" " in side.strip() or side.startswith("-")) and not is_file(side)


@click.command()
@study_options
def _line(study: str | None, **options: Any) -> tuple[str | None, dict[str, Any]]:
    return study, options
