"""Recorded requests: the public forms of traces, read strictly and within bounds; every fault with its line."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from symroof.errors import InputError, Problem
from symroof.simulate.workload import LONGEST, MOST_REQUESTS, Workload

LARGEST_FILE, LONGEST_LINE, MOST_PROBLEMS = 1 << 30, 1 << 18, 20
"""Bytes of a file, characters of a line, faults that are told."""
MOONCAKE_BLOCK = 512
"""Tokens of a block that a Mooncake trace has a hash of."""

FORMS_TOLD = "TIMESTAMP,ContextTokens,GeneratedTokens (Azure); Timestamp,Model,Request tokens,Response tokens (BurstGPT); JSON lines with timestamp, \
input_length, output_length (Mooncake); or arrival,prompt,output[,cached_prefix][,priority], in seconds and tokens"


class Row(NamedTuple):
    """One request of a trace; ``blocks`` are the hashes of its prompt's blocks."""

    arrival: float
    prompt: int
    output: int
    cached: int = 0
    priority: int = 0
    blocks: tuple[int, ...] = ()


def read_trace(
    path: str | os.PathLike[str], requests: int | None = None, speed: float = 1.0
) -> Workload:
    """The requests of a trace file, from its first on.

    Azure's LLM inference traces (2023 and 2024), BurstGPT, Mooncake, and columns ``arrival,prompt,output`` with ``cached_prefix`` and ``priority``
    where they are there. Requests without a token of prompt or output (failed ones) are left out and counted in ``says``.

    Args:
        requests: read no more than so many.
        speed: how many times faster than recorded they come.

    Raises:
        InputError: what cannot be read, as ``FILE:LINE``; a file that is too large.
        OSError: the file cannot be opened.
    """
    file = os.fspath(path)
    if os.path.isfile(file) and os.path.getsize(file) > LARGEST_FILE:
        raise InputError(Problem(file, f"is larger than {LARGEST_FILE >> 30} GiB"))
    with open(file, encoding="utf-8-sig", errors="replace", newline="") as lines:
        return parse_trace(lines, file, requests, speed)


def parse_trace(
    lines: Iterable[str], file: str = "<trace>", requests: int | None = None, speed: float = 1.0
) -> Workload:
    r"""The requests in the lines of a trace.

    >>> trace = parse_trace(["TIMESTAMP,ContextTokens,GeneratedTokens\n", "2023-11-16 18:15:46.6805900,374,44\n", "2023-11-16 18:15:50.9951690,396,109\n"])
    >>> trace.arrival.round(3).tolist(), trace.prompt.tolist()
    ([0.0, 4.315], [374, 396])
    """
    if not (math.isfinite(speed) and speed > 0):
        raise InputError(Problem("speed", "has to be above 0"))
    numbered = _bounded(lines, file)
    start = next(numbered, None)
    if start is None:
        raise InputError(Problem(file, "is empty", hint=f"a trace has {FORMS_TOLD}"))
    read = _form(file, *start)
    rows: list[Row] = []
    problems: list[Problem] = []
    empty = 0
    for number, line in chain([start] if read is _mooncake else [], numbered):
        if (requests is not None and len(rows) >= requests) or len(problems) >= MOST_PROBLEMS:
            break
        if len(rows) >= MOST_REQUESTS:
            message = f"has more than {MOST_REQUESTS:,} requests"
            hint = "--requests reads the first of them"
            raise InputError(Problem(file, message, number, 1, hint=hint))
        try:
            row = read(line)
        except (ValueError, RecursionError, csv.Error) as error:
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
    return _workload(rows, file, speed, empty)


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
    if line.lstrip().startswith("{"):
        return _mooncake
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
    cached, priority = (_tokens(cells.get(n) or "0", n) for n in ("cached_prefix", "priority"))
    if cached > lengths[0]:
        raise ValueError(f"cached_prefix {cached:,} is more than the prompt, {lengths[0]:,}")
    return Row(_seconds(when), *lengths, cached, priority)


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


def _mooncake(line: str) -> Row:
    """A line of JSON: milliseconds, lengths, and a hash of every block of the prompt."""

    def constant(text: str) -> Any:
        raise ValueError(f"{text} is not a number")

    value = json.loads(line, parse_constant=constant)
    if not isinstance(value, dict):
        raise ValueError("is not a JSON object")
    missing = [x for x in ("timestamp", "input_length", "output_length") if x not in value]
    if missing:
        raise ValueError(f"has no {missing[0]}")
    hashes = value.get("hash_ids", [])
    if not isinstance(hashes, list) or not all(type(each) is int for each in hashes):
        raise ValueError("hash_ids is not a list of whole numbers")
    prompt, output = (_tokens(value[name], name) for name in ("input_length", "output_length"))
    return Row(_seconds(value["timestamp"]) / 1000, prompt, output, blocks=tuple(hashes))


def _tokens(value: Any, name: str = "tokens") -> int:
    """A whole number of tokens."""
    number = _seconds(value, name)
    if number != int(number) or not 0 <= number <= LONGEST:
        raise ValueError(f"{name} are whole numbers up to {LONGEST:,}, not {str(value)[:40]}")
    return int(number)


def _seconds(value: Any, name: str = "timestamp") -> float:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{name} is not a number")
    try:
        number = float(value) if str(value).isascii() else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not abs(number) < 1e15:
        raise ValueError(f"{name} {str(value)[:40]!r} is not a number")
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


def _workload(rows: list[Row], file: str, speed: float, empty: int) -> Workload:
    """The requests in order of arrival; a block that came before is cached."""
    rows.sort(key=lambda row: row.arrival)
    start, seen = rows[0].arrival, set[int]()
    cached = []
    for row in rows:
        hits = next((i for i, block in enumerate(row.blocks) if block not in seen), len(row.blocks))
        cached.append(max(row.cached, hits * MOONCAKE_BLOCK))
        seen.update(row.blocks)
    lasting = (rows[-1].arrival - start) / speed
    says = [f"{len(rows):,} requests of {os.path.basename(file)} over {lasting:.4g} s"]
    if speed != 1:
        says.append(f"{speed:g} times as fast as recorded")
    if empty:
        says.append(f"{empty:,} recorded requests without a prompt or a response are left out")
    if seen:
        says.append(
            f"blocks of {MOONCAKE_BLOCK} tokens whose hash came before are cached: no cache is ever too small for them"
        )
    arrival = [(row.arrival - start) / speed for row in rows]
    prompt, output = [row.prompt for row in rows], [row.output for row in rows]
    return Workload.of(arrival, prompt, output, cached, [row.priority for row in rows], 0, says)
