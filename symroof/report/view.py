"""The data of a design review as plain values, computed section by section for the templates.

Adding a section is one function that returns plain data, an entry in :data:`SECTIONS` with its depth, and a block in ``review.j2``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from symroof.analysis.case_summary import case_title, case_warnings
from symroof.analysis.study import Study
from symroof.analysis.verdict import efficiency_basis, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT
from symroof.report import (
    page_one,
    view_case,
    view_thresholds,
    view_times,
)
from symroof.report.field_names import short_label
from symroof.report.markup import Code, symbol
from symroof.report.pictures.picture_kinds import KINDS
from symroof.report.purchase_text import purchase_rows
from symroof.report.recommendation import Reviewed
from symroof.version import __version__
from symroof.vllm.serve_line import serve_command

View = dict[str, Any]
PAGE_ONE, BODY, FULL = range(3)
"""How deep a review goes: its first page, with what explains it, with the appendix."""


def claims(study: Study, subject: BoundCase) -> dict[str, Any] | None:
    """The checked claims of the study's files, and internal failures; None if the study names no files."""
    if study.spec is None or not study.spec.claims:
        return None
    from symroof.claims.check import check_study

    report, rows = check_study(study), []
    for claim in report.claims:
        named = [slip.text for slip in claim.slips if slip.named]
        derived = f"{claim.derived} †" if DOES_NOT_FIT in claim.flags else claim.derived
        why = named[0] if named else claim.reason
        rows.append([Code(claim.id), claim.says, claim.claimed, derived, claim.word, why])
    failures = [(f"{c.file}:{c.line}: {c.id}", c.failure) for c in report.failures]
    summary = [f"{count} {verdict}" for verdict, count in report.summary.items() if count]
    return {"rows": rows, "summary": summary, "failures": failures}


SECTIONS: dict[str, tuple[Callable[[Study, BoundCase], Any], int]] = {
    "derivations": (view_times.derivations, FULL),
    "bounds": (view_case.bounds, FULL),
    "assumes": (view_case.assumes, BODY),
    "ledger": (view_case.ledger, FULL),
    "memory": (view_case.memory, BODY),
    "itl": (view_times.itl, FULL),
    "operators": (view_times.operators, BODY),
    "defined": (view_times.defined, FULL),
    "thresholds": (view_thresholds.thresholds, FULL),
    "closed_forms": (view_thresholds.closed_forms, FULL),
    "claims": (claims, BODY),
    "rooflines": (view_times.rooflines, BODY),
}
"""What computes a section of the data, and the depth from which a review shows it."""


def view(review: Reviewed, command: str, depth: int = BODY) -> View:
    """The data of a review as deep as asked; sections that it does not show are None."""
    study, subject = review.study, review.subject
    view_thresholds.asked(study, subject)  # an unknown one is an error at every depth
    spec = study.spec
    sections = {
        name: section(study, subject) if depth >= least else None
        for name, (section, least) in SECTIONS.items()
    }
    header, candidates = purchase_rows(review.shown.best)
    found, does_not_fit = review.found, subject.does_not_fit
    return {
        "title": (spec.title if spec and spec.title else None) or case_title(subject),
        "subject": case_title(subject),
        "page": page_one.page_one(review),
        "warnings": case_warnings(subject)[does_not_fit:],  # page one begins with what does not fit
        "candidates": {"header": header, "rows": candidates, "details": short_label(subject)},
        "does_not_fit": does_not_fit,
        "under_load": under_load(subject.case),
        "bound_by": {step: view_times.bound_of(step, subject) for step in ("prefill", "decode")},
        "basis": efficiency_basis(subject),
        **sections,
        "recommended": found.as_json(serve_command(found.pick)) if found else None,
        "explained": depth >= BODY,
        "full": depth == FULL,
        "symbols": symbols(subject, sections["closed_forms"] or {}),
        "notes": list(spec.notes) if spec else [],
        "sources": sources(study),
        "inputs": input_hashes(study),
        "version": __version__,
        "command": command,
        "figures": {name.replace("-", "_"): None for name in KINDS},
        "live": None,
    }


def symbols(subject: BoundCase, closed_forms: dict[str, dict[str, Any]]) -> list[list[str]]:
    """Symbols of the threshold formulas that the derivations do not explain."""
    theory, explained = subject.case.theory, set(subject.case.given)
    for quantity in filter(subject.get, view_times.DERIVED):
        explained |= set(view_times.expanded_names(quantity, subject))
    used = dict.fromkeys(name for form in closed_forms.values() for name in form["names"])
    return [
        [symbol(theory.latex(name)), Code(name), theory.symbol(name).meaning]
        for name in used
        if name not in explained and theory.definition(name) is not None
    ]


def sources(study: Study) -> list[list[str]]:
    """The source documents of the review's numbers."""
    found: dict[str, list[str]] = {}
    for case in study.cases:
        named = []
        if device := case.hardware:
            named = [(device.title, device.source_of(each)) for _, each in device.numbers()]
        if case.model and case.model.source:
            named.append((case.model.shown_name, case.model.source))
        if case.preset:
            named.append((case.preset.title, case.preset.source))
        for title, source in named:
            found.setdefault(str(source), [title, str(source), source.address or ""])
    return list(found.values())


def input_hashes(study: Study) -> list[list[str]]:
    """The input files, by their paths below ``specs/`` or their names, with their content hashes."""
    documents = [study.document, *(each for case in study.cases for each in case.documents)]
    unique = {each.file: each.text for each in documents if each}
    rows: list[list[str]] = []
    for file, text in unique.items():
        path = file.replace("\\", "/")
        _, mark, rest = path.rpartition("specs/")
        short = mark + rest if mark else path.rpartition("/")[2]
        rows.append([Code(short), Code(hashlib.sha256(text.encode()).hexdigest()[:16])])
    return rows
