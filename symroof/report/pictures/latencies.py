"""TTFT against the prompt, and the parts of ITL against the context: target, ridge, memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title, range_position
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.report.pictures.chart import Axis, Chart, counted, lacking, seconds
from symroof.report.pictures.curves import (
    AT_PEAK,
    Bounds,
    along,
    at_last_step,
    at_peak,
    band,
    draw_line,
    known,
    log_spaced,
    next_power_of_two,
    requests,
    with_bound,
)
from symroof.units import is_whole

PARTS_OF_TTFT = {"prefill_compute_time": ("compute alone", ":"), "prefill_memory_time": ("memory traffic alone", "-.")}  # fmt: skip
FURTHEST = 64.0
"""Factor from the case's prompt beyond which a solved prompt is only mentioned in the text."""
PER = 1000
"""Tokens of context for the slope of ITL."""
NEAR, STEPS = 32, 40
"""Factor from the case's context beyond which a solved context is only mentioned; points of ITL."""
PARTS_OF_ITL = (("decode_overhead", "overheads"), ("decode_link_time", "links between devices"))
"""Parts of a step that no context moves, from the bottom up; above them are the weights and other work, then the cache."""


def ttft(study: Study, subject: BoundCase) -> Chart:
    """TTFT of one case against the prompt.

    Raises:
        InputError: the case has no TTFT, or no prompt moves it.
    """
    if subject.get("ttft") is None or "prompt" not in subject.case.inputs_used("ttft"):
        raise lacking("ttft", subject, "ttft", otherwise="no prompt moves its TTFT")
    own = float(subject.case.value("prompt")), float(subject.case.value("ttft"))
    bounds = Bounds.of("ttft", subject, "prompt")
    near = [p.value for p in bounds.limits if own[0] / FURTHEST < p.value < own[0] * FURTHEST]
    low = max(1.0, next_power_of_two(min([own[0] / 8, *(x / 3 for x in near)])) / 2)
    high = next_power_of_two(max([own[0] * 4, 64, *(x * 2 for x in near)]))
    points = log_spaced(low, high, [place.value for place in bounds.limits])
    values = along(subject.case, "ttft", "prompt", points)
    lowest = at_peak(subject, "ttft", "prompt", points)
    shown = [*values[np.isfinite(values)], *lowest[:, 1], *filter(None, [bounds.goal])]
    if own[1] <= 0 or not shown:
        why = "its TTFT is zero, which a logarithmic axis does not show"
        raise lacking("ttft", subject, otherwise=why)
    ends = min(x for x in shown if x > 0) / 1.6, max(shown) * 1.5
    chart = Chart(
        "ttft",
        case_title(subject),
        f"Time to first token against the prompt, from {low:,.0f} to {high:,.0f} tokens, both axes logarithmic.",
        _found_ttft(subject, bounds),
        Axis("prompt (tokens)", low, high, counted, 2),
        Axis("time to first token", *ends, seconds),
        notes=[f"Both axes are logarithmic. {_solved(subject)}"],
        does_not_fit=subject.does_not_fit,
    )
    if bounds.target and bounds.target.value > bounds.edge:
        chart.notes.append("† does not fit in memory.")
    words = f"this case: {subject.result('ttft').plain()}"
    chart.spots("this case", [own], "D", "vermilion", 8, label=words)
    chart.area(band(subject, "ttft", "prompt", points), "blue", 0.3)
    for name, (word, dash) in PARTS_OF_TTFT.items() if bounds.ridge else ():
        part = along(subject.case, name, "prompt", points)
        part[part >= 0.97 * values] = np.nan
        chart.curve(name, zip(points, part, strict=True), "faint", dash, 1.1, word)
    draw_line(chart, np.column_stack([points, values]), bounds.edge)
    bounds.draw(chart)
    chart.curve(AT_PEAK, lowest, "blue", ":", 1.1, "theoretical minimum")
    return chart


def _found_ttft(subject: BoundCase, bounds: Bounds) -> list[str]:
    prompt, ridge = int(subject.case.value("prompt")), bounds.ridge
    taken = with_bound(subject, "ttft")
    found = [f"the first token of a prompt of {prompt:,} tokens takes {taken}"]
    found += bounds.allow("token")
    if ridge and ridge.exists:
        found.append(f"from {math.ceil(ridge.value):,} tokens on compute takes longer than memory")
    elif ridge:
        longer = "memory" if ridge.value else "compute"
        found.append(f"{longer} takes longer at every prompt")
    return found


def _solved(subject: BoundCase) -> str:
    solved = "Every crossing is solved"
    if not subject.corners:
        return f"{solved}."
    return f"{solved}, {range_position(subject)}; the band is what the ranges span."


