"""Other spellings of names: aliases, and the letters that LaTeX prints (``H_kv``, ``b_w``, ``eta_c``)."""

import re
from functools import lru_cache

from symroof.symbolic.expressions import DerivativeName, Expr, changed_inputs, names, rename
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import ALIASES, INPUTS

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
    return rename(
        tree, {name: printed_name(name) for name in (*names(tree), *changed_inputs(tree))}
    )


@lru_cache(maxsize=1)
def known_names() -> frozenset[str]:
    """All accepted spellings of names."""
    return frozenset({*INPUTS, *QUANTITIES, *ALIASES, *letters()})
