"""A finished picture with its text alternative, and how every picture begins and ends: headline, case with its flag, notes below."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from symroof.cases.case_results import Answers
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
"""What stands outside the axes: values to the left and below, headline, case and the name of the upright axis above."""
NOTE_SIZE = 8.0


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing with its text alternative.

    Attributes:
        title: the quantity and the case that are drawn.
        says: the takeaway in a sentence: solved numbers, flags included.
        shows: what there is to see, for somebody who does not see it.
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
        """The file in one form, by the function of its name in the module of its name; nothing of the others is made or loaded."""
        write = getattr(importlib.import_module(f"symroof.drawing.{ending}"), ending)
        made: bytes = write(self.canvas, self.title, self.alt)
        return made

    def _repr_svg_(self) -> str:
        return self.form("svg").decode()

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, as SVG, PDF or PNG (extra ``plot``) by its ending.

        Raises:
            InputError: another ending, or no package for it.
        """
        ending = Path(path).suffix.lower().removeprefix(".")
        if ending not in ENDINGS:
            raise InputError(
                Problem(os.fspath(path), f"no picture ends in {Path(path).suffix!r}", hint=f"there are {', '.join(f'.{known}' for known in ENDINGS)}")
            )
        write_atomic(path, self.form(ending))

    @property
    def data(self) -> xarray.Dataset:
        """The points of its lines, signs and bars in base units: ``x`` and ``y`` along ``point``, and in ``line`` the name of what each belongs to.

        Raises:
            InputError: no xarray (extra ``sweep``).
        """
        require("the data of a picture", "xarray")
        import xarray

        lines, across, up = zip(*self.canvas.drawn, strict=True) if self.canvas.drawn else ((), (), ())
        variables = {"x": ("point", list(across)), "y": ("point", list(up))}
        names = dict(zip(("x_name", "y_name"), self.canvas.axes, strict=True))
        return xarray.Dataset(variables, {"line": ("point", list(lines))}, {"title": self.title, "says": self.says, **names})


def sheet(headline: str, case: str, flagged: bool = False, height: float = HEIGHT) -> Canvas:
    """A page with its headline; the case in red, with its flag, where it does not fit."""
    canvas = Canvas(WIDTH, height)
    canvas.text(headline, 6, height - 15, 10.5, BLACK, bold=True)
    line_text = f"{case} (does not fit in memory)" if flagged else case
    (line, *more) = wrapped(line_text, 9, WIDTH - 12)
    if more:  # the flag is never cut off
        line = f"{wrapped(case, 9, WIDTH - (120 if flagged else 20))[0]}…{' (does not fit in memory)' if flagged else ''}"
    canvas.text(line, 6, height - 29, 9, VERMILION if flagged else GREY)
    return canvas


def framed(canvas: Canvas, x: tuple[float, float], y: tuple[float, float], x_log: bool = True, y_log: bool = True) -> Frame:
    """Axes that fill the page.

    Raises:
        InputError: a logarithmic axis would begin at zero or below.
    """
    if any(log and not 0 < low < math.inf for log, (low, _) in ((x_log, x), (y_log, y))):
        raise InputError(Problem("plot", "this case has nothing to draw: a value of zero or below has no place on a logarithmic axis"))
    across = Scale(*x, LEFT, canvas.width - RIGHT, log=x_log)
    return Frame(canvas, across, Scale(*y, BOTTOM, canvas.height - TOP, log=y_log))


def noted(canvas: Canvas, notes: Iterable[str]) -> None:
    """Sentences under the picture, for which the page grows."""
    foot = -canvas.below - 2
    for note in filter(None, notes):
        for line in wrapped(note, NOTE_SIZE, canvas.width - 12):
            foot -= NOTE_SIZE * LEADING
            canvas.text(line, 6, foot + 2, NOTE_SIZE, GREY)
    canvas.below = max(canvas.below, -foot + 2)


def finished(name: str, headline: str, case: str, frame: Frame, shows: str, says: str, notes: Iterable[str] = ()) -> Picture:
    """The picture, with the labels it has no room for listed under it."""
    noted(frame.canvas, [*notes, "Not labelled for want of room: " + "; ".join(frame.unplaced) + "." if frame.unplaced else ""])
    return Picture(name, f"{headline}: {case}", shows, says, frame.canvas)


def lacking(kind: str, answers: Answers, *names: str, otherwise: str = "its inputs do not say enough") -> InputError:
    """The error for a case that has no value for what a picture shows: which quantity, and what it needs; ``otherwise`` where it has all."""
    missing = [f"{name} {why}" for name in names if (why := answers.why_unknown(name))]
    return InputError(Problem(kind, f"this case has nothing to draw: {'; '.join(missing) or otherwise}"))
