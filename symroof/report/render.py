"""Rendering: the view model through the words and a format, figures beside it, PDF where a TeX is at hand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symroof.errors import InputError, Problem, visible
from symroof.report.environment import environment
from symroof.report.markup import FORMATS

if TYPE_CHECKING:
    from jinja2 import Template

REVIEW = "review.j2"
TEX_SECONDS = 120
ROW_BREAK = re.compile(r"\|\n\n(?=\|(?![^\n]*\n+\| -{3}))")
"""A blank line between two rows of one table; a row that a line of dashes follows begins a table of its own."""


def render(view: dict[str, Any], format_name: str) -> str:
    """The review in one format, by the shipped words."""
    made = words().render(**view, format_name=FORMATS[format_name].name)
    return tidy(made, format_name)


@lru_cache(maxsize=1)
def words() -> Template:
    """The shipped words, compiled once for every format."""
    return environment().get_template(REVIEW)


def render_own(view: dict[str, Any], format_name: str, path: str) -> str:
    """The review by somebody's own template: sandboxed, plain data, and in a process of its own with limits.

    Raises:
        InputError: the template cannot be read, is wrong, or takes too long or too much memory.
    """
    from symroof.report.sandbox import render_in_child
    from symroof.specs.strict_yaml import read_text

    text = tidy(render_in_child(read_text(path), path, {**view, "format_name": FORMATS[format_name].name}), format_name)
    return visible(text, line_breaks=True)


def tidy(text: str, format_name: str) -> str:
    """No trailing spaces, at most one blank line, tables and lists left whole."""
    text = re.sub(r"[ \t]+\n", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    if format_name == "md":
        text = re.sub(ROW_BREAK, "|\n", text)
    if format_name == "html":
        text = with_contents(text)
    return text.strip() + "\n"


HEADING, CONTENTS = re.compile(r"<h2>(.*?)</h2>"), '<nav aria-label="Contents"></nav>'


def with_contents(page: str) -> str:
    """A page whose headings are numbered as places, and listed in its contents.

    >>> with_contents(CONTENTS + "<h2>Memory</h2>")
    '<nav aria-label="Contents"><ol><li><a href="#s1">Memory</a></li></ol></nav><h2 id="s1">Memory</h2>'
    """
    headings: list[str] = []

    def placed(match: re.Match[str]) -> str:
        headings.append(match[1])
        return f'<h2 id="s{len(headings)}">{match[1]}</h2>'

    numbered = re.sub(HEADING, placed, page)
    return numbered.replace(CONTENTS, f'<nav aria-label="Contents"><ol>{"".join(_entries(headings))}</ol></nav>', 1)


def _entries(headings: list[str]) -> Iterator[str]:
    """The lines of a contents column; a common first word, as of the parts of an appendix, stands once above them."""
    before = ""
    for i, heading in enumerate(headings, 1):
        group, colon, rest = heading.partition(": ")
        if colon and group != before:
            yield f'<li class="label">{group}</li>'
        before = group if colon else ""
        yield f'<li><a href="#s{i}">{rest[:1].upper() + rest[1:] if colon else heading}</a></li>'


def pdf(tex: str, figures: dict[str, bytes]) -> bytes:
    """The PDF of a LaTeX text, made in a folder of its own with nothing but the text and its figures in reach.

    Raises:
        InputError: no TeX on this machine (what to install), or TeX refused the text.
    """
    import shutil  # loaded for a PDF alone, like all that starts a process
    import tempfile

    engine = shutil.which("pdflatex")
    if engine is None:
        hint = "install a TeX: on Debian and Ubuntu `apt-get install texlive-latex-recommended lmodern`; `--format tex` needs none"
        raise InputError(Problem("pdf", "making a PDF needs pdflatex, which is not on this machine", hint=hint))
    with tempfile.TemporaryDirectory(prefix="symroof-") as scratch:
        place = Path(scratch)
        (place / "review.tex").write_text(tex, encoding="utf-8")
        for name, content in figures.items():
            (place / name).write_bytes(content)
        for _ in range(2):  # twice, so that longtable's columns settle
            _run_tex(engine, place)
        return (place / "review.pdf").read_bytes()


def _run_tex(engine: str, place: Path) -> None:
    import subprocess

    safe = {"openin_any": "p", "openout_any": "p", "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "0"), "FORCE_SOURCE_DATE": "1"}
    command = [engine, "-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "review.tex"]
    try:
        done = subprocess.run(command, cwd=place, env={**os.environ, **safe}, capture_output=True, timeout=TEX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(Problem("pdf", f"pdflatex took longer than {TEX_SECONDS} s")) from None
    if done.returncode:
        log = done.stdout.decode("utf-8", "replace")
        message = next((line for line in log.splitlines() if line.startswith("!")), "no message")
        raise InputError(Problem("pdf", f"pdflatex refused the text: {message}"))
