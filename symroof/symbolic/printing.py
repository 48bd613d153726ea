r"""Formulas as text that :func:`symroof.symbolic.reading.parse` reads back, and as LaTeX: SymPy's printers, with an order that a person would write.

SymPy orders factors and terms by rules of its own. Here they stand in the order in which a theory declares its names
(:func:`symroof.symbolic.expressions.declare_order`), numbers first in products and last in sums. A formula as it is written keeps its order.

>>> from symroof.symbolic.reading import parse, written
>>> text(parse("(a+b) * 2*n_layers/(4*head_dim^2)"))
'n_layers*(a + b)/(2*head_dim**2)'
>>> latex(written("2 FLOP*n_layers*head_dim"), {"n_layers": "L", "head_dim": "d_h"}.get, as_written=True)
'2 L d_h'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sympy import Mul, Pow, S, log
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import precedence
from sympy.printing.str import StrPrinter

from symroof.symbolic.expressions import Expr, fraction, is_label, is_negative, names, place
from symroof.symbolic.nodes import At, Measured, Total, halves
from symroof.units import Dimension, parse_unit, strict

WORK = parse_unit("FLOP").dimension
SUM, PRODUCT, POWER = 40, 50, 60
"""How tightly SymPy's printers take sums, products and powers to bind."""


def _is_number(part: Any) -> bool:
    return bool(part.is_Number or part.is_NumberSymbol) or isinstance(part, Measured)


@lru_cache(maxsize=32768)
def _rank(part: Any) -> tuple[Any, ...]:
    """Where a factor stands: numbers, then simple ones, each by its names."""
    if _is_number(part):
        return (0, False, (), "")
    simple = part.is_Symbol or (part.is_Pow and part.base.is_Symbol) or isinstance(part, At)
    return (1, not simple, tuple(sorted(map(place, names(part)))), type(part).__name__)


def number_text(value: Any) -> str:
    """An exact number that parses back: an integer, a finite decimal, or a quotient.

    >>> number_text(Fraction(98940, 10)), number_text(Fraction(1, 3)), number_text(Fraction(335 * 10**10))
    ('9894', '1/3', '3.35e12')
    """
    value = value if isinstance(value, Fraction) else fraction(value)
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
    if rest != 1 or value.denominator >= 10**12:
        return f"{value.numerator}/{value.denominator}"
    shown = exact_text(value)
    if abs(value) >= Fraction(1, 10**6):
        return shown
    return f"{Decimal(shown).normalize():e}".replace("e+", "e")


def exact_text(value: int | Fraction) -> str:
    """A number as an exact decimal.

    >>> exact_text(16), exact_text(Fraction(99, 100)), exact_text(Fraction(-1, 8))
    ('16', '0.99', '-0.125')

    Raises:
        ValueError: it has no decimal of 60 digits or fewer.
    """
    value, digits = Fraction(value), 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > 60:
            raise ValueError("is not a decimal number; write one")
    whole = f"{abs(value) * 10**digits}".rjust(digits + 1, "0")
    return "-" * (value < 0) + (f"{whole[:-digits]}.{whole[-digits:]}" if digits else whole)


def number_latex(value: Any) -> str:
    """An exact number: ``3.35e12`` as a power of ten, a quotient as a fraction."""
    shown = number_text(value)
    if "e" in shown:
        mantissa, exponent = shown.split("e")
        return rf"{mantissa} \cdot 10^{{{exponent}}}"
    if "/" in shown:
        over, under = shown.split("/")
        return rf"\frac{{{over}}}{{{under}}}"
    return shown


def unit_text(dimension: Dimension) -> str:
    """The unit of a number as the grammar reads it; empty for a count, and for units outside the grammar, such as squares."""
    over = [name for name, power in dimension if power == 1]
    under = [name for name, power in dimension if power == -1]
    told = len(over) == 1 and len(over) + len(under) == len(dimension)
    return "/".join([*over, *under]) if told and strict(dimension) else ""


