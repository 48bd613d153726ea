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
from symroof.analysis.study import Study
from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.request import Request
from symroof.cases.values import PRICE, ROLE_INPUT
from symroof.errors import InputError, NoValue, Problem, UndefinedValue
from symroof.sweep.axes import LABELLED, Axis, axes_of_lists, chosen, within_limits
from symroof.symbolic.evaluation import Array, blocks
from symroof.symbolic.expressions import Expr
from symroof.symbolic.expressions import names as names_of
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.declarations import NONE, Declarations, MissingInput
from symroof.theory.spellings import is_sympy, known, printed_name, read_expression, resolved
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


Place = Sequence[slice]
"""A part of a grid, a slice an axis."""


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


class Swept:
    """A case of a grid, for any values of what moves: the quantities that have a formula, and why others have none."""

    def __init__(self, case: BoundCase, names: Iterable[str], moved: frozenset[str]) -> None:
        self.case, self.open = case, case.case.without_values(moved, rounded=True)
        self.outputs: dict[str, Output] = {}
        self.missing: dict[str, UndefinedValue] = {}
        for name in names:
            try:
                self.outputs[name] = output(name, moved.union(case.measured_box), self.open)
                case.case.value(name)
            except UndefinedValue as error:
                self.missing[name] = error
            except UnknownName:
                self.missing[name] = UndefinedValue("is not a part of this model")
            except NoValue:  # at these values of what moves
                continue

    def at(self, asked: Sequence[Variable], ticks: Mapping[str, Array]) -> Iterator[Any]:
        """Variables at arrays of the numeric axes, in each scenario of its prices and its measured efficiencies."""
        here = self.open.changed({**self._scenarios(len(ticks)), **ticks})
        for variable in asked:
            own = self.outputs.get(variable.symbol.name)
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

    def _scenarios(self, axes: int) -> dict[str, Array]:
        """The inputs that are uncertain: list prices along a first axis, efficiencies along a second, each at what is expected and at its ends."""
        prices = [{PRICE: price} for price in self.case.list_prices]
        found = {}
        for axis, ends in enumerate((prices, self.case.measured_corners)):
            shape = np.insert(np.ones(axes + 1, int), axis, len(ends) + 1)
            for name in ends[0] if ends else ():
                values = [self.case.case.value(name), *(each[name] for each in ends)]
                found[name] = np.reshape(np.array(values, float), shape)
        return found


