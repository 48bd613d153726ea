"""Any quantity over one input, or over two as a map; user-defined quantities and SymPy expressions included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symroof.analysis.case_summary import case_title, range_position
from symroof.analysis.study import Study
from symroof.analysis.verdict import basis_of
from symroof.cases.bound_case import EXPECTED, BoundCase
from symroof.errors import InputError, Problem
from symroof.report.pictures.chart import Axis, Chart, Mesh, lacking, seconds
from symroof.report.pictures.curves import (
    POINTS,
    UNFIT,
    along,
    at_a_context,
    counted_in,
    log_spaced,
    next_power_of_two,
    solve_limit,
)
from symroof.symbolic.printing import shortened_formula
from symroof.theory.declarations import FULL_MEMORY
from symroof.theory.spellings import known
from symroof.theory.symbols import SHARES, Symbol
from symroof.units import format_quantity, plural

LATENCIES = ("ttft", "itl")
REACH = 16
"""The axis spans the input's value divided and multiplied by this factor."""
GRID = 33
"""Points of each axis of a map."""
WIDEST, LONGEST = 9, 60
"""Maximum characters of a value at the vertical axis, and of a formula used as a label."""


@dataclass(frozen=True)
class Drawn:
    """A quantity of a case over some inputs; ``label`` is its name at the axis and in sentences."""

    subject: BoundCase
    name: str
    by: tuple[str, ...]
    label: str

    @classmethod
    def of(cls, study: Study, quantity: Any, over: Any) -> Drawn:
        """Checked.

        Raises:
            InputError: an unknown name; not a number; no value; independent of an input.
        """
        name, subject = known(quantity, study.declared), study.first
        inputs = [each.strip() for each in over.split(",")] if isinstance(over, str) else over
        inputs = inputs if isinstance(inputs, list | tuple) else [inputs]
        by = tuple(known(each, study.declared) for each in inputs)
        result, why, hint = subject.get(name), "", ""
        still = [each for each in by if each not in subject.case.reachable_names(name)]
        if len(by) > 2 or len(set(by)) < len(by):
            why = "a quantity is drawn over one input, or over two others"
        elif result is None or not all(map(subject.case.has_value, by)):
            raise lacking("plot", subject, name, *by)
        elif not isinstance(result.value, float | Fraction):
            why = f"{name} is true/false or a category, not a number"
        elif still:
            why = f"{still[0]} does not move {name} here"
            hint = f"these do: {', '.join(subject.case.inputs_used(name)[:12])}"
        if why:
            raise InputError(Problem("plot", why, hint=hint))
        return cls(subject, name, by, shortened_formula(name, LONGEST))

    @property
    def up(self) -> Symbol:
        return self.subject.case.theory.symbol(self.name)

    def across(self, place: int = 0) -> Symbol:
        return self.subject.case.theory.symbol(self.by[place])

    def points(self, place: int = 0, count: int = POINTS) -> Any:
        """Logarithmically spaced values of an input around that of the case."""
        now = float(self.subject.case.value(self.by[place])) or 1.0
        low, high = now / REACH, now * REACH
        if self.across(place).counted:
            ends = max(1.0, next_power_of_two(low)), next_power_of_two(high)
            return log_spaced(*ends, [now], count)
        high = min(high, 1.0) if self.by[place] in SHARES else high
        return np.unique([*np.geomspace(low, high, count), now])

    def axis(self, points: Any, place: int = 0) -> Axis:
        symbol, label = self.across(place), self.by[place]
        title = f"{label} ({plural(symbol.display_unit, 2)})" if symbol.unit else label
        base = 2 if symbol.counted else 10
        return Axis(title, points[0], points[-1], partial(written, symbol=symbol), base)

    def scale(self, low: float, high: float, log: bool) -> Axis:
        def text(value: float) -> str:
            shown = written(value, self.up)
            return shown if len(shown) <= WIDEST else f"{value:.3g}"

        title = f"{self.label} ({plural(self.up.display_unit, 2)})" if self.up.unit else self.label
        return Axis(title, low, high, text, 10 if log else 0)


