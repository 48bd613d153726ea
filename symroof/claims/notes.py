"""Markdown notes: a claim stands beside the sentence it checks.

``… takes 1.34 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->``: the claim's value is the last number
before the comment, in its paragraph, list item or table cell, whose unit fits the quantity; ``value='1.34 GB'`` says which one is
meant where that is another. ``<!-- symroof: given model=llama-3-70b -->`` holds for the annotations after it.

A note is read into the same document as a claim file, so everything after reading is one and the same.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, replace
from typing import Any

from symroof.claims.annotations import Fields, fields
from symroof.claims.figures import Figure, figures
from symroof.claims.given import changed
from symroof.claims.passages import Passage, line_starts, passages
from symroof.claims.sentences import row_text, sentence
from symroof.claims.wanted import ANY, default_value, unit_wanted
from symroof.specs.errors import InputError, Problem
from symroof.specs.strict_yaml import Document, Location

MOST_ANNOTATIONS, LONGEST_ANNOTATION = 500, 2000
LEAD = re.compile(r"symroof\s*(:?)\s*", re.IGNORECASE)
EXAMPLE = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"


@dataclass(frozen=True)
class Note:
    """A Markdown file as a document of claims.

    Attributes:
        figures: the number each claim speaks of, its places counted in the whole file; None where it speaks of none.
        places: line and column of that number, or of the annotation, for each claim.
    """

    document: Document
    figures: tuple[Figure | None, ...]
    places: tuple[tuple[int, int], ...]


def read_note(text: str, file: str) -> Note:
    """The claims of a Markdown text.

    Raises:
        InputError: everything wrong with its annotations, each at its place.
    """
    reader = _Reader(text, file)
    for count, passage in enumerate(passages(text)):
        if count == MOST_ANNOTATIONS:
            reader.complain(passage.at, f"more than {MOST_ANNOTATIONS} annotations in one file", "split the file")
            break
        reader.read(passage)
    if reader.problems:
        raise InputError(reader.problems)
    return Note(reader.document, tuple(reader.figures), tuple(reader.beside))


class _Reader:
    """Annotations to the data of a claim file."""

    def __init__(self, text: str, file: str) -> None:
        self.starts = line_starts(text)
        lines = tuple(text[a:b].rstrip("\r\n") for a, b in zip(self.starts, [*self.starts[1:], len(text)], strict=True))
        self.claims: list[dict[str, Any]] = []
        self.document = Document(file, {"claims": self.claims}, {(): (1, 1)}, lines, text)
        self.given: dict[str, Any] = {}
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
        """One annotation: a default, or a claim."""
        lead = LEAD.match(passage.comment)
        body = passage.comment[lead.end() :] if lead else ""
        if fault := _malformed(passage, lead, body):
            self.complain(passage.at, *fault)
            return
        if not lead or not lead[1]:
            return  # a comment that begins with the name and says something else
        at = passage.at + lead.end()
        said = fields(body.replace("\\|", " |") if passage.row else body)
        for place, message, hint in said.faults:
            self.complain(at + place, message, hint)
        if said.faults:
            return
        if said.data.get("quantity") == "given":
            self._default(said, at)
        else:
            self._claim(said, at, passage)

    def _default(self, said: Fields, at: int) -> None:
        for name in set(said.data) - {"quantity", "given"}:
            self.complain(at + said.places[(name,)], f"{name} belongs to one claim, not to all that follow")
        given = said.data.get("given", {})
        self.given = changed(self.given, given) if given else {}

    def _claim(self, said: Fields, at: int, passage: Passage) -> None:
        """A claim's data as its file would hold them, and the number it speaks of."""
        index = len(self.claims)
        data = {**said.data, "given": changed(self.given, said.data.get("given", {}))}
        figure = self._figure(data, at, passage)
        if figure is None and "value" not in data and (default := default_value(data, passage.prose)):
            data["value"] = default
        beside = self.place(figure.start if figure else passage.at)
        data.setdefault("id", self._fresh(f"L{beside[0]}"))
        at_number = figure.start - passage.start if figure else len(passage.prose)
        data.setdefault("says", row_text(passage.row) if passage.row else sentence(passage.prose, at_number, passage.fresh))
        self.claims.append(data | {"line": beside[0]})
        self.figures.append(figure)
        self.beside.append(beside)
        for location, place in said.places.items():
            self.document.places[_inside(index, location)] = self.place(at + place)
        self.document.places.setdefault(("claims", index), self.place(passage.at))

    def _fresh(self, wanted: str) -> str:
        taken = {claim["id"] for claim in self.claims}
        return next(name for name in (wanted, *(f"{wanted}-{i}" for i in range(2, MOST_ANNOTATIONS + 2))) if name not in taken)

    def _figure(self, data: dict[str, Any], at: int, passage: Passage) -> Figure | None:
        """The number of the sentence that is claimed, put into the data; None where the claim speaks of none."""
        unit = unit_wanted(data)
        here = figures(passage.prose)
        if "value" in data:
            found = self._pointed(data, here, unit, at)
        elif unit is None or data.get("formula"):
            found = None
        else:
            found = self._last(data, here, unit, passage)
        return found and replace(found, start=found.start + passage.start, end=found.end + passage.start, stop=found.stop + passage.start)

    def _pointed(self, data: dict[str, Any], here: list[Figure], unit: str | None, at: int) -> Figure | None:
        """The number a ``value`` points at, with the bound or hedge it has in the sentence; a number the sentence lacks is a fault."""
        value, said = data["value"], figures(data["value"])
        found = _meant(here, said)
        if found is not None:
            if not (said[-1].sign or said[-1].last):
                data["value"] = found.written
        elif said and unit not in (None, ANY) and (fitting := [figure.text for figure in here if figure.fit(unit or "") < 2]):
            self.complain(at, f"value {value[:40]!r} does not stand before this annotation", f"there are: {', '.join(fitting[-5:])}")
        return found

    def _last(self, data: dict[str, Any], here: list[Figure], unit: str, passage: Passage) -> Figure | None:
        """The last number that fits; of a claim that cannot be derived the last one, if any: why it cannot is told later."""
        found = (here[-1] if here else None) if unit == ANY else _fitting(here, unit)
        if found is None and unit != ANY:
            wanted = f"no number in {unit}" if unit else "no plain number"
            said = f"{wanted} stands before this annotation, in its paragraph or cell"
            self.complain(passage.at, said, "say which one is meant: value='1.34 GB'")
        data["value"] = found.written if found else "?"
        return found


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


def _meant(here: list[Figure], said: list[Figure]) -> Figure | None:
    """The number of the sentence that a ``value`` points at: the last one written the same way."""
    if not said:
        return None
    last = said[-1].last or said[-1]

    def same(figure: Figure) -> bool:
        ends = (figure.last, figure) if figure.last else (figure,)
        return any(end.number.replace(",", "") == last.number.replace(",", "") and last.unit in ("", end.unit) for end in ends if end)

    return next((figure for figure in reversed(here) if same(figure)), None)


def _fitting(here: list[Figure], unit: str) -> Figure | None:
    """The last number whose unit fits best."""
    ranked = [(-(figure.last or figure).fit(unit), i) for i, figure in enumerate(here)]
    best = max(ranked, default=(-9, 0))
    return here[best[1]] if best[0] > -9 else None
