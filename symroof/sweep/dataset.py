"""A sweep as an ``xarray.Dataset``, by dask where it is larger than memory, and as the JSON of the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
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
MOST_SHOWN = 10**6
"""Numbers on standard output."""


def dataset(grid: Grid, spelled: bool = True) -> xarray.Dataset:
    """One variable a quantity, along the axes it depends on; labels are texts (empty where there is none) or, not ``spelled``,
    flags as the CF conventions have them.

    Raises:
        InputError: a package is not installed.
    """
    require("a sweep as a dataset", "xarray")
    import xarray

    lengths = dict(zip(grid.dims, grid.shape, strict=True))
    count = sum(math.prod(lengths[name] for name in v.dims) for v in grid.variables)
    lazy = count > IN_MEMORY
    if lazy:
        require(f"a sweep of {count:,} numbers", "dask")
    made = xarray.Dataset(
        coords={axis.name: (axis.name, axis.array, axis.attributes) for axis in grid.axes},
        attrs=attributes(grid, counted=not (lazy and spelled)),
    )
    found: dict[str, xarray.DataArray] = {}
    for group in grid.groups:
        values = _chunked(grid, group) if lazy and group[0].dims else grid.values(group)
        for variable, each in zip(group, values, strict=True):
            array = xarray.DataArray(each, dims=variable.dims)
            found[variable.name] = _told(variable, array, spelled)
    return made.assign({variable.name: found[variable.name] for variable in grid.variables})


def _chunked(grid: Grid, group: Sequence[Variable]) -> list[Any]:
    """Variables along the same axes, each chunk computed from its places along them when it is needed."""
    import dask.array
    import xarray

    axes = [axis for axis in grid.axes if axis.name in group[0].dims]
    first = next(blocks(list(map(len, axes)), CHUNK))
    places = [
        xarray.DataArray(dask.array.arange(len(axis), chunks=part.stop), dims=axis.name)
        for axis, part in zip(axes, first, strict=True)
    ]
    found = xarray.apply_ufunc(
        partial(_chunk, grid, group),
        *places,
        output_core_dims=[()] * len(group),
        dask="parallelized",
        output_dtypes=[variable.dtype for variable in group],
    )
    return [found.data] if len(group) == 1 else [each.data for each in found]


def _chunk(grid: Grid, group: Sequence[Variable], *places: Array) -> Any:
    at = {name: place.ravel() for name, place in zip(group[0].dims, places, strict=True)}
    values = tuple(grid.values(group, at))
    return values if len(values) > 1 else values[0]


def _told(variable: Variable, values: xarray.DataArray, spelled: bool) -> xarray.DataArray:
    """Values as people use them, floats, truths and texts, with what they mean."""
    import xarray

    words, told = variable.words, dict[str, Any](variable.attributes)
    if words == TRUTHS and variable.everywhere:
        values = values.astype(bool)
    elif words and spelled:
        texts = np.array([*map(spelling, words), ""])
        values = xarray.apply_ufunc(
            texts.__getitem__, values, dask="parallelized", output_dtypes=[texts.dtype]
        )
    elif words:
        told["flag_values"] = np.arange(-1, len(words), dtype=np.int8)
        told["flag_meanings"] = " ".join(("none", *map(spelling, words)))
    return values.assign_attrs(told)


def spelling(word: str | bool) -> str:
    """A label, or a truth as JSON has it."""
    return word if isinstance(word, str) else str(word).lower()


def as_json(grid: Grid) -> dict[str, Any]:
    """The object of the contract: values in the order of ``dims``, null where there is none.

    Raises:
        InputError: too many numbers to print.
    """
    if grid.points * len(grid.quantities) > MOST_SHOWN:
        sizes = f"{grid.points:,} points of {len(grid.quantities)} quantities"
        hint = "write them to a file: -o FILE.parquet (or .zarr, .nc, .csv)"
        raise InputError(Problem("sweep", f"{sizes} are too many for standard output", hint=hint))
    data: dict[str, Any] = dict.fromkeys(variable.name for variable in grid.variables)
    for group in grid.groups:
        for variable, values in zip(group, grid.values(group), strict=True):
            whole = np.broadcast_to(grid.spread(values, variable.dims), grid.shape)
            data[variable.name] = _listed(whole.tolist(), variable.words)
    return {
        "schema": "symroof/sweep/2",
        "dims": list(grid.dims),
        "coords": {axis.name: _listed(axis.array.tolist()) for axis in grid.axes},
        "data": data,
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


def _listed(value: Any, words: Sequence[Any] = ()) -> Any:
    """What JSON has: whole numbers stay whole, and no value is null."""
    if isinstance(value, list):
        return [_listed(each, words) for each in value]
    if words:
        return None if value < 0 else words[value]
    if isinstance(value, str) or (math.isfinite(value) and value % 1):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 else value
