"""Data of page one of a review: what to use, the options side by side, why the others are out, and what to do next."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import devices
from symroof.analysis.constraints import passes
from symroof.analysis.study import Study
from symroof.analysis.verdict import LOAD, TargetCheck, at_rate, target_checks
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.report.markup import Code
from symroof.report.recommendation import LATENCIES, cost, group_label
from symroof.report.view_case import brief, decision_metrics, marked
from symroof.table_formats import FAILS, IN_PART, PASSES, UNKNOWN

MOST_OPTIONS, MOST_RULED_OUT = 6, 2


def use(subject: BoundCase) -> str | None:
    """What to run, in few words: the subject where it meets every target throughout; None where it does not."""
    return group_label(subject) if subject.targets and passes(subject) else None


def options(study: Study, subject: BoundCase, recommended: BoundCase | None) -> list[list[str]]:
    """Rows of the cases side by side: what is recommended instead, the reviewed case, and the others by cost.

    Each with its outcome and what decides in few digits, without ranges; empty where there is nothing to compare.
    """
    others = sorted((case for case in study.cases if case is not subject), key=cost)
    listed = [*([recommended] if recommended else []), subject, *others]
    return (
        [_option(case, case is recommended) for case in listed[:MOST_OPTIONS]]
        if len(listed) > 1
        else []
    )


def _option(case: BoundCase, with_batch: bool) -> list[str]:
    price = "fleet_price" if "arrival_rate" in case.given else "instance_price"
    names = (*decision_metrics(case).values(), at_rate("cost_per_mtok", case.case), price)
    numbers = (
        replace(found, low=None, high=None).plain(brief(found))
        if (found := case.get(name))
        else UNKNOWN
        for name in names
    )
    batch = f", batch {int(case.case.value('batch')):,}" if with_batch else ""
    return [marked(f"{group_label(case)}{batch}", case), outcome(case), *numbers]


def outcome(case: BoundCase) -> str:
    """What a case amounts to in a cell: a sign, and what it misses, or that it meets all."""
    if case.does_not_fit:
        return f"{FAILS} does not fit"
    missed = [
        "overloaded"
        if check.name == LOAD
        else f"misses {check.name.upper() if check.name in LATENCIES else check.name}"
        for check in target_checks(case)
        if check.met is False
    ]
    if missed:
        return f"{FAILS} {', '.join(missed)}"
    met = {True: f"{PASSES} meets all", None: f"{IN_PART} in part of the ranges"}
    return met.get(passes(case), UNKNOWN) if case.targets else f"{PASSES} fits"


def ruled_out(study: Study, subject: BoundCase) -> list[list[str | None]]:
    """Why other devices are out, those of which no case passes: rows of label, the latency that they miss, its bound, its limit.

    The bound is that of a batch of one at the peak of the device, so that no batch and no tuning meets the target; without one
    the target is missed at the batch of the study, and the value there stands in its place.
    """
    own = subject.hardware.name if subject.hardware else None
    by_device: dict[str, list[BoundCase]] = {}
    for case in study.cases:
        if case.hardware and case.hardware.name != own:
            by_device.setdefault(case.hardware.name, []).append(case)
    rows = [
        _why_out(cases)
        for cases in by_device.values()
        if all(passes(case) is False for case in cases)
    ]
    return [row for row in rows if row][:MOST_RULED_OUT]


def _why_out(cases: list[BoundCase]) -> list[str | None] | None:
    """The reason of the last of a device's cases, if all of them have it; None where there is no single one, or they are groups of several sizes."""
    counts = {devices(case) for case in cases}
    if len(counts) > 1:
        return None
    label = (
        f"{counts.pop()} × {cases[-1].hardware.title}"
        if cases[-1].hardware
        else group_label(cases[-1])
    )
    if all(case.does_not_fit for case in cases):
        return [label, "memory", None, None]
    never = [_never(case) for case in cases]
    for check in never[-1]:
        if all(any(other[0].name == check[0].name for other in row) for row in never):
            return [label, f"never {check[0].name}", check[1], check[0].bound.plain(3)]
    missed = [check for check in target_checks(cases[-1]) if check.met is False]
    if len(cases) > 1 or not missed:
        return None
    return [
        label,
        missed[0].name,
        missed[0].metric.plain(brief(missed[0].metric)),
        missed[0].bound.plain(3),
    ]


def _never(case: BoundCase) -> list[tuple[TargetCheck, str]]:
    """The latency targets that a device misses at its peak with a single request, each with what it takes there."""
    found = []
    for check in target_checks(case):
        if check.name not in LATENCIES or check.met is not False:
            continue
        try:
            bound = variant(case, batch=Fraction(1)).peak_bound(check.metric.name)
        except InputError:
            continue
        if bound is not None and Fraction(bound.value) > check.limit:
            found.append((check, replace(bound, low=None, high=None).plain(3)))
    return found


def next_steps(study: Study) -> dict[str, Any] | None:
    """The commands to go on with; None where the study is no file."""
    if study.document is None:
        return None
    file = study.document.file.replace("\\", "/").rpartition("/")[2]
    return {
        "select": Code(f"symroof select {file}"),
        "compare": Code(f"symroof diff {file} --measured 'itl = …'"),
    }
