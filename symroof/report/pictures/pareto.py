"""Cost or throughput per device against ITL for every configuration and batch, with the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.report.pictures.chart import Axis, Chart, counted, in_unit, lacking, seconds
from symroof.report.pictures.curves import (
    along,
    next_power_of_two,
    requests,
    result_at,
    solve_limit,
)
from symroof.report.pictures.series import (
    ISOLATED,
    BatchSeries,
    Metrics,
    batch_series,
    compared,
    known,
    metrics_of,
    shown_case,
)
from symroof.report.pictures.styles import SERIES
from symroof.select.selection import pareto_front
from symroof.theory.thresholds import FULL_MEMORY
from symroof.units import significant

MOST, LARGEST = 64, 2.0**14
"""Maximum configurations, and the largest batch."""
MOST_NAMED = 5
"""Maximum configurations with a name instead of a number."""


@dataclass(frozen=True)
class ParetoPoint:
    """One configuration at one batch: ITL, and its cost or the throughput of one device."""

    place: int
    batch: int
    itl: float
    worth: float

    @property
    def spot(self) -> tuple[float, float]:
        return self.itl, self.worth


@dataclass(frozen=True)
class Field:
    """All points of a study, and the best of them."""

    study: Study
    subject: BoundCase
    of: Metrics
    by: str
    every: Sequence[BatchSeries]
    points: Sequence[ParetoPoint]

    @property
    def by_cost(self) -> bool:
        return self.by == self.of.cost

    @property
    def best(self) -> list[ParetoPoint]:
        """The front."""
        front = pareto_front([point.spot for point in self.points], (False, not self.by_cost))
        return sorted((self.points[i] for i in front), key=lambda point: point.itl)

    @property
    def goal(self) -> float | None:
        """The ITL target of all configurations."""
        goals = {series.first.targets.get("itl") for series in self.every} - {None}
        return float(goals.pop()) if len(goals) == 1 else None  # type: ignore[arg-type]

    def within(self, places: Sequence[int]) -> ParetoPoint | None:
        """The best point of some configurations that meets the target."""
        goal, sign = self.goal, 1 if self.by_cost else -1
        if goal is None:
            return None
        meeting = [p for p in self.points if p.itl <= goal and p.place in places]
        return min(meeting, key=lambda point: sign * point.worth, default=None)

    @property
    def own(self) -> ParetoPoint | None:
        """The point of the case itself; None if it does not fit."""
        batch = self.subject.case.value("batch")
        places = [i for i, series in enumerate(self.every) if self.subject in series.cases]
        found = (p for p in self.points if p.place in places and p.batch == batch)
        return next(found, None)

    @property
    def looks(self) -> dict[int, tuple[str, Any, str]]:
        """The style of each configuration; if there are too many, those on the front come first."""
        first = (point.place for point in self.best) if len(self.every) > len(SERIES) else ()
        order = list(dict.fromkeys([*first, *range(len(self.every))]))
        return dict(zip(order, SERIES, strict=False))


def pareto(study: Study, subject: BoundCase) -> Chart:
    """Every configuration of the study over the batches that fit in memory.

    Raises:
        InputError: no configuration has an ITL and fits at any batch.
    """
    of, every = metrics_of(study), batch_series(study)
    needed = (of.itl, of.device_rate, "peak_context")
    known_ones = [series for series in every if known(series.first, *needed)][:MOST]
    if not known_ones:
        raise lacking("pareto", subject, *needed)
    by = of.cost if all(known(s.first, of.cost) for s in known_ones) else of.device_rate
    points = [p for i, series in enumerate(known_ones) for p in series_points(i, series, of, by)]
    if not points:
        none = "memory holds none of its configurations, at any batch"
        raise lacking("pareto", subject, "fits", otherwise=none)
    field = Field(study, subject, of, by, known_ones, points)
    chart = _chart(field)
    _draw(chart, field)
    _label(chart, field)
    if len(every) > MOST:
        chart.notes.append(f"Left out: {len(every) - MOST} further configurations.")
    return chart


def series_points(place: int, series: BatchSeries, of: Metrics, by: str) -> list[ParetoPoint]:
    """A configuration at powers of two, its own batches, and the largest batches within memory and target."""
    there = shown_case(series, of)
    memory = solve_limit(FULL_MEMORY, there, "batch")
    target = solve_limit(f"{of.itl} = itl_target", there, "batch")
    most = int(max(LARGEST, next_power_of_two(max(series.batches))))
    if memory is not None and not math.isinf(memory.value):
        most = min(memory.count, most) if memory.value >= 1 else 0
    batches = {2**i for i in range(18) if 2**i <= most}
    batches |= {int(batch) for batch in series.batches if batch <= most}
    batches |= {most} if most and memory and memory.exists else set()
    batches |= {target.count} if target and target.exists and 1 <= target.count <= most else set()
    found = sorted(batches)
    values = [along(there.case, name, "batch", found) for name in (of.itl, by)]
    return [
        ParetoPoint(place, *row) for row in zip(found, *map(np.ndarray.tolist, values), strict=True)
    ]


def _chart(field: Field) -> Chart:
    of, study, subject = field.of, field.study, field.subject
    what = "Cost" if field.by_cost else "Throughput per device"
    count = f"{len(field.every)} configuration{'' if len(field.every) == 1 else 's'}"
    where = "at the context of the last step" if of is ISOLATED else ""
    single = len(study.cases) == 1
    across = [point.itl for point in field.points] + ([field.goal] if field.goal else [])
    up = [point.worth for point in field.points]
    name, form = (of.of_cost, in_unit("")) if field.by_cost else (of.of_device_rate, counted)
    return Chart(
        "pareto",
        case_title(subject) if single else compared(study, count, where),
        f"{what} against {of.latency}, both logarithmic, for every configuration over its batches, with the Pareto front.",
        _found(field),
        Axis(of.latency, min(across) / 1.4, max(across) * 1.4, seconds),
        Axis(name, min(up) / 1.6, max(up) * 1.6, form),
        notes=_notes(field),
    )


def _notes(field: Field) -> list[str]:
    subject, every, gone = field.subject, field.every, _gone(field)
    signs = "Dots: whole batches, from one to the last that memory holds. Ring: the case itself. The black line is the front: nothing shown is better in both respects."
    if subject.corners:
        signs += f" Everything is evaluated {subject.range_position}."
    notes = [signs]
    if field.by_cost and any(series.first.list_prices for series in every):
        notes.append("Costs are at the median of the list prices.")
    numbers = [
        f"{i + 1} = {every[i].label}" for i in _numbered(field) if every[i].label not in gone
    ]
    notes += [f"Numbers: {'; '.join(numbers)}."] if numbers else []
    return [*notes, f"Left out, for they fit at no batch: {'; '.join(gone)}."] if gone else notes


def _gone(field: Field) -> list[str]:
    """The configurations that fit at no batch."""
    shown = {point.place for point in field.points}
    return [series.label for i, series in enumerate(field.every) if i not in shown]


def _numbered(field: Field) -> list[int]:
    """The configurations behind the front, where there are too many to name them all."""
    front = {point.place for point in field.best}
    behind = [i for i, series in enumerate(field.every) if i not in front]
    several = len(field.every) > MOST_NAMED
    return [i for i in behind if field.subject not in field.every[i].cases] if several else []


def _draw(chart: Chart, field: Field) -> None:
    """The target, every configuration, and the front."""
    if field.goal is not None:
        words = f"ITL target {seconds(field.goal)}"
        chart.upright("target", field.goal, "vermilion", "--", words, words.replace(" t", "\nt", 1))
    front = {point.place for point in field.best}
    numbered = _numbered(field)
    for i, series in enumerate(field.every):
        own = [point.spot for point in field.points if point.place == i]
        colour, dash, shape = field.looks.get(i, ("pale", "-", "o"))
        names = [series.label, series.label.replace(", ", ",\n")]
        names, bold = [str(i + 1)] if i in numbered else names, i in front or i in numbered
        chart.spots(series.label, own, shape, colour, 4, True)
        chart.curve(series.label, own, colour, dash, 1.1, names, bold=bold)
    best = [point.spot for point in field.best]
    chart.curve("front", best, "ink", "-", 1.8)
    for i in sorted(front):
        colour, _, shape = field.looks.get(i, ("faint", "-", "o"))
        chart.spots("", [p.spot for p in field.best if p.place == i], shape, colour, 6)


def _label(chart: Chart, field: Field) -> None:
    """Labels of the case itself, of the best within the target, and of the batches where another takes over."""
    own, chosen = field.own, field.within(range(len(field.every)))
    if own is not None:
        words = f"this case{', the best within the target' if own == chosen else ''}: batch {own.batch:,}"
        labels = (words, words.replace(": ", ":\n"))
        chart.spots("this case", [own.spot], "o", "ink", 9, True, labels, bold=True)
    if chosen is not None and chosen != own:
        words = f"best within the target: batch {chosen.batch:,}"
        labels = (words, words.replace(": ", ":\n"))
        chart.label(chosen.spot, labels, "vermilion", bold=True)
    for _, run in (
        groupby(field.best, key=lambda point: point.place) if len(field.every) < 5 else ()
    ):
        members = list(run)
        for point in dict.fromkeys((members[0], members[-1])):
            if point in (own, chosen):
                continue
            labels = (f"batch {point.batch:,}", f"{point.batch:,}")
            chart.label(point.spot, labels, "faint", needed=False)


def _found(field: Field) -> list[str]:
    """The best within the target and how it compares, then the front."""
    every, best, gone, goal = field.every, field.best, _gone(field), field.goal
    chosen = field.within(range(len(every)))
    found = []
    if chosen is not None and goal is not None:
        found += _chosen(field, chosen, goal)
    elif goal is not None:
        found.append(f"nothing that fits meets the target of {seconds(goal)}")
    if len(every) > 1:
        found.append(
            f"on the front: {'; '.join(dict.fromkeys(every[p.place].label for p in best))}"
        )
    elif goal is None and best:
        ends = min(p.batch for p in best), max(p.batch for p in best)
        found.append(f"on the front: batches {ends[0]:,} to {ends[1]:,}; no ITL target is set")
    return [*found, f"fits at no batch: {'; '.join(gone)}"] if gone else found


def _chosen(field: Field, chosen: ParetoPoint, goal: float) -> list[str]:
    """The best point within the target: in short, against the next best device, and its numbers with their ranges."""
    every, of = field.every, field.of
    per = "per million tokens" if field.by_cost else "per device"
    name = f"{every[chosen.place].label} at " if len(every) > 1 else ""
    worth = in_unit(field.subject.case.theory.symbol(field.by).unit)
    found = f"{name}batch {chosen.batch:,}: {worth(chosen.worth)} {per} within {seconds(goal)}"
    next_best = field.within([i for i in range(len(every)) if i != chosen.place])
    if next_best:
        factor = chosen.worth / next_best.worth
        found += f", {significant(factor, 2)} × the {every[next_best.place].label}"
    there = shown_case(every[chosen.place], of)
    values = [result_at(there, name, "batch", chosen.batch).plain(3) for name in (of.itl, field.by)]
    held = requests(chosen.batch)
    return [found, f"there {held}, {values[0]}, {values[1]} {per}, both {of.where}"]
