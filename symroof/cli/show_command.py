"""``symroof show``: one entry with values, units and the source of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from symroof.cli.options import all_option, family_option, json_option
from symroof.cli.output import say, say_json
from symroof.cli.terminal import SLIMMEST, clipped, columns, fitted_table, wrapped

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
    The first screen has the numbers; --all adds the source and note of each, exact values, and every table in full.
    """
    from symroof.report.catalogue_entries import entry

    shown = entry(name, assume_family)
    if as_json:
        say_json({"schema": "symroof/show/1", **shown.as_json()}, default=str)
    else:
        say("\n".join(entry_lines(shown) if everything else screen(shown)))


SCREEN, FEWEST, FOLDED, MOST_FACTS = 25, 2, 4, 13
"""Lines of a first screen, the rows that a table gets at least, and those up to which its cells are folded instead of cut; facts."""
BEHIND = ("source", "note", "definition of", "with fp16 accumulation")
"""Columns that a first screen leaves out."""


def screen(shown: CatalogueEntry) -> list[str]:
    """Title, facts, and as much of the tables as fits; the rest is named."""
    facts = [
        [name, clipped(value, columns() - SLIMMEST) if name == "source" else value]
        for name, value, *_ in shown.facts[:MOST_FACTS]
    ]
    lines = [shown.title, *fitted_table(facts, (), "  ", -1, left=True).splitlines()]
    behind = ["more facts"] if len(shown.facts) > MOST_FACTS else []
    behind += ["exact values"] if any("".join(fact[2:]) for fact in shown.facts) else []
    if any(set(BEHIND) & set(header) for _, header, _ in shown.tables):
        behind.append("sources and notes")
    notes = wrapped(shown.notes[0], first="- ", most=1) if shown.notes else []
    for heading, header, rows in shown.tables:
        names = header or max(rows, key=len, default=[])
        kept = [i for i, name in enumerate(names) if name not in BEHIND]
        room = SCREEN - len(notes) - len(lines) - 2 - 2 * bool(header)
        if room < min(FEWEST, len(rows)) or len(kept) * (SLIMMEST + 2) > columns():
            behind.append(f"{heading} ({len(rows):,} rows)" if len(rows) > SCREEN else heading)
            continue
        cells = [[row[i] if i < len(row) else "" for i in kept] for row in rows[:room]]
        head = [header[i] for i in kept if header]
        cut = None if len(rows) <= FOLDED else -1
        table = fitted_table(cells, head, "  ", cut, clip=True).splitlines()
        more = [f"  and {len(rows) - room:,} more"] if len(rows) > room else []
        lines += ["", heading, *table, *more] if rows else []
    lines += ["", *notes] if notes else []
    left = len(shown.notes) - 1
    behind += [f"{left} more remark{'s' * (left > 1)}"] if left > 0 else []
    return lines + (wrapped(f"--all: {', '.join(behind)}", most=2) if behind else [])


def entry_lines(shown: CatalogueEntry) -> list[str]:
    """Title, facts, tables, notes."""
    lines = [shown.title]
    lines += ["", fitted_table(shown.facts, left=True)] if shown.facts else []
    for heading, header, rows in shown.tables:
        lines += ["", heading, fitted_table(rows, header, "  ")]
    notes = [line for note in shown.notes for line in wrapped(note, first="- ")]
    return [*lines, "", *notes] if notes else lines