def written(value: float, symbol: Symbol) -> str:
    """A value at an axis."""
    whole = symbol.counted and float(value).is_integer()
    return f"{value:,.0f}" if whole else format_quantity(float(f"{value:.9g}"), symbol.unit, 3)


def over_input(study: Study, quantity: Any, over: Any) -> Chart:
    """A quantity or a SymPy expression over an input, or over two; axes are logarithmic if all values are positive.

    It uses the efficiencies of the study, and states them where they matter.

    Args:
        over: an input, or two: names with a comma between them, or a pair.

    Raises:
        InputError: an unknown name; not a number; no value; independent of an input.

    >>> from symroof.symbols import itl, ttft
    >>> drawn = over_input(Study("llama-3-8b", "h100-sxm", prompt=1024), ttft/itl, "prompt")
    >>> drawn.says
    'At prompt 1,024 tokens, ttft/itl is 5.992 (4.684 to 8.374); from 64 to 16,384 it goes from 3.502 to 60.63.'
    """
    drawn = Drawn.of(study, quantity, over)
    chart = _map(drawn) if len(drawn.by) == 2 else _curve(drawn)
    basis = basis_of(drawn.subject, (drawn.name,))
    expected = basis and drawn.subject.basis == EXPECTED
    chart.case = ", ".join([chart.case, *(["at measured efficiencies"] if expected else basis[:1])])
    return chart


def _curve(drawn: Drawn) -> Chart:
    """Over one input, with its theoretical minimum and its target where it is a latency that has one."""
    subject, name, by, points = drawn.subject, drawn.name, drawn.by[0], drawn.points()
    memory = solve_limit(FULL_MEMORY, subject, by)
    if memory and points[0] < memory.value < points[-1]:
        points = np.unique([*points, memory.value])
    values = along(subject.case, name, by, points)
    roof = subject.at_peak if name in LATENCIES else None
    lowest = along(roof.case, name, by, points) if roof else np.empty(0)
    finite = values[np.isfinite(values)]
    if not len(finite):
        raise lacking("plot", subject, name, by)
    goals = [float(subject.targets[name])] if name in subject.targets else []
    seen = [*finite, *lowest[np.isfinite(lowest)], *goals]
    least, most, log = float(min(seen)), float(max(seen)), min(finite) > 0
    room = (most - least or abs(most) or 1.0) / 10
    scale = drawn.scale(*((least / 1.3, most * 1.3) if log else (least - room, most + room)), log)
    own, value = subject.result(by).plain(), subject.result(name).plain()
    low, high = (written(x, drawn.across()) for x in (points[0], points[-1]))
    first, last = (format_quantity(x, drawn.up.unit) for x in (finite[0], finite[-1]))
    found = [
        f"at {by} {own}, {drawn.label} is {value}",
        f"from {low} to {high} it goes from {first} to {last}",
    ]
    unfit, named = subject.does_not_fit, ("over", case_title(subject), f"{drawn.label} over {by}.")
    chart = Chart(*named, found, drawn.axis(points), scale, does_not_fit=unfit)
    spot = [(float(subject.case.value(by)), float(subject.case.value(name)))]
    chart.spots("diamond", spot, "D", "vermilion", 8, label=f"this case: {value}")
    ends = [along(corner, name, by, points) for corner in subject.corners] or [values]
    low_end, high_end = np.min(ends, axis=0), np.max(ends, axis=0)
    if np.any(high_end > low_end):
        chart.between(points, low_end, high_end, "blue", 0.3)
        span = subject.interval_word.replace("range", "range of the inputs")
        chart.notes.append(f"Band: {span}. Line: {range_position(subject).removeprefix('at ')}.")
    if memory:
        chart.shade(memory.value, chart.x.high, "pale", 0, "does not fit")
        chart.rule("memory", memory.value, "ink", "-", "memory is full")
    line, edge = np.column_stack([points, values]), memory.value if memory else math.inf
    chart.curve("line", line[points <= edge], "blue", "-", 2.2)
    chart.curve("beyond", line[points >= edge], "faint", "--", 2.0)
    if roof:
        under = np.column_stack([points, lowest])
        chart.curve("bound at 100 % of peak", under, "blue", ":", 1.1, "theoretical minimum")
    for goal in goals:
        _target(chart, drawn, goal, edge)
    return chart


