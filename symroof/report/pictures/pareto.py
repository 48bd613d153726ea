"""The Pareto picture: cost, or throughput of a device, against ITL for every configuration over its batches, with the front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from symroof.analysis.study import Study
from symroof.analysis.verdict import case_title
from symroof.cases.case_results import Answers
from symroof.drawing.colours import BLACK, DASHED, GREY, PALE, SERIES, VERMILION, WHITE
from symroof.drawing.frame import Frame
from symroof.drawing.scales import decimal
from symroof.report.pictures.cases import Configuration, at_last_step, compared, configurations, known
from symroof.report.pictures.curves import Limit, held, limit, moved, power_of_two
from symroof.report.pictures.sheet import Picture, finished, framed, lacking, sheet
from symroof.report.pictures.words import counted, in_unit, requests, seconds, target_word
from symroof.select.pareto_front import front

TARGET = "itl = itl_target"
MOST, LARGEST = 64, 2.0**14
"""Configurations that are compared, and the largest batch."""
COST, RATE = "decode_cost_per_mtok", "decode_throughput"
MOST_SERIES, MOST_NAMED = len(SERIES), 5
"""Configurations that get a look of their own, and that are named where they run rather than by a number."""


@dataclass(frozen=True)
class Point:
    """One configuration at one batch: ITL, and its cost or the throughput of one device."""

    place: int
    batch: int
    itl: Fraction
    worth: Fraction


def picture(study: Study, subject: Answers) -> Picture:
    """Every configuration of the study over the batches that memory holds.

    Raises:
        InputError: no configuration has an ITL and fits at any batch.
    """
    every = [configuration for configuration in configurations(study) if known(configuration.first, "itl", RATE, "peak_context")][:MOST]
    if not every:
        raise lacking("pareto", subject, "itl", RATE, "peak_context")
    by = COST if all(known(configuration.first, COST) for configuration in every) else RATE
    points = [point for place, configuration in enumerate(every) for point in _points(place, configuration, by)]
    if not points:
        raise lacking("pareto", subject, "fits", otherwise="memory holds none of its configurations, at any batch")
    best = [points[i] for i in front([(point.itl, point.worth) for point in points], (False, by == RATE))]
    best.sort(key=lambda point: point.itl)
    goals = {configuration.first.targets["itl"] for configuration in every if "itl" in configuration.first.targets}
    goal = goals.pop() if len(goals) == 1 else None
    chosen = _within(points, goal, by)
    headline = f"{'Cost' if by == COST else 'Throughput of a device'} against inter-token latency"
    count = f"{len(every)} configuration{'' if len(every) == 1 else 's'}"
    named = case_title(subject) if len(study.cases) == 1 else compared(study, count, "at the context of the last step")
    frame = _frame(headline, named, points, goal, by)
    _draw(frame, every, points, best, goal)
    _label(frame, every, points, best, chosen, goal)
    gone = [configuration.label for place, configuration in enumerate(every) if all(point.place != place for point in points)]
    notes = [
        "Dots: whole batches, from one to the last that memory holds. The black line is the front: nothing shown is better in both respects."
        + (" Everything stands at the middle of the ranges." if subject.corners else ""),
        f"Numbers: {'; '.join(f'{place + 1} = {every[place].label}' for place in behind(every, best) if every[place].label not in gone)}."
        if len(every) > MOST_NAMED
        else "",
        f"Left out, for they fit at no batch: {'; '.join(gone)}." if gone else "",
        f"Left out: {len(configurations(study)) - MOST} further configurations." if len(configurations(study)) > MOST else "",
    ]
    shows = f"{headline}, both logarithmic, for every configuration over its batches, with the Pareto front."
    return finished("pareto", headline, named, frame, shows, says(every, best, chosen, goal, by, gone), notes)


def _points(place: int, configuration: Configuration, by: str) -> list[Point]:
    """A configuration at powers of two up to the last batch that memory holds, at that one, and at the last that meets the target."""
    there = at_last_step(configuration.first)
    memory, target = held(there, "batch"), limit(TARGET, there, "batch")
    most = _most(memory, max(map(float, configuration.batches)))
    batches = {2**i for i in range(18) if 2**i <= most} | {int(batch) for batch in configuration.batches if batch <= most}
    batches |= {most} if most and memory and memory.real else set()
    batches |= {target.count} if target and target.real and 1 <= target.count <= most else set()
    made = []
    for batch in sorted(batches):
        case = there.case.changed({"batch": Fraction(batch)})
        worth = case.value(by)
        made.append(Point(place, batch, Fraction(case.value("itl")), Fraction(worth if by == COST else worth / _group(there))))
    return made


def _group(there: Answers) -> Fraction:
    """Devices of one instance."""
    return Fraction(there.case.value("instance_devices"))


def _most(memory: Limit | None, own: float) -> int:
    reach = max(LARGEST, power_of_two(own))
    return int(reach) if memory is None or math.isinf(memory.value) else min(memory.count, int(reach)) if memory.value >= 1 else 0


def _within(points: Sequence[Point], goal: Fraction | None, by: str) -> Point | None:
    """The best point that meets the target."""
    meeting = [point for point in points if goal is not None and point.itl <= goal]
    return min(meeting, key=lambda point: point.worth if by == COST else -point.worth) if meeting else None


def _frame(headline: str, named: str, points: Sequence[Point], goal: Fraction | None, by: str) -> Frame:
    across = [float(point.itl) for point in points] + ([float(goal)] if goal else [])
    up = [float(point.worth) for point in points]
    frame = framed(sheet(headline, named), (min(across) / 1.4, max(across) * 1.4), (min(up) / 1.6, max(up) * 1.6))
    name = "US dollars for a million output tokens, decode only, at the last step" if by == COST else "output tokens per second of one device, at the last step"
    frame.axes("inter-token latency at the last step", name, decimal, decimal, seconds, in_unit("") if by == COST else counted)
    return frame


def _draw(frame: Frame, every: Sequence[Configuration], points: Sequence[Point], best: Sequence[Point], goal: Fraction | None) -> None:
    looks = _looks(every, best)
    if goal is not None:
        frame.upright("target", float(goal), VERMILION, DASHED)
    for place in range(len(every)):
        own = [(float(point.itl), float(point.worth)) for point in points if point.place == place]
        colour, dash, shape = looks.get(place, (PALE, (), "circle"))
        frame.curve(f"case {place}", own, colour, 1.1, dash)
        for x, y in own:
            frame.sign(x, y, shape, colour, 2.6, WHITE)
    frame.curve("front", [(float(point.itl), float(point.worth)) for point in best], BLACK, 1.8)
    for point in best:
        colour, _, shape = looks.get(point.place, (GREY, (), "circle"))
        frame.sign(float(point.itl), float(point.worth), shape, colour, 4.0)


def _looks(every: Sequence[Configuration], best: Sequence[Point]) -> dict[int, tuple[str, tuple[float, ...], str]]:
    """A look for every configuration of the front, then for the others while there are any left."""
    order = list(dict.fromkeys([*(point.place for point in best), *range(len(every))]))
    return dict(zip(order[:MOST_SERIES], SERIES, strict=False))


def behind(every: Sequence[Configuration], best: Sequence[Point]) -> list[int]:
    """The configurations that have no part in the front."""
    return [place for place in range(len(every)) if all(point.place != place for point in best)]


def _label(frame: Frame, every: Sequence[Configuration], points: Sequence[Point], best: Sequence[Point], chosen: Point | None, goal: Fraction | None) -> None:
    looks = _looks(every, best)
    if chosen is not None:
        words = f"best within the target: batch {chosen.batch:,}"
        frame.near(float(chosen.itl), float(chosen.worth), (words, words.replace(": ", ":\n")), VERMILION, bold=True)
    for place, run in groupby(best, key=lambda point: point.place):
        members = list(run)
        middle = members[len(members) // 2]
        colour = looks.get(place, (GREY, (), ""))[0]
        frame.near(float(middle.itl), float(middle.worth), (every[place].label, every[place].label.replace(", ", ",\n")), colour, bold=True)
        for point in dict.fromkeys((members[0], members[-1])) if len(every) < 5 else ():
            if point == chosen:
                continue
            frame.near(float(point.itl), float(point.worth), (f"batch {point.batch:,}", f"{point.batch:,}"), GREY)
    for place in behind(every, best):
        name, colour = every[place].label, looks.get(place, (GREY, (), ""))[0]
        if len(every) <= MOST_NAMED:
            frame.beside(f"case {place}", (name, name.replace(", ", ",\n")), colour)
        for point in [point for point in points if point.place == place][-1:] if len(every) > MOST_NAMED else ():
            frame.near(float(point.itl), float(point.worth), (f"{place + 1}",), colour, bold=True)
    if goal is not None:
        frame.beside("target", (target_word("ITL", goal), target_word("ITL", goal).replace(" target ", " target\n")), VERMILION)


def says(every: Sequence[Configuration], best: Sequence[Point], chosen: Point | None, goal: Fraction | None, by: str, gone: Sequence[str]) -> str:
    """The takeaway: the configurations on the front, and the best one within the target."""
    on_front = list(dict.fromkeys(every[point.place].label for point in best))
    texts = [f"On the front: {'; '.join(on_front)}"] if len(every) > 1 else []
    if chosen is not None and goal is not None:
        there = at_last_step(every[chosen.place].first)
        latency, worth = (
            moved(there, name, "batch", Fraction(chosen.batch), share).plain() for name, share in (("itl", 1), (by, 1 if by == COST else _group(there)))
        )
        name = f"{every[chosen.place].label}, " if len(every) > 1 else ""
        texts.append(
            f"best within the target of {seconds(float(goal))}: {name}{requests(Fraction(chosen.batch))}, {latency}, {worth} {'a million tokens' if by == COST else 'a device'}, both at the last step"
        )
    elif goal is not None:
        texts.append(f"nothing that fits meets the target of {seconds(float(goal))}")
    if len(every) == 1 and goal is None and best:
        texts.append(f"on the front: batches {min(point.batch for point in best):,} to {max(point.batch for point in best):,}; no ITL target is set")
    texts += [f"fits at no batch: {'; '.join(gone)}"] if gone else []
    return ". ".join(text[0].upper() + text[1:] for text in texts) + "."
