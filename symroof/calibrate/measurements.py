"""Strict reader of CSV files with measured latencies: every problem is reported with line and column."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
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
COLUMNS = "columns such as prompt,batch,ttft_ms,itl_ms, comma-separated; llama-bench: -o json"
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


def unused_time(what: str, reason: str) -> str:
    """What is said of a time that cannot be compared with a modelled step."""
    return f"{what} is not used: {reason}"


QUEUED = "requests wait for each other before their prefill (queueing); measure with one request at a time"
BATCH_UNKNOWN = (
    "requests arrive at a rate, so the batch of a step is not known; measure at a fixed concurrency"
)
CONCURRENCY, RATE = "concurrency", "arrival_rate"
"""Columns that say how many requests are in flight, or come: of several the times are under load."""


def parse_measured(
    text: str, file: str = "<text>", fitted: Collection[str] = (), own: Declarations = NONE
) -> tuple[list[MeasuredLatency], list[str]]:
    r"""The measurements of a CSV text, in order, and the times that cannot be used.

    ``fitted`` names cannot be columns; ``own`` are the declarations of a study.

    The first line names the columns: inputs, and ``ttft``, ``itl`` or ``sustained_itl``, optionally with a unit for numbers without one
    (``ttft_ms``, ``itl [ms]``); the default of a latency is seconds. Empty lines and lines that start with ``#`` are
    skipped. A latency may be empty, an input may not.

    >>> [(m.metric, m.seconds, dict(m.inputs)) for m in parse_measured("batch,itl_ms\n8,12.5\n")[0]]
    [('itl', Fraction(1, 80), {'batch': Fraction(8, 1)})]
    """
    lines = [
        Line(file, n, line)
        for n, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        message = "has a heading and no rows" if lines else "is empty"
        raise InputError(Problem(file, message, 1, 1, hint=COLUMNS))
    if len(lines) - 1 > MAX_ROWS:
        message = f"has {len(lines) - 1:,} rows; at most {MAX_ROWS:,} are read"
        raise InputError(Problem(file, message, lines[MAX_ROWS + 1].number, 1))
    headings = _headings(lines[0], fitted, own)
    problems: list[Problem] = []
    read: list[MeasuredLatency | str] = []
    for line in lines[1:]:
        try:
            read += _row(line, headings, own)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return told_apart(read, file)


def told_apart(
    read: Iterable[MeasuredLatency | str], file: str
) -> tuple[list[MeasuredLatency], list[str]]:
    """The measurements, and the times that cannot be used.

    Raises:
        InputError: more measurements than are read, or none, with the reasons.
    """
    items = list(read)
    measured = [item for item in items if isinstance(item, MeasuredLatency)]
    unused = [item for item in items if isinstance(item, str)]
    reason = ""
    if not measured:
        reason = "; ".join(dict.fromkeys(unused)) or "has no times"
    if len(measured) > MAX_ROWS * len(METRICS):
        reason = f"has {len(measured):,} times; at most {MAX_ROWS:,} are read"
    if reason:
        raise InputError(Problem(file, reason, 1, 1))
    return measured, unused


@dataclass(frozen=True)
class Line:
    """A line of a file."""

    file: str
    number: int
    text: str

    def problem(self, message: str, column: int = 1, path: str = "", hint: str = "") -> Problem:
        shown = self.text if len(self.text) <= MAX_LINE_LENGTH else ""
        return Problem(self.file, message, self.number, column, path, hint, shown)

    def cells(self) -> list[LocatedText]:
        """The fields without quotes.

        Raises:
            InputError: it is too long, or a quote is open.
        """
        if len(self.text) > MAX_LINE_LENGTH:
            message = f"the line is longer than {MAX_LINE_LENGTH:,} characters"
            raise InputError(self.problem(message))
        cells: list[LocatedText] = []
        at = 0
        while match := CELL.match(self.text, at):
            kind = "plain" if match["quoted"] is None else "quoted"
            cells.append(LocatedText(match[kind].replace('""', '"').strip(), match.start(kind) + 1))
            if match["end"] == "":
                return cells
            at = match.end()
        message = "cannot be read as comma-separated values"
        raise InputError(self.problem(message, at + 1, hint="quote a value at both ends"))


def _headings(line: Line, fitted: Collection[str], own: Declarations) -> list[Column]:
    """The columns.

    Raises:
        InputError: an unknown column, a duplicate, too many columns, or no latency.
    """
    cells = line.cells()
    if len(cells) > MAX_COLUMNS:
        message = f"has {len(cells)} columns; at most {MAX_COLUMNS} are read"
        raise InputError(line.problem(message, hint="are they comma-separated?"))
    problems: list[Problem] = []
    headings: list[Column] = []
    for cell in cells:
        try:
            heading = _heading(cell.text, fitted, own)
            if heading.name in (other.name for other in headings):
                raise ValueError(f"{heading.name} is given twice")
            headings.append(heading)
        except ValueError as error:
            message, _, hint = str(error).partition("; ")
            problems.append(line.problem(message, cell.column, cell.text[:40], hint))
    if not problems and not any(heading.name in METRICS for heading in headings):
        problems.append(line.problem("has no column of a latency", hint=COLUMNS))
    if problems:
        raise InputError(problems)
    return headings


def _heading(text: str, fitted: Collection[str], own: Declarations) -> Column:
    """A column's name and unit: ``itl [ms]``, ``itl_ms``, ``prompt``."""
    match = HEADING.fullmatch(text)
    if match is None:
        raise ValueError(
            f"is not the name of a column; {COLUMNS}" if text else "a column has no name"
        )
    columns = [*INPUTS, *own.known, *ALIASES, *METRICS, "context", CONCURRENCY]

    def known(name: str) -> bool:
        return name in columns[-len(METRICS) - 2 :] or own.input(canonical(name)) is not None

    name, unit = match["name"], match["unit"] or ""
    stem, _, suffix = name.rpartition("_")
    if not known(name) and known(stem) and suffix in UNITS and not unit:
        name, unit = stem, suffix
    if not known(name):
        raise ValueError(f"no such input or latency; {nearest(name, columns)}")
    name = canonical(name)
    if name in fitted:
        raise ValueError(
            "is fitted here, so it cannot be a column; leave it out, or choose the parameters with --fit"
        )
    if unit:  # an error if it has the wrong dimension
        setting(name, f"1 {unit}", formulas=False, own=own)
    return Column(name, unit or ("s" if name in METRICS else ""))


