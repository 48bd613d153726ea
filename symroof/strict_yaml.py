"""YAML read strictly: positions recorded, numbers exact, nothing ambiguous, nothing unbounded.

Differences from plain YAML 1.1: duplicate keys, anchors, aliases and tags are errors; ``3.35e12`` is a number and stays
exact; ``yes``, ``no``, ``on``, ``off`` and numbers with leading zeros are errors that say what to write instead. ``on``
and ``off`` are accepted where a switch takes them. Size, depth and number of nodes are bounded.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from symroof.errors import InputError, Problem
from symroof.units import UnitError, parse_number

LARGEST_FILE, DEEPEST, MOST_NODES = 1_000_000, 40, 50_000
Location = tuple[str | int, ...]

INTEGER = re.compile(r"[+-]?(0|[1-9][0-9_]*)")
DECIMAL = re.compile(r"[+-]?((0|[1-9][0-9_]*)?\.[0-9]+|(0|[1-9][0-9_]*)\.?)([eE][+-]?[0-9]{1,3})?")
LEADING_ZERO = re.compile(r"[+-]?0[0-9_]+(\.[0-9]*)?")
OF_NUMBERS = frozenset("+-.0123456789")
"""What a number begins with."""
AMBIGUOUS = {"yes", "no", "y", "n"}

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """A file's data with the place of everything in it, and how each number was written (``1.20`` says more than 6/5); of a part ``at`` a place its own data."""

    file: str
    data: Any
    places: dict[Location, tuple[int, int]]
    lines: tuple[str, ...]
    text: str
    written: dict[Location, str] = field(default_factory=dict)
    at: Location = ()

    def problem(self, location: Location, message: str, hint: str = "") -> Problem:
        """A problem at a place in the data; a missing key points at its parent."""
        known = location = (*self.at, *location)
        while known not in self.places and known:
            known = known[:-1]
        return self.problem_at(self.places.get(known, (1, 1)), message, hint, location)

    def problem_at(
        self, place: tuple[int, int], message: str, hint: str = "", location: Location = ()
    ) -> Problem:
        """A problem at a line and column of the file."""
        line, column = place
        source = self.lines[line - 1] if line <= len(self.lines) else ""
        path = path_text(location)
        return Problem(self.file, message, line, column, path, hint, source, location)


def path_text(location: Location) -> str:
    """``('layers', 0, 'attention')`` as ``layers[0].attention``."""
    written = ""
    for part in location:
        written += f"[{part}]" if isinstance(part, int) else f".{part}" if written else str(part)
    return written


BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def read_text(path: str | os.PathLike[str], largest: int = LARGEST_FILE, hint: str = "") -> str:
    """The text of a file of at most ``largest`` bytes; ``hint`` is for one that is larger.

    Raises:
        InputError: no such file, a directory, no permission, too large, not UTF-8.
    """
    name = str(path)
    try:
        if Path(path).is_dir():
            raise InputError(Problem(name, "is a directory, not a file"))
        if Path(path).is_fifo() and not name.startswith("/dev/"):
            raise InputError(Problem(name, "is a pipe, which may never end", hint="name a file"))
        with open(path, "rb") as handle:
            raw = handle.read(largest + 1)
    except InputError:
        raise
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from None
    except ValueError:
        raise InputError(Problem(repr(name), "is not a file name")) from None
    if len(raw) > largest:
        raise InputError(Problem(name, f"is larger than {largest:,} bytes", hint=hint))
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if raw.startswith(mark):
            raise InputError(Problem(name, f"is {encoding} text, not UTF-8"))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(Problem(name, f"is not UTF-8 text (byte {error.start})")) from None


def load(path: str | os.PathLike[str]) -> Document:
    """Read a YAML file strictly; see :func:`loads`."""
    return loads(read_text(path), str(path))


def loads(text: str, file: str = "<text>", noted: list[Problem] | None = None) -> Document:
    """Read YAML text strictly; values that cannot be read are refused, or left out and ``noted`` where somebody reads on.

    Raises:
        InputError: every problem, with line and column.

    >>> loads("mem_bandwidth: 3.35e12").data
    {'mem_bandwidth': 3350000000000}
    >>> loads("a: 1\\na: 2")
    Traceback (most recent call last):
        ...
    symroof.errors.InputError: <text>:2:1: a: duplicate key, first written in line 1
        a: 2
        ^
    """
    read = Document(file, None, {}, tuple(text.splitlines()), text)
    reader = _YamlReader(read)
    try:
        data = reader.data()
    except InputError:
        raise
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        shown = read.lines[line - 1] if line <= len(read.lines) else ""
        # libyaml does not say which character it is
        nested = "mapping values" in str(error.problem)
        if glued := nested and line > 1 and re.match(r"\s*(\w+:)[^\s:/]", read.lines[line - 2]):
            place = line - 1, glued.end(1) + 1
            raise reader.stop(place, f"a blank is missing after {glued[1]}") from None
        hint = "indent it as the lines around it, or quote a text with a colon" if nested else ""
        hint = "indent with spaces" if shown[column - 1 : column] == "\t" else hint
        message = f"not valid YAML: {error.problem or error.context}"
        raise reader.stop((line, column), message, hint) from None
    except yaml.reader.ReaderError as error:
        before, found, _ = text.partition(chr(error.character))
        rows = f"{before}.".splitlines() if found else ["."]
        message = f"not valid YAML: the character U+{error.character:04X} is not allowed"
        raise reader.stop((len(rows), len(rows[-1])), message) from None
    except (yaml.YAMLError, ValueError) as error:
        raise reader.stop((1, 1), f"not valid YAML: {str(error).splitlines()[0]}") from None
    if reader.problems and noted is None:
        raise InputError(reader.problems)
    if noted is not None:
        noted += reader.problems
    return replace(read, data=data)


