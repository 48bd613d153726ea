"""The configurations of a study as pictures compare them by batch: labels, what is compared, and the limits of the batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.verdict import queues, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import Input
from symroof.report.field_names import short_label
from symroof.report.pictures.curves import Bounds, along
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import number

LENGTHS = frozenset({"prompt", "output", "cached_prefix"})
"""Inputs that a case at a context ignores."""


@dataclass(frozen=True)
class Metrics:
    """What is compared by batch: latency, rate and rate of a device, and the words for them."""

    itl: str
    rate: str
    device_rate: str
    latency: str
    of_rate: str
    note: str


UNDER_LOAD = Metrics(
    "sustained_itl", "sustained_throughput", "sustained_throughput_per_device", "inter-token latency under load",
    "sustained output tokens per second, prefills included", "A server under load, prefills included, as targets are tested.",
)  # fmt: skip
FULL_SLOTS = replace(
    UNDER_LOAD,
    latency="inter-token latency at full load",
    note="Every slot taken, prefills included. At the study's arrival rate fewer requests decode, in shorter steps.",
)
"""The same where an arrival rate is given: batches are compared with every slot taken, not at that rate."""
ISOLATED = Metrics(
    "itl", "decode_throughput", "decode_throughput_per_device", "inter-token latency at the last step",
    "output tokens per second of the whole batch, at the last step", "Decode alone: on a server under load, prefills lengthen the steps.",
)  # fmt: skip


def metrics_of(cases: Sequence[BoundCase]) -> Metrics:
    """Metrics under load if targets of every case apply to these; else of a decode-only batch."""
    if not all(under_load(case.case) for case in cases):
        return ISOLATED
    return FULL_SLOTS if any(queues(case.case) for case in cases) else UNDER_LOAD


@dataclass(frozen=True, eq=False)
class Configuration:
    """Cases that differ in their batch alone."""

    label: str
    cases: tuple[BoundCase, ...]
    of: Metrics

    @property
    def batches(self) -> list[float]:
        return list(dict.fromkeys(float(case.case.value("batch")) for case in self.cases))

    @cached_property
    def there(self) -> BoundCase:
        """The case that is drawn: a server under load with whole responses, or the last decode step."""
        return at_last_step(self.cases[0]) if self.of is ISOLATED else self.cases[0]

    @cached_property
    def bounds(self) -> Bounds:
        """Where memory, the target and the ridge lie."""
        return Bounds.of(self.of.itl, self.there, "batch", ridge=self.of is ISOLATED)

    def points(self, batches: Any, up: str, case: BoundCase | None = None) -> Any:
        """ITL and another quantity, a row a batch."""
        names = (self.of.itl, up)
        return np.column_stack([along((case or self.there).case, n, "batch", batches) for n in names])  # fmt: skip


def configurations(cases: Sequence[BoundCase], of: Metrics, *needed: str) -> list[Configuration]:
    """Cases grouped by everything but the batch, in order; those that have some quantities."""
    groups: dict[Any, list[BoundCase]] = {}
    for case in cases:
        if known(case, *needed):
            chunk = case.given["chunk"].setting if "chunk" in case.given else None
            varied = tuple(pair for pair in case.varied if pair[0] != "batch")
            label = short_label(replace(case, varied=varied))
            groups.setdefault((label, str(chunk)), []).append(case)
    return [Configuration(label, tuple(own), of) for (label, _), own in groups.items()]


def compared(cases: Sequence[BoundCase], what: str, of: Metrics | None = None) -> str:
    """What all cases have in common, and how many are drawn, for the line below a title."""
    models = {case.model.shown_name for case in cases if case.model}
    said = [*models] if len(models) == 1 else []
    for name in ("prompt", "output"):
        settings = [case.given[name].setting if name in case.given else None for case in cases]
        if settings[0] is not None and all(each == settings[0] for each in settings):
            said.append(f"{name} {int(cases[0].case.value(name)):,}")
    at = ["at the context of the last step"] if of is ISOLATED else []
    return ", ".join([*said, what, *at])


def at_last_step(case: BoundCase) -> BoundCase:
    """The case as requests at the context of a response's last step, where memory and the ITL target are tested.

    Raises:
        NoValue: neither a context nor a prompt has a value.
    """
    return at_a_context(case, float(case.case.value("peak_context")))


def at_a_context(subject: BoundCase, context: float) -> BoundCase:
    """The case at a context, without prompt and output; inputs that are formulas of these are replaced by their numbers."""

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


def known(case: BoundCase, *names: str) -> bool:
    """Whether a case has all of some quantities."""
    try:
        return all(case.case.value(name) is not None for name in names)
    except NoValue:
        return False


def target_of(configurations: list[Configuration]) -> list[float]:
    """The ITL targets of some configurations, each once."""
    return sorted({c.bounds.goal for c in configurations if c.bounds.goal is not None})


def logarithmic(values: Any, room: float) -> tuple[float, float]:
    """The ends of an axis that has room around some values."""
    finite = [float(x) for x in values if math.isfinite(x)]
    return min(finite) / room, max(finite) * room