class _Ordered:
    """What both printers share: ``show`` spells a name; without ``as_written`` factors and terms are put in order.

    A printer adds how a ``number`` and a ``quotient`` are spelled, the ``signs`` of relations, and what stands ``inside`` where something binds so tightly:
    in brackets if it binds less.
    """

    number: Callable[[Any], str]
    quotient: Callable[[list[Any], list[Any]], str]
    inside: Callable[[Any, int], str]
    signs: dict[str, str]

    def __init__(self, show: Callable[[str], Any], as_written: bool, **settings: Any) -> None:
        super().__init__({"order": "none", **settings})  # type: ignore[call-arg]
        self.show, self.as_written = show, as_written

    def _print_Symbol(self, expr: Any, **settings: Any) -> str:
        return str(self.show(expr.name))

    _print_Str = _print_Symbol

    def factors(self, expr: Any) -> list[Any]:
        """The factors in order; a pair of logarithms that is a binary one is one. Work is written without its unit: ``2*params``."""
        found = [
            factor.args[0] if isinstance(factor, Measured) and factor.unit == "FLOP" else factor
            for factor in Mul.make_args(expr)
        ]
        unit = 1 / log(2)
        while unit in found and (
            of := [f for f in found if f.func is log and f != log(2) and not f.args[1:]]
        ):
            found.remove(unit)
            found[found.index(of[0])] = log(of[0].args[0], 2, evaluate=False)
        if self.as_written:
            return sorted(found, key=lambda factor: not _is_number(factor))
        for exponent in (S.Half, -S.Half):  # SymPy has a root for each factor
            bases = [f.base for f in found if f.is_Pow and f.exp == exponent]
            if bases[1:]:
                found = [f for f in found if not (f.is_Pow and f.exp == exponent)]
                found.append(Pow(Mul(*bases), exponent, evaluate=False))
        return sorted(found, key=_rank)

    def terms(self, expr: Any) -> list[Any]:
        """The terms of a sum: those with a minus sign and numbers stand last."""
        if self.as_written:
            return list(expr.args)
        return sorted(expr.args, key=lambda x: (is_negative(x), _is_number(x), _rank(x)))

    def _list(self, args: Iterable[Any]) -> str:
        return ", ".join(map(self._print, args))  # type: ignore[attr-defined]

    def halves(self, expr: Any) -> tuple[list[Any], list[Any]]:
        """The factors above and below the bar, in order."""
        return halves(self.factors(expr))

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        """Terms, each with its sign between it and the one before."""
        minus, first = _unsigned((terms := self.terms(expr))[0])
        shown = ("-" if minus else "") + self.inside(first, SUM + 1)
        for term in terms[1:]:
            minus, rest = _unsigned(term)
            shown += (" - " if minus else " + ") + self.inside(rest, SUM + 1)
        return shown

    def _print_Rational(self, expr: Any) -> str:
        return self.number(expr)

    _print_Integer = _print_Half = _print_One = _print_Zero = _print_NegativeOne = _print_Rational

    def _print_Mul(self, expr: Any) -> str:
        minus, rest = _unsigned(expr)
        above, below = self.halves(rest)
        return ("-" if minus else "") + self.quotient(above or [S.One], below)

    def _print_Relational(self, expr: Any) -> str:
        sign = self.signs.get(expr.rel_op, expr.rel_op)
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"  # type: ignore[attr-defined]


def _unsigned(term: Any) -> tuple[bool, Any]:
    """Whether a term has a minus sign, and the term without it."""
    if term.is_Number:
        return bool(term.is_negative), -term if term.is_negative else term
    if term.is_Mul and term.args[0].is_Number and term.args[0].is_negative:
        first, rest = -term.args[0], term.args[1:]
        if first == 1:
            return True, rest[0] if len(rest) == 1 else Mul._from_args(rest)
        return True, Mul._from_args((first, *rest))
    return False, term


