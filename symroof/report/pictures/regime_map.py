"""The lines of a regime map over batch and context: the ridge, full memory, and the ITL target.

A point of the map is a batch of requests with one common context, independent of prompt and output. A response of the reviewed
case moves from the context of its first step to that of its last, where memory and the target are tested.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, replace

from sympy import Number

from symroof.analysis.equations import parse_equation
from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.cases.bound_case import BoundCase
from symroof.cases.input import Input
from symroof.errors import InputError
from symroof.report.pictures.curves import next_power_of_two
from symroof.specs.fields import ValueRange
from symroof.symbolic.evaluation import NoValue
from symroof.symbolic.expressions import number
from symroof.theory.thresholds import FULL_MEMORY

EQUATIONS = {
    "ridge": "decode_compute_time = decode_memory_time",
    "memory": FULL_MEMORY,
    "target": "itl = itl_target",
}
CONTEXTS, TAIL = 48, 12
"""Contexts at which a line is solved, and additional batches where the ridge flattens."""

SHORTEST, LONGEST, LARGEST_BATCH = 256, 2**20, 2**17
"""Limits of the axes of a map."""

LENGTHS = frozenset({"prompt", "output", "cached_prefix"})
"""Inputs that a map ignores."""

RegimeLine = tuple[tuple[float, float], ...]
"""Pairs of a context and the batch that solves the equation there: 0 if every batch is beyond the line, infinity if none is."""


@dataclass(frozen=True)
class Regimes:
    """The lines of the map.

    Attributes:
        answers: the case at a context, without prompt and output.
        lines: by name; lines with unknown inputs are missing.
        beyond: the context beyond which no batch reaches the ridge; None if there is none.
        batches, contexts: the ranges of the axes.
        batch: that of the reviewed case.
        climb: the contexts of its first and its last step.
    """

    answers: BoundCase
    lines: dict[str, RegimeLine]
    beyond: float | None
    batches: tuple[int, int]
    contexts: tuple[int, int]
    batch: float
    climb: tuple[float, float]

    def at(self, name: str, context: float) -> float | None:
        """The batch of a line at a context; None if the map has no such line."""
        return (
            _batch(solve(EQUATIONS[name], self.answers, "batch"), context)
            if name in self.lines
            else None
        )


def regimes(subject: BoundCase) -> Regimes | None:
    """The map of a case; None if its decode times are unknown."""
    try:
        case = subject.case
        last, batch = float(case.value("peak_context")), float(case.value("batch"))
        first = min(
            last,
            float(case.value("context"))
            + (1 if "context" not in case.given and subject.get("response_steps") else 0),
        )
        answers = at_a_context(subject, last)
        solved = {
            name: solve(text, answers, "batch")
            for name, text in EQUATIONS.items()
            if _known(text, answers)
        }
        if "ridge" not in solved:
            return None
        beyond = _beyond(answers)
    except (InputError, NoValue):
        return None
    contexts = _contexts(last, beyond)
    lines = {
        name: _line(solution, contexts, beyond if name == "ridge" else None)
        for name, solution in solved.items()
    }
    batches = 1, _widest(solved, contexts, batch, last)
    lines["ridge"] = tuple(
        sorted({*lines["ridge"], *_tail(lines["ridge"], batches[1], contexts, answers)})
    )
    return Regimes(answers, lines, beyond, batches, contexts, batch, (first, last))


def at_a_context(subject: BoundCase, context: float) -> BoundCase:
    """The case at a context, without prompt and output; inputs that are formulas of these are replaced by their numbers."""
    if context not in subject.memo.at_context:
        inputs = {
            **subject.given,
            "context": Input(number(context), "map"),
        }
        case = subject.with_changes(given=inputs).given_case
        for name, value in subject.given.items():
            if name in LENGTHS:
                del inputs[name]
            elif not isinstance(value.setting, (Number, ValueRange)) and not LENGTHS.isdisjoint(
                case.reachable_names(name)
            ):
                with suppress(NoValue):  # unknown here, unknown there
                    inputs[name] = replace(
                        value,
                        setting=number(subject.case.value(name)),
                    )
        subject.memo.at_context[context] = subject.with_changes(given=inputs)
    return subject.memo.at_context[context]


def _known(equation: str, answers: BoundCase) -> bool:
    """Whether both sides are known and depend on the batch."""
    relation = parse_equation(equation)
    try:
        other = answers.case.changed({"batch": 2 * answers.case.value("batch")})
        values = [
            case.evaluate(side)
            for side in (relation.lhs, relation.rhs)
            for case in (answers.case, other)
        ]
    except NoValue:
        return False
    return bool(values[0] != values[1] or values[2] != values[3])


def _beyond(answers: BoundCase) -> float | None:
    try:
        return solve("context_beyond_ridge", answers).value
    except (InputError, NoValue):
        return None


def _whole_power_of_two(value: float) -> int:
    return int(next_power_of_two(max(value, 1)))


def _contexts(last: float, beyond: float | None) -> tuple[int, int]:
    """The context range: around the case, including the last context of the ridge."""
    ridge_ends = beyond or float(SHORTEST)
    low = _whole_power_of_two(min(SHORTEST, last / 8, ridge_ends / 8))
    return low, max(
        _whole_power_of_two(min(max(4 * last, 2 * ridge_ends, 64 * low), LONGEST)),
        _whole_power_of_two(2 * last),
    )


def _line(solution: Solution, contexts: tuple[int, int], beyond: float | None) -> RegimeLine:
    """The batch at every context; infinite beyond the last context that has a solution."""
    low, high = contexts
    at = [round(low * (high / low) ** (i / (CONTEXTS - 1)) * 16) / 16 for i in range(CONTEXTS)]
    line: list[tuple[float, float]] = []
    for context, batches in zip(at, solution.crossings_at({"context": at}), strict=True):
        if beyond is not None and context > beyond:
            line.append((context, math.inf))
        else:
            line.append((context, batches[0] if batches else _edge(solution, context)))
    return tuple(line)


def _batch(solution: Solution, context: float) -> float:
    """The batch at a context."""
    (batches,) = solution.crossings_at({"context": [context]})
    return batches[0] if batches else _edge(solution, context)


def _edge(solution: Solution, context: float) -> float:
    """Where the sides never meet 0 or infinity, depending on which is larger."""
    one = solution.bound_case.case.changed({"context": context, "batch": 1.0})
    left, right = map(one.evaluate, solution.sides)
    return 0.0 if left > right else math.inf


def _widest(
    solved: dict[str, Solution], contexts: tuple[int, int], batch: float, last: float
) -> int:
    """The largest batch of the map: shows the case, the ridge at short contexts, and the limits at the case's context."""
    seen = [4 * batch, 64.0]
    for name, solution in solved.items():
        context, factor = (float(contexts[0]), 6) if name == "ridge" else (last, 3)
        found = factor * _batch(solution, context)
        seen += [found] if math.isfinite(found) else []
    return min(_whole_power_of_two(max(seen)), max(LARGEST_BATCH, _whole_power_of_two(2 * batch)))


def _tail(
    ridge: RegimeLine, widest: int, contexts: tuple[int, int], answers: BoundCase
) -> RegimeLine:
    """More points of the ridge where it flattens, solved for the context at given batches."""
    finite = [batch for _, batch in ridge if 0 < batch < widest]
    if not finite or max(finite) >= widest:
        return ()
    try:
        solution = solve(EQUATIONS["ridge"], answers, "context")
    except (InputError, NoValue):
        return ()
    start = max(finite)
    batches = [round(start * (widest / start) ** (i / TAIL) * 16) / 16 for i in range(1, TAIL + 1)]
    found = solution.crossings_at({"batch": batches})
    pairs = (
        (context, batch)
        for batch, contexts_there in zip(batches, found, strict=True)
        for context in contexts_there
    )
    return tuple(
        (context, batch) for context, batch in pairs if contexts[0] <= context <= contexts[1]
    )
