"""Several cases of ``symroof eval``, one in a row; and single quantities."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from symroof.analysis.case_summary import (
    DIGITS,
    MARK,
    MEMORY_SHARE,
    both,
    endless,
    is_measured,
    used_memory,
)
from symroof.analysis.case_titles import case_label
from symroof.analysis.verdict import LOAD, all_met, efficiency_basis, target_checks
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.cli.case_screen import ALL, rests_on
from symroof.cli.terminal import columns, fitted_table, warning_lines, wrapped
from symroof.table_formats import FAILS, IN_PART, PASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from symroof.cases.bound_case import BoundCase

RATE = "tok/s/dev"
WIDE = 90
"""Columns of a terminal with room for the rate as well."""
COMPARED = (
    (("loaded_ttft", "ttft"), "TTFT"),
    (("loaded_itl", "itl"), "ITL"),
    (("sustained_throughput_per_device", "decode_throughput_per_device"), RATE),
    (("cost_per_mtok_at_rate", "cost_per_mtok"), "$/M tok"),
    (("memory_utilization",), "memory"),
    (("concurrency",), "users"),
)
"""Columns of a comparison: the first quantity that some case has; of cases that have none, that is said."""


def comparison(cases: Sequence[BoundCase], warnings: Iterable[str], most: int = 16) -> str:
    """Several cases, one in a row, as expected where measurements tell."""
    columns_ = [
        (name, head)
        for names, head in COMPARED
        if (name := next((n for n in names if any(c.get(n) for c in cases)), ""))
    ]
    columns_ = [(name, head) for name, head in columns_ if columns() >= WIDE or head != RATE]
    header = ["", "case", *(head for _, head in columns_), "misses"]
    rows = [
        [_mark(case), _label(case), *(_value(case, name) for name, _ in columns_), _misses(case)]
        for case in cases[:most]
    ]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    title = cases[0].model.shown_name if cases[0].model else "cases"
    how = "as expected by measurements" if is_measured(cases[0]) else efficiency_basis(cases[0])
    load = ", under load" if any(name == "loaded_itl" for name, _ in columns_) else ""
    lines = [
        *wrapped(
            f"{title}: {len(cases)} cases, {how}{load} ({MEANING[bool(cases[0].targets)]})",
            "  ",
            "",
        ),
        fitted_table(rows, header, "  ", 1, clip=False),
    ]
    left_out = [f"  and {len(cases) - most} more: --all"] if len(cases) > most else []
    return "\n".join(
        [*lines, *left_out, *warning_lines(warnings), *rests_on(cases[0], "first row; "), ALL]
    )


MEANING = {
    False: f"{PASSES} fits, {FAILS} does not",
    True: f"{PASSES} fits and meets its targets, {IN_PART} in part of its range, {FAILS} does not",
}


def _label(case: BoundCase) -> str:
    """What distinguishes a case, its device by the name that commands take."""
    label = case_label(case)
    return label.replace(case.hardware.title, case.hardware.name) if case.hardware else label


def _mark(case: BoundCase) -> str:
    """Whether it fits and meets its targets as expected."""
    if case.fits is None:
        return ""
    return FAILS if case.does_not_fit else MARK[all_met(target_checks(case))]


def _misses(case: BoundCase) -> str:
    """Memory where it does not fit, else the targets that are not met throughout."""
    if case.does_not_fit:
        return "memory"
    return ", ".join(
        "rate" if check.name == LOAD else check.name
        for check in target_checks(case)
        if check.met is not True
    )


def _value(case: BoundCase, name: str) -> str:
    """A value without its range, in the unit of the column's head."""
    if name == MEMORY_SHARE:
        return used_memory(case)
    if endless(case, name):
        return "no end"
    if not case.get(name):
        return "-"
    result = case.result(name)
    value = Fraction(result.value)
    text = Result(result.symbol, value).plain(DIGITS)
    text = text.partition(" ")[0] if result.symbol.unit not in ("s",) else text
    return text + ("†" if DOES_NOT_FIT in case.result(name).flags else "")


def single(case: BoundCase, names: Sequence[str]) -> str:
    """Quantities with range, bound and meaning, or why one has no value."""
    lines = []
    for name in names:
        if case.get(name) is None:
            lines += [f"{name}: no value; {case.why_unknown(name)}"]
            continue
        first, bound = both(case, name)
        with_bound = f"{first}, bound {bound}" if bound and first else first or f"bound {bound}"
        lines += [f"{name}: {with_bound}", *wrapped(case.result(name).symbol.meaning, "  ")]
    return "\n".join(
        [*lines, *(["† does not fit in memory"] if any("†" in line for line in lines) else [])]
    )
