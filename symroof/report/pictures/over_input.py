"""Any quantity over one input, with its poles, or over two as a map; user-defined quantities and SymPy expressions included."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import AT_THE_PEAK, basis_of
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem
from symroof.report.pictures.chart import Axis, Chart, Mark, lacking
from symroof.report.pictures.curves import (
    POINTS,
    along,
    band,
    draw_line,
    log_spaced,
    next_power_of_two,
    solve_limit,
)
from symroof.symbolic.axis_points import Axis as SearchAxis
from symroof.symbolic.crossings import crossings
from symroof.symbolic.printing import shortened_formula
from symroof.theory.case import Case
from symroof.theory.symbols import SHARES, Symbol
from symroof.theory.sympy_input import known
from symroof.theory.thresholds import FULL_MEMORY
from symroof.units import format_quantity

REACH = 16
"""The axis spans the input's value divided and multiplied by this factor."""
GRID = 33
"""Points of each axis of a map."""
FINER, CLOSER = 4, 12
"""Factor on the number of points for a curve with poles, and points on either side of one, each at half the distance."""
BEYOND_DOUBT = 1e6
"""Growth over the largest neighbouring value that indicates a pole without sign change."""
WIDEST = 9
"""Maximum characters of a value at the vertical axis."""
LONGEST = 60
"""Maximum characters of a formula used as a label."""


@dataclass(frozen=True)
class Drawn:
    """A quantity of a case over some inputs; ``label`` is its name at the axis and in sentences."""

    subject: BoundCase
    name: str
    by: tuple[str, ...]
    label: str

    @classmethod
    def of(cls, study: Study, quantity: Any, over: Any, label: str) -> Drawn:
        """Checked.

        Raises:
            InputError: an unknown name; not a number; no value; independent of an input.
        """
        name, subject = known(quantity, study.declared), study.first
        inputs = over.split(",") if isinstance(over, str) else over
        inputs = inputs if isinstance(inputs, list | tuple) else [inputs]
        by = tuple(
            known(each.strip() if isinstance(each, str) else each, study.declared)
            for each in inputs
        )
        result = subject.get(name)
        if len(by) > 2 or len(set(by)) < len(by):
            raise InputError(
                Problem("plot", "a quantity is drawn over one input, or over two others")
            )
        if result is None or not all(map(subject.case.has_value, by)):
            raise lacking("plot", subject, name, *by)
        if not isinstance(result.value, float | Fraction):
            raise InputError(Problem("plot", f"{name} is true/false or a category, not a number"))
        for each in by:
            if each not in subject.case.reachable_names(name):
                hint = f"these do: {', '.join(subject.case.inputs_used(name)[:12])}"
                raise InputError(Problem("plot", f"{each} does not move {name} here", hint=hint))
        short = " ".join(label.split())[:LONGEST] or shortened_formula(name, LONGEST)
        return cls(subject, name, by, short)

    @property
    def up(self) -> Symbol:
        return self.subject.case.theory.symbol(self.name)

    def across(self, place: int = 0) -> Symbol:
        return self.subject.case.theory.symbol(self.by[place])

    @property
    def case(self) -> str:
        """The case, and the efficiencies if the quantity depends on any."""
        basis = basis_of(self.subject, (self.name,))
        if not basis:
            return case_title(self.subject)
        expected = basis[0].startswith("expected")
        words = "at measured efficiencies" if expected else basis[0]
        return f"{case_title(self.subject)}, {AT_THE_PEAK if basis[0] == AT_THE_PEAK else words}"

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
        symbol = self.across(place)
        unit = f" ({symbol.display_unit})" if symbol.unit else ""
        base = 2 if symbol.counted else 10
        text = partial(_short, symbol=symbol)
        return Axis(f"{self.by[place]}{unit}", points[0], points[-1], text, base)

    def scale(self, low: float, high: float, log: bool) -> Axis:
        unit = f" ({self.up.display_unit})" if self.up.unit else ""
        text = partial(_tick, symbol=self.up)
        return Axis(f"{self.label}{unit}", low, high, text, 10 if log else 0)


