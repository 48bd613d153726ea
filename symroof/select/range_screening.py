"""The screening over ranges: a batch and copies that do at every corner of them, and their results at the expected values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from symroof.cases.bound_case import BoundCase
from symroof.select.screening import Screening, screen

Vary = Callable[..., BoundCase]


@dataclass(frozen=True)
class _Corners:
    """One configuration's corners, screened; ``middle`` is at the middle of its ranges."""

    every: tuple[Screening, ...]
    middle: Screening

    @property
    def most(self) -> int:
        """The largest batch that does at every corner; 0 where none does."""
        return min(corner.most for corner in self.every)

    @property
    def tightest(self) -> Screening:
        return min(self.every, key=lambda corner: corner.most)

    @property
    def copies(self) -> int | None:
        """As many copies as the corner that takes most of them; None where their number is chosen or no number does."""
        counts = [corner.copies for corner in self.every]
        return None if None in counts else max(count for count in counts if count is not None)


def screen_ranges(cases: Sequence[BoundCase], varied: Vary) -> list[Screening | None]:
    """Each configuration with ranges, at a batch and copies that pass at every corner where there are such; None where a corner is not screened.

    ``varied`` binds a configuration anew with some inputs changed.
    """
    corners = _at_corners(cases)
    batches = [
        {} if own is None or "batch" in a.given else {"batch": min(c.batch for c in own.every)}
        for a, own in zip(cases, corners, strict=True)
    ]
    corners_at = _corners_again(cases, batches, corners, varied)
    counts = [1 if own is None else own.copies or 1 for own in corners_at]
    fleets = [
        {**batch, "dp": count} if count > 1 else {}
        for batch, count in zip(batches, counts, strict=True)
    ]
    settled = _corners_again(cases, fleets, corners_at, varied)
    made = [
        None
        if at_first is None or there is None
        else _at_one_batch(at_first, there, own.copies if own else None)
        for at_first, own, there in zip(corners, corners_at, settled, strict=True)
    ]
    return _with_ends(cases, fleets, made, varied)


def _with_ends(
    cases: Sequence[BoundCase],
    fleets: Sequence[Mapping[str, int]],
    made: Sequence[Screening | None],
    varied: Vary,
) -> list[Screening | None]:
    """The same with values at the smallest, the busiest and the largest batch that pass, at the middle of the ranges."""
    ends = [
        (i, batch)
        for i, one in enumerate(made)
        if one and one.most
        for batch in sorted({one.least, one.busiest, one.most} - {one.batch})
    ]
    there = [varied(cases[i], **{**fleets[i], "batch": batch}) for i, batch in ends]
    reached = screen([bound_case.at(bound_case.case) for bound_case in there])
    values: dict[int, dict[int, Mapping[str, float]]] = {}
    for (i, batch), end in zip(ends, reached, strict=True):
        if end is not None:
            values.setdefault(i, {})[batch] = end.values[batch]
    return [
        replace(one, values={**one.values, **values[i]}) if one and i in values else one
        for i, one in enumerate(made)
    ]


def _corners_again(
    cases: Sequence[BoundCase],
    changes: Sequence[Mapping[str, int]],
    before: Sequence[_Corners | None],
    varied: Vary,
) -> list[_Corners | None]:
    """The corners of those configurations that change, all at once; as they were of the others."""
    moved = [i for i, change in enumerate(changes) if change and before[i] is not None]
    made = list(before)
    for i, corners in zip(
        moved, _at_corners([varied(cases[i], **changes[i]) for i in moved]), strict=True
    ):
        made[i] = corners
    return made


def _at_one_batch(at_first: _Corners, there: _Corners, copies: int | None) -> Screening:
    """The screening at one batch and one number of copies for all corners; ``at_first`` each had its own."""
    batch = there.middle.batch
    shares, fast = (
        {name: of(corner.shares[name] for corner in there.every) for name in there.middle.shares}
        for of in (max, min)
    )
    values = {batch: there.middle.values[batch]}
    if not all(corner.passes for corner in there.every):
        return Screening(0, 1, 1, copies, batch, (), shares, values, fast=fast)
    least = max(corner.least for corner in there.every)
    most = at_first.most or batch
    return Screening(
        most,
        least,
        min(max(there.middle.busiest, least), most),
        copies,
        batch,
        at_first.tightest.stopped_by,
        shares,
        values,
    )


def _at_corners(cases: Sequence[BoundCase]) -> list[_Corners | None]:
    """All corners of all configurations at once."""
    each = [
        [bound_case.at(case) for case in (*bound_case.corners, bound_case.case)]
        for bound_case in cases
    ]
    results = iter(screen([bound_case for corners in each for bound_case in corners]))
    made: list[_Corners | None] = []
    for corners in each:
        own = [next(results) for _ in corners]
        known = [screening for screening in own if screening is not None]
        made.append(_Corners(tuple(known[:-1]), known[-1]) if len(known) == len(own) > 1 else None)
    return made
