"""Charts drawn by Matplotlib, as a figure of their own or into axes of the caller's."""

from __future__ import annotations

import io
import os
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from symroof.output_files import write_atomic
from symroof.report.pictures import ENDINGS
from symroof.report.pictures.chart import Axis, Chart, Mesh
from symroof.report.pictures.styles import RC, SMALL, line, printable, themed, words

WIDTH, HEIGHT, ROW = 540.0, 330.0, 23.0
"""Points of a figure without title and notes, and of a row of bars."""
TITLE, WORDS = 11.0, 9.0
LEADING = 1.3
NAMES, COLUMNS = 150.0, 2
"""Most points of a name before a bar; columns of a legend."""
PIXELS = 200
"""Of a PNG, an inch."""


UNTOLD = {
    "svg": ("Date", "Creator", "Format", "Type"),
    "pdf": ("Creator", "Producer", "CreationDate"),
    "png": ("Software",),
}
"""What Matplotlib writes into a file that would change it with the day or the version."""
WHERE = {"pdf": "Subject", "png": "Description"}
"""Where a file holds its text alternative."""


class Picture(Figure):
    """A Matplotlib figure with what it shows.

    Attributes:
        name: its kind.
        data: name -> array: of a curve or of marks rows of x and y, of bars a value a row.
        title, says, caption: what it says in a line, in a sentence, and what the line leaves out.
        alt: its text alternative.
    """

    name = title = says = caption = alt = ""
    data: dict[str, Any]

    def form(self, ending: str) -> bytes:
        """The file in one format, the same bytes for the same picture."""
        made = io.BytesIO()
        about: dict[str, str | None] = dict.fromkeys(UNTOLD[ending])
        if ending != "svg":  # which gets its own
            about |= {"Title": self.title, WHERE[ending]: self.alt}
        with _settings():
            super().savefig(made, format=ending, metadata=about, dpi=PIXELS, facecolor="auto")
        if ending != "svg":
            return made.getvalue()
        return themed(made.getvalue().decode(), self.title, self.alt).encode()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save the picture; as SVG, PDF or PNG without further options as :meth:`form` writes it."""
        named = isinstance(fname, str | os.PathLike)
        ending = options.get("format") or (Path(fname).suffix[1:].lower() if named else "")
        if ending not in ENDINGS or options.keys() - {"format"}:
            super().savefig(fname, **options)
        elif named:
            write_atomic(fname, self.form(ending))
        else:
            fname.write(self.form(ending))

    def _repr_svg_(self) -> str:
        return self.form("svg").decode()

    def __repr__(self) -> str:
        return f"<{self.title}>"


def draw(chart: Chart, ax: Any = None) -> Picture:
    """A chart as a figure of its own, or in axes that a caller has; the figure then is theirs."""
    with _settings():
        figure = _sheet(chart) if ax is None else ax.get_figure(root=True)
        _Drawing(figure, ax or figure.axes[0], chart, own=ax is None).draw()
    figure.name, figure.data = chart.name, chart.data
    figure.title, figure.says, figure.alt = chart.title, chart.says, printable(chart.alt)
    figure.caption = chart.caption
    found: Picture = figure
    return found


@contextmanager
def _settings() -> Iterator[None]:
    """The settings of Matplotlib, and no warning of a letter that its font lacks."""
    with warnings.catch_warnings(), matplotlib.rc_context(RC):  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def _sheet(chart: Chart) -> Picture:
    """A figure with title and case above its axes, legend and notes below."""
    figure = Picture(dpi=72, facecolor=line("back"))
    FigureCanvasAgg(figure)
    beyond = chart.does_not_fit
    case = f"{chart.case}{' (does not fit in memory)' if beyond else ''}"
    faint = "vermilion" if beyond else "faint"
    above = [(text, TITLE, "ink", "bold") for text in wrap(chart.title, TITLE, WIDTH, 0.63)]
    above += [(text, WORDS, faint, "normal") for text in wrap(case, WORDS, WIDTH)]
    notes = [text for note in chart.notes for text in wrap(note, SMALL, WIDTH)]
    below = [(text, SMALL, "faint", "normal") for text in notes]
    texts = axis_texts(chart)
    left = max((len(part) for text in texts for part in text.split("\n")), default=0) * 0.6 * SMALL
    top = 8 + sum(LEADING * size for _, size, *_ in above) + (8 if chart.rows else 26)
    foot = 12 + LEADING * SMALL * len(below)
    legend = legend_height(chart)
    bottom = foot + legend + (38 if chart.x.title else 10)
    inner = ROW * (len(chart.rows) + 0.6) if chart.rows else HEIGHT - 90
    height = top + inner + bottom
    figure.set_size_inches(WIDTH / 72, height / 72)
    for lines, y in ((above, height - 6), (below, 6 + LEADING * SMALL * len(below))):
        for text, size, colour, weight in lines:
            _write(figure, y, text, size, words(colour), weight=weight)
            y -= LEADING * size
    left = (left + 16) / WIDTH
    beyond_end = max(20, 2 + 2.6 * len(chart.x.text(chart.x.high)))  # half of the last tick
    wide = 1 - left - (90 if chart.mesh else beyond_end) / WIDTH
    axes = figure.add_axes((left, bottom / height, wide, inner / height))
    axes.set_facecolor(line("back"))
    if not chart.rows:
        _write(figure, bottom + inner + 8 + WORDS, chart.y.title, WORDS, words("ink"))
    return figure


def _write(figure: Figure, y: float, text: str, size: float, colour: str, **more: Any) -> None:
    """A line at the left edge, so many points from below."""
    height = 72 * figure.get_figheight()
    figure.text(7 / WIDTH, y / height, printable(text), size=size, color=colour, va="top", **more)


def wrap(text: str, size: float, room: float, wide: float = 0.56) -> list[str]:
    """A text in lines of at most so many points, a letter being so wide as a share of the size."""
    return textwrap.wrap(printable(text), int((room - 14) / (size * wide)))


def ticks(axis: Axis, most: int) -> list[float]:
    """At most so many round values of an axis.

    >>> ticks(Axis("", 1, 5000, str), 5)
    [1.0, 10.0, 100.0, 1000.0]
    >>> ticks(Axis("", 0, 42, str, 0), 6)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    even = MaxNLocator(max(most - 1, 2), steps=[1, 2, 2.5, 5, 10]).tick_values
    tries = [even(axis.low, axis.high)]
    if axis.log:
        parts = ((1, 2, 5), (1, 3), (1,)) if axis.log == 10 else ((1,),)
        found = [LogLocator(axis.log, subs, numticks=most) for subs in parts]
        ratio = (axis.high / axis.low) ** np.linspace(0.1, 0.9, 4)
        tries = [each.tick_values(axis.low, axis.high) for each in found]
        tries.append([float(f"{x:.2g}") for x in axis.low * ratio])
    reach = 1e-9 * (axis.high - axis.low)
    for every in tries:
        kept = [float(x) for x in every if axis.low - reach <= x <= axis.high + reach]
        if 3 <= len(kept) <= most:
            break
    return kept


