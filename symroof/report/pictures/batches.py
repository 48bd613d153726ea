"""As the batch grows: throughput against ITL with memory limit, target and ridge; and what a study compares, as ``symroof select`` ranks it, with the pick."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symroof.analysis.case_summary import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import under_load
from symroof.cases.bound_case import BoundCase
from symroof.report.field_names import quantity_name
from symroof.report.pictures.chart import SERIES, Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import (
    UNFIT,
    AxisLimit,
    along,
    at_a_context,
    compared,
    counted_in,
    log_spaced,
    logarithmic,
    next_power_of_two,
    solve_limit,
)
from symroof.report.purchase_text import labelled, tokens_text, usd
from symroof.report.recommendation import Reviewed, reviewed
from symroof.select.purchase import Purchase
from symroof.theory.declarations import FULL_MEMORY
from symroof.units import significant

LARGEST, POINTS = 2.0**17, 40
METRICS = {True: ("sustained_itl", "sustained_throughput"), False: ("itl", "decode_throughput")}
NOTES = {
    True: "A server with every slot taken, prefills included. At an arrival rate fewer requests decode, in shorter steps.",
    False: "Decode alone, at the last step: on a server under load, prefills lengthen the steps.",
}
"""Latency, rate and a note of a server under load, and of decode alone."""


def latency_throughput(study: Study, subject: BoundCase) -> Chart:
    """The output rate of one case over its ITL, with the batches that memory and the target allow.

    Raises:
        InputError: no batch moves its ITL.
    """
    loaded = under_load(subject.case)
    itl, rate = METRICS[loaded]
    if not all(map(subject.case.has_value, (itl, rate, "peak_context"))):
        raise lacking("latency-throughput", subject, itl, rate, "peak_context")
    there = subject if loaded else at_a_context(subject)
    if "batch" not in there.case.inputs_used(itl):
        raise lacking("latency-throughput", subject, otherwise="no batch moves its ITL")
    batch, target = float(subject.case.value("batch")), subject.targets.get("itl")
    equations = {"memory": FULL_MEMORY, "target met": f"{itl} = itl_target"}
    if not loaded:
        equations["ridge"] = "decode_compute_time = decode_memory_time"
    solved = {name: solve_limit(text, there, "batch") for name, text in equations.items()}
    limits = {name: limit for name, limit in solved.items() if limit}
    edge = limits["memory"].value if "memory" in limits else math.inf

    def points(batches: Any, case: BoundCase = there) -> Any:
        return np.column_stack([along(case.case, n, "batch", batches) for n in METRICS[loaded]])

    batches, end = _batches(limits, batch)
    roofs = [there.at_peak] if there.at_peak else []
    seen = np.concatenate([points(batches[batches <= end], each) for each in (there, *roofs)])
    goals = [] if target is None else [float(target)]
    chart = Chart(
        "latency-throughput",
        case_title(subject),
        "Throughput against ITL as the batch grows, both axes logarithmic.",
        [_sentence(limits, batch)],
        Axis(quantity_name(itl, subject), *logarithmic([*seen[:, 0], *goals], 1.4), seconds),
        Axis(f"{quantity_name(rate, subject)} (tokens/s)", *logarithmic(seen[:, 1], 1.6), counted),
        notes=[f"Both axes are logarithmic. {NOTES[loaded]}"],
        does_not_fit=edge < 1,
    )
    for goal in goals:
        chart.shade(chart.x.low, goal, "sky", 0.14)
        chart.rule("target", goal, "vermilion", "--", f"ITL target {seconds(goal)}")
    chart.curve("line", points(batches[batches <= edge]), "blue", "-", 2.2)
    chart.curve(
        "beyond", points(batches[batches >= edge]), "faint", "--", 1.6, "does not fit in memory"
    )
    for roof in roofs:
        chart.curve("bound", points(batches, roof), "blue", ":", 1.0, "at 100 % of peak")
    looks = {"memory": ("s", "ink"), "target met": ("^", "vermilion"), "ridge": ("D", "ink")}
    for name, place in limits.items():
        if place.exists and place.value >= 1:
            flag = UNFIT if name == "target met" and place.value > edge else ""
            most = f"{place.allows('request')}{flag}"
            words = counted_in("request", math.ceil(place.value)) if name == "ridge" else most
            label = f"{name.removesuffix(' met')}: {words}"
            chart.spots(name, points([place.value]), *looks[name], 7, label=label)
    label = f"batch {counted(batch)}{UNFIT if batch > edge else ''}"
    chart.spots("batch", points([batch]), "o", "ink", 6, True, label)
    return chart


def _batches(limits: dict[str, AxisLimit], batch: float) -> tuple[Any, float]:
    """The batches that are drawn, and up to which the axes reach: somewhat beyond the solved limits and the case's own."""
    solved = {name: place.value for name, place in limits.items() if place.exists}
    reach = next_power_of_two(max([64, 4 * batch, *(2 * x for x in solved.values())]))
    most = min(reach, max(LARGEST, 2 * batch))
    ridge = solved.pop("ridge", 0.0)
    end = max([8.0, batch, *solved.values()])
    batches = log_spaced(1, most, [*solved.values(), ridge, batch], POINTS)
    return batches, 2 * max(end, ridge if ridge < 64 * end else 0.0)


