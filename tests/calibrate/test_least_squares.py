"""The fit of least squares: exact times give the truth back, no neighbour of a fit is better; and Student's t against published tables."""

import numpy as np
import pytest

from symroof.calibrate.least_squares import LeastSquares, solve, squares, times
from symroof.symbolic.searches import t_quantile


def problem(arms, rates, fixed, measured=None, held=()):
    """Rows of (compute, memory) pairs; of times that nobody measured those at x = 7/4, y = 5/4 and overheads of 1/2."""
    row = np.repeat(np.arange(len(arms)), [len(pairs) for pairs in arms])
    compute, memory = np.array([pair for pairs in arms for pair in pairs], dtype=float).T
    rates = np.array(rates, dtype=float).reshape(len(arms), -1)
    least = np.array([1.0, 1.0, *[0.0] * rates.shape[1]])
    stays = np.isin(np.arange(len(least)), held)
    made = LeastSquares(
        np.ones(len(arms)), row, compute, memory, rates, np.array(fixed), least, stays
    )
    truth = np.array([1.75, 1.25, *[0.5] * rates.shape[1]])
    known = times(made, truth) if measured is None else np.array(measured, dtype=float)
    return LeastSquares(known, row, compute, memory, rates, made.fixed, least, stays)


def drawn(seed, rows, overheads, noise=0.0, scale=1.0, held=()):
    draw = np.random.default_rng(seed)
    arms = [scale * draw.uniform(1, 6, (draw.integers(1, 4), 2)) for _ in range(rows)]
    rates, fixed = scale * draw.uniform(0, 3, (rows, overheads)), np.full(rows, scale / 2)
    exact = problem(arms, rates, fixed, held=held)
    return problem(arms, rates, fixed, exact.measured * draw.lognormal(0, noise, rows), held)


@pytest.mark.parametrize("held", [(), (0,), (1,), (2,)])
def test_no_point_near_the_fit_is_better(held):
    for seed in range(6):
        made = drawn(seed, 5, 1, noise=0.3, held=held)
        point, steps = solve(made), np.random.default_rng(seed).normal(0, 0.02, (500, 3))
        others = np.maximum(np.where(made.held, point, point * (1 + steps)), made.least)
        assert squares(made, point) <= min(squares(made, other) for other in others)
        assert (point >= made.least).all() and (point[made.held] == made.least[made.held]).all()


@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_times_without_noise_are_met_to_the_last_digits(scale):
    """In seconds or nanoseconds."""
    made = drawn(3, 9, 2, scale=scale)
    assert solve(made) == pytest.approx([1.75, 1.25, 0.5, 0.5], rel=1e-8)


def test_rows_of_one_arm_leave_the_other_at_its_bound():
    """No row has memory: no cut at all."""
    arms = [[(k, 0)] for k in (1, 2, 3)]
    assert solve(problem(arms, [[]] * 3, [0] * 3, [2, 4, 6])) == pytest.approx([2, 1])


def test_the_times_of_a_point_by_hand():
    made = problem([[(2, 3), (1, 4)], [(6, 1)]], [[5], [0]], [0.5, 2], [1, 4])
    point = np.array([2.0, 1.5, 0.1])
    assert times(made, point).tolist() == [max(4, 4.5) + max(2, 6) + 0.5 + 0.5, 12 + 2]
    assert squares(made, point) == pytest.approx(10.5**2 + 2.5**2)


PRINTED = [
    (0.95, 1, 12.706),
    (0.95, 30, 2.042),
    (0.99, 4, 4.604),
    (0.8, 7, 1.415),
    (0.999, 1, 636.62),
]


@pytest.mark.parametrize(("level", "freedom", "t"), PRINTED)
def test_quantiles_are_those_of_the_printed_table(level, freedom, t):
    """Fisher and Yates, Statistical Tables, table III."""
    assert t_quantile(level, freedom) == pytest.approx(t, rel=3e-4)
