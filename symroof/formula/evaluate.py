"""The value of a formula, exactly, for any number type that can add, multiply and compare.

Fractions give exact values, :class:`~symroof.formula.dual.Dual` gives slopes, floats give speed; the walk is the same.
Roots, logarithms, exponentials and powers that are no longer rational are taken to 40 digits.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from symroof.formula import elementary
from symroof.formula.dual import Dual
from symroof.formula.piecewise import NotPolynomial, Piecewise
from symroof.formula.tree import Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree, names

DIGITS = 40
LARGEST_EXACT_EXPONENT = 64  # (31/32)**131072 would be a fraction of half a million bits
MOST_TERMS = 20_000
TERMS = "~terms"
"""Beside the indices of sums, the terms of all sums that one stands in: those of a sum of sums multiply."""
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
    """The value of a formula; ``index`` holds the running indices of enclosing sums."""
    return RULES[type(tree)](tree, env, {} if index is None else index)


class Shared(dict[str, Any]):
    """An ``index`` that remembers the values of parts: of formulas that are evaluated with it, each part that they share is worked out once."""

    def __init__(self, index: Mapping[str, Any]) -> None:
        super().__init__(index)
        self.parts: dict[Tree, Any] = {}


def _exact(node: Tree, env: Environment, bound: Mapping[str, Any]) -> Any:
    """The value of a part for what it stands in: a fraction as its numerator and denominator, in lowest terms; any other number as it is."""
    kind = type(node)
    if kind is Name:  # most parts are names
        name = node.name  # type: ignore[union-attr]
        value = bound[name] if name in bound else env.value(name)
    elif kind is Num:
        value = node.value  # type: ignore[union-attr]
    elif type(bound) is Shared:
        known = bound.parts.get(node)
        if known is None:
            known = bound.parts[node] = _part(node, env, bound)
        return known
    else:
        return _part(node, env, bound)
    return value.as_integer_ratio() if type(value) is Fraction else value


def _part(node: Tree, env: Environment, bound: Mapping[str, Any]) -> Any:
    part = PARTS.get(type(node))
    if part is not None:
        return part(node, env, bound)
    return _ratio(RULES[type(node)](node, env, bound))


def _number(part: Any) -> Any:
    """A number that :func:`_exact` gives, as one that can be calculated with."""
    if type(part) is not tuple:
        return part
    number = object.__new__(Fraction)  # its own constructor would look for common factors again, and takes as long as the rest of a sum
    number._numerator, number._denominator = part  # type: ignore[attr-defined]
    return number


def _sum(node: Add, env: Environment, bound: Mapping[str, Any]) -> Any:
    """A sum; fractions over one denominator, reduced once at the end."""
    over, under, rest = 0, 1, None
    for term in node.terms:
        value = _exact(term, env, bound)
        if rest is not None:
            rest = rest + _number(value)
        elif type(value) is tuple:
            numerator, denominator = value
            if denominator == under:
                over += numerator
            else:
                over, under = over * denominator + numerator * under, under * denominator
        else:
            rest = value if over == 0 and term is node.terms[0] else Fraction(over, under) + value
    return _lowest(over, under) if rest is None else rest


def _product(node: Mul, env: Environment, bound: Mapping[str, Any]) -> Any:
    """A product; fractions reduced once at the end. Zero ends it: no links means no time on them, whatever their bandwidth would be."""
    over, under = 1, 1
    rest: Any = None
    for factor in node.factors:
        value = _exact(factor, env, bound)
        if type(value) is tuple and type(rest) is not float:
            numerator, denominator = value
            if not numerator:
                return value
            over, under = over * numerator, under * denominator
        elif rest is None:
            over, under, rest = 1, 1, value if over == under else Fraction(over, under) * value
        else:
            rest = rest * _number(value)
            if isinstance(rest, Fraction) and rest == 0:
                return rest
    if rest is None:
        return _lowest(over, under)
    return rest if over == under else rest * Fraction(over, under)  # what has a slope or pieces is multiplied by all numbers at once


def _quotient(node: Div, env: Environment, bound: Mapping[str, Any]) -> Any:
    """A quotient; of two fractions reduced once."""
    over, under = _exact(node.over, env, bound), _exact(node.under, env, bound)
    if type(over) is tuple and type(under) is tuple and under[0]:
        return _lowest(over[0] * under[1], over[1] * under[0])
    return divide(_number(over), _number(under))


def _negative(node: Neg, env: Environment, bound: Mapping[str, Any]) -> Any:
    value = _exact(node.arg, env, bound)
    return (-value[0], value[1]) if type(value) is tuple else -value


def _of_arguments(node: Call, env: Environment, bound: Mapping[str, Any]) -> Any:
    """A function of its arguments; the largest, the least and the rounded of fractions are found on numerators and denominators."""
    name = node.function
    if name == "of_largest":
        return _ratio(_chosen(node, env, bound))
    args = [_exact(arg, env, bound) for arg in node.args]
    if name in EXTREMES and all(type(arg) is tuple for arg in args):
        best, larger = args[0], name == "max"
        for arg in args[1:]:
            difference = arg[0] * best[1] - best[0] * arg[1]
            if difference > 0 if larger else difference < 0:
                best = arg
        return best
    if name in ROUNDINGS and type(args[0]) is tuple:
        over, under = args[0]
        return (-(-over // under) if name == "ceil" else over // under), 1
    return _ratio(FUNCTIONS[name]([_number(arg) for arg in args]))


EXTREMES, ROUNDINGS = frozenset({"max", "min"}), frozenset({"ceil", "floor"})


def _ratio(value: Any) -> Any:
    """A value as :func:`_exact` gives it."""
    return value.as_integer_ratio() if type(value) is Fraction else value


def _lowest(over: int, under: int) -> tuple[int, int]:
    """A fraction in lowest terms, its denominator positive."""
    if under == 1:
        return over, under
    common = math.gcd(over, under) if under > 0 else -math.gcd(over, under)
    return over // common, under // common


PARTS: dict[type, Callable[[Any, Environment, Mapping[str, Any]], Any]] = {
    Add: _sum,
    Mul: _product,
    Div: _quotient,
    Neg: _negative,
    Call: _of_arguments,
}
"""What calculates with numerators and denominators: no fraction is made of what another part takes apart again."""


def _chosen(node: Call, env: Environment, bound: Mapping[str, Any]) -> Any:
    """Of pairs (key, value) the value whose key is largest, the others unevaluated; a tie goes to the first."""
    keys = [evaluate(key, env, bound) for key in node.args[::2]]
    if any(isinstance(key, Piecewise) for key in keys):
        raise NotPolynomial("a choice by the index of a sum")
    return evaluate(node.args[place_chosen(keys)], env, bound)


def place_chosen(keys: list[Any]) -> int:
    """Where the chosen value of ``of_largest`` stands among its arguments.

    >>> place_chosen([3, 5, 5])
    3
    """
    return 2 * keys.index(max(keys)) + 1


RULES: dict[type, Callable[[Any, Environment, Mapping[str, Any]], Any]] = {
    Num: lambda node, env, bound: node.value,
    Name: lambda node, env, bound: bound[node.name] if node.name in bound else env.value(node.name),
    Neg: lambda node, env, bound: _number(_negative(node, env, bound)),
    Add: lambda node, env, bound: _number(_sum(node, env, bound)),
    Mul: lambda node, env, bound: _number(_product(node, env, bound)),
    Div: lambda node, env, bound: _number(_quotient(node, env, bound)),
    Pow: lambda node, env, bound: power(evaluate(node.base, env, bound), evaluate(node.exponent, env, bound)),
    Call: lambda node, env, bound: _number(_of_arguments(node, env, bound)),
    Total: lambda node, env, bound: _total(node.body, node.index, evaluate(node.first, env, bound), evaluate(node.last, env, bound), env, bound),
    At: lambda node, env, bound: env.at(node.name, {key: evaluate(value, env, bound) for key, value in node.changes}),
    Compare: lambda node, env, bound: RELATIONS[node.operator](evaluate(node.left, env, bound), evaluate(node.right, env, bound)),
    Largest: lambda node, env, bound: max(node.arms, key=lambda arm: evaluate(arm[1], env, bound))[0],
}
"""How each kind of node gets its value from those below it."""


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
        raise NoValue("a fractional power of a negative number")
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


def _sqrt(args: list[Any]) -> Any:
    (x,) = args
    if isinstance(x, float):
        return math.sqrt(x)
    if isinstance(x, Dual):
        root = _sqrt([x.value])
        return Dual(root, x.slope / (2 * root))
    if isinstance(x, Piecewise):
        raise NotPolynomial("a root of the index of a sum")
    if x < 0:
        raise NoValue("the square root of a negative number")
    over, under = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if over * over == x.numerator and under * under == x.denominator:
        return Fraction(over, under)
    return _rounded(Decimal.sqrt, x)


def _log(args: list[Any]) -> Any:
    (x,) = args
    if isinstance(x, float):
        return math.log(x)
    if isinstance(x, Dual):
        return Dual(_log([x.value]), x.slope / x.value)
    if isinstance(x, Piecewise):
        raise NotPolynomial("a logarithm of the index of a sum")
    if x <= 0:
        raise NoValue("the logarithm of a number that is not positive")
    return _rounded(Decimal.ln, x)


def _log2(args: list[Any]) -> Any:
    (x,) = args
    if isinstance(x, float):
        return math.log2(x)
    if isinstance(x, Dual):
        return Dual(_log2([x.value]), x.slope / (x.value * _rounded(Decimal.ln, Fraction(2))))
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


def _exp(args: list[Any]) -> Any:
    (x,) = args
    if isinstance(x, float):
        return math.exp(x)
    if isinstance(x, Dual):
        value = _exp([x.value])
        return Dual(value, value * x.slope)
    if isinstance(x, Piecewise):
        raise NotPolynomial("an exponential of the index of a sum")
    return _rounded(Decimal.exp, x) or _next_to_nothing(-x * Fraction(math.log10(math.e))) if x else Fraction(1)


def _extreme(args: list[Any], larger: bool) -> Any:
    pieces = [arg for arg in args if isinstance(arg, Piecewise)]
    if not pieces:
        return max(args) if larger else min(args)
    best = pieces[0]
    for other in [arg for arg in args if arg is not best]:
        best = best.maximum(other) if larger else best.minimum(other)
    return best


def _whole(args: list[Any], up: bool) -> Any:
    (x,) = args
    if isinstance(x, Piecewise):
        first, last = x.range
        if last - first >= MOST_TERMS:  # a sum of more terms has a value over arrays only where it has a closed form for any number of them
            raise NotPolynomial("a rounding of the index of a sum")
        return x.rounded(up)
    if isinstance(x, Dual):
        return Dual(_whole([x.value], up), Fraction(0))
    whole = math.ceil(x) if up else math.floor(x)
    return float(whole) if isinstance(x, float) else Fraction(whole)


def _of_sympy(function: str) -> Any:
    """A function that the grammar has not, of exact numbers, floats, or numbers that carry their slopes."""

    def of(args: Sequence[Any]) -> Any:
        if any(isinstance(arg, Piecewise) for arg in args):
            raise NotPolynomial(f"{function}() of the index of a sum")
        if any(isinstance(arg, float) for arg in args):
            return float(elementary.over_arrays(function)(*args))
        plain = [arg.value if isinstance(arg, Dual) else Fraction(arg) for arg in args]
        moving = [(i, arg.slope) for i, arg in enumerate(args) if isinstance(arg, Dual)]
        try:
            value = elementary.value(function, *plain)
            return Dual(value, sum((own * elementary.slope_at(function, i, *plain) for i, own in moving), Fraction(0))) if moving else value
        except elementary.NoRealValue as error:
            raise NoValue(str(error)) from None

    return of


NUMBER_PI = Fraction("3.14159265358979323846264338327950288419716939937510582")

KNOWN: dict[str, Any] = {
    "max": lambda args: _extreme(args, True),
    "min": lambda args: _extreme(args, False),
    "ceil": lambda args: _whole(args, True),
    "floor": lambda args: _whole(args, False),
    "sqrt": _sqrt,
    "log2": _log2,
    "log": _log,
    "exp": _exp,
    "pi": lambda args: NUMBER_PI,
}
FUNCTIONS = elementary.Table(KNOWN, _of_sympy)
"""Functions of lists of numbers: those of the grammar, and any other that SymPy has."""

RELATIONS: dict[str, Any] = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "=": operator.eq}


def _geometric(ratio: Any, first: Any, last: Any) -> Any:
    """A sum of powers of one ratio: its closed form goes on between whole numbers, where a solver may look."""
    if ratio == 1:
        return last - first + 1
    return divide(power(ratio, first) - power(ratio, last + 1), 1 - ratio)


def _total(body: Tree, name: str, first: Any, last: Any, env: Environment, bound: Mapping[str, Any]) -> Any:
    if isinstance(last, Dual) or isinstance(first, Dual):
        raise NoValue("the slope of a sum in the number of its terms")
    if any(isinstance(value, Piecewise) for value in (first, last, *bound.values())):
        raise NotPolynomial("a sum that moves with the index of another")
    if last < first:
        return Fraction(0)
    if isinstance(body, Pow) and body.exponent == Name(name) and name not in names(body.base):
        return _geometric(evaluate(body.base, env, bound), first, last)
    if first != int(first) or last != int(last):
        raise NoValue(f"a sum from {first} to {last}: both must be whole numbers")
    start, end = int(first), int(last)
    if start == end:  # a prompt read in one chunk
        return evaluate(body, env, {**bound, name: Fraction(start)})
    try:
        value = evaluate(body, env, {**bound, name: Piecewise.index(start, end)})
        return value.total() if isinstance(value, Piecewise) else value * (end - start + 1)
    except NotPolynomial:
        terms = (end - start + 1) * bound.get(TERMS, 1)
        if terms > MOST_TERMS:
            raise NoValue(f"a sum of {terms} terms that has no closed form") from None
        return sum((evaluate(body, env, {**bound, TERMS: terms, name: Fraction(j)}) for j in range(start, end + 1)), Fraction(0))
