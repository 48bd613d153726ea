"""``symroof list`` and ``symroof show``: the catalogue, and one entry of it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import family_option, options_of
from symroof.cli.terminal import fitted_table, json_text, say, say_json, wrapped
from symroof.errors import InputError, Problem, meant_by
from symroof.report.catalogue_tables import KINDS, CatalogueTable, shown
from symroof.units import parse_quantity

if TYPE_CHECKING:
    from symroof.report.catalogue_entries import CatalogueEntry

COLUMNS = {
    "models": ("name", "parameters", "active_params", "experts", "attention"),
    "hardware": ("name", "dense_16_bit_peak", "mem_bandwidth", "mem_capacity", "title"),
    "precisions": ("name", "bits", "meaning"),
    "quantities": ("name", "unit", "meaning"),
    "thresholds": ("name", "unknown", "meaning"),
    "assumptions": ("name", "value", "default", "meaning"),
    "presets": ("name", "title"),
    "theories": ("name", "quantities", "title"),
    "engines": ("name", "version", "class", "title"),
    "inputs": ("name", "unit", "default", "meaning"),
    "measured": ("name", "measurements", "serving", "ceilings", "title"),
}
"""The columns of one line an entry; the last is wrapped where the terminal is narrow."""
BILLIONS = ("parameters", "active_params")
UNITS = {
    "dense_16_bit_peak": ("16-bit TFLOP/s", 10**12),
    "mem_bandwidth": ("memory TB/s", 10**12),
    "mem_capacity": ("memory GB", 10**9),
    "parameters": ("parameters", 10**9),
    "active_params": ("active", 10**9),
}
"""Columns in one unit: the head, and how many base units that is."""


class Kind(click.Choice[str]):
    """A kind of entry, or another word for it: ``gpus``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        meant = [each for each in meant_by(value) if each in self.choices]
        known = value in self.choices or len(meant) != 1
        return super().convert(value if known else meant[0], param, ctx)


@click.command("list")
@click.argument("kind", required=False, type=Kind(list(KINDS)), metavar="KIND")
@click.argument("word", required=False)
@options_of("list")
def command(kind: str | None, word: str | None, everything: bool, as_json: bool) -> None:
    """List what has a name.

    symroof list hardware h100

    KIND is models, hardware, precisions, quantities, thresholds, assumptions, presets, theories, engines, inputs or measured. WORD keeps
    the entries that contain it, and may have a *; --all has every column in full.
    """
    if kind is None:
        say(click.get_current_context().get_help())
    else:
        say(listing(kind, as_json, everything, word))


def listing(kind: str, as_json: bool, everything: bool = False, word: str | None = None) -> str:
    """Every entry of a kind, or those that contain a word: in a line each, with every column, or as one JSON object."""
    pattern = f"*{(word or '').lower()}*"
    rows = [
        row
        for row in KINDS[kind]()
        if any(fnmatchcase(shown(value).lower(), pattern) for value in row.values())
    ]
    if as_json:
        return json_text({"schema": "symroof/list/1", "kind": kind, "entries": rows}, default=str)
    if not rows:
        message = f"no entry contains {str(word)[:60]!r}"
        raise InputError(Problem(f"list {kind}", message, hint=f"`symroof list {kind}` shows all"))

    if everything:
        return repr(CatalogueTable(rows))
    printed = COLUMNS[kind]
    return fitted_table(
        [[cell_text(key, row[key]) for key in printed] for row in rows],
        [UNITS[key][0] if key in UNITS else key.replace("_", " ") for key in printed],
        flexible=-1,
    )


def cell_text(key: str, value: Any) -> str:
    """A cell; parameters in billions, as models are named, and the numbers of a device in the unit of the head."""
    if key in BILLIONS and isinstance(value, int):
        return f"{value / 10**9:.{1 if value < 10**11 else 0}f} B"
    if key not in UNITS or not value:
        return shown(value)
    number = float(parse_quantity(value).value) / UNITS[key][1]
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


@click.command("show")
@click.argument("name")
@options_of("show")
@family_option
def show(name: str, everything: bool, assume_family: str | None, as_json: bool) -> None:
    """Show one entry with values, units and sources: a model, a GPU, a quantity, an input, a threshold ...

    symroof show h100-sxm

    NAME is a name of the catalogue or a path to a spec file, to a config.json, to the folder that holds one, or to a GGUF file.
    The first screen has the numbers; --all has every row with its source and note, and exact values.
    """
    from symroof.report.catalogue_entries import entry

    found = entry(name, assume_family)
    if as_json:
        say_json({"schema": "symroof/show/1", **vars(found)}, default=str)
    else:
        say("\n".join(entry_lines(found, everything)))


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
