"""JSON read strictly and within bounds: what a model repository's ``config.json`` may be, and what it may not.

Nothing in the file is evaluated. Duplicate keys, more than one value and text that is not UTF-8 are errors with a place;
so is what is often found instead of the file: a Git LFS pointer, a web page, nothing. ``NaN`` and ``Infinity``
are read, since real files write them where they do not matter; as a width they are refused like every other float.
"""

import json
import os
import re
from dataclasses import dataclass
from typing import Any

from symroof.errors import InputError, Problem
from symroof.strict_yaml import Document, Location, read_text

LARGEST_FILE, DEEPEST, LONGEST_NUMBER, MOST_VALUES = 4_000_000, 40, 400, 200_000
MOST_VALUES_OF_A_LARGE_FILE = 2_000_000
STRING = re.compile(r'"(?:[^"\\]|\\.?)*(?:"|\Z)', re.DOTALL)
"""A string, or what begins like one and never ends: every quote is looked at once, whatever a hostile file holds."""
LFS_POINTER = "version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class JsonDocument(Document):
    """A JSON file's data; places are looked up in the text when there is a problem to point at."""

    def problem(self, location: Location, message: str, hint: str = "") -> Problem:
        return self.problem_at(_place(self.text, location), message, hint, location)

    def error(self, location: Location, message: str, hint: str = "") -> InputError:
        """The problem at a place as an error."""
        return InputError(self.problem(location, message, hint))


def load_json(path: str | os.PathLike[str], largest: int = LARGEST_FILE) -> JsonDocument:
    """Read a JSON file of no more than ``largest`` bytes strictly; see :func:`loads_json`."""
    return loads_json(
        read_text(path, largest, "a config.json has a few kilobytes"),
        str(path),
        largest > LARGEST_FILE,
    )


def loads_json(text: str, file: str = "config.json", large: bool = False) -> JsonDocument:
    """Read JSON text strictly; the value must be an object.

    Raises:
        InputError: not JSON, a duplicate key, too deep, a list or a single value.

    >>> loads_json('{"hidden_size": 4096}').data
    {'hidden_size': 4096}
    """
    lines = tuple(text.split("\n"))

    def stop(message: str, line: int = 1, column: int = 1, path: str = "") -> InputError:
        source = lines[line - 1] if line <= len(lines) else ""
        return InputError(Problem(file, message, line, column, path, source=source))

    if reason := _not_json(text):
        raise InputError(Problem(file, reason[0], hint=reason[1]))
    _bounded(text, stop, MOST_VALUES_OF_A_LARGE_FILE if large else MOST_VALUES)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """The pairs of an object as a dict; a key written twice stops the reading where it stands again."""
        fields: dict[str, Any] = {}
        for key, value in pairs:
            if key in fields:
                written = [match.start() for match in _written(key).finditer(text)] or [0]
                raise stop("duplicate key", *_line_column(text, written[:2][-1]), path=key[:80])
            fields[key] = value
        return fields

    try:
        data = json.loads(text, object_pairs_hook=unique, parse_int=_whole)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg[0].lower()}{error.msg[1:]}"
        raise stop(message, error.lineno, error.colno) from None
    except RecursionError:
        raise stop(f"nested more than {DEEPEST} deep") from None
    if not isinstance(data, dict):
        raise stop(f"expected an object with fields, found {kind_of_value(data)}")
    return JsonDocument(file, data, {}, lines, text)


def kind_of_value(value: object) -> str:
    """How a JSON value is called in an error."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return str(value) if len(str(value)) <= 24 else f"{str(value)[:12]}..."


def _not_json(text: str) -> tuple[str, str] | None:
    """What is found in place of a ``config.json``, with the remedy."""
    start = text.lstrip()[:200]
    if not start:
        return "is empty", "download the file again"
    if start.startswith(LFS_POINTER):
        return "is a Git LFS pointer, not the file itself", "fetch it with `git lfs pull`"
    if start[0] == "<":
        return "is a web page, not JSON", "download the raw file"
    return None


def _bounded(text: str, stop: Any, most_values: int) -> None:
    """Depth and number of values, before anything is built."""
    depth = 0
    for values, sign in enumerate(
        re.finditer(r"[\[\]{},]", STRING.sub(lambda match: " " * len(match.group()), text))
    ):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign.group(), 0)
        if depth > DEEPEST or values > most_values:
            deep = f"nested more than {DEEPEST} deep"
            message = deep if depth > DEEPEST else f"more than {most_values:,} values"
            raise stop(message, *_line_column(text, sign.start()))


def _whole(digits: str) -> int | float:
    """A whole number; one too long to mean anything is an infinity, which no field takes."""
    if len(digits) <= LONGEST_NUMBER:
        return int(digits)
    return float("-inf" if digits.startswith("-") else "inf")


def _written(key: str) -> re.Pattern[str]:
    return re.compile(re.escape(json.dumps(key, ensure_ascii=False)) + r"\s*:")


def _place(text: str, location: Location) -> tuple[int, int]:
    """Line and column of a field: its key after those of the objects around it; a missing field is at its object."""
    position = 0
    for part in location:
        match = _written(part).search(text, position) if isinstance(part, str) else None
        if match is None:
            break
        position = match.start()
    return _line_column(text, position)


def _line_column(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
