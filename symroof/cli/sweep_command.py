"""``symroof sweep``: grids of any quantities over any inputs, as JSON or in a file."""

import sys
from itertools import product
from math import isfinite
from typing import Any

import click

from symroof.cli.options import json_option, study_from, study_options
from symroof.cli.output import say, say_json
from symroof.cli.terminal import fitted_table


@click.command("sweep")
@click.option(
    "--over",
    multiple=True,
    metavar="NAME=VALUES",
    help="An axis: batch=1:512, prompt=128:32768:x2, mfu=0.1:0.9:+0.1, hardware=h100-sxm,h200.",
)
@click.option(
    "--quantity",
    "-q",
    "quantities",
    multiple=True,
    metavar="NAME",
    help="Quantities to compute; repeatable, or comma-separated.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="Write .csv, .parquet, .nc or .zarr; without it, a terminal gets a table, and a pipe JSON.",
)
@study_options
@json_option
def command(
    study: str | None,
    over: tuple[str, ...],
    quantities: tuple[str, ...],
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compute quantities over a grid of inputs, into a table or a file.

    symroof sweep STUDY.yaml --over batch=1:512 --over prompt=128:32768:x2 -o grid.parquet

    Values of an axis: a:b in steps of 1, a:b:x2 times two, a:b:+128 plus 128, a list 1,2,4 or 1:8,16,32, with units; of model, hardware,
    weights, kv, activations and assumptions a list of names. A list in the study is an axis, too.
    """
    from symroof.sweep.axes import read_over

    made = study_from(study, options, needs_case=False)
    axes = read_over(over, own=made.declared)
    planned = made.planned_sweep(axes, quantities or None)
    if out is not None and out != "-":
        _write(planned, out)
        return
    from symroof.sweep.dataset import as_json as sweep_json

    grid = sweep_json(planned)
    if out is None and not as_json and sys.stdout.isatty():
        say(table(grid))
    else:
        say_json(grid)
    for warning in grid["warnings"]:
        say(f"! {warning}", err=True)


MOST_ROWS = 20
"""Points of a table for people, evenly spaced over the grid."""


def table(grid: dict[str, Any]) -> str:
    """A grid as people read it: a point in a row, with three digits.

    >>> print(table({"dims": ["batch"], "coords": {"batch": [1, 2]}, "data": {"itl": [0.004522, None]}, "units": {"itl": "s"}, "basis": [], "title": ""}))
    batch      itl
    -----  -------
        1  4.52 ms
        2
    """
    points = list(product(*(range(len(grid["coords"][name])) for name in grid["dims"])))
    step = max(-(-len(points) // MOST_ROWS), 1)
    rows = []
    for at in points[::step]:
        places = zip(grid["dims"], at, strict=True)
        cells = [_cell(grid["coords"][name][place], "") for name, place in places]
        for name, values in grid["data"].items():
            for place in at:
                values = values[place]
            cells.append(_cell(values, grid["units"].get(name, "")))
        rows.append(cells)
    table = fitted_table(rows, [*grid["dims"], *grid["data"]], flexible=-1, clip=True)
    thinned = f"one in {step:,} of {len(points):,} points; --json or -o FILE has all"
    return "\n".join([*grid["basis"], table] + [thinned] * (step > 1))


def _cell(value: Any, unit: str) -> str:
    """A value of a point for people."""
    from symroof.analysis.case_summary import DIGITS
    from symroof.units import format_quantity

    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if not isfinite(value):
        return "no end"
    whole = isinstance(value, int) and not unit
    return f"{value:,}" if whole else format_quantity(value, unit, DIGITS)


def _write(planned: Any, out: str) -> None:
    from symroof.analysis.verdict import basis_lines
    from symroof.sweep.dataset import warnings, write

    write(planned, out)
    told = warnings(planned)
    for line in (*basis_lines(planned.cases), *(f"! {warning}" for warning in told)):
        say(line, err=True)
    sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in planned.axes)
    say(f"wrote {out}: {sizes}, {len(planned.variables)} variables", err=True)
