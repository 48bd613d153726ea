"""As the batch grows: throughput against ITL with memory limit, target and ridge; and what a study compares, as ``symroof select`` ranks it, with the pick."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import (
    ISOLATED,
    Bounds,
    along,
    at_last_step,
    compared,
    known,
    log_spaced,
    logarithmic,
    metrics_of,
    next_power_of_two,
    requests,
)
from symroof.report.pictures.styles import SERIES
from symroof.report.purchase_text import labelled, tokens_text, usd
from symroof.report.recommendation import Reviewed, reviewed
from symroof.select.recommend import Purchase
from symroof.units import significant

LARGEST, POINTS = 2.0**17, 40
NOTE = "The dashed grey line beyond what memory holds, and what is marked †, does not fit. Compute limits from the ridge on. Both axes are logarithmic; every mark is solved."


def latency_throughput(study: Study, subject: BoundCase) -> Chart:
    """The output rate of one case over its ITL, with the batches that memory and the target allow.

    Raises:
        InputError: no batch moves its ITL.
    """
    of = metrics_of([subject])
    if not known(subject, of.itl, of.rate, "peak_context"):
        raise lacking("latency-throughput", subject, of.itl, of.rate, "peak_context")
    there = at_last_step(subject) if of is ISOLATED else subject
    if "batch" not in there.case.inputs_used(of.itl):
        raise lacking("latency-throughput", subject, otherwise="no batch moves its ITL")
    bounds = Bounds.of(of.itl, there, "batch", ridge=of is ISOLATED)
    batch = float(subject.case.value("batch"))

    def points(batches: Any, case: BoundCase = there) -> Any:
        return np.column_stack([along(case.case, n, "batch", batches) for n in (of.itl, of.rate)])

    batches, end = _batches(bounds, batch)
    roofs = [there.at_peak] if there.at_peak else []
    seen = np.concatenate([points(batches[batches <= end], each) for each in (there, *roofs)])
    goals = [bounds.goal] if bounds.goal is not None else []
    chart = Chart(
        "latency-throughput",
        case_title(subject),
        f"Throughput against {of.latency} as the batch grows, both axes logarithmic.",
        [_sentence(bounds, batch)],
        Axis(of.latency, *logarithmic([*seen[:, 0], *goals], 1.4), seconds),
        Axis(of.of_rate, *logarithmic(seen[:, 1], 1.6), counted),
        notes=[NOTE, of.note],
        does_not_fit=bounds.edge < 1,
    )
    for goal in goals:
        chart.shade(chart.x.low, goal, "sky", 0.14)
        chart.upright("target", goal, "vermilion", "--", f"ITL target {seconds(goal)}")
    (colour, *_), edge = SERIES[0], bounds.edge
    chart.curve("line", points(batches[batches <= edge]), colour, "-", 2.2)
    chart.curve("beyond", points(batches[batches >= edge]), "faint", "--", 1.6, "does not fit")
    for roof in roofs:
        chart.curve("bound", points(batches, roof), colour, ":", 1.0, "at 100 % of peak")
    for name, place, shape, mark in (
        ("memory", bounds.memory, "s", "ink"),
        ("target met", bounds.target, "^", "vermilion"),
        ("ridge", bounds.ridge, "D", "ink"),
    ):
        if place and place.exists and place.value >= 1:
            flag = " †" if name == "target met" and place.value > edge else ""
            ridge = requests(math.ceil(place.value))
            words = ridge if name == "ridge" else f"{place.allows('request')}{flag}"
            label = f"{name.removesuffix(' met')}: {words}"
            chart.spots(name, points([place.value]), shape, mark, 7, label=label)
    label = f"batch {counted(batch)}{' †' if batch > edge else ''}"
    chart.spots("batch", points([batch]), "o", "ink", 6, True, label)
    return chart


def _batches(bounds: Bounds, batch: float) -> tuple[Any, float]:
    """The batches that are drawn, and up to which the axes reach: somewhat beyond the solved limits and the case's own."""
    solved = [place.value for place in bounds.limits if place.exists]
    reach = next_power_of_two(max([64, 4 * batch, *(2 * x for x in solved)]))
    most = min(reach, max(LARGEST, 2 * batch))
    marks = [8.0, batch, *(x.value for x in (bounds.memory, bounds.target) if x and x.exists)]
    ridge = bounds.ridge
    if ridge and ridge.exists and ridge.value < 64 * max(marks):
        marks.append(ridge.value)
    return log_spaced(1, most, [*solved, batch], POINTS), 2 * max(marks)


def _sentence(bounds: Bounds, batch: float) -> str:
    """Batch limits by memory and target, and the ridge."""
    texts, ridge = bounds.allow("request")[::-1], bounds.ridge
    if ridge and ridge.exists:
        texts.append(f"the ridge lies at {requests(math.ceil(ridge.value))}")
    elif ridge:
        texts.append("no batch reaches the ridge" if ridge.value else "compute limits every batch")
    if batch > bounds.edge:
        texts.append(f"batch {counted(batch)} does not fit")
    return ", ".join(texts) or "nothing limits the batch"


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
