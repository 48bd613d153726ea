"""Files of claims read: a claim that cannot be read is an unchecked one with its problems, each at its place; the others are read all the same."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import getitem
from pathlib import Path
from textwrap import shorten
from types import MappingProxyType
from typing import Any

from symroof.claims.annotations import AnnotationError, annotation_fields, claimed_number
from symroof.claims.claim_settings import LAYERED, merged_settings
from symroof.claims.markdown import CELL_END, FORMULA, LINE_END, NOTEBOOK, Passage, read_note
from symroof.claims.numbers import Figure, without_marks
from symroof.claims.spelled_arithmetic import Equation, equations
from symroof.errors import InputError, Problem, why
from symroof.specs.claims import ClaimSpec, ClaimsSpec
from symroof.specs.fields import build
from symroof.strict_yaml import Document, Location, loads

MOST_ANNOTATIONS = 500
LEAD = re.compile(r"symroof\s*(:?)\s*", re.IGNORECASE)
DEFAULT = re.compile(r"given(?!\S)", re.IGNORECASE)
NOTES = (".md", ".markdown", NOTEBOOK)
"""Endings of files whose claims are written behind their sentences."""
HOLD_CLAIMS = (*NOTES, ".yaml", ".yml", ".json", "")
"""Endings of files that hold claims."""
FILE_HINT = "claims are read in Markdown notes (.md), notebooks (.ipynb) and claim files (.yaml); `symroof init claims` writes one"
EXAMPLE = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
NOTHING: Mapping[str, str] = MappingProxyType({})
NUMBERS = frozenset({"line", "prefill", *LAYERED})
"""Fields of a claim, and settings, in which a number is one; all others are read as they are written."""
READABLE: dict[str, Any] = {"id": str, "says": str, "value": (str, int, Fraction), "line": int}
"""Fields of a faulty claim that are shown, where they are of these types."""


@dataclass
class Entry:
    """A claim of a file.

    Attributes:
        claim: as it was read; unchecked where it cannot be.
        part: its own part of the document.
        place: line and column of its number, its annotation, or its entry.
        figure: its number, with its place in the note; None where it has none.
        shared: the names of its settings that are defaults of the note.
        wrong_arithmetic: what the arithmetic comes to whose result its number is stated as.
        error: why it cannot be read.
    """

    claim: ClaimSpec
    part: Document
    place: tuple[int, int]
    figure: Figure | None = None
    shared: frozenset[str] = frozenset()
    wrong_arithmetic: str = ""
    error: InputError | None = None


class ClaimFile:
    """A file of claims, read one by one.

    Attributes:
        entries: its claims, in their order.
        problems: faults that are of no claim: a default that cannot be read, annotations beyond the most.
    """

    def __init__(self, document: Document) -> None:
        self.document, self.folder = document, Path(document.file).resolve().parent
        self.entries: list[Entry] = []
        self.ids: dict[str, int] = {}
        self.problems: list[Problem] = []

    def add(
        self, data: Any, place: tuple[int, int], error: InputError | None = None, **noted: Any
    ) -> None:
        """Read the next claim from its data; ``error`` is why it cannot be."""
        index = len(self.entries)
        part = replace(self.document, data=data, at=("claims", index))
        try:
            if error is not None:
                raise error
            claim = build(part, ClaimSpec)
            if (same := self.ids.setdefault(claim.id, index)) != index:
                message = f"{claim.id} is the id of claim {same + 1} too"
                raise InputError(part.problem(("id",), message))
            entry = Entry(claim, part, place, **noted)
        except InputError as fault:
            fields = data if isinstance(data, dict) else {}
            shown = {k: fields[k] for k, t in READABLE.items() if isinstance(fields.get(k), t)}
            unread = {"id": f"claim-{index + 1}", **shown, "unchecked": why(fault.problems)}
            entry = Entry(ClaimSpec(**unread), part, place, error=fault, **noted)
        self.entries.append(entry)


def read_claims(text: str, file: str, defaults: Mapping[str, str] = NOTHING) -> ClaimFile:
    """A file of claims: a Markdown note by its ending, a claim file else.

    ``defaults`` are settings for claims that state none of their own.

    Raises:
        InputError: a fault of the file as a whole.
    """
    suffix = Path(file).suffix
    if suffix.lower() not in HOLD_CLAIMS:
        raise InputError(Problem(file, f"a {suffix} file cannot hold claims", hint=FILE_HINT))
    if suffix.lower() in NOTES:
        return Note(text, file, defaults)
    unread: list[Problem] = []
    document = loads(text, file, unread)
    if isinstance(document.data, dict) and "claims" not in document.data:
        hint = "`symroof init claims` writes a starter; a note's name ends in .md"
        raise InputError(Problem(file, "holds no claims", 1, 1, hint=hint))
    if outside := [one for one in unread if len(one.location) < 2 or one.location[0] != "claims"]:
        raise InputError(outside)
    data = document.data
    several = isinstance(data, dict) and isinstance(data["claims"], list)
    build(replace(document, data={**data, "claims": []}) if several else document, ClaimsSpec)
    # 1.20 claims a digit more than 6/5, and what lacks its unit is ambiguous
    for location, number in document.written.items():
        if location[0] == "claims" and NUMBERS.isdisjoint(location):
            reduce(getitem, location[:-1], data)[location[-1]] = number
    source = ClaimFile(document)
    for i, claim in enumerate(data["claims"]):
        if defaults and isinstance(claim, dict) and isinstance(claim.get("given", {}), dict):
            claim["given"] = {**defaults, **claim.get("given", {})}
        of_claim = [one for one in unread if one.location[:2] == ("claims", i)]
        source.add(claim, document.places["claims", i], InputError(of_claim) if of_claim else None)
    return source


class Note(ClaimFile):
    """A Markdown text or a notebook: a claim for each annotation; ``given`` are the settings that hold for all of them."""

    def __init__(self, text: str, file: str, given: Mapping[str, Any]) -> None:
        lines = tuple(LINE_END.split(text))
        super().__init__(Document(file, None, {(): (1, 1)}, lines, text))
        note = read_note(text, file)
        self.place = note.place
        self.given = self.defaults = dict(given)
        self.default_places: dict[Location, tuple[int, int]] = {}
        self.bad_default: AnnotationError | None = None
        """Why a default cannot be read: every claim after it may rest on it."""
        self.previous_end = 0
        """Where the claim before ended: the numbers up to there are not the next one's."""
        for count, passage in enumerate(note.passages()):
            if count == MOST_ANNOTATIONS:
                message = f"more than {MOST_ANNOTATIONS} annotations in one file"
                self.problems.append(self._problem(passage.at, message, "split the file"))
                break
            self._read(passage)
        for start, end, _ in note.blocks:
            for one in equations(note.prose[start:end]):
                if not one.follows:
                    self._wrong_arithmetic(one, one.result.shifted(start))

    def _problem(self, at: int, message: str, hint: str) -> Problem:
        return self.document.problem_at(self.place(at), message, hint)

    def _read(self, passage: Passage) -> None:
        """One annotation: a default, or a claim; one that cannot be read is an unchecked claim."""
        lead = LEAD.match(passage.comment)
        assert lead is not None  # it begins with the name
        body, at = passage.comment[lead.end() :], passage.at + lead.end()
        if not lead[1] and not re.search(r"\w=\S", body):
            return  # an ordinary comment that begins with the name
        default = DEFAULT.match(body) is not None
        try:
            _check_form(passage, bool(lead[1]), body)
            fields = annotation_fields(body, at)
            if default:
                self._default(*fields)
            else:
                self._claim(*fields, passage)
        except AnnotationError as error:
            fault = self._problem(error.at, error.message, error.hint)
            if default:
                self.bad_default = error
                self.problems.append(fault)
            else:
                self._add({}, None, self._words(passage), passage.at, InputError(fault))
        if not default:
            self.previous_end = passage.ends

    def _default(self, data: dict[str, Any], places: Mapping[Location, int]) -> None:
        settings = data.get("given", {})
        for name in data.keys() - {"quantity", "given"}:
            message = f"{name} belongs to one claim, not to all that follow"
            raise AnnotationError(places[(name,)], message)
        if not settings:
            self.defaults, self.default_places, self.bad_default = self.given, {}, None
        self.defaults = merged_settings(self.defaults, settings)
        self.default_places |= {name: self.place(at) for name, at in places.items()}

    def _claim(
        self, data: dict[str, Any], places: Mapping[Location, int], passage: Passage
    ) -> None:
        """A claim's data as its file would hold them, and the number it is about."""
        if self.bad_default:
            raise self.bad_default
        data["given"] = merged_settings(self.defaults, data.get("given", {}))
        owned = {one.figure.start - passage.start for one in self.entries if one.figure}
        since = max(self.previous_end - passage.start, 0)
        at = places.get(("value",), passage.at)
        figure, value = claimed_number(data, passage.prose, at, since, owned, self.folder)
        data |= {} if value is None else {"value": value}
        words = self._words(passage, figure)
        known = self.default_places | {name: self.place(at) for name, at in places.items()}
        of = ("claims", len(self.entries))
        self.document.places.update({(*of, *name): place for name, place in known.items()})
        self._add(data, figure and figure.shifted(passage.start), words, passage.at)

    def _wrong_arithmetic(self, one: Equation, result: Figure) -> None:
        """Arithmetic with a wrong result: a claim of its own, or where its result is another claim's number, a reason beside it."""
        owned = (each for each in self.entries if each.figure and each.figure.start == result.start)
        if owner := next(owned, None):
            owner.wrong_arithmetic = f"{one.text} is {one.right}, not {result.digits}"
        elif len(self.entries) < MOST_ANNOTATIONS:
            value = result.number
            step = {"name": f"{one.text} =", "expression": str(one.value), "value": value}
            words = without_marks(f"{one.text} = {result.text}")
            self._add({"steps": [step]}, result, words, result.start)

    def _words(self, passage: Passage, figure: Figure | None = None) -> str:
        """The words around a number of the prose, or the last: the sentence, or the row."""
        if passage.row:
            return row_text(passage.row)
        at = figure.start if figure else len(passage.prose)
        return sentence(passage.prose, at, max(self.previous_end - passage.start, 0))

    def _add(
        self,
        data: dict[str, Any],
        figure: Figure | None,
        words: str,
        at: int,
        error: InputError | None = None,
    ) -> None:
        """A claim, named after its line and shown with the words around its number."""
        place = self.place(figure.start if figure else at)
        of = figure.denominators if figure else ()
        per = {"per": " per ".join(map(str, of))} if of and data.get("quantity") else {}
        same = sum(one.claim.line == place[0] for one in self.entries)
        own = f"L{place[0]}-{same + 1}" if same else f"L{place[0]}"
        self.document.places["claims", len(self.entries)] = self.place(at)
        whole = {"id": own, "says": words, **per, **data, "line": place[0]}
        self.add(whole, place, error, figure=figure, shared=frozenset(self.defaults))


