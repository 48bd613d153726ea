"""A grid: quantities of cases along axes. Labels make the cases; along the other axes each case is evaluated at arrays. And from a request to a grid: which
quantities it has, and why some have no value; its axes, the lists of the study among them; and one case for each combination of labels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import Output, output
from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import Request
from symroof.cases.values import PRICE, ROLE_INPUT
from symroof.errors import InputError, Problem
from symroof.sweep.axes import LABELLED, Axis, axes_of_lists, chosen, within_limits
from symroof.symbolic.evaluation import Array, NoValue, UndefinedValue, blocks
from symroof.symbolic.expressions import Expr
from symroof.symbolic.expressions import names as names_of
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.case import Case
from symroof.theory.declarations import NONE, Declarations, MissingInput
from symroof.theory.spellings import (
    is_sympy,
    known,
    printed_name,
    read_expression,
    resolved,
)
from symroof.theory.symbols import Symbol, base_name
from symroof.theory.theory import UnknownName
from symroof.theory.theory_files import listed

FITS = "fits"
ENDS = {
    "": lambda scenarios: scenarios[0, 0],
    "low": lambda scenarios: np.fmin.reduce(scenarios, axis=(0, 1)),
    "high": lambda scenarios: np.maximum.reduce(scenarios, axis=(0, 1)),
}
"""What is expected, and its ends; a high end is known where it is in every scenario."""


@dataclass(frozen=True)
class Variable:
    """A quantity on the grid, or one end of what is expected of it.

    Attributes:
        dtype: of its values: floats, truths, or texts, which are empty where there is no value.
    """

    symbol: Symbol
    dtype: np.dtype[Any]
    end: str = ""

    @property
    def name(self) -> str:
        return f"{self.symbol.name}_{self.end}" if self.end else self.symbol.name

    @property
    def attributes(self) -> dict[str, str]:
        """Unit and meaning."""
        long_name = f"{self.symbol.meaning}, {self.end} end" if self.end else self.symbol.meaning
        return {"units": self.symbol.unit or "1", "long_name": long_name}

    def of(self, output: Output | None, case: Case, axes: int) -> Any:
        """The values of one case along its numeric axes; in front of these may be scenarios."""
        if output is None:
            return "" if self.dtype.kind == "U" else np.nan
        value = np.asarray(output.of(case))
        if value.ndim > axes:
            value = ENDS[self.end](value)
        words = output.truth and self.dtype.kind == "U"
        return np.where(value, "true", "false") if words else value


@dataclass(frozen=True)
class Grid:
    """Quantities over axes, those of labels first: of each case those with a formula, and why it lacks some."""

    title: str
    axes: tuple[Axis, ...]
    quantities: tuple[str, ...]
    cases: tuple[BoundCase, ...]
    outputs: tuple[Mapping[str, Output], ...]
    missing: tuple[Mapping[str, UndefinedValue], ...]

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def points(self) -> int:
        return math.prod(map(len, self.axes))

    @property
    def labelled(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.labelled)

    @property
    def numeric(self) -> dict[str, Array]:
        """The values of the inputs that move along an axis."""
        return {axis.name: axis.values for axis in self.axes if not axis.labelled}

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The quantities in order; behind times, rates and costs the ends of what is expected."""
        made: list[Variable] = []
        for name in self.quantities:
            having = [outputs[name].dtype for outputs in self.outputs if name in outputs]
            dtype = np.result_type(*having)
            if dtype.kind == "b" and len(having) < len(self.cases):
                dtype = np.dtype("U5")  # only a text can say that there is no value
            timed = any(each.measured_box and each.case.theory.timed(name) for each in self.cases)
            priced = PRICE not in self.dims and any(each.priced(name) for each in self.cases)
            ends = ENDS if (timed or priced) and dtype.kind == "f" else ("",)
            symbol = self.cases[0].case.theory.symbol(name)
            made += [Variable(symbol, dtype, end) for end in ends]
        return tuple(made)

    @cached_property
    def values(self) -> list[Array]:
        """Every variable at all points: a case at a time, and of each a block of its numeric axes."""
        moved, labels = self.numeric, tuple(map(len, self.labelled))
        shape = tuple(map(len, moved.values()))
        found = [np.empty((len(self.cases), *shape), each.dtype) for each in self.variables]
        for i, (case, outputs) in enumerate(zip(self.cases, self.outputs, strict=True)):
            scenarios = opened(case, moved).changed(_scenarios(case, len(shape)))
            for place in blocks(shape):
                parts = (x[part] for x, part in zip(moved.values(), place, strict=True))
                here = scenarios.changed(dict(zip(moved, np.ix_(*parts), strict=True)))
                with np.errstate(all="ignore"):
                    for array, each in zip(found, self.variables, strict=True):
                        array[i, ...][place] = each.of(
                            outputs.get(each.symbol.name), here, len(shape)
                        )
        return [array.reshape(*labels, *shape) for array in found]

    @property
    def unfit(self) -> int:
        """Points that do not fit in memory."""
        pairs = zip(self.variables, self.values, strict=True)
        fits = next((values for each, values in pairs if each.name == FITS), np.array(True))
        return int(np.isin(fits, "false" if fits.dtype.kind == "U" else False).sum())


