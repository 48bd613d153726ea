"""``symroof sweep``: grids of any quantities over any inputs, as JSON or in a file."""

from typing import Any

import click

from symroof.cli.options import json_option, study_from, study_options
from symroof.cli.output import progress_bar, say, say_json


@click.command("sweep")
@click.option("--over", multiple=True, metavar="NAME=VALUES", help="An axis: batch=1:512, prompt=128:32768:x2, mfu=0.1:0.9:+0.1, hardware=h100-sxm,h200.")
@click.option("--quantity", "-q", "quantities", multiple=True, metavar="NAME", help="Quantities to compute; repeatable, or comma-separated.")
@click.option("-o", "--out", metavar="FILE", help="Write .csv, .parquet, .nc or .zarr; without it, JSON goes to standard output.")
@click.option("--resume", is_flag=True, help="Resume an interrupted sweep of the same question into the same FILE.")
@study_options
@json_option
def command(study: str | None, over: tuple[str, ...], quantities: tuple[str, ...], out: str | None, resume: bool, as_json: bool, **options: Any) -> None:
    """Compute quantities over a grid of inputs.

    symroof sweep STUDY.yaml --over batch=1:512 --over prompt=128:32768:x2 -o grid.parquet

    An axis is an input or a measured quantity with its values: a:b in steps of 1, a:b:x2 times two, a:b:+128 plus 128, a list
    1,2,4, or a mixture 1:8,16,32, with units; or one of labels: model, hardware, weights, kv, activations, detail and every
    other counting choice. A list in the study that no --over names is an axis, too. Files are written whole or not at all.
    """
    from symroof.errors import InputError, Problem
    from symroof.sweep.axes import read_over

    made = study_from(study, options, needs_case=False)
    axes = read_over(over, own=made.declared)
    planned = made.planned_sweep(axes, quantities or None)
    if out is None or out == "-":
        if resume:
            raise InputError(Problem("--resume", "needs an output file", hint="-o FILE.parquet"))
        _print(planned)
        return
    _write(planned, out, resume, as_json)


def _print(planned: Any) -> None:
    from symroof.sweep.dataset import as_json as sweep_json

    grid, warnings = sweep_json(planned)
    say_json(grid)
    for warning in warnings:
        say(f"! {warning}", err=True)


def _write(planned: Any, out: str, resume: bool, as_json: bool) -> None:
    from symroof.analysis.verdict import basis_lines
    from symroof.sweep.write_file import Interrupted, write

    try:
        warnings = write(planned, out, resume, progress_bar)
    except Interrupted as stopped:
        say(str(stopped), err=True)
        raise KeyboardInterrupt from None
    for basis in basis_lines(planned.cases):
        say(basis, err=True)
    for warning in warnings:
        say(f"! {warning}", err=True)
    sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in planned.axes)
    say(f"wrote {out}: {sizes}, {len(planned.quantities)} quantities", err=True)
    if as_json:
        summary = {"file": out, "dims": list(planned.dims), "shape": list(planned.shape), "quantities": list(planned.quantities)}
        say_json({"schema": "symroof/sweep-file/1", **summary, "warnings": warnings})
