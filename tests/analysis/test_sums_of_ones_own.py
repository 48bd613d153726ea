"""Sums that a user writes, over an index that is declared nowhere: solved like any formula, and spelled as it is written."""

import math

import pytest

import symroof as sr

HEADS = 32
SUMS = {
    "sum(n_heads, j, 0, n_heads - 1)": HEADS**2,
    "sum(j*n_heads, j, 0, n_heads - 1)": HEADS * sum(range(HEADS)),
    "ceil(sqrt(sum(j, j, 0, n_heads - 1)))": math.isqrt(sum(range(HEADS)) - 1) + 1,
    "sum(j*sum(k_2*j, k_2, 1, 3), j, 1, n_heads)": sum(
        j * sum(k * j for k in (1, 2, 3)) for j in range(1, HEADS + 1)
    ),
}


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_over_an_index_of_ones_own_is_solved_for_and_spelled(text):
    solution = sr.Study(n_heads=HEADS).solve(f"n_layers = {text}", "n_layers")
    assert solution.value == SUMS[text]
    assert r"\sum_{j=" in solution._repr_latex_()
    assert (r"\mathrm{k\_2}" in solution._repr_latex_()) is ("k_2" in text)


def test_a_quantity_of_ones_own_may_be_such_a_sum():
    study = sr.Study(n_heads=HEADS, n_layers=3)
    study.define("staircase", "sum(j*n_heads, j, 0, n_layers - 1)", unit="", means="a staircase")
    assert study.value("staircase") == HEADS * (0 + 1 + 2)
    assert r"\sum_{j=0}^{L - 1} H j" in study.derive("staircase").latex()
