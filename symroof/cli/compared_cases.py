"""The two sides of a comparison on the command line: studies, presets, cases in quotes, numbers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import line_selection, study_from, study_options
from symroof.cli.output import say_one_of
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


def _names(quantities: str) -> list[str]:
    """The comma-separated names, each once."""
    return list(dict.fromkeys(name.strip() for name in quantities.split(",") if name.strip()))


def waterfalls_between(
    sides: tuple[str, ...], quantities: str, options: dict[str, Any]
) -> tuple[list[Waterfall], list[Problem]]:
    """The waterfall from the first side to the second for each quantity, and the problems of quantities that have none.

    Args:
        sides: A, B, and the study that presets apply to if that is neither of them.

    Raises:
        InputError: no quantity can be compared.
    """
    from symroof.claims.case_comparison import split_number_side, waterfall_to_text

    if len(sides) not in (2, 3):
        raise click.UsageError(
            "give two sides: studies, cases in quotes, or presets (and a study for presets)"
        )
    names = _names(quantities)
    if not names:
        raise click.BadParameter("names no quantity", param_hint="--quantities")
    first, second, *common = sides
    numbers = [split_number_side(side) for side in sides]
    cases = [side for side, number in zip(sides, numbers, strict=True) if number is None]

    def study(side: str) -> Study:
        return study_of_side(side, options, (*common, second if side == first else first))

    if len(cases) == len(sides):
        return _waterfall_for_each(study(first), study(second), names)
    if len(cases) < len(sides) - 1 or numbers[2:] not in ([], [None]):
        raise click.UsageError("one of the two sides is a case; the other may be a number")
    number = numbers[0] or numbers[1]
    assert number is not None
    waterfall = waterfall_to_text(
        study(second if numbers[0] else first),
        _quantity_of_number(number[0], names, quantities),
        number[1],
    )
    return [waterfall.reversed() if numbers[0] else waterfall], []


def _waterfall_for_each(
    one: Study, other: Study, names: list[str]
) -> tuple[list[Waterfall], list[Problem]]:
    from symroof.analysis.waterfall import waterfall
    from symroof.claims.case_comparison import alike

    one, other = alike(one, other)
    made: list[Waterfall] = []
    problems: list[Problem] = []
    for name in names:
        try:
            made.append(waterfall(one.first, other.first, name))
        except InputError as error:
            problems += error.problems
    if not made:
        raise InputError(problems)
    return made, problems


def _quantity_of_number(name: str, names: list[str], quantities: str) -> str:
    """The quantity of a number: the one it names, or the one of the option."""
    if quantities == QUANTITIES:
        return name or names[0]
    if len(names) != 1 or name not in ("", names[0]):
        raise click.UsageError(
            "a number belongs to one quantity: give -q one name"
            + (f", {name}, or leave it out" if name else "")
        )
    return names[0]


def study_of_side(side: str, options: dict[str, Any], others: tuple[str, ...]) -> Study:
    """The study of one side; a preset applies to the first of the others that is a case, or to the case of the options."""
    from symroof.claims.case_comparison import is_preset, split_number_side, study_under_preset

    if not is_preset(side):
        return study_of_case(side, options)
    base = next(
        (word for word in others if not is_preset(word) and split_number_side(word) is None), None
    )
    return study_under_preset(
        side, study_of_case(base, options) if base else study_from(None, options)
    )


def study_of_case(side: str, options: dict[str, Any]) -> Study:
    """A study by path or name, or a quoted command line, overridden by the options.

    Raises:
        InputError: not a study, a quoted case or a preset.
    """
    from symroof.claims.case_comparison import is_file, require_study

    if (" " in side.strip() or side.startswith("-")) and not is_file(side):
        study = _study_of_line(side)
        study.select(line_selection(options))
        say_one_of(study.cases, f"of {side!r} taking")  # of a file the first is the baseline
        return study
    require_study(side)
    return study_from(side, options)


def check_sides(sides: tuple[str, ...]) -> None:
    """Reject unknown options among the sides.

    Raises:
        click.NoSuchOption: a side that looks like an option and is not a quoted case.
    """
    if unknown := next(
        (side for side in sides if side.startswith("-") and " " not in side.strip()), None
    ):
        raise click.NoSuchOption(unknown.partition("=")[0])


@click.command()
@study_options
def _line(study: str | None, **options: Any) -> Study:
    return study_from(study, options)


def _study_of_line(text: str) -> Study:
    """The study of a command line in quotes."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(Problem(text[:80], f"cannot be read as a command line: {error}")) from None
    made: Study = _line.main(
        args=words, prog_name=f"symroof diff '{text[:80]}'", standalone_mode=False
    )
    return made
