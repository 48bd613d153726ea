"""One instance that serves requests step by step. What a step holds is the engine's rule; how long it takes is the theory's.

Requests of one attention group share a batch, a budget and memory; all groups take each step together, as long as the slowest.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from symroof.simulate.simulation import Gaps
from symroof.simulate.step_cost import StepCost, sums
from symroof.simulate.workload import Workload

WORTH_ARRAYS = 12
"""Steps without a prompt from which on their times are worked out together."""
MOST_STEPS = 4096
"""Steps that are worked out together."""
FEWEST_COUNTED = 4
"""At least a part in so many of the requests is counted, or all."""
FULL = 1 + 1e-9


@dataclass(frozen=True)
class Rules:
    """What an engine puts into a step.

    Attributes:
        batch: requests of a group that decode or are prefilled.
        budget: tokens of a step of a group, those that decode included, where prompts are prefilled in chunks.
        together: prompts of a group that are prefilled at once, where that is not in chunks.
        prefill_instances: how many instances prefill for each that decodes, where they are others.
        sharing: how many instances that decode share those.
        share: the share of a group's memory that a request takes at its longest context.
        transfer: seconds that the cache of a prompt takes to the device that decodes.
        front: seconds from a request's arrival until the engine may take it.
    """

    batch: int
    budget: int
    together: int = 1
    prefill_instances: Fraction = Fraction(1)
    sharing: int = 1
    share: Callable[[int], float] = lambda context: 0.0
    transfer: Callable[[int], float] = lambda prompt: 0.0
    front: float = 0.0


class Group:
    """The requests that one attention group holds."""

    def __init__(self, features: int) -> None:
        self.waiting: list[tuple[float, int]] = []
        self.partial: int | None = None
        self.held, self.memory, self.decoding = 0, 0.0, 0
        self.features, self.slopes = [0.0] * features, [0.0] * features
        self.events: list[tuple[int, int, int]] = []


def steps_of(output: Any, gained: float) -> list[int]:
    """The decode steps of each response: all tokens but the first, so many a step in the mean. What is left of a step over goes to the next response.

    >>> steps_of(np.array([1, 5, 6, 6]), 1), steps_of(np.array([1, 5, 6, 6]), 2.0)
    ([0, 4, 5, 5], [0, 2, 2, 3])
    """
    exact = (output - 1) / gained
    whole = np.diff(np.floor(np.cumsum(exact) + 1e-9), prepend=0.0)
    return np.maximum(whole, output > 1).astype(int).tolist()  # type: ignore[no-any-return]


class Server:
    """An instance and its requests; :meth:`run` serves them. Subclasses say what a step holds: here prompts in chunks beside the decode.

    Decoding requests come first; what is left of the budget goes to the prompt that is under way, then to waiting ones in order of
    arrival, each as soon as a place in the batch is free and its longest cache fits.
    """

    def __init__(
        self, cost: StepCost, rules: Rules, work: Workload, prefill: StepCost | None = None
    ) -> None:
        self.cost, self.rules, self.work, self.prefill = cost, rules, work, prefill or cost
        count = len(work)
        self.prompt, self.output = work.prompt.tolist(), work.output.tolist()
        self.cached = work.cached.tolist()
        self.came, self.began, self.first, self.ended = ([math.nan] * count for _ in range(4))
        self.read, self.joined = list(self.cached), [0] * count
        self.own_steps = steps_of(work.output, cost.gained)
        self.groups = [Group(len(cost.features)) for _ in range(cost.groups)]
        self.coming: list[tuple[float, int]] = [
            (time + rules.front, i) for i, time in enumerate(work.arrival.tolist()) if time == time
        ]
        heapq.heapify(self.coming)
        self.clock, self.steps, self.finished = 0.0, 0, 0
        self.gaps = Gaps()
        self.decode_time = self.prefill_time = 0.0
        self.next = work.loop
        self.left, self.counting, self.counted_from, self.counted_to = count, True, 0.0, math.inf

    # --------------------------------------------------------------------------------------------------------- the run

    def run(self, until: int) -> None:
        """Serve until so many requests have ended."""
        until = min(until, len(self.prompt))
        while self.finished < until:
            self.arrive()
            if not self.step() and self.finished < until:
                self.idle()

    def arrive(self) -> None:
        """Those that have come by now join the queue of the group with the fewest requests."""
        while self.coming and self.coming[0][0] <= self.clock:
            time, i = heapq.heappop(self.coming)
            self.came[i] = time - self.rules.front
            self.left -= 1
            if not self.left and self.counted_from:  # the end, where requests get fewer
                self.counting, self.counted_to = False, time
            if self.rules.share(self.prompt[i] + self.output[i] - 1) > FULL:
                self.end(i, time)
                continue
            self.enqueue(time, i)

    def enqueue(self, time: float, i: int) -> None:
        home = min(self.groups, key=lambda group: len(group.waiting) + group.held)
        heapq.heappush(home.waiting, (time, i))

    def idle(self) -> None:
        """Nothing to do: wait for the next request."""
        self.clock = max(self.clock, self.coming[0][0])

    def end(self, i: int, time: float) -> None:
        """The last token of a request; another may come for it."""
        self.ended[i] = time
        self.finished += 1
        many = self.left * FEWEST_COUNTED >= len(self.prompt)
        if self.finished == self.work.warmup and many:  # the beginning, where requests get more
            self.counted_from = time
            self.gaps = Gaps()
        if 0 < self.next < len(self.prompt):
            heapq.heappush(self.coming, (time + self.rules.front, self.next))
            self.next += 1

    # -------------------------------------------------------------------------------------------------------- requests

    def admits(self, group: Group) -> bool:
        """Whether a place and memory are free for the first that waits."""
        if not group.waiting or group.held >= self.rules.batch:
            return False
        i = group.waiting[0][1]
        return group.memory + self.rules.share(self.prompt[i] + self.output[i] - 1) <= FULL

    def admit(self, group: Group) -> int:
        i = heapq.heappop(group.waiting)[1]
        group.held += 1
        group.memory += self.rules.share(self.prompt[i] + self.output[i] - 1)
        self.began[i] = self.clock
        return i

    def release(self, group: Group, i: int) -> None:
        group.held -= 1
        group.memory -= self.rules.share(self.prompt[i] + self.output[i] - 1)
        if not group.held:  # nothing is left but rounding
            group.memory = 0.0
        self.end(i, self.clock)

    def token(self, group: Group, i: int) -> None:
        """A prompt is prefilled: its first token is there, and it decodes from the next step on."""
        self.first[i] = self.clock
        if self.output[i] == 1:
            self.release(group, i)
        else:
            self.join(group, i)

    def join(self, group: Group, i: int) -> None:
        group.decoding += 1
        self.joined[i] = self.steps
        self._stretch(group, i)

    def _context(self, i: int, step: int) -> float:
        done = step - self.joined[i]
        return self.prompt[i] + 1 + (done if self.cost.gained == 1 else done * self.cost.gained)  # type: ignore[no-any-return]

    def _stretch(self, group: Group, i: int) -> None:
        """Add what a request brings to the steps from now on, up to its last or to where that no longer moves evenly."""
        now, context = self.steps, self._context(i, self.steps)
        slopes = self.cost.slope(context)
        for f, (value, slope) in enumerate(zip(self.cost.of_token(context), slopes, strict=True)):
            group.features[f] += value
            group.slopes[f] += slope
        left = self.own_steps[i] - (now - self.joined[i])
        even = self.cost.even_steps(context)
        heapq.heappush(group.events, (now + int(min(left, even)), i, now))

    def _leave(self, group: Group, i: int, began: int) -> None:
        """Take away what a request brought since a step."""
        context = self._context(i, began)
        steps = self.steps - began
        for f, (value, slope) in enumerate(
            zip(self.cost.of_token(context), self.cost.slope(context), strict=True)
        ):
            group.features[f] -= value + slope * steps
            group.slopes[f] -= slope

    def advance(self, steps: int) -> None:
        """So many steps are done: contexts have grown, and some requests have their last token."""
        self.steps += steps
        for group in self.groups:
            if not group.decoding:
                continue
            group.features = [
                value + steps * slope
                for value, slope in zip(group.features, group.slopes, strict=True)
            ]
            while group.events and group.events[0][0] <= self.steps:
                _, i, began = heapq.heappop(group.events)
                self._leave(group, i, began)
                if self.steps - self.joined[i] >= self.own_steps[i]:
                    group.decoding -= 1
                    self.release(group, i)
                else:
                    self._stretch(group, i)
            if not group.decoding:
                group.features = [0.0] * len(group.features)
                group.slopes = [0.0] * len(group.slopes)

    # ----------------------------------------------------------------------------------------------------------- steps

    def step(self) -> bool:
        """One step, or several alike; whether there was anything to do."""
        pieces = [self.pieces(group) for group in self.groups]
        if any(pieces):
            self.mixed(pieces)
            return True
        if any(group.decoding for group in self.groups):
            self.decode()
            return True
        return False

    def pieces(self, group: Group) -> list[tuple[int, int]]:
        """The prompts of a group that a step takes along, each with its tokens."""
        return self.cut(group, self.rules.budget - group.decoding * self.cost.decoded)

    def cut(self, group: Group, left: float, most: float = math.inf) -> list[tuple[int, int]]:
        """Prompts in order, up to so many, of which the last is cut at what is left of a budget."""
        found: list[tuple[int, int]] = []
        while left > 0 and len(found) < most and (group.partial is not None or self.admits(group)):
            i = self.admit(group) if group.partial is None else group.partial
            taken = int(min(left, self.prompt[i] - self.read[i]))
            left -= taken
            found.append((i, taken))
            group.partial = i if self.read[i] + taken < self.prompt[i] else None
        return found

    def mixed(self, pieces: Sequence[Sequence[tuple[int, int]]]) -> None:
        """A step that decodes, and prefills these pieces."""
        seconds = self.seconds([self.of_pieces(some, self.cost) for some in pieces])
        self.clock += seconds
        self.prefill_time += seconds
        decoding = sum(group.decoding for group in self.groups)
        self.gap(seconds, decoding)
        self.advance(1)
        self.read_on(pieces)

    def read_on(self, pieces: Sequence[Sequence[tuple[int, int]]]) -> None:
        """These pieces are prefilled, and with the last of a prompt its first token is there."""
        for group, some in zip(self.groups, pieces, strict=True):
            for i, taken in some:
                self.read[i] += taken
                if self.read[i] >= self.prompt[i]:
                    self.token(group, i)

    def of_pieces(self, pieces: Sequence[tuple[int, int]], cost: StepCost) -> Sequence[float]:
        """The features of some pieces."""
        each = [
            cost.of_piece(taken, self.read[i], float(self.read[i] + taken >= self.prompt[i]))
            for i, taken in pieces
        ]
        return sums(each) if each else cost.nothing

    def seconds(self, prompts: Sequence[Sequence[float]]) -> float:
        """The time of a step with these features of prompts, drafts included."""
        counts = [group.decoding for group in self.groups]
        features = [group.features for group in self.groups]
        drafted = self.cost.draft_time(sum(counts))
        return float(self.cost.slowest(prompts, features, counts)) + drafted

    def prefill_seconds(self, pieces: Sequence[Sequence[tuple[int, int]]]) -> float:
        """The time of a prefill of whole prompts, by group."""
        cost, counts = self.prefill, [len(some) for some in pieces]
        features = [self.of_pieces(some, cost) for some in pieces]
        none = [cost.nothing] * len(pieces)
        return float(cost.slowest(features, none, [0] * len(pieces), counts))

    def interrupted(self) -> float:
        """When something may come that changes a step without prompts."""
        if not self.coming or all(group.waiting for group in self.groups):
            return math.inf
        return float(self.coming[0][0])

    def decode(self) -> None:
        """Steps without prompts, until a request ends or another may be admitted."""
        steps = min(
            MOST_STEPS, *(group.events[0][0] - self.steps for group in self.groups if group.events)
        )
        decoding = sum(group.decoding for group in self.groups)
        if steps < WORTH_ARRAYS:
            self.gap(self.decode_once(), decoding)
            self.advance(1)
            return
        limit, nothing = self.interrupted(), [self.cost.nothing] * len(self.groups)
        index = np.arange(steps, dtype=float)
        features = [
            [
                value + slope * index if slope else value
                for value, slope in zip(g.features, g.slopes, strict=True)
            ]
            for g in self.groups
        ]
        times = self.cost.times(
            nothing, features, [group.decoding for group in self.groups], steps
        ) + self.cost.draft_time(decoding)
        ends = self.clock + np.cumsum(times)
        done = steps if limit == math.inf else min(steps, int(np.searchsorted(ends, limit)) + 1)
        if self.counting:
            self.gaps.add(times[:done] / self.cost.gained, decoding * self.cost.gained)
        self.decode_time += float(ends[done - 1]) - self.clock
        self.clock = float(ends[done - 1])
        self.advance(done)

    def decode_once(self) -> float:
        """One step without prompts, and its time."""
        seconds = self.seconds([self.cost.nothing] * len(self.groups))
        self.clock += seconds
        self.decode_time += seconds
        return seconds

    def gap(self, seconds: float, count: int) -> None:
        """Note the time between tokens of some requests; those of a verification share it."""
        if self.counting and count:
            self.gaps.add(np.array([seconds / self.cost.gained]), count * self.cost.gained)
