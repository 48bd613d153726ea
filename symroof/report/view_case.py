"""Data of a review: the case table, inputs and assumptions, memory."""

from collections.abc import Iterable
from typing import Any

from symroof.analysis.study import Study
from symroof.analysis.verdict import (
    ISOLATED_METRICS,
    TARGET_METRICS,
    at_rate,
    overloaded,
    under_load,
)
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.report.field_names import input_name, short_label
from symroof.report.markup import Code, Ranged, symbol
from symroof.specs.efficiencies import FITTED
from symroof.symbolic.reading import parse
from symroof.table_formats import UNKNOWN
from symroof.theory.quantities import QUANTITIES
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import TARGET_SYMBOLS
from symroof.theory.theory_files import column


def shown(result: Result | None) -> str:
    """A result as text, or "not known". The flag "does not fit" is shown with the case, not with each number."""
    return cell(result) if result else UNKNOWN


NO_STEADY_STATE = "unbounded: the queue has no steady state"
"""TTFT of an overloaded server."""


def metric(name: str, case: BoundCase) -> str:
    """A metric of a case as text, including the TTFT of an overloaded server."""
    result = case.get(name)
    if result is None and name == TARGET_METRICS["ttft"] and overloaded(case):
        return NO_STEADY_STATE
    return shown(result)


def cell(result: Result, digits: int = 3) -> str:
    """A result as a table cell, with its range separate."""
    value, span = result.in_two(digits)
    return Ranged(value, span) if span else value


def marked(label: str, case: BoundCase) -> str:
    """The label of a case, with † if it does not fit in memory."""
    return f"{label} †" if case.does_not_fit else label


def decision_metrics(case: BoundCase) -> dict[str, str]:
    """The latencies and rate that targets apply to: of a server under load, or of one request alone.

    >>> decision_metrics(Study("llama-3-8b", "h100-sxm", prompt=4096, output=256).first)
    {'ttft': 'loaded_ttft', 'itl': 'sustained_itl', 'rate': 'sustained_throughput'}
    """
    if under_load(case.case):
        ttft, itl = TARGET_METRICS["ttft"], at_rate(TARGET_METRICS["itl"], case.case)
        return {"ttft": ttft, "itl": itl, "rate": "sustained_throughput"}
    last = next((name for name in ISOLATED_METRICS["itl"] if case.get(name)), "itl")
    return {"ttft": "ttft", "itl": last, "rate": "decode_throughput"}


def bounds(study: Study, subject: BoundCase) -> list[list[str]]:
    """The latencies, rate and cost of each case at 100 % of peak; empty if no case assumes less."""
    rows = []
    for case in study.cases:
        if case.at_peak:
            found = map(case.peak_bound, (*decision_metrics(case).values(), "cost_per_mtok"))
            cells = [cell(bound) if bound else UNKNOWN for bound in found]
            rows.append([marked(short_label(case), case), *cells])
    return rows


MOST_INPUTS = 8
CHANGED = {*column("moving", "assumed")} - {"mfu", "mbu"}
"""Inputs whose defaults people change most often."""


def assumes(study: Study, subject: BoundCase) -> list[list[str]]:
    """Rows of input, value and source: efficiencies, then defaults that people change."""
    latencies = ("ttft", "itl") if subject.get("itl") else ("ttft",)
    inputs = subject.inputs((*latencies, "fits"), everything=False)
    names = [n for n in FITTED if n in inputs and (n in ("mfu", "mbu") or not inputs[n].defaulted)]
    names += [name for name, entry in inputs.items() if entry.defaulted and name in CHANGED]
    rows = []
    for name in names[:MOST_INPUTS]:
        entry, words = inputs[name], input_name(name, subject)
        if name in ("mfu", "mbu"):
            words += f" ({subject.case.theory.symbol(name).meaning})"
        source = "set in the study" if entry.source == "study" else entry.source
        source = "default" if entry.defaulted and not source.startswith("default ") else source
        rows.append([words, cell(entry) if entry.value else "none", source])
    return rows


REPORTED = (
    "memory_bytes",
    "fits",
    "memory_utilization",
    "ttft",
    "itl_last",
    "decode_time",
    "prefill_mfu",
    "decode_mbu",
    "sustained_throughput",
    *TARGET_METRICS.values(),
    *TARGET_SYMBOLS.values(),
)
"""The quantities of a review, whose inputs are listed."""


def ledger(study: Study, subject: BoundCase) -> dict[str, Any]:
    """Inputs with sources, assumptions with meanings, defaults separately."""
    inputs = subject.inputs(tuple(name for name in REPORTED if subject.get(name)), everything=False)
    chosen, rows, switches = subject.assumptions, ([], []), ([], [])  # type: ignore[var-annotated]
    for name, one in inputs.items():
        last = one.symbol.meaning if one.defaulted else one.source
        written = symbol(subject.case.theory.latex(name))
        rows[bool(one.defaulted)].append([Code(name), written, one.plain(), last])
    for name, switch in SWITCHES.items():
        row = [Code(name), Code(chosen[name]), switch.values[chosen[name]]]
        switches[bool(chosen.defaulted(name))].append(row)
    shown = {"chosen_inputs": rows[0], "defaulted": rows[1]}
    shown |= {"chosen": switches[0], "standard": switches[1]}
    precisions = [[role, Code(name)] for role, name in subject.precisions.items()]
    return shown | {"precisions": precisions, "compute": subject.compute}


PARTS = {
    "weight_bytes_per_device": "weights",
    "peak_kv_cache_bytes_per_device": "cache",
    "state_bytes_per_device": "state",
    "memory_reserve": "reserve",
}
"""Parts of the memory of the most loaded device, with their labels."""


def memory_parts(cases: Iterable[BoundCase]) -> dict[str, str]:
    """The parts to show: recurrent state and reserve only if some case has them."""
    listed, kept = list(cases), [*PARTS][:2]
    return {n: w for n, w in PARTS.items() if n in kept or any(c.case.value(n) for c in listed)}


def memory_part(name: str, case: BoundCase) -> Result:
    """A part of the memory on all devices of an instance, each counted as the most loaded one: the parts add up to ``memory_bytes``."""
    return case.formula(parse(f"{name}*instance_devices"), QUANTITIES["memory_bytes"])


def memory(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """Memory by part for every case; None if a size is unknown."""
    if subject.get("memory_bytes") is None:
        return None
    sized = [case for case in study.cases if case.get("memory_bytes")]
    parts, rows = memory_parts(sized), []
    for case in sized:
        sizes = [cell(memory_part(name, case)) for name in parts]
        ends = cell(case.result("memory_bytes")), shown(case.get("usable_memory")), shown(case.fits)
        rows.append([marked(short_label(case), case), *sizes, *ends])
    reserve, share = (subject.case.value(f"memory_{name}") for name in ("reserve", "share"))
    return {
        "concurrency": held.plain() if (held := subject.get("concurrency")) else UNKNOWN,
        "header": [word.capitalize() for word in parts.values()],
        "rows": rows,
        "all_usable": bool(reserve == 0 and share == 1),
    }
