"""What a simulation found: a table of requests, means and percentiles, and how far another run of chance would lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symroof.specs.study import STATISTICS

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase
    from symroof.simulate.server import Server
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
    "busy": "time with a request in service",
    "prefilling": "time in steps with prefill",
}
FIELDS = {
    **dict.fromkeys(("arrival", "start", "first_token", "end"), float),
    **dict.fromkeys(("prompt", "output", "cached"), np.int64),
    **dict.fromkeys(("refused", "counted"), bool),
}


@dataclass(frozen=True, eq=False)
class Run:
    """One run: its requests, and how often each time between tokens occurred.

    Attributes:
        requests: a record a request; times in seconds from the start; of one that no memory could hold they are NaN.
        gaps, counts: times between tokens, and how many of each.
        window: the time over which rates are counted.
        makespan, busy, prefilling: seconds to the last token; share of them with a step; share with one that prefills.
    """

    requests: Any
    gaps: Any
    counts: Any
    window: tuple[float, float]
    makespan: float
    busy: float
    prefilling: float
    steps: int

    @classmethod
    def of(cls, server: Server) -> Run:
        """What a server that has served everything leaves behind."""
        work = server.work
        low, high = server.counted_from, min(server.counted_to, server.clock)
        came, first = np.array(server.came), np.array(server.first)
        refused = np.isnan(first)
        times = [came, np.array(server.began), first, np.where(refused, np.nan, server.ended)]
        tokens = [work.prompt, work.output, work.cached]
        counted = ~refused & (came >= low)
        columns = [*times, *tokens, refused, counted]
        table = np.rec.fromarrays(columns, dtype=list(FIELDS.items()))
        gaps, counts = server.gaps.arrays()
        makespan = max(server.clock, float(np.nanmax(table.end, initial=0.0)))
        apart = hasattr(server, "free")
        worked = server.decode_time if apart else server.decode_time + server.prefill_time
        share = 1 / makespan if makespan else 0.0
        return cls(
            table,
            gaps,
            counts,
            (low, high),
            makespan,
            worked * share,
            server.prefill_time * share,
            server.steps,
        )

    def times(self, metric: str) -> tuple[Any, Any]:
        """The times of a metric, and how many of each there were."""
        if metric == "itl":
            return self.gaps, self.counts
        counted = self.requests[self.requests.counted]
        times = {
            "ttft": counted.first_token,
            "response_time": counted.end,
            "queue_wait": counted.start,
        }[metric] - counted.arrival
        return times, np.ones(len(times))

    def statistics(self, metric: str) -> dict[str, float]:
        """Mean and percentiles; NaN where there is no such time."""
        times, counts = self.times(metric)
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

    def rate(self) -> float:
        """Responses per second in the counted time."""
        low, high = self.window
        ends = self.requests.end[~self.requests.refused]
        served = float(np.count_nonzero((ends > low) & (ends <= high)))
        return served / (high - low) if high > low else math.nan

    def token_rate(self) -> float:
        """Output tokens per second in the counted time, each response as long as in the mean."""
        served = self.requests[~self.requests.refused]
        return self.rate() * float(served.output.mean()) if len(served) else math.nan

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


@dataclass(frozen=True)
class Figure:
    """A number with the half width of its interval (95 %, Student's t) over independent runs; without several there is none.

    >>> Figure.of([1.0, 2.0, 3.0])
    Figure(value=2.0, half=2.484...)
    """

    value: float
    half: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """The mean of the values of independent runs."""
        count = len(values)
        mean = sum(values) / count
        if count < 2:
            return cls(mean)
        from symroof.symbolic.searches import t_quantile

        deviation = math.sqrt(sum((x - mean) ** 2 for x in values) / (count - 1) / count)
        return cls(mean, deviation * t_quantile(0.95, count - 1))

    def as_json(self, unit: str) -> dict[str, Any]:
        """Value and unit, with the ends of its interval where there is one; null is a value that there is not."""
        value = self.value if math.isfinite(self.value) else None
        found: dict[str, Any] = {"value": value, "unit": unit}
        if self.half is not None and math.isfinite(self.half):
            found |= {"low": self.value - self.half, "high": self.value + self.half}
        return found


RESTS_ON = ("loaded_time", "concurrency", "load", "time_outside_steps")
OF_PREFILL = ("prefill_time", "prefill_overhead", "transfer_time")
"""Its times, what memory holds, and what comes; and those of a prefill on its own."""


def rests_on(case: Case) -> tuple[str, ...]:
    """The quantities whose inputs a simulation of a case has."""
    names = (
        RESTS_ON if case.theory.assumptions["scheduling"] == "chunked" else (*RESTS_ON, *OF_PREFILL)
    )
    return tuple(filter(case.has_value, names))


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """A server step by step, in one run or several.

    Attributes:
        title: the case.
        runs: each with other draws.
        limits: the targets of the case for ``ttft`` and ``itl``, in seconds.
        judged: the statistic that each target is of.
        says: what was simulated, and what was left out.
        warnings: what to know before a number.
        case: what was simulated.

    >>> from symroof import Study
    >>> found = Study("llama-3-8b", "h100-sxm", prompt=1024, output=64, batch=32, chunk=512, arrival_rate=8).simulate(requests=400, seed=1)
    >>> found
    <Simulation of 400 requests: TTFT 62.81 ms, ITL 9.774 ms in the mean, 8.507 request/s>
    >>> found.requests.prompt[:3].tolist(), round(found.summary["ttft"]["p99"].value, 3)
    ([1024, 1024, 1024], 0.106)
    """

    title: str
    runs: tuple[Run, ...]
    limits: Mapping[str, float]
    judged: Mapping[str, str]
    says: tuple[str, ...]
    warnings: tuple[str, ...]
    case: BoundCase

    @property
    def requests(self) -> Any:
        """The requests of the first run, as a record array: arrival, start, first_token and end in seconds, prompt, output and cached tokens,
        whether it was refused and whether it is counted."""
        return self.runs[0].requests

    @property
    def summary(self) -> dict[str, dict[str, Figure]]:
        """Metric -> statistic -> its figure, in seconds."""
        each = [{metric: run.statistics(metric) for metric in METRICS} for run in self.runs]
        return {
            metric: {name: Figure.of([one[metric][name] for one in each]) for name in STATISTICS}
            for metric in METRICS
        }

    @property
    def rates(self) -> dict[str, tuple[Figure, str]]:
        """Name -> its figure and unit: rates of responses and tokens, makespan, and how busy the server is."""

        def of(value: Callable[[Run], float]) -> Figure:
            return Figure.of([value(run) for run in self.runs])

        found = {
            "request_rate": (of(Run.rate), "request/s"),
            "throughput": (of(Run.token_rate), "token/s"),
            "makespan": (of(lambda run: run.makespan), "s"),
            "busy": (of(lambda run: run.busy), ""),
            "prefilling": (of(lambda run: run.prefilling), ""),
        }
        if self.limits:
            found["within_targets"] = of(lambda run: run.within(self.limits)), ""
        return found

    @property
    def checks(self) -> dict[str, dict[str, Any]]:
        """Target -> its limit, the figure held against it, and whether it is met."""
        summary = self.summary
        values = {name: summary[name][self.judged[name]].value for name in self.limits}
        # a response of one token has no time between tokens, and misses no target for it
        return {
            name: {"limit": limit, "value": values[name], "met": not values[name] > limit}
            for name, limit in self.limits.items()
        }

    @property
    def missed(self) -> bool:
        """Whether a target is missed, or no memory holds some request."""
        refused = any(run.requests.refused.any() for run in self.runs)
        return refused or not all(check["met"] for check in self.checks.values())

    def as_json(self) -> dict[str, Any]:
        """The result for programs, in base units."""
        summary, targets = self.summary, self.checks
        for name, check in targets.items():
            value = check["value"] if math.isfinite(check["value"]) else None
            targets[name] = {**check, "statistic": self.judged[name], "unit": "s", "value": value}
        return {
            "schema": "symroof/simulate/2",
            "title": self.title,
            "requests": len(self.requests),
            "replications": len(self.runs),
            "summary": {
                metric: {name: figure.as_json("s") for name, figure in each.items()}
                for metric, each in summary.items()
            },
            **{name: figure.as_json(unit) for name, (figure, unit) in self.rates.items()},
            "targets": targets,
            "says": list(self.says),
            "warnings": list(self.warnings),
            **self.case.ledger(rests_on(self.case.case)),
        }

    def tables(self, digits: int = 3) -> list[tuple[tuple[str, ...], list[list[str]]]]:
        """The headed tables that people read: times, and rates; an interval as a share of its value."""
        times = [
            [METRICS[metric], *(_written(figure, "s", digits) for figure in each.values())]
            for metric, each in self.summary.items()
        ]
        rates = [
            [WORDS.get(name, name), _written(figure, unit, digits)]
            for name, (figure, unit) in self.rates.items()
        ]
        return [(("", *STATISTICS), times), ((), rates)]

    def _what(self) -> tuple[Any, ...]:
        """What it is: two of the same are equal."""
        drawn = tuple((r.requests.tobytes(), r.gaps.tobytes()) for r in self.runs)
        return self.title, drawn, self.says, tuple(self.judged.items()), tuple(self.limits.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simulation) and self._what() == other._what()

    def __hash__(self) -> int:
        return hash(self._what())

    def __repr__(self) -> str:
        summary, (rate, unit) = self.summary, self.rates["request_rate"]
        ttft, itl = (
            _written(Figure(summary[name]["mean"].value), "s", 4) for name in ("ttft", "itl")
        )
        count = f"{len(self.requests):,} requests"
        return (
            f"<Simulation of {count}: TTFT {ttft}, ITL {itl} in the mean, {rate.value:.4g} {unit}>"
        )

    def _repr_html_(self) -> str:
        from symroof.table_formats import html_table

        return "".join(html_table(header, rows) for header, rows in self.tables())


def _written(figure: Figure, unit: str, digits: int) -> str:
    """A figure as people write it: ``16.4 ms ± 2 %``; a share in percent, as its interval."""
    from symroof.units import format_quantity, significant

    if not math.isfinite(figure.value):
        return "-"
    if unit == "":
        half = "" if figure.half is None else f" ± {100 * figure.half:.1f}"
        return f"{significant(100 * figure.value, 3)}{half} %"
    value = format_quantity(Fraction(figure.value), unit, digits)
    if figure.half is None:
        return value
    share = 100 * figure.half / figure.value if figure.value else 0.0
    return f"{value} ± {share:.{0 if share >= 10 else 1}f} %"
