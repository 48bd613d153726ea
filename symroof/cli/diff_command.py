"""``symroof diff``: why two cases, or two tools, give different numbers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import case_options, json_option, line_selection, study_from, study_options
from symroof.cli.output import say, say_json
from symroof.errors import InputError, Problem, nearest

if TYPE_CHECKING:
    from symroof.analysis.study import Study
    from symroof.analysis.waterfall import Waterfall
    from symroof.claims.read.written_number import Written

OWN = "symroof"
"""The side that counts as symroof does by default, where the other is a preset."""


@click.command("diff", context_settings={"ignore_unknown_options": True})
@click.argument("sides", nargs=-1, metavar="A B [STUDY]")
@click.option("-q", "--quantities", default="itl,ttft,memory_bytes", show_default=True, metavar="NAMES", help="The quantities to explain, by commas.")
@click.option("--explain", metavar="'NAME = VALUE'", help="Which presets, or which smallest set of choices, give this number in STUDY.")
@click.option("-o", "--out", metavar="FILE", help="A picture of the first quantity instead, by its ending .svg, .pdf or .png.")
@click.option("--format", "form", type=click.Choice(["text", "md"]), default="text", show_default=True, help="A table for the terminal, or Markdown.")
@case_options
@json_option
def command(sides: tuple[str, ...], quantities: str, explain: str | None, out: str | None, form: str, as_json: bool, **options: Any) -> None:
    """Why two cases, or two tools, give different numbers: what each difference does, one after another.

    A and B are studies, cases in quotes, or presets; `symroof` counts as symroof does by default. Presets count the STUDY, or the
    case of the options, which hold for both sides:

    symroof diff symroof genz --model llama-3-8b --hardware h100-sxm --prompt 2048

    symroof diff chat.yaml '--model llama-3-8b --hardware h200 --prompt 4096' -q itl

    symroof diff chat.yaml '14.2 ms' -q itl

    symroof diff --explain 'itl = 14.2 ms' chat.yaml

    Definitions come first, then counting choices, then inputs; each acts on what the ones before it made.
    """
    from symroof.analysis.waterfall import waterfall

    if unknown := next((side for side in sides if side.startswith("-") and " " not in side.strip()), None):
        raise click.NoSuchOption(unknown.partition("=")[0])
    if explain is not None:
        _explain(sides, explain, as_json, options)
        return
    if len(sides) not in (2, 3):
        raise click.UsageError("give two sides: studies, cases in quotes, or presets (and a study for presets)")
    names = [name.strip() for name in quantities.split(",") if name.strip()]
    if _is_number(sides[1]):
        ways = [_to_number(_study(sides[0], options, [], ""), names, sides[1])]
    else:
        one, other = _studies(sides, options)
        ways = [waterfall(one.first, other.first, name) for name in names]
    if out is not None:
        _draw(ways[0], sides, out)
        return
    if as_json:
        say_json({"schema": "symroof/diff/1", "from": sides[0], "to": sides[1], "quantities": [way.as_json() for way in ways]})
        return
    from symroof.report.waterfall_table import markdown, terminal

    write = markdown if form == "md" else terminal
    say("\n\n".join(write(way, sides[0], sides[1]) for way in ways))


def _draw(way: Waterfall, sides: tuple[str, ...], out: str) -> None:
    """Write the picture, and what it says."""
    from symroof.output_files import write_atomic
    from symroof.report.pictures.picture_kinds import ENDINGS
    from symroof.report.pictures.waterfall_bars import waterfall_picture

    goal = Path(out)
    ending = goal.suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise click.BadParameter(f"no picture ends in {goal.suffix!r}; there are {', '.join(f'.{known}' for known in ENDINGS)}", param_hint="--out")
    if not goal.parent.is_dir():
        raise InputError(Problem(out, f"there is no folder {goal.parent}", hint=f"mkdir -p {goal.parent}"))
    drawn = waterfall_picture(way, sides[0], sides[1])
    write_atomic(goal, drawn.form(ending))
    say(f"wrote {goal}", err=True)
    say(drawn.says)


def _is_number(side: str) -> bool:
    """Whether a side is a number with its unit rather than a case."""
    return bool(re.match(r"(~|about )?\s*[\d.]", side)) and not Path(side).exists()


def _claimed(name: str, text: str, where: str) -> tuple[str, Written]:
    """The quantity and the number of it that was written.

    Raises:
        InputError: no such quantity, no number, another dimension.
    """
    from symroof.analysis.study import known
    from symroof.claims.read.written_number import read_written
    from symroof.theory.quantities import QUANTITIES
    from symroof.theory.symbols import INPUTS

    printed = known(name.strip())
    symbol = QUANTITIES.get(printed) or INPUTS[printed]
    try:
        written = read_written(text.strip(), symbol.unit)
    except ValueError as error:
        raise InputError(Problem(where, f"{printed}: {error}")) from None
    if written.value is None:
        raise InputError(Problem(where, f"{text.strip()[:40]!r} is no number", hint=f"write {printed} = 14.2 with its unit"))
    return printed, written


def _to_number(study: Study, names: list[str], text: str) -> Waterfall:
    """The way from a case to a number that was measured or printed elsewhere."""
    from symroof.analysis.number_origins import origins, to_number

    if len(names) != 1 and names != ["itl", "ttft", "memory_bytes"]:
        raise click.UsageError("a number is of one quantity: give -q one name")
    name, written = _claimed(names[0], text, text)
    made = origins(study, name, written.agrees).explanations
    best = next((entry for entry in made if entry.changes), None)
    return to_number(study, name, written.number, best)


def _explain(sides: tuple[str, ...], claim: str, as_json: bool, options: dict[str, Any]) -> None:
    """Print which presets and choices give a number, as text or JSON."""
    from symroof.analysis.number_origins import origins
    from symroof.cases.case_results import bare
    from symroof.report.waterfall_table import origins_text

    name, mark, text = claim.partition("=")
    if not mark or not text.strip():
        raise click.BadParameter(f"{claim!r} is not NAME = VALUE, such as 'itl = 14.2 ms'", param_hint="--explain")
    if len(sides) > 1:
        raise click.UsageError("--explain takes one study, or a case of the options")
    printed, written = _claimed(name, text, claim)
    made = origins(_study(sides[0], options, [], "") if sides else study_from(None, options), printed, written.agrees)
    if not as_json:
        say(origins_text(made, printed, text.strip()))
        return
    explained = {
        "quantity": printed, "unit": made.symbol.unit, "claimed": bare(written.number), "derived": bare(made.derived), "tried": made.tried,
        "complete": made.complete, "explanations": [entry.as_json() for entry in made.explanations],
    }  # fmt: skip
    say_json({"schema": "symroof/diff/1", "explain": explained})


def _studies(sides: tuple[str, ...], options: dict[str, Any]) -> list[Study]:
    """Both sides; a preset counts the third argument, or the other side, or the case of the options alone."""
    first, second, *common = sides
    return [_study(first, options, common, second), _study(second, options, common, first)]


def _study(side: str, options: dict[str, Any], common: list[str], other: str) -> Study:
    """One side under the options."""
    if not _is_preset(side):
        return _case(side, options)
    case = next((word for word in (*common, other) if not _is_preset(word)), None)
    study = _case(case, options) if case else study_from(None, options)
    from symroof.cases.binding import Selection

    if side != OWN:
        study.select(Selection(preset=side))
    return study


def _is_preset(side: str) -> bool:
    from symroof.specs.catalogue import holds

    return side == OWN or (not Path(side).exists() and holds("presets", side))


def _case(side: str, options: dict[str, Any]) -> Study:
    """A study by path or name, or a command line in quotes, with the options over it.

    Raises:
        InputError: neither a study, nor a line, nor a preset.
    """
    if " " in side.strip() or side.startswith("-"):
        study = _of_line(side)
        study.select(line_selection(options))
        return study
    from symroof.specs.catalogue import entries, holds, is_path

    if not Path(side).exists() and not is_path(side) and not holds("studies", side):
        known = [*entries("studies"), *entries("presets"), OWN]
        hint = nearest(side, known) or "write a case in quotes: '--model llama-3-8b --hardware h100-sxm --prompt 2048'"
        raise InputError(Problem(side[:80], "is no study, no preset and no case in quotes", hint=hint))
    return study_from(side, options)


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
