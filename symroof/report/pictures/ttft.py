"""TTFT against the prompt: target, ridge, memory limit."""

import math

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.drawing.colours import BLUE, DASH_DOT, DOTTED, GREY, ORANGE, SKY, VERMILION
from symroof.drawing.frame import Frame
from symroof.drawing.scales import log_ticks, next_power_of_two, power_of_two_ticks
from symroof.report.pictures.curves import (
    AT_PEAK,
    AxisLimit,
    Bounds,
    QuantityCurve,
    band,
    log_spaced,
    peak_curve,
    values_along,
    with_bound,
)
from symroof.report.pictures.labels import (
    BEYOND_MEMORY,
    allowances,
    counted,
    label_limits,
    label_ridge,
    lines,
    regions,
    seconds,
    unfit,
)
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet

HEADLINE = "Time to first token against the prompt"
PARTS = {
    "prefill_compute_time": ("compute alone", DOTTED),
    "prefill_memory_time": ("memory traffic alone", DASH_DOT),
}
FURTHEST = 64.0
"""Factor from the case's prompt beyond which a solved prompt is only mentioned in the text."""


def picture(study: Study, subject: BoundCase) -> Picture:
    """The picture of one case.

    Raises:
        InputError: the case has no TTFT, or no prompt moves it.
    """
    if subject.get("ttft") is None or "prompt" not in subject.case.inputs_used("ttft"):
        raise lacking("ttft", subject, "ttft", otherwise="no prompt moves its TTFT")
    if subject.case.value("ttft") <= 0:
        raise lacking(
            "ttft", subject, otherwise="its TTFT is zero, which a logarithmic axis does not show"
        )
    bounds = Bounds.of("ttft", subject, "prompt")
    low, high = _ends(float(subject.case.value("prompt")), bounds.limits)
    line = QuantityCurve.through(
        subject, bounds, log_spaced(low, high, [float(place.value) for place in bounds.limits])
    )
    lowest = peak_curve(subject, "ttft", "prompt", line.points)
    frame = _frame(subject, [*line.finite, *(value for _, value in lowest)], (low, high))
    _draw(frame, subject, line, bounds)
    frame.curve(AT_PEAK, lowest, BLUE, 1.1, DOTTED)
    _label(frame, subject, bounds)
    notes = [
        "Both axes are logarithmic. Every crossing is solved"
        + (
            f", {subject.range_position}; the band is what the ranges span."
            if subject.corners
            else "."
        )
    ]
    notes += (
        [BEYOND_MEMORY]
        if bounds.memory and bounds.target and bounds.target.value > bounds.memory.value
        else []
    )
    shows = f"{HEADLINE}, from {low:,.0f} to {high:,.0f} tokens, both axes logarithmic."
    return finished(
        "ttft", HEADLINE, case_title(subject), frame, shows, says(subject, bounds), notes
    )


def _ends(prompt: float, limits: list[AxisLimit]) -> tuple[float, float]:
    near = [
        float(place.value)
        for place in limits
        if prompt / FURTHEST < place.value < prompt * FURTHEST
    ]
    return max(
        1.0, next_power_of_two(min([prompt / 8, *(value / 3 for value in near)])) / 2
    ), next_power_of_two(max([prompt * 4, 64, *(value * 2 for value in near)]))


def _frame(subject: BoundCase, values: list[float], ends: tuple[float, float]) -> Frame:
    goal = [float(subject.targets["ttft"])] if "ttft" in subject.targets else []
    shown = [value for value in (*values, *goal) if value > 0]
    return framed(
        sheet(HEADLINE, case_title(subject), subject.does_not_fit),
        ends,
        (min(shown) / 1.6, max(shown) * 1.5),
    )


def _draw(frame: Frame, subject: BoundCase, line: QuantityCurve, bounds: Bounds) -> None:
    """Draw areas, axes, curves, solved points and the case."""
    for start, end, winner in regions(subject, bounds, frame.x):
        frame.shade(start, end, ORANGE if winner == "compute" else SKY, 0.22)
    frame.band(line.places, band(subject, "ttft", "prompt", line.points), BLUE)
    frame.axes(
        "prompt (tokens)", "time to first token", power_of_two_ticks, log_ticks, counted, seconds
    )
    for name, (_, dash) in PARTS.items() if bounds.ridge else ():
        part = zip(line.places, values_along(line.cases, name), line.values, strict=True)
        frame.curve(name, [(x, y) for x, y, whole in part if y < 0.97 * whole], GREY, 1.1, dash)
    line.draw(frame, BLUE)
    bounds.draw(frame)
    bounds.mark(frame)
    frame.marker(*_own(subject), "diamond", VERMILION, 5.0)


def _own(subject: BoundCase) -> tuple[float, float]:
    """The case's prompt and TTFT."""
    return float(subject.case.value("prompt")), float(subject.case.value("ttft"))


def _label(frame: Frame, subject: BoundCase, bounds: Bounds) -> None:
    frame.label_point(
        *_own(subject), lines("this case: ", subject.result("ttft").plain()), VERMILION, bold=True
    )
    label_limits(frame, bounds)
    label_ridge(frame, subject, bounds)
    frame.label_line(AT_PEAK, (AT_PEAK,), BLUE)
    for name, (word, _) in PARTS.items():
        frame.label_line(name, (word,), GREY)


def says(subject: BoundCase, bounds: Bounds) -> str:
    """The takeaway: TTFT of the case, target and memory limits, the ridge."""
    prompt, ridge = int(subject.case.value("prompt")), bounds.ridge
    texts = [
        f"The first token of a prompt of {prompt:,} tokens takes {with_bound(subject, 'ttft')}",
        *allowances(bounds, "token"),
    ]
    if ridge and ridge.exists:
        texts.append(f"from {math.ceil(ridge.value):,} tokens on compute takes longer than memory")
    elif ridge:
        texts.append(f"{'compute' if not ridge.value else 'memory'} takes longer at every prompt")
    return "; ".join(texts + unfit(subject)) + "."
