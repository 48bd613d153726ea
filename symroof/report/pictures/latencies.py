"""TTFT against the prompt, and ITL against the context: where memory ends, the target is met, and compute and memory take as long; and the parts of both."""

from __future__ import annotations

import math

import numpy as np

from symroof.analysis.case_titles import case_title, range_position
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
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

FURTHEST = 64.0
"""Factor from the case's own length beyond which a solved one is only mentioned in the text."""


def ttft(study: Study, subject: BoundCase) -> Chart:
    """TTFT of one case against the prompt.

    Raises:
        InputError: the case has no TTFT, or no prompt moves it.
    """
    if subject.get("ttft") is None or "prompt" not in subject.case.inputs_used("ttft"):
        raise lacking("ttft", subject, "ttft", otherwise="no prompt moves its TTFT")
    taken, prompt = with_bound(subject, "ttft"), int(subject.case.value("prompt"))
    says = f"the first token of a prompt of {prompt:,} tokens takes {taken}"
    return _over_length("ttft", "time to first token", subject, "prompt", says, case_title(subject))


def itl(study: Study, subject: BoundCase) -> Chart:
    """ITL of one case against the context, at the last step of a response.

    Raises:
        InputError: the case has no ITL, or no context moves it.
    """
    there = at_last_step(subject) if known(subject, "itl", "peak_context") else None
    if there is None or "context" not in there.case.inputs_used("itl"):
        raise lacking("itl", subject, "itl", "peak_context", otherwise="no context moves its ITL")
    step = f"a step of {requests(there.case.value('batch'))} takes {with_bound(there, 'itl')}"
    says = f"{step} at a context of {int(there.case.value('context')):,} tokens"
    return _over_length("itl", "inter-token latency", there, "context", says, case_title(subject))


def _over_length(
    metric: str, words: str, subject: BoundCase, by: str, says: str, title: str
) -> Chart:
    """A latency against a length, with its solved limits."""
    own = float(subject.case.value(by)), float(subject.case.value(metric))
    bounds = Bounds.of(metric, subject, by)
    near = [p.value for p in bounds.limits if own[0] / FURTHEST < p.value < own[0] * FURTHEST]
    low = max(1.0, next_power_of_two(min([own[0] / 8, *(x / 3 for x in near)])) / 2)
    high = next_power_of_two(max([own[0] * 4, 64, *(x * 2 for x in near)]))
    points = log_spaced(low, high, [place.value for place in bounds.limits])
    values, lowest = along(subject.case, metric, by, points), at_peak(subject, metric, by, points)
    shown = [x for x in (*values, *lowest[:, 1], bounds.goal or 0) if math.isfinite(x) and x > 0]
    if own[1] <= 0 or not shown:
        why = f"its {metric.upper()} is zero, which a logarithmic axis does not show"
        raise lacking(metric, subject, otherwise=why)
    solved = "Both axes are logarithmic. Every crossing is solved"
    if subject.corners:
        solved += f", {range_position(subject)}; the band is what the ranges span"
    chart = Chart(
        metric,
        title,
        f"{words.capitalize()} against the {by}, from {low:,.0f} to {high:,.0f} tokens, both axes logarithmic.",
        [says, *bounds.allow("token")],
        Axis(f"{by} (tokens)", low, high, counted, 2),
        Axis(words, min(shown) / 1.6, max(shown) * 1.5, seconds),
        notes=[f"{solved}."],
        does_not_fit=subject.does_not_fit,
    )
    if bounds.target and bounds.target.value > bounds.edge:
        chart.notes.append("† does not fit in memory.")
    chart.spots(
        "this case",
        [own],
        "D",
        "vermilion",
        8,
        label=f"this case: {subject.result(metric).plain()}",
    )
    chart.area(band(subject, metric, by, points), "blue", 0.3)
    draw_line(chart, np.column_stack([points, values]), bounds.edge)
    bounds.draw(chart)
    chart.curve(AT_PEAK, lowest, "blue", ":", 1.1, "theoretical minimum")
    return chart


PARTS = {
    "ttft": {"prefill_roofline_time": "reading the prompt", "prefill_link_time": "GPU links",
             "prefill_overhead": "overheads", "time_outside_steps": "server"},
    "itl": {"decode_roofline_time": "weights and other work", "decode_link_time": "GPU links",
            "decode_overhead": "overheads"},
}  # fmt: skip
"""The quantities that a latency is the sum of, with their words; what pipeline stages wait for one another is left."""
CACHE, WAITING = "KV cache", "other pipeline stages"
LEAST = 0.001
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
    largest = {name: max(each, key=lambda word: each[word]) for name, each in shown.items()}
    said = [
        f"of {name.upper()}, {subject.result(name).plain(3)}, {seconds(each[largest[name]])} is {largest[name]}"
        for name, each in shown.items()
    ]
    chart = Chart(
        "parts",
        case_title(subject),
        "A bar for TTFT and one for ITL, each cut into the times that it is the sum of.",
        said,
        Axis("share of the latency (%)", 0, 140, "{:.0f}".format, 0),
        rows=[name.upper() for name in latencies],
        does_not_fit=subject.does_not_fit,
        headline=f"{'; '.join(f'{name.upper()}: mostly {largest[name]}' for name in latencies)}",
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
    least = LEAST * float(case.value(latency))
    return {word: part for word, part in found.items() if part > least}
