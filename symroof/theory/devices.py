"""Memory, traffic and FLOPs of one device of an instance: the share of the operator table that each device has.

A single device has the whole model. If ``tp`` devices split every layer, each has an even share of most rows; of
norms, routers and latents it has a copy; heads are not divided. Groups (``attention_dp``) compute the tokens of their own
requests. Copies count: they take memory on every device. Stages of a pipeline are in :mod:`symroof.theory.stages`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, product

import sympy

from symroof.symbolic.expressions import ONE, ZERO, Expr, symbol
from symroof.symbolic.reading import parse
from symroof.theory.layout import (
    Layout,
    all_gather,
    all_reduce,
    all_reduces,
    all_to_all,
    busy_time,
    exchange_time,
    link_time,
    message,
    sends,
)
from symroof.theory.operator_table import Operator, PlacedRow, operators, parameters, total
from symroof.theory.steps import STEPS, DriverScope, ExpertPool, Segment, Step, driver, over
from symroof.theory.totals import Key, Totals, resident

RESIDENT = ("weight_bytes", "kv_cache_bytes", "state_bytes")
"""The memory of a device besides its reserve."""

ATTENTION = ("flops", "pairs")
"""The stream and the driver of attention's products."""
GROUP, PASS = "group", "pass"
"""Drivers of a part of a step: of the tokens of one group, and of one pass through a stage."""


def per_device(name: str) -> str:
    """The name of one device's part of a total.

    >>> per_device("kv_bytes_per_token.local")
    'kv_bytes_per_token_per_device.local'
    """
    base, dot, kind = name.partition(".")
    return f"{base}_per_device{dot}{kind}"


STEP_TOTALS = tuple(f"{step.name}_{what}" for step in STEPS for what in ("flops", "bytes"))
WHOLE: dict[str, Expr] = {
    "instance_devices": ONE,
    **{per_device(name): symbol(name) for name in (*RESIDENT, "peak_kv_cache_bytes", *STEP_TOTALS)},
}
"""The formulas of per-device names if there is only one device."""
DEVICE_TOTALS = frozenset(map(per_device, (*RESIDENT, *STEP_TOTALS, "memory_bytes")))


def total_of(name: str) -> str | None:
    """The total of which a name is one device's part: ``decode_flops`` for ``decode_flops_per_device``."""
    return name.removesuffix("_per_device") if name in DEVICE_TOTALS else None


