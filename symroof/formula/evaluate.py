"""The value of a formula, exactly, for any number type that can add, multiply and compare.

A formula is printed once as a Python function (:mod:`symroof.formula.codegen`) and run over whatever numbers there are: fractions give
exact values, :class:`~symroof.formula.dual.Dual` slopes, :class:`~symroof.formula.piecewise.Piecewise` sums over steps at once.
Roots, logarithms, exponentials and powers that are no longer rational are taken to 40 digits.
"""

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from symroof.formula import sympy_functions
from symroof.formula.codegen import GeneratedCode, python
from symroof.formula.dual import Dual
from symroof.formula.piecewise import NotPolynomial, Piecewise
from symroof.formula.tree import Tree

DIGITS = 40
LARGEST_EXACT_EXPONENT = 64  # (31/32)**131072 would be a fraction of half a million bits
MOST_TERMS = 20_000
FURTHEST_POWER_OF_TEN = 1_000
"""Powers beyond it are no numbers of this field; those below its inverse are told apart by their order alone."""


class NoValue(ArithmeticError):
    """The formula has no value here; the message says why."""


class NotGiven(NoValue):
    """A name in the formula has no value anywhere; no other point will help."""


class Environment(Protocol):
    """Where a formula finds the values of its names."""

    def value(self, name: str) -> Any: ...

    def at(self, name: str, changes: Mapping[str, Any]) -> Any: ...


def evaluate(tree: Tree, env: Environment, index: Mapping[str, Any] | None = None) -> Any:
    """The value of a formula; ``index`` holds the values of names that stand for themselves, such as the index of a sum.

    >>> from symroof.formula.parse import parse
    >>> class Numbers(dict):
    ...     value = dict.__getitem__
    >>> evaluate(parse("max(a, 2)*x/3"), Numbers(a=Fraction(1)), {"x": Fraction(6)})
    Fraction(4, 1)
    """
    return compiled(tree, tuple(index))(env, *index.values()) if index else compiled(tree)(env)


@lru_cache(maxsize=32768)
def compiled(tree: Tree, bound: tuple[str, ...] = ()) -> Callable[..., Any]:
    """A formula as a Python function of an environment and of its ``bound`` names, for any exact kind of number.

    >>> from symroof.formula.parse import parse
    >>> compiled(parse("x*x/3"), ("x",))(None, Fraction(6))
    Fraction(12, 1)
    """
    return function(python(tree, bound), EXACT)


def function(source: GeneratedCode, functions: Mapping[str, Any]) -> Callable[..., Any]:
    """The function that a source is, of numbers for which these are its functions."""
    space: dict[str, Any] = {**functions, **source.constants}
    exec(compile(source.text, "<formula>", "exec"), space)  # the text is printed by symroof: names stand in it as quoted keys alone
    made: Callable[..., Any] = space["formula"]
    return made


def chosen_index(keys: list[Any]) -> int:
    """Where the chosen value of ``of_largest`` stands among its arguments.

    >>> chosen_index([3, 5, 5])
    3
    """
    return 2 * keys.index(max(keys)) + 1


def _of_largest(*pairs: tuple[Any, Callable[[], Any]]) -> Any:
    """Of pairs (key, value) the value whose key is largest, the others unevaluated; a tie goes to the first."""
    keys = [key for key, _ in pairs]
    if any(isinstance(key, Piecewise) for key in keys):
        raise NotPolynomial("a choice by the index of a sum")
    return pairs[keys.index(max(keys))][1]()


def _largest(*arms: tuple[str, Any]) -> str:
    """The label of the largest arm; a tie goes to the arm named first."""
    return max(arms, key=lambda arm: arm[1])[0]


@lru_cache(maxsize=65536)
def written(x: float) -> Fraction:
    """What a float means: the decimal it is written as.

    >>> written(0.1)
    Fraction(1, 10)
    """
    return Fraction(int(x)) if x == int(x) else Fraction(Decimal(repr(x)))


def divide(over: Any, under: Any) -> Any:
    if not isinstance(under, Piecewise) and under == 0:
        raise NoValue("division by zero")
    return over / under


