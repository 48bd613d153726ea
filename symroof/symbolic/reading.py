"""The plain-text grammar of formulas, read into SymPy without ``eval``, ``sympify`` or ``parse_expr``.

``+ - * / ^ **``, parentheses, names, numbers with an optional unit that binds to its number (``3.35e12 byte/s``),
``max min ceil floor sqrt log2 log exp lambertw``, ``pi``, ``sum(body, index, first, last)``, a quantity at a changed input
(``itl(context = 8192)``) and one comparison. Bounded in length, depth and exponents; every error has its column.

:func:`parse` computes: SymPy orders and folds what it reads. :func:`written` keeps every sum and product as it stands, and
units beside their numbers: it is printed, and its dimensions are checked.

>>> parse("2*params^2 / (mfu*peak_flops)")
2*params**2/(mfu*peak_flops)
>>> parse("9**9**9")
Traceback (most recent call last):
    ...
symroof.symbolic.reading.FormulaError: column 4: exponents are whole numbers from -64 to 64, or such as 1/3
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import sympy
from sympy import Add, Mul, Pow
from sympy.core.symbol import Str

from symroof.symbolic.expressions import (
    RELATIONS,
    Expr,
    at,
    is_label,
    is_relation,
    label,
    number,
    parts,
    relation,
    symbol,
)
from symroof.symbolic.nodes import FUNCTIONS, LARGEST_ROOTED, Measured
from symroof.units import UNITS, UnitError, parse_number, parse_unit, unknown_unit

LONGEST, DEEPEST, LARGEST_EXPONENT = 4096, 64, 64
LARGEST_ROOT = 8
"""Of a fractional exponent, such as 1/3."""
LARGEST_POWER_OF_TEN = 99  # products up to this size can still be written and read back


TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9_]{0,47}(?:\.[A-Za-z][A-Za-z0-9_]{0,31}){0,2})"
    r"|(?P<op>\*\*|<=|>=|[-+*/^()=<>,%])"
)
LATEX = frozenset("\\{}$")


class FormulaError(ValueError):
    """A formula that cannot be read; ``column`` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")
        self.message, self.column = message, column


class Token(NamedTuple):
    kind: str
    text: str
    column: int


def tokens(source: str) -> list[Token]:
    """The tokens of a formula; an unknown character is an error."""
    if len(source) > LONGEST:
        message = f"a formula has at most {LONGEST} characters; this one has {len(source)}"
        raise FormulaError(message, LONGEST)
    result, position = [], 0
    while position < len(source):
        match = TOKEN.match(source, position)
        if not match:
            character = source[position]
            latex = "; LaTeX is not read: write 2*L*H*d_h, a/b" if character in LATEX else ""
            raise FormulaError(f"unexpected character {character!r}{latex}", position + 1)
        if match.lastgroup == "number" and re.match(r"0[\d_]", match[0]):
            raise FormulaError(
                f"{match[0][:20]!r} begins with 0, which no number does; dates are not numbers",
                position + 1,
            )
        if match.lastgroup != "space":
            result.append(Token(match.lastgroup or "", match[0], position + 1))
        position = match.end()
    return [*result, Token("end", "", len(source) + 1)]


@lru_cache(maxsize=16384)
def parse(source: str) -> Expr:
    """Read a formula; of numbers with a unit it has the number in base units.

    Raises:
        FormulaError: anything that is not in the grammar, with its column.
    """
    return Reader(tokens(source)).whole()


@lru_cache(maxsize=4096)
def written(source: str, spelled: Callable[[str], str] = str) -> Expr:
    """A formula as it is written: nothing is ordered or folded, and a number has its unit (:class:`Measured`); ``spelled`` says what a name stands for.

    >>> written("2 FLOP*(a + b)*a").args, parse("2 FLOP*(a + b)*a/(4*b)")
    (((2 FLOP), a + b, a), a*(a + b)/(2*b))
    """
    return Reader(tokens(source), True, spelled).whole()


def as_written(source: Any, spelled: Callable[[str], str]) -> Expr | None:
    """What :func:`written` reads; None of what is no text, or cannot be read."""
    try:
        return written(source, spelled) if isinstance(source, str) else None
    except FormulaError:
        return None


