"""The two sides of a comparison on the line: studies, presets, cases in quotes, numbers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import line_selection, study_from, study_options
from symroof.errors import InputError, Problem

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.analysis.waterfall import Waterfall

QUANTITIES = "itl,ttft,memory_bytes"

against_option = click.option("--against", metavar="B", help="Another study, a case in quotes, or a preset that counts this one.")
quantities_option = click.option(
    "-q", "--quantities", default=QUANTITIES, show_default=True, metavar="NAMES", help="The quantities to explain, comma-separated."
)


def names_of(quantities: str) -> list[str]:
    """The quantities of the option, each once."""
    return list(dict.fromkeys(name.strip() for name in quantities.split(",") if name.strip()))


def ways(sides: tuple[str, ...], quantities: str, options: dict[str, Any], *, deciding: bool = False) -> tuple[list[Waterfall], list[Problem]]:
    """What leads from the first side to the second, for each quantity, and why there is nothing of some.

    Args:
        sides: A, B and what presets count, if that is neither of them.
        deciding: whether both stand as commands that decide take them.

    Raises:
        InputError: there is nothing of any quantity.
    """
    from symroof.claims.case_comparison import split_number_side, waterfall_to_text

    if len(sides) not in (2, 3):
        raise click.UsageError("give two sides: studies, cases in quotes, or presets (and a study for presets)")
    names = names_of(quantities)
    if not names:
        raise click.BadParameter("names no quantity", param_hint="--quantities")
    first, second, *common = sides
    numbers = [split_number_side(side) for side in sides]
    cases = [side for side, number in zip(sides, numbers, strict=True) if number is None]

    def study(side: str) -> Study:
        made = of_side(side, options, (*common, second if side == first else first))
        return made.decide() if deciding else made

    if len(cases) == len(sides):
        return _waterfalls(study(first), study(second), names)
    if len(cases) < len(sides) - 1 or numbers[2:] not in ([], [None]):
        raise click.UsageError("one of the two sides is a case, whose choices are tried; the other may be a number")
    number = numbers[0] or numbers[1]
    assert number is not None
    way = waterfall_to_text(study(second if numbers[0] else first), _of_number(number[0], names, quantities), number[1])
    return [way.reversed() if numbers[0] else way], []


def _waterfalls(one: Study, other: Study, names: list[str]) -> tuple[list[Waterfall], list[Problem]]:
    from symroof.analysis.waterfall import waterfall

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


def _of_number(name: str, names: list[str], quantities: str) -> str:
    """The quantity that a number on one side is of: the one it names, or the one of the option."""
    if quantities == QUANTITIES:
        return name or names[0]
    if len(names) != 1 or name not in ("", names[0]):
        raise click.UsageError("a number is of one quantity: give -q one name" + (f", {name}, or leave it out" if name else ""))
    return names[0]


def of_side(side: str, options: dict[str, Any], others: tuple[str, ...]) -> Study:
    """One side under the options; a preset counts the first of the others that is a case, or the case of the options alone."""
    from symroof.claims.case_comparison import is_preset, split_number_side, study_under_preset

    if not is_preset(side):
        return case(side, options)
    base = next((word for word in others if not is_preset(word) and split_number_side(word) is None), None)
    return study_under_preset(side, case(base, options) if base else study_from(None, options))


def case(side: str, options: dict[str, Any]) -> Study:
    """A study by path or name, or a command line in quotes, with the options over it.

    Raises:
        InputError: neither a study, nor a line, nor a preset.
    """
    from symroof.claims.case_comparison import is_file, require_study

    if (" " in side.strip() or side.startswith("-")) and not is_file(side):
        study = _of_line(side)
        study.select(line_selection(options))
        return study
    require_study(side)
    return study_from(side, options)


def checked_sides(sides: tuple[str, ...]) -> None:
    """No option of another name among the sides.

    Raises:
        click.NoSuchOption: one that begins like an option and holds no case.
    """
    if unknown := next((side for side in sides if side.startswith("-") and " " not in side.strip()), None):
        raise click.NoSuchOption(unknown.partition("=")[0])


@click.command()
@study_options
def _line(study: str | None, **options: Any) -> Study:
    return study_from(study, options)


def _of_line(text: str) -> Study:
    """The study of a command line in quotes."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(Problem(text[:80], f"cannot be read as a command line: {error}")) from None
    made: Study = _line.main(args=words, prog_name=f"symroof diff '{text[:80]}'", standalone_mode=False)
    return made
