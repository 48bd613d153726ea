"""Numbers as prose writes them, with their units and what they are of: ``about 24 tokens/sec``, ``25 to 30 ms``, ``$0.80 per 1K tokens``.

>>> [figure] = figures("A step takes under **50 ms**.")
>>> figure.written, figure.text
('< 50 ms', 'under 50 ms')
>>> [figure.written for figure in figures("Llama-3-70B on 2 H100s: 1.2e3 tokens per second, 20–25 ms")]
['2', '1.2e3 token/s', '20..25 ms']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from symroof.claims.denominators import POWERS_OF_TEN, WORDS, Denominator, denominators
from symroof.units import PLAIN, UNITS, Dimension, describe, parse_unit, strict

NAME = r"[^\W\d_]\w{0,60}(?:[-.][^\W_]\w{0,60}){0,20}"
MINUS = r"(?:(?:^|(?<=[\s(|]))(?<![\d)%][\s(|])[-−](?=[\d.]))?"
"""A sign of its own, not what joins two numbers or begins an item."""
RUN = r"[0-9]+(?:[.,'’\u2009\u202f][0-9]+)*|(?<![\w.])\.[0-9]+"
TOKEN = re.compile(rf"{NAME}|(?P<number>{MINUS}(?:{RUN}))(?P<power>[eE][+-]?[0-9]{{1,3}}(?!\w))?")
READABLE = re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d*\.?\d+)")
"""Commas set thousands apart. ``1,34``, ``1'000`` and ``3.1.2`` are not read, rather than misread."""
TIMES_TEN = re.compile(r"[ $]{0,8}[×x*·]\s{0,8}10(?:\^\{?([+-]?\d{1,2})\}?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
MAGNITUDE = re.compile(
    r"[\s-]?(thousand|million|billion|trillion)\b|(bn|[MB]|T(?!/s))\b|(k)(?=\s{0,4}(?:tok|req|tps|t/s))",
    re.IGNORECASE,
)
GAP = re.compile(r"(?:\s|[*_`$\\]|&nbsp;|-(?=[a-z])){0,30}")
PEAK_OF = re.compile(
    r"(?:dense\s|sparse\s)?(?:BF|FP|TF|INT)-?\d{1,2}\s{1,3}(?=[kMGTPE]?FLOP|TOPS)", re.IGNORECASE
)
"""A precision between the number of a peak and its unit: ``1,979 BF16 TFLOPS``."""
MONEY = re.compile(r"(?:US)?\$\s?$")

HEDGE = r"~|≈|(?:about|around|roughly|approximately|ca\.?|some|nearly|almost)(?![^\W\d_])"
OPERATORS = {word: sign for sign, words in WORDS["bounds"].items() for word in words}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
BOUND = "|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))
QUALIFIER = re.compile(rf"(?:(?P<bound>{BOUND})(?![^\W\d_])|{HEDGE})", re.IGNORECASE)
BEFORE = re.compile(rf"(?<!\w)(?<![-=–—])({QUALIFIER.pattern})[\s*_`$]*$", re.IGNORECASE)
"""A ``>`` behind a dash is an arrow, no bound: ``400 GB/s -> 11 tok/s``."""
NEGATED = re.compile(r"\b(?:cannot|can't|can’t|not|never)\b[^.;:,]{0,20}$", re.IGNORECASE)
JOINED = re.compile(r"\s{0,8}(?:\.\.|[–—‐‑]|-{1,2})\s{0,8}|\s{1,8}(to|and)\s{1,8}")

SEPARATOR = re.compile(r"\s{0,20}/\s{0,20}|\s+per\s+|\s+an?\s+|\s+for\s+(?:every|each)\s+")
GPU_HOUR = r"(?:(?:GPU|device|card|chip|accelerator)[\s-](?=h(?:ours?|rs?)?\b))?"
WORD = rf"{GPU_HOUR}[^\W\d_]{{1,20}}"
UNIT = re.compile(
    rf"%|[x×](?!\w|\s{{0,8}}[\d(])|{WORD}(?:(?:{SEPARATOR.pattern}){WORD}){{0,2}}", re.IGNORECASE
)
SPELLED = {word: unit for unit, words in WORDS["units"].items() for word in words}
SPELLED |= {
    f"{prefix}{word}{s}": f"{sign}{unit}"
    for prefix, sign in WORDS["prefixes"].items()
    for word, unit in (("byte", "B"), ("flop", "FLOP"))
    for s in ("", "s")
}
"""Units as people write them, in small letters, and as symroof does."""

WORK = parse_unit("FLOP").dimension
TIME = parse_unit("s").dimension
MARKS = re.compile(
    r"\*{2,3}|(?<![\w)])\*|\*(?![\w(])|(?<!\w)_{1,2}|_{1,2}(?!\w)|[`\\]|\$(?!\s?[\d./])|&nbsp;"
)
"""Marks that a person would not write."""
PARTS = ("device", "request", "layer", "head")
"""What a quantity as a whole is often stated of."""


@dataclass(frozen=True)
class Figure:
    """A number of a sentence.

    Attributes:
        begin: where its bound, hedge or sign of money begins, in its text.
        start, end: of its digits.
        unit_end: where its unit ends.
        digits: as written.
        power: of ten that follows them (``billion``, ``e9``).
        unit: as symroof writes it.
        qualifier: a bound or a hedge before it, as symroof writes it.
        text: all of it, as written.
        denominators: what it is of, by the words around it.
        range_end: the other end, of a range.
    """

    begin: int
    start: int
    end: int
    unit_end: int
    digits: str
    power: int
    unit: str
    qualifier: str
    text: str
    denominators: tuple[Denominator, ...] = ()
    range_end: Figure | None = None

    @property
    def number(self) -> str:
        return f"{self.digits}e{self.power}" if self.power else self.digits

    @property
    def written(self) -> str:
        """As a claim file would write it."""
        last = self.range_end or self
        span = f"{self.number}..{last.number}" if self.range_end else self.number
        gap = "" if last.unit == "x" else " "
        return f"{self.qualifier} {span}{gap}{last.unit}".strip()

    def shifted(self, by: int) -> Figure:
        """The same number in a text that begins so much earlier."""
        places = ("begin", "start", "end", "unit_end")
        return replace(self, **{name: getattr(self, name) + by for name in places})

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
            if not needed:
                return 1
            return 2 if not strict(needed) or describe(needed) == "FLOP/byte" else 9
        if self.dimension == needed or (unit == "FLOP/s" and self.dimension == WORK):
            return 0
        if strict(self.dimension) == strict(needed) and strict(needed):
            return 0 if any(one.kind in PARTS for one in self.denominators) else 1
        per = parse_unit(self.unit.partition("/")[0]).dimension
        return 3 if needed and per == needed else 9


def figures(text: str) -> list[Figure]:
    """The numbers of a text with their units, in order, the two of a range as one."""
    numbers: list[Figure] = []
    for figure in single_figures(text):
        joined = _joined(text, numbers[-1], figure) if numbers else None
        if joined:
            numbers[-1] = joined
        else:
            numbers.append(figure)
    return numbers


def single_figures(text: str) -> Iterator[Figure]:
    """The numbers of a text one by one; a number inside a name (``H100``, ``fp16``) is none."""
    place = 0
    while match := TOKEN.search(text, place):
        place, digits = match.end(), match["number"] or ""
        if text[max(match.start() - 2, 0) : match.start()].strip() == "±":
            continue  # how far the number before may be off
        if len(digits) <= 40 and READABLE.fullmatch(digits) and (figure := _figure(text, match)):
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
        power += POWERS_OF_TEN[next(filter(None, size.groups())).lower()]
        place = size.end()
    begins = GAP.match(text, place).end()  # type: ignore[union-attr]
    peak = PEAK_OF.match(text, begins)
    unit, unit_end = unit_at(text, peak.end() if peak else begins)
    if not unit and re.match(r"\w", text[place : place + 1]):
        return None  # 3rd, 8x7
    unit_end = unit_end if unit else place
    behind = SEPARATOR.search(text, begins, unit_end)
    own = behind.start() if behind and behind.start() > begins else unit_end  # before what it is of
    first = start
    money = MONEY.search(text[max(start - 4, 0) : start])
    if money and (not unit or text[place : place + 1] == "/"):
        own, first, behind = place, start - len(money[0]), SEPARATOR.match(text, place)
        unit, unit_end = unit_at(text, behind.end()) if behind else ("", place)
        timed = bool(unit) and parse_unit(unit).dimension == TIME  # an hour, /GPU-hour
        unit, unit_end = (f"USD/{unit}", unit_end) if timed else ("USD", place)
    qualifier, first = _qualifier(text, first)
    digits = match["number"].replace("−", "-")
    shown = text[first:start] + digits + text[end:unit_end]
    of, said = denominators(text, start, own), without_marks(shown)
    return Figure(first, start, end, unit_end, digits, power, unit, qualifier, said, of)


def _qualifier(text: str, start: int) -> tuple[str, int]:
    """The bound or hedge before a number, and where it begins."""
    low = max(start - 28, 0)
    match = BEFORE.search(text, low, start)
    if not match:
        return "", start
    if not match["bound"]:
        return "about", match.start()
    sign, begin = OPERATORS[match["bound"].lower()], match.start()
    if negated := NEGATED.search(text[max(begin - 30, 0) : begin]):  # cannot take less than
        return OPPOSITE[sign], begin - len(negated[0])
    return sign, begin


def _joined(text: str, first: Figure, last: Figure) -> Figure | None:
    """Two adjacent numbers as one range; None where they are not its ends."""
    between = JOINED.fullmatch(text, first.unit_end, last.start)
    if not between or first.range_end:
        return None
    before = text[max(first.start - 12, 0) : first.start].lower()
    lead = re.search(r"\b(between|from)\s+\W*$", before)
    word, lead_word = between[1], lead[1] if lead else ""
    alike = first.unit in ("", last.unit) or (first.unit == "USD" and not last.unit)
    alike |= bool(first.unit and last.unit) and first.dimension == last.dimension
    if word == "and" and lead_word != "between":
        return None
    if word != "and" and (not alike or (word == "to" and lead_word == "from")):
        return None
    gap, tail = text[first.end : last.start], text[last.end : last.unit_end]
    shown = without_marks(first.digits + gap + last.digits + tail)
    hedge = "about" if first.qualifier == "about" else ""
    end = replace(last, unit=last.unit or first.unit)
    return replace(first, text=shown, qualifier=hedge, range_end=end)


def unit_at(text: str, place: int) -> tuple[str, int]:
    """The longest unit that can be read at a place of a text, as symroof writes it, and where it ends.

    >>> unit_at("gigabytes per second", 0), unit_at("tok/s/user", 0)
    (('GB/s', 20), ('token/s', 5))
    """
    match = UNIT.match(text, place)
    if not match:
        return "", place
    for cut in [len(match[0]), *(p.start() for p in reversed([*SEPARATOR.finditer(match[0])]))]:
        pieces = []
        for piece in SEPARATOR.split(match[0][:cut]):
            name = re.sub(GPU_HOUR, "", piece, flags=re.IGNORECASE)
            lower = name.lower()
            if lower in SPELLED and (name not in UNITS or name == lower):  # FLOPS is a rate
                name = SPELLED[lower]
            elif name not in UNITS and len(lower) > 3 and lower in UNITS:
                name = lower
            pieces.append(name)
        if pieces[0].lower() == "t" and pieces[1:2] == ["s"]:  # as llama.cpp prints tokens a second
            pieces[0] = "token"
        if pieces[0].endswith("FLOPS") and pieces[1:2] == ["byte"]:  # FLOPS/byte: the S is a plural
            pieces[0] = pieces[0][:-1]
        after = match.start() + cut
        if pieces == ["x"]:
            return ("", place) if text[after : after + 1].isalnum() else ("x", after)
        if all(name in UNITS for piece in pieces for name in piece.split("/")):
            return "/".join(pieces), after
    return "", place


def without_marks(text: str) -> str:
    """A text as a person would write it: without marks, on one line.

    >>> without_marks("**1.4**  GB")
    '1.4 GB'
    """
    return " ".join(MARKS.sub(" ", text).split())
