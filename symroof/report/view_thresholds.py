"""Data of a review: thresholds with formula, conditions, value, and whether they fit in memory."""

import contextlib
from typing import Any

from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.study import Study
from symroof.cases.bound_case import BoundCase
from symroof.errors import InputError, Problem, nearest
from symroof.report.markup import Code, equation, formula, in_words, symbol
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import names
from symroof.theory.declarations import OWN
from symroof.theory.thresholds import GROUPS, THRESHOLDS
from symroof.units import format_quantity

HOLDS = {True: "holds", False: "does not hold", None: "is not known to hold"}
HEADINGS = {OWN: "Thresholds defined in this study", **GROUPS}

LONGEST_FORMULA = 200
"""LaTeX characters beyond which a closed form is omitted."""


LONGEST_CONDITION = 110
"""LaTeX characters beyond which a condition is omitted; long ones only say which arm of a maximum binds."""


def thresholds(study: Study, subject: BoundCase) -> list[dict[str, Any]]:
    """The solved thresholds of the study by group, without those that lack an input or, if the study requests all, do not
    concern the case."""
    groups: dict[str, list[dict[str, Any]]] = {group: [] for group in HEADINGS}
    for group, name, one in solved(study, subject):
        groups[group].append(threshold(name, one))
    return [{"heading": HEADINGS[g], "entries": own} for g, own in groups.items() if own]


def closed_forms(study: Study, subject: BoundCase) -> dict[str, dict[str, Any]]:
    """The closed forms of the thresholds by name, where they are of readable size."""
    forms = {name: closed_form(one) for _, name, one in solved(study, subject)}
    return {name: form for name, form in forms.items() if form}


def asked(study: Study, subject: BoundCase) -> list[str]:
    """The thresholds that a study asks for.

    Raises:
        InputError: an unknown one.
    """
    named = [each.name for each in study.spec.thresholds] if study.spec else ["all"]
    every = [name for name, t in THRESHOLDS.items() if all(map(subject.case.is_set, t.when))]
    listed = dict.fromkeys(every if "all" in named or not named else [])
    names = [*(listed | dict.fromkeys(name for name in named if name != "all"))]
    for name in names:
        if study.declared.threshold(name) is None:
            hint, message = nearest(name, THRESHOLDS), f"no threshold {name!r}"
            problem = Problem("thresholds", message, hint=hint)
            if study.document:
                problem = study.document.problem(("thresholds",), message, hint)
            raise InputError(problem)
    return names


def solved(study: Study, subject: BoundCase) -> list[tuple[str, str, Solution]]:
    """The thresholds of the study that have all they need: group, name and solution."""
    found = []
    for name in asked(study, subject):
        declared = study.declared.threshold(name)
        if declared and all(subject.case.is_set(need) for need in declared.needs):
            with contextlib.suppress(InputError, NoValue):
                found.append((declared.group, name, solve(name, subject)))
    return found


def threshold(name: str, solution: Solution) -> dict[str, Any]:
    """A threshold as plain data."""
    return {
        "name": Code(name),
        "value": solution.in_ranges(),
        "answer": solution.verdict,
        "reason": solution.reason,
        "memory": within_memory(solution),
        "equation": formula(solution.written, solution.bound_case.case.theory.latex),
        "unknown": Code(solution.unknown),
    }


def within_memory(solution: Solution) -> str:
    """Whether the case fits in memory at the answer, or the needed and usable memory."""
    if solution.within_memory is not False or solution.whole is None:
        return "yes" if solution.within_memory else ""
    there = solution.bound_case.case.changed({solution.unknown: solution.whole})
    needed, usable = (
        format_quantity(there.value(name), "byte", 3) for name in ("memory_bytes", "usable_memory")
    )
    return f"no: {needed} of {usable}"


def closed_form(solution: Solution) -> dict[str, Any] | None:
    """The closed form with its conditions and the names it uses; None where it is too long to read."""
    branch = solution.branch
    form = branch.shown if branch else None
    if branch is None or form is None:
        return None
    written = formula(form, solution.spelled)
    where = {name: formula(tree, solution.spelled) for name, tree in branch.named}
    if max(map(len, (written, *where.values()))) > LONGEST_FORMULA:
        return None
    exists = solution.value is not None
    shown = {c.shown: HOLDS[c.holds] for c in branch.conditions if exists or c.holds is not True}
    conditions = [(formula(tree, solution.spelled), state) for tree, state in shown.items()]
    trees = (*solution.sides, form, *(tree for _, tree in branch.named), *shown)
    left, value = symbol(solution.spelled(solution.unknown), solution.unknown), []
    unit = solution.declared.unit
    # before rounding; times are only in the table, with their flags
    if solution.value is not None and unit != "s":
        plain = "" if solution.declared.counted else unit
        value = [in_words(format_quantity(solution.value, plain))]
    return {
        "display": equation(left, written, *value),
        "exists": exists,
        "where": [equation(symbol(solution.spelled(n), n), side) for n, side in where.items()],
        "conditions": [pair for pair in conditions if len(pair[0]) <= LONGEST_CONDITION],
        "names": [n for n in dict.fromkeys(n for t in trees for n in names(t)) if n not in where],
    }
