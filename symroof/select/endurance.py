"""How much more a configuration bears as it is laid out: the arrival rate and the prompt at which a condition breaks, bracketed over arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.analysis.compile import compile
from symroof.analysis.verdict import LOAD, MEMORY, metrics_of, under_load
from symroof.cases.case_results import Answers
from symroof.errors import InputError
from symroof.formula.evaluate import NoValue
from symroof.select.configuration import Run

Array = np.ndarray[Any, Any]

POINTS, TURNS, DIGITS = 256, 5, 1e-6
FURTHEST = 4096.0
"""How many times its value an input is followed."""


@dataclass(frozen=True)
class Bears:
    """The last value of an input that still passes, and the conditions that the next one breaks; none where it passes as far as it is followed."""

    name: str
    value: float
    breaks: tuple[str, ...]


def bears(run: Run, name: str) -> Bears | None:
    """How far an input of a passing configuration may rise; None where it has no value, or the configuration does not pass.

    Where requests grow so that fewer fit, as many decode as do. Over ranges of efficiencies it passes where it does at their slow end.

    >>> from symroof.select.choice import select
    >>> choice = select(model="llama-3.1-8b", hardware="h100-sxm", prompt=2048, output=300, arrival_rate=20, targets={"itl": "50 ms"}, efficiency="peak")
    >>> rate = bears(choice.passing[0].run, "arrival_rate")
    >>> round(rate.value, 1), rate.breaks
    (22.8, ('load',))
    """
    answers = run.answers.slow_end
    if not run.passes or not under_load(answers.case) or name not in answers.case.given:
        return None
    limits = _limits(answers)
    try:
        capacity, function = compile("concurrency", [name], answers), compile(list(limits), [name, "batch"], answers)
    except (InputError, NoValue):
        return None
    counted = answers.case.theory.symbol(name).counted

    def broken(points: Array) -> dict[str, Array]:
        batch = np.clip(capacity(points), 1, run.batch)
        values = (np.broadcast_to(column, points.shape) for column in function(points, batch))
        return {metric: ~(np.nan_to_num(column, nan=np.inf) <= limits[metric][1] * (1 + DIGITS**2)) for metric, column in zip(limits, values, strict=True)}

    low = float(answers.case.value(name))
    high = low * FURTHEST
    for _ in range(TURNS):
        points = np.geomspace(low, high, POINTS)
        points = np.unique(np.round(points)) if counted else points
        fails = np.logical_or.reduce(list(broken(points).values()))
        if not fails.any():
            return Bears(name, high, ())
        first = int(np.argmax(fails))
        if first == 0:
            return None
        low, high = float(points[first - 1]), float(points[first])
        if high - low <= (1 if counted else DIGITS * low):
            break
    names = {limits[metric][0]: None for metric, state in broken(np.array([high])).items() if state[0]}
    return Bears(name, low, (LOAD,) if LOAD in names else tuple(names))


def _limits(answers: Answers) -> Mapping[str, tuple[str, float]]:
    """Each metric with its condition and limit; a load of 1 is already too much."""
    case = answers.case
    limits: dict[str, tuple[str, float]] = {"memory_bytes_per_device": (MEMORY, float(case.value("usable_memory_per_device")))} if case.known("fits") else {}
    if "arrival_rate" in case.given:
        limits[LOAD] = (LOAD, 1 - DIGITS**2 * 2)
    for target, limit in answers.targets.items():
        limits[metrics_of(target, case)[0]] = (target, float(limit))
    return {metric: limit for metric, limit in limits.items() if case.known(metric)}
