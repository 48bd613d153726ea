"""Values for names as people write them: numbers with units, ranges, formulas; for inputs, quantities, and what a study declares itself."""

import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from sympy import Basic

from symroof.errors import nearest
from symroof.specs.fields import ValueRange, in_unit, parse_range, read_each
from symroof.symbolic import dimensions
from symroof.symbolic.expressions import (
    Expr,
    fraction,
    is_condition_or_label,
    is_number,
    names,
    number,
    substitute,
)
from symroof.symbolic.reading import FormulaError, parse, written
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import Quantity
from symroof.theory.symbols import ALIASES, INPUTS, STEP_INDEX, Symbol, canonical
from symroof.units import Dimension, strict

Setting = Expr
"""A value for a name: a number, a formula or a :class:`ValueRange`."""

MOST_VALUES = 64
WORDS = ("weights", "kv", "activations", "model", "hardware")
"""Settings that are words, which an unknown name may be meant for."""


def symbol_of(name: str, own: Declarations = NONE) -> Symbol:
    """The declaration behind a name people write; ``own`` are the declarations of a study.

    Raises:
        ValueError: unknown, with the nearest name.
    """
    full = canonical(name)
    symbol = None if full == STEP_INDEX.name else own.symbol(full)
    if symbol is None:
        hint = nearest(name, [*own.known, *ALIASES, *WORDS])
        known = f"; {hint}" if hint.startswith("did") else ""
        raise ValueError(f"unknown name {name[:40]!r}{known}")
    return symbol


def needs_unit(symbol: Symbol) -> bool:
    """Whether a bare number has no one unit: everything but counts, shares, and bytes of a parameter or an element (2, 1, 0.5)."""
    width = symbol.unit == "byte/parameter" or symbol.name.endswith(
        ("_bytes_per_element", "elementwise_bytes")
    )
    return bool(strict(symbol.dimension)) and not width


def setting(
    name: str, value: object, formulas: bool = True, bare: bool = False, own: Declarations = NONE
) -> Setting:
    """One value for a name: a number, a quantity with a unit, a range ``a..b``, or a formula over other names.

    A bare number is taken for counts, shares and widths; with ``bare`` a number that is no text is taken for anything, as Python's
    numbers are, in base units. ``own`` are the declarations of a study.

    Raises:
        ValueError: unknown name, wrong dimension, unreadable formula.
    """
    symbol = symbol_of(name, own)
    if isinstance(value, str) and ".." in value:
        span = parse_range(value, symbol.unit, symbol.written_in, not needs_unit(symbol))
        return in_domain(symbol, span if span.low < span.high else number(span.low))
    if isinstance(value, Basic):
        from symroof.theory.spellings import read_expression

        tree = read_expression(value, own)
        if not is_number(tree):
            return _checked_formula(symbol, tree, own)
        value = fraction(tree)
    plain = not needs_unit(symbol) or (bare and not isinstance(value, str))
    try:
        read = in_unit(value, symbol.unit, symbol.written_in, plain)
    except ValueError as error:
        if not (formulas and isinstance(value, str)) or "is needed" in str(error):
            raise
        if PLAIN_QUANTITY.match(value):
            raise
        try:
            tree = formula_for(symbol, value, own=own)
        except FormulaError as unread:
            if " " in value.strip() and not re.search(r"[\\{$]", value):
                raise error from None
            message = f"cannot be read as a quantity or a formula: {unread}"
            raise ValueError(message) from None
        return in_domain(symbol, tree) if is_number(tree) else tree
    return in_domain(symbol, number(read.value))


RANGE = 300
"""Powers of ten from one, downwards and upwards, between which numbers are worked with: what is worked out of others is no float."""


