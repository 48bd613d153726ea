"""A formula as text, in the order it was written; :func:`symroof.formula.parse.parse` reads it back.

>>> from symroof.formula.parse import parse
>>> text(parse("2*n_layers*n_kv_heads * head_dim^2/(a+b)"))
'2*n_layers*n_kv_heads*head_dim**2/(a + b)'
"""

import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

from symroof.formula.build import is_negative, neg
from symroof.formula.tree import (
    Add,
    ArgMax,
    Call,
    Compare,
    Div,
    Expr,
    Mul,
    Name,
    Neg,
    Num,
    Pow,
    QuantityAt,
    Sum,
)
from symroof.units import Dimension, parse_unit, strict

WORK = parse_unit("FLOP").dimension
SUM, PRODUCT, SIGN, POWER, ATOM = range(5)
"""Binding strengths; a looser expression inside a tighter one needs parentheses."""


def number_text(value: Fraction) -> str:
    """An exact number that parses back: an integer, a finite decimal, or a quotient.

    >>> number_text(Fraction(98940, 10)), number_text(Fraction(1, 3)), number_text(Fraction(335 * 10**10))
    ('9894', '1/3', '3.35e12')
    """
    if value.denominator == 1:
        digits = str(abs(value.numerator)).rstrip("0")
        zeros = len(str(abs(value.numerator))) - len(digits)
        if zeros < 6 or not digits:
            return str(value.numerator)
        mantissa = f"{digits[0]}.{digits[1:]}".rstrip(".")
        return f"{'-' if value < 0 else ''}{mantissa}e{zeros + len(digits) - 1}"
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1 and value.denominator < 10**12:
        with localcontext() as context:
            context.prec = (
                2 * len(str(value.numerator)) + 24
            )  # the quotient is finite: keep every digit
            decimal = (Decimal(value.numerator) / Decimal(value.denominator)).normalize()
        return (
            f"{decimal:f}" if abs(decimal) >= Decimal("1e-6") else f"{decimal:e}".replace("e+", "e")
        )
    return f"{value.numerator}/{value.denominator}"


def unit_text(dimension: Dimension) -> str:
    """The unit of a number as the grammar reads it; empty for a count, and for units outside the grammar, such as squares."""
    over = [name for name, power in dimension if power == 1]
    under = [name for name, power in dimension if power == -1]
    sayable = (
        bool(strict(dimension)) and len(over) == 1 and len(over) + len(under) == len(dimension)
    )
    return "/".join([*over, *under]) if sayable else ""


def bare(factor: Expr) -> Expr:
    """The factor; a number of FLOPs loses its unit, because work is written ``2*n_layers*d_model``."""
    return Num(factor.value) if isinstance(factor, Num) and factor.dimension == WORK else factor


def text(tree: Expr, show: Callable[[str], str] = str) -> str:
    """The formula as text; ``show`` says how a name is written (by default as itself)."""
    return _Printer(show).print(tree)[0]


class _Printer:
    def __init__(self, show: Callable[[str], str]) -> None:
        self.show = show

    def print(self, tree: Expr) -> tuple[str, int]:
        match tree:
            case Num(value, dimension):
                written, unit = number_text(value), unit_text(dimension)
                return (
                    f"{written} {unit}".rstrip(),
                    SIGN if value < 0 else PRODUCT if "/" in written or unit else ATOM,
                )
            case Name(name):
                return self.show(name), ATOM
            case Neg(arg):
                return "-" + self.inside(arg, PRODUCT), SIGN
            case Add(terms):
                return self.sum(terms), SUM
            case Mul(factors):
                return "*".join(
                    self.inside(bare(f), PRODUCT if i == 0 else SIGN) for i, f in enumerate(factors)
                ), PRODUCT
            case Div(over, under):
                return f"{self.inside(over, PRODUCT)}/{self.inside(under, POWER)}", PRODUCT
            case Pow(base, exponent):
                return f"{self.inside(base, ATOM)}**{self.inside(exponent, ATOM)}", POWER
            case Call(constant, ()):
                return constant, ATOM
            case Call(function, args):
                return f"{function}({', '.join(self.print(arg)[0] for arg in args)})", ATOM
            case Sum(body, index, first, last):
                return (
                    f"sum({self.print(body)[0]}, {index}, {self.print(first)[0]}, {self.print(last)[0]})",
                    ATOM,
                )
            case QuantityAt(name, pairs):
                return (
                    f"{self.show(name)}({', '.join(f'{k} = {self.print(v)[0]}' for k, v in pairs)})",
                    ATOM,
                )
            case ArgMax(arms):
                return f"largest({', '.join(f'{k} = {self.print(v)[0]}' for k, v in arms)})", ATOM
            case Compare(operator, left, right):
                return f"{self.print(left)[0]} {operator} {self.print(right)[0]}", SUM
        raise TypeError(f"not a formula tree: {tree!r}")

    def inside(self, tree: Expr, binding: int) -> str:
        written, own = self.print(tree)
        return f"({written})" if own < binding else written

    def sum(self, terms: tuple[Expr, ...]) -> str:
        """The terms, each with its sign between it and the one before."""
        written = self.inside(terms[0], PRODUCT)
        for term in terms[1:]:
            minus = is_negative(term)
            written += (" - " if minus else " + ") + self.inside(
                neg(term) if minus else term, PRODUCT
            )
        return written


def shortened_formula(written: str, most: int) -> str:
    """A long formula cut at the end of a term, or else of a factor, never inside a word.

    >>> shortened_formula("ttft/itl", 48), shortened_formula("2*kv_cache_bytes/mem_bandwidth + decode_overhead*n_layers", 48)
    ('ttft/itl', '2*kv_cache_bytes/mem_bandwidth …')
    """
    if len(written) <= most:
        return str(written)
    cuts = [
        [
            match.start()
            for match in re.finditer(pattern, written[:most])
            if match.start() > most / 3
        ]
        for pattern in (r" [-+] ", r"[-+*/,()\s]")
    ]
    end = next((places[-1] for places in cuts if places), most - 2)
    return f"{written[:end].rstrip(' +-*/(,')} …"
