"""The closed forms of an equation for readers: formulas in the names of the theory, in the order in which the equation mentions them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import sympy

from symroof.analysis.implicit_quantities import because_searched, searched_quantity
from symroof.analysis.inline import TOO_LONG, inlined
from symroof.cases.bound_case import BoundCase
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    at,
    is_relation,
    mentions,
    operator_of,
    relation,
    size,
    symbol,
)
from symroof.symbolic.expressions import (
    relation as compared,
)
from symroof.symbolic.polynomials import NoClosedForm, fraction, negated, sign, tidied
from symroof.symbolic.reading import parse
from symroof.symbolic.solvable import Solvable, formula
from symroof.theory.case import MOST_NODES
from symroof.theory.domains import domain, domain_formulas, existence_conditions
from symroof.theory.steps import STEPS

if TYPE_CHECKING:
    from symroof.symbolic.closed_forms import Answer
    from symroof.symbolic.roots import Form

CLOSED, NUMERIC = "closed_form", "numeric"
MOST_VALUES = 8
"""Crossings of which a closed form is looked for."""
ROUNDING = 1e-9
"""Sides of a condition that differ by a smaller share are equal: at a crossing arms meet."""


@dataclass(frozen=True)
class Condition:
    """A condition of a closed form, and whether it holds; ``abbreviated`` is the same in named coefficients, or in the times that it compares."""

    tree: Expr
    holds: bool | None
    abbreviated: Expr | None = None


@dataclass(frozen=True)
class Branch:
    """One candidate: its formula, its conditions, and its value, which it has where it is a crossing here.

    Attributes:
        closed_form: the whole formula; None where there is none of readable size.
        abbreviated: the same in named coefficients, where it is long.
        named: the formulas of those coefficients.
    """

    closed_form: Expr | None
    conditions: tuple[Condition, ...]
    value: Fraction | None = None
    abbreviated: Expr | None = None
    named: tuple[tuple[str, Expr], ...] = ()

    @property
    def holds(self) -> bool:
        return self.value is not None

    @property
    def shown(self) -> Expr | None:
        """The formula as people read it."""
        return self.closed_form if self.abbreviated is None else self.abbreviated


@dataclass(frozen=True)
class Branches:
    """The candidates of an equation.

    Attributes:
        because: why a crossing has no closed form, or the equation none.
        more: whether there are further choices of arms, or powers that no root undoes.
        verdict: of an equation without numbers, what can be said of it.
    """

    every: tuple[Branch, ...] = ()
    because: str = ""
    more: bool = False
    verdict: str = ""

    @property
    def method(self) -> str:
        open_ = self.because and any(b.holds and b.closed_form is None for b in self.every)
        return NUMERIC if open_ else CLOSED


@dataclass
class EquationForms:
    """An equation in SymPy, as far as an unknown moves its definitions, and its closed forms back in formulas."""

    relation: Expr
    unknown: str
    bound_case: BoundCase
    kept: frozenset[str] = frozenset()
    symbolic: bool = False
    use_defaults: bool = False

    def opened(self, tree: Expr, unknown: str = "") -> Expr:
        """A formula with the definitions that an unknown moves written out."""
        defaults = self.use_defaults if self.symbolic else None
        return inlined(
            tree,
            unknown or self.unknown,
            self.bound_case,
            self.kept,
            symbolic=self.symbolic,
            use_defaults=defaults,
        )

    @cached_property
    def sides(self) -> tuple[Expr, Expr]:
        return self.opened(self.relation.lhs), self.opened(self.relation.rhs)

    @cached_property
    def x(self) -> Any:
        return plain_symbol(self.unknown, self.bound_case)

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
        left, right = (in_plain_symbols(side, self.bound_case) for side in self.sides)
        return left - right

    @cached_property
    def numbers(self) -> Any:
        from symroof.symbolic.numbers import Numbers

        return Numbers(self.bound_case.case.value)

    # ---------------------------------------------------------------------------------------------------- with numbers

    def at_crossings(self, values: tuple[Fraction, ...]) -> Branches:
        """The closed form of each crossing that was found."""
        branches, because = [], ""
        for value in values[:MOST_VALUES]:
            branch, why = self._branch_at(value)
            branches.append(branch)
            because = because or why
        branches += [Branch(None, (), value) for value in values[MOST_VALUES:]]
        return Branches(tuple(branches), because)

    def _branch_at(self, value: Fraction) -> tuple[Branch, str]:
        from symroof.symbolic.closed_forms import form_at
        from symroof.symbolic.numbers import NoNumber

        try:
            form = form_at(self.difference, self.x, self.numbers, float(value))
        except (NoClosedForm, NoNumber, NoValue) as error:
            return Branch(None, (), value), str(error)
        return self._branch(form, value, float(value)), ""

    def before(self, value: float) -> float:
        """The root of a closed form between a whole number and the one before it; the number itself where there is none."""
        from symroof.symbolic.closed_forms import candidates
        from symroof.symbolic.numbers import NoNumber

        try:
            forms = candidates(self.difference, self.x, self.numbers, value)
            roots = [float(self.numbers(form.whole(form.root))) for form in forms]
        except (NoClosedForm, NoNumber, NoValue):
            return value
        return next((root for root in roots if value - 1 < root <= value), value)

    def candidate(self, far: float) -> Branches:
        """The closed form that a crossing far out would have, with the condition that fails: of sides that never meet."""
        from symroof.symbolic.closed_forms import candidates
        from symroof.symbolic.numbers import NoNumber

        try:
            forms = candidates(self.difference, self.x, self.numbers, far)
            return Branches(
                tuple(self._branch(form, None, self._place(form, far)) for form in forms)
            )
        except (NoClosedForm, NoNumber, NoValue) as error:
            return Branches((), str(error))

    def _place(self, form: Form, far: float) -> float:
        """Where a form would put the crossing, or else far out."""
        try:
            found = float(self.numbers(form.whole(form.root)))
        except ArithmeticError:
            return far
        return found if found > 0 else far

    def _branch(self, form: Form, value: Fraction | None, place: float) -> Branch:
        end = domain_formulas(self.unknown)[1]
        _, high = domain(self.unknown, self.bound_case.case)
        inside = (
            [
                Condition(
                    compared("<=", symbol(self.unknown), parse(end)),
                    high is None or place <= high * (1 + ROUNDING),
                )
            ]
            if end
            else []
        )
        exists = [self._condition(form, relation, place) for relation in form.exists]
        arms = [self._condition(None, relation, place) for relation in form.arms]
        return self._in_trees(form, (*exists, *arms, *inside), value)

    def _condition(self, form: Form | None, relation: Any, place: float | None) -> Condition:
        whole = form.whole(relation) if form else relation
        tree, short = self._compared(whole, {}), self._compared(relation, self.times_compared)
        return Condition(tree, self._holds(whole, place), None if short == tree else short)

    def _holds(self, relation: Any, place: float | None) -> bool | None:
        from symroof.symbolic.arms import holds
        from symroof.symbolic.numbers import NoNumber

        if place is None:
            return None
        try:
            return holds(relation, self.numbers, {self.x: place}, ROUNDING)
        except (NoNumber, NoValue):
            return None

    # ------------------------------------------------------------------------------------------------- without numbers

    def answer(self) -> Branches:
        """The closed forms on every choice of arms.

        Raises:
            NoClosedForm: only numbers help.
        """
        from symroof.symbolic.closed_forms import every_form

        bounds = zip((">=", "<="), domain_formulas(self.unknown), strict=True)
        within = [
            relation(operator, symbol(self.unknown), parse(end)) for operator, end in bounds if end
        ]
        required = dict.fromkeys(
            self.opened(c) for c in existence_conditions(self.relation, self.bound_case.case)
        )
        conditions = [
            in_plain_symbols(tree, self.bound_case)
            for tree in (*required, *within)
            if is_relation(tree)
        ]
        answer: Answer = every_form(self.difference, self.x, conditions)
        branches = tuple(
            self._in_trees(
                form,
                tuple(self._condition(form, c, None) for c in (*form.exists, *form.arms)),
                None,
            )
            for form in answer.forms
        )
        return Branches(branches, "", answer.more, answer.verdict)

    # ------------------------------------------------------------------------------------------------ back to formulas

    def _in_trees(
        self, form: Form, conditions: tuple[Condition, ...], value: Fraction | None
    ) -> Branch:
        whole = self.tree(form.whole(form.root))
        named = tuple((symbol.name, self.tree(expr)) for symbol, expr in form.named)
        return Branch(whole, conditions, value, self.tree(form.root) if named else None, named)

    def tree(self, expr: Any) -> Expr:
        """The formula of an expression."""
        return written(expr)

    def _compared(self, relation: Any, named: Mapping[Any, Expr]) -> Expr:
        """A condition, each side by its name if it has one."""
        left, right = (named[side] if side in named else self.tree(side) for side in relation.args)
        return compared(relation.rel_op, left, right)

    @cached_property
    def times_compared(self) -> dict[Any, Expr]:
        """The times that a roofline compares, by what they are as far as the unknown reaches: now, at the first and the last step."""
        ends = (parse("prompt + 1"), parse("prompt + response_steps"))
        theory, times = self.bound_case.case.theory, dict[Any, Expr]()
        per_part = theory.assumptions["roofline"] == "per_operator"
        parts = (
            [f".{part}" for step in STEPS for part in theory.parts(step.name)] if per_part else []
        )
        for part in ("", *dict.fromkeys(parts)):
            for name in (
                f"{step.name}_{kind}{part}"
                for step in STEPS
                for kind in ("compute_time", "memory_time")
            ):
                if not (theory.depends(name, self.unknown) or theory.depends(name, "context")):
                    continue  # the answer contains it by its name
                shapes: list[Expr] = [symbol(name)]
                shapes += [at(name, (("context", end),)) for end in ends]
                for tree in shapes:
                    with suppress(NoClosedForm):
                        opened = self.opened(tree)
                        if opened != tree:
                            times.setdefault(in_plain_symbols(opened, self.bound_case), tree)
        return times


def plain_symbol(name: str, bound_case: BoundCase) -> Any:
    """A name as a plain symbol of its declared sign; what may be zero counts as positive where the theory itself declares it."""
    from symroof.symbols import symbol

    own = bound_case.case.theory.own
    declared = own.symbol(name)
    if name in own:
        kind = "positive" if symbol(name, own).is_positive else "real"
    else:
        kind = "real" if declared and declared.signed else "positive"
    return sympy.Symbol(name, **{kind: True})


def in_plain_symbols(tree: Expr, bound_case: BoundCase) -> Any:
    """A formula in SymPy, for solving."""
    if bound_case.memo.plain is None:
        bound_case.memo.plain = Solvable(partial(plain_symbol, bound_case=bound_case))
    return bound_case.memo.plain(tree)


def written(expr: Any) -> Expr:
    """The formula of an expression in plain symbols.

    Raises:
        NoClosedForm: it divides by zero.
    """
    found = formula(expr)
    if found is None:
        raise NoClosedForm("it has no value")
    return found


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
        return compared(">" + strict, name, forms.tree(negated(start) / slope)), None
    falling = negated(slope)
    side = None if sign(falling) > 0 else compared(">", forms.tree(falling), ZERO)
    return compared("<" + strict, name, forms.tree(start / falling)), side
