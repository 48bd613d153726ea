"""A sweep as an ``xarray.Dataset`` (by dask where it is larger than memory), as the JSON of the command line, and as a file, whole or not at all; and what
stands beside the numbers in every format: assumptions, inputs and their sources, warnings.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from symroof.analysis.case_summary import published_mismatch
from symroof.analysis.verdict import basis_lines
from symroof.cases.values import Result
from symroof.errors import InputError, Problem, nearest, require
from symroof.output_files import PREFIX, destination, replace
from symroof.resources import __version__
from symroof.specs.fields import ValueRange
from symroof.sweep.grid import FITS, Grid, Variable
from symroof.symbolic.evaluation import Array, blocks
from symroof.theory.switches import SWITCHES

if TYPE_CHECKING:
    import xarray


T = TypeVar("T")

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
        {axis.name: (axis.name, axis.values, axis.attributes) for axis in grid.axes},
        attributes(grid, counted=not lazy),
    )


def _chunked(grid: Grid) -> list[Any]:
    """The variables as dask arrays, each chunk computed from its place on the grid when it is needed."""
    import dask.array

    largest = [part.stop for part in next(blocks(grid.shape, CHUNK))]
    chunks = dask.array.core.normalize_chunks(largest, grid.shape)  # type: ignore[no-untyped-call]
    return [
        dask.array.map_blocks(  # type: ignore[no-untyped-call]
            partial(_chunk, grid, variable),
            chunks=chunks,
            dtype=variable.dtype,
            meta=np.empty((0,) * len(grid.shape), variable.dtype),
        )
        for variable in grid.variables
    ]


def _chunk(grid: Grid, variable: Variable, block_info: Any = None) -> Array:
    place = [slice(*ends) for ends in block_info[None]["array-location"]]
    with ONE_AT_A_TIME:
        return grid.at(place, [variable])[0]


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
        "coords": {axis.name: _listed(axis.values.tolist()) for axis in grid.axes},
        "data": {each.name: _listed(array.tolist()) for each, array in values},
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


# ------------------------------------------------------------------------------------------------ beside the numbers


def attributes(grid: Grid, counted: bool = True) -> dict[str, str]:
    """The whole sweep's attributes, each a text: a nested one is JSON, as ``eval --json`` has it. No time of day.

    What does not fit is only ``counted`` where that may take as long as the sweep.
    """
    named = {
        kind: dict.fromkeys(spec.name for case in grid.cases if (spec := getattr(case, kind)))
        for kind in ("model", "hardware")
    }
    texts = {
        "title": grid.title,
        "source": f"symroof {__version__}",
        "models": ", ".join(named["model"]),
        "hardware": ", ".join(named["hardware"]),
        "assumptions": json.dumps(assumptions(grid), ensure_ascii=False),
        "inputs": json.dumps(inputs(grid), ensure_ascii=False),
        "basis": "; ".join(basis_lines(grid.cases)),
        "warnings": "\n".join(warnings(grid, counted)),
    }
    return {name: text for name, text in texts.items() if text}


def assumptions(grid: Grid) -> dict[str, Any]:
    """Every switch with its value (a list where it varies) and whether it is the default; a user-defined theory alone has none."""
    made = {}
    for switch in () if grid.cases[0].theory_only else SWITCHES:
        first, *others = dict.fromkeys(case.assumptions[switch] for case in grid.cases)
        defaulted = all(case.assumptions.defaulted(switch) for case in grid.cases)
        made[switch] = {"value": [first, *others] if others else first, "defaulted": defaulted}
    return made


def inputs(grid: Grid) -> dict[str, Any]:
    """Every input that is no axis, with unit and source; one that differs between labels has a value for each, and says ``over`` which."""
    each: list[dict[str, Any]] = []
    for case in grid.cases:
        names = tuple(name for name in grid.quantities if case.case.has(name))
        known = case.inputs(names or grid.quantities, everything=False)
        each.append({name: x.as_json() for name, x in known.items() if name not in grid.dims})
    made = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(each)):
        entries = _distinct(grid, [entries.get(name) for entries in each])
        cases = [{"when": when, **entry} for when, entry in entries if entry is not None]
        alone = len(entries) == 1 and entries[0][1]
        made[name] = alone or {"over": list(entries[0][0]), "cases": cases}
    return made


def _distinct(grid: Grid, entries: Sequence[T]) -> list[tuple[dict[str, str], T]]:
    """What the cases say, once for each combination of the labels along which they differ."""
    shape = [len(axis) for axis in grid.labelled]
    cube = np.array([json.dumps(entry) for entry in entries]).reshape(shape)
    first = (np.take(cube, [0], axis=k) for k in range(cube.ndim))
    differing = {a.name for a, at in zip(grid.labelled, first, strict=True) if (cube != at).any()}
    distinct: dict[tuple[str, ...], tuple[dict[str, str], T]] = {}
    combinations = itertools.product(*(axis.values for axis in grid.labelled))
    for labels, entry in zip(combinations, entries, strict=True):
        chosen = zip(grid.labelled, labels, strict=True)
        when = {axis.name: str(label) for axis, label in chosen if axis.name in differing}
        distinct.setdefault(tuple(when.values()), (when, entry))
    return list(distinct.values())


def warnings(grid: Grid, counted: bool = True) -> list[str]:
    """Everything that limits the use of its numbers."""
    lines = []
    if counted and grid.unfit:
        lines.append(
            f"{grid.unfit:,} of {grid.points:,} points do not fit in memory: no latency, rate or cost of them can be reached (`fits`)"
        )
    lines += [*_evaluated_at(grid), *missing_values(grid)]
    for case in grid.cases:
        lines += [*case.warnings, *filter(None, [published_mismatch(case)])]
    return list(dict.fromkeys(lines))


def missing_values(grid: Grid) -> list[str]:
    """What has no value for some of the labels: the first of them, how many more, and why."""
    lines = []
    for name in dict.fromkeys((*grid.quantities, FITS)):
        found = _distinct(grid, [lacking.get(name) for lacking in grid.missing])
        lack = [(when, why) for when, why in found if why is not None]
        if not lack:
            continue
        when, why = lack[0]
        labels = ", ".join(f"{axis}={label}" for axis, label in when.items())
        where = f" where {labels}" if when else " anywhere"
        more = f" (and for {len(lack) - 1} more)" if len(lack) > 1 else ""
        what = "whether it fits in memory is not known" if name == FITS else f"{name} has no value"
        lines.append(f"{what}{where}{more}: {why}")
    return lines


def _evaluated_at(grid: Grid) -> list[str]:
    """Ranged inputs are at their middle on a grid, and list prices at their median; these and measured efficiencies have their ends beside."""
    lines = []
    for case in grid.cases:
        for name in case.box:
            given, symbol = case.given[name], case.case.theory.symbol(name)
            if not given.measured and isinstance(span := given.setting, ValueRange):
                middle = Result(symbol, span.middle).text()
                lines.append(f"{name} is given as {span.text}: evaluated at its middle, {middle}")
    if any(case.priced(name) for case in grid.cases for name in grid.quantities):
        lines.append(
            "list prices of a device are several: evaluated at their median, between their ends"
        )
    return lines


def write_csv(grid: Grid, path: Path) -> None:
    """A point a row, a column an axis or a quantity, in base units; an empty place is no value."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        written = csv.writer(stream, lineterminator="\n")
        written.writerow([*grid.dims, *(variable.name for variable in grid.variables)])
        for columns in grid.blocks():
            cells = (map(_cell, column.ravel().tolist()) for column in columns.values())
            written.writerows(zip(*cells, strict=True))


