"""The roof of one device with its ridge, both phases, and their operators."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.drawing.colours import (
    BLACK,
    BLUE,
    DOTTED,
    GREEN,
    GREY,
    OCHRE,
    ORANGE,
    SKY,
    VERMILION,
    WHITE,
)
from symroof.drawing.frame import Frame
from symroof.drawing.scales import log_ticks
from symroof.report.field_names import operator_name
from symroof.report.pictures.cases import known
from symroof.report.pictures.labels import counted, in_unit
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet
from symroof.report.view_operators import phase
from symroof.theory.steps import STEPS
from symroof.units import significant

HEADLINE = "Roofline of one device"
DIGITS = 3
LOOKS = {"prefill": (BLUE, "up"), "decode": (VERMILION, "circle")}
OTHER = (GREEN, "square")
WORDS = {
    "mixed": "full step with a prefill chunk",
    "loaded": "mean step under load",
    "verify": "verification",
}
"""Names of steps, other than their own."""
IN_PARTS = ("prefill", "decode")
"""Steps whose operators are drawn."""
TOGETHER = 1.5
"""Operators whose intensities differ by less than this factor share a label."""
LABELLED, MOST_LABELLED = 0.08, 4
"""Least share of a step's time of an operator with a label, and how many a step has at most."""


@dataclass(frozen=True)
class Spot:
    """A phase or an operator: intensity, FLOP/s of one device under the roofline, and share of the time of its step."""

    name: str
    intensity: float
    rate: float
    share: float = 1.0

    @property
    def words(self) -> str:
        return WORDS.get(self.name, self.name)


def picture(study: Study, subject: BoundCase) -> Picture:
    """The picture of one case.

    Raises:
        InputError: a peak, a bandwidth or the time of a phase is not known.
    """
    needed = ("peak_flops", "mem_bandwidth", "effective_ridge")
    phases = [
        table for step in STEPS if known(subject, *needed) and (table := phase(step.name, subject))
    ]
    phases = [
        table
        for table in phases
        if known(subject, f"{table['step']}_intensity")
        and subject.case.value(f"{table['step']}_intensity") > 0
    ]
    if not phases:
        raise lacking("roofline", subject, *needed, "prefill_roofline_time", "decode_roofline_time")
    steps = [_step(table["step"], subject) for table in phases]
    operators = [
        _operators(table["entries"]) if table["step"] in IN_PARTS else [] for table in phases
    ]
    frame = _frame(subject, [*steps, *(spot for spots in operators for spot in spots)])
    _roof(frame, subject)
    for step, spots in zip(steps, operators, strict=True):
        _signs(frame, step, spots)
    _label(frame, subject, steps, operators)
    shows = "Attainable FLOP/s of one device over arithmetic intensity, both logarithmic, with the two phases and their operators."
    notes = [
        "Large: a whole step. Small and hollow: the operators of prefill and decode; those that take most of the time are labelled. "
        "Full line: peak and bandwidth times the efficiencies. Dotted: the data sheet's."
    ]
    return finished(
        "roofline", HEADLINE, case_title(subject), frame, shows, says(subject, steps), notes
    )


def _step(step: str, subject: BoundCase) -> Spot:
    case = subject.case
    flops, moved = (case.value(f"{step}_{what}_per_device") for what in ("flops", "bytes"))
    return Spot(step, float(flops / moved), float(flops / case.value(f"{step}_roofline_time")))


def _operators(entries: Sequence[dict[str, Any]]) -> list[Spot]:
    whole = sum(float(e["time"].value) for e in entries)
    spots = (
        Spot(
            operator_name(e["operator"]),
            float(e["intensity"]),
            float(e["device_flops"] / e["time"].value),
            float(e["time"].value) / whole,
        )
        for e in entries
        if (e["intensity"] or 0) > 0 < e["time"].value
    )
    return sorted(spots, key=lambda spot: spot.intensity)


def _frame(subject: BoundCase, spots: list[Spot]) -> Frame:
    peak, bandwidth = (float(subject.case.value(name)) for name in ("peak_flops", "mem_bandwidth"))
    reached = [spot.intensity for spot in spots]
    low, high = min(reached) / 3, max(peak / bandwidth * 20, max(reached) * 3)
    floor = min([low * bandwidth, *(spot.rate for spot in spots)])
    return framed(
        sheet(HEADLINE, case_title(subject), subject.does_not_fit),
        (low, high),
        (floor / 1.5, peak * 6),
    )


