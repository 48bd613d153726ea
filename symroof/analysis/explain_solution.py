"""The sentence that goes with an answer: the meaning of the number, or why there is none, in numbers of the case."""

import math
from fractions import Fraction
from typing import Any

from sympy import Symbol

from symroof.analysis.solution import Solution
from symroof.analysis.verdict import overloaded
from symroof.cases.checks import LENGTHS, beyond_context, lengths
from symroof.cases.quantity_result import plural
from symroof.symbolic.axis_points import LEAST
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import Expr, fraction, is_number, names
from symroof.symbolic.printing import text
from symroof.theory.symbols import NOUNS, SHARES
from symroof.units import COUNTED, format_quantity, settled

FAR = Fraction(10**9)
"""A value of the unknown so large that slower-growing terms no longer matter."""
POINTS = (FAR, 2 * FAR, 3 * FAR)
LENGTH_NAMES = frozenset(name for names in LENGTHS for name in names)
SETTLED = Fraction(1, 10**4)


def explain_solution(solution: Solution) -> str:
    """A plain sentence."""
    sentence = _reason(solution) + _beyond_context(solution) + _own_value(solution)
    if solution.symbolic and solution.candidates.more:
        sentence += "; more choices of arms are possible than are listed"
    never = solution.verdict in ("lhs_above", "lhs_below", "identical")
    return (
        f"{sentence}; for a number, {solution.missing} is missing"
        if solution.missing and not never
        else sentence
    )


def _beyond_context(solution: Solution) -> str:
    """The remark where the answer is a request longer than the model's context."""
    if solution.whole is None or solution.unknown not in LENGTH_NAMES:
        return ""
    bound_case = solution.bound_case
    sizes = {**lengths(bound_case.given), solution.unknown: solution.whole}
    own = next(names for names in LENGTHS if solution.unknown in names)
    model = bound_case.model
    beyond = beyond_context(model, {name: size for name, size in sizes.items() if name in own})
    return (
        f"; beyond {model.shown_name}'s maximum context of {model.max_context:,} tokens"
        if model and beyond
        else ""
    )


def _reason(solution: Solution) -> str:
    verdict, threshold = solution.verdict, solution.threshold
    if verdict == "identical":
        return (
            "both sides are the same formula"
            if solution.moves
            else "both sides are the same, and neither moves with the unknown"
        )
    means = f"{threshold.means}; " if threshold else ""
    if verdict == "conditional":
        return f"{means}{_conditional(solution)}"
    if verdict == "crosses" and solution.value is None:
        return threshold.means if threshold else "the two sides meet, whatever the symbols"
    if solution.value is None:
        return _never(solution)
    if solution.integer and round(solution.value, 9) < 1 and not solution.stretches:
        return (
            f"{means}the crossing itself lies below one, at {format_quantity(solution.value, '')}"
        )
    return threshold.means if threshold else _sides(solution)


def _conditional(solution: Solution) -> str:
    if solution.candidates.every or solution.candidates.more:
        return "whether there is one depends on the conditions of each branch"
    return f"the two sides meet at no positive {solution.unknown}, unless they are the same at every one"


def _never(solution: Solution) -> str:
    """The side that stays the larger, the reason the threshold has for it, and the growth of both in numbers."""
    lhs, rhs = shown_sides(solution)
    side = "above" if solution.verdict == "lhs_above" else "below"
    why = f": {solution.threshold.never(solution.verdict)}" if solution.threshold else ""
    growth = _growth(solution)
    return f"{lhs} stays {side} {rhs} for {_reach(solution)}{why}{f' ({growth})' if growth else ''}"


def _reach(solution: Solution) -> str:
    """The values of the unknown that the answer covers: all, those up to a zero of a denominator, or those a scan searched."""
    unknown, found = solution.unknown, solution.found
    if found is None:
        return f"every {unknown}"
    if found.pole is not None:
        return f"{unknown} up to {format_quantity(found.pole, '')}, where a denominator is zero,"
    axis = solution.posed.axis(solution.bound_case.case)
    first, last = found.searched
    from_start, to_end = (
        first <= max(axis.low, LEAST) or (axis.counted and first <= 1),
        last >= axis.end,
    )
    if from_start and to_end:
        return f"every {unknown}"
    shown = [with_unit(settled(point), solution.symbol.display_unit) for point in found.searched]
    span = (
        f"every {unknown} up to {shown[1]}"
        if from_start
        else f"{unknown} from {shown[0]} to {shown[1]}"
    )
    return span if to_end else span + _beyond(last, solution)


def _beyond(last: Any, solution: Solution) -> str:
    """Why a search ended: there is no value further on, or it went no further."""
    further = last + 1 if solution.symbol.counted else last * (1 + SETTLED)
    there = solution.bound_case.case.changed({solution.unknown: further})
    try:
        for side in solution.sides:
            there.evaluate(side)
    except NoValue as error:
        return f" (beyond it {error})"
    return ", where the search ended"


