"""The regime map: batch across, context up; where compute and where memory limits decode, what fits, what meets the target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plural
from symroof.report.pictures.chart import Axis, Chart, counted, lacking, seconds
from symroof.report.pictures.curves import requests
from symroof.report.pictures.regime_map import Regimes
from symroof.report.pictures.regime_map import regimes as regimes_of

EDGE = 0.75
"""The batch axis starts at this factor of its first batch, so that a batch of 1 is not on the axis."""
LINES = {
    "ridge": ("green", "-", 1.8, ("ridge: compute time = memory time", "ridge: compute time\n= memory time", "ridge")),
    "memory": ("ink", "-", 1.6, ("memory full",)),
    "target": ("blue", "--", 1.6, ()),
}  # fmt: skip


def regimes(study: Study, subject: BoundCase) -> Chart:
    """The map of one case.

    Raises:
        InputError: its decode times are not known, or no batch moves them.
    """
    found = regimes_of(subject)
    if found is None:
        needed = ("decode_compute_time", "decode_memory_time", "peak_context")
        none = "no batch moves its decode times"
        raise lacking("regimes", subject, *needed, otherwise=none)
    within = f", {subject.range_position}" if subject.corners else ""
    chart = Chart(
        "regimes",
        case_title(subject),
        "What limits a decode step, over batch and context, both logarithmic.",
        _found(found, subject),
        Axis("batch (requests)", found.batches[0] * EDGE, found.batches[1], counted, 2),
        Axis("context of every request (tokens)", *found.contexts, counted, 2),
        notes=[
            f"The case climbs from the context of its first step to that of its last, where memory and target are tested. Every line is solved{within}."
        ],
        does_not_fit=subject.does_not_fit,
    )
    batch, (first, last) = float(found.batch), found.climb
    chart.curve("case", [(batch, first), (batch, last * 1.0001)], "vermilion", "-", 2.6)
    spot = [(batch, last)]
    chart.spots("this case", spot, "D", "vermilion", 8, labels=("this case",), bold=True)
    _regions(chart, found)
    _lines(chart, found, subject)
    return chart


def _regions(chart: Chart, found: Regimes) -> None:
    """What limits where, and what does not fit."""
    low, high, bottom, top = chart.x.low, chart.x.high, chart.y.low, chart.y.high
    never = top if found.beyond is None else min(max(float(found.beyond), bottom), top)
    for name, colour, share, words in (
        ("ridge", "orange", 0.32, ("compute-bound", "compute-\nbound")),
        ("memory", "pale", 0, ("does not fit", "does\nnot fit")),
    ):
        if name in found.lines:
            ends = _clipped(found.lines[name], low, high)
            outline = [*ends, (high, ends[-1][1]), (high, ends[0][1])]
            chart.area(outline, colour, share, words, hatch=share == 0)
    ridge = [end for end in _clipped(found.lines["ridge"], low, high) if end[1] <= never]
    if ridge:
        outline = [(low, bottom), *ridge, (ridge[-1][0], never), (low, never)]
        chart.area(outline, "sky", 0.16, ("memory-bound",))
    if never < top:
        beyond = ("memory-bound:\nno batch reaches the ridge",)
        corners = [(low, never), (high, never), (high, top), (low, top)]
        chart.area(corners, "blue", 0.16, beyond)
        chart.level("beyond", never, "green", ":")


def _lines(chart: Chart, found: Regimes, subject: BoundCase) -> None:
    """The solved lines with their labels."""
    low, high = found.batches
    target = subject.targets.get("itl")
    for name, line in found.lines.items():
        colour, dash, width, words = LINES[name]
        shown = [(b, context) for context, b in line if math.isfinite(b) or b == 0]
        if name == "target" and target is not None:
            words = (f"ITL target {seconds(float(target))}",)
            if all(batch < 1 for batch, _ in shown):
                words = (f"ITL above {seconds(float(target))} everywhere",)
        chart.curve(
            name, _clipped(found.lines[name], low / 4, high * 4, True), colour, dash, width, words
        )


def _clipped(line: Any, low: float, high: float, finite: bool = False) -> list[tuple[float, float]]:
    """A line as batches and contexts, its batches kept within two ends."""
    kept = [(c, b) for c, b in line if not finite or math.isfinite(b)]
    return [(float(np.clip(batch, low, high)), float(context)) for context, batch in kept]


def _found(found: Regimes, subject: BoundCase) -> list[str]:
    """What limits the case, and the batches of the lines at its context."""
    context = found.climb[1]
    ridge, memory, target = (found.at(name, context) for name in ("ridge", "memory", "target"))
    texts = [f"decode of {requests(found.batch)} at a context of {_tokens(context)}"]
    if ridge is not None and math.isinf(ridge):
        texts[0] += " is memory-bound: no batch reaches the ridge there"
    elif ridge is not None:
        limit = "compute" if found.batch > ridge else "memory"
        texts[0] += f" is {limit}-bound: the ridge there lies at batch {_count(ridge)}"
    if memory is not None:
        held = "none" if memory < 1 else f"a batch of {_count(memory)}"
        gone = ", so the case does not fit" if subject.does_not_fit else ""
        texts.append(f"memory holds {held}{gone}")
    if target is not None:
        allowed = "none" if target < 1 else f"a batch of {_count(target)}"
        allowed = "any batch" if math.isinf(target) else allowed
        texts.append(f"the ITL target allows {allowed}")
    if found.beyond is not None:
        texts.append(f"beyond a context of {_tokens(found.beyond)} no batch reaches the ridge")
    return texts


def _count(number: float) -> str:
    return f"{math.floor(number):,}" if math.isfinite(number) else "any"


def _tokens(number: float) -> str:
    return f"{_count(number)} {plural('token', math.floor(number))}"
