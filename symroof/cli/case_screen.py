"""The screen of ``symroof eval``: what to expect of a case, what limits it, whether it fits, what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symroof.analysis.case_summary import (
    DIGITS,
    WORDS,
    headed,
    shown_first,
    summary_rows,
    verdict_lines,
    words_for,
)
from symroof.analysis.case_titles import case_title
from symroof.analysis.verdict import (
    basis_lines,
    case_warnings,
    target_warnings,
    under_load,
    unknown_targets,
)
from symroof.cases.input import AT_PEAK, ROLE_INPUT
from symroof.cli.output import inputs_table, starred, switches_line
from symroof.cli.terminal import columns, fitted_table, warning_lines, wrapped
from symroof.specs.engine_profile import IDEAL
from symroof.symbolic.evaluation import NoValue
from symroof.table_formats import text_table, width
from symroof.theory.declarations import OWN, MissingInput
from symroof.theory.switches import SWITCHES
from symroof.theory.symbols import GROUPS
from symroof.theory.theory_files import column, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from symroof.cases.bound_case import BoundCase

SHORT = column("shown", "short")
"""Words where a terminal has no room for the others."""
FIRST_DEFAULTS = listed("moving", "defaults")
"""The defaults that people change most often."""
WIDTHS = ("weight_bytes_per_param", "kv_bytes_per_element", "act_bytes_per_element")
"""Defaults that the precisions tell."""
MOST_OWN = 8
"""Quantities of the study's own definitions on a first screen."""
ALL = "--all: every quantity, input with its source, and counting choice"


def screen(case: BoundCase, warnings: Sequence[str], everything: bool = False) -> str:
    """One case: title, table, verdicts and warnings, what it rests on; with ``everything`` each quantity, input and switch.

    Raises:
        InputError: an input is a formula that has no value here.
    """
    case.inputs(("params",))
    lines = wrapped(case_title(case))
    lines += [line for text in basis_lines([case]) for line in wrapped(text) if everything]
    rows = [] if case.theory_only else summary_rows(case)
    if rows and not (case.get("ttft") or case.get("itl")):  # first what is known without a prompt
        bare = [name for name in listed("shown", "bare") if case.get(name)]
        plain = [[WORDS[name], case.result(name).plain(DIGITS), "", "", name] for name in bare]
        rows = [*plain, *(row for row in rows if row[-1] not in bare)]
    lines += [_table(case, rows)] if rows else []
    missing = [] if case.theory_only else _missing(case)
    lines += [*verdict_lines(case), *warning_lines([*missing, *warnings])]
    if everything:
        return "\n".join([*lines, *_quantities(case), *ledger(case, everything=True)])
    lines += _own(case)
    if not case.theory_only:
        names = ", ".join(row[-1] for row in rows)
        lines += [*ledger(case), *wrapped(f"names for -q and derive: {names}", most=2)]
    return "\n".join([*lines, ALL])


def _table(case: BoundCase, rows: list[list[str]]) -> str:
    """The rows without columns that are empty, in short words where the terminal is narrow."""
    header, kept, rows = headed(case, rows)
    shown = [header[i] for i in kept] if 2 in kept or 3 in kept else []
    table = [shown] * bool(shown) + [[row[i] for i in kept] for row in rows]
    if sum(max(map(width, cells)) + 2 for cells in zip(*table, strict=True)) > columns():
        rate = "arrival_rate" in case.given
        rows = [[words_for({row[-1]: row[0]} | SHORT, row[-1], rate), *row[1:]] for row in rows]
        shown = [text.replace(" (at peak)", "") for text in shown]
    cells = [[row[i] for i in kept] for row in rows]
    return fitted_table(cells, shown, "  ", flexible=-1, left=True)


def marked(warnings: Iterable[str]) -> list[str]:
    """Warnings with a dagger before that of memory, which the numbers it concerns have behind them."""
    return [f"† {text}" if text.startswith("does not fit") else text for text in warnings]


def screen_warnings(case: BoundCase, reason: str | None) -> list[str]:
    """What to know before any number; targets have lines of their own."""
    known = [text for text in case_warnings(case) if not text.startswith("whether this fits")]
    unjudged = target_warnings(case) if unknown_targets(case) else []
    return [
        *marked(known),
        *([case.beyond_measurements] if case.beyond_measurements else []),
        *(text for text in unjudged if text.startswith("whether ")),
        *([reason] if reason and not case.never_fits else []),
    ]


def _quantities(case: BoundCase) -> list[str]:
    """Every quantity by its group: value, bound, meaning."""
    groups: dict[str, list[list[str]]] = {}
    quantities = case.quantities()
    for name, result in quantities.items():
        declared = case.case.theory.own.quantity(name)
        group = "per kind of layer" if declared is None else declared.group
        bound = case.peak_bound_text(name, flagged=True)
        row = [name, result.text(), bound, result.symbol.meaning]
        groups.setdefault("defined here" if group == OWN else group, []).append(row)
    lines = [
        line
        for group, rows in groups.items()
        for line in ("", f"{group}:", text_table(rows, indent="  "))
    ]
    grid = [name for name, result in quantities.items() if result.ranged and result.found == "grid"]
    remark = "these ranges may end inside the ranges of the inputs, found on a grid; all others end at their corners: "
    return lines + ["", remark + ", ".join(grid)] * bool(grid)


