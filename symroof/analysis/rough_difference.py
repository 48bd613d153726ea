"""The two sides of an equation at many values of an unknown at once, in floats: enough to see which is larger, almost everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from symroof.arrays.exact_fallback import mend
from symroof.arrays.graph import Form, frozen
from symroof.arrays.kernels import arrays
from symroof.arrays.lower import Builder
from symroof.formula.evaluate import NoValue
from symroof.formula.tree import Compare
from symroof.theory.case import Case

DOUBT = 1e-9
"""A difference below this share of the sides shows no sign: floats may be off by so much where terms cancel."""
UNDECIDED = float("nan")


class RoughDifference:
    """Left side less right side, NaN where floats do not show its sign or it has no value."""

    def __init__(self, relation: Compare, unknown: str, case: Case) -> None:
        open_case = case.freed((unknown,))
        self.unknown = unknown
        self.sides: tuple[Form, ...] = ()
        builder = Builder(open_case if open_case is case else replace(open_case, rounded=True), (unknown,))
        with contextlib.suppress(NoValue):  # exact values say why
            self.sides = tuple(frozen(builder.value(side)) for side in (relation.left, relation.right))
        self.graph = builder.graph

    def __call__(self, points: Sequence[Fraction]) -> list[float]:
        """The differences at some points."""
        try:
            values = arrays(self.graph, {self.unknown: np.array([float(point) for point in points])}, mend)
            with np.errstate(all="ignore"):
                left, right = [np.asarray(values.form(side), dtype=float) for side in self.sides]
                difference = left - right
                clear = np.isfinite(difference) & (np.abs(difference) > DOUBT * (np.abs(left) + np.abs(right)))
        except (NoValue, OverflowError, ValueError):  # ValueError: no sides
            return [UNDECIDED] * len(points)
        shown: list[float] = np.broadcast_to(np.where(clear, difference, UNDECIDED), len(points)).tolist()
        return shown
