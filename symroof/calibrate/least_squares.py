"""Least squares in relative residuals for times that are sums of maxima: exact, by enumerating all regimes.

A time is ``sum(max(compute*x, memory*y)) + rates @ z + fixed`` with ``x = 1/mfu``, ``y = 1/mbu`` and overheads ``z``. Which
arm of a maximum binds depends only on ``y/x``: the ratios ``compute/memory`` of all maxima cut the axis of ``y/x`` into regimes, in
each of which the problem is linear. The optimum lies inside a regime or on a cut. Both are solved for every set of active
bounds, and the best candidate is the global minimum, without iteration or a start value.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SLACK = 1e-9
"""Relative rounding tolerance at bounds and regime limits."""
ROUNDING = 1e-14
"""Sums of squares as near as this, as a share of all, are equal."""
SINGULAR = 1e-12
"""Eigenvalues of a Gram matrix below this share of the largest count as zero."""


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
    held: NDArray[np.bool_]

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
    with np.errstate(divide="ignore"):
        cuts = np.unique(problem.compute / problem.memory)
    cuts = cuts[np.isfinite(cuts) & (cuts > 0)]
    ends = np.concatenate(([0.0], cuts, [np.inf]))
    gram, reach = _gram(problem, cuts)
    candidates = [*_inside(problem, gram, reach, ends), *_on_cuts(problem, gram, reach, cuts)]
    # of equally good ones the first: at bounds rather than where the limit changes
    least = min(missed for missed, _ in candidates) + ROUNDING * float(problem.goal @ problem.goal)
    best = next(point for missed, point in candidates if missed <= least)
    return np.maximum(_refined(problem, best), problem.least)  # a bound is kept to the last digit


def _gram(problem: LeastSquares, cuts: Array) -> tuple[Array, Array]:
    """Normal equations of every regime."""
    inner = (
        np.concatenate((cuts[:1] / 2, np.sqrt(cuts[:-1] * cuts[1:]), cuts[-1:] * 2))
        if len(cuts)
        else np.ones(1)
    )
    gram = np.empty((len(inner), len(problem.least), len(problem.least)))
    reach = np.empty((len(inner), len(problem.least)))
    for i, ratio in enumerate(inner):
        columns = problem.columns(float(ratio))
        gram[i], reach[i] = columns.T @ columns, columns.T @ problem.goal
    return gram, reach


Candidate = tuple[float, Array]


def _inside(problem: LeastSquares, gram: Array, reach: Array, ends: Array) -> list[Candidate]:
    """The best points inside regimes, one per set of parameters at their bounds."""
    low, high = ends[:-1], ends[1:]
    return _bounded(
        gram,
        reach,
        np.broadcast_to(problem.least, reach.shape),
        problem.held,
        lambda x: _between(x, low, high),
        problem.goal,
    )


def _on_cuts(problem: LeastSquares, gram: Array, reach: Array, cuts: Array) -> list[Candidate]:
    """The best points where y = cut*x: one parameter less."""
    held, least = problem.held, problem.least
    if not len(cuts) or (held[0] and held[1]):
        return []
    joined = np.zeros((len(cuts), len(least), len(least) - 1))
    joined[:, 0, 0], joined[:, 1, 0] = 1, cuts
    joined[:, 2:, 1:] = np.eye(len(least) - 2)
    turned = joined.transpose(0, 2, 1)
    smaller = turned @ gram[:-1] @ joined
    at_least = np.repeat(np.concatenate((least[:1], least[2:]))[None], len(cuts), axis=0)
    at_least[:, 0] = (
        least[1] / cuts
        if held[1]
        else least[0]
        if held[0]
        else np.maximum(least[0], least[1] / cuts)
    )
    allowed = at_least[:, 0] * (1 + SLACK) >= least[0]
    allowed &= at_least[:, 0] * cuts * (1 + SLACK) >= least[1]
    stays = np.concatenate(([held[0] or held[1]], held[2:]))
    best = _bounded(
        smaller,
        (turned @ reach[:-1, :, None])[..., 0],
        at_least,
        stays,
        lambda x: allowed,
        problem.goal,
        joined,
    )
    return best


def _between(points: Array, low: Array, high: Array) -> NDArray[np.bool_]:
    """Whether points lie in their own regimes."""
    x, y = points[:, 0], points[:, 1]
    with np.errstate(invalid="ignore"):
        return (y * (1 + SLACK) >= low * x) & (
            np.isinf(high) | (y <= np.where(np.isinf(high), 0, high) * x * (1 + SLACK))
        )


def _bounded(
    gram: Array,
    reach: Array,
    least: Array,
    held: NDArray[np.bool_],
    allowed: Callable[[Array], NDArray[np.bool_]],
    goal: Array,
    back: Array | None = None,
) -> list[Candidate]:
    """The best allowed least-squares point for every set of parameters at their lower bounds."""
    candidates: list[Candidate] = []
    size = np.sqrt(np.maximum(gram.diagonal(axis1=1, axis2=2).max(axis=0), 1e-300))
    for free in itertools.product(*((False,) if stays else (True, False) for stays in held)):
        moves = np.array(free)
        points = np.array(least)
        if moves.any():
            rest = reach - (gram[:, :, ~moves] @ least[:, ~moves, None])[..., 0]
            scaled = gram[:, moves][:, :, moves] / size[moves][:, None] / size[moves]
            points[:, moves] = (
                np.linalg.pinv(scaled, rcond=SINGULAR, hermitian=True)
                @ (rest[:, moves] / size[moves])[..., None]
            )[..., 0] / size[moves]
        inside = (points >= least - SLACK * np.maximum(np.abs(least), 1 / size)).all(
            axis=1
        ) & allowed(points)
        if inside.any():
            missed = (
                np.einsum("si,sij,sj->s", points, gram, points)
                - 2 * (points * reach).sum(axis=1)
                + goal @ goal
            )
            i = int(np.argmin(np.where(inside, missed, np.inf)))
            point = np.maximum(points[i], least[i])
            candidates.append((float(missed[i]), point if back is None else back[i] @ point))
    return candidates


def _refined(problem: LeastSquares, point: Array) -> Array:
    """Solve the chosen point again from the rows: normal equations lose half of the digits."""
    ratio = point[1] / point[0]
    moves = ~problem.held & (point > problem.least * (1 + SLACK))
    columns = problem.columns(ratio)
    size = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    better = point.copy()
    rest = problem.goal - columns[:, ~moves] @ point[~moves]
    better[moves] = (
        np.linalg.lstsq(columns[:, moves] / size[moves], rest, rcond=None)[0] / size[moves]
    )
    same = (better >= problem.least).all() and np.array_equal(
        problem.compute > better[1] / better[0] * problem.memory,
        problem.compute > ratio * problem.memory,
    )
    return better if same and squares(problem, better) <= squares(problem, point) else point


def times(problem: LeastSquares, point: Array) -> Array:
    """The modelled times of the rows."""
    result = problem.fixed + problem.rates @ point[2:]
    np.add.at(
        result, problem.row, np.maximum(problem.compute * point[0], problem.memory * point[1])
    )
    return result


def squares(problem: LeastSquares, point: Array) -> float:
    """The sum of squared relative residuals."""
    return float(np.sum((times(problem, point) / problem.measured - 1) ** 2))
