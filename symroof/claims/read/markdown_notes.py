"""Notes in Markdown: a claim is written behind the sentence it checks.

``… takes 1.34 GB. <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 kv=fp16 -->``: the claim's value is the last number
before the comment and behind the claim before, in its paragraph, list item or table cell, whose unit fits the quantity; it is no
precision (``16-bit``), and a target (``our 50 ms``) only where nothing else is. ``value='1.34 GB'`` refers to another one. ``<!-- symroof: given model=llama-3-70b -->`` holds for the annotations after it.

A note is read into the same document as a claim file, so everything after reading is one and the same.
"""

import bisect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from symroof.claims.claim_settings import declaring_file, merged_settings, normalized, with_theory
from symroof.claims.read.annotations import AnnotationFields, annotation_fields
from symroof.claims.read.claimed_number import claimed_number, expected_unit
from symroof.claims.read.markdown import FORMULA, Passage, blocks, line_starts, passages
from symroof.claims.read.notebook_cells import NOTEBOOK, note_text
from symroof.claims.read.prose_numbers import Figure, figures, without_marks
from symroof.claims.read.spelled_arithmetic import (
    LONGEST_BLOCK,
    MOST_CHARACTERS,
    Equation,
    equations_of_blocks,
)
from symroof.claims.read.tables import NoteTable, tables
from symroof.claims.read.written_units import Denominator
from symroof.errors import Problem, why
from symroof.strict_yaml import Document, Location

MOST_ANNOTATIONS, LONGEST_ANNOTATION = 500, 2000
LEAD = re.compile(r"symroof\s*(:?)\s*", re.IGNORECASE)
DEFAULT = re.compile(r"given(?!\S)", re.IGNORECASE)
NOTES = (".md", ".markdown", NOTEBOOK)
"""Endings of files whose claims are written behind their sentences."""
EXAMPLE = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"


@dataclass(frozen=True)
class Note:
    """A Markdown file as a document of claims.

    Attributes:
        figures: the number of each claim, its places counted in the whole file; None where it has none.
        places: line and column of that number, or of the annotation, for each claim.
        problems: all faults of its annotations, each at its place.
        skipped: the claims that cannot be judged for them.
        shared: the settings of each claim that are defaults of the note.
        arithmetic: the calculations that its text spells out.
        wrong_arithmetic: for claims whose number is stated as the result of one that does not, its own result.
    """

    document: Document
    figures: tuple[Figure | None, ...]
    places: tuple[tuple[int, int], ...]
    shared: tuple[frozenset[str], ...]
    problems: tuple[Problem, ...] = ()
    skipped: frozenset[int] = frozenset()
    arithmetic: tuple[Equation, ...] = ()
    wrong_arithmetic: Mapping[int, str] = field(default_factory=dict)


def read_note(text: str, file: str, declared: Mapping[str, str] = MappingProxyType({})) -> Note:
    """The claims of a Markdown text or a notebook; an annotation that cannot be read is a skipped claim, and a problem.

    ``declared`` maps names that a study declares to the file that declares them.
    """
    note = note_text(text, file)
    reader = _NoteReader(text, note, file, declared)
    for count, passage in enumerate(passages(note)):
        if count == MOST_ANNOTATIONS:
            reader.complain(
                passage.at,
                f"more than {MOST_ANNOTATIONS} annotations in one file",
                "split the file",
            )
            break
        reader.read_annotation(passage)
    arithmetic = [
        *equations_of_blocks(blocks(note)),
        *(one for table in reader.tables for one in table.sums()),
    ]
    wrong_arithmetic = reader.check_arithmetic(arithmetic)
    return Note(
        reader.document, tuple(reader.figures), tuple(reader.number_places), tuple(reader.shared), tuple(reader.problems), frozenset(reader.skipped),
        tuple(arithmetic), wrong_arithmetic,
    )  # fmt: skip


def numbers_of(text: str, file: str) -> list[Figure]:
    """Every number in the prose of a note, its places counted in the whole file."""
    prose = blocks(note_text(text, file))
    return [
        figure.shifted(start)
        for start, block in prose
        if len(block) <= LONGEST_BLOCK
        for figure in figures(block)
    ]