def itl(study: Study, subject: BoundCase) -> Chart:
    """The parts of ITL of one case, and other batches, against the context.

    Raises:
        InputError: the case has no ITL, or no context moves it.
    """
    there = at_last_step(subject) if known(subject, "itl", "peak_context") else None
    if there is None or "context" not in there.case.inputs_used("itl"):
        raise lacking("itl", subject, "itl", "peak_context", otherwise="no context moves its ITL")
    last = float(there.case.value("context"))
    bounds = Bounds.of("itl", there, "context")
    ends = (place.value for place in (bounds.memory, bounds.target) if place)
    high = _even_end([2 * last, 256, *(1.25 * end for end in ends if end < NEAR * last)])
    solved = [p.value for p in bounds.limits if p.exists and p.value < high]
    points = np.unique([1, *(round(high * i / STEPS) for i in range(1, STEPS + 1)), *solved])
    values = along(there.case, "itl", "context", points)
    edges = band(there, "itl", "context", points)
    top = max([*values[np.isfinite(values)], *(y for _, y in edges)])
    goal = bounds.goal if bounds.goal and bounds.goal < 3 * top else 0.0
    chart = Chart(
        "itl",
        case_title(subject),
        f"Inter-token latency against the context, up to {high:,.0f} tokens, both axes even.",
        _found_itl(subject, there, bounds),
        Axis("context of every request (tokens)", 0, high, counted, 0),
        Axis("inter-token latency", 0, max(top, goal) * 1.15, seconds, 0),
        does_not_fit=subject.does_not_fit,
    )
    _case(chart, subject, there)
    _parts(chart, there, points, values)
    chart.area(edges, "blue", 0.3)
    draw_line(chart, np.column_stack([points, values]), bounds.edge)
    own = float(there.case.value("batch"))
    for batch in filter(is_whole, (own / 2, own * 2)):
        other = along(there.case.changed({"batch": batch}), "itl", "context", points)
        name, pairs = f"batch {counted(batch)}", zip(points, other, strict=True)
        chart.curve(name, pairs, "faint", "-.", 1.0, name)
    peak = at_peak(there, "itl", "context", points)
    chart.curve(AT_PEAK, peak, "blue", ":", 1.1, "theoretical minimum")
    bounds.draw(chart)
    chart.notes = [f"Areas, from the bottom up: the parts of a step. {_solved(subject)}"]
    return chart


def _even_end(ends: list[float]) -> float:
    """The first of five even round steps that reaches beyond some values."""
    most = max(ends)
    size = 10.0 ** math.floor(math.log10(most / 5))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10, 20) if most / (size * factor) < 5)
    return 5 * step


def _constant_parts(there: BoundCase) -> list[tuple[str, str, float]]:
    """The parts of a step that no context moves and that take time: name, words, seconds."""
    return [
        (name, words, float(there.case.value(name)))
        for name, words in PARTS_OF_ITL
        if known(there, name) and there.case.value(name) > 0
    ]


def _parts(chart: Chart, there: BoundCase, points: Any, values: Any) -> None:
    """The parts of a step as areas, from the bottom up."""
    low, right = 0.0, chart.x.high
    floor = float(values[np.isfinite(values)][0])
    layers = [(*part, "faint", share) for part, share in zip(_constant_parts(there), (0.3, 0.18), strict=False)]  # fmt: skip
    rest = floor - sum(height for _, _, height, _, _ in layers)
    for name, words, height, colour, share in (*layers, ("floor", "weights and other work", rest, "orange", 0.3)):  # fmt: skip
        top = low + height
        corners = [(0, low), (0, top), (right, top), (right, low)]
        chart.area(corners, colour, share, words)
        chart.curve(name, [(0, top), (right, top)], "faint", "-", 0.6)
        low = top
    cache = [*zip(points, values, strict=True), (right, floor)]
    held = f"cache traffic of {requests(there.case.value('batch'))}"
    chart.area([p for p in cache if math.isfinite(p[1])], "sky", 0.45, held)


def _case(chart: Chart, subject: BoundCase, there: BoundCase) -> None:
    """The climb of a response to its last step."""
    x, y = float(there.case.value("context")), float(there.case.value("itl"))
    first = float(subject.case.value("prompt") + 1) if known(subject, "itl_last", "prompt") else x
    result, climbs = subject.get("itl_last") or there.result("itl"), first < x
    own = f"{'last step, as the target is tested' if climbs else 'this case'}: {result.plain(3)}"
    chart.spots("this case", [(x, y)], "D", "vermilion", 8, label=own)
    if climbs:
        start = (first, float(along(there.case, "itl", "context", [first])[0]))
        chart.curve("climb", [start, (x, y)], "vermilion", "-", 3.4, "the steps of one response")


def _found_itl(subject: BoundCase, there: BoundCase, bounds: Bounds) -> list[str]:
    """The last step, the growth with context, target and memory limits."""
    context = int(there.case.value("context"))
    taken = with_bound(subject, "itl_last") if subject.get("itl_last") else with_bound(there, "itl")
    step = f"a step of {requests(there.case.value('batch'))} takes {taken}"
    found = [f"{step} at a context of {context:,} tokens"]
    slopes = [PER * case.slope("itl", "context") for case in (there.case, *there.corners)]
    low, high = (min(slopes), max(slopes)) if there.corners else (None, None)
    flags = (DOES_NOT_FIT,) if there.does_not_fit else ()
    growth = Result(there.case.theory.symbol("itl"), slopes[0], low, high, flags=flags).plain()
    found += [f"{PER:,} tokens more add {growth}", *bounds.allow("token")]
    shares = [f"{seconds(height)} {words}" for _, words, height in _constant_parts(there)]
    found += [f"of a step, {' and '.join(shares)}"] if shares else []
    return found
