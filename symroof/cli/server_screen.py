"""The first screen of ``symroof vllm`` and ``symroof server``: the line to start, why, and what changes."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from symroof.analysis.case_summary import DIGITS, compact
from symroof.analysis.case_titles import case_title
from symroof.analysis.verdict import case_warnings, efficiency_basis, target_warnings
from symroof.cli.case_screen import marked
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.report.purchase_text import price_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from symroof.vllm.advice import Review

COMPARED = (
    ("inter-token latency, under load", "loaded_itl"),
    ("inter-token latency, at full slots", "sustained_itl"),
    ("longest step a request waits for", "worst_itl"),
    ("time to first token, under load", "loaded_ttft"),
    ("output tokens of a device", "sustained_throughput_per_device"),
    ("load of all replicas", "load"),
    ("cost per million output tokens", "cost_per_mtok"),
    ("price of all devices", "fleet_price"),
)
WITHOUT_LOAD = (
    ("inter-token latency, alone", "itl"),
    ("time to first token, alone", "ttft"),
    ("requests that fit at once", "concurrency"),
)
NO_TARGET = "no target is given, so memory decides the batch: --target itl='50 ms' bounds it by what a user waits for"
DETAILS = (
    "--details: every flag, all quantities, each limit with its closed form, assumptions, sources"
)


def screen(advised: Review, without_effect: Iterable[str]) -> str:
    """The recommended line, why, what it gives against now, and warnings."""
    made, answers = advised.served, advised.served.study.first
    lines = [advised.line, "", *_why(advised)] if advised.line else []
    lines += wrapped(f"{case_title(answers)}; {efficiency_basis(answers)}", "  ", "")
    rows = _rows(advised)
    lines += (
        [
            fitted_table(
                rows,
                ["", "as given", *(["with this line"] if advised.line else [])],
                "  ",
                left=True,
            )
        ]
        if rows
        else []
    )
    lines += wrapped(replicas_text(advised), "  ", "") if replicas_text(advised) else []
    warnings = [
        *advised.warnings,
        *marked(case_warnings(answers)),
        *(f"as given, it {text}" for text in target_warnings(answers)),
        *without_effect,
    ]
    warnings += [NO_TARGET] if advised.line and not answers.targets else []
    lines += warning_lines(warnings)
    ignored = wrapped(f"not modelled: {' '.join(made.others)}", "  ", "", 2) if made.others else []
    ignored += [line for text in _mistyped(made.others) for line in wrapped(text, "  ", "! ")]
    return "\n".join([*lines, *ignored, *_defaulted(advised), *wrapped(DETAILS, "  ", "")])


MISTYPED = 0.82
"""How alike a flag that is not modelled and one that is are for it to be a slip of the pen."""


def _mistyped(others: Iterable[str]) -> list[str]:
    """Flags that no number depends on and that look like one which does; a longer name of one is another flag."""
    from symroof.vllm.flags import FLAGS

    known, found = [f"--{name}" for name in FLAGS], []
    for word in others:
        near = difflib.get_close_matches(word, known, n=1, cutoff=MISTYPED)
        if near and not word.startswith(near[0]):
            found.append(f"{word} is not read: did you mean {near[0]}?")
    return found


def _why(advised: Review) -> list[str]:
    """A reason for each flag, in at most two lines."""
    engine = advised.served.line.engine
    return [
        line
        for advice in advised.advice
        for line in wrapped(
            f"{engine.spelled(advice.flag) or advice.flag} {advice.value}".rstrip()
            + f": {advice.because}",
            "    ",
            "  ",
            2,
        )
    ]


def _rows(advised: Review) -> list[list[str]]:
    """What the line gives as it is, and as recommended."""
    rate = "arrival_rate" in advised.served.study.first.given
    rows = [
        [
            words,
            *(
                compact(found[name], DIGITS) if name in found else ""
                for found in (advised.facts, advised.gives)
            ),
        ]
        for words, name in COMPARED
        if rate or name != "sustained_itl"  # without a rate every slot is taken, and both are one
    ]
    rows = [row for row in rows if any(row[1:])]
    if not any(name in advised.facts for name in ("loaded_itl", "loaded_ttft")):
        rows += [
            [words, compact(advised.facts[name], DIGITS), ""]
            for words, name in WITHOUT_LOAD
            if name in advised.facts
        ]
    return rows if advised.line else [row[:2] for row in rows]


def replicas_text(advised: Review) -> str:
    """The copies of the recommended line that the arrival rate needs, and what they cost; empty without a rate."""
    pick = advised.pick
    if pick is None or pick.load is None:
        return ""
    rate = pick.case.result("arrival_rate").plain()
    many = "copy" if pick.replicas == 1 else "copies"
    paid = price_text(pick)
    return f"for {rate}: {pick.replicas:,} {many} of this line, {pick.devices:,} devices{f', {paid}' if paid else ''}"


def _defaulted(advised: Review) -> list[str]:
    """The flags that nobody gave, with the engine's defaults."""
    flags = [f"{flag.flag} {flag.value}" for flag in advised.served.flags if flag.defaulted]
    return (
        wrapped(f"defaults of {advised.served.line.engine.title}: {', '.join(flags)}", "  ", "", 2)
        if flags
        else []
    )
