"""The two sides of an equation at many values of an unknown at once, in floats: enough to see which is larger, almost everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from symroof.arrays.exact_fallback import mend
from symroof.arrays.graph import Form, frozen
from symroof.arrays.kernels import arrays
from symroof.arrays.lower import Builder
from symroof.formula.evaluate import NoValue, written
from symroof.formula.tree import Compare
from symroof.theory.case import Case
from symroof.theory.layout import shapes

DOUBT = 1e-9
"""A difference below this share of the sides shows no sign: floats may be off by so much where terms cancel."""
UNDECIDED = float("nan")

Place = Mapping[str, Any]
"""Where ranged inputs stand: a number each, or an array with one for each point."""


@dataclass
class RoughDifferences:
    """Left side less right side of the equations of a case along an unknown, wherever its ``ranged`` inputs stand.

    One set of array operations serves all equations in an unknown and every corner of the ranges.
    """

    unknown: str
    case: Case
    ranged: tuple[str, ...] = ()
    _sides: dict[Compare, tuple[Form, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, unknown: str, case: Case, box: Mapping[str, tuple[Fraction, Fraction]]) -> RoughDifferences:
        """Those of a case with ranges; for itself alone where floats do not hold their ends, or the formulas of a device turn on them."""
        ends = [end for name, span in box.items() for end in (*span, case.value(name))]
        shared = all(map(in_floats, ends)) and not any(map(shapes, box))
        return cls(unknown, case, tuple(name for name in box if name != unknown) if shared else ())

    @cached_property
    def _builder(self) -> Builder:
        inputs = (self.unknown, *self.ranged)
        open_case = self.case.freed(inputs)
        return Builder(open_case if open_case is self.case else replace(open_case, rounded=True), inputs)

    def place(self, case: Case) -> Place:
        """Where the ranged inputs stand in a case."""
        return {name: float(case.value(name)) for name in self.ranged}

    def places(self, cases: Sequence[Case]) -> Place:
        """Where they stand in a case for each point."""
        each = {number: self.place(case) for number, case in {id(case): case for case in cases}.items()}
        return {name: np.array([each[id(case)][name] for case in cases]) for name in self.ranged}

    def at(self, relation: Compare, points: Sequence[Fraction | float], place: Place) -> list[float]:
        """The differences at some points; NaN where floats do not show the sign, or there is no value."""
        try:
            values = arrays(self._builder.graph, {self.unknown: np.array([float(point) for point in points]), **place}, mend)
            with np.errstate(all="ignore"):
                left, right = [np.asarray(values.form(side), dtype=float) for side in self._lowered(relation)]
                difference = left - right
                clear = np.isfinite(difference) & (np.abs(difference) > DOUBT * (np.abs(left) + np.abs(right)))
        except (NoValue, OverflowError, ValueError):  # ValueError: no sides
            return [UNDECIDED] * len(points)
        shown: list[float] = np.broadcast_to(np.where(clear, difference, UNDECIDED), len(points)).tolist()
        return shown

    def _lowered(self, relation: Compare) -> tuple[Form, ...]:
        """The sides over the inputs; none where one has no value."""
        if relation not in self._sides:
            self._sides[relation] = ()
            with contextlib.suppress(NoValue):  # exact values say why
                self._sides[relation] = tuple(frozen(self._builder.value(side)) for side in (relation.left, relation.right))
        return self._sides[relation]


@lru_cache(maxsize=1024)
def in_floats(value: Fraction) -> bool:
    """Whether the decimal that a float is written as is just this value.

    >>> in_floats(Fraction(7, 10)), in_floats(Fraction(1, 3))
    (True, False)
    """
    return written(float(value)) == value
