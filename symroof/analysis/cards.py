"""What a study shows in a notebook: a sentence, its targets and warnings, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

MOST_CASES, MOST_QUANTITIES, MOST_WARNINGS = 4, 8, 2
"""Cases of a study, quantities of one that has none of the usual, and warnings that a card shows."""


def study_card(cases: Sequence[BoundCase], title: str) -> str:
    """The first cases, a column each, with the targets of one or how many of several meet theirs, and warnings.

    >>> from symroof.analysis.study import Study
    >>> print(study_card(Study("gpt2").cases, "Study")[:88])
    <p>GPT-2 124M on no hardware</p>
    <table>
    <caption>Study</caption>
    <tr><th></th><th>GPT-2
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
    shown = cases[:MOST_CASES]
    warned = dict.fromkeys(text for case in shown for text in case_warnings(case))
    lines += [f"! {text}" for text in list(warned)[:MOST_WARNINGS]]
    rows = [] if others else summary_rows(first)
    if not rows:
        return card(lines, _table(shown, caption))
    header, kept, rows = headed(first, rows)  # what the first screen of ``symroof eval`` has
    table = [[*(row[i] for i in kept), row[-1]] for row in rows]
    return card(lines, html_table([*(header[i] for i in kept), "name"], table, caption))


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


def _table(cases: Sequence[BoundCase], caption: str) -> str:
    """The same of several, a column a case; the first quantities of all where none of that has a value."""
    asked = [(words, name) for words, name, _ in ROWS if any(case.get(name) for case in cases)]
    if not asked:
        theory = cases[0].case.theory
        names = list(cases[0].quantities())[:MOST_QUANTITIES]
        asked = [(theory.symbol(name).meaning, name) for name in names]
    rows = []
    for words, name in asked:
        results = [case.get(name) for case in cases]
        cells = [compact(result, DIGITS) if result else "" for result in results]
        rows.append([words, *(map(used_memory, cases) if name == MEMORY_SHARE else cells), name])
    return html_table(["", *map(case_title, cases), "name"], rows, caption)
