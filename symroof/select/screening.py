"""All configurations at once: the largest batch and the copies that memory and the targets allow, by array functions.

Configurations that share a theory and differ in numbers of their devices share the functions. Latencies rise with the batch, the cost of a token
falls with it, and a queue shortens with every copy: so each answer is a bisection, over all configurations at once.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.compile import Compiled, compile_alike
from symroof.analysis.verdict import AT_A_RATE, LOAD, MEMORY, TARGET_METRICS, metrics_of, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import AT_PEAK, COSTS, slow_first
from symroof.cases.request_mix import has_mix
from symroof.errors import InputError
from symroof.symbolic.blocks import Array
from symroof.symbolic.expressions import Expr, is_number, names
from symroof.symbolic.searches import largest_whole
from symroof.theory.case import Case
from symroof.theory.layout import DEGREES
from symroof.theory.symbols import GROUPS
from symroof.theory.theory import Theory

Function = Callable[..., dict[str, Array]]
"""Quantities by batch and copies, at the slow end of the efficiencies unless other numbers are asked for."""

VALUES = (
    "sustained_throughput", "sustained_throughput_per_device", "sustained_requests", "cost_per_mtok", "loaded_ttft", "sustained_itl", "instance_price", "fleet_price",
    "memory_bytes_per_device",
)  # fmt: skip
"""What configurations are compared by, besides the metrics of their targets."""

AT_THE_RATE = ("loaded_ttft", AT_A_RATE[TARGET_METRICS["itl"]])
"""Latencies of the batch that an arrival rate keeps busy, which is searched: asked for as seldom as possible."""
WITHOUT_QUEUE = tuple(
    ("sustained_itl", reading, "time_outside_steps")
    for reading in ("prompt_prefill_time", "mix_prompt_prefill_time")
)
"""What rises with the batch: the ITL at full slots, and the TTFT without any wait for a lane; of identical requests, and of a mix."""

ROOM = ("usable_memory_per_device", "concurrency")
"""What memory allows, whatever the batch."""

SHARED = frozenset(
    symbol.name for group in ("hardware", "efficiency", "precision") for symbol in GROUPS[group]
) | {*DEGREES, "prefill_devices", "chunk"}
"""Inputs that may differ between configurations of one function: degrees where they lead to one theory."""


PRICE = "price"
PRICED = frozenset({"cost", "price", "fleet_price"})
"""Targets that cannot be judged without a price: the batch and the copies are those that all others allow."""


def prices_move(name: str) -> bool:
    """Whether a metric is one of money.

    >>> prices_move("cost_per_mtok"), prices_move("fleet_price"), prices_move("loaded_ttft")
    (True, True, False)
    """
    return "cost" in name or "price" in name


COMPUTE = "mfu"
"""The efficiency of compute, whose measured range is apart from that of all others."""
LARGEST = 1 << 30
MOST_COPIES = 1 << 16
TRIED = 4096
"""Batches that are tried at once for the most tokens per second."""
GIVEN_OUT = "sustained_throughput"
CLOSE = 1e-9
"""A metric so near to its limit is compared exactly."""


@dataclass(frozen=True)
class Screening:
    """What the screening says of one configuration.

    Attributes:
        most: the largest batch that passes; 0 where none does.
        least: the smallest one from which on every batch up to ``most`` passes. Over ranges both hold at the slow end of every efficiency.
        busiest: the one between them with the most tokens per second, as measurements predict.
        copies: instances that sustain the arrival rate, within the TTFT where some number does; None where their number is chosen, or none sustains the rate.
        stopped_by: the conditions that one request more breaks.
        batch: where it is judged: its own batch, else the largest that passes, else 1.
        shares: how much of its limit each metric takes up there, by condition, as measurements predict; over ranges of efficiencies ``slow`` and ``fast`` are
            the same at their ends, over any others the most and (``fast``) the least at their corners.
        values: quantities by batch, then name, where it is judged, at both ends of what passes and at the busiest, as measurements predict.
    """

    most: int
    least: int
    busiest: int
    copies: int | None
    batch: int
    stopped_by: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    slow: Mapping[str, float] = field(default_factory=dict)
    fast: Mapping[str, float] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        return self.most > 0 and self.least <= self.batch <= self.most


class ConfigurationGroup:
    """Configurations whose functions are the same."""

    def __init__(self, cases: Sequence[BoundCase], own: bool, used: frozenset[str]) -> None:
        self.cases = cases
        first = cases[0].case
        self.size = len(cases)
        self.targets = {
            name: limit
            for name, limit in cases[0].targets.items()
            if first.has(PRICE) or name not in PRICED
        }
        self.rate = "arrival_rate" in first.given
        self.chosen_batch = own and "batch" in first.given
        self.open_copies = self.rate and "dp" not in first.given
        self.unqueued = WITHOUT_QUEUE[has_mix(cases[0].given)]
        self.ends = [
            {} if c.changed_case else {name: slow_first(ends, name) for name, ends in c.box.items()}
            for c in cases
        ]
        self.ranged = frozenset().union(*self.ends)
        self.differing = [
            name
            for name in dict.fromkeys((*first.given, *first.numbers))
            if name in SHARED & used and self._differs(name)
        ]
        self.inputs = ["batch", *(["dp"] if self.open_copies else []), *self.differing]
        self.expected = self._numbers()
        self.slow, self.fast = (
            self._numbers(end) if self.ranged else self.expected for end in (0, 1)
        )
        uneven = (
            COMPUTE in self.ranged and first.theory.assumptions["scheduling"] == "disaggregated"
        )
        self.worst = [self.slow, *([self._numbers(0, compute=1)] if uneven else [])]
        self.limits = {
            name: np.array([float(c.targets[name]) for c in cases]) for name in self.targets
        }
        self.metrics = {name: metrics_of(name, first)[0] for name in self.targets}
        compared = (*VALUES, *(AT_A_RATE.values() if self.rate else ()), *self.metrics.values())
        plain = [
            name for name in compared if self._has(name) and not (self.rate and name in AT_THE_RATE)
        ]
        quick = tuple(dict.fromkeys((*self.unqueued, *plain, *([LOAD] if self.rate else []))))
        self.compiled = self._compiled_with_waits((*quick, *ROOM))
        self.quick = self._part_of(quick)
        self.rising = self._part_of(self.unqueued)  # bisections work these out dozens of times
        self.at_the_rate = self._at_the_rate()
        ones = np.ones(self.size)
        self.usable, self.capacity = self._called(
            self.compiled.only(ROOM), ROOM, ones, ones, self.expected
        ).values()

    def _has(self, name: str) -> bool:
        return self.cases[0].case.has(PRICE) or not prices_move(name)

    def _differs(self, name: str) -> bool:
        """Whether configurations have different numbers of an input, or one has a range of it."""
        first, *others = (c.case for c in self.cases)
        here = first.given.get(name), first.numbers.get(name)
        return name in self.ranged or any(
            (case.given.get(name), case.numbers.get(name)) != here for case in others
        )

    def _numbers(self, end: int | None = None, compute: int | None = None) -> list[Array]:
        """The inputs in which configurations differ, efficiencies that are ranges among them: as expected, or at their slow end, the first, or the fast one;
        that of compute at an end of its own, if there is one."""
        at = {COMPUTE: end if compute is None else compute}

        def number(
            bound_case: BoundCase, ends: Mapping[str, tuple[Fraction, Fraction]], name: str
        ) -> float:
            place = at.get(name, end)
            return (
                _number(bound_case.case, name)
                if place is None or name not in ends
                else float(ends[name][place])
            )

        return [
            np.array([number(c, ends, name) for c, ends in zip(self.cases, self.ends, strict=True)])
            for name in self.differing
        ]

    def _compiled(self, names: Sequence[str]) -> Compiled:
        return compile_alike(
            names, self.inputs, self.cases[0], free=["dp"] if self.open_copies else ()
        )

    def _compiled_with_waits(self, names: Sequence[str]) -> Compiled:
        """Together with the latencies at the rate, where prefill keeps up at some batch: they share most of their formulas."""
        if self.rate:
            with suppress(InputError):
                return self._compiled((*names, *AT_THE_RATE))
        return self._compiled(names)

    def _part_of(self, names: Sequence[str]) -> Function:
        part = self.compiled.only(names)
        return lambda batch, copies, numbers=None: (
            self._called(part, names, batch, copies, numbers)
            if numbers
            else self._worst(part, names, batch, copies)
        )

    def _worst(
        self, compiled: Compiled, names: Sequence[str], batch: Array, copies: Array
    ) -> dict[str, Array]:
        """The largest values at the slow end; where prefills have devices of their own, also with fast prefills, which keep more requests decoding."""
        each = [self._called(compiled, names, batch, copies, numbers) for numbers in self.worst]
        return {name: np.maximum.reduce([values[name] for values in each]) for name in names}

    def _at_the_rate(self) -> Function:
        """The latencies at the arrival rate; without a value where the lanes of prompts do not keep up at any batch."""
        if set(AT_THE_RATE) <= set(self.compiled.outputs):
            return self._part_of(AT_THE_RATE)
        return lambda batch, copies, numbers=None: {
            name: np.full(batch.shape, np.nan) for name in AT_THE_RATE
        }

    def _called(
        self,
        compiled: Compiled,
        names: Sequence[str],
        batch: Array,
        copies: Array,
        numbers: list[Array],
    ) -> dict[str, Array]:
        """Quantities at a batch and a number of copies of each configuration, or at several of each, those of one in a row."""
        arguments = [
            batch.astype(float),
            *([copies.astype(float)] if self.open_copies else []),
            *(self._for_each(number, batch) for number in numbers),
        ]
        return dict(zip(names, compiled.codes(*arguments), strict=True))

    def _for_each(self, of_each: Array, places: Array) -> Array:
        """A number of each configuration as often as there are places for each."""
        return np.repeat(of_each, len(places) // self.size)

    def results(self) -> list[Screening]:
        highest = np.minimum(np.where(np.isnan(self.capacity), 0, self.capacity), LARGEST)
        most = last_whole(self._unqueued, highest)
        own = np.array([float(c.case.value("batch")) for c in self.cases])
        judged = own if self.chosen_batch else np.maximum(most, 1)
        copies = self._copies(judged) if self.open_copies else np.ones(self.size)
        borne = copies <= MOST_COPIES
        copies = np.where(borne, copies, 1)
        tried = np.maximum(most, 1)
        waits = self._waits(judged, copies)
        if self.rate and self.chosen_batch:  # more slots than all at once may take: fewer do
            within = (own <= highest) & self._met({**self.quick(own, copies), **waits})
            tried = most = np.where(within, np.maximum(own, most), most)
            tried = np.maximum(tried, 1)
        passing = (most >= 1) & borne & self._met({**self.quick(tried, copies), **waits})
        most = np.where(passing, most, 0)
        least = self._least(tried, copies) if passing.any() else tried
        expected, fast = waits, waits
        if self.ranged:
            expected, fast = (
                self._waits(judged, copies, numbers) for numbers in (self.expected, self.fast)
            )
        busiest = self._busiest(least, tried, copies)
        ends = (("judged", judged), ("least", least), ("busiest", busiest), ("most", tried))
        places = {
            name: {**self.quick(batch, copies, self.expected), **expected} for name, batch in ends
        }
        shares = self._shares(places["judged"])
        slowest = self._shares({**self.quick(judged, copies), **waits}) if self.ranged else {}
        fastest = (
            self._shares({**self.quick(judged, copies, self.fast), **fast}) if self.ranged else {}
        )
        beyond = {MEMORY: most + 1 > self.capacity} | {
            name: ~met for name, met in self._limited(most + 1).items()
        }
        made = []
        for i in range(self.size):
            batches = {int(at[i]): name for name, at in reversed(ends)}
            values = {
                batch: {
                    key: float(column[i])
                    for key, column in places[name].items()
                    if not math.isnan(column[i])
                }
                for batch, name in batches.items()
            }
            found = int(copies[i]) if self.open_copies and borne[i] else None
            made.append(
                Screening(
                    int(most[i]),
                    int(least[i]),
                    int(busiest[i]),
                    found,
                    int(judged[i]),
                    tuple(name for name, broken in beyond.items() if broken[i]),
                    {key: float(column[i]) for key, column in shares.items()},
                    values,
                    {key: float(column[i]) for key, column in slowest.items()},
                    {key: float(column[i]) for key, column in fastest.items()},
                )
            )
        return made

    def _waits(
        self, batch: Array, copies: Array, numbers: list[Array] | None = None
    ) -> dict[str, Array]:
        """The latencies at an arrival rate, waits included; without a rate there are none."""
        return self.at_the_rate(batch, copies, numbers) if self.rate else {}

    def _least(self, most: Array, copies: Array) -> Array:
        """The smallest batch from which on every one up to ``most`` passes, waits aside: mostly 1, and then nothing is bisected."""
        alone = self._met(self.quick(np.ones(self.size), copies))
        if alone.all():
            return np.ones(self.size)
        return np.where(
            alone,
            1,
            last_whole(
                lambda batch: ~self._met(self.quick(batch, self._for_each(copies, batch))), most - 1
            )
            + 1,
        )

    def _busiest(self, least: Array, most: Array, copies: Array) -> Array:
        """The batch between two with the most tokens per second, which fall again where requests leave a full budget less for prompts.

        Evenly spaced ones are tried, then those between the neighbours of the best, until every one there is: ripples of the curve aside.
        """
        low, high = least, most
        count = int(np.clip(TRIED // self.size, 5, 64))
        while True:
            step = np.maximum(np.ceil((high - low) / (count - 1)), 1)
            tried = np.minimum(low[:, None] + step[:, None] * np.arange(count), high[:, None])
            each = self._for_each(copies, tried.ravel())
            rates = self.quick(tried.ravel(), each, self.expected)[GIVEN_OUT].reshape(tried.shape)
            best: Array = tried[np.arange(self.size), np.nan_to_num(rates, nan=-1).argmax(axis=1)]
            if (step == 1).all():
                return best
            low, high = np.maximum(low, best - step + 1), np.minimum(high, best + step - 1)

    def _shares(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Metrics over their limits; without a steady state the wait has none, and is endless."""
        shares = {MEMORY: values["memory_bytes_per_device"] / self.usable}
        if self.rate:
            shares[LOAD] = values[LOAD]
        for name, limit in self.limits.items():
            shares[name] = np.nan_to_num(values[self.metrics[name]], nan=np.inf) / limit
        return shares

    def _unqueued(self, batch: Array) -> Array:
        """Whether what rises with the batch is within its limits."""
        return np.asarray(
            np.logical_and.reduce([np.ones(len(batch), bool), *self._limited(batch).values()])
        )

    def _limited(self, batch: Array) -> dict[str, Array]:
        """The same by target: no copies needed, no queue counted."""
        at = self.rising(batch, np.ones(len(batch)))
        itl, reading, queueing = at.values()
        metrics = {"ttft": queueing + reading, "itl": itl}
        return {
            name: self._within(metric, name)
            for name, metric in metrics.items()
            if name in self.limits
        }

    def _met(self, values: Mapping[str, Array]) -> Array:
        """Whether the targets on these values are met, and whether there is a steady state at the arrival rate."""
        limited = [
            self._within(values[self.metrics[name]], name)
            for name in self.limits
            if self.metrics[name] in values
        ]
        steady = [values[LOAD] < 1] if self.rate else []
        return (
            np.asarray(np.logical_and.reduce([*steady, *limited]))
            if steady or limited
            else np.ones(self.size, bool)
        )

    def _within(self, metric: Array, target: str) -> Array:
        return np.asarray(
            np.nan_to_num(metric, nan=np.inf)
            <= self._for_each(self.limits[target], metric) * (1 + CLOSE)
        )

    def _copies(self, batch: Array) -> Array:
        """The least number of copies that sustains the arrival rate within the targets: as many as the load asks for, more where the waits do.

        Where no number of them brings the TTFT within its target, those that sustain the rate: then that is what is missed, not the rate."""
        batch = np.maximum(batch, 1)
        load = self.quick(batch, np.ones(self.size))[LOAD]
        copies: Array = np.asarray(
            np.minimum(np.floor(np.nan_to_num(load, nan=MOST_COPIES)) + 1, MOST_COPIES + 1)
        )
        judged = [
            name
            for name in ("ttft", "itl")
            if name in self.limits and (name == "ttft" or self.chosen_batch)
        ]  # a batch that was solved for meets the ITL target with every slot taken
        if not judged:
            return copies

        def late(copies: Array) -> Array:
            found = self.at_the_rate(self._for_each(batch, copies), copies)
            missed = [~self._within(found[self.metrics[name]], name) for name in judged]
            return np.asarray(np.logical_or.reduce(missed))

        tried = copies[:, None] + 2.0 ** np.arange(0, math.log2(MOST_COPIES) + 1) - 1
        enough = ~late(tried.ravel()).reshape(tried.shape)
        first, each = enough.argmax(axis=1), np.arange(self.size)
        short = np.where(first > 0, tried[each, first - 1], copies - 1)
        more = (
            last_whole(
                lambda more: late(self._for_each(short, more) + more),
                tried[each, first] - short - 1,
            )
            + 1
        )
        found = enough.any(axis=1) & (short + more <= MOST_COPIES)
        return np.where(found, short + more, copies)


