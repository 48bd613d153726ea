"""Tipping points: for each uncertain input the values at which a case begins or ceases to fit or to meet a target, solved."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from symroof.analysis.solution import Solution
from symroof.analysis.solve import solve
from symroof.analysis.verdict import Constraint, constraints
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.errors import InputError
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.declarations import default_of
from symroof.theory.symbols import SHARES
from symroof.theory.theory_files import listed
from symroof.theory.thresholds import THRESHOLDS
from symroof.units import is_whole

UNCERTAIN = listed("moving", "flips")
"""Inputs that may turn out otherwise than a case assumes: efficiencies, load, devices, precisions, fixed costs."""

WIDEST = 4.0
"""Bytes of the widest number that weights or cached elements are stored in: fp32."""
WIDTHS = frozenset({"weight_bytes_per_param", "kv_bytes_per_element"})

MOST_TURNS = 32
"""Values at which one condition changes and changes back that are followed."""
BEYOND = 1e-9
"""How far past a crossing of something continuous its far side is looked at."""


@dataclass(frozen=True)
class Flip:
    """A value of one input at which one condition changes.

    Attributes:
        now: the input as it is; a range is at its middle.
        constraint, solution: the condition, and its equation solved for the input.
        holds: whether the condition holds from there on.
        crossing: where the metric equals its limit; where only whole numbers have a meaning, the first past the change.
        value: the value to act on: the first whole number on the far side of something counted, else the crossing itself.
        up: whether it lies above the value now.
        turns: the next values away from now at which the condition changes back, and over again, as far as they are followed.
        wrong: the conditions that do not hold there; none means it fits and meets every target.
        wrong_now: the conditions that do not hold as things are.
        alone: whether the ranges of the other inputs are left out.
    """

    now: Result
    constraint: Constraint
    solution: Solution = field(repr=False, compare=False)
    holds: bool
    crossing: float
    value: float
    up: bool
    turns: tuple[float, ...]
    wrong: tuple[str, ...]
    wrong_now: tuple[str, ...]
    alone: bool = field(default=False, compare=False)

    @property
    def name(self) -> str:
        return self.now.name

    @property
    def condition(self) -> str:
        return self.constraint.name

    @property
    def last(self) -> float:
        """The last value before it: the whole number next to it, or the crossing."""
        if not self.now.symbol.counted:
            return self.crossing
        return _possible(self.solution, int(self.value) + (-1 if self.up else 1), not self.up)

    @property
    def factor(self) -> float | None:
        """From the value now to this one; None where there is none now."""
        start = float(self.now.value)
        return self.value / start if start else None

    @property
    def distance(self) -> float | None:
        """The factor or its inverse, whichever is above one: how near the flip is, in either direction."""
        return max(self.factor, 1 / self.factor) if self.factor else None

    @property
    def good(self) -> bool:
        """Whether the whole headline becomes good there."""
        return bool(self.wrong_now) and not self.wrong

    @cached_property
    def spread(self) -> tuple[float, ...]:
        """Least and largest value over the corners of the ranges, of each corner's crossing that is nearest to this one; empty where none has one."""
        own, here = self.solution.bound_case, self.crossing
        if self.alone or not own.box.keys() & own.case.inputs_used(*self.constraint.sides):
            return ()
        # none where the unknown itself is ranged
        corners = zip(own.corners, self.solution.at_corners, strict=False)
        nearest = [
            (corner, min(others, key=lambda other: max(other / here, here / other)))
            for corner, others in corners
            if others
        ]
        if not nearest:
            return ()
        values = [
            _first(self.constraint, self.solution, case, place, self.holds, self.up)
            for case, place in ((own.case, here), *nearest)
        ]
        return min(values), max(values)

    @property
    def at(self) -> Result:
        """The value with its range; a time of a case that does not fit carries the flag, as every such time does."""
        flags = (DOES_NOT_FIT,) if "memory" in self.wrong and self.now.symbol.unit == "s" else ()
        low, high = self.spread or (None, None)
        return Result(self.now.symbol, self.value, low, high, flags=flags)


def flips(
    bound_case: BoundCase,
    among: Sequence[str] = UNCERTAIN,
    of: Collection[str] | None = None,
    waits: bool = False,
) -> tuple[Flip, ...]:
    """Every flip of a case, the nearest first, equally near ones in the order of :data:`UNCERTAIN`; inputs that are zero now, from which no factor leads away, come last.

    ``among`` narrows the inputs, ``of`` the conditions that flip, by name; a flip reports the state of all conditions. ``waits`` are
    searched for where that is asked for: :func:`solution_of`.
    """
    asked = constraints(bound_case)
    turned = [
        flip
        for condition in asked
        if of is None or condition.name in of
        for name in _moving(condition, bound_case)
        if name in among
        for flip in _flips(condition, name, asked, bound_case, waits)
    ]

    def nearness(flip: Flip) -> tuple[Any, ...]:
        far = flip.distance is None
        return far, round(flip.distance or 0.0, 12), UNCERTAIN.index(flip.name), flip.value

    return tuple(sorted(turned, key=nearness))


