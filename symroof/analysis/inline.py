"""Definitions that depend on an unknown are inlined, everything else stays a named coefficient; and what no formula gives, but a search."""

from sympy import Symbol

from symroof.cases.bound_case import BoundCase
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    ONE,
    ZERO,
    At,
    Expr,
    Min,
    at,
    changed_inputs,
    inline,
    inlined_size,
    names,
    rebuild,
    symbol,
)
from symroof.symbolic.expressions import relation as compared
from symroof.symbolic.polynomials import NoClosedForm
from symroof.symbolic.reading import parse
from symroof.theory.case import MOST_NODES
from symroof.theory.declarations import neutral_default

EFFICIENCIES = frozenset({"mfu", "mbu"})
"""They stay in a symbolic answer though they have a default: regime thresholds hold at any efficiency."""

TOO_LONG = "its closed form is too long to be written out"


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


def implicit(name: str, bound_case: BoundCase) -> Expr | None:
    """The relation in the quantity's own name: the fixed point it is the least of, or what the largest whole number meets; None for any other.

    >>> from symroof.analysis.study import Study
    >>> from symroof.symbolic.printing import text
    >>> text(implicit("disaggregated_batch", Study().first))
    'disaggregated_batch = min(slot_steps*loaded_decode_time(batch = max(disaggregated_batch, 1))*prefill_request_rate, batch)'
    >>> implicit("itl", Study().first) is None
    True
    """
    search = bound_case.case.search(name)
    if search is None:
        return None
    high, there = parse(search.high), _there(parse(search.body), search.unknown, name, bound_case)
    return (
        compared("=", there, ONE)
        if search.kind == "largest"
        else compared("=", symbol(name), Min(there, high))
    )


def _there(tree: Expr, unknown: str, name: str, bound_case: BoundCase) -> Expr:
    """The body where the unknown is the searched quantity, also in quantities that other changes move."""
    if isinstance(tree, (Symbol, At)):
        if tree == symbol(unknown):
            return symbol(name)
        changes = tree.changes if isinstance(tree, At) else ()
        made = tuple((key, _there(value, unknown, name, bound_case)) for key, value in changes)
        moved = unknown in bound_case.case.dependencies(tree.name) and unknown not in dict(made)
        changes = (*made, *([(unknown, symbol(name))] if moved else []))
        return at(tree.name, changes) if changes else tree
    return rebuild(tree, lambda part: _there(part, unknown, name, bound_case))


def searched_quantity(tree: Expr, unknown: str, bound_case: BoundCase) -> str:
    """A quantity of an equation or a formula that is searched at each value of the unknown, so that no formula of the unknown has it; empty without one."""
    case = bound_case.case
    dependencies = sorted(frozenset().union(*map(case.theory.dependencies, names(tree))))
    return next(
        (
            name
            for name in dependencies
            if unknown in case.dependencies(name) - {name} and case.search(name, {unknown})
        ),
        "",
    )


def because_searched(searched: str, unknown: str) -> str:
    """The reason where a quantity is searched."""
    return f"{searched} is searched for each {unknown}"
