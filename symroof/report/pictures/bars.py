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
    every = [c for c in study.cases if c.get("memory_bytes") and c.get("usable_memory")]
    if not every:
        raise lacking("memory", subject, "memory_bytes", "usable_memory")
    if len(every) > MOST_CASES:
        every.sort(key=lambda case: case is not subject)
    cases, left_out, single = every[:MOST_CASES], len(every) - MOST_CASES, len(study.cases) == 1
    told = [_needed_of_usable(case) for case in cases]
    names = [short_label(case) for case in cases]
    words = "; ".join(f"{name}: {own}" for name, own in zip(names, told, strict=True))
    needed, usable = (
        np.array([float(case.case.value(name)) for case in cases])
        for name in ("memory_bytes", "usable_memory")
    )
    room = 1.45 if any(case.does_not_fit for case in cases) else 1.28
    chart = Chart(
        "memory",
        case_title(subject) if single else compared(study.cases, f"{len(cases)} cases"),
        f"Weights, cache and reserve as one bar, with a line at usable memory, {words}",
        _fitting(every),
        Axis("GB", 0, max(*needed, *usable) / GIGABYTE * room, "{:,.4g}".format, 0),
        rows=names,
        notes=[f"Left out: {left_out} further cases."] if left_out > 0 else [],
        does_not_fit=single and subject.does_not_fit,
        headline=f"{told[0]}: memory needed and usable" if single else "",
    )
    _parts(chart, cases)
    chart.data["usable memory"] = usable
    for row, case in enumerate(cases):
        needs, most = needed[row] / GIGABYTE, usable[row] / GIGABYTE
        chart.curve("", [(most, row - 0.42), (most, row + 0.42)], "ink", "-", 1.8)
        written, of = (case.result(n).in_two(DIGITS)[0] for n in ("memory_bytes", "usable_memory"))  # fmt: skip
        if case.does_not_fit:
            text = f"{written} of {of}:\ndoes not fit"
            chart.text(max(needs, most), row, text, "vermilion", weight="bold")
        elif needs + 0.16 * chart.x.high < most:
            chart.text(needs, row, written)
            chart.text(most, row, of, "faint")
        else:
            chart.text(most, row, f"{written} of {of}")
    return chart


def _parts(chart: Chart, cases: list[BoundCase]) -> None:
    """The parts of each case as one bar, and a legend above them."""
    chart.data["case"] = np.array(chart.rows)
    starts, step = np.zeros(len(cases)), chart.x.high / 5
    words = []
    for name, word in memory_parts(cases).items():
        sizes = np.array([float(memory_part(name, case).value) for case in cases])
        if sizes.any():
            chart.data[word] = sizes
            for row, (start, size) in enumerate(zip(starts, sizes / GIGABYTE, strict=True)):
                chart.bar(row, start, start + size, COLOURS[word])
            chart.bar(-0.75, len(words) * step, (len(words) + 0.18) * step, COLOURS[word])
            starts += sizes / GIGABYTE
            words.append(word)
    line = (len(words) + 0.1) * step
    chart.curve("", [(line, -0.95), (line, -0.55)], "ink", "-", 1.8)
    for i, word in enumerate([*words, "usable"]):
        chart.text((i + 0.2) * step, -0.72, word)


def _needed_of_usable(case: BoundCase) -> str:
    needed, usable = (case.result(name).plain(DIGITS) for name in ("memory_bytes", "usable_memory"))
    return f"{needed} of {usable}{', does not fit' if case.does_not_fit else ''}"


def _fitting(cases: list[BoundCase]) -> list[str]:
    """How many of the cases fit."""
    fitting = sum(not case.does_not_fit for case in cases)
    if len(cases) == 1:
        return ["it fits" if fitting else "it does not fit"]
    if fitting == len(cases):
        return ["every case fits"]
    return [f"{fitting or 'none'} of {len(cases)} cases {'fit' if fitting > 1 else 'fits'}"]


def waterfall(way: Waterfall, start: str, end: str) -> Chart:
    """A bar for each of two values, and one for each step between them, from the top down."""
    drawn, together, rest = _split(way)
    steps = [(step_in_words(s), float(s.effect), float(s.factor) if s.factor else None) for s in drawn]  # fmt: skip
    steps += [(f"{len(rest)} smaller steps", together, None)] if together else []
    unit, (low, high) = way.symbol.unit, _axis_ends(way)
    chart = Chart(
        "waterfall",
        f"{start} to {end}",
        "Two bars for both values and one for each difference between them, in the order in which they are applied.",
        _found_on(way),
        Axis(way.symbol.name, low, high + 0.3 * (high - low), in_unit(unit), 0),
        rows=[start, *(words for words, _, _ in steps), end],
        notes=[f"Mistake of {step.slip}." for step in drawn if step.slip],
        does_not_fit=DOES_NOT_FIT in (*way.start.flags, *way.end.flags),
    )
    if rest and not together:
        words = "; ".join(map(step_in_words, rest))
        chart.notes.append(f"Without a bar, less than 0.1 % together: {words}.")
    if low > 0:
        chart.notes.append(f"The axis starts at {in_unit(unit)(low)}, not at zero.")
    last = float(way.end.value)
    reached = [float(way.start.value)]
    for row, (_, effect, factor) in enumerate(steps, start=1):
        before, after = reached[-1], reached[-1] + effect
        times = "" if factor is None else f"  × {significant(factor, DIGITS)}"
        sign = "+" if effect >= 0 else ""
        chart.curve("", [(before, row - 1), (before, row)], "faint", "-", 0.6)
        chart.bar(row, before, after, "vermilion" if effect > 0 else "blue")
        words = f"{sign}{format_quantity(effect, unit, DIGITS)}{times}"
        chart.text(max(before, after), row, words)
        reached.append(after)
    for row, value in ((0, reached[0]), (len(steps) + 1, last)):
        chart.bar(row, low, value, "faint")
        chart.text(value, row, format_quantity(value, unit, DIGITS), weight="bold")
    chart.data |= {"step": np.array(chart.rows), "after": np.array([*reached, last])}
    return chart


def step_in_words(step: WaterfallStep) -> str:
    """The changes of a step: ``overhead per layer 61.1 to 117 µs -> 0 s``."""
    return ", ".join(map(_change_in_words, step.changes))


def _change_in_words(change: CaseDifference) -> str:
    if change.kind == "rest" or ": " in change.name or change.kind == "definition":
        return change.label
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
