"""From a request to a grid: which quantities it has, and why some have no value; its axes, the lists of the study among them; and one
case for each combination of labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.cases.bind_cases import MOST_CASES, bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.checks import check_changed
from symroof.cases.request import Request, exact
from symroof.cases.values import ROLE_INPUT
from symroof.errors import InputError, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import symbol_of
from symroof.sweep.axes import LABELLED, Axis, labels, numeric
from symroof.sweep.axes import axis as axis_of
from symroof.sweep.grid import FITS, Grid
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import Expr, fraction, is_number, number
from symroof.symbolic.expressions import names as names_of
from symroof.symbolic.printing import text
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.declarations import NONE, Declarations, MissingInput
from symroof.theory.spellings import (
    is_sympy,
    known,
    name_or_expression,
    printed_name,
    read_expression,
    resolved,
)
from symroof.theory.switches import SWITCHES, expand_detail
from symroof.theory.symbols import UNDECLARED_NAMES, base_name
from symroof.theory.theory import UnknownName
from symroof.theory.theory_files import listed

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
    for name in (name_or_expression(name, own) for name in names):
        undeclared = isinstance(name, UNDECLARED_NAMES)
        for part in [name] if undeclared else map(str.strip, name.split(",")):
            try:
                quantities[known(part if undeclared else printed_name(part), own)] = None
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
        InputError: the name is one already, or SymPy has something that no formula has.
    """
    columns: dict[str, Expr] = {}
    for name, value in over.items():
        is_axis = name in LABELLED or name in SWITCHES
        taken = is_axis or own.symbol(base_name(printed_name(name)))
        formula = None
        if is_sympy(value) and getattr(value, "free_symbols", None):
            formula = read_expression(value, own=own)
        elif isinstance(value, str) and not taken:
            with suppress(FormulaError):
                formula = resolved(parse(value))
        if formula is None or not names_of(formula):  # the values of an axis
            continue
        if taken or own.threshold(name):
            hint = f"give the column a name of its own: my_{name}=..."
            message = "is a name already, and a formula makes a column"
            raise InputError(Problem("sweep", message, path=name, hint=hint))
        columns[name] = formula
    return columns


def available(
    cases: Sequence[BoundCase], asked: Sequence[str] | None, first: Mapping[str, float]
) -> tuple[list[str], list[dict[str, str]]]:
    """The quantities that have a value in some case, whether it fits among them, and why each case lacks some.

    ``first`` has the first values of the numeric axes; the cases are at the last ones.

    Raises:
        InputError: a quantity that was asked for lacks an input in every case, with what it needs.
    """
    names = list(FIRST if asked is None else asked)
    if FITS not in (*names, *first) and any(map(cases[0].case.theory.timed, names)):
        names.append(FITS)
    lacking = [{name: _reason(case, name, first) for name in names} for case in cases]
    nowhere = [name for name in names if all(isinstance(x[name], UndefinedValue) for x in lacking)]
    faults = []
    for name in nowhere:
        if name in (asked or ()) or len(nowhere) == len(names):
            error = lacking[0][name]
            hint = HINT.format(error.name) if isinstance(error, MissingInput) else ""
            faults.append(Problem("sweep", str(error), path=name, hint=hint))
    if faults:
        raise InputError(faults if asked else replace(faults[0], path=""))
    texts = [{name: str(error) for name, error in case.items() if error} for case in lacking]
    return [name for name in names if name not in nowhere], texts


