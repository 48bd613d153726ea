"""Any quantity over any input: a quantity of one's own, a SymPy expression. What memory holds of the input is solved."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study, known
from symroof.analysis.verdict import case_title
from symroof.cases.case_results import Answers
from symroof.drawing.colours import BLUE, VERMILION
from symroof.drawing.frame import Frame
from symroof.drawing.scales import decimal, evenly, powers_of_two
from symroof.errors import InputError, Problem
from symroof.report.pictures.curves import POINTS, Line, along, band, curve, held, power_of_two, spread
from symroof.report.pictures.sheet import Picture, finished, framed, lacking, sheet
from symroof.report.pictures.words import BEYOND_MEMORY, lines, unfit
from symroof.theory.symbols import SHARES, Symbol
from symroof.units import format_quantity

REACH = 16
"""How many times the case's own value of the input the axis begins below it and ends above it."""
WIDEST = 9
"""Characters of a value beside the upright axis."""
LONGEST = 60
"""Characters of an expression that a headline shows."""


def picture(study: Study, quantity: Any, over: Any) -> Picture:
    """A quantity or a SymPy expression over an input, on logarithmic axes where no value is zero or below.

    Raises:
        InputError: no such name; a truth or a label; no value; the input does not move it.

    >>> from symroof.symbols import itl, ttft
    >>> drawn = picture(Study("llama-3-8b", "h100-sxm", prompt=1024), ttft/itl, "prompt")
    >>> drawn.says
    'At prompt 1,024 tokens, ttft/itl is 3.256; from 64 to 16,384 it goes from 1.021 to 59.00.'
    """
    name, by, subject = known(quantity, study.declared), known(over, study.declared), study.first
    result = subject.get(name)
    if result is None or not subject.case.known(by):
        raise lacking("plot", subject, name, by)
    if not isinstance(result.value, Fraction):
        raise InputError(Problem("plot", f"{name} is a truth or a label, not a number"))
    if by not in subject.case.leads_to(name):
        raise InputError(Problem("plot", f"{by} does not move {name} here", hint=f"these do: {', '.join(subject.case.used(name)[:12])}"))
    line = _line(subject, name, by)
    frame = _frame(subject, line, name)
    _draw(frame, subject, line, name, by)
    notes = [BEYOND_MEMORY] if line.held and line.held.real and line.places[-1] > line.held.value else []
    shown = str(name)[:LONGEST]
    return finished("over", f"{shown} over {by}", case_title(subject), frame, f"{shown} over {by}.", _says(subject, line, name, by), notes)


def _line(subject: Answers, name: str, by: str) -> Line:
    """The values at points evenly apart in logarithms around the case's own."""
    symbol, now = subject.case.theory.symbol(by), float(subject.case.value(by)) or 1.0
    low, high = now / REACH, now * REACH
    if symbol.counted:
        points = spread(max(1.0, power_of_two(low)), power_of_two(high), [now])
    else:
        high = min(high, 1.0) if by in SHARES else high
        points = sorted({Fraction(low * (high / low) ** (i / (POINTS - 1))).limit_denominator(10**12) for i in range(POINTS)} | {Fraction(now)})
    cases = along(subject.case, by, points)
    return Line(points, cases, curve(cases, name), held(subject, by))


def _frame(subject: Answers, line: Line, name: str) -> Frame:
    least, most = min(line.finite), max(line.finite)
    canvas = sheet(f"{str(name)[:LONGEST]}", case_title(subject), subject.does_not_fit)
    ends = (line.places[0], line.places[-1])
    if least > 0:
        return framed(canvas, ends, (least / 1.3, most * 1.3))
    room = (most - least or abs(most) or 1.0) / 10
    return framed(canvas, ends, (least - room, most + room), y_log=False)


def _draw(frame: Frame, subject: Answers, line: Line, name: str, by: str) -> None:
    case = subject.case
    across, up = case.theory.symbol(by), case.theory.symbol(name)
    own = float(case.value(by)), float(case.value(name))
    if line.held:
        frame.cut(float(line.held.value))
    frame.band(line.places, band(subject, name, by, line.points), BLUE)
    marks = powers_of_two if across.counted else decimal
    title = f"{by}{f' ({across.unit})' if across.unit else ''}", f"{str(name)[:LONGEST]}{f' ({up.unit})' if up.unit else ''}"
    frame.axes(*title, marks, decimal if frame.y.log else evenly, lambda x: _short(x, across), lambda y: _tick(y, up))
    line.draw(frame, BLUE)
    frame.sign(*own, "diamond", VERMILION, 5.0)
    frame.near(*own, lines("this case: ", subject.result(name).plain()), VERMILION, bold=True)
    if line.held:
        frame.label_cut(float(line.held.value), "memory ends")


def _tick(value: float, symbol: Symbol) -> str:
    """A value beside the upright axis, without its unit where there is no room for that: the name of the axis has it."""
    written = _short(value, symbol)
    return written if len(written) <= WIDEST else f"{value:.3g}"


def _short(value: float, symbol: Symbol) -> str:
    return f"{value:,.0f}" if symbol.counted and float(value).is_integer() else format_quantity(Fraction(value), symbol.unit, 3)


def _says(subject: Answers, line: Line, name: str, by: str) -> str:
    """The value of the case and at both ends."""
    symbol, ends = subject.case.theory.symbol(name), [value for value in line.values if math.isfinite(value)]
    first, last = (format_quantity(Fraction(value), symbol.unit) for value in (ends[0], ends[-1]))
    places = [subject.result(by).plain(), *(_short(place, subject.case.theory.symbol(by)) for place in (line.places[0], line.places[-1]))]
    at = f"At {by} {places[0]}, {name} is {subject.result(name).plain()}; from {places[1]} to {places[2]} it goes from {first} to {last}"
    return "; ".join([at, *unfit(subject)]) + "."
