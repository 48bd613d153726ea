"""Constructors that simplify a formula while it is built: constants folded, like terms and factors merged.

They keep the written order and never expand a product, so that a formula stays as it was written. They are exact
identities for positive symbols: ``context - 1 + 1`` is ``context``, ``min(context - 1, window - 1) + 1`` is
``min(context, window)``, ``1*x`` is ``x``.
"""

from fractions import Fraction
from functools import lru_cache

from symroof.formula.tree import ONE, ZERO, Add, Call, Div, Expr, Mul, Name, Neg, Num, Pow
from symroof.units import PLAIN, Dimension, combine

MOST_FOLDED_BITS = 4096

cached = lru_cache(maxsize=16384)
"""A review builds three of four nodes more than once: the arms of a maximum share most of their parts."""


def number(value: int | Fraction) -> Num:
    return Num(Fraction(value))


def neg(arg: Expr) -> Expr:
    match arg:
        case Num(value, dimension):
            return Num(-value, dimension)
        case Neg(inner):
            return inner
    return Neg(arg)


def split(term: Expr) -> tuple[Fraction | int, Expr]:
    """A term as (rational coefficient, rest): ``-2*x`` is ``(-2, x)``, ``x/2`` is ``(1/2, x)``."""
    match term:
        case Neg(arg):
            coefficient, rest = split(arg)
            return -coefficient, rest
        case Num(value, dimension):
            return value, Num(ONE.value, dimension)
        case Mul((Num(value, dimension), *rest)) if not dimension:
            return value, rest[0] if len(rest) == 1 else Mul(tuple(rest))
        case Div(over, Num(value, dimension)) if value and not dimension:
            coefficient, rest = split(over)
            return Fraction(coefficient) / value, rest
    return 1, term


@cached
def add(*terms: Expr) -> Expr:
    """A sum: nested sums flattened, like terms merged, zeros gone, a constant moved into ``min`` or ``max``."""
    merged: dict[Expr, Fraction | int] = {}
    for term in terms:
        for part in _flat(term):
            coefficient, rest = split(part)
            merged[rest] = merged[rest] + coefficient if rest in merged else coefficient
    summands = [
        rest if coefficient == 1 and not isinstance(rest, Num) else _scaled(coefficient, rest)
        for rest, coefficient in merged.items()
        if coefficient
    ]
    if (
        len(summands) == 2
        and isinstance(summands[1], Num)
        and isinstance(summands[0], Call)
        and summands[0].function in ("min", "max")
    ):
        return call(summands[0].function, *(add(arg, summands[1]) for arg in summands[0].args))
    if not summands:
        return ZERO
    return summands[0] if len(summands) == 1 else Add(tuple(summands))


def _flat(term: Expr) -> list[Expr]:
    match term:
        case Add(terms):
            return [part for inner in terms for part in _flat(inner)]
        case Neg(Add(terms)):
            return [neg(part) for inner in terms for part in _flat(inner)]
    return [term]


def _scaled(coefficient: Fraction | int, rest: Expr) -> Expr:
    if isinstance(rest, Num):
        return Num(coefficient * rest.value, rest.dimension)
    if coefficient == 1:
        return rest
    if coefficient == -1:
        return Neg(rest)
    return (
        neg(mul(number(-coefficient), rest)) if coefficient < 0 else mul(number(coefficient), rest)
    )


@cached
def factored(*terms: Expr) -> Expr:
    """A sum with the factors that all its terms share taken out: ``2*a*x + 2*b*x`` is ``2*(a + b)*x``."""
    parts = [_number_and_factors(term) for term in terms if term != ZERO]
    if len(parts) < 2:
        return add(*terms)
    numbers = {head for head, _ in parts}
    same = numbers.pop() if len(numbers) == 1 else None
    lists = [list(factors) if same else _factors(mul(head, *factors)) for head, factors in parts]
    shared = _in_all(lists)
    before = [
        factor
        for i, factor in enumerate(lists[0])
        if factor in shared and set(lists[0][: i + 1]) <= set(shared)
    ]
    for factors in lists:
        for factor in shared:
            factors.remove(factor)
    inner = add(*(mul(*factors) if factors else ONE for factors in lists))
    after = [factor for factor in shared if factor not in before]
    if isinstance(inner, Add) and all(is_negative(term) for term in inner.terms):
        return neg(mul(same or ONE, *before, negated(inner), *after))
    return mul(same or ONE, *before, inner, *after)


