"""Data of page one of a review: what to use, its numbers against targets, the options, and what decides. Words are in the template."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import case_label, case_title
from symroof.analysis.constraints import passes
from symroof.analysis.study import Study
from symroof.analysis.tipping_points import flips
from symroof.analysis.verdict import (
    LOAD,
    TARGET_METRICS,
    TargetCheck,
    at_rate,
    efficiency_basis,
    limit_of,
    metric_of,
    metrics_of,
    overloaded,
    queues,
    target_checks,
    under_load,
    unknown_targets,
)
from symroof.cases.bound_case import BoundCase
from symroof.report.field_names import input_name, quantity_name
from symroof.report.markup import Code
from symroof.report.recommendation import (
    LATENCIES,
    beyond_reach,
    cost,
    group_label,
    recommendation,
)
from symroof.report.view_case import (
    brief,
    cell,
    decision_metrics,
    marked,
    metric,
    target_row,
    targets_outcome,
)
from symroof.report.view_latency import bound_of
from symroof.specs.efficiencies import FITTED
from symroof.table_formats import FAILS, IN_PART, PASSES, UNKNOWN
from symroof.theory.theory_files import listed
from symroof.units import format_quantity

MOST_NUMBERS, MOST_INPUTS, MOST_OPTIONS = 9, 8, 6
DIGITS = 3
"""Significant digits of sizes in prose."""

SERVER, REQUEST = listed("shown", "server"), listed("shown", "request")
"""Key metrics of a server under load, and of one request alone; page one shows one of the two."""

UNBOUNDED = ("fleet_price",)
"""Key metrics that no efficiency moves at given replicas."""
EFFICIENCIES = ("mfu", "mbu")


def verdict(study: Study, subject: BoundCase) -> dict[str, Any]:
    """State, numbers, what limits, the options side by side, and the commands to go on with."""
    recommended, recommended_case = recommendation(study, subject)
    return {
        "state": state(subject),
        "case": case_title(subject) + _batch_not_set(subject),
        "use": group_label(subject) if subject.targets and passes(subject) else None,
        "needed": in_prose(subject, "memory_bytes"),
        "usable": in_prose(subject, "usable_memory"),
        "short": _short_of(subject),
        "spare": in_prose(subject, "free_memory"),
        "targets": [target_row(check) for check in target_checks(subject)],
        "unjudged": unknown_targets(subject),
        "prefill_bound": bound_of("prefill", subject),
        "decode_bound": bound_of("decode", subject),
        "prefill_intensity": in_prose(subject, "prefill_intensity"),
        "decode_intensity": in_prose(subject, "decode_intensity"),
        "ridge": in_prose(subject, "effective_ridge"),
        "under_load": under_load(subject.case),
        "numbers": key_numbers(subject),
        "basis": efficiency_basis(subject),
        "bounds": bounds(study),
        "rests_on": decisive_inputs(subject),
        "does_not_fit": subject.does_not_fit,
        "some_do_not_fit": any(case.does_not_fit for case in study.cases),
        "recommended": recommended,
        "options": options(study, subject, recommended_case),
        "beyond": beyond_reach(subject),
        "next": next_steps(study),
        "standing": subject.range_position if any(case.box for case in study.cases) else "",
    }


def _batch_not_set(subject: BoundCase) -> str:
    one = subject.hardware and "prompt" in subject.given and "batch" not in subject.given
    return ", batch 1 (not set)" if one else ""


def in_prose(subject: BoundCase, name: str) -> str:
    """A value rounded for prose, or "not known"."""
    result = subject.get(name)
    return result.plain(brief(result)) if result else UNKNOWN


def state(subject: BoundCase) -> str:
    """The state that selects the headline."""
    if subject.fits is None:
        return "memory_unknown"
    if subject.never_fits:
        return "does_not_fit"
    if subject.does_not_fit:
        return "fits_partly"
    return targets_outcome(subject)


def _short_of(subject: BoundCase) -> str | None:
    free = subject.get("free_memory")
    if free is None or not isinstance(free.value, float | Fraction) or free.value >= 0:
        return None
    return format_quantity(-free.value, "byte", DIGITS)


def key_numbers(subject: BoundCase) -> list[list[str]]:
    """Rows of quantity, value with range, bound at 100 % of peak, target and slack: memory, metrics with a target, other key metrics."""
    checks = {check.metric.name: check for check in target_checks(subject)}
    names = dict.fromkeys([*checks, *key_metrics(subject)])
    if overloaded(subject):
        names = dict.fromkeys([LOAD, TARGET_METRICS["ttft"], *names])
    sizes = [
        metric(name, subject, in_brief=True)
        for name in ("memory_bytes", "usable_memory", "free_memory")
    ]
    memory = [[quantity_name("memory_bytes", subject), sizes[0], "", *sizes[1:]]]
    return [*memory, *(_number(name, subject, checks.get(name)) for name in names)][:MOST_NUMBERS]


def key_metrics(subject: BoundCase) -> list[str]:
    """The metrics on page one, in addition to memory.

    >>> key_metrics(Study("llama-3-8b", "h100-sxm", prompt=4096, output=256).first)
    ['loaded_ttft', 'sustained_itl', 'concurrency', 'sustained_throughput', 'cost_per_mtok']
    """
    itl = TARGET_METRICS["itl"]
    spelled = {"itl_last": metric_of("itl", subject.case), itl: at_rate(itl, subject.case)}
    own = SERVER if under_load(subject.case) else REQUEST
    names = [spelled.get(name, name) for name in own]
    return [
        name
        for name in names
        if name and subject.get(name) and (name != "fleet_price" or queues(subject.case))
    ]


def bounds(study: Study) -> list[list[str]]:
    """The latencies, rate and cost of each case at 100 % of peak; empty if no case assumes less."""
    rows = []
    for case in study.cases:
        if case.at_peak:
            found = map(case.peak_bound, (*decision_metrics(case).values(), "cost_per_mtok"))
            cells = [cell(bound) if bound else UNKNOWN for bound in found]
            rows.append([marked(case_label(case), case), *cells])
    return rows


def _number(name: str, subject: BoundCase, check: TargetCheck | None) -> list[str]:
    """A row of the key numbers; the target of a metric without a value, such as an unbounded wait, has no slack."""
    bound = subject.peak_bound(name) if name not in UNBOUNDED else None
    own = [quantity_name(name, subject), metric(name, subject, in_brief=True), cell(bound, brief(bound)) if bound else ""]  # fmt: skip
    if check is None:
        names = {t: metrics_of(t, subject.case) for t in subject.targets}
        limit = next((subject.targets[t] for t, metrics in names.items() if name in metrics), None)
        symbol = subject.case.theory.symbol(name)
        return [*own, "" if limit is None else limit_of(symbol, limit).plain(), ""]
    own[1] = cell(check.metric, brief(check.metric))
    slack = f"{'-' if check.slack < 0 else ''}{check.gap.plain(brief(check.metric))}"
    if check.met is None:
        slack += ", met in part of the ranges"
    elif check.straddles:
        slack += ", at the median price"
    return [*own, check.bound.plain(), slack]


def decisive_inputs(subject: BoundCase) -> list[list[str]]:
    """Rows of input, value (empty if it is zero, and so not modelled) and evidence: efficiencies, then defaults that could change the verdict."""
    latencies = ("ttft", "itl") if subject.get("itl") else ("ttft",)
    inputs = subject.inputs((*latencies, "fits"), everything=False)
    flipping = {flip.name for flip in flips(subject)} - {*EFFICIENCIES}
    names = [n for n in FITTED if n in inputs and (n in EFFICIENCIES or not inputs[n].defaulted)]
    names += [name for name, entry in inputs.items() if entry.defaulted and name in flipping]
    rows = []
    for name in names[:MOST_INPUTS]:
        entry, words = inputs[name], input_name(name, subject)
        if name in EFFICIENCIES:
            words += f" ({subject.case.theory.symbol(name).meaning})"
        source = "set in the study" if entry.source == "study" else entry.source
        if entry.defaulted and not source.startswith("default "):
            source = "default"
        rows.append([words, cell(entry) if entry.value else "", source])
    return rows


def options(study: Study, subject: BoundCase, recommended: BoundCase | None) -> list[list[str]]:
    """Rows of the cases side by side: what is recommended instead, the reviewed case, and the others by cost.

    Each with its outcome and what decides in few digits, without ranges; empty where there is nothing to compare.
    """
    others = sorted((case for case in study.cases if case is not subject), key=cost)
    rows = [*([recommended] if recommended else []), subject, *others]
    return (
        [_option(case, case is recommended) for case in rows[:MOST_OPTIONS]]
        if len(rows) > 1
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
    names = [check.name for check in target_checks(case) if check.met is False]
    if names:
        words = [f"misses {name.upper() if name in LATENCIES else name}" for name in names]
        words = ["overloaded" if n == LOAD else said for n, said in zip(names, words, strict=True)]
        return f"{FAILS} {', '.join(words)}"
    met = {True: f"{PASSES} meets all", None: f"{IN_PART} in part of the ranges"}
    return met.get(passes(case), UNKNOWN) if case.targets else f"{PASSES} fits"


def next_steps(study: Study) -> dict[str, Any] | None:
    """The commands to go on with; None where the study is no file."""
    if study.document is None:
        return None
    file = study.document.file.replace("\\", "/").rpartition("/")[2]
    return {
        "select": Code(f"symroof select {file}"),
        "compare": Code(f"symroof diff {file} --measured 'itl = …'"),
    }
