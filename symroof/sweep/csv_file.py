"""A sweep as CSV: one point a row, a column an axis or a quantity, in base units, block by block."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from symroof.sweep.grid_blocks import Filled, Grid, GridBlock
from symroof.sweep.plan import NUMBER, TRUTH, Variable
from symroof.symbolic.blocks import Array


def write_csv(grid: Grid, path: Path, filled: Filled) -> None:
    """A header of names, then the rows; an empty place is no value. Units are base units, and are not written to the file."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(",".join([*grid.plan.dims, *(v.name for v in grid.variables)]) + "\n")
        for batch in filled:
            for block, values in batch:
                stream.writelines(
                    f"{','.join(row)}\n" for row in zip(*_columns(grid, block, values), strict=True)
                )


def _columns(grid: Grid, block: GridBlock, values: Mapping[str, Array]) -> Iterator[Iterable[str]]:
    """A block's columns; what repeats in many rows is formatted once."""
    for axis, place in zip(grid.plan.labelled, grid.at(block), strict=True):
        yield itertools.repeat(_text(axis.array[place].item()), block.points)
    for k, axis in enumerate(grid.plan.numeric):
        ticks = np.array(
            [_text(value) for value in axis.array[block.start[k] : block.stop[k]].tolist()],
            dtype=object,
        )
        yield np.broadcast_to(
            ticks.reshape([-1 if i == k else 1 for i in range(len(block.shape))]), block.shape
        ).flat
    for variable in grid.variables:
        own = values[variable.name]
        texts = map(_word(variable), own.ravel().tolist())
        yield (
            texts
            if own.size == block.points
            else grid.rows(variable, block, np.array(list(texts), dtype=object).reshape(own.shape))
        )


def _word(variable: Variable) -> Callable[[Any], str]:
    """How the values of a quantity are written."""
    if variable.kind == NUMBER:
        return number
    words = ("false", "true") if variable.kind == TRUTH else tuple(map(quoted, variable.labels))
    return (*words, "").__getitem__  # -1 is no value


def _text(value: float | str) -> str:
    return quoted(value) if isinstance(value, str) else number(value)


def number(value: float) -> str:
    """The shortest digits that read back as the same number; nothing for no value.

    >>> [number(x) for x in (5.0, 0.1, 1e22, float("nan"))]
    ['5', '0.1', '1e+22', '']
    """
    return "" if value != value else repr(value).removesuffix(".0")


def quoted(label: str) -> str:
    """
    >>> quoted('H100 "SXM", 80 GB')
    '"H100 ""SXM"", 80 GB"'
    """
    escaped = label.replace('"', '""')
    return f'"{escaped}"'
