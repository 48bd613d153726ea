"""From a selection to a plan: axes, the lists of the study among them, and one case for each combination of labels."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symroof.cases.binding import MOST_CASES, Binding, bindings
from symroof.cases.case_results import Answers
from symroof.cases.quantity_result import Result
from symroof.cases.selection import Selection
from symroof.cases.spec_values import ROLE_INPUT, dimension
from symroof.errors import InputError, Problem
from symroof.formula.text import text
from symroof.formula.tree import Num
from symroof.specs.fields import ValueRange
from symroof.specs.input_values import Setting
from symroof.sweep.axes import Axis, choosing, numeric
from symroof.sweep.axes import axis as axis_of
from symroof.sweep.plan import Plan
from symroof.sweep.requested import asked, known_in
from symroof.theory.declarations import Declarations
from symroof.theory.switches import expand_detail

MOST_POINTS = 10**10


def _usual(selection: Selection) -> list[str] | None:
    """The quantities of a theory of one's own alone; None for the usual ones of a model on a device."""
    alone = selection.own.inputs and not selection.models and not selection.hardware
    return [quantity.name for quantity in selection.own.quantities] if alone else None


def plan(selection: Selection, over: Sequence[Axis], quantities: Iterable[str] | None = None, title: str | None = None) -> Plan:
    """The plan of a sweep: the axes of ``over``, and every list in the selection that they do not name.

    Raises:
        InputError: nothing to sweep over, too many points or cases, a name or value that cannot be read, a quantity
            that has no value anywhere.
    """
    named = asked(quantities, selection.own) if quantities is not None else _usual(selection)
    axes = [*over, *listed(selection, {axis.name for axis in over})]
    axes.sort(key=lambda axis: not axis.labelled)
    if not axes:
        raise InputError(Problem("sweep", "nothing to sweep over", hint="--over batch=1:512, or a list in the study"))
    within_limits(axes)
    cases = tuple(_cases(selection, axes))
    known = known_in(cases, named, {axis.name: None if axis.labelled else Fraction(axis.values[0]) for axis in axes})
    computed = known.quantities
    heading = title or f"{', '.join(computed[:4])}{' ...' if len(computed) > 4 else ''} over {', '.join(axis.name for axis in axes)}"
    return Plan(tuple(axes), computed, cases, known.lacking, known.partly, heading, (*known.notes, *_middles(cases)))


def within_limits(axes: Sequence[Axis]) -> None:
    """Points that can be worked out, and cases that can be bound.

    Raises:
        InputError: there are more.
    """
    points, cases = math.prod(map(len, axes)), math.prod(len(axis) for axis in axes if axis.labelled)
    sizes = " x ".join(f"{len(axis):,} {axis.name}" for axis in axes)
    if points > MOST_POINTS:
        raise InputError(Problem("sweep", f"{sizes} are {points:,} points; at most {MOST_POINTS:,} are computed", hint="take larger steps, such as :x2"))
    if cases > MOST_CASES:
        raise InputError(Problem("sweep", f"labels multiply to {cases:,} cases; at most {MOST_CASES:,} are computed", hint="give fewer values"))


def listed(selection: Selection, named: set[str]) -> list[Axis]:
    """The lists of a study that no axis names, as axes."""
    lists = {"model": selection.models, "hardware": selection.hardware}
    axes = [axis_of(name, members) for name, members in lists.items() if len(members) > 1]
    for role, texts in selection.precision.items():
        if len(texts) > 1:
            axes.append(choosing(role, {name: Selection(precision={role: (name,)}) for name in texts}))
    axes += [_listed_values(name, settings, selection.own) for name, settings in selection.values.items() if len(settings) > 1]
    return [each for each in axes if each.name not in named]


def _listed_values(name: str, settings: Sequence[Setting], own: Declarations) -> Axis:
    """Numbers are a numeric axis; where a range or a formula is among them, each is a label."""
    if all(isinstance(setting, Num) for setting in settings):
        return numeric(name, tuple(dict.fromkeys(setting.value for setting in settings if isinstance(setting, Num))), own)
    return choosing(name, {s.text if isinstance(s, ValueRange) else text(s): Selection(values={name: (s,)}) for s in settings})


def _cases(selection: Selection, axes: Sequence[Axis]) -> Iterator[Answers]:
    """One case for every combination of labels, in order; the numeric axes stand at their last values."""
    numeric = {axis.name: (Num(Fraction(axis.values[-1]), dimension(axis.name, selection.own)),) for axis in axes if not axis.labelled}
    precisions = {ROLE_INPUT[axis.name] for axis in axes if axis.name in ROLE_INPUT}  # a width by number would hide the one by name
    weaker = replace(selection, values={name: value for name, value in selection.values.items() if name not in precisions})
    labelled = [axis for axis in axes if axis.labelled]
    for choices in itertools.product(*(axis.choices for axis in labelled)):
        yield Answers(_bound(_together(choices, numeric).over(weaker)))


def _together(choices: Iterable[Selection], numeric: Mapping[str, tuple[Setting, ...]]) -> Selection:
    """The choices of several axes as one; switches last, so that one named beside ``detail`` wins."""
    made = Selection(values=numeric)
    switches: dict[str, str] = {}
    for choice in choices:
        switches |= choice.assume
        made = replace(choice, assume={}).over(made)
    assume = expand_detail(switches)
    return replace(made, assume=assume, origin=dict.fromkeys([*made.values, *made.precision, *assume], "axis"))


def _bound(selection: Selection) -> Binding:
    bound = list(itertools.islice(bindings(selection), 2))
    if len(bound) > 1:
        raise InputError(Problem("sweep", "the preset lists several values for one input", hint="name the input with --over"))
    return bound[0]


def _middles(cases: Sequence[Answers]) -> list[str]:
    """Ranged inputs stand at their middles on a grid, or where evidence expects them."""
    spans = {name: (case, given.setting) for case in cases for name, given in case.binding.given.items() if isinstance(given.setting, ValueRange)}
    shown = {name: Result(case.case.theory.symbol(name), span.middle).text() for name, (case, span) in spans.items()}
    words = {
        name: "is given as {}: evaluated at its middle," if span.expected is None else "is measured as {}: evaluated at the expected"
        for name, (_, span) in spans.items()
    }
    return [f"{name} {words[name].format(span.text)} {shown[name]}" for name, (_, span) in spans.items()]
