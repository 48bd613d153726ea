"""Markdown notes: a claim stands beside the sentence it checks.

``… takes 1.34 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->``: the claim's value is the last number
before the comment, in its paragraph, list item or table cell, whose unit fits the quantity; ``value='1.34 GB'`` says which one is
meant where that is another. ``<!-- symroof: given model=llama-3-70b -->`` holds for the annotations after it.

A note is read into the same document as a claim file, so everything after reading is one and the same.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symroof.claims.claim_cases import spelled
from symroof.claims.claim_study import changed
from symroof.claims.read.annotations import Fields, fields
from symroof.claims.read.claimed_number import meant
from symroof.claims.read.markdown import Passage, line_starts, passages
from symroof.claims.read.numbers import Figure
from symroof.claims.read.sentences import row_text, sentence
from symroof.errors import Problem, why
from symroof.specs.strict_yaml import Document, Location

MOST_ANNOTATIONS, LONGEST_ANNOTATION = 500, 2000
LEAD = re.compile(r"symroof\s*(:?)\s*", re.IGNORECASE)
DEFAULT = re.compile(r"given(?!\S)", re.IGNORECASE)
EXAMPLE = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"


@dataclass(frozen=True)
class Note:
    """A Markdown file as a document of claims.

    Attributes:
        figures: the number each claim speaks of, its places counted in the whole file; None where it speaks of none.
        places: line and column of that number, or of the annotation, for each claim.
        problems: everything wrong with its annotations, each at its place.
        aside: the claims that cannot be judged for it.
    """

    document: Document
    figures: tuple[Figure | None, ...]
    places: tuple[tuple[int, int], ...]
    problems: tuple[Problem, ...] = ()
    aside: frozenset[int] = frozenset()


def read_note(text: str, file: str) -> Note:
    """The claims of a Markdown text; an annotation that cannot be read is a claim set aside, and a problem."""
    reader = _Reader(text, file)
    for count, passage in enumerate(passages(text)):
        if count == MOST_ANNOTATIONS:
            reader.complain(passage.at, f"more than {MOST_ANNOTATIONS} annotations in one file", "split the file")
            break
        reader.read(passage)
    return Note(reader.document, tuple(reader.figures), tuple(reader.beside), tuple(reader.problems), frozenset(reader.aside))


class _Reader:
    """Annotations to the data of a claim file."""

    def __init__(self, text: str, file: str) -> None:
        self.starts = line_starts(text)
        lines = tuple(text[a:b].rstrip("\r\n") for a, b in zip(self.starts, [*self.starts[1:], len(text)], strict=True))
        self.claims: list[dict[str, Any]] = []
        self.document = Document(file, {"claims": self.claims}, {(): (1, 1)}, lines, text)
        self.base = Path(file).resolve().parent
        self.given: dict[str, Any] = {}
        self.given_places: dict[Location, tuple[int, int]] = {}
        self.broken = 0
        """The line of a default that could not be read: whatever comes after may rest on it."""
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
        elif lead and lead[1]:  # else a comment that begins with the name and says something else
            at = passage.at + lead.end()
            said = self._said(body.replace("\\|", " |") if passage.row else body, at)
            if default:
                self._default(said, at)
            elif self.broken:
                self._set_aside(passage, f"the given in line {self.broken} cannot be read, and this may rest on it")
            elif len(self.problems) == before:
                self._claim(said, at, passage)
        if len(self.problems) > before:
            if default:
                self.broken = self.place(passage.at)[0]
            elif not self.broken:
                self._set_aside(passage, why(self.problems[before:]))

    def _said(self, body: str, at: int) -> Fields:
        """What an annotation says, its cases spelled out, its faults told."""
        said = fields(body)
        found = spelled(said.data, self.base)
        said.data = found.data
        for now, before in found.moved.items():
            said.places.setdefault(now, said.near(before))
        for place, message, hint in [*said.faults, *((said.near(place), message, "") for place, message in found.faults)]:
            self.complain(at + place, message, hint)
        return said

    def _default(self, said: Fields, at: int) -> None:
        for name in set(said.data) - {"quantity", "given"}:
            self.complain(at + said.places[(name,)], f"{name} belongs to one claim, not to all that follow")
        given = said.data.get("given", {})
        if given:
            self.given = changed(self.given, given)
            self.given_places |= {location: self.place(at + place) for location, place in said.places.items()}
        elif not said.faults:
            self.given, self.given_places, self.broken = {}, {}, 0

    def _set_aside(self, passage: Passage, reason: str) -> None:
        """A claim that is not judged, in the place of one that cannot be."""
        beside = self.place(passage.at)
        self.aside.add(len(self.claims))
        self.document.places["claims", len(self.claims)] = beside
        says = row_text(passage.row) if passage.row else sentence(passage.prose, len(passage.prose), passage.fresh)
        self.claims.append({"id": self._fresh(f"L{beside[0]}"), "says": says, "unchecked": reason, "line": beside[0]})
        self.figures.append(None)
        self.beside.append(beside)

    def _claim(self, said: Fields, at: int, passage: Passage) -> None:
        """A claim's data as its file would hold them, and the number it speaks of."""
        index = len(self.claims)
        data = {**said.data, "given": changed(self.given, said.data.get("given", {}))}
        found = meant(data, passage.prose)
        if found.fault:
            self.complain(at + said.places[("value",)] if "value" in data else passage.at, *found.fault)
            return
        data |= {} if found.value is None else {"value": found.value}
        figure = found.figure and found.figure.moved(passage.start)
        beside = self.place(figure.start if figure else passage.at)
        data.setdefault("id", self._fresh(f"L{beside[0]}"))
        at_number = found.figure.start if found.figure else len(passage.prose)
        data.setdefault("says", row_text(passage.row) if passage.row else sentence(passage.prose, at_number, passage.fresh))
        self.claims.append(data | {"line": beside[0]})
        self.figures.append(figure)
        self.beside.append(beside)
        for location, place in said.places.items():
            self.document.places[_inside(index, location)] = self.place(at + place)
        for location, known in self.given_places.items():
            self.document.places.setdefault(_inside(index, location), known)
        self.document.places.setdefault(("claims", index), self.place(passage.at))

    def _fresh(self, wanted: str) -> str:
        taken = {claim["id"] for claim in self.claims}
        return next(name for name in (wanted, *(f"{wanted}-{i}" for i in range(2, MOST_ANNOTATIONS + 2))) if name not in taken)


def _inside(index: int, location: Location) -> Location:
    return ("claims", index, *location)


def _malformed(passage: Passage, lead: re.Match[str] | None, body: str) -> tuple[str, str] | None:
    """What keeps an annotation from being read at all."""
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
        return "the annotation says nothing", f"write {EXAMPLE}"
    return None