def over_input(study: Study, quantity: Any, over: Any, title: str = "", label: str = "") -> Chart:
    """A quantity or a SymPy expression over an input, or over two; axes are logarithmic if all values are positive.

    It uses the efficiencies of the study, and states them where they matter.

    Args:
        over: an input, or two: names with a comma between them, or a pair.
        title: the headline; by default what is found.
        label: what the quantity is called; by default its name, or its formula in short.

    Raises:
        InputError: an unknown name; not a number; no value; independent of an input.

    >>> from symroof.symbols import itl, ttft
    >>> drawn = over_input(Study("llama-3-8b", "h100-sxm", prompt=1024), ttft/itl, "prompt")
    >>> drawn.says
    'At prompt 1,024 tokens, ttft/itl is 3.499 (2.015 to 6.183); from 64 to 16,384 it goes from 1.055 to 57.37.'
    """
    drawn = Drawn.of(study, quantity, over, label)
    chart = _map(drawn) if len(drawn.by) == 2 else _curve(drawn)
    chart.headline, chart.does_not_fit = " ".join(title.split()), drawn.subject.does_not_fit
    if chart.does_not_fit:
        chart.found.append("the case does not fit in memory")
    return chart


def _curve(drawn: Drawn) -> Chart:
    """Over one input."""
    subject, name, by, points = drawn.subject, drawn.name, drawn.by[0], drawn.points()
    memory = solve_limit(FULL_MEMORY, subject, by)
    if memory and points[0] < memory.value < points[-1]:
        points = np.unique([*points, memory.value])
    values = along(subject.case, name, by, points)
    breaks = poles(subject.case, name, by, points, values)
    if breaks:
        close = [x for place in breaks for x in _near(points, place)]
        between = np.linspace(points[:-1], points[1:], FINER, endpoint=False).ravel()
        points = np.setdiff1d([*points, *close, *between], breaks)
        values = along(subject.case, name, by, points)
    line, finite = np.column_stack([points, values]), values[np.isfinite(values)]
    if not len(finite):
        raise lacking("plot", subject, name, by)
    least, most = float(finite.min()), float(finite.max())
    if breaks and least < 0 < most:  # close to a pole it leaves the picture
        least, most = np.quantile(finite, [0.04, 0.96])
    room = (most - least or abs(most) or 1.0) / 10
    log = bool(finite.min() > 0)
    ends = (least / 1.3, most * 1.3) if log else (least - room, most + room)
    chart = Chart(
        "over",
        drawn.case,
        f"{drawn.label} over {by}.",
        _found(drawn, points, values, breaks),
        drawn.axis(points),
        drawn.scale(*ends, log),
    )
    if subject.corners:
        chart.notes.append(f"The band is what the ranges span, {subject.range_position}.")
    own = float(subject.case.value(by)), float(subject.case.value(name))
    words = subject.result(name).plain()
    labels = (
        f"this case: {words}",
        f"this case:\n{words}",
        f"this case:\n{words}".replace(" (", "\n("),
    )
    chart.spots("diamond", [own], "D", "vermilion", 8, labels=labels, bold=True)
    if not breaks:
        chart.area(band(subject, name, by, points), "blue", 0.3)
    if memory:
        chart.memory(memory.value, "memory ends")
    for place in breaks:
        at = format_quantity(place, drawn.across().display_unit, 4)
        chart.upright(f"pole at {at}", place, "faint", ":", f"pole at {at}", "pole")
    line = np.concatenate([line, [(place, np.nan) for place in breaks]]) if breaks else line
    draw_line(chart, line[np.argsort(line[:, 0])], memory.value if memory else math.inf)
    return chart


def poles(case: Case, quantity: str, by: str, points: Any, values: Any) -> list[float]:
    """The poles of a quantity between points, with or without a sign change.

    >>> from symroof.symbolic.reading import parse
    >>> from symroof.theory.symbols import ExpressionName
    >>> case, formula = Study(batch=1).first.case, ExpressionName.of(parse("1/(3 - batch)"))
    >>> [round(place, 9) for place in poles(case, formula, "batch", [1.0, 4.0], [0.5, -1.0])]
    [3.0]
    """
    known_ones = [(x, y) for x, y in zip(points, values, strict=True) if math.isfinite(y)]
    turned = [SearchAxis(float(a[0]), float(b[0])) for a, b in itertools.pairwise(known_ones) if a[1] * b[1] < 0]  # fmt: skip
    found = []
    for axis in turned:  # a pole, or else a root or a jump
        (each,) = crossings(lambda x, _: (along(case, quantity, by, x), 0.0), [axis])
        found += [] if each.pole is None else [each.pole]
    for a, b, c in zip(known_ones, known_ones[1:], known_ones[2:], strict=False):
        if min(a[1] * b[1], b[1] * c[1]) > 0 and abs(b[1]) > max(abs(a[1]), abs(c[1])):
            place = peak(case, quantity, by, a[0], c[0])
            high = abs(along(case, quantity, by, [place])[0])
            found += [] if high <= BEYOND_DOUBT * abs(b[1]) else [place]
    return sorted(found)


