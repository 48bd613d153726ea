"""The first screen of ``symroof select``: what to use, the best of each device, what the others lack, and what would change the choice."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from symroof.analysis.case_summary import PERCENTILE, case_warnings, compact, unused_inputs
from symroof.analysis.verdict import MEMORY, basis_lines, limit_of, metrics_of
from symroof.cases.values import Result
from symroof.cli.case_screen import assumed, ledger
from symroof.cli.options import words_without
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.report.purchase_text import (
    cheaper_text,
    closest_text,
    device_word,
    enough_devices,
    enough_text,
    layout_text,
    layout_word,
    named,
    needed_text,
    not_measured,
    opened_text,
    paid_text,
    price_text,
    prices_text,
    purchase_rows,
    room_text,
    together_text,
    tokens_text,
)
from symroof.select.purchase import Purchase
from symroof.select.recommend import MOST_PREDICTED, Recommendation
from symroof.select.selection import QUANTITIES, Selection
from symroof.table_formats import FAILS, IN_PART, PASSES
from symroof.theory.symbols import TARGET_WORDS
from symroof.units import significant
from symroof.vllm.advice import prefill_command, serve_command

MOST_ROWS, MOST_DETAILED = 12, 20
"""Rows of a first screen, and with ``--details``."""
MARK = {"passes": PASSES, "in part": IN_PART, "fails": FAILS, "unknown": "?"}
DIGITS = 3
MEANING = {PASSES: "meets every target", IN_PART: "meets them in part of the range"}
MEANING |= {FAILS: "misses a target", "?": "cannot be judged"}
DETAILS = "--details shows intervals, inputs and sources."


def screen(found: Recommendation, words: Sequence[str] = (), everything: bool = False) -> str:
    """The recommendation, the best of each device and of each listed combination, warnings, and from the ``words`` of the command how to go on; with ``everything``
    each candidate, and the inputs and assumptions of the first."""
    choice = found.choice
    case = choice.configurations[0].case
    lines = [*_question(choice), "", *_use(found), "", *_rows(found, everything)]
    lines += [line for text in (*prices_text(found), cheaper_text(found)) for line in wrapped(text)]
    unused = unused_inputs(case, [name for name in QUANTITIES if case.case.has_value(name)])
    warned = not_measured(found.best[:MOST_ROWS])
    warned += [f"{name} has no effect on what a selection shows" for name in unused]
    warned += case_warnings(case, MEMORY, PERCENTILE)  # which the rows say
    warned += choice.hints
    lines += warning_lines(warned, len(warned) if everything else 4)
    lines += _next(found, words)
    if everything:
        return "\n".join([*lines, *ledger(case)])
    first = " (first row)" if len(choice.configurations) > 1 else ""
    chosen = ("token_budget",) if found.pick and found.pick.chunk is not None else ()
    return "\n".join([*lines, *assumed(case, of=first, but=chosen, remark=DETAILS)])


def _question(choice: Selection) -> list[str]:
    """The workload and the targets."""
    case = choice.configurations[0].own
    said = [case.model.shown_name] if case.model and not case.several_models else []
    for name in ("arrival_rate", "prompt", "output", "batch"):
        if case.chosen(name) and case.case.has_value(name):
            number = significant(case.result(name).value, 6)
            rate = name == "arrival_rate"
            said.append(f"{number} requests/s" if rate else f"{name} {number}")
    if case.chosen("long_share") and case.case.has_value("long_prompt"):
        share = significant(100 * case.result("long_share").value, 3)
        long = f"{share} % of them with prompt {case.result('long_prompt').plain()}"
        if case.case.has_value("long_output"):
            long += f" and {case.result('long_output').plain()} of output"
        said.append(long)
    tails = choice.study.request.percentiles
    limits = []
    for name, limit in choice.targets.items():
        metric = case.case.theory.symbol(metrics_of(name, case.case)[0])
        which = tails.get(name) or ("mean" if name in ("ttft", "itl") else "")
        limits.append(f"{which} {TARGET_WORDS[name]} {limit_of(metric, limit).plain()}".strip())
    ranged = [c.own for c in choice.configurations if c.own.box]
    how = f", to be met over the whole {ranged[0].interval_word}" if ranged else ""
    aim = f"Targets: {', '.join(limits)}{how}" if limits else "No targets: only memory decides"
    return [line for text in (", ".join(said), aim) for line in wrapped(text)]


def _use(found: Recommendation) -> list[str]:
    """What to use, what it costs and gives; or that nothing passes, and what is closest."""
    pick = found.pick
    if pick is None:
        near = map(closest_text, found.best[:1])
        needed = [f"It would pass if {text}." for text in map(needed_text, found.best[:1]) if text]
        opened = [opened_text(one) for one in [found.opened] if one]
        lines = [" ".join(["Nothing passes.", *near, *needed]), *opened]
        return [line for text in lines for line in wrapped(text)]
    lines = wrapped(f"Use {pick.devices:,} × {device_word(pick)}: {layout_text(pick)}", "    ")
    price = ", ".join(text for text in (price_text(pick), tokens_text(pick)) if text)
    latencies = [("TTFT", pick.ttft), ("ITL", pick.itl)]
    times = [f"{name} {compact(result)}" for name, result in latencies if result]
    times += [f"at {100 * pick.load:.0f} % of capacity"] if pick.load is not None else []
    said = [price or "price unknown", "   ".join(times)]
    for check in pick.simulated:  # at the predicted values, and where all is slow
        ends = (check.metric.value, check.metric.high or check.metric.value)
        value, slow = (Result(check.metric.symbol, x).plain(DIGITS) for x in ends)
        said.append(f"{check.name.upper()} {check.statistic} {value}, in the worst case {slow}")
    said += filter(None, [room_text(pick), enough_text(found, pick), together_text(found)])
    return lines + [line for text in said for line in wrapped(text, "    ", "    ")]


def _rows(found: Recommendation, everything: bool) -> list[str]:
    """The best of each device, or every candidate with its intervals."""
    choice, ones, most = found.choice, found.best, MOST_ROWS
    what, where, said = "device", "--details shows", list[str]()
    if everything:
        ones, most = choice.configurations, MOST_DETAILED
        what, where, passing = "candidate", "--json has", len(choice.passing)
        basis = basis_lines([choice.configurations[0].case])
        said = wrapped("; ".join([f"{passing:,} of {len(ones):,} candidates pass", *basis]))
    more = [f"and {len(ones) - most:,} more, which {where}"] if len(ones) > most else []
    ones, note = ones[:most], list[str]()
    if any(enough_devices(found, one) for one in ones):
        of = f", for the first {MOST_PREDICTED}" * (len(ones) > MOST_PREDICTED)
        least = found.cheapest_predicted
        so = f"; the cheapest of these: {named(least)}, {paid_text(least)}" if least else ""
        note = wrapped(f"(GPUs in brackets would do at the predicted values{of}{so}.)")
    header, rows = purchase_rows(ones, everything, found)
    lines = [*said, *_table(ones, (what, *header[1:]), rows, note), *more]
    if everything and len(found.layouts) > 1:
        layouts, device = found.layouts[:MOST_DETAILED], device_word(found.best[0])
        count = f"the best {len(layouts)} of {len(found.layouts):,}"
        which = count if len(layouts) < len(found.layouts) else f"all {len(layouts)}"
        lines += ["", f"Layouts of {device} that were tried, {which}, each at its best:"]
        header, rows = purchase_rows(layouts, ranges=False)
        rows = tuple((layout_word(x), *row[1:]) for x, row in zip(layouts, rows, strict=True))
        lines += _table(layouts, ("layout", *header[1:]), rows)
    return lines


def _table(
    ones: Sequence[Purchase],
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: Sequence[str] = (),
) -> list[str]:
    """A row for each purchase, a note on them, and below what those that do not pass lack."""
    marks = [MARK[one.state] for one in ones]
    kept = len(header) - (header[-1] == "misses")
    cells = [[mark, *row[:kept]] for mark, row in zip(marks, rows, strict=True)]
    lines = [fitted_table(cells, ["", *header[:kept]], flexible=-1)] if kept > 1 else []
    lines += note
    lacking: dict[str, dict[str, None]] = {}
    for row in rows if len(header) > kept else ():
        lacking.setdefault(row[kept], {})[row[0]] = None
    for lack, names in lacking.items():
        lines += wrapped(f"{', '.join(names)}: {lack}", "    ") if lack else []
    used = [f"{mark} {said}" for mark, said in MEANING.items() if mark in marks]
    return lines + ([", ".join(used)] if {*marks} - {PASSES} and kept > 1 else [])


MOST_REVIEWED = 4  # devices, where none was named
AT_START = ("fp16", "bf16", "fp8")  # what vLLM makes of any checkpoint when it starts
ROUTER = "A router in front sends each request to a prefill instance, then to a decode instance."


def _next(found: Recommendation, words: Sequence[str]) -> list[str]:
    """How to run and to review what is recommended; whole, to be copied."""
    pick = found.pick
    if pick is None:
        return []
    command, prefill = serve_command(pick), prefill_command(pick)
    several = f"each of {pick.copies:,} replicas" if pick.copies > 1 else "it"
    what = "each decode instance" if prefill else several
    lines = [f"Run {what}: {command}"] if command else []
    if prefill:
        lines += [f"Run each prefill instance: {prefill}", ROUTER]
    if command and pick.chunk is not None:
        lines += wrapped(
            f"A step takes {pick.chunk:,} prompt tokens and the next token of every request."
        )
    stored = pick.own.request.precision.get("weights") and pick.case.precisions["weights"]
    if command and stored and stored not in AT_START:
        lines += wrapped(
            f"Name a checkpoint with {stored} weights there: no flag of vLLM makes one."
        )
    study = words_without(words, (), ("select", "-v", "--details", "--strict"))
    spec = found.choice.study.spec
    if not (spec and spec.hardware) and not any("hardware" in word for word in words):
        devices = ",".join(one.hardware for one in found.best[:MOST_REVIEWED])
        study += ["--among", f"hardware={devices}"]
    return [*lines, f"Review it: symroof report {shlex.join(study)}".rstrip()] if words else lines
