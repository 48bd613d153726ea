"""The conditions behind a headline: memory and targets, each a metric within its limit, and so an equation to solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sympy import Symbol

from symroof.analysis.verdict import (
    AT_A_RATE,
    LOAD,
    TARGET_METRICS,
    findings,
    memory_needed,
    metric_of,
    queues,
    unknown_targets,
    waits_without_end,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue, UndefinedValue
from symroof.symbolic.kernels import holds
from symroof.theory.case import Case
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.theory.thresholds import FULL_MEMORY, THRESHOLDS

if TYPE_CHECKING:
    from symroof.analysis.solution import Solution

WAITS = (TARGET_METRICS["ttft"], AT_A_RATE[TARGET_METRICS["itl"]])
"""Latencies that are searched for at an arrival rate, and have no value where prompts pile up."""

UNBOUNDED = 1e300
"""The share of its limit that a wait without end takes up."""


@dataclass(frozen=True)
class Constraint:
    """One condition of the headline: a metric stays within its limit."""

    name: str
    metric: str
    limit: str

    @property
    def equation(self) -> str:
        return FULL_MEMORY if self.name == "memory" else f"{self.metric} = {self.limit}"

    def bound(self, case: Case) -> float:
        """The limit as a number."""
        return 1.0 if self.name == LOAD else float(case.value(self.limit))

    @property
    def sides(self) -> tuple[str, ...]:
        """The names of both sides: the limit of a load is a plain number."""
        return (self.metric,) if self.name == LOAD else (self.metric, self.limit)

    def inputs(self, case: Case) -> set[str]:
        """The inputs that a side is computed from; ``tp`` too where it is one, and so is in no formula until it may be another."""
        free = {"tp"}.intersection(case.without_values({"tp"}).inputs_used(*self.sides))
        return free.union(case.inputs_used(*self.sides))

    def holds(self, case: Case) -> bool:
        """Whether it is met; at a load of 1 the queue already grows without end, and no wait in it meets a target.

        Raises:
            UndefinedValue: an input that it needs has no value.
            NoValue: it has no value here, and no queue is the reason.
        """
        bound = self.bound(case)
        try:
            value = case.value(self.metric)
        except UndefinedValue:
            raise
        except NoValue:
            if self.metric in WAITS and "arrival_rate" in self.inputs(case):
                return False
            raise
        return bool(holds("<" if self.name == LOAD else "<=", value, bound))

    def share(self, case: Case) -> float:
        """How much of its limit the metric takes up; a wait that has no end more than any number of times."""
        try:
            return float(case.value(self.metric)) / self.bound(case)
        except NoValue:
            if not waits_without_end(self.name, case) and self.metric != WAITS[1]:
                raise
            return UNBOUNDED

    def has_wait(self, case: Case) -> bool:
        """Whether the metric holds an estimated wait, which no formula gives: it is searched."""
        return self.metric in WAITS and "arrival_rate" in case.given

    def solution(self, unknown: str, bound_case: BoundCase, waits: bool = False) -> Solution | None:
        """Where it is met with equality; None where a missing input leaves it open, and of a wait, unless ``waits`` are to be searched for, too.

        A search for a wait takes some tenths of a second, and is only made for what is no count.
        """
        from symroof.analysis.solve import solve  # what only evaluates needs no solver

        if self.has_wait(bound_case.case) and (
            not waits or bound_case.case.theory.symbol(unknown).counted
        ):
            return None
        same = (
            threshold.name
            for threshold in THRESHOLDS.values()
            if (threshold.equation, threshold.unknown) == (self.equation, unknown)
        )
        named = next(same, None)  # the review solves the named ones anyhow
        try:
            solution = solve(named or self.equation, bound_case, None if named else unknown)
        except (InputError, NoValue):
            return None
        return None if solution.missing else solution


def constraints(bound_case: BoundCase) -> list[Constraint]:
    """The conditions of the headline of a case: memory and load where they are known, and each target that has a metric."""
    case, found = bound_case.case, []
    if case.has_value("fits"):
        sides = "memory_bytes_per_device", "usable_memory_per_device"
        found.append(Constraint("memory", *sides))
    if queues(case) and case.has_value(LOAD):
        found.append(Constraint(LOAD, LOAD, "1"))
    for name in bound_case.targets:
        metric = metric_of(name, case)
        if metric is None and waits_without_end(name, case):
            metric = TARGET_METRICS[name]
        if metric:
            found.append(Constraint(name, metric, TARGET_SYMBOLS[name]))
    return found


def passes(bound_case: BoundCase) -> bool | None:
    """Whether a case fits and is known to meet every target over all of its ranges; None where it does with ranges at their middle, and not throughout.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3-8b", "h100-sxm", prompt=4096, batch=[1, 8, 32], mbu="0.5..0.9", mfu=1, targets={"itl": "10 ms"})
    >>> [passes(case) for case in study.cases]
    [True, None, False]
    """
    if bound_case.fits is None or not bound_case.fits.value or unknown_targets(bound_case):
        return False
    if not findings(bound_case):
        return True
    met = all(condition.holds(bound_case.case) for condition in constraints(bound_case))
    return None if met else False


BEST = frozenset({"best_batch", "max_goodput"})
"""The quantities that are 0 where no batch is good enough."""

HELD = {"judged_itl": "itl_target", "judged_ttft": "ttft_target"}
"""What rises with the batch, and the target it is compared with."""


def why_no_batch(bound_case: BoundCase) -> str | None:
    """The reason for a ``best_batch`` of 0: what a batch of 1 breaks, or that no batch keeps up; None where there is a batch, or it is not known.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", "l40s", prompt=2048, output=300, itl_target="15 ms")
    >>> why_no_batch(study.first)
    'no batch works: a batch of 1 already has a sustained_itl of 22.92 ms, over its target of 15 ms'
    """
    best, case = bound_case.get("best_batch"), bound_case.case
    if best is None or best.value != 0:
        return None
    alone, room = case.changed({"batch": 1}), int(case.value("concurrency"))
    if room < 1:
        return (
            f"no batch works: a batch of 1 does not fit, it {memory_needed(bound_case.at(alone))}"
        )
    missed = []
    for name, limit in HELD.items():
        if limit in case.given and alone.has_value(name) and alone.value(name) > case.value(limit):
            metric, symbol = case.theory.definitions[name], case.theory.symbol(name)
            value, target = (Result(symbol, alone.value(each)).plain() for each in (name, limit))
            shown = metric.name if isinstance(metric, Symbol) else name
            missed.append(f"a {shown} of {value}, over its target of {target}")
    if missed:
        return f"no batch works: a batch of 1 already has {' and '.join(missed)}"
    if "arrival_rate" not in case.given:
        return None
    largest = case.changed({"batch": room})
    if largest.has_value("load") and largest.value("load") >= 1:
        load = Result(case.theory.symbol("load"), largest.value("load")).plain()
        few = f"requests arrive faster than they are served; at the largest that fits, {room:,}, load is {load}"
        return f"no batch works: {few}"
    return "no batch works: none that fits keeps up with the arrivals and meets the targets"
