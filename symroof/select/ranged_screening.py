"""The screening over ranges: a batch and copies that do at every corner of them, and what they come to at the values expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from symroof.analysis.verdict import LOAD
from symroof.cases.case_results import Answers
from symroof.select.screening import CLOSE, Screened, screened

Varied = Callable[..., Answers]


@dataclass(frozen=True)
class _Corners:
    """One configuration's corners, screened; ``middle`` is where its ranges stand."""

    every: tuple[Screened, ...]
    middle: Screened

    @property
    def most(self) -> int:
        """The largest batch that does at every corner; 0 where none does."""
        return min(corner.most for corner in self.every)

    @property
    def tightest(self) -> Screened:
        return min(self.every, key=lambda corner: corner.most)

    @property
    def copies(self) -> int | None:
        """As many copies as the corner that takes most of them; None where their number is chosen or no number does."""
        counts = [corner.copies for corner in self.every]
        return None if None in counts else max(count for count in counts if count is not None)


def screened_over_ranges(cases: Sequence[Answers], varied: Varied) -> list[Screened | None]:
    """Each configuration with ranges, at a batch and copies that pass at every corner where there are such; None where a corner is not screened.

    ``varied`` binds a configuration anew with some inputs changed.
    """
    made: list[Screened | None] = []
    for answers, corners in zip(cases, _at_corners(cases), strict=True):
        if corners is None:
            made.append(None)
            continue
        chosen = {} if "batch" in answers.binding.given else {"batch": min(corner.batch for corner in corners.every)}
        made.append(_settled(answers, chosen, corners, varied))
    return made


def _settled(answers: Answers, chosen: dict[str, int], corners: _Corners, varied: Varied) -> Screened | None:
    """The screening at one batch and one number of copies for all corners."""
    copies = None
    at_batch: list[_Corners | None] = [corners]
    if chosen:
        at_batch = _at_corners([varied(answers, **chosen)])
    if at_batch[0] is not None and (copies := at_batch[0].copies) is not None and copies > 1:
        at_batch = _at_corners([varied(answers, **chosen, dp=copies)])
    there = at_batch[0]
    if there is None:
        return None
    batch = there.middle.batch
    passes = all(corner.passes for corner in there.every)
    fails = any(_misses(name, min(corner.shares[name] for corner in there.every)) for name in there.middle.shares)
    shares = {name: max(corner.shares[name] for corner in there.every) for name in there.middle.shares} if passes or fails else {}
    values = {batch: there.middle.values[batch] if shares else {}}
    least = max(corner.least for corner in there.every) if passes else 1
    most = corners.most if passes else 0
    return Screened(most, least, copies, batch, corners.tightest.stopped_by, shares, values)


def _misses(name: str, share: float) -> bool:
    return share > 1 + CLOSE or (name == LOAD and share >= 1)


def _at_corners(cases: Sequence[Answers]) -> list[_Corners | None]:
    """All corners of all configurations at once."""
    each = [[replace(answers, moved=case, _memo={}) for case in (*answers.corners, answers.case)] for answers in cases]
    results = iter(screened([answers for corners in each for answers in corners]))
    made: list[_Corners | None] = []
    for corners in each:
        own = [next(results) for _ in corners]
        known = [screening for screening in own if screening is not None]
        made.append(_Corners(tuple(known[:-1]), known[-1]) if len(known) == len(own) > 1 else None)
    return made
