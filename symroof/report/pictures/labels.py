"""Small words and numbers that several pictures share."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from symroof.analysis.solution import trees
from symroof.cases.case_results import Answers
from symroof.cases.quantity_result import plural
from symroof.drawing.colours import BLUE, OCHRE, VERMILION
from symroof.drawing.frame import Frame
from symroof.drawing.scales import Scale
from symroof.report.pictures.curves import STEP, AxisLimit, Bounds
from symroof.theory.case import Case
from symroof.units import format_quantity


def counted(value: float) -> str:
    """A count on an axis.

    >>> counted(4096.0), counted(0.5)
    ('4,096', '0.5')
    """
    return f"{value:,.0f}" if value >= 1 and float(value).is_integer() else f"{value:,.4g}"


def in_unit(unit: str) -> Callable[[float], str]:
    """Values of an axis with a unit and prefix of their own."""

    def written(value: float) -> str:
        return format_quantity(Fraction(value).limit_denominator(10**12) if value > 1e-6 else Fraction(value), unit, 3)

    return written


seconds = in_unit("s")


def lines(head: str, value: str) -> tuple[str, str, str]:
    """A label in one line, in two, or with its range and its flag in lines of their own.

    >>> lines("this case: ", "41.2 ms (38 to 44 ms)")
    ('this case: 41.2 ms (38 to 44 ms)', 'this case:\\n41.2 ms (38 to 44 ms)', 'this case:\\n41.2 ms\\n(38 to 44 ms)')
    """
    return head + value, f"{head.rstrip()}\n{value}", f"{head.rstrip()}\n{value}".replace(" (", "\n(")


def target_word(name: str, goal: Fraction) -> str:
    return f"{name} target {format_quantity(goal, 's')}"


def regions(answers: Answers, bounds: Bounds, scale: Scale) -> list[tuple[float, float, str]]:
    """The parts of an axis in which compute or memory is the longer time: from, to, which. Between solved crossings one wins throughout."""
    if bounds.ridge is None:
        return []
    solution = bounds.ridge.solution
    edges = [scale.low, *sorted(float(v) for v in solution.values if scale.low < v < scale.high), scale.high]
    parts = []
    for start, end in itertools.pairwise(edges):
        there = _between(answers, bounds, start, end)
        left, right = map(there.evaluate, trees(solution).sides)
        parts.append((start, end, "compute" if left > right else "memory"))
    return parts


def _between(answers: Answers, bounds: Bounds, start: float, end: float) -> Case:
    """The case halfway between two values of an axis, in logarithms."""
    return answers.case.changed({bounds.by: Fraction(math.sqrt(max(start, 1e-9) * end))})


def met(target: AxisLimit, memory: AxisLimit | None) -> tuple[str, str]:
    """How far a target is met, with the flag where memory ends before."""
    flag = " †" if memory and target.value > memory.value else ""
    return f"met up to {target.count:,} tokens{flag}", f"{target.count:,} tokens{flag}"


def label_limits(frame: Frame, bounds: Bounds) -> None:
    """The labels of what memory holds, of the target and of the place where it is met."""
    memory, target = bounds.memory, bounds.target
    if memory:
        frame.label_memory_limit(float(memory.value), f"memory holds\n{memory.allows('token')}", f"memory:\n{memory.allows('token')}")
    if bounds.goal is not None:
        if target and target.exists:
            frame.label_point(float(target.value), float(bounds.goal), met(target, memory), VERMILION)
        frame.label_line("target", (target_word(bounds.metric.upper(), bounds.goal),), VERMILION)


def label_ridge(frame: Frame, answers: Answers, bounds: Bounds) -> None:
    """The ridge, and each part of the axis by its bound, where memory holds any of it; by the longer of two times where links or fixed costs are longer still."""
    memory = bounds.memory
    if bounds.ridge and bounds.ridge.exists:
        first = f"{math.ceil(bounds.ridge.value):,}"
        frame.label_line("ridge", (f"compute time = memory time:\nridge at {first} tokens", f"ridge: {first}"), OCHRE)
    for start, end, winner in regions(answers, bounds, frame.x):
        until = min(end, float(memory.value)) if memory and memory.value > start else end
        plain = _between(answers, bounds, start, until).value(f"{STEP[bounds.metric]}_bound") == winner
        words = (f"{winner}-bound", f"{winner}-\nbound") if plain else (f"{winner} longer than {'memory' if winner == 'compute' else 'compute'}",)
        frame.label_range(start, until, words, OCHRE if winner == "compute" else BLUE)


BEYOND_MEMORY = "† does not fit in memory."


def unfit(answers: Answers) -> list[str]:
    """What the words of a picture end with where its case does not fit."""
    return ["the case does not fit in memory"] if answers.does_not_fit else []


def allowances(bounds: Bounds, thing: str) -> list[str]:
    """In words, how much the target allows and memory holds."""
    texts = [f"the target of {seconds(float(bounds.goal))} allows {bounds.target.allows(thing)}"] if bounds.target and bounds.goal is not None else []
    return [*texts, f"memory holds {bounds.memory.allows(thing)}"] if bounds.memory else texts


def requests(batch: Fraction) -> str:
    """``1 request``, ``32 requests``."""
    return f"{counted(float(batch))} {plural('request', Fraction(batch))}"
