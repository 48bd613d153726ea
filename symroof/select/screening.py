"""All configurations at once: the largest batch and the copies that memory and the targets allow, by array functions.

Configurations that share a theory and differ in numbers of their devices share the functions. Latencies rise with the batch,
what a token costs falls with it, and a queue shortens with every copy: so each answer is a bisection, over all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.compile import Compiled, compile_cases
from symroof.analysis.verdict import LOAD, TARGET_METRICS, under_load
from symroof.cases.case_results import TARGETS, Answers
from symroof.errors import InputError
from symroof.formula.tree import Num
from symroof.theory.case import Case
from symroof.theory.symbols import GROUPS

Array = np.ndarray[Any, Any]

VALUES = (
    "sustained_throughput", "sustained_throughput_per_device", "sustained_requests", "cost_per_mtok", "loaded_ttft", "sustained_itl", "group_price", "fleet_price",
)  # fmt: skip
"""What configurations are compared by."""

AT_REST = {"sustained_itl": "sustained_itl", "loaded_ttft": "queue_time + reading_time"}
UNQUEUED = ("sustained_itl", "reading_time", "queue_time")
"""What rises with the batch: the ITL, and the TTFT without any wait for a lane."""

SHARED = frozenset(symbol.name for group in ("hardware", "efficiency") for symbol in GROUPS[group])
"""Inputs that may differ between configurations of one function."""

LARGEST = 1 << 30
MOST_COPIES = 1 << 16
CLOSE = 1e-9
"""A metric so near to its limit is compared exactly."""


@dataclass(frozen=True)
class Screened:
    """What the screening says of one configuration.

    Attributes:
        most: the largest batch that passes; 0 where none does, None where no batch is too large.
        least: the smallest one from which on every batch up to ``most`` passes.
        copies: instances that bear the arrival rate; None where their number is chosen, or no number of them does.
        values: quantities at a batch, by name, then batch.
    """

    most: int | None
    least: int
    copies: int | None = None
    values: Mapping[str, float] = field(default_factory=dict)


def screened(cases: Sequence[Answers]) -> list[Screened | None]:
    """Each configuration screened; None where it is not: targets are held against isolated latencies, a size is not known.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, chunk=2048, targets={"itl": "20 ms"})
    >>> [result.most for result in screened(study.cases)]
    [109, 16]
    """
    results: list[Screened | None] = [None] * len(cases)
    for places, group in _groups(cases):
        for place, result in zip(places, group.results(), strict=True):
            results[place] = result
    return results


def _groups(cases: Sequence[Answers]) -> Iterator[tuple[list[int], _Group]]:
    """Configurations under load without ranges, by all that shapes their functions."""
    by_shape: dict[Any, list[int]] = {}
    for place, answers in enumerate(cases):
        case = answers.case
        if under_load(case) and not answers.binding.box() and case.known("fits"):
            fixed = tuple((name, tree) for name, tree in case.given.items() if name not in SHARED or not isinstance(tree, Num))
            present = frozenset(case.given)
            by_shape.setdefault((id(case.theory), present, fixed), []).append(place)
    for places in by_shape.values():
        try:
            yield places, _Group([cases[place] for place in places])
        except InputError:
            continue  # a quantity has no value there: each is judged on its own


class _Group:
    """Configurations whose functions are the same."""

    def __init__(self, cases: Sequence[Answers]) -> None:
        self.cases = cases
        first = cases[0].case
        self.size = len(cases)
        self.targets = cases[0].targets
        self.rate = "arrival_rate" in first.given
        self.chosen_batch = "batch" in first.given
        self.open_copies = self.rate and "dp" not in first.given
        self.differing = [name for name, tree in first.given.items() if name in SHARED and any(c.case.given[name] != tree for c in cases)]
        self.inputs = ["batch", *(["dp"] if self.open_copies else []), *self.differing]
        self.numbers = [np.array([float(c.case.value(name)) for c in cases]) for name in self.differing]
        self.limits = {name: np.array([float(c.targets.get(name, 0)) for c in cases]) for name in self.targets}
        self.rising = self._function(UNQUEUED)
        self.values = self._function((*(name for name in VALUES if self._has(name)), *([LOAD] if self.rate else [])))
        self.capacity = np.array([float(c.case.value("concurrency")) for c in cases])

    def _has(self, name: str) -> bool:
        return all(c.case.has("price") for c in self.cases) or "cost" not in name and "price" not in name

    def _function(self, names: Sequence[str]) -> Callable[[Array, Array], dict[str, Array]]:
        (compiled,) = compile_cases(names, self.inputs, self.cases[:1])
        return lambda batch, copies: self._called(compiled, names, batch, copies)

    def _called(self, compiled: Compiled, names: Sequence[str], batch: Array, copies: Array) -> dict[str, Array]:
        arguments = [batch.astype(float), *([copies.astype(float)] if self.open_copies else []), *self.numbers]
        return {name: np.broadcast_to(column, batch.shape) for name, column in zip(names, compiled(*arguments), strict=True)}

    def results(self) -> list[Screened | None]:
        ones = np.ones(self.size)
        highest = np.minimum(np.where(np.isnan(self.capacity), 0, self.capacity), LARGEST)
        most = _last(lambda batch: self._unqueued(batch), highest)
        copies = self._copies(most) if self.open_copies else ones
        passing = (most >= 1) & (copies <= MOST_COPIES) & self._everything(np.maximum(most, 1), copies)
        most = np.where(passing, most, 0)
        least = self.size * [1] if not passing.any() else _first(lambda batch: self._everything(batch, copies), np.maximum(most, 1))
        values = self.values(np.maximum(most, 1), copies)
        return [
            Screened(
                None if self.capacity[i] >= LARGEST and most[i] >= LARGEST else int(most[i]),
                int(least[i]),
                int(copies[i]) if self.open_copies and passing[i] else None,
                {name: float(column[i]) for name, column in values.items()} if passing[i] else {},
            )
            for i in range(self.size)
        ]

    def _unqueued(self, batch: Array) -> Array:
        """Whether what rises with the batch is within its limits: no copies needed, no queue counted."""
        at = self.rising(batch, np.ones(self.size))
        metrics = {"itl": at["sustained_itl"], "ttft": at["queue_time"] + at["reading_time"]}
        met = np.ones(self.size, bool)
        for name, limit in self.limits.items():
            if name in metrics:
                met &= self._within(metrics[name], limit)
        return met

    def _everything(self, batch: Array, copies: Array) -> Array:
        """Whether every target is met, with the wait at the arrival rate, and whether there is a steady state."""
        at = self.values(batch, copies)
        met = at[LOAD] < 1 if self.rate else np.ones(self.size, bool)
        for name, limit in self.limits.items():
            met = met & (self._within(at[TARGET_METRICS[name]], limit) if TARGET_METRICS[name] in at else False)
        return met

    @staticmethod
    def _within(metric: Array, limit: Array) -> Array:
        return np.nan_to_num(metric, nan=np.inf) <= limit * (1 + CLOSE)

    def _copies(self, batch: Array) -> Array:
        """The least number of copies that bears the arrival rate within the targets."""
        batch = np.maximum(batch, 1)
        others = {name: limit for name, limit in self.limits.items() if name == "ttft"}

        def enough(copies: Array) -> Array:
            at = self.values(batch, copies)
            met = at[LOAD] < 1
            return met & self._within(at["loaded_ttft"], others["ttft"]) if others else met

        return _first(enough, np.full(self.size, MOST_COPIES), missing=MOST_COPIES + 1)


def _last(holds: Callable[[Array], Array], high: Array) -> Array:
    """The largest whole number up to ``high`` at which ``holds``, which ceases for good; 0 where it is never so."""
    low, high = np.zeros(len(high)), np.floor(high) + 1
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        met = holds(np.maximum(middle, 1))
        low, high = np.where(met, np.maximum(middle, low), low), np.where(met, high, np.maximum(middle, low + 1))
    return low


def _first(holds: Callable[[Array], Array], high: Array, missing: int = 0) -> Array:
    """The smallest whole number up to ``high`` from which on ``holds``; ``missing``, else 1, where it is not so at ``high``."""
    low, end = np.zeros(len(high)), high.astype(float)
    never = ~holds(end)
    while (end - low > 1).any():
        middle = np.floor((low + end) / 2)
        met = holds(np.maximum(middle, 1))
        low, end = np.where(met, low, np.minimum(middle, end - 1)), np.where(met, np.maximum(middle, 1), end)
    return np.where(never, missing or 1, end)
