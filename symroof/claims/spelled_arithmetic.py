"""Arithmetic that a text spells out: ``6 × 70.6B × 2,000 = 424``.

Texts leave units out on one side or drop a power of a thousand on the way, so both sides are
compared as they are written and with their units, whatever the powers of a thousand between them;
only digits that cannot come out are reported.

>>> [wrong] = [one for one in equations("It takes 6 × 70.6B × 2,000 = 282 and 2 x 3 = 6.") if not one.follows]
>>> wrong.text, wrong.right
('6 × 70.6B × 2,000', '847')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from symroof.claims.markdown import FORMULA
from symroof.claims.numbers import Figure, single_figures
from symroof.claims.written_number import CLOSE_ENOUGH, precision
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
LONGEST_BLOCK = 20_000
"""Characters of a paragraph that is looked through."""
COUNTED = ("", "device", "request", "token")
"""Units of results that are rounded to a whole number, up or down."""


@dataclass(frozen=True)
class Equation:
    """Arithmetic and the number that it states as its result.

    Attributes:
        operands: the numbers of the arithmetic.
        result: the number behind the sign of equality.
        text: as written in the prose.
        ratios: what comes out over the result, as the numbers are written and with their units,
            without powers of a thousand.
        divides: whether it divides.
    """

    operands: tuple[Figure, ...]
    result: Figure
    text: str
    ratios: tuple[Fraction, ...]
    divides: bool

    @property
    def follows(self) -> bool:
        """Whether the result can come out, as far as the numbers were rounded."""
        room = max(sum(map(_loose, (*self.operands, self.result)), Fraction(0)), CLOSE_ENOUGH)
        if self.divides and self.result.number.isdigit() and self.result.unit in COUNTED:
            room = max(room, 1 / _number(self.result))  # 141 GB / 80 GB = 2 GPUs
        return any(abs(ratio - 1) <= room for ratio in self.ratios)

    @property
    def value(self) -> Fraction:
        """What comes out, in the unit that the result is written in."""
        return _number(self.result) * min(self.ratios, key=lambda ratio: abs(ratio - 1))

    @property
    def right(self) -> str:
        """The digits that come out, where the result's are."""
        return significant(self.value, max(precision(self.result.digits)[1], 2))


def equations(text: str) -> list[Equation]:
    """The calculations of a text, in order; what names a letter or a function is none.

    >>> equations("n × 80 × 2 = 320, 2 × 80 = 160 × n")
    []
    """
    found: list[Equation] = []
    if len(text) > LONGEST_BLOCK or not re.search("[=≈≃]", text):
        return found
    every, joints, first = list(single_figures(text)), [], 0
    for i, figure in enumerate(every):
        after = every[i + 1] if i + 1 < len(every) else None
        joint = BETWEEN.fullmatch(text, figure.unit_end, after.start) if after else None
        if joint:
            joints.append(joint)
        else:
            found += _equations(text, every[first : i + 1], joints)
            first, joints = i + 1, []
    return found


def _equations(text: str, numbers: list[Figure], joints: list[re.Match[str]]) -> Iterator[Equation]:
    """The calculations of numbers that operators join: each side of a sign of equality that is
    arithmetic, with the number on the other."""
    first, last = numbers[0], numbers[-1]
    goes_on = GOES_ON.match(text, last.unit_end)
    letter = last.unit == "x" and A_LETTER.match(text, last.unit_end)  # 160 × n
    before = text[max(first.start - 12, 0) : first.start]
    if not 3 <= len(numbers) <= MOST_NUMBERS or goes_on or letter or LED.search(before):
        return
    signs = [OPERATORS.get(joint["op"], joint["op"] or "-") for joint in joints]
    opened = before[len(before.rstrip("( ")) :].replace(" ", "")
    gaps = [x["close"] + sign + x["open"] for x, sign in zip(joints, signs, strict=True)]
    ends = [0, *(i for i, sign in enumerate(signs, 1) if sign == "="), len(numbers)]
    sides = [numbers[a:b] for a, b in pairwise(ends)]

    def formulas(of: Callable[[Figure], object]) -> list[str]:
        pieces = (f"({of(one)}){gap}" for one, gap in zip(numbers, [*gaps, ""], strict=True))
        return (opened + "".join(pieces)).split("=")

    for i, (left, right) in enumerate(pairwise(sides)):
        backwards = len(left) == 1 and len(sides) == 2  # 16 GB = 8B × 2 bytes
        operands, (result, *more) = (right, left) if backwards else (left, right)
        if more or len(operands) < 2:
            continue
        place = i + backwards
        tried = (_ratio(formulas(of)[place], of(result)) for of in (_number, _sized))
        if ratios := tuple(filter(None, tried)):
            shown = " ".join(text[operands[0].start : operands[-1].unit_end].split())
            shown = re.sub(r"[`$]|\*\*", "", shown).replace("*", "×").strip()
            divides = "/" in formulas(lambda _: "")[place]
            yield Equation(tuple(operands), result, shown, ratios, divides)


def _ratio(source: str, result: Fraction) -> Fraction | None:
    """What arithmetic comes to over its result, without powers of a thousand; None for what cannot
    be read."""
    unclosed = source.count("(") - source.count(")")  # those of the sentence
    try:
        value = parse(source[max(unclosed, 0) :])
    except FormulaError:
        return None
    if not value.is_Rational or value <= 0 or not result:
        return None
    ratio = Fraction(int(value.p), int(value.q)) / result
    while ratio * ratio > 1000:
        ratio /= 1000
    while ratio * ratio < Fraction(1, 1000):
        ratio *= 1000
    return ratio


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
