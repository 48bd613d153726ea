"""What a configuration that fails lacks, and what one that passes could do without: each input solved, all conditions heeded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from symroof.analysis.constraints import Constraint, constraints
from symroof.analysis.tipping_points import Flip, flips
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.declarations import default_of
from symroof.theory.symbols import SHARES

LEVERS = ("mfu", "mbu", "peak_flops", "mem_bandwidth", "mem_capacity", "tp", "price")
"""What can be bought, tuned or bargained for."""

BOUGHT = ("mem_capacity", "peak_flops", "mem_bandwidth", "price")
"""What a device brings: together they say what to look for in another."""

ENDLESS = Fraction(10) ** 30
"""So many times an input that its share of a time is below the last digit of a double."""

MOST_DEGREE, MOST_TRIED = 1025, 6
"""Degrees below the first are tried where the equation of a wait is not solved for them, so many at most."""

NUDGE = 1e-12
"""A crossing is known in double precision: so little further it is surely passed."""


@dataclass(frozen=True)
class Lever:
    """One input of a configuration that fails, solved for what would make it pass.

    Attributes:
        now: the input as it is.
        flip: where everything holds, the nearest; None where no value of this input alone does it.
        value: what makes it pass: a limit met exactly, or the first whole number.
        cures: the missed conditions that it can meet, each with where.
        stuck: the missed conditions that it does not cure however far it goes, and their metric at its end; None of a wait that has no end there either.
        unsolved: the missed conditions that some value of it may meet, of which none is known.
        breaks: the conditions that go wrong where all that it can cure is cured.
    """

    now: Result
    flip: Flip | None
    value: Fraction | None
    cures: tuple[tuple[str, Flip], ...]
    stuck: tuple[tuple[str, Result | None], ...]
    breaks: tuple[str, ...] = ()
    unsolved: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.now.name


@dataclass(frozen=True)
class Margin:
    """One input of a configuration that passes: how far it can fall, or rise, until a condition breaks."""

    flip: Flip

    @property
    def name(self) -> str:
        return self.flip.name

    @property
    def side(self) -> str:
        return "at_most" if self.flip.up else "at_least"

    @property
    def value(self) -> Any:
        """The last value that passes: just before the crossing, or the whole number before it."""
        flip = self.flip
        return (
            flip.last
            if flip.now.symbol.counted
            else flip.last * (1 - NUDGE if flip.up else 1 + NUDGE)
        )


def required_changes(bound_case: BoundCase, among: Collection[str] = LEVERS) -> tuple[Lever, ...]:
    """For each lever that moves a missed condition: the value at which everything holds, or why there is none.

    >>> from symroof.analysis.study import Study
    >>> study = Study(model="llama-3-8b", hardware="a100-80gb-sxm", prompt=4096, mfu=0.5, targets={"ttft": 0.2})
    >>> for lever in required_changes(study.first)[:3]:
    ...     print(lever.name, lever.flip and lever.flip.at.text(), [metric.text() for _, metric in lever.stuck])
    mfu 0.9868 []
    peak_flops 615.7 TFLOP/s []
    mem_bandwidth None ['394.7 ms']
    """
    asked = constraints(bound_case)
    missed = [c for c in asked if not c.holds(bound_case.case)]
    flipping = flips(
        bound_case, tuple(among), {c.name for c in missed}, waits=True
    )  # what holds now flips for the worse: nothing is lacking there
    moving = [name for name in LEVERS if name in among and _moves(name, missed, bound_case.case)]
    levers = [
        _lever(name, asked, [f for f in flipping if f.name == name], bound_case) for name in moving
    ]
    return tuple(
        lever
        for lever in levers
        if lever.flip
        or lever.cures
        or lever.stuck
        or lever.unsolved
        or (lever.now.symbol.counted and _solvable(lever.name, asked, bound_case))
    )


def _lever(
    name: str, asked: list[Constraint], flipping: list[Flip], bound_case: BoundCase
) -> Lever:
    missed = [c for c in asked if not c.holds(bound_case.case)]
    moved = [c for c in missed if _moves(name, [c], bound_case.case)]
    cures = {
        c.name: next(f for f in flipping if f.condition == c.name and f.holds)
        for c in moved
        if any(f.condition == c.name and f.holds for f in flipping)
    }
    good = next((f for f in flipping if f.good), None) or _first_that_does(
        name, missed, asked, bound_case
    )
    value = _sufficient(asked, bound_case.case, good) if good else None
    others = [] if good else [c for c in moved if c.name not in cures]
    ends = {c.name: _end(c, name, bound_case) for c in others}
    last = max(cures.values(), key=lambda f: f.distance or 0, default=None)
    return Lever(
        bound_case.result(name),
        good,
        value,
        tuple(cures.items()),
        stuck=tuple(
            (condition, end.metric) for condition, end in ends.items() if end and not end.met
        ),
        breaks=tuple(n for n in last.wrong if n not in last.wrong_now) if last and not good else (),
        unsolved=tuple(c.name for c in others if _unsolved(c, name, ends[c.name], bound_case)),
    )


def _unsolved(
    condition: Constraint, name: str, end: AtTheEnd | None, bound_case: BoundCase
) -> bool:
    """Whether some value of a lever may meet a condition, and none is known: it is met at the lever's end, or all numbers that were tried are too few."""
    if end is not None:
        return end.met
    return (
        name == "tp"
        and condition.has_wait(bound_case.case)
        and None
        not in [_met(condition, bound_case.case, number) for number in tried(bound_case.case)]
    )


