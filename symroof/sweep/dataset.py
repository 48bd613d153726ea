"""A sweep as an ``xarray.Dataset`` (by dask where it is larger than memory), as the JSON of the command line, and as a file, whole or not at all; and what
stands beside the numbers in every format: assumptions, inputs and their sources, warnings.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.analysis.case_summary import published_mismatch
from symroof.analysis.verdict import basis_lines
from symroof.cases.values import Result
from symroof.errors import InputError, Problem, nearest, require
from symroof.output_files import destination, replacing
from symroof.resources import __version__
from symroof.specs.fields import ValueRange
from symroof.sweep.grid import FITS, Grid, Variable
from symroof.symbolic.evaluation import Array

if TYPE_CHECKING:
    import xarray


IN_MEMORY = 2**27
"""Numbers, a gigabyte of them: more are dask arrays."""
CHUNK = "8 MiB"
"""A chunk of those."""
MOST_SHOWN = 10**6
"""Numbers on standard output."""


def dataset(grid: Grid) -> xarray.Dataset:
    """One variable a quantity, along every axis; labels are texts, empty where there is none. Attributes are texts: a list or a mapping is JSON.

    Raises:
        InputError: a package is not installed.
    """
    require("a sweep as a dataset", "xarray")
    import xarray

    values: list[Any]
    if _in_memory(grid):
        values = grid.whole()
    else:
        require(f"a sweep of {grid.points:,} points", "dask")
        import dask.array

        of_chunks = partial(dask.array.from_array, chunks=CHUNK, name=False, lock=True, fancy=False)
        values = [of_chunks(Uncomputed(grid, variable)) for variable in grid.variables]
    return xarray.Dataset(
        {
            variable.name: (grid.dims, array, variable.attributes)
            for variable, array in zip(grid.variables, values, strict=True)
        },
        {axis.name: (axis.name, axis.values, axis.attributes) for axis in grid.axes},
        attributes(grid),
    )


def _in_memory(grid: Grid) -> bool:
    return grid.points * len(grid.variables) <= IN_MEMORY


class Uncomputed:
    """A variable as an array whose parts are computed when they are looked at, one at a time: cases store what they have computed."""

    def __init__(self, grid: Grid, variable: Variable) -> None:
        self.grid, self.variable = grid, variable
        self.shape, self.ndim, self.dtype = grid.shape, len(grid.shape), variable.dtype

    def __getitem__(self, place: tuple[int | slice, ...]) -> Array:
        single = tuple(axis for axis, at in enumerate(place) if not isinstance(at, slice))
        parts = [at if isinstance(at, slice) else slice(at, at + 1) for at in place]
        return self.grid.at(parts, [self.variable])[0].squeeze(single)


def as_json(grid: Grid) -> dict[str, Any]:
    """The object of the contract: values in the order of ``dims``, null where there is none.

    Raises:
        InputError: too many numbers to print.
    """
    if grid.points * len(grid.quantities) > MOST_SHOWN:
        sizes = f"{grid.points:,} points of {len(grid.quantities)} quantities"
        hint = "write them to a file: -o FILE.parquet (or .zarr, .nc, .csv)"
        raise InputError(Problem("sweep", f"{sizes} are too many for standard output", hint=hint))
    named: list[Any] = [*(axis for axis in grid.axes if axis.symbol), *grid.variables]
    return {
        "schema": "symroof/sweep/2",
        "dims": list(grid.dims),
        "coords": {axis.name: _listed(axis.values.tolist()) for axis in grid.axes},
        "data": {
            variable.name: _listed(array.tolist())
            for variable, array in zip(grid.variables, grid.whole(), strict=True)
        },
        "units": {each.name: each.symbol.unit for each in named},
        **about(grid),
    }


NAMED = {"": None, "true": True, "false": False}
"""What a text stands for where it is no label."""


def _listed(value: Any) -> Any:
    """What JSON has: whole numbers stay whole, and no value is null."""
    if isinstance(value, list):
        return [_listed(each) for each in value]
    if isinstance(value, str):
        return NAMED.get(value, value)
    if isinstance(value, bool):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if value % 1 == 0 and abs(value) < 2**53 else value


def about(grid: Grid) -> dict[str, Any]:
    """What every format says of the whole sweep. No time of day."""
    models, hardware = (
        list(dict.fromkeys(spec.name for case in grid.cases if (spec := getattr(case, kind))))
        for kind in ("model", "hardware")
    )
    return {
        "title": grid.title,
        "models": models,
        "hardware": hardware,
        "basis": list(basis_lines(grid.cases)),
        **ledger(grid),
        "warnings": warnings(grid),
    }


def attributes(grid: Grid) -> dict[str, str]:
    """The same as texts: a list is a line each, a mapping is JSON."""
    texts = {"source": f"symroof {__version__}"}
    for name, value in about(grid).items():
        texts[name] = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
        texts[name] = "\n".join(value) if isinstance(value, list) else texts[name]
    return {name: text for name, text in texts.items() if text}


def ledger(grid: Grid) -> dict[str, dict[str, Any]]:
    """Every switch and every input that is no axis, as ``eval --json`` has them; what differs between labels is a list."""
    found: dict[tuple[str, str, str], list[Any]] = {}
    for case in grid.cases:
        names = tuple(name for name in grid.quantities if case.case.has(name))
        for part, entries in case.ledger(names or grid.quantities, everything=False).items():
            for name, entry in entries.items():
                for key, value in entry.items():
                    values = found.setdefault((part, name, key), [])
                    values += [value] * (value not in values)
    made: dict[str, dict[str, Any]] = {"inputs": {}, "assumptions": {}}
    for (part, name, key), values in found.items():
        if part == "assumptions" or name not in grid.dims:
            made[part].setdefault(name, {})[key] = values if len(values) > 1 else values[0]
    return made


def warnings(grid: Grid) -> list[str]:
    """Everything that limits the use of its numbers; what does not fit is not counted where that may take as long as the sweep."""
    lines = []
    if _in_memory(grid) and grid.unfit:
        lines.append(
            f"{grid.unfit:,} of {grid.points:,} points do not fit in memory: no latency, rate or cost of them can be reached (`fits`)"
        )
    for case in grid.cases:
        for name in case.box:
            given, symbol = case.given[name], case.case.theory.symbol(name)
            if not given.measured and isinstance(span := given.setting, ValueRange):
                middle = Result(symbol, span.middle).text()
                lines.append(f"{name} is given as {span.text}: evaluated at its middle, {middle}")
    lines += missing_values(grid)
    for case in grid.cases:
        lines += [*case.warnings, *filter(None, [published_mismatch(case)])]
    return list(dict.fromkeys(lines))


def missing_values(grid: Grid) -> list[str]:
    """What has no value for some of the labels, which those are, the first of many, and why."""
    lines = []
    labels = itertools.product(*([f"{a.name}={x}" for x in a.values] for a in grid.labelled))
    places = list(map(", ".join, labels))
    for name in dict.fromkeys((*grid.quantities, FITS)):
        lack = [pair for pair in zip(places, grid.swept, strict=True) if name in pair[1].missing]
        for where, one in lack[:1]:
            more = f" (and for {len(lack) - 1} more)" * (len(lack) > 1)
            there = f" where {where}" * bool(where)
            lines.append(f"{name} has no value{there}{more}: {one.missing[name]}")
    return lines


def rows(grid: Grid) -> Iterator[dict[str, Array]]:
    """The points in order, a block at a time: a column an axis and a variable."""
    names = [*grid.dims, *(variable.name for variable in grid.variables)]
    for place, values in grid.blocks():
        parts = (axis.values[part] for axis, part in zip(grid.axes, place, strict=True))
        columns = (*np.meshgrid(*parts, indexing="ij"), *values)
        yield {name: column.ravel() for name, column in zip(names, columns, strict=True)}


def write_csv(grid: Grid, path: Path) -> None:
    """A point a row, a column an axis or a quantity, in base units; an empty place is no value."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        written = csv.writer(stream, lineterminator="\n")
        written.writerow([*grid.dims, *(variable.name for variable in grid.variables)])
        for columns in rows(grid):
            cells = (map(_cell, column.tolist()) for column in columns.values())
            written.writerows(zip(*cells, strict=True))


