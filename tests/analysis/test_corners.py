"""Thresholds at the corners of ranges: those of studies that have the numbers of a corner and no ranges."""

from fractions import Fraction

import pytest

from symroof.analysis.solve import solve
from symroof.api import Study

ROOFS = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
"""A step of 10 ms for the weights, and of 20 µs a request."""
BY_HAND = {  # ranges, equation, unknown -> the crossings at each corner
    "several": (
        {"gemm_n": "1..9"},
        "(batch - 50*gemm_n)*(batch - 100) = 0",
        "batch",
        [[50, 100], [100, 450]],
    ),
    # at half of the bandwidth a step takes 20 ms whatever the batch: it is missed from the first on
    "come before any": ({"mbu": "0.5..0.8"}, "itl = 16 ms", "batch", [[], [800]]),
    "come after any": (
        {"mbu": "0.5..0.8"},
        "itl = 16 ms",
        "peak_flops",
        [[], ["1.25e12"]],
    ),
    # of four times n: the line at four from n = 4 on, before that the square
    "on another arm": (
        {"gemm_n": "1..9"},
        "max(batch*gemm_n, batch**2) = 4*gemm_n",
        "batch",
        [[2], [4]],
    ),
    "the same up to there": (
        {"gemm_n": "1..9"},
        "max(batch, gemm_n) = 5",
        "batch",
        [[5], []],
    ),
    "without ranges": ({}, "itl = 16 ms", "batch", None),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("label", BY_HAND)
def test_corners_by_hand(label):
    ranges, equation, unknown, expected = BY_HAND[label]
    solution = solve(equation, Study(**ROOFS, **ranges).first, unknown)
    corners = [each.values for each in solution.corners]
    if expected is None:  # the case is its only corner, or has none
        assert all(values == solution.values for values in corners)
        return
    assert [len(values) for values in corners] == [len(values) for values in expected]
    for values, numbers in zip(corners, expected, strict=True):
        assert list(map(float, values)) == pytest.approx(
            [float(Fraction(n)) for n in numbers], rel=1e-9
        )
    met = [min(values) for values in [*corners, solution.values] if values]
    assert solution.extent == (min(met), max(met), all(corners) and bool(solution.values))
