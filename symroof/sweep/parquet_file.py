"""A sweep as Parquet: one point a row, a column an axis or a quantity, in base units, block by block."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from symroof.sweep.axes import Axis
from symroof.sweep.grid_blocks import Filled, Grid, GridBlock
from symroof.sweep.metadata import attributes, axis_attributes, variable_attributes
from symroof.sweep.plan import NUMBER, TRUTH, Variable
from symroof.symbolic.blocks import Array


def write_parquet(grid: Grid, path: Path, filled: Filled) -> None:
    """A row group a batch; labels are dictionaries, units and meanings are metadata of the columns, the rest of the file.

    Metadata stand before the first row and count what does not fit, so the rows are written without them first.
    """
    schema, rows = _schema(grid), path.with_name("rows")
    with pyarrow.parquet.ParquetWriter(rows, schema, compression="zstd") as writer:
        for batch in filled:
            writer.write_table(_rows(grid, batch).cast(schema))
    schema = schema.with_metadata(attributes(grid.plan, filled.unfit))
    with (
        pyarrow.parquet.ParquetFile(rows) as written,
        pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer,
    ):
        for group in range(written.num_row_groups):
            writer.write_table(written.read_row_group(group).cast(schema))


def _schema(grid: Grid) -> pa.Schema:
    axes = [
        pa.field(axis.name, _axis_type(axis), nullable=False, metadata=axis_attributes(axis))
        for axis in grid.plan.axes
    ]
    return pa.schema(
        [
            *axes,
            *(pa.field(v.name, _type(v), metadata=variable_attributes(v)) for v in grid.variables),
        ]
    )


def _axis_type(axis: Axis) -> pa.DataType:
    return (
        pa.dictionary(pa.int16(), pa.string())
        if axis.named
        else pa.from_numpy_dtype(axis.array.dtype)
    )


def _type(variable: Variable) -> pa.DataType:
    if variable.kind == NUMBER:
        return pa.float64()
    return pa.bool_() if variable.kind == TRUTH else pa.dictionary(pa.int8(), pa.string())


def _rows(grid: Grid, batch: list[tuple[GridBlock, dict[str, Array]]]) -> pa.Table:
    return pa.concat_tables(
        [_table(grid, block, values) for block, values in batch]
    ).combine_chunks()


def _table(grid: Grid, block: GridBlock, values: dict[str, Array]) -> pa.Table:
    """The rows of one block."""
    columns: dict[str, Any] = {}
    for axis, place in zip(grid.plan.labelled, grid.at(block), strict=True):
        places = np.full(block.points, place, dtype=np.int16)
        columns[axis.name] = (
            pa.DictionaryArray.from_arrays(places, pa.array(axis.array.tolist()))
            if axis.named
            else pa.array(axis.array[places])
        )
    for k, axis in enumerate(grid.plan.numeric):
        ticks = axis.array[block.start[k] : block.stop[k]].reshape(
            [-1 if i == k else 1 for i in range(len(grid.plan.numeric))]
        )
        columns[axis.name] = pa.array(np.broadcast_to(ticks, block.shape).ravel())
    for variable in grid.variables:
        columns[variable.name] = _column(
            variable, grid.rows(variable, block, values[variable.name])
        )
    return pa.table(columns)


def _column(variable: Variable, rows: Array) -> Any:
    if variable.kind == NUMBER:
        return pa.array(rows, from_pandas=True)
    missing = rows < 0
    if variable.kind == TRUTH:
        return pa.array(rows == 1, mask=missing)
    return pa.DictionaryArray.from_arrays(pa.array(rows, mask=missing), pa.array(variable.labels))
