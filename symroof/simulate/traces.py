"""Recorded requests: the public forms of traces, read strictly and within bounds; every fault with its line."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple

from symroof.errors import InputError, Problem
from symroof.simulate.workload import LONGEST, MOST_REQUESTS, Workload

LARGEST_FILE, LONGEST_LINE, MOST_PROBLEMS = 1 << 30, 1 << 18, 20
"""Bytes of a file, characters of a line, faults that are told."""

FORMS_TOLD = (
    "TIMESTAMP,ContextTokens,GeneratedTokens (Azure); Timestamp,Model,Request tokens,Response tokens (BurstGPT); or \
arrival,prompt,output[,cached_prefix], in seconds and tokens"
)


class Row(NamedTuple):
    """One request of a trace."""

    arrival: float
    prompt: int
    output: int
    cached: int = 0


def read_trace(path: str | os.PathLike[str], requests: int | None = None) -> Workload:
    """The requests of a trace file, from its first on.

    Azure's LLM inference traces (2023 and 2024), BurstGPT, and columns ``arrival,prompt,output`` with ``cached_prefix`` where it is there. Requests without a token of prompt or output (failed ones) are left out and counted in ``says``.

    Args:
        requests: read no more than so many.

    Raises:
        InputError: what cannot be read, as ``FILE:LINE``; a file that is too large.
        OSError: the file cannot be opened.
    """
    file = os.fspath(path)
    if os.path.isfile(file) and os.path.getsize(file) > LARGEST_FILE:
        raise InputError(Problem(file, f"is larger than {LARGEST_FILE >> 30} GiB"))
    with open(file, encoding="utf-8-sig", errors="replace", newline="") as lines:
        return parse_trace(lines, file, requests)


def parse_trace(
    lines: Iterable[str], file: str = "<trace>", requests: int | None = None
) -> Workload:
    r"""The requests in the lines of a trace.

    >>> trace = parse_trace(["TIMESTAMP,ContextTokens,GeneratedTokens\n", "2023-11-16 18:15:46.6805900,374,44\n", "2023-11-16 18:15:50.9951690,396,109\n"])
    >>> trace.arrival.round(3).tolist(), trace.prompt.tolist()
    ([0.0, 4.315], [374, 396])
    """
    numbered = _bounded(lines, file)
    start = next(numbered, None)
    if start is None:
        raise InputError(Problem(file, "is empty", hint=f"a trace has {FORMS_TOLD}"))
    read = _form(file, *start)
    rows: list[Row] = []
    problems: list[Problem] = []
    empty = 0
    for number, line in numbered:
        if (requests is not None and len(rows) >= requests) or len(problems) >= MOST_PROBLEMS:
            break
        if len(rows) >= MOST_REQUESTS:
            message = f"has more than {MOST_REQUESTS:,} requests"
            hint = "--requests reads the first of them"
            raise InputError(Problem(file, message, number, 1, hint=hint))
        try:
            row = read(line)
        except (ValueError, csv.Error) as error:
            message = str(error) or "cannot be read"
            problems.append(Problem(file, message, number, 1, source=line.rstrip("\r\n")))
            continue
        if row.prompt and row.output:
            rows.append(row)
        else:
            empty += 1
    if problems:
        raise InputError(problems)
    if not rows:
        raise InputError(Problem(file, "has no requests"))
    return _workload(rows, file, empty)


def _bounded(lines: Iterable[str], file: str) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    read = lines.readline if hasattr(lines, "readline") else None
    source = iter(lambda: read(LONGEST_LINE + 1), "") if read else iter(lines)
    for number, line in enumerate(source, 1):
        if len(line) > LONGEST_LINE:
            message = f"the line is longer than {LONGEST_LINE:,} characters"
            raise InputError(Problem(file, message, number, 1))
        if line.strip():
            yield number, line


def _form(file: str, number: int, line: str) -> Callable[[str], Row]:
    """What reads a line of a trace, by its first line."""
    hint = ""
    try:
        names = [name.strip().lower() for name in _cells(line)]
        columns = next((each for each in TABLES if {*each} <= {*names}), None)
        doubled = next((name for name in names if name and names.count(name) > 1), None)
        if columns and not doubled:
            return partial(_of_table, columns, names)
        message = (
            f"the column {doubled} is there twice" if columns else "is no trace of a known form"
        )
        hint = "" if columns else f"there are {FORMS_TOLD}"
    except csv.Error as error:
        message = str(error)
    raise InputError(Problem(file, message, number, 1, source=line.rstrip("\r\n"), hint=hint))


def _of_table(columns: tuple[str, str, str], names: list[str], line: str) -> Row:
    """A row of a table: when, tokens of the prompt and of the response, and what only our own has."""
    cells = dict(zip(names, _cells(line, len(names)), strict=True))
    when, prompt, output = (cells[name] for name in columns)
    lengths = (_tokens(prompt), _tokens(output))
    if columns != OURS:
        return Row(_moment(when), *lengths)
    cached = _tokens(cells.get("cached_prefix") or "0", "cached_prefix")
    if cached > lengths[0]:
        raise ValueError(f"cached_prefix {cached:,} is more than the prompt, {lengths[0]:,}")
    return Row(_seconds(when), *lengths, cached)


def _cells(line: str, count: int | None = None) -> list[str]:
    cells = next(csv.reader([line.rstrip("\r\n")], strict=True), [])
    if count is not None and len(cells) != count:
        raise ValueError(f"has {len(cells)} fields, not {count}")
    return cells


OURS = ("arrival", "prompt", "output")
TABLES = (
    ("timestamp", "contexttokens", "generatedtokens"),
    ("timestamp", "request tokens", "response tokens"),
    OURS,
)
"""The columns that tell a table of requests: Azure's, BurstGPT's, ours."""


def _tokens(value: str, name: str = "tokens") -> int:
    """A whole number of tokens."""
    number = _seconds(value, name)
    if number != int(number) or not 0 <= number <= LONGEST:
        raise ValueError(f"{name} are whole numbers up to {LONGEST:,}, not {value[:40]}")
    return int(number)


def _seconds(value: str, name: str = "timestamp") -> float:
    try:
        number = float(value) if value.isascii() else math.nan
    except ValueError:
        number = math.nan
    if not abs(number) < 1e15:
        raise ValueError(f"{name} {value[:40]!r} is not a number")
    return number


def _moment(text: str) -> float:
    """Seconds of a date and time, whatever digits its seconds have; also plain seconds."""
    text = text.strip()
    parts = re.fullmatch(r"([^.]*)\.(\d+)(.*)", text)
    whole, digits, zone = parts.groups() if parts else (text, "0", "")
    try:
        moment = datetime.fromisoformat(whole + zone)
    except ValueError:
        return _seconds(text)
    start = datetime(1970, 1, 1, tzinfo=moment.tzinfo)
    return (moment - start).total_seconds() + float(f"0.{digits[:12]}")


def _workload(rows: list[Row], file: str, empty: int) -> Workload:
    """The requests in order of arrival."""
    rows.sort(key=lambda row: row.arrival)
    start = rows[0].arrival
    says = [
        f"{len(rows):,} requests of {os.path.basename(file)} over {rows[-1].arrival - start:.4g} s"
    ]
    if empty:
        says.append(f"{empty:,} recorded requests without a prompt or a response are left out")
    arrival = [row.arrival - start for row in rows]
    prompt, output = [row.prompt for row in rows], [row.output for row in rows]
    return Workload.of(arrival, prompt, output, [row.cached for row in rows], says)
