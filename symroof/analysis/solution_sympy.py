"""A solution as one SymPy expression: the form that holds in a case, or every candidate under conditions free of the unknown."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from symroof.analysis.expressions import in_sympy
from symroof.cases.case_results import Answers
from symroof.formula import build, quotients
from symroof.formula.rewrite import rebuild, substitute
from symroof.formula.tree import ZERO, Call, Compare, Name, Tree, names, walk
from symroof.solver.closed_forms import plainly_positive
from symroof.solver.rational import NotRational, rational
from symroof.solver.result import Branch
from symroof.theory.symbols import INPUTS


def expression(form: Tree, answers: Answers) -> Any:
    """A formula in SymPy. Where degrees are free in the case, what it names only then is written out."""
    if answers.case.free:
        own = answers.binding.case().theory
        form = substitute(form, {name: answers.case.expanded(Name(name), complete=False) for name in names(form) if own.definition(name) is None})
    return in_sympy(form, answers)


def relations(conditions: Iterable[Tree], answers: Answers) -> tuple[Any, ...]:
    """Conditions as SymPy relations; those that declared signs decide are left out."""
    made = (expression(condition, answers) for condition in conditions)
    return tuple(relation for relation in made if relation != True)  # noqa: E712


def piecewise(branches: Iterable[Branch], unknown: str, answers: Answers) -> Any:
    """Every candidate, each where its conditions hold at it; a single one without conditions is the expression itself.

    >>> from symroof.analysis.study import Study
    >>> answers = Study().first
    >>> from symroof.formula.parse import parse
    >>> from symroof.solver.symbolic import symbolic
    >>> piecewise(symbolic(parse("max(a*x, b) - c"), "x").branches, "x", answers)
    Piecewise((c/a, c >= b))
    """
    import sympy

    pieces = []
    for branch in branches:
        form = branch.closed_form
        assert form is not None, "answers without numbers are closed"
        held = (*_exists(form), *(_at(condition.tree, unknown, form) for condition in branch.conditions))
        pieces.append((expression(form, answers), sympy.And(*relations(held, answers))))
    if len(pieces) == 1 and pieces[0][1] == True:  # noqa: E712
        return pieces[0][0]
    return sympy.Piecewise(*pieces, evaluate=False)


def _exists(form: Tree) -> Iterator[Compare]:
    """That inputs which may be 0 do not make a root 0, or divide by it: the shape of a root is looked at as if all were positive."""
    for factor in chain(*quotients.above_and_below(form)):
        if plainly_positive(factor) and all(name in INPUTS for name in names(factor)):
            yield Compare(">", factor, ZERO)


def _at(condition: Compare, unknown: str, form: Tree) -> Tree:
    """A condition where the unknown is a closed form, so written that SymPy, which compares neither infinite nor complex numbers, can decide it.

    Powers of the unknown are collected, so that no side is divided by it and a long form stands in few places. A root that does not exist
    is taken as 0: that it does is a condition of its own.
    """
    with suppress(NotRational):
        over, under = rational(build.sub(condition.left, condition.right), unknown)
        several = sum(node == Name(unknown) for node in walk(condition)) > 1
        if (several or set(under) != {0}) and all(map(plainly_positive, under.values())):
            collected = build.add(*(build.mul(c, build.power(Name(unknown), build.number(k))) for k, c in over.items()))
            condition = Compare(condition.operator, collected, ZERO)
    return _real(substitute(condition, {unknown: form}))


def _real(tree: Tree) -> Tree:
    if isinstance(tree, Call) and tree.function == "sqrt":
        return build.call("sqrt", build.call("max", _real(tree.args[0]), ZERO))
    return rebuild(tree, _real)


def definitions(formulas: Iterable[Tree], unknown: str, answers: Answers, symbolic: bool) -> dict[Any, Any]:
    """Symbol -> expression over inputs, of every derived quantity in some formulas."""
    from symroof.symbols import symbol

    case = answers.case
    named = dict.fromkeys(name for tree in formulas for name in names(tree) if name != unknown and case.theory.definition(name) is not None)
    written = {name: case.expanded(Name(name), complete=False if symbolic else None) for name in named}
    return {symbol(name): in_sympy(tree, answers) for name, tree in written.items() if tree != Name(name)}
