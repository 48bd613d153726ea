"""What is said of a solution: the answer in a few words, and the sentence of what the number means or why there is none."""

from __future__ import annotations

import math
from typing import Any

from sympy import Symbol

from symroof.analysis.case_titles import range_position
from symroof.analysis.solved_equation import LIMIT, REACH, SolvedEquation, stretch_text, to_whole
from symroof.analysis.verdict import measured_alone
from symroof.cases.checks import LENGTHS, beyond_context, lengths
from symroof.cases.quantity_result import Result
from symroof.symbolic.crossings import LEAST
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import ZERO, fraction, is_number, names
from symroof.symbolic.printing import latex, shortened_formula, text
from symroof.theory.symbols import GROUPS, NOUNS, base_name
from symroof.units import COUNTED, format_quantity, plural, settled, significant

FAR = 1e9
"""A value of the unknown so large that slower-growing terms no longer matter."""
SETTLED = 1e-4
LONGEST, LONGEST_SHOWN = 160, 80
"""Characters of a side that a sentence holds, and that a solution shows of itself."""
OF_MODEL = frozenset(each.name for group in ("architecture", "precision") for each in GROUPS[group])
"""Inputs that come with the model."""
NO_END = {REACH: ("never", "any"), LIMIT: ("no limit", "none")}
"""The ends of a range of crossings where some corner has none: what is reached at no value or at any, what is limited by nothing or allows none."""


# ------------------------------------------------------------------------------------------- the answer in a few words


def shown(solution: SolvedEquation) -> str:
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
        place = f"{significant(exact)} {plural(unit, exact)}".rstrip()
        low, high = math.floor(exact), math.ceil(exact)
        return place if low == high else f"{place}, between {low:,} and {high:,}"
    word, last = next(iter(integer.items()))
    if len(integer) > 1:
        return f"{stretch_text((integer['at_least'], last))} {plural(unit, last)}"
    return f"{word.replace('_', ' ')} {last:,} {plural(unit, last)}".rstrip()


def in_ranges(solution: SolvedEquation) -> str:
    """The answer at the middle of the ranges, and how far it moves over them."""
    value, (low, high, everywhere, gone) = shown(solution), solution.extent
    if low is None or high is None:
        return value
    first, last = _end(solution, low), _end(solution, high)
    if first == last and everywhere:
        return value
    if gone:
        past, short = NO_END[solution.kind]
        return f"{value} ({short if -1 in gone else first} to {past if 1 in gone else last})"
    digits, _, unit = first.partition(" ")
    least = digits if unit and last.endswith(f" {unit}") else first
    ends = first if first == last else f"{least} to {last}"
    if solution.value is None:
        return f"never {range_position(solution.bound_case)}; {ends} in part of them"
    return f"{value} ({ends}{'' if everywhere else '; in part of the ranges only'})"


def _end(solution: SolvedEquation, value: float) -> str:
    if solution.declared.counted:
        return f"{to_whole(value, solution.kind):,}"
    return Result(solution.declared, value).plain()


def in_brief(solution: SolvedEquation) -> str:
    """The equation, the answer and what it assumes, in a line."""
    sides = " = ".join(shortened_formula(side, LONGEST_SHOWN) for side in solution.written_sides)
    peak = f", bound {in_ranges(solution.at_peak)}" if solution.at_peak is not None else ""
    told = [
        f"{name} = {entry.text()}"
        for name, entry in solution.defaults.items()
        if entry.value and base_name(name) not in OF_MODEL
    ]  # the load and the efficiencies that nobody gave; 0 adds nothing
    rests = f"; assumed {', '.join(told)}" if told and solution.value is not None else ""
    return f"<{sides} for {solution.unknown}: {in_ranges(solution)}{peak}{rests}>"


def answer_latex(solution: SolvedEquation) -> str | None:
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


def why_numeric(solution: SolvedEquation) -> str:
    """Why an answer is no expression; empty where it is one."""
    found = solution.candidates
    if solution.answering:
        return ""
    if solution.value is not None and found.because:
        return found.because.replace("the unknown", solution.unknown)
    if solution.missing and found.more:
        return "there are more choices of arms than are listed, or powers that no root of readable size undoes"
    same = solution.verdict == "identical"
    return "the two sides are the same" if same else "the two sides do not meet"


def explain(solution: SolvedEquation) -> str:
    """The sentence that goes with an answer, with what else is to be known of it."""
    sentence = _reason(solution) + _beyond_context(solution)
    if solution.missing and solution.candidates.more:
        sentence += "; more cases are possible than are listed"
    if solution.missing and solution.verdict in ("crosses", "conditional"):
        sentence += f"; a number needs {solution.missing}"
    return sentence


def _beyond_context(solution: SolvedEquation) -> str:
    """The remark where the answer is a request longer than the model's context."""
    model, unknown = solution.bound_case.model, solution.unknown
    together = next((names for names in LENGTHS if unknown in names), None)
    if solution.whole is None or together is None or model is None:
        return ""
    sizes = {**lengths(solution.bound_case.given), unknown: solution.whole}
    if not beyond_context(model, {name: sizes[name] for name in together if name in sizes}):
        return ""
    return f"; beyond {model.shown_name}'s maximum context of {model.max_context:,} tokens"


