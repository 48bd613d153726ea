"""Rendering a review from its data and templates; PDF if pdflatex is installed.

One Jinja environment serves all output formats: it escapes by default and only sees plain data. Templates are written with ``<< >>`` and ``<% %>`` so that
LaTeX and Markdown braces need no escaping.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from symroof.errors import InputError, Problem
from symroof.report.markup import FORMATS, Code, Math, Ranged, fence
from symroof.resources import data_folder
from symroof.table_formats import UNKNOWN, mostly_numbers

if TYPE_CHECKING:
    from jinja2 import Template


BY_NAME = {output.name: output for output in FORMATS.values()}

WIDE, FOLDED = 30, 14
"""Characters beyond which a LaTeX column wraps, and beyond which it does where a table is wider than the page."""
ROOM, CHARACTER, GAP, NARROWEST = 0.975, 0.0092, 0.018, 0.1
"""Shares of a line: usable width, a character, a gap between columns, the minimum of a wrapped column."""
MOST = 90
"""Characters of a column that count for its share of a line."""
COMMAND = re.compile(r"\\[a-z]+\{|\}")
"""LaTeX markup around emphasized words."""


def environment() -> Environment:
    """The environment; which format it writes is the context's ``format_name``."""
    made = Environment(
        loader=FileSystemLoader(data_folder("templates")),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=written,
        optimized=False,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"first": 1, "code": Code}
    made.filters |= {
        "raw": Markup,
        "squeeze": lambda text: Markup(" ".join(str(text).split())),
        "numeric_columns": numeric_columns,
        "column_spec": column_spec,
        "filled": filled,
        "stacked": stacked,
        "chained": lambda items, word: Markup(word).join(Markup(item) for item in items),
        "fence": fence,
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


@pass_context
def filled(context: Context, rows: list[list[Any]], header: list[str]) -> dict[str, list[Any]]:
    """Header and rows of a table without columns that are empty or unknown in every row, as the current format writes them."""
    telling = [
        i
        for i in range(len(header))
        if not rows or any(written(context, row[i]) not in ("", UNKNOWN) for row in rows)
    ]
    kept = [[row[i] for i in telling] for row in rows]
    return {"header": [header[i] for i in telling], "rows": kept}


def column_spec(rows: list[list[Any]], header: list[str]) -> str:
    """LaTeX column specification: numbers right-aligned; the longest columns are wrapped, and share what the others leave."""
    right = numeric_columns(rows) or [False] * len(header)
    longest = [
        max([len(name), *(visible_length(row[i]) for row in rows)]) for i, name in enumerate(header)
    ]
    spec, wide, room = ["r" if to_right else "l" for to_right in right], list[int](), 1.0
    for most in (WIDE, FOLDED):
        wide = [i for i, size in enumerate(longest) if size > most]
        taken = CHARACTER * sum(size for i, size in enumerate(longest) if i not in wide)
        room = ROOM - GAP * len(header) - taken
        if room >= NARROWEST * len(wide):
            break
    total = sum(min(longest[i], MOST) for i in wide)
    for i in wide:
        share = max(room, NARROWEST * len(wide)) * min(longest[i], MOST) / total
        spec[i] = rf">{{\raggedright\arraybackslash}}p{{{share:.3f}\linewidth}}"
    return "".join(spec)


def visible_length(cell: Any) -> int:
    """Visible characters of a cell's longest line: markup takes no width, and a range has its own line."""
    if isinstance(cell, Ranged):
        return max(len(cell.value), len(cell.ends))
    return len(re.sub(COMMAND, "", str(cell))) // (2 if isinstance(cell, Math) else 1)


TEX_SECONDS = 120
ROW_BREAK = re.compile(r"\|\n\n(?=\|(?![^\n]*\n+\| -{3}))")
"""A blank line between two rows of one table, but not before the header of another."""


def render(view: dict[str, Any], format_name: str) -> str:
    """Render the review in one format."""
    made = words().render(**view, format_name=FORMATS[format_name].name)
    return tidy(made, format_name)


@lru_cache(maxsize=1)
def words() -> Template:
    """The template, compiled once for all formats."""
    return environment().get_template("review.j2")


def tidy(text: str, format_name: str) -> str:
    """Remove trailing spaces and repeated blank lines without breaking tables."""
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+\n", "\n", text))
    if format_name == "md":
        text = re.sub(ROW_BREAK, "|\n", text)
    return (with_contents(text) if format_name == "html" else text).strip() + "\n"


HEADING, CONTENTS = re.compile(r"<h2>(.*?)</h2>"), '<nav aria-label="Contents"></nav>'


def with_contents(page: str) -> str:
    """Number the headings of a page as anchors and list them in its contents.

    >>> with_contents(CONTENTS + "<h2>Memory</h2>")
    '<nav aria-label="Contents"><ol><li><a href="#s1">Memory</a></li></ol></nav><h2 id="s1">Memory</h2>'
    """
    headings = re.findall(HEADING, page)
    number = iter(range(1, len(headings) + 1))
    page = re.sub(HEADING, lambda match: f'<h2 id="s{next(number)}">{match[1]}</h2>', page)
    listed = "".join(f'<li><a href="#s{i}">{text}</a></li>' for i, text in enumerate(headings, 1))
    return page.replace(CONTENTS, f'<nav aria-label="Contents"><ol>{listed}</ol></nav>', 1)


def tex_engine() -> str:
    """The path of pdflatex; an input error with what to install where it is missing."""
    import shutil

    engine = shutil.which("pdflatex")
    if engine is None:
        hint = "install a TeX: on Debian and Ubuntu `apt-get install texlive-latex-recommended lmodern`; `--format tex` needs none"
        message = "PDF output needs pdflatex, which is not installed"
        raise InputError(Problem("pdf", message, hint=hint))
    return engine


def pdf(tex: str, figures: dict[str, bytes]) -> bytes:
    """Compile a LaTeX text in a temporary folder that only holds the text and its figures.

    Raises:
        InputError: pdflatex is missing, or failed.
    """
    import subprocess  # only needed for PDF
    import tempfile

    switches = ("-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode")
    command = [tex_engine(), *switches, "review.tex"]
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "0")
    safe = {
        "openin_any": "p",
        "openout_any": "p",
        "SOURCE_DATE_EPOCH": epoch,
        "FORCE_SOURCE_DATE": "1",
    }
    options = {"env": {**os.environ, **safe}, "capture_output": True, "timeout": TEX_SECONDS}
    with tempfile.TemporaryDirectory(prefix="symroof-") as scratch:
        place = Path(scratch)
        (place / "review.tex").write_text(tex, encoding="utf-8")
        for name, content in figures.items():
            (place / name).write_bytes(content)
        for _ in range(2):  # twice, for the column widths of longtable
            try:
                done = subprocess.run(command, cwd=place, check=False, **options)  # type: ignore[call-overload]
            except subprocess.TimeoutExpired:
                problem = Problem("pdf", f"pdflatex took longer than {TEX_SECONDS} s")
                raise InputError(problem) from None
            if done.returncode:
                log = done.stdout.decode("utf-8", "replace").splitlines()
                message = next((line for line in log if line.startswith("!")), "no message")
                raise InputError(Problem("pdf", f"pdflatex failed: {message}"))
        return (place / "review.pdf").read_bytes()
