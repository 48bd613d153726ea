"""Random values of names over several magnitudes, and whether two formulas are equal at such points."""

import random
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from symroof.errors import NoValue
from symroof.symbolic.evaluation import evaluate
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
NEGLIGIBLE = 1e-10
"""Relative distance of values that are equal but for rounding."""


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
        if not moved:
            return self.value(name)
        return self.drawn(f"{name} {sorted((key, hash(value)) for key, value in moved.items())}")


def equal_at_points(claimed: Expr, derived: Expr, differing: int = FEWEST) -> bool | None:
    """Whether two formulas have the same value at random points, and every arm of a maximum or minimum was active at some; None if too few points give
    both a value within the time limit, ``differing`` of formulas that differ."""
    summed = {*sums(claimed), *sums(derived)}
    if any(inner is not node for node in summed for inner in sums(node)):
        return None  # a sum of sums may take arbitrarily long
    nodes = dict.fromkeys((*parts(claimed), *parts(derived)))
    extremes = [node for node in nodes if isinstance(node, (sympy.Max, sympy.Min))]
    bound = {node.index for node in summed}
    watched = [node for node in extremes[:MOST_WATCHED] if bound.isdisjoint(names(node))]
    # a floor of zero never binds where all is positive, and its absence is seen where something is not
    untried = {(node, i) for node in watched for i, arg in enumerate(node.args) if arg != 0}
    count, equal, end = 0, True, time.process_time() + SECONDS
    for tried in range(MOST):
        if time.process_time() > end if count else tried >= MOST_WITHOUT_VALUE:
            break
        point = RandomPoint(f"0 {tried}", DECADES[tried % len(DECADES)], whole=bool(summed))
        try:
            lengths = [point.evaluate(node.last) - point.evaluate(node.first) for node in summed]
            if not all(length < MOST_INDEX for length in lengths):
                continue
            ours, theirs = point.evaluate(claimed), point.evaluate(derived)
            untried -= {(node, _taken(node, point)) for node, _ in untried}
        except (NoValue, NotPolynomial):
            continue
        count += 1
        equal &= abs(ours - theirs) <= NEGLIGIBLE * max(abs(ours), abs(theirs))
        if not equal and count >= differing:
            return False
    return None if count < FEWEST else not untried


def _taken(extreme: Expr, point: RandomPoint) -> int:
    values = list(map(point.evaluate, extreme.args))
    return values.index(max(values) if isinstance(extreme, sympy.Max) else min(values))
