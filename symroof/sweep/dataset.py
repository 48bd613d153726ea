"""A sweep in memory: an ``xarray.Dataset``, and the JSON of the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.analysis.verdict import basis_lines
from symroof.cases.quantity_result import plain_value
from symroof.errors import InputError, Problem, require
from symroof.sweep.grid_blocks import Grid, collected
from symroof.sweep.metadata import (
    SCHEMA,
    assumptions,
    attributes,
    axis_attributes,
    inputs,
    variable_attributes,
    warnings,
)
from symroof.sweep.plan import LABEL, NUMBER, TRUTH, Plan, Variable
from symroof.symbolic.blocks import Array

if TYPE_CHECKING:
    import xarray

MOST_IN_MEMORY = 2 * 10**9
"""Numbers, 16 GB of them."""
MOST_SHOWN = 10**6
"""Numbers on standard output."""
WRITE = "write them to a file: -o FILE.parquet (or .zarr, .nc, .csv)"


def dataset(plan: Plan) -> xarray.Dataset:
    """One variable a quantity, along the axes it depends on; labels are texts (empty where there is none), truths are truths.

    Raises:
        InputError: more numbers than memory holds, or no xarray.
    """
    require("a sweep in memory", "xarray")
    import xarray

    grid = Grid(plan)
    numbers = sum(math.prod(grid.sizes(v)) for v in grid.variables)
    if numbers > MOST_IN_MEMORY:
        raise InputError(
            Problem(
                "sweep",
                f"{numbers:,} numbers are too many for memory",
                hint="`symroof sweep ... -o FILE.zarr` writes them in blocks",
            )
        )
    values = collected(grid)
    coords = {axis.name: (axis.name, axis.array, axis_attributes(axis)) for axis in plan.axes}
    variables = {
        v.name: (v.dims, shown(v, values[v.name]), variable_attributes(v)) for v in grid.variables
    }
    return xarray.Dataset(coords=coords, attrs=attributes(plan, unfit(plan, values))).assign(
        variables
    )  # the axes first, in their order


def shown(variable: Variable, values: Array) -> Array:
    """Values as people use them: floats, truths, texts."""
    if variable.kind == NUMBER:
        return values
    if variable.kind == TRUTH and variable.everywhere:
        return values.astype(np.bool_)
    words = ("false", "true") if variable.kind == TRUTH else variable.labels
    return np.array((*words, ""))[values]


def unfit(plan: Plan, values: dict[str, Array]) -> int:
    """Points of the whole grid that do not fit in memory."""
    fits = values.get("fits")
    return 0 if fits is None or not fits.size else int((fits == 0).sum()) * plan.points // fits.size


def as_json(plan: Plan) -> tuple[dict[str, Any], list[str]]:
    """The object of the contract: values in the order of ``dims``, null where there is none; and its warnings.

    Raises:
        InputError: too many numbers to print.
    """
    count = plan.points * len(plan.quantities)
    if count > MOST_SHOWN:
        raise InputError(
            Problem(
                "sweep",
                f"{plan.points:,} points of {len(plan.quantities)} quantities are too many for standard output",
                hint=WRITE,
            )
        )
    grid = Grid(plan)
    values = collected(grid)
    notes = warnings(plan, unfit(plan, values))
    return {
        "schema": SCHEMA,
        "dims": list(plan.dims),
        "coords": {
            axis.name: [
                value if isinstance(value, (int, str)) else plain_value(value)
                for value in axis.values
            ]
            for axis in plan.axes
        },
        "data": {v.name: _listed(v, _spread(plan, v, values[v.name])) for v in grid.variables},
        "units": {
            **{axis.name: axis.unit for axis in plan.numeric},
            **{v.name: v.unit for v in grid.variables},
        },
        "title": plan.title,
        "basis": list(basis_lines(plan.cases)),
        "assumptions": assumptions(plan),
        "inputs": inputs(plan),
        "warnings": notes,
    }, notes


def _spread(plan: Plan, variable: Variable, values: Array) -> Array:
    """Values along every axis of the grid."""
    own = tuple(len(axis) if axis.name in variable.dims else 1 for axis in plan.axes)
    return np.broadcast_to(values.reshape(own), plan.shape)


def _listed(variable: Variable, values: Array) -> Any:
    """Nested lists of what JSON has: whole numbers stay whole, nothing is null."""
    if variable.kind == NUMBER:
        return _mapped(values.tolist(), _number)
    words = {LABEL: variable.labels, TRUTH: (False, True)}[variable.kind]
    return _mapped(values.tolist(), lambda place: None if place < 0 else words[place])


def _mapped(values: Any, say: Any) -> Any:
    return [_mapped(value, say) for value in values] if isinstance(values, list) else say(values)


def _number(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
