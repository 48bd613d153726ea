"""The text of an annotation as the fields of a claim, each with its place.

``kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16``: a quantity (or ``threshold=…``, ``relation=…`` …), then ``NAME=VALUE``.
The names of a claim file's fields are the claim's own, every other is a setting: an input, a quantity, a precision, a switch. Dots reach into ``targets.itl='50 ms'``, ``needs.mfu=0.5``, ``where.b=kv_bytes_per_element``, ``assume.detail=weights``.

>>> annotation_fields("kv_cache_bytes prompt=4096 detail=weights").data
{'quantity': 'kv_cache_bytes', 'given': {'prompt': 4096, 'detail': 'weights'}}
"""

import re
from dataclasses import dataclass, field
from typing import Any

from symroof.claims.claim_settings import SETTABLE, SWITCH_NAMES
from symroof.specs.claims import PYTHON_WORDS, ClaimSpec
from symroof.specs.definitions import OWN_NAME
from symroof.specs.input_values import name_hint
from symroof.strict_yaml import DECIMAL, INTEGER, Location
from symroof.theory.symbols import base_name
from symroof.units import UnitError, parse_number

WORD = re.compile(
    r"(?:([^\W\d][\w.-]*)(\s*=\s*))?(\"[^\"]*\"|'[^']*'|“[^”]*”|‘[^’]*’|[^\s\"'“‘=][^\s=]*|)(?=\s|$)"
)
SPACE = re.compile(r"\s*")
QUOTES = "\"'“‘"

FILE_ONLY = {
    "values": "a row of values belongs in a claim file",
    "steps": "a chain of steps belongs in a claim file",
}
NESTED = ("needs", "where", "for_all")
CASE = {"assume": "assume", "targets": "targets", "target": "targets"}
IN_FILES = {field: key for key, field in PYTHON_WORDS.items()}
CLAIM_FIELDS = {IN_FILES.get(name, name) for name in ClaimSpec.model_fields} - {
    "given",
    "line",
    *FILE_ONLY,
    *NESTED,
}


@dataclass(frozen=True)
class Assignment:
    """``NAME=VALUE`` or a bare word, with the places of both in the annotation."""

    name: str
    value: str
    at: int
    value_at: int
    quoted: bool


@dataclass
class AnnotationFields:
    """The fields of an annotation as plain data, the place of each, the faults (place, message, hint), and whether it names a theory."""

    data: dict[str, Any] = field(default_factory=dict)
    places: dict[Location, int] = field(default_factory=dict)
    faults: list[tuple[int, str, str]] = field(default_factory=list)
    theory: bool = False

    def near(self, location: Location) -> int:
        """The place of something, or else of what it is in."""
        while location not in self.places and location:
            location = location[:-1]
        return self.places.get(location, 0)

    def put(self, location: tuple[str, ...], value: Any, at: int) -> None:
        """Set a value; one that is set already is a fault."""
        inner = self.data
        for part in location[:-1]:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                self.faults.append(
                    (at, f"{'.'.join(location)} is both a value and a name with parts", "")
                )
                return
        if location[-1] in inner:
            self.faults.append((at, f"{'.'.join(location[-1:])} is set twice", ""))
            return
        inner[location[-1]] = value
        for depth in range(1, len(location) + 1):
            self.places.setdefault(location[:depth], at)


def annotation_fields(text: str, own: bool = False) -> AnnotationFields:
    """Read an annotation; every fault is noted and the rest is read on. ``own``: a study declares names of it."""
    result = AnnotationFields()
    words = list(_words(text, result))
    result.theory = own or any(
        word.name == "theory" for word in words
    )  # whose names are known once the file's folder is
    for i, word in enumerate(words):
        if not word.name and i == 0:
            result.put(("quantity",), word.value, word.at)
        elif not word.name:
            result.faults.append(
                (
                    word.at,
                    f"{word.value[:40]!r} is not NAME=VALUE",
                    "a value with spaces needs quotes: target.itl='50 ms'",
                )
            )
        elif not word.value:
            result.faults.append((word.at, f"{word.name} has no value", "write NAME=VALUE"))
        else:
            _put(result, word)
    return result


