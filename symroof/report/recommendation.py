"""What a review is of: the ranking that ``symroof select`` makes, or the cases that a study fixes, ranked by the same rules."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from symroof.analysis.study import Study
from symroof.analysis.verdict import target_checks
from symroof.cases.bound_case import BoundCase
from symroof.cases.checks import check_load
from symroof.errors import InputError, Problem
from symroof.select.configuration import Configuration, Run
from symroof.select.recommend import Purchase, Ranking, Recommendation, recommend
from symroof.select.screening import NEAR

SOLVED = ("batch", "dp", "tp", "chunk", "token_budget")
"""Inputs that are left open where what a study says of them fails, or costs more than it needs."""
STATES = ("passes", "in part", "unknown", "fails")
MOST_CASES = 64
"""Cases of one review: it computes each with its ranges, half a second each."""


@dataclass(frozen=True)
class Reviewed:
    """What a review shows.

    Attributes:
        study: its cases are those that the sections after page one show.
        found: what ``select`` recommends; None where it has nothing to choose.
        shown: the ranking of page one: that of ``select``, or of the cases as a study fixes them.
    """

    study: Study
    found: Recommendation | None
    shown: Ranking

    @property
    def subject(self) -> BoundCase:
        """The case that the sections after page one detail."""
        return self.shown.best[0].case

    @property
    def fixed(self) -> bool:
        """Whether the study fixes its batch, so that its cases are reviewed as they stand."""
        return self.shown is not self.found

    @property
    def asks(self) -> bool:
        """Whether there is something to pass."""
        return bool(self.subject.targets) or "arrival_rate" in self.subject.given

    @property
    def ranking(self) -> Ranking:
        """The ranking that the pick is of."""
        opened = self.opened if self.asks else None
        return opened if opened and opened.pick else self.shown

    @property
    def pick(self) -> Purchase | None:
        """What page one says to use."""
        return self.ranking.pick if self.asks or not self.fixed else None

    @property
    def candidates(self) -> tuple[Purchase, ...]:
        """What page one compares: the pick first, and what the study asked for."""
        asked = () if self.ranking is self.shown else self.shown.best
        return (*self.ranking.best, *asked)

    @cached_property
    def opened(self) -> Recommendation | None:
        """Where nothing passes as the study fixes it: the ranking with layout, batch and replicas left open."""
        if self.found is None or not self.fixed or self.shown.pick:
            return None
        return _with_layout_open(self.study)

    @cached_property
    def cheaper(self) -> Purchase | None:
        """What costs less than what a study fixes and passes."""
        mine = self.shown.pick
        if self.found is None or not self.fixed or mine is None:
            return None
        opened = _with_layout_open(self.study)
        other = opened.pick if opened else None
        spent, least = self.shown.spent(mine), self.shown.spent(other) if other else None
        return other if spent and least and least * (1 + NEAR) < spent else None


def _with_layout_open(study: Study) -> Recommendation | None:
    opened = Study()
    opened.select(study.request.without(SOLVED))
    try:
        return recommend(opened)
    except InputError:
        return None


def reviewed(study: Study, counts: Sequence[int] = ()) -> Reviewed:
    """What a review of a study shows: what is recommended and the best of each other device; a study that fixes its batch, or counts what another tool counts, as it stands.

    Raises:
        InputError: more cases than a review can show.
    """
    if study.first.theory_only:
        message = "a review needs a model and a device, and this study is only a theory"
        raise InputError(Problem("report", message, hint="`symroof eval` evaluates it"))
    if len(study.cases) > MOST_CASES:
        message = f"has {len(study.cases):,} cases, and a review shows {MOST_CASES} at most"
        hint = "`symroof sweep` computes them; `symroof select` says which is the cheapest"
        raise InputError(Problem("study", message, hint=hint))
    first, found = study.first, None
    check_load(first)
    if first.model is not None and first.hardware is not None and not first.preset:
        with suppress(InputError):
            found = recommend(study, counts)
    if found is None or "batch" in study.request.values:
        return Reviewed(study, found, Ranking(as_they_stand(study.cases)))
    made = copy.copy(study)
    made.__dict__["cases"] = tuple(one.case for one in found.best)
    return Reviewed(made, found, found)


def as_they_stand(cases: Sequence[BoundCase]) -> tuple[Purchase, ...]:
    """Cases as purchases: the cheapest that passes first, else the cheapest that does in a part of its ranges, else the last listed one of the first model and device."""
    every = []
    for case in cases:
        slow = {}  # what is met in a part of the ranges: how much of its limit it takes where all is slow
        for check in target_checks(case):
            if check.met is None:
                found = check.metric
                end = math.inf if found.without_range or found.high is None else found.high
                slow[check.name] = float(end) / float(check.limit)
        every.append(Purchase(Configuration(Run(case, slow=slow), None, True)))

    def order(one: Purchase) -> tuple[int, bool, float]:
        spent = Ranking(()).spent(one)
        return STATES.index(one.configuration.state), spent is None, spent or 0.0

    every.sort(key=order)
    first, state = cases[0], every[0].configuration.state
    if state == "fails" or not (first.targets or "arrival_rate" in first.given):
        last = next(
            case
            for case in reversed(cases)
            if case.model == first.model and case.hardware == first.hardware
        )
        every.sort(key=lambda one: one.case is not last)
    return tuple(every)