def _own_value(solution: Solution) -> str:
    """The remark that the case itself has more arrivals than any that the answer is about: its queue grows."""
    if (
        solution.unknown != "arrival_rate"
        or "arrival_rate" not in solution.bound_case.case.given
        or not overloaded(solution.bound_case)
    ):
        return ""
    return f"; at the {with_unit(solution.bound_case.case.value('arrival_rate'), solution.symbol.unit)} of this case the queue is unstable (load >= 1)"


def shown_sides(solution: Solution) -> list[str]:
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


def with_unit(value: Fraction, unit: str) -> str:
    """A value with its unit; counted units take an s."""
    value = settled(value)
    counted = unit in COUNTED | NOUNS
    if counted and value.denominator == 1:
        return f"{int(value):,} {plural(unit, value)}"
    written = format_quantity(value, unit)
    return f"{written}s" if counted and written.endswith(unit) else written


def _unit(solution: Solution) -> str | None:
    """The unit of both sides, where one of them is a name."""
    for side in solution.sides:
        if isinstance(side, Symbol):
            return solution.bound_case.case.theory.symbol(side.name).display_unit
    return None


def _growth(solution: Solution) -> str:
    """How both sides move far out, or where they end: why they never meet. Over ranges there is no one number to report."""
    unit, unknown = _unit(solution), solution.unknown
    if not solution.moves:
        return f"this does not depend on {unknown} here"
    if unit is None or solution.bound_case.box:
        return ""
    flags = [_flag(side, solution) for side in solution.sides]
    named = list(zip(shown_sides(solution), flags, strict=True))
    if unknown in SHARES:
        ends = _values(solution, Fraction(1))
        shown = [
            f"{format_quantity(value, unit)}{flag}"
            for value, (_, flag) in zip(ends or (), named, strict=False)
        ]
        return f"even at {unknown} 1 they are {' and '.join(shown)}" if shown else ""
    far = [values for point in POINTS if (values := _values(solution, point))]
    if len(far) < len(POINTS):
        return ""
    sides = [
        (name, flag, values)
        for (name, flag), values in zip(named, zip(*far, strict=True), strict=True)
    ]
    if solution.symbol.counted and all(_linear(values) for _, _, values in sides):
        steps = [
            f"{with_unit((values[1] - values[0]) / FAR, unit)}{flag} to {name}"
            for name, flag, values in sides
            if values[0] != values[1]
        ]
        still = [
            (name, flag, with_unit(values[0], unit))
            for name, flag, values in sides
            if values[0] == values[1]
        ]
        fixed = [f"{name} is {value}{flag}" for name, flag, value in still if name != value]
        grown = (
            [f"each {solution.symbol.display_unit or unknown} adds {' and '.join(steps)}"]
            if steps
            else [f"far out neither grows with {unknown}"]
        )
        return ", ".join([*grown, *fixed])
    if all(_settles(values) for _, _, values in sides):
        return ", ".join(
            f"{name} tends to {format_quantity(values[-1], unit)}{flag}"
            for name, flag, values in sides
            if values[0] != values[-1]
        )
    return ""


def _flag(side: Expr, solution: Solution) -> str:
    """The flag of a latency or rate of a case that does not fit."""
    theory = solution.bound_case.case.theory
    timed = any(theory.timed(name) for name in names(side))
    return " (does not fit)" if timed and solution.bound_case.does_not_fit else ""


def _linear(values: tuple[Fraction, ...]) -> bool:
    return (
        abs((values[2] - values[1]) - (values[1] - values[0]))
        <= abs(values[2] - values[1]) * SETTLED
    )


def _settles(values: tuple[Fraction, ...]) -> bool:
    return abs(values[2] - values[0]) <= abs(values[0]) * SETTLED


def _values(solution: Solution, point: Fraction) -> tuple[Fraction, Fraction] | None:
    """Both sides at a value of the unknown."""
    case = solution.bound_case.case.changed({solution.unknown: point})
    try:
        lhs, rhs = solution.sides
        return case.evaluate(lhs), case.evaluate(rhs)
    except NoValue:
        return None


def _sides(solution: Solution) -> str:
    """Which side is the larger before and after the crossing, in whole numbers where things are counted."""
    lhs, rhs = shown_sides(solution)
    value = solution.value
    if value is None or len(solution.values) > 1:
        return f"{lhs} and {rhs} meet here"
    before, after = solution.before(value), solution.side(2 * value)
    if after == 0 or (before == 0 and after):
        here = solution.side(value) == 0
        return f"{lhs} and {rhs} are the same {('from here on' if here else 'above it') if after == 0 else 'up to here' if here else 'below it'}"
    if not before or after != -before:
        return f"{lhs} and {rhs} meet here"
    words = ("below", "above") if before < 0 else ("above", "below")
    if not solution.symbol.counted:
        return f"{lhs} is {words[0]} {rhs} under this value and {words[1]} it over it"
    last = next(
        (n for n in (math.floor(value), math.ceil(value) - 1) if solution.side(n) in (before, 0)),
        None,
    )
    first = (
        next((n for n in (last + 1, last + 2) if solution.side(n) == after), None)
        if last is not None
        else None
    )
    if last is None or first is None or last < 1:
        return f"{lhs} and {rhs} meet here"
    return f"{lhs} stays {words[0]} {rhs} up to {last:,} and is {words[1]} it from {first:,} on"
