"""A grid: quantities of cases along axes. Labels make the cases; along the other axes each case is evaluated at arrays. And from a request to a grid: which
quantities it has, and why some have no value; its axes, the lists of the study among them; and one case for each combination of labels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes))

    @property
    def points(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def labelled(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.labelled)

    @cached_property
    def moved(self) -> frozenset[str]:
        """The inputs that move along an axis."""
        return frozenset(axis.name for axis in self.axes if not axis.labelled)

    # ---------------------------------------------------------------------------- what there is

    @cached_property
    def _open(self) -> list[Case]:
        """The cases, for any values of the numeric axes."""
        return [opened(each, self.moved) for each in self.cases]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The quantities in order; behind times, rates and costs the ends of what is expected."""
        made: list[Variable] = []
        for name in self.quantities:
            own = self._variable(name)
            timed = any(each.measured_box and each.case.theory.timed(name) for each in self.cases)
            priced = PRICE not in self.moved and any(each.priced(name) for each in self.cases)
            ended = (timed or priced) and own.dtype == float
            made += [replace(own, end=end) for end in (ENDS if ended else ("",))]
        return tuple(made)

    def _variable(self, name: str) -> Variable:
        """A truth that some cases do not have is a text, as a label is: only texts can say that there is no value."""
        symbol = self.cases[0].case.theory.symbol(name)
        having = [outputs[name] for outputs in self.outputs if name in outputs]
        truth, words = any(each.truth for each in having), {w for x in having for w in x.labels}
        dtype = np.dtype(bool if truth else float)
        if words or (truth and len(having) < len(self.cases)):
            dtype = np.array([*words, "false"]).dtype
        return Variable(symbol, dtype)

    # ---------------------------------------------------------------------------- values

    def blocks(self) -> Iterator[dict[str, Array]]:
        """The points in order, a block at a time: each axis and variable at all of its points."""
        for place in blocks(self.shape):
            parts = (axis.values[part] for axis, part in zip(self.axes, place, strict=True))
            columns = np.meshgrid(*parts, indexing="ij")
            names = (*self.dims, *(variable.name for variable in self.variables))
            yield dict(zip(names, (*columns, *self.at(place)), strict=True))

    def whole(self) -> list[Array]:
        """Every variable at all points."""
        found = [np.empty(self.shape, variable.dtype) for variable in self.variables]
        for place in blocks(self.shape):
            for array, values in zip(found, self.at(place), strict=True):
                array[place] = values
        return found

    def at(self, place: Sequence[slice], only: Sequence[Variable] = ()) -> list[Array]:
        """The variables at the points of a block."""
        asked, count = only or self.variables, len(self.labelled)
        ranges = [range(length)[part] for length, part in zip(self.shape, place, strict=True)]
        found = [np.empty([*map(len, ranges)], each.dtype) for each in asked]
        moved = [axis.values[part] for axis, part in zip(self.axes, place, strict=True)][count:]
        ticks = dict(zip(self.dims[count:], np.ix_(*moved), strict=True))
        for corner in np.ndindex(*map(len, ranges[:count])):
            labels = [each[i] for each, i in zip(ranges, corner, strict=False)]
            case = int(np.ravel_multi_index(labels, self.shape[:count])) if count else 0
            for array, value in zip(found, self._at(case, asked, ticks), strict=True):
                array[corner] = value
        return found

    def _at(
        self, number: int, asked: Sequence[Variable], ticks: Mapping[str, Array]
    ) -> Iterator[Any]:
        """Variables of one case at arrays of the numeric axes, in each scenario of its prices and its measured efficiencies."""
        here = self._open[number].changed({**self._scenarios(number, len(ticks)), **ticks})
        for variable in asked:
            own = self.outputs[number].get(variable.symbol.name)
            if own is None:
                yield "" if variable.dtype.kind == "U" else np.nan
                continue
            with np.errstate(all="ignore"):
                value = np.asarray(own.of(here))
            if value.ndim > len(ticks):
                value = ENDS[variable.end](value)
            if own.truth and variable.dtype.kind == "U":
                value = np.where(value, "true", "false")
            yield value

    def _scenarios(self, number: int, axes: int) -> dict[str, Array]:
        """The inputs of a case that are uncertain: list prices along a first axis, efficiencies along a second, each at what is expected and at its ends."""
        case = self.cases[number]
        prices = [{PRICE: price} for price in case.list_prices]
        found = {}
        for axis, ends in enumerate((prices, case.measured_corners)):
            shape = np.insert(np.ones(axes + 1, int), axis, len(ends) + 1)
            for name in ends[0] if ends else ():
                values = [case.case.value(name), *(each[name] for each in ends)]
                found[name] = np.reshape(np.array(values, float), shape)
        return found

    @cached_property
    def unfit(self) -> int:
        """Points that do not fit in memory."""
        fits = [variable for variable in self.variables if variable.name == FITS]
        if not fits:
            return 0
        no = False if fits[0].dtype == bool else "false"
        return sum(int((self.at(place, fits)[0] == no).sum()) for place in blocks(self.shape))


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


def opened(case: BoundCase, moved: frozenset[str]) -> Case:
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
