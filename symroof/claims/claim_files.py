"""Files of claims read: a fault is reported at its place and skips that claim; the others are still read.

A skipped claim stays in its place as an unchecked one, so that nothing is lost and no claim is judged on partial data.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import getitem
from pathlib import Path
from types import MappingProxyType
from typing import Any

from symroof.claims.annotations import AnnotationFields, annotation_fields, claimed_number
from symroof.claims.claim_settings import merged_settings, normalized
from symroof.claims.markdown import FORMULA, LINE_END, NOTEBOOK, Passage, note_text
from symroof.claims.numbers import Figure, figures, without_marks
from symroof.claims.spelled_arithmetic import Equation, equations_of_blocks
from symroof.errors import InputError, Problem, why
from symroof.specs.claims import ClaimsSpec
from symroof.specs.fields import build
from symroof.strict_yaml import Document, Location, loads, problem_at

MOST_ANNOTATIONS, LONGEST_ANNOTATION = 500, 2000
LEAD = re.compile(r"symroof\s*(:?)\s*", re.IGNORECASE)
DEFAULT = re.compile(r"given(?!\S)", re.IGNORECASE)
NOTES = (".md", ".markdown", NOTEBOOK)
"""Endings of files whose claims are written behind their sentences."""
EXAMPLE = "<!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"


@dataclass
class Noted:
    """What a note tells of a claim beside its data.

    Attributes:
        place: line and column of its number, or of its annotation.
        figure: its number, with its place in the note; None where it has none.
        shared: the names of its settings that are defaults of the note.
        wrong_arithmetic: what the arithmetic comes to whose result its number is stated as.
    """

    place: tuple[int, int]
    figure: Figure | None = None
    shared: frozenset[str] = frozenset()
    wrong_arithmetic: str = ""


class Note:
    """A Markdown text or a notebook as a document of claims; an annotation that cannot be read is a skipped claim, and a problem.

    ``given`` are the settings that hold for all of its claims.

    Attributes:
        noted: what it tells of each claim beside its data.
        problems: all faults of its annotations, each at its place.
        skipped: the claims that cannot be judged for them.
    """

    def __init__(self, text: str, file: str, given: Mapping[str, Any]) -> None:
        note = note_text(text, file)
        self.place = note.place
        self.claims: list[dict[str, Any]] = []
        lines = tuple(LINE_END.split(text))
        self.document = Document(file, {"claims": self.claims}, {(): (1, 1)}, lines, text)
        self.given = self.defaults = dict(given)
        self.default_places: dict[Location, tuple[int, int]] = {}
        self.bad_default_line = 0
        """The line of a default that could not be read: every claim after it may rest on it."""
        self.skipped: set[int] = set()
        self.noted: list[Noted] = []
        self.problems: list[Problem] = []
        self.previous_end = 0
        """Where the claim before ended: the numbers up to there are not the next one's."""
        for count, passage in enumerate(note.passages()):
            if count == MOST_ANNOTATIONS:
                message = f"more than {MOST_ANNOTATIONS} annotations in one file"
                self._complain(passage.at, message, "split the file")
                break
            self._read(passage)
        self._check_arithmetic(equations_of_blocks(note.blocks()))

    def _complain(self, at: int, message: str, hint: str = "") -> None:
        document, place = self.document, self.place(at)
        self.problems.append(problem_at(document.file, document.lines, place, message, hint))

    def _read(self, passage: Passage) -> None:
        """One annotation: a default, or a claim; a claim that cannot be read, or may rest on a default that cannot, is skipped."""
        lead = LEAD.match(passage.comment)
        assert lead is not None  # it begins with the name
        body, at = passage.comment[lead.end() :], passage.at + lead.end()
        if not lead[1] and not re.search(r"\w=\S", body):
            return  # an ordinary comment that begins with the name
        default, before, reason = DEFAULT.match(body) is not None, len(self.problems), ""
        if fault := _malformed(passage, lead, body):
            self._complain(passage.at, *fault)
        else:
            annotation = self._fields(body.replace("\\|", " |") if passage.row else body, at)
            if default:
                self._default(annotation, at)
            elif self.bad_default_line:
                reason = f"the given in line {self.bad_default_line} cannot be read, and this may rest on it"
            elif len(self.problems) == before:
                self._claim(annotation, at, passage)
        if len(self.problems) > before and default:
            self.bad_default_line = self.place(passage.at)[0]
        elif len(self.problems) > before and not self.bad_default_line:
            reason = why(self.problems[before:])
        if reason:
            self.skipped.add(len(self.claims))
            self._add({"unchecked": reason}, None, self._words(passage), passage.at)
        if not default:
            self.previous_end = passage.ends

    def _fields(self, body: str, at: int) -> AnnotationFields:
        """The fields of an annotation with its settings normalized; its faults are reported."""
        found = annotation_fields(body, own="theory" in self.defaults)
        if "theory" in self.defaults:
            theory = {"theory": self.defaults["theory"]}
            found.data["given"] = theory | found.data.get("given", {})
        base = Path(self.document.file).resolve().parent
        found.data, faults = normalized(found.data, base, found.places)
        faulty = [(found.places[location], message, hint) for location, message, hint in faults]
        for place, message, hint in (*found.faults, *faulty):
            self._complain(at + place, message, hint)
        return found

    def _default(self, annotation: AnnotationFields, at: int) -> None:
        for name in set(annotation.data) - {"quantity", "given"}:
            message = f"{name} belongs to one claim, not to all that follow"
            self._complain(at + annotation.places[(name,)], message)
        if settings := annotation.data.get("given", {}):
            self.defaults = merged_settings(self.defaults, settings)
            for location, place in annotation.places.items():
                self.default_places[location] = self.place(at + place)
        elif not annotation.faults:
            self.defaults, self.default_places, self.bad_default_line = self.given, {}, 0

    def _claim(self, annotation: AnnotationFields, at: int, passage: Passage) -> None:
        """A claim's data as its file would hold them, and the number it is about."""
        given = annotation.data.get("given", {})
        data = {**annotation.data, "given": merged_settings(self.defaults, given)}
        owned = {one.figure.start - passage.start for one in self.noted if one.figure}
        since = max(self.previous_end - passage.start, 0)
        claimed = claimed_number(data, passage.prose, figures(passage.prose), since, owned)
        if claimed.fault:
            value_at = at + annotation.places[("value",)] if "value" in data else passage.at
            self._complain(value_at, *claimed.fault)
            return
        data |= {} if claimed.value is None else {"value": claimed.value}
        number, words = claimed.figure, self._words(passage, claimed.figure)
        figure = number and number.shifted(passage.start)
        index = self._add(data, figure, words, passage.at)
        for location, place in annotation.places.items():
            self.document.places[*index, *location] = self.place(at + place)
        for location, default in self.default_places.items():
            self.document.places.setdefault((*index, *location), default)

    def _check_arithmetic(self, equations: list[Equation]) -> None:
        """Arithmetic with a wrong result: a claim of its own, or where its result is another claim's number, a reason beside it."""
        owners = {one.figure.start: one for one in reversed(self.noted) if one.figure}
        for one in equations:
            if one.follows:
                continue
            if owner := owners.get(one.result.start):
                owner.wrong_arithmetic = f"{one.text} is {one.right}, not {one.result.digits}"
            elif len(self.claims) < MOST_ANNOTATIONS:
                value = one.result.number
                step = {"name": f"{one.text} =", "expression": str(one.value), "value": value}
                words = without_marks(f"{one.text} = {one.result.text}")
                self._add({"steps": [step]}, one.result, words, one.result.start)

    def _words(self, passage: Passage, figure: Figure | None = None) -> str:
        """The words around a number of the prose, or the last: the sentence, or the row."""
        if passage.row:
            return row_text(passage.row)
        at = figure.start if figure else len(passage.prose)
        return sentence(passage.prose, at, max(self.previous_end - passage.start, 0))

    def _add(self, data: dict[str, Any], figure: Figure | None, words: str, at: int) -> Location:
        """A claim, named after its line and shown with the words around its number; where it is in the document."""
        place, index = self.place(figure.start if figure else at), ("claims", len(self.claims))
        of = figure.denominators if figure else ()
        per = {"per": " per ".join(map(str, of))} if of and data.get("quantity") else {}
        same = sum(claim["line"] == place[0] for claim in self.claims)
        own = f"L{place[0]}-{same + 1}" if same else f"L{place[0]}"
        self.claims.append({"id": own, "says": words, **per, **data, "line": place[0]})
        self.noted.append(Noted(place, figure, frozenset(self.defaults)))
        self.document.places[index] = self.place(at)
        return index


