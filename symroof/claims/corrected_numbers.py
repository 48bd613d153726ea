"""The right number written the way the wrong one was, and a note with such numbers in it.

>>> rewritten("2.68", Fraction("1.342177")), rewritten("1,000", Fraction(1310720)), rewritten("24", Fraction("311.7"))
('1.34', '1,310,720', '312')
"""

from collections.abc import Iterable
from fractions import Fraction

from symroof.claims.read.prose_numbers import Figure, figures
from symroof.claims.read.written_number import precision
from symroof.units import UnitError, parse_number, parse_unit

FAR = 100
"""How many times too large or too small a number is whose unit may be the wrong one."""


def rewritten(digits: str, value: Fraction) -> str:
    """A value with as many significant digits as a written number, and never fewer than its whole part has."""
    comma = "," if "," in digits else ""
    if value.denominator == 1 and "." not in digits:
        return f"{value.numerator:{comma}}"
    decimals = precision(digits)[1] - 1
    exponent = int(f"{float(value):.{decimals}e}".partition("e")[2])  # rounding may carry
    return f"{float(value):{comma}.{max(decimals - exponent, 0)}f}"


def in_its_unit(figure: Figure, value: Fraction) -> str | None:
    """A value in base units as the digits of a figure; None where its unit cannot be read, or is likely the wrong one.

    >>> in_its_unit(figures("takes about 2.68 GB")[0], Fraction(1342177280))
    '1.34'
    """
    try:
        size = Fraction(1) if figure.unit in ("", "x") else parse_unit(figure.unit).size
    except UnitError:
        return None
    number = value / size / Fraction(10) ** figure.power
    written = parse_number(figure.digits)
    if number and written and figure.unit and not 1 / FAR < abs(number / written) < FAR:
        return None
    digits = rewritten(figure.digits, number)
    return digits.replace(".", ",") if figure.decimal_comma else digits


def corrected_text(text: str, value: Fraction | None) -> str:
    """A claimed value with the right number in it; empty where it is a bound, a range, or no number.

    >>> corrected_text("about 2.68 GB", Fraction(1342177280)), corrected_text("< 50 ms", Fraction(1, 10))
    ('about 1.34 GB', '')
    """
    numbers = figures(text)
    if value is None or len(numbers) != 1 or not replaceable(numbers[0]):
        return ""
    digits = in_its_unit(numbers[0], value)
    return replaced(text, [(numbers[0], digits)]) if digits else ""


def replaceable(figure: Figure) -> bool:
    """Whether a figure is one number that claims to be the value itself."""
    return figure.range_end is None and figure.qualifier in ("", "about")


def replaced(text: str, changes: Iterable[tuple[Figure, str]]) -> str:
    """A text with the digits of some figures replaced."""
    spans = {figure.start: (figure.end, digits) for figure, digits in changes}
    for start, (end, digits) in sorted(spans.items(), reverse=True):
        text = text[:start] + digits + text[end:]
    return text
