"""A sweep as an ``xarray.Dataset``, by dask where it is larger than memory, and as the JSON of the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.analysis.verdict import basis_lines
from symroof.errors import InputError, Problem, require
from symroof.sweep.grid import TRUTHS, Grid, Variable
from symroof.sweep.metadata import assumptions, attributes, inputs, warnings
from symroof.symbolic.blocks import Array, blocks

if TYPE_CHECKING:
    import xarray

IN_MEMORY = 2**27
"""Numbers, a gigabyte of them: more are dask arrays."""
CHUNK = 2**20
"""Points of a chunk of those."""
ONE_AT_A_TIME = Lock()
"""Cases store what they have computed, and threads must not meet there; processes have cases of their own."""
MOST_SHOWN = 10**6
"""Numbers on standard output."""


def dataset(grid: Grid) -> xarray.Dataset:
    """One variable a quantity, along every axis; labels are texts, empty where there is none.

    Raises:
        InputError: a package is not installed.
    """
    require("a sweep as a dataset", "xarray")
    import xarray

    lazy = grid.points * len(grid.variables) > IN_MEMORY
    if lazy:
        require(f"a sweep of {grid.points:,} points", "dask")
    values = _chunked(grid) if lazy else grid.whole()
    return xarray.Dataset(
        {
            variable.name: (grid.dims, array, variable.attributes)
            for variable, array in zip(grid.variables, values, strict=True)
        },
        {axis.name: (axis.name, axis.array, axis.attributes) for axis in grid.axes},
        attributes(grid, counted=not lazy),
    )


def _chunked(grid: Grid) -> list[Any]:
    """The variables as dask arrays, each chunk computed from its places along the axes when it is needed."""
    import dask.array

    first = next(blocks(grid.shape, CHUNK))
    places: list[Any] = []
    for k, (length, part) in enumerate(zip(grid.shape, first, strict=True)):
        places += [dask.array.arange(length, chunks=part.stop), (k,)]
    return [
        dask.array.blockwise(  # type: ignore[no-untyped-call]
            partial(_chunk, grid, variable),
            tuple(range(len(grid.shape))),
            *places,
            dtype=variable.dtype,
            meta=np.empty((0,) * len(grid.shape), variable.dtype),
        )
        for variable in grid.variables
    ]


def _chunk(grid: Grid, variable: Variable, *places: Array) -> Array:
    with ONE_AT_A_TIME:
        (codes,) = grid.at(places, [variable])
    return variable.spelled(codes)


def as_json(grid: Grid) -> dict[str, Any]:
    """The object of the contract: values in the order of ``dims``, null where there is none.

    Raises:
        InputError: too many numbers to print.
    """
    if grid.points * len(grid.quantities) > MOST_SHOWN:
        sizes = f"{grid.points:,} points of {len(grid.quantities)} quantities"
        hint = "write them to a file: -o FILE.parquet (or .zarr, .nc, .csv)"
        raise InputError(Problem("sweep", f"{sizes} are too many for standard output", hint=hint))
    values = zip(grid.variables, grid.at([slice(n) for n in grid.shape]), strict=True)
    return {
        "schema": "symroof/sweep/2",
        "dims": list(grid.dims),
        "coords": {axis.name: _listed(axis.array.tolist()) for axis in grid.axes},
        "data": {v.name: _listed(codes.tolist(), v.words) for v, codes in values},
        "units": {
            **{a.name: a.symbol.unit for a in grid.axes if a.symbol and not a.labelled},
            **{variable.name: variable.units for variable in grid.variables},
        },
        "title": grid.title,
        "basis": list(basis_lines(grid.cases)),
        "assumptions": assumptions(grid),
        "inputs": inputs(grid),
        "warnings": warnings(grid),
    }


def _listed(value: Any, words: Sequence[str] = ()) -> Any:
    """What JSON has: whole numbers stay whole, and no value is null."""
    if isinstance(value, list):
        return [_listed(each, words) for each in value]
    if words:
        spelled = [*((False, True) if words == TRUTHS else words), None]
        return spelled[value]
    if isinstance(value, str) or (math.isfinite(value) and value % 1):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 else value