def _cell(value: Any) -> str:
    """A number, or a label; one that begins like a formula is quoted, so that no spreadsheet works it out."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value != value else str(value).removesuffix(".0")


def write_parquet(grid: Grid, path: Path) -> None:
    """The same rows; labels are dictionaries, units and meanings are metadata of the columns, the rest of the file."""
    import pyarrow as pa
    import pyarrow.parquet

    named: list[Any] = [*grid.axes, *grid.variables]
    fields = []
    for each, column in zip(named, next(grid.blocks()).values(), strict=True):
        kind = pa.dictionary(pa.int32(), pa.string()) if column.dtype.kind == "U" else None
        kind = kind or pa.from_numpy_dtype(column.dtype)
        fields.append(pa.field(each.name, kind, metadata=each.attributes))
    schema = pa.schema(fields, metadata=attributes(grid))
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for columns in grid.blocks():
            arrays = []
            for column in (each.ravel() for each in columns.values()):
                texts = column.dtype.kind == "U"
                mask = column == "" if texts else None
                array = pa.array(column, mask=mask, from_pandas=not texts)
                arrays.append(array.dictionary_encode() if texts else array)
            writer.write_table(pa.table(arrays, schema=schema))


def write_netcdf(grid: Grid, path: Path) -> None:
    """A NetCDF-4 file."""
    try:
        dataset(grid).to_netcdf(path, engine="netcdf4")
    except RuntimeError as error:  # how the library tells of a full disk
        raise OSError(f"{error}") from error


def write_zarr(grid: Grid, path: Path) -> None:
    """A Zarr store of format 2, which every reader knows, with its metadata in one place."""
    dataset(grid).to_zarr(path, mode="w", zarr_format=2, consolidated=True)


FORMATS: dict[str, tuple[Callable[[Grid, Path], None], tuple[str, ...]]] = {
    ".csv": (write_csv, ()),
    ".parquet": (write_parquet, ("pyarrow",)),
    ".nc": (write_netcdf, ("xarray", "netCDF4")),
    ".zarr": (write_zarr, ("xarray", "zarr")),
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
        with TemporaryDirectory(prefix=PREFIX, suffix=".sweep", dir=goal.parent) as folder:
            whole = Path(folder) / "whole"
            writer(grid, whole)
            if whole.is_file():
                with whole.open("rb+") as written:
                    os.fsync(written.fileno())
                replace(whole, goal)
            else:
                whole.rename(goal)
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
