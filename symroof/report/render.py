"""Rendering a review from its data and templates; PDF if pdflatex is installed."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symroof.errors import InputError, Problem
from symroof.report.environment import environment
from symroof.report.markup import FORMATS

if TYPE_CHECKING:
    from jinja2 import Template

REVIEW = "review.j2"
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
    return environment().get_template(REVIEW)


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
