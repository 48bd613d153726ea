"""A solution as one SymPy expression: the form that holds in a case, or every candidate under conditions free of the unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from symroof.analysis.expressions import in_sympy
from symroof.cases.case_results import Answers
from symroof.formula import build, quotients
from symroof.formula.rewrite import rebuild, substitute
from symroof.formula.tree import ZERO, Call, Compare, Name, Tree, mentions, names
from symroof.solver.closed_forms import plainly_positive
from symroof.solver.rational import NotRational, Polynomial, rational, shared_factors_out
from symroof.solver.result import Branch
from symroof.theory.symbols import INPUTS, base_name


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
    Piecewise((c/a, -b + c >= 0))
    """
    import sympy

    pieces = []
    for branch in branches:
        assert branch.closed_form is not None, "answers without numbers are closed"
        root = _Root.of(branch, unknown)
        held = (*_exists(branch.closed_form, answers), *(root.put_into(condition.tree) for condition in branch.conditions))
        pieces.append((expression(branch.closed_form, answers), sympy.And(*relations(held, answers))))
    pieces = [(form, condition) for form, condition in pieces if condition != False]  # noqa: E712
    if not pieces:
        return sympy.nan
    if len(pieces) == 1 and pieces[0][1] == True:  # noqa: E712
        return pieces[0][0]
    return sympy.Piecewise(*pieces, evaluate=False)


def _exists(form: Tree, answers: Answers) -> Iterator[Compare]:
    """That inputs which may be 0 do not make a root 0, or divide by it: the shape of a root is looked at as if all were positive."""
    for factor in chain(*quotients.above_and_below(form)):
        whole = answers.case.expanded(factor, complete=False)
        nothing = {name: ZERO for name in names(whole) if base_name(name) in INPUTS and INPUTS[base_name(name)].may_vanish}
        if plainly_positive(factor) and substitute(whole, dict(nothing)) == ZERO:
            yield Compare(">", factor, ZERO)


@dataclass(frozen=True)
class _Root:
    """A closed form as a quotient, to be put into conditions for the unknown. SymPy compares neither infinite nor complex numbers, and does not stop
    at the first condition that fails: so conditions are multiplied by the denominator, and have no roots and logarithms of negative numbers.

    ``positive`` is whether the denominator is, by its shape or by a condition of the candidate.
    """

    unknown: str
    over: Tree
    under: Tree
    positive: bool

    @classmethod
    def of(cls, branch: Branch, unknown: str) -> _Root:
        over, under = _quotient(branch.closed_form or ZERO)
        return cls(unknown, over, under, plainly_positive(under) or any(c.tree == Compare(">", under, ZERO) for c in branch.conditions))

    def put_into(self, condition: Compare) -> Tree:
        """A condition with the form in the place of the unknown."""
        return _real(self._without_bars(condition))

    def _without_bars(self, condition: Compare) -> Compare:
        operator, left, right = condition.operator, condition.left, condition.right
        if not mentions(condition, self.unknown):
            over, under = _quotient(left)
            return Compare(operator, over if plainly_positive(under) else build.mul(over, under), ZERO) if right == ZERO else condition
        with suppress(NotRational):
            above, below = rational(build.sub(left, right), self.unknown)
            if all(map(plainly_positive, below.values())):
                return Compare(operator, shared_factors_out({0: self._value(above)})[0], ZERO)
        return Compare(operator, *(substitute(side, {self.unknown: build.div(self.over, self.under)}) for side in (left, right)))

    def _value(self, p: Polynomial) -> Tree:
        """A polynomial at the form, times a power of the denominator and over one of the form: both are positive."""
        least = min(p)
        degree = max(p) - least
        degree += 0 if self.positive else degree % 2
        powers = {k: (build.power(self.over, build.number(k - least)), build.power(self.under, build.number(degree - k + least))) for k in p}
        return build.add(ZERO, *(build.mul(c, *powers[k]) for k, c in p.items()))


def _quotient(tree: Tree) -> tuple[Tree, Tree]:
    """Numerator and denominator."""
    over, under = quotients.above_and_below(tree)
    return build.mul(*over), build.mul(*under)


def _real(tree: Tree) -> Tree:
    match tree:
        case Call("sqrt", (inside,)):
            return build.call("sqrt", build.call("max", _real(inside), ZERO))
        case Call("log2", (inside,)):  # of the size of what it is of
            return build.call("log2", build.call("sqrt", build.power(_real(inside), build.number(2))))
    return rebuild(tree, _real)


def definitions(formulas: Iterable[Tree], unknown: str, answers: Answers, symbolic: bool) -> dict[Any, Any]:
    """Symbol -> expression over inputs, of every derived quantity in some formulas."""
    from symroof.symbols import symbol

    case = answers.case
    named = dict.fromkeys(name for tree in formulas for name in names(tree) if name != unknown and case.theory.definition(name) is not None)
    written = {name: case.expanded(Name(name), complete=False if symbolic else None) for name in named}
    return {symbol(name): in_sympy(tree, answers) for name, tree in written.items() if tree != Name(name)}
