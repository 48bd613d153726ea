"""Data of page one of a review: key numbers with targets, passing cases, bounds, and the efficiencies and defaults they depend on."""

from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import case_label
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
)
from symroof.cases.bound_case import BoundCase
from symroof.report.field_names import input_name, quantity_name
from symroof.report.recommendation import cost
from symroof.report.view_case import brief, cell, decision_metrics, marked, metric
from symroof.report.view_options import next_steps, ruled_out, use
from symroof.specs.efficiencies import FITTED
from symroof.table_formats import UNKNOWN
from symroof.theory.theory_files import listed

MOST_NUMBERS, MOST_INPUTS, MOST_PASSING = 9, 8, 3
SERVER, REQUEST = listed("shown", "server"), listed("shown", "request")
"""Key metrics of a server under load, and of one request alone; page one shows one of the two."""
UNBOUNDED = ("fleet_price",)
"""Key metrics that no efficiency moves at given replicas."""
EFFICIENCIES = ("mfu", "mbu")
IN_PART = ", met in part of the ranges"
AT_MEDIAN = ", at the median price"


def decision(study: Study, subject: BoundCase) -> dict[str, Any]:
    """Key numbers, their basis, and the state of the subject and the other cases."""
    return {
        "under_load": under_load(subject.case),
        "numbers": key_numbers(subject),
        "basis": efficiency_basis(subject),
        "bounds": bounds(study),
        "rests_on": decisive_inputs(subject),
        "does_not_fit": subject.does_not_fit,
        "some_do_not_fit": any(case.does_not_fit for case in study.cases),
        "passing": passing(study, subject),
        "cases": len(study.cases),
        "use": use(subject),
        "ruled_out": ruled_out(study, subject),
        "next": next_steps(study),
        "standing": subject.range_position if any(case.box for case in study.cases) else "",
    }


def passing(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """The other cases that meet every target, by cost; None if there are none.

    If none does so over its whole ranges, and neither does the subject, the cases that do at the middle of their ranges.
    """
    if not subject.targets:
        return None
    states = [(case, passes(case)) for case in sorted(study.cases, key=cost) if case is not subject]
    everywhere = [case_label(case) for case, state in states if state]
    at_median = any(
        check.straddles for case, state in states if state for check in target_checks(case)
    )
    partly = (
        []
        if everywhere or passes(subject) is None
        else [case_label(case) for case, state in states if state is None]
    )
    named = everywhere or partly
    return (
        {
            "labels": named[:MOST_PASSING],
            "more": len(named[MOST_PASSING:]) or None,
            "everywhere": bool(everywhere),
            "at_median": at_median,
        }
        if named
        else None
    )


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
    names = (
        SERVER
        if under_load(subject.case)
        else [metric_of("itl", subject.case) if name == "itl_last" else name for name in REQUEST]
    )
    itl = TARGET_METRICS["itl"]
    names = [at_rate(itl, subject.case) if name == itl else name for name in names]
    return [
        name
        for name in names
        if name and subject.get(name) and (name != "fleet_price" or queues(subject.case))
    ]


def bounds(study: Study) -> list[list[str]]:
    """The latencies, rate and cost of each case at 100 % of peak; empty if no case assumes less."""
    return [
        [marked(case_label(case), case), *bounds_of(case)] for case in study.cases if case.at_peak
    ]


def bounds_of(case: BoundCase) -> list[str]:
    """The latencies, rate and cost of a case at 100 % of peak; empty if the case assumes 100 %."""
    names = (*decision_metrics(case).values(), "cost_per_mtok") if case.at_peak else ()
    return [cell(bound) if (bound := case.peak_bound(name)) else UNKNOWN for name in names]


def _number(name: str, subject: BoundCase, check: TargetCheck | None) -> list[str]:
    return [
        quantity_name(name, subject),
        cell(check.metric, brief(check.metric)) if check else metric(name, subject, in_brief=True),
        cell(bound, brief(bound))
        if name not in UNBOUNDED and (bound := subject.peak_bound(name))
        else "",
        check.bound.plain() if check else _target(name, subject),
        _slack(check) if check else "",
    ]


def _target(name: str, subject: BoundCase) -> str:
    """The target of a metric without a value, such as an unbounded wait."""
    limit = next(
        (
            limit
            for target, limit in subject.targets.items()
            if name in metrics_of(target, subject.case)
        ),
        None,
    )
    return "" if limit is None else limit_of(subject.case.theory.symbol(name), limit).plain()


def _slack(check: TargetCheck) -> str:
    sign = "-" if check.slack < 0 else ""
    return f"{sign}{check.gap.plain(brief(check.metric))}{IN_PART if check.met is None else AT_MEDIAN if check.straddles else ''}"


def decisive_inputs(subject: BoundCase) -> list[list[str]]:
    """Rows of input, value (empty if it is zero, and so not modelled) and evidence: efficiencies, then defaults that could change the verdict."""
    inputs = subject.inputs(
        ("ttft", "itl", "fits") if subject.get("itl") else ("ttft", "fits"), everything=False
    )
    flipping = {flip.name for flip in flips(subject)}
    names = [
        name
        for name in FITTED
        if name in inputs and (name in EFFICIENCIES or not inputs[name].defaulted)
    ] + [
        name
        for name, entry in inputs.items()
        if entry.defaulted and name in flipping - {*EFFICIENCIES}
    ]
    return [
        [
            _explained(name, subject),
            cell(inputs[name]) if inputs[name].value else "",
            _evidence(inputs[name]),
        ]
        for name in names[:MOST_INPUTS]
    ]


def _explained(name: str, subject: BoundCase) -> str:
    """The name of an input; for an abbreviation with its meaning."""
    return input_name(name, subject) + (
        f" ({subject.case.theory.symbol(name).meaning})" if name in EFFICIENCIES else ""
    )


def _evidence(entry: Any) -> str:
    if entry.source == "study":
        return "set in the study"
    return entry.source if not entry.defaulted or entry.source.startswith("default ") else "default"


def gain(changed: BoundCase, subject: BoundCase) -> str:
    """The change of each key metric: ``TTFT -68 %, ITL -74 %, throughput ×3.85``."""
    from symroof.report.view_flips import change

    parts = []
    rate = "sustained_throughput" if subject.get("sustained_throughput") else "decode_throughput"
    latencies = [
        (target.upper(), name)
        for target in ("ttft", "itl")
        if (name := metric_of(target, subject.case))
    ]
    for word, name in (*latencies, ("throughput", rate), ("memory", "memory_bytes")):
        before, after = subject.get(name), changed.get(name)
        if (
            before
            and after
            and isinstance(before.value, float | Fraction)
            and isinstance(after.value, float | Fraction)
            and before.value
        ):
            factor: Any = after.value / before.value
            if abs(factor - 1) >= Fraction(1, 100):
                parts.append(f"{word} {change(factor)}")
    return ", ".join(parts) or UNKNOWN
