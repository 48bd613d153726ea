"""A number as it was written: its value, the precision it claims, and how a derived value compares with it.

A number written with so many digits claims half a unit of the last one; ``~24`` and ``hedged_number 24`` allow half a unit more. Of one digit that is a lot:
beyond 5 % such a number is ``approximate``, and beyond 25 % no hedge helps.

>>> read_written("1.34 GB", "byte").verdict(Fraction(1342177280))
'rounded'
>>> read_written("1.35 GB", "byte").verdict(Fraction(1342177280)), read_written("< 50 ms", "s").verdict(Fraction(1, 25))
('approximate', 'exact')
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from symroof.claims.read.written_units import POWERS_OF_TEN, spelled_unit
from symroof.symbolic.kernels import holds, nearly_equal
from symroof.units import COUNTED as COUNTS
from symroof.units import Dimension, UnitError, describe, parse_number, parse_unit, settled, strict

ROUNDING = Fraction(1, 10**12)
"""What a derived value may be off by rounding, as a share of it."""
CLOSE_ENOUGH = Fraction(5, 100)
"""How far off a number may be to count as approximate, where the text states no tolerance."""
ROUNDED_LIMIT = Fraction(1, 100)
"""How far off a rounded bound may be: beyond that ``at most`` is read as it stands."""
HEDGED = Fraction(25, 100)
"""How far off a hedged number may be, however few digits it has: as far as a condition that a text leaves out."""
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
    "<=": "<=", ">=": ">=", "<": "<", ">": ">", "≤": "<=", "≥": ">=", "less than": "<", "under": "<", "below": "<", "at most": "<=", "up to": "<=",
    "more than": ">", "over": ">", "above": ">", "at least": ">=", "no more than": "<=", "not more than": "<=", "no less than": ">=", "not less than": ">=",
}  # fmt: skip
SPEEDS = {
    "no faster than": True,
    "not faster than": True,
    "no slower than": False,
    "not slower than": False,
}
"""Bounds on speed: an upper one of a rate is a lower one of a time."""
HEDGE = re.compile(rf"^(?:{'|'.join(map(re.escape, HEDGES))})(?![^\W\d_])\s*", re.IGNORECASE)
BOUND_WORD = re.compile(
    rf"^({'|'.join(map(re.escape, sorted((*OPERATORS, *SPEEDS), key=len, reverse=True)))})(?![^\W\d_])\s*",
    re.IGNORECASE,
)
NUMBER = r"[+-]?(?:\d[\d_,]*(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
DECIMAL_COMMA = re.compile(
    r"([+-]?(?:\d{1,6}(?=,(?:\d{1,2}|\d{4,9})(?!\d))|0)),(\d{1,9}(?:[eE][+-]?\d{1,3})?)"
)
KILO = re.compile(rf"^\s*({NUMBER})\s?[kK](?=\s*(?:tok|req|tps|t/s))")
COUNTED = re.compile(
    rf"^\s*({NUMBER})\s?(?:(thousand|million|billion|trillion)(?!\w)|([KMBT]|bn)(?=\s*(?:$|param|weights?|flop)))",
    re.IGNORECASE,
)
"""``70.6B``, ``8.03 billion``: a letter only of parameters and FLOPs."""
COUNTED_BY_LETTER = ("parameter", "FLOP")
POWER = re.compile(
    rf"({NUMBER})\s*[×x*·]\s*10(?:\^\{{?([+-]?\d{{1,2}})\}}?|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,2}}))"
)
RAISED = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")
DOLLARS = re.compile(r"(?:US)?\$\s?(?=[\d.])")
NUMBER_WITH_UNIT = re.compile(rf"\s*({NUMBER})\s*(?:([x×])(?![a-z])|(\S.*?))?\s*", re.DOTALL)
LONGEST = 120


class DimensionMismatch(ValueError):
    """A claimed value has another dimension than its quantity: seconds of bytes."""


@dataclass(frozen=True)
class WrittenNumber:
    """A number, a bound, a range or a word, as it was written.

    Attributes:
        text: as written.
        value: in base units; the middle of a range; None for a word.
        low, high: the ends of a range.
        half_unit: half a unit of the last digit written, in base units.
        digits: significant digits written; trailing zeros count.
        operator: of a bound.
        hedged_number: whether it was hedged.
        word: a label or a truth.
    """

    text: str
    value: Fraction | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    half_unit: Fraction = Fraction(0)
    digits: int = 0
    operator: str = ""
    hedged_number: bool = False
    word: str | bool | None = None

    @property
    def number(self) -> Fraction:
        """The value, of a number."""
        assert self.value is not None
        return self.value

    @property
    def margin(self) -> Fraction:
        """How far a derived value may lie from the number and still agree with it."""
        return self.half_unit * (2 if self.hedged_number else 1)

    def agrees(self, derived: Fraction) -> bool:
        """Whether a derived value agrees to the digits written."""
        if self.operator:
            return bool(holds(self.operator, float(derived), float(self.value)))  # type: ignore[arg-type]
        off = self._off(derived)
        return (
            off <= self.half_unit + abs(derived) * ROUNDING
            or (off <= self.margin and off <= abs(derived) * CLOSE_ENOUGH)
            or self.truncated(derived)
        )

    def _off(self, derived: Fraction) -> Fraction:
        """How far a derived value is from the number, or from the range."""
        low, high = (
            (self.number, self.number)
            if self.low is None or self.high is None
            else (self.low, self.high)
        )
        return max(low - derived, derived - high, Fraction(0))

    def truncated(self, derived: Fraction) -> bool:
        """Whether the number is the derived one with digits cut off rather than rounded, and no further off than is approximate."""
        if (
            self.value is None
            or self.low is not None
            or abs(derived - self.value) > abs(derived) * CLOSE_ENOUGH
        ):
            return False
        return 0 <= (derived - self.value) * (1 if self.value >= 0 else -1) < 2 * self.half_unit

    def rounded_limit(self, derived: Fraction) -> bool:
        """Whether a bound that may be reached is the derived limit, rounded as it was written: ``at most 95`` of 95.371, not ``under 95``."""
        if self.value is None or self.operator not in ("<=", ">="):
            return False
        off = abs(derived - self.value)
        return off <= self.half_unit and off <= abs(derived) * ROUNDED_LIMIT

    def verdict(
        self, derived: float | Fraction | str | bool, tolerance: Fraction | None = None
    ) -> str:
        """``exact``, ``rounded``, ``approximate`` or ``wrong``."""
        if self.word is not None or isinstance(derived, (str, bool)):
            return "exact" if self.word == derived else "wrong"
        derived = settled(derived)
        if self.operator or self.low is not None:
            return (
                "exact"
                if self.agrees(derived)
                else "rounded"
                if self.rounded_limit(derived)
                else "approximate"
                if self._near(derived, tolerance)
                else "wrong"
            )
        if self.value is not None and nearly_equal(float(derived), float(self.value)):
            return "exact"
        return (
            "rounded"
            if self.agrees(derived)
            else "approximate"
            if self._near(derived, tolerance)
            else "wrong"
        )

    def _near(self, derived: Fraction, tolerance: Fraction | None) -> bool:
        allowed = CLOSE_ENOUGH if tolerance is None else tolerance
        if self.operator:
            return (
                tolerance is not None
                and self.value is not None
                and abs(derived - self.value) <= abs(self.value) * tolerance
            )
        return self._off(derived) <= abs(derived) * allowed or (
            tolerance is None and self.hedged(derived)
        )

    def hedged(self, derived: Fraction) -> bool:
        """Whether a number is further off than is approximate, but no further than ``hedged_number`` and its digits allow."""
        off = self._off(derived)
        return (
            self.hedged_number
            and not self.operator
            and abs(derived) * CLOSE_ENOUGH < off <= min(self.margin, abs(derived) * HEDGED)
        )


def read_written(written: object, unit: str) -> WrittenNumber:
    """Read a claimed value in a quantity's unit.

    Raises:
        OtherDimension: it is of another dimension than the quantity.
        ValueError: no number, an unknown unit.
    """
    if isinstance(written, bool):
        return WrittenNumber(str(written).lower(), word=written)
    text = str(written).strip()
    if len(text) > LONGEST:
        raise ValueError(f"a value has at most {LONGEST} characters")
    rest, about, operator = text, False, ""
    if match := HEDGE.match(rest):
        rest, about = rest[match.end() :], True
    if match := BOUND_WORD.match(rest):
        operator = bound_of(match[1], parse_unit(unit).dimension)
        rest = rest[match.end() :]
    rest = _in_dollars(rest)
    if not re.match(r"[+-]?[\d.]", rest):
        if operator or about:
            raise ValueError(f"{text!r} holds no number")
        return WrittenNumber(
            text,
            word={"true": True, "false": False, "yes": True, "no": False}.get(text.lower(), text),
        )
    if not operator and (ends := _ends(rest)):
        return _range(text, *ends, unit, about)
    value, half, digits = _number_with_unit(rest, unit)
    return WrittenNumber(
        text, value, half_unit=half, digits=digits, operator=operator, hedged_number=about
    )


def _in_dollars(text: str) -> str:
    """``$2.50/hour`` as ``2.50 USD/hour``; any other text as it is.

    >>> _in_dollars("$0.35 per 1K tokens"), _in_dollars("$0.2–0.3")
    ('0.35 USD per 1K tokens', '0.2–0.3 USD')
    """
    match = DOLLARS.match(text)
    if not match:
        return text
    amount = text[match.end() :].replace("$", "")
    return f"{amount} USD" if _ends(amount) else re.sub(rf"^({NUMBER})", r"\1 USD", amount)


def bound_of(words: str, dimension: Dimension) -> str:
    """The operator of a bound in words, of a number of some dimension.

    >>> bound_of("no faster than", parse_unit("ms").dimension), bound_of("no faster than", parse_unit("token/s").dimension)
    ('>=', '<=')
    """
    if (fast := SPEEDS.get(words.lower())) is None:
        return OPERATORS[words.lower()]
    return ">=" if fast is (dimension == parse_unit("s").dimension) else "<="


def _ends(text: str) -> tuple[str, str] | None:
    """Both ends of ``25..30 ms`` or ``25-30 ms``, the unit at each; none of ``1e-2 s``."""
    first = re.match(NUMBER, text)
    rest = (
        re.fullmatch(
            rf"\s*([^\d\s.–-]\S*)?\s*(?:\.\.|–|-|\bto\b)\s*({NUMBER})\s*(.*)",
            text[first.end() :],
            re.DOTALL,
        )
        if first
        else None
    )
    if not first or not rest:
        return None
    return f"{first[0]} {rest[1] or rest[3]}".strip(), f"{rest[2]} {rest[3]}".strip()


def _range(text: str, first: str, last: str, unit: str, about: bool) -> WrittenNumber:
    (low, half, digits), (high, other, more) = (
        _number_with_unit(first, unit),
        _number_with_unit(last, unit),
    )
    if low > high:
        raise ValueError(f"the range {text!r} runs backwards")
    return WrittenNumber(
        text, (low + high) / 2, low, high, max(half, other), max(digits, more), hedged_number=about
    )


def _number_with_unit(text: str, unit: str) -> tuple[Fraction, Fraction, int]:
    """Value and half a unit of the last digit in base units, and the digits written."""
    text = KILO.sub(
        lambda kilo: f"{kilo[1]}e3" if "e" not in kilo[1].lower() else kilo[0], text, count=1
    )
    text = COUNTED.sub(lambda many: _counted(many, unit), text, count=1)
    match = NUMBER_WITH_UNIT.fullmatch(
        POWER.sub(
            lambda power: f"{power[1]}e{power[2] or power[3].translate(RAISED)}", text, count=1
        )
    )
    if not match:
        raise ValueError(f"{text[:40]!r} is not a number with a unit")
    written, times, unit_text = match[1], match[2], spelled_unit(match[3] or "")
    if comma := DECIMAL_COMMA.fullmatch(written):
        written = f"{comma[1]}.{comma[2]}"
    expected = parse_unit(unit)
    try:
        number, own = parse_number(written), parse_unit("" if times else unit_text)
    except UnitError as error:
        raise ValueError(str(error)) from None
    apart = strict(own.dimension) != strict(expected.dimension) and (
        own.dimension or times or own.size != 1
    )
    if apart or _counts_others(own.dimension, expected.dimension):
        raise DimensionMismatch(
            f"is {describe(own.dimension)}, but the quantity is {describe(expected.dimension)}"
        )
    size = own.size if unit_text and not times else expected.size
    half, digits = precision(written)
    return number * size, half * size, digits


def _counts_others(own: Dimension, expected: Dimension) -> bool:
    """Whether two units count different things, as requests a second are no tokens a second; one that names nothing counts what the other does."""
    mine, theirs = (
        {kind for kind, power in dimension if kind in COUNTS and power > 0}
        for dimension in (own, expected)
    )
    return bool(mine and theirs and mine != theirs)


def _counted(many: re.Match[str], unit: str) -> str:
    """A number of thousands, millions … written out; unchanged where a letter may be another unit, or the number has an exponent."""
    if "e" in many[1].lower() or (many[3] and unit not in COUNTED_BY_LETTER):
        return many[0]
    return f"{many[1]}e{POWERS_OF_TEN[(many[2] or many[3]).lower()]}"


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
