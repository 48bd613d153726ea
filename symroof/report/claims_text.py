"""Checked claims as text: a table, then for each incorrect claim what is wrong and how to reproduce it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symroof.errors import visible
from symroof.table_formats import text_table, width

if TYPE_CHECKING:
    from symroof.claims.corrected_copies import Copy
    from symroof.claims.slips.explanation import SlipExplanation
    from symroof.claims.checked import Checked, Report

HEADER = ("line", "sentence", "claimed", "derived", "verdict", "slip", "correction")
NARROWEST, WIDEST = 60, 160
SENTENCE, CELL = 28, 22
"""Minimum width of the sentence column, maximum width of any other cell."""
MOST_LINES = 4
"""Lines of a wrapped cell before it is truncated."""
MOST_SLIPS = 2
LONGEST_LINE = 240
TELLING = 0.01
"""Probability of a coincidence from which it is printed."""
FITTED, LIKELY = ("hidden_efficiency", "hidden_overhead"), 0.5
"""Mistakes with a free parameter, and the probability of a coincidence from which one is hidden: any number would fit."""
EXPLAINED = ("wrong", "inconsistent", "conditional", "plausible", "unchecked")
"""Verdicts explained below the table."""
OPTIONS = (
    "prompt", "output", "batch", "context", "tp", "mfu", "mbu", "weights", "kv", "activations", "model", "hardware", "preset", "efficiency", "engine",
)  # fmt: skip
MARKED = {
    "does_not_fit": "this configuration does not fit in memory",
    "dimension": "the units do not agree",
    "regime": "used outside the regime it holds in",
}


def text(report: Report, columns: int = 120, strict: bool = False, verbose: bool = False) -> str:
    """The report for a terminal of that width: a table, and one line per incorrect claim, or with ``verbose`` all details."""
    room = max(NARROWEST, min(columns, WIDEST))
    sections = []
    for file in dict.fromkeys(report.files):
        claims = [claim for claim in report.claims if claim.file == file]
        if claims:
            sections.append(f"{visible(file)}\n{claims_table(claims, room)}")
            faulty = [claim for claim in claims if needs_explaining(claim, strict)]
            sections += (
                ["\n".join(explained(claim, room)) for claim in faulty]
                if verbose
                else ["\n".join(map(in_a_line, faulty))]
                if faulty
                else []
            )
        else:
            sections.append(
                f"{visible(file)}: no claims; add one after a sentence: <!-- symroof: kv_cache_bytes model=llama-3-70b prompt=4096 -->"
            )
    return "\n\n".join([*sections, summary(report)])


def needs_explaining(claim: Checked, strict: bool) -> bool:
    """Whether to explain a claim below the table; an invalid one is reported with the problems of its file."""
    return not claim.faulty and (claim.verdict in EXPLAINED or bool(claim.flags and strict))


def summary(report: Report) -> str:
    """``8 claims: 4 rounded, 1 conditional, 3 wrong``."""
    count = len(report.claims)
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in report.summary.items())
    return f"{count} claim{'' if count == 1 else 's'}" + (f": {verdicts}" if verdicts else "")


# ------------------------------------------------------------------------------------------------------------ the table


def claims_table(claims: Sequence[Checked], room: int) -> str:
    """One row per claim, in file order, without empty columns."""
    rows = [
        [str(c.line), c.says or c.id, c.claimed, c.derived, _verdict(c), _slip(c), c.correction]
        for c in claims
    ]
    columns = [i for i in range(len(HEADER)) if i < 5 or any(row[i] for row in rows)]
    cells = [[_lines(visible(row[i]), CELL) for i in columns if i != 1] for row in rows]
    others = text_table(
        [[" " * max(map(width, cell)) for cell in row] for row in cells],
        [HEADER[i] for i in columns if i != 1],
    )
    left = room - 2 - width(others.partition("\n")[2].partition("\n")[0]) - 2
    sentences = [visible(row[1]) for row in rows]
    drawn = (
        _beside(cells, sentences, left, columns)
        if left >= SENTENCE
        else _above(cells, sentences, room, columns)
    )
    marks = sorted({flag for claim in claims for flag in claim.flags})
    return "\n".join([drawn, *(f"  ! {flag}: {MARKED.get(flag, flag)}" for flag in marks)])


def _beside(
    cells: Sequence[Sequence[list[str]]],
    sentences: Sequence[str],
    left: int,
    columns: Sequence[int],
) -> str:
    """The layout for wide terminals: sentences in their own column."""
    longest = max(width("sentence"), *map(width, sentences))
    rows = [
        [first, _lines(sentence, min(left, longest)), *rest]
        for (first, *rest), sentence in zip(cells, sentences, strict=True)
    ]
    return text_table(
        [line for row in rows for line in _spread(row)], [HEADER[i] for i in columns], indent="  "
    )


def _above(
    cells: Sequence[Sequence[list[str]]],
    sentences: Sequence[str],
    room: int,
    columns: Sequence[int],
) -> str:
    """The layout for narrow terminals: each sentence above its numbers."""
    spread = [_spread([[""], *row[1:]]) for row in cells]
    wide = max(len("line"), *(len(row[0][0]) for row in cells))
    rows = [["".rjust(wide), *line[1:]] for lines in spread for line in lines]
    head, rule, *rest = text_table(
        rows, ["line".rjust(wide), *(HEADER[i] for i in columns if i > 1)], indent="  "
    ).splitlines()
    out, drawn = [head, rule], iter(rest)
    for row, sentence, lines in zip(cells, sentences, spread, strict=True):
        first, *more = _lines(sentence, room - wide - 4) or [""]
        out += [
            f"  {row[0][0].rjust(wide)}  {first}".rstrip(),
            *(f"  {'':{wide}}  {line}" for line in more),
        ]
        out += [next(drawn) for _ in lines]
    return "\n".join(out)


def _spread(row: Sequence[list[str]]) -> list[list[str]]:
    """A row of wrapped cells as rows of single lines."""
    return [
        [cell[line] if line < len(cell) else "" for cell in row]
        for line in range(max(map(len, row)))
    ]


def _verdict(claim: Checked) -> str:
    return f"{claim.word} !" if claim.flags else claim.word


def _slip(claim: Checked) -> str:
    if claim.assumptions_needed:
        return "needs " + ", ".join(claim.assumptions_needed)
    return ", ".join(names(slips) + ("" if slips[0].named else "?") for slips in put_forward(claim))


def _lines(words: str, limit: int) -> list[str]:
    """Wrap a cell between words and truncate it after a few lines."""
    lines = [""]
    for word in re.findall(r"\S+", words):
        for piece in _pieces(word, limit):
            if lines[-1] and width(lines[-1]) + 1 + width(piece) > limit:
                lines.append("")
            lines[-1] += f" {piece}" if lines[-1] else piece
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][: limit - 1].rstrip() + "…"]
    return lines


def _pieces(word: str, limit: int) -> list[str]:
    pieces = [""]
    for character in word:
        if pieces[-1] and width(pieces[-1] + character) > limit:
            pieces.append("")
        pieces[-1] += character
    return pieces


# ------------------------------------------------------------------------------------------------------ what was wrong


def explained(claim: Checked, room: int = 120) -> list[str]:
    """The details of an incorrect claim: location, size of the error, reason, correction, and the command that derives the value."""
    lines = [
        f"{visible(claim.file)}:{claim.line}:{claim.column}: {claim.word}: {visible(claim.says or claim.id)}"
    ]
    if claim.claimed and claim.derived:
        lines.append(
            f"claimed {claim.claimed}, derived {claim.derived}{off(claim.ratio) if claim.verdict == 'wrong' else ''}"
        )
    lines += [claim.reason] if claim.reason else []
    lines += [
        f"{'slip' if slips[0].named else 'perhaps'}: {names(slips)}: {slips[0].text}{odds(slips[0].chance)}"
        for slips in put_forward(claim)
    ]
    lines += [f"passed on to: {', '.join(claim.passed_on)}"] if claim.passed_on else []
    lines += [f"note: {MARKED.get(flag, flag)}" for flag in claim.flags]
    lines += [f"write: {claim.correction}"] if claim.correction else []
    lines += [f"see: {command}"] if (command := reproduced(claim)) else []
    return [_cut(lines[0], room * 3), *("    " + visible(line) for line in lines[1:])]


def in_a_line(claim: Checked) -> str:
    """An incorrect claim on one line: location, verdict, correct value, size of the error, reason."""
    place = f"{visible(claim.file)}:{claim.line}:{claim.column}: {claim.word}: "
    own = visible(claim.claimed or claim.says or claim.id)
    right = claim.correction or claim.derived
    far = off(claim.ratio).removeprefix(": ")
    slips = [
        f"{names(slips)}: {slips[0].text}"
        if slips[0].named
        else f"perhaps {names(slips)}: {slips[0].text}"
        for slips in put_forward(claim)[:1]
    ]
    if claim.verdict == "conditional" and claim.assumptions_needed:
        slips = [
            f"{slip.slip} {times_of(slip.text)}".strip() for slip in claim.slips[:1] if slip.named
        ]
        parts = [
            f"{own} needs {', '.join(claim.assumptions_needed)}",
            f"as it stands {claim.derived}" if claim.derived else "",
            far,
            *slips,
        ]
    elif claim.verdict == "wrong" and right:
        parts = [f"{own} should be {right}", far, *(slips or [claim.reason])]
    else:
        parts = [
            own if claim.verdict == "unchecked" and claim.claimed else "",
            claim.reason,
            *slips,
        ]
    parts += [f"passed on to {', '.join(claim.passed_on)}"] if claim.passed_on else []
    parts += [MARKED[flag] for flag in claim.flags if flag in MARKED]
    return place + visible(
        _cut("; ".join(part.rstrip(".") for part in parts if part), LONGEST_LINE)
    )


def times_of(text: str) -> str:
    """The factor at the end of a mistake's description.

    >>> times_of("reads of the cache left out: ÷1.612, at detail weights")
    '÷1.612'
    """
    match = re.search(r"[×÷][\d.,]*\d", text)
    return match[0] if match else ""


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


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else line[: most - 1] + "…"


def corrections(copy: Copy) -> str:
    """The result for each wrong number of a note: corrected, or left unchanged and why."""
    count = len(copy.corrected)
    count_text = f"{count} number{'' if count == 1 else 's'} corrected" + (
        f", {len(copy.uncorrected)} left" if copy.uncorrected else ""
    )
    looks = [f"; look at {', '.join(look)}" if look else "" for look in copy.dependents]
    fates = [
        (claim, f"{claim.claimed} is now {claim.correction}{look}")
        for claim, look in zip(copy.corrected, looks, strict=True)
    ]
    fates += [
        (claim, f"{claim.claimed or claim.says or claim.id} stays: {why}")
        for claim, why in copy.uncorrected
    ]
    rows = [
        f"  line {claim.line}: {count_text}"
        for claim, count_text in sorted(fates, key=lambda row: (row[0].line, row[0].column))
    ]
    return "\n".join(
        map(
            visible,
            [f"{f'wrote {copy.path}' if copy.written else 'nothing written'}: {count_text}", *rows],
        )
    )


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
    return f": {f'{factor:.3g}' if factor < 1000 else f'{factor:,.0f}' if factor < 1e9 else f'{factor:.1e}'} times too {'high' if ratio > 1 else 'low'}"


def reproduced(claim: Checked) -> str:
    """The command that derives the correct value; empty if no single command does."""
    spec = claim.claim
    if claim.value is None or claim.parts or not (spec.quantity or spec.threshold):
        return ""
    verb = (
        ["derive", spec.quantity]
        if spec.quantity
        else ["solve", spec.threshold, *(["--for", spec.solve_for] if spec.solve_for else [])]
    )
    return shlex.join(["symroof", *map(str, verb), *options(spec.given)])


def options(inputs: Mapping[str, Any]) -> list[str]:
    """A claim's case as options of the command line."""
    arguments: list[str] = []
    for name, value in inputs.items():
        if name == "assume":
            arguments += [
                part
                for switch, choice in value.items()
                for part in ("--assume", f"{switch}={_plain(choice)}")
            ]
        elif name == "targets":
            arguments += [
                part
                for metric, limit in value.items()
                for part in ("--target", f"{metric}={_plain(limit)}")
            ]
        elif name in OPTIONS:
            arguments += [f"--{name}", _plain(value)]
        else:
            arguments += ["--set", f"{name}={_plain(value)}"]
    return arguments


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(float(value)) if not isinstance(value, (str, int)) else str(value)
