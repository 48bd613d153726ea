"""The first screen of ``symroof select``: the verdict, one table, and what the nearest that fail need."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symroof.analysis.case_summary import DIGITS, used_memory
from symroof.analysis.verdict import LOAD, MEMORY, queues
from symroof.cases.quantity_result import Result
from symroof.cli.case_screen import rests_on
from symroof.cli.selection_review import review_line
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.drawing.table_formats import FAILS, IN_PART, PASSES
from symroof.report.selection_parts import verdict, warnings
from symroof.report.selection_tables import headline, required_changes_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from symroof.select.configuration import Configuration, Run
    from symroof.select.selection import Selection

MOST_ROWS = 12
"""Configurations of the table, where nobody asks for more."""
MARK = {"passes": PASSES, "in part": IN_PART, "fails": FAILS, "unknown": "?"}
PER_TOKEN, PER_HOUR = "cost_per_mtok", "fleet_price"
FIRST_BY = {
    "cost": "cheapest per token", "fleet": "cheapest", "rate": "most tokens per device", "throughput": "highest throughput", "ttft": "first token soonest",
    "itl": "shortest inter-token latency", "price": "cheapest instance",
}  # fmt: skip
BATCH = re.compile(r", batch [\d,]*\d(?=,|$)")
"""A batch in a label, which has a column of its own."""
MOST_NEEDS, MOST_CHANGES = 3, 2
UNFIT = "† does not fit in memory; computed as if it did"
DETAILS = "--details: ranges, bounds, headroom, every fix, sensitivities, Pareto fronts, inputs and sources"


def screen(choice: Selection, show: int, lacks: int, words: Sequence[str] = ()) -> str:
    """Verdict, table, what fails needs, warnings, what it rests on, and from the ``words`` of the command how to review the first."""
    lines = [*wrapped(headline(choice), "  ", ""), *_best(choice), *_basis(choice)]
    table = _table(choice, show)
    lines += [
        table,
        *_left_out(len(choice.configurations), show),
        *([UNFIT] if "†" in table else []),
        *_unsure(choice),
    ]
    lines += _needs(choice, min(lacks, MOST_NEEDS))
    lines += warning_lines((*warnings(choice, show), *choice.hints), 4)
    next_ = review_line(choice, words) if words else ""
    lines += [f"review it: {next_}"] if next_ else []  # to be copied whole
    first = "first row; " if len(choice.configurations) > 1 else ""
    return "\n".join(
        [
            *lines,
            *rests_on(choice.configurations[0].run.bound_case, first),
            *wrapped(DETAILS, "  ", ""),
        ]
    )


def _best(choice: Selection) -> list[str]:
    """The first that passes, with what to start; or the nearest miss."""
    first = choice.configurations[0]
    if first.state != "passes":
        return wrapped(
            f"{FAILS if first.state == 'fails' else MARK[first.state]} none passes; nearest: {first.label}, which {_state(first)}",
            "  ",
            "",
        )
    run = first.run
    devices = int(run.bound_case.case.value("served_devices") * run.bound_case.case.value("dp"))
    replicas = [f"{run.copies:,} replicas, {devices:,} devices"] if run.copies > 1 else []
    prices = [f"{_number(run, PER_HOUR)} USD/hour"] if _number(run, PER_HOUR) else []
    prices += (
        [f"{_number(run, PER_TOKEN)} USD per million output tokens"]
        if _number(run, PER_TOKEN)
        else []
    )
    said = "; ".join([*replicas, *([", ".join(prices)] if prices else [])])
    return wrapped(
        f"{PASSES} {FIRST_BY.get(choice.order, choice.order)}: {BATCH.sub('', first.label)}, batch {run.batch:,}{f': {said}' if said else ''}",
        "  ",
        "",
    )


def _state(c: Configuration) -> str:
    said = verdict(c)
    return said if said.startswith(("misses", "does", "passes")) else f"is {said}"


MOST_BASES = 3
"""What numbers rest on that the first screen says; ``--details`` has all."""


def _basis(choice: Selection) -> list[str]:
    """What the values are, and what the marks mean over their ranges."""
    ranged = any(c.run.own.box for c in choice.configurations)
    said = f"; {PASSES} passes over the whole range, {IN_PART} in part of it" if ranged else ""
    return [line for text in choice.basis[:1] for line in wrapped(text + said, "  ", "")]


def _unsure(choice: Selection) -> list[str]:
    """What numbers rest on beside the first of it."""
    return [line for text in choice.basis[1:MOST_BASES] for line in wrapped(text, "  ", "! ")]


def _left_out(count: int, show: int) -> list[str]:
    return [f"the first {show:,} of {count:,}; --show {count} shows all"] if count > show else []


# ------------------------------------------------------------------------------------------------------------- the table


def _table(choice: Selection, show: int) -> str:
    first = choice.configurations[:show]
    queued = queues(choice.configurations[0].run.own.case)
    tails = choice.study.request.percentiles
    header = [
        "",
        "configuration",
        "TTFT",
        "ITL",
        *(f"{name.upper()} {statistic}" for name, statistic in tails.items()),
        "memory",
        "tok/s/dev",
        "$/M tok",
    ]
    header += ["replicas", "$/hour", "misses"] if queued else ["batch", "misses"]
    rows = []
    for c in first:
        label = c.label if queued else BATCH.sub("", c.label)
        rows.append(
            [
                MARK[c.state],
                label,
                *_cells(c.run, tails),
                *(_fleet(c) if queued else [f"{c.run.batch:,}"]),
                _missed(c),
            ]
        )
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    return fitted_table(
        [[row[i] for i in kept] for row in rows], [header[i] for i in kept], flexible=1, clip=False
    )


def _cells(run: Run, tails: Iterable[str]) -> list[str]:
    """Latencies, the percentiles that targets are of, memory, rate, cost."""
    times = [_time(run, name) for name in ("loaded_ttft", "sustained_itl")]
    decided = {
        check.name: Result(check.metric.symbol, check.metric.value).plain(DIGITS)
        for check in run.checks
    }
    times += [decided.get(name, "") for name in tails]
    used = used_memory(run.bound_case)
    if run.bound_case.does_not_fit:
        return [*times, used, "", ""]
    return [*times, used, _number(run, "sustained_throughput_per_device"), _number(run, PER_TOKEN)]


def _time(run: Run, name: str) -> str:
    """A latency; a dagger where it is of a configuration that does not fit."""
    result = run.result(name)
    if result is None:
        return ""
    return Result(result.symbol, result.value).plain(DIGITS) + (
        " †" if run.bound_case.does_not_fit else ""
    )


def _number(run: Run, name: str) -> str:
    """A value at the middle of its range without its unit, which the head of the column has."""
    result = run.result(name)
    return (
        ""
        if result is None
        else Result(result.symbol, result.value).plain(DIGITS).partition(" ")[0]
    )


def _fleet(c: Configuration) -> list[str]:
    """Replicas and their price, of what serves the requests that arrive."""
    served = not {MEMORY, LOAD} & {*c.run.missed_as_expected, *c.run.missed}
    return [f"{c.run.copies:,}", _number(c.run, PER_HOUR)] if served else ["", ""]


def _missed(c: Configuration) -> str:
    if c.state == "unknown":
        return "not known"
    if c.run.bound_case.never_fits:
        return MEMORY
    names = dict.fromkeys(
        (
            *c.run.missed_as_expected,
            *c.run.missed,
            *(c.run.missed_when_slow if c.state == "in part" else ()),
        )
    )
    return ", ".join(
        {MEMORY: "memory", LOAD: "rate"}.get(name, name)
        for name in names
        if name != "ttft" or LOAD not in names
    )


# ------------------------------------------------------------------------------------------------------- what fails needs


def _needs(choice: Selection, most: int) -> list[str]:
    """The changes that would make each of the nearest misses pass; those that no single one helps share a line."""
    if not most:
        return []
    helped: list[str] = []
    helpless: list[str] = []
    for label, rows in _by_label(required_changes_table(choice, most).rows):
        changes = [
            f"{name} {_value(value)}{f' ({change})' if change else ''}"
            for name, _, value, change in rows
            if value.startswith("at ")
        ]
        if changes:
            helped += wrapped(f"{label} needs {' or '.join(changes[:MOST_CHANGES])}", "  ", "", 2)
        else:
            helpless.append(label)
    if helpless:
        helped += wrapped(
            f"no single change of device, layout or efficiency is enough for {', '.join(helpless)}",
            "  ",
            "",
            2,
        )
    return helped


def _value(text: str) -> str:
    """What is needed without its range and remarks."""
    return text.partition(" (")[0].partition(";")[0]


def _by_label(rows: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """The rows of each configuration; its label is on the first of them."""
    group: tuple[str, list[tuple[str, ...]]] | None = None
    for label, *rest in rows:
        if label:
            if group:
                yield group
            group = (label, [])
        if group:
            group[1].append(tuple(rest))
    if group:
        yield group