def in_domain(symbol: Symbol, value: Setting) -> Setting:
    low, high = (value.low, value.high) if isinstance(value, ValueRange) else (fraction(value),) * 2
    least, most = Fraction(1, 10**RANGE), Fraction(10**RANGE)
    if any(end and not least < abs(end) < most for end in (low, high)):
        raise ValueError("is beyond the numbers that a float holds")
    derived = isinstance(symbol, Quantity)
    from_zero, negative = symbol.may_vanish or derived, symbol.signed and not derived
    if not negative and (low < 0 or (low == 0 and not from_zero)):
        alone = "; leave it out for a prompt alone" if symbol.name == "output" else ""
        raise ValueError(f"must be {'0 or more' if from_zero else 'positive'}{alone}")
    if symbol.most == "1" and high > 1:
        raise ValueError("must be between 0 and 1 (for example 0.62 or 62 %)")
    if symbol.counted and not derived and not low.denominator == high.denominator == 1:
        raise ValueError(f"counts {symbol.display_unit or 'thing'}s: write a whole number")
    return value


PLAIN_QUANTITY = re.compile(r"\s*[-+]?[\d.](?:[^*^()/\\{$+-]|(?<=[eE])[-+]|/(?!\s*[\d.]))*$")
"""A text that begins with a number and neither adds nor multiplies: a quantity, never a formula."""


def formula_for(
    symbol: Symbol,
    text: str,
    parts: Mapping[str, Expr] = MappingProxyType({}),
    as_written: Mapping[str, Expr] = MappingProxyType({}),
    own: Declarations = NONE,
) -> Expr:
    """A formula of a symbol's dimension; ``parts`` are named formulas, which are substituted; ``as_written`` the same with units.

    Raises:
        FormulaError: it cannot be read.
        ValueError: an unknown name, another dimension.
    """
    from symroof.theory.spellings import resolved

    tree = resolved(substitute(parse(text), parts))
    return _checked_formula(symbol, tree, own, resolved(substitute(written(text), as_written)))


def _checked_formula(
    symbol: Symbol, tree: Expr, own: Declarations, as_written: Expr | None = None
) -> Expr:
    """A formula over known names, of the quantity's dimension; in what is ``as_written`` numbers have their units."""
    if is_condition_or_label(tree):
        raise ValueError("is true or false, or a category; a number is needed")
    for name in names(tree):
        symbol_of(name, own)
    shown, bare = (tree, True) if as_written is None else (as_written, False)

    def of(name: str) -> Dimension:
        return () if name == STEP_INDEX.name else symbol_of(name, own).dimension

    dimensions.check(shown, symbol.dimension, of, symbol.name, bare=bare)
    return tree


def device_input(name: str) -> tuple[str, str] | None:
    """The device and the input of a name that is an input of one device; None of any other name.

    >>> device_input("h100-sxm.price"), device_input("price"), device_input("n_heads.local")
    (('h100-sxm', 'price'), None, None)
    """
    device, _, own = name.rpartition(".")
    if not device or canonical(own) not in INPUTS:
        return None
    from symroof.theory.quantities import QUANTITIES  # slow to load, and rarely needed

    known = INPUTS.keys() | QUANTITIES.keys() | ALIASES.keys()
    return None if device.partition(".")[0] in known else (device, canonical(own))


def settings(
    name: str, value: object, formulas: bool = True, bare: bool = False, own: Declarations = NONE
) -> tuple[Setting, ...]:
    """One value or a list of values; of an input of one device, such as ``h100-sxm.price``, a single number."""
    if of := device_input(name):
        if isinstance(value, (list, tuple, range)):
            each = "write one: a list of values is of all devices"
            raise ValueError(f"has {len(value)} values; {each}")
        name, formulas = of[1], False
    if not isinstance(value, (list, tuple, range)):
        return (setting(name, value, formulas, bare, own),)
    if not 1 <= len(value) <= MOST_VALUES:
        raise ValueError(f"a list has 1 to {MOST_VALUES} values")
    read = read_each(enumerate(value), lambda _, item: setting(name, item, formulas, bare, own))
    return tuple(read.values())
