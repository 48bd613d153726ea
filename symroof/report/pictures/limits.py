"""What limits a step: the roof of one device with both phases and their operators; and, over batch and context, where compute and where memory limit decode, what fits, what meets the target.

A point of the map is a batch of requests with one common context, independent of prompt and output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from symroof.analysis.case_summary import case_title, range_position
from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.report.field_names import operator_name
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import (
    at_a_context,
    counted_in,
    known,
    next_power_of_two,
    requests,
)
from symroof.report.review_sections import phase
from symroof.symbolic.expressions import NoValue
from symroof.theory.declarations import FULL_MEMORY
from symroof.theory.steps import STEPS
from symroof.units import significant

DIGITS = 3
LOOKS = {"prefill": ("blue", "^"), "decode": ("vermilion", "o")}
OTHER = ("green", "s")
WORDS = {
    "mixed": "full step with a prefill chunk",
    "loaded": "mean step under load",
    "verify": "verification",
}
"""Names of steps, other than their own."""


class Spot(NamedTuple):
    """A phase or an operator: intensity, and FLOP/s of one device under the roofline."""

    name: str
    intensity: float
    rate: float


def roofline(study: Study, subject: BoundCase) -> Chart:
    """The roofline of one case.

    Raises:
        InputError: a peak, a bandwidth or the time of a phase is not known.
    """
    needed = ("peak_flops", "mem_bandwidth", "effective_ridge")
    tables = [
        table
        for step in STEPS
        if known(subject, *needed)
        and (table := phase(step.name, subject))
        and known(subject, f"{step.name}_intensity")
        and subject.case.value(f"{step.name}_intensity") > 0
    ]
    if not tables:
        raise lacking("roofline", subject, *needed, "prefill_roofline_time", "decode_roofline_time")
    steps = {_step(table["step"], subject): _operators(table) for table in tables}
    every = [*steps, *(spot for spots in steps.values() for spot in spots)]
    peak, bandwidth = (float(subject.case.value(name)) for name in needed[:2])
    low = min(spot.intensity for spot in every) / 3
    high = max(peak / bandwidth * 20, max(spot.intensity for spot in every) * 3)
    floor = min([low * bandwidth, *(spot.rate for spot in every)])
    chart = Chart(
        "roofline",
        case_title(subject),
        "Attainable FLOP/s of one device over arithmetic intensity, both logarithmic, with the two phases and their operators.",
        _found_steps(subject, [*steps]),
        Axis("arithmetic intensity (FLOP/byte)", low, high, counted),
        Axis("FLOP/s of one device", floor / 1.5, peak * 6, in_unit("FLOP/s")),
        does_not_fit=subject.does_not_fit,
    )
    for step, spots in steps.items():
        colour, shape = LOOKS.get(step.name, OTHER)
        words = WORDS.get(step.name, step.name)
        words += f": {significant(step.intensity, DIGITS)} FLOP/byte"
        chart.spots(step.name, [step[1:]], shape, colour, 10, label=words)
        name, points = f"operators of {step.name}", [spot[1:] for spot in spots]
        chart.spots(name, points, shape, colour, 5, True, name if points else "")
    _roof(chart, subject, peak, bandwidth)
    return chart


def _step(step: str, subject: BoundCase) -> Spot:
    case = subject.case
    flops, moved = (case.value(f"{step}_{what}_per_device") for what in ("flops", "bytes"))
    return Spot(step, float(flops / moved), float(flops / case.value(f"{step}_roofline_time")))


def _operators(table: dict[str, Any]) -> list[Spot]:
    """The operators of prefill and decode, by their intensity."""
    spots = []
    for e in table["entries"] if table["step"] in LOOKS else ():
        if (e["intensity"] or 0) > 0 < e["time"].value:
            rate = float(e["device_flops"] / e["time"].value)
            spots.append(Spot(operator_name(e["operator"]), float(e["intensity"]), rate))
    return sorted(spots, key=lambda spot: spot.intensity)


def _roof(chart: Chart, subject: BoundCase, peak: float, bandwidth: float) -> None:
    low, high = chart.x.low, chart.x.high
    mfu, mbu, edge = (float(subject.case.value(n)) for n in ("mfu", "mbu", "effective_ridge"))
    ridge = subject.result("effective_ridge").plain(DIGITS)
    sheet = [subject.result(name).plain(DIGITS) for name in ("peak_flops", "mem_bandwidth")]
    for name, top, slope, colour, dash, width, label in (
        ("peak", peak, bandwidth, "faint", ":", 1.2, f"data sheet: {sheet[0]}, {sheet[1]}"),
        ("reachable", peak * mfu, bandwidth * mbu, "ink", "-", 1.8, "the same times MFU and MBU"),
    ):
        ends = [(low, low * slope), (top / slope, top), (high, top)]
        chart.curve(name, ends, colour, dash, width, label)
    chart.upright("ridge", edge, "green", "--", f"effective ridge: {ridge}")
    chart.shade(low, edge, "sky", 0.16, "memory-bound")
    chart.shade(edge, high, "orange", 0.2, "compute-bound")


def _found_steps(subject: BoundCase, steps: Sequence[Spot]) -> list[str]:
    found = []
    for step in steps:
        bound = subject.get(f"{step.name}_bound")
        limit = f", limited by {bound.plain()}" if bound else ""
        at = subject.result(f"{step.name}_intensity").plain(DIGITS)
        found.append(f"{WORDS.get(step.name, step.name)} at {at}{limit}")
    found.append(f"effective ridge {subject.result('effective_ridge').plain(DIGITS)}")
    return found


EQUATIONS = {
    "ridge": "decode_compute_time = decode_memory_time",
    "memory": FULL_MEMORY,
    "target": "itl = itl_target",
}
CONTEXTS, TAIL = 48, 12
"""Contexts at which a line is solved, and more of them where the ridge flattens."""
SHORTEST, LONGEST, LARGEST_BATCH = 256, 2**20, 2**17
EDGE = 0.75
"""The batch axis starts at this factor of its first batch, so that a batch of 1 is not on the axis."""

Line = list[tuple[float, float]]
"""Pairs of a context and the batch there: 0 if every batch is beyond the line, infinity if none is."""


def regimes(study: Study, subject: BoundCase) -> Chart:
    """The map of one case.

    Raises:
        InputError: its decode times are not known, or no batch moves them.
    """
    needed = ("decode_compute_time", "decode_memory_time", "peak_context")
    none = "no batch moves its decode times"
    if not known(subject, *needed):
        raise lacking("regimes", subject, *needed, otherwise=none)
    last, batch = (float(subject.case.value(name)) for name in ("peak_context", "batch"))
    steps = "context" not in subject.case.given and subject.get("response_steps")
    first = min(last, float(subject.case.value("context")) + bool(steps))
    there = at_a_context(subject, last)
    solved = {name: found for name, text in EQUATIONS.items() if (found := _solved(text, there))}
    if "ridge" not in solved:
        raise lacking("regimes", subject, *needed, otherwise=none)
    beyond = None  # the context beyond which no batch reaches the ridge
    with suppress(InputError, NoValue):
        beyond = solve("context_beyond_ridge", there).value
    ridge = beyond or float(SHORTEST)
    low = next_power_of_two(max(min(SHORTEST, last / 8, ridge / 8), 1))
    high = min(max(4 * last, 2 * ridge, 64 * low), LONGEST)
    contexts = low, next_power_of_two(max(high, 2 * last))
    lines = {name: _line(one, contexts, last, beyond) for name, one in solved.items()}
    here = {name: dict(line)[last] for name, line in lines.items()}
    batches = _batches(lines, here, batch)
    within = f", {range_position(subject)}" if subject.corners else ""
    chart = Chart(
        "regimes",
        case_title(subject),
        "What limits a decode step, over batch and context, both logarithmic.",
        _found_limits(subject, batch, last, here, beyond),
        Axis("batch (requests)", batches[0] * EDGE, batches[1], counted, 2),
        Axis("context of every request (tokens)", *contexts, counted, 2),
        notes=[
            f"The case climbs from the context of its first step to that of its last, where memory and target are tested. Every line is solved{within}."
        ],
        does_not_fit=subject.does_not_fit,
    )
    chart.curve("case", [(batch, first), (batch, last * 1.0001)], "vermilion", "-", 2.6)
    spot = [(batch, last)]
    chart.spots("this case", spot, "D", "vermilion", 8, label="this case")
    _regions(chart, lines, beyond)
    _lines(chart, lines, subject.targets.get("itl"))
    return chart


def _solved(equation: str, there: BoundCase) -> Solution | None:
    """An equation solved for the batch; None where a side is unknown, or no batch moves it."""
    with suppress(InputError, NoValue):
        solution = solve(equation, there, "batch")
        if solution.missing:
            return None
        other = there.case.changed({"batch": 2 * there.case.value("batch")})
        if any(there.case.evaluate(side) != other.evaluate(side) for side in solution.sides):
            return solution
    return None


def _line(
    solution: Solution, contexts: tuple[float, float], last: float, beyond: float | None
) -> Line:
    """The batch at every context, at that of the case, and closely before the ridge ends."""
    at = {*np.rint(np.geomspace(*contexts, CONTEXTS) * 16) / 16, last}
    if beyond and solution.unknown == "batch":
        ends = (beyond * (1 - 0.5**k) for k in range(1, TAIL))
        at |= {end for end in ends if contexts[0] < end < contexts[1]}
    line = []
    every = solution.crossings_at([{"context": context} for context in sorted(at)])
    for context, found in zip(sorted(at), every, strict=True):
        if not found:
            one = solution.bound_case.case.changed({"context": context, "batch": 1.0})
            left, right = map(one.evaluate, solution.sides)
            found = (0.0 if left > right else math.inf,)
        line.append((float(context), float(found[0])))
    return line


def _batches(lines: dict[str, Line], here: dict[str, float], batch: float) -> tuple[float, float]:
    """The batch range: the case, the ridge at short contexts, and the limits at the case's context."""
    seen = [4 * batch, 64.0, 6 * lines["ridge"][0][1]]
    seen += [3 * here[name] for name in ("memory", "target") if name in here]
    widest = next_power_of_two(max(x for x in seen if math.isfinite(x)))
    return 1.0, min(widest, max(LARGEST_BATCH, next_power_of_two(2 * batch)))