def _cell(value: Any) -> str:
    """A number, or a label; one that begins like a formula is quoted, so that no spreadsheet works it out."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value != value else str(value).removesuffix(".0")


def write_parquet(grid: Grid, path: Path) -> None:
    """The same rows; units and meanings are metadata of the columns, the rest of the file."""
    import pyarrow as pa
    import pyarrow.parquet

    def table(columns: dict[str, Array]) -> Any:
        arrays = (
            pa.array(x, mask=x == "" if x.dtype.kind == "U" else np.isnan(x))
            for x in columns.values()
        )
        return pa.table(list(arrays), list(columns))

    named: list[Any] = [*grid.axes, *grid.variables]
    first = table(next(rows(grid))).schema
    fields = [each.with_metadata(own.attributes) for each, own in zip(first, named, strict=True)]
    schema = pa.schema(fields, metadata=attributes(grid))
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for columns in rows(grid):
            writer.write_table(table(columns).cast(schema))


def write_netcdf(grid: Grid, path: Path) -> None:
    """A NetCDF-4 file."""
    try:
        dataset(grid).to_netcdf(path, engine="netcdf4")
    except RuntimeError as error:  # how the library tells of a full disk
        raise OSError(f"{error}") from error


ZARR: dict[str, Any] = {"mode": "w", "zarr_format": 2, "consolidated": True}
"""A store of the format that every reader knows, with its metadata in one place."""
FORMATS: dict[str, tuple[Callable[[Grid, Path], object], tuple[str, ...]]] = {
    ".csv": (write_csv, ()),
    ".parquet": (write_parquet, ("pyarrow",)),
    ".nc": (write_netcdf, ("xarray", "netCDF4")),
    ".zarr": (lambda grid, path: dataset(grid).to_zarr(path, **ZARR), ("xarray", "zarr")),
}
"""What writes a file of an ending, and the packages of an extra that it needs."""


def write(grid: Grid, out: str | os.PathLike[str]) -> None:
    """Compute a sweep into a file, the ending of which names the format; the path holds the old file or the whole new one.

    A symbolic link is followed.

    Raises:
        InputError: a path that cannot be written, a full disk, a package that is not installed.
    """
    path = Path(out)
    ending = path.suffix.lower()
    try:
        goal = _goal(path, ending)
        writer, packages = FORMATS[ending]
        require(str(path), *packages)
        with replacing(goal) as temporary:
            writer(grid, temporary)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(Problem(str(path), f"cannot be written: {reason[:200]}")) from None


def _goal(path: Path, ending: str) -> Path:
    """Where the output goes; a path that could not be written in the end is refused at once."""
    file = path if ending == ".zarr" else destination(path)
    parent = (file or path).parent
    fault = hint = ""
    if ending not in FORMATS:
        fault = (
            f"the ending {ending!r} names no format" if ending else "has no ending, so no format"
        )
        hint = nearest(ending, FORMATS)
        if path.parts[:2] == ("/", "dev"):
            hint = "without -o, or with -o -, JSON goes to standard output"
    elif file is None:
        fault = "is no regular file"
    elif not parent.is_dir():
        fault, hint = f"there is no folder {parent}", f"mkdir -p {parent}"
    elif ending == ".zarr" and path.exists():
        fault, hint = "exists already, and a Zarr store is not replaced", "another name"
    if fault or file is None:
        raise InputError(Problem(str(path), fault, hint=hint))
    return file
