"""A simulation drawn: how its times are distributed, or how batch and queue go with time."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from symroof.drawing.colours import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION
from symroof.drawing.scales import linear_ticks, log_ticks
from symroof.errors import InputError, Problem, nearest
from symroof.report.pictures.labels import seconds
from symroof.report.pictures.picture import Picture, finished, framed, sheet
from symroof.simulate.simulation import Simulation

KINDS = ("distribution", "timeline")
POINTS = 240
LINES = (
    ("ttft", "time to first token", BLUE),
    ("itl", "inter-token latency", ORANGE),
    ("response_time", "end to end", GREEN),
)


class DrawnSimulation(Simulation):
    __doc__ = Simulation.__doc__

    def plot(self, kind: str = "distribution") -> Picture:
        """A picture: the ``distribution`` of its times, or the ``timeline`` of batch and queue.

        Raises:
            InputError: no such kind; nothing to draw.
        """
        return picture(self, kind)


def picture(found: Simulation, kind: str) -> Picture:
    """One of both kinds.

    Raises:
        InputError: no such kind; no request was served.
    """
    name = kind.strip().lower()
    if name not in KINDS:
        raise InputError(
            Problem(kind[:80], "no such picture of a simulation", hint=nearest(name, [*KINDS]))
        )
    return _distribution(found) if name == "distribution" else _timeline(found)


def _distribution(found: Simulation) -> Picture:
    """The share of requests, or of tokens, whose time is at most so long; times on a logarithmic axis."""
    import numpy as np

    headline, curves = "Share of requests served within a time", []
    for metric, name, colour in LINES:
        times, counts = found.runs[0].times(metric)
        order = np.argsort(times)
        times, reached = times[order], np.cumsum(counts[order])
        if len(times) and times[-1] > 0:
            curves.append((name, colour, times, reached / reached[-1]))
    if not curves:
        raise InputError(Problem("distribution", "nothing to draw: no request was served"))
    low = min(float(times[times > 0][0]) for _, _, times, _ in curves)
    high = max(float(times[-1]) for _, _, times, _ in curves)
    frame = framed(sheet(headline, found.title), (low / 1.5, high * 1.5), (0, 1.05), True, False)
    frame.axes(
        "time", "share within it", log_ticks, linear_ticks, seconds, lambda share: f"{share:.0%}"
    )
    for name, colour, times, share in curves:
        places = np.unique(
            np.searchsorted(share, np.linspace(0, 1, POINTS), side="left").clip(0, len(share) - 1)
        )
        points = [(float(times[0]), 0.0)]
        for i in places:
            points += [(float(times[i]), points[-1][1]), (float(times[i]), float(share[i]))]
        frame.curve(name, points, colour)
    for name, limit in found.limits.items():
        frame.vertical_line(f"{name} target", limit, VERMILION)
    for name, colour, _, _ in curves:
        frame.label_line(name, (name,), colour)
    for name in found.limits:
        frame.label_line(f"{name} target", (f"{name} target",), VERMILION)
    summary = found.summary
    parts = [
        f"{name} {_text(summary[metric]['p50'].value)}, {_text(summary[metric]['p99'].value)} at the 99th percentile"
        for metric, name, _ in LINES
    ]
    shows = (
        f"{headline}, the time on a logarithmic axis; of inter-token latency the share of tokens."
    )
    return finished(
        "distribution",
        headline,
        found.title,
        frame,
        shows,
        f"In the median {'; '.join(parts)}.",
        ["Inter-token latency is counted by tokens."],
    )


def _timeline(found: Simulation) -> Picture:
    """Requests in the batch and in the queue against the time."""
    headline, run = "Requests in the batch and waiting", found.runs[0]
    if not len(run.timeline):
        raise InputError(Problem("timeline", "nothing to draw: no request was served"))
    step = max(1, len(run.timeline) // (4 * POINTS))
    rows: Any = run.timeline[::step]
    top = float(max(rows[:, 1].max(), rows[:, 2].max(), 1)) * 1.1
    frame = framed(
        sheet(headline, found.title), (0, max(float(rows[-1, 0]), 1e-9)), (0, top), False, False
    )
    low, high = run.window
    frame.shade(low, high, SKY, 0.12)
    frame.axes(
        "time", "requests", linear_ticks, linear_ticks, seconds, lambda count: f"{count:,.0f}"
    )
    for name, column, colour in (("in the batch", 1, BLUE), ("waiting", 2, VERMILION)):
        pairs = [(float(row[0]), float(row[column])) for row in rows]
        points = [pairs[0]] + [
            point for (_, before), (x, y) in pairwise(pairs) for point in ((x, before), (x, y))
        ]
        frame.curve(name, points, colour, 1.2)
    frame.label_line("in the batch", ("in the batch",), BLUE)
    frame.label_line("waiting", ("waiting",), VERMILION)
    most, queue = int(run.timeline[:, 1].max()), int(run.timeline[:, 2].max())
    says = f"At most {most:,} requests are in the batch and {queue:,} wait; the server is busy for {run.busy:.1%} of {_text(run.makespan)}."
    frame.label_range(low, high, ("counted",), GREY)
    return finished(
        "timeline",
        headline,
        found.title,
        frame,
        f"{headline} against the time; the shaded part is counted.",
        says,
    )


def _text(value: float) -> str:
    return seconds(value) if math.isfinite(value) else "none"
