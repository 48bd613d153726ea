"""An equation posed with numbers: its crossings in a case, and in other cases with other values of the ranged inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

from symroof.analysis.implicit_quantities import because, because_searched, searched_quantity
from symroof.analysis.inline import inlined
from symroof.cases.bound_case import BoundCase
from symroof.formula import build
from symroof.formula.evaluate import NoValue, UndefinedValue
from symroof.formula.parse import parse
from symroof.formula.tree import Compare, Expr, mentions, names
from symroof.solver.axis_walk import AxisWalk
from symroof.solver.crossing import crossing, exact
from symroof.solver.joint_search import Gap, Points, Search, run_search, search_together
from symroof.solver.rational import NotRational
from symroof.solver.result import Crossing, Evaluate
from symroof.solver.scan import bounds_a_sum, crossings, scan
from symroof.theory.case import Case
from symroof.theory.layout import shapes_layout
from symroof.theory.quantities import QUANTITIES
from symroof.theory.symbols import INPUTS, base_name

if TYPE_CHECKING:
    from symroof.analysis.rough_difference import RoughDifferences


@dataclass
class NumericEquation:
    """An equation to be solved for one unknown, with the numbers of a case."""

    relation: Compare
    unknown: str
    bound_case: BoundCase

    @cached_property
    def moves(self) -> bool:
        """Whether a side depends on the unknown in this case."""
        return any(mentions(side, self.unknown) for side in self._inlined_sides())

    def crossing(self) -> Crossing:
        """Every crossing in the case.

        Raises:
            NoValue: an input that it needs is missing, or it has no value anywhere.
        """
        difference, case = build.sub(*self._inlined_sides()), self.bound_case.case
        low, high = domain(self.unknown, case)
        evaluate = case.evaluate
        at = self._at_points(difference, case, evaluate, self._demands())

        def along(_: Expr, point: Mapping[str, Fraction]) -> Fraction:
            return at(point[self.unknown])

        if self._searched:
            scanned = scan(difference, self.unknown, along, low, high, self._rough)
            return replace(scanned, because=because_searched(self._searched, self.unknown))
        solved = crossing(difference, self.unknown, evaluate, low, high, self._rough, along)
        solved = replace(
            solved, because=because(solved.because, self.relation, self.unknown, self.bound_case)
        )
        existing = self._where_it_exists(solved.values, at)
        branches = tuple(
            branch for branch in solved.branches if branch.value is None or branch.value in existing
        )
        if existing or not solved.values:
            return replace(solved, values=existing, branches=branches)
        return replace(
            scan(difference, self.unknown, along, low, high, self._rough), branches=branches
        )  # which side is larger where both exist

    def crossings_by_formula(self, case: Case) -> tuple[Fraction, ...] | None:
        """The crossings in a case that differs in ranged inputs alone, where it takes no scan to find them; else None.

        Raises:
            NoValue: as :meth:`crossing`.
        """
        if self._searched:
            return None
        ranged = self._ranged if self.shares_formulas else frozenset()
        difference, evaluate = build.sub(*self._inlined_sides(ranged)), case.evaluate
        try:
            solved = exact(
                difference,
                AxisWalk(self.unknown, evaluate, *domain(self.unknown, case), roots_only=True),
            )
        except NotRational:
            return None
        return self._where_it_exists(
            solved.values, self._at_points(difference, case, evaluate, self._demands(ranged))
        )

    def crossings_by_scan(self, cases: Sequence[Case]) -> list[tuple[Fraction, ...]]:
        """The crossings in cases that differ in ranged inputs alone, looked at together on one axis; none where there is no value."""
        difference = build.sub(*self._inlined_sides(self._ranged))
        whole = bounds_a_sum(difference, self.unknown)
        required_names = self._demands(self._ranged)

        def values(case: Case) -> Search[tuple[Fraction, ...]]:
            at = self._at_points(difference, case, case.evaluate, required_names)
            try:
                answer = yield from crossings(
                    Gap(at, True, thorough=False), *domain(self.unknown, case), whole
                )
                return self._where_it_exists(answer.values, at)
            except NoValue:
                return ()

        everywhere = self._differences.places(cases, self.unknown)

        def rough(asked: Points) -> Sequence[float]:
            if not asked:
                return ()
            numbers, points = zip(*asked, strict=True)
            return self._differences.at(self.relation, self.unknown, points, everywhere, numbers)

        return run_search(
            search_together(_located(values(case), i) for i, case in enumerate(cases)), rough
        )

    @property
    def shares_formulas(self) -> bool:
        """Whether the case and those within its ranges have the same formulas: no layout of devices turns on what is ranged."""
        return not any(map(shapes_layout, self._ranged))

    @property
    def shares_arrays(self) -> bool:
        """Whether the case and those within its ranges have the same array operations."""
        return self._differences.ranged

    @property
    def _ranged(self) -> frozenset[str]:
        return frozenset(self.bound_case.box)

    def _inlined_sides(self, ranged: frozenset[str] = frozenset()) -> tuple[Expr, Expr]:
        left, right = (
            inlined(side, self.unknown, self.bound_case, ranged=ranged)
            for side in (self.relation.left, self.relation.right)
        )
        return left, right

    @cached_property
    def _sides(self) -> Expr:
        return build.sub(self.relation.left, self.relation.right)

    @cached_property
    def _searched(self) -> str:
        return searched_quantity(self.relation, self.unknown, self.bound_case)

    def _demands(self, ranged: frozenset[str] = frozenset()) -> list[Expr]:
        """The conditions under which the quantities of the equation exist, opened as the sides are."""
        opened_demands = (
            inlined(demand, self.unknown, self.bound_case, ranged=ranged)
            for demand in existence_conditions(self.relation, self.bound_case.case)
        )
        return list(dict.fromkeys(opened_demands))

    def _at_points(
        self, difference: Expr, case: Case, evaluate: Evaluate, required_names: Sequence[Expr]
    ) -> Callable[[Fraction], Fraction]:
        """The exact difference at a point: of what is searched by the definitions themselves. It has no value where a quantity of the
        equation does not exist: beyond the load at which a queue is stable."""
        if self._searched:
            return partial(self._gap, case)
        asked = list(required_names)

        @cache
        def at(point: Fraction) -> Fraction:
            here = {self.unknown: point}
            if not all(_holds(demand, evaluate, here, asked) for demand in tuple(asked)):
                self._gap(case, point)
            return Fraction(evaluate(difference, here))

        return at

    def _rough(self, points: Points) -> Sequence[float]:
        """Left side less right side at many points, in floats."""
        return self._differences.at(
            self.relation,
            self.unknown,
            points,
            self._differences.places([self.bound_case.case], self.unknown),
        )

    @cached_property
    def _differences(self) -> RoughDifferences:
        from symroof.analysis.rough_difference import (
            RoughDifferences,
        )  # NumPy is not loaded for what has a closed form

        return RoughDifferences.of(self.unknown, self.bound_case)

    def _gap(self, case: Case, point: Fraction) -> Fraction:
        return Fraction(case.changed({self.unknown: point}).evaluate(self._sides))

    def _where_it_exists(
        self, values: tuple[Fraction, ...], at: Callable[[Fraction], Fraction]
    ) -> tuple[Fraction, ...]:
        """The crossings at which every quantity of the equation exists; of something counted, at it or the next whole number, since a sum has no value between."""
        if not values or self._searched or not self._demands():
            return values
        counted = self.bound_case.case.theory.symbol(self.unknown).counted
        return tuple(
            value
            for value in values
            if _has_value(at, value) or (counted and _has_value(at, Fraction(math.ceil(value))))
        )


def _holds(demand: Expr, evaluate: Evaluate, here: dict[str, Fraction], asked: list[Expr]) -> bool:
    """Whether a condition holds at a point; of an input that is not given nothing is asked, and not again: what needs it says so."""
    try:
        return bool(evaluate(demand, here))
    except UndefinedValue:
        asked.remove(demand)
        return True
    except NoValue:
        return False


def _has_value(at: Callable[[Fraction], Fraction], point: Fraction) -> bool:
    try:
        at(point)
    except NoValue:
        return False
    return True


def _located(search: Search[Any], place: int) -> Search[Any]:
    """A search that says with each point where it looks."""
    sent: Any = None
    while True:
        try:
            points = search.send(sent)
        except StopIteration as end:
            return end.value
        sent = yield list(zip(repeat(place), points))


def existence_conditions(relation: Compare, case: Case) -> Iterator[Compare]:
    """The conditions under which the quantities of an equation have values, each once."""
    for inner in sorted(
        {inner for name in names(relation) for inner in case.theory.dependencies(name)}
        - set(case.given)
    ):
        for condition, _ in QUANTITIES[inner].exists if inner in QUANTITIES else ():
            yield parse(condition)  # type: ignore[misc]


def domain_formulas(unknown: str) -> tuple[str | None, str | None]:
    """The formulas of the least and the largest value of an unknown, where it has them."""
    symbol = INPUTS.get(base_name(unknown))
    return (symbol.least, symbol.most) if symbol else (None, None)


def end(formula: str | None, case: Case) -> Fraction | None:
    """The value of an end; None where it has none."""
    try:
        return Fraction(case.evaluate(parse(formula))) if formula else None
    except NoValue:
        return None


def domain(unknown: str, case: Case) -> tuple[Fraction, Fraction | None]:
    """Where an unknown can lie in a case."""
    least, most = domain_formulas(unknown)
    return end(least, case) or Fraction(0), end(most, case)
