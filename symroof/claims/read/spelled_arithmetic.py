"""Arithmetic that a text spells out: ``6 × 70.6B × 2,000 = 424``.

Texts leave units out on one side or drop a power of a thousand on the way, so both sides are
compared as they are written and with their units, whatever the powers of a thousand between them;
only digits that cannot come out are reported.

>>> [wrong] = [one for one in equations("It takes 6 × 70.6B × 2,000 = 282 and 2 x 3 = 6.") if not one.follows]
>>> wrong.text, wrong.right
('6 × 70.6B × 2,000', '847')
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from symroof.claims.read.markdown import FORMULA
from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.written_number import CLOSE_ENOUGH, precision
from symroof.symbolic.reading import FormulaError, parse
from symroof.units import parse_unit, significant

WORDS = r"(?:\s*(?:[A-Za-z][A-Za-z/_-]{0,20}|\([A-Za-z][^()\d=]{0,30}\))){0,4}"
BETWEEN = re.compile(
    rf"(?:{WORDS})\s*(?P<close>\)*){WORDS}\s*(?P<op>[×x*·+/÷−–-]|=|≈|≃)\s*(?P<open>\(*)\s*[~≈]?\s*(?:USD|\$)?\s*"
)
"""What is allowed between two numbers of one calculation: words for what the first is of, an operator."""
OPERATORS = {"×": "*", "x": "*", "·": "*", "÷": "/", "−": "-", "–": "-"}
EQUALS = "=≈≃"
LED = re.compile(rf"(?:[×*·/÷^√±−{FORMULA}]|(?<![\d\w)] )(?<!^)\+|\w\()\s*\(*\s*$")
"""What before the first number says that the calculation begins earlier, with what is no number."""
GOES_ON = re.compile(rf"\s*(?:[×*·/÷^+]|\*\*)\s*[A-Za-z({FORMULA}√]|\s*\^")
A_LETTER = re.compile(rf"\s*(?:{FORMULA}|[A-Za-z](?![A-Za-z]))")
MOST_NUMBERS = 12
LONGEST_BLOCK, MOST_CHARACTERS = 20_000, 400_000
"""Characters of a paragraph, and of a file, that are looked through."""
COUNTED = ("", "device", "request", "token")
"""Units of results that are rounded to a whole number, up or down."""
THOUSAND = Fraction(1000)
UNITS_LEFT_OUT = (
    *(Fraction(1), Fraction(8), Fraction(1, 8)),
    *(Fraction(1024, 1000) ** power for power in (-3, -2, -1, 1, 2, 3)),
)
"""Factors of bits, and of 1,024, where a unit of such stands on one side only."""


class Part(NamedTuple):
    """A number of a calculation, with what stands between it and the next."""

    figure: Figure
    close: str = ""
    operator: str = ""
    open: str = ""


@dataclass(frozen=True)
class Equation:
    """Arithmetic and the number that it states as its result.

    Attributes:
        operands: the numbers of the arithmetic.
        result: the number behind the sign of equality.
        source: the arithmetic in symroof's grammar, as it is written and with its units.
        text: as written in the prose.
    """

    operands: tuple[Figure, ...]
    result: Figure
    source: tuple[str, str]
    text: str

    def shifted(self, by: int) -> Equation:
        """The same in a text that begins so much earlier."""
        operands = tuple(one.shifted(by) for one in self.operands)
        return replace(self, operands=operands, result=self.result.shifted(by))

    @property
    def values(self) -> list[tuple[Fraction, Fraction]]:
        """The value of the arithmetic and of the result, as written and with their units."""
        pairs = zip(self.source, (_number(self.result), _sized(self.result)), strict=True)
        known = ((_value(source), result) for source, result in pairs)
        return [(value, result) for value, result in known if value and result]

    @property
    def follows(self) -> bool:
        """Whether the result can come out, as far as the numbers were rounded."""
        room = max(sum(map(_loose, (*self.operands, self.result)), Fraction(0)), CLOSE_ENOUGH)
        whole = self.result.number.isdigit() and self.result.unit in COUNTED
        if whole and "/" in self.source[0]:  # 141 GB / 80 GB = 2 GPUs
            room = max([room, *(1 / result for _, result in self.values)])
        units = " ".join(figure.unit for figure in (*self.operands, self.result))
        factors = UNITS_LEFT_OUT if re.search("bit|[KMGTPE]i", units) else UNITS_LEFT_OUT[:1]
        tried = [value / result * factor for value, result in self.values for factor in factors]
        return not tried or any(abs(_mantissa(ratio) - 1) <= room for ratio in tried)

    @property
    def scaled(self) -> str:
        """The arithmetic in symroof's grammar, in the unit that the result is written in."""
        pairs = list(zip(self.values, self.source, strict=False))
        (value, result), source = min(
            pairs, key=lambda pair: abs(_mantissa(pair[0][0] / pair[0][1]) - 1)
        )
        factor = _number(self.result) * _mantissa(value / result) / value
        return f"({source})*{_text(factor)}"

    @property
    def right(self) -> str:
        """The digits that come out, where the result's are."""
        digits = max(precision(self.result.digits)[1], 2)
        return significant(_value(self.scaled) or Fraction(0), digits)


