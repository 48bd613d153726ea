"""Markdown notes: a claim stands beside the sentence it checks.

``… takes 1.34 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->``: the claim's value is the last number
before the comment, in its paragraph, list item or table cell, whose unit fits the quantity; ``value='1.34 GB'`` refers to another
one. ``<!-- symroof: given model=llama-3-70b -->`` holds for the annotations after it.

A note is read into the same document as a claim file, so everything after reading is one and the same.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from symroof.claims.claim_settings import changed, normalized, theory_of, with_theory
from symroof.claims.read.annotations import Fields, fields
from symroof.claims.read.claimed_number import claimed_number
from symroof.claims.read.latex_text import bare
from symroof.claims.read.markdown import Passage, line_starts, passages
from symroof.claims.read.numbers import Figure
from symroof.errors import Problem, why
from symroof.specs.strict_yaml import Document, Location

MOST_ANNOTATIONS, LONGEST_ANNOTATION, LONGEST_SENTENCE = 500, 2000, 300
LEAD = re.compile(r"symroof\s*(:?)\s*", re.IGNORECASE)
DEFAULT = re.compile(r"given(?!\S)", re.IGNORECASE)
EXAMPLE = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
SENTENCE_END = re.compile(r"(?<=[.!?])[\s*_`)\"”]*\s+(?=[\"“'(*_`\[]*[^\W_a-z])")
MARKUP = re.compile(r"[*`]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)|!?\[|\]|&nbsp;|^\W*\|")


@dataclass(frozen=True)
class Note:
    """A Markdown file as a document of claims.

    Attributes:
        figures: the number of each claim, its places counted in the whole file; None where it has none.
        places: line and column of that number, or of the annotation, for each claim.
        problems: all faults of its annotations, each at its place.
        aside: the claims that cannot be judged for them.
    """

    document: Document
    figures: tuple[Figure | None, ...]
    places: tuple[tuple[int, int], ...]
    problems: tuple[Problem, ...] = ()
    aside: frozenset[int] = frozenset()


def read_note(text: str, file: str, declared: Mapping[str, str] = MappingProxyType({})) -> Note:
    """The claims of a Markdown text; an annotation that cannot be read is a claim set aside, and a problem.

    ``declared`` maps names of a study's own to the file that declares them.
    """
    reader = _Reader(text, file, declared)
    for count, passage in enumerate(passages(text)):
        if count == MOST_ANNOTATIONS:
            reader.complain(passage.at, f"more than {MOST_ANNOTATIONS} annotations in one file", "split the file")
            break
        reader.read(passage)
    return Note(reader.document, tuple(reader.figures), tuple(reader.beside), tuple(reader.problems), frozenset(reader.aside))


class _Reader:
    """Annotations to the data of a claim file."""

    def __init__(self, text: str, file: str, declared: Mapping[str, str]) -> None:
        self.declared = declared
        self.starts = line_starts(text)
        lines = tuple(text[a:b].rstrip("\r\n") for a, b in zip(self.starts, [*self.starts[1:], len(text)], strict=True))
        self.claims: list[dict[str, Any]] = []
        self.document = Document(file, {"claims": self.claims}, {(): (1, 1)}, lines, text)
        self.base = Path(file).resolve().parent
        self.defaults: dict[str, Any] = {}
        self.default_places: dict[Location, tuple[int, int]] = {}
        self.broken = 0
        """The line of a default that could not be read: every claim after it may rest on it."""
        self.aside: set[int] = set()
        self.figures: list[Figure | None] = []
        self.beside: list[tuple[int, int]] = []
        self.problems: list[Problem] = []

    def place(self, at: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1

    def complain(self, at: int, message: str, hint: str = "") -> None:
        line, column = self.place(at)
        self.problems.append(Problem(self.document.file, message, line, column, hint=hint, source=self.document.lines[line - 1]))

    def read(self, passage: Passage) -> None:
        """One annotation: a default, or a claim; a claim that cannot be read, or may rest on a default that cannot, is set aside."""
        lead = LEAD.match(passage.comment)
        body = passage.comment[lead.end() :] if lead else self.document.text[passage.at + len(passage.comment) :][:LONGEST_ANNOTATION].lstrip()
        default, before = DEFAULT.match(body) is not None, len(self.problems)
        if fault := _malformed(passage, lead, body):
            self.complain(passage.at, *fault)
        elif lead and lead[1]:  # else an ordinary comment that begins with the name
            at = passage.at + lead.end()
            annotation = self._annotation(body.replace("\\|", " |") if passage.row else body, at)
            if default:
                self._default(annotation, at)
            elif self.broken:
                self._set_aside(passage, f"the given in line {self.broken} cannot be read, and this may rest on it")
            elif len(self.problems) == before:
                self._claim(annotation, at, passage)
        if len(self.problems) > before:
            if default:
                self.broken = self.place(passage.at)[0]
            elif not self.broken:
                self._set_aside(passage, why(self.problems[before:]))

    def _annotation(self, body: str, at: int) -> Fields:
        """The fields of an annotation with its settings normalized; its faults are reported."""
        annotation = fields(body, own=bool(theory_of(body, self.declared)))
        result = normalized(annotation.data, self.base)
        annotation.data = result.data if "theory" in self.defaults else with_theory(result.data, self.declared)
        for now, before in result.moved.items():
            annotation.places.setdefault(now, annotation.near(before))
        for place, message, hint in [*annotation.faults, *((annotation.near(place), message, "") for place, message in result.faults)]:
            self.complain(at + place, message, hint)
        return annotation

    def _default(self, annotation: Fields, at: int) -> None:
        for name in set(annotation.data) - {"quantity", "given"}:
            self.complain(at + annotation.places[(name,)], f"{name} belongs to one claim, not to all that follow")
        if settings := annotation.data.get("given", {}):
            self.defaults = changed(self.defaults, settings)
            self.default_places |= {location: self.place(at + place) for location, place in annotation.places.items()}
        elif not annotation.faults:
            self.defaults, self.default_places, self.broken = {}, {}, 0

    def _set_aside(self, passage: Passage, reason: str) -> None:
        """A claim that is not judged, in the place of one that cannot be."""
        self.aside.add(len(self.claims))
        self._add({"unchecked": reason}, self.place(passage.at), None, passage, len(passage.prose))
        self.document.places["claims", len(self.claims) - 1] = self.beside[-1]

    def _claim(self, annotation: Fields, at: int, passage: Passage) -> None:
        """A claim's data as its file would hold them, and the number it is about."""
        data = {**annotation.data, "given": changed(self.defaults, annotation.data.get("given", {}))}
        claimed = claimed_number(data, passage.prose)
        if claimed.fault:
            self.complain(at + annotation.places[("value",)] if "value" in data else passage.at, *claimed.fault)
            return
        data |= {} if claimed.value is None else {"value": claimed.value}
        figure = claimed.figure and claimed.figure.moved(passage.start)
        beside = self.place(figure.start if figure else passage.at)
        self._add(data, beside, figure, passage, claimed.figure.start if claimed.figure else len(passage.prose))
        claim = ("claims", len(self.claims) - 1)
        for location, place in annotation.places.items():
            self.document.places[*claim, *location] = self.place(at + place)
        for location, default in self.default_places.items():
            self.document.places.setdefault((*claim, *location), default)
        self.document.places.setdefault(claim, self.place(passage.at))

    def _add(self, data: dict[str, Any], beside: tuple[int, int], figure: Figure | None, passage: Passage, at: int) -> None:
        """A claim with its place; it is named after its line, and shown with the words around a place of the prose."""
        words = row_text(passage.row) if passage.row else sentence(passage.prose, at, passage.fresh)
        self.claims.append({"id": self._fresh(f"L{beside[0]}"), "says": words, **data, "line": beside[0]})
        self.figures.append(figure)
        self.beside.append(beside)

    def _fresh(self, name: str) -> str:
        taken = {claim["id"] for claim in self.claims}
        return next(one for one in (name, *(f"{name}-{i}" for i in range(2, MOST_ANNOTATIONS + 2))) if one not in taken)


