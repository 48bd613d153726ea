"""An annotation that is drafted for a number of a note, a number that is left alone, and all of a note."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symroof.claims.corrected_copies import DOUBTFUL
from symroof.claims.read.numbers import Figure

LABELLED = "0.1"
"""Tolerance of a memory size: a card's label is up to a tenth less or more than what its driver reports."""


@dataclass(frozen=True)
class Draft:
    """A drafted annotation.

    Attributes:
        line, column: where the number stands.
        text: the number as it stands there.
        start, at: where the number begins, and where the annotation goes.
        figure: the number as it was read.
        in_head: whether its unit stands in the head of its column, or farther behind it.
        quantity: what the number probably is.
        given: the settings of its case.
        doubts: what a person should look at.
        value: the number as the annotation refers to it; empty where it is the nearest.
    """

    line: int
    column: int
    text: str
    start: int
    at: int
    quantity: str
    given: dict[str, str]
    doubts: tuple[str, ...]
    figure: Figure
    in_head: bool = False
    value: str = ""

    @property
    def annotation(self) -> str:
        """The comment.

        >>> from symroof.claims.read.numbers import figures
        >>> [figure] = figures("5 ms")
        >>> Draft(1, 1, "5 ms", 0, 4, "itl", {"batch": "8", "mfu": "50 %"}, ("or tpot",), figure).annotation
        "<!-- symroof: itl batch=8 mfu='50 %' note='doubtful: or tpot' -->"
        """
        words = [self.quantity, *(f"{name}={_quoted(value)}" for name, value in self.given.items())]
        if self.quantity == "mem_capacity" and "hardware" in self.given:
            words.append(f"tolerance={LABELLED}")
        if self.value:
            words.append(f"value={_quoted(self.value)}")
        if self.doubts:
            words.append(f"note={_quoted(f'{DOUBTFUL}: ' + '; '.join(self.doubts))}")
        return f"<!-- symroof: {' '.join(words)} -->"

    def as_json(self) -> dict[str, Any]:
        return {"line": self.line, "column": self.column, "number": self.text, "quantity": self.quantity, "given": self.given, "doubtful": list(self.doubts)}


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w.+-]+", value) else f"'{value}'"


@dataclass(frozen=True)
class Left:
    """A number with a unit that no annotation is drafted for."""

    line: int
    column: int
    text: str
    why: str

    def as_json(self) -> dict[str, Any]:
        return {"line": self.line, "column": self.column, "number": self.text, "why": self.why}


@dataclass(frozen=True)
class Drafted:
    """A note with drafted annotations.

    Attributes:
        content: its text with them.
        drafts: each of them, in order.
        left: the numbers with a unit that have none, in order.
        annotated: how many numbers had one before.
    """

    file: str
    content: str
    drafts: tuple[Draft, ...]
    left: tuple[Left, ...]
    annotated: int

    def as_json(self) -> dict[str, Any]:
        return {"file": self.file, "drafts": [one.as_json() for one in self.drafts], "left": [one.as_json() for one in self.left], "annotated": self.annotated}


def annotated(text: str, drafts: Sequence[Draft]) -> str:
    """A text with annotations put in."""
    parts, before = [], 0
    for one in sorted(drafts, key=lambda one: (one.at, one.start)):
        parts += [text[before : one.at], one.annotation]
        before = one.at
    return "".join([*parts, text[before:]])
