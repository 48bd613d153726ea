"""Arithmetic that a text spells out: ``6 × 70.6B × 2,000 = 424``, ``141 GB + 43 GB = 184 GB``; and what later depends on it.

Texts leave units out on one side or drop a power of a thousand on the way, so both sides are compared as they are written and with
their units, whatever the powers of a thousand between them; only digits that cannot come out are reported.

>>> [wrong] = [one for one in equations("It takes 6 × 70.6B × 2,000 = 282 and 2 x 3 = 6.") if not one.follows]
>>> wrong.text, wrong.right
('6 × 70.6B × 2,000', '847')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from symroof.claims.read.markdown import FORMULA
from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.written_number import CLOSE_ENOUGH, precision
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.reading import FormulaError, parse
from symroof.units import UnitError, parse_unit, settled, significant

WORDS = r"(?:\s*(?:[A-Za-z][A-Za-z/_-]{0,20}|\([A-Za-z][^()\d=]{0,30}\))){0,4}"
BETWEEN = re.compile(
    rf"(?:{WORDS})\s*(?P<close>\)*){WORDS}\s*(?P<op>[×x*·+/÷−–-]|=|≈|≃)\s*(?P<open>\(*)\s*(?P<sign>[~≈]?)\s*(?:USD|\$)?\s*"
)
"""What is allowed between two numbers of one calculation: words for what the first is of, an operator."""
OPERATORS = {
    "×": "*",
    "x": "*",
    "*": "*",
    "·": "*",
    "+": "+",
    "/": "/",
    "÷": "/",
    "−": "-",
    "–": "-",
    "-": "-",
}
EQUALS = "=≈≃"
LED = re.compile(rf"(?:[×*·/÷^√±−{FORMULA}]|(?<![\d\w)] )(?<!^)\+|\w\()\s*\(*\s*$")
"""What before the first number says that the calculation begins earlier, with something that is no number."""
GOES_ON = re.compile(rf"\s*(?:[×*·/÷^+]|\*\*)\s*[A-Za-z({FORMULA}√]|\s*\^")
MOST_NUMBERS = 12
LONGEST_BLOCK, MOST_CHARACTERS = 20_000, 400_000
"""Characters of a paragraph, and of a file, that are looked through."""
COUNTED = ("", "device", "request", "token")
"""Units of results that are rounded to a whole number, up or down."""
THOUSANDS = Fraction(1000)
BINARY = re.compile(r"[KMGTPE]i")
"""A unit with a binary prefix."""


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
        return replace(
            self,
            operands=tuple(one.shifted(by) for one in self.operands),
            result=self.result.shifted(by),
        )

    @property
    def values(self) -> list[tuple[Fraction, Fraction]]:
        """The value of the arithmetic and of the result, as they are written and with their units."""
        written = [
            (_value(self.source[0]), _number(self.result)),
            (_value(self.source[1]), _sized(self.result)),
        ]
        return [(value, result) for value, result in written if value is not None and result]

    @property
    def follows(self) -> bool:
        """Whether the result can come out, as far as the numbers were rounded."""
        loose = sum((_loose(figure) for figure in (*self.operands, self.result)), Fraction(0))
        room = max(loose, CLOSE_ENOUGH)
        whole = (
            self.result.number.isdigit() and self.result.unit in COUNTED and "/" in self.source[0]
        )
        if whole and any(abs(result - value) < 1 for value, result in self.values):
            return True  # 141 GB / 80 GB = 2 GPUs
        return not self.values or any(
            abs(_mantissa(value / result, bits) - 1) <= room
            for value, result in self.values
            for bits in self._sizes
        )

    @property
    def _sizes(self) -> tuple[Fraction, ...]:
        """Factors of units that are on one side only: of bits, of 1,024."""
        units = " ".join(figure.unit for figure in (*self.operands, self.result))
        eight = (Fraction(8), Fraction(1, 8)) if "bit" in units else ()
        binary = (
            tuple(Fraction(1024, 1000) ** power for power in (-3, -2, -1, 1, 2, 3))
            if BINARY.search(units)
            else ()
        )
        return (Fraction(1), *eight, *binary)

    @property
    def scaled(self) -> str:
        """The arithmetic in symroof's grammar, in the unit that the result is written in."""
        i = min(
            range(len(self.values)),
            key=lambda k: abs(_mantissa(self.values[k][0] / self.values[k][1]) - 1),
        )
        value, result = self.values[i]
        return (
            f"({self.source[i]})*{_text(_number(self.result) * _mantissa(value / result) / value)}"
        )

    @property
    def right(self) -> str:
        """The digits that come out, where the result's are."""
        return significant(
            _value(self.scaled) or Fraction(0), max(precision(self.result.digits)[1], 2)
        )


