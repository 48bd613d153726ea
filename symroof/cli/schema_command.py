"""``symroof schema``: the JSON Schema of a kind of file, for editors, or of a review's data, for templates."""

import click

from symroof.cli.output import say_json
from symroof.specs.file_kinds import FILE_KINDS

REVIEW = "review"


@click.command("schema")
@click.argument("kind", type=click.Choice([*FILE_KINDS, REVIEW]), metavar="KIND")
def command(kind: str) -> None:
    """The JSON Schema of a kind of file, for editors that complete and check YAML, or of a review's data, for a template of your own.

    symroof schema study > study.schema.json

    KIND is study, model, hardware, preset, theory, engine, claims, measured, efficiencies or review.
    """
    if kind == REVIEW:
        from symroof.report.review_schema import review_schema

        say_json(review_schema(), indent=2)
        return
    from symroof.specs.file_kinds import schema

    say_json(schema(kind), indent=2)
