"""Charts drawn by Matplotlib, as a figure of their own or into axes of the caller's."""

from __future__ import annotations

import io
import math
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

from symroof.errors import InputError, Problem
from symroof.output_files import write_atomic
from symroof.report.pictures import ENDINGS, STYLES
from symroof.report.pictures.chart import Axis, Chart, Mark
from symroof.report.pictures.placement import Room
from symroof.report.pictures.styles import RC, Colours, printable, themed

WIDTH, HEIGHT, ROW = 540.0, 330.0, 23.0
"""Points of a figure without title and notes, and of a row of bars."""
TITLE, WORDS, SMALL = 11.0, 9.0, 8.0
LEADING = 1.3
NAMES = 150.0
"""Most points of a name before a bar."""
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

    name = title = says = caption = alt = style = ""
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
        return themed(made.getvalue().decode(), self.title, self.alt, self.style).encode()

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


def draw(chart: Chart, ax: Any = None, style: str = "screen") -> Picture:
    """A chart as a figure of its own, or in axes that a caller has; the figure then is theirs.

    Raises:
        InputError: no such style.
    """
    if style not in STYLES:
        raise InputError(
            Problem(style[:80], "no such style", hint=f"there are {', '.join(STYLES)}")
        )
    with _settings():
        figure = _sheet(chart, style) if ax is None else ax.get_figure(root=True)
        _Drawing(figure, ax or figure.axes[0], chart, style, own=ax is None).draw()
    figure.name, figure.data, figure.style = chart.name, chart.data, style
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


