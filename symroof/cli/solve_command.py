"""``symroof solve``: a named threshold, or an equation for one input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import json_option, study_from, study_options
from symroof.cli.output import say, say_json

if TYPE_CHECKING:
    from symroof.analysis.solution import Solution


@click.command("solve")
@click.argument("equation")
@click.option("--for", "unknown", metavar="SYMBOL", help="The input to solve for (a named threshold has its own).")
@study_options
@json_option
def command(equation: str, study: str | None, unknown: str | None, as_json: bool, **options: Any) -> None:
    """Solve a named threshold, or 'LHS = RHS' --for SYMBOL, for one input.

    symroof solve max_batch_memory specs/studies/llama-3-70b-chat.yaml

    symroof solve 'ttft = output*itl' --for prompt --model llama-3-8b --hardware h100-sxm --output 256

    symroof solve batch_to_ridge.gate_up --model llama-3-8b --hardware h100-sxm --hardware h200

    A threshold of a step also takes one of its operators. Of several cases, the first is shown in full and then each in a row.
    """
    from symroof.analysis.solution_text import solution_json, solution_text

    solutions: list[Solution] = study_from(study, options, needs_case=False).solutions(equation, unknown)
    if as_json:
        entry = solution_json(solutions[0])
        entry |= {"cases": [solution_json(solution) for solution in solutions]} if len(solutions) > 1 else {}
        say_json(entry)
    else:
        say(solution_text(solutions[0]))
        if len(solutions) > 1:
            say(f"\nevery case\n{solutions_table(solutions)}")


WITHIN_MEMORY = {True: "yes", False: "no", None: ""}


def solutions_table(solutions: list[Solution]) -> str:
    """One row per case: the answer, whether it fits in memory, and its meaning or why there is none."""
    from symroof.analysis.case_titles import case_label
    from symroof.drawing.table_formats import text_table

    rows = [[case_label(s.bound_case), s.in_ranges(), WITHIN_MEMORY[s.within_memory], s.reason] for s in solutions]
    return text_table(rows, ["case", solutions[0].unknown, "within memory", "meaning"], indent="  ")
