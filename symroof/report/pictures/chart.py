"""A picture before it is drawn: marks by value on two axes, the data that they show, and the words around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem
from symroof.units import format_quantity

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


@dataclass
class Mark:
    """Something drawn through or at points: ``curve``, ``spots``, ``area``, ``bar``, ``text`` or ``mesh``; one with a label is in the legend."""

    kind: str
    points: Any
    colour: str
    label: str = ""
    look: dict[str, Any] = field(default_factory=dict)


@dataclass
class Chart:
    """What a picture shows.

    Attributes:
        found: what the picture says, the most important first: the title is the first of it.
        case: what it is of.
        shows: a description of the drawing for the text alternative.
        rows: names of bars from the top down, instead of a vertical axis.
        data: name -> array: of a curve or of marks rows of x and y, of bars a value a row.
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
    headline: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.does_not_fit and not any("not fit" in text for text in self.found):
            self.found.append("the case does not fit in memory")

    @property
    def title(self) -> str:
        """The headline if one was chosen, else the first finding, and the next where it is short."""
        both = "; ".join(self.found[:2])
        text = both if len(both) <= TITLE else self.found[0]
        return self.headline or sentence(text)

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
            self._mark("curve", made, colour, label, linestyle=dash, linewidth=width)

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
        made = self._stored(name, points)
        self._mark("spots", made, colour, label, marker=shape, markersize=size, hollow=hollow)

    def area(
        self, points: Points, colour: str, share: float = 0.16, label: str = "", hatch: bool = False
    ) -> None:
        """A tinted or hatched area."""
        made = np.array(list(points), dtype=float)
        if len(made) > 2:
            self._mark("area", made, colour, label, share=share, hatch=hatch)

    def shade(self, low: float, high: float, colour: str, share: float, label: str = "") -> None:
        """The area between two x values."""
        low, high = max(low, self.x.low), min(high, self.x.high)
        if high > low:
            bottom, top = self.y.low, self.y.high
            corners = [(low, bottom), (high, bottom), (high, top), (low, top)]
            self.area(corners, colour, share, label, hatch=share == 0)

    def upright(self, name: str, x: float, colour: str, dash: str, label: str) -> None:
        """A vertical line over the whole height."""
        self.data[name] = np.array([x])
        if self.x.has(x):
            self.curve("", [(x, self.y.low), (x, self.y.high)], colour, dash, 1.2, label)

    def level(self, name: str, y: float, colour: str, dash: str, label: str = "") -> None:
        """A horizontal line over the whole width."""
        self.data[name] = np.array([y])
        if self.y.has(y):
            self.curve("", [(self.x.low, y), (self.x.high, y)], colour, dash, 1.2, label)

    def memory(self, end: float, label: str) -> None:
        """Where memory ends, and what lies beyond hatched."""
        self.shade(end, self.x.high, "pale", 0, "does not fit")
        self.upright("memory", end, "ink", "-", label)

    def bar(self, row: float, start: float, end: float, colour: str, label: str = "") -> None:
        """A bar of a row."""
        self._mark("bar", np.array([(start, row), (end, row)]), colour, label)

    def text(self, x: float, row: float, words: str, colour: str = "ink", **look: Any) -> None:
        """Words beside a bar."""
        self._mark("text", np.array([(x, row)]), colour, words, **look)

    def _mark(self, kind: str, points: Any, colour: str, label: str = "", **look: Any) -> None:
        self.marks.append(Mark(kind, points, colour, label, look))

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
