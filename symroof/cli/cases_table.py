"""Several cases of ``symroof eval``, one in a row; and single quantities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symroof.analysis.case_summary import (
    MARK,
    MEMORY_SHARE,
    added_token,
    both,
    compact,
    limit_word,
    used_memory,
)
from symroof.analysis.verdict import LOAD, efficiency_basis, target_checks, waits_without_end
from symroof.cases.bound_case import BoundCase
from symroof.cli.case_screen import ALL, assumed
from symroof.cli.terminal import fits, fitted_table, warning_lines, wrapped
from symroof.report.field_names import short_label
from symroof.table_formats import FAILS, IN_PART, PASSES

COMPARED = {
    "TTFT": ("loaded_ttft", "ttft"),
    "ITL": ("loaded_itl", "itl"),
    "tok/s/GPU": ("sustained_throughput_per_device", "decode_throughput_per_device"),
    "$/M tok": ("cost_per_mtok_at_rate", "cost_per_mtok"),
    "memory": ("memory_utilization",),
    "users": ("concurrency",),
}
"""Columns of a comparison: the first quantity that some case has; of cases that have none, that is said."""
LATENCIES = ("TTFT", "ITL")
"""Columns that keep their intervals where there is no room for those of all."""
MEANING = {
    False: f"{PASSES} fits in memory, {FAILS} does not",
    True: f"{PASSES} meets its targets, {IN_PART} meets them in part of the range, {FAILS} does not",
}


def comparison(cases: Sequence[BoundCase], warnings: Iterable[str], most: int = 16) -> str:
    """Several cases, one in a row, as expected where measurements tell."""
    shown = {
        head: next((name for name in names if any(case.get(name) for case in cases)), "")
        for head, names in COMPARED.items()
    }
    shown, timed = {head: name for head, name in shown.items() if name}, any(shown.values())
    shown = shown or {"weights": "weight_bytes", "usable memory": "usable_memory"}
    for ranged in (shown, LATENCIES, ()):  # with as many intervals as there is room for
        rows = [
            [
                _mark(case),
                short_label(case),
                *(_value(case, name, head in ranged) for head, name in shown.items()),
                _misses(case),
            ]
            for case in cases[:most]
        ]
        header = ["", "case", *shown, "misses"]
        if not any(row[-1] for row in rows):
            header, rows = header[:-1], [row[:-1] for row in rows]
        if fits([header, *rows]):
            break
    models = {case.model.shown_name for case in cases if case.model}
    title = f"{models.pop()}: " if len(models) == 1 else ""
    how = "predicted" if cases[0].measured_box else efficiency_basis(cases[0])
    load = ", under load" if "loaded_itl" in shown.values() else ""
    lines = [
        *wrapped(f"{title}{len(cases)} cases, {how}{load} ({MEANING[bool(cases[0].targets)]})"),
        fitted_table(rows, header, "  ", flexible=1),
        *([f"  and {len(cases) - most} more: --all"] if len(cases) > most else []),
        *([] if timed else wrapped("No time is known without prompt: --prompt 1024 --output 256.")),
        *warning_lines(warnings),
        *assumed(cases[0], of=" (first row)", remark=ALL),
    ]
    return "\n".join(lines)


def _mark(case: BoundCase) -> str:
    """Whether it fits and meets its targets as expected."""
    if case.fits is None:
        return ""
    states = [False] if case.does_not_fit else [check.met for check in target_checks(case)]
    return next((MARK[state] for state in (False, None) if state in states), PASSES)


def _misses(case: BoundCase) -> str:
    """Memory where it does not fit, else the targets that are not met throughout."""
    if case.does_not_fit:
        return "memory"
    missed = [check.name for check in target_checks(case) if check.met is not True]
    return ", ".join("rate" if name == LOAD else name for name in missed)


def _value(case: BoundCase, name: str, ranged: bool) -> str:
    """A value in the unit of the column's head, with its interval or without."""
    if name == MEMORY_SHARE:
        return used_memory(case)
    if waits_without_end(name, case.case):
        return "unbounded"
    found = case.get(name)
    if not found:
        return "-"
    unit = found.symbol.unit
    text = compact(found if ranged else replace(found, low=None, high=None))
    return text if unit in ("", "s") else text.replace(f" {unit}s", "").replace(f" {unit}", "")


def single(case: BoundCase, names: Sequence[str]) -> str:
    """Quantities with range, bound and meaning, or why one has no value."""
    lines = []
    for name in names:
        if case.get(name) is None:
            lines += [f"{name}: no value; {case.why_unknown(name)}"]
            continue
        first, bound = both(case, name)
        unit = case.result(name).symbol.unit
        least = f"{limit_word(unit) if unit else 'at 100 % of peak'} {bound}"
        with_bound = f"{first}, {least}" if bound and first else first or least
        lines += [f"{name}: {with_bound}", *wrapped(case.result(name).symbol.meaning, first="  ")]
        lines += (line for each in added_token(case, name) for line in wrapped(each, first="  "))
    dagger = any("†" in line for line in lines)
    return "\n".join(lines + ["† does not fit in memory"] * dagger)
