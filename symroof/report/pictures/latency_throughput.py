"""ITL against throughput as the batch grows: where memory ends, where the target ends, where the ridge lies, for one case or a few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.study import Study
from symroof.analysis.verdict import case_title
from symroof.cases.case_results import Answers
from symroof.drawing.colours import BLACK, DASHED, GREY, SERIES, SKY, VERMILION, WHITE, Dash
from symroof.drawing.frame import Frame
from symroof.drawing.scales import decimal
from symroof.report.pictures.cases import Configuration, at_last_step, compared, configurations, known
from symroof.report.pictures.curves import BEYOND, Limit, curve, held, limit, power_of_two, speaks_of, spread
from symroof.report.pictures.sheet import Picture, finished, framed, lacking, sheet
from symroof.report.pictures.words import counted, requests, seconds, target_word

HEADLINE = "Inter-token latency against throughput as the batch grows"
RIDGE, TARGET = "decode_compute_time = decode_memory_time", "itl = itl_target"
MOST_LINES = 4
LARGEST, POINTS = 2.0**17, 40


@dataclass(frozen=True)
class Curve:
    """One configuration: batches with throughput and ITL at the last step's context, and what was solved."""

    configuration: Configuration
    there: Answers
    batches: list[Fraction]
    rates: list[float]
    latencies: list[float]
    memory: Limit | None
    target: Limit | None
    ridge: Limit | None

    def at(self, batch: Fraction | float) -> tuple[float, float]:
        """Throughput and ITL of a batch."""
        case = self.there.case.changed({"batch": Fraction(batch)})
        return float(case.value("decode_throughput")), float(case.value("itl"))

    @property
    def places(self) -> list[tuple[float, float]]:
        return list(zip(self.rates, self.latencies, strict=True))

    @property
    def edge(self) -> float:
        return float(self.memory.value) if self.memory else math.inf


def picture(study: Study, subject: Answers) -> Picture:
    """The picture of the subject and the configurations beside it, as many as can be read.

    Raises:
        InputError: no case has an ITL that the batch moves.
    """
    every = [found for found in configurations(study) if known(found.first, "itl", "decode_throughput", "peak_context")]
    every = [found for found in every if "batch" in at_last_step(found.first).case.used("itl")]
    if not every:
        raise lacking("latency-throughput", subject, "itl", "decode_throughput", "peak_context", otherwise="no batch moves its ITL")
    every.sort(key=lambda found: subject not in found.cases)
    curves = [_curve(found) for found in every[:MOST_LINES]]
    single = len(every) == 1
    named = (
        case_title(subject)
        if single
        else compared(
            study,
            f"{len(curves)} of {len(every)} configurations" if len(every) > len(curves) else f"{len(every)} configurations",
            "at the context of the last step",
        )
    )
    canvas = sheet(HEADLINE, named, single and curves[0].edge < 1)
    frame = framed(canvas, *_ends(curves))
    _draw(frame, curves)
    for made in curves:
        _mark(frame, made)
    _label(frame, curves, study)
    left_out = [found.label for found in every[MOST_LINES:]]
    notes = [
        "Square: the last batch that memory holds; the dashed grey line beyond it does not fit. Triangle: the target. Diamond: the ridge batch, from which compute limits. "
        "Ring: a batch of the study. Both axes are logarithmic; every mark is solved.",
        f"Left out: {'; '.join(left_out)}." if left_out else "",
    ]
    return finished("latency-throughput", HEADLINE, named, frame, f"{HEADLINE}, both axes logarithmic.", says(curves, single), notes)


def _curve(found: Configuration) -> Curve:
    there = at_last_step(found.first)
    memory, target = held(there, "batch"), limit(TARGET, there, "batch")
    ridge = limit(RIDGE, there, "batch") if speaks_of(there, "itl", "decode_compute_time", "decode_memory_time") else None
    solved = [float(place.value) for place in (memory, target, ridge) if place and place.real]
    own = [float(batch) for batch in found.batches]
    high = min(power_of_two(max([64, *(4 * batch for batch in own), *(2 * value for value in solved)])), max(LARGEST, 2 * max(own)))
    batches = spread(1, high, [*solved, *own], POINTS)
    return Curve(found, there, batches, curve(there, "decode_throughput", "batch", batches), curve(there, "itl", "batch", batches), memory, target, ridge)


