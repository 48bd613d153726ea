"""Names and formulas as people write them: aliases, the letters that LaTeX prints (``H_kv``, ``b_w``, ``eta_c``), SymPy objects."""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import sympy
from sympy.core.symbol import Str

from symroof.errors import InputError, Problem, nearest, split_hint
from symroof.symbolic.applied import KindSymbol, Quantity
from symroof.symbolic.dimensions import DimensionError, check_counts, dimension
from symroof.symbolic.expressions import (
    ZERO,
    DerivativeName,
    Expr,
    changed_inputs,
    is_relation,
    names,
    rebuild,
    rename,
)
from symroof.symbolic.expressions import symbol as core_symbol
from symroof.symbolic.from_sympy import UnsupportedExpression, shown, to_core
from symroof.symbolic.from_sympy import is_sympy as is_sympy
from symroof.symbolic.nodes import Measured
from symroof.symbolic.printing import text, unit_text
from symroof.theory.declarations import NONE, Declarations
from symroof.theory.quantities import QUANTITIES
from symroof.theory.quantities import Quantity as DeclaredQuantity
from symroof.theory.steps import STEPS
from symroof.theory.symbols import (
    ALIASES,
    GROUPS,
    INPUTS,
    UNDECLARED_NAMES,
    ExpressionName,
    Symbol,
    base_name,
    canonical,
)
from symroof.theory.theory import theory
from symroof.units import Dimension

KINDS = ("local", "global", "full", "window")
"""Layer kinds that a subscript may name: ``L_{local}`` is ``n_layers.local``."""

UPRIGHT = re.compile(r"\\mathrm\{(\w+)\}")
LABEL = re.compile(r"([_^])(?:\{([^{}]*)\}|(\w))")


@lru_cache(maxsize=1)
def letters() -> dict[str, str]:
    """The name that each LaTeX letter stands for; a letter never hides a name.

    >>> letters()["H_kv"], letters()["kappa"], letters()["C"], letters()["t_c_prefill"]
    ('n_kv_heads', 'kv_bytes_per_token', 'context', 'prefill_compute_time')
    """
    spelled = {letter(symbol.latex): name for name, symbol in {**QUANTITIES, **INPUTS}.items()}
    return {
        spelling: name
        for spelling, name in spelled.items()
        if spelling not in INPUTS and spelling not in QUANTITIES
    }


def letter(latex: str) -> str:
    r"""A name's LaTeX as people type it in a formula.

    >>> letter(r"t^{c}_{\mathrm{prefill}}"), letter(r"b_{kv}"), letter(r"\eta_c")
    ('t_c_prefill', 'b_kv', 'eta_c')
    """
    plain = UPRIGHT.sub(r"\1", latex).replace("\\", "")
    labels = {sign: braced or single for sign, braced, single in LABEL.findall(plain)}
    written = [re.split("[_^]", plain)[0], labels.get("^", ""), labels.get("_", "")]
    return "_".join(part.replace(",", ".").replace("/", "") for part in written if part)


def printed_name(name: str) -> str:
    """The canonical name for a name, an alias or a letter, also of one kind of layer.

    >>> printed_name("bs"), printed_name("H_kv.local"), printed_name("L_global")
    ('batch', 'n_kv_heads.local', 'n_layers.global')
    """
    if name in INPUTS or name in QUANTITIES:
        return name
    if isinstance(name, DerivativeName):
        return DerivativeName.of(printed_name(name.quantity), printed_name(name.by))
    if printed := ALIASES.get(name) or letters().get(name):
        return printed
    for mark in "._":
        whole, _, kind = name.rpartition(mark)
        if whole and (mark == "." or kind in KINDS):
            return (
                f"{ALIASES.get(whole) or letters().get(whole, whole)}.{kind}"
                if mark == "." or whole in letters()
                else name
            )
    return name


def resolved(tree: Expr) -> Expr:
    """A formula with every alias and letter replaced by the name it spells.

    >>> from symroof.symbolic.reading import parse
    >>> from symroof.symbolic.printing import text
    >>> text(resolved(parse("2*L*H_kv*d_h*b_kv")))
    '2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element'
    """
    every = (*names(tree), *changed_inputs(tree))
    return rename(tree, {name: printed_name(name) for name in every})