def _row(line: Line, headings: list[Column], own: Declarations) -> Iterator[MeasuredLatency | str]:
    """The latencies of a row; under load a time between tokens is that of a closed loop."""
    cells = line.cells()
    if len(cells) != len(headings):
        message = f"has {len(cells)} values for {len(headings)} columns"
        raise InputError(line.problem(message, cells[-1].column))
    problems: list[Problem] = []
    values: dict[str, Fraction] = {}
    for heading, cell in zip(headings, cells, strict=True):
        try:
            if cell.text or heading.name not in METRICS:
                values[heading.name] = _value(heading, cell.text, own)
        except ValueError as error:
            text = error.items[0][1] if isinstance(error, Faults) else str(error)
            message, hint = split_hint(text)
            problems.append(line.problem(message, cell.column, heading.name, hint))
    if not problems and values.keys().isdisjoint(METRICS):
        problems.append(line.problem("nothing was measured in this row"))
    if problems:
        raise InputError(problems)
    inputs = {name: value for name, value in values.items() if name not in METRICS}
    under_rate = inputs.pop(RATE, None) is not None
    slots = inputs.pop(CONCURRENCY, inputs.get("batch") if under_rate else None)
    several = under_rate or (slots is not None and slots > 1)
    if slots is not None:
        inputs["batch"] = slots
    for heading, cell in zip(headings, cells, strict=True):
        name = heading.name
        if name not in METRICS or name not in values:
            continue
        if several and (name == "ttft" or (slots is None and name != LOOP)):
            reason = BATCH_UNKNOWN if slots is None else QUEUED
            yield unused_time(f"{name} of line {line.number}", reason)
            continue
        metric = LOOP if several else name
        yield MeasuredLatency(metric, values[name], inputs, line.number, cell.column, line.text)


def _value(heading: Column, text: str, own: Declarations) -> Fraction:
    """A number in the column's unit, or with its own."""
    if not text:
        raise ValueError("is empty")
    name = "batch" if heading.name == CONCURRENCY else heading.name
    written = f"{text} {heading.unit}" if heading.unit and BARE.fullmatch(text) else text
    number = setting(name, written, formulas=False, own=own)
    if not is_number(number):
        raise ValueError("one row holds one number, not a range")
    if heading.name in METRICS and number <= 0:
        raise ValueError("must be positive")
    return fraction(number)
