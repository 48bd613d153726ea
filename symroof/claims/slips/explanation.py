"""An explanation of a wrong claim, and how often a random error would have been explained too: a measure of how convincing it is.

A claim with few digits agrees with a wide band of values, and a catalogue has many entries: together they explain a good
share of all wrong numbers, whatever went wrong in truth.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.cases.quantity_result import plain_value
from symroof.claims.read.written_number import WrittenNumber
from symroof.units import significant

MOST_CHANCE = 0.2
"""A claim is named a slip where at most this share of random errors of its size would have been explained too."""
WIDEST, NARROWEST, SIZES = math.log(2), math.log(1.05), 3
"""A random error of the same size: the claim moved, evenly in its logarithm, by up to a factor of two either way; after a
small error by up to thrice that error, since slips with small effects are close together."""
NOTHING = 1e-300
"""The end of a span that has none below."""
FACTOR = re.compile(r": [×÷].*?(?=, at |$)")


@dataclass(frozen=True)
class SlipExplanation:
    """A slip that leads to the claimed value.

    Attributes:
        slip: its name; where it takes two, each has an explanation with the same text.
        named: whether it is reported as the reason; otherwise it is a suggestion.
        explains: the value it predicts, in base units; of a formula the formula.
        chance: the share of random errors of that size that the catalogue would have explained as well.
        text: a sentence.
    """

    slip: str
    named: bool
    explains: Fraction | str
    chance: float
    text: str

    @property
    def cause(self) -> str:
        """The sentence without the factor it makes.

        >>> SlipExplanation("kv_ignored", True, Fraction(1), 0.0, "reads of the cache left out: ÷1.6, at detail kv").cause
        'reads of the cache left out, at detail kv'
        """
        return FACTOR.sub("", self.text)

    def as_json(self) -> dict[str, Any]:
        numbers = {"explains": plain_value(self.explains), "chance": round(self.chance, 4)}
        return {"slip": self.slip, "named": self.named, **numbers, "text": self.text}


def factor_text(ratio: Fraction) -> str:
    """The factor that a slip makes: ``×8``, ``÷2``."""
    return f"×{significant(ratio)}" if ratio >= 1 else f"÷{significant(1 / ratio)}"


def chance(claimed: float, true: float, explained: Iterable[tuple[float, float]]) -> float:
    """The share of the claim's neighbourhood that lies in one of the spans of explained claims.

    >>> round(chance(8.0, 1.0, [(7.9, 8.1), (8.0, 8.2), (100, 101)]), 3)
    0.027
    >>> chance(8.0, 1.0, [(0, math.inf)])
    1.0
    """
    centre = math.log(claimed)
    reach = min(WIDEST, max(NARROWEST, SIZES * abs(math.log(claimed / true))))
    low, high = centre - reach, centre + reach
    covered, reached = 0.0, low
    for start, end in sorted(span for span in explained if 0 <= span[0] < span[1]):
        first = max(math.log(max(start, NOTHING)), reached)
        reached = max(reached, min(math.log(end), high))
        covered += max(reached - first, 0.0)
    return covered / (high - low)


def agreeing_ranges(
    values: Iterable[Fraction], written: WrittenNumber
) -> list[tuple[float, float]]:
    """For each value, the claims that would have agreed with it at the precision written.

    >>> from symroof.claims.read.written_number import read_written
    >>> [(round(low, 4), round(high, 4)) for low, high in agreeing_ranges([Fraction(200)], read_written("100", ""))]
    [(198.0198, 201.005)]
    """
    number, low, high = written.number, written.low, written.high
    low = (number if low is None else low) - written.margin
    if low <= 0:
        return [(NOTHING, 1 / NOTHING)]
    cut = max(written.margin, 2 * written.half_unit)
    high = number + cut if high is None else high + written.margin
    return [(float(value * number / high), float(value * number / low)) for value in values]
