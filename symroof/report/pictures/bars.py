"""Bars: the memory of every case against what is usable, the parts of TTFT and of ITL, a waterfall from one case's number to another's, and swings as each input goes from its low to its high value."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from symroof.analysis.case_summary import case_title
from symroof.analysis.derivation import FIXED
from symroof.analysis.study import Study
from symroof.analysis.verdict import under_load
from symroof.analysis.waterfall import Waterfall, signed_text
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import DOES_NOT_FIT, Result
from symroof.report.field_names import QUANTITIES_BY_NAME, input_name, short_label
from symroof.report.pictures.chart import Axis, Chart, in_unit, lacking, seconds
from symroof.report.pictures.curves import along, compared
from symroof.report.review_sections import decision_metrics, memory_part, memory_parts
from symroof.theory.symbols import SHARES, base_name
from symroof.units import format_quantity, significant

COLOURS = {"weights": "blue", "cache": "orange", "state": "green", "reserve": "pale"}
MOST_CASES = 12
GIGABYTE = 1e9
MOST_STEPS, NEGLIGIBLE = 14, 0.001
"""The most steps, and the share of the larger value from which on a step has a bar of its own: smaller ones share one, or have none."""
DIGITS = 3


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
    names = [short_label(case) for case in cases]
    told = [_needed_of_usable(case) for case in cases]
    words = "; ".join(f"{name}: {own}" for name, own in zip(names, told, strict=True))
    needed, usable = (
        np.array([float(case.case.value(name)) for case in cases])
        for name in ("memory_bytes", "usable_memory")
    )
    chart = Chart(
        "memory",
        case_title(subject) if single else compared(study.cases, f"{len(cases)} cases"),
        f"Weights, cache and reserve as one bar, with a line at usable memory, {words}",
        [f"memory: {told[0]}"] if single else [_fitting(every)],
        Axis("GB", 0, max(*needed, *usable) / GIGABYTE * 1.5, "{:,.4g}".format, 0),
        rows=names,
        notes=[f"Left out: {left_out} further cases."] if left_out > 0 else [],
        does_not_fit=single and subject.does_not_fit,
    )
    _parts(chart, cases)
    chart.data["usable memory"] = usable
    for row, case in enumerate(cases):
        needs, most = needed[row] / GIGABYTE, usable[row] / GIGABYTE
        chart.curve("", [(most, row - 0.42), (most, row + 0.42)], "ink", "-", 1.8, "usable")
        colour = "vermilion" if case.does_not_fit else "ink"
        chart.text(max(needs, most), row, told[row], colour)
    return chart


def _parts(chart: Chart, cases: list[BoundCase]) -> None:
    chart.data["case"] = np.array(chart.rows)
    starts = np.zeros(len(cases))
    for name, word in memory_parts(cases).items():
        sizes = np.array([float(memory_part(name, case).value) for case in cases])
        if sizes.any():
            chart.data[word] = sizes
            for row, (start, size) in enumerate(zip(starts, sizes / GIGABYTE, strict=True)):
                chart.bar(row, start, start + size, COLOURS[word], word)
            starts += sizes / GIGABYTE


def _needed_of_usable(case: BoundCase) -> str:
    needed, usable = (case.result(n).in_two(DIGITS)[0] for n in ("memory_bytes", "usable_memory"))
    return f"{needed} of {usable}{', does not fit' if case.does_not_fit else ''}"


def _fitting(cases: list[BoundCase]) -> str:
    fitting = sum(not case.does_not_fit for case in cases)
    of = f"{fitting or 'none'} of {len(cases)} cases {'fit' if fitting > 1 else 'fits'}"
    return "every case fits" if fitting == len(cases) else of


def waterfall(way: Waterfall, start: str, end: str) -> Chart:
    """A bar for each of two values, and one for each step between them, from the top down."""
    least = NEGLIGIBLE * max(abs(way.start.value), abs(way.end.value))
    most = sorted(way.steps, key=lambda step: -abs(step.effect))[:MOST_STEPS]
    drawn = [step for step in way.steps if step in most and abs(step.effect) >= least]
    rest = [step for step in way.steps if step not in drawn]
    together = float(sum(step.effect for step in rest))
    steps = [(s.label, float(s.effect), float(s.factor) if s.factor else None) for s in drawn]
    if abs(together) >= least:
        steps.append((f"{len(rest)} smaller steps", together, None))
    unit, first, last = way.symbol.unit, float(way.start.value), float(way.end.value)
    reached = [first, *(first + sum(e for _, e, _ in steps[: i + 1]) for i in range(len(steps)))]
    low, high = min(0.0, *reached, last), max(0.0, *reached, last)
    chart = Chart(
        "waterfall",
        f"{start} to {end}",
        "Two bars for both values and one for each difference between them, in the order in which they are applied.",
        _found_on(way),
        Axis(way.symbol.name, low, (high or 1.0) + 0.3 * (high - low), in_unit(unit), 0),
        rows=[start, *(words for words, _, _ in steps), end],
        notes=[f"Mistake of {step.slip}." for step in drawn if step.slip],
        does_not_fit=DOES_NOT_FIT in (*way.start.flags, *way.end.flags),
    )
    for row, (_, effect, factor) in enumerate(steps, start=1):
        before, after = reached[row - 1], reached[row]
        times = "" if factor is None else f"  × {significant(factor, DIGITS)}"
        chart.curve("", [(before, row - 1), (before, row)], "faint", "-", 0.6)
        chart.bar(row, before, after, "vermilion" if effect > 0 else "blue")
        chart.text(max(before, after), row, f"{signed_text(effect, unit, DIGITS)}{times}")
    for row, value in ((0, first), (len(steps) + 1, last)):
        chart.bar(row, 0.0, value, "faint")
        chart.text(value, row, format_quantity(value, unit, DIGITS), weight="bold")
    chart.data |= {"step": np.array(chart.rows), "after": np.array([*reached, last])}
    return chart


def _found_on(way: Waterfall) -> list[str]:
    unit = way.symbol.unit
    most = sorted(way.steps, key=lambda step: -abs(step.effect))[:3]
    moved = [f"{step.label}: {signed_text(step.effect, unit)}" for step in most]
    name = QUANTITIES_BY_NAME.get(way.symbol.name, way.symbol.name)
    goes = f"{name} goes from {way.start.text()} to {way.end.text()}"
    return [goes, *moved] if moved else [f"{goes}, nothing moves it"]


MOST_INPUTS = 12
"""Maximum inputs; weaker ones are listed in a note."""
STEP = 0.1
"""How far an input without a range goes up and down."""
LEAST = 0.01
"""Swings of a smaller share of the value are not drawn."""
SIDE, GAP = 0.31, 0.03
"""Shares of a metric's width for the numbers beside its bars, and between metrics."""