class _NoteReader:
    """Annotations to the data of a claim file."""

    def __init__(self, text: str, note: str, file: str, declared: Mapping[str, str]) -> None:
        self.declared = declared
        self.starts = line_starts(text)
        lines = tuple(
            text[a:b].rstrip("\r\n")
            for a, b in zip(self.starts, [*self.starts[1:], len(text)], strict=True)
        )
        self.claims: list[dict[str, Any]] = []
        self.document = Document(file, {"claims": self.claims}, {(): (1, 1)}, lines, text)
        self.base = Path(file).resolve().parent
        self.defaults: dict[str, Any] = {}
        self.default_places: dict[Location, tuple[int, int]] = {}
        self.unreadable_default_line = 0
        """The line of a default that could not be read: every claim after it may rest on it."""
        self.skipped: set[int] = set()
        self.figures: list[Figure | None] = []
        self.number_places: list[tuple[int, int]] = []
        self.tables = tables(note) if "|" in note and len(note) <= MOST_CHARACTERS else []
        self.shared: list[frozenset[str]] = []
        self.problems: list[Problem] = []
        self.range_end = 0
        """Where the claim before ended: the numbers up to there are not the next one's."""
        self.taken_starts: set[int] = set()
        """Where the numbers begin that claims are about."""

    def place(self, at: int) -> tuple[int, int]:
        line = bisect.bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1

    def complain(self, at: int, message: str, hint: str = "") -> None:
        line, column = self.place(at)
        self.problems.append(
            Problem(
                self.document.file,
                message,
                line,
                column,
                hint=hint,
                source=self.document.lines[line - 1],
            )
        )

    def read_annotation(self, passage: Passage) -> None:
        """One annotation: a default, or a claim; a claim that cannot be read, or may rest on a default that cannot, is skipped."""
        lead = LEAD.match(passage.comment)
        body = (
            passage.comment[lead.end() :]
            if lead
            else self.document.text[passage.at + len(passage.comment) :][
                :LONGEST_ANNOTATION
            ].lstrip()
        )
        default, before = DEFAULT.match(body) is not None, len(self.problems)
        if fault := _malformed(passage, lead, body):
            self.complain(passage.at, *fault)
        elif lead and lead[1]:  # else an ordinary comment that begins with the name
            at = passage.at + lead.end()
            annotation = self._annotation(body.replace("\\|", " |") if passage.row else body, at)
            if default:
                self._default(annotation, at)
            elif self.unreadable_default_line:
                self._skip(
                    passage,
                    f"the given in line {self.unreadable_default_line} cannot be read, and this may rest on it",
                )
            elif len(self.problems) == before:
                self._claim(annotation, at, passage)
        if len(self.problems) > before:
            if default:
                self.unreadable_default_line = self.place(passage.at)[0]
            elif not self.unreadable_default_line:
                self._skip(passage, why(self.problems[before:]))
        if lead and lead[1] and not default:
            self.range_end = passage.ends

    def _annotation(self, body: str, at: int) -> AnnotationFields:
        """The fields of an annotation with its settings normalized; its faults are reported."""
        annotation = annotation_fields(body, own=bool(declaring_file(body, self.declared)))
        result = normalized(annotation.data, self.base)
        annotation.data = (
            result.data if "theory" in self.defaults else with_theory(result.data, self.declared)
        )
        for now, before in result.moved.items():
            annotation.places.setdefault(now, annotation.near(before))
        for place, message, hint in [
            *annotation.faults,
            *((annotation.near(place), message, "") for place, message in result.faults),
        ]:
            self.complain(at + place, message, hint)
        return annotation

    def _default(self, annotation: AnnotationFields, at: int) -> None:
        for name in set(annotation.data) - {"quantity", "given"}:
            self.complain(
                at + annotation.places[(name,)],
                f"{name} belongs to one claim, not to all that follow",
            )
        if settings := annotation.data.get("given", {}):
            self.defaults = merged_settings(self.defaults, settings)
            self.default_places |= {
                location: self.place(at + place) for location, place in annotation.places.items()
            }
        elif not annotation.faults:
            self.defaults, self.default_places, self.unreadable_default_line = {}, {}, 0

    def _skip(self, passage: Passage, reason: str) -> None:
        """A claim that is not judged, in the place of one that cannot be."""
        self.skipped.add(len(self.claims))
        self._add(
            {"unchecked": reason},
            self.place(passage.at),
            None,
            self._shown_words(passage, len(passage.prose)),
        )
        self.document.places["claims", len(self.claims) - 1] = self.number_places[-1]

    def _claim(self, annotation: AnnotationFields, at: int, passage: Passage) -> None:
        """A claim's data as its file would hold them, and the number it is about."""
        data = {
            **annotation.data,
            "given": merged_settings(self.defaults, annotation.data.get("given", {})),
        }
        owned = {start - passage.start for start in self.taken_starts}
        table = self._table_at(passage)

        def complete(figure: Figure) -> Figure:
            place = figure.start + passage.start
            if table:
                return table.completed(figure, table.column_at(place, table.row_at(place)))
            return figure

        claimed = claimed_number(
            data, passage.prose, max(self.range_end - passage.start, 0), owned, complete
        )
        if (
            claimed.fault
            and table
            and "value" not in data
            and (cells := table.under(passage.at, expected_unit(data) or ""))
        ):
            self._cells(data, annotation, at, cells, passage)
            return
        if claimed.fault:
            self.complain(
                at + annotation.places[("value",)] if "value" in data else passage.at,
                *claimed.fault,
            )
            return
        data |= {} if claimed.value is None else {"value": claimed.value}
        data = _with_words_around(data, claimed.figure.denominators if claimed.figure else ())
        figure = claimed.figure and claimed.figure.shifted(passage.start)
        place = self.place(figure.start if figure else passage.at)
        self.taken_starts |= {figure.start} if figure else set()
        self._add(
            data,
            place,
            figure,
            self._shown_words(
                passage, claimed.figure.start if claimed.figure else len(passage.prose)
            ),
        )
        self._places(annotation, at, passage)

    def _places(self, annotation: AnnotationFields, at: int, passage: Passage) -> None:
        """The places of the last claim's fields."""
        claim = ("claims", len(self.claims) - 1)
        for location, place in annotation.places.items():
            self.document.places[*claim, *location] = self.place(at + place)
        for location, default in self.default_places.items():
            self.document.places.setdefault((*claim, *location), default)
        self.document.places.setdefault(claim, self.place(passage.at))

    def _table_at(self, passage: Passage) -> NoteTable | None:
        """The table that contains an annotation."""
        return next((one for one in self.tables if one.head[0].start <= passage.at < one.end), None)

    def _cells(
        self,
        data: dict[str, Any],
        annotation: AnnotationFields,
        at: int,
        cells: list[tuple[Figure, dict[str, object]]],
        passage: Passage,
    ) -> None:
        """A claim for each cell of a column or a row, whose inputs the others of its row or the head hold."""
        for figure, inputs in cells:
            settings = merged_settings(
                merged_settings(self.defaults, inputs), annotation.data.get("given", {})
            )  # the comment wins over the table
            own = _with_words_around(
                {**data, "given": settings, "value": figure.written}, figure.denominators
            )
            self.taken_starts.add(figure.start)
            self._add(
                own,
                self.place(figure.start),
                figure,
                without_marks(
                    f"{', '.join(f'{name} {value}' for name, value in inputs.items())}: {figure.text}"
                ),
            )
            self._places(annotation, at, passage)
            for name in (
                inputs.keys() - annotation.data.get("given", {}).keys()
            ):  # a fault of a row's cell is in that row
                self.document.places["claims", len(self.claims) - 1, "given", name] = self.place(
                    figure.start
                )

    def check_arithmetic(self, arithmetic: Iterable[Equation]) -> dict[int, str]:
        """Arithmetic with a wrong result: a claim of its own, or where its result is another claim's number, a reason beside it."""
        wrong_arithmetic: dict[int, str] = {}
        for one in arithmetic:
            if one.follows:
                continue
            owner = next(
                (
                    i
                    for i, figure in enumerate(self.figures)
                    if figure and figure.start == one.result.start
                ),
                None,
            )
            if owner is not None:
                wrong_arithmetic[owner] = f"{one.text} is {one.right}, not {one.result.digits}"
            elif len(self.claims) < MOST_ANNOTATIONS:
                step = {
                    "name": f"{one.text} =",
                    "expression": one.scaled,
                    "value": one.result.number,
                }
                self.document.places["claims", len(self.claims)] = self.place(one.result.start)
                self._add(
                    {"steps": [step]},
                    self.place(one.result.start),
                    one.result,
                    without_marks(f"{one.text} = {one.result.text}"),
                )
        return wrong_arithmetic

    def _shown_words(self, passage: Passage, at: int) -> str:
        """The words around a place of the prose: the sentence, or the row."""
        if passage.row:
            return row_text(passage.row)
        return sentence(passage.prose, at, max(self.range_end - passage.start, 0))

    def _add(
        self, data: dict[str, Any], place: tuple[int, int], figure: Figure | None, words: str
    ) -> None:
        """A claim with its place; it is named after its line, and shown with the words around its number."""
        self.claims.append(
            {"id": self._fresh(f"L{place[0]}"), "says": words, **data, "line": place[0]}
        )
        self.figures.append(figure)
        self.shared.append(frozenset(self.defaults))
        self.number_places.append(place)

    def _fresh(self, name: str) -> str:
        taken = {claim["id"] for claim in self.claims}
        return next(
            one
            for one in (name, *(f"{name}-{i}" for i in range(2, MOST_ANNOTATIONS + 2)))
            if one not in taken
        )


