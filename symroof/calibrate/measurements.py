"""Strict reader of CSV files with measured latencies: every problem is reported with line and column."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from symroof.errors import InputError, LocatedText, Problem, nearest, split_hint
from symroof.specs.fields import Faults
from symroof.specs.input_values import setting
from symroof.symbolic.expressions import fraction, is_number
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.symbols import ALIASES, INPUTS, canonical
from symroof.units import UNITS

LOOP = "sustained_itl"
"""The time between tokens of a closed loop: requests that come one after another, so many in flight."""
METRICS = {"ttft": "prefill", "itl": "decode", LOOP: "decode"}
"""Measured latency -> the step that takes this time."""
MAX_ROWS, MAX_COLUMNS, MAX_LINE_LENGTH = 1_000, 64, 4_096

CELL = re.compile(r'[ \t]*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<plain>[^,"]*?))[ \t]*(?P<end>,|$)')
HEADING = re.compile(r"(?P<name>[A-Za-z]\w*)\s*(?:[\[(]\s*(?P<unit>[^\[\]()]+?)\s*[\])])?")
BARE = re.compile(r"[-+\d.,_]+(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Column:
    """A column: its symbol, and the unit of numbers without one."""

    name: str
    unit: str = ""


@dataclass(frozen=True)
class MeasuredLatency:
    """A measured latency.

    Attributes:
        metric: ``ttft``, ``itl`` or ``sustained_itl``, the time between tokens of a closed loop.
        seconds: what was measured.
        inputs: the inputs of its row by name, in base units.
        line, column: its position in the file.
        source: the line as written.
    """

    metric: str
    seconds: Fraction
    inputs: Mapping[str, Fraction] = field(hash=False)
    line: int
    column: int
    source: str = ""


@dataclass(frozen=True)
class UnusedTime:
    """A time that cannot be compared with a modelled step, and why."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what} is not used: {self.reason}"


QUEUED = "requests wait for each other before their prefill (queueing); measure with one request at a time"
BATCH_UNKNOWN = (
    "requests arrive at a rate, so the batch of a step is not known; measure at a fixed concurrency"
)
CONCURRENCY, RATE = "concurrency", "arrival_rate"
"""Columns that say how many requests are in flight, or come: of several the times are under load."""


