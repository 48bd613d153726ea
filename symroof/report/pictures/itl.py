"""What moves ITL: its parts and other batches against the context, with target and memory limit."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.drawing.colours import (
    BLUE,
    DASH_DOT,
    DOTTED,
    GREY,
    OCHRE,
    ORANGE,
    SKY,
    VERMILION,
    WHITE,
)
from symroof.drawing.frame import Frame
from symroof.drawing.label_placement import Area
from symroof.drawing.scales import linear_ticks, round_values
from symroof.report.pictures.cases import at_last_step, known
from symroof.report.pictures.curves import (
    AT_PEAK,
    AxisLimit,
    Bounds,
    QuantityCurve,
    band,
    cases_at,
    peak_curve,
    solve_limit,
    values_along,
    with_bound,
)
from symroof.report.pictures.labels import (
    allowances,
    counted,
    label_limits,
    label_ridge,
    lines,
    regions,
    requests,
    seconds,
    unfit,
)
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet
from symroof.units import is_whole

HEADLINE = "Inter-token latency against the context"
DOUBLE = "itl = 2*itl(context = 1)"
PER = 1000
"""Tokens of context for the slope of ITL."""
NEAR = 32
"""Factor from the case's context beyond which a solved context is only mentioned in the text."""
POINTS = 40
PARTS = (("decode_overhead", "overheads"), ("decode_link_time", "links between devices"))
"""Parts of a step that no context moves, from the bottom up; above them are the weights and other work, then the cache."""


def picture(study: Study, subject: BoundCase) -> Picture:
    """The picture of one case.

    Raises:
        InputError: the case has no ITL, or no context moves it.
    """
    if not known(subject, "itl", "peak_context") or "context" not in at_last_step(
        subject
    ).case.inputs_used("itl"):
        raise lacking("itl", subject, "itl", "peak_context", otherwise="no context moves its ITL")
    there = at_last_step(subject)
    last = there.case.value("context")
    bounds, double = Bounds.of("itl", there, "context"), solve_limit(DOUBLE, there, "context")
    high = _end(float(last), [place for place in (bounds.memory, bounds.target, double) if place])
    crossings = [
        Fraction(place.value)
        for place in (*bounds.limits, double)
        if place and place.exists and place.value < high
    ]
    points = sorted(
        {
            Fraction(1),
            *(Fraction(round(high * i / POINTS)) for i in range(1, POINTS + 1)),
            *crossings,
        }
    )
    line = QuantityCurve.through(there, bounds, points)
    edges = band(there, "itl", "context", points)
    frame = _frame(subject, [*line.finite, *(value for pair in edges for value in pair)], high)
    _draw(frame, there, line, edges, bounds)
    batches = _other_batches(frame, there, points)
    frame.curve(AT_PEAK, peak_curve(there, "itl", "context", points), BLUE, 1.1, DOTTED)
    _places(frame, subject, there, bounds, double)
    _label(frame, subject, there, bounds, double)
    for name, text in batches.items():
        frame.label_line(name, (text,), GREY, needed=False)
    shows = f"{HEADLINE}, up to {high:,.0f} tokens, both axes even."
    climb = (
        "The thick part is the climb of one response, from its first step to its last, where the target is tested. "
        if frame.placer.has_line("climb")
        else ""
    )
    notes = [
        f"Areas, from the bottom up: the parts of a step. {climb}Every crossing is solved"
        + (
            f", {subject.range_position}; the band is what the ranges span."
            if subject.corners
            else "."
        )
    ]
    return finished(
        "itl",
        HEADLINE,
        case_title(subject),
        frame,
        shows,
        says(subject, there, bounds, double),
        notes,
    )


def _end(last: float, limits: list[AxisLimit]) -> float:
    near = [1.25 * float(place.value) for place in limits if place.value < NEAR * last]
    return float(round_values(0, max([2 * last, 256, *near]), 5)[1] * 5)


def _frame(subject: BoundCase, shown: list[float], high: float) -> Frame:
    goal = float(subject.targets["itl"]) if "itl" in subject.targets else 0.0
    top = max(shown)
    return framed(
        sheet(HEADLINE, case_title(subject), subject.does_not_fit),
        (0, high),
        (0, max(top, goal if goal < 3 * top else 0) * 1.15),
        False,
        False,
    )


def _draw(
    frame: Frame,
    there: BoundCase,
    line: QuantityCurve,
    edges: list[tuple[float, float]],
    bounds: Bounds,
) -> None:
    """Areas, axes and curves."""
    for start, end, winner in regions(there, bounds, frame.x):
        frame.shade(start, end, ORANGE if winner == "compute" else SKY, 0.15)
    pairs = [(x, y) for x, y in zip(line.places, line.values, strict=True) if math.isfinite(y)]
    floor = pairs[0][1]
    low = 0.0
    for (name, _, height), tone in zip(parts(there), (0.3, 0.18), strict=False):
        frame.region(
            [(0, low), (0, low + height), (frame.x.high, low + height), (frame.x.high, low)],
            GREY,
            tone,
        )
        frame.curve(name, [(0, low + height), (frame.x.high, low + height)], GREY, 0.6)
        low += height
    frame.region([(0, low), (0, floor), (frame.x.high, floor), (frame.x.high, low)], ORANGE, 0.3)
    frame.region([*pairs, (frame.x.high, floor), (pairs[0][0], floor)], SKY, 0.5)
    frame.band(line.places, edges, BLUE)
    frame.axes(
        "context of every request (tokens)",
        "inter-token latency",
        linear_ticks,
        linear_ticks,
        counted,
        seconds,
    )
    frame.curve("floor", [(0, floor), (frame.x.high, floor)], GREY, 1.2, DOTTED)
    line.draw(frame, BLUE)


