"""The metadata of a sweep: assumptions, inputs and their sources, warnings, units. The same in every format."""

import itertools
import json
from collections.abc import Sequence
from typing import Any, TypeVar

from symroof.analysis.verdict import basis_lines, published_mismatch
from symroof.sweep.axes import Axis
from symroof.sweep.plan import TRUTH, Plan, Variable
from symroof.sweep.sweep_quantities import FITS
from symroof.theory.switches import SWITCHES
from symroof.version import __version__

SCHEMA = "symroof/sweep/2"
T = TypeVar("T")


def attributes(plan: Plan, unfit: int = 0) -> dict[str, str]:
    """The whole sweep's attributes, each a text: a nested one is JSON, as ``eval --json`` has it. No time of day."""
    texts = {
        "title": plan.title,
        "source": f"symroof {__version__}",
        "models": ", ".join(named(plan, "model")),
        "hardware": ", ".join(named(plan, "hardware")),
        "assumptions": json.dumps(assumptions(plan), ensure_ascii=False),
        "inputs": json.dumps(inputs(plan), ensure_ascii=False),
        "basis": "; ".join(basis_lines(plan.cases)),
        "warnings": "\n".join(warnings(plan, unfit)),
    }
    return {name: text for name, text in texts.items() if text}


def variable_attributes(variable: Variable) -> dict[str, str]:
    """Unit, as in the contract (the empty text is a plain number), and meaning."""
    return {"units": variable.unit or "1", "long_name": variable.long_name}


def axis_attributes(axis: Axis) -> dict[str, str]:
    return (
        {"long_name": axis.long_name}
        if axis.named
        else {"units": axis.unit or "1", "long_name": axis.long_name}
    )


def named(plan: Plan, kind: str) -> list[str]:
    """The models or devices of the sweep, each once."""
    specs = (getattr(case, kind) for case in plan.cases)
    return list(dict.fromkeys(spec.name for spec in specs if spec))


def assumptions(plan: Plan) -> dict[str, Any]:
    """Every switch with its value (a list where it varies) and whether it is the default; a user-defined theory alone has none."""
    switches = {}
    for switch in () if plan.cases[0].theory_only else SWITCHES:
        values = list(dict.fromkeys(case.assumptions[switch] for case in plan.cases))
        defaulted = all(case.assumptions.defaulted(switch) for case in plan.cases)
        switches[switch] = {
            "value": values[0] if len(values) == 1 else values,
            "defaulted": defaulted,
        }
    return switches


def inputs(plan: Plan) -> dict[str, Any]:
    """Every input that is no axis, with unit and source; one that differs between labels has a value for each, and says ``over`` which."""
    moved = set(plan.dims)
    each = [
        {
            name: entry.as_json()
            for name, entry in case.inputs(
                tuple(n for n in plan.quantities if n not in lacking), everything=False
            ).items()
            if name not in moved
        }
        for case, lacking in zip(plan.cases, plan.missing, strict=True)
    ]
    return {
        name: _over(plan, [entries.get(name) for entries in each])
        for name in dict.fromkeys(name for entries in each for name in entries)
    }


def _over(plan: Plan, entries: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """One entry where all cases say the same; else one for each combination of the labels along which they differ."""
    differing = _distinct_entries(plan, entries)
    if len(differing) == 1 and entries[0] is not None:
        return entries[0]
    return {
        "over": list(differing[0][0]),
        "cases": [{"when": when, **entry} for when, entry in differing if entry is not None],
    }


def _distinct_entries(plan: Plan, entries: Sequence[T]) -> list[tuple[dict[str, str], T]]:
    """What the cases say, once for each combination of the labels along which they differ."""
    differing = plan.axes_that_differ(entries)
    distinct: dict[tuple[str, ...], tuple[dict[str, str], T]] = {}
    for labels, entry in zip(
        itertools.product(*(axis.values for axis in plan.labelled)), entries, strict=True
    ):
        when = {
            axis.name: str(label)
            for axis, label in zip(plan.labelled, labels, strict=True)
            if axis.name in differing
        }
        distinct.setdefault(tuple(when.values()), (when, entry))
    return list(distinct.values())


def warnings(plan: Plan, unfit: int = 0) -> list[str]:
    """Everything that limits the use of its numbers."""
    lines = (
        [
            f"{unfit:,} of {plan.points:,} points do not fit in memory: no latency, rate or cost of them can be reached (`fits`)"
        ]
        if unfit
        else []
    )
    lines += [*plan.notes, *missing_values(plan)]
    for case in plan.cases:
        published = published_mismatch(case)
        lines += [*case.warnings, *([published] if published else [])]
    return list(dict.fromkeys(lines))


def missing_values(plan: Plan) -> list[str]:
    """What has no value for some of the labels: the first of them, how many more, and why."""
    lines = []
    for name in plan.quantities:
        lack = [
            (when, why)
            for when, why in _distinct_entries(
                plan, [lacking.get(name) for lacking in plan.missing_anywhere]
            )
            if why is not None
        ]
        if lack:
            when, why = lack[0]
            where = (
                f" where {', '.join(f'{axis}={label}' for axis, label in when.items())}"
                if when
                else " anywhere"
            )
            more = f" (and for {len(lack) - 1} more)" if len(lack) > 1 else ""
            what = (
                "whether it fits in memory is not known" if name == FITS else f"{name} has no value"
            )
            lines.append(f"{what}{where}{more}: {why.removeprefix('has no value here: ')}")
    return lines


def flags(variable: Variable) -> dict[str, Any]:
    """How whole numbers encode labels, as the CF conventions say it; a truth is one in the way of xarray."""
    import numpy as np

    if variable.kind == TRUTH and variable.everywhere:
        return {"dtype": "bool"}
    words = ("no", "yes") if variable.kind == TRUTH else variable.labels
    return {
        "flag_values": np.arange(-1, len(words), dtype=np.int8),
        "flag_meanings": " ".join(("none", *words)),
    }
