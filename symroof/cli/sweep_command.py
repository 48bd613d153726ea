"""``symroof sweep``: grids of any quantities over any inputs, as JSON or in a file."""

import sys
from collections.abc import Sequence
from itertools import product
from math import isfinite
from typing import Any

import click
import numpy as np

from symroof.cli.options import options_of, study_from, study_options
from symroof.cli.terminal import fits, fitted_table, say, say_json


@click.command("sweep")
@options_of("sweep")
@study_options
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
    from symroof.sweep.grid import make_grid
    from symroof.theory.theory_files import listed

    made = study_from(study, options, needs_case=False)
    planned = make_grid(made, read_over(over, own=made.declared), quantities or None)
    if out is not None and out != "-":
        _write(planned, out)
        return
    from symroof.sweep.dataset import as_json as sweep_json

    grid = sweep_json(planned)
    if out is None and not as_json and sys.stdout.isatty():
        say(table(grid, () if quantities else listed("shown", "table")))
    else:
        say_json(grid)
    for warning in grid["warnings"]:
        say(f"! {warning}", err=True)


MOST_ROWS = 20
"""Points of a table for people, evenly spaced over the grid."""


def table(grid: dict[str, Any], first: Sequence[str] = ()) -> str:
    """A grid as people read it: a point in a row, with three digits; intervals where the terminal has room for them.

    With ``first`` only these quantities are shown.

    >>> print(table({"dims": ["batch"], "coords": {"batch": [1, 2]}, "units": {"itl": "s"}, "basis": [], "title": "",
    ...     "data": {"itl": [0.004522, None], "itl_low": [0.00412, None], "itl_high": [0.00613, None]}}))
    batch                  itl
    -----  -------------------
        1  4.52 ms (4.12–6.13)
        2
    """
    data = {name: np.array(values, dtype=object) for name, values in grid["data"].items()}
    ends = {f"{name}_{end}" for name in data for end in ("low", "high")}
    names = [name for name in data if name not in ends]
    shown = [name for name in names if name in first] or names
    coords = [grid["coords"][name] for name in grid["dims"]]
    points = list(product(*(range(len(values)) for values in coords)))
    step = max(-(-len(points) // MOST_ROWS), 1)

    def row(at: tuple[int, ...], ranged: bool) -> list[str]:
        cells = [_cell([values[place]], "") for values, place in zip(coords, at, strict=True)]
        for name in shown:
            span = [f"{name}_low", f"{name}_high"] if ranged and f"{name}_low" in data else []
            known = [data[each][at] for each in (name, *span)]
            cells.append(_cell(known, grid["units"].get(name, "")))
        return cells

    header = [*grid["dims"], *shown]
    rows = [row(at, True) for at in points[::step]]
    told = []
    if not fits([header, *rows]):
        rows = [row(at, False) for at in points[::step]]
        told += ["intervals: fewer quantities (-q), --json or -o FILE"] * (len(names) < len(data))
    if len(shown) < len(names):
        told.append(f"-q NAME: also {', '.join(name for name in names if name not in shown)}")
    if step > 1:
        told.append(f"one in {step:,} of {len(points):,} points; --json or -o FILE has all")
    text = fitted_table(rows, header, flexible=-1, clip=True)
    return "\n".join([*grid["basis"], text, *told])


def _cell(known: Sequence[Any], unit: str) -> str:
    """A value of a point, and its interval if known, for people."""
    from symroof.analysis.case_summary import compact
    from symroof.cases.values import Result
    from symroof.theory.symbols import Symbol

    value = known[0]
    if value is None:
        return ""
    if not isinstance(value, str | bool) and not isfinite(value):
        return "no end"
    if isinstance(value, int) and not isinstance(value, bool) and not unit:
        return f"{value:,}"
    return compact(Result(Symbol("", "", unit, ""), *known))


def _write(planned: Any, out: str) -> None:
    from symroof.analysis.verdict import basis_lines
    from symroof.sweep.dataset import warnings, write

    write(planned, out)
    for line in (*basis_lines(planned.cases), *(f"! {each}" for each in warnings(planned))):
        say(line, err=True)
    sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in planned.axes)
    say(f"wrote {out}: {sizes}, {len(planned.variables)} variables", err=True)
