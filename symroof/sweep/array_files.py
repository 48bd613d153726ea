"""A sweep as arrays with named axes: NetCDF and Zarr, block by block, each quantity along the axes it depends on."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from symroof.sweep.grid_blocks import Filled, Grid
from symroof.sweep.metadata import attributes, axis_attributes, flags, variable_attributes
from symroof.sweep.plan import NUMBER, Variable
from symroof.symbolic.blocks import Array

SMALL = 2**18
"""Values of a quantity that are put together in memory and written at once."""


def write_netcdf(grid: Grid, path: Path, filled: Filled) -> None:
    """One NetCDF-4 file; labels are CF flags, truths whole numbers that xarray reads as truths."""
    import netCDF4

    _coordinates(grid).to_netcdf(path, engine="netcdf4")
    try:
        with netCDF4.Dataset(path, "a") as file:

            def create(variable: Variable, chunks: tuple[int, ...]) -> Any:
                kind = np.dtype(_kind(variable))
                fill = np.nan if variable.kind == NUMBER else False
                room = (
                    math.prod(chunks) * kind.itemsize
                )  # each chunk is written once and whole: a cache of one is enough
                packed: dict[str, Any] = (
                    {
                        "compression": "zlib",
                        "complevel": 1,
                        "chunksizes": chunks,
                        "chunk_cache": room,
                    }
                    if chunks
                    else {}
                )
                return file.createVariable(
                    variable.name, kind, variable.dims, fill_value=fill, **packed
                )

            _fill(grid, filled, create, lambda made, told: made.setncatts(told))
            file.setncatts(attributes(grid.plan, filled.unfit))
    except RuntimeError as error:  # how the library tells of a full disk
        raise OSError(f"{error}") from error


def write_zarr(grid: Grid, path: Path, filled: Filled) -> None:
    """A Zarr store of format 2, which every reader knows, with its metadata in one place."""
    import zarr

    _coordinates(grid).to_zarr(path, mode="w", zarr_format=2, consolidated=False)
    group = zarr.open_group(path, mode="r+")

    def create(variable: Variable, chunks: tuple[int, ...]) -> Any:
        fill = np.nan if variable.kind == NUMBER else None
        made = group.create_array(
            variable.name,
            shape=grid.sizes(variable),
            chunks=chunks or "auto",
            dtype=_kind(variable),
            fill_value=fill,
        )
        made.attrs["_ARRAY_DIMENSIONS"] = list(variable.dims)
        return made

    def tell(made: Any, told: dict[str, Any]) -> None:
        made.attrs.update(
            {
                name: value.tolist() if isinstance(value, np.ndarray) else value
                for name, value in told.items()
            }
        )

    _fill(grid, filled, create, tell)
    group.attrs.update(attributes(grid.plan, filled.unfit))
    zarr.consolidate_metadata(path)


def _kind(variable: Variable) -> str:
    return "f8" if variable.kind == NUMBER else "i1"


def _coordinates(grid: Grid) -> Any:
    import xarray

    return xarray.Dataset(
        coords={
            axis.name: (axis.name, axis.array, axis_attributes(axis)) for axis in grid.plan.axes
        }
    )


def _fill(
    grid: Grid,
    filled: Filled,
    create: Callable[[Variable, tuple[int, ...]], Any],
    tell: Callable[[Any, dict[str, Any]], None],
) -> None:
    """Every quantity written: a small one at once, a large one where each block goes."""
    made: dict[str, Any] = {}
    small: dict[str, Array] = {}
    for variable in grid.variables:
        sizes = grid.sizes(variable)
        whole = math.prod(sizes) <= SMALL
        made[variable.name] = create(variable, sizes if whole else _chunks(grid, variable))
        tell(
            made[variable.name],
            variable_attributes(variable) | (flags(variable) if variable.kind != NUMBER else {}),
        )
        if whole:
            small[variable.name] = np.empty(sizes, dtype=_kind(variable))
    for block, values in itertools.chain.from_iterable(filled):
        grid.put(block, values, made | small)
    for name, array in small.items():
        made[name][...] = array


def _chunks(grid: Grid, variable: Variable) -> tuple[int, ...]:
    """As much as one block brings, so that no chunk is written twice."""
    first = grid.batch(0)[0]
    sizes = {axis.name: 1 for axis in grid.plan.labelled} | {
        axis.name: n for axis, n in zip(grid.plan.numeric, first.shape, strict=True)
    }
    return tuple(sizes[name] for name in variable.dims)
