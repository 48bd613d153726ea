"""The regime map: batch across, context up; where compute and where memory limits decode, what fits, what meets the target."""

import math
from itertools import pairwise

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plural
from symroof.drawing.colours import (
    BLACK,
    BLUE,
    DASHED,
    DOTTED,
    GREEN,
    GREY,
    OCHRE,
    ORANGE,
    SKY,
    VERMILION,
    tint,
)
from symroof.drawing.frame import Frame
from symroof.drawing.label_placement import Area
from symroof.drawing.scales import power_of_two_ticks
from symroof.report.pictures.labels import counted, requests, target_word
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet
from symroof.report.regime_map import RegimeLine, Regimes, regimes

HEADLINE = "What limits a decode step, over batch and context"
EDGE = 0.75
"""The batch axis starts at this factor of its first batch, so that a batch of 1 is not on the axis."""
STYLES = {"ridge": (GREEN, (), 1.8), "memory": (BLACK, (), 1.6), "target": (BLUE, DASHED, 1.6)}


def picture(study: Study, subject: BoundCase) -> Picture:
    """The map of one case.

    Raises:
        InputError: its decode times are not known, or no batch moves them.
    """
    map_ = regimes(subject)
    if map_ is None:
        raise lacking(
            "regimes",
            subject,
            "decode_compute_time",
            "decode_memory_time",
            "peak_context",
            otherwise="no batch moves its decode times",
        )
    frame = drawn(map_, subject)
    shows = f"{HEADLINE}, both logarithmic."
    notes = [
        "The case climbs from the context of its first step to that of its last, where memory and target are tested. Every line is solved"
        + (f", {subject.range_position}." if subject.corners else ".")
    ]
    return finished(
        "regimes", HEADLINE, case_title(subject), frame, shows, says(map_, subject), notes
    )


def drawn(map_: Regimes, subject: BoundCase) -> Frame:
    """Draw regions, lines and the case, then labels."""
    frame = framed(
        sheet(HEADLINE, case_title(subject), subject.does_not_fit),
        (map_.batches[0] * EDGE, map_.batches[1]),
        map_.contexts,
    )
    _regions(frame, map_)
    frame.axes(
        "batch (requests)",
        "context of every request (tokens)",
        power_of_two_ticks,
        power_of_two_ticks,
        counted,
        counted,
    )
    for name, line in map_.lines.items():
        colour, dash, width = STYLES[name]
        frame.curve(name, drawn_points(line, map_), colour, width, dash)
    batch, (first, last) = float(map_.batch), map_.climb
    frame.curve("case", [(batch, float(first)), (batch, float(last) * 1.0001)], VERMILION, 2.6)
    frame.marker(batch, float(last), "diamond", VERMILION, 5.0)
    _label(frame, map_, subject)
    return frame


def _regions(frame: Frame, map_: Regimes) -> None:
    left, bottom, right, top = frame.box
    frame.shade(frame.x.low, frame.x.high, SKY, 0.16)
    if map_.beyond is not None and map_.beyond < map_.contexts[1]:
        height = max(frame.y(float(map_.beyond)), bottom)
        frame.canvas.area(
            [(left, height), (right, height), (right, top), (left, top)], tint(BLUE, 0.16)
        )
    low, high = frame.x.low, frame.x.high
    for name in ("ridge", "memory"):
        if name not in map_.lines:
            continue
        ends = [
            (min(max(float(batch), low), high), float(context))
            for context, batch in map_.lines[name]
        ]
        outline = [*ends, (high, ends[-1][1]), (high, ends[0][1])]
        if name == "ridge":
            frame.region(outline, ORANGE, 0.32)
        else:
            frame.canvas.hatched([frame.at(*spot) for spot in outline], frame.box, "#AAAAAA")
    if map_.beyond is not None:
        frame.curve(
            "beyond",
            [(float(batch), float(map_.beyond)) for batch in (frame.x.low, frame.x.high)],
            GREEN,
            1.0,
            DOTTED,
        )


def drawn_points(line: RegimeLine, map_: Regimes) -> list[tuple[float, float]]:
    """A line as coordinates; batches beyond the map are clipped."""
    low, high = map_.batches
    return [
        (min(max(float(batch), low / 4), high * 4), float(context))
        for context, batch in line
        if math.isfinite(batch) or batch == 0
    ]


# ----------------------------------------------------------------------------------------------------------- words