def power(base: Any, exponent: Any) -> Any:
    """A power: exact for small whole exponents, else to 40 digits."""
    if isinstance(exponent, Piecewise):
        raise NotPolynomial("the index of a sum in an exponent")
    plain = exponent.value if isinstance(exponent, Dual) else exponent
    if not isinstance(base, Piecewise) and base == 0 and plain < 0:
        raise NoValue("a negative power of zero")
    if isinstance(plain, float) or isinstance(base, float):
        return base**plain
    if plain == int(plain) and abs(plain) <= LARGEST_EXACT_EXPONENT and not isinstance(exponent, Dual):
        return base ** int(plain) if plain >= 0 else 1 / base ** int(-plain)
    if isinstance(base, Piecewise):
        raise NotPolynomial("a power of the index of a sum")
    if isinstance(base, Dual) or isinstance(exponent, Dual):
        return _dual_power(base, exponent)
    if base < 0:
        if plain != int(plain):
            raise NoValue("a fractional power of a negative number")
        return power(-base, plain) * (-1) ** (int(plain) % 2)
    return _rounded(operator.pow, base, plain) or _next_to_nothing(plain * (_log10(base.denominator) - _log10(base.numerator))) if base else base


def _dual_power(base: Any, exponent: Any) -> Dual:
    b, e = (x if isinstance(x, Dual) else Dual(x, Fraction(0)) for x in (base, exponent))
    value = power(b.value, e.value)
    slope = value * e.value * b.slope / b.value if b.slope else Fraction(0)
    if e.slope and value:
        slope += value * e.slope * _rounded(Decimal.ln, b.value)
    return Dual(value, slope)


@lru_cache(maxsize=4096)
def _rounded(function: Any, *args: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = DIGITS
        context.Emin, context.Emax = -FURTHEST_POWER_OF_TEN, FURTHEST_POWER_OF_TEN
        try:
            return Fraction(function(*(Decimal(a.numerator) / Decimal(a.denominator) for a in args)))
        except (Overflow, DivisionByZero, InvalidOperation, OverflowError):  # the last: the logarithm of a number that rounds to zero
            raise NoValue("a number too large to work with") from None


def _next_to_nothing(digits: Fraction) -> Fraction:
    """What a power with so many zeros behind its point counts as: never zero, and less the more there are, so that no two are taken to meet there."""
    last = FURTHEST_POWER_OF_TEN + DIGITS  # the last digit of the least power that is a number
    return Fraction(1, 10**last * 2 ** max(round(SHRINKS * _log2_of(digits / last)), 0))


SHRINKS = 64
"""Powers of two by which a power falls when its exponent doubles, once it is next to nothing."""


def _log10(x: int) -> Fraction:
    return Fraction(math.log10(x))


def _log2_of(x: Fraction) -> float:
    return math.log2(x.numerator) - math.log2(x.denominator)


def sqrt(x: Any) -> Any:
    """A square root: exact where it is rational, else to 40 digits."""
    if isinstance(x, float):
        return math.sqrt(x)
    if isinstance(x, Dual):
        root = sqrt(x.value)
        return Dual(root, x.slope / (2 * root))
    if isinstance(x, Piecewise):
        raise NotPolynomial("a root of the index of a sum")
    if x < 0:
        raise NoValue("the square root of a negative number")
    over, under = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if over * over == x.numerator and under * under == x.denominator:
        return Fraction(over, under)
    return _rounded(Decimal.sqrt, x)


def _log(x: Any) -> Any:
    if isinstance(x, float):
        return math.log(x)
    if isinstance(x, Dual):
        return Dual(_log(x.value), x.slope / x.value)
    if isinstance(x, Piecewise):
        raise NotPolynomial("a logarithm of the index of a sum")
    if x <= 0:
        raise NoValue("the logarithm of a number that is not positive")
    return _rounded(Decimal.ln, x)


def _log2(x: Any) -> Any:
    if isinstance(x, float):
        return math.log2(x)
    if isinstance(x, Dual):
        return Dual(_log2(x.value), x.slope / (x.value * _rounded(Decimal.ln, Fraction(2))))
    if isinstance(x, Piecewise):
        raise NotPolynomial("a logarithm of the index of a sum")
    if x <= 0:
        raise NoValue("the logarithm of a number that is not positive")
    for part, sign in ((x.numerator, 1), (x.denominator, -1)):
        if part.bit_count() == 1 and (x.numerator == 1 or x.denominator == 1):
            whole = sign * (part.bit_length() - 1)
            if Fraction(2) ** whole == x:
                return Fraction(whole)
    return _rounded(_binary_logarithm, x)


def _binary_logarithm(x: Decimal) -> Decimal:
    return x.ln() / Decimal(2).ln()


def _exp(x: Any) -> Any:
    if isinstance(x, float):
        return math.exp(x)
    if isinstance(x, Dual):
        value = _exp(x.value)
        return Dual(value, value * x.slope)
    if isinstance(x, Piecewise):
        raise NotPolynomial("an exponential of the index of a sum")
    return _rounded(Decimal.exp, x) or _next_to_nothing(-x * Fraction(math.log10(math.e))) if x else Fraction(1)


def _extreme(args: Sequence[Any], larger: bool) -> Any:
    pieces = [arg for arg in args if isinstance(arg, Piecewise)]
    if not pieces:
        return max(args) if larger else min(args)
    best = pieces[0]
    for other in [arg for arg in args if arg is not best]:
        best = best.maximum(other) if larger else best.minimum(other)
    return best


def _whole(x: Any, up: bool) -> Any:
    if isinstance(x, Piecewise):
        first, last = x.range
        if last - first >= MOST_TERMS:  # a sum of more terms has a value over arrays only where it has a closed form for any number of them
            raise NotPolynomial("a rounding of the index of a sum")
        return x.rounded(up)
    if isinstance(x, Dual):
        return Dual(_whole(x.value, up), Fraction(0))
    whole = math.ceil(x) if up else math.floor(x)
    return float(whole) if isinstance(x, float) else Fraction(whole)


def _rounded_quotient(over: Any, under: Any, up: bool) -> Any:
    """A quotient rounded to a whole number."""
    return _whole(over if under == 1 else divide(over, under), up)


def _elementary(function: str, *args: Any) -> Any:
    """A function or constant that SymPy has and the grammar has not, of exact numbers, floats, or numbers that carry their slopes."""
    if any(isinstance(arg, Piecewise) for arg in args):
        raise NotPolynomial(f"{function}() of the index of a sum")
    if any(isinstance(arg, float) for arg in args):
        return float(sympy_functions.over_arrays(function)(*args))
    plain = [arg.value if isinstance(arg, Dual) else Fraction(arg) for arg in args]
    moving = [(i, arg.slope) for i, arg in enumerate(args) if isinstance(arg, Dual)]
    try:
        value = sympy_functions.value(function, *plain)
        return Dual(value, sum((own * sympy_functions.slope_at(function, i, *plain) for i, own in moving), Fraction(0))) if moving else value
    except sympy_functions.NoRealValue as error:
        raise NoValue(str(error)) from None


NUMBER_PI = Fraction("3.14159265358979323846264338327950288419716939937510582")

RELATIONS: dict[str, Any] = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "=": operator.eq}


