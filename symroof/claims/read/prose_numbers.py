"""Numbers as prose writes them: ``hedged_number 24 tokens/sec``, ``**1.34** GB``, ``25 to 30 ms``, ``1.4 × 10^11 bytes``, ``$0.80``.

>>> [figure] = figures("A step takes under **50 ms**.")
>>> figure.written, figure.text
('< 50 ms', 'under 50 ms')
>>> [figure.written for figure in figures("Llama-3-70B on 2 H100s: 1.2e3 tokens per second, 20–25 ms")]
['2', '1.2e3 token/s', '20..25 ms']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from symroof.claims.read.written_units import (
    POWERS_OF_TEN,
    SEPARATOR,
    Denominator,
    denominators,
    money_unit,
    unit_at,
)
from symroof.units import PLAIN, UNITS, Dimension, describe, parse_unit, strict

WORD = r"(?P<word>[^\W\d_]\w{0,60}(?:[-.][^\W_]\w{0,60}){0,20})"
COMMA = r"(?:\d{1,6},(?:\d{1,2}|\d{4,9})|0,\d{3})(?![\d.]|,\d)"
"""A decimal comma, where a unit follows; else it parts two numbers."""
GROUPED = r"\d{1,3}(?P<apart>[,'’\u2009\u202f])\d{3}(?:(?P=apart)\d{3})*(?:\.\d+)?"
"""Thousands are set apart by a comma, by an apostrophe or a thin space; not by a plain one, which parts two numbers."""
MINUS = r"(?:(?:^|(?<=[\s(|]))(?<![\d)%][\s(|])[-−](?=[\d.]))?"
"""A sign of its own, not what joins two numbers or begins an item."""
NUMBER = rf"(?P<number>{MINUS}(?:(?P<comma>{COMMA})|{GROUPED}|\d+(?:\.\d+)?|(?<!\.)\.\d+))(?P<power>[eE][+-]?\d{{1,3}}(?!\w))?"
TOKEN = re.compile(rf"{WORD}|{NUMBER}")
TIMES_TEN = re.compile(
    r"[ $]{0,8}(?:×|x|\*|·)\s{0,8}10(?:\^\{?([+-]?\d{1,2})\}?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
GAP = re.compile(r"(?:\s|[*_`$\\]|&nbsp;|&thinsp;|-(?=[a-z])){0,30}")
MAGNITUDE = re.compile(
    r"[\s-]?(thousand|million|billion|trillion)\b|(bn|[MB]|T(?!/s))\b|(k)(?=\s{0,4}(?:tok|req|tps|t/s))",
    re.IGNORECASE,
)

A_SECOND = re.compile(r"\s?/\s?s(?:ec(?:ond)?)?\b|\s{1,4}(?:per|a|each|every)\s{1,4}second\b", re.I)
"""Behind a number of what the sentence named before: ``25 to 30 per second``."""
PEAK_OF = re.compile(
    r"(?:dense\s|sparse\s)?(?:BF|FP|TF|INT)-?\d{1,2}\s{1,3}(?=[kMGTPE]?FLOP|TOPS)", re.IGNORECASE
)
"""A precision between the number of a peak and its unit: ``1,979 BF16 TFLOPS``."""

HEDGES = (
    "~",
    "≈",
    "about",
    "around",
    "roughly",
    "approximately",
    "ca.",
    "ca",
    "some",
    "nearly",
    "almost",
)
OPERATORS = {
    "<=": "<=",
    ">=": ">=",
    "<": "<",
    ">": ">",
    "≤": "<=",
    "≥": ">=",
    "less than": "<",
    "under": "<",
    "below": "<",
    "at most": "<=",
    "up to": "<=",
    "more than": ">",
    "over": ">",
    "above": ">",
    "at least": ">=",
    "no more than": "<=",
    "not more than": "<=",
    "no less than": ">=",
    "not less than": ">=",
}
SPEEDS = {
    "no faster than": True,
    "not faster than": True,
    "no slower than": False,
    "not slower than": False,
}
"""Bounds on speed: an upper one of a rate is a lower one of a time."""
BOUNDS = OPERATORS | {"&lt;": "<", "≲": "<=", "&gt;": ">", "≳": ">="}


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


HEDGE = re.compile(rf"(?:{_any_of(HEDGES)})(?![^\W\d_])", re.IGNORECASE)
BOUND_WORD = re.compile(rf"({_any_of((*OPERATORS, *SPEEDS))})(?![^\W\d_])", re.IGNORECASE)
BEFORE = re.compile(rf"(?<!\w)({_any_of((*BOUNDS, *SPEEDS, *HEDGES))})[\s*_`$]*$", re.IGNORECASE)
JOINED = re.compile(r"\s{0,8}(?:\.\.|[–—‐‑]|-{1,2})\s{0,8}|\s{1,8}(to|and)\s{1,8}")
GIVE_OR_TAKE = re.compile(r"\s{0,8}\$?\s{0,8}(?:±|\+/?[-−])\s{0,8}\$?\s{0,8}")
"""Before how far a number may be off: it makes a hedge of it."""

ARROW = re.compile(r"[-=–—]$")
"""Before a ``>`` it makes an arrow: ``400 GB/s -> 11 tok/s``."""
NEGATED = re.compile(r"\b(?:cannot|can't|can’t|not|never)\b[^.;:,]{0,20}$", re.IGNORECASE)
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


WORK = parse_unit("FLOP").dimension
TIDY = (
    (re.compile(r"[*_`\\]|\$(?!\s?[\d.])|&nbsp;|&thinsp;"), " "),
    (re.compile(r"[{}]"), ""),
    (re.compile(r"\s+([×·])\s*|\s*([×·])\s+"), r" \1\2 "),
    (re.compile(r"\s*--\s*"), "–"),
    (re.compile(r"(?<=[^\W\d])\s*/\s*(?=[^\W\d])"), "/"),
)
"""Marks that a person would not write, and their replacements."""

PARTS = ("device", "request", "layer", "head")
"""What a quantity as a whole is often stated of."""


@dataclass(frozen=True)
class Figure:
    """A number of a sentence.

    Attributes:
        begin: where its bound, hedge or sign of money begins, in its text.
        start, end: of its digits.
        number_end: where its number ends, powers of ten included.
        unit_end: where its unit ends.
        digits: as written.
        power: of ten that follows them (``billion``, ``e9``).
        unit: as symroof writes it.
        qualifier: a bound or a hedge before it, as symroof writes it.
        text: all of it, as written.
        range_end: the other end, of a range.
        decimal_comma: whether its decimal mark is a comma; a point among its digits.
        denominators: what it is of, by the words around it.
    """

    begin: int
    start: int
    end: int
    number_end: int
    unit_end: int
    digits: str
    power: int
    unit: str
    qualifier: str
    text: str
    range_end: Figure | None = None
    decimal_comma: bool = False
    denominators: tuple[Denominator, ...] = ()

    @property
    def number(self) -> str:
        return f"{self.digits}e{self.power}" if self.power else self.digits

    @property
    def written(self) -> str:
        """As a claim file would write it."""
        if self.range_end:
            return f"{self.qualifier} {self.number}..{self.range_end.number} {self.range_end.unit}".strip()
        gap = "" if self.unit == "x" else " "
        return f"{self.qualifier} {self.number}{gap}{self.unit}".strip()

    def shifted(self, by: int) -> Figure:
        """The same number in a text that begins so much earlier."""
        last = self.range_end.shifted(by) if self.range_end else None
        places = ("begin", "start", "end", "number_end", "unit_end")
        moved = {name: getattr(self, name) + by for name in places}
        return replace(self, range_end=last, **moved)

    @property
    def dimension(self) -> Dimension:
        return PLAIN if self.unit in ("", "x") else parse_unit(self.unit).dimension

    def fit(self, unit: str) -> int:
        """How well its unit fits: 0 it is the unit, 1 of its kind, 2 a plain number where that will do, 3 it is, but of
        something else (dollars an hour for dollars), 9 not at all."""
        needed = parse_unit(unit).dimension
        if self.unit in ("bit", "bits") and unit == "byte":
            return 9  # 16-bit is a precision
        if self.unit in ("%", "x"):
            return 0 if not needed else 9
        if not self.unit:
            count = not strict(needed) or describe(needed) == "FLOP/byte"
            return (2 if count else 9) if needed else 1
        if self.dimension == needed or (unit == "FLOP/s" and self.dimension == WORK):
            return 0
        if strict(self.dimension) == strict(needed) and strict(needed):
            return 0 if any(one.kind in PARTS for one in self.denominators) else 1
        per = parse_unit(self.unit.partition("/")[0]).dimension
        return 3 if needed and per == needed else 9


def figures(text: str) -> list[Figure]:
    """The numbers of a text with their units, in order; a number inside a name (``H100``, ``fp16``) is none."""
    numbers: list[Figure] = []
    for figure in _singles(text):
        before = numbers[-1] if numbers and not numbers[-1].range_end else None
        between = (before.unit_end, figure.start) if before else (0, 0)
        joined = JOINED.fullmatch(text, *between) if before else None
        if before and joined and _range(text, before, figure, joined[1]):
            gap, tail = text[before.end : figure.start], text[figure.end : figure.unit_end]
            numbers[-1] = replace(
                before,
                text=without_marks(before.digits + gap + figure.digits + tail),
                qualifier="about" if before.qualifier == "about" else "",
                range_end=replace(figure, unit=figure.unit or before.unit),
            )
        elif before and GIVE_OR_TAKE.fullmatch(text, *between):
            numbers[-1] = replace(
                before,
                text=without_marks(before.text + text[slice(*between)] + figure.text),
                qualifier="about",
                unit=before.unit or figure.unit,
                denominators=before.denominators or figure.denominators,
                unit_end=figure.unit_end,
            )
        else:
            numbers.append(figure)
    return numbers


def _singles(text: str) -> Iterator[Figure]:
    place = 0
    while match := TOKEN.search(text, place):
        place, number = match.end(), match["number"] or ""
        plain = all(sign.isascii() for sign in number if sign.isdigit()) and len(number) <= 40
        if number and plain and (figure := _figure(text, match)):
            place = figure.unit_end
            yield figure


def _figure(text: str, match: re.Match[str]) -> Figure | None:
    start, end = match.span("number")
    place, power = match.end(), int((match["power"] or "e0")[1:])
    if ten := TIMES_TEN.match(text, place):
        raised = ten[1] or ten[2].translate(RAISED)
        power += int(raised) if re.fullmatch(r"[+-]?\d+", raised) else 0
        place = ten.end()
    if size := MAGNITUDE.match(text, place):
        power += POWERS_OF_TEN[(size[1] or size[2] or size[3]).lower()]
        place = size.end()
    begins = GAP.match(text, place).end()  # type: ignore[union-attr]
    peak = PEAK_OF.match(text, begins)
    unit, after = unit_at(text, peak.end() if peak else begins)
    if (not unit or text[place : place + 1] == "/") and (rate := A_SECOND.match(text, place)):
        unit, after = "Hz", rate.end()
    comma = bool(match["comma"]) and bool(unit or size or ten)
    if match["comma"] and not comma:  # 1,0 and 10,00
        end = place = start + match["number"].index(",")
    digits = re.sub("['’\u2009\u202f]", ",", text[start:end].replace("−", "-"))
    digits = digits.replace(",", ".") if comma else digits
    if not unit and re.match(r"\w", text[place : place + 1]):
        return None  # 3rd, 8x7
    stop = after if unit else place
    behind = SEPARATOR.search(text, begins, stop)
    own = behind.start() if behind and behind.start() > begins else stop  # before what it is of
    first = start
    money = re.search(r"(?:US)?\$\s?$", text[max(start - 4, 0) : start])
    if money and (not unit or text[place : place + 1] == "/"):
        unit, stop = money_unit(text, place)
        own, first = place, start - len(money[0])
    sign, first = _sign(text, first, unit)
    shown = text[first:start] + (text[start:end] if comma else digits) + text[end:stop]
    of = denominators(text, start, own)
    return Figure(
        first,
        start,
        end,
        place,
        stop,
        digits,
        power,
        unit,
        sign,
        without_marks(shown),
        None,
        comma,
        of,
    )


def _sign(text: str, start: int, unit: str) -> tuple[str, int]:
    """The bound or hedge before a number of a unit, and where it begins."""
    low = max(start - 28, 0)
    match = BEFORE.search(text[low:start])
    if not match:
        return "", start
    words, begin = match[1].lower(), low + match.start()
    if words in SPEEDS:  # of a time the other way round
        slow = unit in UNITS and UNITS[unit][1] == UNITS["s"][1]
        return (">=" if SPEEDS[words] is slow else "<="), begin
    sign = BOUNDS.get(words, "about")
    if sign == ">" and ARROW.search(text, low, low + match.start(1)):
        return "", start
    negated = NEGATED.search(text[max(begin - 30, 0) : begin])
    if negated and sign in OPPOSITE:  # cannot take less than
        return OPPOSITE[sign], begin - len(negated[0])
    return sign, begin


def _range(text: str, first: Figure, last: Figure, word: str | None) -> bool:
    """Whether two adjacent numbers are the ends of a range."""
    before = text[max(first.start - 12, 0) : first.start].lower()
    if word == "and":
        return bool(re.search(r"\bbetween\s+\W*$", before))
    alike = first.unit in ("", last.unit) or (first.unit == "USD" and not last.unit)
    alike |= bool(first.unit and last.unit) and first.dimension == last.dimension
    return alike and not (word == "to" and re.search(r"\bfrom\s+\W*$", before))


def without_marks(text: str) -> str:
    """A bare number with its unit as a person would write it: without marks, on one line.

    >>> without_marks("**1.4** ×10^{11}  B")
    '1.4 × 10^11 B'
    """
    for pattern, instead in TIDY:
        text = pattern.sub(instead, text)
    return " ".join(text.split())
