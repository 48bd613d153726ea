"""Searches over arrays: fixed points against closed forms, largest whole numbers against looks one by one."""

import math

import numpy as np
import pytest

from symroof.symbolic.searches import fixed_points, largest_whole


def counted(body):
    """A body and how often it was asked."""
    asked = []

    def ask(x):
        asked.append(1)
        return body(x)

    return ask, asked


def test_the_fixed_point_of_straight_lines_and_of_curves():
    """x = a + x*b is a/(1 - b); x = a/(20 - x) a root of x² - 20x + a; above ``high`` it stands there."""
    a, b = np.array([0.0, 1.0, 3.0, 50.0]), np.array([0.5, 0.25, 0.9, 0.0])
    reached = fixed_points(lambda x: a + x * b, np.full(4, 40.0))
    assert reached == pytest.approx([0, 4 / 3, 30, 40], rel=1e-14)
    curved = fixed_points(lambda x: a / (20 - x), np.full(4, 10.0))
    assert curved == pytest.approx(10 - np.sqrt(100 - a), rel=1e-13, abs=1e-14)


def test_the_least_of_several_fixed_points_where_the_body_starts_above_and_ends_below():
    """A step: above the diagonal up to 3, below it from there on."""
    reached = fixed_points(lambda x: np.where(x < 3, 4.0, 1.0), np.array([10.0]))
    assert reached == pytest.approx(3, rel=1e-13)


def test_a_fixed_point_where_the_body_has_no_value_is_none():
    reached = fixed_points(lambda x: np.where(x > 0.5, np.nan, 2.0), np.array([8.0, 9.0]))
    assert np.isnan(reached).all()


@pytest.mark.parametrize("sharp", [1, 3])
@pytest.mark.parametrize("bend", ["up", "down"])
def test_an_end_that_stands_still_does_not_hold_the_other_back(sharp, bend):
    """Bent to one side only, a plain secant creeps towards the fixed point from the other: with its weight halved it takes no more than fourteen looks."""
    bodies = {
        "up": lambda x: np.expm1(sharp * x) / np.expm1(sharp) / 2 + 0.1,
        "down": lambda x: 0.1 + 0.85 * -np.expm1(-sharp * x),
    }
    body, asked = counted(bodies[bend])
    reached = fixed_points(body, np.array([1.0]))
    assert len(asked) <= 14
    assert bodies[bend](reached) == pytest.approx(reached, rel=1e-12)


def test_a_body_above_the_bound_stands_at_the_bound_and_its_neighbours_are_found():
    a = np.array([9.0, 8.0, 7.99, 0.0])
    assert fixed_points(lambda x: a + 0 * x, np.full(4, 8.0)) == pytest.approx(
        [8, 8, 7.99, 0], rel=1e-13
    )


@pytest.mark.parametrize("high", [0, 0.5, 1, 2, 3, 7, 7.5, 8])
def test_the_largest_whole_number_at_which_a_condition_holds(high):
    """Every threshold: it holds up to there and not beyond."""
    thresholds = np.arange(-1.0, 11)
    reached = largest_whole(
        lambda n: (n <= thresholds).astype(float), np.full(len(thresholds), float(high))
    )
    assert reached.tolist() == [max(0, min(math.floor(high), t)) for t in thresholds]


def test_where_small_numbers_have_no_value_larger_ones_are_looked_at():
    """A server that keeps up from a batch of 4 on and is too slow beyond 9; one that never keeps up; one without a bound."""
    first, last = np.array([4.0, 99.0, 1.0]), np.array([9.0, 99.0, 99.0])
    reached = largest_whole(
        lambda n: np.where(n < first, np.nan, (n <= last).astype(float)),
        np.array([20.0, 20.0, np.nan]),
    )
    assert reached.tolist() == pytest.approx([9, 0, math.nan], nan_ok=True)
