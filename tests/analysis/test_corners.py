"""Thresholds at the corners of ranges: those of studies that have the numbers of a corner and no ranges."""

import pytest
import yaml

from symroof.analysis.solve import solve
from symroof.api import Study

from ..near import near
from ..tables import fields, table

ROOFS = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
"""A step of 10 ms for the weights, and of 20 µs a request."""
BY_HAND = """
gemm_n: 1..9 | (batch - 50*gemm_n)*(batch - 100) = 0 | batch | [[50, 100], [100, 450]]
# at half of the bandwidth a step takes 20 ms whatever the batch: it is missed from the first on
mbu: 0.5..0.8 | itl = 16 ms | batch | [[], [800]]
mbu: 0.5..0.8 | itl = 16 ms | peak_flops | [[], [1250000000000]]
# of four times n: the line at four from n = 4 on, before that the square
gemm_n: 1..9 | max(batch*gemm_n, batch**2) = 4*gemm_n | batch | [[2], [4]]
gemm_n: 1..9 | max(batch, gemm_n) = 5 | batch | [[5], []]
# without ranges
 | itl = 16 ms | batch | []
"""
"""Ranges, equation, unknown, and the crossings at each corner."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("row", table(BY_HAND), ids=str)
def test_corners_by_hand(row):
    ranges, equation, unknown, expected = row
    solution = solve(equation, Study(**ROOFS, **fields(ranges)).first, unknown)
    corners = [list(each.values) for each in solution.corners]
    assert corners == near(yaml.safe_load(expected), 1e-9)
    met = [min(values) for values in [*corners, solution.values] if values]
    if corners:
        assert solution.extent == (min(met), max(met), all(corners) and bool(solution.values))
