"""Claims in the inverse of the right unit: a time per token offered as a rate."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symroof.claims.derive_claim import Derived
from symroof.claims.read.written_number import read_written
from symroof.claims.slips.coincidence import chance, spans
from symroof.claims.slips.explanation import SELDOM, Explanation
from symroof.units import describe, format_quantity, parse_unit


def upside_down(value: Any, found: Derived, raw: str = "") -> tuple[Explanation, ...]:
    """A value in the inverse of the derived value's unit: the formula is upside down, or its result was read as the inverse.

    >>> first, *_ = upside_down("24 token/s", Derived(Fraction(140, 3350), "s"))
    >>> first.slip, first.text
    ('inverted_ratio', 'the formula is upside down: it gives 41.79 ms, and its inverse is what is claimed')
    """
    assert isinstance(found.value, Fraction)
    try:
        written = read_written(value, describe(tuple((name, -power) for name, power in parse_unit(found.unit).dimension)), raw)
    except ValueError:
        return ()
    if written.value is None or written.operator or written.value <= 0 or found.value <= 0:
        return ()
    gives = f"it gives {format_quantity(found.value, found.unit)}"
    options = {
        1 / found.value: f"the formula is upside down: {gives}, and its inverse is what is claimed",
        found.value: f"the result is read as its inverse: {gives}",
        1000 * found.value: f"the result in thousandths is read as its inverse: {gives}",
    }
    share = chance(float(written.number), float(1 / found.value), spans(options, written))
    return tuple(Explanation("inverted_ratio", share <= SELDOM, v, share, says) for v, says in options.items() if written.agrees(v))[:1]
