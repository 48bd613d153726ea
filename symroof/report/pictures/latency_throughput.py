"""Throughput against ITL as the batch grows, with memory limit, target and ridge, for up to four configurations."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import queues, under_load
from symroof.cases.bound_case import BoundCase
from symroof.drawing.colours import BLACK, DASHED, DOTTED, GREY, SERIES, SKY, VERMILION, WHITE
from symroof.drawing.frame import Frame
from symroof.drawing.scales import log_ticks, next_power_of_two
from symroof.report.pictures.cases import BatchSeries, batch_series, compared, known, shown_case
from symroof.report.pictures.curves import (
    AT_PEAK,
    BEYOND,
    Bounds,
    cases_at,
    log_spaced,
    memory_limit,
    solve_limit,
    values_along,
)
from symroof.report.pictures.labels import allowances, counted, requests, seconds, target_word
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet


@dataclass(frozen=True)
class ThroughputMetrics:
    """The latency and rate to draw, and the texts that describe them."""

    itl: str
    rate: str
    headline: str
    up: str
    across: str
    where: str
    note: str


UNDER_LOAD = ThroughputMetrics(
    "sustained_itl", "sustained_throughput", "Throughput against inter-token latency under load as the batch grows",
    "sustained output tokens per second, prefills included", "inter-token latency under load", "", "A server under load, prefills included, as targets are tested.",
)  # fmt: skip
FULL_SLOTS = replace(
    UNDER_LOAD,
    headline="Throughput against inter-token latency at full slots as the batch grows",
    across="inter-token latency at full slots",
    note="Every slot taken, prefills included: at the study's arrival rate fewer requests decode, in shorter steps.",
)
"""The same where a rate is given: the curve over the batch is not at that rate."""
ISOLATED = ThroughputMetrics(
    "itl", "decode_throughput", "Throughput against inter-token latency of decode alone as the batch grows",
    "output tokens per second of the whole batch, at the last step", "inter-token latency at the last step", "at the context of the last step",
    "Decode alone: on a server under load, prefills lengthen the steps.",
)  # fmt: skip

MOST_LINES = 4
LARGEST, POINTS = 2.0**17, 40


@dataclass(frozen=True)
class ThroughputCurve:
    """The throughput and ITL of a configuration by batch, with its solved limits."""

    of: ThroughputMetrics
    configuration: BatchSeries
    there: BoundCase
    batches: list[Fraction]
    rates: list[float]
    latencies: list[float]
    bounds: Bounds
    roof: list[tuple[float, float]]
    """The same batches at 100 % of peak; empty if the case assumes that already."""

    def at(self, batch: Fraction | float) -> tuple[float, float]:
        """ITL and throughput of a batch."""
        case = self.there.case.changed({"batch": Fraction(batch)})
        return float(case.value(self.of.itl)), float(case.value(self.of.rate))

    @property
    def places(self) -> list[tuple[float, float]]:
        return list(zip(self.latencies, self.rates, strict=True))

    @property
    def edge(self) -> float:
        return float(self.bounds.memory.value) if self.bounds.memory else math.inf


def picture(study: Study, subject: BoundCase) -> Picture:
    """The picture of the subject and other configurations, up to ``MOST_LINES``.

    Raises:
        InputError: no case has an ITL that the batch moves.
    """
    of = ISOLATED
    if all(under_load(case.case) for case in study.cases):
        of = FULL_SLOTS if any(queues(case.case) for case in study.cases) else UNDER_LOAD
    every = [
        one for one in batch_series(study) if known(one.first, of.itl, of.rate, "peak_context")
    ]
    every = [
        one
        for one in every
        if "batch" in shown_case(one, of is not ISOLATED).case.inputs_used(of.itl)
    ]
    if not every:
        raise lacking(
            "latency-throughput",
            subject,
            of.itl,
            of.rate,
            "peak_context",
            otherwise="no batch moves its ITL",
        )
    every.sort(key=lambda configuration: subject not in configuration.cases)
    curves = [_curve(configuration, of) for configuration in every[:MOST_LINES]]
    single = len(every) == 1
    count = f"{len(curves)} of {len(every)}" if len(every) > len(curves) else f"{len(every)}"
    named = case_title(subject) if single else compared(study, f"{count} configurations", of.where)
    canvas = sheet(of.headline, named, single and curves[0].edge < 1)
    frame = framed(canvas, *_ends(curves))
    _draw(frame, curves)
    for made in curves:
        _mark(frame, made)
    _label(frame, curves)
    left_out = [configuration.label for configuration in every[MOST_LINES:]]
    notes = [
        "Square: the last batch that memory holds; the dashed grey line beyond it, and what is marked †, does not fit. Triangle: the target. "
        + (
            "Diamond: the ridge batch, from which compute limits. "
            if any(made.bounds.ridge for made in curves)
            else ""
        )
        + "Ring: a batch of the study. Both axes are logarithmic; every mark is solved.",
        of.note,
        f"Left out: {'; '.join(left_out)}." if left_out else "",
    ]
    return finished(
        "latency-throughput",
        of.headline,
        named,
        frame,
        f"{of.headline}, both axes logarithmic.",
        says(curves, single),
        notes,
    )


def _bounds(there: BoundCase, of: ThroughputMetrics) -> Bounds:
    """The limits; without a ridge under load, where steps include prefill."""
    if of is ISOLATED:
        return Bounds.of("itl", there, "batch")
    return Bounds(
        "itl",
        "batch",
        there.targets.get("itl"),
        memory_limit(there, "batch"),
        solve_limit(f"{of.itl} = itl_target", there, "batch"),
        None,
    )


def _curve(configuration: BatchSeries, of: ThroughputMetrics) -> ThroughputCurve:
    there = shown_case(configuration, of is not ISOLATED)
    bounds = _bounds(there, of)
    solved = [float(place.value) for place in bounds.limits if place.exists]
    own = [float(batch) for batch in configuration.batches]
    high = min(
        next_power_of_two(
            max([64, *(4 * batch for batch in own), *(2 * value for value in solved)])
        ),
        max(LARGEST, 2 * max(own)),
    )
    batches = log_spaced(1, high, [*solved, *own], POINTS)
    cases = cases_at(there.case, "batch", batches)
    peak = cases_at(there.at_peak.case, "batch", batches) if there.at_peak else []
    roof = list(zip(values_along(peak, of.itl), values_along(peak, of.rate), strict=True))
    return ThroughputCurve(
        of,
        configuration,
        there,
        batches,
        values_along(cases, of.rate),
        values_along(cases, of.itl),
        bounds,
        roof,
    )


def _ends(curves: list[ThroughputCurve]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges of both axes: from batch 1 to somewhat beyond the solved limits and the study's batches."""
    shown = []
    for made in curves:
        marks = [
            float(place.value)
            for place in (made.bounds.memory, made.bounds.target)
            if place and place.exists
        ] + [float(b) for b in made.configuration.batches]
        ridge = made.bounds.ridge
        if ridge and ridge.exists and ridge.value < 64 * max(marks):
            marks.append(float(ridge.value))
        last = 2 * max([8.0, *marks])
        shown += [
            place
            for line in (made.places, *([made.roof] if len(curves) <= 2 else []))
            for batch, place in zip(made.batches, line, strict=False)
            if batch <= last
        ]
    goals = [float(goal) for goal in _goals(curves)]
    latencies, rates = zip(*shown, strict=True)
    return (min([*latencies, *goals]) / 1.4, max([*latencies, *goals]) * 1.4), (
        min(rates) / 1.6,
        max(rates) * 1.6,
    )


