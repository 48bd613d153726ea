"""A simulation drawn: how its times are distributed, or how batch and queue go with time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symroof.errors import InputError, Problem, nearest
from symroof.report.pictures.chart import Axis, Chart, counted, seconds
from symroof.simulate.simulation import Simulation

KINDS = ("distribution", "timeline")
POINTS = 240
LINES = (
    ("ttft", "time to first token", "blue", "-"),
    ("itl", "inter-token latency", "orange", "-."),
    ("response_time", "end to end", "green", "--"),
)


class DrawnSimulation(Simulation):
    __doc__ = Simulation.__doc__

    def plot(self, kind: str = "distribution", ax: Any = None, style: str = "screen") -> Any:
        """A Matplotlib figure: the ``distribution`` of its times, or the ``timeline`` of batch and queue.

        Raises:
            InputError: no such kind; nothing to draw.
        """
        from symroof.report.pictures.draw import draw

        return draw(chart(self, kind), ax, style)


def chart(found: Simulation, kind: str) -> Chart:
    """One of both kinds.

    Raises:
        InputError: no such kind; no request was served.
    """
    name = kind.strip().lower()
    if name not in KINDS:
        known = nearest(name, [*KINDS])
        raise InputError(Problem(kind[:80], "no such picture of a simulation", hint=known))
    return _distribution(found) if name == "distribution" else _timeline(found)


def _distribution(found: Simulation) -> Chart:
    """The share of requests, or of tokens, whose time is at most so long; times on a logarithmic axis."""
    curves = {}
    for metric, name, *_ in LINES:
        times, counts = found.runs[0].times(metric)
        order = np.argsort(times)
        times, reached = times[order], np.cumsum(counts[order])
        if len(times) and times[-1] > 0:
            curves[name] = times, reached / reached[-1]
    if not curves:
        raise InputError(Problem("distribution", "nothing to draw: no request was served"))
    low = min(float(times[times > 0][0]) for times, _ in curves.values())
    high = max(float(times[-1]) for times, _ in curves.values())
    summary = found.summary
    made = Chart(
        "distribution",
        found.title,
        "Share of requests served within a time, the time on a logarithmic axis; of inter-token latency the share of tokens.",
        [
            f"{name} {_text(summary[metric]['p50'].value)} in the median, {_text(summary[metric]['p99'].value)} at the 99th percentile"
            for metric, name, *_ in LINES
        ],
        Axis("time", low / 1.5, high * 1.5, seconds),
        Axis("share within it", 0, 1.05, "{:.0%}".format, 0),
        notes=["Inter-token latency is counted by tokens."],
    )
    for _, name, colour, dash in LINES:
        if name in curves:
            times, share = curves[name]
            steps = np.searchsorted(share, np.linspace(0, 1, POINTS), side="left")
            places = np.unique(steps.clip(0, len(share) - 1))
            points = _stairs(times[places], share[places], 0.0)
            made.curve(name, points, colour, dash, label=name)
    for name, limit in found.limits.items():
        made.upright(f"{name} target", limit, "vermilion", "--", f"{name} target")
    return made


def _stairs(x: Any, y: Any, first: float) -> Any:
    """The corners of steps up or down at some places."""
    return np.column_stack([np.repeat(x, 2), np.r_[first, np.repeat(y, 2)[:-1]]])


def _timeline(found: Simulation) -> Chart:
    run = found.runs[0]
    if not len(run.timeline):
        raise InputError(Problem("timeline", "nothing to draw: no request was served"))
    rows: Any = run.timeline[:: max(1, len(run.timeline) // (4 * POINTS))]
    top = float(max(rows[:, 1:3].max(), 1)) * 1.1
    most, queue = int(run.timeline[:, 1].max()), int(run.timeline[:, 2].max())
    made = Chart(
        "timeline",
        found.title,
        "Requests in the batch and waiting against the time; the shaded part is counted.",
        [
            f"at most {most:,} requests are in the batch and {queue:,} wait",
            f"the server is busy for {run.busy:.1%} of {_text(run.makespan)}",
        ],
        Axis("time", 0, max(float(rows[-1, 0]), 1e-9), seconds, 0),
        Axis("requests", 0, top, counted, 0),
    )
    made.shade(*run.window, "sky", 0.12, "counted")
    for name, column, colour, dash in (
        ("in the batch", 1, "blue", "-"),
        ("waiting", 2, "vermilion", "--"),
    ):
        points = _stairs(rows[:, 0], rows[:, column], rows[0, column])
        made.curve(name, points, colour, dash, 1.2, name)
    return made


def _text(value: float) -> str:
    return seconds(value) if math.isfinite(value) else "none"
