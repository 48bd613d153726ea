"""``symroof diff``: why two cases, or two tools, give different numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.compared_cases import quantities_option, study_of_case, waterfalls_between
from symroof.cli.options import all_option, case_options, json_option, study_from
from symroof.cli.terminal import fitted_table, reflowed, say, say_json, wrapped
from symroof.errors import InputError
from symroof.table_formats import text_table

if TYPE_CHECKING:
    from symroof.analysis.waterfall import Waterfall


@click.command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("sides", nargs=-1, metavar="A B [STUDY]")
@quantities_option
@click.option(
    "--measured",
    metavar="'NAME = VALUE'",
    help="Which usual cause explains this figure, measured on a server of STUDY.",
)
@all_option
@case_options
@json_option
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
            message = (
                f"an option behind -- is no side: write the other case in quotes, '… {flag} …'"
            )
            raise click.UsageError(message)
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
    from symroof.claims.case_comparison import measured_figure
    from symroof.report.diagnosis_text import diagnosis_text

    if len(sides) > 1:
        raise click.UsageError("--measured takes one study, or a case of the options")
    printed, written = measured_figure(measured)
    study = study_of_case(sides[0], options) if sides else study_from(None, options)
    found = diagnose(study, printed, written.number)
    if as_json:
        say_json({"schema": "symroof/diff/2", "diagnosis": found.as_json()})
    else:
        say("\n".join(reflowed(diagnosis_text(found, study.first, everything).splitlines())))
