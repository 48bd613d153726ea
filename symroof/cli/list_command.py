"""``symroof list``: the catalogue."""

import click

from symroof.cli.options import json_option
from symroof.cli.output import json_text, say
from symroof.report.catalogue_tables import KINDS, shown

UNPRINTED = {"models": {"title"}, "measured": {"engines"}}
"""Columns only in JSON: a model's title repeats its name."""


@click.command("list")
@click.argument("kind", type=click.Choice(list(KINDS)))
@json_option
def command(kind: str, as_json: bool) -> None:
    """The catalogue: what symroof knows by name."""
    say(listing(kind, as_json))


def listing(kind: str, as_json: bool) -> str:
    """Every entry of a kind, as a table or as one JSON object."""
    rows = KINDS[kind]()
    if as_json:
        return json_text({"schema": "symroof/list/1", "kind": kind, "entries": rows}, default=str)
    from symroof.drawing.table_formats import text_table

    printed = [key for key in rows[0] if key not in UNPRINTED.get(kind, ())]
    return text_table([[shown(row[key]) for key in printed] for row in rows], [key.replace("_", " ") for key in printed])
