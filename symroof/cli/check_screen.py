"""The first screen of ``symroof check``: the verdict, and what does not hold with its place, the number said, the right one, and the likely mistake."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from symroof.cli.terminal import clipped, fitted_table, warning_lines, wrapped
from symroof.errors import visible
from symroof.report.claims_text import MARKED, names, off, put_forward, times_of
from symroof.table_formats import FAILS, IN_PART, PASSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symroof.claims.checked import Checked, Report

ROOM = 25
"""Lines of a first screen."""
HOLDS = ("exact", "rounded", "approximate")
MOST_PLACES = 6
LONGEST_PATH = 40
SAID, RIGHT, PLACE = 22, 20, 28
"""Columns of a number, and of a place, at most."""
ORDER = ("wrong", "inconsistent", "conditional", "plausible", "unchecked")
"""The verdicts of what does not hold, the worst first."""
DETAILS = (
    "--all: every claim with its sentence; -v: all details, and the command that derives each value"
)
HOW_TO_BEGIN = "no claims; add one after a sentence: <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
NUMBERLESS = re.compile(r"true|false|compute|memory|link|overhead|up|down|not", re.IGNORECASE)
"""A claimed value that says nothing without its sentence."""


def screen(report: Report, strict: bool, basis: str = "") -> str:
    """Verdict, what does not hold, flags, what the numbers rest on; as much of it as fits on a screen."""
    claims = [claim for claim in report.claims if not claim.faulty]
    if not report.claims:
        return "\n".join(f"{visible(file)}: {HOW_TO_BEGIN}" for file in dict.fromkeys(report.files))
    failing = sorted(
        (claim for claim in claims if claim.verdict not in HOLDS),
        key=lambda claim: (not claim.finding(strict), ORDER.index(claim.verdict)),
    )
    head = wrapped(verdict_line(report, strict), "  ", "")
    flagged = [claim for claim in claims if claim.flags]
    several = len(dict.fromkeys(report.files)) > 1
    tail = [
        *warning_lines(_flags(flagged, several)),
        *(wrapped(basis, "  ", "") if basis else []),
        *wrapped(DETAILS, "  ", ""),
    ]
    shown, table = _fitting(
        [_row(claim, several, strict) for claim in failing], ROOM - len(head) - len(tail) - 1
    )
    return "\n".join([*head, *table, *_left_out(failing[shown:]), *tail])


def verdict_line(report: Report, strict: bool) -> str:
    """``✗ post.md: 8 claims: 1 wrong, 1 inconsistent, 2 conditional, 4 hold (4 rounded)``."""
    counts = report.summary
    files = [*dict.fromkeys(report.files)]
    of = (
        visible(files[0] if len(files[0]) <= LONGEST_PATH else os.path.basename(files[0]))
        if len(files) == 1
        else f"{len(files)} files"
    )
    total = len(report.claims)
    findings = report.findings(strict)
    kinds = {
        verdict: sum(claim.verdict == verdict for claim in findings) for verdict in (*ORDER, *HOLDS)
    }
    what = ", ".join(
        f"{count} {verdict}{' and more than 25 % off' * (verdict == 'conditional' and not strict)}"
        for verdict, count in kinds.items()
        if count
    )
    others = {verdict: count - kinds[verdict] for verdict, count in counts.items()}
    rest = [
        f"{count} {verdict}" for verdict, count in others.items() if verdict not in HOLDS and count
    ]
    held = [f"{count} {verdict}" for verdict, count in others.items() if verdict in HOLDS and count]
    holding = sum(count for verdict, count in others.items() if verdict in HOLDS)
    hold = (
        f"{'all' if holding == total > 1 else holding} hold{'s' if holding == 1 else ''} ({', '.join(held)})"
        if holding
        else "none holds"
    )
    mark = (
        FAILS
        if findings
        else IN_PART
        if rest or any(claim.faulty for claim in report.claims)
        else PASSES
    )
    claims = f"{total} claim{'s' if total != 1 else ''}"
    return f"{mark} {of}: {claims}: {', '.join(filter(None, (what, *rest, hold)))}"


def _fitting(rows: Sequence[list[str]], room: int) -> tuple[int, list[str]]:
    """As many rows as fit with a line that counts the others, and their table: reasons in full where all fit so, else in a line each."""
    whole = _table(rows, clip=False)
    if len(whole) <= room:
        return len(rows), whole
    lines = _table(rows, clip=True)
    fitting = len(rows) if len(lines) <= room else max(room - (len(lines) - len(rows)) - 1, 1)
    return fitting, _table(rows[:fitting], clip=True)


def _table(rows: Sequence[list[str]], clip: bool) -> list[str]:
    return (
        fitted_table(
            rows, ["", "line", "said", "right", "because"], clip=clip, left=True
        ).splitlines()
        if rows
        else []
    )


def _row(claim: Checked, several: bool, strict: bool) -> list[str]:
    """The row of a claim: mark, place, what is said, what is right, why."""
    mark = FAILS if claim.finding(strict) else IN_PART
    said = claim.claimed or claim.says or claim.id
    right = claim.correction or claim.derived
    return [
        mark,
        _place(claim, several),
        clipped(visible(said), SAID),
        clipped(visible(right), RIGHT),
        visible(_because(claim)),
    ]


def _place(claim: Checked, several: bool) -> str:
    if not several:
        return str(claim.line)
    place = visible(f"{claim.file}:{claim.line}")
    return place if len(place) <= PLACE else f"…{place[1 - PLACE :]}"


def _because(claim: Checked) -> str:
    """Why a claim does not hold; of a truth or a label first which, as it says nothing without its sentence."""
    if NUMBERLESS.fullmatch(claim.claimed):
        return ": ".join(filter(None, (claim.says or str(claim.claim.relation or ""), _why(claim))))
    return _why(claim)


def _why(claim: Checked) -> str:
    """What it needs, the likely mistake, how far off it is."""
    far = off(claim.ratio).removeprefix(": ")
    slips = [
        f"{'' if each[0].named else 'perhaps '}{names(each)}: {each[0].text}"
        for each in put_forward(claim)[:1]
    ]
    if claim.verdict == "conditional" and claim.assumptions_needed:
        slip = next(
            (f"{one.slip} {times_of(one.text)}".strip() for one in claim.slips[:1] if one.named), ""
        )
        needs = f"needs {', '.join(claim.assumptions_needed)}"
        return "; ".join(filter(None, (needs, slip or far)))
    if claim.verdict == "wrong":
        below = ["impossible: beyond the bound"] if claim.word != claim.verdict else []
        parts = below + (slips if slips and "perhaps" not in slips[0] else [far, *slips])
        return "; ".join(filter(None, parts)) or claim.reason
    return "; ".join(filter(None, (claim.reason or claim.verdict, *slips)))


def _left_out(claims: Sequence[Checked]) -> list[str]:
    if not claims:
        return []
    counts = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in ORDER}
    return [
        f"and {', '.join(f'{count} more {verdict}' for verdict, count in counts.items() if count)}"
    ]


def _flags(claims: Sequence[Checked], several: bool) -> Iterator[str]:
    for flag in sorted({flag for claim in claims for flag in claim.flags}):
        places = [_place(claim, several) for claim in claims if flag in claim.flags]
        where = f"{', '.join(places[:MOST_PLACES])}{' …' * (len(places) > MOST_PLACES)}"
        yield f"{'' if several else 'lines ' if len(places) > 1 else 'line '}{where}: {MARKED.get(flag, flag)}"
