"""What a review is of: the ranking that ``symroof select`` makes, or the cases that a study fixes, ranked by the same rules."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from symroof.analysis.study import Study
from symroof.analysis.verdict import queues
from symroof.cases.bound_case import BoundCase
from symroof.cases.checks import check_load
from symroof.errors import InputError, Problem
from symroof.select.purchase import Purchase
from symroof.select.recommend import Recommendation, recommend
from symroof.select.screening import NEAR
from symroof.select.selection import sort_key

MOST_CASES = 64
"""Cases of one review: it computes each with its ranges, half a second each."""


@dataclass(frozen=True)
class Reviewed:
    """What a review shows.

    Attributes:
        study: its cases are those that the sections after page one show.
        found: what ``select`` recommends; None where it has nothing to choose.
        shown: the ranking of page one: that of ``select``, or of all that a study with a fixed batch lists.
    """

    study: Study
    found: Recommendation | None
    shown: Recommendation

    @property
    def subject(self) -> BoundCase:
        """The case that the sections after page one detail."""
        return self.shown.best[0].case

    @property
    def fixed(self) -> bool:
        """Whether the study fixes its batch, or there is nothing to recommend: all that it lists is reviewed."""
        return self.shown is not self.found

    @property
    def asks(self) -> bool:
        """Whether there is something to pass."""
        return bool(self.subject.targets) or "arrival_rate" in self.subject.given

    @property
    def fails(self) -> bool:
        """Whether there is something to pass, and nothing does."""
        return self.asks and self.pick is None

    @property
    def pick(self) -> Purchase | None:
        """What page one says to use."""
        return self.shown.pick if self.asks or self.found else None

    @cached_property
    def opened(self) -> Purchase | None:
        """What passes with layout, batch and replicas left open, where nothing that the study fixes does, or only what costs more."""
        mine = self.shown.pick
        if self.found is None or not self.asks or not (self.fixed or mine is None):
            return None
        other = self.found.opened
        spent, least = (one.spent if one else None for one in (mine, other))
        dear = mine is None or (spent and least and least * (1 + NEAR) < spent)
        return other if dear else None


def reviewed(study: Study) -> Reviewed:
    """What a review of a study shows: what is recommended and the best of each other device, or of each listed combination where the batch is fixed. Where there is
    nothing to recommend, as of a preset, which counts what another tool counts, the cases as they stand.

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
            found = recommend(study)
    if found is None:
        return Reviewed(study, found, Recommendation(as_they_stand(study.cases)))
    shown = found
    if "batch" in study.request.values:
        shown = Recommendation(found.choice.configurations)
    made = copy.copy(study)
    made.__dict__["cases"] = tuple(one.case for one in shown.best)
    return Reviewed(made, found, shown)


def as_they_stand(cases: Sequence[BoundCase]) -> tuple[Purchase, ...]:
    """Cases as purchases, in the order of a selection."""
    order = "fleet" if queues(cases[0].case) else "cost"
    return tuple(sorted(map(Purchase, cases), key=lambda one: sort_key(one, order)))
