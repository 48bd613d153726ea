"""What an annotation says: its text as the fields of a claim, and the number of the passage that it is about.

``kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16``: a quantity or a threshold (or ``relation=…`` …), then ``NAME=VALUE``.
The names of a claim file's fields are the claim's own, every other is a setting: an input, a quantity, a precision, a switch. Dots reach into ``targets.itl='50 ms'``, ``needs.mfu=0.5``, ``where.b=kv_bytes_per_element``, ``assume.detail=weights``.
The number is the nearest before the annotation whose unit fits, or the one its ``value`` refers to.

>>> annotation_fields("kv_cache_bytes prompt=4096 detail=weights")[0]
{'quantity': 'kv_cache_bytes', 'given': {'prompt': '4096', 'assume': {'detail': 'weights'}}}
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from symroof.claims.claim_settings import declarations_of, is_switch, with_study_settings
from symroof.claims.derive_claim import derived
from symroof.claims.numbers import Figure, figures
from symroof.specs.claims import ClaimSpec
from symroof.strict_yaml import Location
from symroof.theory.declarations import THRESHOLDS
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import COUNTED, parse_unit

WORD = re.compile(
    r"\s*(?:([^\W\d][\w.-]*)(\s*=\s*))?(\"[^\"]*\"|'[^']*'|“[^”]*”|‘[^’]*’|[^\s\"'“‘=][^\s=]*|)(?=\s|$)\s*"
)
QUOTES = "\"'“‘"
SPACED = "a value with spaces stands in quotes: target.itl='50 ms'"
LABELLED = re.compile(r"fits|\w+_bound")
"""Quantities whose value is a word of the text, and no number in it."""

BESIDE = ("needs", "where", "for_all")
"""Fields of a claim that have names of their own."""
CASE = {"assume": "assume", "targets": "targets", "target": "targets"}
FIELDS = {field.alias or name for name, field in ClaimSpec.model_fields.items()}


class AnnotationError(ValueError):
    """What is wrong with an annotation, where in the note, and a hint."""

    def __init__(self, at: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.at, self.message, self.hint = at, message, hint


def annotation_fields(text: str, at: int = 0) -> tuple[dict[str, Any], dict[Location, int]]:
    """The fields of an annotation that begins at a place of a note, and the place of each.

    Raises:
        AnnotationError: the first thing that cannot be read.
    """
    data: dict[str, Any] = {}
    places: dict[Location, int] = {}
    place = len(text) - len(text.lstrip())
    while place < len(text):
        match = WORD.match(text, place)
        if not match or match.end() == place:
            word = text[place:].split()[0]
            raise AnnotationError(at + place, f"{word[:40]!r} is not NAME=VALUE", SPACED)
        name, raw, here = match[1] or "", match[3], at + place
        value: Any = " ".join(raw[1:-1].split()) if raw[:1] and raw[0] in QUOTES else raw
        if name and not value:
            raise AnnotationError(here, f"{name} has no value", "write NAME=VALUE")
        if not name and text[:place].strip():
            raise AnnotationError(here, f"{value[:40]!r} is not NAME=VALUE", SPACED)
        if name == "between":
            value = [_case(part, at + match.start(3)) for part in value.split("|")]
        location, inner = _location(name, value), data
        for part in location[:-1]:
            inner = inner.setdefault(part, {})
        if not isinstance(inner, dict) or location[-1] in inner:
            raise AnnotationError(here, f"{name} is set twice")
        inner[location[-1]] = value
        for depth in range(1, len(location) + 1):
            places.setdefault(location[:depth], here)
        place = match.end()
    return data, places


def _location(name: str, value: str) -> tuple[str, ...]:
    """Where in a claim the value of a name belongs; without a name it is what is claimed."""
    if not name:
        statement = "relation" if LABELLED.fullmatch(value) else "quantity"
        return ("threshold" if value in THRESHOLDS else statement,)
    head, _, rest = name.partition(".")
    if head in BESIDE and rest:
        inner, _, last = rest.partition(".")
        return (head, CASE[inner], last) if inner in CASE and last else (head, rest)
    if head in CASE and rest:
        return ("given", CASE[head], rest)
    if name in FIELDS:
        return (name,)
    return ("given", "assume", name) if is_switch(name, value) else ("given", name)


def _case(text: str, at: int) -> dict[str, Any]:
    """One of the cases of ``between='hardware=h100-sxm | hardware=h200'``."""
    data, _ = annotation_fields(text, at)
    if data.keys() != {"given"}:
        hint = "write between='hardware=h100-sxm | hardware=h200'"
        raise AnnotationError(at, f"{text.strip()[:40]!r} is no case of between", hint)
    return dict(data["given"])


SHOWN = 5
"""Numbers that are listed where none of them is the one a ``value`` refers to."""
ANY = "any"
"""The unit of a claim that cannot be derived: any number will do, for the report is why it cannot."""
BOUND = re.compile(r"\b(compute|memory|link|overhead)[\s-]+(?:bound|limited)", re.IGNORECASE)
NOT = re.compile(r"(?:\bnot|n't|n’t|\bnever|\bcannot)\s+fit", re.IGNORECASE)


def claimed_number(
    data: Mapping[str, Any],
    prose: str,
    at: int = 0,
    previous_end: int = 0,
    taken_starts: Collection[int] = (),
    base: Path | None = None,
) -> tuple[Figure | None, str | None]:
    """The number a claim of a note states, from its own data and the prose before it, and the value as a claim file would write it.

    Args:
        at: where in the note its ``value`` or the annotation begins.
        previous_end: where in the prose the annotation before it ended: a claim takes no number
            before that, unless nothing but a comment or a cell is between.
        taken_starts: starts of the numbers that other annotations are about.
        base: the folder that paths lead from.

    Raises:
        AnnotationError: there is no such number.

    >>> claimed_number({"quantity": "kv_cache_bytes"}, "It takes 1.34 GB in 5 ms")[1]
    '1.34 GB'
    """
    before, unit = figures(prose), expected_unit(data, base)
    if "value" in data:
        return _referred(str(data["value"]), before, unit, at)
    since = previous_end if re.search(r"\w", prose[previous_end:]) else 0
    if unit is None or data.get("formula"):
        return None, _label(str(data.get("relation") or ""), prose[since:]) or None
    own = [one for one in before if one.start >= since and one.start not in taken_starts]
    units = [unit]
    if unit == "" and data.get("expression"):  # 45 GB/1.28 GB are 35 requests
        units += sorted(COUNTED)
    figure = next(filter(None, (_fitting(own, one) for one in units)), None)
    if figure:
        return figure, figure.written
    if unit == ANY:
        return None, "?"
    missing = f"no number in {unit}" if unit else "no plain number"
    where = "between the previous annotation and this one"
    if not previous_end:
        where = "before this annotation, in its paragraph or cell"
    hint = f"name the one it is about: value='{f'12 {unit}'.strip()}'"
    raise AnnotationError(at, f"{missing} found {where}", hint)


def _fitting(before: list[Figure], unit: str) -> Figure | None:
    """The last number whose unit fits best."""
    if unit == ANY:
        return before[-1] if before else None
    fits = [(figure.range_end or figure).fit(unit) for figure in before]
    best = min(fits, default=9)
    return before[len(fits) - 1 - fits[::-1].index(best)] if best < 9 else None


def _referred(
    value: str, before: Sequence[Figure], unit: str | None, at: int
) -> tuple[Figure | None, str | None]:
    """The last number that is written as a ``value``, with the bound or hedge it has in the sentence."""
    if not (own := figures(value)):
        return None, None
    last = own[-1].range_end or own[-1]
    digits = last.number.replace(",", "")
    for figure in reversed(before):
        ends = (one for one in (figure.range_end, figure) if one)
        numbers = ((one.number.replace(",", ""), one.unit) for one in ends)
        if any(number == digits and last.unit in ("", of) for number, of in numbers):
            whole = own[-1].qualifier or own[-1].range_end
            return figure, value if whole else figure.written
    fitting = [one.text for one in before if unit not in (None, ANY) and one.fit(unit or "") < 2]
    if not fitting:
        return None, None
    message = f"value {value[:40]!r} does not appear before this annotation"
    raise AnnotationError(at, message, f"there are: {', '.join(fitting[-SHOWN:])}")


def expected_unit(data: Mapping[str, Any], base: Path | None = None) -> str | None:
    """The unit of the number a claim states, empty for a plain number; None for one without.

    >>> expected_unit({"quantity": "kv_cache_bytes"}), expected_unit({"relation": "decode_bound"})
    ('byte', None)
    """
    try:
        claim = ClaimSpec.model_validate({**data, "id": "unit", "value": "0"})
        claim = with_study_settings(claim, base)
        if claim.form in ("relation", "moves", "steps", "unchecked"):  # a label or a truth
            return None
        if claim.form == "compare":
            return ""
        name, own = printed_name(claim.quantity or ""), declarations_of(claim.given)
        if claim.threshold:  # the unit of its unknown: solving for it may take its time
            named = own.threshold(base_name(claim.threshold))
            name = printed_name(claim.solve_for or (named.unknown if named else ""))
        if symbol := own.symbol(name) if name in own else INPUTS.get(name) or QUANTITIES.get(name):
            return symbol.unit
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
