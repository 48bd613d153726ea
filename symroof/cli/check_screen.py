"""The first screen of ``symroof check``: the verdict, and what does not hold with its place, the number said, the right one, and the likely mistake."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from symroof.claims.checked import HOLDS, Checked, Report
from symroof.cli.terminal import clipped, fitted_table, warning_lines, wrapped
from symroof.errors import visible
from symroof.report.claims_text import HOW_TO_BEGIN, MARKED, explained, off, put_forward
from symroof.table_formats import FAILS, IN_PART, PASSES

ROOM = 25
"""Lines of a first screen."""
MOST_PLACES = 6
LONGEST_PATH = 40
SAID, RIGHT, PLACE = 22, 20, 28
"""Columns of a number, and of a place, at most."""
ORDER = ("wrong", "inconsistent", "conditional", "plausible", "unchecked", *HOLDS)
WORD = {
    "inconsistent": "inconsistent with other numbers",
    "conditional": "true only under an assumption that the text does not state",
    "unchecked": "not checked",
}
"""The verdicts, the worst first, and words for some."""
DETAILS = "--all lists every claim; -v adds the command that derives each value."
NUMBERLESS = re.compile(r"true|false|compute|memory|link|overhead|up|down|not", re.IGNORECASE)
"""A claimed value that says nothing without its sentence."""


def screen(
    report: Report, strict: bool, basis: str = "", everything: bool = False, verbose: bool = False
) -> str:
    """Verdict, what does not hold or holds at a limit alone, flags, what the numbers rest on; as much of it as fits on a screen. With ``everything`` every claim with its sentence, with
    ``verbose`` all that is known of each that does not hold."""
    if not report.claims:
        return "\n".join(f"{visible(file)}: {HOW_TO_BEGIN}" for file in dict.fromkeys(report.files))
    claims = [claim for claim in report.claims if not claim.faulty]
    listed = [claim for claim in claims if claim.verdict not in HOLDS or claim.at_limit]
    if everything or verbose:
        several, rows = len(set(report.files)) > 1, []
        for claim in claims if everything else listed:
            mark, place, _, right, _ = _row(claim, several, strict)
            sentence, why = visible(claim.says or claim.id), visible(_why(claim))
            rows.append([mark, place, sentence, right, why])
        lines = [*wrapped(verdict_line(report, strict)), *_table(rows)]
        lines += [line for claim in listed if verbose for line in ("", *explained(claim))]
        return "\n".join([*lines, *warning_lines(_flags(claims, several)), *wrapped(basis)])
    listed.sort(key=lambda claim: (not claim.finding(strict), ORDER.index(claim.verdict)))
    several = len(set(report.files)) > 1
    head = wrapped(verdict_line(report, strict))
    tail = [*warning_lines(_flags(claims, several)), *wrapped(basis), *wrapped(DETAILS)]
    rows = [_row(claim, several, strict) for claim in listed]
    room = ROOM - len(head) - len(tail) - 1
    table, shown = _table(rows), len(rows)
    if len(table) > room:  # a line each; the last counts those that have none
        table = _table(rows, clip=True)
        if len(table) > room:
            shown = max(room - (len(table) - len(rows)) - 1, 1)
            table = _table(rows[:shown], clip=True)
    left = Counter(claim.verdict for claim in listed[shown:])
    more = ", ".join(f"{left[verdict]} more {verdict}" for verdict in ORDER if left[verdict])
    return "\n".join([*head, *table, *([f"and {more}"] if more else []), *tail])


def verdict_line(report: Report, strict: bool) -> str:
    """``✗ post.md: 2 of 8 claims are wrong, 1 is inconsistent; 5 are right``."""
    files = [*dict.fromkeys(report.files)]
    path = files[0] if len(files[0]) <= LONGEST_PATH else os.path.basename(files[0])
    of = visible(path) if len(files) == 1 else f"{len(files)} files"
    counts, total = Counter(report.summary), len(report.claims)
    right = sum(counts.pop(kind, 0) for kind in HOLDS)
    found = report.findings(strict)
    mark = FAILS if found else IN_PART if counts else PASSES
    if not counts:
        return f"{mark} {of}: {'the claim is' if total == 1 else f'all {total} claims are'} right"
    said = [
        f"{counts[kind]} {_is(counts[kind])} {WORD.get(kind, kind)}"
        for kind in ORDER
        if counts[kind]
    ]
    said[0] = (
        said[0].replace(" ", f" of {total} claims ", 1)
        if total > 1
        else f"the claim is {said[0].partition(' is ')[2]}"
    )
    rest = f"; {right} {_is(right)} right" if right else ""
    return f"{mark} {of}: {', '.join(said)}{rest}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _table(rows: Sequence[list[str]], clip: bool = False) -> list[str]:
    """A table with the reasons in full, or cut to a line each."""
    header = ["", "line", "the text says", "correct", "why"]
    flexible = -1 if clip else None
    return fitted_table(rows, header, "", flexible, clip, left=True).splitlines() if rows else []


def _row(claim: Checked, several: bool, strict: bool) -> list[str]:
    """The row of a claim: mark, place, what is said, what is right, why."""
    why = _why(claim)
    right = clipped(visible(claim.derived), RIGHT)
    if NUMBERLESS.fullmatch(claim.claimed):  # says nothing without its sentence
        why = ": ".join(filter(None, (claim.says or str(claim.claim.relation or ""), why)))
    mark = FAILS if claim.finding(strict) else IN_PART
    return [
        PASSES if claim.verdict in HOLDS else mark,
        _place(claim, several),
        clipped(visible(claim.claimed or claim.says or claim.id), SAID),
        "plausible" if claim.verdict == "plausible" else right,
        visible(why),
    ]


def _place(claim: Checked, several: bool) -> str:
    if not several:
        return str(claim.line)
    place = visible(f"{claim.file}:{claim.line}")
    return place if len(place) <= PLACE else f"…{place[1 - PLACE :]}"


def _why(claim: Checked) -> str:
    """What it needs, the likely mistake, how far off it is; of a claim that holds only what it holds under."""
    if claim.verdict in HOLDS:
        return claim.reason or claim.verdict
    far = off(claim.ratio).removeprefix(": ")
    likely = next(iter(put_forward(claim)), None)
    sure = likely is not None and likely[0].named
    told = FACTOR.sub(r" (\1)", likely[0].text) if likely else ""
    slip = told if sure or not told else f"perhaps {told}"
    parts: list[str] = [claim.reason or claim.verdict, slip]
    if claim.verdict == "conditional" and claim.assumptions_needed:
        named = [FACTOR.sub(r" (\1)", one.text) for one in claim.slips[:1] if one.named]
        parts = [f"true only with {', '.join(claim.assumptions_needed)}", *(named or [far])]
    elif claim.verdict == "wrong":
        below = "impossible: beyond the theoretical limit" if claim.word != claim.verdict else ""
        explained = likely or below or not far
        unexplained = "" if explained else claim.reason or "no known mistake explains it"
        parts = [below, *([slip] if sure else [far, slip, unexplained])]
    return "; ".join(filter(None, parts)) or claim.reason


FACTOR = re.compile(r": ([×÷]\d+(?:\.\d*?[1-9])?)\.?0*$")


def _flags(claims: Sequence[Checked], several: bool) -> Iterator[str]:
    """What is remarkable about claims, each with its places."""
    for flag in sorted({flag for claim in claims for flag in claim.flags}):
        places = [_place(claim, several) for claim in claims if flag in claim.flags]
        where = f"{', '.join(places[:MOST_PLACES])}{' …' * (len(places) > MOST_PLACES)}"
        line = "" if several else f"line{'s' * (len(places) > 1)} "
        yield f"{line}{where}: {MARKED.get(flag, flag)}"
