"""An equation with the numbers of a case: its sides over arrays of the unknown, and where they meet, there and in cases with other inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from symroof.analysis.closed_branches import EquationForms, domain
from symroof.cases.bound_case import BoundCase
from symroof.symbolic.axis_points import Axis, Crossings, Sides
from symroof.symbolic.crossings import crossings
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.expressions import ZERO, Expr, is_negative, mentions, names, sums
from symroof.symbolic.expressions import relation as compared
from symroof.symbolic.polynomials import NoClosedForm
from symroof.theory.case import Case
from symroof.theory.layout import shapes_layout

Columns = Mapping[str, Sequence[float]]
"""The values of some inputs in each of several cases."""


@dataclass
class PosedEquation:
    """An equation to be solved for one unknown, with the numbers of a case."""

    relation: Expr
    unknown: str
    bound_case: BoundCase

    def crossings(self) -> Crossings:
        """Where the sides meet in the case.

        Raises:
            MissingInput: an input that they need is missing.
        """
        case = self.bound_case.case
        found = crossings(self.sides({}), [self.axis(case)])[0]
        return replace(found, values=self._closed(found.values, self.bound_case))

    def crossings_at(self, columns: Columns) -> list[tuple[float, ...]]:
        """The crossings where some inputs have other values, all looked at together; none where the sides have no value there."""
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        cases = [self.bound_case.case.changed(row) for row in rows]
        places = [self.bound_case.at(case) for case in cases]
        if any(map(shapes_layout, columns)):
            return [replace(self, bound_case=place).values() for place in places]
        try:
            found = crossings(self.sides(columns), [self.axis(case) for case in cases])
        except NoValue:
            return [()] * len(rows)
        return [self._closed(each.values, there) for each, there in zip(found, places, strict=True)]

    def values(self) -> tuple[float, ...]:
        """The places of the crossings; none where the sides have no value."""
        with suppress(NoValue):
            return self.crossings().values
        return ()

    def _closed(self, values: tuple[float, ...], there: BoundCase) -> tuple[float, ...]:
        """The crossings; of an unknown that bounds a sum, of which whole numbers alone are searched, where the closed form of the sum has them."""
        if not self.whole or not values:
            return values
        forms = EquationForms(self.relation, self.unknown, there)
        return tuple(sorted({forms.before(value) for value in values}))

    @cached_property
    def forms(self) -> EquationForms:
        """The equation with the definitions that the unknown moves written out."""
        return EquationForms(self.relation, self.unknown, self.bound_case)

    @property
    def moves(self) -> bool:
        """Whether a side depends on the unknown in this case; of one that is too long to be written out it is assumed."""
        try:
            return any(mentions(side, self.unknown) for side in self.forms.sides)
        except NoClosedForm:
            return True

    @cached_property
    def whole(self) -> bool:
        """Whether the unknown bounds a sum, so that only whole numbers have a meaning."""
        case = self.bound_case.case
        try:
            return any(
                mentions(end, self.unknown)
                for side in self.forms.sides
                for node in sums(side)
                for end in (node.first, node.last)
            )
        except NoClosedForm:  # too long: whether a sum on the way ends at what the unknown moves
            formulas = map(case.formula_or_name, case.reachable_names(*names(self.relation)))
            ends = (e for tree in formulas for node in sums(tree) for e in (node.first, node.last))
            return any(
                self.unknown in case.dependencies(name) for end in ends for name in names(end)
            )

    def axis(self, case: Case) -> Axis:
        """Where the unknown can lie in a case."""
        low, high = domain(self.unknown, case)
        return Axis(low, high, self.whole, case.theory.symbol(self.unknown).counted)

    def sides(self, columns: Columns) -> Sides:
        """Left and right over arrays of the unknown; where there are columns, in each of their cases."""
        inputs = (self.unknown, *columns)
        memo = self.bound_case.memo.rough
        if inputs not in memo:
            memo[inputs] = self.bound_case.case.without_values(inputs)
        case, relation = memo[inputs], balanced(self.relation)
        given = {name: np.asarray(values, dtype=float) for name, values in columns.items()}

        def of(x: Any, column: Any) -> tuple[Any, Any]:
            flat = {name: values[column] for name, values in given.items()}
            there = case.changed({self.unknown: x, **flat})
            left, right = (_over(there, side) for side in (relation.lhs, relation.rhs))
            return left, right

        return of


def _over(case: Case, side: Expr) -> Any:
    """A side over arrays; NaN where it has no value anywhere.

    Raises:
        UndefinedValue: a name in it has none, whatever the unknown is.
    """
    try:
        with np.errstate(all="ignore"):
            found = case.evaluate(side)
            if np.isnan(found).any():
                found = case.with_care().evaluate(side)
        return np.asarray(found, dtype=float)
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