def _number(case: Case, name: str) -> float:
    """A value of a case; the price of a device that has none is no number, and what depends on it is none either."""
    tree = case.given.get(name)
    if is_number(tree) and name not in case.numbers:
        return float(tree)
    return float(case.value(name)) if name != PRICE or case.has(PRICE) else math.nan


def last_whole(holds: Callable[[Array], Array], high: Array) -> Array:
    """The largest whole number up to ``high`` at which ``holds``, which ceases for good; 0 where it is never so. Asked of several at once, those of one in a row."""
    return np.asarray(
        largest_whole(
            lambda points: holds(np.maximum(points, 1).T.ravel()).reshape(points.shape[::-1]).T,
            high,
        )
    )


ARGUMENTS = SHARED | {"batch"}
"""Inputs whose numbers do not tell functions apart."""

EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})
"""Ranges whose ends are screened in addition to the expected values; any other range is screened at its corners."""


def screen(cases: Sequence[BoundCase], own: bool = True) -> list[Screening | None]:
    """Each configuration screened, with ``own`` at its own batch where one is chosen; None where it is not: targets are compared with isolated latencies, a size is not known.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, chunk=2048, targets={"itl": "20 ms"})
    >>> [result.most for result in screen(study.cases)]
    [105, 5]
    """
    results: list[Screening | None] = [None] * len(cases)
    for places, group in _groups(cases, own):
        for place, result in zip(places, group.results(), strict=True):
            results[place] = result
    return results


