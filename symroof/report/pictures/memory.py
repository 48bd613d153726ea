"""Memory: weights, cache and reserve of every case as stacked bars, against usable memory."""

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.drawing.canvas import Canvas
from symroof.drawing.colours import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, tint
from symroof.drawing.frame import TICK_SIZE
from symroof.drawing.scales import Scale, round_values
from symroof.drawing.text_metrics import text_width, wrapped
from symroof.report.pictures.cases import compared, labels
from symroof.report.pictures.picture import RIGHT, WIDTH, Picture, lacking, noted, sheet
from symroof.report.view_case import memory_part, memory_parts

HEADLINE = "Memory needed and usable"
COLOURS = {"weights": BLUE, "cache": tint(ORANGE, 0.9), "state": GREEN, "reserve": tint(GREY, 0.5)}
ROW, BAR = 31.0, 15.0
NAMES, ROOM = 150.0, 96.0
"""Widths of the labels on the left and of the totals on the right."""
MOST = 12
GIGABYTE = 1e9


def picture(study: Study, subject: BoundCase) -> Picture:
    """The cases of the study, up to ``MOST``.

    Raises:
        InputError: no case has a size and a capacity.
    """
    every = [
        (case, label)
        for case, label in zip(study.cases, labels(study.cases), strict=True)
        if case.get("memory_bytes") and case.get("usable_memory")
    ]
    if not every:
        raise lacking("memory", subject, "memory_bytes", "usable_memory")
    every.sort(key=lambda pair: pair[0] is not subject) if len(every) > MOST else None
    shown = every[:MOST]
    named = case_title(subject) if len(study.cases) == 1 else compared(study, f"{len(shown)} cases")
    canvas = sheet(
        HEADLINE,
        named,
        len(study.cases) == 1 and subject.does_not_fit,
        height=86 + ROW * len(shown),
    )
    largest = (
        max(
            float(case.case.value(name))
            for case, _ in shown
            for name in ("memory_bytes", "usable_memory")
        )
        / GIGABYTE
    )
    scale = Scale(0, largest, NAMES, WIDTH - RIGHT - ROOM)
    parts = {
        name: word
        for name, word in memory_parts(case for case, _ in shown).items()
        if any(case.case.value(name) for case, _ in shown)
    }
    canvas.axes = ("case", "byte")
    _legend(canvas, list(parts.values()))
    for row, (case, label) in enumerate(shown):
        _bar(canvas, scale, case, label, parts, canvas.height - 66 - ROW * row)
    _axis(canvas, scale)
    left_out = len(every) - len(shown)
    noted(canvas, [f"Left out: {left_out} further cases." if left_out else ""])
    sentences = "; ".join(_sentence(case, label) for case, label in shown)
    shows = f"Weights, cache and reserve of each case as one bar, with a line at usable memory. {sentences}."
    return Picture(
        "memory", f"{HEADLINE}: {named}", shows, says([case for case, _ in every]), canvas
    )


def says(cases: list[BoundCase]) -> str:
    """The takeaway: how many of the cases fit."""
    fitting = sum(not case.does_not_fit for case in cases)
    if len(cases) == 1:
        return "It fits." if fitting else "It does not fit."
    return (
        "Every case fits."
        if fitting == len(cases)
        else f"{fitting or 'None'} of {len(cases)} cases {'fit' if fitting > 1 else 'fits'}."
    )


def _legend(canvas: Canvas, words: list[str]) -> None:
    left, y = NAMES, canvas.height - 45
    for word in words:
        canvas.area([(left, y), (left + 9, y), (left + 9, y + 7), (left, y + 7)], COLOURS[word])
        box = canvas.text(word, left + 13, y, 8.5)
        left = box[2] + 14
    canvas.line([(left + 4, y - 2), (left + 4, y + 9)], BLACK, 1.8)
    canvas.text("usable", left + 10, y, 8.5)


def _bar(
    canvas: Canvas, scale: Scale, case: BoundCase, label: str, parts: dict[str, str], middle: float
) -> None:
    start, usable = 0.0, scale(float(case.case.value("usable_memory")) / GIGABYTE)
    for name, word in parts.items():
        size = float(memory_part(name, case).value)
        canvas.drawn.append((word, label, size))
        end = start + size / GIGABYTE
        _box(canvas, scale(start), scale(end), middle, COLOURS[word], word, usable)
        start = end
    canvas.drawn.append(("usable memory", label, float(case.case.value("usable_memory"))))
    canvas.line([(usable, middle - 12), (usable, middle + 12)], BLACK, 1.8)
    lines = wrapped(label, 8.5, NAMES - 12)
    lines = (
        [
            *lines[:1],
            wrapped(" ".join(lines[1:]), 8.5, NAMES - 18)[0] + ("…" if len(lines) > 2 else ""),
        ]
        if len(lines) > 1
        else lines
    )
    canvas.text("\n".join(lines), NAMES - 6, middle - 3 + 5 * (len(lines) - 1), 8.5, align=1.0)
    _totals(canvas, case, scale(start), usable, middle)


def _totals(canvas: Canvas, case: BoundCase, end: float, usable: float, middle: float) -> None:
    """Label the needed bytes at the bar and the usable bytes at their line, or both at the line if there is no room."""
    total, most = (
        case.result(name).plain().partition(" (")[0] for name in ("memory_bytes", "usable_memory")
    )
    if case.does_not_fit:
        canvas.text(
            f"{total} of {most}:\ndoes not fit",
            max(end, usable) + 6,
            middle + 2,
            8.5,
            VERMILION,
            bold=True,
        )
    elif end + text_width(total, 8.5) + 12 < usable:
        canvas.text(total, end + 6, middle - 3, 8.5)
        canvas.text(most, usable + 6, middle - 3, 8.5, GREY)
    else:
        canvas.text(f"{total} of {most}", usable + 6, middle - 3, 8.5)


def _box(
    canvas: Canvas, left: float, right: float, middle: float, colour: str, word: str, line: float
) -> None:
    """A part of a bar, labelled inside if there is room, so that no reader has to distinguish colours."""
    if right - left < 0.3:
        return
    corners = [
        (left, middle - BAR / 2),
        (right, middle - BAR / 2),
        (right, middle + BAR / 2),
        (left, middle + BAR / 2),
    ]
    canvas.area(corners, colour)
    canvas.line([*corners, corners[0]], "#FFFFFF", 0.8)
    wide = text_width(word, TICK_SIZE) + 8
    if wide < right - left and not abs(line - (left + right) / 2) < wide / 2:
        canvas.text(
            word,
            (left + right) / 2,
            middle - 3,
            TICK_SIZE,
            "#FFFFFF" if word in ("weights", "state") else BLACK,
            align=0.5,
        )


def _axis(canvas: Canvas, scale: Scale) -> None:
    canvas.line([(scale.start, 32), (scale.end, 32)], GREY, 0.8)
    for mark in round_values(0, scale.high, 6):
        canvas.line([(scale(mark), 32), (scale(mark), 29)], GREY, 0.8)
        canvas.text(f"{mark:,.4g}", scale(mark), 20, TICK_SIZE, GREY, align=0.5)
    canvas.text("GB", (scale.start + scale.end) / 2, 7, 9, align=0.5)


def _sentence(case: BoundCase, label: str) -> str:
    needed, usable = case.result("memory_bytes").plain(), case.result("usable_memory").plain()
    return f"{label}: {needed} of {usable}{', does not fit' if case.does_not_fit else ''}"
