"""The golden answers: asked again, stored, read."""

import contextlib
import gzip
import io
import json
import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from symroof.cli.main import main

from .kept import kept
from .lines import lines
from .python_calls import calls

STORE = Path(__file__).with_name("answers.json.gz")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def questions() -> dict[str, Callable[[], Any]]:
    """Every question by its name, with the function that asks it."""
    asked: dict[str, Callable[[], Any]] = {name: partial(command, line) for name, line in lines()}
    return asked | {name: partial(python, call) for name, call in calls()}


def command(line: list[str]) -> Any:
    """What a command line answers: its exit code, and its JSON or the tables of its Markdown."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main(line)
    out.flush()
    text = out.buffer.getvalue().decode()
    said = json.loads(text) if text.startswith("{") else tables(text)
    return {"exit": code, "answer": kept(said)}


def python(call: Callable[[], Any]) -> Any:
    """What a call gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kept(call())


def tables(markdown: str) -> Any:
    """The numbers of Markdown tables, by heading, first cell of the row, and column.

    >>> tables("## Time\\n\\n| Step | Takes |\\n| --- | ---: |\\n| one | 3.5 ms (2 to 4 ms) |\\n")
    {'Time': {'one': {'Takes': [3.5, 2.0, 4.0]}}}
    """
    found: dict[str, Any] = {}
    heading, columns = "", []
    for line in markdown.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        cells = [cell.strip() for cell in line.strip("|").split(" |")] if line[:1] == "|" else []
        if not cells:
            columns = []
        elif not columns:
            columns = cells
        elif set(line) - set("|-: "):
            rows = found.setdefault(heading, {})
            name = cells[0] if cells[0] not in rows else f"{cells[0]} #{len(rows)}"
            rows[name] = dict(zip(columns[1:], map(_cell, cells[1:]), strict=False))
    return found


def _cell(text: str) -> Any:
    """The numbers of a cell, or its word."""
    numbers = [float(each.replace(",", "")) for each in NUMBER.findall(text)]
    return numbers or text


def stored() -> dict[str, Any]:
    """The answers stored."""
    read: dict[str, Any] = json.loads(gzip.decompress(STORE.read_bytes())) if STORE.exists() else {}
    return read


def store(answers: dict[str, Any]) -> None:
    """Write the answers, the same bytes for the same answers."""
    text = json.dumps(answers, sort_keys=True, separators=(",", ":"))
    STORE.write_bytes(gzip.compress(text.encode(), mtime=0))