def never(bound_case: BoundCase, turned: Iterable[Flip]) -> tuple[str, ...]:
    """The inputs that move a side of some condition, and flip none whatever their value."""
    asked, flipping, case = constraints(bound_case), {f.name for f in turned}, bound_case.case
    by_input: dict[str, list[Constraint]] = defaultdict(list)
    for condition in asked:
        for name in _moving(condition, bound_case):
            by_input[name].append(condition)
    found = []
    for name in UNCERTAIN:
        conditions = by_input.get(name, ())
        if not conditions or name in flipping:
            continue
        # of what is zero now the least value may tip a limit that is met exactly: there is no crossing above zero
        there = case.changed({name: 1.0 if case.theory.symbol(name).counted else BEYOND})
        tips = not case.value(name) and any(_holds(c, there) is not _holds(c, case) for c in asked)
        if not tips and all(solution_of(condition, name, bound_case) for condition in conditions):
            found.append(name)
    return tuple(found)


def solution_of(
    condition: Constraint, unknown: str, bound_case: BoundCase, waits: bool = False
) -> Solution | None:
    """Where a condition is met with equality; None where a missing input leaves it open, and of a wait, unless ``waits`` are to be searched for, too.

    A search for a wait takes some tenths of a second, and is only made for what is no count.
    """
    counted = bound_case.case.theory.symbol(unknown).counted
    if condition.has_wait(bound_case.case) and (not waits or counted):
        return None
    asked = condition.equation, unknown
    same = (own.name for own in THRESHOLDS.values() if (own.equation, own.unknown) == asked)
    named = next(same, None)  # the review solves the named ones anyhow
    try:
        solution = solve(named or condition.equation, bound_case, None if named else unknown)
    except (InputError, NoValue):
        return None
    return None if solution.missing else solution


def _moving(condition: Constraint, bound_case: BoundCase) -> list[str]:
    """The uncertain inputs with a value now that a side of the condition is computed from."""
    case = bound_case.case
    used = condition.inputs(case)
    known = case.given.keys() | case.numbers.keys()
    return [n for n in UNCERTAIN if n in used and (n in known or default_of(n) is not None)]


def _holds(condition: Constraint, case: Case) -> bool | None:
    try:
        return condition.holds(case)
    except NoValue:
        return None


def _flips(
    condition: Constraint, name: str, asked: list[Constraint], bound_case: BoundCase, waits: bool
) -> Iterator[Flip]:
    """The nearest flip of one condition by one input above the value now, and the nearest below."""
    solution = solution_of(condition, name, bound_case, waits)
    if solution is None:
        return
    wrong_now = tuple(c.name for c in asked if not c.holds(bound_case.case))
    for up in (True, False):
        changes = list(islice(_turns(condition, solution, up), MOST_TURNS))
        if not changes:
            continue
        (crossing, value, beyond), *later = changes
        there = bound_case.case.changed({name: beyond})
        states = {c.name: _holds(c, there) for c in asked}
        if None in states.values():
            continue  # a second device without links in its spec: its state is unknown
        yield Flip(
            now=bound_case.result(name),
            constraint=condition,
            solution=solution,
            holds=bool(states[condition.name]),
            crossing=crossing,
            value=value,
            up=up,
            turns=tuple(turned for _, turned, _ in later),
            wrong=tuple(name for name, met in states.items() if not met),
            wrong_now=wrong_now,
        )


def _turns(
    condition: Constraint, solution: Solution, up: bool
) -> Iterator[tuple[float, float, float]]:
    """Away from the value now: each crossing at which the condition really changes, the value to act on, a point past it."""
    case, name = solution.bound_case.case, solution.unknown
    now, state = case.value(name), condition.holds(case)
    for crossing in sorted(solution.values, reverse=not up):
        if crossing < now if up else crossing > now:
            continue
        value = _first(condition, solution, case, crossing, not state, up)
        past = crossing * (1 + BEYOND if up else 1 - BEYOND)
        beyond = value if solution.declared.counted else past
        if not _means_something(name, beyond, case):
            continue
        if _holds(condition, case.changed({name: beyond})) is not state:
            state = not state
            yield crossing, value, beyond


def _first(
    condition: Constraint, solution: Solution, case: Case, crossing: float, holds: bool, up: bool
) -> float:
    """The first value past a crossing: of something counted the first whole number at which the condition has its new state.

    A crossing that is whole may have either state: a limit met exactly still holds, and where a sum ends at the unknown only
    whole numbers were searched, so the crossing is the first number past the change.
    """
    if not solution.declared.counted:
        return crossing
    there = case.changed({solution.unknown: crossing})
    if is_whole(crossing) and _holds(condition, there) is holds:
        return _possible(solution, int(crossing), up)
    return _possible(solution, math.floor(crossing) + 1 if up else math.ceil(crossing) - 1, up)


def _possible(solution: Solution, count: int, up: bool) -> float:
    """A whole number; of devices the next that can share out the heads."""
    devices = solution.unknown == "tp"
    return float(next(solution.degrees(count, up), count) if devices else count)


def _means_something(name: str, value: float, case: Case) -> bool:
    """Whether an input can have a value: a share is at most one, counted things begin at one, a prefix lies inside its prompt."""
    if name == "cached_prefix":
        return bool(0 <= value < case.value("prompt"))
    if name == "prompt" and case.has_value("cached_prefix"):
        return bool(value > case.value("cached_prefix"))
    if case.theory.symbol(name).counted:
        return value >= 1
    if name in WIDTHS:
        return bool(0 < value <= max(WIDEST, case.value(name)))
    return 0 < value <= (1 if name in SHARES else math.inf)