def equations_of_blocks(blocks: Iterable[tuple[int, str]]) -> list[Equation]:
    """The calculations of a file's paragraphs and cells, their places counted in the file."""
    left, every = MOST_CHARACTERS, []
    for start, prose in blocks:
        if len(prose) <= LONGEST_BLOCK and any(sign in prose for sign in EQUALS):
            left -= len(prose)
            every += [one.shifted(start) for one in equations(prose)] if left >= 0 else []
    return every


def equations(text: str) -> list[Equation]:
    """The calculations of a text, in order; what names a letter or a function is none.

    >>> equations("n × 80 × 2 = 320, 2 × 80 = 160 × n")
    []
    """
    found: list[Equation] = []
    run: list[Part] = []
    every = figures(text)
    for figure, after in itertools.zip_longest(every, every[1:]):
        end = (figure.range_end or figure).unit_end
        joined = BETWEEN.fullmatch(text, end, after.start) if after else None
        if joined and len(run) < MOST_NUMBERS:
            run.append(Part(figure, joined["close"], joined["op"], joined["open"]))
            continue
        found += _equations(text, [*run, Part(figure)])
        run = []
    return found


def _equations(text: str, run: list[Part]) -> Iterator[Equation]:
    """The calculations of numbers that operators join: each side of a sign of equality that is
    arithmetic, with the number on the other."""
    first, last = run[0].figure, run[-1].figure.range_end or run[-1].figure
    goes_on = GOES_ON.match(text, last.unit_end) or (
        last.unit == "x" and A_LETTER.match(text, last.unit_end)  # 160 × n
    )
    begun = LED.search(text[max(first.start - 12, 0) : first.start])
    ranges = [part.figure for part in run if part.figure.range_end]
    differences = [f for f in ranges if re.search(r"\s-\s", text[f.end : f.range_end.start])]  # type: ignore[union-attr]
    if len(run) + len(ranges) < 3 or begun or goes_on or ranges != differences:
        return
    sides: list[list[Part]] = [[]]
    for part in run:
        sides[-1].append(part)
        if part.operator and part.operator in EQUALS:
            sides.append([])
    opened = len(re.search(r"\(*\s*$", text[: first.start])[0].strip())  # type: ignore[index]
    for i, (left, right) in enumerate(itertools.pairwise(sides)):
        plain = len(left) == 1 and not left[0].figure.range_end
        sum_, result = (right, left) if plain and len(sides) == 2 else (left, right)
        numbers = [one for part in sum_ for one in (part.figure, part.figure.range_end) if one]
        if len(result) > 1 or result[0].figure.range_end or len(numbers) < 2:
            continue
        source, sized = (_source(sum_, number) for number in (_number, _sized))
        missing = source.count(")") - source.count("(")
        if 0 <= missing <= (opened if i == 0 and sum_ is left else 0):
            begin = "(" * missing
            shown = text[numbers[0].start : numbers[-1].unit_end]
            shown = re.sub(r"[`$]|\*\*", "", " ".join(shown.split())).replace("*", "×").strip()
            sources = (begin + source, begin + sized)
            yield Equation(tuple(numbers), result[0].figure, sources, shown)


def _source(side: list[Part], number: Callable[[Figure], Fraction]) -> str:
    """One side in symroof's grammar."""
    source = ""
    for part in side:
        ends = (one for one in (part.figure, part.figure.range_end) if one)
        source += " - ".join(_text(number(one)) for one in ends) + part.close
        if part is not side[-1]:
            source += OPERATORS.get(part.operator, part.operator) + part.open
    return source


def _text(value: Fraction) -> str:
    whole = value.denominator == 1
    return str(value.numerator) if whole else f"({value.numerator}/{value.denominator})"


def _value(source: str) -> Fraction | None:
    try:
        value = parse(source)
    except FormulaError:
        return None
    return Fraction(int(value.p), int(value.q)) if value.is_Rational and value > 0 else None


def _number(figure: Figure) -> Fraction:
    return Fraction(figure.number.replace(",", ""))


def _sized(figure: Figure) -> Fraction:
    unit = "" if figure.unit == "x" else figure.unit
    return _number(figure) * parse_unit(unit).size


def _loose(figure: Figure) -> Fraction:
    """How far a written number may be rounded, as a share; a whole one of few digits is exact."""
    number = Fraction(figure.digits.replace(",", ""))
    exact = number.denominator == 1 and "." not in figure.digits and figure.qualifier != "about"
    return Fraction(0) if exact or not number else precision(figure.digits)[0] / number


def _mantissa(ratio: Fraction) -> Fraction:
    """A ratio without its powers of a thousand, as near to one as it gets."""
    while ratio * ratio > THOUSAND:
        ratio /= THOUSAND
    while ratio * ratio < 1 / THOUSAND:
        ratio *= THOUSAND
    return ratio