def legend_labels(chart: Chart) -> dict[str, str]:
    """The labels of a legend, each once, and in lines."""
    return {each: "\n".join(wrap(each, SMALL, WIDTH / COLUMNS - 36)) for each in chart.labels}


def legend_height(chart: Chart) -> float:
    """The points that a legend of columns takes below the axes."""
    lines = [label.count("\n") + 1 for label in legend_labels(chart).values()]
    tall = -(-len(lines) // COLUMNS)
    columns = [lines[i : i + tall] for i in range(0, len(lines), max(tall, 1))]
    return max((sum(1.25 * n + 0.4 for n in column) for column in columns), default=0) * SMALL


def axis_texts(chart: Chart) -> list[str]:
    """What stands beside the vertical axis: names of bars in at most two lines, or values."""
    if not chart.rows:
        return [chart.y.text(tick) for tick in ticks(chart.y, 9)]
    texts = []
    for name in chart.rows:
        parts = [wrap(part, SMALL, NAMES) for part in name.split("\n")]
        lines = parts[0] if len(parts) == 1 else [parts[0][0], parts[1][0]]
        texts.append("\n".join(lines[:2]) + ("…" if len(lines) > 2 else ""))
    return texts


class _Drawing:
    """The frame of a chart, its marks and its legend on axes."""

    def __init__(self, figure: Any, axes: Any, chart: Chart, own: bool) -> None:
        self.figure, self.axes, self.chart, self.own = figure, axes, chart, own

    def draw(self) -> None:
        self._frame()
        if self.chart.mesh:
            self._mesh(self.chart.mesh)
        for mark in self.chart.marks:
            mark(self.axes)
        self._legend()

    def _frame(self) -> None:
        axes, chart = self.axes, self.chart
        ink, faint = words("ink"), words("faint")
        axes.spines[["top", "right"]].set_visible(False)
        for spine in axes.spines.values():
            spine.set_color(faint)
        axes.tick_params(colors=faint, labelsize=8.5, length=3)
        for name, axis in (("x", chart.x), ("y", chart.y)):
            if axis.log:
                getattr(axes, f"set_{name}scale")("log", base=axis.log)
            getattr(axes, f"set_{name}lim")(axis.low, axis.high)
            found = ticks(axis, 9) if axis.title else []
            place = getattr(axes, f"set_{name}ticks")
            place([], minor=True)
            place(found, [axis.text(tick) for tick in found])
        if chart.rows:
            axes.set_ylim(len(chart.rows) - 0.4, -1.0)
            axes.set_yticks(range(len(chart.rows)), axis_texts(chart))
            axes.tick_params(axis="y", length=0, labelcolor=ink, labelsize=SMALL)
            axes.spines["left"].set_visible(False)
            axes.spines["bottom"].set_visible(bool(chart.x.title))
        axes.set_xlabel(printable(chart.x.title), size=WORDS, color=ink)
        if not self.own:
            room = axes.get_window_extent().width * 72 / self.figure.dpi
            axes.set_title("\n".join(wrap(chart.title, WORDS, room)), size=WORDS, loc="left")
            axes.set_ylabel(printable(chart.y.title), size=WORDS)

    def _legend(self) -> None:
        """What has a label, each once: below the axes, or inside those of a caller."""
        handles, names = self.axes.get_legend_handles_labels()
        by_name, lines = dict(zip(names, handles, strict=True)), legend_labels(self.chart)
        if not lines:
            return
        look = {"fontsize": SMALL, "frameon": False, "labelcolor": words("ink")}
        look |= {"labelspacing": 0.4, "borderaxespad": 0, "borderpad": 0, "handlelength": 2.2}
        if self.own:
            height = 72 * self.figure.get_figheight()
            below = 12 + LEADING * SMALL * sum(len(wrap(n, SMALL, WIDTH)) for n in self.chart.notes)
            corner = (10 / WIDTH, (below + legend_height(self.chart)) / height)
            place = {"loc": "upper left", "bbox_to_anchor": corner, "ncols": COLUMNS}
            place["bbox_transform"] = self.figure.transFigure
        else:
            place = {"loc": "best"}
        self.axes.legend([by_name[name] for name in lines], [*lines.values()], **look, **place)

    def _mesh(self, mesh: Mesh) -> None:
        """Values as colours with their scale, and hatches."""
        grid, scale, faint = (mesh.x, mesh.y), mesh.scale, words("faint")
        ends = {"vmin": scale.low, "vmax": scale.high, "norm": "log" if scale.log else "linear"}
        values, how = np.ma.masked_invalid(mesh.values), {"shading": "nearest", "zorder": 0}
        made = self.axes.pcolormesh(*grid, values, cmap="cividis", rasterized=True, **how, **ends)
        side = self.axes.inset_axes((1.03, 0, 0.03, 1))
        bar = self.figure.colorbar(made, cax=side)
        bar.set_ticks(found := ticks(scale, 8), labels=[scale.text(tick) for tick in found])
        bar.ax.minorticks_off()
        bar.ax.tick_params(colors=faint, labelsize=8.5, length=3)
        if mesh.unfit.any():
            over = {"levels": [0.5, 1.5], "colors": "none", "hatches": ["//"], "zorder": 2}
            hatched = self.axes.contourf(*grid, mesh.unfit, **over)
            hatched.set_edgecolor("#fdfdfd")
