"""One configuration against memory and the targets: passes or fails, by how much, and at which batch."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from symroof.analysis.case_summary import degrees
from symroof.analysis.verdict import (
    LOAD,
    MEMORY,
    TargetCheck,
    at_rate,
    isolated,
    target_checks,
    under_load,
    unknown_targets,
    waits_without_end,
)
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import Result
from symroof.errors import InputError, Problem
from symroof.theory.declarations import MissingInput
from symroof.theory.layout import DEGREES
from symroof.theory.theory_files import column

State = Literal["passes", "in part", "fails", "unknown"]

PRICE = "price"
PRICED = frozenset(column("targets", "priced"))
"""Targets that cannot be judged without a price: the batch and the copies are those that all others allow."""

CLOSE = 1e-9
"""A metric so near to its limit is within it."""
OF_AN_INSTANCE = DEGREES[:-1]
"""The degrees of one instance: with one of these set, the group is the one that was asked for."""
DEVICES_OF_A_NODE = 8
"""Devices of a group at most, where a device's spec does not say how many its links join, or the host link joins them."""


def domain(bound_case: BoundCase) -> int:
    """The devices that a group may have: those that its links join, or else the host link of a node."""
    device = bound_case.hardware
    if device is None or not bound_case.case.has_value("link_bandwidth"):
        return 1
    joined = device.link.devices if device.link else None
    return int(joined.value.value) if joined else DEVICES_OF_A_NODE


class Window(NamedTuple):
    """The largest batch that passes, and the conditions that the next one breaks."""

    most: int
    stopped_by: tuple[str, ...] = ()


AS_EXPECTED, SLOW, FAST = range(3)


@dataclass(frozen=True)
class Judged:
    """What a configuration comes to, or (arrays) what many do, by name.

    Attributes:
        values: quantities as expected, and their least and largest over the ranges.
        shares: how much of its limit each condition takes up, as expected, and at the most (``SLOW``) and least (``FAST``) over the ranges.
    """

    values: Mapping[str, Any]
    shares: Mapping[str, Any]

    def row(self, place: int) -> "Judged":
        """One of many, without what has no value there."""
        rows = (
            {name: tuple(x[:, place].tolist()) for name, x in columns.items()}
            for columns in (self.values, self.shares)
        )
        return Judged(*({n: x for n, x in row.items() if not math.isnan(x[0])} for row in rows))

    def over(self, end: int) -> tuple[str, ...]:
        """The conditions that are missed at an end of the ranges; at a load of 1 the queue already grows."""
        return tuple(
            name
            for name, share in self.shares.items()
            if share[end] > 1 + CLOSE or (name == LOAD and share[end] >= 1)
        )

    def decided(self, checks: Iterable[TargetCheck]) -> "Judged":
        """With the conditions that some checks have decided."""
        found = {}
        for check in checks:
            limit, (low, high) = float(check.limit), check.ends
            ends = (check.metric.value, high, low)
            found[check.name] = tuple(float(x) / limit if limit else math.inf for x in ends)
        return replace(self, shares={**self.shares, **found})


