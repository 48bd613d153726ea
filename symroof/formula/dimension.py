"""The dimension of a formula: ``byte + FLOP`` is an error, not a number.

Strict dimensions (byte, FLOP, s, USD, J) must agree in sums, ``max``, ``min`` and comparisons; counted things (tokens,
requests, parameters, devices) may be added to each other, and in equations they meet each other but no plain share.
See :mod:`symroof.units`.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from symroof.formula.parse import FUNCTIONS
from symroof.formula.text import text
from symroof.formula.tree import (
    ZERO,
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
    children,
    mapper,
    names,
    walk,
)
from symroof.units import PLAIN, Dimension, combine, describe, strict, with_usual_unit


class DimensionError(ValueError):
    """Two parts of a formula have incompatible dimensions; both are named."""


def dimension(tree: Expr, of: Callable[[str], Dimension]) -> Dimension:
    """The strict dimension of a formula; ``of`` gives the dimension of each name.

    >>> from symroof.formula.parse import parse
    >>> from symroof.units import parse_unit
    >>> units = {"prefill_bytes": "byte", "prefill_flops": "FLOP", "mem_bandwidth": "byte/s"}
    >>> of = lambda name: parse_unit(units[name]).dimension
    >>> describe(dimension(parse("prefill_bytes/mem_bandwidth"), of))
    's'
    >>> dimension(parse("prefill_bytes + prefill_flops"), of)
    Traceback (most recent call last):
        ...
    symroof.formula.dimension.DimensionError: prefill_bytes is byte but prefill_flops is FLOP
    """

    def named(node: Name | QuantityAt, go: Go) -> Dimension:
        return strict(of(node.name))

    rules: dict[type, Callable[[Any, Go], Dimension]] = {
        **RULES,
        Name: named,
        QuantityAt: named,
        Sum: partial(_summed, of),
    }
    return mapper(rules)(tree)


Go = Callable[[Expr], Dimension]
"""The dimension of a part."""


def _summed(of: Callable[[str], Dimension], node: Sum, go: Go) -> Dimension:
    """The dimension of a sum is that of its terms, in which the index is a plain number."""
    inner = dimension(node.body, lambda name: PLAIN if name == node.index else of(name))
    for bound in (node.first, node.last):
        _plain(bound, go, "the bounds of a sum")
    return inner


def _called(node: Call, go: Go) -> Dimension:
    match node.function:
        case "sqrt":
            return combine((go(node.args[0]), Fraction(1, 2)))
        case "of_largest":
            _agree(node.args[::2], go)
            return _agree(node.args[1::2], go)
    if not takes_plain(node.function):
        return _agree(node.args, go)
    for arg in node.args:
        _plain(arg, go, f"{node.function}()")
    return PLAIN


def takes_plain(function: str) -> bool:
    """Whether a function takes plain numbers only, like logarithms and all functions only SymPy has; the others keep the dimension of their arguments."""
    return function in ("log2", "log", "exp") or function not in FUNCTIONS


def _compared(parts: tuple[Expr, ...], go: Go) -> Dimension:
    """Parts of one dimension, compared: the outcome is a plain value."""
    _agree(parts, go)
    return PLAIN


def _agree(parts: tuple[Expr, ...], go: Go) -> Dimension:
    """The one dimension that all parts have; zero has any."""
    measured = [
        (part, go(part)) for part in parts if not (isinstance(part, Num) and part.value == 0)
    ]
    first, expected = measured[0] if measured else (ZERO, PLAIN)
    for part, own in measured[1:]:
        if own != expected:
            hint = _unit_left_out(first, own) or _unit_left_out(part, expected)
            raise DimensionError(
                f"{text(first)} is {describe(expected)} but {text(part)} is {describe(own)}{hint}"
            )
    return expected


def _unit_left_out(part: Expr, expected: Dimension) -> str:
    """The hint for a bare number next to something with a unit."""
    if not isinstance(part, Num) or part.dimension or not expected:
        return ""
    return f"; write {with_usual_unit(part.value, describe(expected))}"


def _power(base: Dimension, exponent: Expr, go: Go) -> Dimension:
    if isinstance(exponent, Num) and not exponent.dimension:
        return combine((base, exponent.value))
    _plain(exponent, go, "an exponent")
    if base:
        raise DimensionError(
            f"{describe(base)} raised to {text(exponent)}, which is not a fixed number"
        )
    return PLAIN


def _plain(tree: Expr, go: Go, what: str) -> Dimension:
    if own := go(tree):
        raise DimensionError(f"{what} must be a plain number, but {text(tree)} is {describe(own)}")
    return PLAIN


RULES: dict[type, Callable[[Any, Go], Dimension]] = {
    Num: lambda node, go: strict(node.dimension),
    Neg: lambda node, go: go(node.arg),
    Add: lambda node, go: _agree(node.terms, go),
    Mul: lambda node, go: combine(*((go(factor), 1) for factor in node.factors)),
    Div: lambda node, go: combine((go(node.over), 1), (go(node.under), -1)),
    Pow: lambda node, go: _power(go(node.base), node.exponent, go),
    Call: _called,
    Compare: lambda node, go: _compared(children(node), go),
    ArgMax: lambda node, go: _compared(children(node), go),
}
"""The dimension of each kind of node that holds no names of its own."""


def check(tree: Expr, declared: Dimension, of: Callable[[str], Dimension], name: str) -> None:
    """Raise unless the formula has the declared dimension: bytes over bandwidth is a time and never token/s."""
    if tree == ZERO:  # zero has any unit
        return
    own = dimension(tree, of)
    if own != strict(declared):
        whole = own or _counted(tree, of)  # tokens and requests too, if there is no other unit
        raise DimensionError(
            f"{name} is declared as {describe(strict(declared))} but {text(tree)} is {describe(whole)}"
        )


def check_counts(
    tree: Expr, of: Callable[[str], Dimension], is_share: Callable[[str], bool]
) -> None:
    """Raise where a count (tokens, requests, devices) is added to a plain share or compared with one.

    A share here is a name that ``is_share`` accepts, or a formula of such names and numbers alone; a bare number, a number of
    layers and a quotient of two times are no shares: they may be counts.

    >>> from symroof.formula.parse import parse
    >>> from symroof.units import parse_unit
    >>> of = lambda name: parse_unit({"batch": "request", "prompt": "token"}.get(name, "")).dimension
    >>> for equation in ("batch = prompt", "batch = 8", "prompt/batch = 8", "batch = n_layers", "batch = 1 - mfu"):
    ...     check_counts(parse(equation), of, lambda name: name == "mfu")
    Traceback (most recent call last):
        ...
    symroof.formula.dimension.DimensionError: batch is request but 1 - mfu is a plain share
    """
    indices = {
        node.index for node in walk(tree) if isinstance(node, Sum)
    }  # plain numbers, known only inside their sums

    def unit(name: str) -> Dimension:
        return PLAIN if name in indices else of(name)

    for node in walk(tree):
        if isinstance(node, (Add, Call, Compare)):
            parts = children(node)
            counted = next(
                (part for part in parts if sum(exponent for _, exponent in _counted(part, unit))),
                None,
            )
            share = next(
                (
                    part
                    for part in parts
                    if indices.isdisjoint(names(part)) and _is_share(part, is_share)
                ),
                None,
            )
            if counted is not None and share is not None:
                raise DimensionError(
                    f"{text(counted)} is {describe(_counted(counted, unit))} but {text(share)} is a plain share"
                )


def _is_share(tree: Expr, is_share: Callable[[str], bool]) -> bool:
    return bool(names(tree)) and all(map(is_share, names(tree)))


def _counted(tree: Expr, of: Callable[[str], Dimension]) -> Dimension:
    """The unit that a formula without strict dimensions counts in: that of its first term that counts anything."""
    match tree:
        case Num(_, unit):
            return unit
        case Name(name) | QuantityAt(name, _):
            return of(name)
        case Neg(arg) | Sum(arg, _, _, _):
            return _counted(arg, of)
        case Call(function, _) if takes_plain(function):
            return PLAIN
        case Add(parts) | Call(_, parts):
            return next(filter(None, (_counted(part, of) for part in parts)), PLAIN)
        case Mul(parts):
            return combine(*((_counted(part, of), 1) for part in parts))
        case Div(over, under):
            return combine((_counted(over, of), 1), (_counted(under, of), -1))
        case Pow(base, Num(exponent)):
            return combine((_counted(base, of), exponent))
    return PLAIN
