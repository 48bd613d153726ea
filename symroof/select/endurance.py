"""How much more a configuration bears as it is laid out: how far an input rises until a condition breaks; and the copies that would do at expected efficiencies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.analysis.compile import Compiled, compile
from symroof.analysis.constraints import conditions
from symroof.analysis.verdict import LOAD, MEMORY, metrics_of, under_load
from symroof.cases.case_results import Answers
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.select.configuration import Run, varied
from symroof.select.screened_group import PRICED

Array = np.ndarray[Any, Any]

POINTS, TURNS, DIGITS = 256, 5, 1e-6
STRETCH, FURTHEST = 4.0, 4096.0
"""How many times its value an input is followed at once, and at most."""

ITL = "sustained_itl"


@dataclass(frozen=True)
class Bears:
    """The last value of an input that still passes, and the conditions that the next one breaks; none where it passes as far as it is followed."""

    name: str
    value: float
    breaks: tuple[str, ...]


def bears(run: Run, name: str) -> Bears | None:
    """How far an input of a configuration that passes, whatever it costs, may rise; None where it has no value, or the configuration does not pass.

    Where requests grow so that fewer fit together, as many decode as do; of a batch that was solved for also as many as meet the ITL target.
    Over ranges of efficiencies it passes where it does at their slow end.

    >>> from symroof.select.choice import select
    >>> choice = select(model="llama-3.1-8b", hardware="h100-sxm", prompt=2048, output=300, arrival_rate=20, targets={"itl": "50 ms"}, efficiency="peak")
    >>> rate = bears(choice.passing[0].run, "arrival_rate")
    >>> round(rate.value, 1), rate.breaks
    (22.8, ('load',))
    """
    answers = run.answers.slow_end
    if not PRICED.issuperset(run.missed) or not under_load(answers.case) or name not in answers.case.given:
        return None
    limits = {metric: limit for metric, limit in _limits(answers).items() if limit[0] not in run.missed}
    try:
        solved = "batch" in dict(run.changes)
        batch = _Batch(answers, name, run.batch, limits[ITL][1] if solved and ITL in limits else math.inf)
        function = compile(list(limits), [name, "batch"], answers)
    except (InputError, NoValue):
        return None
    counted = answers.case.theory.symbol(name).counted

    def broken(points: Array) -> dict[str, Array]:
        values = (np.broadcast_to(column, points.shape) for column in function(points, batch(points)))
        return {metric: ~(np.nan_to_num(column, nan=np.inf) <= limits[metric][1] * (1 + DIGITS**2)) for metric, column in zip(limits, values, strict=True)}

    start = low = float(answers.case.value(name))
    high = low * STRETCH  # the nearest first: sums over long responses take long
    turn = 0
    while turn < TURNS and high - low > (1 if counted else DIGITS * low):
        points = np.geomspace(low, high, POINTS)
        points = np.unique(np.round(points)) if counted else points
        fails = np.logical_or.reduce(list(broken(points).values()))
        if not fails.any():
            if high >= start * FURTHEST:
                return Bears(name, high, ())
            low, high = high, high * STRETCH
            continue
        first = int(np.argmax(fails))
        if first == 0:
            return None
        low, high, turn = float(points[first - 1]), float(points[first]), turn + 1
    names = {limits[metric][0]: None for metric, state in broken(np.array([high])).items() if state[0]}
    return Bears(name, low, (LOAD,) if LOAD in names else tuple(names))


class _Batch:
    """The requests that decode as an input changes: no more than now, than fit, and than meet the ITL target, which they do the slower the more they are."""

    def __init__(self, answers: Answers, name: str, most: float, limit: float) -> None:
        self.most, self.limit = most, limit
        self.capacity = compile("concurrency", [name], answers)
        self.step: Compiled | None = compile(ITL, [name, "batch"], answers) if limit < math.inf else None

    def __call__(self, points: Array) -> Array:
        high = np.floor(np.clip(np.broadcast_to(self.capacity(points), points.shape), 1, self.most))
        if self.step is None or self._within(points, high).all():
            return np.asarray(high)
        low = np.ones(points.shape)  # at least one decodes, in time or not
        while (high > low).any():
            middle = np.ceil((low + high) / 2)
            within = self._within(points, middle)
            low, high = np.where(within, middle, low), np.where(within, high, middle - 1)
        return np.asarray(low)

    def _within(self, points: Array, batch: Array) -> Array:
        assert self.step is not None
        return np.asarray(np.nan_to_num(self.step(points, batch), nan=np.inf) <= self.limit * (1 + DIGITS**2))


def expected_copies(run: Run) -> int:
    """The least number of copies that does at the values expected, where the number was solved for the slow end of the efficiencies; else those it has.

    A batch that was solved for the slow end is solved for the values expected, too: faster steps take more requests within the target.

    >>> from symroof.select.choice import select
    >>> case = {"model": "llama-3.1-8b", "hardware": "h100-sxm", "prompt": 2048, "output": 300, "arrival_rate": 100, "targets": {"itl": "50 ms"}}
    >>> run = select(**case).passing[0].run
    >>> expected_copies(run) < run.copies
    True
    """
    if "dp" not in dict(run.changes) or not run.slow:
        return run.copies
    low, high = 0, run.copies
    changes = dict(run.changes) | {"batch": _expected_batch(run)}
    while high - low > 1:
        middle = (low + high) // 2
        there = varied(run.own, **{**changes, "dp": middle})
        if all(condition.holds(there.case) for condition in conditions(there) if condition.name not in run.missed):
            high = middle
        else:
            low = middle
    return high


def _expected_batch(run: Run) -> int:
    """The largest batch that fits and meets the ITL target at the values expected, where the batch was solved for; else the batch it has."""
    if "batch" not in dict(run.changes):
        return run.batch
    limits = _limits(run.own)
    return int(_Batch(run.own, "dp", math.inf, limits[ITL][1] if ITL in limits else math.inf)(np.ones(1))[0])


def _limits(answers: Answers) -> Mapping[str, tuple[str, float]]:
    """Each metric with its condition and limit; a load of 1 is already too much."""
    case = answers.case
    limits: dict[str, tuple[str, float]] = {"memory_bytes_per_device": (MEMORY, float(case.value("usable_memory_per_device")))} if case.known("fits") else {}
    if "arrival_rate" in case.given:
        limits[LOAD] = (LOAD, 1 - DIGITS**2 * 2)
    for target, limit in answers.targets.items():
        limits[metrics_of(target, case)[0]] = (target, float(limit))
    return {metric: limit for metric, limit in limits.items() if case.known(metric)}
