"""Room for words in a figure: a label goes where it touches no line, no other label and no edge, and has most room around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Point = tuple[float, float]
Size = tuple[float, float]
Inside = Callable[[Any, Any], Any]
"""Which of many places lie in a region: arrays of pixels to an array of truths."""

STEP = 4.0
"""How densely lines are looked at, in the unit of the figure's places."""
COLUMNS, ROWS = 44, 30
ROOMY = 40.0
"""More room than this around a label is no better."""
TIGHT = 4.0
"""The least distance to anything else; a label stands that far from its own line too."""


@dataclass
class Places:
    """What is taken already, in pixels of a frame; :meth:`within` and :meth:`beside` find room for one label more."""

    frame: tuple[float, float, float, float]
    lines: dict[str, list[Point]] = field(default_factory=dict)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def add_line(self, name: str, points: Sequence[Point]) -> None:
        """A line that no label may touch."""
        self.lines[name] = [spot for a, b in pairwise(points) for spot in _between(a, b)]

    def take(self, centre: Point, size: Size) -> None:
        """A box that is taken from now on."""
        (x, y), (w, h) = centre, size
        self.boxes.append((x - w / 2, y - h / 2, x + w / 2, y + h / 2))

    def within(self, inside: Inside, size: Size) -> Point | None:
        """The centre of the roomiest place whose whole box lies inside a region."""
        import numpy as np

        left, bottom, right, top = self.frame
        columns = left + (right - left) * (np.arange(COLUMNS) + 0.5) / COLUMNS
        rows = bottom + (top - bottom) * (np.arange(ROWS) + 0.5) / ROWS
        centres = np.stack([axis.ravel() for axis in np.meshgrid(columns, rows)], axis=1)
        w, h = size[0] / 2 + TIGHT, size[1] / 2 + TIGHT
        spots = centres[:, None, :] + np.array([(dx * w, dy * h) for dx in (-1, -0.5, 0, 0.5, 1) for dy in (-1, 0, 1)])
        wholly = inside(spots[..., 0], spots[..., 1]).all(axis=1)
        return self._roomiest([(float(x), float(y)) for x, y in centres[wholly]], size)

    def beside(self, name: str, size: Size) -> Point | None:
        """The centre of the roomiest place right beside a line, or further off where that is all taken."""
        left, bottom, right, top = self.frame
        shown = [(x, y) for x, y in self.lines.get(name, []) if left <= x <= right and bottom <= y <= top]
        for gap in (TIGHT, 4 * TIGHT):
            w, h = size[0] / 2 + gap, size[1] / 2 + gap
            offsets = [(sign * dx, sign * dy) for dx, dy in ((w + 0.6 * gap, 0.0), (w, h), (w, -h), (0.0, h + 0.6 * gap)) for sign in (1, -1)]
            place = self._roomiest([(x + dx, y + dy) for x, y in shown[::3] for dx, dy in offsets], size, own=name)
            if place:
                return place
        return None

    def _roomiest(self, centres: Sequence[Point], size: Size, own: str | None = None) -> Point | None:
        """The candidate with most room to everything that is not its own line; None where all touch something."""
        import numpy as np

        if not centres:
            return None
        room = self._to_frame(np.array(centres), size)
        others = [np.array(points) for name, points in self.lines.items() if points and name != own]
        for points in [*others, *(np.array(_outline(box)) for box in self.boxes)]:
            room = np.minimum(room, _distance(np.array(centres), size, points))
        if own is not None:
            room = np.where(_distance(np.array(centres), size, np.array(self.lines[own])) < TIGHT * 0.9, 0.0, room)
        best = int(np.argmax(np.minimum(room, ROOMY)))
        return centres[best] if room[best] >= TIGHT else None

    def _to_frame(self, centres: Any, size: Size) -> Any:
        import numpy as np

        left, bottom, right, top = self.frame
        x, y = centres[:, 0], centres[:, 1]
        sides = (x - size[0] / 2 - left, right - x - size[0] / 2, y - size[1] / 2 - bottom, top - y - size[1] / 2)
        return np.minimum.reduce(sides)


def _distance(centres: Any, size: Size, points: Any) -> Any:
    """From each box to the nearest of some points; 0 where one lies in it."""
    import numpy as np

    apart = np.abs(centres[:, None, :] - points[None, :, :]) - np.array(size) / 2
    return np.sqrt((np.maximum(apart, 0) ** 2).sum(axis=2)).min(axis=1)


def _between(a: Point, b: Point) -> list[Point]:
    count = max(1, int(max(abs(b[0] - a[0]), abs(b[1] - a[1])) / STEP))
    return [(a[0] + (b[0] - a[0]) * i / count, a[1] + (b[1] - a[1]) * i / count) for i in range(count + 1)]


def _outline(box: tuple[float, float, float, float]) -> list[Point]:
    """The edges and the middle of a box, close enough together that no label slips between."""
    left, bottom, right, top = box
    columns = _between((left, 0), (right, 0))
    return [(x, y) for x, _ in columns for _, y in _between((0, bottom), (0, top))]
