"""Answers without numbers over every choice of arms: which are there, and whether there are more."""

from fractions import Fraction

import pytest

from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.rewrite import substitute
from symroof.formula.text import text
from symroof.formula.tree import Num
from symroof.solver.symbolic import symbolic

pytestmark = pytest.mark.full


def test_sides_that_are_the_same_on_one_arm_alone_are_not_identical():
    (branch,) = symbolic(parse("max(x, a) - a"), "x").branches
    assert (
        text(branch.closed_form),
        [text(condition.tree) for condition in branch.conditions],
    ) == ("a", ["x >= a"])


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [("a*x + b", "lhs_above"), ("-a*x - b", "lhs_below"), ("-b", "lhs_below"), ("max(a*x, b) + c", "lhs_above"), ("-max(a*x, b) - c", "lhs_below"),
     ("max(a*x, b) - b - c - a*x", "lhs_below")],
)  # fmt: skip
def test_one_side_is_above_where_it_is_on_every_arm(difference, verdict):
    """Every symbol is positive. The arms of the last are -b - c and -a*x - c."""
    assert symbolic(parse(difference), "x").verdict == verdict


def test_a_square_touches_where_its_two_roots_are_one():
    """(x - a)**2: what is under the root is zero, which is enough."""
    answer = symbolic(parse("x**2 - 2*a*x + a**2"), "x")
    forms = [
        evaluate(substitute(branch.closed_form, {"a": Num(Fraction(7))}), {})
        for branch in answer.branches
    ]
    assert {*forms} == {7}


@pytest.mark.parametrize(("maxima", "more"), [(1, False), (5, False), (6, True)])
def test_the_choices_of_arms_are_all_there_up_to_32(maxima, more):
    """Two arms each: 2, 32 and 64 choices. What is beyond 32 is said to be there."""
    difference = " + ".join(
        f"max({a}*x, {b})" for a, b in zip("abcdef"[:maxima], "ghijkl", strict=False)
    )
    answer = symbolic(parse(f"{difference} - y"), "x")
    assert answer.more is more
    assert (
        len(answer.branches) == (32 if more else 2**maxima - 1) or more
    )  # where no arm moves, there is nothing to solve


@pytest.mark.parametrize(("power", "more"), [(1, False), (2, False), (3, True)])
def test_beyond_a_square_there_is_no_closed_form(power, more):
    assert symbolic(parse(f"a*x**{power} - b"), "x").more is more


def test_an_arm_without_a_closed_form_beside_one_that_has_one():
    answer = symbolic(parse("max(x**3, a*x) - b"), "x")
    assert answer.more
    assert [text(branch.closed_form) for branch in answer.branches] == ["b/a"]
