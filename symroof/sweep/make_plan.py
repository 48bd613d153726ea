"""From a request to a plan: axes, the lists of the study among them, and one case for each combination of labels."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.cases.bind_cases import MOST_CASES, bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import ROLE_INPUT
from symroof.cases.quantity_result import Result
from symroof.cases.request import Request
from symroof.errors import InputError, Problem
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import Setting
from symroof.sweep.axes import Axis, choosing, numeric
from symroof.sweep.axes import axis as axis_of
from symroof.sweep.plan import Plan
from symroof.sweep.sweep_quantities import available_quantities, requested_quantities
from symroof.symbolic.expressions import fraction, is_number, number
from symroof.symbolic.printing import text
from symroof.theory.declarations import Declarations
from symroof.theory.switches import expand_detail

MOST_POINTS = 10**10


def _usual(request: Request) -> list[str] | None:
    """The quantities of a user-defined theory alone; None for the usual ones of a model on a device."""
    alone = request.own.inputs and not request.models and not request.hardware
    return [quantity.name for quantity in request.own.quantities] if alone else None


def plan(
    request: Request,
    over: Sequence[Axis],
    quantities: Iterable[str] | None = None,
    title: str | None = None,
) -> Plan:
    """The plan of a sweep: the axes of ``over``, and every list in the request that they do not name.

    Raises:
        InputError: nothing to sweep over, too many points or cases, a name or value that cannot be read, a quantity
            that has no value anywhere.
    """
    named = (
        requested_quantities(quantities, request.own) if quantities is not None else _usual(request)
    )
    axes = [*over, *listed(request, {axis.name for axis in over})]
    axes.sort(key=lambda axis: not axis.labelled)
    if not axes:
        raise InputError(
            Problem(
                "sweep", "nothing to sweep over", hint="--over batch=1:512, or a list in the study"
            )
        )
    within_limits(axes)
    cases = tuple(_cases(request, axes))
    _check_prefixes(cases, axes)
    known = available_quantities(
        cases,
        named,
        {axis.name: None if axis.labelled else Fraction(axis.values[0]) for axis in axes},
    )
    computed = known.quantities
    heading = (
        title
        or f"{', '.join(computed[:4])}{' ...' if len(computed) > 4 else ''} over {', '.join(axis.name for axis in axes)}"
    )
    return Plan(
        tuple(axes),
        computed,
        cases,
        known.missing,
        known.missing_in_part,
        heading,
        (*known.notes, *_evaluated_at(cases, computed)),
    )


def _check_prefixes(cases: Iterable[BoundCase], axes: Sequence[Axis]) -> None:
    """The cached part of a prompt is nowhere longer than the prompt.

    Raises:
        InputError: at some point of the grid it is.
    """
    ends = {"prompt": min, "cached_prefix": max}
    worst = {
        axis.name: Fraction(ends[axis.name](axis.values))
        for axis in axes
        if axis.name in ends and not axis.labelled
    }
    for case in cases if worst else ():
        case.check(worst, "sweep")


def within_limits(axes: Sequence[Axis]) -> None:
    """Points that can be computed, and cases that can be bound.

    Raises:
        InputError: there are more.
    """
    points, cases = (
        math.prod(map(len, axes)),
        math.prod(len(axis) for axis in axes if axis.labelled),
    )
    sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in axes)
    if points > MOST_POINTS:
        raise InputError(
            Problem(
                "sweep",
                f"{sizes} are {points:,} points; at most {MOST_POINTS:,} are computed",
                hint="take larger steps, such as :x2",
            )
        )
    if cases > MOST_CASES:
        raise InputError(
            Problem(
                "sweep",
                f"labels multiply to {cases:,} cases; at most {MOST_CASES:,} are computed",
                hint="give fewer values",
            )
        )


def listed(request: Request, named: set[str]) -> list[Axis]:
    """The lists of a study that no axis names, as axes."""
    lists = {"model": request.models, "hardware": request.hardware}
    axes = [axis_of(name, members) for name, members in lists.items() if len(members) > 1]
    for role, texts in request.precision.items():
        if len(texts) > 1:
            axes.append(
                choosing(role, {name: Request(precision={role: (name,)}) for name in texts})
            )
    axes += [
        _listed_values(name, settings, request.own)
        for name, settings in request.values.items()
        if len(settings) > 1
    ]
    return [each for each in axes if each.name not in named]


def _listed_values(name: str, settings: Sequence[Setting], own: Declarations) -> Axis:
    """Numbers are a numeric axis; where a range or a formula is among them, each is a label."""
    if all(is_number(setting) for setting in settings):
        return numeric(
            name,
            tuple(dict.fromkeys(fraction(setting) for setting in settings if is_number(setting))),
            own,
        )
    return choosing(
        name,
        {
            s.text if isinstance(s, ValueRange) else text(s): Request(values={name: (s,)})
            for s in settings
        },
    )


def _cases(request: Request, axes: Sequence[Axis]) -> Iterator[BoundCase]:
    """One case for every combination of labels, in order; the numeric axes are at their last values."""
    numeric = {
        axis.name: (number(Fraction(axis.values[-1])),) for axis in axes if not axis.labelled
    }
    precisions = {
        ROLE_INPUT[axis.name] for axis in axes if axis.name in ROLE_INPUT
    }  # a width by number would hide the one by name
    weaker = replace(
        request,
        values={name: value for name, value in request.values.items() if name not in precisions},
    )
    labelled = [axis for axis in axes if axis.labelled]
    for choices in itertools.product(*(axis.choices for axis in labelled)):
        yield _bound(_combined(choices, numeric).over(weaker))


def _combined(choices: Iterable[Request], numeric: Mapping[str, tuple[Setting, ...]]) -> Request:
    """The choices of several axes as one; switches last, so that one named beside ``detail`` wins."""
    made = Request(values=numeric)
    switches: dict[str, str] = {}
    for choice in choices:
        switches |= choice.assume
        made = replace(choice, assume={}).over(made)
    assume = expand_detail(switches)
    return replace(
        made, assume=assume, origin=dict.fromkeys([*made.values, *made.precision, *assume], "axis")
    )


def _bound(request: Request) -> BoundCase:
    bound = list(itertools.islice(bound_cases(request), 2))
    if len(bound) > 1:
        raise InputError(
            Problem(
                "sweep",
                "the preset lists several values for one input",
                hint="name the input with --over",
            )
        )
    return bound[0]


def _evaluated_at(cases: Sequence[BoundCase], computed: Iterable[str]) -> list[str]:
    """Ranged inputs are at their middle on a grid, and list prices at their median; measured efficiencies have their ends beside."""
    said = {
        name: f"{name} is given as {span.text}: evaluated at its middle, {Result(case.case.theory.symbol(name), span.middle).text()}"
        for case in cases
        for name, given in case.given.items()
        if name in case.box and not given.measured and isinstance(span := given.setting, ValueRange)
    }
    if any(case.priced(name) for case in cases for name in computed):
        return [*said.values(), "list prices of a device are several: evaluated at their median"]
    return list(said.values())
