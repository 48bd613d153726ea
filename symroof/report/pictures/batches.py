"""As the batch grows: throughput against ITL with memory limit, target and ridge for up to four configurations; and what a study compares, as ``symroof select`` ranks it, with the pick."""

from __future__ import annotations

import math

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import (
    ISOLATED,
    Configuration,
    compared,
    configurations,
    log_spaced,
    logarithmic,
    metrics_of,
    next_power_of_two,
    requests,
    target_of,
)
from symroof.report.pictures.styles import SERIES
from symroof.report.purchase_text import labelled, tokens_text, usd
from symroof.report.recommendation import Reviewed, reviewed
from symroof.select.recommend import Purchase
from symroof.units import significant

MOST_LINES = 4
LARGEST, POINTS = 2.0**17, 40
NOTE = "The dashed grey line beyond what memory holds, and what is marked †, does not fit. Compute limits from the ridge on. Both axes are logarithmic; every mark is solved."


def latency_throughput(study: Study, subject: BoundCase) -> Chart:
    """The subject's configuration and others of the study.

    Raises:
        InputError: no case has an ITL that the batch moves.
    """
    of = metrics_of(study.cases)
    needed = (of.itl, of.rate, "peak_context")
    every = [
        one
        for one in configurations(study.cases, of, *needed)
        if "batch" in one.there.case.inputs_used(of.itl)
    ]
    if not every:
        why = "no batch moves its ITL"
        raise lacking("latency-throughput", subject, *needed, otherwise=why)
    every.sort(key=lambda one: subject not in one.cases)
    shown, single = every[:MOST_LINES], len(every) == 1
    count = f"{len(shown)} of {len(every)}" if len(every) > len(shown) else f"{len(every)}"
    few, drawn = len(shown) <= 2, [(one, _batches(one)) for one in shown]
    near = [(one, batches[batches <= _end(one)]) for one, batches in drawn]
    seen = np.concatenate(
        [
            one.points(batches, of.rate, case)
            for one, batches in near
            for case in (one.there, one.there.at_peak if few else None)
            if case
        ]
    )
    across = [*seen[:, 0], *target_of(shown)]
    chart = Chart(
        "latency-throughput",
        case_title(subject) if single else compared(study.cases, f"{count} configurations", of),
        f"Throughput against {of.latency} as the batch grows, both axes logarithmic.",
        [_sentence(one, single) for one in shown],
        Axis(of.latency, *logarithmic(across, 1.4), seconds),
        Axis(of.of_rate, *logarithmic(seen[:, 1], 1.6), counted),
        notes=[NOTE, of.note],
        does_not_fit=single and shown[0].bounds.edge < 1,
    )
    if left_out := [one.label for one in every[MOST_LINES:]]:
        chart.notes.append(f"Left out: {'; '.join(left_out)}.")
    for goal in target_of(shown):
        chart.shade(chart.x.low, goal, "sky", 0.14)
        chart.upright(f"target {goal:g}", goal, "vermilion", "--", f"ITL target {seconds(goal)}")
    for (one, batches), (colour, dash, _) in zip(drawn, SERIES, strict=False):
        name, edge = "" if single else one.label, one.bounds.edge
        fits, beyond = (
            one.points(batches[cut], of.rate) for cut in (batches <= edge, batches >= edge)
        )
        gone = f"{name}, does not fit" if len(fits) < 2 and name else "does not fit"
        chart.curve(f"line {one.label}", fits, colour, dash, 2.2, name)
        chart.curve(f"beyond {one.label}", beyond, "faint", "--", 1.6, gone)
        if few and one.there.at_peak:
            roof = one.points(batches, of.rate, one.there.at_peak)
            chart.curve(f"bound {one.label}", roof, colour, ":", 1.0, "at 100 % of peak")
    for one in shown:
        _mark(chart, one, few, "" if single else f"{one.label}, ")
    return chart


def _batches(one: Configuration) -> np.ndarray:
    solved = [place.value for place in one.bounds.limits if place.exists]
    reach = next_power_of_two(max([64, *(4 * x for x in one.batches), *(2 * x for x in solved)]))
    most = min(reach, max(LARGEST, 2 * max(one.batches)))
    found: np.ndarray = log_spaced(1, most, [*solved, *one.batches], POINTS)
    return found


def _end(one: Configuration) -> float:
    """Somewhat beyond the solved limits and the study's batches."""
    limits = (one.bounds.memory, one.bounds.target, one.bounds.ridge)
    marks = [8.0, *one.batches, *(place.value for place in limits[:2] if place and place.exists)]
    ridge = limits[2]
    near = ridge is not None and ridge.exists and ridge.value < 64 * max(marks)
    return 2 * max([*marks, ridge.value] if ridge and near else marks)


def _mark(chart: Chart, one: Configuration, few: bool, of: str) -> None:
    """The solved batches of one configuration, and those of the study."""
    bounds, rate = one.bounds, one.of.rate
    for name, place, shape, colour in (
        ("memory", bounds.memory, "s", "ink"),
        ("target", bounds.target, "^", "vermilion"),
        ("ridge", bounds.ridge, "D", "ink"),
    ):
        if not place or not place.exists or place.value < 1 or (name == "ridge" and not few):
            continue
        flag = " †" if name == "target" and place.value > bounds.edge else ""
        ridge = requests(math.ceil(place.value))
        words = ridge if name == "ridge" else f"{place.allows('request')}{flag}"
        spots, label = one.points([place.value], rate), f"{of}{name}: {words}"
        chart.spots(f"{name} of {one.label}", spots, shape, colour, 7, label=label if few else name)
    batches = ", ".join(
        f"{counted(batch)}{' †' if batch > bounds.edge else ''}" for batch in one.batches
    )
    words = f"{of}batch {batches}" if few else "batches of the study"
    own = one.points(one.batches, rate)
    chart.spots(f"batches of {one.label}", own, "o", "ink", 6, True, words)