def _malformed(passage: Passage, lead: re.Match[str] | None, body: str) -> tuple[str, str] | None:
    """Why an annotation cannot be read at all, and a hint."""
    if passage.swallowed:
        return "an annotation inside another comment is not read", "end the comment before it with -->"
    if lead and not lead[1]:
        return ("the annotation needs a colon", f"write {EXAMPLE}") if re.search(r"\w=\S", body) else None
    if not passage.closed:
        return "the annotation does not end", "end it with -->"
    if len(passage.comment) > LONGEST_ANNOTATION:
        return f"an annotation has at most {LONGEST_ANNOTATION:,} characters", ""
    if "<!--" in body:
        return "an annotation holds the beginning of another comment", "end it with -->"
    if not body:
        return "the annotation is empty", f"write {EXAMPLE}"
    return None


# ------------------------------------------------------------------------------------------- the words a claim is shown with


def sentence(prose: str, place: int, fresh: int = 0) -> str:
    """The sentence around a place, without marks, on one line, not too long; none of what another annotation is about.

    >>> sentence("It fits. A **4,096-token** prompt takes `1.34 GB`. ", 45)
    'A 4,096-token prompt takes 1.34 GB.'
    """
    prose = bare(prose)
    begins = max((match.end() for match in SENTENCE_END.finditer(prose) if match.end() <= place), default=0)
    ends = next((match.start() for match in SENTENCE_END.finditer(prose) if match.start() > place), len(prose))
    if begins < fresh <= place and re.search(r"\w", prose[fresh:ends]):
        begins = fresh
    words = " ".join(MARKUP.sub(" ", prose[begins:ends]).replace("{,}", ",").split()).strip("|#> ").lstrip(",;:. ").rstrip(",; ")
    return _cut(re.sub(r"\s+(?=[.,;:!?)%](?:\s|$))|(?<=[(])\s+", "", words))


def row_text(row: str) -> str:
    """A table row up to its comment, its cells side by side.

    >>> row_text("| 4,096 | **1.34 GB** ")
    '4,096 | 1.34 GB'
    """
    cells = (" ".join(MARKUP.sub(" ", cell).split()) for cell in bare(row).split("|"))
    return _cut(" | ".join(cell for cell in cells if cell))


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_SENTENCE else words[:LONGEST_SENTENCE].rstrip() + " …"
