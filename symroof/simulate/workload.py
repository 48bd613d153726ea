"""The requests of a simulation: when each comes, how long it is, which of its tokens are cached, and whose end it waits for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symroof.errors import InputError, Problem, nearest

OPEN = ("poisson", "bursty", "uniform")
"""Kinds of arrivals that come at a rate, whatever the server does: independent of each other, with gaps of a gamma distribution, evenly spaced."""
ARRIVALS = (*OPEN, "closed-loop", "burst")
"""And of users: met in the middle of their work, each sends the next request when the last has ended; or all at once, to a server that is idle."""
MOST_REQUESTS, LONGEST = 200_000, 10_000_000
"""Requests of a simulation, tokens of one."""
WARMUP = 0.1
"""The share of drawn requests that end first and are not counted; of a burst all are."""

Numbers = Any
"""A NumPy array of numbers."""


@dataclass(frozen=True)
class Length:
    """A distribution of token counts.

    Attributes:
        kind: ``fixed``, ``uniform``, ``lognormal`` or ``exponential``.
        numbers: ``(n,)``; ``(low, high)``; ``(mean, coefficient of variation)``; ``(mean,)``.

    >>> Length.read("lognormal:512,1.2"), Length.read("2048")
    (Length(kind='lognormal', numbers=(512.0, 1.2)), Length(kind='fixed', numbers=(2048.0,)))
    """

    kind: str
    numbers: tuple[float, ...]

    @classmethod
    def read(cls, text: str) -> Length:
        """A distribution as it is written.

        Raises:
            ValueError: it is none.
        """
        kind, mark, rest = text.strip().partition(":")
        if not mark:
            kind, rest = "fixed", kind
        kind = kind.strip().lower()
        if kind not in FORMS:
            raise ValueError(f"no distribution {kind[:40]!r}; {nearest(kind, [*FORMS])}")
        numbers = [_number(part) for part in re.split(r"\.\.|,", rest)]
        if len(numbers) != FORMS[kind][0]:
            raise ValueError(f"is written {FORMS[kind][1]}")
        made = cls(kind, tuple(numbers))
        tokens = numbers[:1] if kind == "lognormal" else numbers
        backwards = kind == "uniform" and numbers[0] > numbers[1]
        if min(tokens) < 1 or max(tokens) > LONGEST or min(numbers) < 0 or backwards:
            raise ValueError(f"lengths are from 1 to {LONGEST:,} tokens")
        return made

    def draw(self, count: int, random: np.random.Generator) -> Numbers:
        """So many whole lengths, from one token on."""
        n = self.numbers
        match self.kind:
            case "uniform":
                drawn = random.integers(round(n[0]), round(n[1]) + 1, count).astype(float)
            case "lognormal":
                spread = math.log1p(n[1] ** 2)
                drawn = random.lognormal(math.log(n[0]) - spread / 2, math.sqrt(spread), count)
            case "exponential":
                drawn = random.exponential(n[0], count)
            case _:
                drawn = np.full(count, n[0])
        return np.clip(np.rint(drawn), 1, LONGEST).astype(np.int64)

    def __str__(self) -> str:
        n = [f"{x:g}" for x in self.numbers]
        if self.kind == "fixed":
            return n[0]
        return f"{self.kind}:{('..' if self.kind == 'uniform' else ',').join(n)}"


FORMS = {
    "fixed": (1, "fixed:TOKENS"),
    "uniform": (2, "uniform:LOW..HIGH"),
    "lognormal": (2, "lognormal:MEAN,CV"),
    "exponential": (1, "exponential:MEAN"),
}
"""How many numbers a distribution has, and how it is written."""


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text.strip()[:40]!r} is not a number")
    return value


@dataclass(frozen=True, eq=False)
class Workload:
    """The requests of one run, in the order in which they come.

    Attributes:
        arrival: seconds from the start; NaN of a request that comes after another.
        prompt, output: tokens.
        cached: prompt tokens that are cached when it comes.
        warmup: how many requests at the start are not counted.
        says: what it is, in words.
        loop: how many are there at first; whose request has ended sends the next of all.
    """

    arrival: Numbers
    prompt: Numbers
    output: Numbers
    cached: Numbers
    warmup: int = 0
    says: tuple[str, ...] = ()
    loop: int = 0

    def __len__(self) -> int:
        return len(self.prompt)

    @classmethod
    def of(
        cls,
        arrival: Any,
        prompt: Any,
        output: Any,
        cached: Any = 0,
        says: Sequence[str] = (),
    ) -> Workload:
        """Requests that come at known times, and no other after them.

        >>> len(Workload.of([0.0, 1.5], [100, 200], [10, 10]))
        2
        """
        count = len(prompt)
        tokens, written, held = (
            np.broadcast_to(np.asarray(x, dtype=np.int64), (count,)).copy()
            for x in (prompt, output, cached)
        )
        arrival, held = np.asarray(arrival, dtype=float), np.clip(held, 0, tokens - 1)
        return cls(arrival, tokens, written, held, says=tuple(says))


@dataclass(frozen=True)
class Traffic:
    """What is drawn: how requests come, and how long they are.

    Attributes:
        arrivals: a kind of :data:`ARRIVALS`.
        rate: mean requests per second, where they come at a rate.
        users: how many a closed loop has, and how many requests of a burst are there at a time.
        burstiness: coefficient of variation of the gaps between bursty arrivals.
        prompt, output: lengths; a second kind of request with its share, where there is one.
        cached: prompt tokens of every request that are cached.
    """

    arrivals: str
    prompt: Length
    output: Length
    rate: float = 0.0
    users: int = 0
    burstiness: float = 2.0
    cached: int = 0
    mix: tuple[float, Length, Length] | None = None

    def drawn(self, requests: int, random: np.random.Generator) -> Workload:
        """So many requests.

        >>> traffic = Traffic("uniform", Length.read("1024"), Length.read("64"), rate=4.0)
        >>> traffic.drawn(3, np.random.default_rng(1)).arrival.tolist()
        [0.0, 0.25, 0.5]
        """
        prompt, output = self.prompt.draw(requests, random), self.output.draw(requests, random)
        if self.mix:
            other = random.random(requests) < self.mix[0]
            prompt, output = (
                np.where(other, kind.draw(requests, random), own)
                for kind, own in zip(self.mix[1:], (prompt, output), strict=True)
            )
        arrival = np.full(requests, np.nan)
        cached = np.minimum(self.cached, prompt - 1)
        uncounted, users = int(requests * WARMUP), 0
        if self.arrivals == "closed-loop":
            users = min(self.users, requests)
            arrival[:users] = 0.0
            # the server is met in the middle of its work: these are prefilled
            output[:users] = random.integers(1, output[:users] + 1)
            cached[:users] = prompt[:users] - 1
            uncounted = max(uncounted, min(users, requests // 2))
        elif self.arrivals == "burst":
            users, uncounted = min(self.users, requests), 0
            arrival[:users] = 0.0
        else:
            arrival = self._times(requests, random)
        return Workload(arrival, prompt, output, cached, uncounted, self.says(), users)

    def _times(self, count: int, random: np.random.Generator) -> Numbers:
        if self.arrivals == "uniform":
            return np.arange(count) / self.rate
        shape = 1.0 if self.arrivals == "poisson" else self.burstiness**-2
        gaps = random.gamma(shape, 1 / (shape * self.rate), count)
        return np.cumsum(gaps) - gaps[:1]

    def says(self) -> tuple[str, ...]:
        """What it is, in words."""
        again = "each with its next request as soon as the last has ended"
        if self.arrivals == "closed-loop":
            come = f"a closed loop of {self.users:,} users, {again}"
        elif self.arrivals == "burst":
            some = f"{self.users:,} users at once, {again}"
            all_of = some if self.users < MOST_REQUESTS else "all requests at once"
            come = f"a burst to an idle server, {all_of}; its start and its end are counted"
        else:
            come = f"{self.arrivals} arrivals of {self.rate:.4g} requests/s at one replica"
            if self.arrivals == "bursty":
                come += f", coefficient of variation {self.burstiness:g}"
        lengths = f"prompts {self.prompt}, outputs {self.output} tokens"
        if self.mix:
            share, prompt, output = self.mix
            lengths += f"; a share of {share:g} with prompts {prompt}, outputs {output}"
        if self.cached:
            lengths += f"; {self.cached:,} tokens of each prompt are cached"
        return come, lengths


def checked(traffic: Traffic) -> Traffic:
    """Traffic that can be drawn.

    Raises:
        InputError: everything wrong with it.
    """
    kind, comes = traffic.arrivals, traffic.arrivals in OPEN
    problems = []
    if not comes and not 1 <= traffic.users <= MOST_REQUESTS:
        problems.append(Problem("users", f"has to be from 1 to {MOST_REQUESTS:,}"))
    if comes and not 0 < traffic.rate < math.inf:
        hint = "--set arrival_rate=2/s, or --arrivals closed-loop or burst"
        problems.append(Problem("arrival_rate", f"{kind} arrivals need a rate", hint=hint))
    if kind == "bursty" and not 0.01 <= traffic.burstiness <= 100:
        message = "the coefficient of variation has to be from 0.01 to 100"
        problems.append(Problem("burstiness", message))
    if problems:
        raise InputError(problems)
    return traffic
