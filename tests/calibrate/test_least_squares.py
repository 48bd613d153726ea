"""The fit against brute force, and Student's t against published tables."""

import numpy as np
import pytest

from symroof.calibrate.least_squares import LeastSquares, _refined, solve, squares, times
from symroof.symbolic.students_t import t_quantile

TABLE = {
    1: 12.706,
    2: 4.303,
    3: 3.182,
    5: 2.571,
    10: 2.228,
    29: 2.045,
    30: 2.042,
    60: 2.000,
    120: 1.980,
}
"""Two-sided 95 % points (Fisher and Yates, Statistical Tables, table III)."""


@pytest.mark.parametrize("freedom", TABLE)
def test_quantiles_are_those_of_the_printed_table(freedom):
    assert t_quantile(0.95, freedom) == pytest.approx(TABLE[freedom], abs=6e-4)


def made(seed, rows=12, arms=1, noise=0.05, overheads=1):
    """A random problem and the parameters it was made with."""
    random = np.random.default_rng(seed)
    truth = np.array(
        [
            1 / random.uniform(0.3, 0.9),
            1 / random.uniform(0.3, 0.9),
            *random.uniform(0, 0.5, overheads),
        ]
    )
    compute, memory = 10 ** random.uniform(-1, 1, (2, rows * arms))
    row = np.repeat(np.arange(rows), arms)
    rates = random.uniform(0, 1, (rows, overheads))
    problem = LeastSquares(
        np.ones(rows),
        row,
        compute,
        memory,
        rates,
        random.uniform(0, 0.2, rows),
        np.array([1.0, 1.0] + [0.0] * overheads),
        np.zeros(2 + overheads, dtype=bool),
    )
    measured = times(problem, truth) * (1 + noise * random.standard_normal(rows))
    return LeastSquares(
        measured,
        *(
            getattr(problem, key)
            for key in ("row", "compute", "memory", "rates", "fixed", "least", "held")
        ),
    ), truth


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("arms", [1, 3])
def test_without_noise_the_parameters_come_back(seed, arms):
    problem, truth = made(seed, arms=arms, noise=0.0)
    assert squares(problem, solve(problem)) < 1e-20
    assert solve(problem) == pytest.approx(truth, rel=1e-7)


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(25))
def test_no_search_finds_anything_better(seed):
    """Fifty thousand random points, then the best one walked downhill: never below what was found."""
    problem, _ = made(seed, rows=7, arms=1 + seed % 3, noise=0.4)
    point = solve(problem)
    assert (point >= problem.least).all()
    found = squares(problem, point)
    random = np.random.default_rng(seed + 1000)
    points = np.column_stack(
        (
            10 ** random.uniform(0, 1.3, 50_000),
            10 ** random.uniform(0, 1.3, 50_000),
            random.uniform(0, 4, 50_000),
        )
    )
    peaks = np.maximum(points[:, :1] * problem.compute, points[:, 1:2] * problem.memory)
    sums = np.stack(
        [peaks[:, problem.row == i].sum(axis=1) for i in range(len(problem.measured))], axis=1
    )
    errors = ((sums + problem.fixed + points[:, 2:] @ problem.rates.T) / problem.measured - 1) ** 2
    best, step = points[errors.sum(axis=1).argmin()], 0.1
    while step > 1e-6:
        tried = np.maximum(best + step * random.standard_normal((200, 3)), problem.least)
        scores = [squares(problem, one) for one in tried]
        if min(scores) < squares(problem, best):
            best = tried[int(np.argmin(scores))]
        else:
            step /= 2
    assert found <= squares(problem, best) + 1e-9


def test_a_point_that_is_nearly_right_comes_back_to_the_last_digit():
    """Five rows worked out from 1.5, 1.25 and 2e-9 over columns of very different sizes: the three come back from a point a hundred thousandth off."""
    truth, size = np.array([1.5, 1.25, 2e-9]), 2.0**30
    compute, memory, launches = (
        np.array([5, 7, 1, 1, 6]),
        np.array([1, 1, 8, 9, 2]),
        np.array([3, 1, 4, 2, 9]),
    )
    exact = np.where(compute > memory, 1.5 * compute, 1.25 * memory) * size + launches
    rates = launches[:, None] / 2e-9
    problem = LeastSquares(
        exact,
        np.arange(5),
        compute * size,
        memory * size,
        rates,
        np.zeros(5),
        np.array([1.0, 1.0, 0.0]),
        np.zeros(3, dtype=bool),
    )
    assert _refined(problem, truth * (1 + 1e-5)) == pytest.approx(truth, rel=1e-7)
    assert squares(problem, _refined(problem, truth * (1 + 1e-5))) < 1e-28


def test_a_share_that_is_held_stays():
    problem, truth = made(3, noise=0.0)
    held = LeastSquares(
        problem.measured,
        problem.row,
        problem.compute,
        problem.memory,
        problem.rates,
        problem.fixed,
        np.array([truth[0], 1.0, 0.0]),
        np.array([True, False, False]),
    )
    assert solve(held) == pytest.approx(truth, rel=1e-7)
