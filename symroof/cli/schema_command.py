"""``symroof schema``: the JSON Schema of a kind of file, for editors."""

import click

from symroof.cli.output import say_json
from symroof.specs.file_kinds import FILE_KINDS, schema


@click.command("schema")
@click.argument("kind", type=click.Choice([*FILE_KINDS]), metavar="KIND")
def command(kind: str) -> None:
    """The JSON Schema of a kind of file, for editors that complete and check YAML.

    symroof schema study > study.schema.json

    KIND is study, model, hardware, preset, theory, engine, claims, measured or efficiencies.
    """
    say_json(schema(kind), indent=2)
