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

from symroof.claims.read.markdown import FORMULA
from symroof.claims.read.numbers import Figure, single_figures
from symroof.claims.read.written_number import CLOSE_ENOUGH, precision
from symroof.symbolic.reading import FormulaError, parse
from symroof.units import parse_unit, significant

WORDS = r"(?:\s*(?:[A-Za-z][A-Za-z/_-]{0,20}|\([A-Za-z][^()\d=]{0,30}\))){0,4}"
BETWEEN = re.compile(
    rf"{WORDS}\s*(?P<close>\)*){WORDS}(?:\s*(?P<op>[×x*·+/÷=≈≃])\s*|\s+(?P<minus>[-−–])\s+)"
    r"(?P<open>\(*)\s*[~≈]?\s*(?:USD|\$)?\s*"
)
"""What is allowed between two numbers of one calculation: words for what the first is of, an operator."""
OPERATORS = {"×": "*", "x": "*", "·": "*", "÷": "/", "≈": "=", "≃": "="}
LED = re.compile(rf"(?:[×*·/÷^√±−–{FORMULA}]|[\d\w)]-|(?<![\d\w)] )(?<!^)\+|\w\()\s*\(*\s*$")
"""What before the first number says that the calculation begins earlier, with what is no number."""
GOES_ON = re.compile(rf"\s*(?:[×*·/÷^+]|\*\*)\s*[A-Za-z({FORMULA}√]|\s*\^|[-–]\d")
A_LETTER = re.compile(rf"\s*(?:{FORMULA}|[A-Za-z](?![A-Za-z]))")
MOST_NUMBERS = 12
LONGEST_BLOCK, MOST_CHARACTERS = 20_000, 400_000
"""Characters of a paragraph, and of a file, that are looked through."""
COUNTED = ("", "device", "request", "token")
"""Units of results that are rounded to a whole number, up or down."""
Joint = re.Match[str]
"""What stands between two numbers."""


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

    @property
    def values(self) -> list[tuple[str, Fraction, Fraction]]:
        """The arithmetic, its value and the result, as written and with their units."""
        pairs = zip(self.source, (_number(self.result), _sized(self.result)), strict=True)
        known = ((source, _value(source), result) for source, result in pairs)
        return [(source, value, result) for source, value, result in known if value and result]

    @property
    def follows(self) -> bool:
        """Whether the result can come out, as far as the numbers were rounded."""
        room = max(sum(map(_loose, (*self.operands, self.result)), Fraction(0)), CLOSE_ENOUGH)
        values = self.values
        whole = self.result.number.isdigit() and self.result.unit in COUNTED
        if whole and "/" in self.source[0]:  # 141 GB / 80 GB = 2 GPUs
            room = max([room, *(1 / result for *_, result in values)])
        ratios = [value / result for _, value, result in values]
        return not ratios or any(abs(_mantissa(ratio) - 1) <= room for ratio in ratios)

    @property
    def scaled(self) -> str:
        """The arithmetic in symroof's grammar, in the unit that the result is written in."""
        source, value, result = min(
            self.values, key=lambda one: abs(_mantissa(one[1] / one[2]) - 1)
        )
        factor = _number(self.result) * _mantissa(value / result) / value
        return f"({source})*{_text(factor)}"

    @property
    def right(self) -> str:
        """The digits that come out, where the result's are."""
        digits = max(precision(self.result.digits)[1], 2)
        return significant(_value(self.scaled) or Fraction(0), digits)


def equations_of_blocks(blocks: Iterable[tuple[int, str]]) -> list[Equation]:
    """The calculations of a file's paragraphs and cells, the place of each result counted in the file."""
    left, every = MOST_CHARACTERS, []
    for start, prose in blocks:
        if len(prose) <= LONGEST_BLOCK and re.search("[=≈≃]", prose):
            left -= len(prose)
            found = equations(prose) if left >= 0 else []
            every += [replace(one, result=one.result.shifted(start)) for one in found]
    return every


def equations(text: str) -> list[Equation]:
    """The calculations of a text, in order; what names a letter or a function is none.

    >>> equations("n × 80 × 2 = 320, 2 × 80 = 160 × n")
    []
    """
    found: list[Equation] = []
    numbers: list[Figure] = []
    joints: list[Joint] = []
    every = list(single_figures(text))
    for figure, after in itertools.zip_longest(every, every[1:]):
        numbers.append(figure)
        joint = BETWEEN.fullmatch(text, figure.unit_end, after.start) if after else None
        if joint and len(numbers) < MOST_NUMBERS:
            joints.append(joint)
        else:
            found += _equations(text, numbers, joints)
            numbers, joints = [], []
    return found


def _equations(text: str, numbers: list[Figure], joints: list[Joint]) -> Iterator[Equation]:
    """The calculations of numbers that operators join: each side of a sign of equality that is
    arithmetic, with the number on the other."""
    first, last = numbers[0], numbers[-1]
    goes_on = GOES_ON.match(text, last.unit_end) or (
        last.unit == "x" and A_LETTER.match(text, last.unit_end)  # 160 × n
    )
    if len(numbers) < 3 or goes_on or LED.search(text[max(first.start - 12, 0) : first.start]):
        return
    signs = [i + 1 for i, joint in enumerate(joints) if _operator(joint) == "="]
    sides = [slice(a, b) for a, b in itertools.pairwise((0, *signs, len(numbers)))]
    opened = len(re.search(r"\(*\s*$", text[: first.start])[0].strip())  # type: ignore[index]
    for i, (left, right) in enumerate(itertools.pairwise(sides)):
        backwards = len(numbers[left]) == 1 and len(sides) == 2  # 16 GB = 8B × 2 bytes
        side, result = (right, left) if backwards else (left, right)
        operands = numbers[side]
        if len(numbers[result]) > 1 or len(operands) < 2:
            continue
        between = joints[side.start : side.stop - 1]
        closed = joints[side.stop - 1]["close"] if side.stop <= len(joints) else ""
        source, sized = (_source(operands, between, of) + closed for of in (_number, _sized))
        missing = source.count(")") - source.count("(")
        if 0 <= missing <= (opened if i == 0 and side is left else 0):
            shown = text[operands[0].start : operands[-1].unit_end]
            shown = re.sub(r"[`$]|\*\*", "", " ".join(shown.split())).replace("*", "×").strip()
            sources = ("(" * missing + source, "(" * missing + sized)
            yield Equation(tuple(operands), numbers[result][0], sources, shown)


def _operator(joint: Joint) -> str:
    sign = joint["op"] or "-"
    return OPERATORS.get(sign, sign)


def _source(
    operands: list[Figure], between: list[Joint], number: Callable[[Figure], Fraction]
) -> str:
    """One side in symroof's grammar."""
    source = _text(number(operands[0]))
    for joint, figure in zip(between, operands[1:], strict=True):
        source += joint["close"] + _operator(joint) + joint["open"] + _text(number(figure))
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
    while ratio * ratio > 1000:
        ratio /= 1000
    while ratio * ratio < Fraction(1, 1000):
        ratio *= 1000
    return ratio
