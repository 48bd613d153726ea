"""``symroof derive``: the derivation of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import all_option, json_option, study_from, study_options
from symroof.cli.output import say, say_json, say_marked, say_one_of
from symroof.cli.terminal import fitted_table, warning_lines, wrapped
from symroof.table_formats import text_table

if TYPE_CHECKING:
    from symroof.analysis.derivation import Derivation


@click.command("derive")
@click.argument("quantity")
@study_options
@all_option
@click.option("--latex", "as_latex", is_flag=True, help="The definition and expansion as LaTeX.")
@json_option
def command(
    quantity: str,
    study: str | None,
    everything: bool,
    as_latex: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Derive a quantity: definition, expansion to inputs, numbers, elasticities.

    symroof derive itl --model llama-3-8b --hardware h100-sxm --prompt 2048

    Without a case the answer stays symbolic: symroof derive kv_bytes_per_token
    """
    made = study_from(study, options, needs_case=False)
    derivation = made.derive(quantity)
    say_one_of(made.cases, "deriving for")
    if as_json:
        say_json(derivation.as_json())
    elif as_latex:
        say(f"{derivation.latex()}\n{derivation.as_json()['expanded']['latex']}")
    else:
        say_marked("\n".join(derivation_lines(derivation, everything)))


MOST_STEPS, MOST_EXPANDED, MOST_ELASTICITIES = 10, 8, 6
"""Lines of steps and of an expansion on a first screen, and elasticities."""
ALL = "--all: every step, expansion to inputs, elasticities, inputs with their sources"


def derivation_lines(derivation: Derivation, everything: bool) -> list[str]:
    """The value, the formula, the steps next to it and what moves it; all of each with ``everything``."""
    from symroof.analysis.constraints import BEST, why_no_batch
    from symroof.analysis.verdict import case_warnings
    from symroof.cli.case_screen import ledger

    name, symbol, case = derivation.name, derivation.symbol, derivation.bound_case
    lines = wrapped(f"{name}: {symbol.meaning} [{symbol.unit or 'plain number'}]")
    lines += [*_value(derivation), ""]
    lines += _definition(derivation, everything)
    if derivation.result is None:
        return lines if everything else [*lines, *wrapped(ALL)]
    lines += _steps(derivation, everything)
    reason = why_no_batch(case) if name in BEST else None
    warnings = [*case_warnings(case), *([reason] if reason else [])]
    lines += warning_lines(warnings, len(warnings) if everything else 4)
    lines += _elasticities(derivation, everything)
    lines += ledger(case, (name,), everything)
    return lines if everything else [*lines, *wrapped(ALL)]


def _value(derivation: Derivation) -> list[str]:
    """What it comes to, as expected and at the peak, or what a number needs."""
    from symroof.analysis.case_summary import DIGITS, compact
    from symroof.analysis.verdict import basis_of
    from symroof.cli.case_screen import missing_input, option_for

    case, name = derivation.bound_case, derivation.name
    if derivation.result is None:
        option = option_for(case, missing_input(case, name))
        why = f"{derivation.why_unknown}{f' ({option})' if option else ''}"
        return wrapped(f"no number: {why}", "    ", "  ")
    bound = case.peak_bound(name)
    at_peak = [f"bound {compact(bound, DIGITS)} (100 % of peak)"] if bound else []
    said = [compact(derivation.result, DIGITS), *at_peak, *basis_of(case, (name,))]
    return wrapped("; ".join(said), "    ", "  ")


def _definition(derivation: Derivation, everything: bool) -> list[str]:
    """The definition; with ``everything``, or without a number, what it is over inputs; its source."""
    from symroof.theory.theory_files import DEFINITION

    name = derivation.name
    own = f": {derivation.search}" if derivation.search else f" = {derivation.text}"
    lines = wrapped(name + own, "      ", "  ")
    if everything and derivation.search:
        lines += wrapped(derivation.implicit_text, "      ", "  ")
    if derivation.expanded_text != derivation.text and (everything or not derivation.result):
        expanded = wrapped(f"{name} = {derivation.expanded_text}", "      ", "  ")
        if len(expanded) > MOST_EXPANDED and not everything:
            expanded = [f"  {len(expanded)} lines: --all"]
        lines += ["", "expanded to inputs", *expanded]
    if not everything:
        return lines
    reference = derivation.bound_case.case.theory.reference(name)
    if reference not in ("", DEFINITION):
        lines += ["", f"source of the formula: {reference}"]
    return lines


def _steps(derivation: Derivation, everything: bool) -> list[str]:
    """The steps with numbers, the quantity itself last: all, or those next to it that fit a screen."""
    from symroof.analysis.case_summary import DIGITS, compact

    rows = []
    for step in derivation.steps:
        how = str(step.search) if step.search else f"= {step.substituted.text}"
        value = ""
        if step.result:
            value = f"= {step.result.text() if everything else compact(step.result, DIGITS)}"
        rows.append([step.symbol.name + ":" * bool(step.search), how, value])
    if not rows:
        return []
    if everything:
        return ["", "with numbers", text_table(rows, indent="  ", left=True)]
    kept = 0
    while (shown := fitted_table(rows[kept:], (), "  ", 1, left=True)).count(
        "\n"
    ) >= MOST_STEPS and kept < len(rows) - 1:
        kept += 1
    before = [f"  {kept} step{'s' * (kept != 1)} before: --all"] if kept else []
    return ["", "with numbers", *before, shown]


def _elasticities(derivation: Derivation, everything: bool) -> list[str]:
    """The largest elasticities in a sentence, or that to each input."""
    from symroof.analysis.sensitivity import span_text

    found = derivation.elasticities
    if not found:
        return []
    if everything:
        heading = f"elasticities: % change of {derivation.name} per 1 % change of an input"
        rows = [[entry.symbol.name, span_text(*entry.span)] for entry in found]
        return ["", heading, text_table(rows, indent="  ")]
    said = [f"{each.symbol.name} {span_text(*[each.value] * 3)}" for each in found]
    return wrapped(f"elasticities (% per 1 %): {', '.join(said[:MOST_ELASTICITIES])}", most=2)
