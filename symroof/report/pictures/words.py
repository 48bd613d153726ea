"""Small words and numbers that several pictures share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from symroof.analysis.solve import parse_equation
from symroof.cases.case_results import Answers, plural
from symroof.drawing.colours import BLUE, OCHRE
from symroof.drawing.frame import Frame
from symroof.drawing.scales import Scale
from symroof.report.pictures.curves import Limit
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


def lines(head: str, told: str) -> tuple[str, str, str]:
    """A label in one line, in two, or with its range and its flag in lines of their own.

    >>> lines("this case: ", "41.2 ms (38 to 44 ms)")
    ('this case: 41.2 ms (38 to 44 ms)', 'this case:\\n41.2 ms (38 to 44 ms)', 'this case:\\n41.2 ms\\n(38 to 44 ms)')
    """
    return head + told, f"{head.rstrip()}\n{told}", f"{head.rstrip()}\n{told}".replace(" (", "\n(")


def target_word(name: str, goal: Fraction) -> str:
    return f"{name} target {format_quantity(goal, 's')}"


def regions(answers: Answers, ridge: Limit | None, equation: str, by: str, scale: Scale) -> list[tuple[float, float, str]]:
    """The parts of an axis in which compute or memory is the longer time: from, to, which. Between solved crossings one wins throughout."""
    if ridge is None:
        return []
    relation = parse_equation(equation)
    edges = [scale.low, *sorted(float(v) for v in ridge.solution.values if scale.low < v < scale.high), scale.high]
    found = []
    for start, end in itertools.pairwise(edges):
        there = answers.case.changed({by: Fraction(math.sqrt(max(start, 1e-9) * end))})
        found.append((start, end, "compute" if there.evaluate(relation.left) > there.evaluate(relation.right) else "memory"))
    return found


def met(target: Limit, memory: Limit | None) -> tuple[str, str]:
    """How far a target is met, with the flag where memory ends before."""
    flag = " (does not fit)" if memory and target.value > memory.value else ""
    return f"met up to {target.count:,} tokens{flag}", f"{target.count:,} tokens{flag}"


def name_regions(frame: Frame, answers: Answers, step: str, by: str, found: list[tuple[float, float, str]], memory: Limit | None) -> None:
    """Each part of an axis by its bound, where memory holds any of it; by the longer of two times where links or fixed costs are longer still."""
    for start, end, winner in found:
        until = min(end, float(memory.value)) if memory and memory.value > start else end
        there = answers.case.changed({by: Fraction(math.sqrt(max(start, 1e-9) * until))})
        plain = there.value(f"{step}_bound") == winner
        words = (f"{winner}-bound", f"{winner}-\nbound") if plain else (f"{winner} longer than {'memory' if winner == 'compute' else 'compute'}",)
        frame.between(start, until, words, OCHRE if winner == "compute" else BLUE)


def requests(batch: Fraction) -> str:
    """``1 request``, ``32 requests``."""
    return f"{counted(float(batch))} {plural('request', Fraction(batch))}"


def ridge_words(ridge: Limit, thing: str = "token") -> tuple[str, str]:
    """Where compute and memory take equally long: from the first whole number that compute limits."""
    first = f"{math.ceil(ridge.value):,}"
    return f"compute time = memory time:\nridge at {first} {thing}s", f"ridge: {first}"
