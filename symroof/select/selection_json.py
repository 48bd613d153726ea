"""A selection for programs: base units, integers exact, everything that the tables say and what they leave out."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from symroof.analysis.sensitivity import elasticities_over_ranges
from symroof.analysis.tipping_points import Flip
from symroof.analysis.tracking import Track, untracked
from symroof.analysis.verdict import TARGET_METRICS, TargetCheck, case_warnings, metrics_of
from symroof.cases.quantity_result import plain_value
from symroof.select.configuration import Configuration, Run
from symroof.select.required_changes import (
    Lever,
    combined_change,
    last_passing,
    margins,
    required_changes,
)
from symroof.select.selection import BESTS, NEAREST_MISSES, Front, Selection, nearest_misses
from symroof.theory.switches import SWITCHES

QUANTITIES = (
    "memory_bytes", "usable_memory", "sustained_itl", "loaded_itl", "loaded_ttft", "worst_itl", "sustained_requests", "sustained_throughput",
    "sustained_throughput_per_device", "load", "cost_per_mtok", "cost_per_mtok_at_rate", "cost_per_request", "devices", "fleet_price",
    "ttft", "itl", "itl_last", "response_time", "decode_throughput", "decode_throughput_per_device", "decode_cost_per_mtok", "instance_price",
)  # fmt: skip
"""The quantities of each run; what a selection shows depends on nothing else."""


COMPUTED = 20
"""Configurations with exact quantities, headroom and elasticities; of the others the verdict and what they are compared by."""


def selection_json(
    choice: Selection, track: Track = untracked, most: int = COMPUTED, lacking: int = NEAREST_MISSES
) -> dict[str, Any]:
    """The whole selection, the first ``most`` configurations computed, and what ``lacking`` of the nearest misses lack.

    The form is in the docstring of :mod:`symroof.cli.select_command`.
    """
    short = {id(c) for c in nearest_misses(choice)[:lacking]}
    worked_out = {id(c) for c in choice.configurations[:most]} | short
    places = {id(c): i for i, c in enumerate(choice.configurations)}
    owner = {id(run): places[id(c)] for c in choice.configurations for run in (c.run, *c.runs)}
    return {
        "schema": "symroof/select/1",
        "targets": {
            name: {
                "value": plain_value(limit),
                "unit": _unit(choice, name),
                "metric": metrics_of(name, choice.configurations[0].run.own.case)[0],
            }
            | (
                {"statistic": statistic}
                if (statistic := choice.study.request.percentiles.get(name))
                else {}
            )
            for name, limit in choice.targets.items()
        },
        "sorted_by": choice.order,
        "basis": list(choice.basis),
        "passing": len(choice.passing),
        "configurations": [
            configuration_json(c, id(c) in worked_out, id(c) in short)
            for c in track(choice.configurations, "solving for configurations")
        ],
        "best": {
            what: _place(best, owner, [BESTS[what][0]]) if (best := choice.best(what)) else None
            for what in BESTS
        },
        "fronts": [
            *_fronts(choice.fronts, "passing", owner),
            *_fronts(choice.fitting_fronts, "fitting", owner),
        ],
    }


def _unit(choice: Selection, name: str) -> str:
    return choice.configurations[0].run.bound_case.case.theory.symbol(TARGET_METRICS[name]).unit


def configuration_json(
    c: Configuration, worked_out: bool = True, short: bool = True
) -> dict[str, Any]:
    """One configuration: what it is, its verdict, what it gives; computed also its checks and its sensitivities; ``short`` what it lacks."""
    entry = {**_verdict(c), "worked_out": worked_out or not c.run.quick}
    return {
        **entry,
        **(_solved(c, short) if entry["worked_out"] else {"quantities": _compared(c.run)}),
    }


def _verdict(c: Configuration) -> dict[str, Any]:
    case = c.run.own
    return {
        "label": c.label,
        "model": case.model.name if case.model else None,
        "hardware": case.hardware.name if case.hardware else None,
        "precisions": dict(case.precisions),
        "varied": dict(case.varied),
        "batch": c.run.batch,
        "copies": c.run.copies,
        "scheduling": case.assumptions["scheduling"],
        "layout": {name: plain_value(value) for name, value in c.run.layout.items()},
        "batch_chosen": c.chosen,
        "state": c.state,
        "missed": list(c.run.missed),
        "batches": asdict(c.window) if c.window else None,
    }


def _compared(run: Run) -> dict[str, dict[str, Any]]:
    """The quantities that configurations are compared by, as floats."""
    return {
        name: {"value": value, "unit": run.own.case.theory.symbol(name).unit}
        for name, value in run.quick.items()
    }


def _solved(c: Configuration, short: bool) -> dict[str, Any]:
    """What takes solving."""
    bound_case = c.run.bound_case
    failing, passing = c.state in ("fails", "in part") and c.run.missed, c.run.passes
    bought = combined_change(bound_case) if failing and short else None
    return {
        "checks": {check.name: check_json(check) for check in c.run.checks},
        "unknown": c.run.unknown,
        "quantities": dict(_quantities(c.run)),
        "at_largest_batch": dict(_quantities(c.largest)) if c.largest else None,
        "lacks": [lever_json(lever) for lever in required_changes(bound_case)]
        if failing and short
        else None
        if failing
        else [],
        "together": {name: result.as_json() for name, result in bought.items()} if bought else None,
        "keeps": [margin_json(keep) for keep in margins(bound_case.slow_end)] if passing else [],
        "elasticities": {
            metric: {by: _elasticity(c.run, metric, by) for by in ("peak_flops", "mem_bandwidth")}
            for metric in ("ttft", "itl", "sustained_itl")
        },
        "inputs": {
            name: entry.as_json() for name, entry in bound_case.inputs(_known(c.run), False).items()
        },
        "assumptions": {
            s: {
                "value": bound_case.assumptions[s],
                "defaulted": bound_case.assumptions.defaulted(s),
            }
            for s in SWITCHES
        },
        "warnings": case_warnings(bound_case),
    }


def check_json(check: TargetCheck) -> dict[str, Any]:
    """One condition: metric, limit, whether it is met (null: in a part of the ranges), the slack, also as a share of the limit; ``straddles``: whether
    other list prices than the median, which ``met`` is at, would change that."""
    share = check.slack / check.limit if check.limit else None
    own = {
        "metric": check.metric.name,
        "limit": plain_value(check.limit),
        "met": check.met,
        "slack": plain_value(check.slack),
        "share": plain_value(share),
    }
    own |= (
        {}
        if check.statistic == "mean"
        else {"statistic": check.statistic, "decided_by": "simulation"}
    )
    return {
        **check.metric.as_json(),
        **own,
        **({"straddles": check.straddles} if check.metric.at_median else {}),
    }


def _known(run: Run) -> tuple[str, ...]:
    return tuple(name for name in QUANTITIES if run.bound_case.get(name) is not None)


def _quantities(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((name, run.bound_case.json_with_bound(name)) for name in _known(run))


def lever_json(lever: Lever) -> dict[str, Any]:
    """One input of a failing configuration: the value at which everything holds, or what keeps it from that."""
    flip = lever.flip
    return {
        "input": lever.name,
        "now": plain_value(lever.now.value),
        "unit": lever.now.symbol.unit,
        "value": plain_value(lever.value),
        "side": None if flip is None else "at_least" if flip.up else "at_most",
        **(
            {"low": plain_value(flip.low), "high": plain_value(flip.high)}
            if flip and flip.low is not None
            else {}
        ),
        "cures": {name: plain_value(cure.value) for name, cure in lever.cures},
        "stuck": {
            name: {**best.as_json(), "metric": best.name} if best else None
            for name, best in lever.stuck
        },
        "unsolved": list(lever.unsolved),
        "breaks": list(lever.breaks),
    }


def margin_json(flip: Flip) -> dict[str, Any]:
    """One input of a passing configuration: the last value that passes, and the condition that breaks behind it."""
    return {
        "input": flip.name,
        "now": plain_value(flip.now.value),
        "unit": flip.now.symbol.unit,
        "value": plain_value(last_passing(flip)),
        "side": "at_most" if flip.up else "at_least",
        "breaks": flip.condition,
    }


def _elasticity(run: Run, metric: str, by: str) -> Any:
    span = elasticities_over_ranges(run.bound_case, metric, (by,)).get(by)
    return plain_value(span[0]) if span else None


def _place(run: Run, owner: dict[int, int], names: list[str]) -> dict[str, Any]:
    """A run by the place of its configuration in the list, its batch, and some of its quantities."""
    values = {
        result.name: result.as_json() for name in names if (result := run.result(name)) is not None
    }
    return {"configuration": owner[id(run)], "batch": run.batch, "values": values}


def _fronts(fronts: tuple[Front, ...], over: str, owner: dict[int, int]) -> list[dict[str, Any]]:
    return [
        {
            "over": over,
            "respects": [
                {"quantity": name, "better": "larger" if larger else "smaller"}
                for name, larger in f.respects
            ],
            "runs": [_place(run, owner, [name for name, _ in f.respects]) for run in f.runs],
        }
        for f in fronts
    ]
