"""Reads SymPy objects as formulas or names: over printed names, with numbers in base units."""

from collections.abc import Callable
from typing import Any

from symroof.errors import InputError, Problem, nearest, split_hint
from symroof.formula import build
from symroof.formula.dimension import DimensionError, check_counts, dimension, takes_plain
from symroof.formula.from_sympy import UnsupportedExpression, from_sympy, is_sympy, shown
from symroof.formula.rewrite import rebuild
from symroof.formula.text import WORK
from symroof.formula.tree import (
    ONE,
    ZERO,
    Add,
    Call,
    Compare,
    DerivativeName,
    Expr,
    Name,
    Num,
    names,
    walk,
)
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, UNDECLARED_NAMES, ExpressionName, base_name, canonical
from symroof.theory.theory import UnknownName, theory
from symroof.units import Dimension, combine, parse_unit


def read_expression(expression: Any, beside: str = "", own: Declarations = NONE) -> Expr:
    """The formula of a SymPy expression or relation, its symbols taken by name: ``Symbol("seq_len")`` is ``prompt``.

    ``beside`` is the quantity that it defines or is compared with, whose unit its numbers get; ``own`` are user-defined names.

    Raises:
        InputError: an unsupported part, which is named; a relation that SymPy has evaluated.

    >>> import sympy
    >>> from symroof.formula.text import text
    >>> text(read_expression(sympy.Eq(sympy.Symbol("itl"), sympy.Rational(1, 20))))
    'itl = 0.05 s'
    """
    from symroof.theory.spellings import resolved

    if isinstance(expression, bool) or (
        getattr(expression, "is_Boolean", False) and expression in (True, False)
    ):
        raise InputError(
            Problem(
                "expression",
                f"SymPy has evaluated it to {expression}, whatever the symbols are",
                hint=OF_FORMULAS,
            )
        )
    try:
        tree = with_units(resolved(from_sympy(expression)), own)
    except RecursionError:
        raise InputError(Problem("expression", "is nested too deeply")) from None
    except UnsupportedExpression as error:
        raise InputError(Problem("expression", str(error), source=shown(expression, 200))) from None
    return _alike((Name(beside), tree), own)[1] if beside and not isinstance(tree, Num) else tree


def read_definition(expression: Any, unit: str, own: Declarations = NONE) -> Expr:
    """The formula of a SymPy expression that defines a quantity with a unit: FLOP units, which SymPy lacks, are added.

    Raises:
        InputError: as :func:`read_expression`.

    >>> import sympy
    >>> from symroof.formula.parse import parse
    >>> read_definition(6*sympy.Symbol("params")*sympy.Symbol("prompt"), "FLOP") == build.mul(parse("6 FLOP"), Name("params"), Name("prompt"))
    True
    """
    tree = read_expression(expression, own=own)
    try:
        return _in(parse_unit(unit).dimension, dimension(tree, _dimensions(own)), tree)
    except (DimensionError, UnknownName, ValueError):
        return tree  # reported when the definition is checked


def _dimensions(own: Declarations) -> Callable[[str], Dimension]:
    def of(name: str) -> Dimension:
        declared = (
            own.symbol(name) if isinstance(name, DerivativeName) else own.own(base_name(name))
        )
        return declared.dimension if declared else theory().dimension(name)

    return of


OF_FORMULAS = "only the symbols of symroof.symbols depend on each other: SymPy takes the derivative of any other symbol as 0"


def _stands_still(thing: Any) -> bool:
    """Whether a SymPy expression is a derivative that is zero where it exists: of a rounding, or the second one of a piecewise linear maximum."""
    import sympy

    return bool(thing.has(sympy.DiracDelta, sympy.Derivative))


def name_or_expression(thing: Any, own: Declarations = NONE) -> Any:
    """The name of a SymPy symbol, or an expression used as a quantity, with known names and one dimension; anything else unchanged.

    Raises:
        InputError: errors of :func:`read_expression`, an unknown name, parts of different dimensions.
    """
    if not is_sympy(thing) or getattr(thing, "is_Symbol", False):
        name = symbol_name(thing)
        if not isinstance(name, str):
            raise InputError(
                Problem(
                    "quantity", f"expected a name or a SymPy expression, not {type(thing).__name__}"
                )
            )
        return name
    formula = ExpressionName.of(read_expression(thing, own=own))
    if formula.tree == ZERO and not _stands_still(thing):
        raise InputError(Problem("expression", "is 0 whatever the symbols are", hint=OF_FORMULAS))
    for name in _mentioned_names(formula.tree):
        if own.symbol(base_name(name)) is None:
            raise InputError(
                Problem(
                    "expression",
                    f"unknown name {name!r}",
                    hint=nearest(name, own.known),
                    source=shown(thing, 200),
                )
            )
    try:
        dimension(formula.tree, _dimensions(own))
        check_counts(
            formula.tree, _dimensions(own), lambda name: name not in own and theory().is_share(name)
        )
    except DimensionError as error:
        message, hint = split_hint(str(error))
        raise InputError(
            Problem("expression", message, hint=hint, source=shown(thing, 200))
        ) from None
    return formula.tree.name if isinstance(formula.tree, Name) else formula


