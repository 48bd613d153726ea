"""``symroof derive``: the derivation of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import all_option, json_option, study_from, study_options
from symroof.cli.output import inputs_table, say, say_json, say_marked, say_one_of, switches_line

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
        say_marked(derivation_text(derivation) if everything else screen(derivation))


MOST_STEPS, MOST_EXPANDED, MOST_ELASTICITIES = 10, 8, 6
"""Lines of steps and of an expansion on a first screen, and elasticities."""
ALL = "--all: every step, expansion to inputs, elasticities, inputs with their sources"


def screen(derivation: Derivation) -> str:
    """The value, the formula, the steps next to it and what moves it, in the terminal's width."""
    from symroof.analysis.verdict import case_warnings
    from symroof.cli.case_screen import rests_on
    from symroof.cli.terminal import warning_lines, wrapped

    symbol, case = derivation.symbol, derivation.bound_case
    defined = (
        f"{derivation.name}: {derivation.search}"
        if derivation.search
        else f"{derivation.name} = {derivation.text}"
    )
    lines = [
        *wrapped(
            f"{derivation.name}: {symbol.meaning} [{symbol.unit or 'plain number'}]", "  ", ""
        ),
        *_value(derivation),
        "",
    ]
    lines += wrapped(defined, "      ", "  ")
    if derivation.result:
        lines += [
            *_nearest_steps(derivation),
            *warning_lines(case_warnings(case)),
            *_moved_by(derivation),
            *rests_on(case, names=(derivation.name,)),
        ]
    else:
        expanded = (
            wrapped(f"{derivation.name} = {derivation.expanded_text}", "      ", "  ")
            if derivation.expanded_text != derivation.text
            else []
        )
        shown = expanded if len(expanded) <= MOST_EXPANDED else [f"  {len(expanded)} lines: --all"]
        lines += ["", "expanded to inputs", *shown] if expanded else []
    return "\n".join([*lines, *wrapped(ALL, "  ", "")])


def _nearest_steps(derivation: Derivation) -> list[str]:
    """The steps next to the quantity, itself last, with numbers: as many as fit a screen."""
    from symroof.analysis.case_summary import DIGITS, compact
    from symroof.cli.terminal import fitted_table

    rows = [
        [
            f"{step.symbol.name}:" if step.search else step.symbol.name,
            str(step.search) if step.search else f"= {step.substituted.text}",
            f"= {compact(step.result, DIGITS)}" if step.result else "",
        ]
        for step in derivation.steps
    ]
    kept = next(
        (
            i
            for i in range(len(rows))
            if fitted_table(rows[i:], (), "  ", 1, clip=False, left=True).count("\n") < MOST_STEPS
        ),
        len(rows) - 1,
    )
    before = [f"  {kept} step{'s' * (kept != 1)} before: --all"] if kept > 0 else []
    return (
        ["", "with numbers", *before, fitted_table(rows[kept:], (), "  ", 1, clip=False, left=True)]
        if rows
        else []
    )


def _moved_by(derivation: Derivation) -> list[str]:
    """The largest elasticities in a sentence."""
    from symroof.analysis.sensitivity import span_text
    from symroof.cli.terminal import wrapped

    said = ", ".join(
        f"{entry.symbol.name} {span_text(*[entry.value] * 3)}"
        for entry in derivation.elasticities[:MOST_ELASTICITIES]
    )
    return wrapped(f"elasticities (% per 1 %): {said}", "  ", "", 2) if said else []


def _value(derivation: Derivation) -> list[str]:
    """What it comes to, as expected and at the peak, or what a number needs."""
    from symroof.analysis.case_summary import DIGITS, compact
    from symroof.analysis.verdict import basis_of
    from symroof.cli.case_screen import option_for
    from symroof.cli.terminal import wrapped

    if derivation.result is None:
        option = option_for(derivation.bound_case, derivation.why_unknown)
        return wrapped(
            f"no number: {derivation.why_unknown}{f' ({option})' if option else ''}", "    ", "  "
        )
    basis = basis_of(derivation.bound_case, (derivation.name,))
    bound = derivation.bound_case.peak_bound(derivation.name)
    at_peak = [f"bound {compact(bound, DIGITS)} (100 % of peak)"] if bound else []
    return wrapped("; ".join([compact(derivation.result, DIGITS), *at_peak, *basis]), "    ", "  ")


def derivation_text(derivation: Derivation) -> str:
    """Definition, expansion, the steps with numbers, the value, elasticities."""
    from symroof.analysis.verdict import basis_of
    from symroof.table_formats import text_table
    from symroof.theory.theory_files import DEFINITION

    symbol = derivation.symbol
    lines = [
        f"{derivation.name}: {symbol.meaning} [{symbol.unit or 'plain number'}]",
        *basis_of(derivation.bound_case, (derivation.name,) if derivation.result else ()),
        "",
    ]
    if bound := derivation.bound_case.peak_bound(derivation.name):
        lines[-1:] = [f"bound at 100 % of peak: {bound.text()}", ""]
    defined = (
        f"{derivation.name}: {derivation.search}"
        if derivation.search
        else f"{derivation.name} = {derivation.text}"
    )
    lines += [
        "definition",
        f"  {defined}",
        *([f"  {derivation.implicit_text}"] if derivation.search else []),
        "",
    ]
    if derivation.expanded_text != derivation.text:
        lines += ["expanded to inputs", f"  {derivation.name} = {derivation.expanded_text}", ""]
    reference = derivation.bound_case.case.theory.reference(derivation.name)
    if reference not in ("", DEFINITION):
        lines += [f"source of the formula: {reference}", ""]
    if derivation.result is None:
        return "\n".join([*lines, f"no number: {derivation.why_unknown}"])
    if derivation.steps:
        rows = [
            [
                step.symbol.name,
                f": {step.search}" if step.search else f"= {step.substituted.text}",
                f"= {step.result.text()}" if step.result else "",
            ]
            for step in derivation.steps
        ]
        lines += ["with numbers", text_table(rows, indent="  ")]
    else:
        lines += [f"value: {derivation.result.text()}"]
    return "\n".join([*lines, "", *_ledger(derivation), *_elasticities(derivation)])


def _elasticities(derivation: Derivation) -> list[str]:
    """The elasticity to each input, and the arms that it holds on."""
    from symroof.analysis.sensitivity import span_text
    from symroof.table_formats import text_table

    arms = f" (on {' and '.join(derivation.binding_arms)})" if derivation.binding_arms else ""
    heading = f"elasticities: % change of {derivation.name} per 1 % change of an input{arms}"
    rows = [[entry.symbol.name, span_text(*entry.span)] for entry in derivation.elasticities]
    return ["", heading, text_table(rows, indent="  ")] if rows else []


def _ledger(derivation: Derivation) -> list[str]:
    """Warnings, inputs and switches of the value."""
    from symroof.analysis.constraints import BEST, why_no_batch
    from symroof.analysis.verdict import case_warnings

    answers = derivation.bound_case
    inputs = answers.inputs((derivation.name,), everything=False)
    reason = why_no_batch(answers) if derivation.name in BEST else None
    warnings = [
        f"! {warning}" for warning in (*case_warnings(answers), *([reason] if reason else []))
    ]
    return [*warnings, "inputs (* = defaulted)", inputs_table(inputs), switches_line(answers)]
