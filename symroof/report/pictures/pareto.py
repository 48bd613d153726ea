"""Cost or throughput per device against ITL for every configuration and batch, with the Pareto front."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import next_power_of_two, requests, result_at
from symroof.report.pictures.series import (
    Configuration,
    Metrics,
    compared,
    configurations,
    known,
    logarithmic,
    metrics_of,
    target_of,
)
from symroof.report.pictures.styles import SERIES
from symroof.select.selection import pareto_front
from symroof.units import significant

MOST, LARGEST = 64, 2.0**14
"""Maximum configurations, and the largest batch."""
MOST_NAMED = 5
"""Configurations up to which those behind the front have a name too."""


@dataclass(frozen=True)
class ParetoPoint:
    """One configuration at one batch: ITL, and its cost or the throughput of one device."""

    one: Configuration
    batch: int
    itl: float
    worth: float

    @property
    def spot(self) -> tuple[float, float]:
        return self.itl, self.worth


@dataclass(frozen=True)
class Field:
    """All points of a study, and the best of them."""

    of: Metrics
    by_cost: bool
    every: Sequence[Configuration]
    points: Sequence[ParetoPoint]
    goal: float | None

    @property
    def best(self) -> list[ParetoPoint]:
        """The front."""
        front = pareto_front([point.spot for point in self.points], (False, not self.by_cost))
        return sorted((self.points[i] for i in front), key=lambda point: point.itl)

    def within(self, but: Collection[Configuration] = ()) -> ParetoPoint | None:
        """The best point that meets the target, of all configurations but some."""
        goal, sign = self.goal, 1 if self.by_cost else -1
        meeting = [p for p in self.points if goal and p.itl <= goal and p.one not in but]
        return min(meeting, key=lambda point: sign * point.worth, default=None)

    @property
    def gone(self) -> list[str]:
        """The configurations that fit at no batch."""
        shown = [point.one for point in self.points]
        return [one.label for one in self.every if one not in shown]


def pareto(study: Study, subject: BoundCase) -> Chart:
    """Every configuration of the study over the batches that fit in memory.

    Raises:
        InputError: no configuration has an ITL and fits at any batch.
    """
    of = metrics_of(study)
    needed = (of.itl, of.device_rate, "peak_context")
    listed = configurations(study, of, *needed)
    every = listed[:MOST]
    if not every:
        raise lacking("pareto", subject, *needed)
    by_cost = all(known(one.cases[0], of.cost) for one in every)
    by = of.cost if by_cost else of.device_rate
    points = [point for one in every for point in _points(one, by)]
    if not points:
        none = "memory holds none of its configurations, at any batch"
        raise lacking("pareto", subject, "fits", otherwise=none)
    goals = target_of(list(every))
    field = Field(of, by_cost, every, points, goals[0] if len(goals) == 1 else None)
    what = "Cost" if by_cost else "Throughput per device"
    count = f"{len(every)} configuration{'' if len(every) == 1 else 's'}"
    across = [point.itl for point in points] + ([field.goal] if field.goal else [])
    name, form = (of.of_cost, in_unit("")) if by_cost else (of.of_device_rate, counted)
    chart = Chart(
        "pareto",
        case_title(subject) if len(study.cases) == 1 else compared(study, count, of),
        f"{what} against {of.latency}, both logarithmic, for every configuration over its batches, with the Pareto front.",
        _found(field, by, subject),
        Axis(of.latency, *logarithmic(across, 1.4), seconds),
        Axis(name, *logarithmic([point.worth for point in points], 1.6), form),
        notes=_notes(field, subject),
    )
    if len(listed) > MOST:
        chart.notes.append(f"Left out: {len(listed) - MOST} further configurations.")
    own = next((p for p in points if subject in p.one.cases and p.batch == subject.case.value("batch")), None)  # fmt: skip
    _draw(chart, field, subject)
    _label(chart, field, own)
    return chart


def _points(one: Configuration, by: str) -> list[ParetoPoint]:
    """A configuration at powers of two, its own batches, and the largest batches within memory and target."""
    memory, target = one.bounds.memory, one.bounds.target
    most = int(max(LARGEST, next_power_of_two(max(one.batches))))
    if memory is not None and memory.value < most:
        most = memory.count if memory.value >= 1 else 0
    ends = [place.count for place in (memory, target) if place and place.exists]
    batches = {*(2**i for i in range(18)), *map(int, one.batches), *ends}
    found = sorted(batch for batch in batches if 1 <= batch <= most)
    rows = one.points(found, by).tolist()
    return [ParetoPoint(one, batch, *row) for batch, row in zip(found, rows, strict=True)]


def _notes(field: Field, subject: BoundCase) -> list[str]:
    signs = "Dots: whole batches, from one to the last that memory holds. Ring: the case itself. The black line is the front: nothing shown is better in both respects."
    if subject.corners:
        signs += f" Everything is evaluated {subject.range_position}."
    notes = [signs]
    if field.by_cost and any(one.cases[0].list_prices for one in field.every):
        notes.append("Costs are at the median of the list prices.")
    if field.gone:
        notes.append(f"Left out, for they fit at no batch: {'; '.join(field.gone)}.")
    return notes


def _draw(chart: Chart, field: Field, subject: BoundCase) -> None:
    """The target, every configuration, and the front; where there are too many for a look each, those on the front have one."""
    if field.goal is not None:
        words = f"ITL target {seconds(field.goal)}"
        chart.upright("target", field.goal, "vermilion", "--", words, words.replace(" t", "\nt", 1))
    front = list(dict.fromkeys(point.one for point in field.best))
    many = len(field.every) > len(SERIES)
    order = list(dict.fromkeys([*front, *field.every])) if many else field.every
    looks = dict(zip((one.label for one in order), SERIES, strict=False))
    for one in field.every:
        own = [point.spot for point in field.points if point.one is one]
        colour, dash, shape = looks.get(one.label, ("pale", "-", "o"))
        named = one in front or subject in one.cases or len(field.every) <= MOST_NAMED
        names = (one.label, one.label.replace(", ", ",\n")) if named else ()
        chart.spots(one.label, own, shape, colour, 4, True)
        chart.curve(one.label, own, colour, dash, 1.1, names, bold=one in front)
    chart.curve("front", [point.spot for point in field.best], "ink", "-", 1.8)
    for one in front:
        colour, _, shape = looks.get(one.label, ("faint", "-", "o"))
        chart.spots("", [p.spot for p in field.best if p.one is one], shape, colour, 6)


def _label(chart: Chart, field: Field, own: ParetoPoint | None) -> None:
    """Labels of the case itself, of the best within the target, and of the batches where another takes over."""
    chosen = field.within()
    if own is not None:
        words = f"this case{', the best within the target' if own == chosen else ''}: batch {own.batch:,}"
        labels = (words, words.replace(": ", ":\n"))
        chart.spots("this case", [own.spot], "o", "ink", 9, True, labels, bold=True)
    if chosen is not None and chosen != own:
        words = f"best within the target: batch {chosen.batch:,}"
        chart.label(chosen.spot, (words, words.replace(": ", ":\n")), "vermilion", bold=True)
    if len(field.every) < 5:
        for _, run in groupby(field.best, key=lambda point: point.one.label):
            members = list(run)
            for point in {members[0].batch: members[0], members[-1].batch: members[-1]}.values():
                if point not in (own, chosen):
                    labels = (f"batch {point.batch:,}", f"{point.batch:,}")
                    chart.label(point.spot, labels, "faint", needed=False)


def _found(field: Field, by: str, subject: BoundCase) -> list[str]:
    """The best within the target and how it compares, then the front."""
    best, goal, chosen = field.best, field.goal, field.within()
    several, found = len(field.every) > 1, []
    if chosen is not None and goal is not None:
        per = "per million tokens" if field.by_cost else "per device"
        worth = in_unit(subject.case.theory.symbol(by).unit)(chosen.worth)
        name = f"{chosen.one.label} at " if several else ""
        says = f"{name}batch {chosen.batch:,}: {worth} {per} within {seconds(goal)}"
        if next_best := field.within(but=[chosen.one]):
            factor = significant(chosen.worth / next_best.worth, 2)
            says += f", {factor} × the {next_best.one.label}"
        values = [result_at(chosen.one.there, name, "batch", chosen.batch).plain(3) for name in (field.of.itl, by)]  # fmt: skip
        there = f"there {requests(chosen.batch)}, {values[0]}, {values[1]} {per}"
        found += [says, f"{there}, both {field.of.where}"]
    elif goal is not None:
        found.append(f"nothing that fits meets the target of {seconds(goal)}")
    if several:
        found.append(f"on the front: {'; '.join(dict.fromkeys(p.one.label for p in best))}")
    elif goal is None and best:
        ends = min(p.batch for p in best), max(p.batch for p in best)
        found.append(f"on the front: batches {ends[0]:,} to {ends[1]:,}; no ITL target is set")
    return [*found, f"fits at no batch: {'; '.join(field.gone)}"] if field.gone else found
