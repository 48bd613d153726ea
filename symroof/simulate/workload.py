"""The requests of a simulation: when each comes, how long it is, which of its tokens are cached, and whose end it waits for; drawn, or read from a recorded trace."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np

from symroof.errors import InputError, Problem, nearest

OPEN = ("poisson", "bursty", "uniform")
"""Kinds of arrivals that come at a rate, whatever the server does: independent of each other, with gaps of a gamma distribution, evenly spaced."""
ARRIVALS = (*OPEN, "closed-loop", "burst")
"""And of users: met in the middle of their work, each sends the next request when the last has ended; or all at once, to a server that is idle."""
MOST_REQUESTS, LONGEST = 200_000, 10_000_000
"""Requests of a simulation, tokens of one."""
WARMUP = 0.1
"""The share of drawn requests that end first and are not counted; of a burst all are."""

Numbers = Any
"""A NumPy array of numbers."""


@dataclass(frozen=True)
class Length:
    """A distribution of token counts.

    Attributes:
        kind: ``fixed``, ``uniform``, ``lognormal`` or ``exponential``.
        numbers: ``(n,)``; ``(low, high)``; ``(mean, coefficient of variation)``; ``(mean,)``.

    >>> Length.read("lognormal:512,1.2"), Length.read("2048")
    (Length(kind='lognormal', numbers=(512.0, 1.2)), Length(kind='fixed', numbers=(2048.0,)))
    """

    kind: str
    numbers: tuple[float, ...]

    @classmethod
    def read(cls, text: str) -> Length:
        """A distribution as it is written.

        Raises:
            ValueError: it is none.
        """
        kind, mark, rest = text.strip().partition(":")
        if not mark:
            kind, rest = "fixed", kind
        kind = kind.strip().lower()
        if kind not in FORMS:
            raise ValueError(f"no distribution {kind[:40]!r}; {nearest(kind, [*FORMS])}")
        numbers = [_number(part) for part in re.split(r"\.\.|,", rest)]
        if len(numbers) != FORMS[kind][0]:
            raise ValueError(f"is written {FORMS[kind][1]}")
        made = cls(kind, tuple(numbers))
        tokens = numbers[:1] if kind == "lognormal" else numbers
        backwards = kind == "uniform" and numbers[0] > numbers[1]
        if min(tokens) < 1 or max(tokens) > LONGEST or min(numbers) < 0 or backwards:
            raise ValueError(f"lengths are from 1 to {LONGEST:,} tokens")
        return made

    def draw(self, count: int, random: np.random.Generator) -> Numbers:
        """So many whole lengths, from one token on."""
        n = self.numbers
        match self.kind:
            case "uniform":
                drawn = random.integers(round(n[0]), round(n[1]) + 1, count).astype(float)
            case "lognormal":
                spread = math.log1p(n[1] ** 2)
                drawn = random.lognormal(math.log(n[0]) - spread / 2, math.sqrt(spread), count)
            case "exponential":
                drawn = random.exponential(n[0], count)
            case _:
                drawn = np.full(count, n[0])
        return np.clip(np.rint(drawn), 1, LONGEST).astype(np.int64)

    def __str__(self) -> str:
        n = [f"{x:g}" for x in self.numbers]
        if self.kind == "fixed":
            return n[0]
        return f"{self.kind}:{('..' if self.kind == 'uniform' else ',').join(n)}"


FORMS = {
    "fixed": (1, "fixed:TOKENS"),
    "uniform": (2, "uniform:LOW..HIGH"),
    "lognormal": (2, "lognormal:MEAN,CV"),
    "exponential": (1, "exponential:MEAN"),
}
"""How many numbers a distribution has, and how it is written."""


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text.strip()[:40]!r} is not a number")
    return value


@dataclass(frozen=True, eq=False)
class Workload:
    """The requests of one run, in the order in which they come.

    Attributes:
        arrival: seconds from the start; NaN of a request that comes after another.
        prompt, output: tokens.
        cached: prompt tokens that are cached when it comes.
        warmup: how many requests at the start are not counted.
        says: what it is, in words.
        loop: how many are there at first; whose request has ended sends the next of all.
    """

    arrival: Numbers
    prompt: Numbers
    output: Numbers
    cached: Numbers
    warmup: int = 0
    says: tuple[str, ...] = ()
    loop: int = 0

    def __len__(self) -> int:
        return len(self.prompt)


@dataclass(frozen=True)
class Traffic:
    """What is drawn: how requests come, and how long they are.

    Attributes:
        arrivals: a kind of :data:`ARRIVALS`.
        rate: mean requests per second, where they come at a rate.
        users: how many a closed loop has, and how many requests of a burst are there at a time.
        burstiness: coefficient of variation of the gaps between bursty arrivals.
        prompt, output: lengths; a second kind of request with its share, where there is one.
        cached: prompt tokens of every request that are cached.
    """

    arrivals: str
    prompt: Length
    output: Length
    rate: float = 0.0
    users: int = 0
    burstiness: float = 2.0
    cached: int = 0
    mix: tuple[float, Length, Length] | None = None

    def drawn(self, requests: int, random: np.random.Generator) -> Workload:
        """So many requests.

        >>> traffic = Traffic("uniform", Length.read("1024"), Length.read("64"), rate=4.0)
        >>> traffic.drawn(3, np.random.default_rng(1)).arrival.tolist()
        [0.0, 0.25, 0.5]
        """
        prompt, output = self.prompt.draw(requests, random), self.output.draw(requests, random)
        if self.mix:
            other = random.random(requests) < self.mix[0]
            prompt, output = (
                np.where(other, kind.draw(requests, random), own)
                for kind, own in zip(self.mix[1:], (prompt, output), strict=True)
            )
        arrival = np.full(requests, np.nan)
        cached = np.minimum(self.cached, prompt - 1)
        uncounted, users = int(requests * WARMUP), 0
        if self.arrivals == "closed-loop":
            users = min(self.users, requests)
            arrival[:users] = 0.0
            # the server is met in the middle of its work: these are prefilled
            output[:users] = random.integers(1, output[:users] + 1)
            cached[:users] = prompt[:users] - 1
            uncounted = max(uncounted, min(users, requests // 2))
        elif self.arrivals == "burst":
            users, uncounted = min(self.users, requests), 0
            arrival[:users] = 0.0
        else:
            arrival = self._times(requests, random)
        return Workload(arrival, prompt, output, cached, uncounted, self.says(), users)

    def _times(self, count: int, random: np.random.Generator) -> Numbers:
        if self.arrivals == "uniform":
            return np.arange(count) / self.rate
        shape = 1.0 if self.arrivals == "poisson" else self.burstiness**-2
        gaps = random.gamma(shape, 1 / (shape * self.rate), count)
        return np.cumsum(gaps) - gaps[:1]

    def says(self) -> tuple[str, ...]:
        """What it is, in words."""
        again = "each with its next request as soon as the last has ended"
        if self.arrivals == "closed-loop":
            come = f"a closed loop of {self.users:,} users, {again}"
        elif self.arrivals == "burst":
            some = f"{self.users:,} users at once, {again}"
            all_of = some if self.users < MOST_REQUESTS else "all requests at once"
            come = f"a burst to an idle server, {all_of}; its start and its end are counted"
            if all_of == some and self.output.kind == "fixed":
                come += "; responses of one length end together, so that prompts keep arriving together (--lengths spreads them)"
        else:
            come = f"{self.arrivals} arrivals of {self.rate:.4g} requests/s at one replica"
            if self.arrivals == "bursty":
                come += f", coefficient of variation {self.burstiness:g}"
        lengths = f"prompts {self.prompt}, outputs {self.output} tokens"
        if self.mix:
            share, prompt, output = self.mix
            lengths += f"; a share of {share:g} with prompts {prompt}, outputs {output}"
        if self.cached:
            lengths += f"; {self.cached:,} tokens of each prompt are cached"
        return come, lengths


def checked(traffic: Traffic) -> Traffic:
    """Traffic that can be drawn.

    Raises:
        InputError: everything wrong with it.
    """
    kind, comes = traffic.arrivals, traffic.arrivals in OPEN
    problems = []
    if not comes and not 1 <= traffic.users <= MOST_REQUESTS:
        problems.append(Problem("users", f"has to be from 1 to {MOST_REQUESTS:,}"))
    if comes and not 0 < traffic.rate < math.inf:
        hint = "--set arrival_rate=2/s, or --arrivals closed-loop or burst"
        problems.append(Problem("arrival_rate", f"{kind} arrivals need a rate", hint=hint))
    if kind == "bursty" and not 0.01 <= traffic.burstiness <= 100:
        message = "the coefficient of variation has to be from 0.01 to 100"
        problems.append(Problem("burstiness", message))
    if problems:
        raise InputError(problems)
    return traffic


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
    rows: list[tuple[float, int, int, int]] = []  # arrival, prompt, output, cached
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
        except InputError:  # of the head, without which no row can be read
            raise
        except (ValueError, csv.Error) as error:
            problems.append(Problem(file, str(error), reader.line_num, 1))
            continue
        if len(rows) >= MOST_REQUESTS:
            message = f"has more than {MOST_REQUESTS:,} requests: --requests reads the first"
            raise InputError(Problem(file, message, reader.line_num, 1))
        if row[1] and row[2]:
            rows.append(row)
        else:
            empty += 1
    if not problems and not rows:
        message = "has no requests" if names else "is empty"
        problems.append(Problem(file, message, hint=f"a trace has {FORMS_TOLD}"))
    if problems:
        raise InputError(problems)
    rows.sort(key=itemgetter(0))
    arrival, prompt, output, cached = map(np.array, zip(*rows, strict=True))
    arrival = arrival - arrival[0]
    says = [f"{len(rows):,} requests of {os.path.basename(file)} over {arrival[-1]:.4g} s"]
    if empty:
        says.append(f"{empty:,} recorded requests without a prompt or a response are left out")
    # the last token of a prompt is never cached
    return Workload(arrival, prompt, output, np.minimum(cached, prompt - 1), says=tuple(says))


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


def _row(names: list[str], cells: list[str]) -> tuple[float, int, int, int]:
    """A row of a table: when, tokens of the prompt and of the response, and what only our own has."""
    if len(cells) != len(names):
        raise ValueError(f"has {len(cells)} fields, not {len(names)}")
    values = dict(zip(names, cells, strict=True))
    columns = next(each for each in TABLES if {*each} <= {*names})
    when, prompt, output = values[columns[0]], *(_tokens(values[name]) for name in columns[1:])
    if columns != OURS:
        return _moment(when), prompt, output, 0
    cached = _tokens(values.get("cached_prefix") or "0", "cached_prefix")
    if cached > prompt:
        raise ValueError(f"cached_prefix {cached:,} is more than the prompt, {prompt:,}")
    return _seconds(when), prompt, output, cached


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
