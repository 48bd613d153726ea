"""What an annotation says: its text as the fields of a claim, each with its place, and the number of the passage that it is about.

``kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16``: a quantity or a threshold (or ``relation=…`` …), then ``NAME=VALUE``.
The names of a claim file's fields are the claim's own, every other is a setting: an input, a quantity, a precision, a switch. Dots reach into ``targets.itl='50 ms'``, ``needs.mfu=0.5``, ``where.b=kv_bytes_per_element``, ``assume.detail=weights``.
The number is the nearest before the annotation whose unit fits, or the one its ``value`` refers to.

>>> annotation_fields("kv_cache_bytes prompt=4096 detail=weights").data
{'quantity': 'kv_cache_bytes', 'given': {'prompt': 4096, 'detail': 'weights'}}
"""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from symroof.claims.claim_settings import SETTABLE, SWITCH_NAMES, declarations_of
from symroof.claims.derive_claim import derived
from symroof.claims.numbers import Figure, figures
from symroof.errors import InputError, nearest
from symroof.specs.claims import FORMS, ClaimSpec
from symroof.specs.definitions import OWN_NAME
from symroof.strict_yaml import DECIMAL, INTEGER, Location
from symroof.theory.declarations import NONE, THRESHOLDS
from symroof.theory.quantities import QUANTITIES
from symroof.theory.spellings import printed_name
from symroof.theory.symbols import INPUTS, base_name
from symroof.units import COUNTED, UnitError, parse_number, parse_unit

WORD = re.compile(
    r"\s*(?:([^\W\d][\w.-]*)(\s*=\s*))?(\"[^\"]*\"|'[^']*'|“[^”]*”|‘[^’]*’|[^\s\"'“‘=][^\s=]*|)(?=\s|$)\s*"
)
QUOTES = "\"'“‘"
LABELLED = re.compile(r"fits|\w+_bound")
"""Quantities whose value is a word of the text, and no number in it."""

FILE_ONLY = {
    "values": "a row of values belongs in a claim file",
    "steps": "a chain of steps belongs in a claim file",
}
NESTED = ("needs", "where", "for_all")
CASE = {"assume": "assume", "targets": "targets", "target": "targets"}
CLAIM_FIELDS = {field.alias or name for name, field in ClaimSpec.model_fields.items()}
CLAIM_FIELDS -= {"given", "line", *FILE_ONLY, *NESTED}


@dataclass
class AnnotationFields:
    """The fields of an annotation as plain data, the place of each, the faults (place, message, hint), and whether it may set names of a study or theory."""

    data: dict[str, Any] = field(default_factory=dict)
    places: dict[Location, int] = field(default_factory=dict)
    faults: list[tuple[int, str, str]] = field(default_factory=list)
    own: bool = False

    def fault(self, at: int, message: str, hint: str = "") -> None:
        self.faults.append((at, message, hint))

    def put(self, location: tuple[str, ...], value: Any, at: int) -> None:
        """Set a value; one that is set already is a fault."""
        inner = self.data
        for part in location[:-1]:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                name = ".".join(location)
                return self.fault(at, f"{name} is both a value and a name with parts")
        if location[-1] in inner:
            return self.fault(at, f"{location[-1]} is set twice")
        inner[location[-1]] = value
        for depth in range(1, len(location) + 1):
            self.places.setdefault(location[:depth], at)
        return None

    def put_named(self, name: str, value: str, at: int, value_at: int, quoted: bool) -> None:
        """Set the field or the setting that a name is of."""
        head, _, rest = name.partition(".")
        inner, _, last = rest.partition(".")
        number = value if quoted else typed(value)
        known = name in SETTABLE or base_name(name) in SETTABLE
        if head in FILE_ONLY:
            self.fault(at, FILE_ONLY[head], "`symroof init claims` writes a starter")
        elif (head in NESTED or head in CASE) and not rest:
            self.fault(at, f"{head} needs a name after a point", f"write {head}.NAME=VALUE")
        elif head in NESTED:
            below = (CASE[inner], last) if inner in CASE and last else (rest,)
            self.put((head, *below), value if head == "where" else number, at)
        elif head in CASE:
            self.put(("given", CASE[head], rest), value, at)
        elif name == "between":
            self.put((name,), self._cases(value, value_at), at)
        elif name in CLAIM_FIELDS:
            self.put((name,), value, at)
        elif name in SWITCH_NAMES or known or (self.own and OWN_NAME.fullmatch(name)):
            self.put(("given", name), value if name in SWITCH_NAMES else number, at)
        else:
            every = {*CLAIM_FIELDS, *NESTED, *CASE, *SWITCH_NAMES, *SETTABLE}
            self.fault(at, f"unknown name {name[:60]!r}", nearest(name, every))

    def _cases(self, text: str, at: int) -> list[dict[str, Any]]:
        """``hardware=h100-sxm | hardware=h200`` as two cases."""
        cases, place = [], at
        for part in text.split("|"):
            inner = annotation_fields(part)
            self.faults += [(place + spot, message, hint) for spot, message, hint in inner.faults]
            cases.append(inner.data.get("given", {}))
            for name in set(inner.data) - {"given"}:
                hint = "write between='hardware=h100-sxm | hardware=h200'"
                self.fault(place, f"{name} does not belong in a case of between", hint)
            place += len(part) + 1
        return cases


def annotation_fields(text: str, own: bool = False) -> AnnotationFields:
    """Read an annotation; every fault is noted and the rest is read on. ``own``: a study declares names of it."""
    # names of a theory are known once the file's folder is
    result = AnnotationFields(own=own or bool(re.search(r"(?<!\S)theory\s*=", text)))
    place = len(text) - len(text.lstrip())
    while place < len(text):
        match = WORD.match(text, place)
        if not match or match.end() == place:
            _unreadable(result, text, place)
            break
        name, raw = match[1] or "", match[3]
        quoted = bool(raw) and raw[0] in QUOTES
        value = " ".join(raw[1:-1].split()) if quoted else raw
        if name and value:
            result.put_named(name, value, place, match.start(3) + quoted, quoted)
        elif name:
            result.fault(place, f"{name} has no value", "write NAME=VALUE")
        elif not text[:place].strip():
            statement = "relation" if LABELLED.fullmatch(value) else "quantity"
            result.put(("threshold" if value in THRESHOLDS else statement,), value, place)
        else:
            hint = "a value with spaces needs quotes: target.itl='50 ms'"
            result.fault(place, f"{value[:40]!r} is not NAME=VALUE", hint)
        place = match.end()
    return result


def typed(value: str) -> Any:
    """A value as a claim file would read it, numbers exact."""
    if INTEGER.fullmatch(value) or DECIMAL.fullmatch(value):
        try:
            number = parse_number(value)
        except UnitError:
            return value
        return int(number) if number.denominator == 1 else number
    return value


def _unreadable(result: AnnotationFields, text: str, place: int) -> None:
    """Why no word begins at a place."""
    rest = text[place:]
    quote = next((i for i, c in enumerate(rest) if c in QUOTES), None)
    if quote is not None and not re.search(r"\s", rest[:quote].partition("=")[2]):
        message = "an unterminated quote, or one followed directly by text"
        return result.fault(place + quote, message, "write NAME='a value with spaces'")
    message = f"{rest.split()[0][:40]!r} is not NAME=VALUE"
    return result.fault(place, message, "quote a value with spaces or an equals sign")


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
