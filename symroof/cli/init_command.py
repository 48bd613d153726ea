"""``symroof init``: a starter file to fill in."""

import click

from symroof.cli.output import say
from symroof.specs.file_kinds import FILE_KINDS


@click.command("init")
@click.argument("kind", type=click.Choice(list(FILE_KINDS)), metavar="KIND")
@click.option(
    "-o",
    "--out",
    default="-",
    metavar="FILE",
    help="Where to write it (default: standard output). Never overwrites.",
)
def command(kind: str, out: str) -> None:
    """A starter file to fill in, with a comment at each key.

    symroof init study -o chat.yaml

    KIND is study, model, hardware, preset, theory, engine, claims, measured or efficiencies.
    """
    from symroof.errors import InputError, Problem
    from symroof.resources import data_folder

    text = data_folder("templates").joinpath("starters", f"{kind}.yaml").read_text(encoding="utf-8")
    if out == "-":
        say(text, nl=False)
        return
    from symroof.output_files import write_new

    try:
        write_new(out, text)
    except FileExistsError:
        raise InputError(
            Problem(out, "exists already", hint="choose another name; init never overwrites")
        ) from None
    say(f"wrote {out}", err=True)