def _sentence(limits: dict[str, AxisLimit], batch: float) -> str:
    """Batch limits by memory and target, and the ridge."""
    words = {"memory": "memory holds", "target met": "the target allows"}
    texts = [f"{words[n]} {place.allows('request')}" for n, place in limits.items() if n in words]
    if ridge := limits.get("ridge"):
        said = "no batch reaches the ridge" if ridge.value else "compute limits every batch"
        if ridge.exists:
            said = f"the ridge lies at {counted_in('request', math.ceil(ridge.value))}"
        texts.append(said)
    if "memory" in limits and batch > limits["memory"].value:
        texts.append(f"batch {counted(batch)} does not fit")
    return ", ".join(texts) or "nothing limits the batch"


MOST_CANDIDATES = 24


def pareto(study: Study, subject: BoundCase) -> Chart:
    """The candidates of a study in the order of ``symroof select``."""
    return ranked(reviewed(study))


def ranked(review: Reviewed) -> Chart:
    """A sign for each candidate at its ITL and what it costs: a month where requests arrive at a rate, else a million tokens.

    Raises:
        InputError: no candidate fits and has an ITL and a price.
    """
    listed, spots = [one for one in review.shown.best if one.counted], []
    at_rate = any(one.load is not None for one in listed)
    for one in listed[:MOST_CANDIDATES]:
        cost = one.cost_per_mtok.value if one.cost_per_mtok else None
        itl, y = one.itl, one.usd_per_month if at_rate else cost
        if itl and y is not None:
            known_ends = (itl.value if x is None else x for x in (itl.low, itl.value, itl.high))
            spots.append((one, [*map(float, known_ends)], float(y)))
    if not spots:
        needed = ("itl", "cost_per_mtok", "fits") if listed else ()
        none = "memory holds none of its candidates"
        raise lacking("pareto", review.subject, *needed, otherwise=none)
    shown = [one for one, *_ in spots]
    title = "USD per month" if at_rate else "USD per million output tokens"
    chart = Chart(
        "pareto",
        compared([one.case for one in shown], counted_in("candidate", len(shown))),
        f"{title} against the time between tokens of each candidate",
        _found(review, at_rate),
        Axis(
            "time between tokens",
            *logarithmic([x for _, ends, _ in spots for x in ends], 1.2),
            seconds,
        ),
        Axis(title, *logarithmic([y for *_, y in spots], 1.6), in_unit("")),
        notes=["Lines: the interval of the time between tokens. Filled: passes; hollow: does not."],
    )
    for i, (one, ends, y) in enumerate(spots):
        colour, shape = SERIES[i] if i < len(SERIES) else ("pale", "o")
        if ends[0] < ends[2]:
            interval = [(ends[0], y), (ends[2], y)]
            chart.curve(f"interval of {labelled(one)}", interval, colour, "-", 1.4)
        size, label = 9 if one is review.pick else 7, f"{_named(one)}: {significant(y, 3)}"
        chart.spots(labelled(one), [(ends[1], y)], shape, colour, size, not one.passes, label)
    goal = review.subject.targets.get("itl")
    if goal is not None:
        chart.x.high = max(chart.x.high, 1.2 * float(goal))
        words = f"ITL target {seconds(float(goal))}"
        chart.rule("target", float(goal), "vermilion", "--", words)
    if names := [labelled(one) for one in review.shown.best if one not in shown]:
        chart.notes.append(f"Left out: {'; '.join(names)}.")
    return chart


def _named(one: Purchase) -> str:
    """A candidate with its batch."""
    told = "batch" in dict(one.own.varied) or one.load is not None
    return labelled(one) if told else f"{labelled(one)}, batch {one.batch:,}"


def _found(review: Reviewed, at_rate: bool) -> list[str]:
    """What the pick costs, and how that compares with the next."""
    pick, ranking = review.pick, review.shown
    if pick is None:
        return ["nothing passes"] if review.asks else ["the study sets no targets"]
    month = f"{usd(pick.usd_per_month or 0)} USD/month"
    price = month if at_rate else tokens_text(pick)
    said = f"{_named(pick)}: {price}" if price else f"{_named(pick)} passes"
    other = next((one for one in ranking.others if one.passes), None)
    mine, theirs = pick.spent, other.spent if other else None
    if other and mine and theirs:
        said += f", {significant(100 * mine / theirs, 2)} % of {labelled(other)}"
    return [said]