def _roof(frame: Frame, subject: BoundCase) -> None:
    peak, bandwidth, mfu, mbu = (
        float(subject.case.value(name)) for name in ("peak_flops", "mem_bandwidth", "mfu", "mbu")
    )
    ridge = float(subject.case.value("effective_ridge"))
    frame.shade(frame.x.low, ridge, SKY, 0.16)
    frame.shade(ridge, frame.x.high, ORANGE, 0.2)
    frame.axes(
        "arithmetic intensity (FLOP/byte)",
        "FLOP/s of one device",
        log_ticks,
        log_ticks,
        counted,
        in_unit("FLOP/s"),
    )
    for name, top, slope, colour, dash, width in (
        ("peak", peak, bandwidth, GREY, DOTTED, 1.2),
        ("reachable", peak * mfu, bandwidth * mbu, BLACK, (), 1.8),
    ):
        frame.curve(
            name,
            [(frame.x.low, frame.x.low * slope), (top / slope, top), (frame.x.high, top)],
            colour,
            width,
            dash,
        )
    frame.vertical_line("ridge", ridge, GREEN, (5, 3), 1.2)


def _signs(frame: Frame, step: Spot, spots: list[Spot]) -> None:
    colour, shape = LOOKS.get(step.name, OTHER)
    for spot in spots:
        frame.marker(spot.intensity, spot.rate, shape, colour, 3.0, WHITE)
    frame.marker(step.intensity, step.rate, shape, colour, 6.0)


def _label(
    frame: Frame, subject: BoundCase, steps: list[Spot], operators: list[list[Spot]]
) -> None:
    for step in steps:
        words = f"{step.words}: {significant(Fraction(step.intensity).limit_denominator(10**6), DIGITS)} FLOP/byte"
        frame.label_point(
            step.intensity,
            step.rate,
            (words, words.replace(": ", ":\n")),
            LOOKS.get(step.name, OTHER)[0],
            bold=True,
        )
    ridge = subject.result("effective_ridge").plain(DIGITS)
    frame.label_line(
        "ridge",
        (f"effective ridge\n{ridge}", f"effective ridge\n{ridge.partition(' (')[0]}"),
        GREEN,
    )
    for step, spots in zip(steps, operators, strict=True):
        for names, spot in _groups(spots):
            frame.label_point(
                spot.intensity,
                spot.rate,
                (names, _two_lines(names)),
                LOOKS.get(step.name, OTHER)[0],
                needed=False,
            )
    peak, bandwidth = (
        subject.result(name).plain(DIGITS) for name in ("peak_flops", "mem_bandwidth")
    )
    frame.label_line(
        "peak",
        (f"data sheet: {peak}, {bandwidth}", f"data sheet:\n{peak}, {bandwidth}", "data sheet"),
        GREY,
    )
    edge = float(subject.case.value("effective_ridge"))
    frame.label_range(frame.x.low, edge, ("memory-bound",), BLUE)
    frame.label_range(edge, frame.x.high, ("compute-bound", "compute-\nbound"), OCHRE)


def _groups(spots: list[Spot]) -> list[tuple[str, Spot]]:
    """The slowest operators, those of about the same intensity together: their names, and the slowest of them."""
    slowest = sorted(spots, key=lambda spot: -spot.share)[:MOST_LABELLED]
    starts: list[tuple[float, Spot]] = []
    for spot in sorted(
        (spot for spot in slowest if spot.share >= LABELLED), key=lambda spot: spot.intensity
    ):
        starts.append(
            (
                starts[-1][0]
                if starts and spot.intensity < starts[-1][0] * TOGETHER
                else spot.intensity,
                spot,
            )
        )
    groups = []
    for _, pairs in groupby(starts, key=lambda pair: pair[0]):
        members = [spot for _, spot in pairs]
        groups.append(
            (
                ", ".join(dict.fromkeys(spot.name for spot in members)),
                max(members, key=lambda spot: spot.share),
            )
        )
    return groups


def _two_lines(names: str) -> str:
    words = names.split(", ")
    half = (len(words) + 1) // 2
    return ",\n".join(filter(None, (", ".join(words[:half]), ", ".join(words[half:]))))


def says(subject: BoundCase, steps: list[Spot]) -> str:
    """The takeaway: the ridge, and the bound of each step."""
    ridge = subject.result("effective_ridge").plain(DIGITS)
    bounds = {
        step.name: bound.plain() for step in steps if (bound := subject.get(f"{step.name}_bound"))
    }
    limits = {step: f", limited by {bound}" for step, bound in bounds.items()}
    words = [
        f"{step.words} at {subject.result(f'{step.name}_intensity').plain(DIGITS)}{limits.get(step.name, '')}"
        for step in steps
    ]
    return f"Effective ridge {ridge}; {'; '.join(words)}{' (does not fit in memory)' if subject.does_not_fit else ''}."