def _malformed(passage: Passage, lead: re.Match[str], body: str) -> tuple[str, str] | None:
    """Why an annotation cannot be read at all, and a hint."""
    long = f"an annotation has at most {LONGEST_ANNOTATION:,} characters"
    faults = {
        ("the annotation needs a colon", f"write {EXAMPLE}"): not lead[1],
        ("the annotation does not end", "end it with -->"): not passage.closed,
        (long, ""): len(passage.comment) > LONGEST_ANNOTATION,
        ("an annotation holds the beginning of another comment", "end it with -->"): "<!--" in body,
        ("the annotation is empty", f"write {EXAMPLE}"): not body,
    }
    return next((fault for fault, found in faults.items() if found), None)


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
    gaps = [match.span() for match in SENTENCE_END.finditer(prose)]
    begins = max((end for _, end in gaps if end <= place), default=0)
    ends = next((start for start, _ in gaps if start > place), len(prose))
    if begins < fresh <= place and re.search(r"\w", prose[fresh:ends]):
        begins = fresh
    words = _plain(prose[begins:ends]).strip("|#> ").lstrip(",;:. ").rstrip(",; ")
    return _cut(re.sub(r"\s+(?=[.,;:!?)%](?:\s|$))|(?<=[(])\s+", "", words))


def row_text(row: str) -> str:
    """A table row up to its comment, its cells side by side.

    >>> row_text("| 4,096 | **1.34 GB** ")
    '4,096 | 1.34 GB'
    """
    return _cut(" | ".join(filter(None, map(_plain, row.split("|")))))


