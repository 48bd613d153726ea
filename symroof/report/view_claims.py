"""The claims a study names, checked: what is said, what is derived, the verdict, the slip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symroof.report.markup import Code
from symroof.results import DOES_NOT_FIT, Answers
from symroof.study import Study

if TYPE_CHECKING:
    from symroof.claims.checked import Checked


def claims(study: Study, subject: Answers) -> dict[str, Any] | None:
    """Every claim of the files the study names, in order; None where it names none."""
    if study.spec is None or not study.spec.claims:
        return None
    from symroof.claims.checking import check_study

    found = check_study(study)
    counts = [f"{count} {verdict}" for verdict, count in found.summary.items() if count]
    return {"rows": [_row(claim) for claim in found.claims], "summary": counts}


def _row(claim: Checked) -> list[Any]:
    named = [slip for slip in claim.slips if slip.named]
    derived = f"{claim.derived} (does not fit)" if DOES_NOT_FIT in claim.flags else claim.derived
    return [Code(claim.id), claim.says, claim.claimed, derived, claim.verdict, named[0].text if named else claim.reason]
