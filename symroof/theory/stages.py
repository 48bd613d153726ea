"""Pipeline stages: runs of consecutive layers, each on separate devices, passed by one group of requests after another.

A step of the whole batch is ``pp`` passes of the slowest stage, each of ``ceil(batch/pp)`` requests; a prefill proceeds
prompt by prompt, so it takes ``prompts + pp - 1`` passes. A stage that has all that another has makes that one irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import sympy
from sympy import Symbol

from symroof.symbolic.expressions import ZERO, Expr, at, is_number, number, of_largest, symbol
from symroof.symbolic.nodes import Max, Min, floor
from symroof.symbolic.reading import parse
from symroof.theory.architecture import SHARED_COPIES, Architecture
from symroof.theory.devices import RESIDENT, Devices, per_device, stored_bytes
from symroof.theory.layout import SYMBOLIC, busy_time, exchange_time, link_time, message, sends
from symroof.theory.operator_table import PlacedRow, operators, total
from symroof.theory.steps import STEPS, WORK_TIMES, Step, work_time
from symroof.theory.symbols import base_name
from symroof.theory.totals import resident

NOT_CLOSED = "no closed form in pp, as the layers of this model differ: give pp a number"


@dataclass(frozen=True)
class Stage:
    """A run of layers: how many of each kind, and whether it is the first or the last."""

    label: str
    counts: tuple[tuple[str, Expr], ...]
    first: bool
    last: bool

    def place(self, row: PlacedRow) -> PlacedRow | None:
        """A row as it stands in this stage; None where it does not."""
        if isinstance(row.count, Symbol):
            counts = dict(self.counts)
            if (
                base_name(row.count.name) == SHARED_COPIES
            ):  # a stage whose layers share blocks holds all of them
                layers = counts.get(f"n_layers.{row.layer}", counts.get("n_layers", ZERO))
                return replace(row, count=ZERO if layers == ZERO else row.count)
            return replace(row, count=counts.get(row.count.name, ZERO))
        here = self.last if row.end else self.first
        return row if here and not (row.end == "tied" and self.first) else None

    def covers(self, other: Stage) -> bool:
        """Whether it has all that another stage has."""
        pairs = [(count, dict(other.counts)[name]) for name, count in self.counts]
        more = all(is_number(a) and is_number(b) and bool(a >= b) for a, b in pairs)
        return more and self.first >= other.first and self.last >= other.last


def stages(architecture: Architecture, pp: int) -> tuple[Stage, ...] | None:
    """The stages that can be the most loaded or the slowest; None if a formula would need ``pp`` as a number.

    >>> from symroof.symbolic.printing import text
    >>> from symroof.theory.architecture import GENERIC
    >>> [(stage.label, text(stage.counts[0][1])) for stage in stages(GENERIC, 4)]
    [('first', 'ceil(n_layers/pp)'), ('last', 'max(n_layers - ceil(n_layers/pp)*(pp - 1), 0)')]
    """
    if len(architecture.layers) == 1:
        each, rest = "ceil(n_layers/pp)", "max(n_layers - ceil(n_layers/pp)*(pp - 1), 0)"
        first = Stage("first", (("n_layers", parse(each)),), True, False)
        return first, Stage("last", (("n_layers", parse(rest)),), False, True)
    if pp == SYMBOLIC or not architecture.order:
        return None
    length, order = -(-len(architecture.order) // pp), architecture.order
    runs = [order[start : start + length] for start in range(0, pp * length, length)]
    every = [
        Stage(
            f"stage{i}",
            tuple(
                (layer.symbol("n_layers"), number(run.count(layer.label)))
                for layer in architecture.layers
            ),
            i == 1,
            i == pp,
        )
        for i, run in enumerate(runs, start=1)
    ]
    alone: list[Stage] = []
    for stage in every:
        if not any(other.covers(stage) for other in alone):
            alone = [*(other for other in alone if not stage.covers(other)), stage]
    return tuple(alone)


@dataclass(frozen=True)
class Pipeline(Devices):
    """The definitions of one device's part with pipeline stages."""

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        return stages(self.totals.architecture, self.layout.pp) or ()

    @property
    def without_formula(self) -> frozenset[str]:
        """Quantities without a formula unless ``pp`` is a number."""
        if self.stages:
            return frozenset()
        times = ("compute", "memory", "roofline", "link", "exchange", "busy")
        parts = (*map(per_device, ("flops", "bytes")), *(f"{kind}_time" for kind in times))
        of_steps = {f"{step.name}_{part}" for step in STEPS for part in parts}
        return frozenset({*map(per_device, (*RESIDENT, "memory_bytes")), "concurrency"} | of_steps)

    def _own(self) -> Iterator[tuple[str, Expr]]:
        if not self.stages:
            return
        yield from self._memory()
        for step in STEPS:
            yield from self._times(step)

    # ------------------------------------------------------------------------------------------------------- memory

    def _in(self, stage: Stage, rows: Iterable[PlacedRow]) -> list[PlacedRow]:
        """The parts of some rows that one device of a stage has."""
        if not self.layout.copies:  # unknown dimensions: every stage is an even part of the model
            own = map(self.own, rows)
            return [replace(row, amount=row.amount / symbol("pp")) for row in own]
        return [placed for row in rows if (placed := stage.place(self.own(row))) is not None]

    def _memory(self) -> Iterator[tuple[str, Expr]]:
        again = [row for row in self.totals.again if row.stream == "params"]
        for stage in self.stages:
            weights = symbol("weight_bytes") / self.layout.devices()
            if self.layout.copies:
                weights = stored_bytes(self._in(stage, (*self.placed("params"), *again)))
            states = total(self._in(stage, self.placed("state"))) * self.requests("batch")
            parts = (weights, self._cache_of(stage), states)
            held = dict(zip(RESIDENT, parts, strict=True))
            yield from ((_of(stage, name), tree) for name, tree in held.items())
            peak = at(_of(stage, "kv_cache_bytes"), (("context", symbol("peak_context")),))
            weights, states = (symbol(_of(stage, name)) for name in ("weight_bytes", "state_bytes"))
            yield _of(stage, "memory_bytes"), weights + peak + states + _reserve(stage)
            one, most = ("batch", parse("1")), ("context", symbol("peak_context"))
            cache = at(_of(stage, "kv_cache_bytes"), (one, most))
            yield _of(stage, "request_bytes"), cache + at(_of(stage, "state_bytes"), (one,))
        yield "memory_bytes_per_device", Max(*self._each("memory_bytes"))
        yield from ((per_device(name), self._of_fullest(self._each(name))) for name in RESIDENT)
        free = (
            symbol("usable_memory_per_device") - _reserve(stage) - weights
            for stage, weights in zip(self.stages, self._each("weight_bytes"), strict=True)
        )
        room = [left / one for left, one in zip(free, self._each("request_bytes"), strict=True)]
        whole = Max(floor(Min(*room)), ZERO)
        yield "concurrency", symbol("attention_dp") * whole if self.layout.attention_dp else whole

    def _each(self, name: str) -> list[Expr]:
        """What every stage has of a quantity."""
        return [symbol(_of(stage, name)) for stage in self.stages]

    def _cache_of(self, stage: Stage) -> Expr:
        kept = self.totals.assumptions["window_cache"]
        return sympy.Add(
            *(
                resident(total(self._in(stage, rows)), key[2], kept, self.requests("batch"))
                for key, rows in self.cached.items()
            )
        )

    def _of_fullest(self, values: list[Expr]) -> Expr:
        """The value of the stage with the most memory."""
        if len(values) == 1:
            return values[0]
        pairs = zip(self._each("memory_bytes"), values, strict=True)
        return of_largest(*(part for pair in pairs for part in pair))

    # --------------------------------------------------------------------------------------------------------- work

    def _times(self, step: Step) -> Iterator[tuple[str, Expr]]:
        """Work, traffic and times of a step: those of the slowest stage times the number of passes."""
        passes = self._passes(step)
        through = self._prompts() if step.name == "prefill" else symbol("pp")
        wide = self.totals.assumptions["attention_arithmetic"] == "wide"
        worked = ["flops", "bytes", *(["attention_flops"] if wide else [])]
        for stage in self.stages:
            work = self._work(step, stage)
            if wide:
                work = (*work, self._work(step, stage, attention=True)[0])
            names = (_of(stage, f"{step.name}_{what}") for what in worked)
            yield from zip(names, work, strict=True)
        for what in worked:
            name = f"{step.name}_{what}"
            yield per_device(name), through * self._of_fullest(self._each(name))
        times = {
            kind: [self._time(step, stage, kind, what, wide) for stage in self.stages]
            for kind, what in WORK_TIMES.items()
        }
        rooflines = [
            self._roofline(step, stage, *pair)
            for stage, *pair in zip(self.stages, *times.values(), strict=True)
        ]
        links, exchanges = zip(*(self._links(step, stage) for stage in self.stages), strict=True)
        sent = sends(message(self.tokens(step)[0]), self.layout)
        together = [busy_time(*parts) for parts in zip(rooflines, links, exchanges, strict=True)]
        for kind, each in times.items():
            yield f"{step.name}_{kind}", passes * Max(*each)
        yield f"{step.name}_roofline_time", passes * Max(*rooflines)
        yield f"{step.name}_link_time", passes * Max(*links) + sent
        yield f"{step.name}_exchange_time", passes * Max(*exchanges)
        yield f"{step.name}_busy_time", passes * Max(*together) + sent

    def _time(self, step: Step, stage: Stage, kind: str, what: str, wide: bool) -> Expr:
        """The time of a stage's FLOPs or bytes in one pass."""
        attention = symbol(_of(stage, f"{step.name}_attention_flops")) if wide else ZERO
        return work_time(
            kind, symbol(_of(stage, f"{step.name}_{what}")), self.totals.assumptions, attention
        )

    def _passes(self, step: Step) -> Expr:
        return (self._prompts() + parse("pp - 1")) if step.name == "prefill" else symbol("pp")

    def _prompts(self) -> Expr:
        """Prompts that pass through the stages one after another."""
        return self.requests("prefill_batch")

    def _work(self, step: Step, stage: Stage, attention: bool = False) -> tuple[Expr, ...]:
        """FLOPs and bytes of one pass of one device of a stage, or those of attention's products alone."""
        terms: dict[bool, list[Expr]] = {True: [], False: []}
        for key, phase, alone in self.totals.parts(step):
            if attention and key[:2] != ("flops", "pairs"):
                continue
            rows = self.totals.groups(phase)[key]
            for apart in (False, True):
                own = self._in(stage, (row for row in rows if self.apart(row) == apart))
                if own:
                    terms[key[0] == "flops"].append(
                        self.driven(step, total(own), key, alone, pooled=apart)
                    )
        return sympy.Add(*terms[True]), sympy.Add(*terms[False])

    def _roofline(self, step: Step, stage: Stage, compute: Expr, memory: Expr) -> Expr:
        """A pass under the roofline."""
        match self.totals.assumptions["roofline"]:
            case "aggregate":
                return Max(compute, memory)
            case "no_overlap":
                return compute + memory
        rows, work = self._in(stage, self.counted(step)), partial(self.work, step)
        found = operators(rows, work, work, self.totals.assumptions)
        return sympy.Add(*(operator.roofline_time for operator in found))

    def _links(self, step: Step, stage: Stage) -> tuple[Expr, Expr]:
        """The time a pass spends on links inside a stage, and the part of it between experts."""
        layers = sympy.Add(*(count for _, count in stage.counts))
        with_experts = {
            layer.symbol("n_layers")
            for layer in self.totals.architecture.layers
            if layer.feed_forward == "moe"
        }
        expert_layers = sympy.Add(*(count for name, count in stage.counts if name in with_experts))
        tokens, every = self.tokens(step)
        exchanged = exchange_time(self.layout, tokens, self.totals.has_experts, expert_layers)
        experts = self.totals.has_experts
        linked = link_time(self.layout, tokens, every, experts, layers, expert_layers)
        return linked, exchanged

    def over_passes(self, step: Step, amount: Expr) -> Expr:
        """An amount over all layers and passes, as if all stages were equal."""
        return amount * (self._passes(step) / symbol("pp"))


def _of(stage: Stage, name: str) -> str:
    return f"{per_device(name)}.{stage.label}"


def _reserve(stage: Stage) -> Expr:
    """The reserve of a stage, which engines size by the weights beside it: its own.

    The weights of the fullest stage would depend on the reserve, and it on them.
    """
    own = (per_device("weight_bytes"), symbol(_of(stage, "weight_bytes")))
    return at("memory_reserve", (own,))
