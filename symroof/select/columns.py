"""Candidates as columns: what is asked of all of them, at some batches and copies, in one call of array functions.

Candidates that share a theory and differ in numbers share the functions: those of their device, their chunk, their prefill devices. Expected, slow and
fast are columns of the same call.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from symroof.analysis.compile import Output, along
from symroof.analysis.verdict import (
    AT_A_RATE,
    ISOLATED,
    ISOLATED_METRICS,
    LOAD,
    MEMORY,
    TARGET_METRICS,
    isolated,
    metrics_of,
    queues,
    under_load,
)
from symroof.cases.bind_cases import has_mix
from symroof.cases.values import EFFICIENCIES, slow_first
from symroof.errors import NoValue
from symroof.select.configuration import CLOSE, PRICE, PRICED, Judged
from symroof.select.purchase import Purchase
from symroof.symbolic.evaluation import Array
from symroof.symbolic.expressions import is_number, names
from symroof.symbolic.searches import largest_whole
from symroof.theory.layout import DEGREES
from symroof.theory.symbols import GROUPS
from symroof.theory.theory_files import listed

Member = tuple[Purchase, int]
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
SCREENED = (
    *VALUES,
    *(name for names in ISOLATED.values() for name in names),
    *(name for names in WITHOUT_QUEUE for name in names),
    *AT_A_RATE.values(),
    *TARGET_METRICS.values(),
    LOAD,
    ROOM,
)
"""Whatever may be asked of a candidate."""
COMPUTE = "mfu"
"""The efficiency of compute, whose measured range is apart from that of all others."""
MOST_RANGES = 6

LARGEST = 1 << 30


@dataclass
class Points:
    """Candidates of a group at some batches and copies: ``rows`` are their places; the three broadcast."""

    rows: Array
    batch: Array
    copies: Array = field(default_factory=lambda: np.ones(1))

    def at(self, places: Array) -> "Points":
        each = (np.broadcast_to(x, self.rows.shape)[places] for x in vars(self).values())
        return Points(*each)


class Group:
    """Candidates whose functions are the same, each with the number of the case that it is of; ``used`` are the names that these depend on."""

    def __init__(self, members: Sequence[Member], used: frozenset[str], intervals: bool) -> None:
        self.candidates = candidates = [candidate for candidate, _ in members]
        self.cases = [candidate.own for candidate in candidates]
        self.places = [(owner, id(candidate.own)) for candidate, owner in members]
        self.first = first = self.cases[0].case
        self.loaded, self.rate = under_load(first), queues(first)
        self.chosen_batch = self.cases[0].chosen("batch")
        self.open_copies = self.rate and "dp" not in first.given
        self.copies_of = np.array([candidate.copies_of for candidate in candidates])
        self.as_given = np.array([float(x.as_given.get("batch", 1)) for x in candidates])
        self.own_batch = np.array([float(case.case.value("batch")) for case in self.cases])
        self.ranks = np.array([int(case.case.value("attention_dp")) for case in self.cases])
        ranged = {} if self.cases[0].changed_case else self.cases[0].box
        self.box = frozenset(ranged.keys() - (() if intervals else self.cases[0].measured_box))
        named = dict.fromkeys((*first.given, *first.numbers, *candidates[0].changes))
        moved = self.box.union(*(candidate.changes for candidate in candidates))
        own = [(case.case.given, case.case.numbers) for case in self.cases]
        known = SHARED & named.keys()
        several = {name for name in known if len({(a.get(name), b.get(name)) for a, b in own}) > 1}
        self.differing = [name for name in named if name in used & (several | moved)]
        self.apart = self.cases[0].assumptions["scheduling"] == "disaggregated"
        self._add_corners()
        aims = [n for n in self.cases[0].targets if first.has(PRICE) or n not in PRICED]
        self.limits = {n: np.array([float(case.targets[n]) for case in self.cases]) for n in aims}
        self.metrics = {
            name: metrics_of(name, first)[0] if self.loaded else self.named(TARGET_METRICS[name])
            for name in self.limits
        }
        self._add_functions()
        rows = np.arange(len(candidates))
        room = self.called([ROOM], Points(rows, np.ones(len(rows))), self.worst)[ROOM]
        self.capacity = np.minimum(np.nan_to_num(room.min(axis=0), nan=0), LARGEST)

    def _add_corners(self) -> None:
        """The inputs as expected, at every slow corner of the ranges, and at every fast one: corner, input, candidate; without ranges as expected alone.

        Where prefills have devices of their own, fast ones keep more requests decoding: at a slow corner those of compute are slow or fast.
        """
        self.expected = self.worst = self.corners = self._numbers([{}])
        if not self.box:
            return
        given = sorted(self.box - EFFICIENCIES)[:MOST_RANGES]
        places = itertools.product((0, 1), repeat=len(given))
        ends = [dict(zip(given, place, strict=True)) for place in places]
        slow, fast = (dict.fromkeys(self.box, end) for end in (0, 1))
        compute = [{COMPUTE: 0}, {COMPUTE: 1}] if self.apart and COMPUTE in self.box else [{}]
        self.worst = self._numbers([slow | own | other for own in ends for other in compute])
        best = self._numbers([fast | own for own in ends])
        self.corners = np.concatenate([self.expected, self.worst, best])

    def _numbers(self, corners: Sequence[Mapping[str, int]]) -> Array:
        """The inputs at some corners: those that a corner names at an end of their range, 0 or 1, of efficiencies the slow one first; others as expected."""

        def number(candidate: Purchase, name: str, corner: Mapping[str, int]) -> float:
            own, case = candidate.own, candidate.own.case
            if name in candidate.changes:
                return float(candidate.changes[name])
            if name in corner:
                ends = slow_first(own.box[name], name) if name in EFFICIENCIES else own.box[name]
                return float(ends[corner[name]])
            # what depends on a price that is not known is not known
            return float(case.value(name)) if name != PRICE or case.has(PRICE) else math.nan

        columns = [
            [[number(one, name, corner) for one in self.candidates] for name in self.differing]
            for corner in corners
        ]
        shape = len(corners), len(self.differing), len(self.candidates)
        return np.array(columns, dtype=float).reshape(shape)

    def named(self, name: str) -> str:
        """A quantity of one request alone in place of one under load."""
        return name if self.loaded else isolated(name, self.first)

    def _add_functions(self) -> None:
        """What rises with the batch, what needs no search for a steady state, and what does."""
        first, priced = self.first, self.first.has(PRICE)
        compared = [*map(self.named, VALUES), *self.metrics.values()]
        compared += AT_A_RATE.values() if self.rate else ()
        plain = [
            name
            for name in compared
            if not (self.rate and name in AT_THE_RATE)
            and (priced or PRICE not in first.dependencies(name))
            and (self.loaded or first.has_value(name))
        ]
        rising = tuple(self.metrics[name] for name in ISOLATED_METRICS if name in self.metrics)
        if self.rate:
            rising = WITHOUT_QUEUE[has_mix(self.cases[0].given)]
        self.rising = rising
        self.quick = tuple(dict.fromkeys((*rising, *plain, *([LOAD] if self.rate else []))))
        self.every = (*self.quick, *(AT_THE_RATE if self.rate else ()))
        free = ["dp"] if self.open_copies else []
        self.open = replace(self.cases[0].case.without_values(free), same_layout=True)
        there = self.open.changed(self._inputs(Points(np.zeros(1, int), np.ones(1)), self.expected))
        with np.errstate(all="ignore"):
            for name in (*self.quick, ROOM):
                there.value(name)

    def _inputs(self, at: Points, corners: Array) -> dict[str, Array]:
        """The inputs at some points, one after another, at every corner."""
        named = {"batch": at.batch, "dp": at.copies} if self.open_copies else {"batch": at.batch}
        free = {name: np.tile(x.astype(float), len(corners)) for name, x in named.items()}
        moved = {name: corners[:, k, at.rows].ravel() for k, name in enumerate(self.differing)}
        return free | moved

    def called(self, names: Iterable[str], at: Points, corners: Array) -> Found:
        """Quantities at some points, at every corner."""
        shape = np.broadcast_shapes(at.rows.shape, at.batch.shape, at.copies.shape)
        flat = Points(*(np.broadcast_to(x, shape).ravel() for x in vars(at).values()))
        outputs = [Output(self.first.theory.symbol(name)) for name in names]
        found = along(self.open, self._inputs(flat, corners), outputs)
        return {
            output.name: values.reshape(len(corners), *shape)
            for output, values in zip(outputs, found, strict=True)
        }

    def shared_out(self, rows: Array, batch: Array) -> Array:
        """The next smaller batches that groups of attention share evenly, as a command line says the requests of one."""
        ranks = self.ranks[rows]
        return np.asarray(np.where(batch > ranks, batch - batch % ranks, batch))

    def shares(self, found: Found, rows: Array) -> Found:
        """How much of its limit each target takes up whose metric was found; without a steady state the wait is endless."""
        known = {n: found[metric] for n, metric in self.metrics.items() if metric in found}
        limits = self.limits
        return {n: np.nan_to_num(x, nan=np.inf) / limits[n][rows] for n, x in known.items()}

    @cached_property
    def largest(self) -> Array:
        """The largest batch of each candidate that fits and meets what rises with it; 0 where none does."""
        return self.largest_but()

    def largest_but(self, *unmet: str) -> Array:
        """The same without some targets."""
        most, fitting = np.zeros(len(self.cases)), np.flatnonzero(self.capacity >= 1)

        def within(batch: Array) -> Array:
            found = self.unqueued(Points(fitting, batch))
            met = (each for name, each in found.items() if name not in unmet)
            return np.asarray(np.logical_and.reduce([np.ones(batch.shape, bool), *met]))

        if len(fitting):
            most[fitting] = largest_whole(within, self.capacity[fitting])
        return self.shared_out(np.arange(len(most)), most)

    def unqueued(self, at: Points) -> Found:
        """Whether what rises with the batch is within its limits, by target, at every slow corner: no copies needed, no queue counted."""
        if not self.rising:
            return {}
        found = self.called(self.rising, at, self.worst)
        if self.rate:
            itl, reading, outside = found.values()
            times = {"ttft": outside + reading, "itl": itl}
            found = {self.metrics[name]: x for name, x in times.items() if name in self.limits}
        shares = self.shares(found, at.rows).items()
        return {name: np.asarray((x <= 1 + CLOSE).all(axis=0)) for name, x in shares}

    def met(self, at: Points, waiting: bool = True) -> Array:
        """Whether there is a steady state and every target is met at every slow corner; without ``waiting`` those aside that hold a wait."""
        return np.asarray(self.strain(at, waiting) <= 1 + CLOSE)

    def strain(self, at: Points, waiting: bool = True) -> Array:
        """The largest share of its limit that a target takes up at a slow corner; infinite where there is no steady state."""
        found = self.called(self.every if waiting else self.quick, at, self.worst)
        ranked = ("fleet_price", "cost") if self.rate else ()  # the cheapest decides these
        each = self.shares(found, at.rows).items()
        shares = [x.max(axis=0) for name, x in each if name not in ranked]
        most = np.maximum.reduce([np.zeros(at.batch.shape), *shares])
        steady = (found[LOAD] < 1).all(axis=0) if self.rate else np.True_
        return np.where(steady, most, np.inf)

    def judged(self, at: Points) -> Judged:
        """Quantities and shares of the limits as expected, and how far they reach over the ranges."""
        found = self.called(self.every, at, self.corners)
        shares = {MEMORY: found["memory_bytes_per_device"] / found["usable_memory_per_device"]}
        shares |= {LOAD: found[LOAD]} if self.rate else {}
        shares |= self.shares(found, at.rows)
        shares = {n: np.stack([x[0], x.max(axis=0), x.min(axis=0)]) for n, x in shares.items()}
        values = {n: np.stack([x[0], x.min(axis=0), x.max(axis=0)]) for n, x in found.items()}
        return Judged(values, shares)

    def loads(self, at: Points) -> Array:
        """The load of one copy at the slow end, or of those there are; 0 where requests do not arrive at a rate."""
        if not self.rate:
            return np.zeros(len(at.rows))
        each = self.called([LOAD], at, self.worst)[LOAD]
        return np.asarray(np.nan_to_num(each.max(axis=0), nan=np.inf))

    def price(self, at: Points) -> Array:
        """What points are ranked by: the price of the fleet at a rate, of tokens without one; devices, or what they give out, where there is no price."""
        found = {name: x[0] for name, x in self.called(self.quick, at, self.expected).items()}
        name = "fleet_price" if self.rate else self.named("cost_per_mtok")
        if self.first.has(PRICE) and name in found:
            return np.asarray(np.nan_to_num(found[name], nan=np.inf))
        if self.rate:
            return np.asarray(found["served_devices"] * at.copies)
        given_out = found.get(self.named("sustained_throughput_per_device"))
        return np.zeros(len(at.rows)) if given_out is None else np.nan_to_num(-given_out)


def groups_of(every: Sequence[Member], intervals: bool) -> Iterator[Group]:
    """Purchases whose functions are the same, each with the case that it is of."""
    by_shape, shapes = dict[Any, list[Member]](), dict[int, Any]()
    for candidate, owner in every:
        key = id(candidate.own)  # with the same columns: one combination in one layout
        if key not in shapes:
            shapes[key] = _shape(candidate)
        by_shape.setdefault(shapes[key], []).append((candidate, owner))
    for (*_, used), members in by_shape.items():
        members.sort(key=lambda one: not one[0].own.case.has(PRICE))
        first = members[0][0]  # whose formulas are those of all
        if not first.own.case.changed(first.changes).has_value("fits"):
            continue
        try:
            yield Group(members, used, intervals)
        except NoValue:
            continue  # a quantity has none there: each is judged on its own


def _shape(candidate: Purchase) -> tuple[Any, ...]:
    """What shapes the functions of a candidate: its theory, its formulas, the numbers that are no columns."""
    case, columns = candidate.own.case, candidate.changes.keys()
    box = frozenset() if candidate.own.changed_case else frozenset(candidate.own.box)
    given = {name: tree for name, tree in sorted(case.given.items()) if name != PRICE}
    moving = SHARED | {"batch"} | box
    free = columns | {name for name in moving & given.keys() if is_number(given[name])}
    formulas = {each for name in given.keys() - columns for each in names(given[name])}
    used = frozenset().union(*map(case.theory.dependencies, (*SCREENED, *formulas)))
    fixed = tuple((n, None if n in free else tree) for n, tree in given.items() if n in used)
    moved = tuple((n, None if n in moving else value) for n, value in case.numbers.items())
    return id(case.theory), fixed, moved, box, tuple(columns), not case.has(PRICE), used
