"""The reviews of the studies, made once for all tests, and their texts taken apart into blocks."""

import contextlib
import re
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

from markdown_it import MarkdownIt

from symroof.analysis.study import Study
from tests.cli import ROOT, call
from tests.cli import STEMS as STEMS
from tests.tables import words

FORMATS = ("md", "tex", "html")
REVIEWS = []
"""The folder for the reviews of this run, which conftest.py sets: one for all processes of the run."""


@lru_cache(maxsize=8)
def made(stem):
    """The folder that ``symroof report specs/studies/STEM.yaml --format md,tex,html --full`` makes, run from the repository root."""
    (reviews,) = REVIEWS
    if (reviews / stem).exists():  # by another process of the run
        return reviews / stem
    folder = Path(tempfile.mkdtemp(dir=reviews)) / stem
    with contextlib.chdir(ROOT):
        outcome = call(
            "report",
            f"specs/studies/{stem}.yaml",
            "-o",
            folder,
            "--format",
            "md,tex,html",
            "--full",
        )
    assert outcome.code == 0, outcome.err
    with contextlib.suppress(OSError):  # another process was faster
        folder.rename(reviews / stem)
    return reviews / stem


@contextlib.contextmanager
def solved_once(decided):
    """Reviews of study files take the cases of this study, whose thresholds are then solved once; titles, notes and names of files stay theirs."""

    load = Study.load

    def load_solved(*arguments, **keywords):
        loaded = load(*arguments, **keywords)
        loaded.__dict__["cases"] = decided.cases
        return loaded

    with mock.patch.object(Study, "load", load_solved):
        yield


def text_of(stem, kind):
    """The review of a study in one format; of a page the review itself, as it is without JavaScript."""
    text = (made(stem) / f"{stem}.{kind}").read_text(encoding="utf-8")
    return static(text) if kind == "html" else text


def static(page):
    """A page without its contents, the link past them and the part that JavaScript shows; test_live.py looks at that."""
    parts = (
        r'<a class="skip".*?</a>',
        r"<nav .*?</nav>",
        r'<section id="live.*?</section>',
        r"<script.*?</script>",
    )
    return re.sub("|".join(parts), "", page, flags=re.S)


@lru_cache(maxsize=16)
def evaluated(stem, *line):
    """The cases of ``eval --json`` for a study."""
    outcome = call("eval", ROOT / "specs" / "studies" / f"{stem}.yaml", *line, "--json")
    assert outcome.code == 0, outcome.err
    return outcome.json["cases"]


def to_standard_output(path, kind="md", *line):
    """A review of a study file in one format, without files."""
    outcome = call("report", path, "-o", "-", "--format", kind, *line)
    assert outcome.code == 0, outcome.err
    return outcome.out


def markdown():
    """A reader of Markdown as GitHub reads it, tables and raw HTML included."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


# -------------------------------------------------------------------------------------------------------- blocks


@dataclass(frozen=True)
class Block:
    """A piece of a review that is read as one: a paragraph, a row of a table, a displayed formula, a figure's text."""

    section: str
    kind: str
    text: str
    cells: tuple[str, ...] = field(default=())


@lru_cache(maxsize=32)
def blocks(text, kind):
    """A review in pieces, in the order in which they are read."""
    return {"md": markdown_blocks, "html": html_blocks}[kind](text)


def plain_inline(token):
    """An inline token as its reader sees it; an image as its alternative text."""
    return "".join(
        child.content
        if child.type in ("text", "code_inline")
        else plain_inline(child)
        if child.type == "image"
        else " "
        if "break" in child.type
        else ""
        for child in token.children or []
    )


