"""What a study and a derivation show in a notebook: a sentence, a formula where there is one, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symroof.analysis.case_summary import (
    DIGITS,
    MEMORY_SHARE,
    ROWS,
    compact,
    headed,
    summary_rows,
    used_memory,
    verdict_lines,
)
from symroof.analysis.case_titles import case_title
from symroof.analysis.verdict import all_met, case_warnings, target_checks
from symroof.table_formats import card, html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symroof.cases.bound_case import BoundCase

MOST_CASES, MOST_STEPS, MOST_WARNINGS = 4, 8, 2
"""Cases of a study, steps of a derivation and warnings that a card shows."""


def study_card(cases: Sequence[BoundCase], title: str) -> str:
    """The first cases: of one what the first screen of ``symroof eval`` has, of several a column each; and targets and warnings.

    >>> from symroof.analysis.study import Study
    >>> print(study_card(Study("gpt2").cases, "Study")[:96])
    <p>GPT-2 124M on no hardware</p>
    <table>
    <caption>Study</caption>
    <tr><th></th><th>value</th><th
    """
    first, *others = cases
    left = len(cases) - MOST_CASES
    caption = f"{title}{f'; {left} further case' + 's' * (left > 1) if left > 0 else ''}"
    lines = [f"{case_title(first)}{_said(first)}", *verdict_lines(first)]
    if others:
        known = [case for case in cases if case.fits is not None]
        met = sum(not case.does_not_fit and all_met(target_checks(case)) is True for case in known)
        what = "fit and meet every target" if first.targets else "fit in memory"
        lines = [f"{len(cases):,} cases{f'; {met:,} {what}' if known else ''}"]
    lines += [
        f"! {text}"
        for text in list(
            dict.fromkeys(text for case in cases[:MOST_CASES] for text in case_warnings(case))
        )[:MOST_WARNINGS]
    ]
    return card(lines, _several(cases[:MOST_CASES], caption) if others else _single(first, caption))


def _said(case: BoundCase) -> str:
    """Both latencies in a sentence."""
    parts = []
    for what, name, bound in (
        ("to the first token", "ttft", "prefill_bound"),
        ("a token after it", "itl", "decode_bound"),
    ):
        if (time := case.get(name)) and (limit := case.get(bound)):
            parts.append(f"{compact(time, DIGITS)} {what}, limited by {limit.plain()}")
    return f": {'; '.join(parts)}" if parts else ""


def _single(case: BoundCase, caption: str) -> str:
    """Words, value and bound, limit, and the name of each quantity."""
    rows = summary_rows(case)
    header, kept, shown = headed(case, rows)
    if not rows:
        return _all_quantities([case], caption)
    table = [[*(row[i] for i in kept), row[-1]] for row in shown]
    return html_table([*(header[i] for i in kept), "name"], table, caption)


def _several(cases: Sequence[BoundCase], caption: str) -> str:
    """A column a case, as expected where measurements tell."""
    rows = []
    for words, name, _ in ROWS:
        results = [case.get(name) for case in cases]
        if any(results):
            cells = (compact(result, DIGITS) if result else "" for result in results)
            rows.append(
                [words, *(map(used_memory, cases) if name == MEMORY_SHARE else cells), name]
            )
    return (
        html_table(["", *map(case_title, cases), "name"], rows, caption)
        if rows
        else _all_quantities(cases, caption)
    )


def _all_quantities(cases: Sequence[BoundCase], caption: str) -> str:
    """The first quantities that have a value, where none of the usual has one."""
    names = list(cases[0].quantities())[:MOST_STEPS]
    rows = [
        [
            cases[0].result(name).symbol.meaning,
            *(case.result(name).plain(DIGITS) for case in cases),
            name,
        ]
        for name in names
    ]
    return html_table(
        ["", *(["value"] if len(cases) == 1 else map(case_title, cases)), "name"], rows, caption
    )


def derivation_card(derivation: Any) -> str:
    """The value, the formula, and the steps next to it."""
    symbol, found = derivation.symbol, derivation.result
    value = (
        f": {compact(found, DIGITS)}"
        if found
        else f": no number, it {derivation.why_unknown}"
        if derivation.why_unknown
        else ""
    )
    if found and (bound := derivation.bound_case.peak_bound(derivation.name)):
        value += f", bound {compact(bound, DIGITS)}"
    steps = derivation.steps[-MOST_STEPS:]
    rows = [
        [
            step.symbol.name,
            str(step.search) if step.search else step.substituted.text,
            compact(step.result, DIGITS) if step.result else "",
        ]
        for step in steps
    ]
    before = len(derivation.steps) - len(steps)
    caption = f"the last {len(steps)} of {len(derivation.steps)} steps" if before else ""
    table = html_table(["", "with numbers", "value"], rows, caption) if found and rows else ""
    return card(
        [f"{derivation.name}, {symbol.meaning}{value}"],
        table,
        "" if derivation.search else derivation.latex(),
    )
