"""A picture before it is drawn: its colours, marks by value on two axes, the data that they show, and the words around them.

Colours are for light and dark screens: Okabe and Ito's, distinct for colour-blind readers; marks also differ in shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem
from symroof.units import format_quantity

PALETTE = {  # role: line and text on white, line and text on black
    "back": ("#ffffff", "#ffffff", "#16181b", "#16181b"),
    "ink": ("#111111", "#111111", "#e8e8e8", "#e8e8e8"),
    "faint": ("#5b5f64", "#5b5f64", "#a8adb3", "#a8adb3"),
    "pale": ("#b4b8bd", "#6f7378", "#50565c", "#8d939a"),
    "blue": ("#0072b2", "#00629a", "#4fa8e0", "#7dbdec"),
    "orange": ("#e69f00", "#8a5a00", "#e39c12", "#f0b840"),
    "green": ("#009e73", "#00795a", "#2cbf95", "#5fd3b3"),
    "sky": ("#56b4e9", "#1b6e9c", "#7cc6f0", "#9ed5f5"),
    "vermilion": ("#d55e00", "#b84e00", "#ff8c42", "#ffa066"),
    "purple": ("#cc79a7", "#a13d70", "#df9cc0", "#e8b4d0"),
}
SERIES = (*zip(("blue", "green", "purple", "orange", "sky", "faint"), "os^Dvx", strict=True),)
"""Colour and sign of each candidate; each of the two identifies it."""
RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "text.parse_math": False,
    "text.usetex": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "symroof",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.6,
    "path.simplify": True,
}
"""Settings of Matplotlib under which a picture is drawn and saved, whatever its user has set."""
SMALL = 8.0
"""Points of words in a picture."""
FONTS = "'DejaVu Sans', sans-serif"


def line(role: str) -> str:
    """The colour of a line or an area."""
    return PALETTE[role][0]


def words(role: str) -> str:
    """The colour of words, which are thinner and so darker."""
    return PALETTE[role][1]


def themed(svg: str, title: str, description: str) -> str:
    """An SVG of Matplotlib with its text alternative, a font that every reader has, and dark colours where the reader's theme is dark."""
    rest = svg.partition("<svg ")[2]
    attributes, _, body = rest.partition(">")
    about = f"<title>{_text(title)}</title>\n <desc>{_text(description)}</desc>"
    pairs = {
        light: dark
        for row in PALETTE.values()
        for light, dark in zip(row[:2], row[2:], strict=True)
    }
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark}!important}}'
        for light, dark in pairs.items()
        for what in ("fill", "stroke")
    )
    theme = f"\n <style>@media (prefers-color-scheme: dark){{{rules}}}</style>"
    body = body.replace(f"font-family: {FONTS}", "font-family: sans-serif")
    return f'<svg role="img" {attributes}>\n {about}{theme}{body}'


def _text(text: str) -> str:
    return escape(printable(text))