@dataclass(frozen=True)
class Devices:
    """The definitions of one device's part of every total, under one layout."""

    totals: Totals
    layout: Layout

    @property
    def without_formula(self) -> frozenset[str]:
        """Quantities without a formula under this layout."""
        return frozenset()

    def definitions(self) -> Iterator[tuple[str, Expr]]:
        """Every definition of a device, by name."""
        if self.layout.attention_dp:  # each group prefills one prompt and has whole experts
            yield from ((name, symbol("attention_dp")) for name in ("prefill_batch", "ep"))
        if not self.layout.ep:
            yield from (("expert_devices", ONE), ("expert_nodes", ONE))
        yield "instance_devices", self.layout.devices()
        yield "all_reduces", all_reduces(self.layout, self.totals.has_experts)
        for step in STEPS:
            yield from self._drivers(step)
            elements = parse(f"{self.tokens(step)[0]}*n_layers*d_model")
            yield f"{step.name}_vector_elements", self.over_passes(step, elements)
        yield "message_bytes", parse(message(self.tokens(STEPS[1])[0]))
        if self.layout.network:
            yield from (
                (f"{ring.__name__}_time", parse(ring("tp", "message_bytes", network=True)))
                for ring in (all_reduce, all_gather)
            )
            yield "all_to_all_time", parse(all_to_all("message_bytes", network=True))
        yield "stage_send_time", sends("message_bytes", self.layout)
        yield from self._own()

    def _own(self) -> Iterator[tuple[str, Expr]]:
        """Memory and work of the device, and the times on links."""
        if self.layout.single:
            yield from ((per_device(name), symbol(name)) for name in (*RESIDENT, *STEP_TOTALS))
        else:
            yield from self.resident()
            for phase in ("token", "prompt"):  # coefficients that are no plain share
                for key, rows in self.totals.groups(phase).items():
                    own = [row for row in rows if not self.apart(row)]
                    name = per_device(self.totals.coefficient_names[phase][key])
                    if own and (len(own) < len(rows) or self._divisor(own) is None):
                        yield name, total(map(self.own, own))
            for step, what in product(STEPS, ("flops", "bytes")):
                yield f"{step.name}_{what}_per_device", self._pass(step, what)
        if self.totals.assumptions["attention_arithmetic"] == "wide":
            for step in STEPS:
                pairs = (part for part in self.totals.parts(step) if part[0][:2] == ATTENTION)
                own_work = sympy.Add(*self._terms(step, pairs))
                yield f"{step.name}_attention_flops_per_device", own_work
        for step in STEPS:
            experts, tokens = self.totals.has_experts, self.tokens(step)
            yield f"{step.name}_link_time", link_time(self.layout, *tokens, experts)
            exchange = exchange_time(self.layout, tokens[0], experts)
            yield f"{step.name}_exchange_time", exchange
            parts = ("roofline", "link", "exchange")
            roofline, link, named = (symbol(f"{step.name}_{part}_time") for part in parts)
            busy = busy_time(roofline, link, ZERO if exchange == ZERO else named)
            yield f"{step.name}_busy_time", busy

    # ------------------------------------------------------------------------------------------------------- memory

    @cached_property
    def even(self) -> Expr:
        """The divisor of an even share: the devices of one group."""
        return symbol("tp") if self.layout.tp else ONE

    def own(self, row: PlacedRow) -> PlacedRow:
        """A row with one device's part of its amount: of whole experts, that of the most loaded device."""
        amount = row.own if row.own is not None else (row.amount / self.even)
        loaded = row.pooled and self.layout.ep and row.stream == "flops"
        return replace(row, amount=(amount * symbol("expert_imbalance")) if loaded else amount)

    def resident(self) -> Iterator[tuple[str, Expr]]:
        """Weights, cache and states of the device."""
        if self._copies:
            yield "replicated_weight_bytes", stored_bytes(self._copies)
        yield "weight_bytes_per_device", self._weights()
        divisors = {self._divisor(rows) for rows in self.cached.values()}
        divisor = divisors.pop() if len(divisors) == 1 and not self.layout.attention_dp else None
        if divisor is None:
            kept, requests = self.totals.assumptions["window_cache"], self.requests("batch")
            parts = {key: self._coefficient(key, of, "token") for key, of in self.cached.items()}
            held = (resident(part, key[2], kept, requests) for key, part in parts.items())
            cache = sympy.Add(*held)
        else:
            cache = symbol("kv_cache_bytes") / divisor
        yield "kv_cache_bytes_per_device", cache
        yield "state_bytes_per_device", self._state()

    def _weights(self) -> Expr:
        """The resident weights: an even share, except for copies, whole heads and experts."""
        held = self.placed("params")
        apart = [row.own is not None if self.layout.tp else row.pooled for row in held]
        uneven = [row for row in compress(held, apart) if not self._copied(row)]
        whole, own = stored_bytes(uneven), stored_bytes(map(self.own, uneven))
        if not self._copies:
            return (symbol("weight_bytes") - whole) / self.even + own
        copied = symbol("replicated_weight_bytes")
        return (symbol("weight_bytes") - (copied + whole)) / self.even + own + copied

    @cached_property
    def _copies(self) -> list[PlacedRow]:
        return [row for row in self.placed("params") if self._copied(row)]

    def _copied(self, row: PlacedRow) -> bool:
        """Whether each of the ``tp`` devices holds a full copy."""
        return self.layout.tp and row.own == row.amount

    def placed(self, stream: str) -> list[PlacedRow]:
        """The rows of what stays in memory: parameters or states."""
        return [row for row in self.totals.placed if row.stream == stream]

    @cached_property
    def cached(self) -> dict[Key, list[PlacedRow]]:
        """The rows of the cache, by the window or chunk that limits them."""
        return {key: rows for key, rows in self.totals.groups("token").items() if key[0] == "kv"}

    def _state(self) -> Expr:
        rows = self.placed("state")
        divisor = self._divisor(rows)
        if not rows:
            return ZERO
        if divisor is not None and not self.layout.attention_dp:
            return symbol("state_bytes") / divisor
        each = (
            symbol("state_bytes_per_request") / divisor if divisor else total(map(self.own, rows))
        )
        return each * self.requests("batch")

    def _divisor(self, rows: list[PlacedRow]) -> Expr | None:
        """The common divisor of some rows for a device; None if they differ."""
        divisors = {
            self.even if row.own is None else ONE if row.own == row.amount else None for row in rows
        }
        return divisors.pop() if len(divisors) == 1 else None

    def _coefficient(self, key: Key, rows: list[PlacedRow], phase: str) -> Expr:
        """A device's part of a coefficient: a share of it, or a coefficient with a name of its own."""
        name = self.totals.coefficient_names[phase][key]
        divisor = self._divisor(rows)
        if divisor is None or len(rows) < len(self.totals.groups(phase)[key]):
            return symbol(per_device(name))
        return symbol(name) / divisor

    # --------------------------------------------------------------------------------------------------------- work

    def apart(self, row: PlacedRow) -> bool:
        """Whether a row is the part of experts that belong to all groups, or to a device more loaded than others; not an even part of a device's own group."""
        uneven = row.stream == "flops" or isinstance(row.scope, ExpertPool)
        return row.pooled and (self.layout.attention_dp or (self.layout.ep and uneven))

    def _pass(self, step: Step, what: str) -> Expr:
        """FLOPs or bytes of a pass on one device."""
        keys = [
            part for part in self.totals.parts(step) if (part[0][0] == "flops") == (what == "flops")
        ]
        rows = [row for key, phase, _ in keys for row in self.totals.groups(phase)[key]]
        uneven = any(row.own is not None or self.apart(row) for row in rows)
        if not self.layout.attention_dp and not uneven:
            return symbol(f"{step.name}_{what}") / self.even
        return sympy.Add(*self._terms(step, keys))

    def _terms(self, step: Step, parts: Iterable[tuple[Key, str, str | None]]) -> Iterator[Expr]:
        for key, phase, alone in parts:
            rows = self.totals.groups(phase)[key]
            own = [row for row in rows if not self.apart(row)]
            apart = [row for row in rows if self.apart(row)]
            if own:
                yield self.driven(step, self._coefficient(key, own, phase), key, alone)
            if apart:
                yield self.driven(step, total(map(self.own, apart)), key, alone, pooled=True)

    def driven(
        self, step: Step, coefficient: Expr, key: Key, alone: str | None, pooled: bool = False
    ) -> Expr:
        """A coefficient times its driver on one device."""
        if key[1] == "once":
            return coefficient
        driver = symbol(self.driver_name(step, key[1], key[2], alone, pooled))
        pool, expected = key[2], self.totals.assumptions["experts"] == "expected"
        if isinstance(pool, ExpertPool) and self.layout.ep and expected:
            # Those that the device reads which reads most of its own, times the devices: tokens choose at random, so that each
            # reads a binomial number of those it holds, and the most loaded ``expert_spread`` of its deviations above the mean.
            named = {"n": pool.experts, "k": pool.taken, "t": self.tokens(step)[1]}
            parts = {"r": driver, **{letter: symbol(name) for letter, name in named.items()}}
            driver = over("min(n, r + expert_spread*sqrt(ep*r)*(1 - k/n)^(t/2))", parts)
        return coefficient * driver

    def driver_name(
        self, step: Step, per: str, scope: DriverScope, alone: str | None, pooled: bool = False
    ) -> str:
        """The name of a row's driver on one device: of the step, of a group's tokens, or of a pass through a stage."""
        name = self.totals.driver_name(step, per, scope, alone)
        kind = PASS if self.layout.staged else ""
        if self.layout.attention_dp and not (pooled or isinstance(scope, ExpertPool)):
            kind = GROUP
        return f"{name}{'_' if '.' in name else '.'}{kind}" if kind else name

    def tokens(self, step: Step) -> tuple[str, str]:
        """The names of the tokens that one group sends in a pass, and of those of all groups."""
        own, every = (self.driver_name(step, "tokens", None, None, all_) for all_ in (False, True))
        return own, every

    def _drivers(self, step: Step) -> Iterator[tuple[str, Expr]]:
        """The drivers of a device that does not compute every token of the step."""
        if not (self.layout.attention_dp or self.layout.staged):
            return
        every = self.tokens(step)[1]
        for pooled in (True, False):
            segments = (replace(s, requests=self._requests(step, s, pooled)) for s in step.segments)
            part = replace(step, segments=tuple(segments))
            for per, scope, alone in self.totals.drivers(step):
                name = self.driver_name(step, per, scope, alone, pooled)
                if name != self.totals.driver_name(step, per, scope, alone):
                    yield name, driver(part, per, scope, self.totals.assumptions, alone, every)

    def requests(self, requests: str) -> Expr:
        """The requests of one group."""
        return parse(self._of_group(requests))

    def _of_group(self, requests: str) -> str:
        return f"ceil({requests}/attention_dp)" if self.layout.attention_dp else requests

    def _requests(self, step: Step, segment: Segment, pooled: bool) -> str:
        """Requests of a segment that a pass takes, all of them or those of a group."""
        requests = segment.requests
        if segment.shared:
            if self.layout.attention_dp and not pooled:
                requests = segment.group or f"{requests}/attention_dp"
            return requests + "/pp" * self.layout.staged
        if requests == "1":
            return requests
        if self.layout.staged:  # a prefill passes through the stages prompt by prompt
            prompts = f"min({requests}, attention_dp)" if self.layout.attention_dp else "1"
            requests = prompts if step.name == "prefill" else f"ceil({requests}/pp)"
        return requests if pooled else self._of_group(requests)

    def operators(self, step: Step) -> tuple[Operator, ...]:
        """The operators of a step, in the order of the layers."""

        def whole(row: PlacedRow) -> Expr:
            alone = self._alone(step, row)
            driver = self.totals.driver_name(step, row.per, row.scope, alone)
            return row.amount if row.per == "once" else row.amount * symbol(driver)

        def device(row: PlacedRow) -> Expr:
            return self.over_passes(step, self.work(step, self.own(row)))

        return tuple(operators(self.counted(step), whole, device, self.totals.assumptions))

    def counted(self, step: Step) -> list[PlacedRow]:
        """The rows that count in a step."""
        phases = self.totals.phases(step)
        return [row for row in self.totals.counted if row.phase is None or row.phase in phases]

    def work(self, step: Step, row: PlacedRow) -> Expr:
        """The FLOPs or bytes of a row that is one device's, in one pass and one layer."""
        key = (row.stream, row.per, row.scope)
        return self.driven(step, row.amount, key, self._alone(step, row), pooled=row.pooled)

    def _alone(self, step: Step, row: PlacedRow) -> str | None:
        """The phase of a row, where a step has both."""
        return row.phase if len(self.totals.phases(step)) > 1 else None

    def over_passes(self, step: Step, amount: Expr) -> Expr:
        """An amount of one pass over all consecutive passes; without stages there is one."""
        return amount


def stored_bytes(rows: Iterable[PlacedRow]) -> Expr:
    """Bytes of the parameters that some rows hold, each at its width."""
    by_width: dict[str, list[PlacedRow]] = {}
    for row in rows:
        by_width.setdefault(row.width, []).append(row)
    return sympy.Add(*(parameters(some) * symbol(width) for width, some in by_width.items()))
