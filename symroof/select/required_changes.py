"""What a configuration that fails lacks, and what one that passes could do without: each input solved, all conditions heeded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.constraints import Condition, conditions
from symroof.analysis.tipping_points import Flip, flips
from symroof.cases.case_results import Answers
from symroof.cases.quantity_result import DOES_NOT_FIT, Result
from symroof.formula.evaluate import NoValue
from symroof.theory.case import Case
from symroof.theory.defaults import default_of
from symroof.theory.symbols import SHARES

LEVERS = ("mfu", "mbu", "peak_flops", "mem_bandwidth", "mem_capacity", "tp", "price")
"""What can be bought, tuned or bargained for."""

BOUGHT = ("mem_capacity", "peak_flops", "mem_bandwidth", "price")
"""What a device brings: together they say what to look for in another."""

ENDLESS = Fraction(10) ** 30
"""So many times an input that its share of a time is below the last digit of a double."""

NUDGE = Fraction(1, 10**20)
"""A crossing that is a root is known to 40 digits: so little further it is surely passed."""


@dataclass(frozen=True)
class Lever:
    """One input of a configuration that fails, solved for what would make it pass.

    Attributes:
        now: the input as it is.
        flip: where everything holds, the nearest; None where no value of this input alone does it.
        value: what makes it pass: a limit met exactly, or the first whole number.
        cures: the missed conditions that it can meet, each with where.
        stuck: the missed conditions that it moves or would have to, and their best metric at its end, as far as it goes.
        breaks: the conditions that go wrong where all that it can cure is cured.
    """

    now: Result
    flip: Flip | None
    value: Fraction | None
    cures: tuple[tuple[str, Flip], ...]
    stuck: tuple[tuple[str, Result], ...]
    breaks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.now.name


@dataclass(frozen=True)
class Keep:
    """One input of a configuration that passes: how far it can fall, or rise, until a condition breaks."""

    flip: Flip

    @property
    def name(self) -> str:
        return self.flip.name

    @property
    def side(self) -> str:
        return "at_most" if self.flip.up else "at_least"

    @property
    def value(self) -> Fraction:
        """The last value that passes: the crossing, or the whole number before it."""
        return self.flip.last


def lacks(answers: Answers) -> tuple[Lever, ...]:
    """For each lever that moves a missed condition: the value at which everything holds, or why there is none.

    >>> from symroof.analysis.study import Study
    >>> study = Study(model="llama-3-8b", hardware="a100-80gb-sxm", prompt=4096, mfu=0.5, targets={"ttft": 0.2})
    >>> for lever in lacks(study.first)[:3]:
    ...     print(lever.name, lever.flip and lever.flip.at.text(), [metric.text() for _, metric in lever.stuck])
    mfu 0.9868 []
    peak_flops 615.7 TFLOP/s []
    mem_bandwidth None ['394.7 ms']
    """
    asked = conditions(answers)
    missed = [c for c in asked if not c.holds(answers.case)]
    flipping = flips(answers, LEVERS, {c.name for c in missed})  # what holds now flips for the worse: nothing is lacking there
    levers = [_lever(name, asked, [f for f in flipping if f.name == name], answers) for name in LEVERS if _moves(name, missed, answers.case)]
    return tuple(lever for lever in levers if lever.cures or lever.stuck or (lever.now.symbol.counted and _solvable(lever.name, asked, answers)))


def _lever(name: str, asked: list[Condition], flipping: list[Flip], answers: Answers) -> Lever:
    missed = [c for c in asked if not c.holds(answers.case)]
    moved = [c for c in missed if _moves(name, [c], answers.case)]
    cures = {c.name: next(f for f in flipping if f.condition == c.name and f.holds) for c in moved if any(f.condition == c.name and f.holds for f in flipping)}
    good = next((f for f in flipping if f.good), None)
    value = _enough(asked, answers.case, good) if good else None
    stuck = [] if good else [(c.name, best) for c in moved if c.name not in cures and (best := _best(c, name, answers)) is not None]
    last = max(cures.values(), key=lambda f: f.distance or 0, default=None)
    breaks = tuple(n for n in last.wrong if n not in last.wrong_now) if last and not good else ()
    return Lever(answers.result(name), good, value, tuple(cures.items()), tuple(stuck), breaks)


def _moves(name: str, asked: list[Condition], case: Case) -> bool:
    known = name in case.given or name in case.numbers or default_of(name) is not None
    return known and any(name in c.inputs(case) for c in asked)


def _solvable(name: str, asked: list[Condition], answers: Answers) -> bool:
    """Whether it is known that no number of something counted does: links may not be given."""
    return all(c.solved(name, answers) is not None for c in asked if _moves(name, [c], answers.case))


def _best(condition: Condition, name: str, answers: Answers) -> Result | None:
    """The metric of a condition with a lever at its end: a share at one, anything else without end; None where it has no end, or is there."""
    if answers.case.theory.symbol(name).counted or (name in SHARES and answers.case.value(name) == 1):
        return None
    end = Fraction(1) if name in SHARES else answers.case.value(name) * ENDLESS
    try:
        there = answers.case.changed({name: end})
        flags = () if answers.fits is not None and there.value("fits") else (DOES_NOT_FIT,)
        metric = answers.case.theory.symbol(condition.metric)
        return Result(metric, there.value(condition.metric), flags=flags if answers.case.theory.timed(condition.metric) else ())
    except NoValue:
        return None


def together(answers: Answers) -> dict[str, Result] | None:
    """What another device has to bring where several things fail: the least of each, in turn; None where that does not do.

    Each missed condition is cured by the first of capacity, peak, bandwidth and price that can, with what was cured before
    it in place; the whole is then evaluated anew.
    """
    moved: dict[str, Fraction] = {}
    for condition in conditions(answers):
        here = _moved(answers, moved)
        if condition.holds(here.case):
            continue
        cure = next((f for name in BOUGHT for f in flips(here, (name,), {condition.name}) if f.holds), None)
        if cure is None:
            return None
        moved[cure.name] = _enough([condition], here.case, cure)
    there = _moved(answers, moved)
    if not all(c.holds(there.case) for c in conditions(answers)):
        return None
    return {name: Result(answers.case.theory.symbol(name), value) for name, value in moved.items()}


def _moved(answers: Answers, changes: dict[str, Fraction]) -> Answers:
    return Answers(answers.binding, moved=answers.case.changed(changes)) if changes else answers


def _enough(asked: list[Condition], case: Case, flip: Flip) -> Fraction:
    """A crossing at which the conditions hold: a root of 40 digits may lie a hair short."""
    there = case.changed({flip.name: flip.value})
    return flip.value if all(c.holds(there) for c in asked) else flip.value * (1 + NUDGE if flip.up else 1 - NUDGE)


def keeps(answers: Answers, among: Iterable[str] = LEVERS) -> tuple[Keep, ...]:
    """For each lever, how far it can go until what passes now does not.

    >>> from symroof.analysis.study import Study
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, mfu=0.5, targets={"ttft": 0.2})
    >>> [(keep.name, keep.side, f"{float(keep.value):.4f}") for keep in keeps(study.first, ["mfu"])]
    [('mfu', 'at_least', '0.3112')]
    """
    nearest: dict[tuple[str, bool], Flip] = {}
    for flip in flips(answers, tuple(among)):
        if flip.ruins:
            nearest.setdefault((flip.name, flip.up), flip)
    return tuple(Keep(flip) for flip in sorted(nearest.values(), key=lambda f: LEVERS.index(f.name)))
