"""The Markdown cells of a notebook as a note.

The text keeps its places: everything else in the file is blanked, not cut. A mark stands where a line of
a cell begins.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symroof.claims.read.markdown import CELL
from symroof.errors import InputError, Problem

NOTEBOOK = ".ipynb"
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")


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


def _markdown(text: str) -> Iterator[list[tuple[int, int]]]:
    """Where the strings of the source of each Markdown cell lie, quotes included."""
    # every string of the file begins with its own place, keys included
    book = json.loads(STRING.sub(lambda match: f'"{match.start()} {match[0][1:]}', text))
    cells = _entry(book, "cells")
    for cell in cells if isinstance(cells, list) else ():
        kind, source = _entry(cell, "cell_type"), _entry(cell, "source")
        if isinstance(kind, str) and kind.partition(" ")[2] == "markdown":
            strings = source if isinstance(source, list) else [source]
            starts = [int(one.partition(" ")[0]) for one in strings if isinstance(one, str)]
            if starts:
                yield [STRING.match(text, start).span() for start in starts]  # type: ignore[union-attr]


def _entry(data: Any, name: str) -> Any:
    """A value of an object whose keys begin with their places; None where there is none."""
    if not isinstance(data, dict):
        return None
    return next((value for key, value in data.items() if key.partition(" ")[2] == name), None)
