"""``symroof show``: one entry with values, units and the source of each."""

from typing import Any

import click

from symroof.cli.options import family_option, json_option
from symroof.cli.output import say, say_json


@click.command("show")
@click.argument("name")
@family_option
@json_option
def command(name: str, assume_family: str | None, as_json: bool) -> None:
    """One entry with values, units and sources: a model, a device, a preset, a quantity, an input, a threshold, a switch.

    NAME is a name of the catalogue or a path to a spec file, to a config.json, to the folder that holds one, or to a GGUF file.
    """
    from symroof.report.catalogue_entries import entry

    shown = entry(name, assume_family)
    if as_json:
        say_json({"schema": "symroof/show/1", **shown.as_json()}, default=str)
    else:
        say(entry_text(shown))


def entry_text(shown: Any) -> str:
    """Title, facts, tables, notes."""
    from symroof.drawing.table_formats import text_table

    lines = [shown.title, ""]
    if shown.facts:
        lines += [text_table(shown.facts), ""]
    for heading, header, rows in shown.tables:
        lines += [heading, text_table(rows, header, indent="  "), ""]
    lines += [f"- {note}" for note in shown.notes]
    return "\n".join(lines).rstrip()
