"""A picture with its text alternative, and the common layout: headline, case, axes, notes."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from symroof.cases.bound_case import BoundCase
from symroof.drawing import ENDINGS
from symroof.drawing.canvas import LEADING, Canvas
from symroof.drawing.colours import BLACK, GREY, VERMILION
from symroof.drawing.frame import Frame
from symroof.drawing.scales import Scale
from symroof.drawing.text_metrics import wrapped
from symroof.errors import InputError, Problem, require
from symroof.output_files import write_atomic

if TYPE_CHECKING:
    import xarray

WIDTH, HEIGHT = 520.0, 330.0
LEFT, RIGHT, BOTTOM, TOP = 60.0, 24.0, 36.0, 54.0
"""Margins around the axes for values, headline, case and axis name."""
NOTE_SIZE = 8.0


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing with its text alternative.

    Attributes:
        title: the quantity and the case.
        says: the takeaway in a sentence.
        shows: a description of the drawing for the text alternative.
    """

    name: str
    title: str
    shows: str
    says: str
    canvas: Canvas = field(hash=False)

    @property
    def alt(self) -> str:
        return f"{self.shows} {self.says}"

    def form(self, ending: str) -> bytes:
        """The file in one format, written by the module of that name in ``symroof.drawing``."""
        write = getattr(importlib.import_module(f"symroof.drawing.{ending}"), ending)
        made: bytes = write(self.canvas, self.title, self.alt)
        return made

    def _repr_svg_(self) -> str:
        return self.form("svg").decode()

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as SVG, PDF or PNG (extra ``plot``), depending on the file name.

        Raises:
            InputError: an unknown format, or a missing package.
        """
        ending = Path(path).suffix.lower().removeprefix(".")
        if ending not in ENDINGS:
            raise InputError(
                Problem(
                    os.fspath(path),
                    f"no picture ends in {Path(path).suffix!r}",
                    hint=f"there are {', '.join(f'.{known}' for known in ENDINGS)}",
                )
            )
        write_atomic(path, self.form(ending))

    @property
    def data(self) -> xarray.Dataset:
        """The points of lines, markers and bars in base units: ``x``, ``y`` and the name of their ``line``, along ``point``.

        Raises:
            InputError: no xarray (extra ``sweep``).
        """
        require("the data of a picture", "xarray")
        import xarray

        lines, across, up = (
            zip(*self.canvas.drawn, strict=True) if self.canvas.drawn else ((), (), ())
        )
        variables = {"x": ("point", list(across)), "y": ("point", list(up))}
        names = dict(zip(("x_name", "y_name"), self.canvas.axes, strict=True))
        return xarray.Dataset(
            variables,
            {"line": ("point", list(lines))},
            {"title": self.title, "says": self.says, **names},
        )


def sheet(headline: str, case: str, flagged: bool = False, height: float = HEIGHT) -> Canvas:
    """A page with headline and case, which is flagged in red if it does not fit."""
    canvas = Canvas(WIDTH, height)
    canvas.text(headline, 6, height - 15, 10.5, BLACK, bold=True)
    line_text = f"{case} (does not fit in memory)" if flagged else case
    (line, *more) = wrapped(line_text, 9, WIDTH - 12)
    if more:  # never truncate the flag
        line = f"{wrapped(case, 9, WIDTH - (120 if flagged else 20))[0]}…{' (does not fit in memory)' if flagged else ''}"
    canvas.text(line, 6, height - 29, 9, VERMILION if flagged else GREY)
    return canvas


def framed(
    canvas: Canvas,
    x: tuple[float, float],
    y: tuple[float, float],
    x_log: bool = True,
    y_log: bool = True,
) -> Frame:
    """A frame that fills the page.

    Raises:
        InputError: a logarithmic axis would start at zero or below.
    """
    if any(log and not 0 < low < math.inf for log, (low, _) in ((x_log, x), (y_log, y))):
        raise InputError(
            Problem(
                "plot",
                "this case has nothing to draw: a value of zero or below has no place on a logarithmic axis",
            )
        )
    across = Scale(*x, LEFT, canvas.width - RIGHT, log=x_log)
    return Frame(canvas, across, Scale(*y, BOTTOM, canvas.height - TOP, log=y_log))


def noted(canvas: Canvas, notes: Iterable[str]) -> None:
    """Add notes below the picture."""
    foot = -canvas.below - 2
    for note in filter(None, notes):
        for line in wrapped(note, NOTE_SIZE, canvas.width - 12):
            foot -= NOTE_SIZE * LEADING
            canvas.text(line, 6, foot + 2, NOTE_SIZE, GREY)
    canvas.below = max(canvas.below, -foot + 2)


def finished(
    name: str,
    headline: str,
    case: str,
    frame: Frame,
    shows: str,
    says: str,
    notes: Iterable[str] = (),
) -> Picture:
    """The finished picture, with unplaced labels listed below it."""
    noted(
        frame.canvas,
        [*notes, "Also drawn: " + "; ".join(frame.unplaced) + "." if frame.unplaced else ""],
    )
    return Picture(name, f"{headline}: {case}", shows, says, frame.canvas)


def lacking(
    kind: str, answers: BoundCase, *names: str, otherwise: str = "its inputs do not say enough"
) -> InputError:
    """The error for a case without the quantities of a picture, with what they need; ``otherwise`` if none is missing."""
    missing = [f"{name} {why}" for name in names if (why := answers.why_unknown(name))]
    return InputError(
        Problem(kind, f"this case has nothing to draw: {'; '.join(missing) or otherwise}")
    )