def _target(chart: Chart, drawn: Drawn, goal: float, edge: float) -> None:
    """The target of a latency, and up to where along its input it is met."""
    unit, shown = drawn.across().display_unit, seconds(goal)
    chart.rule("target", goal, "vermilion", "--", f"{drawn.label} target {shown}", level=True)
    met = solve_limit(f"{drawn.name} = {drawn.name}_target", drawn.subject, drawn.by[0])
    if met:
        chart.found.append(f"the target of {shown} allows {met.allows(unit)}")
    if met and met.exists:
        flag = UNFIT if met.value > edge else ""
        label = f"met up to {counted_in(unit, met.count)}{flag}" if chart.x.has(met.value) else ""
        chart.spots("target met", [(met.value, goal)], "s", "vermilion", 6.5, label=label)


def ttft(study: Study, subject: BoundCase) -> Chart:
    """TTFT of one case against the prompt."""
    return _latency("ttft", subject, subject, "prompt")


def itl(study: Study, subject: BoundCase) -> Chart:
    """ITL of one case against the context, at the last step of a response."""
    stepwise = all(map(subject.case.has_value, ("itl", "peak_context")))
    there = at_a_context(subject) if stepwise else subject
    return _latency("itl", subject, there, "context")


def _latency(metric: str, subject: BoundCase, there: BoundCase, by: str) -> Chart:
    """A latency against a length.

    Raises:
        InputError: the case has none, or the length does not move it.
    """
    if there.get(metric) is None or by not in there.case.inputs_used(metric):
        none = f"no {by} moves its {metric.upper()}"
        raise lacking(metric, there, metric, by, otherwise=none)
    chart = _curve(Drawn(there, metric, (by,), metric.upper()))
    chart.name, chart.case = metric, case_title(subject)
    return chart


def _map(drawn: Drawn) -> Chart:
    """Over two inputs, as colours; what does not fit is hatched."""
    subject, (across, up) = drawn.subject, drawn.by
    x, y = (drawn.points(place, GRID) for place in (0, 1))
    rows = [subject.case.changed({up: value}) for value in y]
    values = np.array([along(row, drawn.name, across, x) for row in rows])
    unfit = np.array([along(row, "fits", across, x) for row in rows]) == 0
    finite = values[np.isfinite(values)]
    if not len(finite):
        raise lacking("plot", subject, drawn.name, across, up)
    least, most = float(finite.min()), float(finite.max())
    ends = " to ".join(format_quantity(value, drawn.up.unit, 3) for value in (least, most))
    own = subject.result(drawn.name).plain()
    chart = Chart(
        "map",
        case_title(subject),
        f"{drawn.label} over {across} and {up}, as colours.",
        [f"here {drawn.label} is {own}", f"over {across} and {up} it goes from {ends}"],
        drawn.axis(x, 0),
        drawn.axis(y, 1),
        notes=["Hatched: what does not fit in memory."] if unfit.any() else [],
        does_not_fit=subject.does_not_fit,
        data={across: x, up: y, str(drawn.label): values},
    )
    log = least > 0 and most > 4 * least
    scale = drawn.scale(least, most if most > least else least + 1.0, log)
    chart.mesh = Mesh(x, y, values, unfit, scale)
    spot = [float(subject.case.value(name)) for name in (across, up)]
    chart.spots("this case", [spot], "D", "vermilion", 8, label=f"this case: {own}")
    return chart
