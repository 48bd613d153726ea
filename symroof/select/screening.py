"""Candidates as columns: the largest batch and the copies that memory and the targets allow, for all of them in one call of array functions.

Candidates that share a theory and differ in numbers share the functions: those of their device, their chunk, their prefill devices, the corners of
their ranges. Latencies rise with the batch, and a queue shortens with every copy: so each answer is a bisection, over all candidates at once.
"""

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.analysis.compile import Compiled, compile_alike
from symroof.analysis.verdict import (
    AT_A_RATE,
    ISOLATED_METRICS,
    LOAD,
    MEMORY,
    TARGET_METRICS,
    metrics_of,
    queues,
    under_load,
)
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

Rank = tuple[int, float, float]
Numbers = list[Array]
"""The inputs in which the candidates of a group differ, a column each."""

VALUES = (
    "sustained_throughput", "sustained_throughput_per_device", "sustained_requests", "cost_per_mtok", "loaded_ttft", "sustained_itl", "instance_price", "fleet_price",
    "memory_bytes_per_device", "usable_memory_per_device", "served_devices",
)  # fmt: skip
"""What candidates are compared by, besides the metrics of their targets."""

ISOLATED = {
    "sustained_itl": ("itl_last", "itl"),
    "loaded_ttft": ("ttft",),
    "sustained_throughput": ("decode_throughput",),
    "sustained_throughput_per_device": ("decode_throughput_per_device",),
    "cost_per_mtok": ("decode_cost_per_mtok",),
}
"""The substitutes for a quantity of a server under load where no output length is known, or isolated latencies are asked for."""

AT_THE_RATE = ("loaded_ttft", AT_A_RATE[TARGET_METRICS["itl"]])
"""Latencies of the batch that an arrival rate keeps busy, which is searched: asked for as seldom as possible."""
WITHOUT_QUEUE = tuple(
    ("sustained_itl", reading, "time_outside_steps")
    for reading in ("prompt_prefill_time", "mix_prompt_prefill_time")
)
"""What rises with the batch: the ITL at full slots, and the TTFT without any wait for a lane; of identical requests, and of a mix."""

ROOM = "concurrency"
"""The requests that memory has room for, whatever the batch."""

SHARED = frozenset(
    symbol.name for group in ("hardware", "efficiency", "precision") for symbol in GROUPS[group]
) | {*DEGREES, "prefill_devices", "chunk", "token_budget"}
"""Inputs that may differ between candidates of one function: degrees where they lead to one theory."""

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
EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})
"""Ranges with a slow and a fast end; any other range is looked at at its corners."""
MOST_CORNERS = 64

