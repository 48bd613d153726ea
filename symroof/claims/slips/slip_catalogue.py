"""The catalogue of slips, ``specs/check/slips.yaml``: what each changes in a case or a result, and its explanation.

Slips of digits are in :mod:`symroof.claims.slips.explain`, and so are slips with a free parameter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from symroof.resources import data_folder
from symroof.strict_yaml import load


@dataclass(frozen=True)
class CaseChange:
    """Names set to formulas over the true case, precisions and switches to values.

    Attributes:
        precise_for: names of which, where the value depends on one, it explains a number of three digits or more only.
    """

    text: str
    sets: Mapping[str, Any]
    precise_for: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundedFigure:
    """A figure written down with few digits and used on: a quantity, or as ``rate`` the reciprocal of one."""

    text: str
    symbol: str
    digits: int
    rate: str = ""


@dataclass(frozen=True)
class OtherFigure:
    """Another figure of the catalogue in an input's place; ``{figure}`` in the text is its name, ``kind`` whose it is."""

    text: str
    symbol: str
    kind: str


@dataclass(frozen=True)
class MisreadResult:
    """The derived value, misread or counted differently.

    Attributes:
        formula: over the case and ``value``, the derived value; ``prefix`` is the power of the claim's prefix, 3 for GB.
        units: base units of which the derived value has one; empty for any.
        depends_on: names of which the claimed quantity depends on one; empty for any.
    """

    text: str
    formula: str
    units: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()


Variant = CaseChange | RoundedFigure | OtherFigure | MisreadResult


@dataclass(frozen=True)
class Slip:
    """One slip by name and the ways it happens.

    Attributes:
        paired: whether it may be one of two.
        numbers_only: whether it happens to figures as they are read and written only, and never to a formula over names.
        common: whether it is one of those that people make all the time: of these alone it is asked how many random errors they would explain.
    """

    name: str
    variants: tuple[Variant, ...]
    paired: bool = True
    numbers_only: bool = False
    common: bool = False


def _variant(way: Mapping[str, Any]) -> Variant:
    if "result" in way:
        units, names = (tuple(way.get(key, ())) for key in ("units", "depends_on"))
        return MisreadResult(way["text"], way["result"], units, names)
    if "kind" in way:
        return OtherFigure(**way)
    if "digits" in way:
        many = "s" * (way["digits"] > 1)
        text = f"{way.get('rate', way['symbol'])} rounded to {way['digits']} digit{many} on the way"
        return RoundedFigure(text, **way)
    assume = {"assume": way["assume"]} if "assume" in way else {}
    sets = {**way.get("set", {}), **assume}
    return CaseChange(way["text"], sets, tuple(way.get("precise_for", ())))


def _catalogue() -> tuple[Slip, ...]:
    entries = load(data_folder("specs") / "check" / "slips.yaml").data["slips"]
    return tuple(
        Slip(name=one.pop("slip"), variants=tuple(map(_variant, one.pop("ways"))), **one)
        for one in map(dict, entries)
    )


CATALOGUE = _catalogue()
"""Every slip that changes a formula, a figure or a unit, the most specific first."""
OTHER_COUNTS = frozenset({"kv_ignored", "attention_ignored", "causal_factor"})
"""Slips that are another way of counting rather than an error: a claim that one of them explains is
right under what it leaves out."""
