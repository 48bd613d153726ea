"""A sweep into a file: CSV and Parquet block by block, NetCDF and Zarr as xarray writes them; whole or not at all."""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symroof.errors import InputError, Problem, nearest, require
from symroof.output_files import PREFIX, destination, replace
from symroof.sweep.dataset import attributes, dataset
from symroof.sweep.grid import Grid


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
