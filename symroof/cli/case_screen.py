"""The screen of ``symroof eval``: predicted times, what limits them, whether the case fits, what was assumed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from symroof.analysis.case_summary import (
    DIGITS,
    UNKNOWN_FIT,
    WORDS,
    case_title,
    case_warnings,
    headed,
    of_each,
    shown_first,
    summary_rows,
    verdict_lines,
    words_for,
)
from symroof.analysis.verdict import basis_lines, under_load, unjudged
from symroof.cases.bind_cases import bound_cases
from symroof.cases.bound_case import BoundCase
from symroof.cases.engine_inputs import beyond_measurements
from symroof.cases.request import request_of
from symroof.cases.values import ROLE_INPUT, Result
from symroof.cli.terminal import fits, fitted_table, inputs_table, starred, warning_lines, wrapped
from symroof.errors import InputError, NoValue
from symroof.select.candidates import not_started, starts
from symroof.specs.quantization import BITS
from symroof.table_formats import text_table
from symroof.theory.declarations import OWN, MissingInput
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import GROUPS
from symroof.theory.theory_files import column, listed
from symroof.units import significant

SHORT = column("shown", "short")
"""Words where a terminal has no room for the others."""
ASSUMED: dict[str, str] = column("moving", "assumed")
"""Defaults that people change most often, in words."""
MOST_OWN = 8
"""Quantities of the study's own definitions on a first screen."""
ALL = "--all shows every quantity, input and assumption with its source."


def screen(case: BoundCase, warnings: Sequence[str], everything: bool = False) -> str:
    """One case: title, table, verdicts and warnings, assumptions; with ``everything`` each quantity, input and switch.

    Raises:
        InputError: an input is a formula that has no value here.
    """
    case.inputs(("params",))
    lines = wrapped(f"{case_title(case)}{chosen(case)}")
    lines += [line for text in basis_lines([case]) for line in wrapped(text) if everything]
    rows = [] if case.theory_only else summary_rows(case)
    if not (
        case.theory_only or case.get("ttft") or case.get("itl")
    ):  # first what is known without a prompt
        bare = [name for name in listed("shown", "bare") if case.get(name)]
        plain = [[WORDS[name], case.result(name).plain(DIGITS), "", "", name] for name in bare]
        rows = [*plain, *(row for row in rows if row[-1] not in bare)]
    lines += [_table(case, rows)] if rows else []
    missing = [] if case.theory_only else _missing(case)
    lines += [*verdict_lines(case), *warning_lines([*missing, *warnings])]
    if everything:
        return "\n".join([*lines, *_quantities(case), *ledger(case)])
    return "\n".join([*lines, *_own(case), *assumed(case, remark=ALL)])


def _table(case: BoundCase, rows: list[list[str]]) -> str:
    """The rows without columns that are empty, in short words where the terminal is narrow."""
    header, kept, rows = headed(case, rows)
    shown = [header[i] for i in kept] if 2 in kept or 3 in kept else []
    rate = "arrival_rate" in case.given
    brief = [
        [
            words_for({row[-1]: row[0]} | SHORT | of_each(case, row[-1]), row[-1], rate),
            row[1],
            row[2].removesuffix(" requests"),
            row[3].replace("memory ", ""),
            row[-1],
        ]
        for row in rows
    ]
    short = [head.replace("theoretical ", "") for head in shown]
    for each, heads in ((rows, shown), (brief, short)):
        cells, above = [], ""
        for row in each:  # a row of the quantity above it says only the difference: "under load"
            what, _, under = row[0].partition(", ")
            first = f"  {under}" if under and what == above else row[0]
            cells.append([first, *(row[i] for i in kept[1:])])
            above = what
        if fits([heads] * bool(heads) + cells):
            break
    return fitted_table(cells, heads, "  ", flexible=-1, left=True)


def marked(case: BoundCase, *but: str) -> list[str]:
    """The warnings of a case, with a dagger before that of memory, which the numbers it concerns have behind them."""
    known = case_warnings(case, *but)
    return [f"† {known[0]}", *known[1:]] if case.does_not_fit else known


