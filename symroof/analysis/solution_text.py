"""A solution for programs, as JSON, and the lines of a screen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sympy.printing.pretty.pretty_symbology import greek_unicode

from symroof.analysis.case_titles import case_title
from symroof.analysis.case_warnings import case_warnings, unused_inputs
from symroof.analysis.closed_branches import Branch, Condition
from symroof.analysis.solution import Solution
from symroof.analysis.solution_words import with_unit
from symroof.analysis.verdict import basis_of
from symroof.analysis.whole_numbers import longest, stretch_text
from symroof.cases.quantity_result import Result, plain_value
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, names, operator_of
from symroof.symbolic.printing import latex, text

LONGEST_LIMIT = 240
"""Characters of a condition that is solved for the next symbol."""


def solution_json(solution: Solution) -> dict[str, Any]:
    """The form of the contract, ``symroof/solve/2``."""
    low, high, everywhere = solution.extent
    over_ranges: dict[str, Any] = {}
    if low is not None:
        over_ranges = {"low": plain_value(low), "high": plain_value(high), "everywhere": everywhere}
    if solution.at_peak is not None:
        over_ranges["bound"] = plain_value(solution.bound)
    return {
        "schema": "symroof/solve/2",
        "equation": dict(zip(("lhs", "rhs"), solution.written_sides, strict=True)),
        "unknown": solution.unknown,
        "verdict": solution.verdict,
        "method": solution.method,
        "domain": [plain_value(end) for end in solution.domain],
        "branches": [_branch_json(branch, solution) for branch in solution.candidates.every],
        "values": [plain_value(value) for value in solution.values],
        "value": plain_value(solution.value),
        **over_ranges,
        "integer": solution.integer,
        "within_memory": solution.within_memory,
        "unit": solution.declared.unit,
        "reason": solution.reason,
        "assumed": {name: plain_value(entry.value) for name, entry in solution.defaults.items()},
        "warnings": [*_without_effect(solution), *case_warnings(solution.bound_case)],
    }


def _branch_json(branch: Branch, solution: Solution) -> dict[str, Any]:
    def both(tree: Expr) -> dict[str, Any]:
        return {"text": text(tree), "latex": latex(tree, solution.spelled)}

    return {
        "closed_form": None if branch.shown is None else both(branch.shown),
        "where": {name: both(tree) for name, tree in where(branch, solution).items()},
        "conditions": [{**both(c.shown), "holds": c.holds} for c in branch.conditions],
        "value": plain_value(branch.value),
        "holds": branch.holds,
    }


def where(branch: Branch, solution: Solution) -> dict[str, Expr]:
    """The definitions of the names in a closed form: its coefficients, and the derived quantities in it."""
    case, definitions = solution.bound_case.case, dict(branch.named)
    for tree in (branch.shown, *definitions.values()):
        for name in names(tree) if tree is not None else ():
            known = name in definitions or name == solution.unknown
            if not known and case.theory.definition(name) is not None:
                definitions[name] = case.readable_formula(name)
    return definitions


# ------------------------------------------------------------------------------------------- lines of a screen


def question(solution: Solution) -> list[str]:
    """What is asked, the equation, the case, and the basis of its times."""
    case, asked = solution.bound_case, " = ".join(solution.written_sides)
    mentioned = {name for tree in solution.sides for name in names(tree)}
    timed = sorted(mentioned) if case.hardware else []
    threshold = solution.threshold
    first = [f"{threshold.name}: {threshold.means}", f"  {asked}"] if threshold else []
    first = first or [f"{asked}, solved for {solution.unknown}"]
    title = case_title(case) if case.model or case.hardware else ""
    return [*first, *(f"  {line}" for line in filter(None, (title, *basis_of(case, timed))))]


def answer(solution: Solution) -> list[str]:
    """The number, predicted and at the peak, and the sentence where it says more than the question."""
    first, at_peak = solution.in_ranges(), solution.at_peak
    least = at_peak.in_ranges() if at_peak is not None else ""
    peak = f"; at 100 % of peak: {least}" if least and least != first else ""
    asked = solution.threshold.means if solution.threshold else ""
    reason = solution.reason.removeprefix(asked).removeprefix("; ")
    return [f"{solution.unknown}: {first}{peak}", *([f"  {reason}"] if reason else [])]


def assumed(solution: Solution) -> list[str]:
    """The defaults that the answer depends on."""
    told = ", ".join(f"{name} {entry.text()}" for name, entry in solution.defaults.items())
    return [f"assumed: {told}"] if told else []


def remarks(solution: Solution) -> list[str]:
    """All crossings or stretches, what had no effect, whether it fits, why there is no closed form."""
    lines = []
    if len(solution.stretches) > 1:
        others = [each for each in solution.stretches if each != longest(solution.stretches)]
        lines.append(f"also at {', '.join(map(stretch_text, others))}")
    elif len(solution.values) > 1 and not solution.stretches:
        unit = solution.declared.display_unit
        every = ", ".join(with_unit(value, unit) for value in solution.values)
        lines.append(f"all crossings: {every}")
    lines += [f"! {line}" for line in _without_effect(solution)]
    if solution.within_memory is not None:
        fits = "fits" if solution.within_memory else "does not fit"
        lines.append(f"{fits} in memory at this value")
    if solution.method == "numeric":
        why = solution.why_numeric or "crossings beyond the first have no closed form"
        lines.append(f"solved numerically: {why}")
    return lines


def _without_effect(solution: Solution) -> list[str]:
    """What somebody set and this equation does not depend on, in one sentence."""
    asked = {solution.unknown, *(name for tree in solution.sides for name in names(tree))}
    unused = unused_inputs(solution.bound_case, asked, targets_decide=False)
    return [f"no effect on this answer: {', '.join(unused)}"] if unused else []


GREEK = re.compile(r"\\(?:var)?([A-Za-z]+)")


def closed_form_lines(solution: Solution, short: bool) -> list[str]:
    """The closed forms with their conditions and what their names are: the first in ``short`` letters, or each over names and as LaTeX."""
    branches = [  # those that hold; of sides that never meet all
        branch
        for branch in solution.candidates.every
        if branch.shown is not None and (branch.holds or solution.value is None)
    ]
    letters, defined = dict[str, str](), dict[str, Expr]()

    def letter(name: str) -> str:
        """The letter of a name in print; the name where another has its letter, or it has none."""
        if name not in letters:
            spelled = re.sub(r"\\(?:mathrm|text|operatorname)|[{}]", "", solution.spelled(name))
            found = GREEK.sub(lambda letter: greek_unicode.get(letter[1], letter[0]), spelled)
            taken = len(found) >= len(name) or "\\" in found or found in letters.values()
            letters[name] = name if taken else found
        return letters[name]

    def written(tree: Expr) -> str:
        if not short:
            return text(tree)
        return text(tree, letter).replace("**", "^").replace("*", "·").replace(" - ", " − ")

    lines: list[str] = []
    for branch in branches[: 1 if short else None]:
        lines.append(f"  {solution.unknown} = {written(branch.shown)}")
        named = dict(branch.named) if short else where(branch, solution)
        fresh = {name: tree for name, tree in named.items() if defined.get(name) != tree}
        lines += [f"    with {name} = {written(tree)}" for name, tree in fresh.items()]
        defined |= fresh
        asked = (c for c in branch.conditions if not (short and c.holds))
        lines += [f"    if {_condition_text(each, solution, written)}" for each in asked]
    told = [f"{one} {name}" for name, one in letters.items() if one != name]
    lines += [f"  where {' · '.join(told)}"] if told else []
    spelled = solution.spelled
    forms = [f"  {spelled(solution.unknown)} = {latex(b.shown, spelled)}" for b in branches]
    return [*lines, "as LaTeX", *forms] if forms and not short else lines


def _condition_text(
    condition: Condition, solution: Solution, written: Callable[[Expr], str]
) -> str:
    """A condition, solved for the next symbol where that is readable, in numbers where they are known; and whether it holds."""
    said, limit = written(condition.shown), solution.limit_of(condition)
    if limit is not None and len(text(limit)) <= LONGEST_LIMIT:
        said, name = written(limit), limit.lhs.name
        with suppress(NoValue):
            value = float(solution.bound_case.case.evaluate(limit.rhs))
            declared = solution.bound_case.case.theory.symbol(name)
            whole = math.floor(value) if declared.counted else value
            if value >= 1:
                said = f"{name} {operator_of(limit)} {Result(declared, whole).plain(3)}"
    return f"{said}{', which does not hold here' * (condition.holds is False)}"
