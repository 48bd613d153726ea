"""YAML read strictly: positions kept, numbers exact, nothing ambiguous, nothing unbounded.

Differences from plain YAML 1.1: duplicate keys, anchors, aliases and tags are errors; ``3.35e12`` is a number and stays
exact; ``yes``, ``no``, ``on``, ``off`` and numbers with leading zeros are errors that say what to write instead. ``on``
and ``off`` are accepted where a switch takes them. Size, depth and number of nodes are bounded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
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
AMBIGUOUS = {"yes", "no", "y", "n"}
SWITCH_WORDS = {"on", "off"}

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """A file's data with the place of everything in it, and how each number was written (``1.20`` says more than 6/5)."""

    file: str
    data: Any
    places: dict[Location, tuple[int, int]]
    lines: tuple[str, ...]
    text: str
    written: dict[Location, str] = field(default_factory=dict)

    def problem(self, location: Location, message: str, hint: str = "") -> Problem:
        """A problem at a place in the file; a missing key points at its parent."""
        known = location
        while known not in self.places and known:
            known = known[:-1]
        line, column = self.places.get(known, (1, 1))
        source = self.lines[line - 1] if line <= len(self.lines) else ""
        return Problem(self.file, message, line, column, path_text(location), hint, source, location)


def path_text(location: Location) -> str:
    """``('layers', 0, 'attention')`` as ``layers[0].attention``."""
    written = ""
    for part in location:
        written += f"[{part}]" if isinstance(part, int) else f".{part}" if written else str(part)
    return written


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file, within the size limit.

    Raises:
        InputError: no such file, a directory, no permission, too large, not UTF-8.
    """
    name = str(path)
    try:
        if Path(path).is_dir():
            raise InputError(Problem(name, "is a directory, not a file"))
        with open(path, "rb") as handle:
            raw = handle.read(LARGEST_FILE + 1)
    except InputError:
        raise
    except OSError as error:
        raise InputError(Problem(name, f"cannot be read: {error.strerror or error}")) from None
    except ValueError:
        raise InputError(Problem(repr(name), "is not a file name")) from None
    if len(raw) > LARGEST_FILE:
        raise InputError(Problem(name, f"is larger than {LARGEST_FILE:,} bytes"))
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
        InputError: every problem found, with line and column.

    >>> loads("mem_bandwidth: 3.35e12").data
    {'mem_bandwidth': 3350000000000}
    >>> loads("a: 1\\na: 2")
    Traceback (most recent call last):
        ...
    symroof.errors.InputError: <text>:2:1: a: duplicate key, first written in line 1
        a: 2
        ^
    """
    lines = tuple(text.splitlines())

    def stop(message: str, line: int, column: int, hint: str = "") -> InputError:
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        return InputError(Problem(file, message, max(line, 1), max(column, 1), hint=hint, source=source))

    try:
        _check_events(text, stop)
        node = yaml.compose(text, Loader=_Loader)
    except InputError:
        raise
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        hint = "indent with spaces" if "\\t" in str(error.problem) else ""
        raise stop(f"not valid YAML: {error.problem or error.context}", line, column, hint) from None
    except (yaml.YAMLError, ValueError) as error:
        raise stop(f"not valid YAML: {str(error).splitlines()[0]}", 1, 1) from None
    if node is None:
        raise InputError(Problem(file, "is empty", 1, 1))
    reader = _Reader(file, lines)
    data = reader.read(node, ())
    if reader.problems and noted is None:
        raise InputError(reader.problems)
    if noted is not None:
        noted += reader.problems
    return Document(file, data, reader.places, lines, text, reader.written)


def _check_events(text: str, stop: Callable[..., InputError]) -> None:
    """Bounds, anchors, aliases and tags, seen while streaming: nothing is built before they pass."""
    depth = nodes = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        mark: Any = event.start_mark
        line, column = mark.line + 1, mark.column + 1
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if nodes > MOST_NODES:
            raise stop(f"more than {MOST_NODES:,} values", line, column)
        if depth > DEEPEST:
            raise stop(f"nested more than {DEEPEST} deep", line, column)
        if documents > 1:
            raise stop("more than one document in the file", line, column)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise stop("anchors and aliases are not used here", line, column, "write the value out; a text that begins with * or & needs quotes")
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            raise stop(f"tags are not used here: {tag}", line, column, "a text that begins with ! needs quotes")


class _Reader:
    """Nodes to plain data, with the place of every value."""

    def __init__(self, file: str, lines: tuple[str, ...]) -> None:
        self.file, self.lines = file, lines
        self.places: dict[Location, tuple[int, int]] = {}
        self.written: dict[Location, str] = {}
        self.problems: list[Problem] = []

    def read(self, node: yaml.Node, location: Location, key: yaml.Node | None = None) -> Any:
        self.places[location] = _mark(key or node)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, location)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(child, (*location, i)) for i, child in enumerate(node.value)]
        return self.scalar(node, location) if isinstance(node, yaml.ScalarNode) else None

    def mapping(self, node: yaml.MappingNode, location: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.complain(key, location, "a key must be a single word")
                continue
            name = key.value
            if name in result:
                first = self.places[(*location, name)][0]
                self.complain(key, (*location, name), f"duplicate key, first written in line {first}")
                continue
            result[name] = self.read(value, (*location, name), key)
        return result

    def scalar(self, node: yaml.ScalarNode, location: Location) -> Any:
        text = node.value
        if node.style:  # quoted or block text; plain is None or ""
            return text
        if text in ("", "~", "null"):
            return None
        if text in ("true", "false"):
            return text == "true"
        if text.lower() in AMBIGUOUS:
            self.complain(node, location, f"{text!r} is ambiguous", f"write true or false, or quote the text: '{text}'")
            return None
        if LEADING_ZERO.fullmatch(text):
            self.complain(node, location, f"{text!r} is ambiguous: a number with a leading zero", "leave the zero out, or quote the text")
            return None
        if INTEGER.fullmatch(text) or DECIMAL.fullmatch(text):
            return self.number(node, text, location)
        return text

    def number(self, node: yaml.Node, text: str, location: Location) -> int | Fraction | None:
        try:
            value = parse_number(text)
        except UnitError as error:
            self.complain(node, location, str(error))
            return None
        self.written[location] = text
        return int(value) if value.denominator == 1 else value

    def complain(self, node: yaml.Node, location: Location, message: str, hint: str = "") -> None:
        line, column = _mark(node)
        source = self.lines[line - 1] if line <= len(self.lines) else ""
        self.problems.append(Problem(self.file, message, line, column, path_text(location), hint, source, location))


def _mark(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