def _plain(text: str) -> str:
    """A text on one line without marks; a formula is three dots."""
    return " ".join(FORMULAS.sub("…", MARKUP.sub(" ", text)).split())


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST_SENTENCE else words[:LONGEST_SENTENCE].rstrip() + " …"


HOLD_CLAIMS = (*NOTES, ".yaml", ".yml", ".json", "")
"""Endings of files that hold claims."""
FILE_HINT = "claims are read in Markdown notes (.md), notebooks (.ipynb) and claim files (.yaml); `symroof init claims` writes one"
NOTHING: Mapping[str, str] = MappingProxyType({})
READABLE: dict[str, Any] = {"id": str, "says": str, "value": (str, int, Fraction), "line": int}
"""Fields of a faulty claim that are shown, where they are of these types."""


@dataclass(frozen=True)
class ClaimFile:
    """A file of claims that was read.

    Attributes:
        noted: the place of each claim, and what a note tells of it beside its data.
        problems: all of its faults.
        skipped: the claims that cannot be judged for them, by their place in the file.
    """

    document: Document
    spec: ClaimsSpec
    noted: Sequence[Noted]
    problems: tuple[Problem, ...] = ()
    skipped: frozenset[int] = frozenset()


def read_claims(text: str, file: str, defaults: Mapping[str, str] = NOTHING) -> ClaimFile:
    """A file of claims: a Markdown note by its ending, a claim file else; claims that cannot be read are skipped.

    ``defaults`` are settings for claims that state none of their own.

    Raises:
        InputError: a fault of the file as a whole.
    """
    early: list[Problem] = []
    suffix = Path(file).suffix
    if suffix.lower() not in HOLD_CLAIMS:
        raise InputError(Problem(file, f"a {suffix} file cannot hold claims", hint=FILE_HINT))
    note = Note(text, file, defaults) if suffix.lower() in NOTES else None
    document = note.document if note else _normalized(loads(text, file, early), early, defaults)
    if isinstance(document.data, dict) and "claims" not in document.data:
        hint = "`symroof init claims` writes a starter; a note's name ends in .md"
        raise InputError(Problem(file, "holds no claims", 1, 1, hint=hint))
    every, aside = [*(note.problems if note else ())], {*(note.skipped if note else ())}
    problems: Sequence[Problem] = early
    while True:
        # a fault of a default is one of each claim after it, told once
        every += {(one.line, one.column, one.message): one for one in problems}.values()
        late = _claims_of(problems, every) - aside
        document, aside = _without(document, late, problems), aside | late
        try:
            spec = build(document, ClaimsSpec)
        except InputError as error:
            problems = error.problems
            continue
        places = (document.places["claims", i] for i in range(len(spec.claims)))
        noted = note.noted if note else [Noted(place) for place in places]
        return ClaimFile(document, spec, noted, tuple(every), frozenset(aside))


