"""The one recommendation: which devices to buy, how many, and how to lay them out; every command shows this ranking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.verdict import queues
from symroof.errors import InputError
from symroof.select.candidates import Layouts, with_candidates
from symroof.select.purchase import Purchase
from symroof.select.screening import screen
from symroof.select.selection import MONEY, Selection, select_from, sort_key

MOST_PREDICTED = 4
"""Devices of which it is looked for what would do at the predicted values."""
SOLVED = ("batch", "dp", "tp", "chunk", "token_budget")
"""Inputs that are left open where nothing passes with what a study says of them, or only what costs more."""
NARROWER = {"fp16": "fp8", "bf16": "fp8", "fp8": "nvfp4"}
"""Formats that weights may be narrowed to, where that changes what a model answers as little as it gets."""


@dataclass(frozen=True)
class Recommendation:
    """What to use, the first of ``best`` where it passes, what else there is, and what would change the choice.

    ``searched``: the selection that ``best`` is the best of; None where these are cases as they stand.
    """

    best: tuple[Purchase, ...]
    searched: Selection | None = None

    @property
    def pick(self) -> Purchase | None:
        """What to use: None where nothing passes."""
        return self.best[0] if self.best and self.best[0].passes else None

    @property
    def others(self) -> tuple[Purchase, ...]:
        return self.best[1:] if self.pick else self.best

    @property
    def reason(self) -> str:
        """Why there is nothing to use; empty where there is."""
        near = [f"Closest: {one.amount} × {one.title} ({one.lacks})." for one in self.best[:1]]
        return "" if self.pick else " ".join(["Nothing passes.", *near])

    @property
    def stays_up_to(self) -> float | None:
        """The price of one device an hour up to which the pick stays the cheapest; None where no other passes."""
        pick = self.pick
        if pick is None or not self.rivals or not pick.priced:
            return None
        mine, theirs = pick.spent, self.rivals[0].spent
        return float(pick.prices_now * theirs / mine) if mine and theirs else None

    @property
    def undecided_by_price(self) -> tuple[Purchase, ...]:
        """The other devices that some price found for them, and some price found for the pick, would put first."""
        pick = self.pick
        if pick is None or not pick.priced or not pick.spent:
            return ()

        def at(one: Purchase, price: float) -> float:
            return (one.spent or math.inf) * price / one.prices_now

        return tuple(x for x in self.rivals if at(x, x.prices[0]) < at(pick, pick.prices[1]))

    @property
    def rivals(self) -> list[Purchase]:
        """What passes and has a price, of other devices than the pick."""
        if self.searched and self.searched.order not in MONEY:
            return []
        own = self.pick.hardware if self.pick else None
        return [one for one in self.others if one.passes and one.priced and one.hardware != own]

    @property
    def choice(self) -> Selection:
        """All that was listed, each at its best layout."""
        assert self.searched, "these are cases as they stand"
        return self.searched

    @cached_property
    def opened(self) -> Purchase | None:
        """What passes where parallelism, batch, chunk and replicas are left open; None where nothing does, or the study fixes none of them."""
        request, opened = self.choice.study.request, Study()
        if not request.values.keys() & {*SOLVED}:
            return None
        opened.select(request.without(SOLVED))
        try:
            return recommend(opened).pick
        except InputError:
            return None

    @cached_property
    def layouts(self) -> tuple[Purchase, ...]:
        """Every layout that was tried of the first device, each at its best batch, chunk or prefill devices, and replicas: the best first; none where simulations
        decide."""
        if self.choice.study.request.percentiles:
            return ()
        laid_out = groupby(self._space(self.best[0]), key=lambda one: id(one.own))
        found = screen([list(ones) for _, ones in laid_out], listed=True)
        return tuple(sorted(found, key=lambda c: sort_key(c, self.choice.order)))

    @cached_property
    def together(self) -> Purchase | None:
        """The best layout of the pick's device whose instances all prefill and decode, where the pick has some that only prefill."""
        pick = self.pick if self.searched else None
        if pick is None or pick.scheduling != "disaggregated" or pick.simulated:
            return None
        space = [one for one in self._space(pick) if one.scheduling == "chunked"]
        found = screen([space], listed=True) if space else []
        return next((one for one in found if one.passes), None)

    def _space(self, one: Purchase) -> Sequence[Purchase]:
        """The candidates of one combination."""
        own = one.own
        return next(x for x in self.choice.spaces if any(each.own is own for each in x))

    def as_predicted(self, one: Purchase) -> Purchase | None:
        """The cheapest of a device that keeps the targets at the predicted values; None where that costs no less, or was not looked for."""
        found = self._predicted.get(id(one))
        if found is None or not found.passes:
            return None
        whole, predicted = one.spent if one.passes else math.inf, found.spent
        return found if whole and predicted and predicted < whole else None

    @property
    def cheapest_predicted(self) -> Purchase | None:
        """The cheapest of all at the predicted values, where that is of another device than the pick."""
        every = [one for one in self._predicted.values() if one.passes and one.spent]
        least = min(every, key=lambda one: one.spent or math.inf, default=None)
        other = least and self.pick and least.hardware != self.pick.hardware
        return least if other else None

    @cached_property
    def _predicted(self) -> dict[int, Purchase]:
        """The best at the predicted values, of the devices that are named first; none where simulations decide, or no rate asks for replicas."""
        if self.searched is None or self.searched.study.request.percentiles:
            return {}
        some = self.best[:MOST_PREDICTED]
        shown = [one for one in some if one.own.measured_box and queues(one.own.case)]
        prices = (one.passes and one.rank("fleet_price") for one in shown)
        below = {i: price for i, price in enumerate(prices) if price}
        found = screen([self._space(one) for one in shown], True, intervals=False, below=below)
        pairs = zip(shown, found, strict=True)
        return {id(one): other if other.screened else one for one, other in pairs}

    @cached_property
    def cheaper(self) -> tuple[str, Purchase] | None:
        """The pick's device with narrower weights, where that costs less: a format and what would be bought. It changes what the model answers."""
        pick = self.pick
        if pick is None or not pick.priced or "weights" in dict(pick.own.varied):
            return None
        narrow = NARROWER.get(pick.case.precisions.get("weights", ""))
        of_nvidia = pick.case.hardware and pick.case.hardware.vendor == "NVIDIA"
        if narrow is None or (narrow == "nvfp4" and not of_nvidia):
            return None
        among = {"hardware": list(pick.own.request.hardware), "weights": narrow}
        study = with_candidates(self.choice.study, among)
        try:
            narrowed = select_from(study, layouts=self.choice.layouts)
        except InputError:
            return None
        found = narrowed.configurations[0]
        mine, theirs = pick.spent, found.spent
        return (narrow, found) if found.passes and mine and theirs and theirs < mine else None

    def as_json(self, command: str | None = None) -> dict[str, Any]:
        """``recommendation`` and ``reason`` of the contract; ``command`` starts the pick."""
        pick = self.pick
        if pick is None:
            closest = [one.as_json() for one in self.best]
            return {"recommendation": None, "reason": self.reason, "closest": closest}
        cheaper = self.cheaper
        said: dict[str, Any] = pick.as_json() | {
            "headroom": pick.headroom,
            "highest_rate": pick.highest_rate,
            "devices_as_predicted": fewer.devices if (fewer := self.as_predicted(pick)) else None,
            "alternatives": [one.as_json() for one in self.others],
            "undecided_by_price": bool(self.undecided_by_price),
            "stays_first_up_to": self.stays_up_to,
            "cheaper_if": cheaper and {"weights": cheaper[0]} | cheaper[1].as_json(),
            "command": command,
        }
        return {"recommendation": said, "reason": None}