@lru_cache(maxsize=1)
def known_names() -> frozenset[str]:
    """All accepted spellings of names."""
    return frozenset({*INPUTS, *QUANTITIES, *ALIASES, *letters()})


def read_expression(expression: Any, own: Declarations = NONE) -> Expr:
    """The formula of a SymPy expression or relation; ``own`` are user-defined names.

    What is symroof's are the objects of :mod:`symroof.symbols`, symbols of their full names without assumptions, and every symbol of
    a user-defined name; any other is the caller's, and no name here.

    Raises:
        InputError: an unsupported part, which is named; a relation that SymPy has evaluated.

    >>> text(read_expression(sympy.Eq(sympy.Symbol("itl"), sympy.Rational(1, 20))))
    'itl = 0.05'
    """
    if isinstance(expression, bool) or (
        getattr(expression, "is_Boolean", False) and expression in (True, False)
    ):
        evaluated = f"SymPy has evaluated it to {expression}, whatever the symbols are"
        raise InputError(Problem("expression", evaluated, hint=OF_FORMULAS))
    try:
        return to_core(
            expression, lambda found: _name(found, own), lambda name: bool(own.input(name))
        )
    except RecursionError:
        raise InputError(Problem("expression", "is nested too deeply")) from None
    except UnsupportedExpression as error:
        raise _refused(expression, *split_hint(str(error))) from None


def _refused(thing: Any, message: str, hint: str) -> InputError:
    return InputError(Problem("expression", message, hint=hint, source=shown(thing, 200)))


def sign(declared: Symbol) -> str:
    """What SymPy knows of an input: ``positive``, ``nonnegative`` or ``real``."""
    if declared.signed:
        return "real"
    return "nonnegative" if declared.may_vanish else "positive"


def _name(found: Any, own: Declarations) -> str:
    """The name that a symbol or a quantity stands for.

    Raises:
        UnsupportedExpression: a symbol that is the caller's own.
    """
    name: str = found.name
    if isinstance(found, (Quantity, KindSymbol)) or isinstance(name, DerivativeName):
        return name
    if name in own and not isinstance(found, sympy.Dummy):
        return name
    declared = own.symbol(name)
    known = [sympy.Symbol(name), core_symbol(name)]
    if name in INPUTS:
        known.append(sympy.Symbol(name, **{sign(INPUTS[name]): True}))
    meant = printed_name(name)
    if found in known and (declared or meant == name):
        return name
    hint = f"; write symroof.symbols.{meant} for symroof's" if declared or meant != name else ""
    raise UnsupportedExpression(f"unknown name {name!r}, a symbol of your own{hint}")


def with_units(formula: Expr, own: Declarations = NONE) -> Expr:
    """A formula to be written as text and read again: a number beside something with a unit has it.

    >>> from symroof.symbolic.reading import parse
    >>> text(with_units(parse("itl + 1/50 = 3")))
    'itl + 0.02 s = 3 s'
    """
    made = rebuild(formula, lambda part: with_units(part, own))
    if not (formula.is_Add or is_relation(formula) or isinstance(formula, (sympy.Max, sympy.Min))):
        return made
    others = [part for part in formula.args if not part.is_Rational]
    unit = unit_text(dimension(others[0], _dimensions(own), bare=True)) if others else ""
    numbers = (part for part in formula.args if part.is_Rational and "/" not in text(part))
    spoken = {part: Measured(part, Str(unit)) for part in numbers if part}
    return made.xreplace(spoken) if unit else made


OF_FORMULAS = "only the symbols of symroof.symbols depend on each other: SymPy takes the derivative of any other symbol as 0"


def _dimensions(own: Declarations) -> Callable[[str], Dimension]:
    def of(name: str) -> Dimension:
        derived = isinstance(name, DerivativeName)
        declared = own.symbol(name) if derived else own.own(base_name(name))
        return declared.dimension if declared else theory().dimension(name)

    return of