def _regions(chart: Chart, lines: dict[str, Line], beyond: float | None) -> None:
    """What limits where, and what does not fit."""
    low, high, bottom, top = chart.x.low, chart.x.high, chart.y.low, chart.y.high
    never = top if beyond is None else min(max(beyond, bottom), top)
    for name, colour, share, words in (
        ("ridge", "orange", 0.32, "compute-bound"),
        ("memory", "pale", 0, "does not fit"),
    ):
        if name in lines:
            ends = _clipped(lines[name], low, high)
            outline = [*ends, (high, ends[-1][1]), (high, ends[0][1])]
            chart.area(outline, colour, share, words)
    ridge = [end for end in _clipped(lines["ridge"], low, high) if end[1] <= never]
    if ridge:
        outline = [(low, bottom), *ridge, (ridge[-1][0], never), (low, never)]
        chart.area(outline, "sky", 0.16, "memory-bound")
    if never < top:
        corners = [(low, never), (high, never), (high, top), (low, top)]
        chart.area(corners, "blue", 0.16, "memory-bound: no batch reaches the ridge")
        chart.level("beyond", never, "green", ":")


def _lines(chart: Chart, lines: dict[str, Line], target: Any) -> None:
    words = f"ITL target {seconds(float(target))}" if target is not None else ""
    if words and all(batch < 1 for _, batch in lines.get("target", [])):
        words = words.replace("target", "above") + " everywhere"
    for name, colour, dash, width, label in (
        ("ridge", "green", "-", 1.8, "ridge: compute time = memory time"),
        ("memory", "ink", "-", 1.6, "memory full"),
        ("target", "blue", "--", 1.6, words),
    ):
        if name in lines:
            shown = [(context, batch) for context, batch in lines[name] if math.isfinite(batch)]
            ends = _clipped(shown, chart.x.low / 4, chart.x.high * 4)
            chart.curve(name, ends, colour, dash, width, label)


