"""The Markdown cells of a notebook as a note.

The text keeps its places: everything else in the file is blanked, not cut. A mark stands where a line of
a cell begins.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from symroof.claims.read.markdown import CELL
from symroof.errors import InputError, Problem

NOTEBOOK = ".ipynb"
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
DEEPEST = 200
"""How deep a notebook may be nested; they are six deep."""
Span = tuple[int, int]


def note_text(text: str, file: str) -> str:
    """The note in a file, as long as the file: of a note the file itself.

    Raises:
        InputError: no notebook.
    """
    if Path(file).suffix.lower() != NOTEBOOK:
        return text
    try:
        return markdown_cells(text)
    except (ValueError, RecursionError) as error:
        reason = str(error.args[0] if error.args else error)[:120]
        raise InputError(Problem(file, f"cannot be read as a notebook: {reason}", 1, 1)) from None


def markdown_cells(text: str) -> str:
    """The Markdown cells of a notebook.

    >>> book = '{"cells": [{"cell_type": "markdown", "source": ["Takes\\\\n", "1.34 GB."]}, {"cell_type": "code", "source": ["5"]}]}'
    >>> markdown_cells(book).split()
    ['\\ue001Takes', '\\ue0011.34', 'GB.']
    """
    json.loads(text)
    view = [character if character in "\r\n" else " " for character in text]
    for strings in _markdown(text):
        for i, (start, end) in enumerate(strings):
            view[start + 1 : end - 1] = _unescaped(text[start + 1 : end - 1])
            view[start] = CELL
            following = strings[i + 1][0] if i + 1 < len(strings) else None
            if following is None or not re.search(r"[\r\n]", text[end:following]):
                view[end - 1] = "\n"
        view[strings[-1][1]] = "\n"
    return "".join(view)


def _unescaped(text: str) -> str:
    """A string of JSON with its escapes replaced, as long as it was; a line's end at its end is left to the file's own."""

    def plain(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16)).ljust(6)
        if match[2] == "n":
            return "  " if match.end() == len(text) else " \n"
        return f" {match[2]}" if match[2] in '"\\/' else "  "

    return ESCAPE.sub(plain, text)


def _markdown(text: str) -> Iterator[list[Span]]:
    """Where the strings of the source of each Markdown cell lie, quotes included."""
    kinds: dict[int, str] = {}
    sources: dict[int, list[Span]] = {}
    for path, (start, end) in _values(text):
        if len(path) < 3 or path[0] != "cells" or not isinstance(path[1], int):
            continue
        if path[2:] == ("cell_type",):
            kinds[path[1]] = text[start + 1 : end - 1]
        elif path[2] == "source" and len(path) < 5 and text[start] == '"':
            sources.setdefault(path[1], []).append((start, end))
    yield from (spans for cell, spans in sources.items() if kinds.get(cell) == "markdown")


def _values(text: str) -> Iterator[tuple[tuple[str | int, ...], Span]]:
    """Every plain value of a JSON text with its path and its place."""
    path: list[str | int] = []
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            path.append("" if token == "{" else 0)
            if len(path) > DEEPEST:
                raise ValueError("nested too deep")
        elif token in "}]":
            path.pop()
        elif token == "," and path and isinstance(path[-1], int):
            path[-1] += 1
        elif token == ",":
            path[-1:] = [""]
        elif token == ":":
            continue
        elif path and path[-1] == "":
            path[-1] = token[1:-1] or " "
        else:
            yield tuple(path), match.span()
