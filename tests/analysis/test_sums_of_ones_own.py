"""Sums that a user writes, over an index that is declared nowhere: solved like any formula, and spelled as it is written."""

import symroof as sr

NESTED = "sum(j*sum(k_2*j, k_2, 1, 3), j, 1, n_heads)"


def test_a_sum_over_an_index_of_ones_own_is_solved_for_and_spelled():
    for text, value in (("sum(j*n_heads, j, 0, n_heads - 1)", 32 * 496), (NESTED, 6 * 11_440)):
        solution = sr.Study(n_heads=32).solve(f"n_layers = {text}", "n_layers")
        assert solution.value == value
        assert r"\sum_{j=" in solution._repr_latex_()
        assert (r"\mathrm{k\_2}" in solution._repr_latex_()) is ("k_2" in text)


def test_a_quantity_of_ones_own_may_be_such_a_sum():
    study = sr.Study(n_heads=32, n_layers=3)
    study.define("staircase", "sum(j*n_heads, j, 0, n_layers - 1)", means="a staircase")
    assert study.value("staircase") == 32 * (0 + 1 + 2)
    assert r"\sum_{j=0}^{L - 1} H j" in study.derive("staircase").latex()
