"""A sweep into a file: computed in blocks into a hidden folder next to the goal, and moved over it when whole."""

import os
import shutil
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from symroof.analysis.tracking import Track, untracked
from symroof.errors import InputError, Problem, nearest, require
from symroof.output_files import PREFIX, Destination, destination, open_stream, replace
from symroof.sweep.grid_blocks import BLOCK, Filled, Grid
from symroof.sweep.metadata import warnings
from symroof.sweep.plan import Plan

FORMATS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    ".csv": ("csv_file", "write_csv", ()),
    ".parquet": ("parquet_file", "write_parquet", ("pyarrow",)),
    ".nc": ("array_files", "write_netcdf", ("xarray", "netCDF4")),
    ".zarr": ("array_files", "write_zarr", ("xarray", "zarr")),
}
"""What writes a file of an ending: a module of this room, its function, and the packages of an extra that it needs."""
STORES = (".zgroup", "zarr.json", ".zmetadata")
"""What makes a folder a Zarr store."""


def write(
    plan: Plan, out: str | os.PathLike[str], track: Track = untracked, most: int = BLOCK
) -> list[str]:
    """Compute a sweep into a file, and return its warnings. The ending names the format; the path holds the old file or the whole new one, never a part.

    A symbolic link is followed; into a device or FIFO the finished file is copied.

    Raises:
        InputError: a path that cannot be written, a full disk, a package that is not installed.
    """
    path = Path(out)
    ending = _format(path)
    goal = _destination(path, ending)
    module, function, packages = FORMATS[ending]
    require(str(path), *packages)
    writer = getattr(import_module(f"symroof.sweep.{module}"), function)
    grid = Grid(plan, most)
    filled = Filled(grid, track)
    try:
        with TemporaryDirectory(prefix=PREFIX, suffix=".sweep", dir=goal.file.parent) as folder:
            whole = Path(folder) / "whole"
            writer(grid, whole, filled)
            _move(whole, goal)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(Problem(str(path), f"cannot be written: {reason[:200]}")) from None
    return warnings(plan, filled.unfit)


def _format(goal: Path) -> str:
    ending = goal.suffix.lower()
    if ending not in FORMATS:
        fault = (
            f"the ending {ending!r} names no format" if ending else "has no ending, so no format"
        )
        hint = (
            "without -o, or with -o -, JSON goes to standard output"
            if goal.parts[:2] == ("/", "dev")
            else nearest(ending, FORMATS)
        )
        raise InputError(Problem(str(goal), fault, hint=hint))
    return ending


def _destination(path: Path, ending: str) -> Destination:
    """Where the output goes; a path that could not be written in the end is refused at once."""
    store = ending == ".zarr"
    folder = path.is_dir()
    if not path.parent.is_dir():
        raise InputError(
            Problem(str(path), f"there is no folder {path.parent}", hint=f"mkdir -p {path.parent}")
        )
    try:
        goal = destination(path, folder=store)
    except OSError as error:
        raise InputError(Problem(str(path), error.strerror or str(error))) from None
    fault = hint = ""
    parent = goal.file.parent
    if not parent.is_dir():
        fault, hint = (
            f"its link leads to the folder {parent}, which is not there",
            f"mkdir -p {parent}",
        )
    elif not os.access(parent, os.W_OK | os.X_OK):
        fault = f"the folder {parent} cannot be written"
    elif (
        store
        and folder
        and any(path.iterdir())
        and not any((path / name).exists() for name in STORES)
    ):
        fault, hint = "is a folder that is not a Zarr store, so it is not replaced", "another name"
    elif store and not folder and path.exists():
        fault, hint = "is a file, and a Zarr store is a folder", "another name"
    if fault:
        raise InputError(Problem(str(path), fault, hint=hint))
    return goal


def _move(whole: Path, goal: Destination) -> None:
    """The new over the old, in one step for a file; an old store makes room and comes back if the new one cannot take its place."""
    if goal.stream:
        with whole.open("rb") as source, open_stream(goal) as stream:
            shutil.copyfileobj(source, stream)
    elif whole.is_dir():
        _move_folder(whole, goal.file)
    else:
        with whole.open("rb+") as stream:
            os.fsync(stream.fileno())
        replace(whole, goal.file)


def _move_folder(whole: Path, store: Path) -> None:
    previous = whole.with_name("previous")
    try:
        if store.exists():
            store.rename(previous)
        whole.rename(store)
    except BaseException:
        if previous.exists() and not store.exists():
            previous.rename(store)
        raise