def _with_words_around(data: dict[str, Any], of: tuple[Denominator, ...]) -> dict[str, Any]:
    """A claim's data with what the words around its number say it is of."""
    if of and data.get("quantity") and "per" not in data:
        return {**data, "per": " per ".join(map(str, of))}
    return data


def _malformed(passage: Passage, lead: re.Match[str] | None, body: str) -> tuple[str, str] | None:
    """Why an annotation cannot be read at all, and a hint."""
    if passage.swallowed:
        return (
            "an annotation inside another comment is not read",
            "end the comment before it with -->",
        )
    if lead and not lead[1]:
        if re.search(r"\w=\S", body):
            return ("the annotation needs a colon", f"write {EXAMPLE}")
        return None
    if not passage.closed:
        return "the annotation does not end", "end it with -->"
    if len(passage.comment) > LONGEST_ANNOTATION:
        return f"an annotation has at most {LONGEST_ANNOTATION:,} characters", ""
    if "<!--" in body:
        return "an annotation holds the beginning of another comment", "end it with -->"
    if not body:
        return "the annotation is empty", f"write {EXAMPLE}"
    return None


LONGEST_SENTENCE = 300
SENTENCE_END = re.compile(r"(?<=[.!?])[\s*_`)\"”]*\s+(?=[\"“'(*_`\[]*[^\W_a-z])")
MARKUP = re.compile(
    r"`{1,3}|\*{2,3}|(?<![\w)])\*|\*(?![\w(])|(?<!\w)_{1,2}|_{1,2}(?!\w)|!?\[|\]|&nbsp;|^\W*\||\\(?=[^\w\s])"
)
FORMULAS = re.compile(f"{FORMULA}+")


