"""``symroof plot``: one picture of a study or a case, as SVG, PDF or PNG."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.diff_command import is_line, waterfalls_between
from symroof.cli.options import options_of, study_from, study_options
from symroof.cli.terminal import reflowed, say, write_file
from symroof.errors import InputError, Problem
from symroof.output_files import refuse_link
from symroof.report.pictures import COMPARING, ENDINGS, KINDS, WATERFALL, checked

if TYPE_CHECKING:
    from symroof.report.pictures.chart import Chart

KIND_LIST = "\n".join(f"  {name:20}{text}" for name, text in {**KINDS, **COMPARING}.items())


@click.command("plot", epilog=f"\b\nKinds:\n{KIND_LIST}")
@click.argument("kind")
@options_of("plot")
@study_options
def command(
    kind: str,
    study: str | None,
    out: str | None,
    ending: str | None,
    over: str | None,
    against: str | None,
    quantities: str,
    **options: Any,
) -> None:
    """Draw one picture of a study or a case.

    symroof plot latency-throughput llama-3-70b-chat -o latency.svg

    symroof plot itl chat.yaml --over batch,prompt -o itl.png

    Kinds that show one case show the first; memory compares all, pareto what `symroof select` ranks. A waterfall
    starts at STUDY, or at the case of the options, and ends at --against: `symroof diff` prints the same as tables.
    """
    from symroof.cli.report_command import slug

    form = picture_format(out, ending)
    name = kind.strip() if over else checked(kind)

    stem = f"{slug(Path(study).stem)}-{slug(name)}" if study else slug(name)
    goal = Path(out or f"{stem}.{form}")
    if out != "-" and not goal.parent.is_dir():
        message, hint = f"there is no folder {goal.parent}", f"mkdir -p {goal.parent}"
        raise InputError(Problem(str(goal), message, hint=hint))
    if not out:
        refuse_link(goal)
    if against and (over or name != WATERFALL):
        what = "a quantity over an input" if over else name
        raise click.UsageError(f"{what} takes no second side; only {WATERFALL} does")
    if name == WATERFALL and not over and not against:
        raise click.UsageError("a waterfall compares two cases: give the second with --against B")
    chart, basis = _chart(name, over, study, against, quantities, options)
    from symroof.report.pictures.draw import draw

    content = draw(chart).form(form)
    if out == "-":
        sys.stdout.buffer.write(content)
        return
    write_file(goal, content)
    say("\n".join(reflowed((chart.says, *basis))))


def _chart(
    name: str,
    over: str | None,
    study: str | None,
    against: str | None,
    quantities: str,
    options: dict[str, Any],
) -> tuple[Chart, tuple[str, ...]]:
    """What is drawn, and its efficiency basis."""
    from symroof.analysis.verdict import basis_lines, basis_of
    from symroof.report.pictures import bars, chart_of, over_input

    made = study_from(study, options)
    if against:
        own = options if is_line(against) else {}
        (waterfall, *_), _ = waterfalls_between((made, against), quantities.partition(",")[0], own)
        return bars.waterfall(waterfall, study or "the case", against), ()
    if over:
        return over_input.over_input(made, name, over), tuple(basis_of(made.first, (name,)))
    return chart_of(name, made), basis_lines(made.cases)


def picture_format(out: str | None, ending: str | None = None) -> str:
    """The file format: by the file name, or as given by ``--format``."""
    known, written = ENDINGS, (ending or ENDINGS[0]).lower()
    if written not in known:
        message = f"{ending!r} is not a format; there are {', '.join(known)}"
        raise click.BadParameter(message, param_hint="--format")
    if not out or out == "-":
        return written
    suffix = Path(out).suffix
    if suffix.lower().removeprefix(".") not in known:
        shown = f"no picture ends in {suffix!r}" if suffix else f"{out!r} has no ending"
        message = f"{shown}; there are {', '.join(f'.{each}' for each in known)}"
        raise click.BadParameter(message, param_hint="--out")
    if ending and f".{written}" != suffix.lower():
        raise click.BadParameter(f"{ending} is not what {out!r} ends in", param_hint="--format")
    return suffix.lower().removeprefix(".")