def _reason(case: BoundCase, name: str, first: Mapping[str, float]) -> Exception | None:
    """Why a quantity has no value at both ends of the axes; None where it has one."""
    error: Exception | None = None
    for end in (case.case.changed(first), case.case) if first else (case.case,):
        try:
            end.value(name)
            return None
        except NoValue as refused:
            error = refused
        except UnknownName:
            error = UndefinedValue("is not a part of this model")
    return error


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
    axes = [*over, *_lists(request, {axis.name for axis in over})]
    axes.sort(key=lambda axis: not axis.labelled)
    within_limits(axes)
    if asked is not None:
        asked = [name for name in asked if name not in {axis.name for axis in axes}]
    if asked == []:
        hint = "ask for one that is computed, such as -q itl"
        raise InputError(Problem("sweep", "every quantity that is asked for is an axis", hint=hint))
    cases = tuple(_cases(request, axes))
    _check_prefixes(cases, axes)
    first = {axis.name: float(axis.values[0]) for axis in axes if not axis.labelled}
    names, missing = available(cases, asked, first)
    shown = f"{', '.join(names[:4])}{' ...' if len(names) > 4 else ''}"
    heading = title or f"{shown} over {', '.join(axis.name for axis in axes)}"
    return Grid(heading, tuple(axes), tuple(names), cases, tuple(missing))


def within_limits(axes: Sequence[Axis]) -> None:
    """Points that can be computed, and cases that can be bound.

    Raises:
        InputError: there are more, or none.
    """
    points = math.prod(map(len, axes))
    cases = math.prod(len(axis) for axis in axes if axis.labelled)
    message = hint = ""
    if not axes:
        message, hint = "nothing to sweep over", "--over batch=1:512, or a list in the study"
    elif points > 10**10:
        sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in axes)
        message = f"{sizes} are {points:,} points; at most {10**10:,} are computed"
        hint = "take larger steps, such as :x2"
    elif cases > MOST_CASES:
        message = f"labels multiply to {cases:,} cases; at most {MOST_CASES:,} are computed"
        hint = "give fewer values"
    if message:
        raise InputError(Problem("sweep", message, hint=hint))


def _lists(request: Request, named: set[str]) -> list[Axis]:
    """The lists of a study that no axis names, as axes; where a range or a formula is among numbers, each is a label."""
    lists = {"model": request.models, "hardware": request.hardware, **request.precision}
    axes = [axis_of(name, members) for name, members in lists.items() if len(members) > 1]
    for name, settings in request.values.items():
        if len(settings) > 1 and all(map(is_number, settings)):
            axes.append(numeric(symbol_of(name, request.own), list(map(fraction, settings))))
        elif len(settings) > 1:
            words = [x.text if isinstance(x, ValueRange) else text(x) for x in settings]
            requests = (Request(values={name: (each,)}) for each in settings)
            axes.append(labels(name, dict(zip(words, requests, strict=True))))
    return [each for each in axes if each.name not in named]


def _cases(request: Request, axes: Sequence[Axis]) -> Iterator[BoundCase]:
    """One case for every combination of labels, in order; the numeric axes are at their last values."""
    last = {a.name: (number(exact(a.values[-1].item())),) for a in axes if not a.labelled}
    hidden = {ROLE_INPUT[axis.name] for axis in axes if axis.name in ROLE_INPUT}
    weaker = request.without(hidden)  # a width by number would hide the one by name
    for choices in itertools.product(*(axis.choices for axis in axes if axis.labelled)):
        made = Request(values=last)
        switches: dict[str, str] = {}
        for choice in choices:
            switches |= choice.assume
            made = replace(choice, assume={}).over(made)
        assume = expand_detail(switches)  # a switch named beside ``detail`` wins
        origin = dict.fromkeys([*made.values, *made.precision, *assume], "axis")
        made = replace(made, assume=assume, origin=origin).over(weaker)
        bound, *more = itertools.islice(bound_cases(made), 2)
        if more:
            message = "the preset lists several values for one input"
            raise InputError(Problem("sweep", message, hint="name the input with --over"))
        yield bound


def _check_prefixes(cases: Iterable[BoundCase], axes: Sequence[Axis]) -> None:
    """The cached part of a prompt is nowhere longer than the prompt.

    Raises:
        InputError: at some point of the grid it is.
    """
    ends = {"prompt": np.min, "cached_prefix": np.max}
    moved = [axis for axis in axes if axis.name in ends and not axis.labelled]
    worst = {axis.name: Fraction(ends[axis.name](axis.values).item()) for axis in moved}
    for case in cases if worst else ():
        check_changed(case, worst, "sweep")
