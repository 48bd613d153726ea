"""What to run instead of a case that fails: the cheapest of what one or two changes lead to, searched."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import case_devices, case_label, devices
from symroof.analysis.constraints import passes
from symroof.analysis.study import Study
from symroof.analysis.verdict import target_checks
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem
from symroof.report.purchase_text import price_text, tokens_text
from symroof.select.recommend import Recommendation, recommend
from symroof.select.screening import WORTH

SOLVED = ("batch", "dp", "tp", "chunk", "token_budget")
"""Inputs that a recommendation in place of a case chooses: what the study says of them is left out."""
LATENCIES = ("ttft", "itl")
DIGITS = 3
COUNTED = re.compile(r"(tp|dp) [\d,]+")
"""Degrees that the number of devices and of replicas says."""


def subject_of(study: Study) -> BoundCase:
    """The case that a review details: what was recommended, else the cheapest that passes, else the last listed combination of the first model and device."""
    if study.reviewed is not None:
        return study.reviewed
    good = [case for case in study.cases if case.targets and passes(case)]
    if good:
        return min(good, key=cost)
    entries = [
        (case.model and case.model.name, case.hardware and case.hardware.name)
        for case in study.cases
    ]
    return [case for case, entry in zip(study.cases, entries, strict=True) if entry == entries[0]][
        -1
    ]


def group_label(case: BoundCase) -> str:
    """The label of a case with its number of devices, one included, and its replicas in words.

    >>> [group_label(Study("llama-3-8b", "h100-sxm", prompt=512, **more).first) for more in ({}, {"tp": 2, "dp": 3})]
    ['1 × NVIDIA H100 SXM5 80 GB', '3 replicas of 2 × NVIDIA H100 SXM5 80 GB']

    Where devices prefill on their own, all are counted:

    >>> group_label(Study("llama-3-8b", "h100-sxm", prompt=512, dp=3, prefill_devices=2, assume={"scheduling": "disaggregated"}).first)
    '9 × NVIDIA H100 SXM5 80 GB: 3 replicas of 1 that decode, 6 that prefill'
    """
    label = ", ".join(part for part in case_label(case).split(", ") if not COUNTED.fullmatch(part))
    copies = int(case.case.value("dp"))
    known = case.hardware is not None and case.case.has_value("instance_devices")
    if (
        known
        and case.hardware
        and case.assumptions["scheduling"] == "disaggregated"
        and case.case.has_value("served_devices")
    ):
        own, all_devices = devices(case), round(float(case.case.value("served_devices")) * copies)
        replicas = f"{copies} replicas of {own}" if copies > 1 else f"{own}"
        in_all = (
            f"{all_devices} × {case.hardware.title}: {replicas} that decode, "
            f"{all_devices - own * copies} that prefill"
        )
        return label.replace(case_devices(case), in_all, 1)
    if known and case.hardware and devices(case) == 1 and label.startswith(case.hardware.title):
        label = f"1 × {label}"
    return f"{copies:,} replicas of {label}" if copies > 1 else label


def cost(case: BoundCase) -> tuple[bool, Fraction]:
    """The order of cases: by what a million tokens cost, at the arrival rate where one is given; those of which it is not known last."""
    found = case.get("cost_per_mtok_at_rate") or case.get("cost_per_mtok")
    return found is None, Fraction(found.value) if found else Fraction(0)


MOST_CASES = 64
"""Cases of one review: it computes each with its ranges, half a second each."""


def reviewed(study: Study, counts: Sequence[int] = ()) -> tuple[Study, Recommendation | None]:
    """The study that a review is of, and the recommendation that it starts on: the pick, and beside it the best of each other device.

    A study that fixes its batch, or counts what another tool counts, is reviewed as it stands.

    Raises:
        InputError: more cases than a review can show.
    """
    if len(study.cases) > MOST_CASES:
        message = f"has {len(study.cases):,} cases, and a review shows {MOST_CASES} at most"
        hint = "`symroof sweep` computes them; `symroof select` says which is the cheapest"
        raise InputError(Problem("study", message, hint=hint))
    first = study.first
    if first.preset or first.model is None or first.hardware is None:
        return study, None
    try:
        found = recommend(study, counts)
    except InputError:
        return study, None
    if "batch" in study.request.values:
        return study, found
    made = copy.copy(study)
    made.__dict__["cases"] = tuple(one.case for one in found.best)
    made.reviewed = made.cases[0]
    return made, found


def _with_layout_open(study: Study) -> Recommendation:
    """The recommendation for a study with its layout, its batch and its replicas left open."""
    opened = Study()
    opened.select(study.request.without(SOLVED))
    return recommend(opened)


def cheaper_open(study: Study, found: Recommendation | None) -> str:
    """What costs less than the batch that a study fixes; empty where nothing does, it fixes none, or it fails and is given another."""
    pick = found.pick if found and study.reviewed is None else None
    if found is None or pick is None or not passes(subject_of(study)):
        return ""
    other = _with_layout_open(study).pick
    mine, theirs = found.spent(pick), found.spent(other) if other else None
    if other is None or mine is None or theirs is None or theirs > mine / WORTH:
        return ""
    price = price_text(other) if other.load is not None else tokens_text(other)
    chunks = f", chunks of {other.chunk:,} tokens" if other.chunk else ""
    layout = f"{group_label(other.case)}, batch {other.batch:,}{chunks}"
    return f"Cheaper than the batch that is fixed: {layout}: {price}"


def recommendation(
    study: Study, subject: BoundCase
) -> tuple[dict[str, Any] | None, BoundCase | None]:
    """The cheapest configuration that meets every target with the layout, the batch and the replicas left open, and its case.

    Nothing where the subject needs no other; only the nearest where no configuration passes.
    """
    asks = subject.targets or subject.does_not_fit or "arrival_rate" in subject.given
    known = subject.model and subject.hardware and not subject.preset
    if passes(subject) or not asks or not known or study.reviewed is not None:
        return None, None
    try:
        found = _with_layout_open(study)
    except InputError:
        return None, None
    pick = found.pick
    if pick is None:
        return {"found": None, "nearest": found.best and group_label(found.best[0].case)}, None
    paid = [text for text in (price_text(pick), tokens_text(pick)) if text]
    count = f"{pick.devices:,} device{'s' * (pick.devices > 1)}"
    said = {"label": group_label(pick.case), "batch": f"{pick.batch:,}", "devices": count}
    return {"found": {**said, "paid": paid}, "nearest": None}, pick.case


def beyond_reach(subject: BoundCase) -> list[list[str]]:
    """Rows of target, bound and limit where the device at its peak misses a latency target: no tuning of this configuration meets it."""
    rows = []
    for check in target_checks(subject):
        bound = subject.peak_bound(check.metric.name) if check.name in LATENCIES else None
        if bound is not None and Fraction(bound.value) > subject.targets[check.name]:
            rows.append([check.name, bound.plain(DIGITS), check.bound.plain(DIGITS)])
    return rows
