"""The text of an annotation as the fields of a claim, each with its place.

``kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16``: a quantity or a threshold (or ``relation=…`` …), then ``NAME=VALUE``.
The names of a claim file's fields are the claim's own, every other is a setting: an input, a quantity, a precision, a switch. Dots reach into ``targets.itl='50 ms'``, ``needs.mfu=0.5``, ``where.b=kv_bytes_per_element``, ``assume.detail=weights``.

>>> annotation_fields("kv_cache_bytes prompt=4096 detail=weights").data
{'quantity': 'kv_cache_bytes', 'given': {'prompt': 4096, 'detail': 'weights'}}
"""

import re
from dataclasses import dataclass, field
from typing import Any

from symroof.claims.claim_settings import SETTABLE, SWITCH_NAMES
from symroof.errors import nearest
from symroof.specs.claims import ClaimSpec
from symroof.specs.definitions import OWN_NAME
from symroof.strict_yaml import DECIMAL, INTEGER, Location
from symroof.theory.symbols import base_name
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import UnitError, parse_number

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
