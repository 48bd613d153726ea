"""``symroof solve``: a named threshold, or an equation for one input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import options_of, study_from, study_options
from symroof.cli.terminal import fitted_table, reflowed, say, say_json, say_marked, warning_lines

if TYPE_CHECKING:
    from symroof.analysis.solution import Solution


@click.command("solve")
@click.argument("equation")
@options_of("solve")
@study_options
def command(
    equation: str,
    study: str | None,
    unknown: str | None,
    formula: bool,
    everything: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find a named threshold, or solve an equation for one input, in closed form.

    symroof solve max_batch_memory llama-3-70b-chat

    symroof solve 'ttft = output*itl' --for prompt --model llama-3-8b --hardware h100-sxm --output 256

    `symroof list thresholds` has the names. Several cases are compared in a table.
    """
    from symroof.analysis.solution import closed_form_lines, solution_json

    equation = re.sub(r"[<>]=?|≤|≥", "=", equation)  # the answer says on which side it holds
    solutions: list[Solution] = study_from(study, options, needs_case=False).solutions(
        equation, unknown
    )
    if as_json:
        entries = [solution_json(solution) for solution in solutions]
        say_json(entries[0] | ({"cases": entries} if len(entries) > 1 else {}))
    elif formula:
        lines = closed_form_lines(solutions[0], short=False)
        say("\n".join(lines or [f"no closed form: {solutions[0].why_numeric}"]))
    else:
        table = [f"every case\n{solutions_table(solutions)}"] if len(solutions) > 1 else []
        say_marked("\n\n".join([*table, screen(solutions[0], everything)]))


MOST_OF_FORM = 3
"""Lines of a closed form on a first screen."""


def screen(solution: Solution, everything: bool) -> str:
    """The question, the answer, warnings, and the closed form in short letters with its conditions; with ``everything`` each form over names."""
    from symroof.analysis import solution as told
    from symroof.analysis.case_summary import UNKNOWN_FIT, case_warnings
    from symroof.cli.case_screen import assumed, option_for
    from symroof.symbolic.expressions import names

    case = solution.bound_case
    one_sided = solution.verdict in ("lhs_above", "lhs_below", "identical")
    option = "" if one_sided or not solution.missing else option_for(case, solution.missing)
    warned = [f"add {option} to get a number"] if option else []
    warned += told.without_effect(solution)
    warned += case_warnings(case, UNKNOWN_FIT)
    lines = [*told.question(solution), "", *told.answer(solution)]
    lines += [f"  {text}" for text in told.remarks(solution)]
    rests = ", ".join(f"{name} {entry.text()}" for name, entry in solution.defaults.items())
    lines += [f"  assumed: {rests}"] if everything and rests else []
    lines = [*reflowed(lines), *warning_lines(warned)]
    form = told.closed_form_lines(solution, short=not everything)
    remark = "--formula writes it out over inputs, and as LaTeX." if form else ""
    if not everything and len(reflowed(form[:1])) > MOST_OF_FORM:
        form, remark = [], "No short closed form (--formula prints the long one)."
    lines += [""] * bool(form) + reflowed(form)
    if everything:
        return "\n".join(lines)
    # of all quantities it takes a second
    here = () if solution.missing else sorted(names(solution.relation))
    shown = [name for name in here if not case.case.is_input(name) and case.case.has_value(name)]
    rest = assumed(case, shown, but=(solution.unknown,), remark=remark) if shown else [remark]
    return "\n".join([*lines, *filter(None, rest)])


def solutions_table(solutions: list[Solution]) -> str:
    """One row per case: the answer, and whether it fits in memory."""
    from symroof.report.field_names import short_label

    both = any(s.at_peak is not None for s in solutions)
    rows = [
        [
            short_label(s.bound_case),
            s.in_ranges(),
            *([s.at_peak.in_ranges() if s.at_peak is not None else ""] if both else []),
            {True: "yes", False: "no", None: ""}[s.within_memory],
        ]
        for s in solutions
    ]
    heads = ["case", solutions[0].unknown, *(["at peak"] if both else []), "fits in memory"]
    return fitted_table(rows, heads, "  ", flexible=0)
