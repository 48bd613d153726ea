"""Numbers of an axis as people write them: ``1:512``, ``128:32768:x2``, ``0.1:0.9:+0.1``, ``1,2,4``, mixtures. Exact."""

import re
from collections.abc import Iterator
from fractions import Fraction

from symroof.specs.fields import ValueRange, in_unit
from symroof.specs.input_values import needs_unit, setting
from symroof.symbolic.expressions import fraction, is_number
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantity import Quantity
from symroof.theory.symbols import SHARES, Symbol
from symroof.units import NUMBER, UnitError, parse_number, with_usual_unit

MOST_ON_AXIS = 1_000_000
"""Values of one axis: more of them than this is a slip of the pen, or belongs on two axes."""
MOST_BITS = 4096
"""Of an exact denominator: x1.0001 a thousand times over has more digits than an axis needs."""
FORMS = "a:b, a:b:x2, a:b:+128, or a list such as 1,2,4"
GROUPED = re.compile(r"0\d+(\.\d*)?$")
"""What a comma that was to group thousands leaves behind: ``1,024`` is 1 and 024."""
Values = tuple[Fraction, ...] | range
"""Exact values in order; whole ones that follow each other are a range, which takes no room."""


class TooManyValues(ValueError):
    """An axis with more values than are computed."""

    def __init__(self, text: str, count: int) -> None:
        super().__init__(
            f"{text[:40]} has {count:,} values, an axis at most {MOST_ON_AXIS:,}; take larger "
            "steps, such as :x2, and a file, such as -o FILE.parquet, for a large grid"
        )


def split(text: str) -> list[str]:
    """What stands between commas.

    Raises:
        ValueError: nothing stands at one place.
    """
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        fault = f"{text.strip()[:60]!r} has an empty place" if any(items) else "has no values"
        raise ValueError(f"{fault}; write {FORMS}")
    return items


def numbers(symbol: Symbol, text: str, own: Declarations = NONE) -> Values:
    """The values of a numeric axis in base units, in written order; a duplicate counts once.

    >>> from symroof.theory.symbols import INPUTS
    >>> [str(value) for value in numbers(INPUTS["batch"], "1:4,16,32")]
    ['1', '2', '3', '4', '16', '32']
    >>> [float(value) for value in numbers(INPUTS["mem_bandwidth"], "2:8 TB/s:x2")]
    [2000000000000.0, 4000000000000.0, 8000000000000.0]

    Raises:
        ValueError: the fault, and how to write it; more values than an axis takes.
    """
    items = split(text)
    if len(items) == 1 and ":" in text:
        return _progression(symbol, items[0], own)
    distinct: dict[Fraction, None] = {}
    for item in items:
        if GROUPED.match(item):
            plain = text.replace(",", "").strip()[:40]
            raise ValueError(f"commas stand between values; write {plain} without them")
        if re.fullmatch(r"\d{1,15}-\d{1,15}", item):
            raise ValueError(
                f"{item!r} is not a range; write {symbol.name}='{item.replace('-', ':')}'"
            )
        values = _progression(symbol, item, own) if ":" in item else (single(symbol, item, own),)
        distinct.update(dict.fromkeys(map(Fraction, values)))
        if len(distinct) > MOST_ON_AXIS:
            raise TooManyValues(text, len(distinct))
    return tuple(distinct)


def single(symbol: Symbol, value: object, own: Declarations = NONE) -> Fraction:
    """One value of an axis, in base units.

    Raises:
        ValueError: no number, another dimension, a range, what the input cannot be.
    """
    number = setting(symbol.name, value, formulas=False, bare=True, own=own)
    if isinstance(number, ValueRange):
        steps = number.text.replace("..", ":")
        raise ValueError(f"an axis takes single values; write {steps}:+STEP for steps between them")
    assert is_number(number)
    return fraction(number)


def _progression(symbol: Symbol, text: str, own: Declarations) -> Values:
    """``a:b`` with its step; the unit of the last number is that of all."""
    parts = [part.strip() for part in text.split(":")]
    if not 2 <= len(parts) <= 3 or not all(parts):
        raise ValueError(f"{text[:60]!r} is not a range; write {FORMS}")
    written = re.match(rf"{NUMBER}\s*", parts[1])
    unit = parts[1][written.end() :] if written else ""
    if not unit and needs_unit(symbol) and re.fullmatch(NUMBER, parts[1]):
        last_one = with_usual_unit(parse_number(parts[1]), symbol.unit, symbol.written_in)
        spelled = ":".join((parts[0], last_one, *(parts[2:] or ["+1"])))
        raise ValueError(f"write the unit behind the last number; write '{spelled}'")
    first, last = single(symbol, _with_unit(parts[0], unit), own), single(symbol, parts[1], own)
    if first > last:
        turned = ":".join((parts[1], parts[0], *parts[2:]))
        raise ValueError(f"{text[:60]!r} runs backwards; write {turned}")
    step = parts[2] if len(parts) == 3 else _plain_step(symbol, parts)
    if factor := re.fullmatch(r"[x×*]\s*(.*)", step):
        values = tuple(_times(first, last, factor[1]))
    else:
        amount = _amount(symbol, step.removeprefix("+").strip(), unit)
        count = int((last - first) // amount) + 1
        if count > MOST_ON_AXIS:
            raise TooManyValues(text, count)
        if first.denominator == amount.denominator == 1:
            return range(first.numerator, int(last) + 1, amount.numerator)
        values = tuple(first + i * amount for i in range(count))
    counted = symbol.counted and not isinstance(symbol, Quantity)
    if counted and any(value.denominator != 1 for value in values):
        raise ValueError(f"counts whole {symbol.display_unit or 'thing'}s: take whole steps")
    return values


def _with_unit(text: str, unit: str) -> str:
    """``2`` of ``2:8 TB/s`` is in TB/s."""
    return f"{text} {unit}" if unit and re.fullmatch(NUMBER, text) else text


def _plain_step(symbol: Symbol, ends: list[str]) -> str:
    """The step of ``a:b``: 1, where steps are whole."""
    bare = all(re.fullmatch(r"\+?\d+", end) for end in ends)
    if symbol.counted or (bare and symbol.name not in SHARES):
        return "1"
    text = ":".join(ends)
    raise ValueError(f"{text!r} needs a step: {text}:x2 times two, or {text}:+1 plus one")


def _amount(symbol: Symbol, text: str, unit: str) -> Fraction:
    """What is added at each step."""
    try:
        amount = in_unit(_with_unit(text, unit), symbol.unit, symbol.written_in).value
    except ValueError as error:
        raise ValueError(f"the step {text[:40]!r}: {error}") from None
    if amount <= 0:
        raise ValueError(f"the step {text[:40]!r} is not more than 0")
    return amount


def _times(value: Fraction, last: Fraction, written: str) -> Iterator[Fraction]:
    try:
        factor = parse_number(written)
    except UnitError:
        raise ValueError(f"the factor {written[:40]!r} is not a number; write x2") from None
    if factor <= 1:
        raise ValueError(f"times {written} leads nowhere; the factor is more than 1, such as x2")
    if value == 0:
        raise ValueError(f"0 times {written} stays 0; start above it, or write 0,1:{last}:x2")
    count = 0
    while value <= last:
        yield value
        value, count = value * factor, count + 1
        if count > MOST_ON_AXIS or value.denominator.bit_length() > MOST_BITS:
            raise ValueError(f"x{written} makes too small steps; take a larger factor, such as x2")
