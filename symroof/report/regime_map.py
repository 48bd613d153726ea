"""Where over batch and context a decode step is limited by what, what memory holds and what the target allows: solved lines.

A point of the map is a batch of requests that all have one context, so prompt and output play no part in it. A response of
the reviewed case climbs from its first step's context to its last, where memory and the target are tested.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from symroof.analysis.corners import by_closed_form, crossings_in
from symroof.analysis.equations import parse_equation
from symroof.analysis.inline import inlined
from symroof.analysis.solution import Solution, formula_trees
from symroof.analysis.solve import solve
from symroof.cases.bound_case import BoundCase
from symroof.cases.spec_values import SourcedValue, dimension
from symroof.errors import InputError
from symroof.formula import build
from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.tree import Num
from symroof.specs.fields import ValueRange
from symroof.theory.case import Case
from symroof.theory.thresholds import FULL_MEMORY

EQUATIONS = {"ridge": "decode_compute_time = decode_memory_time", "memory": FULL_MEMORY, "target": "itl = itl_target"}
CONTEXTS, TAIL = 48, 12
"""How many contexts a line is solved at, and how many more batches where the ridge runs off towards its last context."""

FALSI, SETTLED = 24, 1e-13
"""Most steps towards a crossing, and what the difference of the sides may still be, relative to where it began."""

SHORTEST, LONGEST, LARGEST_BATCH = 256, 2**20, 2**17
"""A map shows contexts from here at least, and goes no further than these."""

LENGTHS = frozenset({"prompt", "output", "cached_prefix"})
"""What a map leaves out of a request."""

Batch = Fraction | float
"""A solved batch; 0 where even the smallest is past the line, infinity where none is."""
Line = tuple[tuple[Fraction, Batch], ...]
"""Pairs of a context and the batch at which the left side of an equation passes the right."""


@dataclass(frozen=True)
class Regimes:
    """The lines of the map.

    Attributes:
        answers: the case asked at a context alone.
        lines: by name; a line whose inputs have no value is left out.
        beyond: the context beyond which no batch reaches the ridge; None where there is none.
        batches, contexts: what the map shows.
        batch: that of the reviewed case.
        climb: the contexts of its first and its last step.
    """

    answers: BoundCase
    lines: dict[str, Line]
    beyond: Fraction | None
    batches: tuple[int, int]
    contexts: tuple[int, int]
    batch: Fraction
    climb: tuple[Fraction, Fraction]

    def at(self, name: str, context: Fraction) -> Batch | None:
        """The batch of a line at a context, solved there; None where the map has no such line."""
        return _batch(solve(EQUATIONS[name], self.answers, "batch"), self.answers.case, context) if name in self.lines else None


def regimes(subject: BoundCase) -> Regimes | None:
    """The map of a case; None where its decode times are not known."""
    try:
        case = subject.case
        last, batch = Fraction(case.value("peak_context")), Fraction(case.value("batch"))
        first = min(last, Fraction(case.value("context")) + (1 if "context" not in case.given and subject.get("response_steps") else 0))
        answers = at_a_context(subject, last)
        solved = {name: solve(text, answers, "batch") for name, text in EQUATIONS.items() if _known(text, answers)}
        if "ridge" not in solved:
            return None
        beyond = _beyond(answers)
    except (InputError, NoValue):
        return None
    contexts = _contexts(last, beyond)
    lines = {name: _line(solution, contexts, beyond if name == "ridge" else None) for name, solution in solved.items()}
    batches = 1, _widest(solved, contexts, batch, last)
    lines["ridge"] = tuple(sorted({*lines["ridge"], *_tail(lines["ridge"], batches[1], contexts, answers)}))
    return Regimes(answers, lines, beyond, batches, contexts, batch, (first, last))


def at_a_context(subject: BoundCase, context: Fraction) -> BoundCase:
    """The case as so many requests at a context: its prompt and output play no part; a value that is a formula of these is the number that it is."""
    if context not in subject.memo.at_context:
        inputs = {**subject.given, "context": SourcedValue(Num(context, dimension("context")), "map")}
        case = subject.with_changes(given=inputs).given_case
        for name, value in subject.given.items():
            if name in LENGTHS:
                del inputs[name]
            elif not isinstance(value.setting, (Num, ValueRange)) and not LENGTHS.isdisjoint(case.leads_to(name)):
                with suppress(NoValue):  # what has none here has none there
                    inputs[name] = replace(value, setting=Num(Fraction(subject.case.value(name)), case.theory.symbol(name).dimension))
        subject.memo.at_context[context] = subject.with_changes(given=inputs)
    return subject.memo.at_context[context]


def _known(equation: str, answers: BoundCase) -> bool:
    """Whether both sides have a value, and the batch is what moves them."""
    relation = parse_equation(equation)
    try:
        other = answers.case.changed({"batch": 2 * answers.case.value("batch")})
        values = [case.evaluate(side) for side in (relation.left, relation.right) for case in (answers.case, other)]
    except NoValue:
        return False
    return bool(values[0] != values[1] or values[2] != values[3])


def _beyond(answers: BoundCase) -> Fraction | None:
    try:
        return solve("context_beyond_ridge", answers).value
    except (InputError, NoValue):
        return None


def _power_of_two(value: float) -> int:
    """The least power of two that is not below a value."""
    return int(2 ** math.ceil(math.log2(max(value, 1))))


def _contexts(last: Fraction, beyond: Fraction | None) -> tuple[int, int]:
    """From well below the case to well above it, with the last context of the ridge in sight."""
    last_one, ridge_ends = float(last), float(beyond or SHORTEST)
    low = _power_of_two(min(SHORTEST, last_one / 8, ridge_ends / 8))
    return low, max(_power_of_two(min(max(4 * last_one, 2 * ridge_ends, 64 * low), LONGEST)), _power_of_two(2 * last_one))


def _line(solution: Solution, contexts: tuple[int, int], beyond: Fraction | None) -> Line:
    """The batch at every context; beyond the last one that has any there is none."""
    low, high = contexts
    line: list[tuple[Fraction, Batch]] = []
    for i in range(CONTEXTS):
        context = Fraction(round(low * (high / low) ** (i / (CONTEXTS - 1)) * 16), 16)
        there = solution.bound_case.case.changed({"context": context})
        none = beyond is not None and context > beyond
        near = None if none else by_closed_form(solution, there) or followed(solution, there, line[-1][1] if line else 0)
        line.append((context, near or (math.inf if none else _batch(solution, solution.bound_case.case, context))))
    return tuple(line)


def followed(solution: Solution, there: Case, before: Batch) -> Fraction | None:
    """The crossing near that of the context before, by regula falsi (Illinois): one look at the whole axis takes two hundred points.

    None where the sides do not change over near it, or it did not settle.
    """
    if not before or math.isinf(before):
        return None
    difference = build.sub(*(inlined(side, "batch", solution.bound_case) for side in formula_trees(solution).sides))

    def gap(batch: float) -> float:
        return float(evaluate(difference, there, {"batch": Fraction(batch)}))

    low, high = float(before) * 0.6, float(before) * 1.6
    at_low, at_high = gap(low), gap(high)
    close = max(abs(at_low), abs(at_high)) * SETTLED
    for _ in range(FALSI if at_low * at_high < 0 else 0):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        here = gap(middle)
        if abs(here) <= close:
            return Fraction(middle)
        low, at_low = (high, at_high) if here * at_high < 0 else (low, at_low / 2)
        high, at_high = middle, here
    return None


def _batch(solution: Solution, case: Case, context: Fraction) -> Batch:
    """The batch at a context; where there is none, 0 or infinity by which side is the larger from the start."""
    there = case.changed({"context": context})
    batches = solution.values if context == case.value("context") else crossings_in(solution, there)
    if batches:
        return batches[0]
    one = there.changed({"batch": Fraction(1)})
    left, right = map(one.evaluate, formula_trees(solution).sides)
    return Fraction(0) if left > right else math.inf


def _widest(solved: dict[str, Solution], contexts: tuple[int, int], batch: Fraction, last: Fraction) -> int:
    """A batch that shows the case, the ridge at short contexts, and the limits at the case's own."""
    seen = [4 * float(batch), 64.0]
    for name, solution in solved.items():
        context = Fraction(contexts[0]) if name == "ridge" else last
        batch_there = float(_batch(solution, solution.bound_case.case, context))
        seen += [(6 if name == "ridge" else 3) * batch_there] if math.isfinite(batch_there) else []
    return min(_power_of_two(max(seen)), max(LARGEST_BATCH, _power_of_two(2 * float(batch))))


def _tail(ridge: Line, widest: int, contexts: tuple[int, int], answers: BoundCase) -> Line:
    """More of the ridge where it flattens: solved for the context at batches up to the edge of the map."""
    finite = [float(batch) for _, batch in ridge if 0 < batch < widest]
    if not finite or max(finite) >= widest:
        return ()
    try:
        solution = solve(EQUATIONS["ridge"], answers, "context")
    except (InputError, NoValue):
        return ()
    start = max(finite)
    batches = [Fraction(round(start * (widest / start) ** (i / TAIL) * 16), 16) for i in range(1, TAIL + 1)]
    pairs = ((context, batch) for batch in batches for context in crossings_in(solution, answers.case.changed({"batch": batch})))
    return tuple((context, batch) for context, batch in pairs if contexts[0] <= context <= contexts[1])