def name_or_expression(thing: Any, own: Declarations = NONE) -> Any:
    """The name of a SymPy symbol, or an expression used as a quantity, with known names and one dimension; anything else unchanged.

    Raises:
        InputError: errors of :func:`read_expression`, an unknown name, parts of different dimensions.
    """
    if isinstance(thing, str):
        return thing
    if not is_sympy(thing):
        kind = type(thing).__name__
        raise InputError(Problem("quantity", f"expected a name or a SymPy expression, not {kind}"))
    formula = read_expression(thing, own)
    if formula.is_Symbol and not isinstance(formula.name, DerivativeName):
        return formula.name
    # of a rounding, or of a bend twice, the derivative is zero where it exists
    if formula == ZERO and not thing.has(sympy.DiracDelta, sympy.Derivative):
        raise InputError(Problem("expression", "is 0 whatever the symbols are", hint=OF_FORMULAS))
    for name in (inner for each in names(formula) for inner in _plain_names(each)):
        if own.symbol(base_name(name)) is None:
            raise _refused(thing, f"unknown name {name!r}", nearest(name, own.known))
    try:
        dimension(formula, _dimensions(own), bare=True)
        check_counts(
            formula, _dimensions(own), lambda name: name not in own and theory().is_share(name)
        )
    except DimensionError as error:
        raise _refused(thing, *split_hint(str(error))) from None
    return formula.name if formula.is_Symbol else ExpressionName.of(formula)


def _plain_names(name: str) -> list[str]:
    """A name, or those in a derivative."""
    return [*_plain_names(name.quantity), name.by] if isinstance(name, DerivativeName) else [name]


def symbol_name(thing: Any) -> Any:
    """The name of a SymPy symbol, or of a quantity as it is; anything else unchanged.

    >>> symbol_name(sympy.Symbol("batch")), symbol_name("batch")
    ('batch', 'batch')
    """
    if getattr(thing, "is_Symbol", False) or (isinstance(thing, Quantity) and not thing.changes):
        return thing.name
    return thing


def known(name: Any, own: Declarations = NONE) -> str:
    """The printed name of a quantity or input, or the formula of a SymPy expression; ``own`` are user-defined names.

    Raises:
        InputError: unknown, with the nearest name.

    >>> known("seq_len")
    'prompt'
    """
    name = name_or_expression(name, own)
    printed = canonical(name)
    known = printed in own or base_name(printed) in {*QUANTITIES, *INPUTS}
    if known or isinstance(printed, UNDECLARED_NAMES):
        return printed
    if own.threshold(printed):
        raise InputError(
            Problem(name, "is a threshold, not a quantity", hint=f"`symroof solve {name}`")
        )
    hint = nearest(name, own.known) or "`symroof list quantities` shows them"
    raise InputError(Problem(name, "no such quantity or input", hint=hint))


# ------------------------------------------------------------------------ what a quantity is a function of

WORD = re.compile(r"[A-Za-z]\w*")
OF_OPERATORS = ("architecture", "precision", "workload", "parallel", "hardware", "efficiency")
"""The inputs that totals of the operator table may depend on: which, depends on the model and on its layout, and they have no text."""


def inputs_of(declared: DeclaredQuantity, own: Declarations) -> list[str]:
    """The inputs that a quantity depends on under some counting choice, for some model."""
    seen, left = {declared.name}, [declared.name]
    while left:
        below = _mentioned(left.pop(), own) - seen
        seen |= below
        left += below
    return [name for name in (*INPUTS, *(known.name for known in own.inputs)) if name in seen]


def _mentioned(name: str, own: Declarations) -> frozenset[str]:
    declared = own.own(name) or QUANTITIES.get(name)
    if not isinstance(declared, DeclaredQuantity):
        return frozenset()
    if name not in own:
        return _mentioned_by(declared)
    formula = own.definitions.get(name)
    written = () if formula is None else (*names(formula), *changed_inputs(formula))
    return _mentioned_by(declared).union(map(base_name, written))


@cache
def _mentioned_by(declared: DeclaredQuantity) -> frozenset[str]:
    """The names in all formulas, searches and conditions of a declaration; those of the segments of a step whose total it is."""
    formulas = dict(declared.variants).values()
    texts = [declared.definition or "", *formulas, *dict(declared.absent), *declared.written]
    texts += (declared.without or ())[:1]
    if declared.search:
        texts.append(declared.search.unknown)
    found = {word for text in texts for word in WORD.findall(text)}
    written = all(formulas) if formulas else declared.definition
    if declared.name in QUANTITIES and not declared.search and not written:
        found |= {known.name for group in OF_OPERATORS for known in GROUPS[group]}
        for step in STEPS:
            if declared.name.startswith(f"{step.name}_"):
                found |= set(WORD.findall(str(step.segments)))
    return frozenset(found)