def _reason(solution: SolvedEquation) -> str:
    verdict, means = solution.verdict, solution.threshold.means if solution.threshold else ""
    before = f"{means}; " if means else ""
    if verdict == "identical":
        moves = solution.posed.moves
        how = " formula" if moves else ", and neither moves with the unknown"
        return f"both sides are the same{how}"
    if verdict == "conditional":
        if solution.candidates.every or solution.candidates.more:
            return f"{before}it exists while the conditions below hold"
        return f"{before}the two sides meet at no positive {solution.unknown}, unless they are the same at every one"
    if solution.value is None and verdict == "crosses":
        return means or "an answer always exists"
    if solution.value is None:
        (lhs, rhs), growth = _shown_sides(solution), _growth(solution)
        side = "above" if verdict == "lhs_above" else "below"
        why = f": {solution.threshold.never(verdict)}" if solution.threshold else ""
        far = f" ({growth})" if growth else ""
        return f"{lhs} stays {side} {rhs} for {_reach(solution)}{why}{far}"
    if solution.integer and round(solution.value, 9) < 1 and not solution.stretches:
        return f"{before}the exact crossing is below one, at {format_quantity(solution.value, '')}"
    return means or _sides(solution)


def _reach(solution: SolvedEquation) -> str:
    """The values of the unknown that the answer covers: all, those up to a zero of a denominator, or those that were searched."""
    unknown, found = solution.unknown, solution.found
    if found is None:
        return f"every {unknown}"
    if found.pole is not None:
        return f"{unknown} up to {format_quantity(found.pole, '')}, where a denominator is zero,"
    axis, (start, end) = solution.posed.axis(solution.bound_case.case), found.searched
    first, last = (with_unit(each, solution.declared.display_unit) for each in found.searched)
    if start <= max(axis.low, LEAST) or (axis.counted and start <= 1):
        return f"every {unknown}" + ("" if end >= axis.end else f" up to {last}")
    return f"{unknown} from {first} to {last}"


def _shown_sides(solution: SolvedEquation) -> list[str]:
    """The sides as they are written; a number with the unit of both, a long one by its place."""
    unit, said = _unit(solution), []
    pairs = zip(solution.sides, solution.written_sides, ("left", "right"), strict=True)
    for side, written, place in pairs:
        if is_number(side):
            said.append(text(side) if unit is None else with_unit(fraction(side), unit))
        else:
            said.append(written if len(written) <= LONGEST else f"the {place} side")
    return said


def _unit(solution: SolvedEquation) -> str | None:
    """The unit of both sides, where one of them is a name."""
    named = (side.name for side in solution.sides if isinstance(side, Symbol))
    known = solution.bound_case.case.theory
    return next((known.symbol(name).display_unit for name in named), None)


def _growth(solution: SolvedEquation) -> str:
    """What each further unit of the unknown adds to the sides far out, where that is settled: why they never meet. Over ranges there is no one number to report."""
    unit, unknown, case = _unit(solution), solution.unknown, solution.bound_case
    if not solution.posed.moves:
        return f"this does not depend on {unknown} here"
    if unit is None or not solution.declared.counted or not measured_alone(case):
        return ""
    grown, fixed = [], []
    for side, name in zip(solution.sides, _shown_sides(solution), strict=True):
        try:
            first, second, third = (
                float(case.case.changed({unknown: k * FAR}).evaluate(side)) for k in (1, 2, 3)
            )
        except NoValue:
            return ""
        if abs(third - 2 * second + first) > SETTLED * abs(second - first):
            return ""
        timed = case.does_not_fit and any(map(case.case.theory.timed, names(side)))
        flag = " (does not fit)" if timed else ""
        if first != second:
            grown.append(f"{with_unit((second - first) / FAR, unit)}{flag} to {name}")
        elif name != with_unit(first, unit):
            fixed.append(f"{name} is {with_unit(first, unit)}{flag}")
    adds = f"each {solution.declared.display_unit or unknown} adds {' and '.join(grown)}"
    return ", ".join([adds if grown else f"far out neither grows with {unknown}", *fixed])


def _sides(solution: SolvedEquation) -> str:
    """Which side is the larger before and after the crossing, in whole numbers where things are counted."""
    (lhs, rhs), value = _shown_sides(solution), solution.value
    meet = f"{lhs} and {rhs} meet here"
    if value is None or len(solution.values) > 1:
        return meet
    before, after = solution.before(value), solution.side(2 * value)
    if after == 0 or (before == 0 and after):
        here = solution.side(value) == 0
        behind, ahead = ("from here on", "up to here") if here else ("above it", "below it")
        return f"{lhs} and {rhs} are the same {behind if after == 0 else ahead}"
    if not before or after != -before:
        return meet
    words = ("below", "above") if before < 0 else ("above", "below")
    if not solution.declared.counted:
        return f"{lhs} is {words[0]} {rhs} under this value and {words[1]} it over it"
    tried = (math.floor(value), math.ceil(value) - 1)
    last = next((n for n in tried if solution.side(n) in (before, 0)), 0)
    first = next((n for n in (last + 1, last + 2) if solution.side(n) == after), None)
    if last < 1 or first is None:
        return meet
    return f"{lhs} stays {words[0]} {rhs} up to {last:,} and is {words[1]} it from {first:,} on"