def _scenarios(case: BoundCase, axes: int) -> dict[str, Array]:
    """The inputs of a case that are uncertain: list prices along a first axis, efficiencies along a second, each at what is expected and at its ends."""
    found = {}
    prices = [{PRICE: price} for price in case.list_prices]
    for axis, ends in enumerate((prices, case.measured_corners)):
        shape = np.insert(np.ones(axes + 1, int), axis, len(ends) + 1)
        for name in ends[0] if ends else ():
            values = [case.case.value(name), *(each[name] for each in ends)]
            found[name] = np.reshape(np.array(values, float), shape)
    return found


FIRST = listed("shown", "sweep")  # the quantities of a sweep that requests none
HINT = "--set {0}=VALUE, or an axis: --over {0}=VALUES"


def requested_quantities(names: Iterable[Any], own: Declarations = NONE) -> list[str]:
    """Quantities by their printed names, each once, the ``own`` of the study among them; commas separate names.

    >>> requested_quantities(["ttft,itl", "isl"])
    ['ttft', 'itl', 'prompt']

    Raises:
        InputError: unknown ones, with the nearest name.
    """
    quantities: dict[str, None] = {}
    problems: list[Problem] = []
    for name in names:
        for part in map(str.strip, name.split(",")) if isinstance(name, str) else [name]:
            try:
                quantities[known(printed_name(part) if isinstance(part, str) else part, own)] = None
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(problems)
    return list(quantities)


def formula_columns(over: Mapping[str, Any], own: Declarations = NONE) -> dict[str, Expr]:
    """The keywords of a sweep that are formulas, in SymPy or as text, and so name a column; all others are axes.

    >>> from symroof.symbolic.printing import text
    >>> {name: text(formula) for name, formula in formula_columns({"batch": "1:8", "wait": "ttft/itl", "bacth": "1:8"}).items()}
    {'wait': 'ttft/itl'}

    Raises:
        InputError: SymPy has something that no formula has.
    """
    columns: dict[str, Expr] = {}
    for name, value in over.items():
        taken = name in LABELLED or own.symbol(base_name(printed_name(name)))
        if is_sympy(value) and getattr(value, "free_symbols", None):
            columns[name] = read_expression(value, own=own)
        elif isinstance(value, str) and not taken:
            with suppress(FormulaError):
                columns[name] = resolved(parse(value))
    return {name: formula for name, formula in columns.items() if names_of(formula)}


def opened(case: BoundCase, moved: Collection[str]) -> Case:
    """A case for any values of the inputs that move."""
    return case.case.without_values(moved, rounded=True)


