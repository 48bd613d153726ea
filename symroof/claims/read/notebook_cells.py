"""The Markdown cells of a notebook as a note.

The text keeps its places: everything else in the file is blanked, not cut. A mark stands where a line of
a cell begins.
"""

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from pathlib import Path

from symroof.claims.read.markdown import CELL
from symroof.errors import InputError, Problem

NOTEBOOK = ".ipynb"
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


class _Placed(str):
    """A string of a JSON text, with where it lies there, quotes included."""

    span: tuple[int, int]


def _markdown(text: str) -> Iterator[list[tuple[int, int]]]:
    """Where the strings of the source of each Markdown cell lie."""
    decoder = json.JSONDecoder()

    def placed(text: str, begin: int, strict: bool = True) -> tuple[_Placed, int]:
        value, end = scanstring(text, begin, strict)
        found = _Placed(value)
        found.span = (begin - 1, end)
        return found, end

    decoder.parse_string = placed  # type: ignore[attr-defined]
    decoder.scan_once = py_make_scanner(decoder)  # type: ignore[attr-defined]
    book = decoder.decode(text)
    cells = book.get("cells") if isinstance(book, dict) else None
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            source = cell.get("source")
            strings = source if isinstance(source, list) else [source]
            if spans := [one.span for one in strings if isinstance(one, _Placed)]:
                yield spans
