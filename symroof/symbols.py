"""Every input and quantity as a SymPy symbol: ``from symroof.symbols import batch, itl``, or ``import *`` for all of them.

All expressions that symroof returns use these symbols, so ``sympy.diff(study.sympy("itl"), batch)`` works as expected.
A number that is never zero is ``positive``, one that may be zero ``nonnegative``, one that may be negative ``real``; none is declared
an integer, since SymPy would drop non-integer roots. Conditions (``fits``) and labels (``decode_bound``) have no assumptions.

>>> from symroof.symbols import batch, draft_tokens, free_memory
>>> batch, batch.is_positive, draft_tokens.is_nonnegative, free_memory.is_real, free_memory.is_nonnegative
(batch, True, True, True, None)

A quantity is not a constant, so its derivative stays unevaluated until a case gives its value; SymPy treats any other symbol as a constant,
whatever its name:

>>> import sympy
>>> from symroof.symbols import itl
>>> sympy.diff(itl*batch, batch), sympy.diff(sympy.Symbol("itl")*batch, batch)
(batch*Derivative(itl, batch) + itl, itl)

:data:`latex` spells them as reports do, for ``sympy.latex`` and ``sympy.init_printing``:

>>> import sympy
>>> from symroof import symbols
>>> sympy.latex(symbols.n_kv_heads*symbols.head_dim, symbol_names=symbols.latex)
'd_h H_{kv}'
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from symroof.formula.derivative import SLOPE_BY_TERM_COUNT
from symroof.formula.evaluate import UndefinedValue
from symroof.formula.to_sympy import to_sympy, writer
from symroof.formula.tree import ArgMax, Compare, DerivativeName, Expr
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import ALIASES, INPUTS, STEP_INDEX, Symbol, base_name
from symroof.theory.theory import UnknownName, theory


class LatexNames(dict[Any, str]):
    """Symbol -> LaTeX, for every input and quantity; that of one kind of layer (``n_layers.local``) is spelled when looked up."""

    def get(self, key: Any, default: Any = None) -> Any:
        if key in self or "." not in str(key):
            return super().get(key, default)
        try:
            return theory().symbol(str(key)).latex
        except UnknownName:
            return default


def symbol(name: str, own: Declarations = NONE) -> Any:
    """The symbol of a printed name; a dotted name (``n_layers.local``) belongs to one kind of layer.

    Any other name (a coefficient of a long root) is a real number. ``own`` are the names that a study or a
    theory defines: inputs have their declared sign, quantities that of their formulas.

    >>> symbol("n_layers.local"), symbol("c1").is_positive
    (n_layers.local, None)
    """
    if isinstance(name, DerivativeName):
        import sympy

        if name == SLOPE_BY_TERM_COUNT:
            raise UndefinedValue("the slope of a sum in the number of its terms")
        return sympy.diff(symbol(name.quantity, own), symbol(name.by, own))
    if name in own and name not in own.in_sympy:
        own.in_sympy[name] = _declared(name, own)
    return own.in_sympy[name] if name in own else _symbol(name)


@cache
def _symbol(name: str) -> Any:
    import sympy

    from symroof.formula.quantity_symbol import quantity_symbol

    base = base_name(name)
    constant = name == STEP_INDEX.name or (base in INPUTS and base not in QUANTITIES)
    return (sympy.Symbol if constant else quantity_symbol)(name, **_assumptions(base))


def _assumptions(name: str) -> dict[str, bool]:
    """The declared sign of a built-in name."""
    declared: Symbol | None = (
        STEP_INDEX if name == STEP_INDEX.name else QUANTITIES.get(name) or INPUTS.get(name)
    )
    if declared is None:
        return {"real": True}
    if isinstance(theory().definition(name), (Compare, ArgMax)):
        return {}
    return (
        _sign(declared)
        if name in INPUTS and name not in QUANTITIES
        else {"real" if declared.signed else "nonnegative": True}
    )


def _sign(declared: Symbol) -> dict[str, bool]:
    """The sign of an input as SymPy has it."""
    return {
        "real" if declared.signed else "nonnegative" if declared.may_vanish else "positive": True
    }


def _declared(name: str, own: Declarations) -> Any:
    """The symbol of a user-defined name; that of a quantity has the sign of its formula."""
    import sympy

    from symroof.formula.quantity_symbol import quantity_symbol

    definition = own.definitions.get(name)
    if definition is None:
        return sympy.Symbol(name, **_sign(own.input(name) or STEP_INDEX))
    if isinstance(definition, (Compare, ArgMax)):
        return quantity_symbol(name)
    made = expression(definition, own)
    return quantity_symbol(
        name,
        **{
            "positive"
            if made.is_positive
            else "nonnegative"
            if made.is_nonnegative
            else "real": True
        },
    )


def expression(tree: Expr, own: Declarations = NONE) -> Any:
    """A formula in these symbols."""
    return to_sympy(tree, partial(symbol, own=own))


def expressions(own: Declarations = NONE) -> Callable[[Expr], Any]:
    """The same for many formulas, converting shared parts once."""
    return writer(partial(symbol, own=own))


def __getattr__(name: str) -> Any:
    if name == "latex":
        globals()["latex"] = LatexNames(
            {symbol(known): declared.latex for known, declared in {**INPUTS, **QUANTITIES}.items()}
        )
        return globals()["latex"]
    printed = ALIASES.get(name, name)
    if printed in INPUTS or printed in QUANTITIES:
        return symbol(printed)
    own = f"; that of a name that a study defines is study.symbol({name!r})"
    raise AttributeError(
        f"module 'symroof.symbols' has no attribute {name!r}"
        + ("" if name.startswith("_") else own)
    )


def __dir__() -> list[str]:
    return sorted({*__all__, "latex", "symbol"})


__all__ = list(
    dict.fromkeys((*INPUTS, *QUANTITIES))
)  # of ``import *``: :data:`latex` and :func:`symbol` would hide those of SymPy and people