def tried(case: Case) -> list[int]:
    """The next numbers of devices that can share out the heads: they are tried where the equation of a wait is not solved for them."""
    now = int(case.value("tp"))
    return list(
        islice((n for n in range(now + 1, MOST_DEGREE) if case.can_split_heads(n)), MOST_TRIED)
    )


def _met(condition: Constraint, case: Case, number: int) -> bool | None:
    """Whether a condition is met on so many devices; None where that is not known, as without links."""
    try:
        return condition.holds(case.changed({"tp": Fraction(number)}))
    except NoValue:
        return None


def _first_that_does(
    name: str, missed: list[Constraint], asked: list[Constraint], bound_case: BoundCase
) -> Flip | None:
    """The first number of devices that were tried with which everything holds, where a wait is missed."""
    case = bound_case.case
    waiting = next((c for c in missed if c.has_wait(case)), None)
    if name != "tp" or waiting is None:
        return None
    now = case.value(name)
    number = next(
        (Fraction(number) for number in tried(case) if all(_met(c, case, number) for c in asked)),
        None,
    )
    if number is None:
        return None
    last = max((float(other) for other in tried(case) if other < number), default=float(now))
    wrong_now = tuple(c.name for c in missed)
    return Flip(
        bound_case.result(name),
        waiting.name,
        True,
        float(number),
        float(number),
        last,
        True,
        (),
        (),
        wrong_now,
        lambda: (None, None, True),
        frozenset,
    )


def _moves(name: str, asked: list[Constraint], case: Case) -> bool:
    known = name in case.given or name in case.numbers or default_of(name) is not None
    return known and any(name in c.inputs(case) for c in asked)


def _solvable(name: str, asked: list[Constraint], bound_case: BoundCase) -> bool:
    """Whether it is known that no number of something counted does: links may not be given."""
    return all(
        c.solution(name, bound_case) is not None
        for c in asked
        if _moves(name, [c], bound_case.case)
    )


@dataclass(frozen=True)
class AtTheEnd:
    """A condition with a lever as far as it goes: the metric, None where the wait has no end there either, and whether it is met."""

    metric: Result | None
    met: bool


