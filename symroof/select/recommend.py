"""The one recommendation: which devices to buy, how many, and how to lay them out; every command shows this ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import compile
from symroof.analysis.study import Study
from symroof.analysis.verdict import LOAD, MEMORY, MEMORY_OF_A_DEVICE, metrics_of, queues
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result, plain_value
from symroof.errors import InputError
from symroof.select.candidates import with_candidates
from symroof.select.configuration import CLOSE, PRICE, PRICED, Configuration, Run
from symroof.select.search_space import Layouts, domain
from symroof.select.selection import MONEY, Selection, select_from
from symroof.symbolic.blocks import Array
from symroof.symbolic.searches import largest_whole

HOUR = 3600
HOURS_OF_A_MONTH = 730
PARTS = 2.0**24
"""Of the rate at a load of 1: as finely is the largest rate known."""
NARROWER = {"fp16": "fp8", "bf16": "fp8", "fp8": "nvfp4"}
"""Formats that weights may be narrowed to, where that changes what a model answers as little as it gets."""


@dataclass(frozen=True)
class Purchase:
    """The best of one device, as it is bought.

    >>> pick = recommend(Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, arrival_rate=40, targets={"itl": "30 ms"})).pick
    >>> pick.devices, pick.replicas, pick.group, pick.scheduling, round(pick.usd_per_month)
    (6, 6, {'decode': 1}, 'chunked', 17082)
    """

    configuration: Configuration

    @property
    def run(self) -> Run:
        return self.configuration.run

    @property
    def case(self) -> BoundCase:
        """The case at its batch, with all its replicas."""
        return self.run.bound_case

    @property
    def passes(self) -> bool:
        return self.configuration.state == "passes"

    @property
    def hardware(self) -> str:
        return self.case.hardware.name if self.case.hardware else ""

    @property
    def title(self) -> str:
        """The device as people call it."""
        return self.case.hardware.title if self.case.hardware else "devices"

    @cached_property
    def devices(self) -> int:
        """All devices, of all roles and replicas."""
        return round(float(self._number("served_devices") * self._number("dp")))

    @property
    def counted(self) -> bool:
        """Whether its size and its price are an answer: not where it does not fit or keep up, nor at a rate where a target is missed however many replicas there are."""
        missed = {*self.run.missed_as_expected, *self.run.missed, *self.run.missed_when_slow}
        return not (missed if queues(self.run.own.case) else missed & {MEMORY, LOAD})

    @property
    def amount(self) -> str:
        """``32``, or ``a replica of 8``."""
        each = f"a replica of {self.devices // self.replicas:,}"
        return f"{self.devices:,}" if self.counted or self.load is None else each

    @property
    def replicas(self) -> int:
        """Copies of the smallest whole: with prefill instances that several decoding ones share, of all these together."""
        return self.run.copies // self.run.copies_of

    @cached_property
    def group(self) -> dict[str, int]:
        """Devices of one replica, by role."""
        decode = round(float(self._number("instance_devices"))) * self.run.copies_of
        prefill = self.devices // self.replicas - decode
        return {"decode": decode} | ({"prefill": prefill} if prefill else {})

    @property
    def parallel(self) -> dict[str, int]:
        """The degrees of one instance."""
        return {name: int(self._number(name)) for name in ("tp", "pp", "attention_dp", "ep")}

    @property
    def scheduling(self) -> str:
        return self.case.assumptions["scheduling"]

    @property
    def chunk(self) -> int | None:
        """Prompt tokens that a step of an instance takes along; None where steps are of one kind."""
        known = self.scheduling == "chunked" and self.case.case.is_set("chunk")
        return int(self._number("chunk")) if known else None

    @property
    def batch(self) -> int:
        """Requests that one instance decodes together."""
        return self.run.batch

    @cached_property
    def usd_per_hour(self) -> float | None:
        """The price of all devices."""
        return float(self._number(PRICE)) * self.devices * HOUR if self.priced else None

    @property
    def usd_per_month(self) -> float | None:
        return None if self.usd_per_hour is None else self.usd_per_hour * HOURS_OF_A_MONTH

    @property
    def priced(self) -> bool:
        return self.case.case.has(PRICE)

    @property
    def prices_now(self) -> float:
        """The price of one device an hour that the choice is made at: the median of those found."""
        return float(self._number(PRICE)) * HOUR

    @property
    def prices(self) -> tuple[float, float]:
        """The lowest and the highest price of one device an hour."""
        low, high = (float(x) * HOUR for x in self.case.list_prices or (0, 0))
        return (low, high) if high else (self.prices_now, self.prices_now)

    @cached_property
    def cost_per_mtok(self) -> Result | None:
        """USD per million output tokens: at the arrival rate where there is one."""
        return self.result(self.run.tested("cost_per_mtok")) if self.priced else None

    @cached_property
    def ttft(self) -> Result | None:
        return self.result(self._metric("ttft"))

    @cached_property
    def itl(self) -> Result | None:
        return self.result(self._metric("itl"))

    @cached_property
    def load(self) -> float | None:
        """Arriving requests over what all replicas sustain, as expected."""
        found = self.result(LOAD) if queues(self.run.own.case) else None
        return None if found is None else float(found.value)

    @cached_property
    def highest_rate(self) -> float | None:
        """The largest arrival rate that these replicas serve within the targets, at the slow end; None where none is, or it would take simulations."""
        run, case = self.run, self.case.slow_end
        if not queues(case.case) or run.simulated:
            return None
        now, meets = float(case.case.value("arrival_rate")), self._meets("arrival_rate", case)
        most = now / float(case.case.value(LOAD)) / PARTS
        found = most * float(largest_whole(lambda parts: meets(most * parts), np.array([PARTS]))[0])
        return max(found, now if self.passes else 0.0) or None

    def longest(self, name: str, most: int) -> int | None:
        """The largest whole number of an input, of ``most`` at most, with which it fits and keeps its latencies at the slow end; None where it would take simulations."""
        if self.run.simulated:
            return None
        try:
            meets = self._meets(name, self.case.slow_end)
        except InputError:
            return None
        return int(largest_whole(meets, np.array([most]))[0])

    def _meets(self, by: str, case: BoundCase) -> Callable[[Array], Array]:
        """Whether it fits, keeps up and meets its latencies, at values of an input."""
        times = case.targets.keys() - PRICED  # more requests cost no more
        limits = {metrics_of(n, case.case)[0]: float(case.targets[n]) for n in sorted(times)}
        if case.fits is not None:
            used, usable = MEMORY_OF_A_DEVICE
            limits[used] = float(case.case.value(usable))
        loads = [LOAD] if queues(case.case) else []
        function = compile([*limits, *loads], [by], case)

        def meets(values: Array) -> Array:
            found = dict(zip(function.outputs, function.codes(values), strict=True))
            met = [found[name] <= limit * (1 + CLOSE) for name, limit in limits.items()]
            return np.asarray(np.logical_and.reduce([*met, *(found[name] < 1 for name in loads)]))

        return meets

    @cached_property
    def enough_as_predicted(self) -> int | None:
        """Devices in fewer replicas that keep the targets at the predicted values, though not at the slow end of their intervals; None where there are none."""
        if not self.passes or not self.highest_rate or self.case.slow_end is self.case:
            return None
        copies = np.arange(self.run.copies_of, self.run.copies, self.run.copies_of)
        enough = copies[self._meets("dp", self.case)(copies.astype(float))]
        return self.devices * int(enough[0]) // self.run.copies if len(enough) else None

    @property
    def headroom(self) -> float | None:
        """How much more may arrive, as a share of what does, until another replica is needed."""
        now = self.case.case.value("arrival_rate") if self.highest_rate else 0
        return self.highest_rate / float(now) - 1 if self.highest_rate and now else None

    def result(self, name: str) -> Result | None:
        """A quantity with its interval, as the screening has it."""
        value = self.run.quick.get(name)
        if value is None:
            return self.case.get(name)
        low, high = self.run.reach.get(name, (None, None))
        return Result(self.case.case.theory.symbol(name), value, low, high)

    def _number(self, name: str) -> Any:
        return self.case.case.value(name)

    def _metric(self, target: str) -> str:
        return metrics_of(target, self.run.own.case)[0]

    @cached_property
    def lacks(self) -> str:
        """What keeps it from passing, in one phrase; empty where it passes."""
        if self.passes:
            return ""
        run, device = self.run, self.case.hardware
        if run.unknown and not run.missed:
            return f"not known: {next(iter(run.unknown.values()))}"
        missed = tuple(dict.fromkeys((*run.missed_as_expected, *run.missed, *run.missed_when_slow)))
        alone = device is not None and domain(run.own) == 1
        because = "; nothing in its hardware file joins devices, so one only" if alone else ""
        if MEMORY in missed:
            used = run.share(MEMORY)
            return f"does not fit: {float(used):.2g} times its memory{because}"
        if LOAD in missed:
            return f"does not keep up with the arriving requests{because}"
        return ", ".join(self._over(name) for name in missed) + because

    def _over(self, name: str) -> str:
        """A missed target: its metric against its limit, at the slow end where it is met as expected."""
        run = self.run
        limit = float(run.own.targets[name])
        slow = name not in run.missed_as_expected
        share = float(run.slow.get(name, math.inf) if slow and run.slow else run.share(name))
        symbol = self.case.case.theory.symbol(self._metric(name))
        wanted = Result(symbol, limit).plain(3)
        if not math.isfinite(share):
            return f"{name.upper()} without end for {wanted}"
        said = Result(symbol, share * limit).plain(3)
        word = name.upper() if name in ("ttft", "itl") else name.replace("_", " ")
        return f"{word} {'up to ' if slow else ''}{said} for {wanted}"

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract, in base units but for USD an hour and a month."""
        return {
            "model": self.case.model.name if self.case.model else None,
            "hardware": self.hardware,
            "devices": self.devices,
            "replicas": self.replicas,
            "group": self.group,
            "parallel": self.parallel,
            "scheduling": self.scheduling,
            "chunk": self.chunk,
            "batch": self.batch,
            "weights": self.case.precisions.get("weights"),
            "usd_per_hour": self.usd_per_hour,
            "usd_per_month": self.usd_per_month,
            "cost_per_mtok": _interval(self.cost_per_mtok),
            "ttft": _interval(self.ttft),
            "itl": _interval(self.itl),
            "load": self.load,
            "passes": self.passes,
            "lacks": self.lacks or None,
        }


