"""A quantity along one input, and the solved points on it: where memory ends, a target is met, compute and memory take as long."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.solved_equation import LIMIT, to_whole
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plural
from symroof.errors import InputError
from symroof.report.pictures.chart import Chart, counted, seconds
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.layout import affects_layout
from symroof.theory.thresholds import FULL_MEMORY

STEP = {"ttft": "prefill", "itl": "decode"}
"""Latency -> the step that it measures."""
POINTS = 48
"""Points of a curve; its corners are solved separately."""
AT_PEAK = "bound at 100 % of peak"


def along(case: Case, quantity: str, by: str, points: Sequence[float] | Any) -> Any:
    """The values of a quantity along an input; NaN where there is none."""
    columns = [np.asarray(points, dtype=float)]
    if affects_layout(by):  # another number of devices is another theory
        columns = list(columns[0].ravel())
    found = [np.broadcast_to(value_at(case, quantity, by, at), np.shape(at)) for at in columns]
    return np.array(found, dtype=float).reshape(np.shape(points))


def value_at(case: Case, quantity: str, by: str, at: Any) -> Any:
    """A quantity at a value of an input, or at values; NaN where there is none."""
    try:
        return case.changed({by: at}).value(quantity)
    except (NoValue, OverflowError):
        return math.nan


def next_power_of_two(value: float) -> float:
    """The smallest power of two that is not below a value.

    >>> next_power_of_two(5), next_power_of_two(0.3)
    (8.0, 0.5)
    """
    return 2.0 ** math.ceil(math.log2(value) - 1e-9)


def log_spaced(low: float, high: float, more: Sequence[float] = (), count: int = POINTS) -> Any:
    """Logarithmically spaced whole numbers, and the solved points between them."""
    steps = np.rint(low * (high / low) ** (np.arange(count) / (count - 1)))
    return np.unique([*steps, *(x for x in more if low < x < high and math.isfinite(x))])


def band(answers: BoundCase, quantity: str, by: str, points: Any) -> list[tuple[float, float]]:
    """The outline of the area that the corners of the ranges span; empty without ranges."""
    corners = [along(corner, quantity, by, points) for corner in answers.corners]
    if not corners:
        return []
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    outline = [*zip(points, low, strict=True), *zip(points[::-1], high[::-1], strict=True)]
    return [point for point in outline if np.isfinite(point).all()]


def at_peak(answers: BoundCase, quantity: str, by: str, points: Any) -> Any:
    """The curve at 100 % of peak; empty if the case assumes that already."""
    if answers.at_peak is None:
        return np.empty((0, 2))
    made = np.column_stack([points, along(answers.at_peak.case, quantity, by, points)])
    return made[np.isfinite(made[:, 1])]


def with_bound(answers: BoundCase, quantity: str) -> str:
    """``46.5 ms (32.6 to 67.3 ms), theoretical minimum 12.3 ms``."""
    bound = answers.peak_bound_text(quantity)
    return answers.result(quantity).plain() + (f", theoretical minimum {bound}" if bound else "")


def requests(batch: float) -> str:
    """``1 request``, ``32 requests``."""
    return f"{counted(float(batch))} {plural('request', batch)}"


def counted_in(thing: str, number: float) -> str:
    """``1 token``, ``4,096 tokens``."""
    return f"{math.floor(number):,} {plural(thing, math.floor(number))}"


@dataclass(frozen=True)
class AxisLimit:
    """A solved point on an axis: infinity if every value is within the limit, 0 if none is."""

    solution: Solution
    value: float

    @property
    def exists(self) -> bool:
        """Whether there is a crossing."""
        return 0 < self.value < math.inf

    @property
    def count(self) -> int:
        """The largest whole number within the limit."""
        limit = self.solution.kind == LIMIT
        return self.solution.rounded(self.value) if limit else to_whole(self.value, LIMIT)

    def allows(self, thing: str) -> str:
        """``at most 12 requests``, ``any number of requests``, ``none``."""
        if math.isinf(self.value):
            return f"any number of {thing}s"
        if not self.value or self.count < 1:
            return "none"
        return f"at most {counted_in(thing, self.count)}"


def solve_limit(equation: str, answers: BoundCase, by: str) -> AxisLimit | None:
    """The value of an input that solves an equation; None if a side is unknown or does not depend on it."""
    try:
        solution = solve(equation, answers, by)
    except (InputError, NoValue):
        return None
    if solution.verdict == "crosses" and solution.value is not None:
        return AxisLimit(solution, float(solution.value))
    if solution.verdict in ("lhs_above", "lhs_below"):
        return AxisLimit(solution, 0.0 if solution.verdict == "lhs_above" else math.inf)
    return None


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
    goal: float | None
    memory: AxisLimit | None
    target: AxisLimit | None
    ridge: AxisLimit | None

    @classmethod
    def of(cls, metric: str, answers: BoundCase, by: str, ridge: bool = True) -> Bounds:
        """Solved; ``metric`` may be another of the same target, without a ridge."""
        target = "ttft" if "ttft" in metric else "itl"
        times = [f"{STEP[target]}_{bound}_time" for bound in ("compute", "memory")]
        both = ridge and set(answers.case.reachable_names(metric)).issuperset(times)
        goal = answers.targets.get(target)
        return cls(
            target,
            by,
            None if goal is None else float(goal),
            solve_limit(FULL_MEMORY, answers, by),
            solve_limit(f"{metric} = {target}_target", answers, by),
            solve_limit(" = ".join(times), answers, by) if both else None,
        )

    @property
    def limits(self) -> list[AxisLimit]:
        """The known limits."""
        return [place for place in (self.memory, self.target, self.ridge) if place]

    @property
    def edge(self) -> float:
        """Where memory ends."""
        return self.memory.value if self.memory else math.inf

    def allow(self, thing: str) -> list[str]:
        """The limits by target and memory in words."""
        found = []
        if self.target and self.goal is not None:
            words = self.target.allows(thing)
            found.append(f"the target of {seconds(self.goal)} allows {words}")
        return [*found, f"memory holds {self.memory.allows(thing)}"] if self.memory else found

    def draw(self, chart: Chart) -> None:
        """A line for each limit, and a square where the target is met, with their labels."""
        if self.memory:
            chart.memory(self.memory.value, f"memory holds {self.memory.allows('token')}")
        if self.ridge and self.ridge.exists:
            first = f"{math.ceil(self.ridge.value):,}"
            words = f"compute time = memory time: ridge at {first} tokens"
            chart.upright("ridge", self.ridge.value, "orange", ":", words)
        if self.goal is None:
            return
        words = f"{self.metric.upper()} target {seconds(self.goal)}"
        chart.level("target", self.goal, "vermilion", "--", words)
        if self.target and self.target.exists:
            flag = " †" if self.target.value > self.edge else ""
            spot, words = (
                [(self.target.value, self.goal)],
                f"met up to {self.target.count:,} tokens",
            )
            chart.spots("target met", spot, "s", "vermilion", 6.5, label=f"{words}{flag}")

    def shade(self, chart: Chart, answers: BoundCase, share: float) -> None:
        """The stretches of the axis in which compute or memory takes longer, with what bounds them."""
        if self.ridge is None:
            return
        solution, low, high = self.ridge.solution, chart.x.low, chart.x.high
        edges = [low, *sorted(float(v) for v in solution.values if low < v < high), high]
        for start, end in itertools.pairwise(edges):
            until = min(end, self.edge) if self.edge > start else end
            left, right = map(self._between(answers, start, end).evaluate, solution.sides)
            winner, other = ("compute", "memory") if left > right else ("memory", "compute")
            there = self._between(answers, start, until)
            words = f"{winner}-bound"
            if there.value(f"{STEP[self.metric]}_bound") != winner:
                words = f"{winner} longer than {other}"  # links or overheads take most
            colour = "orange" if winner == "compute" else "sky"
            chart.shade(start, until, colour, share, words)
            chart.shade(until, end, colour, share)

    def _between(self, answers: BoundCase, start: float, end: float) -> Case:
        """The case at the geometric mean of two axis values."""
        return answers.case.changed({self.by: math.sqrt(max(start, 1e-9) * end)})


def draw_line(chart: Chart, points: Any, edge: float, colour: str = "blue") -> None:
    """A curve: what fits in memory solid, the rest dashed and grey."""
    chart.curve("line", points[points[:, 0] <= edge], colour, "-", 2.2)
    chart.curve("beyond", points[points[:, 0] >= edge], "faint", "--", 2.0)
