"""The data of a design review as plain values, computed section by section for the templates.

Adding a section is one function that returns plain data, an entry in :data:`SECTIONS` with its depth, and a block in ``review.j2``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from symroof.analysis.case_summary import PERCENTILE, case_title, case_warnings
from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.study import Study
from symroof.analysis.verdict import MEMORY, efficiency_basis, under_load
from symroof.cases.bound_case import BoundCase
from symroof.cases.values import DOES_NOT_FIT
from symroof.errors import InputError, NoValue
from symroof.report import page_one, review_sections
from symroof.report.field_names import short_label
from symroof.report.markup import Code, Math, equation, formula
from symroof.report.pictures import KINDS
from symroof.report.purchase_text import purchase_rows
from symroof.report.recommendation import Reviewed
from symroof.resources import __version__
from symroof.symbolic.expressions import names
from symroof.theory.declarations import OWN, THRESHOLD_GROUPS, THRESHOLDS
from symroof.vllm.advice import serve_command

HOLDS = {True: "holds", False: "does not hold", None: "is not known to hold"}
HEADINGS = {OWN: "Thresholds defined in this study", **THRESHOLD_GROUPS}

LONGEST_FORMULA, LONGEST_CONDITION = 200, 110
"""LaTeX characters beyond which a closed form, and one of its conditions, is omitted; long ones only say which arm of a maximum binds."""


def thresholds(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """The solved thresholds of the study by group, without those that lack an input or, if the study requests all, do not
    concern the case."""
    named = [each.name for each in study.spec.thresholds] if study.spec else []
    every = [name for name, t in THRESHOLDS.items() if all(map(subject.case.is_set, t.when))]
    asked = dict.fromkeys(every if "all" in named or not named else []) | dict.fromkeys(named)
    groups: dict[str, list[dict[str, Any]]] = {group: [] for group in HEADINGS}
    for name in asked:
        declared = study.declared.threshold(name)
        if declared and all(map(subject.case.is_set, declared.needs)):
            with contextlib.suppress(InputError, NoValue):
                groups[declared.group].append(threshold(name, solve(name, subject)))
    return [{"heading": HEADINGS[g], "entries": own} for g, own in groups.items() if own]


def threshold(name: str, solution: Solution) -> dict[str, Any]:
    """A threshold as plain data."""
    return {
        "name": Code(name),
        "value": solution.in_ranges(),
        "answer": solution.verdict,
        "reason": solution.reason,
        "memory": {True: "yes", False: "no", None: ""}[solution.within_memory],
        "equation": formula(solution.written, solution.bound_case.case.theory.latex),
        "unknown": Code(solution.unknown),
        "form": closed_form(solution),
    }


def closed_form(solution: Solution) -> dict[str, Any] | None:
    """The closed form with its conditions and the names it uses; None where it is too long to read."""
    form = solution.form
    if form is None or form.root is None:
        return None
    written = formula(form.root, solution.spelled)
    where = {short.name: formula(tree, solution.spelled) for short, tree in form.named}
    if max(map(len, (written, *where.values()))) > LONGEST_FORMULA:
        return None
    exists, said = solution.value is not None, dict(solution.shown_conditions(form))
    shown = {tree: HOLDS[holds] for tree, holds in said.items() if exists or holds is not True}
    stated = [(formula(tree, solution.spelled), state) for tree, state in shown.items()]
    trees = (*solution.sides, form.root, *(tree for _, tree in form.named), *shown)
    left = Math(solution.spelled(solution.unknown), solution.unknown)
    return {
        "display": equation(left, written),
        "exists": exists,
        "where": [equation(Math(solution.spelled(n), n), side) for n, side in where.items()],
        "conditions": [pair for pair in stated if len(pair[0]) <= LONGEST_CONDITION],
        "names": [n for n in dict.fromkeys(n for t in trees for n in names(t)) if n not in where],
    }


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
    failures = [(f"{c.file}:{c.line}: {c.id}", c.failure) for c in report.claims if c.failure]
    summary = [f"{count} {verdict}" for verdict, count in report.summary.items() if count]
    return {"rows": rows, "summary": summary, "failures": failures}


SECTIONS: dict[str, tuple[Callable[[Study, BoundCase], Any], int]] = {
    "derivations": (review_sections.derivations, FULL),
    "assumes": (review_sections.assumes, BODY),
    "ledger": (review_sections.ledger, FULL),
    "memory": (review_sections.memory, BODY),
    "operators": (review_sections.operators, BODY),
    "defined": (review_sections.defined, FULL),
    "thresholds": (thresholds, FULL),
    "claims": (claims, BODY),
    "rooflines": (review_sections.rooflines, BODY),
}
"""What computes a section of the data, and the depth from which a review shows it."""


def view(review: Reviewed, command: str, depth: int = BODY) -> dict[str, Any]:
    """The data of a review as deep as asked; sections that it does not show are None."""
    study, subject = review.study, review.subject
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
        "warnings": case_warnings(subject, MEMORY, PERCENTILE),  # which page one says
        "candidates": {"header": header, "rows": candidates, "details": short_label(subject)},
        "does_not_fit": does_not_fit,
        "under_load": under_load(subject.case),
        "bound_by": {
            step: review_sections.bound_of(step, subject) for step in ("prefill", "decode")
        },
        "basis": efficiency_basis(subject),
        **sections,
        "recommended": found.as_json(serve_command(found.pick)) if found else None,
        "explained": depth >= BODY,
        "full": depth == FULL,
        "symbols": symbols(subject, sections["thresholds"] or []),
        "notes": list(spec.notes) if spec else [],
        "sources": sources(study),
        "version": __version__,
        "command": command,
        "figures": {name.replace("-", "_"): None for name in KINDS},
        "live": None,
    }


def symbols(subject: BoundCase, thresholds: list[dict[str, Any]]) -> list[list[str]]:
    """Symbols of the threshold formulas that the derivations do not explain."""
    theory, explained = subject.case.theory, set(subject.case.given)
    for quantity in filter(subject.get, review_sections.DERIVED):
        explained |= set(review_sections.expanded_names(quantity, subject))
    forms = [each["form"] for group in thresholds for each in group["entries"]]
    used = dict.fromkeys(name for form in forms if form for name in form["names"])
    return [
        [Math(theory.latex(name)), Code(name), theory.symbol(name).meaning]
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
