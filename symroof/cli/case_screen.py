"""The first screen of ``symroof eval``: what to expect of a case, what limits it, whether it fits, what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symroof.analysis.case_summary import (
    DIGITS,
    ROWS,
    headed,
    is_measured,
    summary_rows,
    verdict_lines,
)
from symroof.analysis.case_titles import case_title
from symroof.analysis.verdict import case_warnings, target_warnings, under_load, unknown_targets
from symroof.cases.input import AT_PEAK, ROLE_INPUT
from symroof.cli.terminal import columns, fitted_table, warning_lines, wrapped
from symroof.specs.engine_profile import IDEAL
from symroof.table_formats import width
from symroof.theory.declarations import OWN
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import GROUPS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from symroof.cases.bound_case import BoundCase

SHORT = {
    "time to first token, alone": "TTFT, alone", "time to first token, under load": "TTFT, under load", "inter-token latency, alone": "ITL, alone",
    "inter-token latency, under load": "ITL, under load", "inter-token latency, at full slots": "ITL, at full slots", "requests that fit at once": "requests at once",
    "output throughput, under load": "output, under load", "output throughput, at full slots": "output, at full slots", "output throughput, decoding alone": "output, alone", "cost per million output tokens": "cost per M tokens",
    "price of the devices": "price of devices", "bound (at peak)": "bound",
}  # fmt: skip
"""Words where a terminal has no room for the others."""

WITHOUT_REQUESTS = (
    ("parameters", "params"),
    ("weights", "weight_bytes"),
    ("KV cache per token", "kv_bytes_per_token"),
    ("FLOPs per token", "linear_flops_per_token"),
    ("ridge point", "ridge_point"),
    ("memory that may be used, per device", "usable_memory_per_device"),
)
"""What is known without a prompt."""

FIRST_DEFAULTS = (
    "batch", "mfu", "mbu", "memory_share", "memory_reserve", "token_budget", "chunk", "prefill_batch", "cached_prefix", "hit_rate",
)  # fmt: skip
"""The defaults that people change most often."""

WIDTHS = ("weight_bytes_per_param", "kv_bytes_per_element", "act_bytes_per_element")
"""Defaults that the precisions tell."""

MOST_OWN = 8
"""Quantities of the study's own definitions on a first screen."""


def screen(case: BoundCase, warnings: Sequence[str]) -> str:
    """One case: title, table, verdicts and warnings, what it rests on.

    Raises:
        InputError: an input is a formula that has no value here.
    """
    case.inputs(("params",))
    lines = wrapped(case_title(case), "  ", "")
    if case.theory_only:
        return "\n".join([*lines, *_own(case, everything=True), *warning_lines(warnings), ALL])
    rows, missing = summary_rows(case), _missing(case)
    names = [row[-1] for row in rows]
    if not any(case.get(name) for name in ("ttft", "itl")):
        more = [
            (words, name, found)
            for words, name in WITHOUT_REQUESTS
            if name not in names and (found := case.get(name))
        ]
        rows = [*([words, found.plain(DIGITS), "", "", name] for words, name, found in more), *rows]
        names = [row[-1] for row in rows]
    lines += [_table(case, rows)] if rows else []
    lines += [
        *verdict_lines(case),
        *warning_lines([*missing, *warnings]),
        *_own(case),
        *rests_on(case),
    ]
    return "\n".join(
        [*lines, *wrapped(f"names for -q and derive: {', '.join(names)}", "  ", "", 2), ALL]
    )


ALL = "--all: every quantity, input with its source, and counting choice"


def _table(case: BoundCase, rows: list[list[str]]) -> str:
    """The rows without columns that are empty."""
    header, kept, rows = headed(case, rows)
    shown = [header[i] for i in kept] if 2 in kept or 3 in kept else []
    if (
        sum(
            max(map(width, column)) + 2
            for column in zip(
                shown or [""] * len(kept), *([row[i] for i in kept] for row in rows), strict=True
            )
        )
        > columns()
    ):
        rows = [[SHORT.get(row[0], row[0]), *row[1:]] for row in rows]
        shown = [SHORT.get(text, text) for text in shown]
    return fitted_table(
        [[row[i] for i in kept] for row in rows], shown, "  ", clip=False, left=True
    )


def marked(warnings: Iterable[str]) -> list[str]:
    """Warnings with a dagger before that of memory, which the numbers it concerns have behind them."""
    return [f"† {text}" if text.startswith("does not fit") else text for text in warnings]


def screen_warnings(case: BoundCase, reason: str | None) -> list[str]:
    """What to know before any number; targets have lines of their own."""
    unjudged = (
        [text for text in target_warnings(case) if text.startswith("whether ")]
        if unknown_targets(case)
        else []
    )
    beyond = [case.beyond_measurements] if case.beyond_measurements else []
    known = [text for text in case_warnings(case) if not text.startswith("whether this fits")]
    return [
        *marked(known),
        *beyond,
        *unjudged,
        *([reason] if reason and not case.never_fits else []),
    ]


