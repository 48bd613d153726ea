"""A solution for people and for programs."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from symroof.analysis.case_titles import case_title
from symroof.analysis.closed_branches import Branch, Condition, solved_condition
from symroof.analysis.equation import solvable
from symroof.analysis.explain_solution import with_unit
from symroof.analysis.solution import OF_MODEL, Solution
from symroof.analysis.verdict import basis_of, case_warnings, unused_inputs
from symroof.cases.quantity_result import plain_value
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import ZERO, Expr, names, number, operator_of, substitute
from symroof.symbolic.polynomials import sign
from symroof.symbolic.printing import latex, text
from symroof.symbolic.stretches import longest, words
from symroof.theory.symbols import base_name

HOLDS = {True: "holds", False: "does not hold", None: "is not known to hold"}


def solution_json(solution: Solution) -> dict[str, Any]:
    """The form of the contract, ``symroof/solve/2``."""
    return {
        "schema": "symroof/solve/2",
        "equation": dict(zip(("lhs", "rhs"), solution.written_sides, strict=True)),
        "unknown": solution.unknown,
        "verdict": solution.verdict,
        "method": solution.method,
        "domain": [plain_value(end) for end in solution.domain],
        "branches": [_branch(branch, solution) for branch in solution.candidates.every],
        "values": [plain_value(value) for value in solution.values],
        "value": plain_value(solution.value),
        **_answer(solution),
        "within_memory": solution.within_memory,
        "unit": solution.declared.unit,
        "reason": solution.reason,
        "assumed": {name: plain_value(entry.value) for name, entry in solution.defaults.items()},
        "warnings": [*_without_effect(solution), *case_warnings(solution.bound_case)],
    }


def _without_effect(solution: Solution) -> list[str]:
    """What somebody set and this equation does not depend on, in one sentence."""
    asked = {solution.unknown, *(name for side in solution.sides for name in names(side))}
    unused = unused_inputs(solution.bound_case, asked, targets_decide=False)
    return [f"no effect on this answer: {', '.join(unused)}"] if unused else []


def _answer(solution: Solution) -> dict[str, Any]:
    """The answer over ranges of inputs, at 100 % of peak and in whole numbers, and the larger side at the case's own value, where they say something."""
    low, high, everywhere, _ = solution.extent
    found: dict[str, Any] = {}
    if low is not None:
        found |= {"low": plain_value(low), "high": plain_value(high), "everywhere": everywhere}
    if (there := solution.at_peak) is not None:
        found["bound"] = plain_value(there.value)
        if there.verdict != solution.verdict:
            found["bound_verdict"] = there.verdict
    found["integer"] = solution.integer
    if solution.stretches:
        found["stretches"] = [list(each) for each in solution.stretches]
    if solution.own_side is not None:
        found["at_own_value"] = ["lhs_below", "equal", "lhs_above"][solution.own_side + 1]
    return found


def _branch(branch: Branch, solution: Solution) -> dict[str, Any]:
    form = branch.shown
    return {
        "closed_form": _both(form, solution) if form is not None else None,
        "where": {name: _both(tree, solution) for name, tree in where(branch, solution).items()},
        "conditions": [_condition(c, solution) for c in branch.conditions],
        "value": plain_value(branch.value),
        "holds": branch.holds,
    }


LONGEST_BOUND = 240
"""Characters beyond which a condition solved for a symbol is no easier to read than the condition itself."""


def _condition(condition: Condition, solution: Solution) -> dict[str, Any]:
    entry: dict[str, Any] = {**_both(condition.shown, solution), "holds": condition.holds}
    conditional = solution.verdict == "conditional"
    solved = solved_condition(condition, solution.unknown, solution.bound_case, conditional)
    if solved:
        limit, side = solved
        value = None
        with suppress(NoValue):  # its inputs have no numbers
            value = plain_value(solution.bound_case.case.evaluate(limit.rhs))
        entry["bound"] = {**_both(limit, solution), "value": value}
        if side is not None:
            entry["bound"]["while"] = _both(side, solution)
    return entry


def where(branch: Branch, solution: Solution) -> dict[str, Expr]:
    """The definitions of the names in a closed form: its coefficients, and the derived quantities in it."""
    case, definitions = solution.bound_case.case, dict(branch.named)
    for tree in (branch.shown, *definitions.values()):
        for name in names(tree) if tree is not None else ():
            known = name in definitions or name == solution.unknown
            if not known and case.theory.definition(name) is not None:
                definitions[name] = case.readable_formula(name)
    return definitions


def _both(tree: Expr, solution: Solution) -> dict[str, str]:
    return {"text": text(tree), "latex": latex(tree, solution.spelled)}


