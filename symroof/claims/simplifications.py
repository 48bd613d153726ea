"""The simplifications of textbooks: counting less than everything, tried where a claim is wrong as it stands.

A claim that is right at one of them is not wrong but counts otherwise than it says. There are four, so a number written with
three digits seldom agrees with one by chance; how seldom is what decides against a slip that would explain the claim too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.claims.read.written_number import Written
from symroof.claims.slips.coincidence import chance, spans
from symroof.theory.switches import DETAIL, expand_detail

SIMPLIFICATIONS: tuple[dict[str, str], ...] = (
    *({"detail": level} for level in reversed(DETAIL) if level != "exact"),
    {"detail": "attention", "attention": "full"},
)
"""The plainest first."""
SELDOM = 0.05
"""A simplification is put forward where at most this share of random errors of the claim's size would agree with one."""


@dataclass(frozen=True)
class Simplified:
    """A simplification under which a claim holds, and how many random errors would hold under one."""

    choices: dict[str, str]
    chance: float


def simplification(
    given: Mapping[str, Any], written: Written, true: Fraction, under: Callable[[dict[str, Any]], tuple[Fraction | None, bool]]
) -> Simplified | None:
    """The plainest simplification under which a claim holds; nothing where its case says how it counts, or chance would do as well.

    Args:
        given: the case.
        written: the claimed value.
        true: the derived one.
        under: the value under changes of the case, and whether the claim then holds.
    """
    number = written.value
    if number is None or written.operator or written.low is not None or number <= 0 or true <= 0 or "preset" in given:
        return None
    chosen = expand_detail({str(name): str(value) for name, value in given.get("assume", {}).items()})
    open_to = [choices for choices in SIMPLIFICATIONS if not expand_detail(choices).keys() & chosen.keys()]
    found = [(choices, *under({"assume": choices})) for choices in open_to]
    values = [value for _, value, _ in found if value is not None and value > 0 and value != true]
    share = chance(float(number), float(true), spans(values, written))
    first = next((choices for choices, _, holds in found if holds), None)
    return Simplified(first, share) if first and share <= SELDOM else None
