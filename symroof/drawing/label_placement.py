"""Label placement: a label must not touch a line, another label or an edge, and gets the position with the most space.

Lines are rasterised to a grid with summed areas, so that a collision test takes four look-ups.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from symroof.drawing.canvas import Box, Point

Size = tuple[float, float]
Interval = tuple[float, float]
Area = Callable[[float], Interval]
"""A region: y -> its x interval; empty if the start is beyond the end."""

CELL = 3.0
TIGHT = 2.5
"""Minimum distance to anything, including the label's own line."""
MARGINS = (22.0, 14.0, 9.0, 5.5, TIGHT)
"""Margins in order of preference; more than the first is no better."""
COLUMNS, ROWS = 40, 28

Sums = list[list[int]]


@dataclass
class LabelPlacer:
    """The occupied space of a frame; :meth:`inside_region`, :meth:`beside_line` and :meth:`near_point` place another label."""

    frame: Box
    boxes: list[Box] = field(default_factory=list)
    _lines: dict[str, list[Point]] = field(default_factory=dict)
    _sums: dict[str, Sums] = field(default_factory=dict)

    def add_line(self, name: str, points: Sequence[Point]) -> None:
        """Add points to a line that labels must not touch."""
        left, bottom, right, top = self.frame
        inside = (spot for a, b in pairwise(points) for spot in _between(a, b, self.frame))
        self._lines.setdefault(name, []).extend(
            (x, y) for x, y in inside if left <= x <= right and bottom <= y <= top
        )
        self._sums.pop(name, None)
        self._sums.pop("", None)

    def has_line(self, name: str) -> bool:
        """Whether a part of a line is inside the frame."""
        return bool(self._lines.get(name))

    def reserve(self, box: Box) -> None:
        """Mark a box as occupied."""
        self.boxes.append(box)

    def inside_region(self, area: Area, size: Size) -> Point | None:
        """The best label centre inside a region."""
        left, bottom, right, top = self.frame
        centres = []
        for j in range(ROWS):
            y = bottom + (top - bottom) * (j + 0.5) / ROWS
            low, high = self._width_of(area, y, size[1])
            for i in range(COLUMNS):
                x = left + (right - left) * (i + 0.5) / COLUMNS
                if low + size[0] / 2 <= x <= high - size[0] / 2:
                    centres.append((x, y))
        return self._roomiest(centres, size, None)

    def _width_of(self, area: Area, y: float, height: float) -> Interval:
        """The x interval of a region over the whole height of a label."""
        half = height / 2 + TIGHT
        ends = [area(y - half + 2 * half * i / 6) for i in range(7)]
        return max(low for low, _ in ends) + TIGHT, min(high for _, high in ends) - TIGHT

    def beside_line(self, name: str, size: Size) -> Point | None:
        """The best label centre beside a line, or further away if that is occupied."""
        shown = self._lines.get(name, [])
        for gap in (TIGHT, 3 * TIGHT, 7 * TIGHT):
            place = self._roomiest(
                [centre for spot in shown[::5] for centre in around(spot, size, gap + 1)],
                size,
                name,
            )
            if place:
                return place
        return None

    def near_point(self, spot: Point, gap: float, size: Size) -> Point | None:
        """The best free label centre at a distance from a point, with nothing between them."""
        free = [
            centre
            for centre in around(spot, size, gap)
            if self._free(centre, size, TIGHT, None) and self._in_sight(spot, centre, size)
        ]
        return self._roomiest(free, size, None)

    def _in_sight(self, spot: Point, centre: Point, size: Size) -> bool:
        """Whether a leader line from a label to its point crosses no other box; boxes over the point are its marker."""
        end = nearest_edge(spot, centre, size)
        others = (
            box
            for box in self.boxes
            if not (box[0] <= spot[0] <= box[2] and box[1] <= spot[1] <= box[3])
        )
        return all(clipped(end, spot, box) is None for box in others)

    def _roomiest(self, centres: Sequence[Point], size: Size, own: str | None) -> Point | None:
        """The first candidate with the largest margin to everything but its own line; None if all collide."""
        best, reached = None, len(MARGINS)
        for centre in centres:
            for i in range(reached - 1, -1, -1):
                if not self._free(centre, size, MARGINS[i], own):
                    break
                best, reached = centre, i
            if not reached:
                break
        return best

    def _free(self, centre: Point, size: Size, margin: float, own: str | None) -> bool:
        (x, y), (w, h) = centre, (size[0] / 2, size[1] / 2)
        left, bottom, right, top = self.frame
        inner = min(margin, 8.0)
        if (
            x - w - inner < left
            or x + w + inner > right
            or y - h - inner < bottom
            or y + h + inner > top
        ):
            return False
        box = (x - w - margin, y - h - margin, x + w + margin, y + h + margin)
        for other in self.boxes:
            if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                return False
        crossed = self._cells("", box)
        if own is None or not crossed:
            return not crossed
        tight = (x - w - TIGHT, y - h - TIGHT, x + w + TIGHT, y + h + TIGHT)
        return crossed == self._cells(own, box) and not self._cells(own, tight)

    def _cells(self, name: str, box: Box) -> int:
        """The number of cells of a box that a line, or all lines if no name is given, pass through."""
        sums = self._sums.get(name) or self._summed(name)
        left, bottom = self.frame[:2]
        columns, rows = len(sums[0]) - 1, len(sums) - 1
        x0 = min(max(int((box[0] - left) // CELL), 0), columns)
        x1 = min(max(int((box[2] - left) // CELL) + 1, 0), columns)
        y0 = min(max(int((box[1] - bottom) // CELL), 0), rows)
        y1 = min(max(int((box[3] - bottom) // CELL) + 1, 0), rows)
        return sums[y1][x1] - sums[y0][x1] - sums[y1][x0] + sums[y0][x0]

    def _summed(self, name: str) -> Sums:
        left, bottom, right, top = self.frame
        columns, rows = math.ceil((right - left) / CELL) + 1, math.ceil((top - bottom) / CELL) + 1
        cells = [[0] * (columns + 1) for _ in range(rows + 1)]
        for line in [self._lines[name]] if name else self._lines.values():
            for i, j in {(int((x - left) / CELL), int((y - bottom) / CELL)) for x, y in line}:
                cells[j + 1][i + 1] += 1
        sums = cells[:1]
        for row in cells[1:]:
            sums.append(
                [above + here for above, here in zip(sums[-1], accumulate(row), strict=True)]
            )
        self._sums[name] = sums
        return sums


def around(spot: Point, size: Size, gap: float) -> list[Point]:
    """Centres of boxes around a point in twelve directions."""
    (x, y), w, h = spot, size[0] / 2 + gap, size[1] / 2 + gap
    steps = (
        (1, 0),
        (1, 1),
        (1, -1),
        (0, 1),
        (0, -1),
        (-1, 0),
        (-1, 1),
        (-1, -1),
        (0.5, 1),
        (0.5, -1),
        (-0.5, 1),
        (-0.5, -1),
    )
    return [(x + across * w, y + up * h) for across, up in steps]


def nearest_edge(spot: Point, centre: Point, size: Size) -> Point:
    """The point of a box nearest to another point."""
    (x, y), (w, h) = centre, (size[0] / 2, size[1] / 2)
    return min(max(spot[0], x - w), x + w), min(max(spot[1], y - h), y + h)


def _between(a: Point, b: Point, frame: Box) -> list[Point]:
    """Points of a segment inside the frame, dense enough to skip no cell."""
    cut = clipped(a, b, frame)
    if cut is None:
        return []
    (x0, y0), (x1, y1) = cut
    count = max(1, math.ceil(max(abs(x1 - x0), abs(y1 - y0)) / (CELL / 1.5)))
    return [(x0 + (x1 - x0) * i / count, y0 + (y1 - y0) * i / count) for i in range(count + 1)]


def clipped(a: Point, b: Point, frame: Box) -> tuple[Point, Point] | None:
    """Clip a segment to a frame (Liang and Barsky 1984).

    >>> clipped((-1, 0), (3, 0), (0, -1, 1, 1))
    ((0.0, 0.0), (1.0, 0.0))
    """
    (x, y), dx, dy = a, b[0] - a[0], b[1] - a[1]
    if not all(map(math.isfinite, (x, y, dx, dy))):
        return None
    start, end = 0.0, 1.0
    for move, room in (
        (-dx, x - frame[0]),
        (dx, frame[2] - x),
        (-dy, y - frame[1]),
        (dy, frame[3] - y),
    ):
        if move == 0:
            if room < 0:
                return None
        elif move < 0:
            start = max(start, room / move)
        else:
            end = min(end, room / move)
    return (
        ((x + start * dx, y + start * dy), (x + end * dx, y + end * dy)) if start <= end else None
    )
