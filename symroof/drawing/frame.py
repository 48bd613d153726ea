"""Two axes on a page: curves, areas and markers by value, with automatically placed labels."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from symroof.drawing.canvas import Box, Canvas, Point, block
from symroof.drawing.colours import BLACK, DARKER, GREY, SOLID, Dash, tint
from symroof.drawing.label_placement import Area, LabelPlacer, nearest_edge
from symroof.drawing.scales import Scale
from symroof.drawing.text_metrics import text_width

TICK_SIZE, LABEL_SIZE = 8.5, 9.0
SIZES = (9.0, 8.0)
"""Font sizes to try for a label."""
GAPS = (7.0, 13.0, 22.0, 34.0, 50.0, 75.0, 105.0)
"""Distances of a label from its point to try."""

Marks = Callable[[float, float], Sequence[Sequence[float]]]
"""Candidate tick sets for an axis range, from many to few ticks; the first whose labels do not overlap is used."""


@dataclass
class Frame:
    """A canvas with an x and a y scale; labels avoid everything drawn on it."""

    canvas: Canvas
    x: Scale
    y: Scale
    placer: LabelPlacer = field(init=False)
    unplaced: list[str] = field(default_factory=list)
    """Labels without room."""

    def __post_init__(self) -> None:
        self.placer = LabelPlacer(self.box)

    @property
    def box(self) -> Box:
        return (
            min(self.x.start, self.x.end),
            min(self.y.start, self.y.end),
            max(self.x.start, self.x.end),
            max(self.y.start, self.y.end),
        )

    def at(self, x: float, y: float) -> Point:
        return self.x(x), self.y(y)

    def axes(
        self,
        x_name: str,
        y_name: str,
        x_marks: Marks,
        y_marks: Marks,
        x_text: Callable[[float], str],
        y_text: Callable[[float], str],
    ) -> None:
        """Draw both axes with names, ticks and values; the name of the vertical axis is horizontal, above it."""
        left, bottom, right, top = self.box
        self.canvas.line([(left, top), (left, bottom), (right, bottom)], GREY, 0.8)
        for mark in readable(
            x_marks(self.x.low, self.x.high),
            lambda m: (self.x(m), text_width(x_text(m), TICK_SIZE)),
            7.0,
        ):
            self.canvas.line([(self.x(mark), bottom), (self.x(mark), bottom - 3)], GREY, 0.8)
            self.canvas.text(x_text(mark), self.x(mark), bottom - 12, TICK_SIZE, GREY, align=0.5)
        for mark in readable(
            y_marks(self.y.low, self.y.high), lambda m: (self.y(m), TICK_SIZE), 8.0
        ):
            self.canvas.line([(left, self.y(mark)), (left - 3, self.y(mark))], GREY, 0.8)
            self.canvas.text(
                y_text(mark), left - 5, self.y(mark) - 0.35 * TICK_SIZE, TICK_SIZE, GREY, align=1.0
            )
        self.canvas.axes = (x_name, y_name)
        self.canvas.text(x_name, (left + right) / 2, bottom - 27, LABEL_SIZE, align=0.5)
        self.canvas.text(y_name, 6, top + 7, LABEL_SIZE)

    def curve(
        self,
        name: str,
        points: Sequence[Point],
        colour: str,
        width: float = 1.6,
        dash: Dash = SOLID,
    ) -> None:
        """A line through values."""
        placed = [(self.x(x), self.y(y)) for x, y in points]
        shown = [_clamped(point, self.box) for point in placed]
        self.canvas.drawn += [(name, x, y) for x, y in points]
        self.canvas.line(shown, colour, width, dash, clip=self.box)
        self.placer.add_line(name, shown)

    def horizontal_line(self, name: str, y: float, colour: str, dash: Dash = SOLID) -> None:
        """A horizontal line over the whole frame."""
        if self.y.contains(y):
            self.curve(name, [(self.x.low, y), (self.x.high, y)], colour, 1.2, dash)

    def vertical_line(
        self, name: str, x: float, colour: str, dash: Dash = SOLID, width: float = 1.2
    ) -> None:
        """A vertical line over the whole frame."""
        if self.x.contains(x):
            self.curve(name, [(x, self.y.low), (x, self.y.high)], colour, width, dash)

    def shade(self, low: float, high: float, colour: str, share: float) -> None:
        """Tint the area between two x values."""
        _, bottom, _, top = self.box
        a, b = (self.x(min(max(value, self.x.low), self.x.high)) for value in (low, high))
        if b > a:
            self.canvas.area([(a, bottom), (b, bottom), (b, top), (a, top)], tint(colour, share))

    def memory_limit(self, value: float) -> None:
        """Draw the memory limit and hatch the area beyond it. Call before any label; :meth:`label_memory_limit` labels it."""
        _, bottom, right, top = self.box
        start = self._limit_position(value)
        if start < right:
            self.canvas.hatched(
                [(start, bottom), (right, bottom), (right, top), (start, top)], self.box, "#BBBBBB"
            )
            self.vertical_line("memory", value, BLACK, width=1.5)

    def label_memory_limit(self, value: float, *texts: str) -> None:
        """Label the memory limit and the area beyond it."""
        left, _, right, _ = self.box
        start = self._limit_position(value)
        if start < right:
            inside = self.label_region(
                lambda _: (start, right), ("does not fit", "does\nnot fit"), GREY, needed=False
            )
            inside or self.label_line("memory", ("does not fit",), GREY, bold=True)
        if left < start < right:
            self.label_line("memory", texts, BLACK)

    def _limit_position(self, value: float) -> float:
        return min(max(self.x(value), self.box[0]), self.box[2])

    def label_range(self, low: float, high: float, texts: Sequence[str], colour: str) -> bool:
        """Label the area between two x values if there is room."""
        span = self.x(low), self.x(high)
        return self.label_region(lambda _: span, texts, colour, needed=False)

    def band(
        self, places: Sequence[float], ends: Sequence[tuple[float, float]], colour: str
    ) -> None:
        """The area between the lower and upper ends of a curve."""
        pairs = list(zip(places, ends, strict=True)) if ends else []
        self.region(
            [
                *((x, low) for x, (low, _) in pairs),
                *((x, high) for x, (_, high) in reversed(pairs)),
            ],
            colour,
            0.32,
        )

    def region(self, points: Sequence[Point], colour: str, share: float) -> None:
        """The area inside a line through values."""
        self.canvas.area(
            [_clamped((self.x(x), self.y(y)), self.box) for x, y in points],
            tint(colour, share),
            clip=self.box,
        )

    def marker(
        self,
        x: float,
        y: float,
        shape: str,
        colour: str,
        radius: float = 4.0,
        fill: str | None = None,
    ) -> None:
        """Draw a marker at a point inside the frame."""
        if self.x.contains(x) and self.y.contains(y):
            px, py = self.at(x, y)
            self.canvas.drawn.append((shape, x, y))
            self.canvas.marker((px, py), shape, colour, radius, fill)
            self.placer.reserve((px - radius, py - radius, px + radius, py + radius))

    def label_line(
        self, name: str, texts: Sequence[str], colour: str, bold: bool = False, needed: bool = True
    ) -> bool:
        """Label a line with the first text that fits; without room it is listed below the picture."""
        if not self.placer.has_line(name):
            return False
        return self._put(
            texts, colour, bold, lambda size: self.placer.beside_line(name, size), needed
        )

    def label_point(
        self,
        x: float,
        y: float,
        texts: Sequence[str],
        colour: str,
        bold: bool = False,
        needed: bool = True,
    ) -> bool:
        """Label a point inside the frame, with a leader line if the label is far away; an optional label is omitted without room."""
        if not (self.x.contains(x) and self.y.contains(y)):
            return False
        spot = self.at(x, y)
        return any(
            self._put(
                texts,
                colour,
                bold,
                partial(self.placer.near_point, spot, gap),
                needed and gap == GAPS[-1],
                spot,
            )
            for gap in GAPS
        )

    def label_region(
        self, area: Area, texts: Sequence[str], colour: str, needed: bool = True
    ) -> bool:
        """Label a region inside it; an optional label is omitted if the region is too small."""
        return self._put(
            texts, colour, True, lambda size: self.placer.inside_region(area, size), needed
        )

    def _put(
        self,
        texts: Sequence[str],
        colour: str,
        bold: bool,
        find: Callable[[tuple[float, float]], Point | None],
        needed: bool = True,
        leader: Point | None = None,
    ) -> bool:
        for text in texts:
            for size in SIZES:
                place = find(block(text, size, bold))
                if place:
                    self._write(text, place, size, colour, bold, leader)
                    return True
        if needed:
            self.unplaced.append(" ".join(texts[0].split("\n")))
        return False

    def _write(
        self, text: str, place: Point, size: float, colour: str, bold: bool, leader: Point | None
    ) -> None:
        box = self.canvas.centred(text, place, size, DARKER.get(colour, colour), bold)
        self.placer.reserve(box)
        if leader is None:
            return
        end = nearest_edge(leader, place, (box[2] - box[0], box[3] - box[1]))
        if abs(end[0] - leader[0]) + abs(end[1] - leader[1]) > 13:
            self.canvas.line([end, leader], GREY, 0.5)
            self.placer.add_line("leaders", [end, leader])


def readable(
    sets: Sequence[Sequence[float]], extent: Callable[[float], tuple[float, float]], gap: float
) -> Sequence[float]:
    """The first set of ticks whose labels do not overlap; ``extent`` gives position and width of a label."""
    for marks in sets:
        if all(
            b - a >= (wa + wb) / 2 + gap
            for (a, wa), (b, wb) in itertools.pairwise(sorted(map(extent, marks)))
        ):
            return marks
    return sets[-1][:1] if sets else ()


def _clamped(point: Point, box: Box) -> Point:
    """Limit a point to a page around the frame, so that no viewer gets infinite coordinates."""
    reach = 700.0
    return min(max(point[0], box[0] - reach), box[2] + reach), min(
        max(point[1], box[1] - reach), box[3] + reach
    )
