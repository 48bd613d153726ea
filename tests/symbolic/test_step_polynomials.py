"""Sums over steps for many points at once, against sums term by term in Python's own fractions."""

import math
import operator
import random
from fractions import Fraction

import numpy as np
import pytest

from symroof.symbolic import kernels
from symroof.symbolic.kernels import div, larger, total

from ..near import near

BODIES = {
    "a constant": "a + 0*j",
    "powers": "a + b*j + c*j*j",
    "cubes": "a + b*power(j, 3)",
    "a quotient by a number": "(a + j)/4 + div(j, w*w + 1)",
    "the larger of two lines": "larger(a + b*j, c + d*j)",
    "the smaller of two lines": "smaller(a + b*j, c + d*j)",
    "the larger of two parabolas": "larger(a + b*j*j, c + d*j - j*j)",
    "the largest of three": "larger(a + b*j, c - d*j, w)",
    "a window inside the larger of two": "larger(a + b*smaller(c + j, w), w + d*j)",
    "the sum of two bends, bent": "larger(larger(a, b*j) + smaller(c, d + j), w + j)",
    "a product of bends": "larger(a, j)*smaller(j, w) - c",
    "a rounding": "a + b*ceiling((j + c)/4)",
    "a stair": "a + b*floor((j + c)/16)",
    "a falling stair": "a + b*ceiling((c - j)/20)",
    "a chunk in the larger": "larger(a + b*(j - 16*floor((j + c)/16)), d + w*ceiling((j + c)/49))",
    "a quotient by the index": "div(a, j + 20) + larger(b, j)",
}
NAMES = ("larger", "smaller", "ceiling", "floor", "div", "power")
KERNELS = {name: getattr(kernels, name) for name in NAMES}
OURS = (max, min, math.ceil, math.floor, operator.truediv, pow)
PLAIN = dict(zip(NAMES, OURS, strict=True))
"""The functions of a body for many points at once, and Python's own."""


def of(body, functions):
    return eval(f"lambda a, b, c, d, w, j: {BODIES[body]}", functions)


@pytest.mark.parametrize("name", BODIES)
def test_a_sum_is_the_sum_of_its_terms(name):
    made, plain = of(name, KERNELS), of(name, PLAIN)
    draw = random.Random(name)
    points = [
        [Fraction(draw.randint(-9, 9), draw.choice((1, 1, 4))) for _ in "abcdw"] for _ in range(400)
    ]
    ends = [
        (draw.randint(-3, 4), draw.choice((draw.randint(-4, 15), draw.randint(0, 90))))
        for _ in points
    ]
    columns = [np.array([float(p[i]) for p in points]) for i in range(5)]
    first, last = (np.array([float(e[i]) for e in ends]) for i in range(2))
    found = total(1, lambda j: made(*columns, j), first, last)
    for point, (start, end), value in zip(
        points, ends, np.broadcast_to(found, len(points)), strict=True
    ):
        expected = sum((plain(*point, Fraction(j)) for j in range(start, end + 1)), Fraction(0))
        assert value == pytest.approx(float(expected), rel=1e-12, abs=1e-9), (point, start, end)


def test_sums_far_out_lose_no_digits():
    """Three terms of a square beyond a billion: by hand."""
    start = 10**9
    found = total(1, lambda j: j * j, np.array([float(start)]), np.array([float(start + 2)]))
    assert found[0] == near(sum(j * j for j in range(start, start + 3)), 1e-15)


def test_a_bound_that_is_not_whole_has_no_sum_and_its_neighbours_have_theirs():
    found = total(1, lambda j: j, 1.0, np.array([3.0, 2.5, np.nan, 0.0]))
    assert found[0] == 6 and np.isnan(found[1:3]).all() and found[3] == 0


def test_a_long_sum_without_a_closed_form_has_no_value():
    found = total(1, lambda j: div(1.0, j), 1.0, np.array([3.0, 1e6]))
    assert found[0] == pytest.approx(1 + 1 / 2 + 1 / 3) and np.isnan(found[1])


def test_a_sum_inside_a_sum():
    """The sum over i up to a of the sum over j up to b of i*j + max(i, j), for three pairs."""
    a, b = np.array([1.0, 4.0, 6.0]), np.array([3.0, 2.0, 9.0])
    found = total(1, lambda i: total(1, lambda j: i * j + larger(i, j), 1.0, b), 1.0, a)
    assert found.tolist() == [
        sum(i * j + max(i, j) for i in range(1, int(x) + 1) for j in range(1, int(y) + 1))
        for x, y in zip(a, b, strict=True)
    ]


def test_a_sum_whose_terms_move_with_the_sum_around_it_alone():
    """Three times j, for j up to four, and twice j up to five: by hand."""
    found = total(
        1, lambda j: total(1, lambda i: j, 1.0, np.array([3.0, 2.0])), 1.0, np.array([4.0, 5.0])
    )
    assert found.tolist() == [3 * (1 + 2 + 3 + 4), 2 * (1 + 2 + 3 + 4 + 5)]