def _call(template: str) -> Callable[..., str]:
    """A printer of a function: its arguments in a template."""

    def printed(self: Any, expr: Any, exp: Any = None) -> str:
        return template % str(self._list(expr.args))

    return printed


class _Text(_Ordered, StrPrinter):  # type: ignore[misc]
    printmethod = "_text"  # none of SymPy's
    number, signs = staticmethod(number_text), {"==": "="}

    def inside(self, expr: Any, binding: int) -> str:
        shown = self._print(expr)
        compound = expr.is_Rational and (expr.is_negative or "/" in shown)
        compound = compound or isinstance(expr, Measured)
        loose = precedence(expr) < binding or (compound and binding > PRODUCT)
        return f"({shown})" if loose else shown

    def quotient(self, above: list[Any], below: list[Any]) -> str:
        shown = "*".join(self.inside(part, PRODUCT) for part in above)
        if len(below) == 1:
            return f"{shown}/{self.inside(below[0], PRODUCT + 1)}"
        under = "*".join(self.inside(part, PRODUCT) for part in below)
        return f"{shown}/({under})" if below else shown

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        if expr.exp == S.Half:
            return f"sqrt({self._print(expr.base)})"
        if expr.exp.is_Number and expr.exp.is_negative:
            return self._print_Mul(Mul(expr, evaluate=False))
        return f"{self.inside(expr.base, POWER + 1)}**{self.inside(expr.exp, POWER + 1)}"

    _print_Max = _call("max(%s)")
    _print_Min = _call("min(%s)")
    _print_ceiling = _call("ceil(%s)")
    _print_floor = _call("floor(%s)")
    _print_exp = _call("exp(%s)")

    def _print_Exp1(self, expr: Any) -> str:
        return "exp(1)"

    def _print_LambertW(self, expr: Any) -> str:
        return f"lambertw({self.stringify(expr.args, ', ')})"

    def _print_log(self, expr: Any) -> str:
        return f"log{'2' * len(expr.args[1:])}({self._print(expr.args[0])})"

    def _print_OfLargest(self, expr: Any) -> str:
        if is_label(expr):
            return f"largest({self._changes(expr.arms)})"
        return f"of_largest({self._list(expr.args)})"

    def _print_Total(self, expr: Any) -> str:
        body, index, first, last = expr.args
        return f"sum({self._print(body)}, {index.name}, {self._list((first, last))})"

    def _print_Measured(self, expr: Any) -> str:
        return f"{number_text(expr.args[0])} {expr.unit}"

    def _changes(self, pairs: Iterable[tuple[str, Any]]) -> str:
        return ", ".join(f"{key} = {self._print(value)}" for key, value in pairs)

    def _print_At(self, expr: Any) -> str:
        return f"{self.show(expr.name)}({self._changes(expr.changes)})"


def text(expr: Expr, show: Callable[[str], Any] = str, as_written: bool = False) -> str:
    """The formula as text; ``show`` says how a name is written (by default as itself)."""
    return str(_Text(show, as_written).doprint(expr))


def shortened_formula(shown: str, most: int) -> str:
    """A long formula cut at the end of a term, or else of a factor, never inside a word.

    >>> shortened_formula("ttft/itl", 48), shortened_formula("2*kv_cache_bytes/mem_bandwidth + decode_overhead*n_layers", 48)
    ('ttft/itl', '2*kv_cache_bytes/mem_bandwidth …')
    """
    if len(shown) <= most:
        return str(shown)
    cuts = [
        [match.start() for match in re.finditer(pattern, shown[:most]) if match.start() > most / 3]
        for pattern in (r" [-+] ", r"[-+*/,()\s]")
    ]
    end = next((places[-1] for places in cuts if places), most - 2)
    return f"{shown[:end].rstrip(' +-*/(,')} …"


