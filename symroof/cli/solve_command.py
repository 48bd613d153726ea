"""``symroof solve``: a named threshold, or an equation for one input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import case_options, json_option, study_from

if TYPE_CHECKING:
    from symroof.solution import Solution


@click.command("solve")
@click.argument("equation")
@click.argument("study", required=False)
@click.option("--for", "unknown", metavar="SYMBOL", help="The input to solve for (a named threshold has its own).")
@case_options
@json_option
def command(equation: str, study: str | None, unknown: str | None, as_json: bool, **options: Any) -> None:
    """Where two quantities meet: a named threshold, or 'LHS = RHS' --for SYMBOL.

    symroof solve max_batch_memory specs/studies/llama-3-70b-chat.yaml

    symroof solve 'ttft = output*itl' --for prompt --model llama-3-8b --hardware h100-sxm --output 256
    """
    from symroof.solution_text import solution_json, solution_text

    solution: Solution = study_from(study, options, needs_case=False).solve(equation, unknown)
    click.echo(json.dumps(solution_json(solution), ensure_ascii=False) if as_json else solution_text(solution))
