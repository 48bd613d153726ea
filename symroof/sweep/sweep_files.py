"""A sweep into a file: CSV and Parquet row by row, NetCDF and Zarr as xarray writes them; whole or not at all."""

import csv
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from symroof.errors import InputError, Problem, nearest, require
from symroof.output_files import PREFIX, Destination, destination, open_stream, replace
from symroof.sweep.dataset import dataset, spelling
from symroof.sweep.grid import TRUTHS, Grid
from symroof.sweep.metadata import attributes
from symroof.symbolic.blocks import Array

STORES = (".zgroup", "zarr.json", ".zmetadata")
"""What makes a folder a Zarr store."""


def write_csv(grid: Grid, path: Path) -> None:
    """A point a row, a column an axis or a quantity, in base units; an empty place is no value."""
    words = {variable.name: variable.words for variable in grid.variables}
    with path.open("w", encoding="utf-8", newline="") as stream:
        written = csv.writer(stream, lineterminator="\n")
        written.writerow([*grid.dims, *words])
        for shape, columns in grid.rows():
            rows = []
            for name, column in columns.items():  # a text is made once, then repeated in rows
                values = column.ravel().tolist()
                if spelled := [*map(_cell, words.get(name, ()))]:
                    texts = [spelled[x] if x >= 0 else "" for x in values]
                else:
                    texts = [_cell(x) if x == x else "" for x in values]
                thin = np.array(texts, dtype=object).reshape(column.shape)
                rows.append(np.broadcast_to(thin, shape).flat)
            written.writerows(zip(*rows, strict=True))


def _cell(value: Any) -> str:
    """A number, or a label; one that begins like a formula is quoted, so that no spreadsheet works it out."""
    if isinstance(value, float):
        return str(value).removesuffix(".0")
    text = spelling(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def write_parquet(grid: Grid, path: Path) -> None:
    """The same rows; labels are dictionaries, units and meanings are metadata of the columns, the rest of the file."""
    import pyarrow as pa
    import pyarrow.parquet

    told = {axis.name: axis.attributes for axis in grid.axes}
    told |= {variable.name: variable.attributes for variable in grid.variables}
    words = {variable.name: variable.words for variable in grid.variables}
    writer = None
    for shape, columns in grid.rows():
        rows = {name: np.broadcast_to(x, shape).ravel() for name, x in columns.items()}
        arrays = [_arrow(column, words.get(name, ())) for name, column in rows.items()]
        if writer is None:
            pairs = zip(rows, arrays, strict=True)
            fields = [pa.field(name, each.type, metadata=told[name]) for name, each in pairs]
            schema = pa.schema(fields, metadata=attributes(grid))
            writer = pyarrow.parquet.ParquetWriter(path, schema, compression="zstd")
        writer.write_table(pa.table(arrays, schema=schema))
    if writer:
        writer.close()


def _arrow(column: Array, words: tuple[Any, ...]) -> Any:
    import pyarrow as pa

    if not words:
        array = pa.array(column, from_pandas=True)
        return array.dictionary_encode() if column.dtype.kind == "U" else array
    codes = pa.array(column, mask=column < 0)
    if words == TRUTHS:
        return codes.cast(pa.bool_())
    return pa.DictionaryArray.from_arrays(codes, list(words))


def write_netcdf(grid: Grid, path: Path) -> None:
    """A NetCDF-4 file, each quantity along the axes it depends on."""
    try:
        dataset(grid, spelled=False).to_netcdf(path, engine="netcdf4")
    except RuntimeError as error:  # how the library tells of a full disk
        raise OSError(f"{error}") from error


def write_zarr(grid: Grid, path: Path) -> None:
    """A Zarr store of format 2, which every reader knows, with its metadata in one place."""
    dataset(grid, spelled=False).to_zarr(path, mode="w", zarr_format=2, consolidated=True)


FORMATS: dict[str, tuple[Callable[[Grid, Path], None], tuple[str, ...]]] = {
    ".csv": (write_csv, ()),
    ".parquet": (write_parquet, ("pyarrow",)),
    ".nc": (write_netcdf, ("xarray", "netCDF4")),
    ".zarr": (write_zarr, ("xarray", "zarr")),
}
"""What writes a file of an ending, and the packages of an extra that it needs."""


def write(grid: Grid, out: str | os.PathLike[str]) -> None:
    """Compute a sweep into a file, the ending of which names the format; the path holds the old file or the whole new one.

    A symbolic link is followed; into a device or FIFO the finished file is copied.

    Raises:
        InputError: a path that cannot be written, a full disk, a package that is not installed.
    """
    path = Path(out)
    ending = path.suffix.lower()
    try:
        goal = _goal(path, ending)
        writer, packages = FORMATS[ending]
        require(str(path), *packages)
        with TemporaryDirectory(prefix=PREFIX, suffix=".sweep", dir=goal.file.parent) as folder:
            whole = Path(folder) / "whole"
            writer(grid, whole)
            _move(whole, goal)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(Problem(str(path), f"cannot be written: {reason[:200]}")) from None


def _goal(path: Path, ending: str) -> Destination:
    """Where the output goes; a path that could not be written in the end is refused at once."""
    store, folder = ending == ".zarr", path.is_dir()
    goal = destination(path, folder=store)
    parent = goal.file.parent
    fault = hint = ""
    if ending not in FORMATS:
        fault = (
            f"the ending {ending!r} names no format" if ending else "has no ending, so no format"
        )
        hint = nearest(ending, FORMATS)
        if path.parts[:2] == ("/", "dev"):
            hint = "without -o, or with -o -, JSON goes to standard output"
    elif not parent.is_dir():
        fault, hint = f"there is no folder {parent}", f"mkdir -p {parent}"
    elif store and path.exists() and not folder:
        fault, hint = "is a file, and a Zarr store is a folder", "another name"
    elif folder and any(path.iterdir()) and not any((path / name).exists() for name in STORES):
        fault, hint = "is a folder that is not a Zarr store, so it is not replaced", "another name"
    if fault:
        raise InputError(Problem(str(path), fault, hint=hint))
    return goal


def _move(whole: Path, goal: Destination) -> None:
    """The new over the old, in one step for a file; an old store comes back if the new one cannot take its place."""
    if goal.stream:
        with whole.open("rb") as source, open_stream(goal) as stream:
            shutil.copyfileobj(source, stream)
    elif whole.is_file():
        with whole.open("rb+") as written:
            os.fsync(written.fileno())
        replace(whole, goal.file)
    else:
        previous = whole.with_name("previous")
        try:
            if goal.file.exists():
                goal.file.rename(previous)
            whole.rename(goal.file)
        except BaseException:
            if previous.exists() and not goal.file.exists():
                previous.rename(goal.file)
            raise