def _goals(curves: list[ThroughputCurve]) -> list[Fraction]:
    """The ITL targets of the configurations, each once."""
    return sorted({made.bounds.goal for made in curves if made.bounds.goal is not None})


def _draw(frame: Frame, curves: list[ThroughputCurve]) -> None:
    goals = _goals(curves)
    for goal in goals:
        frame.shade(frame.x.low, float(goal), SKY, 0.16)
    of = curves[0].of
    frame.axes(of.across, of.up, log_ticks, log_ticks, seconds, counted)
    for goal in goals:
        frame.vertical_line(f"target {goal}", float(goal), VERMILION, DASHED)
    for i, made in enumerate(curves):
        colour, dash, _ = SERIES[i]
        pairs = list(zip(made.batches, made.places, strict=True))
        frame.curve(
            f"beyond {i}",
            [place for batch, place in pairs if batch >= made.edge],
            BEYOND,
            1.6,
            DASHED,
        )
        frame.curve(
            f"line {i}", [place for batch, place in pairs if batch <= made.edge], colour, 2.2, dash
        )
        frame.curve(f"bound {i}", made.roof if len(curves) <= 2 else [], colour, 1.0, DOTTED)


def _mark(frame: Frame, made: ThroughputCurve) -> None:
    bounds = made.bounds
    for place, shape, colour in (
        (bounds.ridge, "diamond", BLACK),
        (bounds.target, "up", VERMILION),
        (bounds.memory, "square", BLACK),
    ):
        if place and place.value >= 1 and place.exists:
            frame.marker(*made.at(place.value), shape, colour, 4.5)
    for batch in made.configuration.batches:
        frame.marker(*made.at(batch), "circle", BLACK, 3.8, WHITE)


