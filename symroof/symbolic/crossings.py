"""The one search: where two sides meet along an axis, for several cases at once.

The sides are looked at on a logarithmic grid in one call, then between the points where they change over, come near each other, or begin to have a
value, again in one call for all places together. What is found is looked at from both sides: a pole is no crossing, a jump is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symroof.symbolic.axis_points import SAME, SECTIONS, Axis, Crossings, Gap, Points, Sides

ROUNDED = 4e-15
"""A crossing that near a short number is that number."""
NEAR, POLE_GROWTH = 1e-12, 1e4
"""How near a change of sides is looked at, and how much larger the difference is there if it is a pole."""


def crossings(sides: Sides, axes: Sequence[Axis]) -> list[Crossings]:
    """The crossings of each case along its axis.

    >>> line, curve = Axis(), Axis(high=10.0)
    >>> crossings(lambda x, case: (np.where(case == 0, 3*x, (x - 4)**2), 6.0 + 0*x), [line, curve])[0].values
    (2.0,)
    >>> [round(x, 9) for x in crossings(lambda x, _: ((x - 4)**2, 6.0 + 0*x), [curve])[0].values]
    [1.550510257, 6.449489743]
    >>> crossings(lambda x, _: (np.ceil(x/16), 3.5 + 0*x), [line])[0].values
    (48.0,)
    >>> crossings(lambda x, _: (1/(x - 2), 0.0*x), [line])[0].verdict
    'lhs_below'
    """
    with np.errstate(all="ignore"):
        return _found(Gap(sides), axes, axes[0].whole)


def _found(gap: Gap, axes: Sequence[Axis], whole: bool) -> list[Crossings]:
    """The search, in the order of its looks: the grid, its edges and dips, and what changes over between its points."""
    points = Points.of(gap, axes)
    points = points.with_edges(gap, whole)
    spans = [points.of_case(i).span() for i in range(len(axes))]
    points = points.without_fading()
    if not whole:
        points = points.with_dips(gap)
    points = points.beside_zeros(gap, whole)
    if not whole:
        points = points.without_narrow(gap)
    changes = points.changes()
    a, b, case = points.x[changes], points.x[changes + 1], points.case[changes]
    before, around = (
        points.y[changes],
        np.maximum(np.abs(points.y[changes]), np.abs(points.y[changes + 1])),
    )
    roots = _narrowed(gap, a, b, before, case, whole)
    poles = np.zeros(len(roots), dtype=bool) if whole else _poles(gap, roots, case, around)
    answers = []
    for i, axis in enumerate(axes):
        own = points.of_case(i)
        met = [
            *roots[(case == i) & ~poles],
            *own.zeros(gap, whole, i),
            *_below_one(gap, own, axis, i),
        ]
        beyond = roots[(case == i) & poles]
        answers.append(own.answer(sorted({_plain(gap, x, i) for x in met}), beyond, spans[i]))
    return answers


def _narrowed(gap: Gap, a: Any, b: Any, before: Any, case: Any, whole: bool) -> Any:
    """The crossing between each two points, all together: the stretches are parted evenly, and around where a secant meets zero.

    A secant comes so near a smooth crossing that points around it close the bracket within a few turns; a jump takes one turn a
    digit. Of whole numbers it is the first behind the change.
    """
    if not len(a):
        return a
    side = np.sign(before)
    ya, yb = before, gap(b, case, exactly=True)
    shares = np.r_[np.linspace(0, 1, SECTIONS + 1)[1:-1]][:, None]
    beside = np.r_[0, [sign * 10.0**-k for k in (2, 4, 6, 8) for sign in (-1, 1)]][:, None]
    for _ in range(60):
        width = b - a
        if np.all(width <= (1 if whole else 4e-16 * np.abs(b))):
            break
        secant = np.where(ya != yb, a + width * ya / (ya - yb), (a + b) / 2)
        points = np.clip(np.concatenate([a + width * shares, secant + width * beside]), a, b)
        points = np.sort(
            np.where(np.isnan(points), (a + b) / 2, np.floor(points) if whole else points), axis=0
        )
        y = gap(points, np.broadcast_to(case, points.shape), exactly=True)
        beyond = (y * side <= 0) & (points > a)
        place = np.where(beyond.any(axis=0), np.argmax(beyond, axis=0), len(points))
        rows = np.arange(len(a))
        points, y = np.vstack([a, points, b]), np.vstack([ya, y, yb])
        a, b, ya, yb = (
            points[place, rows],
            points[place + 1, rows],
            y[place, rows],
            y[place + 1, rows],
        )
        ya = np.where(np.isnan(ya), side, ya)
        b, yb = np.where(a > b, a, b), np.where(np.isnan(yb), -side, yb)
    return b


def _poles(gap: Gap, roots: Any, case: Any, around: Any) -> Any:
    """Whether the sides change over because they diverge: the gap beside the place is far larger than around it."""
    near = [np.abs(gap(roots * (1 + step), case)) for step in (-NEAR, NEAR)]
    return np.fmin(*near) > POLE_GROWTH * around


def _below_one(gap: Gap, points: Points, axis: Axis, case: int) -> list[float]:
    """The crossing below one of what is whole: the share of the first step after which the sides have changed over."""
    if not axis.whole or axis.low > 0 or not len(points.x) or points.x[0] != 1:
        return []
    none, one = gap(np.array([0.0, 1.0]), np.array([case, case]))
    return [float(none / (none - one))] if none * one < 0 else []


def _plain(gap: Gap, x: float, case: int) -> float:
    """The short number that a crossing is, as far as floats tell."""
    short = float(f"{x:.12g}")
    off = abs(short - x) / abs(x)
    alike = off <= ROUNDED or (off <= 10 * SAME and gap.at(short, case) == 0)
    return short if alike else float(x)