def _in_all(lists: list[list[Expr]]) -> list[Expr]:
    """The factors common to all lists, each as often as it occurs in all of them; numbers are ignored."""
    rests = [list(other) for other in lists[1:]]
    shared: list[Expr] = []
    for factor in lists[0]:
        if not isinstance(factor, Num) and all(factor in rest for rest in rests):
            shared.append(factor)
            for rest in rests:
                rest.remove(factor)
    return shared


def is_negative(term: Expr) -> bool:
    """Whether a term has a minus sign."""
    return isinstance(term, Neg) or (isinstance(term, Num) and term.value < 0)


@cached
def negated(tree: Expr) -> Expr:
    """Minus a formula, the sign carried into a sum that has one, terms without a minus first: ``-(a - b)`` is ``b - a``."""
    match tree:
        case Neg(arg):
            return arg
        case Add(terms):
            return add(*sorted((negated(term) for term in terms), key=is_negative))
        case Mul(factors):
            for i, factor in enumerate(factors):
                turned = negated(factor) if isinstance(factor, Add) else None
                if isinstance(turned, Add) and not all(map(is_negative, turned.terms)):
                    return mul(*factors[:i], turned, *factors[i + 1 :])
        case Div(over, under):
            return div(negated(over), under)
    return neg(tree)


def _number_and_factors(term: Expr) -> tuple[Num, list[Expr]]:
    """A term as its leading number, with its unit, and its other factors."""
    factors = _factors(term)
    return (factors[0], factors[1:]) if isinstance(factors[0], Num) else (ONE, factors)


def sub(left: Expr, right: Expr) -> Expr:
    return add(left, neg(right))


@cached
def mul(*factors: Expr) -> Expr:
    """A product: nested products flattened, numbers folded to the front, ``0`` and ``1`` applied."""
    constant: Fraction | int = 1
    sign, whole = 1, 1
    dimension: Dimension = PLAIN
    rest: list[Expr] = []
    stack = list(reversed(factors))
    while stack:
        factor = stack.pop()
        match factor:
            case Name():
                rest.append(factor)
            case Mul(inner):
                stack.extend(reversed(inner))
            case Neg(arg):
                sign = -sign
                stack.append(arg)
            case Num(value, unit):
                constant = value if constant == 1 else constant * value
                dimension = combine((dimension, 1), (unit, 1)) if unit else dimension
            case Add(terms) if all(is_negative(term) for term in terms):
                sign = -sign
                stack.append(negated(factor))
            case Div(over, Num(value, unit)) if not unit and value:  # x/2 is x times a number
                constant = constant / value
                stack.append(over)
            case _:
                rest.append(factor)
    if constant == 0:
        return ZERO
    if constant < 0:
        constant, sign = -constant, -sign
    if constant != 1 and constant.denominator != 1 and not dimension:
        whole, constant = constant.denominator, Fraction(constant.numerator)
    if constant != 1 or dimension or not rest:
        rest.insert(0, Num(Fraction(constant), dimension))
    product: Expr = rest[0] if len(rest) == 1 else Mul(tuple(rest))
    if whole != 1:  # three halves of x are written 3*x/2
        product = (
            Num(product.value / whole) if isinstance(product, Num) else Div(product, number(whole))
        )
    return neg(product) if sign < 0 else product


@cached
def div(over: Expr, under: Expr) -> Expr:
    """A quotient: ``x/1`` is ``x``, ``x/x`` is 1, numbers folded, ``(a/b)/c`` is ``a/(b*c)``."""
    if over == ZERO:
        return ZERO
    if isinstance(under, Num) and under.value:
        if isinstance(over, Num):
            return Num(
                over.value / under.value, combine((over.dimension, 1), (under.dimension, -1))
            )
        if under == ONE:
            return over
    if over == under:
        return ONE
    match over, under:
        case Neg(arg), _:
            return neg(div(arg, under))
        case _, Neg(arg):
            return neg(div(over, arg))
        case Div(a, b), Div(c, d):
            return div(mul(a, d), mul(b, c))
        case Div(a, b), _:
            return div(a, mul(b, under))
        case _, Div(c, d):
            return div(mul(over, d), c)
    return _cancelled(over, under)


