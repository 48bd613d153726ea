"""Recorded requests: the public forms of traces, read strictly and within bounds; every fault with its line."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from symroof.errors import InputError, Problem
from symroof.simulate.workload import LONGEST, MOST_REQUESTS, Workload

LARGEST_FILE, MOST_PROBLEMS = 1 << 30, 20
"""Bytes of a file, faults that are told; the reader itself bounds the length of a field."""

OURS = ("arrival", "prompt", "output")
TABLES = (
    ("timestamp", "contexttokens", "generatedtokens"),
    ("timestamp", "request tokens", "response tokens"),
    OURS,
)
"""The columns that tell a table of requests: Azure's, BurstGPT's, ours."""
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
    reader = csv.reader(lines, strict=True)
    rows: list[Row] = []
    problems: list[Problem] = []
    names: list[str] = []
    empty = 0
    while len(problems) < MOST_PROBLEMS and (requests is None or len(rows) < requests):
        try:
            cells = next(reader, None)
            if cells is None:
                break
            if not "".join(cells).strip():
                continue
            if not names:
                names = _header(cells, file, reader.line_num)
                continue
            row = _row(names, cells)
        except (ValueError, csv.Error) as error:
            problems.append(Problem(file, str(error), reader.line_num, 1))
            continue
        if len(rows) >= MOST_REQUESTS:
            message, hint = (
                f"has more than {MOST_REQUESTS:,} requests",
                "--requests reads the first",
            )
            raise InputError(Problem(file, message, reader.line_num, 1, hint=hint))
        if row.prompt and row.output:
            rows.append(row)
        else:
            empty += 1
    if not problems and not rows:
        message = "has no requests" if names else "is empty"
        problems.append(Problem(file, message, hint=f"a trace has {FORMS_TOLD}"))
    if problems:
        raise InputError(problems)
    return _workload(rows, file, empty)


def _header(cells: list[str], file: str, line: int) -> list[str]:
    """The names of the columns, those of a known form.

    Raises:
        InputError: they are not.
    """
    names = [name.strip().lower() for name in cells]
    message, hint = "", ""
    if not any({*each} <= {*names} for each in TABLES):
        message, hint = "is no trace of a known form", f"there are {FORMS_TOLD}"
    elif doubled := [name for name in names if name and names.count(name) > 1]:
        message = f"the column {doubled[0]} is there twice"
    if message:
        raise InputError(Problem(file, message, line, 1, source=",".join(cells), hint=hint))
    return names


def _row(names: list[str], cells: list[str]) -> Row:
    """A row of a table: when, tokens of the prompt and of the response, and what only our own has."""
    if len(cells) != len(names):
        raise ValueError(f"has {len(cells)} fields, not {len(names)}")
    values = dict(zip(names, cells, strict=True))
    columns = next(each for each in TABLES if {*each} <= {*names})
    when, *lengths = (values[name] for name in columns)
    prompt, output = map(_tokens, lengths)
    if columns != OURS:
        return Row(_moment(when), prompt, output)
    cached = _tokens(values.get("cached_prefix") or "0", "cached_prefix")
    if cached > prompt:
        raise ValueError(f"cached_prefix {cached:,} is more than the prompt, {prompt:,}")
    return Row(_seconds(when), prompt, output, cached)


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
