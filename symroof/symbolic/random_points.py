"""Compares two formulas at random points: the ratio of their values, over several magnitudes of
every name. It says whether they are equal, by which number they differ, and which arms were tried.
"""

import math
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from symroof.symbolic.evaluation import NoValue, evaluate
from symroof.symbolic.expressions import Expr, names, parts, sums
from symroof.symbolic.step_polynomials import NotPolynomial, Steps

SECONDS = 0.15
FEWEST, MOST = 4, 48
MOST_WITHOUT_VALUE = 12
"""Points without a value, such as those of an unstable queue, after which more are not tried."""
DECADES = (1, 2, 3, 5)
"""Distances of values from 1, in powers of ten, used in turn; with more, a term would vanish in the rounding of another."""

MOST_INDEX, SMALL = 200, 9
MOST_WATCHED = 16
LARGEST_SIMPLE = 10**6
NEGLIGIBLE = 1e-10
"""Relative distance of values that are equal but for rounding."""


@dataclass(frozen=True)
class PointComparison:
    """The outcome of comparing two formulas at random points.

    Attributes:
        ratios: claimed over derived at each point where both have a value and neither is zero.
        one_zero: whether only one of the two was zero at some point, so that they differ by no constant factor.
        equal: whether both had the same value at every point.
        untried: whether some arm of a maximum or minimum was never active.
    """

    ratios: tuple[float, ...]
    one_zero: bool
    equal: bool
    untried: bool

    @property
    def constant(self) -> Fraction | None:
        """The ratio, if it is the same at every point."""
        if self.one_zero or len(self.ratios) < FEWEST:
            return None
        first = self.ratios[0]
        if not all(_nearly_equal(ratio, first) for ratio in self.ratios):
            return None
        simple = Fraction(first).limit_denominator(LARGEST_SIMPLE)
        return simple if _nearly_equal(float(simple), first) else Fraction(first)


class RandomPoint:
    """Values for names, and for quantities at changed inputs: the same for the same changes."""

    axes = 0

    def __init__(self, seed: str, decades: int, whole: bool) -> None:
        self.seed, self.decades, self.whole = seed, decades, whole
        self.values: dict[str, float] = {}

    def value(self, name: str) -> float:
        if name not in self.values:
            self.values[name] = self.drawn(name)
        return self.values[name]

    def drawn(self, name: str) -> float:
        draw = random.Random(f"{self.seed} {name}")
        if self.whole:
            return float(draw.randint(1, SMALL))
        power = draw.randint(-self.decades - 2, self.decades - 2)
        return float(draw.randint(100, 999) * Fraction(10) ** power)

    def evaluate(self, expr: Expr, at: Mapping[str, float] | None = None) -> Any:
        """The value of a formula here, some of its names set."""
        return evaluate(expr, self, at)

    def at(self, name: str, changes: Mapping[str, Any]) -> float:
        if any(isinstance(value, Steps) for value in changes.values()):
            raise NotPolynomial("a quantity at changed inputs")
        moved = {key: value for key, value in changes.items() if value != self.value(key)}
        return (
            self.drawn(f"{name} {sorted((key, hash(value)) for key, value in moved.items())}")
            if moved
            else self.value(name)
        )


def compare_at_points(
    claimed: Expr, derived: Expr, seed: int = 0, to_a_difference: bool = False
) -> PointComparison | None:
    """The two formulas at random points; None if too few points give both a value within the time limit.

    ``to_a_difference`` stops at the first point where they differ: enough to know whether they are equal.
    """
    summed = {*sums(claimed), *sums(derived)}
    if any(inner is not node for node in summed for inner in sums(node)):
        return None  # a sum of sums may take arbitrarily long
    extremes = dict.fromkeys(
        node
        for side in (claimed, derived)
        for node in parts(side)
        if isinstance(node, (sympy.Max, sympy.Min))
    )
    bound = {node.index for node in summed}
    watched = [node for node in list(extremes)[:MOST_WATCHED] if bound.isdisjoint(names(node))]
    # a floor of zero never binds where all is positive, and its absence is seen where something is not
    untried = {(node, i) for node in watched for i, arg in enumerate(node.args) if arg != 0}
    ratios: list[float] = []
    equal, one_zero, count, end = True, False, 0, time.process_time() + SECONDS
    for tried, point in enumerate(_points(seed, bool(summed))):
        if time.process_time() > end if count else tried >= MOST_WITHOUT_VALUE:
            break
        try:
            if any(
                not evaluate(node.last, point) - evaluate(node.first, point) < MOST_INDEX
                for node in summed
            ):
                continue
            ours, theirs = evaluate(claimed, point), evaluate(derived, point)
            untried -= {(node, _taken(node, point)) for node, _ in untried}
        except (NoValue, NotPolynomial):
            continue
        count += 1
        one_zero |= (ours == 0) != (theirs == 0)
        equal &= _nearly_equal(ours, theirs)
        if to_a_difference and not equal:
            return None
        if ours and theirs and math.isfinite(ours / theirs):
            ratios.append(ours / theirs)
    if count < FEWEST:
        return None
    return PointComparison(tuple(ratios), one_zero, equal, bool(untried))


def _points(seed: int, whole: bool) -> Iterator[RandomPoint]:
    for i in range(MOST):
        yield RandomPoint(f"{seed} {i}", DECADES[i % len(DECADES)], whole)


def _taken(extreme: Expr, point: RandomPoint) -> int:
    values = [evaluate(arg, point) for arg in extreme.args]
    return values.index(max(values) if isinstance(extreme, sympy.Max) else min(values))


def _nearly_equal(a: float, b: float) -> bool:
    return abs(a - b) <= NEGLIGIBLE * max(abs(a), abs(b))
