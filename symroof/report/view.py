"""The data of a design review as plain values, computed section by section for the templates.

Adding a section is one function that returns plain data, an entry in :data:`SECTIONS`, and a block in ``review.j2``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symroof.analysis.case_titles import case_title
from symroof.analysis.study import Study
from symroof.analysis.verdict import case_warnings, efficiency_basis, under_load
from symroof.analysis.waterfall import HEADER, Waterfall
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT
from symroof.report import (
    page_one,
    view_case,
    view_flips,
    view_latency,
    view_operators,
    view_sensitivities,
    view_thresholds,
)
from symroof.report.field_names import short_label
from symroof.report.markup import Code, symbol
from symroof.report.purchase_text import purchase_rows
from symroof.report.recommendation import Reviewed
from symroof.report.review_parts import FIGURES, PARTS, SHOWN_IN
from symroof.version import __version__
from symroof.vllm.serve_line import serve_command

if TYPE_CHECKING:
    from symroof.claims.checked import Checked

View = dict[str, Any]


def claims(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """The checked claims of the study's files, and internal failures; None if the study names no files."""
    if study.spec is None or not study.spec.claims:
        return None
    from symroof.claims.check import check_study

    report = check_study(study)
    failures = [
        (f"{claim.file}:{claim.line}: {claim.id}", claim.failure) for claim in report.failures
    ]
    return {
        "rows": [_claim_row(claim) for claim in report.claims],
        "summary": [f"{count} {verdict}" for verdict, count in report.summary.items() if count],
        "failures": failures,
    }


def _claim_row(claim: Checked) -> list[Any]:
    named = [slip for slip in claim.slips if slip.named]
    derived = f"{claim.derived} †" if DOES_NOT_FIT in claim.flags else claim.derived
    return [
        Code(claim.id),
        claim.says,
        claim.claimed,
        derived,
        claim.word,
        named[0].text if named else claim.reason,
    ]


SECTIONS: dict[str, Callable[[Study, BoundCase], Any]] = {
    "derivations": view_latency.derivations,
    "flips": view_flips.flip_view,
    "isolated": view_case.isolated,
    "bounds": view_case.bounds,
    "assumes": view_case.assumes,
    "ledger": view_case.ledger,
    "memory": view_case.memory,
    "itl": view_latency.itl,
    "operators": view_operators.operators,
    "serving": view_latency.serving,
    "thresholds": view_thresholds.thresholds,
    "closed_forms": view_thresholds.closed_forms,
    "claims": claims,
    "elasticities": view_sensitivities.elasticities,
    "rooflines": view_sensitivities.rooflines,
    "levels": view_sensitivities.levels,
}


def against(name: str, ways: Sequence[Waterfall]) -> dict[str, Any]:
    """The differences to another case, one table per quantity."""
    shown = [
        {"title": way.title, "rows": way.rows("this case", name), "notes": way.notes()}
        for way in ways
    ]
    return {"name": name, "header": list(HEADER), "ways": shown}


def view(
    review: Reviewed,
    command: str,
    parts: Sequence[str] = (),
    other: tuple[str, Sequence[Waterfall]] | None = None,
) -> View:
    """The data of the review; sections that none of its parts shows are None.

    Args:
        parts: the parts to print; all if empty.
        other: the name of the compared case, and the waterfalls to it.
    """
    study, subject = review.study, review.subject
    view_thresholds.asked(study, subject)  # an unknown one is an error in every part
    spec = study.spec
    parts = list(parts or PARTS)
    sections = {
        name: section(study, subject) if {*SHOWN_IN.get(name, parts)} & {*parts} else None
        for name, section in SECTIONS.items()
    }
    page = page_one.page_one(review) if "verdict" in parts else None
    header, candidates = purchase_rows(review.candidates)
    found, does_not_fit = review.found, subject.does_not_fit
    return {
        "title": (spec.title if spec and spec.title else None) or case_title(subject),
        "subject": case_title(subject),
        "page": page,
        "warnings": case_warnings(subject)[does_not_fit:],  # page one begins with what does not fit
        "candidates": {"header": header, "rows": candidates, "details": short_label(subject)},
        "does_not_fit": does_not_fit,
        "under_load": under_load(subject.case),
        "asks": review.asks,
        "bound_by": {step: view_latency.bound_of(step, subject) for step in ("prefill", "decode")},
        "basis": efficiency_basis(subject),
        **sections,
        "against": against(*other) if other else None,
        "recommended": found.as_json(serve_command(found.pick)) if found else None,
        "parts": parts,
        "symbols": symbols(subject, sections["closed_forms"] or {}),
        "notes": list(spec.notes) if spec else [],
        "sources": sources(study),
        "inputs": input_hashes(study),
        "version": __version__,
        "command": command,
        "figures": dict.fromkeys(FIGURES),
        "live": None,
    }


def symbols(subject: BoundCase, closed_forms: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Symbols of the threshold formulas that the derivations do not explain."""
    theory = subject.case.theory
    known = {
        name
        for quantity in view_latency.DERIVED
        if subject.get(quantity)
        for name in view_latency.expanded_names(quantity, subject)
    }
    used_names = dict.fromkeys(name for form in closed_forms.values() for name in form["names"])
    shown_names = [
        name
        for name in used_names
        if name not in known
        and theory.definition(name) is not None
        and name not in subject.case.given
    ]
    return [
        [symbol(theory.latex(name)), Code(name), theory.symbol(name).meaning]
        for name in shown_names
    ]


def sources(study: Study) -> list[list[str]]:
    """The source documents of the review's numbers."""
    documents: dict[str, list[str]] = {}
    for case in study.cases:
        if case.hardware:
            used = {
                valued.source if isinstance(valued.source, str) else str(valued.source): valued
                for _, valued in case.hardware.numbers()
            }
            for valued in used.values():
                source = case.hardware.source_of(valued)
                documents.setdefault(
                    str(source), [case.hardware.title, str(source), source.address or ""]
                )
        if case.model and case.model.source:
            source = case.model.source
            documents.setdefault(
                str(source), [case.model.shown_name, str(source), source.address or ""]
            )
        if case.preset:
            documents.setdefault(
                case.preset.name,
                [case.preset.title, str(case.preset.source), case.preset.source.address or ""],
            )
    return list(documents.values())


def input_hashes(study: Study) -> list[list[str]]:
    """The input files with their content hashes."""
    documents = [study.document] if study.document else []
    for case in study.cases:
        documents += case.documents
    unique = {document.file: document for document in documents if document}
    return [
        [Code(_short(file)), Code(hashlib.sha256(d.text.encode()).hexdigest()[:16])]
        for file, d in unique.items()
    ]


def _short(file: str) -> str:
    """A path relative to ``specs/``, or the file name: the same on every machine."""
    _, mark, rest = file.replace("\\", "/").rpartition("specs/")
    return mark + rest if mark else file.replace("\\", "/").rpartition("/")[2]