class Swing(NamedTuple):
    """An input with its low and its high value, what each metric that it moves is there (NaN where it has no value), and the share by which it is moved."""

    name: str
    low: float
    high: float
    ends: dict[str, Any]
    moved: dict[str, float]


def tornado(study: Study, subject: BoundCase) -> Chart:
    """The swings of one case.

    Raises:
        InputError: the case has neither latency, or nothing moves them.
    """
    every, found = swings(subject), []
    if not every:
        raise lacking("tornado", subject, "ttft", "itl")
    metrics = {m: w for m, w in metrics_moved(subject).items() if any(m in s.ends for s in every)}
    for metric, word in metrics.items():
        most = max(every, key=lambda swing: swing.moved.get(metric, 0.0))
        found.append(f"{word} moves most with {input_name(most.name, subject).partition(':')[0]}")
    shown = every[:MOST_INPUTS]
    chart = Chart(
        "tornado",
        case_title(subject),
        "A bar for each input from what a metric is at its low value to what it is at its high value, the largest swing first.",
        found,
        Axis("", 0, len(metrics), str, 0),
        rows=[f"{input_name(s.name, subject)}\n{span_in_words(subject, s)}" for s in shown],
        notes=[
            f"Each input alone goes from its low to its high value: the ends of its range, or {STEP * 100:.0f} % down and up where it has none."
        ],
        does_not_fit=subject.does_not_fit,
    )
    if weaker := [input_name(swing.name, subject) for swing in every[MOST_INPUTS:]]:
        chart.notes.append(f"Weaker, not drawn: {', '.join(weaker)}.")
    chart.data["input"] = np.array([swing.name for swing in shown])
    for column, (metric, word) in enumerate(metrics.items()):
        _panel(chart, subject, metric, word, shown, column)
    return chart


