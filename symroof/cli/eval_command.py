"""``symroof eval``: every quantity and what limits it, as a table or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import all_option, json_option, strict_option, study_from, study_options
from symroof.cli.output import inputs_table, say_json, say_marked, starred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symroof.api import Study
    from symroof.cases.bound_case import BoundCase


KEY = ("ttft", "itl", "memory_bytes")
"""What a reader looks for first."""


@click.command("eval")
@click.option(
    "-q",
    "--quantity",
    "quantities",
    multiple=True,
    metavar="NAME",
    help="Only this quantity: value, range, bound, meaning. Repeatable.",
)
@all_option
@study_options
@strict_option
@json_option
def command(
    study: str | None,
    quantities: tuple[str, ...],
    everything: bool,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Latencies, throughput, cost and memory of a case, and what limits it.

    Take a STUDY.yaml, or the same as command-line options: symroof eval --model llama-3-8b --hardware h100-sxm --prompt 2048

    Of several cases, each is a row; --all shows every quantity, input and counting choice of each.
    """
    from symroof.analysis.verdict import findings

    made = study_from(study, options)
    cases = made.cases
    chosen = _chosen(quantities, made)
    if as_json:
        say_json({"schema": "symroof/eval/2", "cases": [case_json(case, chosen) for case in cases]})
    else:
        say_marked(cases_text(cases, chosen, everything))
    return int(strict and any(findings(case) for case in cases))


def _chosen(written: Sequence[str], made: Study) -> list[str]:
    """The quantities asked for by their printed names."""
    if not written:
        return []
    from symroof.sweep.sweep_quantities import requested_quantities

    return requested_quantities(written, made.declared)


def cases_text(cases: Sequence[BoundCase], quantities: Sequence[str], everything: bool) -> str:
    """The cases for people: some quantities, all there is, one screen, or one row a case."""
    from symroof.analysis.case_titles import case_label
    from symroof.analysis.constraints import why_no_batch
    from symroof.cli.case_screen import screen, screen_warnings
    from symroof.cli.cases_table import comparison, single

    if quantities:
        titled = [
            (f"{case_label(case)}\n" if len(cases) > 1 else "") + single(case, quantities)
            for case in cases
        ]
        return "\n\n".join(titled)
    if everything:
        return "\n\n".join(case_text(case) for case in cases)
    warnings = [text for case in cases for text in screen_warnings(case, why_no_batch(case))]
    if len(cases) > 1 and not cases[0].theory_only:
        return comparison(cases, warnings)
    return "\n\n".join(screen(case, warnings if case is cases[0] else ()) for case in cases)


def case_json(answers: BoundCase, chosen: Sequence[str] = ()) -> dict[str, Any]:
    """One case as JSON, with all quantities or those chosen."""
    return {
        "model": answers.model.name if answers.model else None,
        "hardware": answers.hardware.name if answers.hardware else None,
        "engine": answers.engine.label if answers.engine else None,
        **answers.ledger(),
        "quantities": {
            name: answers.json_with_bound(name)
            for name in answers.quantities()
            if not chosen or name in chosen
        },
        "unknown": answers.unknown(),
        "warnings": _warnings(answers),
    }


def _warnings(answers: BoundCase) -> list[str]:
    """Warnings of the case, missed targets, and why no batch meets them."""
    from symroof.analysis.constraints import why_no_batch
    from symroof.analysis.verdict import case_warnings, target_warnings

    reason = why_no_batch(answers)
    return [*case_warnings(answers), *target_warnings(answers), *([reason] if reason else [])]


def case_text(answers: BoundCase) -> str:
    """One case as tables."""
    from symroof.analysis.case_titles import case_title
    from symroof.analysis.verdict import basis_lines
    from symroof.table_formats import text_table
    from symroof.theory.declarations import OWN

    quantities = answers.quantities()
    sections = [f"== {case_title(answers)} ==", *basis_lines([answers])]
    sections += [f"! {warning}" for warning in _warnings(answers)]
    sections += [f"! {line}" for line in _missing(answers)]
    sections += _summary(answers)
    groups: dict[str, list[list[str]]] = {}
    for name, result in quantities.items():
        declared = answers.case.theory.own.quantity(name)
        group = "per kind of layer" if declared is None else declared.group
        bound = answers.peak_bound_text(name, flagged=True)
        row = [name, result.text(), bound, result.symbol.meaning]
        groups.setdefault("defined here" if group == OWN else group, []).append(row)
    for group, rows in groups.items():
        sections += ["", f"{group}:", text_table(rows, indent="  ")]
    if inside := [
        name for name, result in quantities.items() if result.ranged and result.found == "grid"
    ]:
        sections += [
            "",
            f"these ranges may end inside the ranges of the inputs, found on a grid; all others end at their corners: {', '.join(inside)}",
        ]
    sections += [
        "",
        "inputs (* = defaulted):",
        inputs_table(answers.inputs()),
        *([] if answers.theory_only else ["", "assumptions (* = defaulted):", _switches(answers)]),
    ]
    return "\n".join(sections)


def _missing(answers: BoundCase) -> list[str]:
    """Which of the key results have no value, and what they need."""
    reasons: dict[str, list[str]] = {}
    for name in () if answers.theory_only else KEY:
        if why := answers.why_unknown(name):
            reasons.setdefault(why, []).append(name)
    return [f"no {', '.join(names)}: {why}" for why, names in reasons.items()]


def _summary(answers: BoundCase) -> list[str]:
    """The key results: latencies and what limits them, memory, precisions."""
    from symroof.analysis.case_titles import devices

    lines = []
    for what, name, bound in (
        ("time to first token", "ttft", "prefill_bound"),
        ("inter-token latency", "itl", "decode_bound"),
    ):
        time, limit = answers.get(name), answers.get(bound)
        if time is not None and limit is not None:
            lines.append(f"{what} {answers.both_text(name)}, limited by {limit.plain()}")
    if answers.fits is not None:
        needed, usable = (
            answers.result(name).plain()
            for name in ("memory_bytes_per_device", "usable_memory_per_device")
        )
        who = (
            f"memory of the most loaded of {count} devices"
            if (count := devices(answers)) > 1
            else "memory"
        )
        lines.append(
            f"{who} {needed} of {usable}: {'fits' if not answers.does_not_fit else 'does not fit'}"
        )
    if answers.compute:
        stored = ", ".join(f"{role} {name}" for role, name in answers.precisions.items())
        lines.append(f"precision: {stored}; compute {answers.compute}")
    return lines + _engine(answers)


def _engine(answers: BoundCase) -> list[str]:
    """What the serving engine takes of the memory and puts into a step; nothing for physics alone."""
    from symroof.specs.engine_profile import IDEAL

    engine = answers.engine
    if engine is None or engine.label == IDEAL:
        return []
    which = engine.said + ("" if answers.request.engine else " (default; --engine sets it)")
    share, budget = (answers.get(name) for name in ("memory_share", "token_budget"))
    parts = [
        f"{share.plain()} of memory" if share else "",
        f"{budget.plain()} a step" if budget else "",
    ]
    return [": ".join(filter(None, (f"engine {which}", ", ".join(filter(None, parts)))))]


def _switches(answers: BoundCase) -> str:
    from symroof.table_formats import text_table
    from symroof.theory.switches import SWITCHES

    chosen = answers.assumptions
    return text_table(
        [
            [starred(s, chosen.defaulted(s)), chosen[s], switch.values[chosen[s]]]
            for s, switch in SWITCHES.items()
        ]
    )
