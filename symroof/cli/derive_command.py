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
def command(quantity: str, study: str | None, everything: bool, as_latex: bool, as_json: bool, **options: Any) -> None:
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
        say_marked(derivation_text(derivation) if everything else screen(derivation))


def screen(derivation: Derivation) -> str:
    """The value and the steps to it first, then expansion, limits and elasticities, in the terminal's width."""
    from symroof.analysis.verdict import case_warnings
    from symroof.cli.case_screen import rests_on
    from symroof.cli.terminal import fitted_table, reflowed, warning_lines, wrapped

    symbol, case = derivation.symbol, derivation.bound_case
    defined = f"{derivation.name}: {derivation.search}" if derivation.search else f"{derivation.name} = {derivation.text}"
    lines = [*wrapped(f"{derivation.name}: {symbol.meaning} [{symbol.unit or 'plain number'}]", "  ", ""), *_value(derivation), ""]
    lines += wrapped(defined, "      ", "  ")
    steps = [
        [
            f"{step.symbol.name}:" if step.search else step.symbol.name,
            str(step.search) if step.search else f"= {step.substituted.text}",
            f"= {step.result.text()}" if step.result else "",
        ]
        for step in derivation.steps
    ]
    lines += ["", "with numbers", fitted_table(steps, (), "  ", 1, clip=False, left=True)] if steps and derivation.result else []
    if derivation.result:
        lines += [*warning_lines(case_warnings(case)), *rests_on(case, names=(derivation.name,))]
    if derivation.expanded_text != derivation.text:
        lines += ["", "expanded to inputs", *wrapped(f"{derivation.name} = {derivation.expanded_text}", "      ", "  ")]
    lines += ["", *reflowed(_limits(derivation)[:-1])] if derivation.limits or derivation.first_order else []
    heading, rows = _elasticity_rows(derivation)
    lines += ["", *wrapped(heading, "  ", ""), fitted_table(rows, (), "  ", 2 if derivation.result else 1)] if rows else []
    return "\n".join([*lines, "", "--all: every input with its source, counting choices, source of the formula"])


def _value(derivation: Derivation) -> list[str]:
    """What it comes to, as expected and at the peak, or what a number needs."""
    from symroof.analysis.verdict import basis_of
    from symroof.cli.case_screen import WRITE
    from symroof.cli.terminal import wrapped

    if derivation.result is None:
        name = derivation.why_unknown.removeprefix("needs ")
        return wrapped(f"no number: {derivation.why_unknown}{f' ({WRITE[name]})' if name in WRITE else ''}", "    ", "  ")
    basis = basis_of(derivation.bound_case, (derivation.name,))
    if expected := derivation.bound_case.expected(derivation.name):
        return wrapped(f"expected {expected.text()}, bound {derivation.result.text()} (100 % of peak)", "    ", "  ")
    return wrapped("; ".join([derivation.result.text(), *basis]), "    ", "  ")


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
    from symroof.drawing.table_formats import text_table

    heading, rows = _elasticity_rows(derivation)
    return [heading, text_table(rows, indent="  "), ""] if rows else []


def _elasticity_rows(derivation: Derivation) -> tuple[str, list[list[str]]]:
    from symroof.analysis.sensitivity import span_text

    arms = f" (on {' and '.join(derivation.binding_arms)})" if derivation.binding_arms else ""
    rows = []
    for entry in derivation.elasticities:
        form = "" if entry.text is None else f"= {entry.text}"
        rows.append([entry.symbol.name, span_text(*entry.span), form] if entry.span else [entry.symbol.name, form, f"on {entry.arm}" if entry.arm else ""])
    return f"elasticities: % change of {derivation.name} per 1 % change of an input{arms}", rows


def _ledger(derivation: Derivation) -> list[str]:
    """Warnings, inputs and switches of the value."""
    from symroof.analysis.best_batch import BEST, why_no_batch
    from symroof.analysis.verdict import case_warnings

    answers = derivation.bound_case
    inputs = answers.inputs((derivation.name,), everything=False)
    reason = why_no_batch(answers) if derivation.name in BEST else None
    warnings = [f"! {warning}" for warning in (*case_warnings(answers), *([reason] if reason else []))]
    return [*warnings, "inputs (* = defaulted)", inputs_table(inputs), switches_line(answers)]