def _groups(
    cases: Sequence[BoundCase], own: bool = True
) -> Iterator[tuple[list[int], ConfigurationGroup]]:
    """Configurations under load without ranges but of efficiencies, by all that shapes their functions."""
    by_shape: dict[Any, list[int]] = {}
    relevant: dict[Any, frozenset[str]] = {}
    number = _FormulaNumbers()
    for place, bound_case in enumerate(cases):
        case = bound_case.case
        if under_load(case) and (bound_case.changed_case or bound_case.box.keys() <= EFFICIENCIES):
            formulas = frozenset().union(
                *(names(tree) for tree in case.given.values() if not is_number(tree))
            )
            if (id(case.theory), formulas) not in relevant:
                relevant[id(case.theory), formulas] = _relevant(case.theory, formulas)
            used = relevant[id(case.theory), formulas]
            fixed = tuple(
                (name, None if name in ARGUMENTS and is_number(tree) else number(tree))
                for name, tree in case.given.items()
                if name in used and name != PRICE
            )
            moved = tuple(
                (name, None if name in ARGUMENTS else value) for name, value in case.numbers.items()
            )
            unpriced = not case.has(PRICE) and bool(PRICED & bound_case.targets.keys())
            by_shape.setdefault((id(case.theory), fixed, moved, unpriced, used), []).append(place)
    for (*_, used), members in by_shape.items():
        places = sorted(
            members, key=lambda place: not cases[place].case.has(PRICE)
        )  # the first one's formulas are those of all
        if not cases[places[0]].case.has_value("fits"):
            continue
        try:
            yield places, ConfigurationGroup([cases[place] for place in places], own, used)
        except InputError:
            continue  # a quantity has no value there: each is judged on its own


class _FormulaNumbers:
    """Formulas by number, equal ones by the same: most are the same object in many cases, and comparing exact numbers takes long."""

    def __init__(self) -> None:
        self._by_object: dict[int, tuple[int, Expr]] = {}
        self._by_formula: dict[Expr, int] = {}

    def __call__(self, tree: Expr) -> int:
        if id(tree) not in self._by_object:
            self._by_object[id(tree)] = (
                self._by_formula.setdefault(tree, len(self._by_formula)),
                tree,
            )
        return self._by_object[id(tree)][0]


def _relevant(theory: Theory, formulas: Collection[str]) -> frozenset[str]:
    """The names that lead to the screened quantities, directly or through formulas that replace definitions."""
    return frozenset().union(
        *(
            theory.dependencies(name)
            for name in (
                *VALUES,
                *WITHOUT_QUEUE[0],
                *WITHOUT_QUEUE[1],
                *TARGET_METRICS.values(),
                *AT_A_RATE.values(),
                LOAD,
                *ROOM,
                *formulas,
            )
        )
    )
