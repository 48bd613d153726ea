"""A solution for people and for programs."""

from collections.abc import Iterator
from typing import Any

from symroof.analysis.case_titles import case_title
from symroof.analysis.closed_branches import Branch, Condition, in_plain_symbols, solved_condition
from symroof.analysis.explain_solution import with_unit
from symroof.analysis.solution import OF_MODEL, Solution, readable_condition
from symroof.analysis.verdict import basis_of, case_warnings, unused_inputs
from symroof.cases.quantity_result import plain_value
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import ZERO, Expr, names, number, operator_of, substitute
from symroof.symbolic.printing import latex, text
from symroof.symbolic.stretches import longest, words
from symroof.theory.symbols import base_name

HOLDS = {True: "holds", False: "does not hold", None: "is not known to hold"}


def solution_json(solution: Solution) -> dict[str, Any]:
    """The form of the contract, ``symroof/solve/1``."""
    return {
        "schema": "symroof/solve/1",
        "equation": dict(zip(("lhs", "rhs"), solution.written_sides, strict=True)),
        "unknown": solution.unknown,
        "verdict": solution.verdict,
        "method": solution.method,
        "domain": [plain_value(end) for end in solution.domain],
        "branches": [_branch(branch, solution) for branch in solution.candidates.every],
        "values": [plain_value(value) for value in solution.values],
        "value": plain_value(solution.value),
        **_range(solution),
        **_expected(solution),
        **(
            {}
            if solution.own_side is None
            else {"at_own_value": ["lhs_below", "equal", "lhs_above"][solution.own_side + 1]}
        ),
        "integer": solution.integer,
        **(
            {"stretches": [list(each) for each in solution.stretches]} if solution.stretches else {}
        ),
        "within_memory": solution.within_memory,
        "unit": solution.symbol.unit,
        "reason": solution.reason,
        "assumed": {name: plain_value(entry.value) for name, entry in solution.defaults.items()},
        "warnings": [*_without_effect(solution), *case_warnings(solution.bound_case)],
    }


def _without_effect(solution: Solution) -> list[str]:
    """What somebody set and this equation does not depend on, in one sentence."""
    asked = {solution.unknown, *(name for side in solution.sides for name in names(side))}
    unused = unused_inputs(solution.bound_case, asked, targets_decide=False)
    return [f"no effect on this answer: {', '.join(unused)}"] if unused else []


def _range(solution: Solution) -> dict[str, Any]:
    """The least and the largest answer, where inputs are ranges, and whether there is one at each of their corners."""
    if solution.low is None or solution.high is None:
        return {}
    return {
        "low": plain_value(solution.low),
        "high": plain_value(solution.high),
        "everywhere": solution.everywhere,
    }


def _expected(solution: Solution) -> dict[str, Any]:
    """The answer that measurements lead to expect, beside a bound, with its own verdict where that is another."""
    expected = solution.expected
    if expected is None:
        return {}
    ends = (
        {"low": plain_value(expected.low), "high": plain_value(expected.high)}
        if expected.low is not None and expected.high is not None
        else {}
    )
    verdict = {"verdict": expected.verdict} if expected.verdict != solution.verdict else {}
    return {
        "expected": {
            "value": plain_value(expected.value),
            "low": plain_value(expected.value),
            "high": plain_value(expected.value),
            **ends,
            "integer": expected.integer,
            **(
                {"stretches": [list(each) for each in expected.stretches]}
                if expected.stretches
                else {}
            ),
            **(
                {}
                if expected.own_side is None
                else {"at_own_value": ["lhs_below", "equal", "lhs_above"][expected.own_side + 1]}
            ),
            **verdict,
        }
    }


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
    solved = solved_condition(
        condition, solution.unknown, solution.bound_case, solution.verdict == "conditional"
    )
    entry: dict[str, Any] = {
        **_both(readable_condition(condition), solution),
        "holds": condition.holds,
    }
    if solved:
        limit, side = solved
        entry["bound"] = {
            **_both(limit, solution),
            "value": _value(limit.rhs, solution),
            **({"while": _both(side, solution)} if side is not None else {}),
        }
    return entry


def _value(tree: Expr, solution: Solution) -> Any:
    """The number of a bound, where its inputs have numbers."""
    try:
        return plain_value(solution.bound_case.case.evaluate(tree))
    except NoValue:
        return None


def where(branch: Branch, solution: Solution) -> dict[str, Expr]:
    """The definitions of the names in a closed form: its coefficients, and the derived quantities in it."""
    case, definitions = solution.bound_case.case, dict(branch.named)
    for tree in (branch.shown, *definitions.values()):
        for name in names(tree) if tree is not None else ():
            if (
                name not in definitions
                and name != solution.unknown
                and case.theory.definition(name) is not None
            ):
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
        state = f": {HOLDS[condition.holds]}" if solution.verdict != "conditional" else ""
        yield f"    {'' if state else 'if '}{entry['text']}{state}"
        if "bound" in entry:
            side = (
                f" (while {entry['bound']['while']['text']})" if "while" in entry["bound"] else ""
            )
            value = entry["bound"]["value"]
            if len(entry["bound"]["text"]) <= LONGEST_BOUND and (value is None or value >= 1):
                yield f"      that is {entry['bound']['text']}{f' = {value:,.6g}' if value is not None else ''}{side}"


