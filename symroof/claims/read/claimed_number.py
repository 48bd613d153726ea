"""Which number of a passage a claim speaks of: the last one whose unit fits, or the one its ``value`` points at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symroof.claims.read.expected_value import ANY, default_value, unit_wanted
from symroof.claims.read.numbers import Figure, figures

SHOWN = 5
"""Numbers that are named where none of them is the one a ``value`` points at."""


@dataclass(frozen=True)
class Meant:
    """What a claim states.

    Attributes:
        figure: the number, where it stands in the prose; None where the claim speaks of none.
        value: the value as a claim file would write it; None where it stays as it is.
        fault: what keeps it from being known, and a hint.
    """

    figure: Figure | None = None
    value: str | None = None
    fault: tuple[str, str] | None = None


def meant(data: Mapping[str, Any], prose: str) -> Meant:
    """What a claim of a note states, from its own data and the prose before it.

    >>> meant({"quantity": "kv_cache_bytes"}, "It takes 1.34 GB in 5 ms").value
    '1.34 GB'
    """
    unit = unit_wanted(data)
    here = figures(prose)
    if "value" in data:
        return _pointed(str(data["value"]), here, unit)
    if unit is None or data.get("formula"):
        return Meant(value=default_value(data, prose) or None)
    return _last(here, unit)


def _pointed(value: str, here: list[Figure], unit: str | None) -> Meant:
    """The number a ``value`` points at, with the bound or hedge it has in the sentence; a number the sentence lacks is a fault."""
    said = figures(value)
    found = _same(here, said)
    if found is not None:
        return Meant(found, value if said[-1].sign or said[-1].last else found.written)
    if said and unit not in (None, ANY) and (fitting := [figure.text for figure in here if figure.fit(unit or "") < 2]):
        return Meant(fault=(f"value {value[:40]!r} does not stand before this annotation", f"there are: {', '.join(fitting[-SHOWN:])}"))
    return Meant()


def _last(here: list[Figure], unit: str) -> Meant:
    """The last number that fits; of a claim that cannot be derived the last one, if any: why it cannot is told later."""
    found = (here[-1] if here else None) if unit == ANY else _fitting(here, unit)
    if found is None and unit != ANY:
        wanted = f"no number in {unit}" if unit else "no plain number"
        return Meant(fault=(f"{wanted} stands before this annotation, in its paragraph or cell", "say which one is meant: value='1.34 GB'"))
    return Meant(found, found.written if found else "?")


def _same(here: list[Figure], said: list[Figure]) -> Figure | None:
    """The last number written the same way as a ``value``."""
    if not said:
        return None
    last = said[-1].last or said[-1]

    def same(figure: Figure) -> bool:
        ends = (figure.last, figure) if figure.last else (figure,)
        return any(end.number.replace(",", "") == last.number.replace(",", "") and last.unit in ("", end.unit) for end in ends if end)

    return next((figure for figure in reversed(here) if same(figure)), None)


def _fitting(here: list[Figure], unit: str) -> Figure | None:
    """The last number whose unit fits best."""
    ranked = [(-(figure.last or figure).fit(unit), i) for i, figure in enumerate(here)]
    best = max(ranked, default=(-9, 0))
    return here[best[1]] if best[0] > -9 else None