class _Latex(_Ordered, LatexPrinter):  # type: ignore[misc]
    """With ``dots`` there is a dot between all factors, else only between two numbers."""

    number, signs = staticmethod(number_latex), {"==": "=", "<=": r"\le", ">=": r"\ge"}

    def __init__(self, show: Callable[[str], Any], as_written: bool, dots: bool = False) -> None:
        super().__init__(show, as_written, ln_notation=True)
        self.dots = dots

    def inside(self, expr: Any, binding: int) -> str:
        shown = str(self._print(expr))
        fraction = expr.is_Mul and shown.startswith(r"\frac") and not self.halves(expr)[0][1:]
        loose = precedence(expr) < binding and not (fraction and binding <= POWER)
        if isinstance(expr, Total) and binding > SUM + 1:
            loose = True
        return rf"\left({shown}\right)" if loose else shown

    def quotient(self, above: list[Any], below: list[Any]) -> str:
        shown = self.product(above)
        return rf"\frac{{{shown}}}{{{self.product(below)}}}" if below else shown

    def product(self, factors: list[Any]) -> str:
        """Factors beside one another; a dot stands between digits, and after a unit, which would read as a name."""
        if len(factors) == 1:
            return str(self._print(factors[0]))
        shown = ""
        for before, factor in zip([None, *factors], factors, strict=False):
            part = self.inside(factor, PRODUCT)
            dot = shown[-1:].isdigit() and part[:1].isdigit()
            dot = dot or isinstance(before, Measured)
            space = r" \cdot " if self.dots or dot else " "
            shown += (space if shown else "") + part
        return shown

    def _print_Pow(self, expr: Any) -> str:
        if expr.exp == S.Half:
            return rf"\sqrt{{{self._print(expr.base)}}}"
        if expr.exp.is_Number and expr.exp.is_negative:
            return self._print_Mul(Mul(expr, evaluate=False))
        base = str(self._print(expr.base))
        plain = expr.base.is_Symbol and "^" not in base
        whole = expr.base.is_Integer and expr.base.is_nonnegative and base.isdigit()
        base = base if plain or whole else rf"\left({base}\right)"
        return f"{base}^{{{self._print(expr.exp)}}}"

    _print_exp = _call(r"\exp\left(%s\right)")
    _print_Max = _call(r"\max\left(%s\right)")
    _print_Min = _call(r"\min\left(%s\right)")
    _print_ceiling = _call(r"\left\lceil %s \right\rceil")
    _print_floor = _call(r"\left\lfloor %s \right\rfloor")

    def _print_log(self, expr: Any, exp: Any = None) -> str:
        name = r"\log_2" if expr.args[1:] else r"\ln"
        return rf"{name}\left({self._print(expr.args[0])}\right)"

    def _print_OfLargest(self, expr: Any, exp: Any = None) -> str:
        if not is_label(expr):
            return rf"\operatorname{{of\_largest}}\left({self._list(expr.args)}\right)"
        arms = ", ".join(rf"\text{{{key}: }} {self._print(value)}" for key, value in expr.arms)
        return rf"\operatorname{{arg\,max}}\left({arms}\right)"

    def _print_Total(self, expr: Any, exp: Any = None) -> str:
        body, index, first, last = expr.args
        first, last = self._print(first), self._print(last)
        return rf"\sum_{{{self._print(index)}={first}}}^{{{last}}} {self.inside(body, PRODUCT)}"

    def _print_Measured(self, expr: Any, exp: Any = None) -> str:
        return rf"{number_latex(expr.args[0])}\,\mathrm{{{expr.unit}}}"

    def _print_At(self, expr: Any, exp: Any = None) -> str:
        changes = (f"{self.show(key)} = {self._print(value)}" for key, value in expr.changes)
        return rf"\left. {self.show(expr.name)} \right\vert_{{{', '.join(changes)}}}"


def latex(
    expr: Expr, show: Callable[[str], Any], dots: bool = False, as_written: bool = False
) -> str:
    r"""The formula as LaTeX; ``show`` spells a name, ``dots`` puts a ``\cdot`` between all factors, as numbers need it."""
    return str(_Latex(show, as_written, dots).doprint(expr))
