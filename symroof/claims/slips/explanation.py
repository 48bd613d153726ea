"""An explanation of a wrong claim, as people and programs get it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.cases.case_results import bare
from symroof.units import significant

SELDOM = 0.2
"""A claim is named a slip where at most this share of random errors of its size would have been explained too."""


@dataclass(frozen=True)
class Explanation:
    """A slip that leads to what was claimed.

    Attributes:
        slip: its name; where it takes two, each has an explanation with the same text.
        named: whether it is put forward as the reason; otherwise it is a suggestion.
        explains: the value it predicts, in base units; of a formula the formula.
        chance: the share of random errors of that size that the catalogue would have explained as well.
        text: a sentence.
    """

    slip: str
    named: bool
    explains: Fraction | str
    chance: float
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"slip": self.slip, "named": self.named, "explains": bare(self.explains), "chance": round(self.chance, 4), "text": self.text}


def times(ratio: Fraction) -> str:
    """How much a slip makes of it: ``×8``, ``÷2``."""
    return f"×{significant(ratio)}" if ratio >= 1 else f"÷{significant(1 / ratio)}"
