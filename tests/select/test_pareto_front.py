"""The front holds what nobody beats, and everything else is beaten by something on it."""

import random

import pytest

from symroof.select.selection import pareto_front


def test_one_respect_leaves_the_best():
    assert pareto_front([(3,), (1,), (2,), (1,)], larger=(False,)) == (1, 3)


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(20))
def test_every_other_point_is_beaten_by_one_on_the_front(seed):
    draw = random.Random(seed)
    points = [(draw.randint(0, 9), draw.randint(0, 9)) for _ in range(30)]
    best = pareto_front(points, larger=(False, True))
    for i, (x, y) in enumerate(points):
        beaten = any(a <= x and b >= y and (a, b) != (x, y) for a, b in points)
        assert (i in best) == (not beaten)


def test_a_point_of_other_length_is_an_error():
    with pytest.raises(ValueError):
        pareto_front([(1, 2), (3,)], larger=(True, True))
