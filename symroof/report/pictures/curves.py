"""Curves: a quantity over one input, point by point, and what is solved on the way: what memory holds, what a target allows, where the bound changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.solution import LIMIT, Solution, whole
from symroof.analysis.solve import solve
from symroof.cases.case_results import Answers, Result
from symroof.drawing.colours import DASHED, DOTTED, OCHRE, VERMILION
from symroof.drawing.frame import Frame
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.theory.case import Case
from symroof.theory.thresholds import MEMORY

BEYOND = "#808080"
"""The grey of what memory does not hold."""
POINTS = 48
"""How many points a curve is drawn through; a straight line in logarithms needs two, the corners are solved."""


def curve(answers: Answers, quantity: str, by: str, points: Sequence[Fraction]) -> list[float]:
    """The values of a quantity at values of one input; not a number where there is none."""
    return [_value(answers.case, quantity, by, point) for point in points]


def band(answers: Answers, quantity: str, by: str, points: Sequence[Fraction]) -> list[tuple[float, float]]:
    """The least and the largest value over the corners of the ranges; nothing where nothing is ranged."""
    found = [[_value(corner, quantity, by, point) for corner in answers.corners] for point in points if answers.corners]
    return [(min(values), max(values)) for values in found]


def moved(answers: Answers, quantity: str, by: str, point: Fraction, share: Fraction | int = 1) -> Result:
    """A quantity at a value of one input, or its share, with its range; memory has to hold it there, for it carries no flag."""
    values = [Fraction(case.changed({by: point}).value(quantity)) / share for case in (answers.case, *answers.corners)]
    ends = (min(values), max(values)) if answers.corners else (None, None)
    return Result(answers.case.theory.symbol(quantity), values[0], *ends)


def _value(case: Case, quantity: str, by: str, point: Fraction) -> float:
    try:
        return float(case.changed({by: point}).value(quantity))
    except NoValue:
        return math.nan


def spread(low: float, high: float, more: Sequence[float] = (), count: int = POINTS) -> list[Fraction]:
    """Whole numbers evenly apart in logarithms, and the solved places between them as they are."""
    steps = {Fraction(round(low * (high / low) ** (i / (count - 1)))) for i in range(count)}
    return sorted(steps | {Fraction(value) for value in more if low < value < high and math.isfinite(value)})


def power_of_two(value: float) -> float:
    """The least power of two that is not below a value."""
    return 2.0 ** math.ceil(math.log2(value) - 1e-9)


@dataclass(frozen=True)
class Limit:
    """A solved place on an axis.

    Attributes:
        value: the crossing; infinity where every value is on the near side, 0 where none is.
    """

    solution: Solution
    value: Fraction | float

    @property
    def real(self) -> bool:
        """Whether there is such a place."""
        return 0 < self.value < math.inf

    @property
    def count(self) -> int:
        """The last whole number on the near side."""
        return self.solution.rounded(Fraction(self.value)) if self.solution.kind == LIMIT else whole(Fraction(self.value), LIMIT)

    def allows(self, thing: str) -> str:
        """``at most 12 requests``, ``any number of requests``, ``none``."""
        if math.isinf(self.value):
            return f"any number of {thing}s"
        if not self.value or self.count < 1:
            return "none"
        return f"at most {self.count:,} {thing}{'' if self.count == 1 else 's'}"


def limit(equation: str, answers: Answers, by: str) -> Limit | None:
    """Where the left side of an equation passes the right; None where a side is not known or nothing moves."""
    try:
        solution = solve(equation, answers, by)
    except (InputError, NoValue):
        return None
    if solution.verdict == "crosses" and solution.value is not None:
        return Limit(solution, solution.value)
    if solution.verdict in ("lhs_above", "lhs_below"):
        return Limit(solution, 0.0 if solution.verdict == "lhs_above" else math.inf)
    return None


def held(answers: Answers, by: str) -> Limit | None:
    """How much of an input memory holds."""
    return limit(MEMORY, answers, by)


def speaks_of(answers: Answers, quantity: str, *names: str) -> bool:
    """Whether a quantity is worked out from all of some others here: a given value or formula may leave them out."""
    return set(answers.case.leads_to(quantity)).issuperset(names)


def edges(frame: Frame, goal: Fraction | None, memory: Limit | None, ridge: Limit | None) -> None:
    """The lines that bound a latency over its input: what memory holds, the target, the ridge."""
    if memory:
        frame.cut(float(memory.value))
    if goal is not None:
        frame.across("target", float(goal), VERMILION, DASHED)
    if ridge and ridge.real:
        frame.upright("ridge", float(ridge.value), OCHRE, DOTTED)


@dataclass(frozen=True)
class Line:
    """A curve with what memory holds of its input."""

    points: Sequence[Fraction]
    values: Sequence[float]
    held: Limit | None

    @classmethod
    def through(cls, answers: Answers, quantity: str, by: str, points: Sequence[Fraction], memory: Limit | None) -> Line:
        return cls(points, curve(answers, quantity, by, points), memory)

    @property
    def places(self) -> list[float]:
        return [float(point) for point in self.points]

    @property
    def finite(self) -> list[float]:
        return [value for value in self.values if math.isfinite(value)]

    def draw(self, frame: Frame, colour: str) -> None:
        """What memory holds as a full line, what lies beyond dashed and grey; the edge belongs to both."""
        edge = float(self.held.value) if self.held else math.inf
        pairs = [(x, y) for x, y in zip(self.places, self.values, strict=True) if math.isfinite(y)]
        frame.curve("line", [pair for pair in pairs if pair[0] <= edge], colour, 2.2)
        frame.curve("beyond", [pair for pair in pairs if pair[0] >= edge], BEYOND, 2.0, DASHED)
