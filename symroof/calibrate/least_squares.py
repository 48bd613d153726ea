"""Least squares in relative residuals for times that are sums of maxima: exact, by enumerating all regimes.

A time is ``sum(max(compute*x, memory*y)) + rates @ z + fixed`` with ``x = 1/mfu``, ``y = 1/mbu`` and overheads ``z``. Which
arm of a maximum binds depends only on ``y/x``: the ratios ``compute/memory`` of all maxima cut the axis of ``y/x`` into regimes, in
each of which the problem is linear. The optimum lies inside a regime or on a cut, so the best point of all of them, each
with the squares that it truly has, is the global minimum: without iteration or a start value.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SLACK = 1e-9
"""Relative rounding tolerance at bounds."""
ROUNDING = 1e-14
"""Sums of squares as near as this, as a share of all, are equal."""


@dataclass(frozen=True)
class LeastSquares:
    """Rows to fit.

    Attributes:
        measured: the measured times (rows).
        row, compute, memory: the row of each maximum and its two arms at full efficiency (maxima).
        rates: coefficient of each overhead in each row (rows, overheads).
        fixed: time independent of all parameters (rows).
        least: lower bounds of x, y and every z.
        held: which of x, y and z are fixed at that bound.
    """

    measured: Array
    row: NDArray[np.intp]
    compute: Array
    memory: Array
    rates: Array
    fixed: Array
    least: Array
    held: Flags

    def columns(self, ratio: float) -> Array:
        """The linear problem of the regime of y/x: one column per parameter, relative to the measured times."""
        computes = self.compute > ratio * self.memory
        columns = np.zeros((len(self.measured), len(self.least)))
        np.add.at(columns[:, 0], self.row[computes], self.compute[computes])
        np.add.at(columns[:, 1], self.row[~computes], self.memory[~computes])
        columns[:, 2:] = self.rates
        return columns / self.measured[:, None]

    @property
    def goal(self) -> Array:
        return 1 - self.fixed / self.measured


def solve(problem: LeastSquares) -> Array:
    """The parameters x, y, z with the least sum of squared relative residuals; the global minimum."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = np.unique(problem.compute / problem.memory)
    cuts = cuts[np.isfinite(cuts) & (cuts > 0)]
    inner = np.concatenate((cuts[:1] / 2, np.sqrt(cuts[:-1] * cuts[1:]), cuts[-1:] * 2))
    goal, least, held = problem.goal, problem.least, problem.held
    points = [
        _bounded(problem.columns(ratio), goal, least, held)
        for ratio in (inner if len(cuts) else [1.0])
    ]
    points += [_on_cut(problem, cut) for cut in cuts if not held[:2].all()]
    points = [point for point in points if (point >= least * (1 - SLACK)).all()]
    missed = [squares(problem, point) for point in points]
    near = min(missed) + ROUNDING * float(goal @ goal)
    # of equally good ones that with the most at their bounds: what no row tells is left there
    good = [point for point, x in zip(points, missed, strict=True) if x <= near]
    best = max(good, key=lambda point: (point <= least * (1 + SLACK)).sum())
    return np.where(held, least, np.maximum(best, least))


def _on_cut(problem: LeastSquares, cut: float) -> Array:
    """The best point with y = cut*x: one parameter less."""
    held, least, columns = problem.held, problem.least, problem.columns(cut)
    lowest = max(least[0], least[1] / cut)
    if held[:2].any():
        lowest = least[0] if held[0] else least[1] / cut
    joined = np.column_stack((columns[:, 0] + cut * columns[:, 1], columns[:, 2:]))
    stays = np.concatenate(([held[:2].any()], held[2:]))
    x, *rest = _bounded(joined, problem.goal, np.array([lowest, *least[2:]]), stays)
    return np.array([x, cut * x, *rest])


def _bounded(columns: Array, goal: Array, least: Array, held: Flags) -> Array:
    """The best point above the bounds: that of some set of parameters at their bounds, the others free."""
    norm = np.linalg.norm(columns, axis=0)
    size, held = np.where(norm > 0, norm, 1.0), held | (norm == 0)
    turned, small = np.linalg.qr(columns / size)
    goal, low = turned.T @ goal, least * size
    best, missed = low, float(np.sum((small @ low - goal) ** 2))
    for free in itertools.product(*((False,) if stays else (True, False) for stays in held)):
        moves = np.array(free)
        if not moves.any():
            continue
        point = low.copy()
        rest = goal - small[:, ~moves] @ low[~moves]
        point[moves] = np.linalg.lstsq(small[:, moves], rest, rcond=None)[0]
        found = float(np.sum((small @ point - goal) ** 2))
        if found < missed and (point >= low - SLACK * np.maximum(np.abs(low), 1)).all():
            best, missed = np.maximum(point, low), found
    return best / size


def times(problem: LeastSquares, point: Array) -> Array:
    """The modelled times of the rows."""
    result = problem.fixed + problem.rates @ point[2:]
    longer = np.maximum(problem.compute * point[0], problem.memory * point[1])
    np.add.at(result, problem.row, longer)
    return result


def squares(problem: LeastSquares, point: Array) -> float:
    """The sum of squared relative residuals."""
    return float(np.sum((times(problem, point) / problem.measured - 1) ** 2))
