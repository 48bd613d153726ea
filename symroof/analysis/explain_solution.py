"""The sentence that goes with an answer: the meaning of the number, or why there is none, in numbers of the case."""

import math
from typing import Any

from sympy import Symbol

from symroof.analysis.solved_equation import SolvedEquation
from symroof.analysis.verdict import measured_alone, overloaded
from symroof.cases.checks import LENGTHS, beyond_context, lengths
from symroof.symbolic.crossings import LEAST
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import fraction, is_number, names
from symroof.symbolic.printing import text
from symroof.theory.symbols import NOUNS
from symroof.units import COUNTED, format_quantity, plural, settled

FAR = 1e9
"""A value of the unknown so large that slower-growing terms no longer matter."""
POINTS = (FAR, 2 * FAR, 3 * FAR)
LENGTH_NAMES = frozenset(name for names in LENGTHS for name in names)
SETTLED = 1e-4


def explain_solution(solution: SolvedEquation) -> str:
    """A plain sentence, with what else is to be known of the answer."""
    sentence, case = _reason(solution) + _beyond_context(solution), solution.bound_case.case
    given = solution.unknown == "arrival_rate" and "arrival_rate" in case.given
    if given and overloaded(solution.bound_case):  # more arrivals than any the answer is about
        own = with_unit(case.value("arrival_rate"), solution.declared.unit)
        sentence += f"; at the {own} of this case the queue is unstable (load >= 1)"
    if solution.symbolic and solution.candidates.more:
        sentence += "; more cases are possible than are listed"
    if solution.missing and solution.verdict not in ("lhs_above", "lhs_below", "identical"):
        sentence += f"; a number needs {solution.missing}"
    return sentence


def _beyond_context(solution: SolvedEquation) -> str:
    """The remark where the answer is a request longer than the model's context."""
    model = solution.bound_case.model
    if solution.whole is None or solution.unknown not in LENGTH_NAMES or model is None:
        return ""
    own = next(names for names in LENGTHS if solution.unknown in names)
    sizes = {**lengths(solution.bound_case.given), solution.unknown: solution.whole}
    if not beyond_context(model, {name: sizes[name] for name in own if name in sizes}):
        return ""
    return f"; beyond {model.shown_name}'s maximum context of {model.max_context:,} tokens"


def _reason(solution: SolvedEquation) -> str:
    verdict, means = solution.verdict, solution.threshold.means if solution.threshold else ""
    before = f"{means}; " if means else ""
    if verdict == "identical":
        same = "both sides are the same"
        return (
            f"{same} formula"
            if solution.posed.moves
            else f"{same}, and neither moves with the unknown"
        )
    if verdict == "conditional":
        if solution.candidates.every or solution.candidates.more:
            return f"{before}it exists while the conditions below hold"
        held = " and ".join(map(text, solution.candidates.same))
        where = f", which is where {held}" if held else ""
        return f"{before}the two sides meet at no positive {solution.unknown}, unless they are the same at every one{where}"
    if solution.value is None:
        if verdict == "crosses":
            return means or "an answer always exists"
        (lhs, rhs), growth = shown_sides(solution), _growth(solution)
        side = "above" if verdict == "lhs_above" else "below"
        why = f": {solution.threshold.never(verdict)}" if solution.threshold else ""
        far = f" ({growth})" if growth else ""
        return f"{lhs} stays {side} {rhs} for {_reach(solution)}{why}{far}"
    if solution.integer and round(solution.value, 9) < 1 and not solution.stretches:
        place = format_quantity(solution.value, "")
        return f"{before}the exact crossing is below one, at {place}"
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


def shown_sides(solution: SolvedEquation) -> list[str]:
    """The sides as they are written; a number with the unit of both, a long one by its place."""
    unit, shown = _unit(solution), []
    for side, written, place in zip(
        solution.sides, solution.written_sides, ("left", "right"), strict=True
    ):
        if is_number(side):
            shown.append(text(side) if unit is None else with_unit(fraction(side), unit))
        else:
            shown.append(written if len(written) <= LONGEST else f"the {place} side")
    return shown


LONGEST = 160
"""Characters of a side that a sentence holds."""


def with_unit(number: Any, unit: str) -> str:
    """A value with its unit; counted units take an s."""
    value = settled(number)
    if unit in COUNTED | NOUNS and value.denominator == 1:
        return f"{int(value):,} {plural(unit, value)}"
    return format_quantity(value, unit)


def _unit(solution: SolvedEquation) -> str | None:
    """The unit of both sides, where one of them is a name."""
    for side in solution.sides:
        if isinstance(side, Symbol):
            return solution.bound_case.case.theory.symbol(side.name).display_unit
    return None


def _growth(solution: SolvedEquation) -> str:
    """What each further unit of the unknown adds to the sides far out, where that is settled: why they never meet. Over ranges there is no one number to report."""
    unit, unknown, case = _unit(solution), solution.unknown, solution.bound_case
    if not solution.posed.moves:
        return f"this does not depend on {unknown} here"
    if unit is None or not solution.declared.counted or not measured_alone(case):
        return ""
    flagged, grown, fixed = case.does_not_fit, [], []
    for side, name in zip(solution.sides, shown_sides(solution), strict=True):
        try:
            first, second, third = (
                float(case.case.changed({unknown: point}).evaluate(side)) for point in POINTS
            )
        except NoValue:
            return ""
        if abs(third - 2 * second + first) > SETTLED * abs(second - first):
            return ""
        flag = (
            " (does not fit)" if flagged and any(map(case.case.theory.timed, names(side))) else ""
        )
        if first != second:
            grown.append(f"{with_unit((second - first) / FAR, unit)}{flag} to {name}")
        elif name != with_unit(first, unit):
            fixed.append(f"{name} is {with_unit(first, unit)}{flag}")
    one = solution.declared.display_unit or unknown
    adds = f"each {one} adds {' and '.join(grown)}"
    return ", ".join([adds if grown else f"far out neither grows with {unknown}", *fixed])


def _sides(solution: SolvedEquation) -> str:
    """Which side is the larger before and after the crossing, in whole numbers where things are counted."""
    (lhs, rhs), value = shown_sides(solution), solution.value
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
