"""``symroof derive``: the derivation of a quantity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from symroof.cli.options import options_of, study_from, study_options
from symroof.cli.terminal import (
    fitted_table,
    say,
    say_json,
    say_marked,
    say_one_of,
    warning_lines,
    wrapped,
)
from symroof.table_formats import text_table
from symroof.units import significant

if TYPE_CHECKING:
    from symroof.analysis.derivation import Derivation


@click.command("derive")
@click.argument("quantity")
@study_options
@options_of("derive")
def command(
    quantity: str,
    study: str | None,
    everything: bool,
    as_latex: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show the formula of a quantity, step by step with numbers, and what moves it.

    symroof derive itl --model llama-3-8b --hardware h100-sxm --prompt 2048

    Without a model the answer stays symbolic: symroof derive kv_bytes_per_token
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
ALL = "--all shows every step, the expansion to inputs, all elasticities, inputs with sources."


def derivation_lines(derivation: Derivation, everything: bool) -> list[str]:
    """The value, the formula, the steps next to it and what moves it; all of each with ``everything``."""
    from symroof.analysis.case_summary import case_title, case_warnings
    from symroof.cli.case_screen import assumed, chosen, ledger

    name, case = derivation.name, derivation.bound_case
    lines = [*_value(derivation, everything), *wrapped(derivation.symbol.meaning, "    ", "  ")]
    if derivation.result is not None and not case.theory_only and (case.model or case.hardware):
        lines += wrapped(f"{case_title(case)}{chosen(case)}", "    ", "  ")
    lines += ["", *_definition(derivation, everything)]
    if derivation.result is None:
        return lines if everything else [*lines, *wrapped(ALL)]
    lines += _steps(derivation, everything)
    warnings = case_warnings(case)
    lines += warning_lines(warnings, len(warnings) if everything else 4)
    lines += _elasticities(derivation, everything)
    return [*lines, *(ledger(case, (name,)) if everything else assumed(case, (name,), remark=ALL))]


def _value(derivation: Derivation, everything: bool) -> list[str]:
    """The value and the theoretical minimum, or what is missing."""
    from symroof.analysis.case_summary import both, limit_word
    from symroof.analysis.verdict import basis_of
    from symroof.cli.case_screen import missing_input, option_for

    case, name = derivation.bound_case, derivation.name
    if derivation.result is None:
        option = option_for(case, missing_input(case, name))
        if option:
            why = f"yet: it {derivation.why_unknown}, for example {option}"
            return wrapped(f"{name}: no number {why}")
        return wrapped(f"{name}: no number: {derivation.why_unknown}")
    own, least = both(case, name)
    basis = "" if least and not everything else "; ".join(basis_of(case, (name,)))
    least = least and f"{limit_word(derivation.symbol.unit)} {least}"
    return wrapped("; ".join(filter(None, (f"{name} = {own}", least, basis))))


def _definition(derivation: Derivation, everything: bool) -> list[str]:
    """The definition; with ``everything``, or without a number, also over inputs, and its source."""
    from symroof.theory.theory_files import DEFINITION

    name = derivation.name
    own = f": {derivation.search}" if derivation.search else f" = {derivation.text}"
    lines = wrapped(name + own, "      ", "  ")
    if derivation.expanded_text != derivation.text and (everything or not derivation.result):
        expanded = wrapped(f"{name} = {derivation.expanded_text}", "      ", "  ")
        if len(expanded) > MOST_EXPANDED and not everything:
            expanded = [f"  {len(expanded)} lines: --all"]
        lines += ["", "expanded to inputs", *expanded]
    reference = derivation.bound_case.case.theory.reference(name)
    if everything and reference not in ("", DEFINITION):
        lines += ["", f"source of the formula: {reference}"]
    return lines


def legible(line: str) -> str:
    """A line with numbers as people write it: three digits, spaces around what divides and multiplies.

    >>> legible("17.2407 GB/(3.35 TB/s*0.819)"), legible("131.072 kB/token*16384")
    ('17.2 GB / (3.35 TB/s · 0.819)', '131 kB/token · 16,384')
    """

    def short(found: re.Match[str]) -> str:
        value = float(found[0])
        return f"{int(value):,}" if value == int(value) and value < 1e9 else significant(value, 3)

    line = line.replace("**", "^").replace("*", " · ").replace(" us", " µs")
    line = re.sub(r"/(?=[\d(])", " / ", line)
    return re.sub(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])", short, line)


def _steps(derivation: Derivation, everything: bool) -> list[str]:
    """The steps with numbers, the quantity itself last: all, or those next to it that fit a screen."""
    from symroof.analysis.case_summary import compact

    rows = []
    for step in derivation.steps:
        how, value = str(step.search or step.substituted.text), ""
        if not step.search:
            how = f"= {how if everything else legible(how)}"
        if step.result:
            value = f"= {step.result.text() if everything else compact(step.result)}"
        rows.append([step.symbol.name + ":" * bool(step.search), how, value])
    if not rows:
        return []
    if everything:
        return ["", "with numbers", text_table(rows, indent="  ", left=True)]
    kept = max(len(rows) - MOST_STEPS, 0)  # each takes a line at least
    while (shown := fitted_table(rows[kept:], (), "  ", 1, left=True)).count(
        "\n"
    ) >= MOST_STEPS and kept < len(rows) - 1:
        kept += 1
    last = f" (the last {len(rows) - kept} of {len(rows)} steps)" if kept else ""
    return ["", f"with numbers{last}", shown]


def _elasticities(derivation: Derivation, everything: bool) -> list[str]:
    """The largest elasticities in a sentence, or that to each input."""
    from symroof.report.field_names import name_in_words

    found = derivation.elasticities.items()
    if found and everything:
        heading = f"elasticities: % change of {derivation.name} per 1 % change of an input"
        return ["", heading, text_table([[name, f"{x:+.2f}"] for name, x in found], indent="  ")]
    largest = list(found)[:MOST_ELASTICITIES]
    said = [f"{name_in_words(name)} {x:+.2f}".replace(" -", " −") for name, x in largest]
    text = f"1 % more of an input changes it by, in %: {' · '.join(said)}"
    return ["", *wrapped(text, "  ")] if said else []