def printable(text: str) -> str:
    """A text without control characters but for its line breaks."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


TITLE = 110
"""Characters of a title; further findings are left to :attr:`Chart.says`."""
Points = Iterable[Sequence[float]]


@dataclass
class Axis:
    """An axis: its title, its ends, how a value is written, and the base of its logarithm (0: linear)."""

    title: str
    low: float
    high: float
    text: Callable[[float], str]
    log: int = 10

    def __post_init__(self) -> None:
        if self.log and not 0 < self.low < math.inf:
            why = "a value of zero or below has no place on a logarithmic axis"
            raise InputError(Problem("plot", f"this case has nothing to draw: {why}"))

    def has(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Mesh:
    """Values over two inputs as colours of a scale; hatched where memory is full."""

    x: Any
    y: Any
    values: Any
    unfit: Any
    scale: Axis


@dataclass
class Chart:
    """What a picture shows.

    Attributes:
        found: what the picture says, the most important first: the title is the first of it.
        case: what it is of.
        shows: a description of the drawing for the text alternative.
        rows: names of bars from the top down, instead of a vertical axis.
        data: name -> array: of a curve or of marks rows of x and y, of bars a value a row.
        marks: each draws something on axes of Matplotlib.
    """

    name: str
    case: str
    shows: str
    found: list[str] = field(default_factory=list)
    x: Axis = field(default_factory=lambda: Axis("", 0, 1, str, 0))
    y: Axis = field(default_factory=lambda: Axis("", 0, 1, str, 0))
    rows: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    does_not_fit: bool = False
    data: dict[str, Any] = field(default_factory=dict)
    mesh: Mesh | None = None
    marks: list[Callable[[Any], Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.does_not_fit and not any("not fit" in text for text in self.found):
            self.found.append("the case does not fit in memory")

    @property
    def title(self) -> str:
        """The first finding, and the next where it is short."""
        both = "; ".join(self.found[:2])
        return sentence(both if len(both) <= TITLE else self.found[0])

    @property
    def caption(self) -> str:
        """What the title leaves out; empty where it says all."""
        rest = [text for text in self.found if text.lower() not in self.title.lower()]
        return f"{sentence('; '.join(rest))}." if rest else ""

    @property
    def says(self) -> str:
        """The takeaway in a sentence."""
        return sentence("; ".join(self.found)) + "."

    @property
    def alt(self) -> str:
        """What is drawn, and the finding, in one sentence."""
        flag = ", but the case does not fit in memory" if self.does_not_fit else ""
        return f"{self.shows.rstrip('.')}: {self.found[0]}{flag}."

    def curve(
        self,
        name: str,
        points: Points,
        colour: str,
        dash: Any = "-",
        width: float = 1.6,
        label: str = "",
    ) -> None:
        """A line through points; NaN breaks it."""
        made = self._stored(name, points)
        if np.isfinite(made).all(axis=1).sum() > 1:
            look = {"color": line(colour), "linestyle": dash, "linewidth": width, "zorder": 3}
            self.marks.append(lambda axes: axes.plot(*made.T, label=label, **look))

    def spots(
        self,
        name: str,
        points: Points,
        shape: str,
        colour: str,
        size: float = 7,
        hollow: bool = False,
        label: str = "",
    ) -> None:
        """Signs at points: ``o`` circle, ``s`` square, ``^`` up, ``v`` down, ``D`` diamond, ``x`` cross."""
        made, own, back = self._stored(name, points), line(colour), line("back")
        look = {"marker": shape, "markersize": size, "linestyle": "", "zorder": 4}
        look["markerfacecolor"] = back if hollow else own
        look["markeredgecolor"] = own if hollow or shape == "x" else back
        self.marks.append(lambda axes: axes.plot(*made.T, label=label, **look))

    def between(
        self, at: Any, low: Any, high: Any, colour: str, share: float, label: str = "", by: str = ""
    ) -> None:
        """The tinted area between two curves over x, or with ``by`` x from left to right; hatched where its ``share`` of colour is 0."""
        if not (np.asarray(high) > low).any():
            return
        look: dict[str, Any] = {"facecolor": "none", "edgecolor": line(colour), "hatch": "//"}
        if share:
            look = {"facecolor": line(colour), "alpha": share}
        look |= {"linewidth": 0, "zorder": 1 if share else 2}
        fill = f"fill_between{by}"
        self.marks.append(lambda axes: getattr(axes, fill)(at, low, high, label=label, **look))

    def shade(self, low: float, high: float, colour: str, share: float, label: str = "") -> None:
        """The area between two x values, from below to above."""
        ends = max(low, self.x.low), min(high, self.x.high)
        self.between((self.y.low, self.y.high), *ends, colour, share, label, "x")

    def rule(
        self, name: str, value: float, colour: str, dash: str, label: str, level: bool = False
    ) -> None:
        """A vertical line at a value over the whole height, or a ``level`` one over the whole width."""
        self.data[name] = np.array([value])
        look = {"color": line(colour), "linestyle": dash, "linewidth": 1.2, "zorder": 3}
        if (self.y if level else self.x).has(value):
            draw = "axhline" if level else "axvline"
            self.marks.append(lambda axes: getattr(axes, draw)(value, label=label, **look))

    def bar(self, row: float, start: float, end: float, colour: str, label: str = "") -> None:
        """A bar of a row."""
        look = {"height": 0.55, "left": start, "color": line(colour), "zorder": 3}
        self.marks.append(lambda axes: axes.barh(row, end - start, label=label, **look))

    def text(
        self,
        x: float,
        row: float,
        text: str,
        colour: str = "ink",
        ha: str = "left",
        size: float = SMALL + 0.5,
        weight: str = "normal",
    ) -> None:
        """Words beside a bar."""
        look: dict[str, Any] = {"ha": ha, "size": size, "weight": weight, "color": words(colour)}
        look |= {"va": "center_baseline", "zorder": 5, "annotation_clip": False}
        at = {"xytext": ({"left": 4, "right": -4}.get(ha, 0), 0), "textcoords": "offset points"}
        self.marks.append(lambda axes: axes.annotate(printable(text), (x, row), **at, **look))

    def _stored(self, name: str, points: Points) -> Any:
        made = np.array([tuple(map(float, point)) for point in points], dtype=float).reshape(-1, 2)
        if name and len(made):
            self.data[name] = made
        return made


def sentence(text: str) -> str:
    """A text that begins with a capital letter, unless its first word is a name of the theory.

    >>> sentence("memory holds none"), sentence("kv_cache_bytes is 2 GB")
    ('Memory holds none', 'kv_cache_bytes is 2 GB')
    """
    return text if "_" in text.partition(" ")[0] else text[0].upper() + text[1:]


def counted(value: float) -> str:
    """A count on an axis.

    >>> counted(4096.0), counted(0.5)
    ('4,096', '0.5')
    """
    return f"{value:,.0f}" if value >= 1 and float(value).is_integer() else f"{value:,.4g}"


def in_unit(unit: str) -> Callable[[float], str]:
    """A formatter of axis values with a unit."""
    return lambda value: format_quantity(float(f"{value:.9g}"), unit, 3)


seconds = in_unit("s")


def lacking(
    kind: str, answers: BoundCase, *names: str, otherwise: str = "its inputs do not say enough"
) -> InputError:
    """The error for a case without the quantities of a picture, with what they need; ``otherwise`` if none is missing."""
    missing = [f"{name} {why}" for name in names if (why := answers.why_unknown(name))]
    return InputError(
        Problem(kind, f"this case has nothing to draw: {'; '.join(missing) or otherwise}")
    )