def parse_measured(
    text: str, file: str = "<text>", fitted: Collection[str] = (), own: Declarations = NONE
) -> tuple[list[MeasuredLatency], list[UnusedTime]]:
    r"""The measurements of a CSV text, in order, and the times that cannot be used.

    ``fitted`` names cannot be columns; ``own`` are the declarations of a study.

    The first line names the columns: inputs, and ``ttft``, ``itl`` or ``sustained_itl``, optionally with a unit for numbers without one
    (``ttft_ms``, ``itl [ms]``); the default of a latency is seconds. Empty lines and lines that start with ``#`` are
    skipped. A latency may be empty, an input may not.

    >>> [(m.metric, m.seconds, dict(m.inputs)) for m in parse_measured("batch,itl_ms\n8,12.5\n")[0]]
    [('itl', Fraction(1, 80), {'batch': Fraction(8, 1)})]
    """
    lines = [
        (n, line)
        for n, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise InputError(
            Problem(
                file,
                "is empty" if not lines else "has a heading and no rows",
                1,
                1,
                hint="columns such as prompt,batch,ttft_ms,itl_ms",
            )
        )
    if len(lines) - 1 > MAX_ROWS:
        raise InputError(
            Problem(
                file,
                f"has {len(lines) - 1:,} rows; at most {MAX_ROWS:,} are read",
                lines[MAX_ROWS + 1][0],
                1,
            )
        )
    problems: list[Problem] = []
    headings = _headings(file, *lines[0], fitted, own)
    read: list[MeasuredLatency | UnusedTime] = []
    for number, line in lines[1:]:
        try:
            read += _row(file, number, line, headings, own)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return told_apart(read, file)


def told_apart(
    read: Iterable[MeasuredLatency | UnusedTime], file: str
) -> tuple[list[MeasuredLatency], list[UnusedTime]]:
    """The measurements, and the times that cannot be used.

    Raises:
        InputError: more measurements than are read, or none, with the reasons.
    """
    items = list(read)
    measured = [item for item in items if isinstance(item, MeasuredLatency)]
    unused = [item for item in items if isinstance(item, UnusedTime)]
    reason = ""
    if not measured:
        reason = "; ".join(dict.fromkeys(map(str, unused))) or "has no times"
    if len(measured) > MAX_ROWS * len(METRICS):
        reason = f"has {len(measured):,} times; at most {MAX_ROWS:,} are read"
    if reason:
        raise InputError(Problem(file, reason, 1, 1))
    return measured, unused


def _cells(file: str, number: int, line: str) -> list[LocatedText]:
    """The fields of a line without quotes."""
    if len(line) > MAX_LINE_LENGTH:
        raise InputError(
            Problem(file, f"the line is longer than {MAX_LINE_LENGTH:,} characters", number, 1)
        )
    cells: list[LocatedText] = []
    at = 0
    while True:
        match = CELL.match(line, at)
        if match is None:
            raise InputError(
                Problem(
                    file,
                    "cannot be read as comma-separated values",
                    number,
                    at + 1,
                    source=line,
                    hint="quote a value at both ends",
                )
            )
        kind = "plain" if match["quoted"] is None else "quoted"
        cells.append(LocatedText(match[kind].replace('""', '"').strip(), match.start(kind) + 1))
        if match["end"] == "":
            return cells
        at = match.end()


def _headings(
    file: str, number: int, line: str, fitted: Collection[str], own: Declarations
) -> list[Column]:
    """The columns.

    Raises:
        InputError: an unknown column, a duplicate, too many columns, or no latency.
    """
    cells = _cells(file, number, line)
    problems: list[Problem] = []
    headings: list[Column] = []
    for cell in cells[: MAX_COLUMNS + 1]:
        try:
            heading = _heading(cell.text, fitted, own)
            if heading.name in (other.name for other in headings):
                raise ValueError(f"{heading.name} is given twice")
            headings.append(heading)
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            problems.append(Problem(file, message, number, cell.column, cell.text[:40], hint, line))
    if len(cells) > MAX_COLUMNS:
        problems = [
            Problem(
                file,
                f"has {len(cells)} columns; at most {MAX_COLUMNS} are read",
                number,
                1,
                hint="are they comma-separated?",
                source=line,
            )
        ]
    elif not problems and not any(heading.name in METRICS for heading in headings):
        problems = [
            Problem(
                file,
                "has no column of a latency",
                number,
                1,
                hint="ttft_ms, itl_ms or both; columns are comma-separated",
                source=line,
            )
        ]
    if problems:
        raise InputError(problems)
    return headings


def _heading(text: str, fitted: Collection[str], own: Declarations) -> Column:
    """A column's name and unit: ``itl [ms]``, ``itl_ms``, ``prompt``."""
    match = HEADING.fullmatch(text)
    if match is None:
        raise ValueError(
            f"is not the name of a column; {_column_hint(text)}" if text else "a column has no name"
        )
    name, unit = match["name"], match["unit"] or ""
    stem, _, suffix = name.rpartition("_")
    if not _known(name, own) and _known(stem, own) and suffix in UNITS and not unit:
        name, unit = stem, suffix
    if not _known(name, own):
        raise ValueError(
            f"no such input or latency; {nearest(name, [*INPUTS, *ALIASES, *METRICS, 'context', *own])}"
        )
    name = canonical(name)
    if name in fitted:
        raise ValueError(
            "is fitted here, so it cannot be a column; leave it out, or choose the parameters with --fit"
        )
    if unit:
        setting(
            name, f"1 {unit}", formulas=False, own=own
        )  # raises an error if the unit has the wrong dimension
    return Column(name, unit or ("s" if name in METRICS else ""))


BENCHMARK_WORDS = {
    "ttft": "ttft",
    "first token": "ttft",
    "itl": "itl",
    "inter-token": "itl",
    "tpot": "itl",
    "output token": "itl",
}
"""Latency names in benchmark reports -> their names here. The mean over a response is a step at its middle context."""


def _column_hint(text: str) -> str:
    """A hint how to name a column whose heading is a phrase.

    >>> _column_hint("Median TTFT (ms)")
    'is it ttft? write ttft_ms'
    """
    metric = next((name for words, name in BENCHMARK_WORDS.items() if words in text.lower()), None)
    unit = next(
        (
            word
            for word in re.findall(r"[^\W\d_]+", text)
            if word in UNITS and UNITS[word][1] == UNITS["s"][1]
        ),
        "ms",
    )
    return (
        f"is it {metric}? write {metric}_{unit}"
        if metric
        else "a name and its unit, such as ttft_ms or itl [ms]"
    )


def _known(name: str, own: Declarations) -> bool:
    return own.input(canonical(name)) is not None or name in (*METRICS, "context", CONCURRENCY)


def _row(
    file: str, number: int, line: str, headings: list[Column], own: Declarations
) -> list[MeasuredLatency | UnusedTime]:
    """The latencies of a row; under load a time between tokens is that of a closed loop."""
    cells = _cells(file, number, line)
    if len(cells) != len(headings):
        raise InputError(
            Problem(
                file,
                f"has {len(cells)} values for {len(headings)} columns",
                number,
                cells[-1].column,
                source=line,
            )
        )
    problems: list[Problem] = []
    values: dict[str, Fraction] = {}
    for heading, cell in zip(headings, cells, strict=True):
        try:
            if cell.text or heading.name not in METRICS:
                values[heading.name] = _value(heading, cell.text, own)
        except ValueError as error:
            message, hint = split_hint(
                error.items[0][1] if isinstance(error, Faults) else str(error)
            )
            problems.append(Problem(file, message, number, cell.column, heading.name, hint, line))
    if not problems and not any(name in METRICS for name in values):
        problems.append(Problem(file, "nothing was measured in this row", number, 1, source=line))
    if problems:
        raise InputError(problems)
    inputs = {name: value for name, value in values.items() if name not in METRICS}
    places = {heading.name: cell.column for heading, cell in zip(headings, cells, strict=True)}
    slots = inputs.pop(CONCURRENCY, inputs.get("batch") if RATE in inputs else None)
    several = RATE in inputs or (slots is not None and slots > 1)
    inputs.pop(RATE, None)
    read: list[MeasuredLatency | UnusedTime] = []
    for name in METRICS:
        if name not in values:
            continue
        if several and (name == "ttft" or slots is None):
            reason = QUEUED if slots is not None else BATCH_UNKNOWN
            read.append(UnusedTime(f"{name} of line {number}", reason))
            continue
        own_inputs = inputs if slots is None else {**inputs, "batch": slots}
        metric = LOOP if several else name
        place = places[name]
        read.append(MeasuredLatency(metric, values[name], own_inputs, number, place, line))
    return read


def _value(heading: Column, text: str, own: Declarations) -> Fraction:
    """A number in the column's unit, or with its own."""
    if not text:
        raise ValueError("is empty")
    number = setting(
        "batch" if heading.name == CONCURRENCY else heading.name,
        f"{text} {heading.unit}" if heading.unit and BARE.fullmatch(text) else text,
        formulas=False,
        own=own,
    )
    if not is_number(number):
        raise ValueError("one row holds one number, not a range")
    if heading.name in METRICS and number <= 0:
        raise ValueError("must be positive")
    return fraction(number)
