"""What a configuration that fails lacks, and what one that passes could do without: each input solved, all conditions heeded."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symroof.analysis.tipping_points import Flip, flips, solution_of
from symroof.analysis.verdict import Constraint, constraints
from symroof.cases.bound_case import BoundCase
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case
from symroof.theory.declarations import default_of
from symroof.theory.symbols import SHARES
from symroof.theory.theory_files import listed

LEVERS = listed("moving", "lacks")
"""What can be bought, tuned or bargained for."""
BOUGHT = ("mem_capacity", "peak_flops", "mem_bandwidth", "price")
"""What a device brings: together they say what to look for in another."""
ENDLESS = 1e30
"""So many times an input that its share of a time is below the last digit of a double."""
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
        unsolved: the missed conditions that some value of it may meet, of which none is known: the wait at an arrival rate is not solved for counts.
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
    asked, case = constraints(bound_case), bound_case.case
    missed = [c for c in asked if not c.holds(case)]
    # what holds now flips for the worse: nothing is lacking there
    flipping = flips(bound_case, tuple(among), {c.name for c in missed}, waits=True)
    levers = []
    for name in (name for name in LEVERS if name in among):
        moved = [c for c in missed if _moves(name, [c], case)]
        if not moved:
            continue
        own = [flip for flip in flipping if flip.name == name]
        lever = _lever(name, asked, moved, own, bound_case)
        known = lever.now.symbol.counted and all(
            solution_of(c, name, bound_case) is not None for c in asked if _moves(name, [c], case)
        )  # that no number of something counted does; links may not be given
        if lever.flip or lever.cures or lever.stuck or lever.unsolved or known:
            levers.append(lever)
    return tuple(levers)


def _lever(
    name: str,
    asked: list[Constraint],
    moved: list[Constraint],
    flipping: list[Flip],
    bound_case: BoundCase,
) -> Lever:
    cures: dict[str, Flip] = {}
    for flip in flipping:
        if flip.holds:
            cures.setdefault(flip.condition, flip)
    good = next((flip for flip in flipping if flip.good), None)
    value = _sufficient(asked, bound_case.case, good) if good else None
    stuck: list[tuple[str, Result | None]] = []
    unsolved: list[str] = []
    for condition in moved if not good else ():
        if condition.name in cures:
            continue
        end = _end(condition, name, bound_case)
        if end is not None and not end[1]:
            stuck.append((condition.name, end[0]))
        elif end is not None or (name == "tp" and condition.has_wait(bound_case.case)):
            unsolved.append(condition.name)
    last = max(cures.values(), key=lambda f: f.distance or 0, default=None)
    breaks = [n for n in last.wrong if n not in last.wrong_now] if last and not good else []
    now, each = bound_case.result(name), tuple(cures.items())
    return Lever(now, good, value, each, tuple(stuck), tuple(breaks), tuple(unsolved))


def _moves(name: str, asked: list[Constraint], case: Case) -> bool:
    known = name in case.given or name in case.numbers or default_of(name) is not None
    return known and any(name in c.inputs(case) for c in asked)


def _end(
    condition: Constraint, name: str, bound_case: BoundCase
) -> tuple[Result | None, bool] | None:
    """A condition with a lever as far as it goes, a share at one, anything else without end: its metric, None of a wait without end, and whether it is met;
    None where the lever has no end, or is there."""
    case, share = bound_case.case, name in SHARES
    if case.theory.symbol(name).counted or (share and case.value(name) == 1):
        return None
    there = case.changed({name: 1.0 if share else case.value(name) * ENDLESS})
    try:
        met = condition.holds(there)
        if not there.has_value(condition.metric):
            return None, met
        fits = bound_case.fits is not None and there.value("fits")
        flags = (DOES_NOT_FIT,) if not fits and case.theory.timed(condition.metric) else ()
        symbol = case.theory.symbol(condition.metric)
        return Result(symbol, there.value(condition.metric), flags=flags), met
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
        found = (f for name in BOUGHT for f in flips(here, (name,), {condition.name}) if f.holds)
        cure = next(found, None)
        if cure is None:
            return None
        moved[cure.name] = _sufficient([condition], here.case, cure)
    there = _moved(bound_case, moved)
    if not all(c.holds(there.case) for c in constraints(bound_case)):
        return None
    symbol = bound_case.case.theory.symbol
    return {name: Result(symbol(name), value) for name, value in moved.items()}


def _moved(bound_case: BoundCase, changes: dict[str, Fraction]) -> BoundCase:
    return bound_case.at(bound_case.case.changed(changes)) if changes else bound_case


def _sufficient(asked: list[Constraint], case: Case, flip: Flip) -> Any:
    """A crossing at which the conditions hold: a root in floats may lie a hair short."""
    there = case.changed({flip.name: flip.value})
    short = not all(c.holds(there) for c in asked)
    return flip.value * (1 + (NUDGE if flip.up else -NUDGE) * short)


def last_passing(flip: Flip) -> Any:
    """The last value before a flip that still passes: just before the crossing, or the whole number before it."""
    nudge = 0 if flip.now.symbol.counted else -NUDGE if flip.up else NUDGE
    return flip.last * (1 + nudge)


def margins(bound_case: BoundCase, among: Iterable[str] = LEVERS) -> tuple[Flip, ...]:
    """For each lever of a configuration that passes, how far it can fall, or rise, until a condition breaks.

    >>> from symroof.analysis.study import Study
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, mfu=0.5, targets={"ttft": 0.2})
    >>> [(flip.name, flip.up, f"{float(last_passing(flip)):.4f}") for flip in margins(study.first, ["mfu"])]
    [('mfu', False, '0.3112')]
    """
    asked, case = constraints(bound_case), bound_case.case
    if not all(c.holds(case) for c in asked):
        return ()
    tightest = sorted(asked, key=lambda c: c.share(case), reverse=True)
    found = [flip for name in among for flip in _nearest(name, tightest, bound_case)]
    return tuple(sorted(found, key=lambda flip: LEVERS.index(flip.name)))


def _nearest(name: str, tightest: list[Constraint], bound_case: BoundCase) -> Iterator[Flip]:
    """The nearest flips of a lever that ruin what passes, downwards and upwards.

    More of a lever that is no count does a metric good, or harm, all along its axis: a condition that still holds where another breaks
    breaks further away, and is not solved. With the tightest condition first, those are mostly all others. Of a count the flip is left
    out where another condition, whose wait is not solved for it, breaks before.
    """
    nearest: dict[bool, Flip] = {}
    case, counted = bound_case.case, bound_case.case.theory.symbol(name).counted
    for condition in tightest:
        broken = {wrong for flip in nearest.values() for wrong in flip.wrong}
        if nearest and not counted and condition.name not in broken:
            continue
        for flip in flips(bound_case, (name,), {condition.name}, waits=True):
            before, ruins = nearest.get(flip.up), flip.wrong and not flip.wrong_now
            if ruins and (not before or (flip.distance or 0) < (before.distance or 0)):
                nearest[flip.up] = flip
    waiting = [c for c in tightest if counted and c.has_wait(case)]
    for flip in nearest.values():
        if all(c.holds(case.changed({name: flip.last})) for c in waiting):
            yield flip
