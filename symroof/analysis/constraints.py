"""The conditions behind a headline: memory and targets, each a metric within its limit, and so an equation to solve."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.verdict import metric_of
from symroof.cases.case_results import TARGETS, Answers
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.theory.case import Case
from symroof.theory.thresholds import MEMORY, THRESHOLDS


@dataclass(frozen=True)
class Condition:
    """One condition of the headline: a metric stays within its limit."""

    name: str
    metric: str
    limit: str

    @property
    def equation(self) -> str:
        return MEMORY if self.name == "memory" else f"{self.metric} = {self.limit}"

    def inputs(self, case: Case) -> set[str]:
        """The inputs that a side is worked out from; ``tp`` too where it is one, and so stands in no formula until it may be another."""
        free = {"tp"}.intersection(case.freed({"tp"}).used(self.metric, self.limit))
        return free.union(case.used(self.metric, self.limit))

    def holds(self, case: Case) -> bool:
        return bool(case.value(self.metric) <= case.value(self.limit))

    def share(self, case: Case) -> Fraction:
        """How much of its limit the metric takes up."""
        return Fraction(case.value(self.metric)) / Fraction(case.value(self.limit))

    def solved(self, unknown: str, answers: Answers) -> Solution | None:
        """Where it is met with equality; None where a missing input leaves it open."""
        named = next((t.name for t in THRESHOLDS.values() if (t.equation, t.unknown) == (self.equation, unknown)), None)
        try:
            solution = solve(named, answers) if named else solve(self.equation, answers, unknown)  # the review solves the named ones anyhow
        except (InputError, NoValue):
            return None
        return None if solution.missing else solution


def conditions(answers: Answers) -> list[Condition]:
    """The conditions of the headline of a case: memory where it is known, and each target that has a metric."""
    memory = [Condition("memory", "memory_bytes_per_device", "usable_memory_per_device")] if answers.case.known("fits") else []
    return memory + [Condition(name, metric, TARGETS[name]) for name in answers.targets if (metric := metric_of(name, answers.case))]
