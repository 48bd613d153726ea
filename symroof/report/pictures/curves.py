"""A quantity over one input, and the solved points on it: memory limit, target, ridge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.solved_equation import LIMIT, to_whole
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import NOT_EVERYWHERE, Result
from symroof.drawing.colours import DASHED, DOTTED, OCHRE, VERMILION
from symroof.drawing.frame import Frame
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.thresholds import FULL_MEMORY

BEYOND = "#808080"
"""Grey for what does not fit in memory."""
STEP = {"ttft": "prefill", "itl": "decode"}
"""Latency -> the step that it measures."""
POINTS = 48
"""Points of a curve; its corners are solved separately."""


def cases_at(case: Case, by: str, points: Sequence[Fraction]) -> list[Case]:
    """A case at values of one input."""
    return [case.changed({by: point}) for point in points]


def values_along(cases: Sequence[Case], quantity: str) -> list[float]:
    """The values of a quantity along an axis; NaN if unknown."""
    return [_value(case, quantity) for case in cases]


def band(
    answers: BoundCase, quantity: str, by: str, points: Sequence[Fraction]
) -> list[tuple[float, float]]:
    """The minimum and maximum over the corners of the ranges; empty without ranges."""
    values = [values_along(cases_at(corner, by, points), quantity) for corner in answers.corners]
    return [(min(ends), max(ends)) for ends in zip(*values, strict=True)]


AT_PEAK = "bound at 100 % of peak"


def peak_curve(
    answers: BoundCase, quantity: str, by: str, points: Sequence[Fraction]
) -> list[tuple[float, float]]:
    """The curve at 100 % of peak; empty if the case assumes that already."""
    if answers.at_peak is None:
        return []
    values = values_along(cases_at(answers.at_peak.case, by, points), quantity)
    return [
        (float(point), value)
        for point, value in zip(points, values, strict=True)
        if math.isfinite(value)
    ]


def with_bound(answers: BoundCase, quantity: str) -> str:
    """``46.5 ms (32.6 to 67.3 ms), bound 12.3 ms``."""
    bound = answers.peak_bound_text(quantity)
    return answers.result(quantity).plain() + (f", bound {bound}" if bound else "")


def result_at(answers: BoundCase, quantity: str, by: str, point: Fraction) -> Result:
    """A quantity with its range at a value of one input that fits in memory."""
    symbol, value = (
        answers.case.theory.symbol(quantity),
        Fraction(answers.case.changed({by: point}).value(quantity)),
    )
    try:
        values = [
            value,
            *(Fraction(case.changed({by: point}).value(quantity)) for case in answers.corners),
        ]
    except NoValue:
        return Result(symbol, value, flags=(NOT_EVERYWHERE,))
    return Result(symbol, value, *((min(values), max(values)) if answers.corners else (None, None)))


def value_at(case: Case, quantity: str, by: str, point: Fraction) -> float:
    """A quantity at a value of an input; NaN if it has no value there."""
    return _value(case.changed({by: point}), quantity)


def _value(case: Case, quantity: str) -> float:
    try:
        return float(case.value(quantity))
    except (NoValue, OverflowError):
        return math.nan


def log_spaced(
    low: float, high: float, more: Sequence[float] = (), count: int = POINTS
) -> list[Fraction]:
    """Logarithmically spaced integers, and the solved points between them."""
    steps = {Fraction(round(low * (high / low) ** (i / (count - 1)))) for i in range(count)}
    return sorted(
        steps | {Fraction(value) for value in more if low < value < high and math.isfinite(value)}
    )


@dataclass(frozen=True)
class AxisLimit:
    """A solved point on an axis.

    Attributes:
        value: the crossing; infinity if every value is within the limit, 0 if none is.
    """

    solution: Solution
    value: Fraction | float

    @property
    def exists(self) -> bool:
        """Whether there is a crossing."""
        return 0 < self.value < math.inf

    @property
    def count(self) -> int:
        """The largest whole number within the limit."""
        value = float(self.value)
        limit = self.solution.kind == LIMIT
        return self.solution.rounded(value) if limit else to_whole(value, LIMIT)

    def allows(self, thing: str) -> str:
        """``at most 12 requests``, ``any number of requests``, ``none``."""
        if math.isinf(self.value):
            return f"any number of {thing}s"
        if not self.value or self.count < 1:
            return "none"
        return f"at most {self.count:,} {thing}{'' if self.count == 1 else 's'}"


def solve_limit(equation: str, answers: BoundCase, by: str) -> AxisLimit | None:
    """The value of an input that solves an equation; None if a side is unknown or does not depend on it."""
    try:
        solution = solve(equation, answers, by)
    except (InputError, NoValue):
        return None
    if solution.verdict == "crosses" and solution.value is not None:
        return AxisLimit(solution, solution.value)
    if solution.verdict in ("lhs_above", "lhs_below"):
        return AxisLimit(solution, 0.0 if solution.verdict == "lhs_above" else math.inf)
    return None


def memory_limit(answers: BoundCase, by: str) -> AxisLimit | None:
    """The largest value of an input that fits in memory."""
    return solve_limit(FULL_MEMORY, answers, by)


@dataclass(frozen=True)
class Bounds:
    """The solved limits of a latency, ``ttft`` or ``itl``, over one input.

    Attributes:
        goal: the target of the latency, if set.
        memory: the largest value that fits in memory.
        target: the largest value that meets the target.
        ridge: where compute time equals memory time; None if the latency does not consist of both.
    """

    metric: str
    by: str
    goal: Fraction | None
    memory: AxisLimit | None
    target: AxisLimit | None
    ridge: AxisLimit | None

    @classmethod
    def of(cls, metric: str, answers: BoundCase, by: str) -> Bounds:
        times = [f"{STEP[metric]}_{bound}_time" for bound in ("compute", "memory")]
        ridge = (
            solve_limit(" = ".join(times), answers, by)
            if set(answers.case.reachable_names(metric)).issuperset(times)
            else None
        )
        return cls(
            metric,
            by,
            answers.targets.get(metric),
            memory_limit(answers, by),
            solve_limit(f"{metric} = {metric}_target", answers, by),
            ridge,
        )

    @property
    def limits(self) -> list[AxisLimit]:
        """The known limits."""
        return [place for place in (self.memory, self.target, self.ridge) if place]

    def draw(self, frame: Frame) -> None:
        """Draw a line for each limit."""
        if self.memory:
            frame.memory_limit(float(self.memory.value))
        if self.goal is not None:
            frame.horizontal_line("target", float(self.goal), VERMILION, DASHED)
        if self.ridge and self.ridge.exists:
            frame.vertical_line("ridge", float(self.ridge.value), OCHRE, DOTTED)

    def mark(self, frame: Frame) -> None:
        """Draw a square where the target is met."""
        if self.goal is not None and self.target and self.target.exists:
            frame.marker(float(self.target.value), float(self.goal), "square", VERMILION, 4.5)


@dataclass(frozen=True)
class QuantityCurve:
    """A quantity over an input, within and beyond the memory limit, interrupted at ``poles``."""

    points: Sequence[Fraction]
    cases: Sequence[Case]
    values: Sequence[float]
    memory: AxisLimit | None
    poles: Sequence[Fraction] = ()

    @classmethod
    def through(
        cls, answers: BoundCase, bounds: Bounds, points: Sequence[Fraction]
    ) -> QuantityCurve:
        cases = cases_at(answers.case, bounds.by, points)
        return cls(points, cases, values_along(cases, bounds.metric), bounds.memory)

    @property
    def places(self) -> list[float]:
        return [float(point) for point in self.points]

    @property
    def finite(self) -> list[float]:
        return [value for value in self.values if math.isfinite(value)]

    def draw(self, frame: Frame, colour: str) -> None:
        """Draw what fits in memory solid, the rest dashed and grey."""
        edge = float(self.memory.value) if self.memory else math.inf
        for pairs in self.runs():
            frame.curve("line", [pair for pair in pairs if pair[0] <= edge], colour, 2.2)
            frame.curve("beyond", [pair for pair in pairs if pair[0] >= edge], BEYOND, 2.0, DASHED)

    def runs(self) -> list[list[tuple[float, float]]]:
        """The continuous runs of points; a pole or an unknown value ends a run."""
        runs: list[list[tuple[float, float]]] = [[]]
        ends = [float(place) for place in self.poles]
        for x, y in zip(self.places, self.values, strict=True):
            before = runs[-1][-1][0] if runs[-1] else x
            if runs[-1] and (not math.isfinite(y) or any(before < place <= x for place in ends)):
                runs.append([])
            if math.isfinite(y):
                runs[-1].append((x, y))
        return [run for run in runs if run]
