"""Positive real roots of a polynomial with exact coefficients, all of them, in order.

Degrees one and two are solved outright (the second by the root formula that does not cancel). Of higher ones the signs of the
coefficients say where there is none or one (Descartes' rule of signs); more are isolated between the roots of their derivative.
They are bisected to 40 digits.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from symroof.formula.evaluate import sqrt

Numbers = dict[int, Fraction]
"""Power -> exact coefficient."""

DIGITS = 40
FINE = Fraction(1, 10**DIGITS)
"""How near the ends of a bracket come, as a share of the root."""
NARROW, NEWTON_STEPS = Fraction(1, 100), 5
"""How narrow a bracket is, as a share of its end, when Newton's steps are first tried, and how many: each doubles the digits."""


def positive_roots(
    p: Numbers, low: Fraction = Fraction(0), high: Fraction | None = None
) -> list[Fraction]:
    """The roots in the open interval ``(low, high)``; no upper end means all the way.

    >>> positive_roots({2: Fraction(1), 1: Fraction(-3), 0: Fraction(2)})
    [Fraction(1, 1), Fraction(2, 1)]
    """
    p = {k: c for k, c in p.items() if c}
    if len(p) < 2:
        return []
    least = min(p)
    p = {k - least: c for k, c in p.items()}
    degree = max(p)
    if degree == 1:
        roots = [-p[0] / p[1]]
    elif degree == 2:
        roots = _quadratic(p[2], p.get(1, Fraction(0)), p[0])
    else:
        roots = _isolated(p)
    return sorted({root for root in roots if root > low and (high is None or root < high)})


def _quadratic(a: Fraction, b: Fraction, c: Fraction) -> list[Fraction]:
    """Where neither the first coefficient nor the last is zero."""
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    root = sqrt(discriminant)
    q = -(b + root) / 2 if b >= 0 else (root - b) / 2
    return [q / a, c / q]


def _isolated(p: Numbers) -> list[Fraction]:
    """Those of a polynomial that is not zero at zero, between Cauchy's bounds."""
    signs = [c < 0 for _, c in sorted(p.items())]
    changes = sum(a != b for a, b in pairwise(signs))
    if not changes:
        return []
    largest = max(map(abs, p.values()))
    least, bound = 1 / (1 + largest / abs(p[0])), 1 + largest / abs(p[max(p)])
    slope = {k - 1: k * c for k, c in p.items() if k}
    cuts = [least, *(positive_roots(slope, least, bound) if changes > 1 else ()), bound]
    roots = []
    for a, b in pairwise(cuts):
        if value(p, a) == 0:
            roots.append(a)
        if value(p, a) * value(p, b) < 0:
            roots.append(bracketed_root(p, a, b))
    return roots


def short(x: Fraction) -> Fraction:
    """A positive number to a few digits more than a root is computed to; its own may be more than Python writes out."""
    places = DIGITS + 4 - math.floor(_bits(x) * math.log10(2))
    scale = Fraction(10) ** places
    return Fraction(round(x * scale)) / scale


def value(p: Numbers, x: Fraction) -> Fraction:
    """The value of a polynomial; over one denominator, reduced once at the end.

    >>> value({2: Fraction(1, 3), 0: Fraction(-1, 2)}, Fraction(3, 2))
    Fraction(1, 4)
    """
    over, under = x.as_integer_ratio()
    degree, shared = max(p, default=0), math.lcm(*(c.denominator for c in p.values()))
    total = sum(
        c.numerator * (shared // c.denominator) * over**k * under ** (degree - k)
        for k, c in p.items()
    )
    return Fraction(total, shared * under**degree)


def sign(x: Fraction | float) -> int:
    return (x > 0) - (x < 0)


def _falls_below(p: Numbers) -> Callable[[Fraction], bool]:
    """Whether a polynomial is negative at a point, in whole numbers: reducing fractions would take most of the time."""
    shared = math.lcm(*(c.denominator for c in p.values()))
    coefficients = [int(p.get(k, Fraction(0)) * shared) for k in range(max(p), -1, -1)]

    def below(x: Fraction) -> bool:
        over, under = x.as_integer_ratio()
        total, scale = 0, 1
        for coefficient in coefficients:
            total = total * over + coefficient * scale
            scale *= under
        return total < 0

    return below


def _newton(p: Numbers, x: Fraction) -> Fraction:
    """Where Newton's steps lead from a point; the digits that are right double with each."""
    slope = {k - 1: k * c for k, c in p.items() if k}
    for _ in range(NEWTON_STEPS):
        steep = value(slope, x)
        step = value(p, x) / steep if steep else x
        if step >= x:  # a root lies right of zero
            break
        x = short(x - step)
    return x


def _between(low: Fraction, high: Fraction) -> Fraction:
    """Midway between two ends; by their powers of two while those are far apart, of which a bound of roots may have hundreds."""
    bits_between = _bits(high) - _bits(low)
    return low * 2 ** (bits_between // 2) if low and bits_between > 2 else short((low + high) / 2)


def _bits(x: Fraction) -> int:
    return x.numerator.bit_length() - x.denominator.bit_length()


def bracketed_root(p: Numbers, low: Fraction, high: Fraction) -> Fraction:
    """A root between two points of different sign: halved until Newton's steps lead into the bracket, and back where they do not."""
    below = _falls_below(p)
    rising, newton = below(low), NARROW
    while high - low > high * FINE:
        if high - low <= high * newton:
            newton **= 2
            root = _newton(p, (low + high) / 2)
            left, right = root * (1 - FINE), root * (1 + FINE)
            if low < left and right < high and below(left) == rising != below(right):
                low, high = left, right
                break
        middle = _between(low, high)
        low, high = (middle, high) if below(middle) == rising else (low, middle)
    middle = short((low + high) / 2)
    simple = middle.limit_denominator(10**6)  # a root that is a plain number is that number
    return simple if value(p, simple) == 0 else middle