def _mentioned_names(tree: Expr) -> list[str]:
    """The names of a formula, including those in its derivatives."""

    def of(name: str) -> list[str]:
        return [*of(name.quantity), name.by] if isinstance(name, DerivativeName) else [name]

    return [inner for name in names(tree) for inner in of(name)]


def symbol_name(thing: Any) -> Any:
    """The name of a SymPy symbol; anything else unchanged.

    >>> import sympy
    >>> symbol_name(sympy.Symbol("batch")), symbol_name("batch")
    ('batch', 'batch')
    """
    return thing.name if is_sympy(thing) and getattr(thing, "is_Symbol", False) else thing


def with_units(tree: Expr, own: Declarations = NONE) -> Expr:
    """The formula with units for its numbers, which SymPy lacks, as far as their context determines them.

    A number added to seconds is in seconds, and so is one that divides seconds in an exponent. Work is often written without FLOP (``2*params*prompt``): a part that lacks it gets it.

    >>> from symroof.formula.parse import parse
    >>> with_units(parse("prefill_flops + 2*params*prompt")) == parse("prefill_flops + 2 FLOP*params*prompt")
    True
    """
    whole = rebuild(tree, lambda part: with_units(part, own))
    match whole:
        case Add(terms):
            return build.add(*_alike(terms, own))
        case Call("max" | "min", args):
            return build.call(whole.function, *_alike(args, own))
        case Call("of_largest", args):
            pairs = zip(_alike(args[::2], own), _alike(args[1::2], own), strict=True)
            return build.call("of_largest", *(part for pair in pairs for part in pair))
        case Call(function, args) if takes_plain(function):
            return build.call(function, *(_plain(arg, own) for arg in args))
        case Compare(operator, left, right):
            return Compare(operator, *_alike((left, right), own))
    return whole


def _plain(part: Expr, own: Declarations) -> Expr:
    """The argument of an exponential, a logarithm or a similar function as a plain number, if a number in it may have a unit: ``exp(-itl/0.01)``."""
    try:
        unit = dimension(part, _dimensions(own))
    except (DimensionError, UnknownName):
        return part
    numbers = any(
        isinstance(node, Num) and not node.dimension and abs(node.value) not in (0, 1)
        for node in walk(part)
    )
    return build.mul(Num(ONE.value, combine((unit, -1))), part) if unit and numbers else part


def _alike(parts: tuple[Expr, ...], own: Declarations) -> tuple[Expr, ...]:
    """Parts converted to one dimension; those that differ by more than a missing unit stay unchanged."""
    try:
        units = [dimension(part, _dimensions(own)) for part in parts]
    except (DimensionError, UnknownName):
        return parts
    if len(set(units)) == 1:
        return parts
    whole = next(
        (
            i
            for i, part in enumerate(parts)
            if names(part) and not any(isinstance(node, Num) for node in walk(part))
        ),
        None,
    )
    leading = (
        whole if whole is not None else next((i for i, part in enumerate(parts) if names(part)), 0)
    )
    return tuple(_in(units[leading], unit, part) for unit, part in zip(units, parts, strict=True))


def _in(target: Dimension, own: Dimension, part: Expr) -> Expr:
    missing = combine((target, 1), (own, -1))
    if not missing or part == ZERO:
        return part
    if not names(part) or all(unit == WORK[0][0] for unit, _ in missing):
        return build.mul(Num(ONE.value, missing), part)
    return part


__all__ = [
    "is_sympy",
    "name_or_expression",
    "read_definition",
    "read_expression",
    "symbol_name",
    "with_units",
]


def known(name: Any, own: Declarations = NONE) -> str:
    """The printed name of a quantity or input, or the formula of a SymPy expression; ``own`` are user-defined names.

    Raises:
        InputError: unknown, with the nearest name.

    >>> known("seq_len")
    'prompt'
    """
    name = name_or_expression(name, own)
    printed = canonical(name)
    if (
        isinstance(printed, UNDECLARED_NAMES)
        or printed in own
        or base_name(printed) in {*QUANTITIES, *INPUTS}
    ):
        return printed
    if own.threshold(printed):
        raise InputError(
            Problem(name, "is a threshold, not a quantity", hint=f"`symroof solve {name}`")
        )
    raise InputError(Problem(name, "no such quantity or input", hint=nearest(name, own.known)))