@dataclass(frozen=True)
class Grid:
    """Quantities over axes, those of labels first, each combination of which is a case."""

    title: str
    axes: tuple[Axis, ...]
    quantities: tuple[str, ...]
    swept: tuple[Swept, ...]

    @property
    def dims(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes))

    @property
    def points(self) -> int:
        return math.prod(self.shape)

    @property
    def cases(self) -> tuple[BoundCase, ...]:
        return tuple(one.case for one in self.swept)

    @property
    def labelled(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.labelled)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The quantities in order; behind times, rates and costs the ends of what is expected. A truth that some cases do not have is a text, as a label is: only
        texts can say that there is no value."""
        made: list[Variable] = []
        for name in self.quantities:
            having = [one.outputs[name] for one in self.swept if name in one.outputs]
            words, truth = {x for own in having for x in own.labels}, any(x.truth for x in having)
            dtype = np.dtype(bool if truth else float)
            if words or (truth and len(having) < len(self.swept)):
                dtype = np.array([*words, "false"]).dtype
            timed = any(each.measured_box and each.case.theory.timed(name) for each in self.cases)
            priced = PRICE not in self.dims and any(each.priced(name) for each in self.cases)
            ended = (timed or priced) and dtype.kind == "f"
            symbol = self.cases[0].case.theory.symbol(name)
            made += [Variable(symbol, dtype, end) for end in (ENDS if ended else ("",))]
        return tuple(made)

    def blocks(self, only: Sequence[Variable] = ()) -> Iterator[tuple[Place, list[Array]]]:
        """The points in order, a block at a time: its place, and the variables there."""
        return ((place, self.at(place, only)) for place in blocks(self.shape))

    def whole(self) -> list[Array]:
        """The variables at all points."""
        found = [np.empty(self.shape, variable.dtype) for variable in self.variables]
        for place, values in self.blocks():
            for array, value in zip(found, values, strict=True):
                array[tuple(place)] = value
        return found

    def at(self, place: Place, only: Sequence[Variable] = ()) -> list[Array]:
        """The variables at the points of a block."""
        asked, count = only or self.variables, len(self.labelled)
        moved = [axis.values[part] for axis, part in zip(self.axes, place, strict=True)][count:]
        ticks = dict(zip(self.dims[count:], np.ix_(*moved), strict=True))
        numbers = np.arange(len(self.swept)).reshape(self.shape[:count])[tuple(place[:count])]
        found = [np.empty([*numbers.shape, *map(len, moved)], each.dtype) for each in asked]
        for corner, number in np.ndenumerate(numbers):
            values = self.swept[number].at(asked, ticks)
            for array, value in zip(found, values, strict=True):
                array[corner] = value
        return found

    @cached_property
    def unfit(self) -> int:
        """Points that do not fit in memory."""
        fits = [variable for variable in self.variables if variable.name == FITS]
        if not fits:
            return 0
        no = False if fits[0].dtype == bool else "false"
        return sum(int((values == no).sum()) for _, (values,) in self.blocks(fits))


FIRST = listed("shown", "sweep")  # the quantities of a sweep that requests none


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


def available(cases: Sequence[Swept], names: Sequence[str], asked: Collection[str]) -> list[str]:
    """The quantities that have a formula in some case.

    Raises:
        InputError: one that was asked for lacks an input in every case, with what it needs.
    """
    nowhere = [name for name in names if all(name in case.missing for case in cases)]
    faults = []
    for name in nowhere:
        if name in asked or len(nowhere) == len(names):
            why = cases[0].missing[name]
            hint = ""
            if isinstance(why, MissingInput):
                hint = f"--set {why.name}=VALUE, or an axis: --over {why.name}=VALUES"
            faults.append(Problem("sweep", str(why), path=name, hint=hint))
    if faults:
        raise InputError(faults if asked else replace(faults[0], path=""))
    return [name for name in names if name not in nowhere]


def make_grid(study: Study, over: Sequence[Axis], quantities: Iterable[Any] | None = None) -> Grid:
    """A sweep before it is computed: over some axes, and over every list of the study that they do not name.

    Raises:
        InputError: nothing to sweep over, too many points or cases, a name or value that cannot be read, a quantity
            that has no value anywhere.
    """
    request = study.request
    asked = None if quantities is None else requested_quantities(quantities, request.own)
    if asked is None and request.own.inputs and not request.models and not request.hardware:
        asked = [quantity.name for quantity in request.own.quantities]
    axes = [*over, *axes_of_lists(request, {axis.name for axis in over})]
    axes.sort(key=lambda axis: not axis.labelled)
    within_limits(axes)
    taken = {axis.name for axis in axes}
    if asked is not None:
        asked = [name for name in asked if name not in taken]
    if asked == []:
        hint = "ask for one that is computed, such as -q itl"
        raise InputError(Problem("sweep", "every quantity that is asked for is an axis", hint=hint))
    cases = list(_cases(request, axes))
    names = list(FIRST if asked is None else asked)
    if FITS not in (*names, *taken) and any(map(cases[0].case.theory.timed, names)):
        names.append(FITS)
    moved = frozenset(axis.name for axis in axes if not axis.labelled)
    found = tuple(Swept(case, names, moved) for case in cases)
    names = available(found, names, asked or ())
    shown = f"{', '.join(names[:4])}{' ...' if len(names) > 4 else ''}"
    title = study.spec.title if study.spec else None
    heading = title or f"{shown} over {', '.join(axis.name for axis in axes)}"
    return Grid(heading, tuple(axes), tuple(names), found)


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
