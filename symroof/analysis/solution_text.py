"""A solution for people and for programs."""

import math
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from symroof.analysis.case_titles import case_title
from symroof.analysis.case_warnings import case_warnings, unused_inputs
from symroof.analysis.closed_branches import Branch, Condition, solved_condition
from symroof.analysis.solution import Solution
from symroof.analysis.solution_words import with_unit
from symroof.analysis.solved_equation import longest, stretch_text
from symroof.analysis.verdict import basis_of
from symroof.cases.quantity_result import Result, plain_value
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, names, operator_of
from symroof.symbolic.printing import latex, text

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
    own = solution.bound_case.given.get(solution.unknown)
    at_own = None if own is None or own.number is None or solution.missing else own.number
    if at_own is not None and (side := solution.side(at_own)) is not None:
        found["at_own_value"] = ["lhs_below", "equal", "lhs_above"][side + 1]
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


def _condition(condition: Condition, solution: Solution) -> dict[str, Any]:
    entry: dict[str, Any] = {**_both(condition.shown, solution), "holds": condition.holds}
    if bound := _bound(condition, solution):
        limit, side, value = bound
        entry["bound"] = {**_both(limit, solution), "value": value}
        if side is not None:
            entry["bound"]["while"] = _both(side, solution)
    return entry


def _bound(condition: Condition, solution: Solution) -> tuple[Expr, Expr | None, Any] | None:
    """A condition solved for the next symbol, while what that holds, and the number of the bound, where its inputs have some."""
    conditional = solution.verdict == "conditional"
    solved = solved_condition(condition, solution.unknown, solution.bound_case, conditional)
    if solved is None:
        return None
    with suppress(NoValue):
        return *solved, plain_value(solution.bound_case.case.evaluate(solved[0].rhs))
    return *solved, None


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


def question(solution: Solution) -> list[str]:
    """What is asked, the equation, the case, and the basis of its times."""
    case, asked = solution.bound_case, f"{' = '.join(solution.written_sides)}"
    mentioned = {name for side in solution.sides for name in names(side)}
    sides = sorted(mentioned) if case.hardware else []
    threshold = solution.threshold
    first = [f"{threshold.name}: {threshold.means}", f"  {asked}"] if threshold else []
    first = first or [f"{asked}, solved for {solution.unknown}"]
    title = case_title(case) if case.model or case.hardware else ""
    return [*first, *(f"  {line}" for line in filter(None, (title, *basis_of(case, sides))))]


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
    """All crossings, the side at the case's own value, whether it fits, why there is no closed form."""
    lines, at_peak = [], solution.at_peak
    for name, each in (("predicted: ", solution), ("at 100 % of peak: ", at_peak)):
        if each is not None and len(each.stretches) > 1:
            others = [stretch_text(one) for one in each.stretches if one != longest(each.stretches)]
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
            shown = GREEK.sub(_greek, spelled)
            taken = len(shown) >= len(name) or "\\" in shown or shown in letters.values()
            letters[name] = name if taken else shown
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
        for condition in branch.conditions:
            lines += (
                []
                if condition.holds and short
                else [f"    if {_condition_text(condition, solution, written)}"]
            )
    told = [f"{shown} {name}" for name, shown in letters.items() if shown != name]
    lines += [f"  where {' · '.join(told)}"] if told else []
    others = len(branches) - 1
    if short:
        return lines + [f"  and {others} other case{'s' * (others > 1)}: --formula"] * (others > 0)
    spelled = solution.spelled
    forms = [f"  {spelled(solution.unknown)} = {latex(b.shown, spelled)}" for b in branches]
    return [*lines, "as LaTeX", *forms] if forms else lines


def _greek(found: re.Match[str]) -> str:
    """The letter that LaTeX names ``eta`` or ``Phi``; a command that is no letter as it is."""
    case = "CAPITAL" if found[1][0].isupper() else "SMALL"
    with suppress(KeyError):
        return unicodedata.lookup(f"GREEK {case} LETTER {found[1].upper()}")
    return found[0].replace(r"\lambda", "λ")


def _condition_text(
    condition: Condition, solution: Solution, written: Callable[[Expr], str]
) -> str:
    """A condition, solved for the next symbol where that is readable, in numbers where they are known; and whether it holds."""
    said, bound = written(condition.shown), _bound(condition, solution)
    if bound and len(text(bound[0])) <= LONGEST_BOUND:
        limit, _, value = bound
        said = written(limit)
        if value is not None and value >= 1:
            declared = solution.bound_case.case.theory.symbol(limit.lhs.name)
            whole = math.floor(value) if declared.counted else value
            said = f"{limit.lhs.name} {operator_of(limit)} {Result(declared, whole).plain(3)}"
    return f"{said}{', which does not hold here' * (condition.holds is False)}"