def equations_of_blocks(blocks: Iterable[tuple[int, str]]) -> list[Equation]:
    """The calculations of a file's paragraphs and cells, their places counted in the file."""
    left, every = MOST_CHARACTERS, []
    for start, prose in blocks:
        if len(prose) > LONGEST_BLOCK or not any(sign in prose for sign in EQUALS):
            continue
        left -= len(prose)
        if left < 0:
            break
        every += [one.shifted(start) for one in equations(prose)]
    return every


def equations(text: str) -> list[Equation]:
    """The calculations of a text, in order; what names a letter or a function is none.

    >>> equations("n × 80 × 2 = 320, 2 × 80 = 160 × n")
    []
    """
    equations: list[Equation] = []
    every = figures(text)
    place = 0
    while place < len(every):
        run = _run(text, every, place)
        equations += _equations(text, run)
        place += len(run)
    return equations


def _run(text: str, every: list[Figure], place: int) -> list[tuple[Figure, str, str, str]]:
    """Numbers that operators join, each with the closing brackets and the operator behind it, and the opening ones before the next."""
    run: list[tuple[Figure, str, str, str]] = []
    while place < len(every):
        figure = every[place]
        after = every[place + 1] if place + 1 < len(every) else None
        joined = (
            BETWEEN.fullmatch(text, (figure.range_end or figure).unit_end, after.start)
            if after
            else None
        )
        run.append(
            (
                figure,
                joined["close"] if joined else "",
                joined["op"] if joined else "",
                joined["open"] if joined else "",
            )
        )
        if not joined or len(run) > MOST_NUMBERS:
            break
        place += 1
    return run


def _equations(text: str, run: list[tuple[Figure, str, str, str]]) -> Iterator[Equation]:
    """The calculations of numbers that operators join: each side of a sign of equality that is arithmetic, with the number behind it."""
    first = run[0][0]
    if (
        sum(2 if item[0].range_end else 1 for item in run) < 3
        or LED.search(text[max(first.start - 12, 0) : first.start])
        or _goes_on(text, run[-1][0].range_end or run[-1][0])
    ):
        return
    sides: list[list[tuple[Figure, str, str, str]]] = [[]]
    for item in run:
        sides[-1].append(item)
        if item[2] and item[2] in EQUALS:
            sides.append([])
    if any(item[0].range_end and not _is_difference(text, item[0]) for item in run) or any(
        side[0][0].range_end for side in sides[1:] if len(side) == 1
    ):
        return
    opened = len(re.search(r"\(*\s*$", text[: first.start])[0].strip())  # type: ignore[index]
    for i in range(len(sides) - 1):
        left, right = sides[i], sides[i + 1]
        if (
            len(right) == 1
            and (len(left) > 1 or left[0][0].range_end)
            and (sources := _sources(left, opened if i == 0 else 0))
        ):
            operands = tuple(
                one
                for item in left
                for one in (item[0], *([item[0].range_end] if item[0].range_end else []))
            )
            words = _words(text[operands[0].start : operands[-1].unit_end])
            yield Equation(operands, right[0][0], sources, words)
        elif (
            len(sides) == 2
            and len(left) == 1
            and len(right) > 1
            and (sources := _sources(right, 0))
        ):  # 16 GB = 8B × 2 bytes
            operands = tuple(item[0] for item in right)
            yield Equation(
                operands,
                left[0][0],
                sources,
                _words(text[operands[0].start : operands[-1].unit_end]),
            )


def _goes_on(text: str, last: Figure) -> bool:
    """Whether a calculation goes on behind its last number, with a letter or a bracket."""
    factor = last.unit == "x" and re.match(
        rf"\s*(?:{FORMULA}|[A-Za-z](?![A-Za-z]))", text[last.unit_end : last.unit_end + 12]
    )  # 160 × n
    return bool(factor or GOES_ON.match(text, last.unit_end))


