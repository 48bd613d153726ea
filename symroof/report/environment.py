"""The Jinja environment, one for all output formats: escapes by default and only sees plain data.

Templates are written with ``<< >>`` and ``<% %>`` so that LaTeX and Markdown braces need no escaping.
"""

import re
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from symroof.report.markup import FORMATS, Code, Math, Ranged, fence
from symroof.resources import data_folder
from symroof.table_formats import UNKNOWN, mostly_numbers

BY_NAME = {output.name: output for output in FORMATS.values()}

WIDE = 30
"""Characters beyond which a LaTeX column wraps."""
FOLDED = 14
"""The same where a table is wider than the page."""
MOST_LINES = 3
"""Maximum lines of a wrapped cell, if its neighbours leave enough width."""
ROOM, CHARACTER, GAP, NARROWEST = 0.975, 0.0092, 0.018, 0.1
"""Shares of a line: usable width, a character, a gap between columns, the minimum of a wrapped column."""
WIDEST_NAME = 34
"""The same for a column of names, which should not be broken."""
COMMAND = re.compile(r"\\[a-z]+\{|\}")
"""LaTeX markup around emphasized words."""


def environment() -> Environment:
    """The environment; which format it writes is the context's ``format_name``."""
    made = Environment(
        loader=FileSystemLoader(data_folder("templates")), undefined=StrictUndefined, autoescape=True, finalize=written, optimized=False,
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
        comment_start_string="<#", comment_end_string="#>", trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.globals["first"] = 1
    made.filters |= {
        "raw": Markup,
        "squeeze": lambda text: Markup(" ".join(str(text).split())),
        "numeric_columns": numeric_columns,
        "column_spec": column_spec,
        "filled": filled,
        "stacked": stacked,
        "ranged": ranged,
        "chained": lambda items, word: Markup(word).join(Markup(item) for item in items),
        "as_code": as_code,
        "fence": fence,
        "zip_same": lambda values: [(value, value) for value in values],
        "joined": joined,
    }
    return made


@pass_context
def written(context: Context, value: Any) -> Markup:
    """Write a value in the current output format."""
    return BY_NAME[context["format_name"]].written(value)


@pass_context
def stacked(context: Context, value: Any) -> Markup:
    return BY_NAME[context["format_name"]].stacked(value)


@pass_context
def as_code(context: Context, text: str) -> Markup:
    return BY_NAME[context["format_name"]].written(Code(text))


@pass_context
def joined(context: Context, items: list[Any], word: str = ", ") -> Markup:
    return Markup(word).join(BY_NAME[context["format_name"]].written(item) for item in items)


def numeric_columns(rows: list[list[Any]]) -> list[bool]:
    """Whether most cells of each column are numbers."""
    columns = list(zip(*rows, strict=True))
    return [
        not any(isinstance(cell, (Code, Math)) for cell in cells)
        and mostly_numbers(list(map(str, cells)))
        for cells in columns
    ]


WITH_RANGE = re.compile(r"(.*\S) \(([^()]+ to [^()]+)\)")


def ranged(text: Any) -> str:
    """Separate the range at the end of a text.

    >>> ranged("above 402.5 GB/s (331.2 to 512.9 GB/s)").ends
    '331.2 to 512.9'
    """
    kind = Markup if isinstance(text, Markup) else str  # the output of a macro is already escaped
    plain = " ".join(str(text).split())
    match = WITH_RANGE.fullmatch(plain)
    return Ranged(kind(match[1]), kind(match[2])) if match else kind(plain)


@pass_context
def filled(context: Context, rows: list[list[Any]], header: list[str]) -> dict[str, list[Any]]:
    """Header and rows of a table without columns that are empty or unknown in every row, as the current format writes them."""
    output = BY_NAME[context["format_name"]]
    telling = [
        i
        for i in range(len(header))
        if not rows or any(output.written(row[i]) not in ("", UNKNOWN) for row in rows)
    ]
    return {
        "header": [header[i] for i in telling],
        "rows": [[row[i] for i in telling] for row in rows],
    }


def column_spec(rows: list[list[Any]], header: list[str]) -> str:
    """LaTeX column specification: numbers right-aligned; the longest columns are wrapped, and share what the others leave."""
    right = numeric_columns(rows) or [False] * len(header)
    longest = [
        max([len(name), *(visible_length(row[i]) for row in rows)]) for i, name in enumerate(header)
    ]
    firm = [any(isinstance(row[i], (Code, Ranged)) for row in rows) for i in range(len(header))]
    order = sorted(range(len(header)), key=lambda i: longest[i] - WIDEST_NAME * firm[i])
    wide = [i for i in order if longest[i] > (WIDEST_NAME if firm[i] else WIDE)]

    def left() -> float:
        taken = sum(size for i, size in enumerate(longest) if i not in wide)
        return ROOM - GAP * len(header) - CHARACTER * taken

    while left() < max(NARROWEST * len(wide), sum(longest[i] for i in wide) * CHARACTER / MOST_LINES) and len(wide) < len(header):  # fmt: skip
        more = [i for i in order if i not in wide and longest[i] > FOLDED]
        if not more:
            break
        wide.append(more[-1])
    total = sum(min(longest[i], 90) for i in wide) or 1
    room = max(left(), NARROWEST * len(wide))
    spec = ["r" if to_right else "l" for to_right in right]
    for i in wide:
        share = room * min(longest[i], 90) / total
        spec[i] = rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\linewidth}}"
    return "".join(spec)


SMALLER = 0.85
"""Relative width of a character in a range."""


def visible_length(cell: Any) -> int:
    """Visible characters of a cell's longest line: markup takes no width, and a range has its own line."""
    if isinstance(cell, Ranged):
        return max(len(cell.value), round(len(cell.ends) * SMALLER))
    return len(re.sub(COMMAND, "", str(cell))) // (2 if isinstance(cell, Math) else 1)