def _conditions_text(branch: Branch, solution: Solution) -> Iterator[str]:
    """The conditions that can fail; one that holds by the shape of the model alone gets no line."""
    for condition in branch.conditions:
        if condition.holds and _is_fact(condition.tree, solution):
            continue
        entry = _condition(condition, solution)
        if solution.verdict == "conditional":
            yield f"    if {entry['text']}"
        else:
            yield f"    {entry['text']}: {HOLDS[condition.holds]}"
        bound = entry.get("bound")
        value = bound and bound["value"]
        if bound and len(bound["text"]) <= LONGEST_BOUND and (value is None or value >= 1):
            number = "" if value is None else f" = {value:,.6g}"
            side = f" (while {bound['while']['text']})" if "while" in bound else ""
            yield f"      that is {bound['text']}{number}{side}"


def _is_fact(tree: Expr, solution: Solution) -> bool:
    """Whether a condition holds by the shape of the model alone, whatever the device and the load."""
    case = solution.bound_case.case
    of_model = {
        name: number(case.value(name))
        for name in names(tree)
        if base_name(name) in OF_MODEL and name != solution.unknown
    }
    left = solvable(substitute(tree.lhs, of_model), solution.bound_case)
    return tree.rhs == ZERO and operator_of(tree) == ">" and sign(left) > 0


def solution_text(solution: Solution) -> str:
    """Equation, answer, meaning, closed form, conditions, definitions, warnings."""
    warnings = solution_warnings(solution)
    lines = [
        *question(solution),
        "",
        *answer(solution),
        *(f"  {line}" for line in remarks(solution)),
        *closed_form_lines(solution),
    ]
    return "\n".join([*lines, *([""] if warnings else []), *warnings])


def question(solution: Solution) -> list[str]:
    """The equation, the case, and what its times rest on."""
    mentioned = {name for side in solution.sides for name in names(side)}
    sides = sorted(mentioned) if solution.bound_case.hardware else []
    lines = [
        f"{' = '.join(solution.written_sides)}, solved for {solution.unknown}",
        f"  {case_title(solution.bound_case)}",
    ]
    return [*lines, *(f"  {line}" for line in basis_of(solution.bound_case, sides))]


def answer(solution: Solution) -> list[str]:
    """The number, expected and at the peak, and the sentence."""
    first, bound = solution.told()
    bounds = [f"  {bound.replace('bound', 'bound:', 1)}"] if bound else []
    return [f"{solution.unknown}: {first}", *bounds, f"  {solution.reason}"]


def remarks(solution: Solution) -> list[str]:
    """What is assumed, all crossings, the side at the case's own value, whether it fits, why there is no closed form."""
    lines, at_peak = [], solution.at_peak
    if solution.defaults:
        told = (f"{name} {entry.text()}" for name, entry in solution.defaults.items())
        lines.append(f"assumed: {', '.join(told)}")
    for name, each in (("expected: ", solution), ("bound: ", at_peak)):
        if each is not None and len(each.stretches) > 1:
            others = [words(one) for one in each.stretches if one != longest(each.stretches)]
            lines.append(f"{'' if at_peak is None else name}also at {', '.join(others)}")
    if len(solution.values) > 1 and not solution.stretches:
        unit = solution.declared.display_unit
        shown = ", ".join(with_unit(value, unit) for value in solution.values)
        lines.append(f"all crossings: {shown}")
    lines += [f"! {line}" for line in _without_effect(solution)]
    if solution.within_memory is not None:
        fits = "fits" if solution.within_memory else "does not fit"
        lines.append(f"{fits} in memory at this value")
    if solution.method == "numeric":
        why = solution.why_numeric or "crossings beyond the first have no closed form"
        lines.append(f"solved numerically: {why}")
    return lines


def _shown_branches(solution: Solution) -> list[Branch]:
    """The closed forms that hold; of sides that never meet all."""
    return [
        branch
        for branch in solution.candidates.every
        if branch.shown is not None and (branch.holds or solution.value is None)
    ]


def closed_form_lines(solution: Solution, written_out: bool = True) -> list[str]:
    """Each closed form with its conditions and the definitions of its names; where they are not ``written_out``, of its coefficients alone."""
    lines: list[str] = []
    defined: dict[str, Expr] = {}
    for branch in _shown_branches(solution):
        lines += ["", f"  {solution.unknown} = {text(branch.shown)}"]
        lines += _conditions_text(branch, solution)
        named = where(branch, solution) if written_out else dict(branch.named)
        fresh = {name: tree for name, tree in named.items() if defined.get(name) != tree}
        lines += [f"    where {name} = {text(tree)}" for name, tree in fresh.items()]
        defined |= fresh
    return lines


def names_of_forms(solution: Solution) -> list[str]:
    """The derived quantities in the closed forms, each once."""
    found = dict[str, None]()
    for branch in _shown_branches(solution):
        coefficients = dict(branch.named)
        found |= dict.fromkeys(n for n in where(branch, solution) if n not in coefficients)
    return list(found)


def solution_warnings(solution: Solution) -> list[str]:
    """What to know of the case, one line each."""
    case = solution.bound_case
    known = case_warnings(case) if case.fits is not None else case.warnings
    return [f"! {warning}" for warning in known]
