"""Inline definitions that depend on an unknown; everything else stays a named coefficient."""

from symroof.cases.bound_case import BoundCase
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    changed_inputs,
    inline,
    inlined_size,
    names,
    size,
    substitute,
    symbol,
)
from symroof.symbolic.polynomials import NoClosedForm
from symroof.symbolic.printing import text
from symroof.theory.case import MOST_NODES
from symroof.theory.declarations import neutral_default

EFFICIENCIES = frozenset({"mfu", "mbu"})
"""They stay in a symbolic answer though they have a default: regime thresholds hold at any efficiency."""

KEPT_NAMES = frozenset({"params", "active_params", "context", "batch"})
"""The names that formulas for readers keep, whatever their values here."""

TOO_LONG = "its closed form is too long to be written out"
LONGEST_SHORTENED = 300
"""The most nodes of a formula that a better choice of names may make readable."""


def inlined(
    tree: Expr,
    unknown: str,
    bound_case: BoundCase,
    fixed: frozenset[str] = frozenset(),
    symbolic: bool = False,
) -> Expr:
    """Inline definitions that depend on the unknown; leave everything else as named coefficients.

    ``fixed`` names stay though they have a neutral default. ``symbolic`` is for answers without numbers: no missing input counts as one,
    every input stays a name, and a quantity goes only where its formula is 0 whatever its inputs.

    Raises:
        NoClosedForm: it would be longer than a person reads.
    """
    fixed = fixed | EFFICIENCIES if symbolic else fixed
    known, key = bound_case.memo.inlined, (tree, unknown, fixed, symbolic)
    if key in known:
        return known[key]
    case, moves, kept = bound_case.case, bound_case.memo.moves, {*fixed, *names(tree)}

    def moving(name: str, keys: frozenset[str]) -> bool:
        place = (name, keys, symbolic)
        if name not in keys and place not in moves:
            moves[place] = False  # to a circular definition it stays still
            inner = case.formula_or_name(name, complete=not symbolic, changed=keys)
            if inner != symbol(name):
                within = names(inner) + changed_inputs(inner)
                moves[place] = any(moving(each, keys) for each in within)
        return name in keys or moves[place]

    def formula(name: str, changed: frozenset[str]) -> Expr:
        keys = changed | {unknown}
        if name == unknown or (name in kept and not moving(name, keys)):
            return symbol(name)
        if moving(name, keys):
            return case.formula_or_name(name, complete=not symbolic, changed=keys)
        if not symbolic:
            return neutral(symbol(name), bound_case)
        # nothing is known of an answer without numbers but formulas that are 0 whatever the inputs
        return ZERO if case.expanded(symbol(name), complete=False) == ZERO else symbol(name)

    if inlined_size(tree, formula) > MOST_NODES:
        raise NoClosedForm(TOO_LONG)
    known[key] = inline(tree, formula)
    return known[key]


def readable_form(name: str, unknown: str, bound_case: BoundCase) -> Expr:
    """A quantity inlined for readers: it keeps :data:`KEPT_NAMES`, and without numbers the efficiencies too.

    >>> from symroof.analysis.study import Study
    >>> text(readable_form("kv_cache_bytes", "context", Study().first))
    'batch*kv_bytes_per_token*context'
    """
    kept = KEPT_NAMES if bound_case.get(name) else KEPT_NAMES | EFFICIENCIES
    return inlined(symbol(name), unknown, bound_case, kept)


def neutral(node: Expr, bound_case: BoundCase) -> Expr:
    """A defaulted input of 0 or 1, and a quantity that is 0 here, as that number: closed forms are not cluttered with
    defaults that have no effect."""
    if node.name in bound_case.case.given or node.name in bound_case.case.numbers:
        return node
    if bound_case.case.theory.definition(node.name) is not None:
        try:
            return ZERO if bound_case.case.value(node.name) == 0 else node
        except NoValue:
            return node
    neutral = neutral_default(node.name)
    return node if neutral is None else neutral


def shortest(tree: Expr, bound_case: BoundCase) -> Expr:
    """The formula with definitions inlined where that makes it shorter: ``gemm_flops/(gemm_k*gemm_n*b)``
    is ``2*gemm_m/b``."""
    if size(tree) > LONGEST_SHORTENED:
        return tree
    case, length = bound_case.case, len(text(tree))
    for name in names(tree):
        if name in KEPT_NAMES or name in case.given or case.theory.definition(name) is None:
            continue
        put = substitute(tree, {name: case.formula_or_name(name)})
        if len(text(put)) < length:
            return shortest(put, bound_case)
    return tree
