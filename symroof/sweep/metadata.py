"""What stands beside the numbers of a sweep: assumptions, inputs and their sources, warnings. The same in every format."""

import itertools
import json
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from symroof.analysis.case_warnings import published_mismatch
from symroof.analysis.verdict import basis_lines
from symroof.cases.quantity_result import Result
from symroof.specs.fields import ValueRange
from symroof.sweep.grid import Grid
from symroof.sweep.sweep_quantities import FITS
from symroof.theory.switches import SWITCHES
from symroof.version import __version__

T = TypeVar("T")


def attributes(grid: Grid, counted: bool = True) -> dict[str, str]:
    """The whole sweep's attributes, each a text: a nested one is JSON, as ``eval --json`` has it. No time of day.

    What does not fit is only ``counted`` where that may take as long as the sweep.
    """
    named = {
        kind: dict.fromkeys(spec.name for case in grid.cases if (spec := getattr(case, kind)))
        for kind in ("model", "hardware")
    }
    texts = {
        "title": grid.title,
        "source": f"symroof {__version__}",
        "models": ", ".join(named["model"]),
        "hardware": ", ".join(named["hardware"]),
        "assumptions": json.dumps(assumptions(grid), ensure_ascii=False),
        "inputs": json.dumps(inputs(grid), ensure_ascii=False),
        "basis": "; ".join(basis_lines(grid.cases)),
        "warnings": "\n".join(warnings(grid, counted)),
    }
    return {name: text for name, text in texts.items() if text}


def assumptions(grid: Grid) -> dict[str, Any]:
    """Every switch with its value (a list where it varies) and whether it is the default; a user-defined theory alone has none."""
    made = {}
    for switch in () if grid.cases[0].theory_only else SWITCHES:
        first, *others = dict.fromkeys(case.assumptions[switch] for case in grid.cases)
        defaulted = all(case.assumptions.defaulted(switch) for case in grid.cases)
        made[switch] = {"value": [first, *others] if others else first, "defaulted": defaulted}
    return made


def inputs(grid: Grid) -> dict[str, Any]:
    """Every input that is no axis, with unit and source; one that differs between labels has a value for each, and says ``over`` which."""
    each: list[dict[str, Any]] = []
    for case in grid.cases:
        names = tuple(name for name in grid.quantities if case.case.has(name))
        known = case.inputs(names or grid.quantities, everything=False)
        each.append({name: x.as_json() for name, x in known.items() if name not in grid.dims})
    made = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(each)):
        entries = _distinct(grid, [entries.get(name) for entries in each])
        cases = [{"when": when, **entry} for when, entry in entries if entry is not None]
        alone = len(entries) == 1 and entries[0][1]
        made[name] = alone or {"over": list(entries[0][0]), "cases": cases}
    return made


def _distinct(grid: Grid, entries: Sequence[T]) -> list[tuple[dict[str, str], T]]:
    """What the cases say, once for each combination of the labels along which they differ."""
    shape = [len(axis) for axis in grid.labelled]
    cube = np.array([json.dumps(entry) for entry in entries]).reshape(shape)
    first = (np.take(cube, [0], axis=k) for k in range(cube.ndim))
    differing = {a.name for a, at in zip(grid.labelled, first, strict=True) if (cube != at).any()}
    distinct: dict[tuple[str, ...], tuple[dict[str, str], T]] = {}
    combinations = itertools.product(*(axis.values for axis in grid.labelled))
    for labels, entry in zip(combinations, entries, strict=True):
        chosen = zip(grid.labelled, labels, strict=True)
        when = {axis.name: str(label) for axis, label in chosen if axis.name in differing}
        distinct.setdefault(tuple(when.values()), (when, entry))
    return list(distinct.values())


def warnings(grid: Grid, counted: bool = True) -> list[str]:
    """Everything that limits the use of its numbers."""
    lines = []
    if counted and grid.unfit:
        lines.append(
            f"{grid.unfit:,} of {grid.points:,} points do not fit in memory: no latency, rate or cost of them can be reached (`fits`)"
        )
    lines += [*_evaluated_at(grid), *missing_values(grid)]
    for case in grid.cases:
        lines += [*case.warnings, *filter(None, [published_mismatch(case)])]
    return list(dict.fromkeys(lines))


def missing_values(grid: Grid) -> list[str]:
    """What has no value for some of the labels: the first of them, how many more, and why."""
    lines = []
    for name in dict.fromkeys((*grid.quantities, FITS)):
        found = _distinct(grid, [lacking.get(name) for lacking in grid.missing])
        lack = [(when, why) for when, why in found if why is not None]
        if not lack:
            continue
        when, why = lack[0]
        labels = ", ".join(f"{axis}={label}" for axis, label in when.items())
        where = f" where {labels}" if when else " anywhere"
        more = f" (and for {len(lack) - 1} more)" if len(lack) > 1 else ""
        what = "whether it fits in memory is not known" if name == FITS else f"{name} has no value"
        lines.append(f"{what}{where}{more}: {why}")
    return lines


def _evaluated_at(grid: Grid) -> list[str]:
    """Ranged inputs are at their middle on a grid, and list prices at their median; these and measured efficiencies have their ends beside."""
    lines = []
    for case in grid.cases:
        for name in case.box:
            given, symbol = case.given[name], case.case.theory.symbol(name)
            if not given.measured and isinstance(span := given.setting, ValueRange):
                middle = Result(symbol, span.middle).text()
                lines.append(f"{name} is given as {span.text}: evaluated at its middle, {middle}")
    if any(case.priced(name) for case in grid.cases for name in grid.quantities):
        lines.append(
            "list prices of a device are several: evaluated at their median, between their ends"
        )
    return lines
