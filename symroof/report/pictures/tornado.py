"""Swings of TTFT, ITL and cost as each input goes from its low to its high value, the largest first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.sensitivity import FIXED
from symroof.analysis.study import Study
from symroof.analysis.verdict import at_rate, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.report.field_names import input_name
from symroof.report.pictures.chart import Axis, Chart, lacking
from symroof.report.pictures.curves import along
from symroof.theory.symbols import SHARES, base_name

COST = {"cost_per_mtok": "cost per million tokens"}
UNDER_LOAD = {"loaded_ttft": "TTFT under load", "sustained_itl": "ITL under load"} | COST
ISOLATED = {"ttft": "time to first token", "itl": "inter-token latency"} | COST
MOST = 12
"""Maximum inputs; weaker ones are listed in a note."""
STEP = 0.1
"""How far an input without a range goes up and down."""
LEAST = 0.01
"""Swings of a smaller share of the value are not drawn."""
SIDE, GAP = 0.31, 0.03
"""Shares of a metric's width for the numbers beside its bars, and between metrics."""


@dataclass(frozen=True)
class Swing:
    """An input with its low and its high value, and what each metric is there; NaN where it has no value."""

    name: str
    low: float
    high: float
    ends: dict[str, Any]


def tornado(study: Study, subject: BoundCase) -> Chart:
    """The swings of one case.

    Raises:
        InputError: the case has neither latency, or nothing moves them.
    """
    every = swings(subject)
    if not every:
        raise lacking("tornado", subject, "ttft", "itl")
    metrics = {m: w for m, w in metrics_of(subject).items() if any(m in s.ends for s in every)}
    shown = every[:MOST]
    names = [input_name(swing.name, subject) for swing in shown]
    leaders, found = _found(subject, every, metrics)
    chart = Chart(
        "tornado",
        case_title(subject),
        "A bar for each input from what a metric is at its low value to what it is at its high value, the largest swing first.",
        found,
        Axis("", 0, len(metrics), str, 0),
        rows=[f"{name}\n{span_in_words(subject, s)}" for name, s in zip(names, shown, strict=True)],
        notes=[
            f"Each input alone goes from its low to its high value: the ends of its range, or {STEP * 100:.0f} % down and up where it has none. "
            "Blue: at the low value. Orange: at the high value."
        ],
        does_not_fit=subject.does_not_fit,
        headline=f"What moves most: {'; '.join(leaders)}",
    )
    if weaker := [input_name(swing.name, subject) for swing in every[MOST:]]:
        chart.notes.append(f"Weaker, not drawn: {', '.join(weaker)}.")
    chart.data["input"] = np.array([swing.name for swing in shown])
    for column, (metric, word) in enumerate(metrics.items()):
        _panel(chart, subject, metric, word, shown, column)
    return chart


def metrics_of(subject: BoundCase) -> dict[str, str]:
    """The metrics that targets apply to, with their names."""
    metrics = UNDER_LOAD if under_load(subject.case) else ISOLATED
    return {at_rate(m, subject.case) if "itl" in m else m: words for m, words in metrics.items()}


def swings(subject: BoundCase) -> list[Swing]:
    """Every adjustable input that moves a metric noticeably, the largest swing first."""
    metrics = [metric for metric in metrics_of(subject) if subject.get(metric) is not None]
    base = {metric: float(subject.case.value(metric)) for metric in metrics}
    names = dict.fromkeys(name for metric in metrics for name in subject.case.inputs_used(metric))
    found = []
    for name in names:
        if base_name(name) in FIXED or name in metrics:
            continue
        low, high = _ends(name, subject)
        pairs = {m: along(subject.case, m, name, [low, high]) for m in metrics}
        ends = {m: pair for m, pair in pairs.items() if _moved(base[m], pair) >= LEAST}
        if ends:
            found.append(Swing(name, low, high, ends))
    return sorted(found, key=lambda s: -max(_moved(base[m], pair) for m, pair in s.ends.items()))


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


def _moved(base: float, ends: Any) -> float:
    """How far the ends lie from a value, as a share of it."""
    return max((abs(end - base) / base for end in ends if base and math.isfinite(end)), default=0.0)


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
    for side, name in enumerate(("low", "high")):
        chart.data[f"{metric} at {name}"] = pairs[:, side]
    chart.curve("", [(middle, -0.36), (middle, len(rows) - 0.5)], "faint", "-", 0.8)
    head = f"{word}\n{Result(symbol, base).plain(3)}"
    chart.text(column + 0.5 - GAP / 2, -0.85, head, weight="bold", ha="center")
    for row, (pair, ends) in enumerate(zip(pairs, places, strict=True)):
        for end, colour in zip(ends, ("blue", "orange"), strict=True):
            if math.isfinite(end):
                chart.bar(row, middle, end, colour)
        known = [*zip(pair[np.isfinite(pair)], ends[np.isfinite(pair)], strict=True)]
        for value, end in (min(known), max(known)) if known else ():
            if abs(value - base) > LEAST / 10 * base:
                side = "right" if value < base else "left"
                chart.text(end, row, Result(symbol, value).plain(3), ha=side, size=7)


def _found(
    subject: BoundCase, every: list[Swing], metrics: dict[str, str]
) -> tuple[list[str], list[str]]:
    """The input that moves each metric most, and those with the largest swings with what it is at their ends."""
    leaders, found = [], []
    for metric, word in metrics.items():
        base, symbol = float(subject.case.value(metric)), subject.case.theory.symbol(metric)
        own = [swing for swing in every if metric in swing.ends]
        own.sort(key=lambda swing: -_moved(base, swing.ends[metric]))
        parts = []
        for swing in own[:3]:
            values = swing.ends[metric]
            ends = [Result(symbol, v).plain(3) if math.isfinite(v) else "no value" for v in values]
            name = input_name(swing.name, subject)
            parts.append(f"{name} {span_in_words(subject, swing)} ({' to '.join(ends)})")
        leaders.append(f"{word} with {input_name(own[0].name, subject).partition(':')[0]}")
        found.append(f"{word} moves most with {', '.join(parts)}")
    found += ["the case does not fit in memory"] if subject.does_not_fit else []
    return leaders, found
