"""What the cases that fail would have to bring: those beside the reviewed one, whose own flips have a section."""

from __future__ import annotations

from typing import Any

from symroof.analysis.constraints import conditions
from symroof.analysis.study import Study
from symroof.analysis.verdict import case_label
from symroof.cases.case_results import Answers
from symroof.report.markup import Code
from symroof.report.view_select import lacking

MOST = 8
"""Cases that a reader still compares; `symroof select` has all."""


def lacking_cases(study: Study, subject: Answers) -> dict[str, Any] | None:
    """A row for each input of each other case that fails, ranges at their middle; None where none does."""
    failing = [case for case in study.cases if case is not subject and any(not c.holds(case.case) for c in conditions(case))]
    rows = [[case_label(case) if i == 0 else "", Code(name), *rest] for case in failing[:MOST] for i, (name, *rest) in enumerate(lacking(case))]
    return {"rows": rows, "more": len(failing) - MOST if len(failing) > MOST else None} if rows else None
