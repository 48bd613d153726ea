"""What limits a step: the roof of one device with both phases and their operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symroof.analysis.case_summary import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.field_names import operator_name
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking
from symroof.report.pictures.curves import (
    known,
)
from symroof.report.review_sections import phase
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


@dataclass(frozen=True)
class Spot:
    """A phase or an operator: intensity, and FLOP/s of one device under the roofline."""

    name: str
    intensity: float
    rate: float

    @property
    def at(self) -> tuple[float, float]:
        return self.intensity, self.rate


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
        chart.spots(step.name, [step.at], shape, colour, 10, label=words)
        name, points = f"operators of {step.name}", [spot.at for spot in spots]
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
