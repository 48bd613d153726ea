"""Any quantity over any input, including user-defined quantities and SymPy expressions, with the memory limit."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import AT_THE_PEAK, basis_of
from symroof.cases.bound_case import BoundCase
from symroof.drawing.colours import BLUE, DOTTED, GREY, VERMILION
from symroof.drawing.frame import Frame
from symroof.drawing.scales import linear_ticks, log_ticks, next_power_of_two, power_of_two_ticks
from symroof.errors import InputError, Problem
from symroof.report.pictures.curves import (
    POINTS,
    QuantityCurve,
    band,
    cases_at,
    log_spaced,
    memory_limit,
    values_along,
)
from symroof.report.pictures.labels import lines, unfit
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet
from symroof.report.pictures.poles import points_near, poles
from symroof.symbolic.printing import shortened_formula
from symroof.theory.symbols import SHARES, Symbol
from symroof.theory.sympy_input import known
from symroof.units import format_quantity

REACH = 16
"""The axis spans the input's value divided and multiplied by this factor."""
FINER = 4
"""Factor on the number of points for a curve with poles."""
WIDEST = 9
"""Maximum characters of a value at the vertical axis."""
LONGEST = 60
"""Maximum characters of a formula used as a label."""


@dataclass(frozen=True)
class Drawn:
    """A quantity of a case over an input.

    Attributes:
        label: the name of the quantity at the axis and in sentences.
    """

    subject: BoundCase
    name: str
    by: str
    label: str

    @property
    def up(self) -> Symbol:
        return self.subject.case.theory.symbol(self.name)

    @property
    def across(self) -> Symbol:
        return self.subject.case.theory.symbol(self.by)


def picture(study: Study, quantity: Any, over: Any, title: str = "", label: str = "") -> Picture:
    """A quantity or a SymPy expression over an input; the axes are logarithmic if all values are positive.

    It uses the efficiencies of the study, and states them where they matter.

    Args:
        title: the headline; by default the label and the input.
        label: what the quantity is called; by default its name, or its formula in short.

    Raises:
        InputError: an unknown name; not a number; no value; independent of the input.

    >>> from symroof.symbols import itl, ttft
    >>> drawn = picture(Study("llama-3-8b", "h100-sxm", prompt=1024), ttft/itl, "prompt")
    >>> drawn.says
    'At prompt 1,024 tokens, ttft/itl is 3.499 (2.015 to 6.183); from 64 to 16,384 it goes from 1.055 to 57.37.'
    """
    name, by, subject = known(quantity, study.declared), known(over, study.declared), study.first
    result = subject.get(name)
    if result is None or not subject.case.has_value(by):
        raise lacking("plot", subject, name, by)
    if not isinstance(result.value, float | Fraction):
        raise InputError(Problem("plot", f"{name} is true/false or a category, not a number"))
    if by not in subject.case.reachable_names(name):
        raise InputError(
            Problem(
                "plot",
                f"{by} does not move {name} here",
                hint=f"these do: {', '.join(subject.case.inputs_used(name)[:12])}",
            )
        )
    drawn = Drawn(
        subject, name, by, " ".join(label.split())[:LONGEST] or shortened_formula(name, LONGEST)
    )
    headline, case = (
        " ".join(title.split()) or f"{drawn.label} over {by}",
        _case_words(subject, name),
    )
    line = _line(drawn)
    frame = _frame(drawn, line, headline, case)
    broken = _with_poles(drawn, line)
    _draw(frame, drawn, broken)
    notes = (
        ["The hatched part does not fit in memory."]
        if line.memory and line.memory.exists and line.places[-1] > line.memory.value
        else []
    )
    return finished(
        "over",
        headline,
        case,
        frame,
        f"{drawn.label} over {by}.",
        _says(drawn, line, broken.poles),
        notes,
    )


def _case_words(subject: BoundCase, name: str) -> str:
    """The case, and the efficiencies if the quantity depends on any."""
    basis = basis_of(subject, (name,))
    words = basis and (
        AT_THE_PEAK
        if basis[0] == AT_THE_PEAK
        else "at measured efficiencies"
        if basis[0].startswith("expected")
        else basis[0]
    )
    return f"{case_title(subject)}{f', {words}' if words else ''}"


def _line(drawn: Drawn) -> QuantityCurve:
    """The values at logarithmically spaced points around the case."""
    subject, by = drawn.subject, drawn.by
    now = float(subject.case.value(by)) or 1.0
    low, high = now / REACH, now * REACH
    if drawn.across.counted:
        points = log_spaced(max(1.0, next_power_of_two(low)), next_power_of_two(high), [now])
    else:
        high = min(high, 1.0) if by in SHARES else high
        points = sorted(
            {
                Fraction(low * (high / low) ** (i / (POINTS - 1))).limit_denominator(10**12)
                for i in range(POINTS)
            }
            | {Fraction(now)}
        )
    cases = cases_at(subject.case, by, points)
    return QuantityCurve(points, cases, values_along(cases, drawn.name), memory_limit(subject, by))


