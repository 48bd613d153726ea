"""Candidates as columns: the largest batch and the copies that memory and the targets allow, for all of them in one call of array functions.

Candidates that share a theory and differ in numbers share the functions: those of their device, their chunk, their prefill devices. Expected, slow and
fast are columns of the same call. Latencies rise with the batch, and a queue shortens with every copy: so each answer is a bisection over all at once.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from symroof.cases.bind_cases import has_mix
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import AT_PEAK, COSTS, slow_first
from symroof.errors import InputError
from symroof.select.configuration import (
    CLOSE,
    ISOLATED,
    PRICE,
    PRICED,
    Configuration,
    Run,
    Window,
    prices_move,
)
from symroof.select.search_space import Candidate
from symroof.symbolic.blocks import Array
from symroof.symbolic.searches import largest_whole
from symroof.theory.layout import DEGREES
from symroof.theory.symbols import GROUPS
from symroof.theory.theory_files import listed

Rank = tuple[int, float, float]
"""The smaller the better among candidates of one case: what passes first, by price and then by load; of the others the nearest miss."""
Found = dict[str, Array]
"""Quantities by name, a row a corner of the ranges."""

VALUES = listed("shown", "compared")
"""What candidates are compared by, besides the metrics of their targets."""

AT_THE_RATE = ("loaded_ttft", AT_A_RATE[TARGET_METRICS["itl"]])
"""Latencies of the batch that an arrival rate keeps busy, which is searched: asked for as seldom as possible."""
WITHOUT_QUEUE: tuple[tuple[str, ...], ...] = tuple(
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
COMPUTE = "mfu"
"""The efficiency of compute, whose measured range is apart from that of all others."""
EFFICIENCIES = frozenset({*AT_PEAK, *COSTS})
"""Ranges with a slow and a fast end; any other range is looked at at its corners."""
MOST_RANGES = 6

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


@dataclass
class Points:
    """Candidates of a group at some batches and copies: ``rows`` are their places; the three broadcast."""

    rows: Array
    batch: Array
    copies: Array

    def at(self, places: Array) -> "Points":
        return Points(self.rows[places], self.batch[places], self.copies[places])


def _points(rows: Array, batch: Array) -> Points:
    return Points(rows, batch, np.ones(len(rows)))


class Group:
    """Candidates whose functions are the same; ``owners`` are the places of the cases that they are of."""

    def __init__(
        self, candidates: Sequence[Candidate], owners: Sequence[int], used: frozenset[str]
    ) -> None:
        self.candidates, self.owners = candidates, np.array(owners)
        self.cases = [candidate.bound_case for candidate in candidates]
        self.first = first = self.cases[0].case
        self.loaded, self.rate = under_load(first), queues(first)
        self.chosen_batch = "batch" in first.given
        self.open_copies = self.rate and "dp" not in first.given
        self.copies_of = np.array([candidate.copies_of for candidate in candidates])
        self.box = frozenset() if self.cases[0].changed_case else frozenset(self.cases[0].box)
        named = dict.fromkeys((*first.given, *first.numbers, *candidates[0].columns))
        moved = self.box.union(*(candidate.columns for candidate in candidates))
        self.differing = [
            name
            for name in named
            if name in used
            and (name in moved or (name in SHARED and len(set(map(_given(name), self.cases))) > 1))
        ]
        self._add_corners()
        self.limits = {
            name: np.array([float(case.targets[name]) for case in self.cases])
            for name in self.cases[0].targets
            if first.has(PRICE) or name not in PRICED
        }
        self.metrics = {
            name: metrics_of(name, first)[0] if self.loaded else self.named(TARGET_METRICS[name])
            for name in self.limits
        }
        self._add_functions()
        rows = np.arange(len(candidates))
        room = self._called(self.room, _points(rows, np.ones(len(rows))), self.worst)[ROOM]
        self.capacity = np.minimum(np.nan_to_num(room.min(axis=0), nan=0), LARGEST)

    # ---------------------------------------------------------------------- columns

    def _add_corners(self) -> None:
        """The inputs as expected, at every slow corner of the ranges, and at every fast one: corner, input, candidate.

        Where prefills have devices of their own, fast ones keep more requests decoding: at a slow corner those of compute are slow or fast.
        """
        given = sorted(self.box - EFFICIENCIES)[:MOST_RANGES]
        corners = [
            dict(zip(given, ends, strict=True))
            for ends in itertools.product((0, 1), repeat=len(given))
        ]
        apart = self.cases[0].assumptions["scheduling"] == "disaggregated" and COMPUTE in self.box
        compute = (0, 1) if apart else (0,)
        self.expected = self._numbers([(None, {})])
        self.worst = self.best = self.every = self.expected
        if self.box:
            slow = [(0, {**ends, COMPUTE: c}) for ends in corners for c in compute]
            self.worst = self._numbers(slow)
            self.best = self._numbers([(1, ends) for ends in corners])
            self.every = np.concatenate([self.expected, self.worst, self.best])

    def _numbers(self, corners: Sequence[tuple[int | None, Mapping[str, int]]]) -> Array:
        """The inputs as expected, or with ranges at an end: efficiencies at their slow one, 0, or their fast one, 1; some inputs at an end of their own."""

        def number(candidate: Candidate, name: str, end: int | None, own: Mapping[str, int]) -> float:  # fmt: skip
            case = candidate.bound_case
            if name in candidate.columns:
                return float(candidate.columns[name])
            if (
                end is None or name not in self.box
            ):  # what depends on a price that is not known is not known
                known = name != PRICE or case.case.has(PRICE)
                return float(case.case.value(name)) if known else math.nan
            ends = slow_first(case.box[name], name) if name in EFFICIENCIES else case.box[name]
            return float(ends[own.get(name, end)])

        columns = [
            [
                [number(candidate, name, *corner) for candidate in self.candidates]
                for name in self.differing
            ]
            for corner in corners
        ]
        return np.array(columns, dtype=float).reshape(
            len(corners), len(self.differing), len(self.candidates)
        )

    # ---------------------------------------------------------------------- functions

    def named(self, name: str) -> str:
        """A quantity of one request alone in place of one under load."""
        if self.loaded or name not in ISOLATED:
            return name
        return next(filter(self.first.has_value, ISOLATED[name]), name)

    def _add_functions(self) -> None:
        """What rises with the batch, what needs no search for a steady state, and what does."""
        first, priced = self.first, self.first.has(PRICE)
        compared = [*map(self.named, VALUES), *self.metrics.values()]
        compared += AT_A_RATE.values() if self.rate else ()
        late = AT_THE_RATE if self.rate else ()
        plain = [
            name
            for name in compared
            if name not in late
            and (priced or not prices_move(name))
            and (self.loaded or first.has_value(name))
        ]
        rising = WITHOUT_QUEUE[has_mix(self.cases[0].given)]
        if not self.loaded:
            rising = tuple(self.metrics[name] for name in ISOLATED_METRICS if name in self.metrics)
        quick = tuple(dict.fromkeys((*rising, *plain, *([LOAD] if self.rate else []))))
        whole: Compiled | None = None
        if self.rate:  # where prefill keeps up at some batch; they share most of their formulas
            with suppress(InputError):
                whole = self._compiled((*quick, ROOM, *late))
        known = whole is not None
        whole = whole or self._compiled((*quick, ROOM))
        self.quick, self.room = whole.only(quick), whole.only((ROOM,))
        self.rising = whole.only(rising) if rising else None
        self.late = whole.only(late) if late and known else None
        self.load = whole.only((LOAD,)) if self.rate else None

    def _compiled(self, quantities: Sequence[str]) -> Compiled:
        free = ["dp"] if self.open_copies else []
        return compile_alike(
            quantities, ["batch", *free, *self.differing], self.cases[0], free=free
        )

    def _called(self, part: Compiled, at: Points, corners: Array) -> Found:
        """Quantities at some points, at every corner."""
        shape = np.broadcast_shapes(at.rows.shape, at.batch.shape, at.copies.shape)
        rows, *own = (np.broadcast_to(x, shape).ravel() for x in (at.rows, at.batch, at.copies))
        free = [np.tile(x.astype(float), len(corners)) for x in own[: 1 + self.open_copies]]
        moved = (corners[:, k, rows].ravel() for k in range(len(self.differing)))
        found = zip(part.outputs, part.codes(*free, *moved), strict=True)
        return {name: np.asarray(value).reshape(len(corners), *shape) for name, value in found}

    def _waits(self, at: Points, corners: Array) -> Found:
        """The latencies at an arrival rate, waits included; without a steady state they have no value."""
        if self.late is not None:
            return self._called(self.late, at, corners)
        shape = np.broadcast_shapes(at.rows.shape, at.batch.shape, at.copies.shape)
        return dict.fromkeys(AT_THE_RATE, np.full((len(corners), *shape), np.nan))

    def _all_of(self, at: Points, corners: Array) -> Found:
        found = self._called(self.quick, at, corners)
        return found | self._waits(at, corners) if self.rate else found

    # ---------------------------------------------------------------------- conditions

    def _within(self, metric: Array, target: str, rows: Array) -> Array:
        """Whether a metric is within its limit at every corner."""
        limit = self.limits[target][rows] * (1 + CLOSE)
        return np.asarray((np.nan_to_num(metric, nan=np.inf) <= limit).all(axis=0))

    def _unqueued(self, at: Points) -> dict[str, Array]:
        """Whether what rises with the batch is within its limits, by target, at every slow corner: no copies needed, no queue counted."""
        if self.rising is None:
            return {}
        found = self._called(self.rising, at, self.worst)
        metrics = {name: found[metric] for name, metric in self.metrics.items() if metric in found}
        if self.loaded:
            itl, reading, outside = found.values()
            metrics = {"ttft": outside + reading, "itl": itl}
        return {
            name: self._within(metric, name, at.rows)
            for name, metric in metrics.items()
            if name in self.limits
        }

    def _met(self, at: Points, waiting: bool = True) -> Array:
        """Whether there is a steady state and every target is met at every slow corner; without ``waiting`` those aside that hold a wait."""
        found = (
            self._all_of(at, self.worst) if waiting else self._called(self.quick, at, self.worst)
        )
        met = (found[LOAD] < 1).all(axis=0) if self.rate else np.True_
        for name, metric in self.metrics.items():
            if metric in found:
                met = met & self._within(found[metric], name, at.rows)
        return np.asarray(np.broadcast_to(met, at.batch.shape))

    def _judged(self, at: Points) -> dict[str, Found]:
        """Quantities and shares of the limits as expected, the most and the least of these over the ranges, and how far each quantity reaches there."""
        found = self._all_of(at, self.every)
        shares = {MEMORY: found["memory_bytes_per_device"] / found["usable_memory_per_device"]}
        if self.rate:
            shares[LOAD] = found[LOAD]
        for name, limit in self.limits.items():  # without a steady state the wait is endless
            shares[name] = np.nan_to_num(found[self.metrics[name]], nan=np.inf) / limit[at.rows]
        made = {"values": {name: each[0] for name, each in found.items()}}
        made["shares"] = {name: each[0] for name, each in shares.items()}
        if not self.box:
            return made | {key: {} for key in ("slow", "fast", "low", "high")}
        slow, fast = slice(1, 1 + len(self.worst)), slice(1 + len(self.worst), None)
        return made | {
            "slow": {name: each[slow].max(axis=0) for name, each in shares.items()},
            "fast": {
                name: np.minimum(each[0], each[fast].min(axis=0)) for name, each in shares.items()
            },
            "low": {name: each.min(axis=0) for name, each in found.items()},
            "high": {name: each.max(axis=0) for name, each in found.items()},
        }

    # ---------------------------------------------------------------------- answers

    def results(self, listed: bool) -> dict[int, tuple[Rank, Configuration]]:
        """The best candidate of every case; no window of batches where the study lists them."""
        most = self._largest()
        if self.chosen_batch:
            own = self._own_batch()
            rows = np.flatnonzero(own <= self.capacity)
            tried = _points(rows, own[rows])
        else:
            rows = np.flatnonzero(most >= 1)
            batch = np.maximum(np.ceil(most[rows][:, None] * BATCHES), 1)
            tried = _points(np.repeat(rows, len(BATCHES)), batch.ravel())
        best = self._cheapest(tried, most) if len(tried.rows) else {}
        others = np.flatnonzero(~np.isin(self.owners, list(best)))
        if len(others):
            best |= self._nearest(others, most)
        return self._made(best, most, listed)

    def _own_batch(self) -> Array:
        return np.array([float(case.case.value("batch")) for case in self.cases])

    def _largest(self) -> Array:
        """The largest batch of each candidate that fits and meets what rises with it; 0 where none does."""
        most, fitting = np.zeros(len(self.cases)), np.flatnonzero(self.capacity >= 1)

        def within(batch: Array) -> Array:
            met = self._unqueued(Points(fitting, batch, np.ones(1))).values()
            return np.asarray(np.logical_and.reduce([np.ones(batch.shape, bool), *met]))

        if len(fitting):
            most[fitting] = largest_whole(within, self.capacity[fitting])
        return most

    def _cheapest(self, tried: Points, most: Array) -> dict[int, tuple[Points, Rank]]:
        """The cheapest point that passes of each case that has one.

        Points are looked at from the cheapest on: a queue asks for no fewer copies than the load does, so that one that is dearer at its load than the best
        found need not be.
        """
        load = self._loads(tried)
        if self.open_copies:
            tried.copies = self._enough(load, tried.rows)
        bound, within = self._price(tried, most), np.isfinite(load) & (tried.copies <= MOST_COPIES)
        owners = self.owners[tried.rows]
        found: dict[int, tuple[Points, Rank]] = {}
        order = np.lexsort((-tried.batch, load / tried.copies, bound))
        order = order[within[order]]
        left = [order[owners[order] == owner].tolist() for owner in dict.fromkeys(owners.tolist())]
        while left := [places for places in left if places]:
            now = np.array([i for places in left for i in places[:TOGETHER]])
            at, in_time = self._served(tried.at(now))
            met = self._met(at) if in_time is None else in_time & self._met(at, waiting=False)
            price = self._price(at, most)
            ratio = load[now] / at.copies if self.open_copies else load[now]
            for i in np.flatnonzero(met):
                rank = (0, _rounded(price[i]), _rounded(ratio[i]))
                owner = int(self.owners[at.rows[i]])
                if owner not in found or rank < found[owner][1]:
                    found[owner] = at.at(np.array([i])), rank
            left = [
                [i for i in places[TOGETHER:] if bound[i] < _price_of(found, owners[i])]
                for places in left
            ]
        return found

    def _loads(self, at: Points) -> Array:
        """The load of one copy at the slow end, or of those there are; 0 where requests do not arrive at a rate."""
        if self.load is None:
            return np.zeros(len(at.rows))
        each = self._called(self.load, at, self.worst)[LOAD]
        return np.asarray(np.nan_to_num(each.max(axis=0), nan=np.inf))

    def _enough(self, load: Array, rows: Array) -> Array:
        """As many copies as a load asks for; at a load of 1 the queue grows."""
        return self._whole(np.floor(np.minimum(load, MOST_COPIES)) + 1, rows)

    def _whole(self, copies: Array, rows: Array) -> Array:
        """The next number of copies whose prefill devices are whole groups."""
        return np.asarray(np.ceil(copies / self.copies_of[rows]) * self.copies_of[rows])

    def _price(self, at: Points, most: Array) -> Array:
        """What points are ranked by: the price of the fleet at a rate, of tokens without one, where a batch below the largest has to be clearly cheaper;
        devices, or what they give out, where there is no price."""
        found = {name: x[0] for name, x in self._called(self.quick, at, self.expected).items()}
        name = "fleet_price" if self.rate else self.named("cost_per_mtok")
        if self.first.has(PRICE) and name in found:
            dearer = 1 if self.rate else np.where(at.batch < most[at.rows], WORTH, 1)
            return np.asarray(np.nan_to_num(found[name] * dearer, nan=np.inf))
        if self.rate:
            return np.asarray(found["served_devices"] * at.copies)
        given_out = found.get(self.named("sustained_throughput_per_device"))
        return np.zeros(len(at.rows)) if given_out is None else np.nan_to_num(-given_out)

    def _served(self, at: Points) -> tuple[Points, Array | None]:
        """The same with the least number of copies whose waits are within the targets, and where some number does; None where no wait was looked at."""
        # a batch that was solved for meets the ITL target with every slot taken
        judged = [name for name in ("ttft", *(["itl"] * self.chosen_batch)) if name in self.limits]
        if not judged or self.late is None or not self.open_copies:
            return at, None

        def late(copies: Array) -> Array:
            """Where a wait is too long, for a column of numbers of each point."""
            found = self._waits(Points(at.rows, at.batch, copies), self.worst)
            met = [self._within(found[self.metrics[name]], name, at.rows) for name in judged]
            return np.asarray(~np.logical_and.reduce(met))

        point = np.arange(len(at.rows))
        for more in (FEW, 2.0 ** np.arange(0, math.log2(MOST_COPIES) + 1) - 1):
            tried = at.copies + more[:, None]
            enough = ~late(tried)
            if enough.any(axis=0).all():
                break
        first, some = enough.argmax(axis=0), enough.any(axis=0)
        short = np.where(first > 0, tried[first - 1, point], at.copies - 1)
        gap = np.where(some, tried[first, point] - short - 1, 0)
        copies = short + largest_whole(lambda n: late(short + n), gap) + 1
        copies = np.minimum(np.where(some, copies, at.copies), MOST_COPIES)
        return Points(at.rows, at.batch, self._whole(copies, at.rows)), np.asarray(some)

    def _nearest(self, rows: Array, most: Array) -> dict[int, tuple[Points, Rank]]:
        """Of each case the candidate that misses least at the slow end; where none fits the one that lacks least memory."""
        at = _points(
            rows, self._own_batch()[rows] if self.chosen_batch else np.maximum(most[rows], 1)
        )
        load = self._loads(at)
        if self.open_copies:
            copies = self._enough(load, rows)
            at.copies = np.where(copies > MOST_COPIES, 1, copies)
        judged = self._judged(at)
        each = np.stack(list((judged["slow"] or judged["shares"]).values()))
        worst = np.where(np.isfinite(each), each, -np.inf).max(axis=0)
        unfit = each[0] > 1 + CLOSE
        best: dict[int, tuple[Points, Rank]] = {}
        for i, row in enumerate(rows):
            miss = _rounded(each[0][i] if unfit[i] else worst[i])
            rank = (1 + int(unfit[i]), miss, float(load[i]))
            owner = int(self.owners[row])
            if owner not in best or rank < best[owner][1]:
                best[owner] = at.at(np.array([i])), rank
        return best

    def _made(
        self, best: Mapping[int, tuple[Points, Rank]], largest: Array, listed: bool
    ) -> dict[int, tuple[Rank, Configuration]]:
        """The chosen points as one answer a case."""
        chosen = [point for point, _ in best.values()]
        parts = ("rows", "batch", "copies")
        at = Points(*(np.concatenate([getattr(p, name) for p in chosen]) for name in parts))
        most = np.where([rank[0] == 0 for _, rank in best.values()], at.batch, 0)
        if self.chosen_batch or not self.rate:  # others than the one that it is judged at may pass
            there = Points(at.rows, np.maximum(largest[at.rows], 1), at.copies)
            passing = (largest[at.rows] >= 1) & self._met(there)
            most = np.maximum(most, np.where(passing, largest[at.rows], 0))
        top = Points(at.rows, np.maximum(most, 1), at.copies)
        least = self._least(top) if most.any() else at.batch
        judged = self._judged(at)
        places = {at.batch.tobytes(): judged["values"]}
        for batch in (least, top.batch):
            if batch.tobytes() not in places:
                found = self._all_of(Points(at.rows, batch, at.copies), self.expected)
                places[batch.tobytes()] = {name: each[0] for name, each in found.items()}
        above = _points(at.rows, most + 1)
        beyond = {MEMORY: above.batch > self.capacity[at.rows]}
        beyond |= {name: ~met for name, met in self._unqueued(above).items()}
        made = {}
        for i, (owner, (_, rank)) in enumerate(best.items()):
            candidate = self.candidates[at.rows[i]]
            changes = dict(candidate.columns)
            if not self.chosen_batch and at.batch[i] != 1:
                changes["batch"] = Fraction(int(at.batch[i]))
            if self.open_copies and at.copies[i] > 1:
                changes["dp"] = Fraction(int(at.copies[i]))
            ends = {int(b[i]): _row(places[b.tobytes()], i) for b in (top.batch, least, at.batch)}
            low, high = (_row(judged[name], i) for name in ("low", "high"))
            shares, slow, fast = (
                _row(judged[n], i, known=False) for n in ("shares", "slow", "fast")
            )
            reach = {name: (low[name], high[name]) for name in low.keys() & high.keys()}
            own = candidate.bound_case, tuple(changes.items()), candidate.copies_of
            run = Run(*own, ends[int(at.batch[i])], shares, slow, fast, reach)
            stopped = tuple(name for name, broken in beyond.items() if broken[i])
            window = Window(int(least[i]), int(most[i]), stopped)
            said = None if listed or not most[i] else window
            own_ends = ends if most[i] else {}
            made[owner] = rank, Configuration(run, said, self.chosen_batch, own_ends)
        return made

    def _least(self, at: Points) -> Array:
        """The smallest batch from which on every one up to that of a point passes, waits aside: mostly 1, and then nothing is bisected."""
        ones = np.ones(len(at.rows))
        alone = self._met(Points(at.rows, ones, at.copies), waiting=False)
        if alone.all():
            return ones

        def fails(batch: Array) -> Array:
            return ~self._met(Points(at.rows, batch, at.copies), waiting=False)

        return np.where(alone, 1, largest_whole(fails, at.batch - 1) + 1)


def _price_of(found: Mapping[int, tuple[Points, Rank]], owner: int) -> float:
    return found[owner][1][1] if owner in found else math.inf


def _rounded(value: float) -> float:
    """Equal prices differ in the last digits of their floats."""
    return float(f"{value:.12g}")


def _row(columns: Mapping[str, Array], place: int, known: bool = True) -> dict[str, float]:
    """One row of several columns; with ``known`` without those that have no value there."""
    row = {name: float(column[place]) for name, column in columns.items()}
    return {name: x for name, x in row.items() if not math.isnan(x)} if known else row


def _given(name: str) -> Callable[[BoundCase], tuple[Any, Any]]:
    """What a case has under a name."""
    return lambda bound_case: (bound_case.case.given.get(name), bound_case.case.numbers.get(name))
