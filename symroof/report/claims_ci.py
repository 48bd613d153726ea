"""Checked claims for code review tools: GitHub annotations and SARIF 2.1.0."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from symroof.errors import Problem, visible
from symroof.version import __version__

if TYPE_CHECKING:
    from symroof.claims.check_result import Checked, Report

LEVELS = {"wrong": "error", "inconsistent": "error", "conditional": "warning", "unchecked": "note"}
"""SARIF level of each reported verdict; a correct claim is not reported."""
GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
RULES = {
    "wrong": "The derived value does not agree with the claimed one.",
    "inconsistent": "The claim's own parts, or two claims, disagree.",
    "conditional": "The claim is true only under assumptions that the text does not state.",
    "unchecked": "The claim was not checked.",
    "does_not_fit": "The claim is of a configuration that does not fit in memory.",
    "dimension": "The units of the claim do not agree.",
    "regime": "The formula was used outside the regime where it holds.",
}
SCHEMA = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json"
LONGEST = 1000


def level(claim: Checked, strict: bool) -> str:
    """The level at which a claim is reported; empty if it is correct."""
    if claim.faulty:
        return "error"
    severity = LEVELS.get(claim.verdict, "warning" if claim.flags else "")
    return "error" if severity and claim.finding(strict) else severity


def message(claim: Checked) -> str:
    """The problem of a claim in one paragraph."""
    parts = [f"{claim.says.rstrip('.')}." if claim.says else "", claim.verdict]
    if claim.claimed and claim.derived:
        parts[1] += f": claimed {claim.claimed}, derived {claim.derived}"
    parts += [claim.reason, *(f"{slip.slip}: {slip.text}" for slip in claim.slips if slip.named)]
    parts += [RULES[flag].rstrip(".") for flag in claim.flags if flag in RULES]
    parts += [f"write {claim.correction}"] if claim.correction else []
    text = visible(parts[0] + " " + "; ".join(part.rstrip(".") for part in parts[1:] if part)).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# --------------------------------------------------------------------------------------------------------------- GitHub


def github(report: Report, strict: bool = False) -> list[str]:
    """A workflow command for each reported claim, which GitHub shows at its line."""
    return [
        _command(GITHUB[severity], claim.file, claim.line, claim.column, f"symroof: {claim.verdict}", message(claim))
        for claim in report.claims
        if not claim.faulty and (severity := level(claim, strict))
    ]


def github_problems(problems: Iterable[Problem]) -> list[str]:
    """A workflow command for each problem of a file."""
    return [_command("error", p.file, p.line or 1, p.column or 1, "symroof: bad input", ": ".join(filter(None, (p.path, p.message, p.hint)))) for p in problems]


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


# ---------------------------------------------------------------------------------------------------------------- SARIF


def sarif(report: Report, strict: bool = False) -> dict[str, Any]:
    """A SARIF log: one result per reported claim, one rule per verdict and named mistake."""
    reported = [(claim, severity) for claim in report.claims if (severity := level(claim, strict))]
    rules = sorted({rule(claim) for claim, _ in reported})
    driver = {
        "name": "symroof", "version": __version__, "rules": [_rule(name) for name in rules],
    }  # fmt: skip
    results = [_result(claim, severity, rules.index(rule(claim))) for claim, severity in reported]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}]}


def rule(claim: Checked) -> str:
    """The rule that a claim breaks: its verdict, with the mistake if one is named, or its flag."""
    if claim.verdict not in LEVELS:
        return claim.flags[0]
    slip = next((slip.slip for slip in claim.slips if slip.named), "")
    return f"{claim.verdict}/{slip}" if slip else claim.verdict


def _rule(name: str) -> dict[str, Any]:
    head, _, slip = name.partition("/")
    meaning = RULES.get(head, "The claim does not hold.")
    return {"id": name, "shortDescription": {"text": meaning}, "fullDescription": {"text": f"{meaning} The slip: {slip}." if slip else meaning},
            "defaultConfiguration": {"level": LEVELS.get(head, "warning")}}  # fmt: skip


def _result(claim: Checked, severity: str, index: int) -> dict[str, Any]:
    region: dict[str, int] = {"startLine": claim.line, "startColumn": claim.column}
    if claim.figure and not claim.figure.range_end:
        region |= {"endLine": claim.line, "endColumn": claim.column + len(claim.figure.digits)}
    path = PurePath(claim.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="replace")
    mark = hashlib.sha256("\0".join((uri, claim.id, claim.says)).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": rule(claim), "ruleIndex": index, "level": severity, "message": {"text": message(claim)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        "partialFingerprints": {"symroofClaim/v1": mark},
    }  # fmt: skip
