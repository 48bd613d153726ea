"""``symroof derive``: the derivation of a quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import json_option, study_from, study_options
from symroof.cli.output import inputs_table, say, say_json, say_one_of, switches_line

if TYPE_CHECKING:
    from symroof.analysis.derivation import Derivation


@click.command("derive")
@click.argument("quantity")
@study_options
@click.option("--latex", "as_latex", is_flag=True, help="The definition and expansion as LaTeX.")
@json_option
def command(quantity: str, study: str | None, as_latex: bool, as_json: bool, **options: Any) -> None:
    """Derive a quantity: definition, expansion to inputs, limits, numbers, elasticities.

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
        say(derivation_text(derivation))


def derivation_text(derivation: Derivation) -> str:
    """Definition, expansion, limits, the steps with numbers, the value, elasticities."""
    from symroof.analysis.verdict import basis_of
    from symroof.drawing.table_formats import text_table
    from symroof.theory.theory_files import DEFINITION

    symbol = derivation.symbol
    lines = [
        f"{derivation.name}: {symbol.meaning} [{symbol.unit or 'plain number'}]",
        *basis_of(derivation.bound_case, (derivation.name,) if derivation.result else ()),
        "",
    ]
    if expected := derivation.bound_case.expected(derivation.name):
        lines[-1:] = [f"expected by measured efficiencies: {expected.text()}", ""]
    defined = f"{derivation.name}: {derivation.search}" if derivation.search else f"{derivation.name} = {derivation.text}"
    lines += ["definition", f"  {defined}", *([f"  {derivation.implicit_text}"] if derivation.search else []), ""]
    if derivation.expanded_text != derivation.text:
        lines += ["expanded to inputs", f"  {derivation.name} = {derivation.expanded_text}", ""]
    reference = derivation.bound_case.case.theory.reference(derivation.name)
    if reference not in ("", DEFINITION):
        lines += [f"source of the formula: {reference}", ""]
    lines += _limits(derivation)
    if derivation.result is None:
        lines += _elasticities(derivation)
        return "\n".join([*lines, f"no number: {derivation.why_unknown}"])
    if derivation.steps:
        rows = [
            [step.symbol.name, f": {step.search}" if step.search else f"= {step.substituted.text}", f"= {step.result.text()}" if step.result else ""]
            for step in derivation.steps
        ]
        lines += ["with numbers", text_table(rows, indent="  ")]
    else:
        lines += [f"value: {derivation.result.text()}"]
    return "\n".join([*lines, "", *_ledger(derivation), *(["", *answering] if (answering := _elasticities(derivation)[:-1]) else [])])


def _limits(derivation: Derivation) -> list[str]:
    """The first-order form and every limit, with values if known."""
    first = derivation.first_order
    lines = [("first order (weights alone)", first.text, first.result)] if first else []
    lines += [(limit.says, limit.text, limit.result) for limit in derivation.limits]
    if not lines:
        return []
    return ["limits", *(f"  {says}: {written}{f' = {result.text()}' if result else ''}" for says, written, result in lines), ""]


def _elasticities(derivation: Derivation) -> list[str]:
    """The elasticity to each input: its number if known, and its formula if short."""
    from symroof.analysis.sensitivity import span_text
    from symroof.drawing.table_formats import text_table

    if not derivation.elasticities:
        return []
    arms = f" (on {' and '.join(derivation.binding_arms)})" if derivation.binding_arms else ""
    rows = []
    for entry in derivation.elasticities:
        form = "" if entry.text is None else f"= {entry.text}"
        rows.append([entry.symbol.name, span_text(*entry.span), form] if entry.span else [entry.symbol.name, form, f"on {entry.arm}" if entry.arm else ""])
    return [f"elasticities: % change of {derivation.name} per 1 % change of an input{arms}", text_table(rows, indent="  "), ""]


def _ledger(derivation: Derivation) -> list[str]:
    """Warnings, inputs and switches of the value."""
    from symroof.analysis.best_batch import BEST, why_no_batch
    from symroof.analysis.verdict import case_warnings

    answers = derivation.bound_case
    inputs = answers.inputs((derivation.name,), everything=False)
    reason = why_no_batch(answers) if derivation.name in BEST else None
    warnings = [f"! {warning}" for warning in (*case_warnings(answers), *([reason] if reason else []))]
    return [*warnings, "inputs (* = defaulted)", inputs_table(inputs), switches_line(answers)]
