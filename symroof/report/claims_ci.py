"""Checked claims for code review tools: GitHub annotations, SARIF 2.1.0, JUnit XML."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

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
NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


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
    text = visible(
        parts[0] + " " + "; ".join(part.rstrip(".") for part in parts[1:] if part)
    ).strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# --------------------------------------------------------------------------------------------------------------- GitHub


def github(report: Report, strict: bool = False) -> list[str]:
    """A workflow command for each reported claim, which GitHub shows at its line."""
    return [
        _command(
            GITHUB[severity],
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


# ---------------------------------------------------------------------------------------------------------------- SARIF


def sarif(report: Report, strict: bool = False) -> dict[str, Any]:
    """A SARIF log: one result per reported claim, one rule per verdict and named mistake."""
    reported = [(claim, severity) for claim in report.claims if (severity := level(claim, strict))]
    rules = sorted({rule(claim) for claim, _ in reported})
    driver = {
        "name": "symroof", "version": __version__, "rules": [_rule(name) for name in rules],
    }  # fmt: skip
    results = [_result(claim, severity, rules.index(rule(claim))) for claim, severity in reported]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }


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
    mark = hashlib.sha256(
        "\0".join((uri, claim.id, claim.says)).encode("utf-8", "surrogatepass")
    ).hexdigest()
    return {
        "ruleId": rule(claim), "ruleIndex": index, "level": severity, "message": {"text": message(claim)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
        "partialFingerprints": {"symroofClaim/v1": mark},
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------- JUnit


def junit(report: Report, strict: bool = False) -> str:
    """A JUnit file: a suite for each file, a case for each claim; one to act on fails, one that was not judged is skipped, a problem of a file is an error."""
    root = Element("testsuites", name="symroof")
    for file in dict.fromkeys([*report.files, *(problem.file for problem in report.problems)]):
        claims = [claim for claim in report.claims if claim.file == file and not claim.faulty]
        problems = [problem for problem in report.problems if problem.file == file]
        suite = SubElement(root, "testsuite", name=_xml(file))
        results = [_case(suite, claim, strict) for claim in claims]
        for problem in problems:
            case = SubElement(
                suite,
                "testcase",
                classname=_xml(file),
                name=f"line {problem.line or 1}",
                file=_xml(file),
                line=str(problem.line or 1),
            )
            SubElement(
                case,
                "error",
                message=_xml(
                    ": ".join(filter(None, (problem.path, problem.message, problem.hint)))
                ),
            )
        counts = {
            "tests": len(claims) + len(problems),
            "failures": results.count("failure"),
            "errors": len(problems),
            "skipped": results.count("skipped"),
        }
        suite.attrib.update({name: str(count) for name, count in counts.items()})
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode")


def _case(suite: Element, claim: Checked, strict: bool) -> str:
    """One claim as a case of a suite; returns what became of it."""
    case = SubElement(
        suite,
        "testcase",
        classname=_xml(claim.file),
        name=_xml(claim.id),
        file=_xml(claim.file),
        line=str(claim.line),
    )
    result = (
        "failure" if claim.finding(strict) else "skipped" if claim.verdict == "unchecked" else ""
    )
    if result:
        SubElement(case, result, {"message": _xml(message(claim)), "type": claim.verdict})
    return result


def _xml(text: str) -> str:
    """A text with what XML cannot hold in place of each such character."""
    return NOT_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))