# ------------------------------------------------------------------------------------------------------ what is missing


WRITE = {
    "prompt": "--prompt 4096", "output": "--output 512", "model": "--model llama-3-8b", "hardware": "--hardware h100-sxm", "batch": "--batch 8",
}  # fmt: skip
NEEDS = "needs "


def _missing(case: BoundCase) -> list[str]:
    """What an answer lacks, with the option that gives it."""
    lines = []
    if case.hardware is None:
        lines.append(
            f"give {WRITE['hardware']}: without it no times, cost, and memory that may be used"
        )
        lines += (
            [f"give {WRITE['prompt']}: without it no times and no memory"]
            if "prompt" not in case.given
            else []
        )
    reasons: dict[str, list[str]] = {}
    for said, name in (
        ("time to first token", "ttft"),
        ("inter-token latency", "itl"),
        ("memory", "memory_bytes"),
    ):
        if case.hardware is not None and (why := case.why_unknown(name)):
            reasons.setdefault(why, []).append(said)
    lines += [_lacks(case, why, ", ".join(words)) for why, words in reasons.items()]
    if not lines and not under_load(case.case) and "output" not in case.given:
        return [
            f"give {WRITE['output']} as well: without it nothing under load, and no requests per second"
        ]
    return lines


def option_for(case: BoundCase, why: str) -> str:
    """The option that gives what a quantity needs; one of a model or a device where there is none."""
    name = why.removeprefix(NEEDS)
    if (
        name not in WRITE
        and case.model is None
        and name in {symbol.name for symbol in GROUPS["architecture"]}
    ):
        name = "model"
    elif (
        name not in WRITE
        and case.hardware is None
        and name in {symbol.name for symbol in GROUPS["hardware"]}
    ):
        name = "hardware"
    return WRITE.get(name, "") if why.startswith(NEEDS) else ""


def _lacks(case: BoundCase, why: str, words: str) -> str:
    """What has no value, and the option that gives it one or else the reason."""
    option = option_for(case, why)
    return f"give {option}: without it no {words}" if option else f"no {words}: {why}"


def _own(case: BoundCase, everything: bool = False) -> list[str]:
    """The quantities that the study defines itself."""
    names = [q.name for q in case.case.theory.own.quantities if q.group == OWN or everything]
    found = [(name, case.get(name)) for name in names]
    rows = [[name, result.text(DIGITS), result.symbol.meaning] for name, result in found if result]
    left_out = (
        [f"  and {len(rows) - MOST_OWN} more: --all"]
        if len(rows) > MOST_OWN and not everything
        else []
    )
    rows = rows if everything else rows[:MOST_OWN]
    return (
        [*([] if everything else ["defined here:"]), fitted_table(rows, indent="  "), *left_out]
        if rows
        else []
    )


# ------------------------------------------------------------------------------------------------------- what it rests on


def rests_on(
    case: BoundCase,
    of: str = "",
    names: Sequence[str] = (),
    but: Collection[str] = (),
) -> list[str]:
    """Precisions, engine and defaults in a few lines; a star marks what nobody gave. ``of``: which of several cases this is; the defaults are
    those behind ``names``, or behind the first screen, without those in ``but``."""
    measured = is_measured(case)
    said = []
    if case.precisions:
        said.append(
            "precision "
            + ", ".join(
                f"{role} {name}{'*' if _defaulted(case, ROLE_INPUT[role]) else ''}"
                for role, name in case.precisions.items()
            )
        )
    if case.engine is not None and case.hardware is not None and case.engine.label != IDEAL:
        said.append(f"engine {case.engine.said}{'' if case.request.engine else '*'}")
    if measured:
        said.append(
            f"efficiencies measured on {case.engine_class} engines{'' if case.request.efficiency else '*'}"
        )
    chosen = case.assumptions
    said += [
        f"{switch}={value}"
        for switch, value in chosen.values
        if value != SWITCHES[switch].default and not chosen.defaulted(switch)
    ]
    lines = wrapped(f"rests on ({of}* = default): {'; '.join(said)}", "  ", "", 3) if said else []
    return [*lines, *_defaults(case, names, measured, but)]


def _defaulted(case: BoundCase, name: str) -> bool:
    return name not in case.given or case.given[name].defaulted


def _defaults(
    case: BoundCase, of: Sequence[str], measured: bool, but: Collection[str]
) -> list[str]:
    shown = tuple(of or (name for _, name, _ in ROWS if case.get(name)))
    inputs = case.inputs(shown, everything=False) if shown else {}
    names = [
        name
        for name, entry in inputs.items()
        if entry.defaulted
        and name not in WIDTHS
        and name not in but
        and not (measured and name in AT_PEAK)
    ]
    names.sort(
        key=lambda name: (
            FIRST_DEFAULTS.index(name) if name in FIRST_DEFAULTS else len(FIRST_DEFAULTS)
        )
    )
    rows = [f"{name} {inputs[name].plain(DIGITS)}" for name in names]
    return wrapped(f"defaults: {', '.join(rows)}", "  ", "", 2) if rows else []