def _cancelled(over: Expr, under: Expr) -> Expr:
    """``a*b/(b*c)`` as ``a/c``: equal factors and the numbers' common part go."""
    above, below = _factors(over), _factors(under)
    for factor in list(above):
        if factor in below and not isinstance(factor, Num):
            above.remove(factor)
            below.remove(factor)
    match above[:1] + below[:1]:
        case [Num(first, ()), Num(second, ())] if second:
            ratio = first / second
            above[0], below[0] = number(ratio.numerator), number(ratio.denominator)
    numerator, denominator = mul(*above) if above else ONE, mul(*below) if below else ONE
    if denominator == ONE:
        return numerator
    if isinstance(numerator, Num) and isinstance(denominator, Num) and denominator.value:
        return div(numerator, denominator)
    return Div(numerator, denominator)


def _factors(tree: Expr) -> list[Expr]:
    return list(tree.factors) if isinstance(tree, Mul) else [tree]


def power(base: Expr, exponent: Expr) -> Expr:
    match base, exponent:
        case _, Num(value, ()) if value == 1:
            return base
        case _, Num(value, ()) if value == 0:
            return ONE
        case Num(value, ()), Num(n, ()) if (
            n.denominator == 1 and value and _bits(value) * abs(n) <= MOST_FOLDED_BITS
        ):
            return Num(value**n.numerator)
    return Pow(base, exponent)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def call(function: str, *args: Expr) -> Expr:
    """A function call; ``max`` and ``min`` drop repeated arguments, fold numbers, and of one argument are it."""
    if function in ("max", "min"):
        pick = max if function == "max" else min
        flat = [
            x
            for arg in args
            for x in (arg.args if isinstance(arg, Call) and arg.function == function else (arg,))
        ]
        numbers = [arg for arg in flat if isinstance(arg, Num)]
        alike = len({number.dimension for number in numbers}) == 1
        distinct: list[Expr] = list(
            dict.fromkeys(arg for arg in flat if not (alike and isinstance(arg, Num)))
        )
        if alike:
            distinct.append(pick(numbers, key=lambda n: n.value))
        return distinct[0] if len(distinct) == 1 else Call(function, tuple(distinct))
    if function in ("ceil", "floor") and isinstance(args[0], Num):
        value = args[0].value
        whole = (
            -(-value.numerator // value.denominator)
            if function == "ceil"
            else value.numerator // value.denominator
        )
        return Num(Fraction(whole), args[0].dimension)
    return Call(function, args)


@cached
def as_fraction(tree: Expr) -> Expr:
    """A product with quotients in it as one quotient, so that equal factors meet and cancel.

    >>> from symroof.formula.parse import parse
    >>> from symroof.formula.text import text
    >>> text(Mul((parse("a/(b*c)"), parse("c*d/2"))))
    'a/(b*c)*(c*d/2)'
    >>> text(as_fraction(Mul((parse("a/(b*c)"), parse("c*d/2")))))
    'a*d/(2*b)'
    """
    above, below = numerator_and_denominator(tree)
    return div(mul(*above), mul(*below))


def numerator_and_denominator(tree: Expr) -> tuple[list[Expr], list[Expr]]:
    """The factors above and below the bar of a product of quotients."""
    match tree:
        case Neg(arg):
            above, below = numerator_and_denominator(arg)
            return [number(-1), *above], below
        case Mul(factors):
            parts = [numerator_and_denominator(factor) for factor in factors]
            return [x for above, _ in parts for x in above], [
                x for _, below in parts for x in below
            ]
        case Div(over, under):
            (a, b), (c, d) = numerator_and_denominator(over), numerator_and_denominator(under)
            return a + d, b + c
    return [tree], []
