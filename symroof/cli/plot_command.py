"""``symroof plot``: one picture of a study or a case, as SVG, PDF or PNG."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.compared_cases import against_option, quantities_option, waterfalls_between
from symroof.cli.options import check_folder, picture_format, study_from, study_options
from symroof.cli.output import say, write_file
from symroof.output_files import refuse_link
from symroof.report.pictures.picture_kinds import COMPARING, ENDINGS, KINDS, WATERFALL, checked

if TYPE_CHECKING:
    from symroof.report.pictures.picture import Picture

KIND_LIST = "\n".join(f"  {name:20}{text}" for name, text in {**KINDS, **COMPARING}.items())


@click.command("plot", epilog=f"\b\nKinds:\n{KIND_LIST}")
@click.argument("kind")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="Output file, .svg, .pdf or .png (default: STUDY-KIND.svg here); - is standard output.",
)
@click.option(
    "--format",
    "ending",
    metavar="FORMAT",
    help=f"One of {', '.join(ENDINGS)}, where -o names no file (default: svg).",
)
@click.option(
    "--over",
    metavar="INPUT",
    help="Input on the horizontal axis; KIND is then a quantity: itl, including those of a theory or defined in the study.",
)
@against_option
@quantities_option
@study_options
@click.argument("other", required=False, metavar="[B]")
def command(
    kind: str,
    study: str | None,
    other: str | None,
    out: str | None,
    ending: str | None,
    over: str | None,
    against: str | None,
    quantities: str,
    **options: Any,
) -> None:
    """Draw a picture of a study or a case.

    symroof plot latency-throughput specs/studies/llama-3-70b-chat.yaml -o latency.svg

    symroof plot roofline --model llama-3-8b --hardware h100-sxm --prompt 2048 --batch 16 -o - > roofline.svg

    symroof plot waterfall chat.yaml --against genz -q ttft

    symroof plot decode_intensity chat.yaml --over batch

    Kinds that show one case show the first; pareto, memory and latency-throughput compare all. A waterfall starts at STUDY, or at
    the case of the options, and ends at B: `symroof diff` prints the same as tables. The takeaway of a picture is printed, and part of its
    text alternative.
    """
    form = _form(out, ending)
    name = kind.strip() if over else checked(kind)
    from symroof.cli.report_command import slug

    goal = (
        Path(out)
        if out and out != "-"
        else Path(f"{f'{slug(Path(study).stem)}-' if study else ''}{slug(name)}.{form}")
    )
    if out != "-":
        check_folder(goal)
    if not out:
        refuse_link(goal)
    drawn, basis = (
        _over_input(name, over, study, other or against, options)
        if over
        else _drawn(name, study, other, against, quantities, options)
    )
    content = drawn.form(form)
    if out == "-":
        sys.stdout.buffer.write(content)
        return
    write_file(goal, content)
    from symroof.cli.terminal import reflowed

    say("\n".join(reflowed((drawn.says, *basis))))


def _over_input(
    name: str, over: str, study: str | None, second: str | None, options: dict[str, Any]
) -> tuple[Picture, tuple[str, ...]]:
    """The picture of a quantity over an input, and its efficiency basis."""
    if second:
        raise click.UsageError(
            f"a quantity over an input takes no second side; only {WATERFALL} does"
        )
    from symroof.analysis.verdict import basis_of
    from symroof.report.pictures.over_input import picture

    made = study_from(study, options)
    return picture(made, name, over), tuple(basis_of(made.first, (name,)))


def _drawn(
    name: str,
    study: str | None,
    other: str | None,
    against: str | None,
    quantities: str,
    options: dict[str, Any],
) -> tuple[Picture, tuple[str, ...]]:
    """The picture of a study with its efficiency basis, or of two compared cases."""
    second = against or other
    if name != WATERFALL:
        if second:
            raise click.UsageError(f"{name} takes no second side; only {WATERFALL} does")
        from symroof.analysis.verdict import basis_lines
        from symroof.report.pictures.picture_kinds import picture

        made = study_from(study, options)
        return picture(name, made), basis_lines(made.cases)
    if not second or (against and other):
        raise click.UsageError("a waterfall compares two cases: give the second with --against B")
    from symroof.claims.case_comparison import SYMROOF
    from symroof.report.pictures.waterfall_bars import waterfall_picture

    (waterfall, *_), _ = waterfalls_between(
        (study or SYMROOF, second), quantities.partition(",")[0], options
    )
    return waterfall_picture(waterfall, study or "the case", second), ()


def _form(out: str | None, ending: str | None) -> str:
    """The file format: by the file name, or as given by ``--format``."""
    if ending is not None and ending.lower() not in ENDINGS:
        raise click.BadParameter(
            f"{ending!r} is not a format; there are {', '.join(ENDINGS)}", param_hint="--format"
        )
    if not out or out == "-":
        return (ending or ENDINGS[0]).lower()
    suffix = picture_format(out)
    if ending and ending.lower() != suffix:
        raise click.BadParameter(f"{ending} is not what {out!r} ends in", param_hint="--format")
    return suffix
