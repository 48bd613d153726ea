"""Definitions put in as far as an unknown reaches: closed forms are spoken in the names that do not move with it."""

from __future__ import annotations

from collections.abc import Callable

from symroof.cases.case_results import Answers
from symroof.formula.evaluate import NoValue
from symroof.formula.rewrite import inline, substitute
from symroof.formula.text import text
from symroof.formula.tree import ZERO, At, Name, Tree, names, walk
from symroof.theory.case import neutral_default

KEPT = frozenset({"mfu", "mbu"})
"""Efficiencies stay in a symbolic answer though they have a default: regime thresholds hold at any."""

SPOKEN = frozenset({"params", "active_params", "context", "batch"})
"""What people give and speak in: a formula that explains keeps these, whatever they are here."""

Stop = Callable[[str], Tree | None]
"""What a name that moves is left as, rather than opened; None where it is opened."""


def opened(tree: Tree, unknown: str, answers: Answers, kept: frozenset[str] = frozenset(), stop: Stop | None = None, symbolic: bool = False) -> Tree:
    """A formula with definitions put in as far as the unknown reaches; what does not move keeps its readable name.

    ``kept`` stay names though they have a default that would not matter; at ``stop`` the opening ends. ``symbolic`` is
    for answers without numbers: efficiencies and what the formula itself names stay, and no missing input counts as one.
    """
    asked = (tree, unknown, kept, symbolic)
    if stop is not None:
        return _opened(tree, unknown, answers, kept, stop, symbolic)
    if asked not in answers.opened:
        answers.opened[asked] = _opened(tree, unknown, answers, kept, stop, symbolic)
    return answers.opened[asked]


def _opened(tree: Tree, unknown: str, answers: Answers, kept: frozenset[str], stop: Stop | None, symbolic: bool) -> Tree:
    kept = kept | KEPT | set(names(tree)) if symbolic else kept | set(names(tree))
    case, moves, spoken = answers.case, answers.moves, answers.spoken

    def stands(name: str, keys: frozenset[str]) -> Tree:
        return case.stands_for(name, complete=not symbolic, changed=keys)

    def moving(name: str, keys: frozenset[str]) -> bool:
        if name in keys:
            return True
        known = (name, keys, symbolic)
        if known not in moves:
            moves[known] = False
            moves[known] = any(moving(inner, keys) for inner in speaks_of(name, keys))
        return moves[known]

    def speaks_of(name: str, keys: frozenset[str]) -> tuple[str, ...]:
        known = (name, keys, symbolic)
        if known not in spoken:
            formula = stands(name, keys)
            changed = tuple(key for node in walk(formula) if isinstance(node, At) for key, _ in node.changes)
            spoken[known] = () if formula == Name(name) else names(formula) + changed
        return spoken[known]

    def formula(name: str, changed: frozenset[str]) -> Tree:
        if name == unknown:
            return Name(name)
        keys = changed | {unknown}
        if moving(name, keys):
            return (stop(name) if stop and not changed else None) or stands(name, keys)
        return Name(name) if name in kept else _neutral(Name(name), answers)

    return inline(tree, formula)


def explained(name: str, unknown: str, answers: Answers, stop: Stop | None = None) -> Tree:
    """A quantity opened for people: in what they speak in, and without numbers in the efficiencies too.

    >>> from symroof.analysis.study import Study
    >>> text(explained("kv_cache_bytes", "context", Study().first))
    'kv_bytes_per_token*batch*context'
    """
    return opened(Name(name), unknown, answers, SPOKEN if answers.get(name) else SPOKEN | KEPT, stop)


def _neutral(node: Name, answers: Answers) -> Tree:
    """A defaulted input of 0 or 1, and what comes to 0 here, as that number: closed forms are not cluttered with what
    nobody chose and what does not matter."""
    if node.name in answers.case.given or node.name in answers.case.numbers:
        return node
    if answers.case.theory.definition(node.name) is not None:
        try:
            return ZERO if answers.case.value(node.name) == 0 else node
        except NoValue:
            return node
    return neutral_default(node.name) or node


def written_out(tree: Tree, answers: Answers) -> Tree:
    """The formula over inputs and the quantities people speak in."""
    case = answers.case

    def formula(name: str, _: frozenset[str]) -> Tree:
        if name in SPOKEN | KEPT:
            return Name(name)
        opens = case.theory.definition(name) is not None and name not in case.given
        return case.stands_for(name) if opens else _neutral(Name(name), answers)

    return inline(tree, formula)


def shortest(tree: Tree, answers: Answers) -> Tree:
    """The formula with definitions put in for quantities where that makes it shorter: ``gemm_flops/(gemm_k*gemm_n*b)``
    is ``2*gemm_m/b``."""
    case = answers.case
    for name in names(tree):
        if name in SPOKEN or name in case.given or case.theory.definition(name) is None:
            continue
        put = substitute(tree, {name: case.stands_for(name)})
        if len(text(put)) < len(text(tree)):
            return shortest(put, answers)
    return tree
