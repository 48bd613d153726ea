"""``symroof diff``: why two cases, or two tools, give different numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.compared_cases import (
    check_sides,
    quantities_option,
    study_of_case,
    waterfalls_between,
)
from symroof.cli.options import (
    all_option,
    case_options,
    check_folder,
    json_option,
    picture_format,
    study_from,
)
from symroof.cli.output import say, say_json, write_file
from symroof.errors import InputError

if TYPE_CHECKING:
    from symroof.analysis.waterfall import Waterfall, WaterfallStep


@click.command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("sides", nargs=-1, metavar="A B [STUDY]")
@quantities_option
@click.option(
    "--measured",
    metavar="'NAME = VALUE'",
    help="Which usual cause explains this figure, measured on a server of STUDY.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="Draw the first quantity to a picture instead: .svg, .pdf or .png.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md"]),
    default="text",
    show_default=True,
    help="A table for the terminal, or Markdown.",
)
@all_option
@case_options
@json_option
def command(
    sides: tuple[str, ...],
    quantities: str,
    measured: str | None,
    out: str | None,
    form: str,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Why two cases, or two tools, give different numbers: the effect of each difference, one after another.

    A and B are studies, cases in quotes, or presets; `symroof` counts as symroof does by default. Presets count the STUDY, or the
    case of the options, which apply to both sides:

    symroof diff symroof genz --model llama-3-8b --hardware h100-sxm --prompt 2048

    symroof diff chat.yaml '--model llama-3-8b --hardware h200 --prompt 4096' -q itl

    symroof diff chat.yaml 'itl = 14.2 ms'

    symroof diff --measured 'itl = 28 ms' chat.yaml

    Differences are applied one after another: definitions, then counting choices, then inputs. From a preset to a case without one
    the same steps are applied in reverse. One side may be a number. --measured tries what is often not as thought on a server:
    eager execution, precision, clocks, links, batch, context, devices, caches, prefills.
    """
    check_sides(sides)
    if measured is not None:
        _diagnose(sides, measured, as_json, options)
        return
    made, problems = waterfalls_between(
        sides, quantities if out is None else quantities.partition(",")[0], options
    )
    if out is not None:
        _draw(made[0], sides, out)
    elif as_json:
        say_json(
            {
                "schema": "symroof/diff/2",
                "from": sides[0],
                "to": sides[1],
                "quantities": [waterfall.as_json() for waterfall in made],
            }
        )
    else:
        say(_written(made, sides, form, everything))
    if problems:  # quantities without a value on one side, reported after the others
        raise InputError(problems)


MOST_STEPS, MOST_OF_ALL = 8, 9
"""Differences of one quantity on a first screen, and of all."""
SMALL = 1e-3
"""Effects of less than this share of the value are not listed one by one."""


def _written(made: list[Waterfall], sides: tuple[str, ...], form: str, everything: bool) -> str:
    """The quantities in Markdown, in full, or with their largest differences alone."""
    from symroof.cli.terminal import reflowed, wrapped
    from symroof.report.waterfall_table import markdown, terminal

    if form == "md":
        return "\n\n".join(markdown(way, sides[0], sides[1]) for way in made)
    if everything:
        return "\n".join(
            reflowed("\n\n".join(terminal(way, sides[0], sides[1]) for way in made).splitlines())
        )
    most = max(min(MOST_STEPS, MOST_OF_ALL // len(made)), 1)
    hidden = any(way.without_effect or way.presets for way in made)
    behind = ["all: every difference, the value after each"] + [
        "what differs without effect"
    ] * hidden
    return "\n\n".join(
        [_largest(way, sides, most) for way in made] + wrapped(f"--{', '.join(behind)}", "  ", "")
    )


def _largest(way: Waterfall, sides: tuple[str, ...], most: int) -> str:
    """Both values of a quantity with its largest differences between them, and the mistakes among these."""
    from symroof.analysis.case_summary import DIGITS
    from symroof.analysis.waterfall import factor_text, signed_text
    from symroof.cli.terminal import fitted_table, wrapped

    unit, least = way.symbol.unit, SMALL * abs(float(way.end.value))
    ranked = sorted(
        (step for step in way.steps if abs(float(step.effect)) > least),
        key=lambda step: -abs(step.effect),
    )[:most]
    small = [step for step in way.steps if step not in ranked]
    rows = [[sides[0], way.start.plain(DIGITS), ""]]
    rows += [
        [
            f"  {_label(step)}",
            signed_text(step.effect, unit, DIGITS),
            factor_text(step.factor, DIGITS),
        ]
        for step in way.steps
        if step in ranked
    ]
    rest = sum((step.effect for step in small), Fraction(0))
    rows += (
        [
            [
                f"  {len(small)} smaller difference{'s' * (len(small) > 1)}",
                signed_text(rest, unit, DIGITS),
                "",
            ]
        ]
        if small
        else []
    )
    rows += [[sides[1], way.end.plain(DIGITS), factor_text(way.factor, DIGITS)]]
    slips = [
        line
        for step in way.steps
        if step in ranked and step.slip
        for line in wrapped(f"slip: {step.slip}", "    ", "  ", 2)
    ]
    unmoved = (
        [line for text in way.presets for line in wrapped(text, "    ", "  ", 2)]
        if not way.steps
        else []
    )
    return "\n".join(
        [
            *wrapped(way.title, "  ", ""),
            fitted_table(rows, indent="  ", flexible=0, clip=False),
            *dict.fromkeys(slips),
            *unmoved,
        ]
    )


def _label(step: WaterfallStep) -> str:
    """The change that somebody chose first, a precision for one, and how many come with it."""
    from symroof.analysis.waterfall import change_label
    from symroof.cases.input import ROLE_INPUT

    first, *others = sorted(step.changes, key=lambda change: change.name not in ROLE_INPUT)
    return change_label(first) + (f", and {len(others)} more that come with it" if others else "")


def _draw(waterfall: Waterfall, sides: tuple[str, ...], out: str) -> None:
    """Write the picture and print its takeaway."""
    from symroof.report.pictures import bars
    from symroof.report.pictures.draw import draw

    ending = picture_format(out)
    check_folder(Path(out))
    drawn = draw(bars.waterfall(waterfall, sides[0], sides[1]))
    write_file(out, drawn.form(ending))
    say(drawn.says)


def _measured(sides: tuple[str, ...], written: str) -> tuple[str, str]:
    """The quantity and the figure of --measured."""
    from symroof.claims.case_comparison import split_number_side

    name, text = split_number_side(written) or ("", "")
    if not name or not text:
        raise click.BadParameter(
            f"{written!r} is not NAME = VALUE, such as 'itl = 14.2 ms'", param_hint="--measured"
        )
    if len(sides) > 1:
        raise click.UsageError("--measured takes one study, or a case of the options")
    return name, text


def _diagnose(
    sides: tuple[str, ...], measured: str, as_json: bool, options: dict[str, Any]
) -> None:
    """Print which usual cause explains a measured figure, as text or JSON."""
    from symroof.analysis.diagnosis import diagnose
    from symroof.claims.case_comparison import parse_claim
    from symroof.cli.terminal import reflowed
    from symroof.report.diagnosis_text import diagnosis_text

    name, text = _measured(sides, measured)
    printed, written = parse_claim(name, text, measured)
    study = study_of_case(sides[0], options) if sides else study_from(None, options)
    found = diagnose(study, printed, written.number)
    if as_json:
        say_json({"schema": "symroof/diff/2", "diagnosis": found.as_json()})
    else:
        say("\n".join(reflowed(diagnosis_text(found, study.first).splitlines())))
