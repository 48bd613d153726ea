"""Zeros along one axis, by hand; with and without the closed forms beside them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.solver.axis_walk import AxisWalk


class Numbers(dict[str, Fraction]):
    value = dict.__getitem__


ZEROS = {
    "max(3*x, 12) - 2*x - 5": ["7/2", "5"],
    "x^2 - 9*x + 14": ["2", "7"],
    "x^2 - a*x": ["3"],
    "min(x, 6)/x - 1/2": ["12"],
    "x^3 - 6*x^2 + 11*x - 6": ["1", "2", "3"],
    "max(x - 4, 8 - 2*x)*(x - 4)/(x + a) - max(x - 4, 8 - 2*x)": ["4"],
    "max(x, 4) - 4": ["4"],
    "a/(x - 5) + 1": ["2"],
    "a*x + 1": [],
    "(x - a)/(x - a)^2": [],
    "min(a*x, 6)*2 - max(x, 10)": ["5/3", "12"],
}
"""Formulas over x above 0, where a is 3. Of a stretch without a difference its end is one."""


@pytest.mark.sample(8)
@pytest.mark.parametrize("roots_only", [False, True])
@pytest.mark.parametrize("text", ZEROS)
def test_zeros_of_quotients_with_bends(text, roots_only):
    walk = AxisWalk(
        "x", lambda tree, at: evaluate(tree, Numbers(a=Fraction(3)), at), roots_only=roots_only
    )
    solved = walk.solve(parse(text))
    assert [str(value) for value in solved.values] == ZEROS[text]
    assert (
        all(branch.closed_form is None and not branch.conditions for branch in solved.branches)
        or not roots_only
    )
    assert [branch.value for branch in solved.branches if branch.value is not None] == [
        Fraction(zero) for zero in ZEROS[text]
    ] or not roots_only
