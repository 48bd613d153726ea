"""The dimension of a formula, by walking it: ``byte + FLOP`` is an error, not a number.

Strict dimensions (byte, FLOP, s, USD, J) must agree in sums, ``max``, ``min`` and comparisons; counted things (tokens,
requests, parameters, devices) may be added to each other, and in equations they meet each other but no plain share.
See :mod:`symroof.units`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symroof.formula.text import text
from symroof.formula.tree import ZERO, Add, At, Call, Compare, Div, Largest, Mul, Name, Neg, Num, Pow, Total, Tree, children, names, walk
from symroof.units import PLAIN, Dimension, combine, describe, strict, with_usual_unit


class DimensionError(ValueError):
    """Two parts of a formula that cannot stand together, both named."""


def dimension(tree: Tree, of: Callable[[str], Dimension]) -> Dimension:
    """The strict dimension of a formula; ``of`` tells the dimension of each name.

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

    def go(node: Tree) -> Dimension:
        match node:
            case Num(_, unit):
                return strict(unit)
            case Name(name) | At(name, _):
                return strict(of(name))
            case Neg(arg):
                return go(arg)
            case Add(parts):
                return _agree(parts, go)
            case Mul(parts):
                return combine(*((go(part), 1) for part in parts))
            case Div(over, under):
                return combine((go(over), 1), (go(under), -1))
            case Pow(base, exponent):
                return _power(go(base), exponent, go)
            case Call("sqrt", (arg,)):
                return combine((go(arg), Fraction(1, 2)))
            case Call("log2", (arg,)):
                _plain(arg, go, "log2()")
                return PLAIN
            case Call("of_largest", args):
                _agree(args[::2], go)
                return _agree(args[1::2], go)
            case Call(_, args):
                return _agree(args, go)
            case Total(body, index, first, last):
                inner = dimension(body, lambda name: PLAIN if name == index else of(name))
                _plain(first, go, "the bounds of a sum")
                _plain(last, go, "the bounds of a sum")
                return inner
            case Compare(_, left, right):
                _agree((left, right), go)
                return PLAIN
            case Largest(arms):
                _agree(tuple(arm for _, arm in arms), go)
                return PLAIN
        raise TypeError(f"not a formula tree: {node!r}")

    return go(tree)


def _agree(parts: tuple[Tree, ...], go: Callable[[Tree], Dimension]) -> Dimension:
    found = [(part, go(part)) for part in parts if not (isinstance(part, Num) and part.value == 0)]
    if not found:
        return PLAIN
    first, expected = found[0]
    for part, got in found[1:]:
        if got != expected:
            raise DimensionError(
                f"{text(first)} is {describe(expected)} but {text(part)} is {describe(got)}{_unit_left_out(first, got) or _unit_left_out(part, expected)}"
            )
    return expected


def _unit_left_out(part: Tree, wanted: Dimension) -> str:
    """The hint where a bare number stands beside something that has a unit."""
    if not isinstance(part, Num) or part.dimension or not wanted:
        return ""
    return f"; write {with_usual_unit(part.value, describe(wanted))}"


def _power(base: Dimension, exponent: Tree, go: Callable[[Tree], Dimension]) -> Dimension:
    if isinstance(exponent, Num) and not exponent.dimension:
        return combine((base, exponent.value))
    _plain(exponent, go, "an exponent")
    if base:
        raise DimensionError(f"{describe(base)} raised to {text(exponent)}, which is not a fixed number")
    return PLAIN


def _plain(tree: Tree, go: Callable[[Tree], Dimension], what: str) -> None:
    if got := go(tree):
        raise DimensionError(f"{what} must be a plain number, but {text(tree)} is {describe(got)}")


def check(tree: Tree, declared: Dimension, of: Callable[[str], Dimension], name: str) -> None:
    """Raise unless the formula has the declared dimension: bytes over bandwidth is a time and never token/s."""
    if tree == ZERO:  # nothing is zero of any unit
        return
    got = dimension(tree, of)
    if got != strict(declared):
        raise DimensionError(f"{name} is declared as {describe(strict(declared))} but {text(tree)} is {describe(got)}")


def check_counts(tree: Tree, of: Callable[[str], Dimension], is_share: Callable[[str], bool]) -> None:
    """Raise where what is counted (tokens, requests, devices) is added to a plain share or compared with one.

    A share here is what ``is_share`` names and what is made of such names and numbers alone; a bare number, a number of
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
    for node in walk(tree):
        if isinstance(node, (Add, Call, Compare)):
            parts = children(node)
            counted = next((part for part in parts if sum(exponent for _, exponent in _counted(part, of))), None)
            share = next((part for part in parts if _is_share(part, is_share)), None)
            if counted is not None and share is not None:
                raise DimensionError(f"{text(counted)} is {describe(_counted(counted, of))} but {text(share)} is a plain share")


def _is_share(tree: Tree, is_share: Callable[[str], bool]) -> bool:
    found = names(tree)
    return bool(found) and all(map(is_share, found))


def _counted(tree: Tree, of: Callable[[str], Dimension]) -> Dimension:
    """What a formula without strict dimensions counts: the first of its terms that counts something says what."""
    match tree:
        case Num(_, unit):
            return unit
        case Name(name) | At(name, _):
            return of(name)
        case Neg(arg) | Total(arg, _, _, _):
            return _counted(arg, of)
        case Add(parts) | Call(_, parts):
            return next((found for part in parts if (found := _counted(part, of))), PLAIN)
        case Mul(parts):
            return combine(*((_counted(part, of), 1) for part in parts))
        case Div(over, under):
            return combine((_counted(over, of), 1), (_counted(under, of), -1))
        case Pow(base, Num(exponent)):
            return combine((_counted(base, of), exponent))
    return PLAIN
