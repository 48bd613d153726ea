"""What pictures draw along one input: a quantity, the solved points on it (where memory is full, a target is met, compute and memory take as long)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symroof.analysis.equation import LIMIT, to_whole
from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Input
from symroof.errors import InputError, NoValue
from symroof.symbolic.expressions import number
from symroof.theory.case import Case
from symroof.theory.declarations import FULL_MEMORY
from symroof.theory.layout import affects_layout
from symroof.units import plural

POINTS = 48
"""Points of a curve; its corners are solved separately."""


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
        """``at most 12 requests``, ``every batch``, ``no batch``."""
        if math.isinf(self.value):
            return f"every {self.solution.unknown}"
        if not self.value or self.count < 1:
            return f"no {self.solution.unknown}"
        return f"at most {counted_in(thing, self.count)}"


def solve_limit(equation: str, answers: BoundCase, by: str) -> AxisLimit | None:
    """The value of an input that solves an equation; None if a side is unknown or does not depend on it."""
    try:
        solution = solve(equation, answers, by)
    except (InputError, NoValue):
        return None
    if solution.verdict == "crosses" and solution.value is not None:
        values = [float(x) for x in solution.values]
        # a batch that fills the memory touches its limit again and again
        if equation == FULL_MEMORY and not answers.does_not_fit:
            values = [x for x in values if x >= answers.case.value(by)] or [math.inf]
        return AxisLimit(solution, values[0])
    if solution.verdict in ("lhs_above", "lhs_below"):
        return AxisLimit(solution, 0.0 if solution.verdict == "lhs_above" else math.inf)
    return None


UNFIT = ", does not fit"
LENGTHS = frozenset({"prompt", "output", "cached_prefix"})
"""Inputs that a case at a context ignores."""


def compared(cases: Sequence[BoundCase], what: str) -> str:
    """What all cases have in common, and how many are drawn, for the line below a title."""
    models = {case.model.shown_name for case in cases if case.model}
    said = [*models] if len(models) == 1 else []
    for name in ("prompt", "output"):
        settings = [case.given[name].setting if name in case.given else None for case in cases]
        if settings[0] is not None and all(each == settings[0] for each in settings):
            said.append(f"{name} {int(cases[0].case.value(name)):,}")
    return ", ".join([*said, what])


def at_a_context(subject: BoundCase, at: float | None = None) -> BoundCase:
    """The case at a context, without prompt and output; inputs that are formulas of these are numbers.
    By default it is the context of a response's last step: memory and the ITL target are tested there.

    Raises:
        NoValue: neither a context nor a prompt has a value.
    """
    context = float(subject.case.value("peak_context")) if at is None else at

    def made() -> BoundCase:
        inputs = {**subject.given, "context": Input(number(context), "map")}
        case = subject.with_changes(given=inputs).case
        for name, value in subject.given.items():
            if name in LENGTHS:
                del inputs[name]
            elif value.is_formula and not LENGTHS.isdisjoint(case.reachable_names(name)):
                with suppress(NoValue):  # unknown here, unknown there
                    inputs[name] = replace(value, setting=number(subject.case.value(name)))
        return subject.with_changes(given=inputs)

    return subject.once(("at context", context), made)


def logarithmic(values: Any, room: float) -> tuple[float, float]:
    """The ends of an axis that has room around some values."""
    finite = [float(x) for x in values if math.isfinite(x)]
    return min(finite) / room, max(finite) * room