def parts(there: BoundCase) -> list[tuple[str, str, float]]:
    """The parts of a step that no context moves and that take time: name, words, seconds."""
    return [
        (name, words, float(there.case.value(name)))
        for name, words in PARTS
        if known(there, name) and there.case.value(name) > 0
    ]


def _other_batches(frame: Frame, there: BoundCase, points: list[Fraction]) -> dict[str, str]:
    """Curves of half and of twice the batch; returns their names and labels."""
    own, shown = Fraction(there.case.value("batch")), {}
    for batch in (own / 2, own * 2):
        if not is_whole(batch):
            continue
        values = values_along(
            cases_at(there.case.changed({"batch": batch}), "context", points), "itl"
        )
        frame.curve(
            name := f"batch {batch}",
            list(zip(map(float, points), values, strict=True)),
            GREY,
            1.0,
            DASH_DOT,
        )
        shown[name] = f"batch {counted(float(batch))}"
    return shown


def _places(
    frame: Frame, subject: BoundCase, there: BoundCase, bounds: Bounds, double: AxisLimit | None
) -> None:
    """Draw the solved points and the case."""
    bounds.draw(frame)
    x, y = _own(there)
    first = float(subject.case.value("prompt") + 1) if known(subject, "itl_last", "prompt") else x
    if first < x:
        frame.curve("climb", [_at(there, first), (x, y)], VERMILION, 3.4)
    bounds.mark(frame)
    if double and double.exists:
        frame.marker(*_at(there, double.value), "circle", BLUE, 4.0, WHITE)
    frame.marker(x, y, "diamond", VERMILION, 5.0)


def _own(there: BoundCase) -> tuple[float, float]:
    """The context of the last step and its ITL."""
    return float(there.case.value("context")), float(there.case.value("itl"))


def _at(there: BoundCase, context: Fraction | float) -> tuple[float, float]:
    """A context with its ITL."""
    return float(context), float(there.case.changed({"context": Fraction(context)}).value("itl"))


def _label(
    frame: Frame, subject: BoundCase, there: BoundCase, bounds: Bounds, double: AxisLimit | None
) -> None:
    result = subject.get("itl_last") or there.result("itl")
    frame.label_point(
        *_own(there),
        (
            *lines(
                "last step: " if frame.placer.has_line("climb") else "this case: ", result.plain(3)
            ),
            replace(result, low=None, high=None).plain(3),
        ),
        VERMILION,
        bold=True,
    )
    label_limits(frame, bounds)
    if double and double.exists:
        words = f"twice a step without cache: {double.count:,} tokens"
        frame.label_point(*_at(there, double.value), (words, words.replace(": ", ":\n")), BLUE)
    label_ridge(frame, there, bounds)
    low = sum(height for *_, height in parts(there))
    for name, words, _ in parts(there):
        frame.label_line(name, (words, words.partition(" ")[0]), GREY, needed=False)
    floor = float(there.case.changed({"context": Fraction(1)}).value("itl"))
    frame.label_region(
        _layer(frame, low, floor), ("weights and other work", "weights"), OCHRE, needed=False
    )
    frame.label_line(AT_PEAK, (AT_PEAK,), BLUE)
    frame.label_region(
        _wedge(frame, there),
        (f"cache traffic\nof {requests(there.case.value('batch'))}", "cache"),
        BLUE,
        needed=False,
    )


def _layer(frame: Frame, low: float, high: float) -> Area:
    """The area between two latencies."""
    left, _, right, _ = frame.box
    bottom, top = frame.y(low), frame.y(high)
    return lambda y: (left, right) if bottom <= y <= top else (right, left)


def _wedge(frame: Frame, there: BoundCase) -> Area:
    """The area between the floor and the curve."""
    ends = [
        (frame.x(c), frame.y(float(there.case.changed({"context": Fraction(c)}).value("itl"))))
        for c in (1, round(frame.x.high / 2), round(frame.x.high))
    ]

    def area(height: float) -> tuple[float, float]:
        for (x0, y0), (x1, y1) in pairwise(ends):
            if y0 <= height < y1:
                return x0 + (x1 - x0) * (height - y0) / (y1 - y0), frame.box[2]
        return frame.box[2], frame.box[0]

    return area


def growth(there: BoundCase) -> Result:
    """The time that ``PER`` more tokens of context add to a step."""
    slopes = [PER * case.slope("itl", "context") for case in (there.case, *there.corners)]
    low, high = (min(slopes), max(slopes)) if there.corners else (None, None)
    return Result(
        there.case.theory.symbol("itl"),
        slopes[0],
        low,
        high,
        flags=(DOES_NOT_FIT,) if there.does_not_fit else (),
    )


def says(subject: BoundCase, there: BoundCase, bounds: Bounds, double: AxisLimit | None) -> str:
    """The takeaway: the last step, the growth with context, target and memory limits."""
    context = int(there.case.value("context"))
    taken = with_bound(subject, "itl_last") if subject.get("itl_last") else with_bound(there, "itl")
    step = f"a step of {requests(there.case.value('batch'))} takes {taken}"
    texts = [
        f"At a context of {context:,} tokens {step}, and {PER:,} tokens more add {growth(there).plain()}",
        *allowances(bounds, "token"),
    ]
    shares = [f"{seconds(height)} {words}" for _, words, height in parts(there)]
    texts += [f"of a step, {' and '.join(shares)}"] if shares else []
    if double and double.exists:
        texts.append(
            f"beyond {double.count:,} tokens a step takes more than twice as long as without a cache"
        )
    return "; ".join(texts + unfit(subject)) + "."
