"""The words of the regime map: the case, the regions and the lines, each named where there is room for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from symroof.report.figure import BLUE, GREEN, GREY, VERMILION
from symroof.report.label_places import Inside, Places, Point
from symroof.report.regimes import Line, Regimes
from symroof.results import Answers
from symroof.units import format_quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OCHRE = "#8A5A00"
"""The orange of the compute-bound region, dark enough to read."""


@dataclass
class Labels:
    """The words of the map, put where there is room."""

    figure: Figure
    axes: Axes
    found: Regimes

    def write(self, subject: Answers) -> None:
        """The case first, then the regions, which are bound to their areas, then the lines, which have all their length."""
        self.figure.draw_without_rendering()
        box = self.axes.bbox
        self.places = Places((box.x0, box.y0, box.x1, box.y1))
        for name, line in self.found.lines.items():
            self.places.add_line(name, [self._pixel(x, y) for x, y in zip(*drawn_points(line, self.found), strict=True)])
        batch, (first, last) = float(self.found.batch), self.found.climb
        self.places.add_line("case", [self._pixel(batch, float(first)), self._pixel(batch, float(last) * 1.0001)])
        if self.found.beyond is not None:
            self.places.add_line("beyond", [self._pixel(x, float(self.found.beyond)) for x in self.found.batches])
        self._beside("case", ("reviewed case",), VERMILION, bold=True)
        self._region(("compute-bound", "compute-\nbound"), OCHRE, self._compute)
        self._region(("does not fit", "does\nnot fit"), GREY, self._too_large)
        self._region(("memory-bound:\nno batch reaches the ridge",), BLUE, self._never)
        self._region(("memory-bound",), BLUE, self._memory_bound)
        self._beside("ridge", ("ridge: compute time = memory time", "ridge: compute time\n= memory time", "ridge"), GREEN)
        self._beside("memory", ("memory full",), "black")
        target = subject.targets.get("itl")
        if target is not None and "target" in self.found.lines:
            limit = format_quantity(target, "s")
            self._beside("target", (f"ITL = {limit}",), BLUE)
            if all(batch < 1 for _, batch in self.found.lines["target"]):
                self._region((f"ITL above {limit} everywhere",), BLUE, self._anywhere)

    def _region(self, texts: tuple[str, ...], colour: str, inside: Inside) -> None:
        """A region's name, where it fits best, in the part that fits memory if it has one; a region too small goes without."""

        def fitting(x: Any, y: Any) -> Any:
            return inside(x, y) & ~self._too_large(x, y)

        for area in (fitting, inside):
            for size in (10, 8.5, 7.5):
                for text in texts:
                    if self._put(text, colour, size, partial(self.places.within, area), bold=True):
                        return

    def _beside(self, name: str, texts: tuple[str, ...], colour: str, bold: bool = False) -> None:
        """A line's name, in the first of its wordings that there is room for."""
        for text in texts:
            for size in (8.5, 7.5):
                if self._put(text, colour, size, partial(self.places.beside, name), bold=bold):
                    return

    def _put(self, text: str, colour: str, fontsize: float, find: Callable[[Point], Point | None], bold: bool) -> bool:
        label = self.axes.text(
            0, 0, text, color=colour, fontsize=fontsize, ha="center", va="center", transform=None, zorder=8, fontweight="bold" if bold else "normal",
            bbox={"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        )  # fmt: skip
        label.set_in_layout(False)
        extent = label.get_window_extent()
        place = find((extent.width, extent.height))
        if place is None:
            label.remove()
            return False
        self.places.take(place, (extent.width, extent.height))
        label.set_transform(self.axes.transAxes)
        label.set_position(tuple(self.axes.transAxes.inverted().transform(place)))
        return True

    def _pixel(self, batch: float, context: float) -> Point:
        x, y = self.axes.transData.transform((batch, context))
        return float(x), float(y)

    def _data(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Places as batches and contexts: both axes are logarithmic."""
        box, (few, many), (short, long) = self.axes.bbox, self.found.batches, self.found.contexts
        return few * (many / few) ** ((x - box.x0) / box.width), short * (long / short) ** ((y - box.y0) / box.height)

    def _past(self, name: str, x: Any, y: Any) -> Any:
        """Which places lie to the right of a line; none where there is no such line."""
        batch, context = self._data(x, y)
        return batch > (batch_at(self.found.lines[name], context) if name in self.found.lines else math.inf)

    def _anywhere(self, x: Any, y: Any) -> Any:
        return self._data(x, y)[0] > 0

    def _compute(self, x: Any, y: Any) -> Any:
        return self._past("ridge", x, y)

    def _too_large(self, x: Any, y: Any) -> Any:
        return self._past("memory", x, y)

    def _never(self, x: Any, y: Any) -> Any:
        return self._data(x, y)[1] > (math.inf if self.found.beyond is None else float(self.found.beyond))

    def _memory_bound(self, x: Any, y: Any) -> Any:
        return ~self._compute(x, y) & ~self._never(x, y)


def batch_at(line: Line, context: Any) -> Any:
    """A line between the contexts it was solved at, straight in the logarithms; beside infinity it is infinite, beside 0 it is 0 no longer."""
    import numpy as np

    contexts, batches = (np.array([float(pair[i]) for pair in line]) for i in (0, 1))
    after = np.clip(np.searchsorted(contexts, context), 1, len(contexts) - 1)
    low, high = batches[after - 1], batches[after]
    share = np.log(context / contexts[after - 1]) / np.log(contexts[after] / contexts[after - 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        between = low * (high / low) ** share
    return np.where((low > 0) & (high > 0) & np.isfinite(low) & np.isfinite(high), between, np.maximum(low, high))


def drawn_points(line: Line, found: Regimes) -> tuple[list[float], list[float]]:
    """A line as coordinates; where it has no batch it is drawn to the edge it lies beyond."""
    low, high = found.batches
    shown = [(min(max(float(batch), low / 4), high * 4), float(context)) for context, batch in line if math.isfinite(batch) or batch == 0]
    return [x for x, _ in shown], [y for _, y in shown]
