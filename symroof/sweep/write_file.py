"""A sweep into a file: computed in blocks, assembled next to the goal, and moved over it when whole."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from symroof.analysis.tracking import Track, untracked
from symroof.arrays.blocks import Array
from symroof.errors import InputError, Problem, nearest, require
from symroof.output_files import Destination, destination, open_stream, replace
from symroof.sweep.grid_blocks import BLOCK, Grid, GridBlock
from symroof.sweep.metadata import attributes, warnings
from symroof.sweep.partial_files import PartsFolder, locked, remove
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

Values = dict[str, Array]


class Interrupted(Exception):
    """The user stopped a sweep; the text names the parts that are left and how to go on."""


def write(
    plan: Plan,
    out: str | os.PathLike[str],
    resume: bool = False,
    track: Track = untracked,
    most: int = BLOCK,
) -> list[str]:
    """Compute a sweep into a file, and return its warnings. The ending names the format; the path holds the old file or the whole new one, never a part.

    A sweep of more than one batch saves its finished batches next to the file, and goes on there with ``resume``. A symbolic link is
    followed; into a device or FIFO the finished file is copied.

    Raises:
        InputError: a path that cannot be written, a full disk, parts of another source, a package that is not installed.
        Interrupted: Ctrl-C.
    """
    path = Path(out)
    ending = _format(path)
    goal = _destination(path, ending)
    module, function, packages = FORMATS[ending]
    require(str(path), *packages)
    writer = getattr(import_module(f"symroof.sweep.{module}"), function)
    grid, parts = Grid(plan, most), PartsFolder(goal.file)
    try:
        with locked(parts.goal), _cleaned_up(parts):
            parts.open(
                {**plan.digests, "block": str(most)} if len(grid) > 1 or resume else {},
                len(grid),
                resume,
            )
            return _written(grid, parts, goal, writer, track)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            Problem(str(path), f"cannot be written: {reason[:200]}", hint=_left(parts, len(grid)))
        ) from None
    except KeyboardInterrupt:
        raise Interrupted(
            f"{path}: nothing is torn; {_left(parts, len(grid)) or 'nothing is left behind'}"
        ) from None


@contextmanager
def _cleaned_up(parts: PartsFolder) -> Iterator[None]:
    """However it ends, only finished parts stay."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if parts.finished:
                remove(parts.whole)
            else:
                parts.close()


def _left(parts: PartsFolder, blocks: int) -> str:
    """The parts that an unfinished sweep leaves behind."""
    return (
        f"{parts.finished:,} of {blocks:,} parts are kept in {parts.folder}; go on with --resume, or remove that folder"
        if parts.finished
        else ""
    )


def _written(
    grid: Grid, parts: PartsFolder, goal: Destination, writer: Callable[..., None], track: Track
) -> list[str]:
    """Every batch computed, put together and moved to its place."""
    memory: list[Values] = []
    unfit = _computed(grid, parts, memory, track)
    writer(grid, parts.whole, attributes(grid.plan, unfit), _batches(grid, parts, memory, track))
    _move(parts, goal)
    parts.close()
    return warnings(grid.plan, unfit)


def _computed(grid: Grid, parts: PartsFolder, memory: list[Values], track: Track) -> int:
    """Every batch saved in its part, a single one left in memory; returns how many points do not fit."""
    unfit = 0
    for number, blocks in enumerate(track(grid, "sweeping")):
        count = parts.unfit(number, len(grid.variables) * len(blocks))
        if count is None:
            values = [grid.values(block) for block in blocks]
            count = sum(grid.unfit(block, own) for block, own in zip(blocks, values, strict=True))
            if len(grid) == 1:
                memory += values
            else:
                parts.save(number, count, [own[v.name] for own in values for v in grid.variables])
        unfit += count
    return unfit


def _batches(
    grid: Grid, parts: PartsFolder, memory: list[Values], track: Track
) -> Iterator[list[tuple[GridBlock, Values]]]:
    """The batches in order, each block with its values."""
    names = [variable.name for variable in grid.variables]
    for number, blocks in enumerate(track(grid, "writing")):
        saved = parts.load(number, len(names) * len(blocks)) if len(grid) > 1 else iter(())
        yield list(
            zip(
                blocks,
                memory or [dict(zip(names, saved, strict=False)) for _ in blocks],
                strict=True,
            )
        )


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


def _move(parts: PartsFolder, goal: Destination) -> None:
    """The new over the old, in one step for a file; an old store makes room and comes back if the new one cannot take its place."""
    if goal.stream:
        with parts.whole.open("rb") as source, open_stream(goal) as stream:
            shutil.copyfileobj(source, stream)
    elif parts.whole.is_dir():
        _move_folder(parts, goal.file)
    else:
        with parts.whole.open("rb+") as stream:
            os.fsync(stream.fileno())
        replace(parts.whole, goal.file)


def _move_folder(parts: PartsFolder, store: Path) -> None:
    try:
        if store.exists():
            store.rename(parts.previous)
        parts.whole.rename(store)
    except BaseException:
        if parts.previous.exists() and not store.exists():
            parts.previous.rename(store)
        raise
    remove(parts.previous)
