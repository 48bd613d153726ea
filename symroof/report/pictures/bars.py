"""Bars: the memory of every case against what is usable, and a waterfall from one case's number to another's."""

from __future__ import annotations

import re

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.differences import CaseDifference
from symroof.analysis.study import Study
from symroof.analysis.waterfall import (
    Waterfall,
    WaterfallStep,
    change_label,
    signed_text,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT
from symroof.report.field_names import QUANTITIES_BY_NAME, name_in_words, short_label
from symroof.report.pictures.chart import Axis, Chart, in_unit, lacking
from symroof.report.pictures.series import compared
from symroof.report.view_case import memory_part, memory_parts
from symroof.units import format_quantity, significant

COLOURS = {"weights": "blue", "cache": "orange", "state": "green", "reserve": "pale"}
MOST_CASES = 12
GIGABYTE = 1e9
MOST_STEPS = 14
"""Maximum steps; smaller ones share a bar."""
NEGLIGIBLE = 0.001
"""Steps of a smaller share of the larger value share a bar, or have none."""
NARROW = 0.5
"""Share of the values below which the axis starts near them instead of at zero."""
DIGITS = 3
RANGE = re.compile(r"^(\S+) (\S+)\.\.(\S+) \2$")
"""A range whose ends have the same unit."""


def memory(study: Study, subject: BoundCase) -> Chart:
    """The memory of the cases of a study, up to ``MOST_CASES``.

    Raises:
        InputError: no case has a size and a capacity.
    """
    every = [
        (case, short_label(case))
        for case in study.cases
        if case.get("memory_bytes") and case.get("usable_memory")
    ]
    if not every:
        raise lacking("memory", subject, "memory_bytes", "usable_memory")
    if len(every) > MOST_CASES:
        every.sort(key=lambda pair: pair[0] is not subject)
    shown, left_out = every[:MOST_CASES], len(every) - MOST_CASES
    cases, names = [case for case, _ in shown], [label for _, label in shown]
    single = len(study.cases) == 1
    room = 1.45 if any(case.does_not_fit for case in cases) else 1.28
    words = "; ".join(_needed_of_usable(case, label) for case, label in shown)
    sizes = {name: np.array([float(case.case.value(name)) for case in cases]) for name in ("memory_bytes", "usable_memory")}  # fmt: skip
    chart = Chart(
        "memory",
        case_title(subject) if single else compared(study.cases, f"{len(shown)} cases"),
        f"Weights, cache and reserve as one bar, with a line at usable memory, {words}",
        _fitting([case for case, _ in every]),
        Axis("GB", 0, max(map(np.max, sizes.values())) / GIGABYTE * room, "{:,.4g}".format, 0),
        rows=names,
        notes=[f"Left out: {left_out} further cases."] if left_out > 0 else [],
        does_not_fit=single and subject.does_not_fit,
    )
    if single:
        chart.headline = (
            f"{_needed_of_usable(cases[0], '').removeprefix(': ')}: memory needed and usable"
        )
    _parts(chart, cases)
    chart.data["usable memory"] = sizes["usable_memory"]
    for row, case in enumerate(cases):
        usable = sizes["usable_memory"][row] / GIGABYTE
        chart.curve("", [(usable, row - 0.42), (usable, row + 0.42)], "ink", "-", 1.8)
        _totals(chart, row, case, sizes["memory_bytes"][row] / GIGABYTE, usable)
    return chart


def _parts(chart: Chart, cases: list[BoundCase]) -> None:
    """The parts of each case as one bar, and a legend above them."""
    chart.data["case"] = np.array(chart.rows)
    starts = np.zeros(len(cases))
    parts = {
        name: word
        for name, word in memory_parts(cases).items()
        if any(case.case.value(name) for case in cases)
    }
    for name, word in parts.items():
        sizes = np.array([float(memory_part(name, case).value) for case in cases])
        chart.data[word] = sizes
        for row, (start, size) in enumerate(zip(starts, sizes / GIGABYTE, strict=True)):
            if size > 0:
                chart.bar(row, start, start + size, COLOURS[word], word)
        starts += sizes / GIGABYTE
    step = chart.x.high / 5
    for i, word in enumerate([*parts.values(), "usable"]):
        left = i * step
        if word == "usable":
            chart.curve(
                "", [(left + 0.1 * step, -0.95), (left + 0.1 * step, -0.55)], "ink", "-", 1.8
            )
        else:
            chart.bar(-0.75, left, left + 0.18 * step, COLOURS[word])
        chart.text(left + 0.2 * step, -0.72, word)


def _totals(chart: Chart, row: int, case: BoundCase, needed: float, usable: float) -> None:
    """The needed bytes at the bar and the usable ones at their line, or both at the line if there is no room."""
    total, most = (
        case.result(name).plain(DIGITS).partition(" (")[0]
        for name in ("memory_bytes", "usable_memory")
    )
    if case.does_not_fit:
        words = f"{total} of {most}:\ndoes not fit"
        chart.text(max(needed, usable), row, words, "vermilion", bold=True)
    elif needed + 0.16 * chart.x.high < usable:
        chart.text(needed, row, total)
        chart.text(usable, row, most, "faint")
    else:
        chart.text(usable, row, f"{total} of {most}")


def _needed_of_usable(case: BoundCase, label: str) -> str:
    needed, usable = (case.result(name).plain(DIGITS) for name in ("memory_bytes", "usable_memory"))
    return f"{label}: {needed} of {usable}{', does not fit' if case.does_not_fit else ''}"


def _fitting(cases: list[BoundCase]) -> list[str]:
    """How many of the cases fit."""
    fitting = sum(not case.does_not_fit for case in cases)
    if len(cases) == 1:
        return ["it fits" if fitting else "it does not fit"]
    if fitting == len(cases):
        return ["every case fits"]
    return [f"{fitting or 'none'} of {len(cases)} cases {'fit' if fitting > 1 else 'fits'}"]


# ------------------------------------------------------------------------------------------- waterfall


def waterfall(way: Waterfall, start: str, end: str) -> Chart:
    """A bar for each of two values, and one for each step between them, from the top down."""
    numbers = [float(side.value) for side in (way.start, way.end)]
    drawn, together, rest = _split(way)
    steps = [
        (step_in_words(step), float(step.effect), float(step.factor) if step.factor else None)
        for step in drawn
    ]
    steps += [(f"{len(rest)} smaller steps", together, None)] if together else []
    unit, name = way.symbol.unit, way.symbol.name
    low, high = _axis_ends(way)
    chart = Chart(
        "waterfall",
        f"{start} to {end}",
        "Two bars for both values and one for each difference between them, in the order in which they are applied.",
        _found_on(way),
        Axis(name, low, high + 0.3 * (high - low), in_unit(unit), 0),
        rows=[start, *(words for words, _, _ in steps), end],
        notes=[f"Mistake of {step.slip}." for step in drawn if step.slip],
        does_not_fit=DOES_NOT_FIT in (*way.start.flags, *way.end.flags),
    )
    if rest and not together:
        words = "; ".join(map(step_in_words, rest))
        chart.notes.append(f"Without a bar, less than 0.1 % together: {words}.")
    if low > 0:
        chart.notes.append(f"The axis starts at {in_unit(unit)(low)}, not at zero.")
    value = numbers[0]
    reached = [value]
    _total(chart, 0, value, low, unit)
    for row, (_, effect, factor) in enumerate(steps, start=1):
        _step(chart, row, value, effect, factor, unit)
        value += effect
        reached.append(value)
    _total(chart, len(steps) + 1, numbers[1], low, unit)
    chart.data |= {"step": np.array(chart.rows), "after": np.array([*reached, numbers[1]])}
    return chart


def _total(chart: Chart, row: int, value: float, low: float, unit: str) -> None:
    chart.bar(row, low, value, "faint")
    chart.text(value, row, format_quantity(value, unit, DIGITS), bold=True)


def _step(
    chart: Chart, row: int, before: float, effect: float, factor: float | None, unit: str
) -> None:
    """A bar from the value before a step to the one after it, joined to the bar above."""
    times = "" if factor is None else f"  × {significant(factor, DIGITS)}"
    words = f"{'+' if effect >= 0 else ''}{format_quantity(effect, unit, DIGITS)}{times}"
    chart.curve("", [(before, row - 1), (before, row)], "faint", "-", 0.6)
    chart.bar(row, before, before + effect, "vermilion" if effect > 0 else "blue")
    chart.text(max(before, before + effect), row, words)


def step_in_words(step: WaterfallStep) -> str:
    """The changes of a step: ``overhead per layer 61.1 to 117 µs -> 0 s``."""
    return ", ".join(map(_change_in_words, step.changes))


def _change_in_words(change: CaseDifference) -> str:
    if change.kind == "rest" or ": " in change.name or change.kind == "definition":
        return change_label(change)
    sides = (change.before, change.after)
    before, after = (RANGE.sub(r"\1 to \3 \2", side).replace("..", " to ") for side in sides)
    return f"{name_in_words(change.name)} {before} -> {after}"


def _split(way: Waterfall) -> tuple[list[WaterfallStep], float, list[WaterfallStep]]:
    """The steps with a bar of their own, what the others add up to if that is noticeable, and the others."""
    least = NEGLIGIBLE * max(abs(way.start.value), abs(way.end.value))
    order = sorted(range(len(way.steps)), key=lambda i: -abs(way.steps[i].effect))
    own = {i for i in order[:MOST_STEPS] if abs(way.steps[i].effect) >= least}
    rest = [step for i, step in enumerate(way.steps) if i not in own]
    together = float(sum(step.effect for step in rest))
    noticeable = abs(together) >= least and together != 0
    return [s for i, s in enumerate(way.steps) if i in own], together if noticeable else 0.0, rest


def _axis_ends(way: Waterfall) -> tuple[float, float]:
    """The ends of the bars: from zero, or from a round value below all of them where these differ little."""
    numbers = [float(n) for step in way.steps for n in (step.before, step.after)]
    numbers += [float(way.start.value), float(way.end.value)]
    low, high = min(numbers), max(numbers)
    if low <= 0 or high - low > NARROW * high or high == low:
        return min(0.0, low), max(0.0, high) or 1.0
    size = 10.0 ** np.floor(np.log10(high - low))
    return float(f"{np.floor((low - (high - low) / 8) / size) * size:.6g}"), high


def _found_on(way: Waterfall) -> list[str]:
    """Both values and the largest steps."""
    unit = way.symbol.unit
    most = sorted(way.steps, key=lambda step: -abs(step.effect))[:3]
    moved = [f"{step.label}: {signed_text(step.effect, unit)}" for step in most]
    name = QUANTITIES_BY_NAME.get(way.symbol.name, way.symbol.name)
    goes = f"{name} goes from {way.start.text()} to {way.end.text()}"
    return [goes, *moved] if moved else [f"{goes}, nothing moves it"]
