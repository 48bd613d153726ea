"""The catalogue of slips, ``specs/check/slips.yaml``: what each changes in a case or a result, and its explanation.

Slips of digits are in :mod:`symroof.claims.slips.explain`, and so are slips with a free parameter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symroof.resources import data_folder
from symroof.strict_yaml import load


@dataclass(frozen=True)
class Way:
    """One way in which a slip happens; the file says what each field means.

    Attributes:
        sets: names set to formulas over the true case, precisions and switches to values.
        result: the derived value, misread or counted differently; then nothing is set.
        symbol: an input in whose place another figure stands (``kind``), or one with few ``digits``.
    """

    text: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
    result: str = ""
    units: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    symbol: str = ""
    kind: str = ""
    digits: int = 0


@dataclass(frozen=True)
class Slip:
    """One slip by name and the ways it happens.

    Attributes:
        paired: whether it may be one of two.
        numbers_only: whether it happens to figures as they are read and written only, and never to a formula over names.
    """

    name: str
    ways: tuple[Way, ...]
    paired: bool = True
    numbers_only: bool = False


def _catalogue() -> tuple[Slip, ...]:
    entries = load(data_folder("specs") / "check" / "slips.yaml").data["slips"]
    return tuple(
        Slip(name=one.pop("slip"), ways=tuple(Way(**way) for way in one.pop("ways")), **one)
        for one in map(dict, entries)
    )


CATALOGUE = _catalogue()
"""Every slip that changes a formula, a figure or a unit, the most specific first."""
OTHER_COUNTS = frozenset({"kv_ignored", "attention_ignored", "causal_factor"})
"""Slips that are another way of counting rather than an error: a claim that one of them explains is
right under what it leaves out."""
