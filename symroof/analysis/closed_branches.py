"""The closed forms of an equation for readers: formulas in the names of the theory, in the order in which the equation mentions them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import sympy

from symroof.analysis.equation import Equation, domain, domain_formulas, solvable
from symroof.symbolic.closed_forms import Candidates, every_form, form_at, forms_at, holds
from symroof.symbolic.expressions import (
    Expr,
    is_relation,
    mentions,
    names,
    operator_of,
    relation,
    substitute,
    symbol,
)
from symroof.symbolic.reading import parse
from symroof.symbolic.roots import Form, NoClosedForm, fraction, negated, sign, tidied
from symroof.theory.quantities import QUANTITIES

MOST_VALUES = 8
"""Crossings of which a closed form is looked for."""
ROUNDING = 1e-9
"""Sides of a condition that differ by a smaller share are equal: at a crossing arms meet."""


@dataclass(frozen=True)
class Condition:
    """A condition of a closed form, and whether it holds; ``shown`` is the same in named coefficients, or in the times that it compares."""

    tree: Expr
    holds: bool | None
    shown: Expr


@dataclass(frozen=True)
class Branch:
    """One candidate: its formula, its conditions, and its value, which it has where it is a crossing here.

    Attributes:
        closed_form: the whole formula; None where there is none of readable size.
        shown: the same as people read it: where it is long, in coefficients.
        named: the formulas of those coefficients.
    """

    closed_form: Expr | None
    conditions: tuple[Condition, ...] = ()
    value: float | None = None
    shown: Expr | None = None
    named: tuple[tuple[str, Expr], ...] = ()

    @property
    def holds(self) -> bool:
        return self.value is not None


def forms_at_crossings(equation: Equation, values: tuple[float, ...]) -> Candidates:
    """The closed form of each crossing that was found."""
    branches, because = [], ""
    for value in values[:MOST_VALUES]:
        try:
            evaluate = equation.bound_case.case.evaluate
            form = form_at(equation.difference, equation.x, evaluate, value)
            branches.append(_branch(equation, form, value, value))
        except (NoClosedForm, ArithmeticError) as error:
            branches.append(Branch(None, value=value))
            because = because or str(error)
    branches += [Branch(None, value=value) for value in values[MOST_VALUES:]]
    return Candidates(tuple(branches), because=because)


def form_far_out(equation: Equation, far: float) -> Candidates:
    """The closed form that a crossing far out would have, with the condition that fails: of sides that never meet."""
    try:
        evaluate = equation.bound_case.case.evaluate
        forms = forms_at(equation.difference, equation.x, evaluate, far)
        placed = (_branch(equation, form, root if root > 0 else far) for form, root in forms)
        return Candidates(tuple(placed))
    except (NoClosedForm, ArithmeticError) as error:
        return Candidates(because=str(error))


def _branch(
    equation: Equation, form: Form, place: float | None = None, value: float | None = None
) -> Branch:
    """A form for readers, and whether its conditions hold with the unknown at a place."""
    case, unknown = equation.bound_case.case, equation.unknown
    moved = any(equation.x in given.free_symbols for given in form.conditions)
    times = equation.times_compared if moved else {}

    def condition(given: Any) -> Condition:
        whole, met = form.whole(given), None
        if place is not None:
            with suppress(ArithmeticError):
                met = holds(whole, case.evaluate, {unknown: place}, ROUNDING)
        shown = (times[side] if side in times else written(side) for side in given.args)
        tree = relation(operator_of(whole), *map(written, whole.args))
        return Condition(tree, met, relation(operator_of(given), *shown))

    conditions = list(map(condition, form.conditions))
    if place is not None and (end := domain_formulas(unknown)[1]):
        tree, (_, high) = relation("<=", symbol(unknown), parse(end)), domain(unknown, case)
        inside = high is None or place <= high * (1 + ROUNDING)
        conditions.append(Condition(tree, inside, tree))
    named = tuple((short.name, written(long)) for short, long in form.named)
    whole = written(form.whole(form.root))
    shown = written(form.root) if named else whole
    return Branch(whole, tuple(conditions), value, shown, named)


def forms_without_numbers(equation: Equation) -> Candidates:
    """The closed forms on every choice of arms.

    Raises:
        NoClosedForm: only numbers help.
    """
    case = equation.bound_case.case
    bounds = zip((">=", "<="), domain_formulas(equation.unknown), strict=True)
    within = [relation(sign, symbol(equation.unknown), parse(end)) for sign, end in bounds if end]
    # and that the quantities of the equation have values
    needed = {name for side in names(equation.relation) for name in case.theory.dependencies(side)}
    exists = (
        equation.opened(parse(condition))
        for name in sorted((needed - set(case.given)) & QUANTITIES.keys())
        for condition, _ in QUANTITIES[name].exists
    )
    conditions = [
        solvable(tree, equation.bound_case)
        for tree in (*dict.fromkeys(exists), *within)
        if is_relation(tree)
    ]
    found = every_form(equation.difference, equation.x, conditions)
    return replace(found, every=tuple(_branch(equation, form) for form in found.every))


def written(expr: Any) -> Expr:
    """The formula of a solved expression.

    Raises:
        NoClosedForm: it divides by zero, or is not real.
    """
    if expr.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I):
        raise NoClosedForm("it has no value")
    made = expr.func(*expr.args) if expr.is_Mul else expr  # a number alone goes into a sum
    loose = {each.name for each in made.free_symbols if each != symbol(each.name)}
    return substitute(made, {name: symbol(name) for name in loose}) if loose else made


NATURAL = ("context", "prompt", "batch", "output", "tp")
"""The symbols a condition is solved for: the first that it is linear in, down to the definitions of its names."""


def solved_condition(condition: Condition, equation: Equation) -> Expr | None:
    """A condition of a closed form, solved for the next natural symbol: a ridge batch exists below some context."""
    tree, unknown = condition.tree, equation.unknown
    if mentions(tree, unknown):
        return None
    for name in NATURAL:
        posed = Equation(tree, name, equation.bound_case, equation.missing)
        with suppress(NoClosedForm):
            solved = _as_bound(posed) if name != unknown and posed.moves else None
            if solved is not None:
                return solved
    return None


def _as_bound(posed: Equation) -> Expr | None:
    """A condition as a bound of the unknown, where it is linear in it."""
    over, under = fraction(posed.difference, posed.x)
    if set(over) != {0, 1} or set(under) != {0}:
        return None
    scaled, known = tidied(over, posed.x)
    if not known or not sign(under[0]) or set(scaled) != {0, 1}:
        return None
    operator, name = operator_of(posed.relation), symbol(posed.unknown)
    turned = (operator in (">", ">=")) == (sign(under[0]) < 0)
    slope, start = (negated(scaled[1]), negated(scaled[0])) if turned else (scaled[1], scaled[0])
    equal = "=" if operator.endswith("=") else ""
    if sign(slope) > 0:
        return relation(">" + equal, name, written(negated(start) / slope))
    return relation("<" + equal, name, written(start / negated(slope)))
