"""What a person looks for first of a case: times as expected and at their bounds, what limits them, memory, rates, cost; and its targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from symroof.analysis.verdict import LOAD, target_checks, waits_without_end
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.table_formats import FAILS, IN_PART, PASSES
from symroof.theory.symbols import INPUTS
from symroof.units import format_quantity

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase

DIGITS = 3
"""Significant digits of a first screen; ``--all`` and ``--json`` have more."""

MARK = {True: PASSES, False: FAILS, None: IN_PART}

ROWS = (
    ("time to first token, alone", "ttft", "prefill_bound"),
    ("time to first token, under load", "loaded_ttft", ""),
    ("inter-token latency, alone", "itl", "decode_bound"),
    ("inter-token latency, alone, with drafts", "speculative_itl", ""),
    ("inter-token latency, under load", "loaded_itl", ""),
    ("inter-token latency, under load", "sustained_itl", "loaded_bound"),
    ("memory per device", "memory_utilization", ""),
    ("requests that fit at once", "concurrency", ""),
    ("output throughput, under load", "sustained_throughput", ""),
    ("output throughput, decoding alone", "decode_throughput", ""),
    ("cost per million output tokens", "cost_per_mtok", ""),
    ("cost per million tokens, at this rate", "cost_per_mtok_at_rate", ""),
    ("price of the devices", "instance_price", ""),
)
"""What a reader looks for first: words, quantity, and what says its limit."""

INSTEAD = {
    "decode_throughput": "sustained_throughput",
    "itl": "speculative_itl",
    "cost_per_mtok": "cost_per_mtok_at_rate",
}
"""Rows that another one replaces where it has a value."""


def is_measured(case: BoundCase) -> bool:
    return bool(case.measured_box)


def summary_rows(case: BoundCase) -> list[list[str]]:
    """Words, value, bound, limit and name of each quantity that has a value."""
    rate = "arrival_rate" in case.given
    known = {name for _, name, _ in ROWS if case.get(name) and (rate or name != "loaded_itl")}
    return [
        [
            at_full_slots(words, name) if rate else words,
            *(_memory(case) if name == MEMORY_SHARE else both(case, name)),
            _limited_by(case, name, limit),
            name,
        ]
        for words, name, limit in ROWS
        if name in known and INSTEAD.get(name) not in known
    ]


def at_full_slots(words: str, name: str) -> str:
    """The words of a quantity that holds while every slot is taken, beside others at an arrival rate.

    >>> at_full_slots("output throughput, under load", "sustained_throughput")
    'output throughput, at full slots'
    """
    return words.replace("under load", "at full slots") if name.startswith("sustained") else words


def headed(case: BoundCase, rows: list[list[str]]) -> tuple[list[str], list[int], list[list[str]]]:
    """The heads of the columns of such rows, the places of those that hold anything, and the rows, values and bounds in one column where all are bounds."""
    if case.at_peak is not None:
        header = [
            "",
            "expected (80 % range)" if is_measured(case) else "at the efficiencies given",
            "bound (at peak)",
            "limited by",
        ]
    else:
        rows = [[row[0], " ".join(filter(None, row[1:3])), "", *row[3:]] for row in rows]
        header = ["", "bound (100 % of peak)", "", "limited by"]
    return header, [i for i in range(len(header)) if any(row[i] for row in rows)], rows


MEMORY_SHARE = "memory_utilization"


def _memory(case: BoundCase) -> tuple[str, str]:
    """What the most loaded device holds of what it may use, and whether it fits."""
    used, usable = (
        case.result(name).plain(DIGITS)
        for name in ("memory_bytes_per_device", "usable_memory_per_device")
    )
    fits = (
        f"{PASSES} fits"
        if not case.does_not_fit
        else f"{FAILS} does not fit"
        if case.never_fits
        else f"{IN_PART} fits in part of its ranges"
    )
    return f"{used} of {usable}", fits


def both(case: BoundCase, name: str) -> tuple[str, str]:
    """A quantity as expected and its bound at the peak, or as given; a dagger where the case does not fit."""
    own = case.result(name)
    if _is_given(case, name):
        return f"{_cell(own)}, given", ""
    bound = case.peak_bound(name)
    if bound and case.priced(name):  # how far list prices move it is beside what is expected
        bound = replace(bound, low=None, high=None)
    return _cell(own), _cell(bound) if bound else ""


def _is_given(case: BoundCase, name: str) -> bool:
    """Whether a person gave a quantity that is otherwise derived: then it is no bound. What a checkpoint says, its stored size for one, is not meant."""
    return name in case.request.values and name not in INPUTS


NO_END = "no end: the queue grows"


def endless(case: BoundCase, name: str) -> bool:
    """Whether a wait has no end as expected, whether or not it has one at the peak."""
    return name == "loaded_ttft" and waits_without_end("ttft", case.case)


def _cell(result: Result) -> str:
    return compact(result, DIGITS)


def compact(result: Result, digits: int) -> str:
    """Value and range with the unit once, ``35.1 ms (28.3 to 43.6)``; a dagger where the case does not fit."""
    text = result.plain(digits)
    value, mark, span = text.partition(" (")
    unit = value.partition(" ")[2]
    if mark and unit and span.endswith(f" {unit})") and f" {unit} to" not in span:
        text = f"{value} ({span.removesuffix(f' {unit})')})"
    return text + (" †" if DOES_NOT_FIT in result.flags else "")


ALONE = {
    "loaded_ttft": ("ttft", "prefill_bound"),
    "loaded_itl": ("itl", "decode_bound"),
    "sustained_itl": ("itl", "decode_bound"),
}
"""Latencies under load with the same of one request alone, and what limits that."""
ALIKE = 1.05


def _limited_by(case: BoundCase, name: str, limit: str) -> str:
    """What limits a time; under load that of a request alone where load adds next to nothing."""
    if _is_given(case, name):
        return ""
    if name in ALONE:
        alone, of_alone = ALONE[name]
        times = [case.get(each) for each in (name, alone)]
        if all(times) and times[0].value < ALIKE * times[1].value:  # type: ignore[union-attr]
            return _limit(case, of_alone)
    return _limit(case, limit)


def _limit(case: BoundCase, name: str) -> str:
    """The largest term of a time: as expected, and at the peak where that is another."""
    found = case.get(name) if name else None
    if found is None:
        return ""
    first = limit_label(found, case)
    at_peak = case.at_peak.get(name) if case.at_peak else None
    second = limit_label(at_peak, case) if at_peak else first
    return first if first == second else f"{first} (peak: {second})"


def limit_label(limit: Result, case: BoundCase) -> str:
    """What limits a time: over ranges that somebody gave all that do, over measured ones that at the expected values."""
    return (
        str(limit.value)
        if case.box.keys() <= case.measured_box.keys()
        else limit.plain().replace(" or ", "/")
    )


def verdict_lines(case: BoundCase) -> list[str]:
    """Each target against what is expected; none is met by what does not fit."""
    checks = target_checks(case) if case.hardware else []
    endless_ones = [
        name for name in case.targets if case.hardware and waits_without_end(name, case.case)
    ]
    lines = []
    for check in checks:
        mark = FAILS if case.never_fits else MARK[check.met]
        named = "load below 1" if check.name == LOAD else f"{check.name} within {check.against}"
        bound = both(case, check.metric.name)[1] if case.get(check.metric.name) else ""
        against = f", bound {bound}" if bound else ""
        lines.append(f"{mark} {named}: {compact(check.metric, DIGITS)}{against}")
    return lines + [
        f"{FAILS} {name} within {format_quantity(case.targets[name], 's', DIGITS)}: {NO_END}"
        for name in endless_ones
    ]


def used_memory(case: BoundCase) -> str:
    """How much of the memory that it may use the most loaded device holds, in percent; empty where it is not known."""
    used, usable = case.get("memory_bytes_per_device"), case.get("usable_memory_per_device")
    return f"{100 * used.value / usable.value:.0f} %" if used and usable else ""