def metrics_moved(subject: BoundCase) -> dict[str, str]:
    """The metrics that targets apply to, with their names."""
    names, load = decision_metrics(subject), " under load" * under_load(subject.case)
    cost = {"cost_per_mtok": "cost per million tokens"}
    return {names["ttft"]: f"TTFT{load}", names["itl"]: f"ITL{load}"} | cost


def swings(subject: BoundCase) -> list[Swing]:
    """Every adjustable input that moves a metric noticeably, the largest swing first."""
    metrics = [metric for metric in metrics_moved(subject) if subject.get(metric) is not None]
    names = dict.fromkeys(name for metric in metrics for name in subject.case.inputs_used(metric))
    found = []
    for name in names:
        if base_name(name) in FIXED or name in metrics:
            continue
        low, high = _ends(name, subject)
        ends = {m: along(subject.case, m, name, [low, high]) for m in metrics}
        moved = {}  # how far the ends lie from the value, as a share of it
        for m, pair in ends.items():
            base, finite = subject.case.value(m), [end for end in pair if math.isfinite(end)]
            share = max((abs(end - base) / base for end in finite if base), default=0.0)
            if share >= LEAST:
                moved[m] = share
        if moved:
            found.append(Swing(name, low, high, {m: ends[m] for m in moved}, moved))
    return sorted(found, key=lambda swing: -max(swing.moved.values()))


def _ends(name: str, subject: BoundCase) -> tuple[float, float]:
    """The low and the high value of an input: its range or list prices, else a step down and up; a count stays whole, a share below one."""
    if name in subject.box:
        return float(subject.box[name][0]), float(subject.box[name][1])
    if name == "price" and subject.list_prices:
        return float(subject.list_prices[0]), float(subject.list_prices[1])
    value = float(subject.case.value(name))
    low, high = value * (1 - STEP), value * (1 + STEP)
    if subject.case.theory.symbol(name).counted:
        far = value * STEP >= 1
        low, high = (round(low), round(high)) if far else (max(value - 1, 1.0), value + 1)
    return float(low), float(min(high, 1.0) if name in SHARES else high)


def span_in_words(subject: BoundCase, swing: Swing) -> str:
    """``922 to 1,126 tokens``: the low and the high value of an input."""
    symbol = subject.case.theory.symbol(swing.name)
    low, high = (Result(symbol, value).plain(3) for value in (swing.low, swing.high))
    unit = high.partition(" ")[2]
    return f"{low.removesuffix(f' {unit}') if unit else low} to {high}"


def _panel(
    chart: Chart, subject: BoundCase, metric: str, word: str, rows: list[Swing], column: int
) -> None:
    """The bars of one metric around its value, with a number at each end, in a column of the picture."""
    base, symbol = float(subject.case.value(metric)), subject.case.theory.symbol(metric)
    pairs = np.array([s.ends.get(metric, (math.nan, math.nan)) for s in rows])
    values = [base, *pairs[np.isfinite(pairs)]]
    low, span = min(values), max(max(values) - min(values), 1e-300)
    places = column + SIDE + (1 - 2 * SIDE - GAP) * (pairs - low) / span
    middle = column + SIDE + (1 - 2 * SIDE - GAP) * (base - low) / span
    for place, side in enumerate(("low", "high")):
        chart.data[f"{metric} at {side}"] = pairs[:, place]
    chart.curve("", [(middle, -0.36), (middle, len(rows) - 0.5)], "faint", "-", 0.8)
    head = f"{word}\n{Result(symbol, base).plain(3)}"
    chart.text(column + 0.5 - GAP / 2, -0.85, head, weight="bold", ha="center")
    for row, (pair, ends) in enumerate(zip(pairs, places, strict=True)):
        for end, colour, side in zip(ends, ("blue", "orange"), ("low", "high"), strict=True):
            if math.isfinite(end):
                chart.bar(row, middle, end, colour, f"at the {side} value")
        known = [*zip(pair[np.isfinite(pair)], ends[np.isfinite(pair)], strict=True)]
        # the lowest below the value and the highest above it: of two on one side the farther
        labelled = [(*min(known), "right"), (*max(known), "left")] if known else []
        for value, end, beside in labelled:
            if (base - value if beside == "right" else value - base) > LEAST / 10 * base:
                chart.text(end, row, Result(symbol, value).plain(3), ha=beside, size=7)


