"""Checked claims for code review: GitHub annotations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from symroof.errors import Problem, visible

if TYPE_CHECKING:
    from symroof.claims.checked import Checked, Report

LEVELS = {
    "wrong": "error", "inconsistent": "error", "conditional": "warning", "plausible": "notice", "unchecked": "notice",
}  # fmt: skip
"""GitHub's level of each reported verdict; a correct claim is not reported."""
FLAGS = {
    "does_not_fit": "The claim is of a configuration that does not fit in memory",
    "dimension": "The units of the claim do not agree",
    "regime": "The formula was used outside the regime where it holds",
}
LONGEST = 1000


def level(claim: Checked, strict: bool) -> str:
    """The level at which a claim is reported; empty if it is correct."""
    severity = LEVELS.get(claim.verdict, "warning" if claim.flags else "")
    return "error" if severity and claim.finding(strict) else severity


def message(claim: Checked) -> str:
    """The problem of a claim in one paragraph."""
    parts = [f"{claim.says.rstrip('.')}." if claim.says else "", claim.verdict]
    if claim.claimed and claim.derived:
        parts[1] += f": claimed {claim.claimed}, derived {claim.derived}"
    parts += [claim.reason, *(f"{slip.slip}: {slip.text}" for slip in claim.slips if slip.named)]
    parts += [FLAGS[flag] for flag in claim.flags if flag in FLAGS]
    parts += [f"write {claim.correction}"] if claim.correction else []
    text = visible(
        parts[0] + " " + "; ".join(part.rstrip(".") for part in parts[1:] if part)
    ).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def github(report: Report, strict: bool = False) -> list[str]:
    """A workflow command for each reported claim, which GitHub shows at its line."""
    return [
        _command(
            severity,
            claim.file,
            claim.line,
            claim.column,
            f"symroof: {claim.verdict}",
            message(claim),
        )
        for claim in report.claims
        if not claim.faulty and (severity := level(claim, strict))
    ]


def github_problems(problems: Iterable[Problem]) -> list[str]:
    """A workflow command for each problem of a file."""
    return [
        _command(
            "error",
            p.file,
            p.line or 1,
            p.column or 1,
            "symroof: bad input",
            ": ".join(filter(None, (p.path, p.message, p.hint))),
        )
        for p in problems
    ]


def _command(kind: str, file: str, line: int, column: int, title: str, message: str) -> str:
    return f"::{kind} file={_property(file)},line={line},col={column},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    """Escaped as GitHub's runner reads a message.

    >>> _data("62 %\\n::error::x")
    '62 %25%0A::error::x'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
