"""The number of a passage that a claim is about: the last one whose unit fits, or the one its ``value`` refers to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from symroof.claims.derive_claim import derived
from symroof.claims.read.numbers import Figure, figures
from symroof.errors import InputError
from symroof.specs.claims import FORMS, ClaimSpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.theory.theory import UnknownName
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import UnitError, parse_unit

SHOWN = 5
"""Numbers that are listed where none of them is the one a ``value`` refers to."""
ANY = "any"
"""The unit of a claim that cannot be derived: any number will do, for the report is why it cannot."""
WORDS = ("relation", "moves", "unchecked")
"""Forms that claim a label or a truth, not a number."""
BOUND = re.compile(r"\b(compute|memory|link|overhead)[\s-]+(?:bound|limited)", re.IGNORECASE)
NOT = re.compile(r"(?:\bnot|n't|n’t|\bnever|\bcannot)\s+fit", re.IGNORECASE)


@dataclass(frozen=True)
class ClaimedNumber:
    """The number or label that a claim states.

    Attributes:
        figure: the number, where it stands in the prose; None where there is none.
        value: the value as a claim file would write it; None where it stays as it is.
        fault: why it cannot be determined, and a hint.
    """

    figure: Figure | None = None
    value: str | None = None
    fault: tuple[str, str] | None = None


def claimed_number(data: Mapping[str, Any], prose: str) -> ClaimedNumber:
    """The number a claim of a note states, from its own data and the prose before it.

    >>> claimed_number({"quantity": "kv_cache_bytes"}, "It takes 1.34 GB in 5 ms").value
    '1.34 GB'
    """
    unit = expected_unit(data)
    before = figures(prose)
    if "value" in data:
        return _referred(str(data["value"]), before, unit)
    if unit is None or data.get("formula"):
        return ClaimedNumber(value=_default_value(str(data.get("relation") or ""), prose) or None)
    figure = (before[-1] if before else None) if unit == ANY else _fitting(before, unit)
    if figure is None and unit != ANY:
        missing = f"no number in {unit}" if unit else "no plain number"
        return ClaimedNumber(fault=(f"{missing} stands before this annotation, in its paragraph or cell", "name the one it is about: value='1.34 GB'"))
    return ClaimedNumber(figure, figure.written if figure else "?")


def _referred(value: str, before: list[Figure], unit: str | None) -> ClaimedNumber:
    """The number a ``value`` refers to, with the bound or hedge it has in the sentence; a number the sentence lacks is a fault."""
    own = figures(value)
    figure = _same(before, own)
    if figure is not None:
        return ClaimedNumber(figure, value if own[-1].sign or own[-1].last else figure.written)
    if own and unit not in (None, ANY) and (fitting := [other.text for other in before if other.fit(unit or "") < 2]):
        return ClaimedNumber(fault=(f"value {value[:40]!r} does not stand before this annotation", f"there are: {', '.join(fitting[-SHOWN:])}"))
    return ClaimedNumber()


def _same(before: list[Figure], own: list[Figure]) -> Figure | None:
    """The last number written the same way as a ``value``."""
    if not own:
        return None
    last = own[-1].last or own[-1]

    def same(figure: Figure) -> bool:
        ends = (figure.last, figure) if figure.last else (figure,)
        return any(end.number.replace(",", "") == last.number.replace(",", "") and last.unit in ("", end.unit) for end in ends)

    return next((figure for figure in reversed(before) if same(figure)), None)


def _fitting(before: list[Figure], unit: str) -> Figure | None:
    """The last number whose unit fits best."""
    ranked = [(-(figure.last or figure).fit(unit), i) for i, figure in enumerate(before)]
    best = max(ranked, default=(-9, 0))
    return before[best[1]] if best[0] > -9 else None


def expected_unit(data: Mapping[str, Any]) -> str | None:
    """The unit of the number a claim states, empty for a plain number; None for a claim that states none.

    >>> expected_unit({"quantity": "kv_cache_bytes"}), expected_unit({"relation": "decode_bound"})
    ('byte', None)
    """
    form = next((name for name in FORMS if data.get(name)), None)
    if form is None or form in WORDS:
        return None
    if form == "compare":
        return ""
    name = ""
    if form == "quantity":
        name = printed_name(data["quantity"])
    elif form == "threshold":  # the unit of its unknown: solving for it may take its time
        named = THRESHOLDS.get(base_name(str(data["threshold"])))
        name = printed_name(str(data.get("for") or (named.unknown if named else "")))
    if symbol := INPUTS.get(name) or QUANTITIES.get(name):
        return symbol.unit
    try:
        claim = ClaimSpec.model_validate({**data, "id": "unit", "value": "0"})
        return parse_unit(derived(claim).unit).text  # raises for byte*byte and other units without a name
    except (ValidationError, InputError, UnknownName, UnitError):
        return ANY


def _default_value(relation: str, prose: str) -> str:
    """The label or truth a sentence states without a number: ``decode is memory-bound``, ``it does not fit``."""
    if relation == "fits":
        return "false" if NOT.search(prose) else "true"
    if relation.endswith("_bound"):
        labels = BOUND.findall(prose)
        return labels[-1].lower() if labels else ""
    return "true" if re.search("[<>=]", relation) else ""
