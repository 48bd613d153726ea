"""Poles of a curve between the points through which it is drawn."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from symroof.report.pictures.curves import value_at
from symroof.symbolic.axis_points import Axis
from symroof.symbolic.crossings import crossings
from symroof.theory.case import Case

HALVINGS = 44
"""Bisection steps, enough for the precision of a float."""
BEYOND_DOUBT = 1e6
"""Growth over the largest neighbouring value that indicates a pole without sign change."""
CLOSER = 12
"""Points on either side of a pole, each at half the previous distance."""


def poles(
    case: Case, quantity: str, by: str, points: Sequence[Fraction], values: Sequence[float]
) -> list[Fraction]:
    """The poles of a quantity between points, with or without a sign change.

    >>> from symroof.analysis.study import Study
    >>> from symroof.symbolic.reading import parse
    >>> from symroof.theory.symbols import ExpressionName
    >>> case, formula = Study(batch=1).first.case, ExpressionName.of(parse("1/(3 - batch)"))
    >>> [round(float(place), 9) for place in poles(case, formula, "batch", [Fraction(1), Fraction(4)], [0.5, -1.0])]
    [3.0]
    """
    known = [
        (point, value) for point, value in zip(points, values, strict=True) if math.isfinite(value)
    ]
    of = np.vectorize(partial(value_at, case, quantity, by), otypes=[float])
    axes = [Axis(float(a[0]), float(b[0])) for a, b in itertools.pairwise(known) if a[1] * b[1] < 0]
    found = crossings(lambda x, _: (of(x), 0.0), axes) if axes else []  # else a root, or a jump
    crossed = [Fraction(each.pole) for each in found if each.pole is not None]
    peaks = (known[i - 1 : i + 2] for i in range(1, len(known) - 1))
    touched = [
        _peak(case, quantity, by, a[0], b, c[0])
        for a, b, c in peaks
        if min(a[1] * b[1], b[1] * c[1]) > 0 and abs(b[1]) > max(abs(a[1]), abs(c[1]))
    ]
    return sorted(place for place in (*crossed, *touched) if place is not None)


def _peak(
    case: Case, quantity: str, by: str, low: Fraction, top: tuple[Fraction, float], high: Fraction
) -> Fraction | None:
    """The pole around the largest of three values of one sign; None for a finite maximum."""
    for _ in range(HALVINGS):
        left, right = (
            Fraction(float(low + (high - low) * share))
            for share in (Fraction(1, 3), Fraction(2, 3))
        )
        at_left, at_right = (abs(value_at(case, quantity, by, point)) for point in (left, right))
        if math.isnan(at_left) or math.isnan(at_right):
            return left if math.isnan(at_left) else right
        low, high = (left, high) if at_left < at_right else (low, right)
    middle = (low + high) / 2
    return (
        middle if abs(value_at(case, quantity, by, middle)) > BEYOND_DOUBT * abs(top[1]) else None
    )


def points_near(low: Fraction, place: Fraction, high: Fraction) -> list[Fraction]:
    """Points that approach a pole from both sides, in order.

    >>> [float(point) for point in points_near(Fraction(0), Fraction(1), Fraction(2))][11:13]
    [0.999755859375, 1.000244140625]
    """
    parts = [Fraction(1, 2**i) for i in range(1, CLOSER + 1)]
    return [
        *(place - (place - low) * part for part in parts),
        *(place + (high - place) * part for part in reversed(parts)),
    ]
