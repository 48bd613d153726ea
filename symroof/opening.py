"""Definitions put in as far as an unknown reaches: closed forms are spoken in the names that do not move with it."""

from __future__ import annotations

from symroof.formula.evaluate import NoValue
from symroof.formula.tree import ZERO, At, Name, Num, Tree, inline, names, walk
from symroof.results import Answers
from symroof.theory.case import default_of

KEPT = {"mfu", "mbu"}
"""Efficiencies stay in a symbolic answer though they have a default: regime thresholds hold at any."""


def opened(tree: Tree, unknown: str, answers: Answers, symbolic: bool = False) -> Tree:
    """A formula with definitions put in as far as the unknown reaches; what does not move keeps its readable name."""
    case, moves = answers.case, answers.moves

    def moving(name: str, keys: frozenset[str]) -> bool:
        if name in keys:
            return True
        if (name, keys) not in moves:
            moves[name, keys] = False
            formula = case.stands_for(name)
            found = names(formula) + tuple(key for node in walk(formula) if isinstance(node, At) for key, _ in node.changes)
            moves[name, keys] = formula != Name(name) and any(moving(inner, keys) for inner in found)
        return moves[name, keys]

    def formula(name: str, changed: frozenset[str]) -> Tree:
        if name == unknown:
            return Name(name)
        if moving(name, changed | {unknown}):
            return case.stands_for(name)
        return Name(name) if symbolic and name in KEPT else _neutral(Name(name), answers)

    return inline(tree, formula)


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
    default = default_of(node.name)
    return Num(default.value) if default is not None and default.value in (0, 1) else node
