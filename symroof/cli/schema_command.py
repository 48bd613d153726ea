"""``symroof schema``: the JSON Schema of a kind of file, for editors."""

from __future__ import annotations

import click

from symroof.cli.output import say_json
from symroof.specs.kinds import FILE_KINDS


@click.command("schema")
@click.argument("kind", type=click.Choice(list(FILE_KINDS)))
def command(kind: str) -> None:
    """The JSON Schema of a kind of file (for the editor's modeline)."""
    from symroof.specs.kinds import schema

    say_json(schema(kind), indent=2)