class _YamlReader:
    """Events to plain data in one pass, with the place of every value."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.events = self.checked(yaml.parse(document.text, Loader=_Loader))
        self.problems: list[Problem] = []

    def stop(self, place: tuple[int, int], message: str, hint: str = "") -> InputError:
        return InputError(self.document.problem_at(place, message, hint))

    def checked(self, events: Iterable[Any]) -> Iterator[Any]:
        """The events, stopped at a bound, an anchor, an alias, a tag or a second document before anything is built of it."""
        depth = nodes = documents = 0
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                nodes += 1
                depth += isinstance(event, yaml.CollectionStartEvent)
                tag = getattr(event, "tag", None)
                message = hint = ""
                if nodes > MOST_NODES:
                    message = f"more than {MOST_NODES:,} values"
                elif depth > DEEPEST:
                    message = f"nested more than {DEEPEST} deep"
                elif event.anchor:
                    message = "anchors and aliases are not used here"
                    hint = "write the value out; a text that begins with * or & needs quotes"
                elif tag not in (None, "!"):
                    message = f"tags are not used here: {tag}"
                    hint = "a text that begins with ! needs quotes"
                if message:
                    raise self.stop(_mark(event), message, hint)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.stop(_mark(event), "more than one document in the file")
            yield event

    def data(self) -> Any:
        """The data of the one document; the events behind it are checked as well.

        Raises:
            InputError: no document, or one that is stopped.
            yaml.YAMLError: no YAML.
        """
        root = [self.read(event, ()) for event in self.events if isinstance(event, yaml.NodeEvent)]
        if not root:
            raise InputError(Problem(self.document.file, "is empty", 1, 1))
        return root[0]

    def read(self, node: Any, location: Location, key: yaml.ScalarEvent | None = None) -> Any:
        self.document.places[location] = _mark(key or node)
        if isinstance(node, yaml.ScalarEvent):
            return self.scalar(node, location)
        if isinstance(node, yaml.MappingStartEvent):
            return self.mapping(location)
        return [self.read(child, (*location, i)) for i, child in enumerate(self.children())]

    def children(self) -> Iterator[Any]:
        """What begins inside the collection that has just begun; the caller takes each to its end before the next."""
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            yield event

    def skip(self, node: Any) -> None:
        """Leave a value out, with all that it holds."""
        for child in self.children() if isinstance(node, yaml.CollectionStartEvent) else ():
            self.skip(child)

    def mapping(self, location: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key in self.children():
            if not isinstance(key, yaml.ScalarEvent):
                self.complain(key, location, "a key must be a single word")
                self.skip(key)
                self.skip(next(self.events))
                continue
            name, value = key.value, next(self.events)
            if name in result:
                first = self.document.places[(*location, name)][0]
                message = f"duplicate key, first written in line {first}"
                self.complain(key, (*location, name), message)
                self.skip(value)
                continue
            result[name] = self.read(value, (*location, name), key)
        return result

    def scalar(self, node: yaml.ScalarEvent, location: Location) -> Any:
        text = node.value
        if node.style:  # quoted or block text; plain is None or ""
            return text
        if text in ("", "~", "null"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if text.lower() in AMBIGUOUS:
            hint = f"write true or false, or quote the text: '{text}'"
            self.complain(node, location, f"{text!r} is ambiguous", hint)
            return None
        if text[0] not in OF_NUMBERS:
            return text
        if LEADING_ZERO.fullmatch(text):
            message = f"{text!r} is ambiguous: a number with a leading zero"
            self.complain(node, location, message, "leave the zero out, or quote the text")
            return None
        if INTEGER.fullmatch(text) or DECIMAL.fullmatch(text):
            return self.number(node, text, location)
        return text

    def number(self, node: yaml.NodeEvent, text: str, location: Location) -> int | Fraction | None:
        try:
            value = parse_number(text)
        except UnitError as error:
            self.complain(node, location, str(error))
            return None
        self.document.written[location] = text
        return int(value) if value.denominator == 1 else value

    def complain(self, node: Any, location: Location, message: str, hint: str = "") -> None:
        self.problems.append(self.document.problem_at(_mark(node), message, hint, location))


def _mark(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