def _label(frame: Frame, map_: Regimes, subject: BoundCase) -> None:
    """Label the case first, then regions, then lines, which have the most space."""
    areas = region_areas(frame, map_)
    fitting = before(frame, map_, "memory")
    frame.label_point(float(map_.batch), float(map_.climb[1]), ("this case",), VERMILION, bold=True)
    for name, texts, colour in (
        ("compute", ("compute-bound", "compute-\nbound"), OCHRE),
        ("too large", ("does not fit", "does\nnot fit"), GREY),
        ("never", ("memory-bound:\nno batch reaches the ridge",), BLUE),
        ("memory-bound", ("memory-bound",), BLUE),
    ):
        area = areas[name]
        placed = name != "too large" and frame.label_region(
            lambda y, area=area: _both(area(y), fitting(y)),  # type: ignore[misc]
            texts,
            colour,
            needed=False,
        )
        placed or frame.label_region(area, texts, colour, needed=False)
    frame.label_line(
        "ridge",
        ("ridge: compute time = memory time", "ridge: compute time\n= memory time", "ridge"),
        GREEN,
    )
    frame.label_line("memory", ("memory full",), BLACK)
    target = subject.targets.get("itl")
    if target is not None and "target" in map_.lines:
        frame.label_line("target", (target_word("ITL", target),), BLUE)
        if all(batch < 1 for _, batch in map_.lines["target"]):
            frame.label_region(
                lambda _: (frame.box[0], frame.box[2]),
                (f"ITL above {target_word('', target).removeprefix(' target ')} everywhere",),
                BLUE,
            )


def region_areas(frame: Frame, map_: Regimes) -> dict[str, Area]:
    """The regions by name."""
    left, _, right, _ = frame.box
    ridge, never = (
        before(frame, map_, "ridge"),
        math.inf if map_.beyond is None else frame.y(float(map_.beyond)),
    )

    def past(name: str) -> Area:
        edge = before(frame, map_, name)
        return lambda y: (edge(y)[1], right) if name in map_.lines else (right, left)

    return {
        "compute": past("ridge"),
        "too large": past("memory"),
        "never": lambda y: (left, right) if y > never else (right, left),
        "memory-bound": lambda y: ridge(y) if y <= never else (right, left),
    }


def before(frame: Frame, map_: Regimes, name: str) -> Area:
    """The area left of a line, or the whole width without such a line."""
    left, _, right, _ = frame.box
    line = [
        (frame.y(float(context)), _page(frame, batch))
        for context, batch in map_.lines.get(name, ())
    ]

    def area(y: float) -> tuple[float, float]:
        for (y0, x0), (y1, x1) in pairwise(line):
            if y0 <= y <= y1 or (y < y0 and (y0, x0) == line[0]):
                share = min(max((y - y0) / (y1 - y0), 0.0), 1.0) if y1 > y0 else 0.0
                between = (
                    x0 + (x1 - x0) * share
                    if math.isfinite(x0) and math.isfinite(x1)
                    else max(x0, x1)
                )
                return left, min(max(between, left), right)
        return left, min(max(line[-1][1], left), right) if line else right

    return area


def _page(frame: Frame, batch: float) -> float:
    return (
        frame.x(float(batch))
        if math.isfinite(batch) and batch > 0
        else -math.inf
        if not batch
        else math.inf
    )


def _both(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return max(a[0], b[0]), min(a[1], b[1])


def says(map_: Regimes, subject: BoundCase) -> str:
    """The takeaway of the map."""
    context = map_.climb[1]
    texts = [f"This case: {requests(map_.batch)} at a context of {_tokens(context)}"]
    ridge, memory, target = (map_.at(name, context) for name in ("ridge", "memory", "target"))
    if ridge is not None:
        texts.append(
            f"there {'no batch reaches the ridge' if math.isinf(ridge) else f'the ridge lies at batch {_count(ridge)}'}"
        )
    if memory is not None:
        texts.append(
            f"memory holds {'none' if memory < 1 else f'a batch of {_count(memory)}'}{', so the case does not fit' if subject.does_not_fit else ''}"
        )
    if target is not None:
        texts.append(
            f"the ITL target allows {'any batch' if math.isinf(target) else 'none' if target < 1 else f'a batch of {_count(target)}'}"
        )
    if map_.beyond is not None:
        texts.append(f"beyond a context of {_tokens(map_.beyond)} no batch reaches the ridge")
    return "; ".join(texts) + "."


def _count(number: float) -> str:
    return f"{math.floor(number):,}"


def _tokens(number: float) -> str:
    return f"{_count(number)} {plural('token', math.floor(number))}"