@dataclass(frozen=True)
class Configuration:
    """One combination of the models, devices and values that a study lists: a candidate, and then judged at one batch.

    >>> from symroof.select.selection import select
    >>> choice = select(model="llama-3-8b", hardware="l40s", prompt=4096, batch=1, targets={"itl": "1 ms"})
    >>> configuration = choice.configurations[0]
    >>> configuration.label, configuration.state, configuration.missed, configuration.chosen
    ('8 x l40s', 'fails', ('itl',), True)

    Attributes:
        own: the combination as it is listed.
        changes: what was found for it: its chunk or its prefill devices, its batch, its copies.
        copies_of: decoding instances that share prefill instances, so that copies are a multiple of them; 1 where none do.
        as_given: a layout of a command line, whose ``chunk`` of a rank and ``batch`` are tried as well.
        window: the largest batch that passes; None where none does, where some condition is not known, and where the study lists batches.
        screened: what array functions found; None where the case itself is evaluated.
        simulated: the conditions that simulation decided, a percentile each.
        unsimulated: those that it did not, as one that passes costs less.
    """

    own: BoundCase
    changes: Mapping[str, Fraction] = field(default_factory=dict, hash=False)
    copies_of: int = 1
    as_given: Mapping[str, int] = field(default_factory=dict, hash=False)
    window: Window | None = None
    screened: Judged | None = field(default=None, hash=False)
    simulated: tuple[TargetCheck, ...] = ()
    unsimulated: tuple[str, ...] = ()

    def changed(self, name: str, value: int) -> Self:
        """The same with another number, to be judged by itself."""
        changes = {**self.changes, name: Fraction(value)}
        return replace(self, changes=changes, window=None, screened=None)

    @property
    def chosen(self) -> bool:
        """Whether its batch was chosen, by the study or by the caller; else it is the largest that passes."""
        return self.own.chosen("batch")

    @cached_property
    def label(self) -> str:
        """In the names one types: how many of which device in one instance, its layout, and what the study lists."""
        own, case = self.own, self.own.case
        count = int(case.value("instance_devices")) * int(case.value("dp"))
        model = [own.model.name] if own.several_models and own.model else []
        device = own.hardware.name if own.hardware else "no hardware"
        several = f"{count} x " if count > 1 else ""
        listed = (f"{name} {value}" for name, value in own.varied if name not in DEGREES)
        named = *model, f"{several}{device}", *degrees(own), *self.prefill_ratio(), *listed
        return ", ".join(named)

    def prefill_ratio(self) -> list[str]:
        """How many devices prefill beside those that decode.

        Raises:
            InputError: how many these are is not known.
        """
        case = self.own.case
        if self.own.assumptions["scheduling"] != "disaggregated":
            return []
        try:
            devices = self.changes.get("prefill_devices") or case.value("prefill_devices")
        except MissingInput as error:
            message = "devices that prefill on their own (scheduling disaggregated) need a number"
            hint = f"`--set {error.name}=4`; at a rate (`--qps 20`) their number is searched"
            raise InputError(Problem("select", message, path=error.name, hint=hint)) from None
        ratio = Fraction(devices) / Fraction(case.value("instance_devices"))
        ratio = ratio.limit_denominator(1000)
        return [f"prefill {ratio.numerator} to {ratio.denominator}"]

    @cached_property
    def case(self) -> BoundCase:
        """The case behind it, at its batch and with all its copies."""
        if not self.changes:
            return self.own
        return replace(variant(self.own, self.changes), assumptions=self.own.assumptions)

    @property
    def batch(self) -> int:
        return int(self.changes.get("batch") or self.own.number("batch"))

    @property
    def copies(self) -> int:
        """Instances side by side."""
        return int(self.changes.get("dp") or self.own.number("dp"))

    @property
    def layout(self) -> dict[str, Fraction]:
        """The inputs that lay it out, chosen or given: with these, its scheduling, its batch and its copies, any command gives the same."""
        prompts = {"chunked": ["chunk"], "disaggregated": ["prefill_devices"]}
        names = *OF_AN_INSTANCE, *prompts.get(self.own.assumptions["scheduling"], ())
        known = [name for name in names if name in self.changes or name in self.own.given]
        return {name: self.changes.get(name) or self.own.number(name) for name in known}

    def tested(self, name: str) -> str:
        """The quantity used for one: ``itl_last`` for ``sustained_itl`` where latencies are isolated; the cost at the arrival rate where there is one."""
        case = self.own.case
        return at_rate(name, case) if under_load(case) else isolated(name, case)

    def result(self, name: str) -> Result | None:
        """A quantity with its flags; of a server under load where that is known, else isolated. None where it has no value."""
        return self.case.get(self.tested(name))

    def predicted(self, name: str) -> Result | None:
        """The same with its interval as the screening has it, which configurations are compared by."""
        tested = self.tested(name)
        if self.screened is None or tested not in self.screened.values:
            return self.result(name)
        value, *ends = self.screened.values[tested]
        low, high = (None if math.isnan(end) else end for end in ends)
        return Result(self.own.case.theory.symbol(tested), value, low, high)

    def rank(self, name: str) -> float | None:
        """Its value alone."""
        found = self.predicted(name)
        return None if found is None else float(found.value)

    @cached_property
    def checks(self) -> tuple[TargetCheck, ...]:
        """Memory and every target that there is a metric for."""
        decided = {check.name: check for check in self.simulated}
        checks = target_checks(self.case, memory=True)
        return tuple(decided.get(check.name, check) for check in checks)

    @cached_property
    def judged(self) -> Judged:
        """What it comes to, with what simulation decided; a wait without end takes up any limit."""
        if self.screened is not None:
            return self.screened.decided(self.simulated)
        case = self.case.case
        endless = (name for name in self.own.targets if waits_without_end(name, case))
        return Judged({}, dict.fromkeys(endless, (math.inf,) * 3)).decided(self.checks)

    @cached_property
    def unknown(self) -> dict[str, str]:
        """What cannot be judged, and why: a size, a price or a link is missing."""
        judged = {check.name for check in self.checks}
        reasons = dict.fromkeys(self.unsimulated, "not simulated, as one that costs less passes")
        if MEMORY not in judged:
            reasons[MEMORY] = self.case.why_unknown("fits")
        return reasons | unknown_targets(self.case)

    @property
    def unjudged(self) -> set[str]:
        """The conditions whose metric has no value: that of a price which is not known, and what else :attr:`unknown` gives reasons for."""
        return {*self.unsimulated, *({MEMORY, *self.own.targets} - self.judged.shares.keys())}

    @property
    def state(self) -> State:
        """``passes``, ``fails``, ``in part`` (over part of the ranges) or ``unknown``: one miss is a failure, whatever is not known."""
        if self.missed:
            return "fails"
        if self.unjudged:
            return "unknown"
        return "in part" if self.missed_when_slow else "passes"

    @property
    def missed(self) -> tuple[str, ...]:
        """The conditions that are missed: with measured efficiencies as expected, else throughout the ranges."""
        return self.judged.over(AS_EXPECTED if self.own.measured_alone else FAST)

    @property
    def missed_as_expected(self) -> tuple[str, ...]:
        """The conditions that are missed where everything is as expected, whatever they are at the ends of ranges."""
        return self.judged.over(AS_EXPECTED)

    @property
    def missed_when_slow(self) -> tuple[str, ...]:
        """The conditions that are missed at the slow end of what was measured, or at the worst corner of other ranges."""
        return self.judged.over(SLOW)

    @property
    def misses(self) -> tuple[str, ...]:
        """All of these, each once."""
        every = (*self.missed_as_expected, *self.missed, *self.missed_when_slow)
        return tuple(dict.fromkeys(every))

    @property
    def miss(self) -> tuple[bool, float]:
        """Whether it does not fit, and by which factor all limits together are missed at the slow end: the smaller the nearer. A wait without end says less of
        how far it is off than the load."""
        slow = (share[SLOW] for share in self.judged.shares.values())
        factor = math.prod(max(x, 1) for x in slow if x < math.inf)
        return MEMORY in (*self.missed, *self.missed_as_expected), float(factor)
