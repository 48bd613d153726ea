"""``symroof list``: the catalogue."""

from typing import Any

import click

from symroof.cli.options import all_option, json_option
from symroof.cli.output import json_text, say
from symroof.report.catalogue_tables import KINDS, shown

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
"""The columns of one line an entry; the last is cut where the terminal is narrow."""
BILLIONS = ("parameters", "active_params")


@click.command("list")
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@all_option
@json_option
def command(kind: str, everything: bool, as_json: bool) -> None:
    """The catalogue: what symroof knows by name, one line an entry.

    KIND is models, hardware, precisions, quantities, thresholds, assumptions, presets, theories, engines, inputs or measured. The
    last column is cut to the width of the terminal; --all has every column in full.
    """
    say(listing(kind, as_json, everything))


def listing(kind: str, as_json: bool, everything: bool = False) -> str:
    """Every entry of a kind: in a line each, with every column, or as one JSON object."""
    rows = KINDS[kind]()
    if as_json:
        return json_text({"schema": "symroof/list/1", "kind": kind, "entries": rows}, default=str)
    from symroof.cli.terminal import fitted_table
    from symroof.drawing.table_formats import text_table

    printed = list(rows[0]) if everything else COLUMNS[kind]
    header = [key.replace("_", " ") for key in printed]
    if everything:
        return text_table([[shown(row[key]) for key in printed] for row in rows], header)
    return fitted_table([[_cell(key, row[key]) for key in printed] for row in rows], header)


def _cell(key: str, value: Any) -> str:
    """A cell; parameters in billions, as models are named."""
    return f"{value / 1e9:.3g} B" if key in BILLIONS and isinstance(value, int) else shown(value)
