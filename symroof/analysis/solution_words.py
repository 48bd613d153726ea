"""What is said of a solution: the answer in a few words, and the sentence of what it means or why there is none."""

from __future__ import annotations

from typing import Any

from sympy import Symbol

from symroof.analysis.case_titles import range_position
from symroof.analysis.verdict import measured_alone
from symroof.analysis.whole_numbers import before, side, stretch_text, to_whole
from symroof.cases.checks import LENGTHS, beyond_context, lengths
from symroof.cases.quantity_result import Result
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import ZERO, fraction, is_number
from symroof.symbolic.printing import latex, shortened_formula, text
from symroof.theory.symbols import NOUNS
from symroof.units import COUNTED, format_quantity, plural, settled, significant

FAR = 1e9
"""A value of the unknown so large that slower-growing terms no longer matter."""
SETTLED = 1e-4
LONGEST, LONGEST_SHOWN = 160, 80
"""Characters of a side that a sentence holds, and that a solution shows of itself."""


def shown(solution: Any) -> str:
    """The whole number or value with its unit, or "never"."""
    said = {"identical": "everywhere", "conditional": "depends on the inputs"}
    if solution.verdict in said:
        return said[solution.verdict]
    if solution.value is None:
        return "always exists" if solution.verdict == "crosses" else "never"
    unit, integer = solution.declared.display_unit, solution.integer
    if not integer:
        return Result(solution.declared, solution.value).plain()
    if solution.threshold is None and ZERO in solution.sides:
        # a place, as an extremum: no whole number is asked for
        exact = settled(solution.value)
        return f"{significant(exact)} {plural(unit, exact)}".rstrip()
    word, last = next(iter(integer.items()))
    if len(integer) > 1:
        return f"{stretch_text((integer['at_least'], last))} {plural(unit, last)}"
    return f"{word.replace('_', ' ')} {last:,} {plural(unit, last)}".rstrip()


def in_ranges(solution: Any) -> str:
    """The answer at the middle of the ranges, and how far it moves over them."""
    value, (low, high, everywhere) = shown(solution), solution.extent
    if low is None or high is None:
        return value
    first, last = _end(solution, low), _end(solution, high)
    if first == last and everywhere:
        return value
    digits, _, unit = first.partition(" ")
    least = digits if unit and last.endswith(f" {unit}") else first
    ends = first if first == last else f"{least} to {last}"
    if solution.value is None:
        return f"never {range_position(solution.bound_case)}; {ends} in part of them"
    return f"{value} ({ends}{'' if everywhere else '; in part of the ranges only'})"


def _end(solution: Any, value: float) -> str:
    if solution.declared.counted:
        return f"{to_whole(value, solution.kind):,}"
    return Result(solution.declared, value).plain()


def in_brief(solution: Any) -> str:
    """The equation and the answer in a line."""
    sides = " = ".join(shortened_formula(each, LONGEST_SHOWN) for each in solution.written_sides)
    peak = f", bound {in_ranges(solution.at_peak)}" if solution.at_peak is not None else ""
    return f"<{sides} for {solution.unknown}: {in_ranges(solution)}{peak}>"


def answer_latex(solution: Any) -> str | None:
    """The closed forms of the answer with their conditions; None where there is none."""
    spelled = solution.spelled
    forms = [
        (latex(branch.shown, spelled), branch.conditions)
        for branch in solution.answering
        if branch.shown is not None
    ]
    if not forms:
        return None
    answer, both, row = forms[0][0], r" \wedge ", r" \\ "
    if len(forms) > 1:
        lines = (
            rf"{form} & \text{{if }} {both.join(latex(c.shown, spelled) for c in met)}"
            for form, met in forms
        )
        answer = rf"\begin{{cases}} {row.join(lines)} \end{{cases}}"
    return rf"$\displaystyle {spelled(solution.unknown)} = {answer}$"


def with_unit(number: Any, unit: str) -> str:
    """A value with its unit; counted units take an s."""
    value = settled(number)
    if unit in COUNTED | NOUNS and value.denominator == 1:
        return f"{int(value):,} {plural(unit, value)}"
    return format_quantity(value, unit)


# ------------------------------------------------------------------------------------------- why


def why_numeric(solution: Any) -> str:
    """Why an answer is no expression; empty where it is one."""
    found = solution.candidates
    if solution.answering:
        return ""
    if solution.value is not None and found.because:
        return str(found.because).replace("the unknown", solution.unknown)
    if solution.missing and found.more:
        return "there are more choices of arms than are listed, or powers that no root of readable size undoes"
    same = solution.verdict == "identical"
    return "the two sides are the same" if same else "the two sides do not meet"


