"""Slips with a free parameter: an efficiency or an overhead that would make the claim true. They are only ever suggested.

A parameter can be fitted to almost any number, so these explain next to nothing; ``chance`` says how little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from symroof.claims.chance import chance
from symroof.claims.scene import FAILURES, Scene
from symroof.units import format_quantity, significant

LEAST, MOST = Fraction(1, 20), Fraction(1)
"""Efficiencies worth a suggestion."""
EFFICIENCIES = (("mfu", "of the peak"), ("mbu", "of the bandwidth"))
"""Shares of what a device can do, each with what it is a share of."""
HALVINGS = 30


@dataclass(frozen=True)
class Fitted:
    """A parameter that makes the claim true, and the share of random errors that some value of it would explain."""

    slip: str
    says: str
    chance: float


def fitted(scene: Scene, claimed: Fraction) -> Iterator[Fitted]:
    """What would make the claim true with a parameter free."""
    if scene.spoken is None or scene.claim.form != "quantity":
        return
    for name, meaning in EFFICIENCIES:
        if name in scene.spoken and (found := _efficiency(scene, name, claimed)):
            yield Fitted("hidden_efficiency", f"holds at {name} {significant(found[0], 3)}: that share {meaning} is reached", found[1])
    if scene.unit == "s" and claimed > scene.value:
        left = format_quantity(claimed - scene.value, "s", 3)
        yield Fitted("hidden_overhead", f"{left} more than derived: a fixed cost of that length", _share(scene, claimed, scene.value, None))


def _efficiency(scene: Scene, name: str, claimed: Fraction) -> tuple[Fraction, float] | None:
    """The efficiency at which the claim holds, found by halving, and what any efficiency would explain."""
    case = scene.answers.case

    def at(share: Fraction) -> Fraction:
        value: Fraction = case.changed({name: share}).value(scene.name)
        return value

    try:
        ends = at(LEAST), at(MOST)
        if not min(ends) <= claimed <= max(ends) or ends[0] == ends[1]:
            return None
        return _halved(at, claimed, ends[1] > ends[0]), _share(scene, claimed, min(ends), max(ends))
    except FAILURES:
        return None


def _halved(at: Callable[[Fraction], Fraction], claimed: Fraction, rising: bool) -> Fraction:
    """Where a value that only rises or only falls with a share meets the claim.

    >>> float(_halved(lambda share: 1/share, Fraction(2), rising=False))
    0.5
    """
    low, high = LEAST, MOST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if (at(middle) < claimed) is rising else (low, middle)
    return Fraction(f"{float(high):.6g}")


def _share(scene: Scene, claimed: Fraction, low: Fraction, high: Fraction | None) -> float:
    """The share of the claim's neighbourhood between two values."""
    return chance(float(claimed), float(scene.value), [(float(low), math.inf if high is None else float(high))])
