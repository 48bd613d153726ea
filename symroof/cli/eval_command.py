"""``symroof eval``: every quantity and what limits it, as a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import options_of, study_from, study_options
from symroof.cli.terminal import say_json, say_marked

if TYPE_CHECKING:
    from symroof.cases.bound_case import BoundCase


@click.command("eval")
@options_of("eval")
@study_options
def command(
    study: str | None,
    quantities: tuple[str, ...],
    everything: bool,
    strict: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Predict latency, throughput, cost and memory, and what limits them.

    symroof eval --model llama-3-8b --hardware h100-sxm --prompt 2048 --output 256

    Several cases (--batch 8,32) are compared, one in a row; --all shows every quantity, input and assumption of each.
    """
    from symroof.analysis.verdict import findings

    made = study_from(study, options)
    cases, chosen = made.cases, []
    if quantities:
        from symroof.sweep.grid import requested_quantities

        chosen = requested_quantities(quantities, made.declared)
    if as_json:
        say_json({"schema": "symroof/eval/2", "cases": [case_json(case, chosen) for case in cases]})
    else:
        say_marked(cases_text(cases, chosen, everything))
    return int(strict and any(findings(case) for case in cases))


def cases_text(cases: Sequence[BoundCase], quantities: Sequence[str], everything: bool) -> str:
    """The cases for people: some quantities, all there is, one screen, or one row a case."""
    from symroof.cli.case_screen import screen, screen_warnings
    from symroof.cli.cases_table import comparison, single
    from symroof.report.field_names import short_label

    if quantities:
        titles = [f"{short_label(case)}\n" if len(cases) > 1 else "" for case in cases]
        texts = [single(case, quantities) for case in cases]
        return "\n\n".join(map("".join, zip(titles, texts, strict=True)))
    warnings = {id(case): screen_warnings(case) for case in cases}
    if len(cases) > 1 and not everything and not cases[0].theory_only:
        of = {
            text: [c for c in cases if text in warnings[id(c)]]
            for w in warnings.values()
            for text in w
        }
        told = [
            text if len(some) == len(cases) else f"{', '.join(map(short_label, some))}: {text}"
            for text, some in of.items()
        ]
        return comparison(cases, told)
    return "\n\n".join(screen(case, warnings[id(case)], everything) for case in cases)


def case_json(answers: BoundCase, chosen: Sequence[str] = ()) -> dict[str, Any]:
    """One case as JSON, with all quantities or those chosen; warnings are of the case and of missed targets."""
    from symroof.analysis.case_summary import case_warnings, target_warnings
    from symroof.cases.engine_inputs import beyond_measurements

    said = filter(None, [beyond_measurements(answers)])
    shown = [name for name in answers.known if not chosen or name in chosen]
    return {
        "model": answers.model.name if answers.model else None,
        "hardware": answers.hardware.name if answers.hardware else None,
        "engine": answers.engine.label if answers.engine else None,
        **answers.ledger(),
        "quantities": {name: answers.json_with_bound(name) for name in shown},
        "unknown": {
            name: why for name in answers.quantity_names if (why := answers.why_unknown(name))
        },
        "warnings": [*case_warnings(answers), *target_warnings(answers), *said],
    }