def _sentence(one: Configuration, single: bool) -> str:
    """One configuration in words: batch limits by memory and target, and the ridge."""
    bounds, ridge = one.bounds, one.bounds.ridge
    texts = bounds.allow("request")[::-1]
    if ridge and ridge.exists:
        texts.append(f"the ridge lies at {requests(math.ceil(ridge.value))}")
    elif ridge:
        texts.append("no batch reaches the ridge" if ridge.value else "compute limits every batch")
    beyond = [batch for batch in one.batches if batch > bounds.edge]
    texts += [f"batch {counted(batch)} does not fit" for batch in beyond]
    name = "" if single else f"{one.label}: "
    if one.of is ISOLATED:
        name += f"at a context of {int(one.there.case.value('context')):,} tokens "
    return f"{name}{', '.join(texts)}"


MOST_CANDIDATES = 24
PAID = ("USD per month", "USD per million output tokens", "output tokens per second of one device")
"""What candidates are compared by, the first that is known."""


def pareto(study: Study, subject: BoundCase) -> Chart:
    """The candidates of a study in the order of ``symroof select``."""
    return ranked(reviewed(study))


def ranked(review: Reviewed) -> Chart:
    """A sign for each candidate at its ITL and what it costs: a month where requests arrive at a rate, else a million tokens; or what one device yields where no price is known.

    Raises:
        InputError: no candidate has an ITL and fits.
    """
    listed = [one for one in review.shown.best if one.counted]
    if not any(one.itl for one in listed):
        none = "memory holds none of its candidates" if not listed else "no candidate has an ITL"
        raise lacking("pareto", review.subject, "itl", "fits", otherwise=none)
    rate = metrics_of([one.case for one in listed]).device_rate
    title = next((t for t in PAID if any(_paid(one, t, rate) is not None for one in listed)), "")
    spots = []
    for one in listed[:MOST_CANDIDATES]:
        itl, y = one.itl, _paid(one, title, rate)
        if itl and y is not None:
            known_ends = (itl.value if x is None else x for x in (itl.low, itl.value, itl.high))
            spots.append((one, [*map(float, known_ends)], y))
    if not spots:
        raise lacking("pareto", review.subject, rate)
    shown = [one for one, *_ in spots]
    own = case_title(shown[0].case)
    chart = Chart(
        "pareto",
        own
        if len(shown) == 1
        else compared([one.case for one in shown], f"{len(shown)} candidates"),
        f"{title} against the time between tokens of each candidate",
        _found(review, title),
        Axis(
            "time between tokens",
            *logarithmic([x for _, ends, _ in spots for x in ends], 1.2),
            seconds,
        ),
        Axis(title, *logarithmic([y for *_, y in spots], 1.6), in_unit("")),
        notes=["Lines: the interval of the time between tokens. Filled: passes; hollow: does not."],
    )
    for i, (one, ends, y) in enumerate(spots):
        colour, _, shape = SERIES[i] if i < len(SERIES) else ("pale", "-", "o")
        if ends[0] < ends[2]:
            interval = [(ends[0], y), (ends[2], y)]
            chart.curve(f"interval of {labelled(one)}", interval, colour, "-", 1.4)
        size, label = 9 if one is review.pick else 7, f"{_named(one)}: {significant(y, 3)}"
        chart.spots(labelled(one), [(ends[1], y)], shape, colour, size, not one.passes, label)
    goal = review.subject.targets.get("itl")
    if goal is not None:
        chart.x.high = max(chart.x.high, 1.2 * float(goal))
        words = f"ITL target {seconds(float(goal))}"
        chart.upright("target", float(goal), "vermilion", "--", words)
    if names := [labelled(one) for one in review.shown.best if one not in shown]:
        chart.notes.append(f"Left out: {'; '.join(names)}.")
    return chart


def _paid(one: Purchase, title: str, rate: str) -> float | None:
    """What is compared of a candidate with an ITL; None where it is not known."""
    if not one.itl or title == PAID[0]:
        return one.usd_per_month if one.itl and one.load is not None else None
    found = one.cost_per_mtok if title == PAID[1] else one.case.get(rate)
    return None if found is None else float(found.value)


def _named(one: Purchase) -> str:
    """A candidate with its batch."""
    told = "batch" in dict(one.run.own.varied) or one.load is not None
    return labelled(one) if told else f"{labelled(one)}, batch {one.batch:,}"


def _found(review: Reviewed, paid: str) -> list[str]:
    """What the pick costs, and how that compares with the next."""
    pick, ranking = review.pick, review.shown
    if pick is None:
        return ["nothing passes"] if review.asks else ["the study sets no targets"]
    month = f"{usd(pick.usd_per_month or 0)} USD/month"
    price = month if paid == PAID[0] else tokens_text(pick)
    said = f"{_named(pick)}: {price}" if price else f"{_named(pick)} passes"
    other = next((one for one in ranking.others if one.passes), None)
    mine, theirs = ranking.spent(pick), ranking.spent(other) if other else None
    if other and mine and theirs:
        said += f", {significant(100 * mine / theirs, 2)} % of {labelled(other)}"
    return [said]