def _is_difference(text: str, figure: Figure) -> bool:
    """Whether two numbers with a dash between them are a difference, with blanks around it, and no range.

    >>> [_is_difference(text, figures(text)[0]) for text in ("100 - 20", "50-100 ms", "50 – 100 ms")]
    [True, False, False]
    """
    assert figure.range_end is not None
    between = text[figure.end : figure.range_end.start]
    return re.search(r"\s-\s", between) is not None


def _words(text: str) -> str:
    """Arithmetic on one line, without marks that a reader of Markdown does not see."""
    return re.sub(r"[`$]|\*\*", "", " ".join(text.split())).replace("*", "×").strip()


def _sources(side: list[tuple[Figure, str, str, str]], opened: int) -> tuple[str, str] | None:
    """One side in symroof's grammar, as it is written and with its units; None where brackets do not match."""
    plain = sized = ""
    for k, (figure, close, operator, opening) in enumerate(side):
        parts = [figure, *([figure.range_end] if figure.range_end else [])]
        plain += " - ".join(_text(_number(one)) for one in parts) + close
        sized += " - ".join(_text(_sized(one)) for one in parts) + close
        if k + 1 < len(side):
            plain, sized = (f"{one}{OPERATORS[operator]}{opening}" for one in (plain, sized))
    missing = plain.count(")") - plain.count("(")
    if not 0 <= missing <= opened:
        return None
    return "(" * missing + plain, "(" * missing + sized


def _text(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return f"({value.numerator}/{value.denominator})"


def _value(source: str) -> Fraction | None:
    try:
        value = evaluate(parse(source), _NoNames())
    except (FormulaError, ArithmeticError, LookupError):
        return None
    return settled(value) if isinstance(value, float) and value > 0 else None


class _NoNames:
    """Where arithmetic of numbers finds names: nowhere."""

    axes, careful = 0, False

    def value(self, name: str) -> Any:
        raise LookupError(name)

    def at(self, name: str, changes: Mapping[str, Any]) -> Any:
        raise LookupError(name)


def _number(figure: Figure) -> Fraction:
    return Fraction(figure.number.replace(",", ""))


def _sized(figure: Figure) -> Fraction:
    try:
        return _number(figure) * (
            parse_unit(figure.unit).size if figure.unit not in ("", "x") else 1
        )
    except UnitError:
        return _number(figure)


def _loose(figure: Figure) -> Fraction:
    """How far a written number may be rounded, as a share; a whole number of few digits is exact."""
    number = Fraction(figure.digits.replace(",", ""))
    exact = number.denominator == 1 and "." not in figure.digits and figure.qualifier != "about"
    return Fraction(0) if exact or not number else precision(figure.digits)[0] / number


def _mantissa(ratio: Fraction, factor: Fraction = Fraction(1)) -> Fraction:
    """A ratio without its powers of a thousand, as near to one as it gets."""
    ratio *= factor
    while ratio * ratio > THOUSANDS:
        ratio /= THOUSANDS
    while ratio * ratio < 1 / THOUSANDS:
        ratio *= THOUSANDS
    return ratio


def dependent_equations(wrong: Figure, all_of_them: list[Equation]) -> list[Equation]:
    """The calculations further on that use a number, and those that use what they come to, in order.

    >>> text = "6 × 70 = 282 GB; 282 GB + 20 GB = 302 GB; 302 GB / 2 = 151 GB"
    >>> [one.result.text for one in dependent_equations(equations(text)[0].result, equations(text))]
    ['302 GB', '151 GB']
    """
    reached, rest = [wrong], []
    for one in sorted(all_of_them, key=lambda equation: equation.result.start):
        if any(
            operand.start > source.start and same_number(operand, source)
            for operand in one.operands
            for source in reached
        ):
            rest.append(one)
            reached.append(one.result)
    return rest


def same_number(one: Figure, other: Figure) -> bool:
    """Whether two numbers are written the same way, with enough digits to be the same: two digits or more, one unit or none."""
    digits = [figure.number.replace(",", "") for figure in (one, other)]
    return (
        digits[0] == digits[1]
        and precision(one.digits)[1] > 1
        and (one.unit == other.unit or not one.unit or not other.unit)
    )