def _is_fact(tree: Expr, solution: Solution) -> bool:
    """Whether a condition holds by the shape of the model alone, whatever the device and the load."""
    case = solution.bound_case.case
    of_model = {
        name: number(case.value(name))
        for name in names(tree)
        if base_name(name) in OF_MODEL and name != solution.unknown
    }
    from symroof.symbolic.polynomials import sign

    left = in_plain_symbols(substitute(tree.lhs, dict(of_model)), solution.bound_case)
    return tree.rhs == ZERO and operator_of(tree) == ">" and sign(left) > 0


ORDER = {-1: "below", 0: "equal to", 1: "above", None: "not comparable to"}


def _at_own_value(solution: Solution) -> list[str]:
    """Which side is larger at the case's own value of the unknown, where the first crossing does not tell it."""
    found = [each for each in (solution.expected, solution) if each is not None]
    if solution.own_side is None or not any(len(each.values) > 1 for each in found):
        return []
    orders = [ORDER[each.own_side] for each in found]
    bound = f" as expected, {orders[-1]} at the peak" if len(set(orders)) > 1 else ""
    left, right = solution.written_sides
    own = with_unit(solution.bound_case.number(solution.unknown), solution.symbol.display_unit)
    return [f"at {own}, as in this case: {left} is {orders[0]} {right}{bound}"]


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
    if solution.expected is not None:
        return [
            f"{solution.unknown}: expected {solution.expected.in_ranges()}",
            f"  bound: {solution.in_ranges()}",
            f"  {solution.reason}",
        ]
    return [f"{solution.unknown}: {solution.in_ranges()}", f"  {solution.reason}"]


def remarks(solution: Solution) -> list[str]:
    """What is assumed, all crossings, the side at the case's own value, whether it fits, why there is no closed form."""
    lines = []
    if solution.defaults:
        lines.append(
            f"assumed: {', '.join(f'{name} {entry.text()}' for name, entry in solution.defaults.items())}"
        )
    for name, each in (("expected", solution.expected), ("bound", solution)):
        if each is not None and len(each.stretches) > 1:
            others = ", ".join(
                words(stretch) for stretch in each.stretches if stretch != longest(each.stretches)
            )
            lines.append(f"{f'{name}: ' if solution.expected is not None else ''}also at {others}")
    if len(solution.values) > 1 and not solution.stretches:
        shown = ", ".join(
            with_unit(value, solution.symbol.display_unit) for value in solution.values
        )
        lines.append(f"all crossings: {shown}")
    lines += [*(f"! {line}" for line in _without_effect(solution)), *_at_own_value(solution)]
    if solution.within_memory is not None:
        lines.append(
            "fits in memory at this value"
            if solution.within_memory
            else "does not fit in memory at this value"
        )
    if solution.method == "numeric":
        lines.append(
            f"solved numerically: {solution.why_numeric or 'crossings beyond the first have no closed form'}"
        )
    return lines


def closed_form_lines(solution: Solution, written_out: bool = True) -> list[str]:
    """Each closed form with its conditions and the definitions of its names; where they are not ``written_out``, of its coefficients alone."""
    lines: list[str] = []
    defined: dict[str, Expr] = {}
    for branch in solution.candidates.every:
        if branch.shown is not None and (branch.holds or solution.value is None):
            lines += [
                "",
                f"  {solution.unknown} = {text(branch.shown)}",
                *_conditions_text(branch, solution),
            ]
            named = where(branch, solution) if written_out else dict(branch.named)
            fresh = {name: tree for name, tree in named.items() if defined.get(name) != tree}
            lines += [f"    where {name} = {text(tree)}" for name, tree in fresh.items()]
            defined |= fresh
    return lines


def names_of_forms(solution: Solution) -> list[str]:
    """The derived quantities in the closed forms, each once."""
    shown = [
        branch
        for branch in solution.candidates.every
        if branch.shown is not None and (branch.holds or solution.value is None)
    ]
    return list(
        dict.fromkeys(
            name
            for branch in shown
            for name in where(branch, solution)
            if name not in dict(branch.named)
        )
    )


def solution_warnings(solution: Solution) -> list[str]:
    """What to know of the case, one line each."""
    bound_case = solution.bound_case
    return [
        f"! {warning}"
        for warning in (
            case_warnings(bound_case) if bound_case.fits is not None else bound_case.warnings
        )
    ]
