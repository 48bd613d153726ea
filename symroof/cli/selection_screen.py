"""The first screen of ``symroof select``: what to use, the best of each device, what the others lack, and what would change the choice."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from symroof.analysis.verdict import LOAD, MEMORY, limit_of, metrics_of
from symroof.cases.quantity_result import Result
from symroof.cli.case_screen import ledger
from symroof.cli.options import words_without
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.report.purchase_text import (
    cheaper_text,
    device_word,
    layout_text,
    price_text,
    prices_text,
    purchase_rows,
    tokens_text,
    usd,
)
from symroof.report.selection_tables import warnings
from symroof.table_formats import FAILS, IN_PART, PASSES
from symroof.units import significant
from symroof.vllm.serve_line import serve_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symroof.select.configuration import Configuration
    from symroof.select.recommend import Recommendation
    from symroof.select.selection import Selection

MOST_ROWS = 12  # of a table, where nobody asks for more
MARK = {"passes": PASSES, "in part": IN_PART, "fails": FAILS, "unknown": "?"}
DIGITS = 3
DETAILS = "--details: every listed combination, what the others lack, headroom, every fix, ranges, bounds, inputs and sources"


def screen(found: Recommendation, show: int, words: Sequence[str] = ()) -> str:
    """The recommendation, the best of each device and of each listed combination, warnings, and from the ``words`` of the command how to go on."""
    choice = found.choice
    lines = [*_question(choice), "", *_use(found), "", *_devices(found, show)]
    lines += _listed(found, show)
    lines += [line for text in (*prices_text(found), cheaper_text(found)) for line in wrapped(text)]
    lines += _next(found, words)
    lines += warning_lines((*warnings(choice, 1), *choice.hints), 4)
    first = "first row; " if len(choice.configurations) > 1 else ""
    lines += ledger(choice.configurations[0].run.bound_case, of=first)
    return "\n".join([*lines, *wrapped(DETAILS)])


def _question(choice: Selection) -> list[str]:
    """The workload and the targets."""
    case = choice.configurations[0].run.own
    said = [case.model.shown_name] if case.model and not case.several_models else []
    for name in ("arrival_rate", "prompt", "output", "batch"):
        if name in case.given and case.case.has_value(name):
            number = significant(case.result(name).value, 6)
            rate = name == "arrival_rate"
            said.append(f"{number} requests/s" if rate else f"{name} {number}")
    tails = choice.study.request.percentiles
    limits = []
    for name, limit in choice.targets.items():
        word = name.upper() if name in ("ttft", "itl") else name.replace("_", " ")
        metric = case.case.theory.symbol(metrics_of(name, case.case)[0])
        limits.append(
            " ".join(filter(None, (word, tails.get(name), limit_of(metric, limit).plain())))
        )
    means = " (means)" if limits and not tails else ""
    aim = f"Targets: {', '.join(limits)}{means}" if limits else "No targets: only memory decides"
    ranged = any(c.run.own.box for c in choice.configurations)
    marks = f"; {PASSES} passes over the whole range, {IN_PART} in part of it" if ranged else ""
    basis = [text + marks for text in choice.basis[:1]]
    return [line for text in (", ".join(said), aim, *basis) for line in wrapped(text)]


def _use(found: Recommendation) -> list[str]:
    """What to use, what it costs and gives; or that nothing passes, and what is closest."""
    pick = found.pick
    if pick is None:
        return wrapped(found.reason)
    lines = wrapped(f"Use {pick.devices:,} × {device_word(pick)}: {layout_text(pick)}", "    ")
    price = ", ".join(text for text in (price_text(pick), tokens_text(pick)) if text)
    means = [("TTFT", pick.ttft), ("ITL", pick.itl)]
    simulated = [(f"{c.name.upper()} {c.statistic}", c.metric) for c in pick.run.simulated]
    times = [f"{name} {one.plain(DIGITS)}" for name, one in (*means, *simulated) if one]
    times += [f"at {100 * pick.load:.0f} % of capacity"] if pick.load is not None else []
    said = [price or "no price of it is known", "   ".join(times)]
    if pick.highest_rate and pick.headroom is not None:
        rate = Result(pick.case.case.theory.symbol("arrival_rate"), pick.highest_rate)
        said.append(
            f"{100 * pick.headroom:.0f} % more may arrive ({rate.plain(DIGITS)}) before another replica is needed"
        )
    return lines + [line for text in said for line in wrapped(text, "    ", "    ")]


def _devices(found: Recommendation, show: int) -> list[str]:
    """The best of each device."""
    header, rows = purchase_rows(found.best[:show], ranges=False)
    marks = [MARK[one.configuration.state] for one in found.best[:show]]
    kept = len(header) - (header[-1] == "lacks")
    cells = [[mark, *row[:kept]] for mark, row in zip(marks, rows, strict=True)]
    lines = [fitted_table(cells, ["", "best of each device", *header[1:kept]], flexible=-1)]
    for name, *lacks in ((row[0], *row[kept:]) for row in rows):
        lines += wrapped(f"{name} lacks: {lacks[0]}", "    ") if any(lacks) else []
    more = len(found.best) - show
    return lines + [f"and {more:,} more; --show {len(found.best)} shows all"] * (more > 0)


def _plain(result: Result | None) -> str:
    return "" if result is None else Result(result.symbol, result.value).plain(DIGITS)


def _listed(found: Recommendation, show: int) -> list[str]:
    """What the study lists besides devices, each combination at its best layout."""
    choice = found.choice
    if len(choice.configurations) <= len(found.best):
        return []
    rows = [[MARK[c.state], c.label, f"{c.run.batch:,}", *_cells(c)] for c in choice.configurations[:show]]  # fmt: skip
    header = ["", "each listed combination", "batch", "TTFT", "ITL", "GPUs", "USD/hour", "misses"]
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    table = fitted_table(
        [[row[i] for i in kept] for row in rows],
        [header[i] for i in kept],
        flexible=1,
    )
    count = len(choice.configurations)
    more = [f"the first {show:,} of {count:,}; --show {count} shows all"] if count > show else []
    return ["", table, *more, ""]


def _cells(c: Configuration) -> list[str]:
    from symroof.select.recommend import Purchase

    one = Purchase(c)
    missed = {*c.run.missed_as_expected, *c.run.missed}
    if c.state == "unknown" or {MEMORY, LOAD} & missed:
        return ["", "", "", "", one.lacks]
    price = "" if one.usd_per_hour is None else usd(one.usd_per_hour)
    return [_plain(one.ttft), _plain(one.itl), f"{one.devices:,}", price, one.lacks]


MOST_REVIEWED = 4  # devices, where none was named
WITH_VALUE = ("--by", "--show", "--lacks")
"""Options with a value that a review does not take."""


def _next(found: Recommendation, words: Sequence[str]) -> list[str]:
    """How to run and to review what is recommended; whole, to be copied."""
    pick = found.pick
    if pick is None:
        return []
    apart = len(pick.group) > 1
    role = "Run it (each decoding instance): " if apart else "Run it: "
    command = serve_command(pick)
    lines = [f"{role}{command}"] if command else []
    study = words_without(words, WITH_VALUE, ("select", "-v", "--details", "--strict"))
    spec = found.choice.study.spec
    if not (spec and spec.hardware) and not any("hardware" in word for word in words):
        devices = ",".join(one.hardware for one in found.best[:MOST_REVIEWED])
        study += ["--among", f"hardware={devices}"]
    return [*lines, f"Review it: symroof report {shlex.join(study)}".rstrip()] if words else lines