def _label(frame: Frame, curves: list[ThroughputCurve]) -> None:
    few = len(curves) <= 2
    for i, made in enumerate(curves):
        if len(curves) > 1:
            frame.label_line(
                f"line {i}" if frame.placer.has_line(f"line {i}") else f"beyond {i}",
                (made.configuration.label,),
                SERIES[i][0],
                bold=True,
            )
    for i, made in enumerate(curves):
        memory, target, ridge = made.bounds.memory, made.bounds.target, made.bounds.ridge
        if memory and memory.value >= 1 and memory.exists:
            frame.label_point(
                *made.at(memory.value),
                (f"memory: {memory.allows('request')}", f"batch {memory.count:,}")[not few :],
                BLACK,
            )
        if target and target.value >= 1 and target.exists:
            gone = " †" if few and target.value > made.edge else ""
            frame.label_point(
                *made.at(target.value),
                (f"target: {target.allows('request')}{gone}", f"batch {target.count:,}{gone}")[
                    not few :
                ],
                VERMILION,
            )
        if ridge and ridge.exists and few:
            frame.label_point(
                *made.at(ridge.value),
                (
                    f"ridge: {math.ceil(ridge.value):,} requests",
                    f"batch {math.ceil(ridge.value):,}",
                ),
                BLACK,
            )
        for batch in made.configuration.batches if few else ():
            flag = " †" if batch > made.edge else ""
            frame.label_point(
                *made.at(batch),
                (f"batch {counted(float(batch))}{flag}", f"{counted(float(batch))}"),
                GREY,
            )
        frame.label_line(f"beyond {i}", ("does not fit",), GREY, needed=False)
        frame.label_line(f"bound {i}", (AT_PEAK, "bound"), SERIES[i][0], needed=i == 0)
    for goal in _goals(curves):
        frame.label_line(f"target {goal}", (target_word("ITL", goal),), VERMILION)


def says(curves: list[ThroughputCurve], single: bool) -> str:
    """The takeaway of every curve: batch limits by memory and target, and the ridge."""
    if curves[0].of is not ISOLATED:
        return (
            "Under load: "
            + ". ".join(
                ("" if single else f"{made.configuration.label}: ") + _sentence(made)
                for made in curves
            )
            + "."
        )
    contexts = [int(made.there.case.value("context")) for made in curves]
    same = len(set(contexts)) == 1
    texts = [
        f"{'' if single else f'{made.configuration.label}: '}{'' if same else f'at a context of {context:,} tokens '}{_sentence(made)}"
        for made, context in zip(curves, contexts, strict=True)
    ]
    return f"{f'At a context of {contexts[0]:,} tokens' if same else 'At the last step'}: {'. '.join(texts)}."


def _sentence(made: ThroughputCurve) -> str:
    """One curve in words."""
    texts, ridge, bounds = allowances(made.bounds, "request")[::-1], made.bounds.ridge, made.bounds
    if ridge and ridge.exists:
        texts.append(f"the ridge lies at {requests(Fraction(math.ceil(ridge.value)))}")
    elif ridge:
        texts.append("no batch reaches the ridge" if ridge.value else "compute limits every batch")
    beyond = [
        f"batch {counted(float(batch))} does not fit"
        for batch in made.configuration.batches
        if batch > made.edge
    ]
    ends = sorted(
        (float(place.value), name)
        for place, name in ((bounds.memory, "memory"), (bounds.target, "the target"))
        if place and 1 <= place.value < math.inf
    )
    return ", ".join([*texts, *beyond]) + (
        f": {ends[0][1]} ends the batch first" if len(ends) == 2 and not beyond else ""
    )
