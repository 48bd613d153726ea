"""The plain-text grammar of formulas, read without ``eval``.

``+ - * / ^ **``, parentheses, names, numbers with an optional unit that binds to its number (``3.35e12 byte/s``),
``max min ceil floor sqrt log2 log exp``, ``pi``, ``sum(body, index, first, last)``, a quantity at a changed input
(``itl(context = 8192)``) and one comparison. Bounded in length, depth and exponents; every error has its column.

>>> from symroof.formula.text import text
>>> text(parse("2*params^2 / (mfu*peak_flops)"))
'2*params**2/(mfu*peak_flops)'
>>> parse("9**9**9")
Traceback (most recent call last):
    ...
symroof.formula.parse.FormulaError: column 4: exponents are whole numbers from -64 to 64
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from symroof.formula import build
from symroof.formula.tree import (
    PI,
    ArgMax,
    Compare,
    Div,
    Expr,
    Mul,
    Name,
    Num,
    Pow,
    QuantityAt,
    Sum,
    children,
    walk,
)
from symroof.units import UNITS, UnitError, parse_number, parse_unit, unknown_unit

LONGEST, DEEPEST, LARGEST_EXPONENT = 4096, 64, 64
LARGEST_POWER_OF_TEN = 99  # products up to this size can still be written and read back
FUNCTIONS = {
    "max": (1, 16),
    "min": (1, 16),
    "ceil": (1, 1),
    "floor": (1, 1),
    "sqrt": (1, 1),
    "log2": (1, 1),
    "log": (1, 1),
    "exp": (1, 1),
    "of_largest": (2, 64),
    "sum": (4, 4),
}
"""Function names with the least and the largest number of arguments."""


def check_arguments(function: str, count: int, column: int) -> None:
    """Check the number of arguments of a function.

    Raises:
        FormulaError: it does not.
    """
    least, most = FUNCTIONS[function]
    if not least <= count <= most:
        number = f"{least}" if least == most else f"{least} to {most}"
        raise FormulaError(f"{function}() takes {number} arguments, not {count}", column)
    if function == "of_largest" and count % 2:
        raise FormulaError(
            "of_largest() takes pairs: what is compared, and the value that goes with it", column
        )


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
        raise FormulaError(
            f"a formula has at most {LONGEST} characters; this one has {len(source)}", LONGEST
        )
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


@lru_cache(maxsize=4096)
def parse(source: str) -> Expr:
    """Read a formula.

    Raises:
        FormulaError: anything that is not in the grammar, with its column.
    """
    return Reader(tokens(source)).whole()


class Reader:
    """Precedence climbing, one method per level."""

    def __init__(self, cut: list[Token]) -> None:
        self.tokens, self.position, self.depth = cut, 0, 0

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
        tree = self.relation()
        self.expect("end", "an operator")
        if any(isinstance(node, (ArgMax, Compare)) for node in walk(tree) if node is not tree):
            raise FormulaError(
                "largest() and comparisons stand alone: they are not numbers to calculate with", 1
            )
        return tree

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormulaError(f"nested more than {DEEPEST} deep", self.token.column)
        yield
        self.depth -= 1

    def relation(self) -> Expr:
        left = self.sum()
        operator = self.take("<=", ">=", "<", ">", "=")
        return Compare(operator.text, left, self.sum()) if operator else left

    def sum(self) -> Expr:
        with self.deeper():
            tree = self.product()
            while operator := self.take("+", "-"):
                right = self.product()
                tree = build.add(tree, right) if operator.text == "+" else build.sub(tree, right)
        return tree

    def product(self) -> Expr:
        tree = self.signed()
        while operator := self.take("*", "/"):
            right = self.signed()
            tree = (
                self.bounded(build.mul(tree, right), operator)
                if operator.text == "*"
                else self.quotient(tree, right, operator)
            )
        return tree

    def quotient(self, over: Expr, under: Expr, operator: Token) -> Expr:
        if isinstance(under, Num) and under.value == 0:
            raise FormulaError("division by zero", operator.column)
        return self.bounded(build.div(over, under), operator)

    def signed(self) -> Expr:
        sign = 1
        while operator := self.take("-", "+"):
            sign = -sign if operator.text == "-" else sign
        tree = self.power()
        return build.neg(tree) if sign < 0 else tree

    def power(self) -> Expr:
        base = self.atom()
        operator = self.take("**", "^")
        if not operator:
            return base
        with self.deeper():
            exponent = self.signed()  # right-associative: 2**3**2 is 2**(3**2)
        return self.raised(base, exponent, operator)

    def raised(self, base: Expr, exponent: Expr, operator: Token) -> Expr:
        """A power within the bounds of exponents."""
        if isinstance(exponent, Num) and not (
            exponent.value.denominator == 1 and abs(exponent.value) <= LARGEST_EXPONENT
        ):
            raise FormulaError(
                f"exponents are whole numbers from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}",
                operator.column + 2,
            )
        if isinstance(base, Num) and base.value == 0:
            raise FormulaError("a power of zero", operator.column)
        if isinstance(exponent, Num):
            self.bounded_power(base, abs(exponent.value), operator)
        return self.bounded(build.power(base, exponent), operator)

    def bounded(self, tree: Expr, operator: Token) -> Expr:
        """A tree whose folded number can still be written and read back."""
        match tree:
            case (
                Num(value)
                | Mul((Num(value), *_))
                | Div(Num(value), _)
                | Div(Mul((Num(value), *_)), _)
            ):
                if max(abs(value.numerator), value.denominator) > 10**LARGEST_POWER_OF_TEN:
                    raise FormulaError("the number this makes is too large", operator.column)
        return tree

    def bounded_power(self, base: Expr, exponent: Fraction, operator: Token) -> None:
        """Powers of powers stay within the bounds of a single power, checked before anything is computed."""
        if isinstance(base, Num):
            if (
                exponent * max(map(math.log10, (abs(base.value.numerator), base.value.denominator)))
                > LARGEST_POWER_OF_TEN
            ):
                raise FormulaError("the number this makes is too large", operator.column)
        elif exponent * _steepest(base) > LARGEST_EXPONENT:
            raise FormulaError(
                f"nested powers give an exponent above {LARGEST_EXPONENT}", operator.column
            )

    def atom(self) -> Expr:
        token = self.token
        if token.kind == "number":
            self.position += 1
            return self.number(token)
        if token.kind == "name":
            self.position += 1
            return (
                self.call(token)
                if self.take("(")
                else PI
                if token.text == PI.function
                else Name(token.text)
            )
        if self.take("("):
            tree = self.sum()
            self.expect(")", "')'")
            return tree
        raise self.unexpected("a number, a name or '('")

    def number(self, token: Token) -> Num:
        value, unit = self.plain_number(token), parse_unit(self.unit())
        return Num(value * unit.size, unit.dimension)

    def plain_number(self, token: Token) -> Fraction:
        try:
            return parse_number(token.text, LARGEST_POWER_OF_TEN)
        except UnitError as error:
            raise FormulaError(str(error), token.column) from None

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
            raise FormulaError(
                f"{unknown_unit(token.text)}; to multiply by a symbol, write *", token.column
            )
        self.position += 1
        written = token.text
        while (
            self.token.text == "/"
            and self._next().kind == "name"
            and self._next().text in UNITS
            and self._next().text != "B"
        ):
            written += "/" + self._next().text
            self.position += 2
        return written

    def _next(self) -> Token:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def call(self, token: Token) -> Expr:
        positional, named = self.arguments()
        if named and token.text == "largest" and not positional:
            return ArgMax(tuple(named))
        if named:
            if positional or token.text in FUNCTIONS:
                raise FormulaError(f"{token.text}() mixes plain and named arguments", token.column)
            return QuantityAt(token.text, tuple(named))
        if token.text not in FUNCTIONS:
            raise FormulaError(
                f"unknown function {token.text[:40]!r}; there are {', '.join(FUNCTIONS)}",
                token.column,
            )
        check_arguments(token.text, len(positional), token.column)
        if token.text == "sum":
            body, index, first, last = positional
            if not isinstance(index, Name):
                raise FormulaError(
                    "the second argument of sum() is the name of its index", token.column
                )
            return Sum(body, index.name, first, last)
        return build.call(token.text, *positional)

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


def _steepest(tree: Expr) -> Fraction:
    """The largest product of nested exponents."""
    inner = max((_steepest(child) for child in children(tree)), default=Fraction(1))
    return (
        inner * max(abs(tree.exponent.value), Fraction(1))
        if isinstance(tree, Pow) and isinstance(tree.exponent, Num)
        else inner
    )
