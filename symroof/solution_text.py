"""A solution for people and for programs."""

from __future__ import annotations

from typing import Any

from symroof.crossings.crossing import Branch, Condition
from symroof.crossings.symbolic import bound
from symroof.formula.evaluate import NoValue
from symroof.formula.latex import latex
from symroof.formula.text import text
from symroof.formula.tree import Compare, Tree, mentions, names
from symroof.opening import opened
from symroof.results import bare
from symroof.solution import Solution
from symroof.units import format_quantity
from symroof.verdict import case_title, case_warnings

HOLDS = {True: "holds", False: "does not hold", None: "is not known to hold"}


def solution_json(solution: Solution) -> dict[str, Any]:
    """The form of the contract, ``symroof/solve/1``."""
    crossing = solution.crossing
    return {
        "schema": "symroof/solve/1",
        "equation": {"lhs": text(solution.lhs), "rhs": text(solution.rhs)},
        "unknown": solution.unknown,
        "verdict": solution.verdict,
        "method": solution.method,
        "domain": [bare(end) for end in crossing.domain],
        "branches": [_branch(branch, solution) for branch in crossing.branches],
        "values": [bare(value) for value in solution.values],
        "value": bare(solution.value),
        "integer": solution.integer,
        "within_memory": solution.within_memory,
        "unit": solution.symbol.unit,
        "reason": solution.reason,
        "warnings": case_warnings(solution.answers),
    }


def _branch(branch: Branch, solution: Solution) -> dict[str, Any]:
    form = branch.closed_form
    return {
        "closed_form": _both(form, solution) if form is not None else None,
        "where": {name: _both(tree, solution) for name, tree in where(form, solution).items()},
        "conditions": [_condition(c, solution) for c in branch.conditions],
        "value": bare(branch.value),
        "holds": branch.holds,
    }


NATURAL = ("context", "prompt", "batch", "output", "tp")
"""The symbols a condition is solved for: the first that it is linear in, wherever it stands in its names."""


def bound_of(condition: Condition, solution: Solution) -> tuple[Compare, Compare | None] | None:
    """A condition of a closed form, solved for the next natural symbol: a ridge batch exists below some context."""
    tree = condition.tree
    if not isinstance(tree, Compare) or mentions(tree, solution.unknown):
        return None
    for symbol in NATURAL:
        whole = opened(tree, symbol, solution.answers, symbolic=solution.verdict == "conditional")
        if symbol != solution.unknown and isinstance(whole, Compare) and mentions(whole, symbol):
            solved = bound(whole, symbol)
            if solved:
                return solved
    return None


def _condition(condition: Condition, solution: Solution) -> dict[str, Any]:
    solved = bound_of(condition, solution)
    entry: dict[str, Any] = {**_both(condition.tree, solution), "holds": condition.holds}
    if solved:
        limit, side = solved
        entry["bound"] = {**_both(limit, solution), "value": _value(limit.right, solution), **({"while": _both(side, solution)} if side else {})}
    return entry


def _value(tree: Tree, solution: Solution) -> Any:
    """The number of a bound, where its inputs have numbers."""
    try:
        return bare(solution.answers.case.evaluate(tree))
    except NoValue:
        return None


def where(form: Tree | None, solution: Solution) -> dict[str, Tree]:
    """The derived quantities a closed form speaks in, with their definitions here."""
    case = solution.answers.case
    spoken = names(form) if form is not None else ()
    return {name: case.formula(name) for name in spoken if case.theory.definition(name) is not None and name != solution.unknown}


def _both(tree: Tree, solution: Solution) -> dict[str, str]:
    return {"text": text(tree), "latex": latex(tree, solution.answers.case.theory.latex)}


def _condition_text(condition: Condition, solution: Solution) -> str:
    entry = _condition(condition, solution)
    state = f": {HOLDS[condition.holds]}" if solution.verdict != "conditional" else ""
    lines = [f"    {'if ' if not state else ''}{entry['text']}{state}"]
    if "bound" in entry:
        side = f" (while {entry['bound']['while']['text']})" if "while" in entry["bound"] else ""
        value = entry["bound"]["value"]
        lines.append(f"      that is {entry['bound']['text']}{f' = {value:,.6g}' if value is not None else ''}{side}")
    return "\n".join(lines)


def solution_text(solution: Solution) -> str:
    """Equation, answer, meaning, closed form, conditions."""
    lines = [f"{text(solution.lhs)} = {text(solution.rhs)}, solved for {solution.unknown}", f"  {case_title(solution.answers)}", ""]
    lines += [f"{solution.unknown}: {solution.shown()}", f"  {solution.reason}"]
    if len(solution.values) > 1:
        shown = ", ".join(format_quantity(value, solution.symbol.unit, 6) for value in solution.values)
        lines.append(f"  all crossings: {shown}{' and so on' if solution.crossing.more else ''}")
    if solution.within_memory is not None:
        lines.append(f"  {'fits in memory there' if solution.within_memory else 'does not fit in memory there'}")
    if solution.method == "numeric":
        lines.append("  found numerically: no closed form of readable size exists")
    for branch in solution.crossing.branches:
        if branch.closed_form is not None and (branch.holds or solution.value is None):
            lines += ["", f"  {solution.unknown} = {text(branch.closed_form)}", *(_condition_text(c, solution) for c in branch.conditions)]
            lines += [f"    where {name} = {text(tree)}" for name, tree in where(branch.closed_form, solution).items()]
    warnings = [f"! {warning}" for warning in case_warnings(solution.answers)] if solution.answers.fits is not None else []
    return "\n".join([*lines, *([""] if warnings else []), *warnings])