class Reader:
    """Precedence climbing, one method per level."""

    def __init__(
        self, cut: list[Token], written: bool = False, spelled: Callable[[str], str] = str
    ) -> None:
        self.tokens, self.position, self.depth = cut, 0, 0
        self.written, self.spelled = written, spelled

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self, *texts: str) -> Token | None:
        token = self.tokens[self.position]
        if token.kind == "op" and token.text in texts:
            self.position += 1
            return token
        return None

    def expect(self, text: str, expected: str) -> None:
        if self.token.kind == text or (self.token.kind == "op" and self.token.text == text):
            self.position += self.token.kind != "end"
            return
        raise self.unexpected(expected)

    def unexpected(self, expected: str) -> FormulaError:
        """The error for an unexpected token."""
        actual = "the end of the formula" if self.token.kind == "end" else repr(self.token.text)
        return FormulaError(f"expected {expected} but found {actual}", self.token.column)

    def whole(self) -> Expr:
        """The whole input as one formula."""
        made = self.relation()
        self.expect("end", "an operator")
        if any((is_label(node) or is_relation(node)) and node != made for node in parts(made)):
            raise FormulaError(
                "largest() and comparisons stand alone: they are not numbers to calculate with", 1
            )
        return made

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"nested more than {DEEPEST} deep", self.token.column)
        yield
        self.depth -= 1

    def relation(self) -> Expr:
        left = self.sum()
        operator = self.take(*RELATIONS)
        return relation(operator.text, left, self.sum()) if operator else left

    def sum(self) -> Expr:
        with self.deeper():
            column = self.token.column
            terms = [self.product()]
            while operator := self.take("+", "-"):
                term = self.product()
                terms.append(self.negative(term) if operator.text == "-" else term)
        if len(terms) == 1:
            return terms[0]
        if any(is_label(term) for term in terms):
            raise FormulaError("largest() stands alone: it is not a number to calculate with", 1)
        return self.bounded(Add(*terms, evaluate=not self.written), column)

    def negative(self, term: Expr) -> Expr:
        if not self.written or term.is_Number:
            return -term
        return Mul(-1, *Mul.make_args(term), evaluate=False)

    def product(self) -> Expr:
        """Factors and divisors, multiplied at once: one by one takes a second for 700."""
        column = self.token.column
        factors = [self.signed()]
        while operator := self.take("*", "/"):
            nested = self.token.text == "("
            right = self.signed()
            if operator.text == "/":
                if right == 0:
                    raise FormulaError("division by zero", operator.column)
                right = Pow(right, -1, evaluate=not (self.written or right.is_Add))
            factors = [*self.before(factors, operator, nested), right]
        if len(factors) == 1:
            return factors[0]
        if self.written and factors[0].is_Mul and factors[0].args[0] == -1:
            factors[:1] = factors[0].args  # the sign of the first is that of the product
        return self.bounded(Mul(*factors, evaluate=not self.written), column)

    def before(self, factors: list[Expr], operator: Token, nested: bool) -> list[Expr]:
        """What a further factor joins; as written, a quotient stays one where it is multiplied by a name."""
        joined = self.written and operator.text == "*" and not nested and len(factors) > 1
        if joined and factors[-1].is_Pow and factors[-1].exp == -1:
            return [Mul(*factors, evaluate=False)]
        return factors[1:] if self.written and factors[0] is sympy.S.One else factors

    def signed(self) -> Expr:
        sign = 1
        while operator := self.take("-", "+"):
            sign = -sign if operator.text == "-" else sign
        made = self.power()
        return self.negative(made) if sign < 0 else made

    def power(self) -> Expr:
        base = self.atom()
        operator = self.take("**", "^")
        if not operator:
            return base
        with self.deeper():
            exponent = self.signed()  # right-associative: 2**3**2 is 2**(3**2)
        self.check_power(base, exponent, operator)
        return Pow(base, exponent, evaluate=not self.written)

    def check_power(self, base: Expr, exponent: Expr, operator: Token) -> None:
        """Refuse a power too large to be written, before it is computed."""
        if base == 0:
            raise FormulaError("a power of zero", operator.column)
        if not exponent.is_number:
            return
        exponent = exponent.doit()  # 1/3, as it is written, is a quotient
        simple = exponent.is_Rational and exponent.q <= LARGEST_ROOT
        if not simple or abs(exponent) > LARGEST_EXPONENT:
            ends = f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}"
            message = f"exponents are whole numbers from {ends}, or such as 1/3"
            raise FormulaError(message, operator.column + 2)
        factor = base.as_coeff_Mul()[0]
        largest = max(abs(factor.p), factor.q) if factor.is_Rational else 1
        if exponent.q > 1 and largest > LARGEST_ROOTED:
            raise FormulaError("a root of a number of more than nine digits", operator.column)
        if math.log10(largest) * abs(exponent) > LARGEST_POWER_OF_TEN:
            raise FormulaError("the number this makes is too large", operator.column)
        if not base.is_number and _steepest(base) * abs(exponent) > LARGEST_EXPONENT:
            message = f"nested powers give an exponent above {LARGEST_EXPONENT}"
            raise FormulaError(message, operator.column)

    def bounded(self, made: Expr, column: int) -> Expr:
        """A sum or a product whose folded number can still be written and read back."""
        factor = made.as_coeff_Mul()[0]
        if factor.is_Rational and max(abs(factor.p), factor.q) > 10**LARGEST_POWER_OF_TEN:
            raise FormulaError("the number this makes is too large", column)
        return made

    def atom(self) -> Expr:
        token = self.token
        if token.kind == "number":
            self.position += 1
            return self.number(token)
        if token.kind == "name":
            self.position += 1
            if self.take("("):
                return self.call(token)
            return sympy.pi if token.text == "pi" else symbol(self.spelled(token.text))
        if self.take("("):
            inner = self.sum()
            self.expect(")", "')'")
            return inner
        raise self.unexpected("a number, a name or '('")

    def number(self, token: Token) -> Expr:
        try:
            value = parse_number(token.text, LARGEST_POWER_OF_TEN)
        except UnitError as error:
            raise FormulaError(str(error), token.column) from None
        unit = self.unit()
        if unit and self.written and parse_unit(unit).dimension:
            return Measured(number(value), Str(unit))
        return number(value * parse_unit(unit).size)

    def unit(self) -> str:
        """The unit right after a number: ``TB/s``, ``FLOP``, ``%``; a name that is no unit is not consumed."""
        if self.take("%"):
            return "%"
        token = self.token
        if token.kind != "name":
            return ""
        if token.text == "B":
            raise FormulaError("write 'byte': in a formula B is the batch", token.column)
        if token.text not in UNITS:
            message = f"{unknown_unit(token.text)}; to multiply by a symbol, write *"
            raise FormulaError(message, token.column)
        self.position += 1
        unit = token.text
        while self.token.text == "/" and self._next().text in UNITS.keys() - {"B"}:
            unit += "/" + self._next().text
            self.position += 2
        return unit

    def _next(self) -> Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def call(self, token: Token) -> Expr:
        positional, named = self.arguments()
        if named and token.text == "largest" and not positional:
            return label(named)
        if named:
            if positional or token.text in FUNCTIONS:
                raise FormulaError(f"{token.text}() mixes plain and named arguments", token.column)
            return at(
                self.spelled(token.text), [(self.spelled(key), value) for key, value in named]
            )
        if token.text not in FUNCTIONS:
            message = f"unknown function {token.text[:40]!r}; there are {', '.join(FUNCTIONS)}"
            raise FormulaError(message, token.column)
        function, count = FUNCTIONS[token.text], len(positional)
        try:
            if not function.least <= count <= function.most:
                ends = dict.fromkeys((function.least, function.most))
                number = " to ".join(map(str, ends))
                raise ValueError(f"{token.text}() takes {number} arguments, not {count}")
            return (function.written if self.written else function.evaluated)(*positional)
        except ValueError as error:
            raise FormulaError(str(error), token.column) from None

    def arguments(self) -> tuple[list[Expr], list[tuple[str, Expr]]]:
        positional: list[Expr] = []
        named: list[tuple[str, Expr]] = []
        while True:
            if self.token.kind == "name" and self._next().text == "=":
                key = self.token.text
                self.position += 2
                named.append((key, self.sum()))
            else:
                positional.append(self.sum())
            if not self.take(","):
                break
        self.expect(")", "')' or ','")
        return positional, named


def _steepest(expr: Any) -> Any:
    """The largest product of nested whole exponents."""
    inner = max(map(_steepest, expr.args), default=1)
    return inner * max(1, abs(expr.exp)) if expr.is_Pow and expr.exp.is_Integer else inner