def recommend(study: Study, layouts: Layouts = ()) -> Recommendation:
    """The recommendation for a study: the cheapest of what passes over everything that it leaves open.

    Group sizes within what links join, or two of these where the weights need them, prefill in chunks or on devices of its own, chunk, batch, replicas. Never what changes the answers of a model: weights, cache, drafts, unless the study lists alternatives. ``layouts``: what one command line starts, instead of every layout.

    >>> found = recommend(Study("llama-3.1-8b", ["h100-sxm", "l40s"], prompt=2048, output=300, arrival_rate=40, targets={"itl": "30 ms"}))
    >>> [(one.hardware, one.devices, one.batch) for one in found.best]
    [('h100-sxm', 6, 192), ('l40s', 48, 216)]

    Raises:
        InputError: no model or no device to choose.
    """
    return recommended_of(select_from(study, layouts=layouts))


def recommended_of(choice: Selection) -> Recommendation:
    """The recommendation of a selection: the best of each device; at the same price not one with devices that only prefill, of which nothing was measured."""
    made = _best_of(choice)
    pick, whole = made.pick, made.together
    if pick is None or whole is None or (whole.spent or math.inf) > (pick.spent or 0):
        return made
    others = tuple(whole if one is pick else one for one in choice.configurations)
    return _best_of(replace(choice, configurations=others))


def _best_of(choice: Selection) -> Recommendation:
    best: dict[str, Purchase] = {}
    for one in choice.configurations:
        best.setdefault(one.hardware, one)
    return Recommendation(tuple(best.values()), choice)
