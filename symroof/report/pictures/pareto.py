"""What a study compares, as ``symroof select`` ranks it: cost against ITL, and the pick."""

from __future__ import annotations

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import LOAD, MEMORY
from symroof.cases.bound_case import BoundCase
from symroof.report.field_names import short_label
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import next_power_of_two
from symroof.report.pictures.series import (
    Configuration,
    compared,
    configurations,
    known,
    logarithmic,
    metrics_of,
)
from symroof.report.pictures.styles import SERIES
from symroof.report.purchase_text import labelled, named, tokens_text, usd
from symroof.report.recommendation import Reviewed, reviewed
from symroof.select.recommend import Purchase
from symroof.units import significant

MOST, LARGEST = 24, 2.0**14
"""Maximum candidates, and the largest batch."""


def pareto(study: Study, subject: BoundCase) -> Chart:
    """The candidates of a study in the order of ``symroof select``."""
    return ranked(reviewed(study))


def ranked(review: Reviewed) -> Chart:
    """Cost a month where requests arrive at a rate, else cost per million tokens as the batch grows, against ITL.

    Raises:
        InputError: no candidate has an ITL and fits.
    """
    gone = {MEMORY, LOAD}
    listed = [one for one in review.candidates if not gone & {*one.run.missed_as_expected, *one.run.missed}]  # fmt: skip
    if not listed or not known(listed[0].case, "itl"):
        none = "memory holds none of its candidates" if not listed else "no candidate has an ITL"
        raise lacking("pareto", review.subject, "itl", "fits", otherwise=none)
    by_month = listed[0].load is not None and all(one.priced for one in listed)
    chart = (_by_month if by_month else _by_batch)(review, listed[:MOST])
    goal = review.subject.targets.get("itl")
    if goal is not None:
        chart.x.high = max(chart.x.high, 1.2 * float(goal))
        words = f"ITL target {seconds(float(goal))}"
        chart.upright("target", float(goal), "vermilion", "--", words)
    names = [labelled(one) for one in review.candidates if one not in listed[:MOST]]
    if names:
        chart.notes.append(f"Left out: {'; '.join(names)}.")
    return chart


def _found(review: Reviewed, each: str) -> list[str]:
    """What the pick costs, and how that compares with the next."""
    pick, ranking = review.pick, review.ranking
    if pick is None:
        return ["nothing passes"] if review.asks else ["the study sets no targets"]
    price = f"{usd(pick.usd_per_month or 0)} USD/month" if each == "month" else tokens_text(pick)
    name = labelled(pick)
    if each != "month" and "batch" not in dict(pick.run.own.varied):
        name += f", batch {pick.batch:,}"
    said = f"{name}: {price}" if price else f"{name} passes"
    other = next((one for one in ranking.others if one.passes), None)
    mine, theirs = ranking.spent(pick), ranking.spent(other) if other else None
    if other and mine and theirs:
        said += f", {significant(100 * mine / theirs, 2)} % of {labelled(other)}"
    return [said]


def _case(review: Reviewed, listed: list[Purchase]) -> str:
    """What the picture is of, for the line below its title."""
    if len(listed) == 1:
        return case_title(listed[0].case)
    return compared([one.case for one in listed], f"{len(listed)} candidates")


def _by_month(review: Reviewed, listed: list[Purchase]) -> Chart:
    """A sign for each candidate at its ITL and what it costs a month, with the interval of the ITL."""
    spots = []
    for one in listed:
        itl = one.itl
        assert itl is not None
        ends = [float(itl.value if end is None else end) for end in (itl.low, itl.value, itl.high)]
        spots.append((one, ends, float(one.usd_per_month or 0)))
    chart = Chart(
        "pareto",
        _case(review, listed),
        "Cost per month against the time between tokens of the best of each device",
        _found(review, "month"),
        Axis("time between tokens", *logarithmic([x for _, ends, _ in spots for x in ends], 1.2), seconds),
        Axis("USD per month", *logarithmic([y for *_, y in spots], 1.6), in_unit("")),
        notes=["Lines: the interval of the time between tokens. Filled: passes; hollow: does not."],
    )  # fmt: skip
    for i, (one, ends, month) in enumerate(spots):
        colour, _, shape = SERIES[i] if i < len(SERIES) else ("pale", "-", "o")
        label = f"{named(one)}: {usd(month)} USD"
        if ends[0] < ends[2]:
            chart.curve(f"interval of {labelled(one)}", [(ends[0], month), (ends[2], month)], colour, "-", 1.4)  # fmt: skip
        size = 9 if one is review.pick else 7
        chart.spots(labelled(one), [(ends[1], month)], shape, colour, size, not one.passes, label)
    return chart


def _by_batch(review: Reviewed, listed: list[Purchase]) -> Chart:
    """A line for each candidate over the batches that memory holds, and the pick."""
    cases = [one.case for one in listed]
    of = metrics_of(cases)
    needed = (of.itl, of.device_rate, "peak_context")
    lines = configurations(cases, of, *needed)
    if not lines:
        raise lacking("pareto", review.subject, *needed)
    by_cost = all(known(one.cases[0], of.cost) for one in lines)
    points = [(one, _points(one, of.cost if by_cost else of.device_rate)) for one in lines]
    points = [(one, rows) for one, rows in points if len(rows)]
    if not points:
        none = "memory holds none of its candidates, at any batch"
        raise lacking("pareto", review.subject, "fits", otherwise=none)
    every = np.concatenate([rows for _, rows in points])
    name, form = (of.of_cost, in_unit("")) if by_cost else (of.of_device_rate, counted)
    what = "Cost per million output tokens" if by_cost else "Throughput of one device"
    chart = Chart(
        "pareto",
        _case(review, listed),
        f"{what} against {of.latency} as the batch grows",
        _found(review, "token"),
        Axis(of.latency, *logarithmic(every[:, 0], 1.4), seconds),
        Axis(name, *logarithmic(every[:, 1], 1.6), form),
        notes=["Dots: batches, from one to the last that memory holds."],
    )
    pick = review.pick.case if review.pick else review.subject
    for i, (one, rows) in enumerate(points):
        colour, dash, shape = SERIES[i] if i < len(SERIES) else ("pale", "-", "o")
        chart.spots("", rows, shape, colour, 4, True)
        chart.curve(one.label, rows, colour, dash, 1.3, one.label)
        if pick in one.cases:
            batch = int(pick.case.value("batch"))
            own = one.points([batch], of.cost if by_cost else of.device_rate)
            words = f"{short_label(pick) if len(points) == 1 else one.label}: batch {batch:,}"
            chart.spots("pick", own, "o", "ink", 9, True, words)
    return chart


def _points(one: Configuration, by: str) -> np.ndarray:
    """A candidate at powers of two, its own batches, and the largest batches within memory and target."""
    memory, target = one.bounds.memory, one.bounds.target
    most = int(max(LARGEST, next_power_of_two(max(one.batches))))
    if memory is not None and memory.value < most:
        most = memory.count if memory.value >= 1 else 0
    ends = [place.count for place in (memory, target) if place and place.exists]
    batches = {*(2**i for i in range(18)), *map(int, one.batches), *ends}
    found: np.ndarray = one.points(sorted(batch for batch in batches if 1 <= batch <= most), by)
    return found
