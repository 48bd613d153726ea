"""The claims a study names, checked: what is said, what is derived, the verdict, the slip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symroof.analysis.study import Study
from symroof.cases.case_results import DOES_NOT_FIT, Answers
from symroof.report.markup import Code

if TYPE_CHECKING:
    from symroof.claims.check_result import Checked


def claims(study: Study, subject: Answers) -> dict[str, Any] | None:
    """Every claim of the files the study names, in order; None where it names none."""
    if study.spec is None or not study.spec.claims:
        return None
    from symroof.claims.check import check_study

    found = check_study(study)
    counts = [f"{count} {verdict}" for verdict, count in found.summary.items() if count]
    return {"rows": [_row(claim) for claim in found.claims], "summary": counts}


def _row(claim: Checked) -> list[Any]:
    named = [slip for slip in claim.slips if slip.named]
    derived = f"{claim.derived} (does not fit)" if DOES_NOT_FIT in claim.flags else claim.derived
    return [Code(claim.id), claim.says, claim.claimed, derived, claim.verdict, named[0].text if named else claim.reason]
