"""Every input and quantity in SymPy: ``from symroof.symbols import batch, itl``, or ``import *`` for all of them.

All expressions that symroof returns use these objects, so ``sympy.diff(study.sympy("itl"), batch)`` works as expected.
An input is a symbol: ``positive``, ``nonnegative`` if it may be zero, or ``real`` if it may be negative. None is an integer, because
SymPy would drop non-integer roots. Conditions (``fits``) and labels (``decode_bound``) have no assumptions.

>>> from symroof.symbols import batch, draft_tokens, free_memory
>>> batch, batch.is_positive, draft_tokens.is_nonnegative, free_memory.is_real, free_memory.is_nonnegative
(batch, True, True, True, None)

A quantity is a function of all inputs that it may depend on, and is printed by its name. SymPy's rules apply: what needs its formula stays
unevaluated or is refused, until a case gives its value or ``study.sympy`` gives its formula. A symbol that you make yourself is your own,
whatever its name:

>>> import sympy
>>> from symroof.symbols import itl, prompt
>>> sympy.diff(itl*batch, batch), sympy.diff(itl, sympy.Symbol("h"))
(batch*Derivative(itl, batch) + itl, 0)
>>> (itl*batch).subs(batch, 5), sympy.limit(itl/batch, batch, sympy.oo), prompt in itl.free_symbols
(5*itl(batch = 5), Limit(itl/batch, batch, oo, dir='-'), True)

:data:`latex` has the notation of reviews, for ``sympy.latex`` and ``sympy.init_printing``:

>>> from symroof import symbols
>>> sympy.latex(symbols.n_kv_heads*symbols.head_dim, symbol_names=symbols.latex)
'd_h H_{kv}'
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import sympy

from symroof.errors import UndefinedValue
from symroof.symbolic.applied import KindSymbol, quantity, translator
from symroof.symbolic.expressions import DerivativeName, Expr, is_label, is_relation
from symroof.symbolic.reading import parse
from symroof.symbolic.slopes import SLOPE_BY_TERM_COUNT
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES, Quantity
from symroof.theory.spellings import inputs_of, sign
from symroof.theory.symbols import ALIASES, INPUTS
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
    """The object of a printed name; a dotted name (``n_layers.local``) belongs to one kind of layer.

    Any other name (a coefficient of a long root) is a real number. ``own`` are the names that a study or a
    theory defines: inputs have their declared sign, quantities that of their formulas.

    >>> symbol("n_layers.local"), symbol("c1").is_positive
    (n_layers.local, None)
    """
    if isinstance(name, DerivativeName):
        if name == SLOPE_BY_TERM_COUNT:
            raise UndefinedValue("the slope of a sum in the number of its terms")
        return sympy.diff(symbol(name.quantity, own), symbol(name.by, own))
    home = own if name in own else NONE
    if name not in home.in_sympy:
        home.in_sympy[name] = _made(name, home)
    return home.in_sympy[name]


def _made(name: str, own: Declarations) -> Any:
    """An input or a quantity of its declared sign."""
    declared = own.symbol(name)
    if declared is None:
        return sympy.Symbol(name, real=True)
    if isinstance(declared, Quantity):
        inputs = (symbol(key, own) for key in inputs_of(declared, own))
        return quantity(name, inputs, **_assumed(declared, own))
    kind = KindSymbol if "." in name else sympy.Symbol
    return kind(name, **{sign(declared): True})


def _assumed(declared: Quantity, own: Declarations) -> dict[str, bool]:
    """The sign of a quantity: that declared, of a user-defined one that of its formula; none of a condition or a label."""
    formula = own.definitions.get(declared.name)
    if formula is None:
        texts = filter(None, (declared.definition, *dict(declared.variants).values()))
        spoken = next((text for text in texts if re.search("[<>=]|largest", text)), "0")
        formula = parse(spoken)
    if is_relation(formula) or is_label(formula):
        return {}
    if declared.name not in own.definitions:
        return {"real" if declared.signed else "nonnegative": True}
    made = expressions(own)(formula)
    if made.is_positive:
        return {"positive": True}
    return {"nonnegative" if made.is_nonnegative else "real": True}


def expressions(own: Declarations = NONE) -> Callable[[Expr], Any]:
    """What makes expressions in these symbols of formulas, converting shared parts once."""
    return translator(partial(symbol, own=own))


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
    own = "" if name.startswith("_") else own
    raise AttributeError(f"module 'symroof.symbols' has no attribute {name!r}{own}")


def __dir__() -> list[str]:
    return sorted({*__all__, "latex", "symbol"})


# of ``import *``: :data:`latex` and :func:`symbol` would hide those of SymPy and people
__all__ = [*dict.fromkeys((*INPUTS, *QUANTITIES))]