def peak(case: Case, quantity: str, by: str, low: float, high: float) -> float:
    """Where the values between two points are largest, or have no value."""
    for _ in range(14):
        points = np.linspace(low, high, 33)
        sizes = np.abs(along(case, quantity, by, points))
        top = int(np.argmax(np.where(np.isnan(sizes), np.inf, sizes)))
        low, high = points[max(top - 1, 0)], points[min(top + 1, 32)]
    return float(points[top])


def _near(points: Any, place: float) -> list[float]:
    """Points that approach a pole from both sides."""
    low, high = points[points < place][-1], points[points > place][0]
    parts = 0.5 ** np.arange(1, CLOSER + 1)
    return [*(place - (place - low) * parts), *(place + (high - place) * parts)]


def _tick(value: float, symbol: Symbol) -> str:
    """A value at the vertical axis, without its unit if too long."""
    written = _short(value, symbol)
    return written if len(written) <= WIDEST else f"{value:.3g}"


def _short(value: float, symbol: Symbol) -> str:
    whole = symbol.counted and float(value).is_integer()
    return f"{value:,.0f}" if whole else format_quantity(float(f"{value:.9g}"), symbol.unit, 3)


def _found(drawn: Drawn, points: Any, values: Any, breaks: list[float]) -> list[str]:
    """The values of the case and at both ends, and the poles."""
    subject, by, label = drawn.subject, drawn.by[0], drawn.label
    finite = values[np.isfinite(values)]
    first, last = (format_quantity(value, drawn.up.unit) for value in (finite[0], finite[-1]))
    low, high = (_short(x, drawn.across()) for x in (points[0], points[-1]))
    own, value = subject.result(by).plain(), subject.result(drawn.name).plain()
    found = [f"at {by} {own}, {label} is {value}"]
    found.append(f"from {low} to {high} it goes from {first} to {last}")
    places = [format_quantity(place, drawn.across().display_unit, 4) for place in breaks]
    return [*found, f"it has a pole at {by} {' and '.join(places)}"] if places else found


# ------------------------------------------------------------------------------------------- two inputs


def _map(drawn: Drawn) -> Chart:
    """Over two inputs, as colours; what does not fit is hatched."""
    subject, (across, up) = drawn.subject, drawn.by
    x, y = (drawn.points(place, GRID) for place in (0, 1))
    rows = [subject.case.changed({up: value}) for value in y]
    values = np.array([along(row, drawn.name, across, x) for row in rows])
    fits = [along(row, "fits", across, x) for row in rows]
    finite = values[np.isfinite(values)]
    if not len(finite):
        raise lacking("plot", subject, drawn.name, across, up)
    least, most = float(finite.min()), float(finite.max())
    ends = " to ".join(format_quantity(value, drawn.up.unit, 3) for value in (least, most))
    own = subject.result(drawn.name).plain()
    unfit = np.array(fits) == 0
    chart = Chart(
        "map",
        drawn.case,
        f"{drawn.label} over {across} and {up}, as colours.",
        [f"here {drawn.label} is {own}", f"over {across} and {up} it goes from {ends}"],
        drawn.axis(x, 0),
        drawn.axis(y, 1),
        notes=["Hatched: what does not fit in memory."] if unfit.any() else [],
        data={across: x, up: y, str(drawn.label): values},
    )
    log = least > 0 and most > 4 * least
    scale = drawn.scale(least, most if most > least else least + 1.0, log)
    look = {"x": x, "y": y, "values": values, "unfit": unfit, "axis": scale}
    chart.marks.append(Mark("mesh", np.array([(x[0], y[0])]), "ink", look=look))
    spot = [float(subject.case.value(name)) for name in (across, up)]
    chart.spots("this case", [spot], "D", "vermilion", 8)
    return chart