def explain(solution: Any) -> str:
    """The sentence that goes with an answer, with what else is to be known of it."""
    sentence = _reason(solution) + _beyond_context(solution)
    if solution.missing and solution.candidates.more:
        sentence += "; more cases are possible than are listed"
    if solution.missing and solution.verdict in ("crosses", "conditional"):
        sentence += f"; a number needs {solution.missing}"
    return sentence


def _beyond_context(solution: Any) -> str:
    """The remark where the answer is a request longer than the model's context."""
    model, unknown = solution.bound_case.model, solution.unknown
    together = next((names for names in LENGTHS if unknown in names), None)
    if solution.whole is None or together is None or model is None:
        return ""
    sizes = {**lengths(solution.bound_case.given), unknown: solution.whole}
    if not beyond_context(model, {name: sizes[name] for name in together if name in sizes}):
        return ""
    return f"; beyond {model.shown_name}'s maximum context of {model.max_context:,} tokens"


def _reason(solution: Any) -> str:
    verdict = solution.verdict
    means: str = solution.threshold.means if solution.threshold else ""
    start = f"{means}; " if means else ""
    if verdict == "identical":
        return "both sides are the same"
    if verdict == "conditional":
        if solution.candidates.every or solution.candidates.more:
            return f"{start}it exists while the conditions below hold"
        return f"{start}the two sides meet at no positive {solution.unknown}, unless they are the same at every one"
    if solution.value is None and verdict == "crosses":
        return means or "an answer always exists"
    if solution.value is None:
        return _never(solution)
    if solution.integer and round(solution.value, 9) < 1 and not solution.stretches:
        return f"{start}the exact crossing is below one, at {format_quantity(solution.value, '')}"
    return means or _sides(solution)


def _never(solution: Any) -> str:
    """Which side stays the larger, for which values of the unknown, and why."""
    (lhs, rhs), growth, unknown = _shown_sides(solution), _growth(solution), solution.unknown
    larger = "above" if solution.verdict == "lhs_above" else "below"
    why = f": {solution.threshold.never(solution.verdict)}" if solution.threshold else ""
    reach, found = f"every {unknown}", solution.found
    if found and found.pole is not None:
        reach = f"{unknown} up to {format_quantity(found.pole, '')}, where a denominator is zero,"
    elif found and found.searched[1] < solution.posed.axis(solution.bound_case.case).end:
        reach += f" up to {with_unit(found.searched[1], solution.declared.display_unit)}"
    return f"{lhs} stays {larger} {rhs} for {reach}{why}{f' ({growth})' if growth else ''}"


def _shown_sides(solution: Any) -> list[str]:
    """The sides as they are written; a number with the unit of both, a long one by its place."""
    unit, said = _unit(solution), []
    pairs = zip(solution.sides, solution.written_sides, ("left", "right"), strict=True)
    for tree, written, place in pairs:
        if is_number(tree):
            said.append(text(tree) if unit is None else with_unit(fraction(tree), unit))
        else:
            said.append(written if len(written) <= LONGEST else f"the {place} side")
    return said


def _unit(solution: Any) -> str | None:
    """The unit of both sides, where one of them is a name."""
    of, sides = solution.bound_case.case.theory.symbol, solution.sides
    return next((of(side.name).display_unit for side in sides if isinstance(side, Symbol)), None)


def _growth(solution: Any) -> str:
    """What each further unit of the unknown adds to the sides far out, where that is settled: why they never meet. Over ranges there is no one number to report."""
    unit, unknown, case = _unit(solution), solution.unknown, solution.bound_case
    if not solution.posed.moves:
        return f"this does not depend on {unknown} here"
    if unit is None or not solution.declared.counted or not measured_alone(case):
        return ""
    grown, fixed = [], []
    for tree, name in zip(solution.sides, _shown_sides(solution), strict=True):
        try:
            first, second, third = (
                float(case.case.changed({unknown: k * FAR}).evaluate(tree)) for k in (1, 2, 3)
            )
        except NoValue:
            return ""
        if abs(third - 2 * second + first) > SETTLED * abs(second - first):
            return ""
        if first != second:
            grown.append(f"{with_unit((second - first) / FAR, unit)} to {name}")
        elif name != with_unit(first, unit):
            fixed.append(f"{name} is {with_unit(first, unit)}")
    adds = f"each {solution.declared.display_unit or unknown} adds {' and '.join(grown)}"
    return ", ".join([adds if grown else f"far out neither grows with {unknown}", *fixed])


def _sides(solution: Any) -> str:
    """Which side is the larger before and after the crossing."""
    (lhs, rhs), value = _shown_sides(solution), solution.value
    if value is not None and len(solution.values) == 1:
        sooner, later = (
            before(solution.posed, solution.values, value),
            side(solution.posed, 2 * value),
        )
        if sooner and later == -sooner:
            words = ("below", "above") if sooner < 0 else ("above", "below")
            return f"{lhs} is {words[0]} {rhs} before this value and {words[1]} it after"
    return f"{lhs} and {rhs} meet here"
