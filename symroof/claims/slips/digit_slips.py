"""Slips of digits: two neighbours swapped, or one digit wrong. They are tried last, and only on a written number.

>>> list(swapped("1978"))
['9178', '1798', '1987']
"""

import itertools
from collections.abc import Iterator
from fractions import Fraction

SWAPPED = "two digits swapped"
WRONG = "one digit wrong"


def swapped(digits: str) -> Iterator[str]:
    """Every way of swapping two neighbouring digits that differ."""
    for i, (first, second) in enumerate(itertools.pairwise(digits)):
        if first != second:
            yield digits[:i] + second + first + digits[i + 2 :]


def mistaken(digits: str) -> Iterator[str]:
    """Every way of getting one digit wrong.

    >>> list(mistaken("7"))[:3]
    ['0', '1', '2']
    """
    for i, right in enumerate(digits):
        yield from (digits[:i] + wrong + digits[i + 1 :] for wrong in "0123456789" if wrong != right)


def slips(derived: Fraction, unit: Fraction) -> dict[Fraction, str]:
    """The derived value, written to whole multiples of ``unit``, after each slip of digits; and which slip.

    The value may have been rounded or cut off before the slip.

    >>> slips(Fraction("1978.9"), Fraction(1))[Fraction(1987)]
    'two digits swapped in 1978'
    """
    exact = derived / unit
    whole = {str(round(exact)), str(exact.numerator // exact.denominator)}
    slipped: dict[Fraction, str] = {}
    for text, ways in ((SWAPPED, swapped), (WRONG, mistaken)):
        for digits in sorted(whole):
            for read in ways(digits):
                if read not in whole and read[0] != "0":
                    slipped.setdefault(int(read) * unit, f"{text} in {digits}")
    return slipped
