"""The best of one device as it is bought: how many, in which layout, at what price, how fast, and what it lacks."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import compile
from symroof.analysis.verdict import LOAD, MEMORY, conditions, metrics_of, queues
from symroof.cases.values import Result, plain_value
from symroof.errors import InputError
from symroof.select.configuration import (
    AS_EXPECTED,
    CLOSE,
    OF_AN_INSTANCE,
    PRICE,
    PRICED,
    SLOW,
    Configuration,
    domain,
)
from symroof.symbolic.evaluation import Array
from symroof.symbolic.searches import largest_whole
from symroof.theory.symbols import TARGET_WORDS

HOUR = 3600
HOURS_OF_A_MONTH = 730
PARTS = 2.0**24
"""Of the rate at a load of 1: as finely is the largest rate known."""


@dataclass(frozen=True)
class Purchase(Configuration):
    """The best of one device, as it is bought.

    >>> from symroof.analysis.study import Study
    >>> from symroof.select.recommend import recommend
    >>> pick = recommend(Study("llama-3.1-8b", "h100-sxm", prompt=2048, output=300, arrival_rate=40, targets={"itl": "30 ms"})).pick
    >>> pick.devices, pick.replicas, pick.group, pick.scheduling, round(pick.usd_per_month)
    (6, 6, {'decode': 1}, 'chunked', 17082)
    """

    @property
    def passes(self) -> bool:
        return self.state == "passes"

    @property
    def hardware(self) -> str:
        return self.own.hardware.name if self.own.hardware else ""

    @property
    def title(self) -> str:
        """The device as people call it."""
        return self.own.hardware.title if self.own.hardware else "devices"

    @cached_property
    def devices(self) -> int:
        """All devices, of all roles and replicas."""
        return round(float(self._number("served_devices") * self._number("dp")))

    @property
    def counted(self) -> bool:
        """Whether its size and its price are an answer: not where it does not fit or keep up, nor at a rate where a target is missed however many replicas there are."""
        missed = {*self.misses}
        return not (missed if queues(self.own.case) else missed & {MEMORY, LOAD})

    @property
    def amount(self) -> str:
        """``32``, ``a replica of 8``, or ``a group of 40`` of instances that decode and that prefill."""
        each = f"a {'group' if self.prefill else 'replica'} of {self.devices // self.replicas:,}"
        fixed = self.load is None or "dp" in self.own.given
        return f"{self.devices:,}" if self.counted or fixed else each

    @property
    def replicas(self) -> int:
        """Copies of the smallest whole: with prefill instances that several decoding ones share, of all these together."""
        return self.copies // self.whole

    @property
    def whole(self) -> int:
        """Decoding instances of a replica; all of them where the number of prefill instances is given."""
        given = self.own.request.prefill.keys() & {"instances", "devices"}
        return self.copies if given else self.copies_of

    @cached_property
    def group(self) -> dict[str, int]:
        """Devices of one replica, by role."""
        decode = round(float(self._number("instance_devices"))) * self.whole
        prefill = self.devices // self.replicas - decode
        return {"decode": decode} | ({"prefill": prefill} if prefill else {})

    @property
    def parallel(self) -> dict[str, int]:
        """The degrees of one instance."""
        return {name: int(self._number(name)) for name in OF_AN_INSTANCE}

    @property
    def prefill(self) -> dict[str, int] | None:
        """The degrees and the number of the instances that only prefill, as ``prefill`` of a study takes them; None where there are none."""
        if "prefill" not in self.group:
            return None
        apart = self.case.prefill_case.case
        degrees = {name: int(apart.value(name)) for name in OF_AN_INSTANCE if apart.value(name) > 1}
        devices = self.replicas * self.group["prefill"]
        return degrees | {"instances": round(devices / float(apart.value("instance_devices")))}

    @property
    def scheduling(self) -> str:
        return self.own.assumptions["scheduling"]

    @property
    def chunk(self) -> int | None:
        """Prompt tokens that a step of an instance takes along; None where steps are of one kind."""
        known = self.scheduling == "chunked" and self.case.case.is_set("chunk")
        return int(self._number("chunk")) if known else None

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
        return self.predicted("cost_per_mtok") if self.priced else None

    @property
    def spent(self) -> float | None:
        """What purchases are compared by: the price of the fleet at a rate, else of tokens."""
        if queues(self.own.case):
            return self.usd_per_hour
        return float(self.cost_per_mtok.value) if self.cost_per_mtok else None

    @cached_property
    def ttft(self) -> Result | None:
        return self.predicted(self._metric("ttft"))

    @cached_property
    def itl(self) -> Result | None:
        return self.predicted(self._metric("itl"))

    @cached_property
    def load(self) -> float | None:
        """Arriving requests over what all replicas sustain, as expected."""
        return self.rank(LOAD) if queues(self.own.case) else None

    @cached_property
    def highest_rate(self) -> float | None:
        """The largest arrival rate that these replicas serve within the targets, at the slow end; None where none is, or it would take simulations."""
        case = self.case.slow_end
        if not queues(case.case) or self.simulated:
            return None
        now = float(case.case.value("arrival_rate"))
        found = self._largest("arrival_rate", PARTS, now / float(case.case.value(LOAD)) / PARTS)
        return max(found, now if self.passes else 0.0) or None

    def longest(self, name: str, most: int) -> int | None:
        """The largest whole number of an input, of ``most`` at most, with which it fits and keeps its latencies at the slow end; None where it would take simulations."""
        with suppress(InputError):
            return None if self.simulated else int(self._largest(name, most))
        return None

    def _largest(self, name: str, most: float, step: float = 1) -> float:
        """The largest multiple of a ``step``, ``most`` at most, of an input with which it fits, keeps up and meets its latencies at the slow end."""
        case = self.case.slow_end
        # more requests cost no more
        kept = {n: pair for n, pair in conditions(case).items() if n not in PRICED}
        limits = [1.0 if n == LOAD else case.case.value(pair[1]) for n, pair in kept.items()]
        function = compile([metric for metric, _ in kept.values()], [name], case)

        def meets(count: Array) -> Array:
            found = zip(kept, function(step * count), limits, strict=True)
            met = [x < 1 if n == LOAD else x <= limit * (1 + CLOSE) for n, x, limit in found]
            return np.asarray(np.logical_and.reduce(met))

        return step * float(largest_whole(meets, np.array([most]))[0])

    @property
    def headroom(self) -> float | None:
        """How much more may arrive, as a share of what does, until another replica is needed."""
        now = self.case.case.value("arrival_rate") if self.highest_rate else 0
        return self.highest_rate / float(now) - 1 if self.highest_rate and now else None

    def _number(self, name: str) -> Any:
        return self.case.case.value(name)

    def _metric(self, target: str) -> str:
        return metrics_of(target, self.own.case)[0]

    @cached_property
    def lacks(self) -> str:
        """What keeps it from passing, in one phrase; empty where it passes."""
        if self.passes:
            return ""
        device = self.case.hardware
        if self.unknown and not self.missed:
            return f"not known: {next(iter(self.unknown.values()))}"
        alone = device is not None and domain(self.own) == 1
        because = "; its hardware file has no link between GPUs, so only one is used" * alone
        if MEMORY in self.misses:
            used = self.judged.shares[MEMORY][AS_EXPECTED]
            much = f"{used:.2g} times" if used > 1.05 else "slightly more than"
            return f"does not fit: needs {much} its memory{because}"
        if LOAD in self.misses:
            when = "" if LOAD in self.missed_as_expected else " in the worst case"
            return f"does not keep up with the arriving requests{when}{because}"
        return ", ".join(map(self._over, self.misses)) + because

    def _over(self, name: str) -> str:
        """A missed target: its metric against its limit, at the slow end where it is met as expected."""
        limit = float(self.own.targets[name])
        slow = name not in self.missed_as_expected
        share = self.judged.shares[name][SLOW if slow else AS_EXPECTED]
        symbol = self.case.case.theory.symbol(self._metric(name))
        word, wanted = TARGET_WORDS[name], Result(symbol, limit).plain(3)
        if not math.isfinite(share):
            return f"{word} grows without end"
        said = Result(symbol, share * limit).plain(3)
        return f"{word} {'up to ' if slow else ''}{said} > {wanted}"

    def as_json(self) -> dict[str, Any]:
        """The keys of the contract, in base units but for USD an hour and a month."""
        return {
            "model": self.case.model.name if self.case.model else None,
            "hardware": self.hardware,
            "devices": self.devices,
            "replicas": self.replicas,
            "group": self.group,
            "parallel": self.parallel,
            "prefill": self.prefill,
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
