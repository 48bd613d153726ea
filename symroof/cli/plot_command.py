"""``symroof plot``: one picture of a study or a case, as SVG, PDF or PNG."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from symroof.cli.options import study_from, study_options
from symroof.cli.output import say
from symroof.report.pictures.picture_kinds import ENDINGS, KINDS, checked

KIND_LIST = "\n".join(f"  {name:20}{text}" for name, text in KINDS.items())


@click.command("plot", epilog=f"\b\nKinds:\n{KIND_LIST}")
@click.argument("kind")
@click.option("-o", "--out", metavar="FILE", help="Where to, by its ending .svg, .pdf or .png (default: STUDY-KIND.svg here); - is standard output.")
@click.option("--format", "ending", metavar="FORMAT", help=f"One of {', '.join(ENDINGS)}, where no file says it (default: svg).")
@study_options
def command(kind: str, study: str | None, out: str | None, ending: str | None, **options: Any) -> None:
    """Draw a picture of a study or a case.

    symroof plot latency-throughput specs/studies/llama-3-70b-chat.yaml -o latency.svg

    symroof plot roofline --model llama-3-8b --hardware h100-sxm --prompt 2048 --batch 16 -o - > roofline.svg

    Kinds that show one case show the first; pareto, memory and latency-throughput compare all. What a picture says in words
    is in its text alternative, and printed here.
    """
    name, form = checked(kind), _form(out, ending)
    made = study_from(study, options).decide()
    from symroof.cli.report_command import slug
    from symroof.errors import InputError, Problem
    from symroof.report.pictures.picture_kinds import picture

    goal = Path(out) if out and out != "-" else Path(f"{f'{slug(Path(study).stem)}-' if study else ''}{name}.{form}")
    if out != "-" and not goal.parent.is_dir():
        raise InputError(Problem(str(goal), f"there is no folder {goal.parent}", hint=f"mkdir -p {goal.parent}"))
    drawn = picture(name, made)
    content = drawn.form(form)
    if out == "-":
        sys.stdout.buffer.write(content)
        return
    from symroof.output_files import write_atomic

    write_atomic(goal, content)
    say(f"wrote {goal}", err=True)
    say(drawn.says)


def _form(out: str | None, ending: str | None) -> str:
    """The form of the file: by its ending, or as asked where there is none to go by."""
    if ending is not None and ending.lower() not in ENDINGS:
        raise click.BadParameter(f"{ending!r} is no format; there are {', '.join(ENDINGS)}", param_hint="--format")
    if not out or out == "-":
        return (ending or ENDINGS[0]).lower()
    suffix = Path(out).suffix.lower().removeprefix(".")
    if suffix not in ENDINGS:
        shown = f"no picture ends in {Path(out).suffix!r}" if suffix else f"{out!r} has no ending"
        raise click.BadParameter(f"{shown}; there are {', '.join(f'.{known}' for known in ENDINGS)}", param_hint="--out")
    if ending and ending.lower() != suffix:
        raise click.BadParameter(f"{ending} is not what {out!r} ends in", param_hint="--format")
    return suffix