def room_instead(case: BoundCase) -> str:
    """How few requests, how much tensor parallelism, or which narrower weights memory has room for."""
    most, said = case.get("concurrency"), list[str]()
    if most and not most.ranged and most.value >= 1:
        said.append(f"at most {most.plain(DIGITS)}")
    others = case.request.values.keys() & {"pp", "attention_dp", "ep"}
    tps = [tp for tp in (2, 4, 8, 16) if not others and tp > case.case.value("tp")]
    tps = [tp for tp in tps if starts(case, {"tp": tp, "ep": 1})]
    said += _first_that_fits(case, {f"--tp {tp}": {"tp": tp} for tp in tps})
    weights = case.given.get(ROLE_INPUT["weights"])
    if weights is None or weights.defaulted:
        narrower = {f"--weights {name}": {"weights": name} for name in ("fp8", "awq")}
        said += _first_that_fits(case, narrower)
    return f"; it fits with {' or '.join(said)}" * bool(said)


def _first_that_fits(case: BoundCase, tried: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The first option with which a case fits, or none."""
    for option, changes in tried.items():
        asked = request_of(origin=option, **changes).over(case.request)
        with suppress(InputError):
            if not next(bound_cases(asked)).does_not_fit:
                return [option]
    return []


def screen_warnings(case: BoundCase) -> list[str]:
    """What to know before any number; targets have lines of their own."""
    known = marked(case, UNKNOWN_FIT)
    if case.does_not_fit:
        known[0] += room_instead(case)
    tp, node, across = case.case.value("tp"), case.get("node_devices"), ""
    if node and tp > node.value:
        spans = f"tp {tp:,.0f} spans {tp / node.value:.2g} nodes of {node.plain()}"
        across = f"{spans}: every layer's all-reduce crosses the network"
    others = filter(None, [not_started(case), across, beyond_measurements(case)])
    return [*known, *others, *unjudged(case)]


def value_row(case: BoundCase, name: str, result: Result) -> list[str]:
    """A quantity with its bound at the peak, where that differs, and its meaning."""
    bound = case.peak_bound(name)
    return [name, result.text(), bound.plain() if bound else "", result.symbol.meaning]


def _quantities(case: BoundCase) -> list[str]:
    """Every quantity by its group: value, bound, meaning."""
    groups: dict[str, list[list[str]]] = {}
    quantities = {name: case.result(name) for name in case.known}
    for name, result in quantities.items():
        declared = case.case.theory.own.quantity(name)
        group = "per kind of layer" if declared is None else declared.group
        row = value_row(case, name, result)
        groups.setdefault("defined here" if group == OWN else group, []).append(row)
    return [
        line
        for group, rows in groups.items()
        for line in ("", f"{group}:", text_table(rows, indent="  "))
    ]


WRITE = {
    "prompt": "--prompt 4096",
    "output": "--output 512",
    "model": "--model llama-3-8b",
    "hardware": "--hardware h100-sxm",
    "batch": "--batch 8",
    "rival_price": "--set rival_price='1.8 USD/hour' --set rival_throughput='500 token/s', those of the other device,",
}


def _missing(case: BoundCase) -> list[str]:
    """What an answer lacks, with the option that gives it."""
    if case.hardware is None:
        lines = [f"add {WRITE['hardware']} to get times, cost and the memory limit"]
        if "prompt" not in case.given:
            lines.append(f"add {WRITE['prompt']} to get times and memory")
        return lines
    reasons: dict[str, list[str]] = {}
    for name in listed("shown", "missing"):
        if case.why_unknown(name):
            option = option_for(case, missing_input(case, name))
            why = f"add {option} to get" if option else case.why_unknown(name)
            reasons.setdefault(why, []).append(WORDS[name])
    if not reasons and not under_load(case.case) and "output" not in case.given:
        return [f"add {WRITE['output']} to get values under load and requests per second"]
    return [
        f"{why} {', '.join(words)}" if why.startswith("add ") else f"no {', '.join(words)}: {why}"
        for why, words in reasons.items()
    ]


def missing_input(case: BoundCase, quantity: str) -> str:
    """The input without which a quantity has no value; empty where it lacks none."""
    with suppress(NoValue):
        try:
            case.case.value(quantity)
        except MissingInput as error:
            return error.name
    return ""


def option_for(case: BoundCase, name: str) -> str:
    """The option that gives an input; for one of a model or a device, where there is none, that of the model or the device."""
    if name not in WRITE:
        if case.model is None and any(name == each.name for each in GROUPS["architecture"]):
            name = "model"
        elif case.hardware is None and any(name == each.name for each in GROUPS["hardware"]):
            name = "hardware"
    return WRITE.get(name, "")


def _own(case: BoundCase) -> list[str]:
    """The quantities that the study defines itself; of a theory of its own, all."""
    names = [q.name for q in case.case.theory.own.quantities if q.group == OWN or case.theory_only]
    found = [(name, case.get(name)) for name in names]
    rows = [[name, result.text(DIGITS), result.symbol.meaning] for name, result in found if result]
    most = len(rows) if case.theory_only else MOST_OWN
    if not rows:
        return []
    return [
        *([] if case.theory_only else ["defined here:"]),
        fitted_table(rows[:most], indent="  ", flexible=-1, clip=True),
        *([f"  and {len(rows) - most} more: --all"] if len(rows) > most else []),
    ]


def ledger(case: BoundCase, names: Sequence[str] = (), but: Collection[str] = ()) -> list[str]:
    """Each input with its source, and each switch.

    Args:
        names: the quantities that are shown, by default all.
        but: inputs that are left out.
    """
    inputs = case.inputs(tuple(names) or None, everything=not names)
    shown = {name: entry for name, entry in inputs.items() if name not in but}
    return ["", "inputs (* = default):", inputs_table(shown), *switches(case)]


def chosen(case: BoundCase) -> str:
    """The rate, and engine, precisions and switches that somebody chose, behind a title: ``, 4 requests/s (SGLang 0.5, FP8 weights)``."""
    said = [case.engine.said] if case.request.engine and case.engine else []
    said += [_precisions(case, defaulted=False)]
    said += [
        f"{switch}={value}"
        for switch, value in case.assumptions.values
        if value != SWITCHES[switch].default and not case.assumptions.defaulted(switch)
    ]
    told = ", ".join(filter(None, said))
    rate = case.get("arrival_rate") if "arrival_rate" in case.given else None
    arrive = f", {significant(rate.value, DIGITS)} requests/s" if rate else ""
    return arrive + (f" ({told})" if told else "")


ROLES = {"weights": "weights", "kv": "KV cache", "activations": "activations"}


def _precisions(case: BoundCase, defaulted: bool) -> str:
    """The precisions that are defaults, or those that are not: ``FP8 weights and KV cache``.

    Where products run in fewer bits than activations have between them, that is said.
    """
    found: dict[str, list[str]] = {}
    for role, name in case.precisions.items():
        own = case.given.get(ROLE_INPUT[role])
        if (own is None or own.defaulted) == defaulted:
            narrower = role == "activations" and BITS[case.compute or name] < BITS[name]
            shown, what = (case.compute, "matrix products") if narrower else (name, ROLES[role])
            # by default it may be BF16 as well: checkpoints are stored in either
            width = "16-bit" if defaulted and shown == "fp16" else str(shown).upper()
            found.setdefault(width, []).append(what)
    return ", ".join(
        f"{name} {' and '.join(filter(None, (', '.join(roles[:-1]), roles[-1])))}"
        for name, roles in found.items()
    )


def assumed(
    case: BoundCase,
    names: Sequence[str] = (),
    of: str = "",
    but: Collection[str] = (),
    remark: str = "",
) -> list[str]:
    """The defaults behind some quantities that people change first, in one sentence, and a remark.

    Args:
        names: the quantities that are shown, by default those of the first screen.
        of: which of several cases this is.
        but: inputs that are left out.
    """
    first = () if case.theory_only else (*shown_first(case), "concurrency")
    shown = tuple(names or filter(case.get, first))
    inputs = case.inputs(shown, everything=False) if shown else {}
    engine = case.engine.said if case.engine and case.hardware else "the engine"
    said = [
        text.format(
            inputs[name].plain(DIGITS), share=f"{100 * inputs[name].value:.3g} %", engine=engine
        )
        for name, text in ASSUMED.items()
        if name in inputs and inputs[name].defaulted and name not in but
    ]
    told = ", ".join(filter(None, [_precisions(case, defaulted=True), *said]))
    sentence = f"Assumed{of}: {told}." if told and not case.theory_only else ""
    return wrapped(" ".join(filter(None, (sentence, remark))))


def switches(case: BoundCase) -> list[str]:
    """Every switch with the meaning of its value; a theory of its own has none."""
    if case.theory_only:
        return []
    chosen = case.assumptions
    rows = [
        [starred(name, chosen.defaulted(name)), chosen[name], switch.values[chosen[name]]]
        for name, switch in SWITCHES.items()
    ]
    return ["", "assumptions (* = default):", text_table(rows)]
