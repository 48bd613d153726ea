"""A selection for programs: base units, integers exact, everything that the tables say and what they leave out."""

from dataclasses import asdict
from typing import Any

from symroof.analysis.case_summary import case_warnings
from symroof.analysis.study import Track, untracked
from symroof.analysis.verdict import TARGET_METRICS, TargetCheck, metrics_of
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import plain_value
from symroof.select.configuration import Configuration
from symroof.select.selection import Selection
from symroof.theory.switches import SWITCHES
from symroof.theory.theory_files import listed

QUANTITIES = listed("shown", "selection")
"""The quantities of each run; what a selection shows depends on nothing else."""
COMPUTED = 20
"""Configurations with exact quantities; of the others the verdict and what they are compared by."""


def selection_json(
    choice: Selection, track: Track = untracked, most: int = COMPUTED
) -> dict[str, Any]:
    """The whole selection, the first ``most`` configurations computed.

    The form is in the docstring of :mod:`symroof.cli.select_command`.
    """
    return {
        "schema": "symroof/select/1",
        "targets": {name: target_json(choice, name) for name in choice.targets},
        "sorted_by": choice.order,
        "basis": list(choice.basis),
        "passing": len(choice.passing),
        "configurations": [
            configuration_json(c, place < most)
            for place, c in enumerate(track(choice.configurations, "evaluating configurations"))
        ],
    }


def target_json(choice: Selection, name: str) -> dict[str, Any]:
    """A target: its limit, what it is compared with, and the percentile that it is of."""
    case = choice.configurations[0].own.case
    unit = case.theory.symbol(TARGET_METRICS[name]).unit
    limit, metric = plain_value(choice.targets[name]), metrics_of(name, case)[0]
    statistic = choice.study.request.percentiles.get(name)
    own = {"value": limit, "unit": unit, "metric": metric}
    return own | ({"statistic": statistic} if statistic else {})


def configuration_json(c: Configuration, worked_out: bool = True) -> dict[str, Any]:
    """One configuration: what it is, its verdict, what it gives; computed also its checks and its inputs."""
    if worked_out or c.screened is None:
        return {**_verdict(c), "worked_out": True, **_computed(c)}
    unit_of, values = c.own.case.theory.symbol, c.screened.values
    compared = {name: {"value": x, "unit": unit_of(name).unit} for name, x in values.items()}
    return {**_verdict(c), "worked_out": False, "quantities": compared}


def _verdict(c: Configuration) -> dict[str, Any]:
    case = c.own
    return {
        "label": c.label,
        "model": case.model.name if case.model else None,
        "hardware": case.hardware.name if case.hardware else None,
        "precisions": dict(case.precisions),
        "varied": dict(case.varied),
        "batch": c.batch,
        "copies": c.copies,
        "scheduling": case.assumptions["scheduling"],
        "layout": {name: plain_value(value) for name, value in c.layout.items()},
        "prefill": {name: int(value) for name, value in case.request.prefill.items()},
        "batch_chosen": c.chosen,
        "state": c.state,
        "missed": list(c.missed),
        "batches": asdict(c.window) if c.window else None,
    }


def _computed(c: Configuration) -> dict[str, Any]:
    """What takes an evaluation of the whole case."""
    bound_case, assumed = c.case, c.case.assumptions
    inputs = bound_case.inputs(tuple(_quantities(bound_case)), False)
    return {
        "checks": {check.name: check_json(check) for check in c.checks},
        "unknown": c.unknown,
        "quantities": _quantities(bound_case),
        "inputs": {name: entry.as_json() for name, entry in inputs.items()},
        "assumptions": {
            s: {"value": assumed[s], "defaulted": assumed.defaulted(s)} for s in SWITCHES
        },
        "warnings": case_warnings(bound_case),
    }


def check_json(check: TargetCheck) -> dict[str, Any]:
    """One condition: metric, limit, whether it is met (null: in a part of the ranges), the slack, also as a share of the limit; ``straddles``: whether
    other list prices than the median, which ``met`` is at, would change that."""
    own = check.metric.as_json() | {
        "metric": check.metric.name,
        "limit": plain_value(check.limit),
        "met": check.met,
        "slack": plain_value(check.slack),
        "share": plain_value(check.slack / check.limit if check.limit else None),
    }
    if check.statistic != "mean":
        own |= {"statistic": check.statistic, "decided_by": "simulation"}
    return own | ({"straddles": check.straddles} if check.metric.at_median else {})


def _quantities(case: BoundCase) -> dict[str, dict[str, Any]]:
    return {name: case.json_with_bound(name) for name in QUANTITIES if case.get(name) is not None}
