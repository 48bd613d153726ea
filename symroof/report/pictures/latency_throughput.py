"""Throughput against ITL as the batch grows, with memory limit, target and ridge, for up to four configurations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.chart import Axis, Chart, counted, lacking, seconds
from symroof.report.pictures.curves import (
    AT_PEAK,
    Bounds,
    along,
    log_spaced,
    next_power_of_two,
    requests,
)
from symroof.report.pictures.series import (
    ISOLATED,
    BatchSeries,
    Metrics,
    batch_series,
    compared,
    known,
    metrics_of,
    shown_case,
)
from symroof.report.pictures.styles import SERIES

MOST_LINES = 4
LARGEST, POINTS = 2.0**17, 40


@dataclass(frozen=True)
class ThroughputCurve:
    """Latency and throughput of a configuration, a row a batch, with its solved limits; ``roof`` at 100 % of peak."""

    of: Metrics
    series: BatchSeries
    there: BoundCase
    bounds: Bounds
    batches: Any
    places: Any
    roof: Any

    def at(self, batch: float) -> Any:
        """ITL and throughput of a batch."""
        return places(self.there.case, self.of, [batch])[0]


def places(case: Any, of: Metrics, batches: Any) -> Any:
    """ITL and throughput, a row a batch."""
    return np.column_stack([along(case, name, "batch", batches) for name in (of.itl, of.rate)])


def latency_throughput(study: Study, subject: BoundCase) -> Chart:
    """The subject's configuration and others of the study.

    Raises:
        InputError: no case has an ITL that the batch moves.
    """
    of = metrics_of(study)
    every = [
        one
        for one in batch_series(study)
        if known(one.first, of.itl, of.rate, "peak_context")
        and "batch" in shown_case(one, of).case.inputs_used(of.itl)
    ]
    if not every:
        needed, why = (of.itl, of.rate, "peak_context"), "no batch moves its ITL"
        raise lacking("latency-throughput", subject, *needed, otherwise=why)
    every.sort(key=lambda series: subject not in series.cases)
    curves = [_curve(series, of) for series in every[:MOST_LINES]]
    of_many = f"{len(curves)} of {len(every)}" if len(every) > len(curves) else f"{len(every)}"
    at = "at the context of the last step" if of is ISOLATED else ""
    case = compared(study, f"{of_many} configurations", at)
    first, single = curves[0], len(every) == 1
    across, up = _ends(curves)
    chart = Chart(
        "latency-throughput",
        case_title(subject) if single else case,
        f"Throughput against {of.latency} as the batch grows, both axes logarithmic.",
        [_sentence(made, single) for made in curves],
        Axis(of.latency, *across, seconds),
        Axis(of.of_rate, *up, counted),
        notes=[_legend(curves), of.note],
        does_not_fit=single and first.bounds.edge < 1,
    )
    if left_out := [series.label for series in every[MOST_LINES:]]:
        chart.notes.append(f"Left out: {'; '.join(left_out)}.")
    for goal in _goals(curves):
        chart.shade(chart.x.low, goal, "sky", 0.14)
        chart.upright(f"target {goal:g}", goal, "vermilion", "--", f"ITL target {seconds(goal)}")
    for i, made in enumerate(curves):
        _draw(chart, i, made, len(curves))
    for made in curves:
        _mark(chart, made, few=len(curves) <= 2)
    return chart


def _legend(curves: list[ThroughputCurve]) -> str:
    ridge = any(made.bounds.ridge for made in curves)
    return (
        "Square: the last batch that memory holds; the dashed grey line beyond it, and what is marked †, does not fit. Triangle: the target. "
        + ("Diamond: the ridge batch, from which compute limits. " if ridge else "")
        + "Ring: a batch of the study. Both axes are logarithmic; every mark is solved."
    )


def _curve(series: BatchSeries, of: Metrics) -> ThroughputCurve:
    there = shown_case(series, of)
    bounds = Bounds.of(of.itl, there, "batch", ridge=of is ISOLATED)
    solved = [place.value for place in bounds.limits if place.exists]
    own = series.batches
    reach = next_power_of_two(max([64, *(4 * x for x in own), *(2 * x for x in solved)]))
    batches = log_spaced(1, min(reach, max(LARGEST, 2 * max(own))), [*solved, *own], POINTS)
    peak = places(there.at_peak.case, of, batches) if there.at_peak else np.empty((0, 2))
    return ThroughputCurve(
        of, series, there, bounds, batches, places(there.case, of, batches), peak
    )


def _ends(curves: list[ThroughputCurve]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of both axes: from batch 1 to somewhat beyond the solved limits and the study's batches."""
    shown = []
    for made in curves:
        marks = [p.value for p in (made.bounds.memory, made.bounds.target) if p and p.exists]
        marks += made.series.batches
        ridge = made.bounds.ridge
        if ridge and ridge.exists and ridge.value < 64 * max(marks):
            marks.append(ridge.value)
        seen = made.batches <= 2 * max([8.0, *marks])
        shown += [made.places[seen]]
        shown += [made.roof[seen]] if len(made.roof) and len(curves) <= 2 else []
    latencies, rates = np.concatenate(shown).T
    latencies = [*latencies[np.isfinite(latencies)], *_goals(curves)]
    rates = rates[np.isfinite(rates)]
    ends = min(latencies) / 1.4, max(latencies) * 1.4
    return ends, (float(rates.min()) / 1.6, float(rates.max()) * 1.6)