def _put(result: AnnotationFields, word: Assignment) -> None:
    head, _, rest = word.name.partition(".")
    if head in FILE_ONLY:
        result.faults.append((word.at, FILE_ONLY[head], "`symroof init claims` writes a starter"))
    elif (head in NESTED or head in CASE) and not rest:
        result.faults.append(
            (word.at, f"{head} needs a name after a point", f"write {head}.NAME=VALUE")
        )
    elif head in NESTED:
        result.put((head, *_deep(rest)), typed(word) if head != "where" else word.value, word.at)
    elif head in CASE:
        result.put(("given", CASE[head], rest), word.value, word.at)
    elif word.name in CLAIM_FIELDS:
        result.put(
            (word.name,), _cases(result, word) if word.name == "between" else word.value, word.at
        )
    elif (
        word.name in SWITCH_NAMES
        or word.name in SETTABLE
        or base_name(word.name) in SETTABLE
        or (result.theory and OWN_NAME.fullmatch(word.name))
    ):
        result.put(
            ("given", word.name), word.value if word.name in SWITCH_NAMES else typed(word), word.at
        )
    else:
        result.faults.append(
            (
                word.at,
                f"unknown name {word.name[:60]!r}",
                name_hint(word.name, {*CLAIM_FIELDS, *NESTED, *CASE, *SWITCH_NAMES, *SETTABLE}),
            )
        )


def _deep(name: str) -> tuple[str, ...]:
    head, _, rest = name.partition(".")
    return (CASE[head], rest) if head in CASE and rest else (name,)


def _cases(result: AnnotationFields, word: Assignment) -> list[dict[str, Any]]:
    """``hardware=h100-sxm | hardware=h200`` as two cases."""
    cases, at = [], word.value_at
    for part in word.value.split("|"):
        inner = annotation_fields(part)
        result.faults += [(at + place, message, hint) for place, message, hint in inner.faults]
        cases.append(inner.data.get("given", {}))
        for name in set(inner.data) - {"given"}:
            result.faults.append(
                (
                    at,
                    f"{name} does not belong in a case of between",
                    "write between='hardware=h100-sxm | hardware=h200'",
                )
            )
        at += len(part) + 1
    return cases


def typed(word: Assignment) -> Any:
    """A value as a claim file would read it: numbers exact, quoted values text."""
    if not word.quoted and (INTEGER.fullmatch(word.value) or DECIMAL.fullmatch(word.value)):
        try:
            number = parse_number(word.value)
        except UnitError:
            return word.value
        return int(number) if number.denominator == 1 else number
    return word.value


def _words(text: str, result: AnnotationFields) -> list[Assignment]:
    """The words of an annotation; reading ends at the first that is none."""
    words: list[Assignment] = []
    place = len(SPACE.match(text)[0])  # type: ignore[index]
    while place < len(text):
        match = WORD.match(text, place)
        if not match or match.end() == place:
            result.faults.append(_unreadable(text, place))
            break
        raw = match[3]
        quoted = raw[:1] in QUOTES and bool(raw)
        value = " ".join(raw[1:-1].split()) if quoted else raw
        words.append(Assignment(match[1] or "", value, place, match.start(3) + quoted, quoted))
        place = len(SPACE.match(text, match.end())[0]) + match.end()  # type: ignore[index]
    return words


def _unreadable(text: str, place: int) -> tuple[int, str, str]:
    rest = text[place:]
    quote = next((i for i, c in enumerate(rest) if c in QUOTES), None)
    if quote is not None and not re.search(r"\s", rest[:quote].partition("=")[2]):
        return (
            place + quote,
            "an unterminated quote, or one followed directly by text",
            "write NAME='a value with spaces'",
        )
    return (
        place,
        f"{rest.split()[0][:40]!r} is not NAME=VALUE",
        "quote a value with spaces or an equals sign",
    )
