"""Data of the verdict: fit, targets, bottleneck, changes. The wording is in the template."""

import contextlib
from fractions import Fraction
from typing import Any

from symroof.analysis.case_titles import case_label, case_title, devices
from symroof.analysis.constraints import passes
from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.study import Study
from symroof.analysis.verdict import findings, target_checks, unknown_targets
from symroof.cases.bind_cases import variant
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError
from symroof.report.recommendation import LARGEST_GROUP, NARROWER, beyond_reach, recommendation
from symroof.report.view_case import all_usable, brief, case_row, shown, target_row, targets_outcome
from symroof.report.view_decision import bounds_of, gain
from symroof.report.view_latency import bound_of
from symroof.report.view_options import options
from symroof.symbolic.evaluation import NoValue
from symroof.table_formats import UNKNOWN
from symroof.units import format_quantity

DIGITS = 3
"""Significant digits of sizes in prose."""


def verdict(study: Study, subject: BoundCase) -> dict[str, Any]:
    """State, numbers, bottleneck and alternatives."""
    checks = [target_row(check) for check in target_checks(subject)]
    tried = alternatives(study, subject)
    recommended, recommended_case = recommendation(study, subject)
    enough = (
        (True,) if passes(subject) is None else (True, None)
    )  # if the case passes at the middle of its ranges, alternatives must pass throughout
    return {
        "state": state(subject),
        "case": case_title(subject)
        + (
            ", batch 1 (not set)"
            if subject.hardware and "prompt" in subject.given and "batch" not in subject.given
            else ""
        ),
        "needed": in_prose(subject, "memory_bytes"),
        "usable": in_prose(subject, "usable_memory"),
        "short": _short_of(subject),
        "spare": in_prose(subject, "free_memory"),
        "devices": devices(subject),
        "targets": checks,
        "unjudged": unknown_targets(subject),
        "prefill_bound": bound_of("prefill", subject),
        "decode_bound": bound_of("decode", subject),
        "prefill_intensity": in_prose(subject, "prefill_intensity"),
        "decode_intensity": in_prose(subject, "decode_intensity"),
        "ridge": in_prose(subject, "effective_ridge"),
        "alternatives": tried,
        "at_corners": not subject.between_corners().search_inside,
        "good": [entry for entry in tried if entry["passes"] in enough],
        "fitting": [entry for entry in tried if entry["fits"]],
        "ridge_batch": _solved("batch_to_ridge", subject),
        "limits": {
            name: _solved(name, subject)
            for name in (
                "max_batch_memory",
                "max_prompt_ttft",
                "max_batch_itl",
                "min_devices_memory",
                "min_devices_ttft",
                "context_beyond_ridge",
            )
        },
        "ttft": shown(subject.get("ttft")),
        "itl": shown(subject.get("itl_last") or subject.get("itl")),
        "rate": shown(subject.get("decode_throughput")),
        "all_usable": all_usable(subject),
        "others": others(study, subject),
        "recommended": recommended,
        "options": options(study, subject, recommended_case),
        "beyond": beyond_reach(subject),
    }


def in_prose(subject: BoundCase, name: str) -> str:
    """A value rounded for prose, or "not known"."""
    result = subject.get(name)
    return result.plain(brief(result)) if result else UNKNOWN


def others(study: Study, subject: BoundCase) -> dict[str, list[str]]:
    """The labels of the other cases by outcome."""
    by_state: dict[str, list[str]] = {"does_not_fit": [], "missed": [], "not_known": [], "met": []}
    for case in study.cases:
        if case is not subject:
            wrong = findings(case)
            amounts = (
                "does_not_fit"
                if "does_not_fit" in wrong
                else "missed"
                if wrong
                else "not_known"
                if unknown_targets(case)
                else "met"
            )
            by_state[amounts].append(case_label(case))
    return by_state


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


def _solved(name: str, subject: BoundCase) -> dict[str, Any] | None:
    try:
        solution: Solution = solve(name, subject)
    except (InputError, NoValue):
        return None
    whole = next(iter(solution.integer.values())) if solution.integer else None
    return {
        "shown": solution.in_ranges(),
        "exists": solution.value is not None,
        "memory": solution.within_memory,
        "number": f"{whole:,}" if whole is not None else None,
    }


def alternatives(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """The results of one change at a time: fit, targets, metrics."""
    rows: list[dict[str, Any]] = []
    own = case_row(subject)
    for kind, label, other in _changes(study, subject):
        changed = other.between_corners()
        row = case_row(changed)
        if all(row[name] == own[name] for name in ("memory", "ttft", "itl", "rate")):
            continue  # the change has no effect here
        rows.append(
            {
                **row,
                "kind": kind,
                "label": label,
                "fits": not changed.does_not_fit and changed.fits is not None,
                "shown_fits": row["fits"],
                "bounds": bounds_of(changed),
                "gain": gain(changed, subject),
                "passes": passes(changed),
            }
        )
    return rows


def _changes(study: Study, subject: BoundCase) -> list[tuple[str, str, BoundCase]]:
    changes: list[tuple[str, str, BoundCase]] = []
    batch = subject.case.value("batch")
    largest = subject.get("concurrency")
    if (
        largest is not None
        and isinstance(largest.value, float | Fraction)
        and 1 <= largest.value < batch
    ):
        changes.append(("batch", f"{int(largest.value):,}", variant(subject, batch=largest.value)))
    group = devices(subject)
    while group * 2 <= LARGEST_GROUP:
        group *= 2
        with contextlib.suppress(InputError):  # the heads cannot be divided this way
            changes.append(("devices", str(group), variant(subject, tp=group)))
    changes += _narrower(subject)
    own = subject.hardware.name if subject.hardware else None
    first_on: dict[str, tuple[str, BoundCase]] = {}
    for case in study.cases:
        device = case.hardware
        if device and device.name != own:
            first_on.setdefault(device.name, (device.title, case))
    return changes + [
        ("hardware", title, variant(subject, on=other)) for title, other in first_on.values()
    ]


def _narrower(subject: BoundCase) -> list[tuple[str, str, BoundCase]]:
    """Narrower weights and cache; the compute precision, and so the FLOP/s, stays unchanged."""
    changes = []
    device = subject.hardware
    kv = subject.precisions.get("kv", "")
    weights = subject.precisions.get("weights", "")
    if kv in NARROWER and "kv_bytes_per_element" not in subject.request.values:
        changes.append(("kv", "fp8", variant(subject, kv="fp8")))
    for name in NARROWER.get(weights, ()):
        if device and name in device.peaks:
            changes.append(("weights", name, variant(subject, weights=name)))
            break
    if weights in NARROWER:
        changes.append(("weights", "int4-g128", variant(subject, weights="int4-g128")))
    return changes
