"""Inline definitions that depend on an unknown; everything else stays a named coefficient."""

from collections.abc import Callable

from symroof.cases.case_results import Answers
from symroof.formula.evaluate import NoValue
from symroof.formula.rewrite import inline, substitute
from symroof.formula.text import text
from symroof.formula.tree import ZERO, Name, Tree, changed_inputs, names
from symroof.theory.declarations import neutral_default

EFFICIENCIES = frozenset({"mfu", "mbu"})
"""They stay in a symbolic answer though they have a default: regime thresholds hold at any efficiency."""

SPOKEN = frozenset({"params", "active_params", "context", "batch"})
"""The names that formulas for readers keep, whatever their values here."""

Stop = Callable[[str], Tree | None]
"""The formula that a moving name is replaced by instead of its definition; None where its definition is inlined."""


def opened(
    tree: Tree,
    unknown: str,
    answers: Answers,
    fixed: frozenset[str] = frozenset(),
    stop: Stop | None = None,
    symbolic: bool = False,
    ranged: frozenset[str] = frozenset(),
    put_in: bool | None = None,
) -> Tree:
    """Inline definitions that depend on the unknown; leave everything else as named coefficients.

    ``fixed`` names stay though they have a neutral default; ``stop`` may replace a name before its definition is inlined.
    ``symbolic`` is for answers without numbers: no missing input counts as one. Unless defaults are ``put_in`` (as they are where there are numbers),
    every input stays a name, and a quantity goes only where its formula is 0 whatever its inputs.
    The result holds whatever the values of ``ranged`` names: nothing is decided by them.
    """
    put_in = not symbolic if put_in is None else put_in
    fixed = fixed | EFFICIENCIES if symbolic else fixed
    key = (tree, unknown, fixed, symbolic, ranged, put_in)
    if stop is not None:
        return _opened(tree, unknown, answers, fixed, stop, symbolic, ranged, put_in)
    if key not in answers.opened:
        answers.opened[key] = _opened(tree, unknown, answers, fixed, stop, symbolic, ranged, put_in)
    return answers.opened[key]


def _opened(tree: Tree, unknown: str, answers: Answers, fixed: frozenset[str], stop: Stop | None, symbolic: bool, ranged: frozenset[str], put_in: bool) -> Tree:
    fixed = fixed | set(names(tree))
    case, moves, spoken = answers.case, answers.moves, answers.spoken

    def stands(name: str, keys: frozenset[str]) -> Tree:
        return case.stands_for(name, complete=not symbolic, changed=keys | ranged)

    def moving(name: str, keys: frozenset[str]) -> bool:
        if name in keys:
            return True
        known = (name, keys, symbolic, ranged)
        if known not in moves:
            moves[known] = False
            moves[known] = any(moving(inner, keys) for inner in speaks_of(name, keys))
        return moves[known]

    def speaks_of(name: str, keys: frozenset[str]) -> tuple[str, ...]:
        known = (name, keys, symbolic, ranged)
        if known not in spoken:
            formula = stands(name, keys)
            spoken[known] = () if formula == Name(name) else names(formula) + changed_inputs(formula)
        return spoken[known]

    def formula(name: str, changed: frozenset[str]) -> Tree:
        if name == unknown:
            return Name(name)
        keys = changed | {unknown}
        if moving(name, keys):
            return (stop(name) if stop and not changed else None) or stands(name, keys)
        still = name in fixed or not ranged.isdisjoint(case.theory.ancestry(name))
        return Name(name) if still else _neutral(Name(name), answers) if put_in else _not_zero(name, answers)

    return inline(tree, formula)


def _not_zero(name: str, answers: Answers) -> Tree:
    """The name, or 0 where that is its formula whatever the inputs: nothing is known of an answer without numbers but its formulas."""
    return ZERO if answers.case.expanded(Name(name), complete=False) == ZERO else Name(name)


def explained(name: str, unknown: str, answers: Answers, stop: Stop | None = None) -> Tree:
    """A quantity inlined for readers: it keeps :data:`SPOKEN`, and without numbers the efficiencies too.

    >>> from symroof.analysis.study import Study
    >>> text(explained("kv_cache_bytes", "context", Study().first))
    'kv_bytes_per_token*batch*context'
    """
    return opened(Name(name), unknown, answers, SPOKEN if answers.get(name) else SPOKEN | EFFICIENCIES, stop)


def _neutral(node: Name, answers: Answers) -> Tree:
    """A defaulted input of 0 or 1, and a quantity that is 0 here, as that number: closed forms are not cluttered with
    defaults that have no effect."""
    if node.name in answers.case.given or node.name in answers.case.numbers:
        return node
    if answers.case.theory.definition(node.name) is not None:
        try:
            return ZERO if answers.case.value(node.name) == 0 else node
        except NoValue:
            return node
    return neutral_default(node.name) or node


def written_out(tree: Tree, answers: Answers) -> Tree:
    """The formula over inputs and :data:`SPOKEN`."""
    case = answers.case

    def formula(name: str, _: frozenset[str]) -> Tree:
        if name in SPOKEN | EFFICIENCIES:
            return Name(name)
        opens = case.theory.definition(name) is not None and name not in case.given
        return case.stands_for(name) if opens else _neutral(Name(name), answers)

    return inline(tree, formula)


def shortest(tree: Tree, answers: Answers) -> Tree:
    """The formula with definitions inlined where that makes it shorter: ``gemm_flops/(gemm_k*gemm_n*b)``
    is ``2*gemm_m/b``."""
    case, length = answers.case, len(text(tree))
    for name in names(tree):
        if name in SPOKEN or name in case.given or case.theory.definition(name) is None:
            continue
        put = substitute(tree, {name: case.stands_for(name)})
        if len(text(put)) < length:
            return shortest(put, answers)
    return tree
