"""``symroof diff``: why two cases, or two tools, give different numbers; its sides are studies, presets, cases in quotes."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import case_options, line_selection, options_of, study_from, study_options
from symroof.cli.terminal import fitted_table, reflowed, say, say_json, say_one_of, wrapped
from symroof.errors import InputError, Problem
from symroof.table_formats import text_table

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.analysis.waterfall import Waterfall


@click.command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("sides", nargs=-1, metavar="A B [STUDY]")
@options_of("diff")
@case_options
def command(
    sides: tuple[str, ...],
    quantities: str,
    measured: str | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain why two cases, two tools or a measurement differ, one difference after another.

    symroof diff chat.yaml '--model llama-3-8b --hardware h200 --prompt 4096' -q itl

    A and B are studies, cases in quotes, or presets: other tools that count the STUDY, or the case of
    the options, in their way (`symroof` counts as symroof does). Options apply to both sides, except where a quoted case says otherwise.

    symroof diff --measured 'itl = 28 ms' chat.yaml

    --measured tries the usual causes on a server: precision, clocks, batch, prompts, eager execution, prefills ...
    """
    own = {flag for param in click.get_current_context().command.params for flag in param.opts}
    for side in sides:  # an option that is none of ours, and no case in quotes
        flag = side.partition("=")[0]
        if flag in own:
            way = f"write the other case in quotes, '… {flag} …'"
            raise click.UsageError(f"an option behind -- is no side: {way}")
        if side.startswith("-") and " " not in side.strip():
            raise click.NoSuchOption(flag)
    if measured is not None:
        _diagnose(sides, measured, everything, as_json, options)
        return
    made, problems = waterfalls_between(sides, quantities, options)
    if as_json:
        ways = [waterfall.as_json() for waterfall in made]
        shown = {"from": sides[0], "to": sides[1], "quantities": ways}
        say_json({"schema": "symroof/diff/2", **shown})
    else:
        say(_written(made, sides, everything))
    if problems:  # quantities without a value on one side, reported after the others
        raise InputError(problems)


MOST_STEPS, MOST_OF_ALL = 8, 9
"""Differences of one quantity on a first screen, and of all."""
SMALL = 1e-3  # effects of less than this share of the value are not listed one by one


def _written(made: list[Waterfall], sides: tuple[str, ...], everything: bool) -> str:
    """The quantities in full, or with their largest differences alone."""
    if everything:
        lines: list[str] = []
        for way in made:
            table = text_table(way.rows(sides[0], sides[1]), indent="  ").splitlines()
            lines += [way.title, *table, *(f"  {note}" for note in way.notes()), ""]
        return "\n".join(reflowed(lines[:-1]))
    most = max(min(MOST_STEPS, MOST_OF_ALL // len(made)), 1)
    hidden = any(way.without_effect for way in made)
    behind = " and what differs without effect" * hidden
    said = wrapped(f"--all shows every difference, the value after each{behind}.")
    return "\n\n".join(["\n".join(_largest(way, sides, most)) for way in made] + said)


def _largest(way: Waterfall, sides: tuple[str, ...], most: int) -> list[str]:
    """Both values of a quantity with its largest differences between them, and the mistakes among these."""
    from symroof.analysis.case_summary import DIGITS
    from symroof.analysis.waterfall import factor_text, signed_text
    from symroof.cases.values import ROLE_INPUT

    unit, least = way.symbol.unit, SMALL * abs(float(way.end.value))
    felt = [step for step in way.steps if abs(float(step.effect)) > least]
    ranked = sorted(felt, key=lambda step: -abs(step.effect))[:most]
    shown = [step for step in way.steps if step in ranked]
    small = [step for step in way.steps if step not in ranked]
    rows = [[sides[0], way.start.plain(DIGITS), ""]]
    for step in shown:
        effect = signed_text(step.effect, unit, DIGITS)
        # the change that somebody chose first, a precision for one
        first, *others = sorted(step.changes, key=lambda change: change.name not in ROLE_INPUT)
        label = first.label + (f", and {len(others)} more that come with it" if others else "")
        rows.append([f"  {label}", effect, factor_text(step.factor, DIGITS)])
    if small:
        rest = signed_text(sum(step.effect for step in small), unit, DIGITS)
        rows.append([f"  {len(small)} smaller difference{'s' * (len(small) > 1)}", rest, ""])
    rows.append([sides[1], way.end.plain(DIGITS), factor_text(way.factor, DIGITS)])
    remarks = dict.fromkeys(f"known mistake: {step.slip}" for step in shown if step.slip)
    return [
        *wrapped(way.title),
        fitted_table(rows, indent="  ", flexible=0),
        *(line for text in remarks for line in wrapped(text, "    ", "  ", 2)),
    ]


def _diagnose(
    sides: tuple[str, ...], measured: str, everything: bool, as_json: bool, options: dict[str, Any]
) -> None:
    """Print which usual cause explains a measured figure, as text or JSON."""
    from symroof.analysis.diagnosis import diagnose
    from symroof.report.diagnosis_text import diagnosis_text

    if len(sides) > 1:
        raise click.UsageError("--measured takes one study, or a case of the options")
    name, _, value = map(str.strip, measured.partition("="))
    if not name.isidentifier() or not value:
        message = "is not NAME = VALUE, such as 'itl = 14.2 ms'"
        raise InputError(Problem("--measured", message, path=measured[:80]))
    study = study_of_case(sides[0], options) if sides else study_from(None, options)
    found = diagnose(study, name, value)
    if as_json:
        say_json({"schema": "symroof/diff/2", "diagnosis": found.as_json()})
    else:
        say("\n".join(reflowed(diagnosis_text(found, study.first, everything).splitlines())))


def waterfalls_between(
    sides: tuple[Study | str, ...], quantities: str, options: dict[str, Any]
) -> tuple[list[Waterfall], list[Problem]]:
    """The waterfall from the first side to the second for each quantity, and the problems of quantities that have none.

    Args:
        sides: A, B, and the study that presets apply to if that is neither of them.

    Raises:
        InputError: no quantity can be compared.
    """
    from symroof.analysis.two_cases import diff, is_preset

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
    from symroof.analysis.two_cases import require_study

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
    return (" " in side.strip() or side.startswith("-")) and not os.path.isfile(side)


@click.command()
@study_options
def _line(study: str | None, **options: Any) -> tuple[str | None, dict[str, Any]]:
    return study, options