def sentence(prose: str, place: int, fresh: int = 0) -> str:
    """The sentence around a place, without marks, on one line, not too long; none of what another annotation is about.

    >>> sentence("It fits. A **4,096-token** prompt takes `1.34 GB`. ", 45)
    'A 4,096-token prompt takes 1.34 GB.'
    >>> sentence("It takes *about* 2*8e9*2048/330e12 = 0.1 s. ", 40)
    'It takes about 2*8e9*2048/330e12 = 0.1 s.'
    """
    begins = max(
        (match.end() for match in SENTENCE_END.finditer(prose) if match.end() <= place), default=0
    )
    ends = next(
        (match.start() for match in SENTENCE_END.finditer(prose) if match.start() > place),
        len(prose),
    )
    if begins < fresh <= place and re.search(r"\w", prose[fresh:ends]):
        begins = fresh
    words = _plain(prose[begins:ends]).strip("|#> ").lstrip(",;:. ").rstrip(",; ")
    return _cut(re.sub(r"\s+(?=[.,;:!?)%](?:\s|$))|(?<=[(])\s+", "", words))


def row_text(row: str) -> str:
    """A table row up to its comment, its cells side by side.

    >>> row_text("| 4,096 | **1.34 GB** ")
    '4,096 | 1.34 GB'
    """
    cells = (_plain(cell) for cell in row.split("|"))
    return _cut(" | ".join(cell for cell in cells if cell))


def _plain(text: str) -> str:
    """A text on one line without marks; a formula is three dots."""
    return " ".join(FORMULAS.sub("…", MARKUP.sub(" ", text)).split())


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_SENTENCE else words[:LONGEST_SENTENCE].rstrip() + " …"
