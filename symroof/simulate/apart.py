"""Servers whose prompts are not in the steps of the decode: before these, or on other devices."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any

from symroof.simulate.server import Group, Server

MOST_SHARED = 64
"""So many instances that prefill are simulated at most if a smaller pool does: waits for one of more are next to nothing."""


class Paused(Server):
    """Requests come to the decode with their first token; those that decode may have paused since their last one."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.fresh: list[float] = []
        self.last = 0.0

    def join(self, group: Group, i: int) -> None:
        self.fresh.append(self.first[i])
        super().join(group, i)

    def decode(self) -> None:
        if not self.fresh:
            super().decode()
        else:
            decoding = sum(group.decoding for group in self.groups)
            self.decode_once()
            self.gap(self.clock - self.last, decoding - len(self.fresh))
            for first in self.fresh:
                self.gap(self.clock - first, 1)
            self.fresh = []
            self.advance(1)
        self.last = self.clock


class Exclusive(Paused):
    """Prompts come first: as long as one waits that may be admitted the decode pauses. They are prefilled whole."""

    def pieces(self, group: Group) -> list[tuple[int, int]]:
        return self.cut(group, math.inf, self.rules.together)

    def mixed(self, pieces: Sequence[Sequence[tuple[int, int]]]) -> None:
        """A step that only prefills."""
        seconds = self.prefill_seconds(pieces)
        self.clock += seconds
        self.prefill_time += seconds
        self.read_on(pieces)


class Disaggregated(Paused):
    """Prompts are prefilled by other instances, in order, and their caches sent; then they wait here for a place in the batch."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        own = self.rules.prefill_instances
        several = 1 if parts[2].loop else min(self.rules.sharing, MOST_SHARED // own)
        # Where so many that decode share them, a prompt takes one for so many times as long: the queue of all
        # their prompts in slow motion, in which waits are too long. Users who begin together do wait for all.
        self.turns = max(several // own.denominator, 1) * own.denominator
        self.free = [0.0] * int(own * self.turns)
        self.slowed = 1 if parts[2].loop else self.turns
        self.queue: list[tuple[float, int]] = []
        self.ready: list[tuple[float, int]] = []

    def enqueue(self, time: float, i: int) -> None:
        heapq.heappush(self.queue, (time, i))

    def arrive(self) -> None:
        super().arrive()
        while self.queue:
            if self.begins() > self.clock:
                break
            start = max(self.free[0], self.queue[0][0])
            came: dict[int, float] = {}
            most = self.rules.together * self.prefill.groups
            while self.queue and len(came) < most and self.queue[0][0] <= start:
                time, i = heapq.heappop(self.queue)
                came[i] = time
            of_group = [[*came][g :: self.prefill.groups] for g in range(self.prefill.groups)]
            whole = [[(i, self.prompt[i] - self.read[i]) for i in own] for own in of_group]
            seconds = self.prefill_seconds(whole)
            heapq.heapreplace(self.free, start + self.turns * seconds)
            self.prefill_time += self.turns * seconds / len(self.free)
            for i, time in came.items():
                self.began[i] = began = time + (start - time) / self.slowed
                sent = began + seconds + self.rules.transfer(self.prompt[i])
                heapq.heappush(self.ready, (sent, i))
        while self.ready and self.ready[0][0] <= self.clock:
            time, i = heapq.heappop(self.ready)
            self.first[i] = time
            if self.output[i] == 1:
                self.end(i, time)
            else:
                super().enqueue(time, i)
        for group in self.groups:
            while self.admits(group):
                began = self.began[group.waiting[0][1]]
                i = self.admit(group)
                self.began[i] = began
                self.join(group, i)

    def pieces(self, group: Group) -> list[tuple[int, int]]:
        return []

    def idle(self) -> None:
        self.clock = max(self.clock, self.interrupted())

    def interrupted(self) -> float:
        times = [self.coming[0][0]] if self.coming else []
        times += [self.ready[0][0]] if self.ready else []
        times += [self.begins()] if self.queue else []
        return min(times, default=math.inf)

    def begins(self) -> float:
        """When the first prompt that waits is prefilled."""
        came = self.queue[0][0]
        return came + max(self.free[0] - came, 0.0) / self.slowed
