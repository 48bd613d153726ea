"""A page of lines, areas and texts in points, y upwards, in drawing order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from symroof.drawing.colours import BLACK, SOLID, WHITE, Dash
from symroof.drawing.text_metrics import text_width

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

ASCENT, DESCENT, LEADING = 0.74, 0.22, 1.18
"""Of Helvetica, relative to the font size: height above and below the baseline, distance of baselines."""
HATCH = 11.0
"""Points between slanted lines."""


@dataclass(frozen=True)
class Polyline:
    """A line, or an area if closed."""

    points: tuple[Point, ...]
    closed: bool = False
    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    dash: Dash = SOLID
    clip: tuple[Point, ...] | None = None


@dataclass(frozen=True)
class TextLine:
    """One line of text; x and y are the start of its baseline."""

    text: str
    x: float
    y: float
    size: float
    colour: str = BLACK
    bold: bool = False

    @property
    def width(self) -> float:
        return text_width(self.text, self.size, self.bold)


@dataclass(frozen=True)
class Label:
    """A text of one or more lines with its box."""

    text: str
    box: Box
    size: float


@dataclass
class Canvas:
    """Everything drawn so far. Text below the drawing extends the page to negative y."""

    width: float
    height: float
    below: float = 0.0
    items: list[Polyline | TextLine] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    drawn: list[tuple[str, float | str, float]] = field(default_factory=list)
    """The data of lines, markers and bars: name, x and y value."""
    axes: tuple[str, str] = ("", "")
    """The names of the two axes."""

    def line(
        self,
        points: Sequence[Point],
        colour: str = BLACK,
        width: float = 1.0,
        dash: Dash = SOLID,
        clip: Box | None = None,
    ) -> None:
        if len(points) > 1:
            self.items.append(
                Polyline(
                    tuple(points),
                    stroke=colour,
                    width=width,
                    dash=dash,
                    clip=corners(clip) if clip else None,
                )
            )

    def area(self, points: Sequence[Point], fill: str, clip: Box | None = None) -> None:
        if len(points) > 2:
            self.items.append(
                Polyline(
                    tuple(points), closed=True, fill=fill, clip=corners(clip) if clip else None
                )
            )

    def hatched(self, points: Sequence[Point], box: Box, colour: str) -> None:
        """Hatch an area, to distinguish it without colour."""
        left, bottom, right, top = box
        rise = top - bottom
        for i in range(int((right - left + rise) / HATCH)):
            start = left - rise + (i + 0.5) * HATCH
            self.items.append(
                Polyline(
                    ((start, bottom), (start + rise, top)),
                    stroke=colour,
                    width=0.6,
                    clip=tuple(points),
                )
            )

    def marker(
        self, centre: Point, shape: str, colour: str, radius: float = 4.0, fill: str | None = None
    ) -> None:
        """Draw a marker: circle, square, up, down, diamond or cross; hollow if ``fill`` is white."""
        points = [(centre[0] + radius * x, centre[1] + radius * y) for x, y in MARKERS[shape]]
        if shape == "cross":
            self.items += [
                Polyline((points[0], points[1]), stroke=colour, width=1.8),
                Polyline((points[2], points[3]), stroke=colour, width=1.8),
            ]
        else:
            self.items.append(
                Polyline(
                    tuple(points),
                    True,
                    fill or colour,
                    WHITE if fill is None else colour,
                    0.8 if fill is None else 1.1,
                )
            )

    def text(
        self,
        text: str,
        x: float,
        y: float,
        size: float = 9,
        colour: str = BLACK,
        bold: bool = False,
        align: float = 0.0,
    ) -> Box:
        """Draw a text and return its box: ``y`` is the first baseline, ``align`` the share of the width left of ``x``."""
        lines = text.split("\n")
        widths = [text_width(line, size, bold) for line in lines]
        whole = max(widths)
        for i, (line, width) in enumerate(zip(lines, widths, strict=True)):
            self.items.append(
                TextLine(line, x - align * width, y - i * LEADING * size, size, colour, bold)
            )
        box = (
            x - align * whole,
            y - ((len(lines) - 1) * LEADING + DESCENT) * size,
            x + (1 - align) * whole,
            y + ASCENT * size,
        )
        self.labels.append(Label(text, box, size))
        return box

    def centred(
        self, text: str, centre: Point, size: float, colour: str = BLACK, bold: bool = False
    ) -> Box:
        """Draw a text centred at a point."""
        height = block(text, size, bold)[1]
        return self.text(
            text, centre[0], centre[1] + height / 2 - ASCENT * size, size, colour, bold, align=0.5
        )


def block(text: str, size: float, bold: bool = False) -> tuple[float, float]:
    """Width and height of a text of one or more lines."""
    lines = text.split("\n")
    return max(text_width(line, size, bold) for line in lines), (
        (len(lines) - 1) * LEADING + ASCENT + DESCENT
    ) * size


def corners(box: Box) -> tuple[Point, ...]:
    left, bottom, right, top = box
    return (left, bottom), (right, bottom), (right, top), (left, top)


def _round(count: int) -> tuple[Point, ...]:
    return tuple(
        (math.cos(2 * math.pi * i / count), math.sin(2 * math.pi * i / count)) for i in range(count)
    )


MARKERS: dict[str, tuple[Point, ...]] = {
    "circle": _round(20),
    "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "up": ((-1.0, -0.75), (1.0, -0.75), (0.0, 1.1)),
    "down": ((-1.0, 0.75), (1.0, 0.75), (0.0, -1.1)),
    "diamond": ((0.0, -1.25), (1.0, 0.0), (0.0, 1.25), (-1.0, 0.0)),
    "cross": ((-0.8, -0.8), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8)),
}
"""Outlines of radius 1; a cross is two strokes."""
