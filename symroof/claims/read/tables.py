"""Tables of a Markdown note: what the head of a column says of the cells under it.

>>> [table] = tables("| batch | cache (GB) |\\n|---|---|\\n| 1 | 1.34 |\\n| 2 | 2.68 |\\n")
>>> [cell.text for cell in table.head], table.unit(1)
(['batch', 'cache (GB)'], 'GB')
"""

import re
from dataclasses import dataclass, replace

from symroof.claims.claim_settings import SETTABLE
from symroof.claims.read.markdown import FORMULA, scanned
from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.written_units import DENOMINATOR, denominators, unit_at
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import ALIASES, INPUTS, canonical
from symroof.units import parse_unit, strict

BAR = re.compile(r"(?<!\\)\|")
UNIT = re.compile(
    r"[(\[]\s*([^()\[\]]{1,40}?)\s*[)\]]|(?:\bin|,|/)\s+([^\s,]{1,30})\s*$|(?:^|\s)([^\s()\[\]]{1,12})\s*$"
)
WORDS = {
    "batch size": "batch",
    "requests": "batch",
    "users": "batch",
    "concurrency": "batch",
    "prompt tokens": "prompt",
    "prompt length": "prompt",
    "input": "prompt",
    "input tokens": "prompt",
    "context length": "context",
    "sequence length": "prompt",
    "output tokens": "output",
    "gpus": "tp",
    "devices": "tp",
    "gpu": "hardware",
    "device": "hardware",
    "accelerator": "hardware",
    "precision": "weights",
    "format": "weights",
    "dtype": "weights",
    "quantization": "weights",
    "quantisation": "weights",
    "quant": "weights",
    "weight format": "weights",
}
"""Heads of columns that name an input in other words."""
LENGTHS = ("context", "peak_context")
"""Derived names that a column states as inputs."""
PRECISIONS = ("weights", "kv", "activations")
WIDTH = re.compile(r"[A-Za-z]|\d+(?:\.\d+)?[ -]?bits?\b", re.IGNORECASE)
COUNTED = ("token", "request", "device")
MOST_ROWS = 200


@dataclass(frozen=True)
class NoteCell:
    """A cell with the place in the file where its text begins."""

    start: int
    text: str


