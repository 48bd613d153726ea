"""Notes inside other files: the Markdown cells of a notebook, the docstrings of Python source.

The text keeps its places: everything else in the file is blanked, not cut. A text that is indented gets a quote mark in front, which Markdown ignores, for
indented Markdown would be code.

>>> source = 'def cache():\\n    \\'1.34 GB <!-- symroof: params -->\\'\\n    return 5\\n'
>>> docstrings(source).splitlines()[1]
'>    1.34 GB <!-- symroof: params --> '
"""

import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from symroof.errors import InputError, Problem

NOTEBOOKS, PYTHON = (".ipynb",), (".py",)
EMBEDDED = (*NOTEBOOKS, *PYTHON)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
DOCTEST = re.compile(
    r"^[ \t>]*(?:>>>|\.\.\.)(?:[ \t][^\r\n]*)?(?:\r\n|\r|\n|\Z)(?:[ \t>]*[^\s>][^\r\n]*(?:\r\n|\r|\n|\Z))*",
    re.MULTILINE,
)
"""An example in a docstring, with its output."""
ANNOTATED = re.compile(r"<!--\s*symroof\b", re.IGNORECASE)
QUOTES = re.compile(r"[A-Za-z]{0,2}(\"\"\"|'''|\"|')")
DEEPEST = 200
"""How deep a notebook may be nested; they are six deep."""
Span = tuple[int, int]


def note_text(text: str, file: str) -> str:
    """The note in a file, as long as the file: of a note the file itself.

    Raises:
        InputError: no notebook, or no Python.
    """
    suffix = Path(file).suffix.lower()
    try:
        return (
            markdown_cells(text)
            if suffix in NOTEBOOKS
            else docstrings(text)
            if suffix in PYTHON
            else text
        )
    except (ValueError, SyntaxError, RecursionError, tokenize.TokenError) as error:
        kind = "a notebook" if suffix in NOTEBOOKS else "Python source"
        raise InputError(
            Problem(
                file,
                f"cannot be read as {kind}: {str(error.args[0] if error.args else error)[:120]}",
                1,
                1,
            )
        ) from None


def _blank(text: str) -> list[str]:
    return [character if character in "\r\n" else " " for character in text]


def _indented(view: list[str], start: int) -> None:
    """Mark the line of a place as quoted, if something is in front of it."""
    line = start
    while line and view[line - 1] not in "\r\n":
        line -= 1
    if line < start:
        view[line] = ">"


# ------------------------------------------------------------------------------------------------------------- Python


def docstrings(text: str) -> str:
    """The docstrings of Python source, and other strings that stand alone, which have an annotation."""
    view = _blank(text)
    for start, end in _strings(text):
        opening = QUOTES.match(text, start, end)
        if opening is None or not ANNOTATED.search(text, start, end):
            continue
        first, last = opening.end(), end - len(opening[1])
        view[first:last] = text[first:last]
        _indented(view, start)
        for line in re.finditer(r"(?:\r\n|\r|\n)[ \t]+", text[first:last]):
            _indented(view, first + line.end())
    whole = "".join(view)
    return DOCTEST.sub(lambda match: "".join(_blank(match[0])), whole)


def _strings(text: str) -> Iterator[Span]:
    """Where the strings lie that are a statement of their own."""
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type in (tokenize.COMMENT, tokenize.NL):
            continue
        if token.type == tokenize.STRING and before in (
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
        ):
            yield (
                starts[token.start[0] - 1] + token.start[1],
                starts[token.end[0] - 1] + token.end[1],
            )
        before = token.type


# ---------------------------------------------------------------------------------------------------------- notebooks


def markdown_cells(text: str) -> str:
    """The Markdown cells of a notebook.

    >>> book = '{"cells": [{"cell_type": "markdown", "source": ["Takes\\\\n", "1.34 GB."]}, {"cell_type": "code", "source": ["5"]}]}'
    >>> markdown_cells(book).split()
    ['>', 'Takes', '>', '1.34', 'GB.']
    """
    json.loads(text)
    view = _blank(text)
    for strings in _markdown(text):
        for i, (start, end) in enumerate(strings):
            view[start + 1 : end - 1] = _unescaped(text[start + 1 : end - 1])
            _indented(view, start)
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
