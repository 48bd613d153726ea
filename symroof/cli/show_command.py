"""``symroof show``: one entry with values, units and the source of each."""

from typing import Any

import click

from symroof.cli.options import all_option, family_option, json_option
from symroof.cli.output import say, say_json


@click.command("show")
@click.argument("name")
@all_option
@family_option
@json_option
def command(name: str, everything: bool, assume_family: str | None, as_json: bool) -> None:
    """One entry with values, units and sources: a model, a device, a preset, a quantity, an input, a threshold, a switch.

    NAME is a name of the catalogue or a path to a spec file, to a config.json, to the folder that holds one, or to a GGUF file.
    The first screen has the numbers; --all adds the source and note of each, exact values, and every table in full.
    """
    from symroof.report.catalogue_entries import entry

    shown = entry(name, assume_family)
    if as_json:
        say_json({"schema": "symroof/show/1", **shown.as_json()}, default=str)
    else:
        say(entry_text(shown) if everything else screen(shown))


SCREEN, FEWEST, FOLDED = 25, 2, 4
"""Lines of a first screen, the rows that a table gets at least, and those up to which its cells are folded instead of cut."""
MOST_NOTES = 1
BEHIND = ("source", "note", "definition of", "with fp16 accumulation")
"""Columns that a first screen leaves out."""


def screen(shown: Any) -> str:
    """Title, facts, and as much of the tables as fits; the rest is named."""
    from symroof.cli.terminal import SLIMMEST, clipped, columns, fitted_table, folded_table, wrapped

    facts = [
        [name, clipped(value, columns() - SLIMMEST) if name == "source" else value]
        for name, value, *_ in shown.facts
    ]
    lines = [shown.title, *fitted_table(facts, indent="  ", left=True, clip=False).splitlines()]
    behind = ["exact values"] if any(len(fact) > 2 and fact[2] for fact in shown.facts) else []
    behind += (
        ["sources and notes"]
        if any(set(BEHIND) & set(header) for _, header, _ in shown.tables)
        else []
    )
    notes = [line for note in shown.notes[:MOST_NOTES] for line in wrapped(note, "  ", "- ", 1)]
    for heading, header, rows in shown.tables:
        room = SCREEN - len(notes) - len(lines) - 2 - 2 * bool(header)
        kept = [
            i
            for i, name in enumerate(header or max(rows, key=len, default=[]))
            if name not in BEHIND
        ]
        if room < min(FEWEST, len(rows)) or len(kept) * (SLIMMEST + 2) > columns():
            behind.append(f"{heading} ({len(rows):,} rows)" if len(rows) > SCREEN else heading)
        elif rows:
            table = folded_table if len(rows) <= FOLDED else fitted_table
            fitted = table(
                [[row[i] if i < len(row) else "" for i in kept] for row in rows[:room]],
                [header[i] for i in kept if header],
                "  ",
            )
            lines += [
                "",
                heading,
                *fitted.splitlines(),
                *([f"  and {len(rows) - room:,} more"] if len(rows) > room else []),
            ]
    lines += ["", *notes] if notes else []
    left_out = len(shown.notes) - MOST_NOTES
    behind += [f"{left_out} more remark{'s' * (left_out > 1)}"] if left_out > 0 else []
    return "\n".join(
        [*lines, *(wrapped(f"--all: {', '.join(behind)}", "  ", "", 2) if behind else [])]
    )


DITTO = "″"


def _with_dittos(rows: list[list[str]], header: list[str]) -> list[list[str]]:
    """Rows in which a source that is that of the row above is not said again."""
    if "source" not in header:
        return rows
    place = header.index("source")
    above = ["", *(row[place] if place < len(row) else "" for row in rows)]
    return [
        [*row[:place], DITTO, *row[place + 1 :]]
        if place < len(row) and row[place] and row[place] == above[i]
        else row
        for i, row in enumerate(rows)
    ]


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
