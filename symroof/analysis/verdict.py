"""The verdict on a case: does it fit, are the targets met, what its times rest on. Each condition is a metric within its limit, and so an equation to solve."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from symroof.cases.bound_case import BOUND, EXPECTED, BoundCase
from symroof.cases.engine_inputs import beyond_measurements
from symroof.cases.values import AT_PEAK, Result
from symroof.errors import NoValue, UndefinedValue
from symroof.specs.efficiencies import CLASSES, DEFAULT_ENGINE, FITTED, engine_class
from symroof.symbolic.kernels import holds
from symroof.symbolic.reading import parse
from symroof.theory.case import Case
from symroof.theory.symbols import TARGET_SYMBOLS, Symbol
from symroof.theory.theory_files import column

TARGET_METRICS: dict[str, str] = column("targets", "metric")
"""The metric each target is compared with: latencies of a server under load, the price of the whole group, and of the fleet."""

AT_A_RATE: dict[str, str] = column("shown", "at_rate")
"""What a metric becomes where requests arrive at a rate: devices are paid for while they are idle, too, and fewer requests decode than there are slots."""

ISOLATED: dict[str, list[str]] = column("shown", "alone")
"""What stands for a quantity of a server under load where no output length is known, or isolated latencies are asked for."""
ISOLATED_METRICS = {name: tuple(each) for name, each in column("targets", "alone").items()}
"""Those that differ for one request alone, the ITL at the last step of the response; without an output there is one step, at the context."""


@dataclass(frozen=True)
class TargetCheck:
    """One target against its metric.

    Attributes:
        met: True, False, or None where it holds in a part of the ranges only, and where those are measured efficiencies as expected; at the median of the list prices.
        slack: limit less value, at the middle of the ranges.
        straddles: whether other list prices than the median would change the verdict.
        statistic: what the target is of; a percentile was decided by simulation.
    """

    name: str
    metric: Result
    limit: Any
    met: bool | None
    statistic: str = "mean"

    @property
    def slack(self) -> float:
        return float(self.limit - self.metric.value)

    @property
    def ends(self) -> tuple[Any, Any]:
        """The least and the largest value over the ranges, at the median of the list prices; endless where that is not known."""
        low, high = self.metric.at_median or (self.metric.low, self.metric.high)
        if low is None or high is None:
            value = self.metric.value
            return value, math.inf if self.metric.without_range else value
        return low, high

    @property
    def bound(self) -> Result:
        """The limit as it is written: in the unit of its metric."""
        return limit_of(self.metric.symbol, self.limit)

    @property
    def straddles(self) -> bool:
        low, high = self.metric.low, self.metric.high
        if self.met is None or self.metric.at_median is None or low is None or high is None:
            return False
        return bool(low <= self.limit < high)

    @property
    def against(self) -> str:
        """The limit in a sentence, and where in the list prices the verdict holds if not at all of them."""
        end = "highest" if self.met else "lowest"
        where = f" at the median of the list prices, not at the {end}" if self.straddles else ""
        return f"{self.bound.plain()}{where}"


def limit_of(symbol: Symbol, limit: Any) -> Result:
    """A limit on a quantity, with all its digits: it is known as written."""
    return Result(replace(symbol, digits=None), limit)


def metric_of(target: str, case: Case) -> str | None:
    """The metric that a target is compared with here; None where it has no value, as the wait of a queue that only grows."""
    return next(filter(case.has_value, metrics_of(target, case)), None)


def metrics_of(target: str, case: Case) -> tuple[str, ...]:
    """The metrics that a target may be compared with here; of several the first that has a value."""
    metric = TARGET_METRICS[target]
    if under_load(case):
        return tuple(dict.fromkeys((at_rate(metric, case), metric)))
    alone = ISOLATED_METRICS.get(target, (metric,))
    has_steps = case.has_value("output") or case.theory.assumptions["kv_growth"] == "fixed"
    return alone if has_steps else alone[-1:]


def at_rate(name: str, case: Case) -> str:
    """The name of a quantity at the arrival rate, where one is given and it makes a difference."""
    return AT_A_RATE.get(name, name) if queues(case) else name


def isolated(name: str, case: Case) -> str:
    """The quantity of one request alone that stands for one of a server under load."""
    return next(filter(case.has_value, ISOLATED.get(name, ())), name)


def under_load(case: Case) -> bool:
    """Whether targets are compared with a server under load: the length of the responses is known, and they have decode steps."""
    if case.theory.assumptions["targets_under"] != "load" or not case.is_set("output"):
        return False
    return case.has_value("response_steps") and bool(case.value("response_steps") > 0)


def queues(case: Case) -> bool:
    """Whether requests arrive at a rate at a server under load, so that they wait for one another."""
    return "arrival_rate" in case.given and under_load(case)


def unknown_targets(bound_case: BoundCase) -> dict[str, str]:
    """The targets of the study that this case has no metric for, and what that needs; a wait without end is judged by its load."""
    judged = conditions(bound_case)
    unknown = [name for name in bound_case.targets if name not in judged]
    return {n: bound_case.why_unknown(metrics_of(n, bound_case.case)[0]) for n in unknown}


MEMORY_OF_A_DEVICE = ("memory_bytes_per_device", "usable_memory_per_device")
MEMORY, LOAD = "memory", "load"
"""The constraints besides the targets: that it fits, and that requests are served as fast as they come."""
PER_REPLICA = {"memory_bytes", "concurrency", "sustained_throughput", "decode_throughput"}
"""Quantities of a single replica."""


def instances_of(kind: str, number: float, size: float) -> str:
    """``3 decode instances of 2``: of one role, and the devices of each."""
    return f"{number:,.0f} {kind} instance{'s' * (number != 1)} of {size:,.0f}"


def is_per_replica(case: BoundCase, name: str) -> bool:
    """Whether a quantity is that of one of several replicas."""
    return name in PER_REPLICA and case.case.has_value("dp") and case.case.value("dp") > 1


def waits_without_end(name: str, case: Case) -> bool:
    """Whether a target or its metric has no value because a queue only grows."""
    wait = TARGET_METRICS["ttft"]
    if name not in ("ttft", wait) or not queues(case):
        return False
    try:
        case.value(wait)
    except NoValue as error:
        return not isinstance(error, UndefinedValue)
    return False


PREFILL_LOADS = (
    "prefill_slot_utilization(decoding_requests = steady_batch)",
    "prefill_slot_utilization",
)
"""The load of the prefill at the requests that decode at the arrival rate, which is that of the wait in a TTFT; and beside as many as there can be, where prompts
pile up because there is no such batch."""


def findings(bound_case: BoundCase) -> list[str]:
    """The faults of a case, one name each: ``does_not_fit``, ``ttft_missed``, ``itl_missed``."""
    names = ["does_not_fit"] if bound_case.does_not_fit else []
    missed = (check.name for check in target_checks(bound_case) if check.met is not True)
    return [*names, *(f"{name}_missed" for name in missed)]


def basis_of(bound_case: BoundCase, names: Collection[str]) -> list[str]:
    """The line of :func:`efficiency_basis` where one of these quantities depends on an efficiency."""
    used = bound_case.inputs(tuple(names), everything=False).keys() if names else frozenset()
    return [efficiency_basis(bound_case)] if used & AT_PEAK.keys() else []


def basis_lines(cases: Iterable[BoundCase]) -> tuple[str, ...]:
    """What the times of several cases rest on, each once; a user-defined theory alone has none."""
    own = [case for case in cases if not case.theory_only]
    lines = (line for case in own for line in (efficiency_basis(case), beyond_measurements(case)))
    return tuple(dict.fromkeys(filter(None, lines)))


def efficiency_basis(bound_case: BoundCase) -> str:
    """What the times of a case rest on: the theoretical minimum, measurements, or the efficiencies that were given."""
    if bound_case.basis != EXPECTED:
        return AT_THE_PEAK if bound_case.basis == BOUND else "at the efficiencies given"
    given = bound_case.given
    own = [name for name in FITTED if name in given and not given[name].measured]
    shown = (name.upper() if name in ("mfu", "mbu") else name.replace("_", " ") for name in own)
    which = f"predicted with {' and '.join(shown)} as set, the rest from measurements of"
    return OF_ENGINES.format(which if own else BY_MEASUREMENT, CLASSES[bound_case.engine_class])


AT_THE_PEAK = "theoretical minimum (100 % of peak)"
BY_MEASUREMENT = "predicted from measurements of"
OF_ENGINES = "{} {}; ranges are 80 % intervals"


def default_basis(efficiency: str | None, engine: str | None) -> str:
    """What times rest on where no case has efficiencies of its own."""
    if efficiency != "measured":
        return AT_THE_PEAK
    return OF_ENGINES.format(BY_MEASUREMENT, CLASSES[engine_class(engine or DEFAULT_ENGINE)])


def unjudged(bound_case: BoundCase) -> list[str]:
    """A line for every target that cannot be judged."""
    unknown = unknown_targets(bound_case).items()
    return [f"whether it meets its {name} target is not known: {why}" for name, why in unknown]


def conditions(bound_case: BoundCase) -> dict[str, tuple[str, str]]:
    """Metric and limit of each condition of the headline of a case, by name: memory and load where they are known, and each target that has a metric."""
    case, found = bound_case.case, dict[str, tuple[str, str]]()
    if case.has_value("fits"):
        found[MEMORY] = MEMORY_OF_A_DEVICE
    if queues(case) and case.has_value(LOAD):
        found[LOAD] = (LOAD, LOAD)
    for name in bound_case.targets:
        metric = metric_of(name, case)
        if metric is None and waits_without_end(name, case):
            metric = TARGET_METRICS[name]
        if metric:
            found[name] = (metric, TARGET_SYMBOLS[name])
    return found


def target_checks(bound_case: BoundCase, memory: bool = False) -> list[TargetCheck]:
    """The load at an arrival rate, and every target of the study that this case has a metric for, over the ranges; with ``memory`` also whether it fits."""
    found = []
    for name, (of, limited_by) in conditions(bound_case).items():
        metric = bound_case.get(of) if memory or name != MEMORY else None
        if metric is None:
            continue
        if name == LOAD and metric.value < 1 and waits_without_end("ttft", bound_case.case):
            symbol = bound_case.case.theory.symbol("prefill_slot_utilization")  # prompts pile up
            for formula in PREFILL_LOADS:  # where neither has a value, that of responses has to do
                with suppress(NoValue):
                    metric = bound_case.formula(parse(formula), symbol)
                    break
        check = TargetCheck(name, metric, _limit(name, limited_by, bound_case.case), None)
        low, high = check.ends
        least = metric.value if bound_case.measured_alone else low
        throughout, somewhere = (_is_met(name, float(x), check.limit) for x in (high, least))
        found.append(replace(check, met=throughout or (None if somewhere else False)))
    return found


def missed(bound_case: BoundCase, there: Case) -> list[str]:
    """The conditions of a case that do not hold with other values; no wait in a queue that grows without end meets a target.

    Raises:
        NoValue: one has no value there, and no queue is the reason.
    """
    found = []
    for name, (metric, limited_by) in conditions(bound_case).items():
        try:
            met = _is_met(name, there.value(metric), _limit(name, limited_by, there))
        except NoValue as error:
            if isinstance(error, UndefinedValue) or not queues(there):
                raise
            met = False
        found += [] if met else [name]
    return found


def _limit(name: str, limited_by: str, case: Case) -> float:
    return 1.0 if name == LOAD else float(case.value(limited_by))


def _is_met(name: str, value: float, limit: float) -> bool:
    """Whether a limit is kept: at a load of 1 the queue already grows without end; every other limit may be reached."""
    return value < limit if name == LOAD else holds("<=", value, limit)
