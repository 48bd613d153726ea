"""The search against brute force: a hundred thousand points of random functions, and places known by hand."""

import numpy as np
import pytest

from symroof.symbolic.crossings import LEAST, MOST, Axis, crossings


def along(left, right, **axis):
    """The answer for one pair of functions."""
    return crossings(lambda x, _: (left(x), right(x) + 0 * x), [Axis(**axis)])[0]


def drawn(rng):
    """A piecewise function of powers, some of them rounded."""
    arms = [
        lambda x, a=a, b=b, k=k, c=c: a * x**k + b * np.floor(c * x)
        for a, k, b, c in zip(
            10 ** rng.uniform(-3, 3, 3),
            rng.choice([-1, 0, 0.5, 1, 2], 3),
            rng.choice([0, 0, 1.0], 3),
            rng.uniform(0.02, 0.2, 3),
            strict=True,
        )
    ]
    pick = rng.choice([np.maximum, np.minimum])
    return lambda x: pick(pick(arms[0](x), arms[1](x)), arms[2](x))


@pytest.mark.parametrize("seed", range(60))
def test_every_change_of_sides_is_found_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    left, right = drawn(rng), drawn(rng)
    low, high = 0.01, 1000.0
    found = along(left, right, low=low, high=high)
    x = np.geomspace(low, high, 100_000)
    y = left(x) - right(x)
    y[np.abs(y) <= 4e-14 * np.maximum(np.abs(left(x)), np.abs(right(x)))] = 0
    values = np.array(found.values)
    for i in np.flatnonzero(y[:-1] * y[1:] < 0):
        assert np.any((x[i] <= values * (1 + 1e-12)) & (values * (1 - 1e-12) <= x[i + 1])), (
            seed,
            x[i],
        )
    for value in values:
        before, at, after = (left(p) - right(p) for p in value * np.array([1 - 1e-9, 1, 1 + 1e-9]))
        size = max(abs(left(value)), abs(right(value)))
        assert before * after <= 0 or abs(at) <= 1e-9 * size, (seed, value)
    if not len(values):
        assert found.verdict == ("lhs_above" if y[0] > 0 else "lhs_below")


BY_HAND = {
    "two in one step": (lambda x: (x - 3) * (x - 3.01), lambda x: 0, (3, 3.01)),
    "touching": (lambda x: x**2 + 9, lambda x: 6 * x, (3,)),
    "touching nothing": (lambda x: (x - 0.0162) ** 2, lambda x: 0, (0.0162,)),
    "a stretch": (lambda x: np.floor(x / 7), lambda x: 4, (28, 35)),
    "a jump": (lambda x: np.ceil(x / 1.7), lambda x: 3.5, (5.1,)),
    "behind a pole": (lambda x: 1 / (x - 2), lambda x: 0.01, (102,)),
    "where a maximum begins to grow": (lambda x: np.maximum(x, 3), lambda x: x, (3,)),
    "far out": (lambda x: x * 1e-20, lambda x: 1, (1e20,)),
}


@pytest.mark.parametrize("what", BY_HAND)
def test_places_by_hand(what):
    left, right, places = BY_HAND[what]
    assert along(left, right).values == pytest.approx(places, rel=1e-12)


def test_sides_that_only_come_near_each_other_never_meet():
    above = along(lambda x: x + 1, lambda x: x)
    assert (above.verdict, above.searched) == ("lhs_above", (LEAST, MOST))
    assert along(lambda x: x + 1, lambda x: 1).verdict == "lhs_above"
    assert along(lambda x: 2 * x, lambda x: x + x).verdict == "identical"


def test_a_pole_is_no_crossing_and_ends_the_verdict():
    found = along(lambda x: 1 / (x - 2), lambda x: 0)
    assert found.verdict == "lhs_below" and found.pole == pytest.approx(2)


def test_a_queue_is_followed_to_where_it_has_no_value():
    found = along(lambda x: np.where(x < 1, x / (1 - x), np.nan), lambda x: 1e3)
    assert found.values == pytest.approx((1000 / 1001,))
    assert along(lambda x: x * np.nan, lambda x: 1).verdict == "none"


def test_whole_numbers_are_looked_at_on_both_sides():
    assert along(np.sqrt, lambda x: 20.1, whole=True).values == (405,)
    assert along(lambda x: x, lambda x: 0.4, whole=True).values == (0.4,)
    assert along(lambda x: np.minimum(x, 7), lambda x: 7, whole=True, high=9).values == (7, 9)


def test_many_cases_are_one_search():
    calls = []

    def sides(x, case):
        calls.append(len(x))
        return x**2, np.array([4.0, 9.0, 50.0])[case]

    found = crossings(sides, [Axis(), Axis(), Axis(high=5)])
    assert [each.values for each in found[:2]] == [(2,), (3,)]
    assert found[2].verdict == "lhs_below" and len(calls) < 20
