"""The closed forms of an equation for readers: formulas in the names of the theory, in the order in which the equation mentions them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

from symroof.analysis.inline import TOO_LONG, because_searched, inlined, searched_quantity
from symroof.cases.bound_case import BoundCase
from symroof.symbolic.arms import holds
from symroof.symbolic.closed_forms import candidates, every_form, form_at
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    at,
    is_relation,
    mentions,
    names,
    operator_of,
    parts,
    relation,
    size,
    substitute,
    sums,
    symbol,
)
from symroof.symbolic.no_value import NoValue
from symroof.symbolic.polynomials import NoClosedForm, fraction, negated, sign, tidied
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.symbolic.roots import Form
from symroof.symbols import symbol as public_symbol
from symroof.theory.case import MOST_NODES, Case
from symroof.theory.quantities import QUANTITIES
from symroof.theory.steps import STEPS
from symroof.theory.symbols import INPUTS, base_name

CLOSED, NUMERIC = "closed_form", "numeric"
KINDS = ("compute", "memory")
"""The times of which a step takes the longer."""
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


@dataclass(frozen=True)
class Branches:
    """The candidates of an equation.

    Attributes:
        because: why a crossing has no closed form, or the equation none.
        more: whether there are further choices of arms, or powers that no root undoes.
        verdict: of an equation without numbers, what can be said of it.
        same: where the sides meet at no value of the unknown, unless at every one: what holds then.
    """

    every: tuple[Branch, ...] = ()
    because: str = ""
    more: bool = False
    verdict: str = ""
    same: tuple[Expr, ...] = ()

    @property
    def method(self) -> str:
        open_ = self.because and any(b.holds and b.closed_form is None for b in self.every)
        return NUMERIC if open_ else CLOSED


@dataclass
class EquationForms:
    """An equation as far as an unknown moves its definitions, and its closed forms."""

    relation: Expr
    unknown: str
    bound_case: BoundCase
    kept: frozenset[str] = frozenset()
    symbolic: bool = False

    def opened(self, tree: Expr) -> Expr:
        """A formula with the definitions that the unknown moves written out."""
        return inlined(tree, self.unknown, self.bound_case, self.kept, self.symbolic)

    @cached_property
    def sides(self) -> tuple[Expr, Expr]:
        return self.opened(self.relation.lhs), self.opened(self.relation.rhs)

    @cached_property
    def x(self) -> Any:
        return solvable(symbol(self.unknown), self.bound_case)

    @cached_property
    def difference(self) -> Any:
        """Left side less right side.

        Raises:
            NoClosedForm: a quantity in it is searched, or it is longer than a person reads.
        """
        if searched := searched_quantity(self.relation, self.unknown, self.bound_case):
            raise NoClosedForm(because_searched(searched, self.unknown))
        if sum(map(size, self.sides)) > MOST_NODES:
            raise NoClosedForm(TOO_LONG)
        left, right = (solvable(self._added_up(side), self.bound_case) for side in self.sides)
        return left - right

    def _added_up(self, tree: Expr) -> Expr:
        """A side with each sum over powers of the unknown as its terms, where they are few enough for a quadratic."""
        case, made = self.bound_case.case, dict[Expr, Expr]()
        for node in sums(tree):
            ends, x = {*names(node.first), *names(node.last)}, self.unknown
            powers = (p for p in parts(node.body) if p.is_Pow and mentions(p.base, x))
            if x in ends or not any(mentions(p.exp, node.index) for p in powers):
                continue
            known = not self.symbolic or ends <= {*case.given}
            first, last = map(case.evaluate, (node.first, node.last)) if known else (0, math.inf)
            if last - first not in (0, 1, 2):
                raise NoClosedForm(f"the unknown is the base of a sum up to {text(node.last)}")
            steps = (sympy.Integer(int(first) + k) for k in range(int(last - first) + 1))
            made[node] = sympy.Add(*(substitute(node.body, {node.index: k}) for k in steps))
        return tree.xreplace(made)

    # ---------------------------------------------------------------------------------------------------- with numbers

    def at_crossings(self, values: tuple[float, ...]) -> Branches:
        """The closed form of each crossing that was found."""
        branches, because = [], ""
        for value in values[:MOST_VALUES]:
            try:
                form = form_at(self.difference, self.x, self.bound_case.case.evaluate, value)
                branches.append(self._branch(form, value, value))
            except (NoClosedForm, ArithmeticError) as error:
                branches.append(Branch(None, value=value))
                because = because or str(error)
        branches += [Branch(None, value=value) for value in values[MOST_VALUES:]]
        return Branches(tuple(branches), because)

    def _placed(self, place: float) -> Iterator[tuple[Form, float]]:
        """The closed forms on the arms that win at a place, each with where it puts the crossing: the place itself where that is nowhere."""
        evaluate = self.bound_case.case.evaluate
        for form in candidates(self.difference, self.x, evaluate, place):
            try:
                yield form, float(evaluate(form.whole(form.root)))
            except ArithmeticError:
                yield form, place

    def before(self, value: float) -> float:
        """The root of a closed form between a whole number and the one before it; the number itself where there is none."""
        try:
            roots = [root for _, root in self._placed(value)]
        except (NoClosedForm, ArithmeticError):
            return value
        return next((root for root in roots if value - 1 < root <= value), value)

    def candidate(self, far: float) -> Branches:
        """The closed form that a crossing far out would have, with the condition that fails: of sides that never meet."""
        try:
            placed = [(form, root if root > 0 else far) for form, root in self._placed(far)]
            return Branches(tuple(self._branch(form, None, place) for form, place in placed))
        except (NoClosedForm, ArithmeticError) as error:
            return Branches((), str(error))

    def _branch(self, form: Form, value: float | None, place: float) -> Branch:
        end = domain_formulas(self.unknown)[1]
        _, high = domain(self.unknown, self.bound_case.case)
        conditions = [self._condition(form, each, place) for each in (*form.exists, *form.arms)]
        if end:
            tree = relation("<=", symbol(self.unknown), parse(end))
            inside = high is None or place <= high * (1 + ROUNDING)
            conditions.append(Condition(tree, inside, tree))
        return self._written(form, tuple(conditions), value)

    def _condition(self, form: Form, given: Any, place: float | None) -> Condition:
        """A condition as a formula, and whether it holds with the unknown at a place."""
        whole, met = form.whole(given), None
        if place is not None:
            with suppress(ArithmeticError):
                at = {self.unknown: place}
                met = holds(whole, self.bound_case.case.evaluate, at, ROUNDING)
        left, right = (
            self.times_compared[side] if side in self.times_compared else written(side)
            for side in given.args
        )
        tree = relation(operator_of(whole), *map(written, whole.args))
        return Condition(tree, met, relation(operator_of(given), left, right))

    # ------------------------------------------------------------------------------------------------- without numbers

    def answer(self) -> Branches:
        """The closed forms on every choice of arms.

        Raises:
            NoClosedForm: only numbers help.
        """
        bounds = zip((">=", "<="), domain_formulas(self.unknown), strict=True)
        within = [
            relation(operator, symbol(self.unknown), parse(end)) for operator, end in bounds if end
        ]
        required = map(self.opened, existence_conditions(self.relation, self.bound_case.case))
        conditions = [
            solvable(tree, self.bound_case)
            for tree in (*dict.fromkeys(required), *within)
            if is_relation(tree)
        ]
        found = every_form(self.difference, self.x, conditions)
        branches = [
            self._written(
                form, tuple(self._condition(form, c, None) for c in (*form.exists, *form.arms))
            )
            for form in found.forms
        ]
        open_ = found.verdict == "conditional" and not (branches or found.more)
        same = self._same_everywhere() if open_ else ()
        return Branches(tuple(branches), "", found.more, found.verdict, same)

    def _same_everywhere(self) -> tuple[Expr, ...]:
        """What is zero where the sides are the same at every value of the unknown: its coefficients, without factors that are not zero."""
        try:
            coefficients = list(tidied(fraction(self.difference, self.x)[0], self.x)[0].values())
        except NoClosedForm:
            coefficients = [self.difference]
        found = list[Expr]()
        for coefficient in map(sympy.gcd_terms, coefficients):
            factors = [f for f in sympy.Mul.make_args(coefficient) if not sign(f)]
            zero = sympy.Mul(*(f.base if f.is_Pow and f.base.is_Add else f for f in factors))
            if zero.has(self.x):
                return ()
            found.append(relation("=", written(zero), ZERO))
        return tuple(found)

    # ------------------------------------------------------------------------------------------------ back to formulas

    def _written(
        self, form: Form, conditions: tuple[Condition, ...], value: float | None = None
    ) -> Branch:
        named = tuple((short.name, written(long)) for short, long in form.named)
        whole = written(form.whole(form.root))
        return Branch(whole, conditions, value, written(form.root) if named else whole, named)

    @cached_property
    def times_compared(self) -> Mapping[Any, Expr]:
        """The times that a roofline compares, by what they are as far as the unknown reaches: now, at the first and the last step."""
        ends = (parse("prompt + 1"), parse("prompt + response_steps"))
        theory, times = self.bound_case.case.theory, dict[Any, Expr]()
        parts = [""]
        if theory.assumptions["roofline"] == "per_operator":
            parts += [f".{part}" for step in STEPS for part in theory.parts(step.name)]
        for part in dict.fromkeys(parts):
            for name in (f"{step.name}_{kind}_time{part}" for step in STEPS for kind in KINDS):
                if not (theory.depends(name, self.unknown) or theory.depends(name, "context")):
                    continue  # the answer contains it by its name
                for tree in (symbol(name), *(at(name, {"context": end}) for end in ends)):
                    with suppress(NoClosedForm):
                        opened = self.opened(tree)
                        if opened != tree:
                            times.setdefault(solvable(opened, self.bound_case), tree)
        return times


def solvable(tree: Expr, bound_case: BoundCase) -> Any:
    """A formula as it is solved: of the names that a theory of one's own declares, only those that are never zero are positive."""
    own = bound_case.case.theory.own
    loose = {
        name: sympy.Symbol(name, real=True)
        for name in names(tree)
        if name in own and not public_symbol(name, own).is_positive
    }
    return substitute(tree, loose) if loose else tree


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


