"""Tables of a Markdown note: what the head of a column says of the cells under it, and which rows and columns are sums.

>>> [table] = tables("| batch | cache (GB) |\\n|---|---|\\n| 1 | 1.34 |\\n| 2 | 2.68 |\\n| total | 4.02 |\\n")
>>> [cell.text for cell in table.head], table.unit(1), [one.text for one in table.sums()]
(['batch', 'cache (GB)'], 'GB', ['1.34 + 2.68'])
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from symroof.claims.claim_settings import SETTABLE
from symroof.claims.read.markdown import FORMULA, scanned
from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.spelled_arithmetic import Equation
from symroof.claims.read.written_units import DENOMINATOR, denominators, unit_at
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import ALIASES, INPUTS, canonical
from symroof.units import parse_unit, strict

BAR = re.compile(r"(?<!\\)\|")
UNIT = re.compile(
    r"[(\[]\s*([^()\[\]]{1,40}?)\s*[)\]]|(?:\bin|,|/)\s+([^\s,]{1,30})\s*$|(?:^|\s)([^\s()\[\]]{1,12})\s*$"
)
TOTAL = re.compile(
    r"\W*(?:grand\s+)?(?:total|sum|together|all)\b\W*(?:\(.{0,30}\))?\W*$", re.IGNORECASE
)
WORDS = {
    "batch size": "batch", "requests": "batch", "users": "batch", "concurrency": "batch", "prompt tokens": "prompt", "prompt length": "prompt", "input": "prompt",
    "input tokens": "prompt", "context length": "context", "sequence length": "prompt", "output tokens": "output", "gpus": "tp", "devices": "tp", "gpu": "hardware",
    "device": "hardware", "accelerator": "hardware", "precision": "weights", "format": "weights", "dtype": "weights",
    "quantization": "weights", "quantisation": "weights", "quant": "weights", "weight format": "weights",
}  # fmt: skip
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

    def unit(self, column: int) -> str:
        """The unit that the head of a column states; empty without one."""
        match = UNIT.search(self.head[column].text) if column < len(self.head) else None
        text = next(filter(None, match.groups()), "") if match else ""
        unit, after = unit_at(text, 0)
        rest = text[after:]
        return (
            unit if unit not in ("", "x") and (not rest.strip() or DENOMINATOR.match(rest)) else ""
        )

    def input(self, column: int) -> str:
        """The input that the head of a column names; empty for none, such as one that has a result under it: ``TPOT (ms)``, ``Weights (GB)``."""
        words = (
            re.sub(
                r"\(.*?\)|\[.*?\]|[*_`$]",
                " ",
                self.head[column].text if column < len(self.head) else "",
            )
            .strip()
            .lower()
        )
        name = WORDS.get(words) or words.replace(" ", "_").replace("-", "_")
        name = canonical(name) if name in ALIASES else name
        if name not in SETTABLE or (name in QUANTITIES and name not in LENGTHS):
            return ""
        unit, symbol = self.unit(column), INPUTS.get(name) or QUANTITIES.get(name)
        fits = (
            not unit
            or (name == "hardware" and unit == "device")
            or (
                symbol is not None
                and strict(parse_unit(unit).dimension) == strict(parse_unit(symbol.unit).dimension)
            )
        )
        return name if fits else ""

    def number(self, row: int, column: int) -> Figure | None:
        """The number of a cell, with the unit and the denominator that the head states where it has none."""
        cells = self.rows[row]
        numbers = figures(cells[column].text) if column < len(cells) else []
        return self.completed(numbers[0].shifted(cells[column].start), column) if numbers else None

    def completed(self, figure: Figure, column: int) -> Figure:
        """A number of a column with what the head of the column says of it."""
        unit, head = self.unit(column), self.head[column].text if column < len(self.head) else ""
        behind = DENOMINATOR.search(f" {head}")
        of = figure.denominators or (denominators(f" {head}", 0, behind.start()) if behind else ())
        if figure.unit or not unit or figure.range_end:
            return replace(figure, denominators=of)
        return replace(figure, unit=unit, text=f"{figure.text} {unit}", denominators=of)

    def column_at(self, place: int, row: int | None) -> int:
        """The column of a place in a row; of the head where ``row`` is None."""
        cells = self.head if row is None else self.rows[row]
        return max((i for i, cell in enumerate(cells) if cell.start <= place), default=0)

    def row_at(self, place: int) -> int | None:
        """The row that contains a place; None for the head."""
        return max(
            (i for i, row in enumerate(self.rows) if row and row[0].start <= place), default=None
        )

    def fitting(self, place: int, unit: str) -> int:
        """The column of the head that an annotation at a place is about: its own, or, behind the whole head, the only one whose unit fits."""
        own, last = self.column_at(place, None), self.head[-1]
        if place < last.start + len(last.text) or not unit:
            return own
        needed = parse_unit(unit).dimension if unit != "any" else ()
        fits = [
            i
            for i in range(len(self.head))
            if (named := self.unit(i)) and strict(parse_unit(named).dimension) == strict(needed)
        ]
        return fits[0] if len(fits) == 1 else own

    def under(self, place: int, unit: str = "") -> list[tuple[Figure, dict[str, object]]]:
        r"""The numbers that an annotation at a place of the head, or of a row's first cell, is about, each with the inputs of its row or column.

        ``unit`` is that of the claim's number, which decides the column where the annotation follows the whole head.

        >>> [table] = tables("| batch | cache (GB) |\n|---|---|\n| 1 | 1.34 |\n| 2 | 2.68 |\n")
        >>> [(figure.text, inputs) for figure, inputs in table.under(12)]
        [('1.34 GB', {'batch': 1}), ('2.68 GB', {'batch': 2})]
        """
        row = self.row_at(place)
        column = self.column_at(place, row) if row is not None else self.fitting(place, unit)
        if row is None:
            named = {
                name: other
                for other in range(len(self.head))
                if other != column and (name := self.input(other))
            }
            cells = [
                (
                    self.number(i, column),
                    {
                        name: value
                        for name, other in named.items()
                        if (value := self.value(i, other)) != ""
                    },
                )
                for i in range(len(self.rows))
            ]
            return [(figure, inputs) for figure, inputs in cells if figure]
        if column == 0 and (name := self.input(0)):
            cells = [
                (
                    self.number(row, i),
                    {name: value} if (value := _value(self.head[i].text)) != "" else {},
                )
                for i in range(1, len(self.head))
            ]
            return [(figure, inputs) for figure, inputs in cells if figure and inputs]
        return []

    def value(self, row: int, column: int) -> object:
        """A cell as the value of an input, in the unit of its head; empty where there is none, or a size in place of a precision."""
        text = self.rows[row][column].text if column < len(self.rows[row]) else ""
        if FORMULA in text:
            return "…"  # no input can be it: an error, where nothing would be the default
        value = _value(text)
        if self.input(column) in PRECISIONS and not WIDTH.match(str(value)):
            return ""
        unit = self.unit(column)
        if unit and unit not in COUNTED and re.fullmatch(r"[\d.,]+", str(value)):
            return f"{value} {unit}"
        return value

    def sums(self) -> Iterator[Equation]:
        """The sums that the table states: a last row, and a column, that is called a total."""
        if len(self.rows) > 2 and TOTAL.match(self.rows[-1][0].text):
            for column in range(1, len(self.head)):
                above = [self.number(row, column) for row in range(len(self.rows) - 1)]
                yield from _sum(above, self.number(len(self.rows) - 1, column))
        for column in range(2, len(self.head)):
            if TOTAL.match(self.head[column].text):
                for row in range(len(self.rows)):
                    yield from _sum(
                        [self.number(row, other) for other in range(1, column)],
                        self.number(row, column),
                    )


def _value(text: str) -> object:
    """The text of a cell as the value of an input: a whole number, a number with its unit, or a name."""
    text = re.sub(r"[*`$]|(?<!\w)_|_(?!\w)", "", text).strip()
    number = text.replace(",", "")
    return int(number) if number.isdigit() and len(number) < 16 else text


def _sum(parts: list[Figure | None], total: Figure | None) -> Iterator[Equation]:
    """The sum of some numbers of one unit; a part that has no number, or another unit, makes none."""
    known = [part for part in parts if part is not None]
    if (
        total is None
        or len(known) < len(parts)
        or len(known) < 2
        or total.range_end
        or not total.unit
    ):
        return
    if any(
        part.unit != total.unit or part.range_end or part.qualifier not in ("", "about")
        for part in known
    ):
        return
    numbers = [Fraction(part.number.replace(",", "")) for part in known]
    source = "+".join(f"({number.numerator}/{number.denominator})" for number in numbers)
    yield Equation(tuple(known), total, (source, source), " + ".join(part.digits for part in known))


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
