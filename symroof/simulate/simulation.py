"""What a simulation found: a table of requests, times between tokens, means and percentiles."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.specs.study import STATISTICS

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase
    from symroof.theory.case import Case

METRICS = {
    "ttft": "time to first token",
    "itl": "inter-token latency",
    "response_time": "end to end",
    "queue_wait": "wait before prefill",
}
"""Times of which there are a mean and percentiles, and what people read."""
WORDS = {
    "request_rate": "served",
    "throughput": "output",
    "makespan": "duration",
    "within_targets": "requests within all targets",
    "busy": "busy",
    "prefilling": "prefilling",
}
FIELDS = {
    **dict.fromkeys(("arrival", "start", "first_token", "end"), float),
    **dict.fromkeys(("prompt", "output", "cached"), np.int64),
    **dict.fromkeys(("refused", "counted"), bool),
}


MOST_GAPS, FINE = 1 << 21, 4096
"""Times between tokens that are kept as they are; parts of an e-fold beyond that."""


class Gaps:
    """Times between the tokens of requests, each with how many there were; of very many, times within a part in four thousand count as one."""

    def __init__(self) -> None:
        self.seconds, self.counts = array("d"), array("d")

    def add(self, seconds: Any, count: float) -> None:
        """Times of which there are so many each, as an array."""
        self.seconds.frombytes(seconds.tobytes())
        self.counts.extend(array("d", [count]) * len(seconds))
        if len(self.seconds) > MOST_GAPS:
            self.seconds, self.counts = (array("d", x) for x in merged(*self.arrays()))

    def arrays(self) -> tuple[Any, Any]:
        return np.array(self.seconds), np.array(self.counts)


def merged(seconds: Any, counts: Any) -> tuple[Any, Any]:
    """Times within a part in four thousand as one, at their mean."""
    parts = np.rint(np.log(np.maximum(seconds, 1e-12)) * FINE).astype(int)
    parts -= parts.min()
    total = np.bincount(parts, counts)
    weighted = np.bincount(parts, counts * seconds)
    return weighted[total > 0] / total[total > 0], total[total > 0]


RESTS_ON = ("loaded_time", "concurrency", "load", "time_outside_steps")
OF_PREFILL = ("prefill_time", "prefill_overhead", "transfer_time")
"""Its times, what memory holds, and what comes; and those of a prefill on its own."""


def rests_on(case: Case) -> tuple[str, ...]:
    """The quantities whose inputs a simulation of a case has."""
    chunked = case.theory.assumptions["scheduling"] == "chunked"
    names = RESTS_ON if chunked else (*RESTS_ON, *OF_PREFILL)
    return tuple(filter(case.has_value, names))


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A server step by step.

    Attributes:
        title: the case.
        requests: a record array: arrival, start, first_token and end in seconds from the start, prompt, output and cached tokens, whether
            it was refused and whether it is counted; times of one that no memory could hold are NaN.
        gaps, counts: times between tokens, and how many of each.
        window: the time over which rates are counted.
        makespan, busy, prefilling: seconds to the last token; share of them with a step; share with one that prefills.
        limits: the targets of the case for ``ttft`` and ``itl``, in seconds.
        judged: the statistic that each target is of.
        says: what was simulated, and what was left out.
        warnings: what to know before a number.
        case: what was simulated.

    >>> from symroof import Study
    >>> found = Study("llama-3-8b", "h100-sxm", prompt=1024, output=64, batch=32, chunk=512, arrival_rate=8).simulate(requests=400, seed=1)
    >>> found
    <Simulation of 400 requests: TTFT 62.81 ms, ITL 9.774 ms in the mean, 8.507 request/s>
    >>> found.requests.prompt[:3].tolist(), round(found.summary["ttft"]["p99"], 3)
    ([1024, 1024, 1024], 0.106)
    """

    title: str
    requests: Any
    gaps: Any
    counts: Any
    window: tuple[float, float]
    makespan: float
    busy: float
    prefilling: float
    limits: Mapping[str, float]
    judged: Mapping[str, str]
    says: tuple[str, ...]
    warnings: tuple[str, ...]
    case: BoundCase

    @cached_property
    def summary(self) -> dict[str, dict[str, float]]:
        """Metric -> statistic -> seconds; NaN where there is no such time."""
        return {metric: self._statistics(metric) for metric in METRICS}

    def _statistics(self, metric: str) -> dict[str, float]:
        """Mean and percentiles of the counted requests, or of the times between their tokens."""
        counted = self.requests[self.requests.counted]
        ends = {"ttft": "first_token", "response_time": "end", "queue_wait": "start"}
        if metric == "itl":
            times, counts = self.gaps, self.counts
        else:
            times, counts = counted[ends[metric]] - counted.arrival, np.ones(len(counted))
        if not len(times):
            return dict.fromkeys(STATISTICS, math.nan)
        order = np.argsort(times, kind="stable")
        reached = np.cumsum(counts[order])
        found = {"mean": float(np.average(times, weights=counts))}
        for name, share in STATISTICS.items():
            if share is not None:
                place = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12)))
                found[name] = float(times[order[min(place, len(order) - 1)]])
        return found

    @cached_property
    def rates(self) -> dict[str, tuple[float, str]]:
        """Name -> value and unit: responses and output tokens per second in the counted time, each response as long as in the mean; the makespan, and how
        busy the server is."""
        low, high = self.window
        served = self.requests[~self.requests.refused]
        ended = float(np.count_nonzero((served.end > low) & (served.end <= high)))
        rate = ended / (high - low) if high > low else math.nan
        tokens = rate * float(served.output.mean()) if len(served) else math.nan
        found = {
            "request_rate": (rate, "request/s"),
            "throughput": (tokens, "token/s"),
            "makespan": (self.makespan, "s"),
            "busy": (self.busy, ""),
            "prefilling": (self.prefilling, ""),
        }
        return found | ({"within_targets": (self.within(self.limits), "")} if self.limits else {})

    def within(self, limits: Mapping[str, float]) -> float:
        """The share of counted requests whose first token, and whose mean time between tokens, are in time; refused ones are late."""
        counted = self.requests[self.requests.counted]
        late = int(np.count_nonzero(self.requests.refused))
        if not len(counted) + late:
            return math.nan
        met = np.ones(len(counted), dtype=bool)
        if "ttft" in limits:
            met &= counted.first_token - counted.arrival <= limits["ttft"]
        if "itl" in limits:
            steps = np.maximum(counted.output - 1, 0)
            met &= counted.end - counted.first_token <= limits["itl"] * steps * (1 + 1e-12)
        return float(np.count_nonzero(met)) / (len(counted) + late)

    @property
    def checks(self) -> dict[str, dict[str, Any]]:
        """Target -> its limit, the statistic held against it, and whether it is met."""
        values = {name: self.summary[name][self.judged[name]] for name in self.limits}
        # a response of one token has no time between tokens, and misses no target for it
        return {
            name: {"limit": limit, "value": values[name], "met": not values[name] > limit}
            for name, limit in self.limits.items()
        }

    @property
    def missed(self) -> bool:
        """Whether a target is missed, or no memory holds some request."""
        return bool(self.requests.refused.any()) or not all(x["met"] for x in self.checks.values())

    def as_json(self) -> dict[str, Any]:
        """The result for programs, in base units; null is a value that there is not."""

        def figure(value: float, unit: str) -> dict[str, Any]:
            return {"value": value if math.isfinite(value) else None, "unit": unit}

        targets = {
            name: check | {"statistic": self.judged[name]} | figure(check["value"], "s")
            for name, check in self.checks.items()
        }
        return {
            "schema": "symroof/simulate/2",
            "title": self.title,
            "requests": len(self.requests),
            "summary": {
                metric: {name: figure(value, "s") for name, value in each.items()}
                for metric, each in self.summary.items()
            },
            **{name: figure(*rate) for name, rate in self.rates.items()},
            "targets": targets,
            "says": list(self.says),
            "warnings": list(self.warnings),
            **self.case.ledger(rests_on(self.case.case)),
        }

    def tables(self, digits: int = 3) -> list[tuple[tuple[str, ...], list[list[str]]]]:
        """The headed tables that people read: times, and rates."""
        times = [
            [METRICS[metric], *(_written(value, "s", digits) for value in each.values())]
            for metric, each in self.summary.items()
        ]
        rates = [
            [WORDS.get(name, name), _written(*rate, digits)] for name, rate in self.rates.items()
        ]
        return [(("", *STATISTICS), times), ((), rates)]

    def _what(self) -> tuple[Any, ...]:
        """What it is: two of the same are equal."""
        drawn = self.requests.tobytes(), self.gaps.tobytes()
        return self.title, drawn, self.says, tuple(self.judged.items()), tuple(self.limits.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simulation) and self._what() == other._what()

    def __hash__(self) -> int:
        return hash(self._what())

    def __repr__(self) -> str:
        ttft, itl = (_written(self.summary[name]["mean"], "s", 4) for name in ("ttft", "itl"))
        rate, unit = self.rates["request_rate"]
        of = f"<Simulation of {len(self.requests):,} requests"
        return f"{of}: TTFT {ttft}, ITL {itl} in the mean, {rate:.4g} {unit}>"

    def _repr_html_(self) -> str:
        from symroof.table_formats import html_table

        return "".join(html_table(header, rows) for header, rows in self.tables())


def _written(value: float, unit: str, digits: int) -> str:
    """A value as people write it: ``16.4 ms``, a share in percent."""
    from symroof.units import format_quantity, significant

    if not math.isfinite(value):
        return "-"
    if unit == "":
        return f"{significant(100 * value, 3)} %"
    return format_quantity(Fraction(value), unit, digits)
