"""Which batches pass: memory and every target solved for the batch, whole numbers looked at beside each crossing, nothing scanned; under load bisected."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from symroof.analysis.constraints import Constraint, constraints
from symroof.analysis.solution import Solution
from symroof.cases.bound_case import BoundCase
from symroof.select.screening import Screening, screen
from symroof.symbolic.evaluation import NoValue
from symroof.theory.case import Case


@dataclass(frozen=True)
class Window:
    """The batches that pass, up to the largest.

    Attributes:
        least, most: every batch between them passes; ``most`` is None where no batch is too large.
        stopped_by: the conditions that the next batch breaks.
    """

    least: int
    most: int | None
    stopped_by: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.least:,} or more"
        return f"{self.most:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


def window(bound_case: BoundCase) -> Window | None:
    """The largest batch that fits and meets every target, and how far down from it every batch does; None where no batch does.

    Targets on a server under load are bisected over whole batches. Else each condition is solved for the batch. Between crossings nothing changes over, so that the whole numbers next to the
    crossings are all there is to look at. Over ranges a batch passes where it does at every corner.

    >>> from symroof.analysis.study import Study
    >>> study = Study(model="llama-3-8b", hardware="h100-sxm", prompt=4096, output=512, targets={"itl": 0.02})
    >>> batches = window(study.first)
    >>> batches.most, batches.stopped_by
    (58, ('itl',))
    """
    screenings = _screened(bound_case)
    if screenings:
        if not all(screening.most for screening in screenings):
            return None
        tightest = min(screenings, key=lambda screening: screening.most)
        least = max(screening.least for screening in screenings)
        return Window(least, tightest.most, tightest.stopped_by) if least <= tightest.most else None
    asked = constraints(bound_case)
    moved = [c for c in asked if "batch" in bound_case.case.inputs_used(*c.sides)]
    corners = (bound_case.case, *bound_case.corners)
    if not _hold([c for c in asked if c not in moved], corners):
        return None  # no batch changes that
    solutions = [c.solution("batch", bound_case) for c in moved]
    if None in solutions:
        return None
    known = [solution for solution in solutions if solution]
    crossings = {value for solution in known for value in solution.values}
    middle = _between(crossings, moved, corners[:1])
    if middle is None or len(corners) == 1:
        return middle
    at = Fraction(middle.most or middle.least)
    try:
        worst = [
            max(bound_case.corners, key=lambda case: c.share(case.changed({"batch": at})))
            for c in moved
        ]
    except NoValue:  # at a corner a target has no metric, at any batch: a response of one token has no decode steps
        return None
    inner = _between(
        crossings
        | {value for s, case in zip(known, worst, strict=True) for value in _at_corner(s, case)},
        moved,
        corners,
    )
    if inner is not None and not _reaches(inner, moved, corners):
        return inner
    everywhere = {value for s in known for values in s.at_corners for value in values}
    return _between(crossings | everywhere, moved, corners)


def _at_corner(solution: Solution, case: Case) -> tuple[Fraction, ...]:
    """The crossings at one corner of the ranges."""
    corners = solution.bound_case.corners
    place = next(i for i, corner in enumerate(corners) if corner is case)
    return solution.at_corners[place] if solution.at_corners else ()


def _screened(bound_case: BoundCase) -> list[Screening]:
    """The screening at every corner; nothing where one has none."""
    corners = [bound_case.at(case) for case in bound_case.corners] or [bound_case]
    screenings = screen(corners, own=False)
    return [screening for screening in screenings if screening] if None not in screenings else []


def _between(
    crossings: Collection[Fraction], asked: list[Constraint], corners: Sequence[Case]
) -> Window | None:
    """The window that the crossings allow: checked next to each of them, and at one batch."""
    whole = sorted({n for value in crossings for n in _beside(value)} | {1})
    beyond = whole[-1] + 1
    if _passes(beyond, asked, corners):
        return Window(_least(beyond, whole, asked, corners), None)
    most = next((n for n in reversed(whole) if _passes(n, asked, corners)), None)
    if most is None:
        return None
    stopped = tuple(c.name for c in asked if not _passes(most + 1, [c], corners))
    return Window(_least(most, whole, asked, corners), most, stopped)


def _reaches(window: Window, asked: list[Constraint], corners: Sequence[Case]) -> bool:
    """Whether a batch next to the window passes too, so that a corner is missing."""
    ends = [window.least - 1, *([window.most + 1] if window.most else [])]
    return any(n >= 1 and _passes(n, asked, corners) for n in ends)


def _beside(value: Fraction) -> tuple[int, ...]:
    """The whole numbers next to a crossing, which may lie on one."""
    down = math.floor(value)
    return tuple(n for n in range(down - 1, down + 3) if n >= 1)


def _passes(batch: int, asked: list[Constraint], corners: Sequence[Case]) -> bool:
    return _hold(asked, [case.changed({"batch": Fraction(batch)}) for case in corners])


def _hold(asked: list[Constraint], corners: Iterable[Case]) -> bool:
    try:
        return all(c.holds(case) for case in corners for c in asked)
    except NoValue:
        return False


def _least(most: int, whole: list[int], asked: list[Constraint], corners: Sequence[Case]) -> int:
    """Down from the largest batch that passes to the last one below it that still does."""
    least = most
    for n in (n for n in reversed(whole) if n < most):
        if not _passes(n, asked, corners):
            return least
        least = n
    return 1