def _check_form(passage: Passage, colon: bool, body: str) -> None:
    """Check that an annotation can be read at all.

    Raises:
        AnnotationError: it cannot.
    """
    faults = {
        ("the annotation needs a colon", f"write {EXAMPLE}"): not colon,
        ("the annotation does not end", "end it with -->"): not passage.closed or "<!--" in body,
        ("the annotation is empty", f"write {EXAMPLE}"): not body,
    }
    if fault := next((fault for fault, found in faults.items() if found), None):
        raise AnnotationError(passage.at, *fault)


LONGEST_SENTENCE = 300
SENTENCE_END = re.compile(r"(?<=[.!?])[\s*_`)\"”]*\s+(?=[\"“'(*_`\[]*[^\W_a-z])")
FORMULAS = re.compile(f"{FORMULA}+")


def sentence(prose: str, place: int, fresh: int = 0) -> str:
    """The sentence around a place, without marks, on one line, not too long; none of what another annotation is about.

    >>> sentence("It fits. A **4,096-token** prompt takes `1.34 GB`. ", 45)
    'A 4,096-token prompt takes 1.34 GB.'
    >>> sentence("It takes *about* 2*8e9*2048/330e12 = 0.1 s. ", 40)
    'It takes about 2*8e9*2048/330e12 = 0.1 s.'
    """
    gaps = [match.span() for match in SENTENCE_END.finditer(prose)]
    begins = max((end for _, end in gaps if end <= place), default=0)
    ends = next((start for start, _ in gaps if start > place), len(prose))
    if begins < fresh <= place and re.search(r"\w", prose[fresh:ends]):
        begins = fresh
    words = _plain(prose[begins:ends]).lstrip("|>,;:. ").rstrip(",; ")
    words = re.sub(r"\s+(?=[.,;:!?)%](?:\s|$))|(?<=[(])\s+", "", words)
    return shorten(words, LONGEST_SENTENCE, placeholder=" …")


def row_text(row: str) -> str:
    """A table row up to its comment, its cells side by side.

    >>> row_text("4,096 | **1.34 GB** ")
    '4,096 | 1.34 GB'
    """
    cells = filter(None, map(_plain, row.split(CELL_END)))
    return shorten(" | ".join(cells), LONGEST_SENTENCE, placeholder=" …")


def _plain(text: str) -> str:
    """A text on one line without marks; a formula is three dots."""
    return without_marks(FORMULAS.sub("…", text))
