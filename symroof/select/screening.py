"""The best candidate of each case: the largest batch and the copies that memory and the targets allow.

Latencies rise with the batch, and a queue shortens with every copy: so each answer is a bisection over all candidates at once.
"""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from symroof.analysis.verdict import MEMORY
from symroof.select.candidates import finer
from symroof.select.columns import AT_THE_RATE, LARGEST, Group, Points, groups_of
from symroof.select.configuration import CLOSE, SLOW, Window
from symroof.select.purchase import Purchase
from symroof.symbolic.evaluation import Array
from symroof.symbolic.searches import largest_whole

Rank = tuple[int, float, float]
"""The smaller the better among candidates of one case: what passes first, by price, without prefill apart, by load; of the others the nearest miss."""
Place = tuple[int, int]
"""A case and one of its layouts, or where nothing passes one of its groups."""
MOST_COPIES = 1 << 16
FEW = np.array([0.0, 1.0, 2.0, 4.0])
"""More copies that are tried first: as many as the load asks for mostly do."""
TOGETHER = 512
"""Numbers whose queues are looked at at once: NumPy takes little longer for them than for one."""
BATCHES = np.array([1, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
"""Shares of the largest batch that are tried: a smaller one leaves more of a step to prompts."""
BEYOND = np.array([1.25, 2, 4])
"""At a rate larger ones as well: not all slots are taken then, and the ITL of full ones decides nothing."""
NEAR = 0.02
"""Without an arrival rate tokens may cost so much more than the cheapest of a layout where the first one comes sooner; TTFTs that differ by less are equal."""
FINER_LAYOUTS = 3
"""Layouts of a case of which chunks and numbers of prefill instances between are tried."""


class Answer(NamedTuple):
    """A candidate of a group at its batch and copies."""

    rank: Rank
    group: Group
    point: Points


class Tries(NamedTuple):
    """Points that may pass, the cheapest first, with the copies that their load asks for.

    A queue asks for no fewer copies: so the price is a lower bound of that at which a point passes.
    """

    group: Group
    points: Points
    load: Array
    bound: Array


def screen(
    cases: Sequence[Sequence[Purchase]],
    listed: bool = False,
    intervals: bool = True,
    between: bool = True,
    below: Mapping[int, float] = MappingProxyType({}),
) -> list[Purchase]:
    """The best of the candidates of each case, at its own batch where one is chosen; where a size is not known the case as it is.

    ``listed``: the study lists batches, so that no window of them is said. Without ``intervals`` measured efficiencies are as expected; without ``between``
    chunks and numbers of prefill instances are those of the candidates alone. Of a case with a price in ``below`` only what costs no more is looked for.

    >>> from symroof.analysis.study import Study
    >>> study = Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, chunk=2048, targets={"itl": "20 ms"})
    >>> [configuration.window for configuration in screen([[Purchase(case)] for case in study.cases])]
    [Window(most=16, stopped_by=('itl',)), None]
    """
    every = [(one, i) for i, candidates in enumerate(cases) for one in candidates]
    groups, answers = list(groups_of(every, intervals)), dict[Place, Answer]()

    def add(found: Mapping[Place, Answer]) -> None:
        for place, answer in found.items():
            old = answers.get(place)
            if old is None or not answer.group.rate or answer.rank <= old.rank:
                answers[place] = answer

    def ranked() -> dict[int, list[Answer]]:
        by_case: dict[int, list[Answer]] = {}
        for place, answer in sorted(answers.items(), key=lambda one: one[1].rank):
            by_case.setdefault(place[0], []).append(answer)
        return by_case

    def most(near: Callable[[float], float]) -> dict[int, float]:
        return {**below, **{i: near(best.rank[1]) for i, (best, *_) in ranked().items()}}

    for tries in sorted(_tried(groups, False), key=lambda one: one.bound[0]):
        add(_cheapest(tries, most(_nearby)))
    failing = {*range(len(cases))} - ranked().keys() - below.keys()
    for group in groups:
        add(_nearest(group, failing))
    found = ranked().items() if between else ()
    others = [(one, i) for i, found_ones in found for one in _between(found_ones)]
    for tries in _tried(groups_of(others, intervals), True):
        # without a rate the soonest of all chunks, which may cost more than that of the first ones
        add(_cheapest(tries, most(float) if tries.group.rate else below))
    best: dict[Group, dict[int, Answer]] = {}
    for i, (answer, *_) in ranked().items():
        best.setdefault(answer.group, {})[i] = answer
    made = {i: one for group, ones in best.items() for i, one in _made(group, ones, listed)}
    return [made.get(i) or Purchase(candidates[0].own) for i, candidates in enumerate(cases)]


def _nearby(price: float) -> float:
    """Up to which price another layout may be the cheapest with chunks or numbers of prefill instances between."""
    return max(price, price * 1.1)


def _between(ranked: Sequence[Answer]) -> list[Purchase]:
    """The best layouts of a case with chunks and numbers of prefill instances between those that are tried."""
    last = ranked[:FINER_LAYOUTS][-1].rank[:2]  # and what costs the same
    return [
        each
        for (missed, price, _), group, point in ranked
        if (missed, price) <= last and price <= _nearby(ranked[0].rank[1])
        if not (missed and group.apart)
        for each in finer(group.candidates[point.rows[0]], int(point.copies[0]), group.open_copies)
    ]


def _tried(groups: Iterable[Group], beyond: bool) -> Iterator[Tries]:
    """What is tried of each group: the batch that was chosen, or shares of the largest that passes without a queue, within memory."""
    for group in groups:
        if group.chosen_batch:
            rows = np.flatnonzero(group.own_batch <= group.capacity)
            batch = group.own_batch[rows]
        else:
            larger = group.rate and (beyond or group.apart or not group.open_copies)
            shares = np.concatenate([BEYOND, BATCHES]) if larger else BATCHES
            rows = np.flatnonzero(group.largest >= 1)[:, None]
            batch = np.ceil(group.largest[rows] * shares)
            batch = np.column_stack([batch, group.as_given[rows]])
            batch = group.shared_out(rows, np.clip(batch, 1, group.capacity[rows]))
            rows, batch = np.broadcast_to(rows, batch.shape).ravel(), batch.ravel()
        if not len(rows):
            continue
        points = Points(rows, batch)
        load = group.loads(points)
        if group.open_copies:
            points.copies = _enough(group, load, rows)
        bound, within = group.price(points), np.isfinite(load) & (points.copies <= MOST_COPIES)
        if not group.rate and bound.any():
            within &= _soonest(group, points, bound)
        order = np.lexsort((-batch, load / points.copies, batch > group.largest[rows], bound))
        order = order[within[order]]
        if len(order):
            yield Tries(group, points.at(order), load[order], bound[order])


def _cheapest(tries: Tries, most: Mapping[int, float]) -> dict[Place, Answer]:
    """The cheapest point that passes of each layout of each case; those that are much dearer than the cheapest of their case, or than ``most``, are not looked at."""
    group, load, bound = tries.group, tries.load, tries.bound
    places = [group.places[row] for row in tries.points.rows]
    found, limit = dict[Place, Answer](), dict(most)

    def may_win(i: int) -> bool:
        best = found.get(places[i])
        near = bound[i] <= limit.get(places[i][0], math.inf)
        return bool(near and (best is None or bound[i] < best.rank[1]))

    by_place: dict[Place, list[int]] = {place: [] for place in group.places}
    for i, place in enumerate(places):
        by_place[place].append(i)
    left = [*by_place.values()]
    while left := [open_ for ones in left if (open_ := list(filter(may_win, ones)))]:
        share = max(1, TOGETHER // (len(left) * len(group.worst) * len(FEW)))
        now = np.array([i for ones in left for i in ones[:share]])
        at, in_time = _served(group, tries.points.at(now))
        met = group.met(at) if in_time is None else in_time & group.met(at, waiting=False)
        price = group.price(at)
        ratio = load[now] / at.copies if group.open_copies else load[now]
        # at the same price no more slots than keep the ITL when all are taken
        ratio = ratio + LARGEST * (at.batch > group.largest[at.rows])
        for i in np.flatnonzero(met).tolist():
            rank, place = (0, _rounded(price[i]), _rounded(ratio[i])), places[now[i]]
            if place not in found or rank < found[place].rank:
                found[place] = Answer(rank, group, at.at(np.array([i])))
                near = _nearby(rank[1]) if group.rate else rank[1]
                limit[place[0]] = min(limit.get(place[0], math.inf), near)
        left = [ones[share:] for ones in left]
    if group.apart:  # of which nothing was measured: of its layouts the one with most room
        for place, (rank, _, at) in found.items():
            found[place] = Answer((*rank[:2], 1 + float(group.strain(at)[0])), group, at)
    return found


def _enough(group: Group, load: Array, rows: Array) -> Array:
    """As many copies as a load asks for; at a load of 1 the queue grows."""
    return _whole(group, np.floor(np.minimum(load, MOST_COPIES)) + 1, rows)


def _whole(group: Group, copies: Array, rows: Array) -> Array:
    """The next number of copies whose prefill devices are whole groups."""
    return np.asarray(np.ceil(copies / group.copies_of[rows]) * group.copies_of[rows])


def _soonest(group: Group, tried: Points, price: Array) -> Array:
    """The chunks and the batches of each layout whose first token comes soonest, or hardly later, of those that pass and cost hardly more than its cheapest; all of
    these where no TTFT is known."""
    found = group.called(group.quick, tried, group.expected)
    known = found.get(group.named("loaded_ttft"), np.zeros((1, len(tried.rows))))
    ttft = np.nan_to_num(known[0], nan=np.inf)
    layout = np.unique([i for _, i in group.places], return_inverse=True)[1][tried.rows]
    price = np.where(group.met(tried), price, np.inf)
    lowest, soonest = np.full((2, layout.max() + 1), np.inf)
    np.minimum.at(lowest, layout, price)
    ttft[price > (lowest + NEAR * abs(lowest))[layout]] = np.inf
    np.minimum.at(soonest, layout, ttft)
    return np.asarray(ttft <= soonest[layout] * (1 + NEAR))


def _served(group: Group, at: Points) -> tuple[Points, Array | None]:
    """The same with the least number of copies whose waits are within the targets, and where some number does; None where no wait was looked at."""
    if group.limits.keys().isdisjoint(("ttft", "itl")) or not group.open_copies:
        return at, None

    def late(copies: Array) -> Array:
        """Where a wait is too long, for a column of numbers of each point."""
        found = group.called(AT_THE_RATE, Points(at.rows, at.batch, copies), group.worst)
        waits = (x.max(axis=0) for x in group.shares(found, at.rows).values())
        return np.asarray(np.maximum.reduce([*waits]) > 1 + CLOSE)

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
    return Points(at.rows, at.batch, _whole(group, copies, at.rows)), np.asarray(some)


def _nearest(group: Group, owners: Collection[int]) -> dict[Place, Answer]:
    """Of each of some cases the candidate that misses its limits by the least factor at the slow end; where none fits the one that lacks least memory, and then misses least."""
    rows = np.flatnonzero([i in owners for i, _ in group.places])
    if not len(rows):
        return {}
    batch = group.own_batch
    if not group.chosen_batch:
        most = group.largest
        # at a rate more slots shorten the queue: as many as meet what some batch does
        for unmet in (("ttft",), ("ttft", "itl")) if group.rate else ():
            most = np.where(most >= 1, most, group.largest_but(*unmet))
        batch = np.maximum(most, 1)
    at = Points(rows, batch[rows])
    load = group.loads(at)
    if group.open_copies:
        copies = _enough(group, load, rows)
        at.copies = np.where(copies > MOST_COPIES, 1, copies)
    judged = group.judged(at)
    each = np.stack([share[SLOW] for share in judged.shares.values()])
    missed = np.where(np.isfinite(each), np.maximum(each, 1), 1).prod(axis=0)
    unfit = each[0] > 1 + CLOSE
    best: dict[Place, Answer] = {}
    for i, row in enumerate(rows):
        miss = _rounded(each[0][i] if unfit[i] else missed[i])
        rank = (1 + int(unfit[i]), miss, _rounded(missed[i]) if unfit[i] else float(load[i]))
        place = group.places[row][0], id(group)
        if place not in best or rank < best[place].rank:
            best[place] = Answer(rank, group, at.at(np.array([i])))
    return best


def _made(group: Group, best: Mapping[int, Answer], listed: bool) -> Iterator[tuple[int, Purchase]]:
    """The chosen points of some cases as configurations; no window of batches where the study lists them."""
    chosen, largest = [vars(one.point).values() for one in best.values()], group.largest
    at = Points(*map(np.concatenate, zip(*chosen, strict=True)))
    most = np.where([one.rank[0] == 0 for one in best.values()], at.batch, 0)
    if group.chosen_batch or not group.rate:  # others than the one that it is judged at may pass
        there = Points(at.rows, np.maximum(largest[at.rows], 1), at.copies)
        passing = (largest[at.rows] >= 1) & group.met(there)
        most = np.maximum(most, np.where(passing, largest[at.rows], 0))
    judged = group.judged(at)
    above = Points(at.rows, most + group.ranks[at.rows])
    beyond = {MEMORY: above.batch > group.capacity[at.rows]}
    beyond |= {name: ~met for name, met in group.unqueued(above).items()}
    for i, owner in enumerate(best):
        candidate = group.candidates[at.rows[i]]
        changes = dict(candidate.changes)
        usual = 1 if "batch" not in candidate.own.given else None
        if not group.chosen_batch and at.batch[i] != usual:
            changes["batch"] = Fraction(int(at.batch[i]))
        if group.open_copies and at.copies[i] > 1:
            changes["dp"] = Fraction(int(at.copies[i]))
        stopped = tuple(name for name, broken in beyond.items() if broken[i])
        window = Window(int(most[i]), stopped) if most[i] and not listed else None
        screened = judged.row(i)
        yield owner, replace(candidate, changes=changes, window=window, screened=screened)


def _rounded(value: float) -> float:
    """Equal prices differ in the last digits of their floats."""
    return float(f"{value:.12g}")
