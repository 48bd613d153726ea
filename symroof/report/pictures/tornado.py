"""Swings of TTFT, ITL and cost as each input goes from its low to its high value, the largest first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.sensitivity import FIXED
from symroof.analysis.study import Study
from symroof.analysis.verdict import at_rate, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.report.field_names import input_name
from symroof.report.pictures.chart import Axis, Chart, lacking
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.symbols import SHARES, Symbol, base_name

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
    """An input with its low and its high value, and what each metric is there; None where it has no value."""

    name: str
    low: float
    high: float
    ends: dict[str, tuple[float | None, float | None]]


def tornado(study: Study, subject: BoundCase) -> Chart:
    """The swings of one case.

    Raises:
        InputError: the case has neither latency, or nothing moves them.
    """
    every = swings(subject)
    if not every:
        raise lacking("tornado", subject, "ttft", "itl")
    metrics = {m: w for m, w in metrics_of(subject).items() if any(m in s.ends for s in every)}
    shown, symbol = every[:MOST], subject.case.theory.symbol
    spans = [span_in_words(symbol(swing.name), swing) for swing in shown]
    names = [input_name(swing.name, subject) for swing in shown]
    chart = Chart(
        "tornado",
        case_title(subject),
        "A bar for each input from what a metric is at its low value to what it is at its high value, the largest swing first.",
        _found(subject, every, metrics),
        Axis("", 0, len(metrics), str, 0),
        rows=[f"{name}\n{span}" for name, span in zip(names, spans, strict=True)],
        notes=[
            f"Each input alone goes from its low to its high value: the ends of its range, or {STEP * 100:.0f} % down and up where it has none. "
            "Blue: at the low value. Orange: at the high value."
        ],
        does_not_fit=subject.does_not_fit,
    )
    leaders = []
    for metric, word in metrics.items():
        most = _strongest(every, metric, float(subject.case.value(metric)))[0]
        leaders.append(f"{word} with {input_name(most.name, subject).partition(':')[0]}")
    chart.headline = f"What moves most: {'; '.join(leaders)}"
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
        sides = [subject.case.changed({name: value}) for value in (low, high)]
        ends = {m: (_value(sides[0], m), _value(sides[1], m)) for m in metrics}
        ends = {m: pair for m, pair in ends.items() if _moved(base[m], pair) >= LEAST}
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


def _value(case: Case, metric: str) -> float | None:
    try:
        return float(case.value(metric))
    except NoValue:
        return None


def _moved(base: float, ends: Collection[float | None]) -> float:
    """How far the ends lie from a value, as a share of it."""
    far = (abs(end - base) / base for end in ends if end is not None) if base else ()
    return max(far, default=0.0)


def span_in_words(symbol: Symbol, swing: Swing) -> str:
    """``922 to 1,126 tokens``: the low and the high value of an input."""
    low, high = (Result(symbol, value).plain(3) for value in (swing.low, swing.high))
    unit = high.partition(" ")[2]
    return f"{low.removesuffix(f' {unit}') if unit else low} to {high}"


def _panel(
    chart: Chart, subject: BoundCase, metric: str, word: str, rows: list[Swing], column: int
) -> None:
    """The bars of one metric around its value, with a number at each end, in a column of the picture."""
    base, symbol = float(subject.case.value(metric)), subject.case.theory.symbol(metric)
    pairs = [swing.ends.get(metric, (None, None)) for swing in rows]
    values = [base, *(end for pair in pairs for end in pair if end is not None)]
    low, span = min(values), max(max(values) - min(values), 1e-300)

    def across(value: float) -> float:
        return column + SIDE + (1 - 2 * SIDE - GAP) * (value - low) / span

    def written(value: float) -> str:
        return Result(symbol, value).plain(3)

    middle = across(base)
    for side in (0, 1):
        ends = [np.nan if pair[side] is None else pair[side] for pair in pairs]
        chart.data[f"{metric} at {('low', 'high')[side]}"] = np.array(ends, dtype=float)
    chart.curve("", [(middle, -0.36), (middle, len(rows) - 0.5)], "faint", "-", 0.8)
    chart.text(column + 0.5 - GAP / 2, -0.85, f"{word}\n{written(base)}", bold=True, align="center")
    for row, pair in enumerate(pairs):
        known = [end for end in pair if end is not None]
        for end, colour in zip(pair, ("blue", "orange"), strict=True):
            if end is not None:
                chart.bar(row, middle, across(end), colour)
        for value, align in ((min(known), "right"), (max(known), "left")) if known else ():
            if abs(value - base) > LEAST / 10 * base and (value < base) == (align == "right"):
                chart.text(across(value), row, written(value), align=align, size=7)


def _strongest(every: list[Swing], metric: str, base: float) -> list[Swing]:
    own = (swing for swing in every if metric in swing.ends)
    return sorted(own, key=lambda swing: -_moved(base, swing.ends[metric]))[:3]


def _found(subject: BoundCase, every: list[Swing], metrics: dict[str, str]) -> list[str]:
    """The inputs with the largest swings of each metric, and what it is at their ends."""
    found = []
    for metric, word in metrics.items():
        base, symbol = float(subject.case.value(metric)), subject.case.theory.symbol(metric)
        parts = []
        for swing in _strongest(every, metric, base):
            ends = (
                "no value" if e is None else Result(symbol, e).plain(3) for e in swing.ends[metric]
            )
            span = span_in_words(subject.case.theory.symbol(swing.name), swing)
            parts.append(f"{input_name(swing.name, subject)} {span} ({' to '.join(ends)})")
        found.append(f"{word} moves most with {', '.join(parts)}")
    return [*found, "the case does not fit in memory"] if subject.does_not_fit else found
