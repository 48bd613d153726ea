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
    except (AttributeError, TypeError):  # JSON in which something else stands in place of cells
        reason = "it has no cells"
    raise InputError(Problem(file, f"cannot be read as a notebook: {reason}", 1, 1))


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
    marked = STRING.sub(lambda match: f'"{match.start()} {match[0][1:]}', text)

    def named(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name.partition(" ")[2]: value for name, value in pairs}

    for cell in json.loads(marked, object_pairs_hook=named).get("cells", ()):
        kind, source = (cell.get(name, "") for name in ("cell_type", "source"))
        if kind.partition(" ")[2] == "markdown":
            strings = source if isinstance(source, list) else [source]
            starts = [int(one.partition(" ")[0]) for one in strings if one]
            if starts:
                yield [STRING.match(text, start).span() for start in starts]  # type: ignore[union-attr]
