"""The parts of TTFT and of ITL."""

from __future__ import annotations

import numpy as np

from symroof.analysis.case_summary import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.chart import Axis, Chart, lacking, seconds

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
