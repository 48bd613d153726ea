"""The right number written the way the wrong one was, and a note with such numbers in it.

>>> rewritten("2.68", Fraction("1.342177")), rewritten("1,000", Fraction(1310720)), rewritten("24", Fraction("311.7"))
('1.34', '1,310,720', '312')
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.written_number import precision
from symroof.claims.read.written_units import neighbouring_unit, unit_name
from symroof.units import UnitError, parse_unit

FAR = 100
"""How many times too large or too small a number is whose unit may be the wrong one."""
HEAD = re.compile(r"(?P<gap>[ \u00a0\u202f~]?)(?P<unit>[^\W\d_]{1,12})")
SHOWN = {"us": "µs", "byte": "B"}
"""Units as people write them."""


def rewritten(digits: str, value: Fraction) -> str:
    """A value with as many significant digits as a written number, and never fewer than its whole part has."""
    if value == 0 or (
        value.denominator == 1 and "." not in digits
    ):  # exact, and no decimals were written
        return f"{value.numerator:,}" if "," in digits else str(value.numerator)
    significant = precision(digits)[1]
    with localcontext() as context:
        context.prec = 120
        number = Decimal(value.numerator) / Decimal(value.denominator)
        for _ in range(2):  # rounding 9.996 carries into one digit more: round again there
            number = number.quantize(Decimal(1).scaleb(min(number.adjusted() - significant + 1, 0)))
    return f"{number:,f}" if "," in digits else f"{number:f}"


def in_its_unit(figure: Figure, value: Fraction) -> str | None:
    """A value in base units as the digits of a figure; None where its unit cannot be read."""
    try:
        size = Fraction(1) if figure.unit in ("", "x") else parse_unit(figure.unit).size
    except UnitError:
        return None
    digits = rewritten(figure.digits, value / size / Fraction(10) ** figure.power)
    return digits.replace(".", ",") if figure.decimal_comma else digits


def corrected_text(text: str, value: Fraction | None) -> str:
    """A claimed value with the right number in it; empty where it is a bound, a range, or no number.

    >>> corrected_text("about 2.68 GB", Fraction(1342177280)), corrected_text("< 50 ms", Fraction(1, 10))
    ('about 1.34 GB', '')
    """
    numbers = figures(text)
    if value is None or len(numbers) != 1 or not replaceable(numbers[0]):
        return ""
    change = replacement(text, numbers[0], value)
    return replaced(text, [change]) if change else ""


def replacement(text: str, figure: Figure, value: Fraction) -> tuple[Figure, str] | None:
    """What of a figure's text is replaced, and by what: its digits; its unit as well where the value is far from it and has a better one.

    >>> [replaced(text, [replacement(text, figures(text)[0], Fraction("0.197"))]) for text in ("197 µs per token", "0.5 s")]
    ['197 ms per token', '0.2 s']
    """
    unit = _better_unit(figure, value)
    head = HEAD.match(text, figure.end, figure.unit_end)
    if unit and head and figure.unit.partition("/")[0] in (head["unit"], unit_name(head["unit"])):
        digits = in_its_unit(replace(figure, unit=unit), value)
        shown = unit.partition("/")[0]
        return replace(figure, end=head.end()), f"{digits}{head['gap']}{SHOWN.get(shown, shown)}"
    digits = in_its_unit(figure, value)
    return (figure, digits) if digits else None


def _better_unit(figure: Figure, value: Fraction) -> str:
    """The unit in which a value far from what was written has one to three digits before its point; empty where its own will do."""
    try:
        number = value / parse_unit(figure.unit).size
        written = Fraction(figure.number.replace(",", ""))
    except UnitError:
        return ""
    if figure.power or not number or not written or 1 / FAR < abs(number / written) < FAR:
        return ""
    unit = figure.unit
    while unit and not 1 <= abs(number) < 1000:
        step = 1 if abs(number) >= 1000 else -1
        unit, number = neighbouring_unit(unit, step), number / Fraction(1000) ** step
    return "" if unit == figure.unit else unit


def replaceable(figure: Figure) -> bool:
    """Whether a figure is one number that claims to be the value itself."""
    return figure.range_end is None and figure.qualifier in ("", "about")


def replaced(text: str, changes: Iterable[tuple[Figure, str]]) -> str:
    """A text with the digits of some figures replaced.

    Raises:
        ValueError: a figure is to be replaced by two different numbers.
    """
    parts, place = [], 0
    for start, end, digits in sorted(
        {(figure.start, figure.end, digits) for figure, digits in changes}
    ):
        if start < place:
            raise ValueError("two numbers for one place")
        parts += [text[place:start], digits]
        place = end
    return "".join([*parts, text[place:]])
