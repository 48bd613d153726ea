"""A sweep into a file: worked out in blocks, put together beside the goal, and moved over it when whole."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from symroof.analysis.tracking import Track, untracked
from symroof.errors import InputError, Problem, nearest, require
from symroof.sweep.axes import Axis
from symroof.sweep.grid_blocks import BLOCK, Array, Block, Grid
from symroof.sweep.lock import alone
from symroof.sweep.metadata import attributes, warnings
from symroof.sweep.partial_files import Parts
from symroof.sweep.plan import Plan

FORMATS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    ".csv": ("comma_separated", "write_csv", ()),
    ".parquet": ("table_files", "write_parquet", ("pyarrow",)),
    ".nc": ("array_files", "write_netcdf", ("xarray", "netCDF4")),
    ".zarr": ("array_files", "write_zarr", ("xarray", "zarr")),
}
"""What writes a file of an ending: a module of this room, its function, and the packages of an extra that it needs."""
STORES = (".zgroup", "zarr.json", ".zmetadata")
"""What makes a folder a Zarr store."""

Values = dict[str, Array]


class Interrupted(Exception):
    """Somebody stopped a sweep; the text says what is left and how to go on."""


@dataclass(frozen=True)
class Written:
    """What a file holds, and what has to be said of it."""

    axes: tuple[Axis, ...]
    quantities: tuple[str, ...]
    warnings: list[str]


def write(plan: Plan, out: str | os.PathLike[str], resume: bool = False, track: Track = untracked, most: int = BLOCK) -> Written:
    """Work a sweep out into a file whose ending says the format; the goal is the old file or the whole new one, never a part.

    A sweep of more than one batch keeps the batches it has beside the goal, and goes on there with ``resume``.

    Raises:
        InputError: a goal that cannot be written, a full disk, parts of another question, a package that is not installed.
        Interrupted: Ctrl-C.
    """
    goal = Path(out)
    kind = _format(goal)
    _check_goal(goal, kind)
    module, function, packages = FORMATS[kind]
    require(str(goal), *packages)
    writer = getattr(import_module(f"symroof.sweep.{module}"), function)
    grid, parts = Grid(plan, most), Parts(goal)
    try:
        with alone(goal), _tidy(parts):
            parts.open(f"{plan.digest} {most}" if len(grid) > 1 or resume else "", len(grid), resume)
            return _written(grid, parts, writer, track)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(Problem(str(goal), f"cannot be written: {reason[:200]}", hint=_left(parts, len(grid)))) from None
    except KeyboardInterrupt:
        raise Interrupted(f"{goal}: nothing is torn; {_left(parts, len(grid)) or 'nothing is left behind'}") from None


@contextmanager
def _tidy(parts: Parts) -> Iterator[None]:
    """However it ends, only parts that are worth going on with stay."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            (parts.discard if parts.kept else parts.close)()


def _left(parts: Parts, blocks: int) -> str:
    """What an unfinished sweep leaves behind."""
    return f"{parts.kept:,} of {blocks:,} parts are kept in {parts.folder}; go on with --resume, or remove that folder" if parts.kept else ""


def _written(grid: Grid, parts: Parts, writer: Callable[..., None], track: Track) -> Written:
    """Everything worked out, put together and moved to its place."""
    memory: list[Values] = []
    unfit = _worked_out(grid, parts, memory, track)
    writer(grid, parts.whole, attributes(grid.plan, unfit), _filled(grid, parts, memory, track))
    _move(parts.whole, parts.goal)
    parts.close()
    return Written(grid.plan.axes, grid.plan.quantities, warnings(grid.plan, unfit))


def _worked_out(grid: Grid, parts: Parts, memory: list[Values], track: Track) -> int:
    """Every batch kept in its part, the only one in memory; returns how many points do not fit."""
    unfit = 0
    for number, blocks in enumerate(track(grid, "sweeping")):
        found = parts.unfit(number)
        if found is None:
            values = [grid.values(block) for block in blocks]
            found = sum(grid.unfit(block, own) for block, own in zip(blocks, values, strict=True))
            if len(grid) == 1:
                memory += values
            else:
                parts.save(number, found, [own[v.name] for own in values for v in grid.variables])
        unfit += found
    return unfit


def _filled(grid: Grid, parts: Parts, memory: list[Values], track: Track) -> Iterator[list[tuple[Block, Values]]]:
    """The batches in order, each block with its values."""
    names = [variable.name for variable in grid.variables]
    for number, blocks in enumerate(track(grid, "writing")):
        kept = parts.load(number, len(names) * len(blocks)) if len(grid) > 1 else iter(())
        yield list(zip(blocks, memory or [dict(zip(names, kept, strict=False)) for _ in blocks], strict=True))


def _format(goal: Path) -> str:
    ending = goal.suffix.lower()
    if ending not in FORMATS:
        said = f"the ending {ending!r} says no format" if ending else "has no ending, so no format"
        raise InputError(Problem(str(goal), said, hint=nearest(ending, FORMATS)))
    return ending


def _check_goal(goal: Path, kind: str) -> None:
    """What would fail after a long time fails now."""
    fault = hint = ""
    if not goal.parent.is_dir():
        fault, hint = f"there is no folder {goal.parent}", f"mkdir -p {goal.parent}"
    elif not os.access(goal.parent, os.W_OK | os.X_OK):
        fault = f"the folder {goal.parent} cannot be written"
    elif goal.is_dir() and kind != ".zarr":
        fault = "is a folder"
    elif kind == ".zarr" and goal.is_dir() and any(goal.iterdir()) and not any((goal / name).exists() for name in STORES):
        fault, hint = "is a folder that is no Zarr store, so it is not replaced", "another name"
    elif kind == ".zarr" and goal.exists() and not goal.is_dir():
        fault, hint = "is a file, and a Zarr store is a folder", "another name"
    if fault:
        raise InputError(Problem(str(goal), fault, hint=hint))


def _move(whole: Path, goal: Path) -> None:
    """The new over the old, in one step for a file; a folder of old makes room and comes back if the new one cannot take its place."""
    if whole.is_dir():
        _move_folder(whole, goal)
        return
    with whole.open("rb+") as stream:
        os.fsync(stream.fileno())
    if goal.exists():
        os.chmod(whole, goal.stat().st_mode & 0o777)
    os.replace(whole, goal)


def _move_folder(whole: Path, goal: Path) -> None:
    old = whole.parent / f"old{goal.suffix}"
    try:
        if goal.exists():
            os.rename(goal, old)
        os.rename(whole, goal)
    except BaseException:
        if old.exists() and not goal.exists():
            os.rename(old, goal)
        raise
    if old.exists():
        shutil.rmtree(old)


__all__ = ["Interrupted", "Written", "write"]
