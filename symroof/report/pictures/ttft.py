"""TTFT against the prompt: the target and where it is met, where the bound of the prefill changes, what memory holds."""

from __future__ import annotations

import math
from fractions import Fraction

from symroof.analysis.study import Study
from symroof.analysis.verdict import case_title
from symroof.cases.case_results import Answers
from symroof.drawing.colours import BLUE, DASH_DOT, DOTTED, GREY, OCHRE, ORANGE, SKY, VERMILION
from symroof.drawing.frame import Frame
from symroof.drawing.scales import decimal, powers_of_two
from symroof.report.pictures.curves import Limit, Line, band, curve, edges, held, limit, power_of_two, speaks_of, spread
from symroof.report.pictures.sheet import Picture, finished, framed, lacking, sheet
from symroof.report.pictures.words import counted, lines, met, name_regions, regions, ridge_words, seconds, target_word

HEADLINE = "Time to first token against the prompt"
RIDGE, TARGET = "prefill_compute_time = prefill_memory_time", "ttft = ttft_target"
PARTS = {"prefill_compute_time": ("compute alone", DOTTED), "prefill_memory_time": ("memory traffic alone", DASH_DOT)}
FURTHEST = 64.0
"""A solved prompt that lies further than this many times the case's own is told, not shown."""


def picture(study: Study, subject: Answers) -> Picture:
    """The picture of one case.

    Raises:
        InputError: the case has no TTFT, or no prompt moves it.
    """
    if subject.get("ttft") is None or "prompt" not in subject.case.used("ttft"):
        raise lacking("ttft", subject, "ttft", otherwise="no prompt moves its TTFT")
    memory, target = held(subject, "prompt"), limit(TARGET, subject, "prompt")
    ridge = limit(RIDGE, subject, "prompt") if speaks_of(subject, "ttft", *PARTS) else None
    found = [place for place in (memory, target, ridge) if place]
    low, high = _ends(float(subject.case.value("prompt")), found)
    line = Line.through(subject, "ttft", "prompt", spread(low, high, [float(place.value) for place in found]), memory)
    frame = _frame(subject, line, (low, high))
    _draw(frame, subject, line, ridge)
    _places(frame, subject, memory, target, ridge)
    _label(frame, subject, memory, target, ridge)
    notes = [
        "Both axes are logarithmic. Every crossing is solved" + (", at the middle of the ranges; the band is what the ranges span." if subject.corners else ".")
    ]
    shows = f"{HEADLINE}, from {low:,.0f} to {high:,.0f} tokens, both axes logarithmic."
    return finished("ttft", HEADLINE, case_title(subject), frame, shows, says(subject, memory, target, ridge), notes)


def _ends(prompt: float, found: list[Limit]) -> tuple[float, float]:
    near = [float(place.value) for place in found if prompt / FURTHEST < place.value < prompt * FURTHEST]
    return max(1.0, power_of_two(min([prompt / 8, *(value / 3 for value in near)])) / 2), power_of_two(max([prompt * 4, 64, *(value * 2 for value in near)]))


def _frame(subject: Answers, line: Line, ends: tuple[float, float]) -> Frame:
    goal = [float(subject.targets["ttft"])] if "ttft" in subject.targets else []
    shown = [*line.finite, *goal]
    return framed(sheet(HEADLINE, case_title(subject), subject.does_not_fit), ends, (min(shown) / 1.6, max(shown) * 1.5))


def _draw(frame: Frame, subject: Answers, line: Line, ridge: Limit | None) -> None:
    """Areas, axes and curves."""
    for start, end, winner in regions(subject, ridge, RIDGE, "prompt", frame.x):
        frame.span(start, end, ORANGE if winner == "compute" else SKY, 0.22)
    frame.band(line.places, band(subject, "ttft", "prompt", line.points), BLUE)
    frame.axes("prompt (tokens)", "time to first token", powers_of_two(frame.x.low, frame.x.high), decimal(frame.y.low, frame.y.high), counted, seconds)
    for name, (_, dash) in PARTS.items() if ridge else ():
        part = zip(line.places, curve(subject, name, "prompt", line.points), line.values, strict=True)
        frame.curve(name, [(x, y) for x, y, whole in part if y < 0.97 * whole], GREY, 1.1, dash)
    line.draw(frame, BLUE)


def _places(frame: Frame, subject: Answers, memory: Limit | None, target: Limit | None, ridge: Limit | None) -> None:
    """The lines and signs of what was solved, and of the case itself."""
    goal = subject.targets.get("ttft")
    edges(frame, goal, memory, ridge)
    if target and target.real and goal is not None:
        frame.sign(float(target.value), float(goal), "square", VERMILION, 4.5)
    x, y = float(subject.case.value("prompt")), float(Fraction(subject.result("ttft").value))
    frame.sign(x, y, "diamond", VERMILION, 5.0)


def _label(frame: Frame, subject: Answers, memory: Limit | None, target: Limit | None, ridge: Limit | None) -> None:
    goal, x, y = subject.targets.get("ttft"), float(subject.case.value("prompt")), float(Fraction(subject.result("ttft").value))
    frame.near(x, y, lines("this case: ", subject.result("ttft").text()), VERMILION, bold=True)
    if memory:
        frame.cut_told(float(memory.value), f"memory holds\n{memory.allows('token')}", f"memory:\n{memory.allows('token')}")
    if target and goal is not None and frame.x.holds(float(target.value)):
        frame.near(float(target.value), float(goal), met(target, memory), VERMILION)
    if goal is not None:
        frame.beside("target", (target_word("TTFT", goal),), VERMILION)
    if ridge and frame.x.holds(float(ridge.value)):
        frame.beside("ridge", ridge_words(ridge), OCHRE)
    name_regions(frame, subject, "prefill", "prompt", regions(subject, ridge, RIDGE, "prompt", frame.x), memory)
    for name, (word, _) in PARTS.items():
        frame.beside(name, (word,), GREY)


def says(subject: Answers, memory: Limit | None, target: Limit | None, ridge: Limit | None) -> str:
    """The takeaway: the case's own value, what the target and memory allow, where the bound changes."""
    prompt = int(subject.case.value("prompt"))
    said = [f"A prompt of {prompt:,} tokens takes {subject.result('ttft').text()} to its first token"]
    if target and "ttft" in subject.targets:
        said.append(f"the target of {seconds(float(subject.targets['ttft']))} allows {target.allows('token')}")
    if memory:
        said.append(f"memory holds {memory.allows('token')}")
    if ridge and ridge.real:
        said.append(f"from {math.ceil(ridge.value):,} tokens on compute takes longer than memory")
    elif ridge:
        said.append(f"{'compute' if not ridge.value else 'memory'} takes longer at every prompt")
    return "; ".join(said) + "."
