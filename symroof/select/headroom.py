"""The headroom of a configuration: how far an input may rise until a constraint breaks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from symroof.analysis.compile import compile
from symroof.analysis.verdict import LOAD, MEMORY, metrics_of, under_load
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.select.configuration import PRICED, Run
from symroof.symbolic.blocks import Array
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.searches import largest_whole

POINTS, TURNS, DIGITS = 256, 5, 1e-6
STRETCH, FURTHEST = 4.0, 4096.0
"""How many times its value an input is followed at once, and at most."""

ITL = "sustained_itl"
"""That of full slots, which a batch that is solved for keeps within the target at any arrival rate."""


class Headroom(NamedTuple):
    """The last value of an input that still passes, and the conditions that the next one breaks; none where it passes as far as it is followed."""

    name: str
    value: float
    breaks: tuple[str, ...]


def headrooms(run: Run, names: Sequence[str]) -> tuple[Headroom | None, ...]:
    """How far inputs of a configuration that passes, whatever it costs, may rise, each alone; None where one has no value, or the configuration does not pass.

    Where requests grow so that fewer fit together, as many decode as do; of a batch that was solved for also as many as meet the ITL target.
    Over ranges of efficiencies it passes where it does at their slow end.

    >>> from symroof.select.selection import select
    >>> choice = select(model="llama-3.1-8b", hardware="h100-sxm", prompt=2048, output=300, arrival_rate=20, targets={"itl": "50 ms"}, tp=1, chunk=2048, efficiency="peak")
    >>> (rate,) = headrooms(choice.passing[0].run, ["arrival_rate"])
    >>> round(rate.value, 1), rate.breaks
    (22.2, ('load',))
    """
    bound_case = run.bound_case.slow_end
    moved = [name for name in names if name in bound_case.case.given]
    if not moved or not PRICED.issuperset(run.missed) or not under_load(bound_case.case):
        return (None,) * len(names)
    try:
        load = _Load(run, bound_case, moved)
    except (InputError, NoValue):
        return (None,) * len(names)
    return tuple(_headroom(load, name) if name in moved else None for name in names)


def _headroom(load: _Load, name: str) -> Headroom | None:
    """The last value of one input that passes, followed upwards in ever finer steps."""
    counted = load.bound_case.case.theory.symbol(name).counted
    start = low = load.now[name]
    high = low * STRETCH  # the nearest first: sums over long responses take long
    turn = 0
    while turn < TURNS and high - low > (1 if counted else DIGITS * low):
        points = np.geomspace(low, high, POINTS)
        points = np.unique(np.round(points)) if counted else points
        fails = np.logical_or.reduce(list(load.broken(name, points).values()))
        if not fails.any():
            if high >= start * FURTHEST:
                return Headroom(name, high, ())
            low, high = high, high * STRETCH
            continue
        first = int(np.argmax(fails))
        if first == 0:
            return None
        low, high, turn = float(points[first - 1]), float(points[first]), turn + 1
    names = {
        load.limits[metric][0]: None
        for metric, state in load.broken(name, np.array([high])).items()
        if state[0]
    }
    return Headroom(name, low, (LOAD,) if LOAD in names else tuple(names))


class _Load:
    """The conditions of a configuration as functions of the inputs that change, one at a time, and of the batch: as many requests as now, as fit, and, of a batch that was solved for, as meet the ITL target."""

    def __init__(self, run: Run, bound_case: BoundCase, names: Sequence[str]) -> None:
        self.bound_case, self.most = bound_case, run.batch
        self.now = {name: float(bound_case.case.value(name)) for name in names}
        limits = _limits(bound_case).items()
        self.limits = {metric: limit for metric, limit in limits if limit[0] not in run.missed}
        self.capacity = compile(["concurrency"], names, bound_case)
        self.itl, self.step = bound_case.targets.get("itl"), None
        searched = "batch" in dict(run.changes) and "itl" not in run.missed
        if searched and self.itl and bound_case.case.has_value(ITL):
            self.step = compile([ITL], [*names, "batch"], bound_case)
        self.function = compile(list(self.limits), [*names, "batch"], bound_case)

    def broken(self, name: str, points: Array) -> dict[str, Array]:
        """For each metric, where one input at these values breaks its limit."""
        inputs = {**self.now, name: points}.values()
        columns = self.function.codes(*inputs, self._batch(inputs, points.shape))
        limits = (limit for _, limit in self.limits.values())
        return {
            metric: ~_within(column, limit)
            for metric, column, limit in zip(self.limits, columns, limits, strict=True)
        }

    def _batch(self, inputs: Collection[Any], shape: tuple[int, ...]) -> Array:
        """The requests that decode; at least one, in time or not."""
        room = np.broadcast_to(self.capacity.codes(*inputs)[0], shape)
        high: Array = np.floor(np.clip(room, 1, self.most))
        step, limit = self.step, self.itl
        if step is None or limit is None:
            return high

        def in_time(batch: Array) -> Array:
            return _within(step.codes(*inputs, batch)[0], float(limit))

        most: Array = high if in_time(high).all() else largest_whole(in_time, high)
        return np.maximum(most, 1)


def _within(metric: Array, limit: float) -> Array:
    """Whether a metric is within its limit, up to the last digits of a float."""
    return np.asarray(np.nan_to_num(metric, nan=np.inf) <= limit * (1 + DIGITS**2))


def _limits(bound_case: BoundCase) -> Mapping[str, tuple[str, float]]:
    """Each metric with its condition and limit; a load of 1 is already too much."""
    case = bound_case.case
    limits: dict[str, tuple[str, float]] = {}
    if case.has_value("fits"):
        room = float(case.value("usable_memory_per_device"))
        limits["memory_bytes_per_device"] = (MEMORY, room)
    if "arrival_rate" in case.given:
        limits[LOAD] = (LOAD, 1 - DIGITS**2 * 2)
    for target, limit in bound_case.targets.items():
        limits[metrics_of(target, case)[0]] = (target, float(limit))
    return {metric: limit for metric, limit in limits.items() if case.has_value(metric)}
