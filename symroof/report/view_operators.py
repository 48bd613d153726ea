"""Data of a review: the operators of each step with share, bound and intensity."""

import contextlib
from fractions import Fraction
from typing import Any

from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import Result
from symroof.report.field_names import operator_name
from symroof.report.view_case import cell
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import label
from symroof.table_formats import UNKNOWN
from symroof.theory.operators import Operator
from symroof.theory.quantities import QUANTITIES
from symroof.theory.steps import STEPS
from symroof.theory.symbols import named
from symroof.units import format_quantity, significant


def operators(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """One table for each step with a known time."""
    tables = [table for step in STEPS if (table := phase(step.name, subject))]
    return [{key: value for key, value in table.items() if key != "entries"} for table in tables]


def phase(step: str, subject: BoundCase) -> dict[str, Any] | None:
    """The operators of one step, the slowest first."""
    if subject.get(f"{step}_roofline_time") is None:
        return None
    entries = [entry(step, operator, subject) for operator in subject.case.theory.operators[step]]
    whole = sum((e["time"].value for e in entries), Fraction(0))
    entries.sort(key=lambda e: -e["time"].value)
    several = len({e["layer"] for e in entries if e["layer"]}) > 1
    rows = [row(e, whole, several) for e in entries]
    link, overhead = subject.get(f"{step}_link_time"), subject.get(f"{step}_overhead")
    return {
        "step": step,
        "rows": rows,
        "link": link.plain(3) if link and link.value else None,
        "overhead": overhead.plain(3) if overhead and overhead.value else None,
        "traffic_between": bool((between := subject.get("elementwise_bytes")) and between.value),
        "entries": entries,
    }


def entry(step: str, operator: Operator, subject: BoundCase) -> dict[str, Any]:
    """Time, bound and intensity of an operator over all its layers."""
    time = subject.formula(operator.roofline_time, QUANTITIES[f"{step}_roofline_time"], timed=True)
    amounts = (operator.flops, operator.bytes, operator.device_flops, operator.device_bytes)
    flops, moved, own_flops, own_moved = (
        subject.case.evaluate(operator.count * tree) for tree in amounts
    )
    arms = label((("compute", operator.compute_time), ("memory", operator.memory_time)))
    bound = [str(subject.case.evaluate(arms))]
    with contextlib.suppress(NoValue):
        bound = list(subject.ranges.labels(named(arms))) if subject.box else bound
    return {
        "operator": operator.name, "layer": operator.layer, "time": time, "flops": flops, "bytes": moved, "device_flops": own_flops,
        "intensity": own_flops / own_moved if own_moved else None, "bound": bound,
    }  # fmt: skip


def row(e: dict[str, Any], whole: Fraction, several: bool) -> list[Any]:
    time: Result = e["time"]
    name = operator_name(e["operator"]) + (f" ({e['layer']})" if several and e["layer"] else "")
    intensity = significant(e["intensity"], 4) if e["intensity"] is not None else UNKNOWN
    share = f"{float(time.value / whole) * 100:.1f} %" if whole else UNKNOWN
    return [
        name,
        share,
        cell(time),
        " or ".join(e["bound"]),
        intensity,
        format_quantity(e["flops"], "FLOP"),
        format_quantity(e["bytes"], "byte"),
    ]