# ------------------------------------------------------------------------------------------------------ what is missing


WRITE = {
    "prompt": "--prompt 4096", "output": "--output 512", "model": "--model llama-3-8b", "hardware": "--hardware h100-sxm", "batch": "--batch 8",
}  # fmt: skip


def _missing(case: BoundCase) -> list[str]:
    """What an answer lacks, with the option that gives it."""
    if case.hardware is None:
        lines = [
            f"give {WRITE['hardware']}: without it no times, cost, and memory that may be used"
        ]
        if "prompt" not in case.given:
            lines.append(f"give {WRITE['prompt']}: without it no times and no memory")
        return lines
    reasons: dict[str, list[str]] = {}
    for name in listed("shown", "missing"):
        if case.why_unknown(name):
            option = option_for(case, missing_input(case, name))
            why = f"give {option}: without it no" if option else case.why_unknown(name)
            reasons.setdefault(why, []).append(WORDS[name].removesuffix(", alone"))
    if not reasons and not under_load(case.case) and "output" not in case.given:
        return [
            f"give {WRITE['output']} as well: without it nothing under load, and no requests per second"
        ]
    return [
        f"{why} {', '.join(words)}" if why.startswith("give ") else f"no {', '.join(words)}: {why}"
        for why, words in reasons.items()
    ]


def missing_input(case: BoundCase, quantity: str) -> str:
    """The input without which a quantity has no value; empty where it lacks none."""
    try:
        case.case.value(quantity)
    except MissingInput as error:
        return error.name
    except NoValue:
        pass
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


# ------------------------------------------------------------------------------------------------------- what it rests on


def ledger(
    case: BoundCase,
    names: Sequence[str] = (),
    everything: bool = False,
    of: str = "",
    but: Collection[str] = (),
) -> list[str]:
    """What numbers rest on: precisions, engine and defaults in a few lines, or ``everything``: each input with its source, and each switch.

    Args:
        names: the quantities that are shown, by default those of the first screen.
        of: which of several cases this is.
        but: inputs that are left out.
    """
    if everything:
        inputs = case.inputs(tuple(names) or None, everything=not names)
        shown = {name: entry for name, entry in inputs.items() if name not in but}
        return ["", "inputs (* = defaulted):", inputs_table(shown), *_switches(case, bool(names))]
    return [*_chosen(case, of), *_defaults(case, names, but)]


def _chosen(case: BoundCase, of: str) -> list[str]:
    """Precisions, engine, efficiencies and switches; a star marks what nobody gave."""
    given, said = case.given, []
    if case.precisions:
        roles = [
            f"{role} {name}{'' if (own := given.get(ROLE_INPUT[role])) and not own.defaulted else '*'}"
            for role, name in case.precisions.items()
        ]
        said.append(f"precision {', '.join(roles)}")
    if case.engine is not None and case.hardware is not None and case.engine.label != IDEAL:
        said.append(f"engine {case.engine.said}{'' if case.request.engine else '*'}")
    if case.measured_box:
        star = "" if case.request.efficiency else "*"
        said.append(f"efficiencies measured on {case.engine_class} engines{star}")
    chosen = case.assumptions
    said += [
        f"{switch}={value}"
        for switch, value in chosen.values
        if value != SWITCHES[switch].default and not chosen.defaulted(switch)
    ]
    return wrapped(f"rests on ({of}* = default): {'; '.join(said)}", most=3) if said else []


def _switches(case: BoundCase, brief: bool) -> list[str]:
    """Every switch: in a line, or each with the meaning of its value."""
    if case.theory_only:
        return []
    if brief:
        return ["", switches_line(case)]
    chosen = case.assumptions
    rows = [
        [starred(name, chosen.defaulted(name)), chosen[name], switch.values[chosen[name]]]
        for name, switch in SWITCHES.items()
    ]
    return ["", "assumptions (* = defaulted):", text_table(rows)]


def _defaults(case: BoundCase, names: Sequence[str], but: Collection[str]) -> list[str]:
    """The defaults behind some quantities, those that people change first."""
    shown = tuple(names or filter(case.get, shown_first(case)))
    inputs = case.inputs(shown, everything=False) if shown else {}
    left_out = {*WIDTHS, *but, *(AT_PEAK if case.measured_box else ())}
    defaults = [name for name, entry in inputs.items() if entry.defaulted and name not in left_out]
    order = {name: place for place, name in enumerate(FIRST_DEFAULTS)}
    defaults.sort(key=lambda name: order.get(name, len(order)))
    said = ", ".join(f"{name} {inputs[name].plain(DIGITS)}" for name in defaults)
    return wrapped(f"defaults: {said}", most=2) if defaults else []
