"""The two sides of an equation at many values of an unknown at once, in floats: enough to see which is larger, almost everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from symroof.arrays.values import Arrays, Formulas
from symroof.cases.bound_case import BoundCase
from symroof.formula.evaluate import NoValue, exact_decimal
from symroof.formula.tree import Compare, Num
from symroof.solver.joint_search import Points
from symroof.theory.case import Case
from symroof.theory.layout import shapes_layout
from symroof.theory.symbols import INPUTS

DOUBT = 1e-9
"""A difference below this share of the sides shows no sign: floats may be off by so much where terms cancel."""
UNDECIDED = float("nan")

Places = Mapping[str, tuple[float, ...]]
"""The values of inputs in each of several cases."""


@dataclass
class RoughDifferences:
    """Left side less right side of the equations of a case, whatever its ``inputs`` are.

    One set of array operations serves all equations, all of those inputs as unknowns, and every corner of the ranges.
    """

    case: Case
    inputs: tuple[str, ...]
    ranged: bool

    @classmethod
    def of(cls, unknown: str, bound_case: BoundCase) -> RoughDifferences:
        """Those of a case along an unknown: shared by unknowns that are plain numbers here, and by all places within the ranges, where
        floats hold these and no formula of a device turns on them."""
        whole, box = bound_case.memo.corner_of or bound_case, bound_case.box
        case = whole.case
        ranged = all(
            in_floats(end) for name, span in box.items() for end in (*span, case.value(name))
        ) and not any(map(shapes_layout, box))
        plain = _plain(case)
        ends = box if ranged else ()
        inputs = tuple(
            dict.fromkeys(
                (*ends, *plain)
                if unknown in plain or unknown in ends
                else (unknown, *ends, *(name for name in plain if name in box))
            )
        )
        shared = whole if ranged else bound_case
        if inputs not in shared.memo.rough:
            shared.memo.rough[inputs] = cls(shared.case, inputs, ranged and bool(box))
        differences: RoughDifferences = shared.memo.rough[inputs]
        return differences

    @cached_property
    def _formulas(self) -> Formulas:
        return Formulas(self.case.without_values(self.inputs, rounded=True))

    def places(self, cases: Sequence[Case], unknown: str) -> Places:
        """The values of all inputs but the unknown in each case."""
        return {
            name: tuple(float(case.value(name)) for case in cases)
            for name in self.inputs
            if name != unknown
        }

    def at(
        self,
        relation: Compare,
        unknown: str,
        points: Points,
        places: Places,
        numbers: Sequence[int] = (),
    ) -> list[float]:
        """The differences at some points, each in the place of that number, by default the only one; NaN where floats do not show the sign, or there is no value."""
        length = len(points)
        try:
            with np.errstate(all="ignore"):
                inputs = {
                    name: np.array(column)[list(numbers)] if len(numbers) else np.array(column[0])
                    for name, column in places.items()
                }
                values = Arrays(
                    self._formulas,
                    {**inputs, unknown: np.array([float(point) for point in points])},
                )
                left, right = (
                    np.asarray(values.evaluate(side), dtype=float)
                    for side in (relation.left, relation.right)
                )
                difference = left - right
                clear = np.isfinite(difference) & (
                    np.abs(difference) > DOUBT * (np.abs(left) + np.abs(right))
                )
        except (NoValue, OverflowError):  # exact values say why
            return [UNDECIDED] * length
        shown: list[float] = np.broadcast_to(
            np.where(clear, difference, UNDECIDED), length
        ).tolist()
        return shown


def _plain(case: Case) -> tuple[str, ...]:
    """The inputs of a case that are set to a number which a float holds, count nothing and shape no formula."""
    numbers = {
        name: tree.value
        for name, tree in case.given.items()
        if isinstance(tree, Num) and name in INPUTS
    } | dict(case.numbers)
    return tuple(
        name
        for name, value in numbers.items()
        if name in INPUTS
        and not INPUTS[name].counted
        and not shapes_layout(name)
        and in_floats(Fraction(value))
    )


@lru_cache(maxsize=1024)
def in_floats(value: Fraction) -> bool:
    """Whether the decimal that a float is written as is just this value.

    >>> in_floats(Fraction(7, 10)), in_floats(Fraction(1, 3))
    (True, False)
    """
    return exact_decimal(float(value)) == value
