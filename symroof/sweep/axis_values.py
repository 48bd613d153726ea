"""The values of an axis as people write them: ``1:512``, ``128:32768:x2``, ``0.1:0.9:+0.1``, ``1,2,4``, and mixtures. Exact."""

import re
from collections.abc import Iterator
from fractions import Fraction

from symroof.specs.fields import ValueRange, in_unit
from symroof.specs.input_values import needs_unit, setting, symbol_of
from symroof.symbolic.expressions import fraction, is_number
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantity import Quantity
from symroof.theory.symbols import SHARES, Symbol
from symroof.units import NUMBER, UnitError, parse_number, with_usual_unit

MOST_ON_AXIS = 1_000_000
"""Values of one axis: more of them than this is a slip of the pen, or belongs on two axes."""
FORMS = "a:b, a:b:x2, a:b:+128, or a list such as 1,2,4"
GROUPED = re.compile(r"0\d+(\.\d*)?$")
"""What a comma that was to group thousands leaves behind: ``1,024`` is 1 and 024."""


class TooManyValues(ValueError):
    """An axis with more values than are computed; ``count`` says how many."""

    def __init__(self, text: str, count: int) -> None:
        self.count = count
        super().__init__(
            f"{text[:40]} has {count:,} values, an axis at most {MOST_ON_AXIS:,}; take larger steps, such as :x2, and a file, such as -o FILE.parquet, for a large grid"
        )


Values = tuple[Fraction, ...] | range
"""Exact values in order; whole ones that follow each other are a range, which takes no room."""


def numbers(name: str, text: str, own: Declarations = NONE) -> Values:
    """The values of a numeric axis in base units, in written order; a duplicate counts once.

    ``own`` are the declarations of the study that is swept.

    >>> [str(value) for value in numbers("batch", "1:4,16,32")]
    ['1', '2', '3', '4', '16', '32']
    >>> [str(value) for value in numbers("mfu", "0.5:0.7:+0.1")]
    ['1/2', '3/5', '7/10']
    >>> [float(value) for value in numbers("mem_bandwidth", "2:8 TB/s:x2")]
    [2000000000000.0, 4000000000000.0, 8000000000000.0]

    Raises:
        ValueError: the fault, and how to write it.
        TooMany: more values than an axis takes.
    """
    if not text.strip():
        raise ValueError(f"has no values; write {FORMS}")
    distinct: dict[Fraction, None] = {}
    items = text.split(",")
    if len(items) == 1 and ":" in text:
        return _progression(name, text, own)
    for item in items:
        if not item.strip():
            raise ValueError(f"{text.strip()[:60]!r} has an empty place between its commas")
        if GROUPED.match(item.strip()):
            raise ValueError(
                f"commas stand between values; write {text.replace(',', '').strip()[:40]} without them for one number"
            )
        distinct.update(
            dict.fromkeys(
                map(Fraction, _progression(name, item, own))
                if ":" in item
                else (single(name, item.strip(), own),)
            )
        )
        if len(distinct) > MOST_ON_AXIS:
            raise TooManyValues(text, len(distinct))
    return tuple(distinct)


DASHED = re.compile(r"(\d[\d.]*)\s*[-–]\s*(\d.*)")
"""A range as prose writes one."""


def single(name: str, value: object, own: Declarations = NONE) -> Fraction:
    """One value of an axis, in base units.

    Raises:
        ValueError: no number, another dimension, a range, what the input cannot be.
    """
    if isinstance(value, str) and (ends := DASHED.fullmatch(value.strip())):
        raise ValueError(f"{value.strip()!r} is not a range; write '{ends[1]}:{ends[2]}'")
    number = setting(name, value, formulas=False, bare=True, own=own)
    if isinstance(number, ValueRange):
        raise ValueError(
            f"an axis takes single values; write {number.text.replace('..', ':')}:+STEP for steps from one end to the other"
        )
    assert is_number(number)
    return fraction(number)