def _sheet(chart: Chart, style: str) -> Picture:
    """A figure with title, case and notes, and axes between them."""
    colours = Colours(style)
    figure = Picture(dpi=72, facecolor=colours.line("back"))
    FigureCanvasAgg(figure)
    beyond = chart.does_not_fit
    case = f"{chart.case}{' (does not fit in memory)' if beyond else ''}"
    above = [(line, TITLE, "ink", "bold") for line in wrap(chart.title, TITLE, WIDTH, 0.63)]
    above += [
        (line, WORDS, "vermilion" if beyond else "faint", "normal")
        for line in wrap(case, WORDS, WIDTH)
    ]
    notes = [line for note in chart.notes for line in wrap(note, SMALL, WIDTH)]
    below = [(line, SMALL, "faint", "normal") for line in notes]
    top = 8 + sum(LEADING * line[1] for line in above) + (8 if chart.rows else 26)
    bottom = 12 + LEADING * SMALL * len(below) + (38 if chart.x.title else 10)
    inner = ROW * (len(chart.rows) + 0.6) if chart.rows else HEIGHT - 90
    height = top + inner + bottom
    figure.set_size_inches(WIDTH / 72, height / 72)
    for lines, foot in ((above, height - 6), (below, 6 + LEADING * SMALL * len(below))):
        for line, size, colour, weight in lines:
            _write(figure, foot, line, size, colours.words(colour), weight=weight)
            foot -= LEADING * size
    axes = figure.add_axes((0.1, bottom / height, 0.86, inner / height))
    axes.set_facecolor(colours.line("back"))
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
    >>> ticks(Axis("", 3, 9, str), 5), ticks(Axis("", 0, 42, str, 0), 6)
    ([4.0, 6.0, 8.0], [0.0, 10.0, 20.0, 30.0, 40.0])
    """
    tries: list[Any] = [MaxNLocator(max(most - 1, 2), steps=[1, 2, 2.5, 5, 10])]
    if axis.log:
        parts = ((1, 2, 5), (1, 3), (1,)) if axis.log == 10 else ((1,),)
        tries = [*(LogLocator(axis.log, subs, numticks=most) for subs in parts), *tries]
    reach = 1e-9 * (axis.high - axis.low)
    for made in tries:
        every = made.tick_values(axis.low, axis.high)
        found = [float(x) for x in every if axis.low - reach <= x <= axis.high + reach]
        if 3 <= len(found) <= most:
            break
    return found


def apart_on(axis: Axis, values: list[float], share: float) -> list[float]:
    """The values that stand at least a share of the axis behind the one before: even steps crowd at the end of a logarithmic one.

    >>> apart_on(Axis("", 20, 160, str), [20, 40, 60, 80, 100, 120, 140, 160], 0.1)
    [20, 40, 60, 80, 100, 140]
    """
    place = math.log if axis.log else float
    kept: list[float] = []
    for value in values:
        gap = place(value) - place(kept[-1]) if kept else math.inf
        if gap >= 0.999 * share * (place(axis.high) - place(axis.low)):
            kept.append(value)
    return kept


class _Drawing:
    """The marks of a chart on its axes, then their labels."""

    def __init__(self, figure: Any, axes: Any, chart: Chart, style: str, own: bool) -> None:
        self.figure, self.axes, self.chart, self.own = figure, axes, chart, own
        self.colours = Colours(style)
        canvas = figure.canvas
        canvas = canvas if hasattr(canvas, "get_renderer") else FigureCanvasAgg(figure)
        self.renderer = canvas.get_renderer()
        self.room = Room(axes, self.renderer)

    def draw(self) -> None:
        self._frame()
        for mark in self.chart.marks:
            getattr(self, f"_{mark.kind}")(mark)
        for mark in self.chart.marks:
            if mark.labels and mark.kind in ("curve", "spots", "area"):
                self._label(mark)

    # ------------------------------------------------------------------------------------------- axes

    def _frame(self) -> None:
        """Limits, ticks and titles; where the figure is our own, room for what is written beside the axes."""
        axes, chart, faint = self.axes, self.chart, self.colours.words("faint")
        axes.spines[["top", "right"]].set_visible(False)
        for spine in axes.spines.values():
            spine.set_color(faint)
        axes.tick_params(colors=faint, labelsize=8.5, length=3)
        for name, axis in (("x", chart.x), ("y", chart.y)):
            if axis.log:
                getattr(axes, f"set_{name}scale")("log", base=axis.log)
            getattr(axes, f"set_{name}lim")(axis.low, axis.high)
        if chart.rows:
            self._rows()
        else:
            self._ticks("y", chart.y)
        if self.own:
            self._fit()
        if chart.x.title:
            self._ticks("x", chart.x)
        else:
            axes.set_xticks([])
        axes.set_xlabel(printable(chart.x.title), size=WORDS, color=self.colours.words("ink"))
        if not self.own:
            room = (self.room.box[2] - self.room.box[0]) / self.room.pixels
            axes.set_title("\n".join(wrap(chart.title, WORDS, room)), size=WORDS, loc="left")
        if self.own:
            top = axes.get_position().y1 * self.figure.get_figheight() * 72 + 8
            _write(self.figure, top + WORDS, chart.y.title, WORDS, self.colours.words("ink"))
        else:
            axes.set_ylabel(printable(chart.y.title), size=WORDS)

    def _ticks(self, name: str, axis: Axis) -> None:
        """Round values, as many as have room."""
        box = self.room.box
        length = (box[2] - box[0] if name == "x" else box[3] - box[1]) / self.room.pixels
        apart = 54 if name == "x" else 24
        found = apart_on(axis, ticks(axis, int(length / apart) + 1), 0.72 * apart / length)
        place = getattr(self.axes, f"set_{name}ticks")
        place([], minor=True)
        place(found, [axis.text(tick) for tick in found])

    def _rows(self) -> None:
        """Names of bars instead of a vertical axis."""
        axes, names = self.axes, self.chart.rows
        axes.set_ylim(len(names) - 0.4, -1.0)
        texts = []
        for name in names:  # in at most two lines
            parts = [wrap(part, SMALL, NAMES) for part in name.split("\n")]
            lines = parts[0] if len(parts) == 1 else [parts[0][0], parts[1][0]]
            texts.append("\n".join(lines[:2]) + ("…" if len(lines) > 2 else ""))
        axes.set_yticks(range(len(names)), texts)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="y", labelcolor=self.colours.words("ink"), labelsize=SMALL)
        axes.spines["left"].set_visible(False)
        if not self.chart.x.title:
            axes.spines["bottom"].set_visible(False)

    def _fit(self) -> None:
        """The left margin that the values of the vertical axis need, and the right one that a scale of colours does."""
        texts = self.axes.get_yticklabels()
        widest = max((text.get_window_extent(self.renderer).width for text in texts), default=0)
        left = (widest / self.room.pixels + 16) / WIDTH
        mesh = any(mark.kind == "mesh" for mark in self.chart.marks)
        box = self.axes.get_position()
        right = 1 - (90 if mesh else 20) / WIDTH
        self.axes.set_position((left, box.y0, right - left, box.height))

    # ------------------------------------------------------------------------------------------- marks

    def _curve(self, mark: Mark) -> None:
        look, colour = mark.look, self.colours.line(mark.colour)
        x, y = mark.points.T
        style = look["dash"]
        self.axes.plot(x, y, color=colour, linestyle=style, linewidth=look["width"], zorder=3)
        self.room.hold(mark.points)

    def _spots(self, mark: Mark) -> None:
        look = mark.look
        if not look:  # a label alone
            return
        line, back = self.colours.line(mark.colour), self.colours.line("back")
        fill, edge = (back, line) if look["hollow"] else (line, back)
        size = look["size"]
        self.axes.plot(
            *mark.points.T, look["shape"], markersize=size, zorder=4, markerfacecolor=fill,
            markeredgecolor=line if look["shape"] == "x" else edge, markeredgewidth=1.0,
        )  # fmt: skip
        reach = size / 2 * self.room.pixels
        ring = np.array([(0, 0), (reach, 0), (0, reach), (-reach, 0), (0, -reach)])
        self.room.ink.append((self.room.at(mark.points)[:, None] + ring).reshape(-1, 2))

    def _area(self, mark: Mark) -> None:
        colour = self.colours.line(mark.colour)
        look: dict[str, Any] = {"facecolor": colour, "alpha": mark.look["share"], "linewidth": 0}
        if mark.look["hatch"]:
            look = {"facecolor": "none", "edgecolor": colour, "hatch": "//", "linewidth": 0}
        points = np.clip(mark.points, *np.array([self.axes.get_xlim(), self.axes.get_ylim()]).T)
        self.axes.fill(*points.T, zorder=1 + bool(mark.look["hatch"]), **look)

    def _bar(self, mark: Mark) -> None:
        (start, row), (end, _) = mark.points
        colour, back = self.colours.line(mark.colour), self.colours.line("back")
        bar = {"height": 0.55, "color": colour, "edgecolor": back, "zorder": 3}
        self.axes.barh(row, end - start, left=start, linewidth=0.6 * len(mark.labels), **bar)
        for word in mark.labels:
            ends = self.room.at([(start, row), (end, row)])[:, 0]
            wide = self.room.size(word, SMALL, False)[0] + 6 * self.room.pixels
            lines = [mark.points for mark in self.chart.marks if mark.kind == "curve"]
            clear = [abs(self.room.at(line)[0, 0] - ends.mean()) > wide / 2 for line in lines]
            if abs(ends[1] - ends[0]) > wide and all(clear):
                ink = "#ffffff" if mark.colour in ("blue", "green", "faint") else "#101010"
                where = ((start + end) / 2, row)
                self.axes.text(
                    *where, word, size=SMALL, color=ink, ha="center", va="center", zorder=5
                )

    def _text(self, mark: Mark) -> None:
        align = mark.look["align"]
        off = {"left": 4, "right": -4, "center": 0}[align]
        self.axes.annotate(
            printable(mark.labels[0]), mark.points[0], (off, 0), textcoords="offset points",
            ha=align, va="center_baseline", size=mark.look.get("size", SMALL + 0.5), zorder=5,
            color=self.colours.words(mark.colour), weight="bold" if mark.bold else "normal",
            annotation_clip=False,
        )  # fmt: skip

    def _mesh(self, mark: Mark) -> None:
        """Values over two inputs as colours, with a scale of them; where memory ends hatched."""
        look, faint = mark.look, self.colours.words("faint")
        grid = (look["x"], look["y"])
        scale: Axis = look["axis"]
        ends = {"vmin": scale.low, "vmax": scale.high, "norm": "log" if scale.log else "linear"}
        values, how = np.ma.masked_invalid(look["values"]), {"shading": "nearest", "zorder": 0}
        made = self.axes.pcolormesh(*grid, values, cmap="cividis", rasterized=True, **how, **ends)
        side = self.axes.inset_axes((1.03, 0, 0.03, 1))
        bar = self.figure.colorbar(made, cax=side)
        bar.set_ticks(found := ticks(scale, 8), labels=[scale.text(tick) for tick in found])
        bar.ax.minorticks_off()
        bar.ax.tick_params(colors=faint, labelsize=8.5, length=3)
        if look["unfit"].any():
            over = {"levels": [0.5, 1.5], "colors": "none", "hatches": ["//"], "zorder": 2}
            hatched = self.axes.contourf(*grid, look["unfit"], **over)
            hatched.set_edgecolor("#fdfdfd")

    # ------------------------------------------------------------------------------------------- labels

    def _label(self, mark: Mark) -> None:
        inside = self.room.at(mark.points)
        (left, low, right, high), (x, y) = self.room.box, inside[0]
        if mark.kind == "spots" and not (left - 1 <= x <= right + 1 and low - 1 <= y <= high + 1):
            return
        place = self.room.place(mark)
        if place is None:
            return
        colour, spot = self.colours.words(mark.colour), mark.points[0]
        off = (place.centre - inside[0]) / self.room.pixels
        if mark.kind != "spots":
            spot, off = self.axes.transData.inverted().transform(place.centre), np.zeros(2)
        self.axes.annotate(
            printable(place.text), spot, tuple(off), textcoords="offset points",
            ha="center", va="center", size=place.size, color=colour, zorder=6, linespacing=1.15,
            weight="bold" if mark.bold else "normal", annotation_clip=False,
        )  # fmt: skip
        if place.far:  # a thin line to its point
            half = self.room.size(place.text, place.size, mark.bold) / 2
            end = np.clip(inside[0], place.centre - half, place.centre + half)
            ends = self.axes.transData.inverted().transform([inside[0], end])
            self.axes.plot(*ends.T, color=self.colours.line("faint"), linewidth=0.5, zorder=2.5)
            self.room.hold(ends)
