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
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from symroof.output_files import write_atomic
from symroof.report.pictures.chart import RC, SMALL, Axis, Chart, Mesh, printable, themed, words

WIDTH, HEIGHT, ROW = 540, 260, 23
"""Points of a figure, of what lies between its words, and of a row of bars."""
LETTERS, COLUMNS, NAME = 118, 2, 32
"""Letters of a line of small words, columns of a legend, and letters of a name before a bar."""
LINE = 11.5
"""Points of a line of small words."""
PIXELS = 200
"""Of a PNG, an inch."""


UNTOLD = {
    "svg": ("Date", "Creator", "Format", "Type"),
    "pdf": ("Creator", "Producer", "CreationDate"),
    "png": ("Software",),
}
"""What Matplotlib writes into a file that would change it with the day or the version."""


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
        options: Any = {
            "metadata": dict.fromkeys(UNTOLD[ending]),
            "dpi": PIXELS,
            "facecolor": "auto",
        }
        with _settings():
            super().savefig(made, format=ending, **options)
        if ending != "svg":
            return made.getvalue()
        return themed(made.getvalue().decode(), self.title, self.alt).encode()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Save the picture; as SVG, PDF or PNG without further options as :meth:`form` writes it."""
        named = isinstance(fname, str | os.PathLike)
        ending = options.get("format") or (Path(fname).suffix[1:].lower() if named else "")
        if ending not in UNTOLD or options.keys() - {"format"}:
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
        figure: Picture = ax.get_figure(root=True) if ax else Picture(dpi=72, layout="constrained")
        axes = ax or figure.add_subplot()
        _frame(axes, chart)
        if chart.mesh:
            _mesh(axes, chart.mesh)
        for mark in chart.marks:
            mark(axes)
        if ax:
            axes.set_title(wrapped(chart.title, LETTERS // 2), size=SMALL + 1, loc="left")
            _legend(axes, axes, loc="best")
        else:
            _words_around(figure, axes, chart)
    figure.name, figure.data = chart.name, chart.data
    figure.title, figure.says, figure.alt = chart.title, chart.says, printable(chart.alt)
    figure.caption = chart.caption
    return figure


@contextmanager
def _settings() -> Iterator[None]:
    """The settings of Matplotlib, and no warning of a letter that its font lacks."""
    with warnings.catch_warnings(), matplotlib.rc_context(RC):  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield


def wrapped(text: str, letters: int) -> str:
    """A text in lines of so many letters at most."""
    return textwrap.fill(printable(text), letters)


def _words_around(figure: Picture, axes: Any, chart: Chart) -> None:
    """Title and case above the axes, legend and notes below; the figure is as high as they need."""
    beyond = " (does not fit in memory)" if chart.does_not_fit else ""
    title, case = wrapped(chart.title, 82), wrapped(f"{chart.case}{beyond}", LETTERS - 14)
    notes = "\n".join(wrapped(note, LETTERS) for note in chart.notes)
    legend = _legend(figure, axes, ncols=COLUMNS, loc="outside lower left")
    named = [text.get_text().count("\n") + 1 for text in legend.texts] if legend else []
    below = 4 + LINE * len(notes.splitlines())
    above = 8 + 1.3 * LINE * (title.count("\n") + 1), LINE * (case.count("\n") + 1)
    inner = ROW * (len(chart.rows) + 0.6) if chart.rows else HEIGHT
    height = inner + sum(above) + below + LINE * (sum(named) / COLUMNS + 4)
    figure.set_size_inches(WIDTH / 72, height / 72)
    for text, size, y, role, weight in (
        (title, 1.3 * SMALL, height - 5, "ink", "bold"),
        (case, SMALL + 1, height - above[0], "vermilion" if beyond else "faint", "normal"),
        (notes, SMALL, below, "faint", "normal"),
    ):
        look: Any = {"size": size, "color": words(role), "weight": weight}
        figure.text(7 / WIDTH, y / height, text, va="top", **look)
    foot, head = below / height, sum(above) / height
    figure.set_layout_engine("constrained", rect=(0, foot, 1, 1 - foot - head))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # a layout once made stays, in whatever format it is written
    if legend:
        legend.set_bbox_to_anchor((0, foot, 1, 1))  # above the notes, where its room is


def _legend(where: Any, axes: Any, **place: Any) -> Any:
    """What has a label, each once; None where nothing has."""
    handles, names = axes.get_legend_handles_labels()
    by_name = {wrapped(name, LETTERS // 2 - 10): h for h, name in zip(handles, names, strict=True)}
    look = {"fontsize": SMALL, "frameon": False, "labelcolor": words("ink"), "labelspacing": 0.4}
    return where.legend([*by_name.values()], [*by_name], **look, **place) if by_name else None


def _ticks(axis: Axis) -> tuple[list[float], list[str]]:
    """Round values of an axis and how they are written; of a logarithmic one of less than a decade evenly spaced ones."""
    locator: Any = MaxNLocator(7, steps=[1, 2, 2.5, 5, 10])
    if axis.log and axis.high > 10 * axis.low:
        many = axis.log == 10 and axis.high < 200 * axis.low
        locator = LogLocator(axis.log, (1, 2, 5) if many else (1,), numticks=9)
    found = [float(x) for x in locator.tick_values(axis.low, axis.high) if axis.has(x)]
    return found, list(map(axis.text, found))


def _frame(axes: Any, chart: Chart) -> None:
    """Spines, scales and ticks; of bars a name a row."""
    ink, faint = words("ink"), words("faint")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[:].set_color(faint)
    axes.tick_params(colors=faint, labelsize=8.5, length=3)
    for name, drawn, axis in (("x", axes.xaxis, chart.x), ("y", axes.yaxis, chart.y)):
        if axis.log:
            getattr(axes, f"set_{name}scale")("log", base=axis.log)
        getattr(axes, f"set_{name}lim")(axis.low, axis.high)
        drawn.set_label_text(printable(axis.title), size=SMALL + 1, color=ink)
        drawn.set_ticks(*_ticks(axis))
        drawn.set_ticks([], minor=True)
    if chart.rows:
        axes.set_ylim(len(chart.rows) - 0.4, -1.0)
        axes.set_yticks(range(len(chart.rows)), map(_name, chart.rows))
        axes.tick_params(axis="y", length=0, labelcolor=ink, labelsize=SMALL)
        axes.spines["left"].set_visible(False)
        if not chart.x.title:
            axes.spines["bottom"].set_visible(False)
            axes.set_xticks([])


def _name(row: str) -> str:
    """The name of a bar in two lines at most."""
    parts = printable(row).split("\n")
    cut: Any = {"width": NAME, "max_lines": 3 - len(parts), "placeholder": "…"}
    return "\n".join(textwrap.fill(part, **cut) for part in parts)


def _mesh(axes: Any, mesh: Mesh) -> None:
    """Values as colours with their scale, and hatches."""
    grid, scale = (mesh.x, mesh.y), mesh.scale
    ends = {"vmin": scale.low, "vmax": scale.high, "norm": "log" if scale.log else "linear"}
    values, how = np.ma.masked_invalid(mesh.values), {"shading": "nearest", "zorder": 0}
    made = axes.pcolormesh(*grid, values, cmap="cividis", rasterized=True, **how, **ends)
    bar = axes.figure.colorbar(made, ax=axes, label=scale.title)
    bar.ax.yaxis.set_ticks(*_ticks(scale))
    bar.ax.minorticks_off()
    bar.ax.tick_params(colors=words("faint"), labelsize=8.5, length=3)
    if mesh.unfit.any():
        over = {"levels": [0.5, 1.5], "colors": "none", "hatches": ["//"], "zorder": 2}
        axes.contourf(*grid, mesh.unfit, **over).set_edgecolor("#fdfdfd")