def _geometric(first: Any, last: Any, ratio: Any) -> Any:
    """A sum of powers of one ratio: its closed form goes on between whole numbers, where a solver may look."""
    _check_ends(first, last)
    if last < first:
        return Fraction(0)
    if ratio == 1:
        return last - first + 1
    return divide(power(ratio, first) - power(ratio, last + 1), 1 - ratio)


def _check_ends(first: Any, last: Any) -> None:
    if isinstance(last, Dual) or isinstance(first, Dual):
        raise NoValue("the slope of a sum in the number of its terms")
    if isinstance(last, Piecewise) or isinstance(first, Piecewise):
        raise NotPolynomial("a sum that moves with the index of another")


_indices = itertools.count(1)
_terms: ContextVar[int] = ContextVar("terms", default=1)
"""The terms of all sums that one stands in: those of a sum of sums multiply."""


def _total(body: Callable[[Any], Any], first: Any, last: Any) -> Any:
    """The sum of a body over every whole index from first to last: piece by piece in closed form, or term by term."""
    _check_ends(first, last)
    if last < first:
        return Fraction(0)
    if first != int(first) or last != int(last):
        raise NoValue(f"a sum from {first} to {last}: both must be whole numbers")
    start, end = int(first), int(last)
    if start == end:  # a prompt read in one chunk
        return body(Fraction(start))
    index = Piecewise.index(start, end, next(_indices))
    try:
        value = body(index)
        return value.total() if isinstance(value, Piecewise) and value.of == index.of else value * (end - start + 1)
    except NotPolynomial:
        terms = (end - start + 1) * _terms.get()
        if terms > MOST_TERMS:
            raise NoValue(f"a sum of {terms} terms that has no closed form") from None
        outer = _terms.set(terms)
        try:
            return sum((body(Fraction(j)) for j in range(start, end + 1)), Fraction(0))
        finally:
            _terms.reset(outer)


EXACT: dict[str, Callable[..., Any]] = {
    "max": lambda *args: _extreme(args, True),
    "min": lambda *args: _extreme(args, False),
    "ceil": lambda over, under=1: _rounded_quotient(over, under, True),
    "floor": lambda over, under=1: _rounded_quotient(over, under, False),
    "sqrt": sqrt,
    "log2": _log2,
    "log": _log,
    "exp": _exp,
    "pi": lambda: NUMBER_PI,
    "elementary": _elementary,
    "div": divide,
    "pow": power,
    "of_largest": _of_largest,
    "largest": _largest,
    "geometric": _geometric,
    "total": _total,
}
"""What the functions in the source of a formula are over exact numbers: fractions, those that carry slopes, polynomials in an index, and floats."""