def _normalized(document: Document, noted: list[Problem], defaults: Mapping[str, str]) -> Document:
    """A claim file with the settings of its claims normalized."""
    claims = document.data.get("claims") if isinstance(document.data, dict) else None
    if not isinstance(claims, list):
        return document
    # a value is the text it stands as: 1.20 claims a digit more than 6/5
    for location, text in document.written.items():
        if location[2:] == ("value",) or (
            location[2:3] in (("values",), ("steps",)) and "value" in location[3:]
        ):
            reduce(getitem, location[:-1], document.data)[location[-1]] = text
    base, whole, places = Path(document.file).resolve().parent, list(claims), dict(document.places)
    for i, claim in enumerate(claims):
        if isinstance(claim, dict):
            if isinstance(given := claim.get("given", {}), dict) and defaults:
                claim = {**claim, "given": {**defaults, **given}}
            whole[i], faults = normalized(claim, base, places, ("claims", i))
            noted += [document.problem(*fault) for fault in faults]
    return replace(document, data={**document.data, "claims": whole}, places=places)


def _claims_of(problems: Iterable[Problem], every: Sequence[Problem]) -> set[int]:
    """Which claims the problems are of.

    Raises:
        InputError: one is of none, but of the file as a whole; then with every problem so far.
    """
    indices = {(*problem.location, None, None)[:2] for problem in problems}
    claims = {i for name, i in indices if name == "claims" and isinstance(i, int)}
    if len(claims) < len(indices):
        raise InputError(every)
    return claims


def _without(document: Document, aside: set[int], problems: Iterable[Problem]) -> Document:
    """The document with some of its claims skipped: those that are not judged, whose readable fields stay."""
    if not aside:
        return document
    claims = list(document.data["claims"])
    others = (claim for i, claim in enumerate(claims) if i not in aside)
    taken = {claim.get("id") for claim in others if isinstance(claim, dict)}
    for i in sorted(aside):
        reasons = [problem for problem in problems if problem.location[:2] == ("claims", i)]
        data = claims[i] if isinstance(claims[i], dict) else {}
        kept = {key: data[key] for key, kind in READABLE.items() if isinstance(data.get(key), kind)}
        while kept.setdefault("id", f"claim-{i + 1}") in taken:
            kept["id"] += "-2"
        claims[i] = {**kept, "unchecked": why(reasons) or "cannot be read"}
        taken.add(kept["id"])
    return replace(document, data={**document.data, "claims": claims})
