"""The dimension of a formula: ``byte + FLOP`` is an error, not a number.

Strict dimensions (byte, FLOP, s, USD, J) must agree in sums, ``max``, ``min`` and comparisons; counted things (tokens,
requests, parameters, devices) may be added to each other, and in equations they meet each other but no plain share.
See :mod:`symroof.units`.

A formula as it is written (:func:`symroof.symbolic.reading.written`) has units beside its numbers. What SymPy has evaluated has
lost them: with ``bare`` a number alone has any unit, and work is ``2*params`` as well as ``2 FLOP*params``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy.core.relational import Relational
from sympy.core.symbol import Str

from symroof.symbolic.expressions import Expr, fraction, is_label, names, parts
from symroof.symbolic.nodes import At, Measured, OfLargest, Total
from symroof.symbolic.printing import WORK, text
from symroof.units import PLAIN, Dimension, combine, describe, strict, with_usual_unit

Of = Callable[[str], Dimension]
"""The dimension of a name."""
ANY: Any = "any"
"""The dimension of zero, and of a bare number in an evaluated expression."""


class DimensionError(ValueError):
    """Two parts of a formula have incompatible dimensions; both are named."""


def dimension(expr: Expr, of: Of, bare: bool = False) -> Dimension:
    """The strict dimension of a formula; ``of`` gives the dimension of each name.

    >>> from symroof.symbolic.reading import written
    >>> from symroof.units import parse_unit
    >>> units = {"prefill_bytes": "byte", "prefill_flops": "FLOP", "mem_bandwidth": "byte/s"}
    >>> of = lambda name: parse_unit(units[name]).dimension
    >>> describe(dimension(written("prefill_bytes/mem_bandwidth"), of))
    's'
    >>> dimension(written("prefill_bytes + prefill_flops"), of)
    Traceback (most recent call last):
        ...
    symroof.symbolic.dimensions.DimensionError: prefill_bytes is byte but prefill_flops is FLOP
    """
    found = _Checker(of, bare).of_part(expr)
    return PLAIN if found is ANY else found


class _Checker:
    """Measures each part once."""

    def __init__(self, of: Of, bare: bool) -> None:
        self.of, self.bare = of, bare
        self.known: dict[Any, Any] = {}
        self.indices: tuple[str, ...] = ()

    def of_part(self, expr: Any) -> Any:
        if expr not in self.known:
            self.known[expr] = self.measured(expr)
        return self.known[expr]

    def named(self, name: str) -> Any:
        return PLAIN if name in self.indices else strict(self.of(name))

    def measured(self, expr: Any) -> Any:
        if expr.is_Symbol:
            return self.named(expr.name)
        if isinstance(expr, Measured):
            return strict(expr.dimension)
        if expr.is_Number:
            return ANY if self.bare or expr == 0 else PLAIN
        if isinstance(expr, At):
            return self.changed(expr)
        if isinstance(expr, Total):
            return self.summed(expr)
        if isinstance(expr, OfLargest):
            self.alike(expr.keys)
            return PLAIN if is_label(expr) else self.alike(expr.values)
        if isinstance(expr, (Relational, sympy.And, sympy.Or)):
            self.alike(expr.args)
            return PLAIN
        if expr.is_Mul:
            return self.product(expr.args)
        if expr.is_Pow:
            return self.power(expr)
        if expr.is_Add or isinstance(expr, (sympy.Max, sympy.Min, sympy.ceiling, sympy.floor)):
            return self.alike(expr.args)
        for arg in expr.args:
            self.plain(arg, f"{type(expr).__name__.lower()}()")
        return PLAIN

    def product(self, factors: Any) -> Any:
        found = [self.of_part(factor) for factor in factors]
        return combine(*((own, 1) for own in found if own is not ANY))

    def power(self, expr: Any) -> Any:
        base = self.of_part(expr.base)
        if expr.exp.is_Rational:
            return base if base is ANY else combine((base, fraction(expr.exp)))
        self.plain(expr.exp, "an exponent")
        if base is not ANY and base:
            message = f"{describe(base)} raised to {text(expr.exp)}, which is not a fixed number"
            raise DimensionError(message)
        return PLAIN

    def alike(self, args: Any) -> Any:
        """The one dimension that all parts have; zero has any."""
        measured = [(part, own) for part in args if (own := self.of_part(part)) is not ANY]
        if not measured:
            return ANY
        for common in dict.fromkeys(own for _, own in measured):
            if all(own == common or self.work(part, own, common) for part, own in measured):
                return common
        first, expected = measured[0]
        part, own = next((part, own) for part, own in measured if own != expected)
        hint = _unit_left_out(first, own) or _unit_left_out(part, expected)
        said = f"{text(first)} is {describe(expected)} but {text(part)} is {describe(own)}"
        raise DimensionError(said + hint)

    def work(self, part: Any, own: Dimension, expected: Dimension) -> bool:
        """Whether the numbers of a part may be of FLOPs, so that it has a dimension."""
        missing = combine((expected, 1), (own, -1))
        flops = [power for unit, power in missing if unit == WORK[0][0]]
        alone = len(flops) == len(missing) == 1 and flops[0] > 0
        return self.bare and alone and _takes_work(own) and _has_number(part)

    def summed(self, expr: Any) -> Any:
        """The dimension of a sum is that of its terms, in which the index is a plain number."""
        for bound in (expr.first, expr.last):
            self.plain(bound, "the bounds of a sum")
        inner = _Checker(self.of, self.bare)
        inner.indices = (*self.indices, expr.index)
        return inner.of_part(expr.body)

    def changed(self, expr: Any) -> Any:
        for _, value in expr.changes:
            self.of_part(value)
        return self.named(expr.name)

    def plain(self, expr: Any, what: str) -> None:
        own = self.of_part(expr)
        if own is not ANY and own and not (self.bare and _has_number(expr)):
            message = f"{what} must be a plain number, but {text(expr)} is {describe(own)}"
            raise DimensionError(message)


def _takes_work(unit: Dimension) -> bool:
    """Whether work times such a unit occurs: 1/s, 1/byte, s/FLOP, and never byte."""
    powers = dict(unit)
    over = {name for name, power in powers.items() if power > 0}
    return not over or (over == {"s"} and powers.get("FLOP", 0) < 0)


def _has_number(part: Any) -> bool:
    """Whether a product has a number, which may have a unit, and a sum in each of its terms."""
    if part.is_Number:
        return bool(abs(part) not in (0, 1))
    if part.is_Add or isinstance(part, (sympy.Max, sympy.Min)):
        return all(map(_has_number, part.args))
    return bool(part.is_Mul) and any(map(_has_number, part.args))


def _unit_left_out(part: Any, expected: Dimension) -> str:
    """The hint for a bare number next to something with a unit."""
    if not part.is_Rational or not expected:
        return ""
    return f"; write {with_usual_unit(fraction(part), describe(expected))}"


def check(expr: Expr, declared: Dimension, of: Of, name: str, bare: bool = False) -> None:
    """Raise unless the formula has the declared dimension: bytes over bandwidth is a time and never token/s."""
    checker = _Checker(of, bare)
    own = checker.of_part(expr)
    if own is ANY or own == strict(declared) or checker.work(expr, own, strict(declared)):
        return
    whole = own or _counted(expr, of)  # tokens and requests too, if there is no other unit
    raise DimensionError(
        f"{name} is declared as {describe(strict(declared))} but {text(expr)} is {describe(whole)}"
    )


def check_counts(expr: Expr, of: Of, is_share: Callable[[str], bool]) -> None:
    """Raise where a count (tokens, requests, devices) is added to a plain share or compared with one.

    A share here is a name that ``is_share`` accepts, or a formula of such names and numbers alone; a bare number, a number of
    layers and a quotient of two times are no shares: they may be counts.

    >>> from symroof.symbolic.reading import parse
    >>> from symroof.units import parse_unit
    >>> of = lambda name: parse_unit({"batch": "request", "prompt": "token"}.get(name, "")).dimension
    >>> for equation in ("batch = prompt", "batch = 8", "prompt/batch = 8", "batch = n_layers", "batch = 1 - mfu"):
    ...     check_counts(parse(equation), of, lambda name: name == "mfu")
    Traceback (most recent call last):
        ...
    symroof.symbolic.dimensions.DimensionError: batch is request but 1 - mfu is a plain share
    """
    indices = {node.index for node in parts(expr) if isinstance(node, Total)}

    def unit(name: str) -> Dimension:
        return PLAIN if name in indices else of(name)

    for node in parts(expr):
        if not (node.is_Add or node.is_Function or isinstance(node, Relational)):
            continue
        own = [part for part in node.args if not isinstance(part, Str)]
        counted = next((part for part in own if sum(n for _, n in _counted(part, unit))), None)
        free = (part for part in own if names(part) and indices.isdisjoint(names(part)))
        share = next((part for part in free if all(map(is_share, names(part)))), None)
        if counted is not None and share is not None:
            raise DimensionError(
                f"{text(counted)} is {describe(_counted(counted, unit))} but {text(share)} is a plain share"
            )


def _counted(expr: Any, of: Of) -> Dimension:
    """The unit that a formula without strict dimensions counts in: that of its first term that counts anything."""
    if expr.is_Symbol or isinstance(expr, At):
        return of(expr.name)
    if isinstance(expr, Measured):
        return expr.dimension
    if isinstance(expr, Total):
        return _counted(expr.body, of)
    if isinstance(expr, (sympy.log, sympy.exp)) or not expr.args or is_label(expr):
        return PLAIN
    if expr.is_Pow and not expr.exp.is_Integer:
        return PLAIN
    if expr.is_Mul:
        return combine(*((_counted(part, of), 1) for part in expr.args))
    if expr.is_Pow:
        return combine((_counted(expr.base, of), fraction(expr.exp)))
    return next(filter(None, (_counted(part, of) for part in expr.args)), PLAIN)
