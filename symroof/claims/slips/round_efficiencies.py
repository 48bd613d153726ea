"""Efficiencies that texts take for granted: round shares of the peak and of the bandwidth, tried where nothing else explains a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

SHARES = tuple(Fraction(percent, 100) for percent in (50, 60, 40, 70, 80, 30, 90, 45, 55, 35, 65, 75, 85))
EFFICIENCIES = ("mfu", "mbu")
SHARPEST = Fraction(1, 200)
"""How precisely a claim must be written for a round share to say anything: a share can be found for any rough number."""


def round_share(given: Mapping[str, Any], room: Fraction | None, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Fraction] | None:
    """The one round efficiency under which a claim holds; nothing where several would do, or the claim is rough.

    >>> round_share({}, Fraction(1, 1000), lambda changes: changes == {"mfu": Fraction(1, 2)})
    {'mfu': Fraction(1, 2)}
    >>> round_share({"mfu": 1}, Fraction(1, 1000), lambda changes: "mfu" in changes)
    """
    if room is None or room > SHARPEST:
        return None
    found = [{name: share} for name in EFFICIENCIES if name not in given for share in SHARES if holds({name: share})]
    return found[0] if len(found) == 1 else None
