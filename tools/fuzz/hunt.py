"""The attack on one area: draw, run, hold against what must never happen, shrink what did."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException, HypothesisWarning

from .attempt import Attempt
from .findings import Finding, finding
from .runner import Runner


class Found(AssertionError):
    """Raised at hypothesis, so that it shrinks."""


@dataclass
class Hunt:
    """One round: what was tried, the failure that was shrunk, and others seen on the way."""

    runner: Runner
    known: Collection[str]
    enough: Callable[[], bool] = lambda: False
    shrink_seconds: float = 60
    inputs: int = 0
    attempt: Attempt | None = None
    finding: Finding | None = None
    others: dict[str, tuple[Attempt, Finding]] = field(default_factory=dict)
    codes: dict[int, int] = field(default_factory=dict)
    trouble: str = ""
    """What hypothesis ended with, where it drew nothing."""
    cpu: float = 0
    _shrink_until: float = 0
    _seen: dict[int, Finding | None] = field(default_factory=dict)

    def __call__(
        self, area: st.SearchStrategy[Attempt], number: int, examples: int, shrink: bool = True
    ) -> Hunt:
        """Draw up to so many attempts; the same number draws the same ones."""
        phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)

        @seed(number)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=phases,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        )
        @given(area)
        def one(attempt: Attempt) -> None:
            self._one(attempt)

        try:
            with contextlib.suppress(Found), warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", HypothesisWarning
                )  # of how it would print a strategy
                one()
        except HypothesisException as error:
            self.trouble = repr(error)
        if self.attempt is not None and self.finding is not None and shrink:
            self.attempt = reduced(
                self.runner, self.attempt, self.finding.signature, self.shrink_seconds
            )
        return self

    def _one(self, attempt: Attempt) -> None:
        if self.enough() and self.finding is None:
            return
        if self.finding is not None and time.monotonic() > self._shrink_until:
            return  # hypothesis calls this flaky and stops; the smallest so far is at hand
        outcome = self.runner.run(attempt)
        self.inputs += 1
        self.cpu += outcome.cpu
        self.codes[outcome.code] = self.codes.get(outcome.code, 0) + 1
        made = finding(attempt, outcome, self.runner.limits)
        if made is None or made.signature in self.known:
            return
        if self.finding is None:
            self._shrink_until = time.monotonic() + self.shrink_seconds
        elif made.signature != self.finding.signature:
            self.others.setdefault(made.signature, (attempt, made))
            return
        if self.attempt is None or attempt.size <= self.attempt.size:
            self.attempt, self.finding = attempt, made
        raise Found(made.signature)


def reduced(runner: Runner, attempt: Attempt, signature: str, seconds: float) -> Attempt:
    """What hypothesis leaves: files, options and lines that the failure does not need are dropped, one after the other."""
    end = time.monotonic() + seconds
    goes_on = True
    while goes_on:
        goes_on = False
        for smaller in _smaller(attempt):
            if time.monotonic() > end:
                return attempt
            made = finding(smaller, runner.run(smaller), runner.limits)
            if made and made.signature == signature:
                attempt, goes_on = smaller, True
                break
    return attempt


def _smaller(attempt: Attempt) -> Iterator[Attempt]:
    """The attempt without one file, one option with its value, one line."""
    for name in attempt.files:
        yield replace(
            attempt,
            files={other: content for other, content in attempt.files.items() if other != name},
        )
    words = attempt.arguments
    for i in range(1, len(words)):
        if words[i].startswith("--"):
            for length in (2, 1):
                yield replace(attempt, arguments=words[:i] + words[i + length :])
    for name, content in attempt.files.items():
        lines = content.splitlines(keepends=True)
        for i in range(len(lines) if 1 < len(lines) <= 100 else 0):
            yield replace(
                attempt, files={**attempt.files, name: b"".join(lines[:i] + lines[i + 1 :])}
            )
