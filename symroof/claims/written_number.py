"""A number as it was written: its value, the precision it claims, and how a derived value compares.

A number claims half a unit of its last digit; ``~24`` and ``about 24`` allow half a unit more. Of
one digit that is a lot: beyond 5 % it is ``approximate``, and beyond 25 % no hedge helps.

>>> read_written("1.34 GB", "byte").verdict(Fraction(1342177280))
'rounded'
>>> read_written("1.35 GB", "byte").verdict(Fraction(1342177280)), read_written("< 50 ms", "s").verdict(Fraction(1, 25))
('approximate', 'exact')
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from symroof.claims.numbers import QUALIFIER, Figure, figures
from symroof.symbolic.kernels import holds, nearly_equal
from symroof.units import COUNTED, describe, parse_number, parse_unit, settled, strict

ROUNDING = Fraction(1, 10**12)
"""What a derived value may be off by rounding, as a share of it."""
CLOSE_ENOUGH = Fraction(5, 100)
"""How far off a number may be to count as approximate, where the text states no tolerance."""
ROUNDED_LIMIT = Fraction(1, 100)
"""How far off a rounded bound may be: beyond that ``at most`` is read as it stands."""
HEDGED = Fraction(25, 100)
"""How far off a hedged number may be, however few digits it has."""
LONGEST = 120
WORDS = {"true": True, "false": False, "yes": True, "no": False}


class DimensionMismatch(ValueError):
    """A claimed value has another dimension than its quantity: seconds of bytes."""


@dataclass(frozen=True)
class WrittenNumber:
    """A number, a bound, a range or a word, as it was written.

    Attributes:
        text: as written.
        low, high: in base units: the ends of a range, or twice the number.
        half_unit: half a unit of the last digit written, in base units.
        digits: significant digits written; trailing zeros count.
        operator: of a bound.
        hedged_number: whether it was hedged.
        word: a label or a truth.
        unit: the base unit it was read in.
    """

    text: str
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    half_unit: Fraction = Fraction(0)
    digits: int = 0
    operator: str = ""
    hedged_number: bool = False
    word: str | bool | None = None
    unit: str = ""

    @property
    def number(self) -> Fraction:
        """The number, or the middle of the range; of a word nothing that counts."""
        return (self.low + self.high) / 2

    @property
    def value(self) -> Fraction | None:
        """The same; None for a word."""
        return self.number if self.word is None else None

    @property
    def is_range(self) -> bool:
        return self.low != self.high

    @property
    def above_zero(self) -> bool:
        """Whether it is one number, no bound and no range, above zero."""
        return self.number > 0 and not self.is_range and not self.operator

    @property
    def margin(self) -> Fraction:
        """How far a derived value may lie from the number and still agree with it."""
        return self.half_unit * (2 if self.hedged_number else 1)

    def agrees(self, derived: Fraction) -> bool:
        """Whether a derived value agrees to the digits written."""
        if self.operator:
            return bool(holds(self.operator, float(derived), float(self.number)))
        off = self._off(derived)
        rounded = off <= self.half_unit + abs(derived) * ROUNDING
        hedged = off <= min(self.margin, abs(derived) * CLOSE_ENOUGH)
        over = (derived - self.number) * (1 if self.number >= 0 else -1)
        cut = 0 <= over < 2 * self.half_unit and not self.is_range  # digits cut off
        return rounded or hedged or (cut and over <= abs(derived) * CLOSE_ENOUGH)

    def _off(self, derived: Fraction) -> Fraction:
        """How far a derived value is from the number, or from the range."""
        return max(self.low - derived, derived - self.high, Fraction(0))

    def rounded_limit(self, derived: Fraction) -> bool:
        """Whether a bound that may be reached is the derived limit, rounded as it was written:
        ``at most 95`` of 95.371, not ``under 95``."""
        near = min(self.half_unit, abs(derived) * ROUNDED_LIMIT)
        return self.operator in ("<=", ">=") and abs(derived - self.number) <= near

    def verdict(
        self, derived: float | Fraction | str | bool, tolerance: Fraction | None = None
    ) -> str:
        """``exact``, ``rounded``, ``approximate`` or ``wrong``."""
        if self.word is not None or isinstance(derived, (str, bool)):
            said = self.value if isinstance(derived, bool) and self.word is None else self.word
            return "exact" if said == derived else "wrong"  # 1 is true, and 0 is not
        derived = settled(derived)
        bound, agrees = bool(self.operator) or self.is_range, self.agrees(derived)
        if agrees if bound else nearly_equal(float(derived), float(self.number)):
            return "exact"
        if self.rounded_limit(derived) if bound else agrees:
            return "rounded"
        allowed = CLOSE_ENOUGH if tolerance is None else tolerance
        if self.operator:
            off = abs(derived - self.number)
            near = tolerance is not None and off <= abs(self.number) * tolerance
        else:
            near = self._off(derived) <= abs(derived) * allowed
        return "approximate" if near or (tolerance is None and self.hedged(derived)) else "wrong"

    def hedged(self, derived: Fraction) -> bool:
        """Whether a number is off by more than 5 %, and no more than its hedge and digits allow."""
        if not self.hedged_number or self.operator:
            return False
        most = min(self.margin, abs(derived) * HEDGED)
        return abs(derived) * CLOSE_ENOUGH < self._off(derived) <= most


def read_written(written: object, unit: str) -> WrittenNumber:
    """Read a claimed value in a quantity's unit.

    Raises:
        DimensionMismatch: it is of another dimension than the quantity.
        ValueError: no number, an unknown unit.
    """
    if isinstance(written, bool):
        return WrittenNumber(str(written).lower(), word=written)
    text = str(written).strip()
    if len(text) > LONGEST:
        raise ValueError(f"a value has at most {LONGEST} characters")
    # a letter alone is a power of ten of parameters and FLOPs, and else a unit
    if unit in ("parameter", "FLOP"):
        spaced = re.sub(r"(?<=\d)\s(?=[KMBT]$)", "", text)
    else:
        spaced = re.sub(r"(?<=\d)B$", " B", text)
    plain = re.sub(r"(?<=\d)_(?=\d)", "", spaced).removeprefix("+")
    found = figures(plain)
    last = found[0].range_end or found[0] if found else None
    if last is None or plain[: found[0].begin].strip():
        if QUALIFIER.match(text):
            raise ValueError(f"{text!r} holds no number")
        if re.match(r"[+-]?[\d.]", text):
            raise ValueError(f"{text[:40]!r} is not a number with a unit")
        return WrittenNumber(text, word=WORDS.get(text.lower(), text))
    if (rest := plain[last.unit_end :].strip()) and not last.denominators:
        raise ValueError(f"{text[:40]!r} is not a number with a unit: {rest[:20]!r} is none")
    figure = found[0]
    first = replace(figure, unit=figure.unit or last.unit)
    (low, half, digits), (high, other, more) = (_in_base_units(x, unit) for x in (first, last))
    if low > high:
        raise ValueError(f"the range {text!r} runs backwards")
    hedged, operator = figure.qualifier == "about", figure.qualifier.removeprefix("about")
    precise = max(half, other), max(digits, more)
    return WrittenNumber(text, low, high, *precise, operator, hedged, unit=unit)


def _in_base_units(figure: Figure, unit: str) -> tuple[Fraction, Fraction, int]:
    """Value and half a unit of the last digit in base units, and the digits written."""
    expected, times = parse_unit(unit), figure.unit == "x"
    number, own = parse_number(figure.number), parse_unit("" if times else figure.unit)
    if own.dimension == parse_unit("FLOP").dimension and unit == "FLOP/s":  # 312 TFLOPs
        own = parse_unit(f"{figure.unit}/s")
    kinds = ({*one.dimension} for one in (own, expected))
    counts, others = ({kind for kind, n in each if kind in COUNTED and n > 0} for each in kinds)
    apart = strict(own.dimension) != strict(expected.dimension)
    apart = apart and bool(own.dimension or times or own.size != 1)
    if apart or (counts and others and counts != others):  # requests a second are no tokens
        has, needs = describe(own.dimension), describe(expected.dimension)
        raise DimensionMismatch(f"is {has}, but the quantity is {needs}")
    size = own.size if figure.unit and not times else expected.size
    half, digits = precision(figure.number)
    return number * size, half * size, digits


def precision(written: str) -> tuple[Fraction, int]:
    """Half a unit of the last digit written, and the number of significant digits.

    >>> precision("1.340"), precision("140"), precision("3.35e12")
    ((Fraction(1, 2000), 4), (Fraction(1, 2), 3), (Fraction(5000000000, 1), 3))
    """
    mantissa, _, exponent = written.lower().replace(",", "").replace("_", "").partition("e")
    whole, _, decimals = mantissa.lstrip("+-").partition(".")
    power = int(exponent or 0) - len(decimals)
    digits = len((whole + decimals).lstrip("0")) or 1
    return Fraction(10) ** power / 2, digits
