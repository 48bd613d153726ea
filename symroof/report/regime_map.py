"""The regime map: batch across, context up; where compute and where memory limits decode, what fits, what meets the target."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from symroof.report.figure import BLUE, GREEN, ORANGE, SKY, VERMILION, Drawing, blank, saved
from symroof.report.regime_labels import Labels, drawn_points
from symroof.report.regimes import Line, Regimes, regimes
from symroof.results import Answers, plural
from symroof.verdict import case_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

STYLES = {"ridge": (GREEN, "-", 1.8), "memory": ("black", "-", 1.6), "target": (BLUE, "--", 1.6)}
MOST_TICKS, HATCHES = 9, 44


def regime_map(subject: Answers) -> Drawing | None:
    """The map of the reviewed case; None where its decode times are not known."""
    found = regimes(subject)
    if found is None:
        return None
    return saved(drawn(found, subject), "regimes", words(found, subject))


def drawn(found: Regimes, subject: Answers) -> Figure:
    """The figure: regions, lines, the case, then words where there is room for them."""
    figure, axes = blank(7.2, 4.6)
    _frame(axes, found)
    _regions(axes, found)
    for name, line in found.lines.items():
        colour, style, width = STYLES[name]
        axes.plot(*drawn_points(line, found), style, color=colour, linewidth=width, zorder=3)
    _case(axes, found)
    flag = " (does not fit in memory)" if subject.does_not_fit else ""
    axes.set_title(f"{case_label(subject)}{flag}", fontsize=9, color=VERMILION if flag else "black")
    Labels(figure, axes, found).write(subject)
    return figure


def _frame(axes: Axes, found: Regimes) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlim(*found.batches)
    axes.set_ylim(*found.contexts)
    for axis, ends in ((axes.xaxis, found.batches), (axes.yaxis, found.contexts)):
        marks = _ticks(*ends)
        axis.set_ticks(marks, [f"{mark:,}" for mark in marks])
        axis.set_ticks([], minor=True)
    axes.set_xlabel("batch (requests)")
    axes.set_ylabel("context of every request (tokens)")


def _ticks(low: int, high: int) -> list[int]:
    """Powers of two, or of four where those are too many."""
    powers = [2**i for i in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]
    return powers if len(powers) <= MOST_TICKS else powers[::2]


def _filled(axes: Axes, line: Line, found: Regimes, **look: object) -> PolyCollection:
    """The area to the right of a line."""
    edge = found.batches[1]
    return axes.fill_betweenx([float(c) for c, _ in line], [min(max(float(b), found.batches[0]), edge) for _, b in line], edge, **look)  # type: ignore[arg-type]


def _regions(axes: Axes, found: Regimes) -> None:
    axes.axhspan(*found.contexts, color=SKY, alpha=0.16, linewidth=0, zorder=0)
    _filled(axes, found.lines["ridge"], found, color=ORANGE, alpha=0.35, linewidth=0, zorder=1)
    if found.beyond is not None and found.beyond < found.contexts[1]:
        top = float(max(found.beyond, Fraction(found.contexts[0])))
        axes.axhspan(top, found.contexts[1], color=BLUE, alpha=0.13, linewidth=0, zorder=0)
        axes.axhline(top, color=GREEN, linewidth=1, linestyle=":", zorder=2)
    if "memory" in found.lines:
        _hatched(axes, found.lines["memory"], found)


def _hatched(axes: Axes, line: Line, found: Regimes) -> None:
    """The same area under thin slanted lines of our own: hatches are tiles, whose seams viewers show."""
    from matplotlib.collections import LineCollection

    area = _filled(axes, line, found, color="white", alpha=0.25, linewidth=0, zorder=1)
    slanted = [[(i / HATCHES - 1, 0.0), (i / HATCHES, 1.0)] for i in range(2 * HATCHES)]
    lines = LineCollection(slanted, transform=axes.transAxes, colors="#999999", linewidths=0.7, zorder=2)
    axes.add_collection(lines, autolim=False)
    lines.set_clip_path(area.get_paths()[0], axes.transData)


def _case(axes: Axes, found: Regimes) -> None:
    """The response's climb from its first step to its last; the marker is the last."""
    batch, (first, last) = float(found.batch), found.climb
    axes.plot([batch, batch], [float(first), float(last)], color=VERMILION, linewidth=2.4, zorder=5)
    axes.plot(batch, float(last), "o", color=VERMILION, markeredgecolor="white", markersize=9, zorder=6, clip_on=False)


def words(found: Regimes, subject: Answers) -> str:
    """The map for somebody who does not see it."""
    context = found.climb[1]
    said = [f"Regimes of a decode step over batch and context. The reviewed case: batch {_count(found.batch)} at a context of {_tokens(context)}"]
    ridge, memory, target = (found.at(name, context) for name in ("ridge", "memory", "target"))
    if ridge is not None:
        said.append(f"there {'no batch reaches the ridge' if math.isinf(ridge) else f'the ridge lies at batch {_count(ridge)}'}")
    if memory is not None:
        said.append(f"memory holds {'none' if memory < 1 else f'a batch of {_count(memory)}'}{', so the case does not fit' if subject.does_not_fit else ''}")
    if target is not None:
        said.append(f"the ITL target allows {'any batch' if math.isinf(target) else 'none' if target < 1 else f'a batch of {_count(target)}'}")
    if found.beyond is not None:
        said.append(f"beyond a context of {_tokens(found.beyond)} no batch reaches the ridge")
    return "; ".join(said)


def _count(number: Fraction | float) -> str:
    return f"{math.floor(number):,}"


def _tokens(number: Fraction) -> str:
    return f"{_count(number)} {plural('token', Fraction(math.floor(number)))}"