# ------------------------------------------------------------------------------------------------ parts of a latency

PARTS = {
    "ttft": {
        "prefill_roofline_time": "reading the prompt",
        "prefill_link_time": "GPU links",
        "prefill_overhead": "overheads",
        "time_outside_steps": "server",
    },
    "itl": {
        "decode_roofline_time": "weights and other work",
        "decode_link_time": "GPU links",
        "decode_overhead": "overheads",
    },
}
"""The quantities that a latency is the sum of, with their words; what pipeline stages wait for one another is left."""
CACHE, WAITING = "KV cache", "other pipeline stages"
SHOWN = 0.001
"""A part of a smaller share of the latency is not drawn."""
OF_PARTS = ("blue", "orange", "green", "vermilion", "sky", "faint", "pale")


def parts(study: Study, subject: BoundCase) -> Chart:
    """The parts of TTFT and ITL, one request alone and a step of the batch, as shares of each.

    Raises:
        InputError: the case has neither.
    """
    latencies = [
        name for name in PARTS if subject.get(name) is not None and subject.case.value(name) > 0
    ]
    if not latencies:
        raise lacking("parts", subject, "ttft", "itl")
    shown = {name: _parts_of(subject, name) for name in latencies}
    words = [*dict.fromkeys(word for each in shown.values() for word in each)]
    totals = {name: float(subject.case.value(name)) for name in latencies}
    said = []
    for name, each in shown.items():
        largest = max(each, key=lambda word: each[word])
        of = f"{seconds(each[largest])} of {seconds(totals[name])}"
        said.append(f"{name.upper()}: mostly {largest}, {of}")
    chart = Chart(
        "parts",
        case_title(subject),
        "A bar for TTFT and one for ITL, each cut into the times that it is the sum of.",
        said,
        Axis("share of the latency (%)", 0, 140, "{:.0f}".format, 0),
        rows=[name.upper() for name in latencies],
        does_not_fit=subject.does_not_fit,
    )
    chart.data["part"] = np.array(words)
    for row, (name, each) in enumerate(shown.items()):
        chart.data[name] = np.array([each.get(word, 0.0) for word in words])
        start = 0.0
        for word, part in each.items():
            end = start + 100 * part / totals[name]
            chart.bar(row, start, end, OF_PARTS[words.index(word)], word)
            start = end
        chart.text(start, row, subject.result(name).plain(3))
    return chart


def _parts_of(subject: BoundCase, latency: str) -> dict[str, float]:
    """The parts of a latency that take time, in seconds."""
    case = subject.case
    found = {
        word: float(case.value(name))
        for name, word in PARTS[latency].items()
        if case.has_value(name)
    }
    if latency == "itl" and case.has_value("context"):
        work = PARTS["itl"]["decode_roofline_time"]
        cached = found[work] - float(case.changed({"context": 1}).value("decode_roofline_time"))
        found = {work: found.pop(work) - cached, CACHE: cached, **found}
    found[WAITING] = float(case.value(latency)) - sum(found.values())
    least = SHOWN * float(case.value(latency))
    return {word: part for word, part in found.items() if part > least}
