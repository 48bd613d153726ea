"""Cost or throughput per device against ITL for every configuration and batch, with the Pareto front."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import queues, under_load
from symroof.cases.bound_case import BoundCase
from symroof.drawing.colours import BLACK, DASHED, GREY, PALE, SERIES, VERMILION, WHITE
from symroof.drawing.frame import Frame
from symroof.drawing.scales import log_ticks, next_power_of_two
from symroof.report.pictures.cases import BatchSeries, batch_series, compared, known, shown_case
from symroof.report.pictures.curves import AxisLimit, memory_limit, result_at, solve_limit
from symroof.report.pictures.labels import counted, in_unit, requests, seconds, target_word
from symroof.report.pictures.picture import Picture, finished, framed, lacking, sheet
from symroof.select.selection import pareto_front

MOST, LARGEST = 64, 2.0**14
"""Maximum configurations, and the largest batch."""
MOST_SERIES, MOST_NAMED = len(SERIES), 5
"""Maximum configurations with their own style, and with a name instead of a number."""


@dataclass(frozen=True)
class ParetoMetrics:
    """The compared metrics, and the texts that describe them."""

    itl: str
    cost: str
    rate: str
    where: str
    latency: str
    of_cost: str
    of_rate: str


UNDER_LOAD = ParetoMetrics(
    "sustained_itl", "cost_per_mtok", "sustained_throughput_per_device", "under load", "inter-token latency under load",
    "US dollars per million output tokens, prefills included", "sustained output tokens per second of one device",
)  # fmt: skip
FULL_SLOTS = replace(UNDER_LOAD, where="at full slots", latency="inter-token latency at full slots")
"""The same where an arrival rate is given: batches are compared with every slot taken, not at that rate."""
ISOLATED = ParetoMetrics(
    "itl", "decode_cost_per_mtok", "decode_throughput_per_device", "at the last step", "inter-token latency at the last step",
    "US dollars per million output tokens, decode only, at the last step", "output tokens per second of one device, at the last step",
)  # fmt: skip


def measures(study: Study) -> ParetoMetrics:
    """Metrics under load if targets of every case apply to these; else of a decode-only batch."""
    if not all(under_load(case.case) for case in study.cases):
        return ISOLATED
    return FULL_SLOTS if any(queues(case.case) for case in study.cases) else UNDER_LOAD


@dataclass(frozen=True)
class ParetoPoint:
    """One configuration at one batch: ITL, and its cost or the throughput of one device."""

    place: int
    batch: int
    itl: Fraction
    worth: Fraction


def picture(study: Study, subject: BoundCase) -> Picture:
    """Every configuration of the study over the batches that fit in memory.

    Raises:
        InputError: no configuration has an ITL and fits at any batch.
    """
    of = measures(study)
    every = [
        configuration
        for configuration in batch_series(study)
        if known(configuration.first, of.itl, of.rate, "peak_context")
    ][:MOST]
    if not every:
        raise lacking("pareto", subject, of.itl, of.rate, "peak_context")
    by = of.cost if all(known(configuration.first, of.cost) for configuration in every) else of.rate
    points = [
        point
        for place, configuration in enumerate(every)
        for point in _points(place, configuration, of, by)
    ]
    if not points:
        raise lacking(
            "pareto",
            subject,
            "fits",
            otherwise="memory holds none of its configurations, at any batch",
        )
    best = [
        points[i]
        for i in pareto_front(
            [(point.itl, point.worth) for point in points], (False, by == of.rate)
        )
    ]
    best.sort(key=lambda point: point.itl)
    goals = {
        configuration.first.targets["itl"]
        for configuration in every
        if "itl" in configuration.first.targets
    }
    goal = goals.pop() if len(goals) == 1 else None
    chosen = _within(points, goal, by == of.cost)
    what = (
        "Cost"
        if by == of.cost
        else "Sustained throughput per device"
        if of is not ISOLATED
        else "Throughput per device"
    )
    headline = f"{what} against inter-token latency{'' if of is ISOLATED else f' {of.where}'}"
    count = f"{len(every)} configuration{'' if len(every) == 1 else 's'}"
    named = (
        case_title(subject)
        if len(study.cases) == 1
        else compared(study, count, "" if of is not ISOLATED else "at the context of the last step")
    )
    frame = _frame(headline, named, points, goal, of, by)
    _draw(frame, every, points, best, goal)
    own = _own(every, points, subject)
    numbered = (
        [place for place in behind(every, best) if subject not in every[place].cases]
        if len(every) > MOST_NAMED
        else []
    )
    _label(
        frame,
        every,
        points,
        [place for place in _order(every, best, subject) if place not in numbered],
        best,
        own,
        chosen,
        goal,
    )
    for place in numbered:
        for point in [point for point in points if point.place == place][-1:]:
            frame.label_point(
                float(point.itl),
                float(point.worth),
                (f"{place + 1}",),
                _looks(every, best).get(place, (GREY, (), ""))[0],
                bold=True,
            )
    gone = [
        configuration.label
        for place, configuration in enumerate(every)
        if all(point.place != place for point in points)
    ]
    notes = [
        "Dots: whole batches, from one to the last that memory holds. Ring: the case itself. The black line is the front: nothing shown is better in both respects."
        + (f" Everything is evaluated {subject.range_position}." if subject.corners else ""),
        "Costs are at the median of the list prices."
        if by == of.cost and any(configuration.first.list_prices for configuration in every)
        else "",
        f"Numbers: {'; '.join(f'{place + 1} = {every[place].label}' for place in numbered if every[place].label not in gone)}."
        if numbered
        else "",
        f"Left out, for they fit at no batch: {'; '.join(gone)}." if gone else "",
        f"Left out: {len(batch_series(study)) - MOST} further configurations."
        if len(batch_series(study)) > MOST
        else "",
    ]
    shows = f"{headline}, both logarithmic, for every configuration over its batches, with the Pareto front."
    return finished(
        "pareto",
        headline,
        named,
        frame,
        shows,
        says(every, best, chosen, goal, of, by, gone),
        notes,
    )


def _points(
    place: int, configuration: BatchSeries, of: ParetoMetrics, by: str
) -> list[ParetoPoint]:
    """A configuration at powers of two, its own batches, and the largest batches within memory and target."""
    there = shown_case(configuration, of is not ISOLATED)
    memory, target = (
        memory_limit(there, "batch"),
        solve_limit(f"{of.itl} = itl_target", there, "batch"),
    )
    most = _most(memory, max(map(float, configuration.batches)))
    batches = {2**i for i in range(18) if 2**i <= most} | {
        int(batch) for batch in configuration.batches if batch <= most
    }
    batches |= {most} if most and memory and memory.exists else set()
    batches |= {target.count} if target and target.exists and 1 <= target.count <= most else set()
    cases = [(batch, there.case.changed({"batch": Fraction(batch)})) for batch in sorted(batches)]
    return [
        ParetoPoint(place, batch, Fraction(case.value(of.itl)), Fraction(case.value(by)))
        for batch, case in cases
    ]


def _most(memory: AxisLimit | None, own: float) -> int:
    reach = max(LARGEST, next_power_of_two(own))
    return (
        int(reach)
        if memory is None or math.isinf(memory.value)
        else min(memory.count, int(reach))
        if memory.value >= 1
        else 0
    )


def _own(
    every: Sequence[BatchSeries], points: Sequence[ParetoPoint], subject: BoundCase
) -> ParetoPoint | None:
    """The point of the case itself; None if it does not fit."""
    batch = subject.case.value("batch")
    return next(
        (point for point in points if subject in every[point.place].cases and point.batch == batch),
        None,
    )


def _within(
    points: Sequence[ParetoPoint], goal: Fraction | None, by_cost: bool
) -> ParetoPoint | None:
    """The best point that meets the target."""
    meeting = [point for point in points if goal is not None and point.itl <= goal]
    return (
        min(meeting, key=lambda point: point.worth if by_cost else -point.worth)
        if meeting
        else None
    )


def _frame(
    headline: str,
    named: str,
    points: Sequence[ParetoPoint],
    goal: Fraction | None,
    of: ParetoMetrics,
    by: str,
) -> Frame:
    across = [float(point.itl) for point in points] + ([float(goal)] if goal else [])
    up = [float(point.worth) for point in points]
    frame = framed(
        sheet(headline, named),
        (min(across) / 1.4, max(across) * 1.4),
        (min(up) / 1.6, max(up) * 1.6),
    )
    name, form = (of.of_cost, in_unit("")) if by == of.cost else (of.of_rate, counted)
    frame.axes(of.latency, name, log_ticks, log_ticks, seconds, form)
    return frame


def _draw(
    frame: Frame,
    every: Sequence[BatchSeries],
    points: Sequence[ParetoPoint],
    best: Sequence[ParetoPoint],
    goal: Fraction | None,
) -> None:
    looks = _looks(every, best)
    if goal is not None:
        frame.vertical_line("target", float(goal), VERMILION, DASHED)
    for place in range(len(every)):
        own = [(float(point.itl), float(point.worth)) for point in points if point.place == place]
        colour, dash, shape = looks.get(place, (PALE, (), "circle"))
        frame.curve(f"case {place}", own, colour, 1.1, dash)
        for x, y in own:
            frame.marker(x, y, shape, colour, 2.6, WHITE)
    frame.curve("front", [(float(point.itl), float(point.worth)) for point in best], BLACK, 1.8)
    for point in best:
        colour, _, shape = looks.get(point.place, (GREY, (), "circle"))
        frame.marker(float(point.itl), float(point.worth), shape, colour, 4.0)


def _looks(
    every: Sequence[BatchSeries], best: Sequence[ParetoPoint]
) -> dict[int, tuple[str, tuple[float, ...], str]]:
    """The style of each configuration; if there are too many, those on the front come first."""
    first = (point.place for point in best) if len(every) > MOST_SERIES else ()
    order = list(dict.fromkeys([*first, *range(len(every))]))
    return dict(zip(order[:MOST_SERIES], SERIES, strict=False))


def behind(every: Sequence[BatchSeries], best: Sequence[ParetoPoint]) -> list[int]:
    """The configurations that are not on the front."""
    return [place for place in range(len(every)) if all(point.place != place for point in best)]


def _order(
    every: Sequence[BatchSeries], best: Sequence[ParetoPoint], subject: BoundCase
) -> list[int]:
    """The order of labelling: the subject first, then the front."""
    own = [place for place, configuration in enumerate(every) if subject in configuration.cases]
    return list(dict.fromkeys([*own, *(point.place for point in best), *behind(every, best)]))


def _label(
    frame: Frame,
    every: Sequence[BatchSeries],
    points: Sequence[ParetoPoint],
    order: Sequence[int],
    best: Sequence[ParetoPoint],
    own: ParetoPoint | None,
    chosen: ParetoPoint | None,
    goal: Fraction | None,
) -> None:
    """Mark and label the case itself, label the best point, the configurations and the target."""
    if own is not None:
        frame.marker(float(own.itl), float(own.worth), "circle", BLACK, 5.5, WHITE)
        same = own == chosen
        words = f"this case{', the best within the target' if same else ''}: batch {own.batch:,}"
        frame.label_point(
            float(own.itl), float(own.worth), (words, words.replace(": ", ":\n")), BLACK, bold=True
        )
        chosen = None if same else chosen
    looks, shown = _looks(every, best), {point.place for point in points}
    if chosen is not None:
        words = f"best within the target: batch {chosen.batch:,}"
        frame.label_point(
            float(chosen.itl),
            float(chosen.worth),
            (words, words.replace(": ", ":\n")),
            VERMILION,
            bold=True,
        )
    for place in order:
        name, colour = every[place].label, looks.get(place, (GREY, (), ""))[0]
        if place in shown:
            frame.label_line(
                f"case {place}",
                (name, name.replace(", ", ",\n")),
                colour,
                bold=place == order[0] or any(point.place == place for point in best),
            )
    for _, run in groupby(best, key=lambda point: point.place) if len(every) < 5 else ():
        members = list(run)
        for point in dict.fromkeys((members[0], members[-1])):
            if point not in (own, chosen):
                frame.label_point(
                    float(point.itl),
                    float(point.worth),
                    (f"batch {point.batch:,}", f"{point.batch:,}"),
                    GREY,
                )
    if goal is not None:
        frame.label_line(
            "target",
            (target_word("ITL", goal), target_word("ITL", goal).replace(" target ", " target\n")),
            VERMILION,
        )


def says(
    every: Sequence[BatchSeries],
    best: Sequence[ParetoPoint],
    chosen: ParetoPoint | None,
    goal: Fraction | None,
    of: ParetoMetrics,
    by: str,
    gone: Sequence[str],
) -> str:
    """The takeaway: the configurations on the front, and the best one within the target."""
    on_front = list(dict.fromkeys(every[point.place].label for point in best))
    texts = [f"On the front: {'; '.join(on_front)}"] if len(every) > 1 else []
    if chosen is not None and goal is not None:
        there, batch = shown_case(every[chosen.place], of is not ISOLATED), Fraction(chosen.batch)
        latency, worth = (result_at(there, name, "batch", batch).plain(3) for name in (of.itl, by))
        name = f"{every[chosen.place].label}, " if len(every) > 1 else ""
        worth += " per million tokens" if by == of.cost else " per device"
        texts.append(
            f"best within the target of {seconds(float(goal))}: {name}{requests(batch)}, {latency}, {worth}, both {of.where}"
        )
    elif goal is not None:
        texts.append(f"nothing that fits meets the target of {seconds(float(goal))}")
    if len(every) == 1 and goal is None and best:
        texts.append(
            f"on the front: batches {min(point.batch for point in best):,} to {max(point.batch for point in best):,}; no ITL target is set"
        )
    texts += [f"fits at no batch: {'; '.join(gone)}"] if gone else []
    return ". ".join(text[0].upper() + text[1:] for text in texts) + "."