def _goals(curves: list[ThroughputCurve]) -> list[float]:
    """The ITL targets of the configurations, each once."""
    return sorted({made.bounds.goal for made in curves if made.bounds.goal is not None})


def _draw(chart: Chart, i: int, made: ThroughputCurve, count: int) -> None:
    """One configuration: what fits in its style, the rest dashed and grey."""
    (colour, dash, _), edge = SERIES[i], made.bounds.edge
    name = (made.series.label,) if count > 1 else ()
    fits, beyond = made.places[made.batches <= edge], made.places[made.batches >= edge]
    gone = name if len(fits) < 2 and name else ("does not fit",)
    chart.curve(f"line {i}", fits, colour, dash, 2.2, name, bold=True)
    chart.curve(f"beyond {i}", beyond, "faint", "--", 1.6, gone, needed=gone == name)
    if count <= 2:
        chart.curve(f"bound {i}", made.roof, colour, ":", 1.0, (AT_PEAK, "bound"), needed=i == 0)


def _mark(chart: Chart, made: ThroughputCurve, few: bool) -> None:
    """The solved batches of one configuration, and those of the study."""
    bounds, edge = made.bounds, made.bounds.edge
    own = [made.at(batch) for batch in made.series.batches]
    label = made.series.label
    for name, place, shape, colour in (
        ("memory", bounds.memory, "s", "ink"),
        ("target", bounds.target, "^", "vermilion"),
        ("ridge", bounds.ridge, "D", "ink"),
    ):
        if not place or not place.exists or place.value < 1 or (name == "ridge" and not few):
            continue
        flag = " †" if few and name == "target" and place.value > edge else ""
        words = f"{name}: {place.allows('request')}{flag}"
        count = place.count
        if name == "ridge":
            count = math.ceil(place.value)
            words = f"ridge: {requests(count)}"
        short = f"batch {count:,}{flag}"
        labels = (words, words.replace(": ", ":\n"), short) if few else (short,)
        chart.spots(f"{name} of {label}", [made.at(place.value)], shape, colour, 7, labels=labels)
    chart.spots(f"batches of {label}", own, "o", "ink", 6, True)
    for batch, spot in zip(made.series.batches, own, strict=True) if few else ():
        flag = " †" if batch > edge else ""
        chart.label(spot, (f"batch {counted(batch)}{flag}", counted(batch)), "faint", needed=False)


def _sentence(made: ThroughputCurve, single: bool) -> str:
    """One curve in words: batch limits by memory and target, and the ridge."""
    texts, ridge, bounds = made.bounds.allow("request")[::-1], made.bounds.ridge, made.bounds
    if ridge and ridge.exists:
        texts.append(f"the ridge lies at {requests(math.ceil(ridge.value))}")
    elif ridge:
        texts.append("no batch reaches the ridge" if ridge.value else "compute limits every batch")
    beyond = [batch for batch in made.series.batches if batch > bounds.edge]
    texts += [f"batch {counted(batch)} does not fit" for batch in beyond]
    ends = sorted(
        (place.value, name)
        for place, name in ((bounds.memory, "memory"), (bounds.target, "the target"))
        if place and 1 <= place.value < math.inf
    )
    first = f": {ends[0][1]} ends the batch first" if len(ends) == 2 and not beyond else ""
    where = "under load "
    if made.of is ISOLATED:
        where = f"at a context of {int(made.there.case.value('context')):,} tokens "
    return f"{'' if single else f'{made.series.label}: '}{where}{', '.join(texts)}{first}"
