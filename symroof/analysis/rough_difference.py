"""The two sides of an equation at many values of an unknown at once, in floats: enough to see which is larger, almost everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from symroof.arrays.exact_fallback import in_floats, mend
from symroof.arrays.graph import Form, frozen
from symroof.arrays.lower import Builder
from symroof.arrays.values import Values, arrays
from symroof.cases.case_results import Answers
from symroof.formula.evaluate import NoValue
from symroof.formula.tree import Compare, Num
from symroof.solver.joint_search import Points
from symroof.theory.case import Case
from symroof.theory.layout import shapes
from symroof.theory.symbols import INPUTS

DOUBT = 1e-9
"""A difference below this share of the sides shows no sign: floats may be off by so much where terms cancel."""
UNDECIDED = float("nan")

Places = Mapping[str, tuple[float, ...]]
"""Where inputs stand in each of several cases."""


@dataclass
class RoughDifferences:
    """Left side less right side of the equations of a case, wherever its ``inputs`` stand.

    One set of array operations serves all equations, all of those inputs as unknowns, and every corner of the ranges.
    """

    case: Case
    inputs: tuple[str, ...]
    ranged: bool
    _sides: dict[Compare, tuple[Form, ...]] = field(default_factory=dict)
    _fixed: dict[tuple[Any, ...], Values] = field(default_factory=dict)
    _still: dict[tuple[Compare, str], tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, unknown: str, answers: Answers) -> RoughDifferences:
        """Those of a case along an unknown: shared by unknowns that are plain numbers here, and by all places within the ranges, where
        floats hold these and no formula of a device turns on them."""
        whole, box = answers.corner_of or answers, answers.binding.box()
        case = whole.case
        ranged = all(in_floats(end) for name, span in box.items() for end in (*span, case.value(name))) and not any(map(shapes, box))
        plain = _plain(case)
        ends = box if ranged else ()
        inputs = tuple(dict.fromkeys((*ends, *plain) if unknown in plain or unknown in ends else (unknown, *ends, *(name for name in plain if name in box))))
        shared = whole if ranged else answers
        if inputs not in shared.rough:
            shared.rough[inputs] = cls(shared.case, inputs, ranged and bool(box))
        differences: RoughDifferences = shared.rough[inputs]
        return differences

    @cached_property
    def _builder(self) -> Builder:
        return Builder(self.case.freed(self.inputs, rounded=True), self.inputs)

    def places(self, cases: Sequence[Case], unknown: str) -> Places:
        """Where all inputs but the unknown stand in each case."""
        return {name: tuple(float(case.value(name)) for case in cases) for name in self.inputs if name != unknown}

    def at(self, relation: Compare, unknown: str, points: Points, places: Places, numbers: Sequence[int] = ()) -> list[float]:
        """The differences at some points, each in the place of that number, by default the only one; NaN where floats do not show the sign, or there is no value."""
        length = len(points)
        try:
            sides = self._lowered(relation)
            with np.errstate(all="ignore"):
                values = self._values(relation, unknown, np.array([float(point) for point in points]), places, np.array(numbers, dtype=int))
                left, right = [np.asarray(values.form(side), dtype=float) for side in sides]
                difference = left - right
                clear = np.isfinite(difference) & (np.abs(difference) > DOUBT * (np.abs(left) + np.abs(right)))
        except (NoValue, OverflowError, ValueError):  # ValueError: no sides
            return [UNDECIDED] * length
        shown: list[float] = np.broadcast_to(np.where(clear, difference, UNDECIDED), length).tolist()
        return shown

    def _values(self, relation: Compare, unknown: str, points: Any, places: Places, numbers: Any) -> Values:
        """The values at some points; what the unknown does not move is worked out once for each place."""
        graph, key = self._builder.graph, (unknown, *places.values())
        if key not in self._fixed:
            self._fixed[key] = arrays(graph, {name: np.array(column) if len(numbers) else column[0] for name, column in places.items()}, mend)
        fixed, (still, ends) = self._fixed[key], self._not_moved(relation, unknown)
        for name in still:
            fixed.name(name)
        if not len(numbers):
            return fixed.at({unknown: points})
        return arrays(graph, {name: value[numbers] if np.shape(value) else value for name in ends for value in (fixed.name(name),)} | {unknown: points}, mend)

    def _not_moved(self, relation: Compare, unknown: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The operations of an equation that neither its unknown nor the index of a sum moves; and of these and the inputs those that
        what moves is worked out from."""
        if (relation, unknown) not in self._still:
            graph, others = self._builder.graph, frozenset(self.inputs) - {unknown}
            sides = self._lowered(relation)
            within = tuple(graph.within(*sides))
            still = tuple(name for name in within if graph.reach(name) <= others)
            moved = [arg for name in within if name not in still for arg in graph.operations[name].args]
            asked = {name for form in (*sides, *moved) for monomial, _ in form for name, _ in monomial}
            self._still[relation, unknown] = still, (*sorted(others), *(name for name in still if name in asked))
        return self._still[relation, unknown]

    def _lowered(self, relation: Compare) -> tuple[Form, ...]:
        """The sides over the inputs; none where one has no value."""
        if relation not in self._sides:
            self._sides[relation] = ()
            with contextlib.suppress(NoValue):  # exact values say why
                self._sides[relation] = tuple(frozen(self._builder.value(side)) for side in (relation.left, relation.right))
        return self._sides[relation]


def _plain(case: Case) -> tuple[str, ...]:
    """The inputs of a case that are set to a number which a float holds, count nothing and shape no formula."""
    numbers = {name: tree.value for name, tree in case.given.items() if isinstance(tree, Num) and name in INPUTS} | dict(case.numbers)
    return tuple(name for name, value in numbers.items() if name in INPUTS and not INPUTS[name].counted and not shapes(name) and in_floats(Fraction(value)))
