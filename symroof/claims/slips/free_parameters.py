"""Slips with a free parameter: an efficiency or an overhead that would make the claim true. They are only ever suggested.

A parameter can be fitted to almost any number, so these explain next to nothing; ``chance`` says how little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from symroof.claims.slips.coincidence import chance
from symroof.claims.slips.context import Scene
from symroof.units import format_quantity, significant

LEAST, MOST = Fraction(1, 20), Fraction(1)
"""Efficiencies worth a suggestion."""
EFFICIENCIES = (("mfu", "of the peak"), ("mbu", "of the bandwidth"))
"""Shares of what a device can do, each with what it is a share of."""
OVERHEAD = "step_overhead"
LONGEST = Fraction(1)
"""Seconds a step may wait at most for something that is not derived."""
HALVINGS = 30
CLOSE = Fraction(1, 1000)
"""How close the claim has to be met: a value that jumps, as whole numbers do, may pass it by."""


@dataclass(frozen=True)
class Fitted:
    """A parameter that makes the claim true, and the share of random errors that some value of it would explain."""

    slip: str
    says: str
    chance: float


def fitted(scene: Scene, claimed: Fraction) -> Iterator[Fitted]:
    """What would make the claim true with a parameter free; in two cases that are compared, in both or in either."""
    for name, meaning in EFFICIENCIES:
        for side, (value, by_chance) in _values(scene, name, (MOST, LEAST), claimed):
            says = f"holds at {name} {significant(value, 3)}{scene.where(side)}: that share {meaning} is reached"
            yield Fitted("hidden_efficiency", says, by_chance)
    if scene.unit == "s" and scene.claim.form == "quantity":
        if claimed > scene.value and scene.spoken is not None:
            left = format_quantity(claimed - scene.value, "s", 3)
            yield Fitted("hidden_overhead", f"{left} more than derived: a fixed cost of that length", _share(scene, claimed, scene.value, None))
        return
    for side, (value, by_chance) in _values(scene, OVERHEAD, (Fraction(0), LONGEST), claimed):
        yield Fitted("hidden_overhead", f"holds with a fixed cost of {format_quantity(value, 's', 3)} a step{scene.where(side)}", by_chance)


def _values(scene: Scene, name: str, span: tuple[Fraction, Fraction], claimed: Fraction) -> Iterator[tuple[tuple[int, ...], tuple[Fraction, float]]]:
    """In which of the cases a parameter makes the claim true, at what value, and what any value of it would explain."""
    for side in scene.sides if scene.matters(name) else ():
        if found := _fit(scene, name, side, span, claimed):
            yield side, found


def _fit(scene: Scene, name: str, side: tuple[int, ...], span: tuple[Fraction, Fraction], claimed: Fraction) -> tuple[Fraction, float] | None:
    """The value of a parameter at which the claim holds, found by halving, and what any value would explain."""

    def at(value: Fraction) -> Fraction | None:
        return scene.again(tuple({name: value} if i in side else {} for i in range(len(scene.cases))))

    start, end = at(span[0]), at(span[1])
    if start is None or start == claimed or (end is not None and not min(start, end) <= claimed <= max(start, end)):
        return None
    rising = claimed > start
    value = _halved(at, claimed, span, rising)
    met = at(value)
    if met is None or abs(met / claimed - 1) > CLOSE:
        return None
    reached = (start, end) if rising else (end or Fraction(0), start)
    return value, _share(scene, claimed, *reached)


def _halved(at: Callable[[Fraction], Fraction | None], claimed: Fraction, span: tuple[Fraction, Fraction], rising: bool) -> Fraction:
    """Where a value that only rises or only falls on the way from one end to the other meets the claim; where it ends it is past it.

    >>> float(_halved(lambda share: 1/share, Fraction(2), (MOST, LEAST), rising=True))
    0.5
    """
    near, far = span
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        found = at(middle)
        near, far = (near, middle) if found is None or (found > claimed) is rising else (middle, far)
    return Fraction(f"{float(near):.6g}")


def _share(scene: Scene, claimed: Fraction, low: Fraction, high: Fraction | None) -> float:
    """The share of the claim's neighbourhood between two values; no end is any number however large."""
    return chance(float(claimed), float(scene.value), [(float(low), math.inf if high is None else float(high))])