def _progression(name: str, text: str, own: Declarations) -> Values:
    """``a:b`` with its step."""
    parts = [part.strip() for part in text.split(":")]
    if not 2 <= len(parts) <= 3 or not all(parts):
        raise ValueError(f"{text.strip()[:60]!r} is not a range; write {FORMS}")
    symbol, unit = symbol_of(name, own), _unit(parts[1])
    if not unit and needs_unit(symbol) and re.fullmatch(NUMBER, parts[1]):
        last_written = with_usual_unit(parse_number(parts[1]), symbol.unit, symbol.written_in)
        raise ValueError(
            f"write the unit behind the last number; write '{':'.join((parts[0], last_written, *(parts[2:] or ['+1'])))}'"
        )
    first, last = single(name, _with_unit(parts[0], unit), own), single(name, parts[1], own)
    if first > last:
        raise ValueError(
            f"{text.strip()[:60]!r} runs backwards; write {':'.join((parts[1], parts[0], *parts[2:]))}"
        )
    step = parts[2] if len(parts) == 3 else _plain_step(symbol, parts)
    factor = re.fullmatch(r"[x×*]\s*(.*)", step)
    values = (
        _times(text, first, last, factor[1])
        if factor
        else _plus(text, first, last, _amount(symbol, step.removeprefix("+").strip(), unit))
    )
    return values if isinstance(values, range) else tuple(_whole(symbol, values))


def _unit(text: str) -> str:
    """The text after the number; nothing where there is no number."""
    match = re.match(rf"{NUMBER}\s*", text)
    return text[match.end() :] if match else ""


def _with_unit(text: str, unit: str) -> str:
    """``2`` of ``2:8 TB/s`` is in TB/s."""
    return f"{text} {unit}" if unit and re.fullmatch(NUMBER, text) else text


def _plain_step(symbol: Symbol, ends: list[str]) -> str:
    """The step of ``a:b``: 1, where steps are whole."""
    bare = all(re.fullmatch(r"\+?\d+", end) for end in ends)
    if symbol.counted or (bare and symbol.name not in SHARES):
        return "1"
    raise ValueError(
        f"{':'.join(ends)!r} needs a step: {':'.join(ends)}:x2 times two, or {':'.join(ends)}:+{_with_unit('1', _unit(ends[1]))}"
    )


def _amount(symbol: Symbol, text: str, unit: str) -> Fraction:
    try:
        return in_unit(_with_unit(text, unit), symbol.unit, symbol.written_in).value
    except ValueError as error:
        raise ValueError(f"the step {text[:40]!r}: {error}") from None


def _times(text: str, first: Fraction, last: Fraction, written: str) -> Iterator[Fraction]:
    try:
        factor = parse_number(written)
    except UnitError:
        raise ValueError(
            f"the factor {written[:40]!r} of {text.strip()[:60]!r} is not a number; write x2"
        ) from None
    if factor <= 1:
        raise ValueError(
            f"times {written} never gets from one end of {text.strip()[:60]!r} to the other; the factor is more than 1, such as x2"
        )
    if first == 0:
        raise ValueError(
            f"{text.strip()[:60]!r}: 0 times {written} stays 0; start above it, or write 0,1:{last}:x{written}"
        )
    return _multiples(first, last, factor, text)


def _multiples(value: Fraction, last: Fraction, factor: Fraction, text: str) -> Iterator[Fraction]:
    count = 0
    while value <= last:
        yield value
        value, count = value * factor, count + 1
        if count > MOST_ON_AXIS or value.denominator.bit_length() > MOST_BITS:
            raise ValueError(
                f"{text.strip()[:60]!r} takes too small steps; a larger factor, such as x2, gets there"
            )


MOST_BITS = 4096
"""Of an exact denominator: x1.0001 a thousand times over has more digits than an axis needs."""


def _plus(text: str, first: Fraction, last: Fraction, step: Fraction) -> Iterator[Fraction] | range:
    if step <= 0:
        raise ValueError(
            f"the step of {text.strip()[:60]!r} is {'0' if step == 0 else 'negative'}; it is more than 0"
        )
    count = (last - first) // step + 1
    if count > MOST_ON_AXIS:
        raise TooManyValues(text.strip(), count)
    if first.denominator == step.denominator == 1:
        return range(first.numerator, int(last) + 1, step.numerator)
    return (first + i * step for i in range(count))


def _whole(symbol: Symbol, values: Iterator[Fraction]) -> Iterator[Fraction]:
    for value in values:
        if symbol.counted and not isinstance(symbol, Quantity) and value.denominator != 1:
            raise ValueError(
                f"counts {symbol.display_unit or 'thing'}s, and its steps lead to {float(value):g}: take whole steps"
            )
        yield value
