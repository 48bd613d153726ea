"""``symroof vllm``: explains a vllm serve command and recommends one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import (
    case_options,
    details_option,
    json_option,
    line_selection,
    strict_option,
)
from symroof.cli.output import json_text, say, say_marked, switches_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from symroof.cases.bound_case import BoundCase
    from symroof.cases.quantity_result import Result
    from symroof.vllm.advice import Review
    from symroof.vllm.batch_limits import BatchLimit
    from symroof.vllm.command_line import ServeCommand


@click.command("vllm")
@click.argument("line", metavar="'vllm serve ...'")
@details_option
@case_options
@strict_option
@json_option
def command(line: str, everything: bool, strict: bool, as_json: bool, **options: Any) -> int:
    """Explain a vllm serve command line, and recommend one.

    symroof vllm 'vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 256' --hardware h100-sxm --prompt 2048 --output 256 --target itl='30 ms'

    The recommended command line, why, and what it gives; with --details each flag in symroof's terms, what memory, the ITL target
    and the ridge allow, and the threshold that each number was solved from. The command line is only read, never run. Options given
    here override its flags.
    """
    from symroof.vllm.command_line import read_line

    return reviewed(read_line(line), everything, strict, as_json, options)


def reviewed(
    line: ServeCommand, everything: bool, strict: bool, as_json: bool, options: dict[str, Any]
) -> int:
    """Print the review of a parsed command; the exit code."""
    from symroof.analysis.verdict import findings
    from symroof.cli.server_screen import screen
    from symroof.vllm.advice import review
    from symroof.vllm.served_case import served_case

    advised = review(served_case(line, line_selection(options)))
    if as_json:
        say(json_text(review_json(advised)))
    else:
        say_marked(
            review_text(advised) if everything else screen(advised, _without_effect(advised))
        )
    return int(strict and bool(findings(advised.served.study.first)))


def _source(advised: Review) -> str:
    from symroof.vllm.flags import SOURCE

    return advised.served.line.engine.source or SOURCE


def review_json(advised: Review) -> dict[str, Any]:
    """The review as JSON."""
    from symroof.analysis.verdict import case_warnings, efficiency_basis

    answers, made = advised.served.study.first, advised.served
    return {
        "schema": f"symroof/{'vllm' if made.line.engine.name == 'vllm' else 'server'}/1",
        "engine": made.line.engine.name,
        "model": answers.model.name if answers.model else None,
        "hardware": answers.hardware.name if answers.hardware else None,
        "flags": [
            {
                "flag": t.flag,
                "value": t.value,
                "sets": t.sets,
                "says": t.says,
                "defaulted": t.defaulted,
            }
            for t in made.flags
        ],
        "not_modelled": list(made.others),
        "basis": efficiency_basis(answers),
        "quantities": {name: advised.case_of(name).json_with_bound(name) for name in advised.facts},
        "limits": [_limit_json(limit) for limit in advised.limits],
        "recommended": {
            "line": advised.line or None,
            "flags": [vars(advice) for advice in advised.advice],
            "quantities": {name: advised.pick.case.json_with_bound(name) for name in advised.gives}
            if advised.pick
            else {},
        },
        **(
            advised.found.as_json(advised.line)
            if advised.found
            else {"recommendation": None, "reason": advised.warnings[-1]}
        ),
        **answers.ledger(tuple(advised.facts), everything=False),
        "warnings": list(
            dict.fromkeys((*_without_effect(advised), *case_warnings(answers), *advised.warnings))
        ),
        "read": _source(advised),
    }


def _without_effect(advised: Review) -> list[str]:
    """What somebody set and no number of the review depends on."""
    from symroof.analysis.verdict import unused_inputs

    return [
        f"{name} has no effect here: nothing that is shown depends on it"
        for name in unused_inputs(advised.served.study.first, [*advised.facts, *advised.gives])
    ]


def _limit_json(limit: BatchLimit) -> dict[str, Any]:
    from symroof.analysis.solution_text import solution_json

    return {
        "name": limit.name,
        "value": limit.value,
        "means": limit.means,
        "solution": solution_json(limit.solution),
    }


def review_text(advised: Review) -> str:
    """Flags, quantities, limits, and the recommended command with its derivation."""
    from symroof.analysis.case_titles import case_title
    from symroof.analysis.verdict import case_warnings, efficiency_basis, target_warnings
    from symroof.table_formats import text_table

    made, answers = advised.served, advised.served.study.first
    warnings = dict.fromkeys(
        (
            *_without_effect(advised),
            *case_warnings(answers),
            *target_warnings(answers),
            *advised.warnings,
        )
    )
    lines = [
        f"== {case_title(answers)} ==",
        efficiency_basis(answers),
        *(f"! {warning}" for warning in warnings),
        "",
    ]
    rows = [[("* " if t.defaulted else "  ") + t.flag, t.value, t.sets, t.says] for t in made.flags]
    lines += [
        f"flags (* = {made.line.engine.title}'s default)",
        text_table(rows, ["  flag", "value", "sets", "means"]),
        "",
    ]
    if made.others:
        lines += [f"not modelled: {' '.join(made.others)}", ""]
    lines += ["current configuration", _quantities(advised.facts, advised.case_of), ""]
    lines += [
        "limits (chunk: with a full batch at its last step, at the end of the prompt)",
        text_table(
            [[limit.name, _value(limit), limit.equation, limit.means] for limit in advised.limits],
            ["", "at", "from", "meaning"],
            indent="  ",
        ),
        "",
    ]
    lines += _advice(advised)
    return "\n".join([*lines, switches_line(answers), f"flags as in {_source(advised)}"])


def _quantities(found: dict[str, Result], case_of: Callable[[str], BoundCase | None]) -> str:
    """Quantities with the bound at the peak beside what is expected, where that differs."""
    from symroof.table_formats import text_table

    bounds = {
        name: case.peak_bound_text(name, flagged=True) for name in found if (case := case_of(name))
    }
    rows = [
        [name, result.text(), bounds.get(name, ""), result.symbol.meaning]
        for name, result in found.items()
    ]
    return text_table(
        rows,
        ["", "", "bound at 100 % of peak", ""] if any(bounds.values()) else [""] * 4,
        indent="  ",
    )


def _value(limit: BatchLimit) -> str:
    return "no limit" if limit.value is None else f"{limit.value:,}"


def _advice(advised: Review) -> list[str]:
    """The recommended flags, the command, and what it gives."""
    if advised.pick is None:
        return []
    from symroof.cli.server_screen import replicas_text

    engine, case = advised.served.line.engine, advised.pick.case
    lines = ["recommended, as in `symroof select` on these devices"]
    lines += [
        f"  {engine.spelled(one.flag) or one.flag} {one.value}".rstrip() + f": {one.because}"
        for one in advised.advice
    ]
    given = [title for title in (replicas_text(advised),) if title]
    given += ["with the recommended flags", _quantities(advised.gives, lambda name: case), ""]
    return [*lines, "", advised.line, "", *given]
