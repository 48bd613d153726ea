"""The number of a passage that a claim is about: the nearest before its annotation whose unit fits,
or the one its ``value`` refers to."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from symroof.claims.claim_settings import declarations_of
from symroof.claims.derive_claim import derived
from symroof.claims.read.numbers import Figure, figures
from symroof.errors import InputError
from symroof.specs.claims import FORMS, ClaimSpec
from symroof.theory.declarations import NONE
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import COUNTED, parse_unit

SHOWN = 5
"""Numbers that are listed where none of them is the one a ``value`` refers to."""
ANY = "any"
"""The unit of a claim that cannot be derived: any number will do, for the report is why it cannot."""
BOUND = re.compile(r"\b(compute|memory|link|overhead)[\s-]+(?:bound|limited)", re.IGNORECASE)
NOT = re.compile(r"(?:\bnot|n't|n’t|\bnever|\bcannot)\s+fit", re.IGNORECASE)


@dataclass(frozen=True)
class ClaimedNumber:
    """The number or label that a claim states.

    Attributes:
        figure: the number, with its place in the prose; None where there is none.
        value: the value as a claim file would write it; None where it stays as it is.
        fault: why it cannot be determined, and a hint.
    """

    figure: Figure | None = None
    value: str | None = None
    fault: tuple[str, str] | None = None


def claimed_number(
    data: Mapping[str, Any],
    prose: str,
    before: Sequence[Figure],
    previous_end: int = 0,
    taken_starts: Collection[int] = (),
) -> ClaimedNumber:
    """The number a claim of a note states, from its own data and the prose before it.

    Args:
        before: the numbers of the prose.
        previous_end: where in the prose the annotation before it ended: a claim takes no number
            before that, unless nothing but a comment or a cell is between.
        taken_starts: starts of the numbers that other annotations are about.

    >>> prose = "It takes 1.34 GB in 5 ms"
    >>> claimed_number({"quantity": "kv_cache_bytes"}, prose, figures(prose)).value
    '1.34 GB'
    """
    unit = expected_unit(data)
    if "value" in data:
        return _referred(str(data["value"]), before, unit)
    since = previous_end if re.search(r"\w", prose[previous_end:]) else 0
    if unit is None or data.get("formula"):
        return ClaimedNumber(value=_label(str(data.get("relation") or ""), prose[since:]) or None)
    own = [one for one in before if one.start >= since and one.start not in taken_starts]
    units = [unit]
    if unit == "" and data.get("expression"):  # 45 GB/1.28 GB are 35 requests
        units += sorted(COUNTED)
    figure = next(filter(None, (_fitting(own, one) for one in units)), None)
    if figure:
        return ClaimedNumber(figure, figure.written)
    if unit == ANY:
        return ClaimedNumber(value="?")
    missing = f"no number in {unit}" if unit else "no plain number"
    where = "between the previous annotation and this one"
    if not previous_end:
        where = "before this annotation, in its paragraph or cell"
    hint = f"name the one it is about: value='{f'12 {unit}'.strip()}'"
    return ClaimedNumber(fault=(f"{missing} found {where}", hint))


def _fitting(before: list[Figure], unit: str) -> Figure | None:
    """The last number whose unit fits best."""
    if unit == ANY:
        return before[-1] if before else None
    fits = [(figure.range_end or figure).fit(unit) for figure in before]
    best = min(fits, default=9)
    return before[len(fits) - 1 - fits[::-1].index(best)] if best < 9 else None


def _referred(value: str, before: Sequence[Figure], unit: str | None) -> ClaimedNumber:
    """The last number that is written as a ``value``, with the bound or hedge it has in the sentence."""
    if not (own := figures(value)):
        return ClaimedNumber()
    last = own[-1].range_end or own[-1]
    digits = last.number.replace(",", "")
    for figure in reversed(before):
        ends = (one for one in (figure.range_end, figure) if one)
        numbers = ((one.number.replace(",", ""), one.unit) for one in ends)
        if any(number == digits and last.unit in ("", of) for number, of in numbers):
            whole = own[-1].qualifier or own[-1].range_end
            return ClaimedNumber(figure, value if whole else figure.written)
    fitting = [one.text for one in before if unit not in (None, ANY) and one.fit(unit or "") < 2]
    if not fitting:
        return ClaimedNumber()
    message = f"value {value[:40]!r} does not appear before this annotation"
    return ClaimedNumber(fault=(message, f"there are: {', '.join(fitting[-SHOWN:])}"))


def expected_unit(data: Mapping[str, Any]) -> str | None:
    """The unit of the number a claim states, empty for a plain number; None for one without.

    >>> expected_unit({"quantity": "kv_cache_bytes"}), expected_unit({"relation": "decode_bound"})
    ('byte', None)
    """
    form = next((name for name in FORMS if data.get(name)), None)
    if form in (None, "relation", "moves", "unchecked"):  # a label or a truth, not a number
        return None
    if form == "compare":
        return ""
    name, own, given = "", NONE, data.get("given")
    with suppress(InputError):  # where names are checked its faults are told
        own = declarations_of(given) if isinstance(given, Mapping) else NONE
    if form == "quantity":
        name = printed_name(data["quantity"])
    elif form == "threshold":  # the unit of its unknown: solving for it may take its time
        named = own.threshold(base_name(str(data["threshold"])))
        name = printed_name(str(data.get("for") or (named.unknown if named else "")))
    if symbol := own.symbol(name) if name in own else INPUTS.get(name) or QUANTITIES.get(name):
        return symbol.unit
    try:
        claim = ClaimSpec.model_validate({**data, "id": "unit", "value": "0"})
        return parse_unit(derived(claim).unit).text  # byte*byte has no name
    except Exception:  # a fault of the claim, or of symroof: where it is judged it says so
        return ANY


def _label(relation: str, prose: str) -> str:
    """The label or truth a sentence states without a number: ``decode is memory-bound``."""
    if relation == "fits":
        return "false" if NOT.search(prose) else "true"
    if relation.endswith("_bound"):
        labels = BOUND.findall(prose)
        return labels[-1].lower() if labels else ""
    return "true" if re.search("[<>=]", relation) else ""
