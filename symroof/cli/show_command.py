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


DITTO = "″"


def _with_dittos(rows: list[list[str]], header: list[str]) -> list[list[str]]:
    """Rows in which a source that is that of the row above is not said again."""
    if "source" not in header:
        return rows
    place = header.index("source")
    above = ["", *(row[place] if place < len(row) else "" for row in rows)]
    return [[*row[:place], DITTO, *row[place + 1 :]] if place < len(row) and row[place] and row[place] == above[i] else row for i, row in enumerate(rows)]


def entry_text(shown: Any) -> str:
    """Title, facts, tables, notes."""
    from symroof.cli.terminal import folded_table, wrapped

    lines = [shown.title, ""]
    if shown.facts:
        lines += [folded_table(shown.facts, left=True), ""]
    for heading, header, rows in shown.tables:
        lines += [heading, folded_table(_with_dittos(rows, header), header, indent="  "), ""]
    lines += [line for note in shown.notes for line in wrapped(note, "  ", "- ")]
    return "\n".join(lines).rstrip()
