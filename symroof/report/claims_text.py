"""Checked claims as text: a table, then for each incorrect claim what is wrong and how to reproduce it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from symroof.errors import visible
from symroof.table_formats import text_table, width

if TYPE_CHECKING:
    from symroof.claims.checked import Checked, Report
    from symroof.claims.slips.explain import SlipExplanation

HEADER = ("line", "sentence", "claimed", "derived", "verdict", "known mistake")
NARROWEST, WIDEST = 60, 160
SENTENCE, CELL = 28, 22
"""Minimum width of the sentence column, maximum width of any other cell."""
MOST_SLIPS = 2
TELLING = 0.01
"""Probability of a coincidence from which it is printed."""
FITTED, LIKELY = ("hidden_efficiency", "hidden_overhead"), 0.5
"""Mistakes with a free parameter, and the probability of a coincidence from which one is hidden: any number would fit."""
EXPLAINED = ("wrong", "inconsistent", "conditional", "plausible", "unchecked")
"""Verdicts explained below the table."""
OPTIONS = (
    "prompt",
    "output",
    "batch",
    "context",
    "tp",
    "mfu",
    "mbu",
    "weights",
    "kv",
    "activations",
    "model",
    "hardware",
    "preset",
    "efficiency",
    "engine",
)
HOW_TO_BEGIN = "no claims; add one after a sentence: <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
MARKED = {
    "does_not_fit": "this configuration does not fit in memory",
    "dimension": "the units do not agree",
    "regime": "used outside the regime it holds in",
}


def text(report: Report, columns: int = 120, strict: bool = False, verbose: bool = False) -> str:
    """The report for a terminal of that width: a table of every claim, with ``verbose`` the details of each that does not hold."""
    room = max(NARROWEST, min(columns, WIDEST))
    sections = []
    for file in dict.fromkeys(report.files):
        claims = [claim for claim in report.claims if claim.file == file]
        if claims:
            sections.append(f"{visible(file)}\n{claims_table(claims, room)}")
            told = [c for c in claims if c.verdict in EXPLAINED or (c.flags and strict)]
            told = [c for c in told if verbose and not c.faulty]  # those stand among the problems
            sections += ["\n".join(explained(claim, room)) for claim in told]
        else:
            sections.append(f"{visible(file)}: {HOW_TO_BEGIN}")
    return "\n\n".join([*sections, summary(report)])


def summary(report: Report) -> str:
    """``8 claims: 4 rounded, 1 conditional, 3 wrong``."""
    count = len(report.claims)
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in report.summary.items())
    return f"{count} claim{'' if count == 1 else 's'}" + (f": {verdicts}" if verdicts else "")


def claims_table(claims: Sequence[Checked], room: int) -> str:
    """One row per claim, in file order, without empty columns; the sentence has what room the others leave."""
    rows = []
    for c in claims:
        verdict = f"{c.word} !" if c.flags else c.word
        named = (names(slips) + ("" if slips[0].named else "?") for slips in put_forward(c))
        needs = ", ".join(c.assumptions_needed)
        slip = f"needs {needs}" if needs else ", ".join(named)
        row = [str(c.line), c.says or c.id, c.claimed, c.derived, verdict, slip]
        rows.append([visible(cell) for cell in row])
    kept = [i for i in range(len(HEADER)) if i < 5 or any(row[i] for row in rows)]
    widths = {i: min(CELL, max(width(row[i]) for row in rows)) for i in kept if i != 1}
    widths = {i: max(most, width(HEADER[i])) for i, most in widths.items()}
    widths[1] = max(room - sum(widths.values()) - 2 * len(kept), SENTENCE)
    lines = [
        line
        for row in rows
        for line in zip_longest(*(wrap(row[i], widths[i]) or [""] for i in kept), fillvalue="")
    ]
    drawn = text_table(lines, [HEADER[i] for i in kept], indent="  ")
    marks = sorted({flag for claim in claims for flag in claim.flags})
    return "\n".join([drawn, *(f"  ! {flag}: {MARKED.get(flag, flag)}" for flag in marks)])


def explained(claim: Checked, room: int = 120) -> list[str]:
    """The details of an incorrect claim: its place, what is known of it, and the command that derives the value."""
    place = f"{claim.file}:{claim.line}:{claim.column}"
    head = visible(f"{place}: {claim.word}: {claim.says or claim.id}")
    command = reproduced(claim)
    lines = [*findings(claim), *([f"see: {command}"] if command else [])]
    head = head if len(head) <= room * 3 else head[: room * 3 - 1] + "…"
    return [head, *("    " + visible(line) for line in lines)]


def findings(claim: Checked) -> list[str]:
    """What is known of a claim: the size of the error, its reason, the likely mistake."""
    lines = []
    if claim.claimed and claim.derived:
        far = off(claim.ratio) if claim.verdict == "wrong" else ""
        lines.append(f"claimed {claim.claimed}, derived {claim.derived}{far}")
    lines += [claim.reason] if claim.reason else []
    lines += [
        f"{'known mistake' if slips[0].named else 'perhaps'}: {names(slips)}: {slips[0].text}{odds(slips[0].chance)}"
        for slips in put_forward(claim)
    ]
    return lines + [f"note: {MARKED.get(flag, flag)}" for flag in claim.flags]


def put_forward(claim: Checked) -> list[list[SlipExplanation]]:
    """The mistakes to print: the named ones, or else the best guesses, grouped if they only explain the error together. JSON has all."""
    if claim.verdict == "conditional":
        return []  # not wrong: its reason names what is missing
    by_text: dict[str, list[SlipExplanation]] = {}
    for slip in [slip for slip in claim.slips if slip.named] or [
        slip for slip in claim.slips if slip.slip not in FITTED or slip.chance <= LIKELY
    ]:
        by_text.setdefault(slip.text, []).append(slip)
    return list(by_text.values())[:MOST_SLIPS]


def names(slips: Sequence[SlipExplanation]) -> str:
    return " and ".join(slip.slip for slip in slips)


def odds(chance: float) -> str:
    """How often a mistake would explain a random error; empty if rarely.

    >>> odds(0.16), odds(0.004)
    (' (16 % of random errors would fit too)', '')
    """
    return f" ({chance * 100:.0f} % of random errors would fit too)" if chance >= TELLING else ""


def off(ratio: float | None) -> str:
    """The size of the error in words: a percentage, or a factor if large.

    >>> off(1.2), off(8.0), off(0.25)
    (': 20 % too high', ': 8 times too high', ': 4 times too low')
    """
    if ratio is None or ratio <= 0 or ratio == 1:
        return ""
    if 0.5 < ratio < 1.5:
        return f": {abs(ratio - 1) * 100:.2g} % too {'high' if ratio > 1 else 'low'}"
    factor = ratio if ratio > 1 else 1 / ratio
    form = next((form for most, form in ((1000, ".3g"), (1e9, ",.0f")) if factor < most), ".1e")
    return f": {factor:{form}} times too {'high' if ratio > 1 else 'low'}"


def reproduced(claim: Checked) -> str:
    """The command that derives the correct value; empty if no single command does."""
    spec = claim.claim
    if claim.value is None or claim.parts or not (spec.quantity or spec.threshold):
        return ""
    verb = ["derive", spec.quantity]
    if not spec.quantity:
        verb = ["solve", spec.threshold, *(["--for", spec.solve_for] if spec.solve_for else [])]
    for name, value in spec.given.items():
        if name in OPTIONS:
            verb += [f"--{name}", _plain(value)]
            continue
        option = {"assume": "--assume", "targets": "--target"}.get(name, "--set")
        pairs = ((name, value),) if option == "--set" else value.items()
        verb += [word for key, each in pairs for word in (option, f"{key}={_plain(each)}")]
    return shlex.join(["symroof", *map(str, verb)])


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(float(value)) if not isinstance(value, (str, int)) else str(value)