def _with_poles(drawn: Drawn, line: QuantityCurve) -> QuantityCurve:
    """The curve interrupted at its poles, with additional points near them."""
    case = drawn.subject.case
    places = poles(case, drawn.name, drawn.by, line.points, line.values)
    if not places:
        return line
    close = [point for place in places for point in points_near(*_neighbours(line.points, place))]
    between = [
        a + (b - a) * part / FINER
        for a, b in itertools.pairwise(line.points)
        for part in range(1, FINER)
    ]
    points = sorted({*line.points, *close, *between} - {*places})
    cases = cases_at(case, drawn.by, points)
    return QuantityCurve(points, cases, values_along(cases, drawn.name), line.memory, places)


def _neighbours(points: Sequence[Fraction], place: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """The neighbouring points of a place."""
    return (
        max(point for point in points if point < place),
        place,
        min(point for point in points if point > place),
    )


def _frame(drawn: Drawn, line: QuantityCurve, headline: str, case: str) -> Frame:
    least, most = min(line.finite), max(line.finite)
    canvas = sheet(headline, case, drawn.subject.does_not_fit)
    ends = (line.places[0], line.places[-1])
    if least > 0:
        return framed(canvas, ends, (least / 1.3, most * 1.3))
    room = (most - least or abs(most) or 1.0) / 10
    return framed(canvas, ends, (least - room, most + room), y_log=False)


def _draw(frame: Frame, drawn: Drawn, line: QuantityCurve) -> None:
    subject, across, up = drawn.subject, drawn.across, drawn.up
    own = float(subject.case.value(drawn.by)), float(subject.case.value(drawn.name))
    if line.memory:
        frame.memory_limit(float(line.memory.value))
    frame.band(line.places, band(subject, drawn.name, drawn.by, line.points), BLUE)
    marks = power_of_two_ticks if across.counted else log_ticks
    title = (
        f"{drawn.by}{f' ({across.display_unit})' if across.unit else ''}",
        f"{drawn.label}{f' ({up.display_unit})' if up.unit else ''}",
    )
    frame.axes(
        *title,
        marks,
        log_ticks if frame.y.log else linear_ticks,
        lambda x: _short(x, across),
        lambda y: _tick(y, up),
    )
    for place in line.poles:
        frame.vertical_line(f"pole {place}", float(place), GREY, DOTTED)
    line.draw(frame, BLUE)
    frame.marker(*own, "diamond", VERMILION, 5.0)
    frame.label_point(
        *own, lines("this case: ", subject.result(drawn.name).plain()), VERMILION, bold=True
    )
    if line.memory:
        frame.label_memory_limit(float(line.memory.value), "memory ends")
    for place in line.poles:
        frame.label_line(f"pole {place}", (f"pole at {_at(place, across)}", "pole"), GREY)


def _at(place: Fraction, symbol: Symbol) -> str:
    return format_quantity(place, symbol.display_unit, 4)


def _tick(value: float, symbol: Symbol) -> str:
    """A value at the vertical axis, without its unit if too long."""
    written = _short(value, symbol)
    return written if len(written) <= WIDEST else f"{value:.3g}"


def _short(value: float, symbol: Symbol) -> str:
    return (
        f"{value:,.0f}"
        if symbol.counted and float(value).is_integer()
        else format_quantity(Fraction(value), symbol.unit, 3)
    )


def _says(drawn: Drawn, line: QuantityCurve, places: Sequence[Fraction]) -> str:
    """The takeaway: the values of the case and at both ends, and the poles."""
    subject, ends = drawn.subject, [value for value in line.values if math.isfinite(value)]
    first, last = (format_quantity(Fraction(value), drawn.up.unit) for value in (ends[0], ends[-1]))
    axis = [
        subject.result(drawn.by).plain(),
        *(_short(place, drawn.across) for place in (line.places[0], line.places[-1])),
    ]
    at = f"At {drawn.by} {axis[0]}, {drawn.label} is {subject.result(drawn.name).plain()}; from {axis[1]} to {axis[2]} it goes from {first} to {last}"
    poles_at = " and ".join(_at(place, drawn.across) for place in places)
    return (
        "; ".join(
            [at, *([f"it has a pole at {drawn.by} {poles_at}"] if places else []), *unfit(subject)]
        )
        + "."
    )
