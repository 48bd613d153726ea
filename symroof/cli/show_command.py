"""``symroof show``: one entry with values, units and the source of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symroof.cli.options import all_option, family_option, json_option
from symroof.cli.output import say, say_json
from symroof.cli.terminal import fitted_table, wrapped

if TYPE_CHECKING:
    from symroof.report.catalogue_entries import CatalogueEntry


@click.command("show")
@click.argument("name")
@all_option
@family_option
@json_option
def command(name: str, everything: bool, assume_family: str | None, as_json: bool) -> None:
    """Show one entry with values, units and sources: a model, a GPU, a quantity, an input, a threshold ...

    symroof show h100-sxm

    NAME is a name of the catalogue or a path to a spec file, to a config.json, to the folder that holds one, or to a GGUF file.
    The first screen has the numbers; --all has every row with its source and note, and exact values.
    """
    from symroof.report.catalogue_entries import entry

    shown = entry(name, assume_family)
    if as_json:
        say_json({"schema": "symroof/show/1", **vars(shown)}, default=str)
    else:
        say("\n".join(entry_lines(shown, everything)))


SCREEN = 24
"""Lines of a first screen."""


def entry_lines(shown: CatalogueEntry, everything: bool) -> list[str]:
    """Title, as many facts as fit a screen, and notes; with ``everything`` all facts with source, note and exact value."""
    facts, notes = shown.facts, shown.notes
    if everything:
        table = fitted_table(facts, (), "  ", left=True) if facts else ""
        told = [line for note in notes for line in wrapped(note, first="- ")]
        return [shown.title, *table.splitlines(), *told]
    rows = [fact[:2] for fact in facts]
    while (table := fitted_table(rows, (), "  ", -1, left=True)).count("\n") > SCREEN:
        rows = rows[:-1]
    left = len(facts) - len(rows)
    behind = [f"{left:,} more row{'s' * (left > 1)}"] if left else []
    behind += ["sources, notes and exact values"] if any(fact[2] for fact in facts) or notes else []
    said = wrapped(f"--all: {', '.join(behind)}") if behind else []
    return [shown.title, *table.splitlines(), *said]