def markdown_blocks(text):
    result, section, cells = [], "", []
    tokens = markdown().parse(text)
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "tr_open":
            cells = []
        elif token.type == "fence":
            result.append(
                Block(section, "display" if token.info.strip() == "math" else "code", token.content)
            )
        elif token.type == "tr_close":
            result.append(Block(section, "row", " | ".join(cells), tuple(cells)))
        elif token.type == "inline":
            content = plain_inline(token)
            if before.type in ("th_open", "td_open"):
                cells.append(content)
            elif before.type == "heading_open":
                section = content if before.tag == "h2" else section
                result.append(Block(section, before.tag, content))
            else:
                is_figure = any(child.type == "image" for child in token.children)
                result.append(Block(section, "figure" if is_figure else "text", content))
    return result


class _Html(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks, self.tags, self.parts, self.cells = [], [], [], []
        self.section, self.kind, self.depth = "", None, 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "img":
            self.blocks.append(Block(self.section, "figure", attributes.get("alt", "")))
        if tag == "div" and self.kind == "display":
            self.depth += 1
        elif tag == "div" and attributes.get("class") == "math":
            self.kind, self.parts, self.depth = "display", [], 1
        elif tag in ("p", "li", "h1", "h2", "h3", "td", "th", "pre", "title"):
            self.kind, self.parts = tag, []
        elif tag == "tr":
            self.cells = []

    def handle_data(self, data):
        if self.kind:
            self.parts.append(data)

    def handle_endtag(self, tag):
        if tag == "div" and self.kind == "display":
            self.depth -= 1
            if not self.depth:
                self.blocks.append(
                    Block(self.section, "display", "".join(self.parts).replace("\u00a0", " "))
                )
                self.kind = None
        elif tag == self.kind:
            self._close(tag, " ".join("".join(self.parts).replace("\u00a0", " ").split()))
        elif tag == "tr":
            self.blocks.append(
                Block(self.section, "row", " | ".join(self.cells), tuple(self.cells))
            )

    def _close(self, tag, text):
        self.kind = None
        if tag in ("td", "th"):
            self.cells.append(text)
            return
        if tag == "h2":
            self.section = text
        self.blocks.append(Block(self.section, "text" if tag in ("p", "li") else tag, text))


def html_blocks(text):
    return parsed_html(text).blocks


def parsed_html(text):
    reader = _Html()
    reader.feed(text)
    reader.close()
    return reader


def rows_under(every_block, section, first):
    """The data rows of the first table in a section whose header begins with ``first``."""
    rows = [
        block.cells for block in every_block if block.section == section and block.kind == "row"
    ]
    start = next(i for i, cells in enumerate(rows) if cells[0] == first)
    data = []
    for cells in rows[start + 1 :]:
        if len(cells) != len(rows[start]):
            break
        data.append(cells)
    return data


# ------------------------------------------------------------------------------------------------------- values

SIZES = {"ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "mJ/token": 1e-3} | dict.fromkeys(
    words("s token/s tokens/s request/s requests/s USD J/token"), 1.0
)
NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
UNIT = rf"(?:{'|'.join(map(re.escape, sorted(SIZES, key=len, reverse=True)))})(?![\w/])"
VALUE = re.compile(
    rf"(?<![\w./])({NUMBER}) ?({UNIT})(?: \((?:({NUMBER})(?: ?({UNIT}))? to ({NUMBER}) ?({UNIT}))\))?( \(does not fit\))?"
)


@dataclass(frozen=True)
class Printed:
    """A latency, rate or cost as it stands in a text."""

    text: str
    value: float
    low: float | None
    high: float | None
    flagged: bool


def number(text):
    return float(text.replace(",", ""))


def printed(text):
    """Every latency, rate and cost of a text with the range and the flag that stand right behind it."""
    values = []
    for match in VALUE.finditer(text):
        value, unit, low, low_unit, high, high_unit, flag = match.groups()
        ends = (
            (number(low) * SIZES[low_unit or high_unit], number(high) * SIZES[high_unit])
            if low
            else (None, None)
        )
        values.append(Printed(match[0], number(value) * SIZES[unit], *ends, bool(flag)))
    return values