LARGEST = 1 << 30
MOST_COPIES = 1 << 16
FEW = np.array([0.0, 1.0, 2.0, 4.0])
"""More copies that are tried first: as many as the load asks for mostly do."""
TOGETHER = 16
"""Points of a case whose queues are looked at at once."""
BATCHES = np.array([1, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
"""Shares of the largest batch that are tried: a smaller one leaves more of a step to prompts."""
WORTH = 1.005
"""A batch below the largest is taken where its tokens are so much cheaper."""
CLOSE = 1e-9
"""A metric so near to its limit is compared exactly."""


@dataclass(frozen=True)
class Candidate:
    """A case with numbers of its own, the columns: a chunk, prefill devices; there are copies in multiples of ``copies_of``."""

    bound_case: BoundCase
    columns: Mapping[str, Fraction] = field(default_factory=dict)
    copies_of: int = 1


@dataclass(frozen=True)
class Screening:
    """The best of some candidates, and what the screening says of it.

    Attributes:
        most: the largest batch that passes; 0 where none does.
        least: the smallest one from which on every batch up to ``most`` passes. Over ranges both hold at the slow end of every efficiency.
        copies: instances that sustain the arrival rate, within the TTFT where some number does; None where their number is chosen, or none sustains the rate.
        stopped_by: the conditions that one request more breaks.
        batch: where it is judged: its own batch, else the largest that passes at the least price, else 1.
        shares: how much of its limit each metric takes up there, by condition, as measurements predict; ``slow`` and ``fast`` are the same at the ends of its
            ranges, the most and the least over their corners.
        reach: the least and the largest of each quantity over the ranges.
        values: quantities by batch, then name, where it is judged and at both ends of what passes, as measurements predict.
        rank: the smaller the better among candidates of one case: what passes first, by price and then by load; of the others the nearest miss.
    """

    candidate: Candidate
    most: int
    least: int
    copies: int | None
    batch: int
    rank: Rank
    stopped_by: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    slow: Mapping[str, float] = field(default_factory=dict)
    fast: Mapping[str, float] = field(default_factory=dict)
    reach: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Points:
    """Candidates of a group at some batches and copies, a row each: ``rows`` are the places of the candidates."""

    rows: Array
    batch: Array
    copies: Array

    def at(self, places: Array) -> "Points":
        return Points(self.rows[places], self.batch[places], self.copies[places])

    def with_copies(self, copies: Array) -> "Points":
        return Points(self.rows, self.batch, copies)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass
class Spread:
    """Shares of the limits as expected and at both ends of the ranges, and the ends of quantities; the last four are empty without ranges."""

    shares: dict[str, Array]
    slow: dict[str, Array] = field(default_factory=dict)
    fast: dict[str, Array] = field(default_factory=dict)
    low: dict[str, Array] = field(default_factory=dict)
    high: dict[str, Array] = field(default_factory=dict)


class Group:
    """Candidates whose functions are the same; ``owners`` are the places of the cases that they are of."""

    def __init__(
        self, candidates: Sequence[Candidate], owners: Sequence[int], used: frozenset[str]
    ) -> None:
        self.candidates, self.owners = candidates, np.array(owners)
        self.cases = [candidate.bound_case for candidate in candidates]
        first = self.cases[0].case
        self.size = len(candidates)
        self.loaded, self.rate = under_load(first), queues(first)
        self.chosen_batch = "batch" in first.given
        self.open_copies = self.rate and "dp" not in first.given
        self.copies_of = np.array([candidate.copies_of for candidate in candidates])
        self.box = frozenset(self.cases[0].box) if not self.cases[0].changed_case else frozenset()
        self.differing = [
            name
            for name in dict.fromkeys((*first.given, *first.numbers, *candidates[0].columns))
            if name in used and self._differs(name)
        ]
        self.inputs = ["batch", *(["dp"] if self.open_copies else []), *self.differing]
        self._add_numbers()
        targets = self.cases[0].targets
        self.limits = {
            name: np.array([float(case.targets[name]) for case in self.cases])
            for name in targets
            if first.has(PRICE) or name not in PRICED
        }
        self.metrics = {name: self._metric(name) for name in self.limits}
        self._add_functions()
        ones = self.points(np.arange(self.size), np.ones(self.size))
        at_room = [self._called(self.room, ones, numbers)[ROOM] for numbers in self.worst]
        capacity = np.nan_to_num(np.minimum.reduce(at_room), nan=0)
        self.capacity = np.minimum(capacity, LARGEST)

    @staticmethod
    def points(rows: Array, batch: Array) -> Points:
        return Points(rows, batch, np.ones(len(rows)))

    # ------------------------------------------------------------------------------------------------ columns

    def _differs(self, name: str) -> bool:
        """Whether candidates have different numbers of an input, or one has a range of it."""
        if name in self.box or any(name in candidate.columns for candidate in self.candidates):
            return True
        first, *others = (c.case for c in self.cases)
        here = first.given.get(name), first.numbers.get(name)
        return name in SHARED and any(
            (case.given.get(name), case.numbers.get(name)) != here for case in others
        )

    def _add_numbers(self) -> None:
        """The columns as expected, at every slow corner of the ranges, and at every fast one.

        Where prefills have devices of their own, fast ones keep more requests decoding: at a slow corner those of compute are slow or fast.
        """
        given = sorted(self.box - EFFICIENCIES)[: MOST_CORNERS.bit_length() - 1]
        corners = [
            dict(zip(given, ends, strict=True))
            for ends in itertools.product((0, 1), repeat=len(given))
        ]
        apart = self.cases[0].assumptions["scheduling"] == "disaggregated" and COMPUTE in self.box
        compute = (0, 1) if apart else (0,)
        self.expected = self._numbers()
        self.worst, self.best = [self.expected], [self.expected]
        if self.box:
            self.worst = [
                self._numbers(0, {**ends, COMPUTE: c}) for ends in corners for c in compute
            ]
            self.best = [self._numbers(1, ends) for ends in corners]

    def _numbers(self, end: int | None = None, corner: Mapping[str, int] | None = None) -> Numbers:
        """The columns as expected, or with ranges at an end: efficiencies at their slow one, 0, or their fast one, 1; some inputs at an end of their own."""
        own = corner or {}

        def number(candidate: Candidate, name: str) -> float:
            case = candidate.bound_case
            if name in candidate.columns:
                return float(candidate.columns[name])
            if end is None or name not in self.box:
                return _number(case.case, name)
            ends = slow_first(case.box[name], name) if name in EFFICIENCIES else case.box[name]
            return float(ends[own.get(name, end)])

        return [
            np.array([number(candidate, name) for candidate in self.candidates])
            for name in self.differing
        ]

    # ------------------------------------------------------------------------------------------------ functions

    def _metric(self, target: str) -> str:
        case = self.cases[0].case
        return metrics_of(target, case)[0] if self.loaded else self.named(TARGET_METRICS[target])

    def named(self, name: str) -> str:
        """A quantity of one request alone in place of one under load."""
        if self.loaded or name not in ISOLATED:
            return name
        return next(filter(self.cases[0].case.has_value, ISOLATED[name]), name)

    def _add_functions(self) -> None:
        """What rises with the batch, what needs no search for a steady state, and what does."""
        first = self.cases[0].case
        compared = [*map(self.named, VALUES), *self.metrics.values()]
        compared += AT_A_RATE.values() if self.rate else ()
        late = AT_THE_RATE if self.rate else ()
        plain = [
            name
            for name in compared
            if name not in late
            and (first.has(PRICE) or not prices_move(name))
            and (self.loaded or first.has_value(name))
        ]
        rising = (
            WITHOUT_QUEUE[has_mix(self.cases[0].given)]
            if self.loaded
            else tuple(self.metrics[name] for name in ISOLATED_METRICS if name in self.metrics)
        )
        quick = tuple(dict.fromkeys((*rising, *plain, *([LOAD] if self.rate else []))))
        every = (*quick, ROOM)
        whole: Compiled | None = None
        if self.rate:  # where prefill keeps up at some batch; they share most of their formulas
            with suppress(InputError):
                whole = self._compiled((*every, *late))
        known = whole is not None
        whole = whole or self._compiled(every)
        self.quick, self.room = whole.only(quick), whole.only((ROOM,))
        self.rising = whole.only(rising) if rising else None
        self.late = whole.only(late) if late and known else None
        self.load = whole.only((LOAD,)) if self.rate else None

    def _compiled(self, quantities: Sequence[str]) -> Compiled:
        free = ["dp"] if self.open_copies else ()
        return compile_alike(quantities, self.inputs, self.cases[0], free=free)

    def _called(self, part: Compiled, at: Points, numbers: Numbers) -> dict[str, Array]:
        """Quantities at some points."""
        arguments = [
            at.batch.astype(float),
            *([at.copies.astype(float)] if self.open_copies else []),
            *(number[at.rows] for number in numbers),
        ]
        return dict(zip(part.outputs, part.codes(*arguments), strict=True))

    def _waits(self, at: Points, numbers: Numbers) -> dict[str, Array]:
        """The latencies at an arrival rate, waits included; without a steady state they have no value."""
        if self.late is None:
            return {name: np.full(len(at), np.nan) for name in AT_THE_RATE}
        return self._called(self.late, at, numbers)

    def _all_of(self, at: Points, numbers: Numbers) -> dict[str, Array]:
        found = self._called(self.quick, at, numbers)
        return found | self._waits(at, numbers) if self.rate else found

    # ------------------------------------------------------------------------------------------------ conditions

    def _within(self, metric: Array, target: str, rows: Array) -> Array:
        limit = self.limits[target][rows] * (1 + CLOSE)
        return np.asarray(np.nan_to_num(metric, nan=np.inf) <= limit)

    def _unqueued(self, at: Points) -> dict[str, Array]:
        """Whether what rises with the batch is within its limits, by target, at every slow corner: no copies needed, no queue counted."""
        met: dict[str, Array] = {}
        for numbers in self.worst if self.rising else ():
            found = self._called(self.rising, at, numbers)  # type: ignore[arg-type]
            metrics = {name: found.get(self.metrics[name]) for name in self.limits}
            if self.loaded:
                itl, reading, outside = found.values()
                metrics = {"ttft": outside + reading, "itl": itl}
            for name, metric in metrics.items():
                if name in self.limits and metric is not None:
                    met[name] = met.get(name, True) & self._within(metric, name, at.rows)
        return met

    def _met(self, at: Points, waiting: bool = True) -> Array:
        """Whether there is a steady state and every target is met at every slow corner; without ``waiting`` those aside that hold a wait."""
        met = np.ones(len(at), bool)
        for numbers in self.worst:
            found = self._all_of(at, numbers) if waiting else self._called(self.quick, at, numbers)
            if self.rate:
                met &= found[LOAD] < 1
            for name in self.limits:
                if self.metrics[name] in found:
                    met &= self._within(found[self.metrics[name]], name, at.rows)
        return met

    def _shares(self, found: Mapping[str, Array], rows: Array) -> dict[str, Array]:
        """Metrics over their limits; without a steady state the wait has none, and is endless."""
        shares = {MEMORY: found["memory_bytes_per_device"] / found["usable_memory_per_device"]}
        if self.rate:
            shares[LOAD] = found[LOAD]
        for name, limit in self.limits.items():
            shares[name] = np.nan_to_num(found[self.metrics[name]], nan=np.inf) / limit[rows]
        return shares

    def _over_ranges(self, at: Points, found: Mapping[str, Array]) -> "Spread":
        """The shares as expected, the most and the least of them over the ranges, and how far each quantity reaches there."""
        shares = self._shares(found, at.rows)
        if not self.box:
            return Spread(shares)
        slow, fast = (
            [self._all_of(at, numbers) for numbers in side] for side in (self.worst, self.best)
        )
        late, early = ([self._shares(one, at.rows) for one in side] for side in (slow, fast))
        ends = {name: np.stack([one[name] for one in (found, *slow, *fast)]) for name in found}
        return Spread(
            shares,
            {name: np.maximum.reduce([one[name] for one in late]) for name in shares},
            {name: np.minimum.reduce([one[name] for one in (shares, *early)]) for name in shares},
            {name: each.min(axis=0) for name, each in ends.items()},
            {name: each.max(axis=0) for name, each in ends.items()},
        )

    # ------------------------------------------------------------------------------------------------ answers

    def results(self) -> dict[int, Screening]:
        """The best candidate of every case."""
        most = self._largest()
        if self.chosen_batch:
            rows = np.arange(self.size)
            own = np.array([float(c.case.value("batch")) for c in self.cases])
            tried = self.points(rows[own <= self.capacity], own[own <= self.capacity])
        else:
            rows = np.flatnonzero(most >= 1)
            batch = np.maximum(np.ceil(most[rows][:, None] * BATCHES), 1)
            tried = self.points(np.repeat(rows, len(BATCHES)), batch.ravel())
        best = self._cheapest(tried, most) if len(tried) else {}
        others = np.flatnonzero(~np.isin(self.owners, list(best)))
        if len(others):
            best |= self._nearest(others, most)
        return self._made(best, most)

    def _largest(self) -> Array:
        """The largest batch of each candidate that fits and meets what rises with it; 0 where none does."""
        most = np.zeros(self.size)
        fitting = np.flatnonzero(self.capacity >= 1)

        def within(batch: Array) -> Array:
            rows = np.repeat(fitting, len(batch) // len(fitting))
            met = self._unqueued(self.points(rows, batch))
            return np.asarray(np.logical_and.reduce([np.ones(len(batch), bool), *met.values()]))

        if len(fitting):
            most[fitting] = last_whole(within, self.capacity[fitting])
        return most

    def _cheapest(self, tried: Points, most: Array) -> dict[int, tuple[Points, Rank]]:
        """The cheapest point that passes of each case that has one.

        Points are looked at from the cheapest on: a queue asks for no fewer copies than the load does, so that one that is dearer at its load than the best
        found need not be.
        """
        load = self._loads(tried)
        if self.open_copies:
            tried = tried.with_copies(self._enough(load, tried.rows))
        bound, within = self._price(tried, most), np.isfinite(load) & (tried.copies <= MOST_COPIES)
        owners = self.owners[tried.rows]
        found: dict[int, tuple[Points, Rank]] = {}
        order = np.lexsort((-tried.batch, load / tried.copies, bound))
        left = [[i for i in order if owners[i] == owner and within[i]] for owner in dict.fromkeys(owners.tolist())]  # fmt: skip
        while left := [places for places in left if places]:
            now = np.array([i for places in left for i in places[:TOGETHER]])
            at = self._served(tried.at(now))
            met, price = self._met(at), self._price(at, most)
            ratio = load[now] / at.copies if self.open_copies else load[now]
            for i in np.flatnonzero(met):
                rank = (0, _rounded(price[i]), _rounded(ratio[i]))
                owner = int(self.owners[at.rows[i]])
                if owner not in found or rank < found[owner][1]:
                    found[owner] = at.at(np.array([i])), rank
            left = [places[TOGETHER:] for places in left]
            left = [
                [i for i in places if owners[i] not in found or bound[i] < found[owners[i]][1][1]]
                for places in left
            ]
        return found

    def _loads(self, at: Points) -> Array:
        """The load of one copy at the slow end, or of those there are; 0 where requests do not arrive at a rate."""
        if self.load is None:
            return np.zeros(len(at))
        each = [self._called(self.load, at, numbers)[LOAD] for numbers in self.worst]
        return np.asarray(np.nan_to_num(np.maximum.reduce(each), nan=np.inf))

    def _enough(self, load: Array, rows: Array) -> Array:
        """As many copies as a load asks for; at a load of 1 the queue grows."""
        copies = np.floor(np.minimum(load, MOST_COPIES)) + 1
        return self._whole(copies, rows)

    def _whole(self, copies: Array, rows: Array) -> Array:
        """The next number of copies whose prefill devices are whole groups."""
        return np.asarray(np.ceil(copies / self.copies_of[rows]) * self.copies_of[rows])

    def _price(self, at: Points, most: Array) -> Array:
        """What points are ranked by: the price of the fleet at a rate, of tokens without one, where a batch below the largest has to be clearly cheaper;
        devices, or what they give out, where there is no price."""
        found = self._called(self.quick, at, self.expected)
        name = "fleet_price" if self.rate else self.named("cost_per_mtok")
        if self.cases[0].case.has(PRICE) and name in found:
            dearer = 1 if self.rate else np.where(at.batch < most[at.rows], WORTH, 1)
            return np.asarray(np.nan_to_num(found[name] * dearer, nan=np.inf))
        if self.rate:
            return np.asarray(found["served_devices"] * at.copies)
        given_out = found.get(self.named("sustained_throughput_per_device"))
        return np.zeros(len(at)) if given_out is None else np.asarray(np.nan_to_num(-given_out))

    def _served(self, at: Points) -> Points:
        """The same with the least number of copies whose waits are within the targets, where some number does."""
        judged = [
            name
            for name in ("ttft", "itl")
            if name in self.limits and (name == "ttft" or self.chosen_batch)
        ]  # a batch that was solved for meets the ITL target with every slot taken
        if not judged or self.late is None or not self.open_copies:
            return at

        def late(copies: Array) -> Array:
            """Where a wait is too long, for a row of numbers of each point."""
            times = copies.shape[1]
            tried = Points(np.repeat(at.rows, times), np.repeat(at.batch, times), copies.ravel())
            missed = np.zeros(len(tried), bool)
            for numbers in self.worst:
                found = self._waits(tried, numbers)
                for name in judged:
                    missed |= ~self._within(found[self.metrics[name]], name, tried.rows)
            return missed.reshape(copies.shape)

        row = np.arange(len(at))
        for more in (FEW, 2.0 ** np.arange(0, math.log2(MOST_COPIES) + 1) - 1):
            tried = at.copies[:, None] + more
            enough = ~late(tried)
            if enough.any(axis=1).all():
                break
        first, some = enough.argmax(axis=1), enough.any(axis=1)
        short = np.where(first > 0, tried[row, first - 1], at.copies - 1)
        gap = np.where(some, tried[row, first] - short - 1, 0)
        more = largest_whole(lambda n: late((short + np.maximum(n, 1)).T).T, gap)
        copies = np.where(some, short + more + 1, at.copies)
        return at.with_copies(self._whole(np.minimum(copies, MOST_COPIES), at.rows))

    def _nearest(self, rows: Array, most: Array) -> dict[int, tuple[Points, Rank]]:
        """Of each case the candidate that misses least at the slow end; where none fits the one that lacks least memory."""
        own = np.array([float(self.cases[i].case.value("batch")) for i in rows])
        batch = own if self.chosen_batch else np.maximum(most[rows], 1)
        at = self.points(rows, batch)
        load = self._loads(at)
        if self.open_copies:
            copies = self._enough(load, rows)
            at = at.with_copies(np.where(copies > MOST_COPIES, 1, copies))
        found = self._all_of(at, self.expected)
        spread = self._over_ranges(at, found)
        each = np.stack(list((spread.slow or spread.shares).values()))
        worst = np.where(np.isfinite(each), each, -np.inf).max(axis=0)
        unfit = each[0] > 1 + CLOSE
        best: dict[int, tuple[Points, Rank]] = {}
        for i, row in enumerate(rows):
            rank = (
                1 + int(unfit[i]),
                _rounded(each[0][i] if unfit[i] else worst[i]),
                float(load[i]),
            )
            owner = int(self.owners[row])
            if owner not in best or rank < best[owner][1]:
                best[owner] = at.at(np.array([i])), rank
        return best

    def _made(
        self, best: Mapping[int, tuple[Points, Rank]], largest: Array
    ) -> dict[int, Screening]:
        """The chosen points as one answer a case."""
        chosen = [point for point, _ in best.values()]
        at = Points(
            *(
                np.concatenate([getattr(p, name) for p in chosen])
                for name in ("rows", "batch", "copies")
            )
        )
        passes = np.array([rank[0] == 0 for _, rank in best.values()])
        most = np.where(passes, at.batch, 0)
        if self.chosen_batch or not self.rate:  # others than the one that it is judged at may pass
            most = np.maximum(most, self._most(at, largest[at.rows]))
        top = Points(at.rows, np.maximum(most, 1), at.copies)
        least = self._least(top) if most.any() else at.batch
        places = {
            batch.tobytes(): self._all_of(Points(at.rows, batch, at.copies), self.expected)
            for batch in (at.batch, least, top.batch)
        }
        found = places[at.batch.tobytes()]
        spread = self._over_ranges(at, found)
        above = self.points(at.rows, most + 1)
        beyond = {MEMORY: above.batch > self.capacity[at.rows]}
        beyond |= {name: ~met for name, met in self._unqueued(above).items()}
        made: dict[int, Screening] = {}
        for i, (owner, (_, rank)) in enumerate(best.items()):
            each = (top.batch, least, at.batch)
            ends = {int(b[i]): _at(places[b.tobytes()], i) for b in each}
            copies = int(at.copies[i]) if self.open_copies else None
            made[owner] = Screening(
                self.candidates[at.rows[i]],
                int(most[i]),
                int(least[i]),
                copies,
                int(at.batch[i]),
                rank,
                tuple(name for name, broken in beyond.items() if broken[i]),
                _at(spread.shares, i, known=False),
                ends,
                _at(spread.slow, i, known=False),
                _at(spread.fast, i, known=False),
                {
                    name: (float(low[i]), float(spread.high[name][i]))
                    for name, low in spread.low.items()
                },
            )
        return made

    def _most(self, at: Points, largest: Array) -> Array:
        """The largest batch of each point, 0 where it does not pass with the copies of the point."""
        there = Points(at.rows, np.maximum(largest, 1), at.copies)
        return np.where((largest >= 1) & self._met(there), largest, 0)

    def _least(self, at: Points) -> Array:
        """The smallest batch from which on every one up to that of a point passes, waits aside: mostly 1, and then nothing is bisected."""
        ones = np.ones(len(at))
        alone = self._met(Points(at.rows, ones, at.copies), waiting=False)
        if alone.all():
            return ones

        def fails(batch: Array) -> Array:
            times = len(batch) // len(at)
            there = Points(np.repeat(at.rows, times), batch, np.repeat(at.copies, times))
            return ~self._met(there, waiting=False)

        return np.where(alone, 1, last_whole(fails, at.batch - 1) + 1)


def _rounded(value: float) -> float:
    """Equal prices differ in the last digits of their floats."""
    return float(f"{value:.12g}")


def _at(columns: Mapping[str, Array], place: int, known: bool = True) -> dict[str, float]:
    """One row of several columns; with ``known`` without those that have no value there."""
    row = {name: float(column[place]) for name, column in columns.items()}
    return {name: x for name, x in row.items() if not math.isnan(x)} if known else row


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


def screen(cases: Sequence[Sequence[Candidate]]) -> list[Screening | None]:
    """The best of the candidates of each case, at its own batch where one is chosen; None where a size is not known.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, chunk=2048, targets={"itl": "20 ms"})
    >>> [result.most for result in screen([[Candidate(case)] for case in study.cases])]
    [25, 0]
    """
    every = [(candidate, i) for i, candidates in enumerate(cases) for candidate in candidates]
    best: dict[int, Screening] = {}
    for group in _groups(every):
        for i, result in group.results().items():
            if i not in best or result.rank < best[i].rank:
                best[i] = result
    return [best.get(i) for i in range(len(cases))]


def _groups(every: Sequence[tuple[Candidate, int]]) -> Iterator[Group]:
    """Candidates by all that shapes their functions, each with the case that it is of."""
    by_shape: dict[Any, list[int]] = {}
    shapes: dict[int, Any] = {}
    shape_of = _Shapes()
    for place, (candidate, _) in enumerate(every):
        key = id(candidate.bound_case)  # with the same columns: one combination in one layout
        if key not in shapes:
            shapes[key] = shape_of(candidate)
        by_shape.setdefault(shapes[key], []).append(place)
    for (*_, used), members in by_shape.items():
        places = sorted(members, key=lambda place: not every[place][0].bound_case.case.has(PRICE))
        first = every[places[0]][0]  # whose formulas are those of all
        if not first.bound_case.case.changed(first.columns).has_value("fits"):
            continue
        candidates, owners = zip(*(every[place] for place in places), strict=True)
        try:
            yield Group(candidates, owners, used)
        except InputError:
            continue  # a quantity has no value there: each is judged on its own


class _Shapes:
    """What shapes the functions of a candidate: its theory, its formulas, the numbers that are no columns."""

    def __init__(self) -> None:
        self._relevant: dict[Any, frozenset[str]] = {}
        self._number = _FormulaNumbers()

    def __call__(self, candidate: Candidate) -> tuple[Any, ...]:
        bound_case, columns = candidate.bound_case, candidate.columns.keys()
        case = bound_case.case
        box = frozenset() if bound_case.changed_case else frozenset(bound_case.box)
        formulas = frozenset().union(
            *(
                names(tree)
                for name, tree in case.given.items()
                if not is_number(tree) and name not in columns
            )
        )
        key = id(case.theory), formulas
        if key not in self._relevant:
            self._relevant[key] = _relevant(case.theory, formulas)
        used, moving = self._relevant[key], ARGUMENTS | box
        fixed = tuple(
            (
                name,
                None
                if name in columns or (name in moving and is_number(tree))
                else self._number(tree),
            )
            for name, tree in sorted(case.given.items())
            if name in used and name != PRICE
        )
        moved = tuple(
            (name, None if name in moving else value) for name, value in case.numbers.items()
        )
        unpriced = not case.has(PRICE)
        return id(case.theory), fixed, moved, box, tuple(columns), unpriced, used


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
    isolated = [name for names in ISOLATED.values() for name in names]
    asked = (*VALUES, *isolated, *WITHOUT_QUEUE[0], *WITHOUT_QUEUE[1], *TARGET_METRICS.values(), *AT_A_RATE.values(), LOAD, ROOM)  # fmt: skip
    return frozenset().union(*(theory.dependencies(name) for name in (*asked, *formulas)))