def solved_condition(
    condition: Condition, unknown: str, bound_case: BoundCase, symbolic: bool
) -> tuple[Expr, Expr | None] | None:
    """A condition of a closed form, solved for the next natural symbol (a ridge batch exists below some context), and while what that holds."""
    tree = condition.tree
    if mentions(tree, unknown):
        return None
    for name in NATURAL:
        forms = EquationForms(tree, name, bound_case, symbolic=symbolic)
        with suppress(NoClosedForm):
            if (
                name != unknown
                and any(mentions(side, name) for side in forms.sides)
                and (solved := solve_inequality(forms))
            ):
                return solved
    return None


def solve_inequality(forms: EquationForms) -> tuple[Expr, Expr | None] | None:
    """A condition as a bound of the unknown, where it is linear in it; and what has to hold for that side of it."""
    try:
        over, under = fraction(forms.difference, forms.x)
    except NoClosedForm:
        return None
    if set(over) != {0, 1} or set(under) != {0}:
        return None
    scaled, known = tidied(over, forms.x)
    if not known or not sign(under[0]) or set(scaled) != {0, 1}:
        return None
    turned = (operator_of(forms.relation) in (">", ">=")) == (sign(under[0]) < 0)
    slope, start = (negated(scaled[1]), negated(scaled[0])) if turned else (scaled[1], scaled[0])
    strict = "=" if operator_of(forms.relation).endswith("=") else ""
    name = symbol(forms.unknown)
    if sign(slope) > 0:
        return relation(">" + strict, name, written(negated(start) / slope)), None
    falling = negated(slope)
    side = None if sign(falling) > 0 else relation(">", written(falling), ZERO)
    return relation("<" + strict, name, written(start / falling)), side


def existence_conditions(relation: Expr, case: Case) -> Iterator[Expr]:
    """The conditions under which the quantities of an equation have values, each once."""
    needed = {inner for name in names(relation) for inner in case.theory.dependencies(name)}
    for inner in sorted(needed - set(case.given)):
        for condition, _ in QUANTITIES[inner].exists if inner in QUANTITIES else ():
            yield parse(condition)


def domain_formulas(unknown: str) -> tuple[str | None, str | None]:
    """The formulas of the least and the largest value of an unknown, where it has them."""
    symbol = INPUTS.get(base_name(unknown))
    return (symbol.least, symbol.most) if symbol else (None, None)


def domain(unknown: str, case: Case) -> tuple[float, float | None]:
    """Where an unknown can lie in a case; an end that has no value there is none."""
    ends: list[float | None] = []
    for formula in domain_formulas(unknown):
        try:
            ends.append(float(case.evaluate(parse(formula))) if formula else None)
        except NoValue:
            ends.append(None)
    return ends[0] or 0.0, ends[1]