def _interval(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    ends = (result.value if end is None else end for end in (result.low, result.high))
    low, high = map(plain_value, ends)
    return {"value": plain_value(result.value), "low": low, "high": high}


@dataclass(frozen=True)
class Ranking:
    """What to use, the first of ``best`` where it passes, what else there is, and what would change the choice."""

    best: tuple[Purchase, ...]

    @property
    def pick(self) -> Purchase | None:
        """What to use: None where nothing passes."""
        return self.best[0] if self.best and self.best[0].passes else None

    @property
    def others(self) -> tuple[Purchase, ...]:
        return self.best[1:] if self.pick else self.best

    @property
    def reason(self) -> str:
        """Why there is nothing to use; empty where there is."""
        near = [f"Closest: {one.amount} × {one.title} ({one.lacks})." for one in self.best[:1]]
        return "" if self.pick else " ".join(["Nothing passes.", *near])

    @property
    def stays_up_to(self) -> float | None:
        """The price of one device an hour up to which the pick stays the cheapest; None where no other passes."""
        pick = self.pick
        if pick is None or not self.rivals or not pick.priced:
            return None
        mine, theirs = self.spent(pick), self.spent(self.rivals[0])
        return float(pick.prices_now * theirs / mine) if mine and theirs else None

    def spent(self, one: Purchase) -> float | None:
        """What purchases are compared by: the price of the fleet at a rate, else of tokens."""
        if queues(one.run.own.case):
            return one.usd_per_hour
        return float(one.cost_per_mtok.value) if one.cost_per_mtok else None

    @property
    def undecided_by_price(self) -> tuple[Purchase, ...]:
        """The other devices that some price found for them, and some price found for the pick, would put first."""
        pick = self.pick
        if pick is None or not pick.priced or not self.spent(pick):
            return ()

        def at(one: Purchase, price: float) -> float:
            return (self.spent(one) or math.inf) * price / one.prices_now

        return tuple(x for x in self.rivals if at(x, x.prices[0]) < at(pick, pick.prices[1]))

    @property
    def rivals(self) -> list[Purchase]:
        """What passes and has a price, of other devices than the pick."""
        own = self.pick.hardware if self.pick else None
        return [one for one in self.others if one.passes and one.priced and one.hardware != own]


@dataclass(frozen=True)
class Recommendation(Ranking):
    """The best of each device, and all that was listed, each at its best layout."""

    choice: Selection

    @property
    def rivals(self) -> list[Purchase]:
        return super().rivals if self.choice.order in MONEY else []

    @cached_property
    def cheaper(self) -> tuple[str, Purchase] | None:
        """The pick's device with narrower weights, where that costs less: a format and what would be bought. It changes what the model answers."""
        pick = self.pick
        if pick is None or not pick.priced or "weights" in dict(pick.run.own.varied):
            return None
        narrow = NARROWER.get(pick.case.precisions.get("weights", ""))
        if narrow is None:
            return None
        among = {"hardware": list(pick.run.own.request.hardware), "weights": narrow}
        study = with_candidates(self.choice.study, among)
        try:
            narrowed = select_from(study, layouts=self.choice.layouts)
        except InputError:
            return None
        found = Purchase(narrowed.configurations[0])
        mine, theirs = self.spent(pick), self.spent(found)
        return (narrow, found) if found.passes and mine and theirs and theirs < mine else None

    def as_json(self, command: str | None = None) -> dict[str, Any]:
        """``recommendation`` and ``reason`` of the contract; ``command`` starts the pick."""
        pick = self.pick
        if pick is None:
            return {
                "recommendation": None,
                "reason": self.reason,
                "closest": [one.as_json() for one in self.best],
            }
        cheaper = self.cheaper
        said: dict[str, Any] = pick.as_json() | {
            "headroom": pick.headroom,
            "highest_rate": pick.highest_rate,
            "devices_as_predicted": pick.enough_as_predicted,
            "alternatives": [one.as_json() for one in self.others],
            "undecided_by_price": bool(self.undecided_by_price),
            "stays_first_up_to": self.stays_up_to,
            "cheaper_if": cheaper and {"weights": cheaper[0]} | cheaper[1].as_json(),
            "command": command,
        }
        return {"recommendation": said, "reason": None}


def recommend(study: Study, counts: Sequence[int] = (), layouts: Layouts = ()) -> Recommendation:
    """The recommendation for a study: the cheapest of what passes over everything that it leaves open.

    Group sizes within what links join, or two of these where the weights need them, prefill in chunks or on devices of its own, chunk, batch, replicas. Never what changes the answers of a model: weights, cache, drafts, unless the study lists alternatives. ``counts``: sizes of a fleet, a row each; ``layouts``: what one command line starts, instead of every layout.

    >>> found = recommend(Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, arrival_rate=40, targets={"itl": "30 ms"}))
    >>> [(one.hardware, one.devices, one.batch) for one in found.best]
    [('h100-sxm', 6, 192), ('l40s', 80, 54)]

    Raises:
        InputError: no model or no device to choose.
    """
    return recommended_of(select_from(study, devices=counts, layouts=layouts))


def recommended_of(choice: Selection) -> Recommendation:
    """The recommendation of a selection: the best of each device."""
    best: dict[Any, Purchase] = {}
    for configuration in choice.configurations:
        device = configuration.run.own.hardware
        best.setdefault(device.name if device else None, Purchase(configuration))
    return Recommendation(tuple(best.values()), choice)