def _clipped(line: Line, low: float, high: float) -> list[tuple[float, float]]:
    """A line as batches and contexts, its batches kept within two ends."""
    return [(min(max(batch, low), high), context) for context, batch in line]


def _found_limits(
    subject: BoundCase, batch: float, context: float, here: dict[str, float], beyond: float | None
) -> list[str]:
    """What limits the case, and the batches of the lines at its context."""
    ridge = here["ridge"]
    texts = [f"decode of {requests(batch)} at a context of {counted_in('token', context)}"]
    if math.isinf(ridge):
        texts[0] += " is memory-bound: no batch reaches the ridge there"
    else:
        limit = "compute" if batch > ridge else "memory"
        texts[0] += f" is {limit}-bound: the ridge there lies at batch {math.floor(ridge):,}"
    for name, says in (("memory", "memory holds"), ("target", "the ITL target allows")):
        if name in here:
            most = here[name]
            held = "none" if most < 1 else "any batch"
            held = f"a batch of {math.floor(most):,}" if 1 <= most < math.inf else held
            gone = ", so the case does not fit" if name == "memory" and subject.does_not_fit else ""
            texts.append(f"{says} {held}{gone}")
    if beyond is not None:
        texts.append(
            f"beyond a context of {counted_in('token', beyond)} no batch reaches the ridge"
        )
    return texts
