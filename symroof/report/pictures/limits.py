"""What limits a step: the roof of one device with both phases and their operators; and, over batch and context, where compute and where memory limit decode, what fits, what meets the target.

A point of the map is a batch of requests with one common context, independent of prompt and output.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from symroof.analysis.case_summary import case_title, range_position
from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, NoValue
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import at_a_context, counted_in, next_power_of_two
from symroof.report.review_sections import entries, timed
from symroof.theory.declarations import FULL_MEMORY
from symroof.theory.steps import STEPS
from symroof.units import significant

DIGITS = 3
LOOKS = {"prefill": ("blue", "^"), "decode": ("vermilion", "o"), "mixed": ("green", "s")}
OTHER = ("green", "D")
WITH_OPERATORS = ("prefill", "decode")
WORDS = {
    "mixed": "full step with a prefill chunk",
    "loaded": "mean step under load",
    "verify": "verification",
}
"""Names of steps, other than their own."""


Spot = tuple[float, float]
"""Of a phase or an operator the intensity, and the FLOP/s of one device under the roofline."""


def roofline(study: Study, subject: BoundCase) -> Chart:
    """The roofline of one case.

    Raises:
        InputError: a peak, a bandwidth or the time of a phase is not known.
    """
    needed = ("peak_flops", "mem_bandwidth", "effective_ridge")
    steps = {
        step.name: [_step(step.name, subject), *_operators(step.name, subject)]
        for step in STEPS
        if timed(step.name, subject)
        and all(map(subject.case.has_value, (*needed, f"{step.name}_intensity")))
        and subject.case.value(f"{step.name}_intensity") > 0
    }
    if not steps:
        raise lacking("roofline", subject, *needed, "prefill_roofline_time", "decode_roofline_time")
    intensities, rates = zip(*(spot for spots in steps.values() for spot in spots), strict=True)
    peak, bandwidth = (float(subject.case.value(name)) for name in needed[:2])
    low, high = min(intensities) / 3, max(peak / bandwidth * 20, max(intensities) * 3)
    floor = min(low * bandwidth, *rates)
    chart = Chart(
        "roofline",
        case_title(subject),
        "Attainable FLOP/s of one device over arithmetic intensity, both logarithmic, with the two phases and their operators.",
        _found_steps(subject, steps),
        Axis("arithmetic intensity (FLOP/byte)", low, high, counted),
        Axis("FLOP/s of one device", floor / 1.5, peak * 6, in_unit("FLOP/s")),
        does_not_fit=subject.does_not_fit,
    )
    for step, (own, *points) in steps.items():
        colour, shape = LOOKS.get(step, OTHER)
        words = f"{WORDS.get(step, step)}: {_at(own)}"
        chart.spots(step, [own], shape, colour, 10, label=words)
        name = f"operators of {step}"
        chart.spots(name, points, shape, colour, 5, True, name if points else "")
    _roof(chart, subject, peak, bandwidth)
    return chart


def _step(step: str, subject: BoundCase) -> Spot:
    case = subject.case
    flops, moved = (case.value(f"{step}_{what}_per_device") for what in ("flops", "bytes"))
    return float(flops / moved), float(flops / case.value(f"{step}_roofline_time"))


def _operators(step: str, subject: BoundCase) -> list[Spot]:
    """The operators of prefill and decode, by their intensity."""
    return sorted(
        (float(e["intensity"]), float(e["device_flops"] / e["time"].value))
        for e in (entries(step, subject) if step in WITH_OPERATORS else ())
        if (e["intensity"] or 0) > 0 < e["time"].value
    )


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
    chart.rule("ridge", edge, "green", "--", f"effective ridge: {ridge}")
    chart.shade(low, edge, "sky", 0.16, "memory-bound")
    chart.shade(edge, high, "orange", 0.2, "compute-bound")


def _at(spot: Spot) -> str:
    """The intensity of one device, as it is drawn."""
    return f"{significant(spot[0], DIGITS)} FLOP/byte"


def _found_steps(subject: BoundCase, steps: Mapping[str, list[Spot]]) -> list[str]:
    found = []
    for step, (own, *_) in steps.items():
        bound = subject.get(f"{step}_bound")
        limit = f", limited by {bound.plain()}" if bound else ""
        found.append(f"{WORDS.get(step, step)} at {_at(own)}{limit}")
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

Lines = dict[str, Any]
"""The batch of each line at each context: 0 if every batch is beyond it, infinity if none is."""


def regimes(study: Study, subject: BoundCase) -> Chart:
    """The map of one case.

    Raises:
        InputError: its decode times are not known, or no batch moves them.
    """
    needed = ("decode_compute_time", "decode_memory_time", "peak_context")
    none = "no batch moves its decode times"
    if not all(map(subject.case.has_value, needed)):
        raise lacking("regimes", subject, *needed, otherwise=none)
    last, batch = (float(subject.case.value(name)) for name in ("peak_context", "batch"))
    steps = "context" not in subject.case.given and subject.get("response_steps")
    first = min(last, float(subject.case.value("context")) + bool(steps))
    there = at_a_context(subject)
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
    at = _contexts(*contexts, last, beyond)
    lines = {name: _batches(solution, at) for name, solution in solved.items()}
    here = {name: float(line[at == last][0]) for name, line in lines.items()}
    seen = [4 * batch, 64.0, 6 * lines["ridge"][0]]
    seen += [3 * here[name] for name in ("memory", "target") if name in here]
    widest = next_power_of_two(max(x for x in seen if math.isfinite(x)))
    widest = min(widest, max(LARGEST_BATCH, next_power_of_two(2 * batch)))
    within = f", {range_position(subject)}" if subject.corners else ""
    chart = Chart(
        "regimes",
        case_title(subject),
        "What limits a decode step, over batch and context, both logarithmic.",
        _found_limits(subject, batch, last, here, beyond),
        Axis("batch (requests)", EDGE, widest, counted, 2),
        Axis("context of every request (tokens)", *contexts, counted, 2),
        notes=[
            f"The case climbs from the context of its first step to that of its last, where memory and target are tested. Every line is solved{within}."
        ],
        does_not_fit=subject.does_not_fit,
    )
    chart.curve("case", [(batch, first), (batch, last * 1.0001)], "vermilion", "-", 2.6)
    spot = [(batch, last)]
    chart.spots("this case", spot, "D", "vermilion", 8, label="this case")
    _regions(chart, lines, at)
    if beyond:
        label = "above it no batch reaches the ridge"
        chart.rule("beyond", beyond, "green", ":", label, level=True)
    _draw_lines(chart, lines, at, subject.targets.get("itl"))
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


def _contexts(low: float, high: float, last: float, beyond: float | None) -> Any:
    """The contexts of the lines, that of the case, and some closely before the ridge ends."""
    at = {*np.rint(np.geomspace(low, high, CONTEXTS) * 16) / 16, last}
    ends = (beyond * (1 - 0.5**k) for k in range(1, TAIL)) if beyond else ()
    return np.array(sorted(at | {end for end in ends if low < end < high}))


def _batches(solution: Solution, contexts: Any) -> Any:
    """The batch of a line at every context."""
    line = []
    every = solution.crossings_at([{"context": context} for context in contexts])
    for context, found in zip(contexts, every, strict=True):
        if not found:
            one = solution.bound_case.case.changed({"context": context, "batch": 1.0})
            left, right = map(one.evaluate, solution.sides)
            found = (0.0 if left > right else math.inf,)
        line.append(float(found[0]))
    return np.array(line)


def _regions(chart: Chart, lines: Lines, at: Any) -> None:
    """What limits where, and what does not fit."""
    low, high = chart.x.low, chart.x.high
    ridge = lines["ridge"].clip(low, high)
    chart.between(at, ridge, high, "orange", 0.32, "compute-bound", "x")
    chart.between(at, low, ridge, "sky", 0.16, "memory-bound", "x")
    if "memory" in lines:
        chart.between(at, lines["memory"].clip(low, high), high, "pale", 0, "does not fit", "x")


def _draw_lines(chart: Chart, lines: Lines, at: Any, target: Any) -> None:
    words = f"ITL target {seconds(float(target))}" if target is not None else ""
    if words and (lines.get("target", at) < 1).all():
        words = words.replace("target", "above") + " everywhere"
    for name, colour, dash, width, label in (
        ("ridge", "green", "-", 1.8, "ridge: compute time = memory time"),
        ("memory", "ink", "-", 1.6, "memory full"),
        ("target", "blue", "--", 1.6, words),
    ):
        if name in lines:
            shown, (low, high) = np.isfinite(lines[name]), (chart.x.low / 4, chart.x.high * 4)
            points = np.column_stack([lines[name].clip(low, high), at])[shown]
            chart.curve(name, points, colour, dash, width, label)


def _found_limits(
    subject: BoundCase, batch: float, context: float, here: dict[str, float], beyond: float | None
) -> list[str]:
    """What limits the case, and the batches of the lines at its context."""
    ridge = here["ridge"]
    of, at = counted_in("request", batch), counted_in("token", context)
    texts = [f"decode of {of} at a context of {at}"]
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
