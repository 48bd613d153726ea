"""A finished picture: its drawing, what it says in words, and the file forms it can take."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from symroof.drawing.canvas import Canvas


@dataclass(frozen=True)
class Picture:
    """A drawing with its text alternative.

    Attributes:
        title: what is shown, of which case.
        says: the takeaway in a sentence: solved numbers, flags included.
        shows: what there is to see, for somebody who does not see it.
    """

    name: str
    title: str
    shows: str
    says: str
    canvas: Canvas

    @property
    def alt(self) -> str:
        return f"{self.shows} {self.says}"

    def form(self, ending: str) -> bytes:
        """The file in one form, by the function of its name in the module of its name; nothing of the others is made or loaded."""
        write = getattr(importlib.import_module(f"symroof.drawing.{ending}"), ending)
        made: bytes = write(self.canvas, self.title, self.alt)
        return made
