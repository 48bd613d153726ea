"""What a claim's value has to be, before it is known: the unit that picks the number of a sentence, a label that goes without saying."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from symroof.claims.derive_claim import derived
from symroof.errors import InputError
from symroof.specs.claims import FORMS, ClaimSpec
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.theory.theory import UnknownName
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import UnitError, parse_unit

ANY = "any"
"""The unit of a claim that cannot be derived: which number is meant does not matter, and why it cannot is what is to be told."""
WORDS = ("relation", "moves", "unchecked")
"""Forms that claim a label or a truth, not a number."""
BOUND = re.compile(r"\b(compute|memory|link|overhead)[\s-]+(?:bound|limited)", re.IGNORECASE)
NOT = re.compile(r"(?:\bnot|n't|n’t|\bnever|\bcannot)\s+fit", re.IGNORECASE)


def unit_wanted(data: Mapping[str, Any]) -> str | None:
    """The unit of the number a claim states, empty for a plain number; None for a claim that states none.

    >>> unit_wanted({"quantity": "kv_cache_bytes"}), unit_wanted({"relation": "decode_bound"})
    ('byte', None)
    """
    form = next((name for name in FORMS if data.get(name)), None)
    if form is None or form in WORDS:
        return None
    if form == "quantity":
        name = printed_name(data["quantity"])
        symbol = QUANTITIES.get(name) or INPUTS.get(name)
        if symbol:
            return symbol.unit
    if form == "compare":
        return ""
    if form == "threshold":  # the unit of its unknown: not to be solved for, which may take its time
        named = THRESHOLDS.get(base_name(str(data["threshold"])))
        name = printed_name(str(data.get("for") or (named.unknown if named else "")))
        if symbol := INPUTS.get(name) or QUANTITIES.get(name):
            return symbol.unit
    return _derived(data)


def _derived(data: Mapping[str, Any]) -> str:
    """The unit of what is derived."""
    try:
        claim = ClaimSpec.model_validate({**data, "id": "unit", "value": "0"})
        return parse_unit(derived(claim, claim.given).unit).text  # byte*byte is a unit nobody writes
    except (ValidationError, InputError, UnknownName, UnitError):
        return ANY


def default_value(data: Mapping[str, Any], prose: str) -> str:
    """The label or truth a sentence states without a number: ``decode is memory-bound``, ``it does not fit``."""
    said = data.get("relation")
    if not said:
        return ""
    if said == "fits":
        return "false" if NOT.search(prose) else "true"
    if said.endswith("_bound"):
        labels = BOUND.findall(prose)
        return labels[-1].lower() if labels else ""
    return "true" if re.search("[<>=]", said) else ""