def _end(condition: Constraint, name: str, bound_case: BoundCase) -> AtTheEnd | None:
    """A condition with a lever at its end, a share at one, anything else without end; None where it has no end, or is there."""
    if bound_case.case.theory.symbol(name).counted or (
        name in SHARES and bound_case.case.value(name) == 1
    ):
        return None
    there = bound_case.case.changed(
        {name: Fraction(1) if name in SHARES else bound_case.case.value(name) * ENDLESS}
    )
    try:
        met = condition.holds(there)
        flags = () if bound_case.fits is not None and there.value("fits") else (DOES_NOT_FIT,)
        metric = bound_case.case.theory.symbol(condition.metric)
        if not there.has_value(condition.metric):
            return AtTheEnd(None, met)
        return AtTheEnd(
            Result(
                metric,
                there.value(condition.metric),
                flags=flags if bound_case.case.theory.timed(condition.metric) else (),
            ),
            met,
        )
    except NoValue:
        return None


def combined_change(bound_case: BoundCase) -> dict[str, Result] | None:
    """What another device has to bring where several things fail: the least of each, in turn; None where that does not do.

    Each missed condition is cured by the first of capacity, peak, bandwidth and price that can, with what was cured before
    it in place; the whole is then evaluated anew.
    """
    moved: dict[str, Fraction] = {}
    for condition in constraints(bound_case):
        here = _moved(bound_case, moved)
        if condition.holds(here.case):
            continue
        cure = next(
            (f for name in BOUGHT for f in flips(here, (name,), {condition.name}) if f.holds), None
        )
        if cure is None:
            return None
        moved[cure.name] = _sufficient([condition], here.case, cure)
    there = _moved(bound_case, moved)
    if not all(c.holds(there.case) for c in constraints(bound_case)):
        return None
    return {
        name: Result(bound_case.case.theory.symbol(name), value) for name, value in moved.items()
    }


def _moved(bound_case: BoundCase, changes: dict[str, Fraction]) -> BoundCase:
    return bound_case.at(bound_case.case.changed(changes)) if changes else bound_case


def _sufficient(asked: list[Constraint], case: Case, flip: Flip) -> Any:
    """A crossing at which the conditions hold: a root in floats may lie a hair short."""
    there = case.changed({flip.name: flip.value})
    return (
        flip.value
        if all(c.holds(there) for c in asked)
        else flip.value * (1 + NUDGE if flip.up else 1 - NUDGE)
    )


def margins(bound_case: BoundCase, among: Iterable[str] = LEVERS) -> tuple[Margin, ...]:
    """For each lever, how far it can go until what passes now does not.

    >>> from symroof.analysis.study import Study
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, mfu=0.5, targets={"ttft": 0.2})
    >>> [(keep.name, keep.side, f"{float(keep.value):.4f}") for keep in margins(study.first, ["mfu"])]
    [('mfu', 'at_least', '0.3112')]
    """
    asked, case = constraints(bound_case), bound_case.case
    if not all(c.holds(case) for c in asked):
        return ()
    tightest = sorted(asked, key=lambda c: c.share(case), reverse=True)
    keeping = (Margin(flip) for name in among for flip in _nearest(name, tightest, bound_case))
    return tuple(sorted(keeping, key=lambda keep: LEVERS.index(keep.name)))


def _nearest(name: str, tightest: list[Constraint], bound_case: BoundCase) -> Iterator[Flip]:
    """The nearest flips of a lever that ruin what passes, downwards and upwards.

    More of a lever that is no count does a metric good, or harm, all along its axis: a condition that still holds where another breaks
    breaks further away, and is not solved. With the tightest condition first, those are mostly all others. Of a count the flip is left
    out where another condition, whose wait is not solved for it, breaks before.
    """
    nearest: dict[bool, Flip] = {}
    case, counted = bound_case.case, bound_case.case.theory.symbol(name).counted
    for condition in tightest:
        if (
            nearest
            and not counted
            and not any(condition.name in flip.wrong for flip in nearest.values())
        ):
            continue
        for flip in flips(bound_case, (name,), {condition.name}, waits=True):
            if flip.ruins and (
                flip.up not in nearest or (flip.distance or 0) < (nearest[flip.up].distance or 0)
            ):
                nearest[flip.up] = flip
    waiting = [c for c in tightest if counted and c.has_wait(case)]
    return (
        flip
        for flip in nearest.values()
        if all(c.holds(case.changed({name: flip.last})) for c in waiting)
    )