def available(
    cases: Sequence[BoundCase], asked: Sequence[str] | None, moved: frozenset[str]
) -> tuple[list[str], list[dict[str, Output]], list[dict[str, UndefinedValue]]]:
    """The quantities that have a formula in some case, whether it fits among them; the formulas of each case, and why it lacks some.

    Raises:
        InputError: a quantity that was asked for lacks an input in every case, with what it needs.
    """
    names = list(FIRST if asked is None else asked)
    if FITS not in (*names, *moved) and any(map(cases[0].case.theory.timed, names)):
        names.append(FITS)
    found: list[dict[str, Output]] = [{} for _ in cases]
    missing: list[dict[str, UndefinedValue]] = [{} for _ in cases]
    for case, outputs, lacking in zip(cases, found, missing, strict=True):
        here, moving = opened(case, moved), moved.union(case.measured_box)
        for name in names:
            try:
                outputs[name] = output(name, moving, here)
                case.case.value(name)
            except UndefinedValue as error:
                lacking[name] = error
            except UnknownName:
                lacking[name] = UndefinedValue("is not a part of this model")
            except NoValue:  # at these values of what moves
                continue
    nowhere = [name for name in names if all(name in lacking for lacking in missing)]
    faults = []
    for name in nowhere:
        if name in (asked or ()) or len(nowhere) == len(names):
            why = missing[0][name]
            hint = HINT.format(why.name) if isinstance(why, MissingInput) else ""
            faults.append(Problem("sweep", str(why), path=name, hint=hint))
    if faults:
        raise InputError(faults if asked else replace(faults[0], path=""))
    return [name for name in names if name not in nowhere], found, missing


# ------------------------------------------------------------------------------------------------ axes and cases


def make_grid(
    request: Request,
    over: Sequence[Axis],
    quantities: Iterable[Any] | None = None,
    title: str | None = None,
) -> Grid:
    """A sweep over the axes of ``over``, and over every list in the request that they do not name.

    Raises:
        InputError: nothing to sweep over, too many points or cases, a name or value that cannot be read, a quantity
            that has no value anywhere.
    """
    asked = None if quantities is None else requested_quantities(quantities, request.own)
    if asked is None and request.own.inputs and not request.models and not request.hardware:
        asked = [quantity.name for quantity in request.own.quantities]
    axes = [*over, *axes_of_lists(request, {axis.name for axis in over})]
    axes.sort(key=lambda axis: not axis.labelled)
    within_limits(axes)
    if asked is not None:
        asked = [name for name in asked if name not in {axis.name for axis in axes}]
    if asked == []:
        hint = "ask for one that is computed, such as -q itl"
        raise InputError(Problem("sweep", "every quantity that is asked for is an axis", hint=hint))
    cases = tuple(_cases(request, axes))
    moved = frozenset(axis.name for axis in axes if not axis.labelled)
    names, outputs, missing = available(cases, asked, moved)
    shown = f"{', '.join(names[:4])}{' ...' if len(names) > 4 else ''}"
    heading = title or f"{shown} over {', '.join(axis.name for axis in axes)}"
    return Grid(heading, tuple(axes), tuple(names), cases, tuple(outputs), tuple(missing))


def _cases(request: Request, axes: Sequence[Axis]) -> Iterator[BoundCase]:
    """One case for every combination of labels, in order; the inputs that move are the largest, but for the prompt, which must hold a cached prefix everywhere."""
    moved = {axis.name: axis.values for axis in axes if not axis.labelled}
    far = {name: (x.min() if name == "prompt" else x.max()).item() for name, x in moved.items()}
    labelled = [axis for axis in axes if axis.labelled]
    hidden = {ROLE_INPUT[axis.name] for axis in axes if axis.name in ROLE_INPUT}
    weaker = request.without(hidden)  # a width by number would hide the one by name
    for choices in itertools.product(*(axis.choices for axis in labelled)):
        labels = {axis.name: choice for axis, choice in zip(labelled, choices, strict=True)}
        made = chosen({**far, **labels}, request.own).over(weaker)
        bound, *more = itertools.islice(bound_cases(made), 2)
        if more:
            message = "the preset lists several values for one input"
            raise InputError(Problem("sweep", message, hint="name the input with --over"))
        yield bound
