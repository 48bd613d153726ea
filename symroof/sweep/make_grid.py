"""From a request to a grid: axes, the lists of the study among them, and one case for each combination of labels."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.cases.bind_cases import MOST_CASES, bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.checks import check_changed
from symroof.cases.input import ROLE_INPUT
from symroof.cases.request import Request
from symroof.errors import InputError, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import symbol_of
from symroof.sweep.axes import Axis, numeric
from symroof.sweep.axes import axis as axis_of
from symroof.sweep.grid import Grid
from symroof.sweep.sweep_quantities import available, requested_quantities
from symroof.symbolic.expressions import fraction, is_number, number
from symroof.symbolic.printing import text
from symroof.theory.switches import expand_detail


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
    axes = [*over, *listed(request, {axis.name for axis in over})]
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


def listed(request: Request, named: set[str]) -> list[Axis]:
    """The lists of a study that no axis names, as axes; where a range or a formula is among numbers, each is a label."""
    lists = {"model": request.models, "hardware": request.hardware, **request.precision}
    axes = [axis_of(name, members) for name, members in lists.items() if len(members) > 1]
    for name, settings in request.values.items():
        if len(settings) > 1 and all(map(is_number, settings)):
            values = dict.fromkeys(fraction(each) for each in settings if is_number(each))
            axes.append(numeric(symbol_of(name, request.own), tuple(values)))
        elif len(settings) > 1:
            labels = [x.text if isinstance(x, ValueRange) else text(x) for x in settings]
            requests = (Request(values={name: (each,)}) for each in settings)
            choices = dict(zip(labels, requests, strict=True))
            axes.append(Axis(name, tuple(choices), tuple(choices.values())))
    return [each for each in axes if each.name not in named]


def _cases(request: Request, axes: Sequence[Axis]) -> Iterator[BoundCase]:
    """One case for every combination of labels, in order; the numeric axes are at their last values."""
    last = {axis.name: (number(Fraction(axis.values[-1])),) for axis in axes if not axis.labelled}
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
    ends = {"prompt": min, "cached_prefix": max}
    moved = [axis for axis in axes if axis.name in ends and not axis.labelled]
    worst = {axis.name: Fraction(ends[axis.name](axis.values)) for axis in moved}
    for case in cases if worst else ():
        check_changed(case, worst, "sweep")
