"""An equation for one unknown in a case: its sides as formulas of the unknown, and where they meet, there and in cases with other inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import sympy

from symroof.cases.bound_case import BoundCase
from symroof.errors import NoValue, UndefinedValue
from symroof.symbolic.closed_forms import AGREE, Candidates, every_form, form_at, forms_at, holds
from symroof.symbolic.crossings import SAME, Axis, Crossings, Sides, crossings
from symroof.symbolic.expressions import (
    ZERO,
    Expr,
    TooLong,
    at,
    inline,
    is_negative,
    is_relation,
    names,
    operator_of,
    substitute,
    sums,
    symbol,
)
from symroof.symbolic.expressions import relation as compared
from symroof.symbolic.reading import parse
from symroof.symbolic.roots import Form, NoClosedForm, bound_on
from symroof.symbols import symbol as public_symbol
from symroof.theory.case import MOST_NODES, Case
from symroof.theory.declarations import DropsCaches, neutral_default
from symroof.theory.layout import shapes_layout
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, base_name

Points = Sequence[Mapping[str, float]]
"""The values of some inputs in each of several cases."""
TIMES = ("_compute_time", "_memory_time")
"""The times of which a step takes the longer, by the ends of their names."""
TOO_LONG = "its closed form is too long to be written out"
LIMIT, REACH = "limit", "reach"
"""Which whole number a crossing allows: the last that keeps a limit, the first that reaches."""
CLOSE = 1e-12
"""How near a crossing lies to a whole number that it is, as a share of it."""
MOST_VALUES = 8
"""Crossings of which a closed form is looked for."""
NATURAL = ("context", "prompt", "batch", "output", "tp")
"""The symbols a condition is solved for: the first that it is linear in, down to the definitions of its names."""
MOST_DEGREES = 1024
"""How many numbers of devices beyond a crossing are tried."""


@dataclass
class Equation(DropsCaches):
    """An equation, or a condition, in one unknown.

    Attributes:
        missing: the input that lacks for an answer in numbers. Then none counts as missing, every input stays a name, and a quantity goes only where
            its formula is 0 whatever its inputs.
    """

    relation: Expr
    unknown: str
    bound_case: BoundCase
    missing: str | None = None

    def opened(self, tree: Expr) -> Expr:
        """A formula with the definitions that the unknown moves written out; everything else stays a named coefficient.

        Raises:
            NoClosedForm: it would be longer than a person reads.
        """
        case, kept = self.bound_case.case, names(tree)

        def formula(name: str, changed: frozenset[str]) -> Expr:
            keys = changed | {self.unknown}
            moved = case.theory.knows(name) and (
                not keys.isdisjoint(case.dependencies(name))
                if self.missing
                else case.moves(name, keys)
            )
            if name == self.unknown or (name in kept and not moved):
                return symbol(name)
            if moved and case.search(name, keys):
                raise NoClosedForm(f"{name} is searched for each {self.unknown}")
            if moved:
                return case.formula_or_name(name, complete=not self.missing, changed=keys)
            return self._unmoved(name)

        try:
            return inline(tree, formula, MOST_NODES)
        except TooLong:
            raise NoClosedForm(TOO_LONG) from None

    def _unmoved(self, name: str) -> Expr:
        """A name that the unknown does not move; a defaulted input of 0 or 1 as that number, and a quantity that is 0: they would clutter a closed form."""
        case, node = self.bound_case.case, symbol(name)
        if self.missing:
            return ZERO if case.expanded(node, complete=False) == ZERO else node
        if name in case.given or name in case.numbers:
            return node
        if case.theory.definition(name) is not None:
            return ZERO if case.has_value(name) and case.value(name) == 0 else node
        neutral = neutral_default(name)
        return node if neutral is None else neutral

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """Left and right as they are posed."""
        return self.relation.lhs, self.relation.rhs

    @cached_property
    def opened_sides(self) -> tuple[Expr, Expr] | NoClosedForm:
        """Both sides, opened, or why they cannot be."""
        try:
            return self.opened(self.relation.lhs), self.opened(self.relation.rhs)
        except NoClosedForm as error:
            return error

    @cached_property
    def x(self) -> Any:
        """The unknown as it is solved for."""
        return self.solvable(symbol(self.unknown))

    @cached_property
    def difference(self) -> Any:
        """Left side less right side.

        Raises:
            NoClosedForm: a quantity in it is searched, or it is longer than a person reads.
        """
        if isinstance(self.opened_sides, NoClosedForm):
            raise self.opened_sides
        left, right = map(self.solvable, self.opened_sides)
        return left - right

    def solvable(self, tree: Expr) -> Any:
        """A formula as it is solved: of the names that a theory of one's own declares, only those that are never zero are positive."""
        own = self.bound_case.case.theory.own
        mine = (name for name in names(tree) if name in own)
        vanish = (name for name in mine if not public_symbol(name, own).is_positive)
        loose = {name: sympy.Symbol(name, real=True) for name in vanish}
        return substitute(tree, loose) if loose else tree

    @property
    def moves(self) -> bool:
        """Whether a side depends on the unknown in this case; of one that cannot be opened it is assumed."""
        sides = self.opened_sides
        return isinstance(sides, NoClosedForm) or any(self.unknown in names(side) for side in sides)

    def forms_at(self, values: Sequence[float], far: float) -> Candidates:
        """The closed forms of crossings that were found; where there is none, those that one far out would have, with the condition that fails."""
        forms, because = list[Form](), ""
        numbers = self.bound_case.case.evaluate
        try:
            if not values:
                there = forms_at(self.difference, self.x, numbers, far)
                forms = [self._placed(form, root if root > 0 else far) for form, root in there]
        except (NoClosedForm, ArithmeticError) as error:
            because = str(error)
        for value in values[:MOST_VALUES]:
            try:
                form = form_at(self.difference, self.x, numbers, value)
                forms.append(self._placed(form, value, value))
            except (NoClosedForm, ArithmeticError) as error:
                forms.append(Form(None, value=value))
                because = because or str(error)
        forms += [Form(None, value=value) for value in values[MOST_VALUES:]]
        return Candidates(tuple(forms), because=because)

    def _placed(self, form: Form, place: float, value: float | None = None) -> Form:
        """A form with what is known of its conditions at a place, the largest value of the unknown among them."""
        most = (self.solvable(each) for each in bounds(self.unknown) if operator_of(each) == "<=")
        bounded = replace(form, conditions=(*form.conditions, *most))

        def met(condition: Any) -> bool | None:
            with suppress(ArithmeticError):
                return holds(condition, self.bound_case.case.evaluate, {self.x.name: place}, AGREE)
            return None

        return replace(bounded, value=value, met=tuple(map(met, bounded.trees)))

    def forms_without_numbers(self) -> Candidates:
        """The closed forms on every choice of arms, where the quantities of the equation have values.

        Raises:
            NoClosedForm: only numbers help.
        """
        case = self.bound_case.case
        needed = {name for side in names(self.relation) for name in case.theory.dependencies(side)}
        exists = dict.fromkeys(
            self.opened(parse(condition))
            for name in sorted((needed - set(case.given)) & QUANTITIES.keys())
            for condition, _ in QUANTITIES[name].exists
        )
        conditions = (*filter(is_relation, exists), *bounds(self.unknown))
        return every_form(self.difference, self.x, [*map(self.solvable, conditions)])

    def solved_condition(self, condition: Expr) -> Expr | None:
        """A condition of a closed form, solved for the next natural symbol: a ridge batch exists below some context."""
        for name in () if self.unknown in names(condition) else NATURAL:
            posed = Equation(condition, name, self.bound_case, self.missing)
            with suppress(NoClosedForm):
                found = bound_on(posed.x, condition, posed.difference) if posed.moves else None
                if found is not None:
                    return found
        return None

    @cached_property
    def everywhere(self) -> list[Crossings]:
        """Where the sides meet in the case, then at each corner of its ranges, all in one search.

        Raises:
            MissingInput: an input that they need is missing.
        """
        own = self.bound_case
        points = [] if self.unknown in own.box else own.corner_points
        middle = {name: float(own.case.value(name)) for each in points[:1] for name in each}
        return self._search([middle, *points])

    def crossings_at(self, points: Points) -> list[tuple[float, ...]]:
        """The crossings at other values of some inputs; none where the sides have no value there."""
        try:
            return [each.values for each in self._search(points)]
        except NoValue:
            return [()] * len(points)

    def _search(self, points: Points) -> list[Crossings]:
        """The crossings at all points in one search; where they differ in how devices share the model, in one for each."""
        own = self.bound_case.case
        cases = [own.changed(point) if point else own for point in points]
        places = [replace(self, bound_case=self.bound_case.at(case)) for case in cases]
        if any(map(shapes_layout, points[0])):
            return [each for place in places for each in place._search([{}])]
        found = crossings(self.over_arrays(points), list(map(self.axis, cases)))
        if not self.bounds_sum:
            return found
        each = zip(found, places, strict=True)
        return [replace(own, values=place._between(own.values)) for own, place in each]

    def _between(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """The crossings of an unknown that bounds a sum, of which whole numbers alone are searched, where the closed form of the sum has them."""
        found = set()
        for value in values:
            roots: list[float] = []
            with suppress(NoClosedForm, ArithmeticError):
                evaluate = self.bound_case.case.evaluate
                roots = [root for _, root in forms_at(self.difference, self.x, evaluate, value)]
            found.add(next((root for root in roots if value - 1 < root <= value), value))
        return tuple(sorted(found))

    @cached_property
    def bounds_sum(self) -> bool:
        """Whether the unknown bounds a sum, so that only whole numbers have a meaning."""
        case = self.bound_case.case
        every = case.reachable_names(*names(self.relation))
        formulas = (*self.sides, *map(case.formula_or_name, every))
        ends = (e for tree in formulas for node in sums(tree) for e in (node.first, node.last))
        moved = (self.unknown in case.dependencies(name) for end in ends for name in names(end))
        return any(moved)

    def axis(self, case: Case) -> Axis:
        """Where the unknown can lie in a case; an end that has no value there is none."""
        ends = dict[str, float]()
        for bound in bounds(self.unknown):
            with suppress(NoValue):
                ends[operator_of(bound)] = float(case.evaluate(bound.rhs))
        counted = case.theory.symbol(self.unknown).counted
        return Axis(ends.get(">=") or 0.0, ends.get("<="), self.bounds_sum, counted)

    def over_arrays(self, points: Points = ()) -> Sides:
        """Left and right over arrays of the unknown; where there are points, at each of them."""
        given = {name: np.array([float(p[name]) for p in points]) for name in chain(*points[:1])}
        case = self.bound_case.case.without_values((self.unknown, *given))
        relation = balanced(self.relation)

        def of(x: Any, column: Any) -> tuple[Any, Any]:
            flat = {name: values[column] for name, values in given.items()}
            there = case.changed({self.unknown: x, **flat})
            left, right = (_over(there, side) for side in (relation.lhs, relation.rhs))
            return left, right

        return of

    def larger_at(self, point: float) -> int | None:
        """The sign of left less right at a value of the unknown, by the definitions themselves."""
        left = right = np.nan
        with suppress(NoValue):
            left, right = self.over_arrays()(point, 0)
        if not np.isfinite(left - right):
            return None
        if abs(left - right) <= SAME * max(abs(left), abs(right)):
            return 0
        return 1 if left > right else -1

    @cached_property
    def times_compared(self) -> Mapping[Any, Expr]:
        """The times that a roofline compares, by what they are as far as the unknown reaches: now, at the first and the last step."""
        ends = (parse("prompt + 1"), parse("prompt + response_steps"))
        times = dict[Any, Expr]()
        for name in self.bound_case.case.reachable_names(*names(self.relation)):
            compared = name.partition(".")[0].endswith(TIMES)
            trees = (symbol(name), *(at(name, {"context": end}) for end in ends))
            for tree in trees if compared else ():
                with suppress(NoClosedForm):
                    opened = self.opened(tree)
                    if not opened.is_Symbol:  # else the answer contains it by its name
                        times.setdefault(self.solvable(opened), tree)
        return times


def to_whole(value: float, kind: str) -> int:
    """A crossing as a whole number: down to the last that keeps a limit, up to the first that reaches."""
    near = round(value)
    if abs(value - near) < CLOSE * max(near, 1):
        return near
    return math.floor(value) if kind == LIMIT else math.ceil(value)


def _over(case: Case, side: Expr) -> Any:
    """A side over arrays; NaN where it has no value anywhere.

    Raises:
        UndefinedValue: a name in it has none, whatever the unknown is.
    """
    try:
        with np.errstate(all="ignore"):
            return np.asarray(case.evaluate(side), dtype=float)
    except UndefinedValue:
        raise
    except (NoValue, OverflowError):
        return np.nan


def balanced(relation: Expr) -> Expr:
    """An equation with 0 on a side as one of two sides: only against the size of its terms floats tell what is zero."""
    side = relation.lhs if relation.rhs == ZERO else relation.rhs
    if ZERO not in (relation.lhs, relation.rhs) or not side.is_Add:
        return relation
    minus = [term for term in side.args if is_negative(term)]
    plus = [term for term in side.args if not is_negative(term)]
    left, right = sympy.Add(*plus), sympy.Add(*(-term for term in minus))
    return compared("=", left, right) if side is relation.lhs else compared("=", right, left)


def bounds(unknown: str) -> list[Expr]:
    """What an unknown has to keep to: its least and its largest value, where it has them."""
    declared = INPUTS.get(base_name(unknown))
    ends = {">=": declared.least, "<=": declared.most} if declared else {}
    return [compared(sign, symbol(unknown), parse(end)) for sign, end in ends.items() if end]