@dataclass(frozen=True)
class NoteTable:
    """A table: the cells of its head and of each row, and where it ends in the file."""

    head: tuple[NoteCell, ...]
    rows: tuple[tuple[NoteCell, ...], ...]
    end: int

    def title(self, column: int) -> str:
        """The text of the head of a column; empty beyond the last."""
        return self.head[column].text if column < len(self.head) else ""

    def unit(self, column: int) -> str:
        """The unit that the head of a column states; empty without one."""
        match = UNIT.search(self.title(column))
        text = next(filter(None, match.groups()), "") if match else ""
        unit, after = unit_at(text, 0)
        alone = not text[after:].strip() or DENOMINATOR.match(text[after:])
        return unit if unit != "x" and alone else ""

    def input(self, column: int) -> str:
        """The input that the head of a column names; empty for none, such as one that has a result under it: ``TPOT (ms)``, ``Weights (GB)``."""
        words = re.sub(r"\(.*?\)|\[.*?\]|[*_`$]", " ", self.title(column)).strip().lower()
        name = WORDS.get(words) or words.replace(" ", "_").replace("-", "_")
        name = canonical(name) if name in ALIASES else name
        if name not in SETTABLE or (name in QUANTITIES and name not in LENGTHS):
            return ""
        unit, symbol = self.unit(column), INPUTS.get(name) or QUANTITIES.get(name)
        if not unit or (name == "hardware" and unit == "device"):
            return name
        return name if symbol is not None and _alike(unit, symbol.unit) else ""

    def number(self, row: int, column: int) -> Figure | None:
        """The number of a cell, with the unit and the denominator that the head states where it has none."""
        cells = self.rows[row]
        numbers = figures(cells[column].text) if column < len(cells) else []
        return self.completed(numbers[0].shifted(cells[column].start), column) if numbers else None

    def completed(self, figure: Figure, column: int) -> Figure:
        """A number of a column with what the head of the column says of it."""
        unit, head = self.unit(column), f" {self.title(column)}"
        behind = DENOMINATOR.search(head)
        of = figure.denominators or (denominators(head, 0, behind.start()) if behind else ())
        if figure.unit or not unit or figure.range_end:
            return replace(figure, denominators=of)
        return replace(figure, unit=unit, text=f"{figure.text} {unit}", denominators=of)

    def column_at(self, place: int, row: int | None) -> int:
        """The column of a place in a row; of the head where ``row`` is None."""
        cells = self.head if row is None else self.rows[row]
        return max((i for i, cell in enumerate(cells) if cell.start <= place), default=0)

    def row_at(self, place: int) -> int | None:
        """The row that contains a place; None for the head."""
        before = (i for i, row in enumerate(self.rows) if row and row[0].start <= place)
        return max(before, default=None)

    def under(self, place: int, unit: str = "") -> list[tuple[Figure, dict[str, object]]]:
        r"""The numbers that an annotation at a place of the head, or of a row's first cell, is about, each with the inputs of its row or column.

        ``unit`` is that of the claim's number, which decides the column where the annotation follows the whole head.

        >>> [table] = tables("| batch | cache (GB) |\n|---|---|\n| 1 | 1.34 |\n| 2 | 2.68 |\n")
        >>> [(figure.text, inputs) for figure, inputs in table.under(12)]
        [('1.34 GB', {'batch': 1}), ('2.68 GB', {'batch': 2})]
        """
        row, found = self.row_at(place), []
        columns = range(len(self.head))
        column = self.column_at(place, row)
        if row is None:
            behind = place >= self.head[-1].start + len(self.head[-1].text)
            fits = [i for i in columns if self.unit(i) and _alike(self.unit(i), unit)]
            column = fits[0] if behind and unit not in ("", "any") and len(fits) == 1 else column
            named = {name: i for i in columns if i != column and (name := self.input(i))}
            for i in range(len(self.rows)):
                inputs = {name: self.value(i, other) for name, other in named.items()}
                stated = {name: value for name, value in inputs.items() if value != ""}
                found.append((self.number(i, column), stated))
        elif column == 0 and (name := self.input(0)):
            for i in columns[1:]:
                if (value := _value(self.head[i].text)) != "":
                    found.append((self.number(row, i), {name: value}))
        return [(figure, inputs) for figure, inputs in found if figure]

    def value(self, row: int, column: int) -> object:
        """A cell as the value of an input, in the unit of its head; empty where there is none, or a size in place of a precision."""
        text = self.rows[row][column].text if column < len(self.rows[row]) else ""
        if FORMULA in text:
            return "…"  # no input can be it: an error, where nothing would be the default
        value, unit = _value(text), self.unit(column)
        if self.input(column) in PRECISIONS and not WIDTH.match(str(value)):
            return ""
        if unit and unit not in COUNTED and re.fullmatch(r"[\d.,]+", str(value)):
            return f"{value} {unit}"
        return value


def _alike(one: str, other: str) -> bool:
    return strict(parse_unit(one).dimension) == strict(parse_unit(other).dimension)


def _value(text: str) -> object:
    """The text of a cell as the value of an input: a whole number, a number with its unit, or a name."""
    text = re.sub(r"[*`$]|(?<!\w)_|_(?!\w)", "", text).strip()
    number = text.replace(",", "")
    return int(number) if number.isdigit() and len(number) < 16 else text


def tables(text: str) -> list[NoteTable]:
    """The tables of a text, without comments and code."""
    found, every = scanned(text), []
    for block in found.blocks:
        line = found.prose[block.start : block.end].rstrip("\r\n")
        if block.kind == "head":
            every.append(NoteTable(_cells(block.start, line), (), block.end))
        elif block.kind == "row" and every and len(every[-1].rows) < MOST_ROWS:
            rows = (*every[-1].rows, _cells(block.start, line))
            every[-1] = replace(every[-1], rows=rows, end=block.end)
    return every


def _cells(start: int, line: str) -> tuple[NoteCell, ...]:
    """The cells of a line between its bars, the text of each without the blanks around it."""
    bars = [match.start() for match in BAR.finditer(line)]
    first = 0 if bars and line[: bars[0]].strip(" \t>") else (bars.pop(0) + 1 if bars else 0)
    edges = [first, *(bar + 1 for bar in bars)]
    ends = [*bars, len(line)]
    cells = [
        NoteCell(
            start + low + len(line[low:high]) - len(line[low:high].lstrip()), line[low:high].strip()
        )
        for low, high in zip(edges, ends, strict=True)
    ]
    return tuple(cells[:-1] if cells and not cells[-1].text and len(cells) > 1 else cells)
