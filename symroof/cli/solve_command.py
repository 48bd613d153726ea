"""``symroof solve``: a named threshold, or an equation for one input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import all_option, json_option, study_from, study_options
from symroof.cli.output import say_json, say_marked
from symroof.cli.terminal import fitted_table, reflowed, warning_lines, wrapped

if TYPE_CHECKING:
    from symroof.analysis.solution import Solution


@click.command("solve")
@click.argument("equation")
@click.option(
    "--for",
    "unknown",
    metavar="SYMBOL",
    help="The input to solve for (a named threshold has its own).",
)
@all_option
@study_options
@json_option
def command(
    equation: str,
    study: str | None,
    unknown: str | None,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Solve a named threshold, or 'LHS = RHS' --for SYMBOL, for one input.

    symroof solve max_batch_memory specs/studies/llama-3-70b-chat.yaml

    symroof solve 'ttft = output*itl' --for prompt --model llama-3-8b --hardware h100-sxm --output 256

    symroof solve batch_to_ridge.gate_up --model llama-3-8b --hardware h100-sxm --hardware h200

    A threshold of a step also takes one of its operators. Of several cases, the first is shown in full and then each in a row.
    """
    from symroof.analysis.solution_text import solution_json, solution_text

    solutions: list[Solution] = study_from(study, options, needs_case=False).solutions(
        equation, unknown
    )
    if as_json:
        entries = [solution_json(solution) for solution in solutions]
        say_json(entries[0] | ({"cases": entries} if len(entries) > 1 else {}))
    else:
        table = f"every case\n{solutions_table(solutions)}" if len(solutions) > 1 else ""
        parts = (
            [solution_text(solutions[0]), table] if everything else [table, screen(solutions[0])]
        )
        say_marked("\n\n".join(filter(None, parts)))


def screen(solution: Solution) -> str:
    """The sentence with the number expected and at the peak, then the closed form and its conditions."""
    from symroof.analysis import solution_text as told
    from symroof.cli.case_screen import option_for

    lines = []
    for text in told.answer(solution):
        lines += wrapped(text.strip(), "    ", "  " if text.startswith(" ") else "")
    said = told.remarks(solution)
    for text in said:
        lines += wrapped(text, "    ", "  ", 2) if not text.startswith("! ") else []
    equation, *about = told.question(solution)
    lines += wrapped(f"{equation}: {'; '.join(map(str.strip, about))}", "    ", "  ")
    one_sided = solution.verdict in ("lhs_above", "lhs_below", "identical")
    missing = "" if one_sided else solution.missing
    option = option_for(solution.bound_case, missing) if missing else ""
    warned = [f"! give {option} for a number"] if option else []
    warned += [*said, *told.solution_warnings(solution)]
    lines += warning_lines(text.removeprefix("! ") for text in warned if text.startswith("! "))
    lines += reflowed(told.closed_form_lines(solution, written_out=False))
    if names := told.names_of_forms(solution):
        lines += ["", *wrapped(f"--all writes out {', '.join(names)}", most=3)]
    return "\n".join(lines)


WITHIN_MEMORY = {True: "yes", False: "no", None: ""}


def solutions_table(solutions: list[Solution]) -> str:
    """One row per case: the answer, whether it fits in memory, and its meaning or why there is none."""
    from symroof.analysis.case_titles import case_label

    unknown, both = solutions[0].unknown, any(s.at_peak is not None for s in solutions)
    rows = [
        [
            case_label(s.bound_case),
            s.in_ranges(),
            *([s.at_peak.in_ranges() if s.at_peak is not None else ""] if both else []),
            WITHIN_MEMORY[s.within_memory],
            s.reason,
        ]
        for s in solutions
    ]
    heads = ["case", unknown, *(["bound"] if both else []), "within memory", "meaning"]
    return fitted_table(rows, heads, "  ", flexible=-1, clip=True)
