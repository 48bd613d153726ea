"""Numbers as prose writes them: ``about 24 tokens/sec``, ``**1.34** GB``, ``25 to 30 ms``, ``1.4 × 10^11 bytes``, ``$0.80``.

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

from symroof.claims.read.latex_text import bare, plain
from symroof.claims.read.written_number import HEDGES, OPERATORS
from symroof.units import PLAIN, UNITS, Dimension, describe, parse_unit, strict

WORD = r"(?P<word>[^\W\d_]\w{0,60}(?:[-.][^\W_]\w{0,60}){0,20})"
NUMBER = r"(?P<number>\d{1,3}(?P<apart>,|\{,\}|\\,|['’\u2009\u202f])\d{3}(?:(?P=apart)\d{3})*(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<power>[eE][+-]?\d{1,3}(?!\w))?"
"""Thousands are set apart by a comma, as LaTeX does it, by an apostrophe or a thin space; not by a plain one, which parts two numbers."""
TOKEN = re.compile(rf"{WORD}|{NUMBER}")
TIMES_TEN = re.compile(r"[ $]{0,8}(?:×|x|\*|·)\s{0,8}10(?:\^\{?([+-]?\d{1,2})\}?|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))")
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
GAP = re.compile(r"(?:\s|[*_`$\\]|&nbsp;|&thinsp;|-(?=[a-z])){0,30}")
"""Wide enough for what LaTeX sets between a number and its unit."""
SEPARATOR = re.compile(r"\s{0,20}/\s{0,20}|\s+per\s+|\s+an?\s+")
NAMES = re.compile(rf"%|[x×](?!\w|\s{{0,8}}[\d(])|[^\W\d_]{{1,20}}(?:(?:{SEPARATOR.pattern})[^\W\d_]{{1,20}}){{0,2}}")
MAGNITUDE = re.compile(r"[\s-]?(thousand|million|billion|trillion)\b|(bn|[MBT])\b", re.IGNORECASE)
POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "bn": 9, "m": 6, "b": 9, "t": 12}

BOUNDS = OPERATORS | {
    "&lt;": "<", "≲": "<=", "no more than": "<=", "not more than": "<=", "&gt;": ">", "≳": ">=", "no less than": ">=", "not less than": ">=",
}  # fmt: skip
BEFORE = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted([*BOUNDS, *HEDGES], key=len, reverse=True)))})[\s*_`$]*$", re.IGNORECASE)
JOINED = re.compile(r"\s{0,8}(?:\.\.|[–—]|-{1,2})\s{0,8}|\s{1,8}(to|and)\s{1,8}")

NEGATED = re.compile(r"\b(?:cannot|can't|can’t|not|never)\b[^.;:,]{0,20}$", re.IGNORECASE)
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}

SPELLED = {"sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "percent": "%", "dollar": "USD", "dollars": "USD", "hr": "hour", "hrs": "hour",
           "μs": "us", "times": "x", "×": "x", "toks": "token", "params": "param", "reqs": "request", "req": "request", "flops": "FLOP", "flop": "FLOP",
           "gpu": "device", "gpus": "device", "watt": "W", "watts": "W"}  # fmt: skip
SPELLED |= {f"{word}{s}": unit for word, unit in (("millisecond", "ms"), ("microsecond", "us"), ("nanosecond", "ns")) for s in ("", "s")}
SPELLED |= {f"{word}byte{s}": f"{letter}B" for word, letter in (("kilo", "k"), ("mega", "M"), ("giga", "G"), ("tera", "T")) for s in ("", "s")}
SPELLED |= {f"{word}byte{s}": f"{letter}B" for word, letter in (("kibi", "Ki"), ("mebi", "Mi"), ("gibi", "Gi"), ("tebi", "Ti")) for s in ("", "s")}


@dataclass(frozen=True)
class Figure:
    """A number of a sentence.

    Attributes:
        start, end: of its digits, in its text.
        stop: where its unit ends.
        digits: as they stand there.
        power: of ten that follows them (``billion``, ``e9``).
        unit: as symroof writes it.
        sign: a bound or a hedge before it, as symroof writes it.
        text: all of it, as it stands there.
        last: the other end, of a range.
        apart: what sets its thousands apart; a comma among its digits.
    """

    start: int
    end: int
    stop: int
    digits: str
    power: int
    unit: str
    sign: str
    text: str
    last: Figure | None = None
    apart: str = ","

    @property
    def number(self) -> str:
        return f"{self.digits}e{self.power}" if self.power else self.digits

    @property
    def written(self) -> str:
        """As a claim file would write it."""
        if self.last:
            return f"{self.sign} {self.number}..{self.last.number} {self.last.unit}".strip()
        gap = "" if self.unit == "x" else " "
        return f"{self.sign} {self.number}{gap}{self.unit}".strip()

    def moved(self, by: int) -> Figure:
        """The same number in a text that begins so much earlier."""
        return replace(self, start=self.start + by, end=self.end + by, stop=self.stop + by)

    @property
    def dimension(self) -> Dimension:
        return PLAIN if self.unit in ("", "x") else parse_unit(self.unit).dimension

    def fit(self, unit: str) -> int:
        """How well its unit fits: 0 it is the unit, 1 of its kind, 2 a plain number where that will do, 9 not at all."""
        needed = parse_unit(unit).dimension
        share = self.unit in ("%", "x")
        if self.unit and not share:
            if self.dimension == needed:
                return 0
            return 1 if strict(self.dimension) == strict(needed) and strict(needed) else 9
        if share:
            return 0 if not needed else 9
        return 1 if not needed else 2 if not strict(needed) or describe(needed) == "FLOP/byte" else 9


def figures(text: str) -> list[Figure]:
    """The numbers of a text with their units, in order; a number inside a name (``H100``, ``fp16``) is none."""
    numbers: list[Figure] = []
    text = bare(text)
    for figure in _singles(text):
        before = numbers[-1] if numbers else None
        joined = JOINED.fullmatch(text, before.stop, figure.start) if before and not before.last else None
        if before and joined and _range(text, before, figure, joined[1]):
            shown = before.digits + text[before.end : figure.start] + figure.digits + text[figure.end : figure.stop]
            numbers[-1] = replace(before, text=plain(shown), sign="about" if before.sign == "about" else "", last=figure)
        else:
            numbers.append(figure)
    return numbers


def _singles(text: str) -> Iterator[Figure]:
    place = 0
    while match := TOKEN.search(text, place):
        place = match.end()
        if match["number"] and len(match["number"]) <= 40 and (figure := _figure(text, match)):
            place = figure.stop
            yield figure


def _figure(text: str, match: re.Match[str]) -> Figure | None:
    start, end = match.span("number")
    place, power = match.end(), int((match["power"] or "e0")[1:])
    if ten := TIMES_TEN.match(text, place):
        power, place = power + _whole(ten[1] or ten[2].translate(RAISED)), ten.end()
    if size := MAGNITUDE.match(text, place):
        power, place = power + POWERS[(size[1] or size[2]).lower()], size.end()
    gap = GAP.match(text, place)
    unit, after = _unit(text, gap.end() if gap else place)
    if not unit and place < len(text) and (text[place].isalnum() or text[place] == "_"):
        return None  # 3rd, 8x7
    stop = after if unit else place
    money = re.search(r"\$\s?$", text[max(start - 2, 0) : start])
    if money and (not unit or text[place : place + 1] == "/"):
        unit = f"USD/{unit}" if unit and text[place : place + 1] == "/" else "USD"
    else:
        money = None
    sign, begins = _sign(text, start - len(money[0]) if money else start)
    apart = match["apart"] or ","
    digits = match["number"].replace(apart, ",")
    return Figure(start, end, stop, digits, power, unit, sign, plain(text[begins:start] + digits + text[end:stop]), apart=apart)


def _whole(text: str) -> int:
    """A written exponent; ``-`` alone or twice is none."""
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else 0


def _unit(text: str, place: int) -> tuple[str, int]:
    """The longest unit that can be read at a place, and where it ends."""
    match = NAMES.match(text, place) or (NAMES.match(text, place + 1) if text[place : place + 1] == "/" else None)
    if not match:
        return "", place
    parts = list(SEPARATOR.finditer(match[0]))
    for cut in [len(match[0]), *(part.start() for part in reversed(parts))]:
        pieces = [_spelled(piece) for piece in SEPARATOR.split(match[0][:cut])]
        if pieces[0].endswith("FLOPS") and pieces[1:2] == ["byte"]:  # FLOPS/byte: the S is a plural
            pieces[0] = pieces[0][:-1]
        after = match.start() + cut
        if pieces == ["x"]:
            return ("", place) if text[after : after + 1].isalnum() else ("x", after)
        if all(piece in UNITS for piece in pieces):
            return "/".join(pieces), after
    return "", place


def _spelled(name: str) -> str:
    """A unit's name as symroof writes it."""
    if name in UNITS:
        return {"tokens": "token", "tok": "token", "bytes": "byte", "requests": "request"}.get(name, name)
    lower = name.lower()
    return SPELLED.get(lower) or (lower if len(lower) > 3 and lower in UNITS else name)


def _sign(text: str, start: int) -> tuple[str, int]:
    """The bound or hedge that stands before a number, and where it begins."""
    low = max(start - 28, 0)
    match = BEFORE.search(text[low:start])
    if not match:
        return "", start
    sign = BOUNDS.get(match[1].lower(), "about")
    if sign in OPPOSITE and (negated := NEGATED.search(text[max(low + match.start() - 30, 0) : low + match.start()])):  # cannot take less than
        return OPPOSITE[sign], low + match.start() - len(negated[0])
    return sign, low + match.start()


def _range(text: str, first: Figure, last: Figure, word: str | None) -> bool:
    """Whether two numbers that stand side by side are the ends of a range."""
    before = text[max(first.start - 12, 0) : first.start].lower()
    if word == "and":
        return bool(re.search(r"\bbetween\s+\W*$", before))
    return (first.unit in ("", last.unit)) and not (word == "to" and re.search(r"\bfrom\s+\W*$", before))
