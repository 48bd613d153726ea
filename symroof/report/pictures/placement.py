"""Room for labels: near their points, along their lines or inside their areas, on no other label and off the lines if possible."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path

from symroof.report.pictures.chart import Mark

SIZES = (9.0, 8.0)
"""Font sizes of a label, the first that has room."""
GAPS = np.array([7.0, 12.0, 19.0, 30.0, 45.0, 65.0, 95.0, 130.0, 180.0])
"""Distances of a label from its point, in points."""
TURNS = np.linspace(0, 2 * np.pi, 16, endpoint=False)
NEAR, HIDES = 2.0, 60.0
"""Points between a label and what it must not touch; what a label on a line costs, in points of distance."""


@dataclass
class Place:
    """Where a label stands: the text, its size, and its centre in pixels."""

    text: str
    size: float
    centre: Any
    far: bool


@dataclass
class Room:
    """The free room of two axes, in pixels."""

    axes: Any
    renderer: Any
    taken: list[Any] = field(default_factory=list)
    ink: list[Any] = field(default_factory=list)

    @property
    def box(self) -> Any:
        return self.axes.get_window_extent(self.renderer).extents

    @property
    def pixels(self) -> float:
        """Pixels of a point."""
        return float(self.renderer.points_to_pixels(1.0))

    def at(self, points: Any) -> Any:
        """Points of the axes in pixels, kept within a page around them."""
        reach = self.box[2:] - self.box[:2]
        with np.errstate(all="ignore"):
            found = self.axes.transData.transform(np.atleast_2d(points))
        return np.clip(found, self.box[:2] - reach, self.box[2:] + reach)

    def hold(self, points: Any) -> None:
        """A line that labels keep off."""
        self.ink.append(self._along(points))

    def _along(self, points: Any) -> Any:
        """Dots along a line, one every few pixels."""
        ends = self.at(points[np.isfinite(points).all(axis=1)])
        steps = np.hypot(*np.diff(ends, axis=0).T)
        along = np.concatenate([[0.0], np.cumsum(steps)])
        every = np.linspace(0, along[-1], int(along[-1] / 3) + 1)
        return np.column_stack([np.interp(every, along, ends[:, i]) for i in (0, 1)])

    def size(self, text: str, size: float, bold: bool) -> Any:
        """Width and height of a text in pixels."""
        font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
        lines = text.split("\n")
        widths = [
            self.renderer.get_text_width_height_descent(line, font, False)[0] for line in lines
        ]
        return np.array([max(widths), 1.3 * size * len(lines) * self.pixels])

    def place(self, mark: Mark) -> Place | None:
        """The best place of the first of a mark's labels that has one; None if there is no room."""
        best: tuple[float, Place, Any] | None = None
        for text in mark.labels:
            for size in SIZES:
                half = self.size(text, size, mark.bold) / 2 + NEAR * self.pixels
                centres, costs = self._candidates(mark, half)
                if not len(centres):
                    continue
                costs = costs + self._cost(centres, half)
                first = int(np.argmin(costs))
                if np.isfinite(costs[first]) and (best is None or costs[first] < best[0]):
                    off = np.maximum(np.abs(self.at(mark.points)[0] - centres[first]) - half, 0)
                    far = mark.kind == "spots" and np.hypot(*off) > 9 * self.pixels
                    best = costs[first], Place(text, size, centres[first], far), half
            if best and best[0] < HIDES:
                break
        if best is None or (not mark.needed and best[0] >= HIDES):
            return None
        self.taken.append(np.concatenate([best[1].centre - best[2], best[1].centre + best[2]]))
        return best[1]

    def _cost(self, centres: Any, half: Any) -> Any:
        """What the boxes around some centres cover: infinite outside the axes and on other labels."""
        low, high = centres - half, centres + half
        outside = ((low < self.box[:2]) | (high > self.box[2:])).any(axis=1)
        cost = np.where(outside, np.inf, 0.0)
        for box in self.taken:
            cost[((low < box[2:]) & (high > box[:2])).all(axis=1)] = np.inf
        dots = np.concatenate(self.ink) if self.ink else np.empty((0, 2))
        free = np.flatnonzero(np.isfinite(cost))
        inside = (dots > low[free, None]) & (dots < high[free, None])
        cost[free] += HIDES * np.minimum(inside.all(axis=2).sum(axis=1), 12)
        return cost

    def _candidates(self, mark: Mark, half: Any) -> tuple[Any, Any]:
        """Centres of a label, and their costs in points."""
        if mark.kind == "spots":
            around = np.column_stack([np.cos(TURNS), np.sin(TURNS)])
            gaps = np.repeat(GAPS, len(TURNS))[:, None] * self.pixels
            around = np.tile(around, (len(GAPS), 1))
            beside = np.tile(np.linspace(-1, 1, 5), len(gaps) // 5 + 1)[: len(gaps), None]
            off = around * gaps + np.sign(np.round(around, 6)) * half
            off[:, 0] += np.where(np.abs(around[:, 0]) < 1e-6, beside[:, 0] * half[0] * 0.8, 0)
            return self.at(mark.points)[0] + off, gaps[:, 0] / self.pixels
        if mark.kind == "area":
            return self._inside(mark, half)
        dots = self._along(mark.points)
        dots = dots[((dots > self.box[:2]) & (dots < self.box[2:])).all(axis=1)]
        dots = dots[:: max(1, len(dots) // 60)]
        sides = np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)])
        centres = (dots[:, None] + sides * (half + 1)).reshape(-1, 2)
        late = np.repeat(np.linspace(12, 0, len(dots)), len(sides))
        return centres, late

    def _inside(self, mark: Mark, half: Any) -> tuple[Any, Any]:
        """Places inside an area, the nearest to its middle first."""
        outline = self.at(mark.points)
        low, high = (
            np.maximum(outline.min(axis=0), self.box[:2]),
            np.minimum(outline.max(axis=0), self.box[2:]),
        )
        if (low + 2 * half > high).any():
            return np.empty((0, 2)), np.empty(0)
        x, y = (np.linspace(low[i] + half[i], high[i] - half[i], 25) for i in (0, 1))
        centres = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        path = Path(outline)
        corners = [half * sign for sign in ((0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))]
        ok = np.all([path.contains_points(centres + corner) for corner in corners], axis=0)
        middle = (low + high) / 2
        return centres[ok], np.hypot(*(centres[ok] - middle).T) / self.pixels / 10