def _ends(curves: list[Curve]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Throughput and ITL from a batch of one to somewhat beyond what was solved and what the study asks; the rest of a curve runs out of the frame."""
    shown = []
    for made in curves:
        marks = [float(place.value) for place in (made.memory, made.target) if place and place.real] + [float(b) for b in made.configuration.batches]
        if made.ridge and made.ridge.real and made.ridge.value < 64 * max(marks):
            marks.append(float(made.ridge.value))
        last = 2 * max([8.0, *marks])
        shown += [place for batch, place in zip(made.batches, made.places, strict=True) if batch <= last]
    goals = [float(made.there.targets["itl"]) for made in curves if "itl" in made.there.targets]
    rates, latencies = zip(*shown, strict=True)
    return (min(rates) / 1.3, max(rates) * 1.6), (min([*latencies, *goals]) / 1.5, max([*latencies, *goals]) * 1.5)


def _draw(frame: Frame, curves: list[Curve]) -> None:
    goals = {made.there.targets["itl"] for made in curves if "itl" in made.there.targets}
    for goal in goals:
        frame.region([(frame.x.low, frame.y.low), (frame.x.high, frame.y.low), (frame.x.high, float(goal)), (frame.x.low, float(goal))], SKY, 0.16)
    frame.axes(
        "output tokens per second of the whole batch, at the last step",
        "inter-token latency",
        decimal(frame.x.low, frame.x.high),
        decimal(frame.y.low, frame.y.high),
        counted,
        seconds,
    )
    for goal in goals:
        frame.across(f"target {goal}", float(goal), VERMILION, DASHED)
    for i, made in enumerate(curves):
        colour, dash, _ = look(i)
        pairs = list(zip(made.batches, made.places, strict=True))
        frame.curve(f"beyond {i}", [place for batch, place in pairs if batch >= made.edge], BEYOND, 1.6, DASHED)
        frame.curve(f"line {i}", [place for batch, place in pairs if batch <= made.edge], colour, 2.2, dash)


def look(i: int) -> tuple[str, Dash, str]:
    return SERIES[i]


def _mark(frame: Frame, made: Curve) -> None:
    for place, shape, colour in ((made.ridge, "diamond", BLACK), (made.target, "up", VERMILION), (made.memory, "square", BLACK)):
        if place and place.value >= 1 and place.real:
            frame.sign(*made.at(place.value), shape, colour, 4.5)
    for batch in made.configuration.batches:
        frame.sign(*made.at(batch), "circle", BLACK, 3.8, WHITE)


def _label(frame: Frame, curves: list[Curve], study: Study) -> None:
    goals = sorted({made.there.targets["itl"] for made in curves if "itl" in made.there.targets})
    few = len(curves) <= 2
    for i, made in enumerate(curves):
        if len(curves) > 1:
            frame.beside(f"line {i}" if frame.places.shows(f"line {i}") else f"beyond {i}", (made.configuration.label,), look(i)[0], bold=True)
    for i, made in enumerate(curves):
        if made.memory and made.memory.value >= 1 and made.memory.real:
            frame.near(*made.at(made.memory.value), (f"memory: {made.memory.allows('request')}", f"{made.memory.count:,}")[not few :], BLACK)
        if made.target and made.target.value >= 1 and made.target.real:
            gone = " (does not fit)" if few and made.target.value > made.edge else ""
            frame.near(*made.at(made.target.value), (f"target: {made.target.allows('request')}{gone}", f"{made.target.count:,}{gone}")[not few :], VERMILION)
        if made.ridge and made.ridge.real and few:
            frame.near(*made.at(made.ridge.value), (f"ridge: {math.ceil(made.ridge.value):,} requests", f"{math.ceil(made.ridge.value):,}"), BLACK)
        for batch in made.configuration.batches if few else ():
            flag = " (does not fit)" if batch > made.edge else ""
            frame.near(*made.at(batch), (f"batch {counted(float(batch))}{flag}", f"{counted(float(batch))}"), GREY)
        frame.beside(f"beyond {i}", ("does not fit",), GREY, needed=False)
    for goal in goals:
        frame.beside(f"target {goal}", (target_word("ITL", goal),), VERMILION)


def says(curves: list[Curve], single: bool) -> str:
    """The takeaway of every line: how far memory and the target let the batch grow, and whether it gets to the ridge."""
    contexts = [int(made.there.case.value("context")) for made in curves]
    same = len(set(contexts)) == 1
    told = [
        f"{'' if single else f'{made.configuration.label}: '}{'' if same else f'at a context of {context:,} tokens '}{_said(made)}"
        for made, context in zip(curves, contexts, strict=True)
    ]
    return f"{f'At a context of {contexts[0]:,} tokens' if same else 'At the last step'}: {'. '.join(told)}."


def _said(made: Curve) -> str:
    """One line in words."""
    said = [f"memory holds {made.memory.allows('request')}"] if made.memory else []
    if made.target and "itl" in made.there.targets:
        said.append(f"the target of {seconds(float(made.there.targets['itl']))} allows {made.target.allows('request')}")
    if made.ridge:
        ridge = "no batch reaches the ridge" if made.ridge.value else "compute limits every batch"
        said.append(f"the ridge lies at {requests(Fraction(math.ceil(made.ridge.value)))}" if made.ridge.real else ridge)
    beyond = [f"batch {counted(float(batch))} does not fit" for batch in made.configuration.batches if batch > made.edge]
    ends = sorted((float(place.value), name) for place, name in ((made.memory, "memory"), (made.target, "the target")) if place and 1 <= place.value < math.inf)
    return ", ".join([*said, *beyond]) + (f": {ends[0][1]} ends the batch first" if len(ends) == 2 and not beyond else "")


__all__ = ["Curve", "picture"]
