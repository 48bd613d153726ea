"""Other spellings of names and formulas: aliases, LaTeX letters (``H_kv``, ``b_w``, ``eta_c``), LaTeX itself."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise

from symroof.formula.latex_tokens import UPRIGHT, latex_tokens
from symroof.formula.parse import FormulaError, parse, tokens
from symroof.formula.parse_latex import parse_latex, sign_name
from symroof.formula.rewrite import rename
from symroof.formula.tree import DerivativeName, Expr, changed_inputs, names
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import ALIASES, INPUTS

KINDS = ("local", "global", "full", "window")
"""Layer kinds that a subscript may name: ``L_{local}`` is ``n_layers.local``."""

AMBIGUOUS = frozenset("kKMGTB")
"""After a number these may also mean a thousand, a million or a billion: ``4 k`` is not read as a product."""


@lru_cache(maxsize=1)
def letters() -> dict[str, str]:
    """The name that each LaTeX letter stands for; a letter never hides a name.

    >>> letters()["H_kv"], letters()["kappa"], letters()["C"], letters()["t_c_prefill"]
    ('n_kv_heads', 'kv_bytes_per_token', 'context', 'prefill_compute_time')
    """
    spelled = {sign_name(symbol.latex): name for name, symbol in {**QUANTITIES, **INPUTS}.items()}
    return {
        letter: name
        for letter, name in spelled.items()
        if letter not in INPUTS and letter not in QUANTITIES
    }


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

    >>> from symroof.formula.text import text
    >>> text(resolved(parse("2*L*H_kv*d_h*b_kv")))
    '2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element'
    """
    return rename(
        tree, {name: printed_name(name) for name in (*names(tree), *changed_inputs(tree))}
    )


@lru_cache(maxsize=1)
def known_names() -> frozenset[str]:
    """All accepted spellings of names."""
    return frozenset({*INPUTS, *QUANTITIES, *ALIASES, *letters()})


def read_formula(source: str, also: Collection[str] = ()) -> Expr:
    r"""A formula in either grammar, with names as written: LaTeX if it contains a command, a brace, or adjacent letters.

    ``also`` are additional names that the caller defines.

    >>> from symroof.formula.text import text
    >>> text(read_formula(r"\frac{2 P}{\eta_c F}")), text(read_formula("2 L H_kv d_h")), text(read_formula("2*params/80 GB"))
    ('2*P/(eta_c*F)', '2*L*H_kv*d_h', '2*params/(8e10 byte)')

    Raises:
        FormulaError: not valid in either; the error is that of the grammar it is written in.
    """
    known = known_names() | frozenset(also) if also else known_names()
    if re.search(r"[\\{$]", source):
        return parse_latex(source, known)
    try:
        return parse(source)
    except FormulaError:
        if _letters_side_by_side(source, known, letters().keys() | {"d_ff"} | set(also)):
            return parse_latex(source, known)
        raise


def _letters_side_by_side(source: str, known: frozenset[str], signs: Collection[str]) -> bool:
    """Whether every name is a letter that stands for a name, and none may be a unit prefix."""
    try:
        by_name, by_letter = tokens(source), latex_tokens(source, known)
    except FormulaError:
        return False
    thousands = any(
        before.kind == "number" and after.text in AMBIGUOUS for before, after in pairwise(by_name)
    )
    names = [token.text for token in by_letter if token.kind in ("letter", "text")]
    return bool(names) and not thousands and all(name in signs or name in UPRIGHT for name in names)
