"""Labels and number formats shared by several pictures."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from symroof.cases.bound_case import BoundCase
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
    """A formatter of axis values with a unit."""

    def written(value: float) -> str:
        return format_quantity(
            Fraction(value).limit_denominator(10**12) if value > 1e-6 else Fraction(value), unit, 3
        )

    return written


seconds = in_unit("s")


def lines(head: str, value: str) -> tuple[str, str, str]:
    """A label on one line, on two, or with range and flag on separate lines.

    >>> lines("this case: ", "41.2 ms (38 to 44 ms)")
    ('this case: 41.2 ms (38 to 44 ms)', 'this case:\\n41.2 ms (38 to 44 ms)', 'this case:\\n41.2 ms\\n(38 to 44 ms)')
    """
    return (
        head + value,
        f"{head.rstrip()}\n{value}",
        f"{head.rstrip()}\n{value}".replace(" (", "\n("),
    )


def target_word(name: str, goal: Fraction) -> str:
    return f"{name} target {format_quantity(goal, 's')}"


def regions(answers: BoundCase, bounds: Bounds, scale: Scale) -> list[tuple[float, float, str]]:
    """The intervals of an axis in which compute or memory takes longer: from, to, which."""
    if bounds.ridge is None:
        return []
    solution = bounds.ridge.solution
    edges = [
        scale.low,
        *sorted(float(v) for v in solution.values if scale.low < v < scale.high),
        scale.high,
    ]
    parts = []
    for start, end in itertools.pairwise(edges):
        there = _between(answers, bounds, start, end)
        left, right = map(there.evaluate, solution.sides)
        parts.append((start, end, "compute" if left > right else "memory"))
    return parts


def _between(answers: BoundCase, bounds: Bounds, start: float, end: float) -> Case:
    """The case at the geometric mean of two axis values."""
    return answers.case.changed({bounds.by: Fraction(math.sqrt(max(start, 1e-9) * end))})


def met(target: AxisLimit, memory: AxisLimit | None) -> tuple[str, str]:
    """How far a target is met, flagged if beyond the memory limit."""
    flag = " †" if memory and target.value > memory.value else ""
    return f"met up to {target.count:,} tokens{flag}", f"{target.count:,} tokens{flag}"


def label_limits(frame: Frame, bounds: Bounds) -> None:
    """Label the memory limit, the target, and where it is met."""
    memory, target = bounds.memory, bounds.target
    if memory:
        frame.label_memory_limit(
            float(memory.value),
            f"memory holds\n{memory.allows('token')}",
            f"memory:\n{memory.allows('token')}",
        )
    if bounds.goal is not None:
        if target and target.exists:
            frame.label_point(
                float(target.value), float(bounds.goal), met(target, memory), VERMILION
            )
        frame.label_line("target", (target_word(bounds.metric.upper(), bounds.goal),), VERMILION)


def label_ridge(frame: Frame, answers: BoundCase, bounds: Bounds) -> None:
    """Label the ridge and the bound of each interval, or only the longer of two times if links or overheads dominate."""
    memory = bounds.memory
    if bounds.ridge and bounds.ridge.exists:
        first = f"{math.ceil(bounds.ridge.value):,}"
        frame.label_line(
            "ridge",
            (f"compute time = memory time:\nridge at {first} tokens", f"ridge: {first}"),
            OCHRE,
        )
    for start, end, winner in regions(answers, bounds, frame.x):
        until = min(end, float(memory.value)) if memory and memory.value > start else end
        plain = (
            _between(answers, bounds, start, until).value(f"{STEP[bounds.metric]}_bound") == winner
        )
        words = (
            (f"{winner}-bound", f"{winner}-\nbound")
            if plain
            else (f"{winner} longer than {'memory' if winner == 'compute' else 'compute'}",)
        )
        frame.label_range(start, until, words, OCHRE if winner == "compute" else BLUE)


BEYOND_MEMORY = "† does not fit in memory."


def unfit(answers: BoundCase) -> list[str]:
    """The end of a takeaway if the case does not fit."""
    return ["the case does not fit in memory"] if answers.does_not_fit else []


def allowances(bounds: Bounds, thing: str) -> list[str]:
    """The limits by target and memory in words."""
    texts = (
        [f"the target of {seconds(float(bounds.goal))} allows {bounds.target.allows(thing)}"]
        if bounds.target and bounds.goal is not None
        else []
    )
    return [*texts, f"memory holds {bounds.memory.allows(thing)}"] if bounds.memory else texts


def requests(batch: Fraction | float) -> str:
    """``1 request``, ``32 requests``."""
    return f"{counted(float(batch))} {plural('request', batch)}"
