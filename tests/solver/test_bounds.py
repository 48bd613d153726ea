"""Conditions solved for a symbol: true of the same numbers as before, where both sides are equal too."""

import operator
from fractions import Fraction
from itertools import product

import pytest

from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import parse
from symroof.formula.tree import Compare, Name
from symroof.solver.symbolic import solve_inequality, symbolic

pytestmark = pytest.mark.full

HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
SIDES = {
    "a*x": ("b*c", lambda a, b, c, x: a * x - b * c),
    "b - a*x": ("c", lambda a, b, c, x: b - a * x - c),
    "c + (a - b)*x": ("0", lambda a, b, c, x: c + (a - b) * x),
    "a*x + b": ("b*x + c", lambda a, b, c, x: a * x + b - b * x - c),
    "(a*x + b)/c": ("x", lambda a, b, c, x: (a * x + b) / Fraction(c) - x),
}


class Numbers(dict):
    def value(self, name):
        return Fraction(self[name])


def holds(relation, numbers):
    return HOLDS[relation.operator](
        evaluate(relation.left, numbers), evaluate(relation.right, numbers)
    )


@pytest.mark.parametrize("sign", HOLDS)
@pytest.mark.parametrize("left", SIDES)
def test_a_condition_solved_is_true_of_the_same_numbers(left, sign):
    """Of every a, b, c, x from 1 to 4: where a side condition holds, the solved one says what the condition did."""
    right, difference = SIDES[left]
    condition = Compare(sign, parse(left), parse(right))
    solved = solve_inequality(condition, "x")
    assert solved is not None and solved[0].left == Name("x")
    seen = set()
    for a, b, c, x in product(range(1, 5), repeat=4):
        numbers, truth = Numbers(a=a, b=b, c=c, x=x), HOLDS[sign](difference(a, b, c, x), 0)
        if solved[1] is not None and not holds(solved[1], numbers):
            continue
        assert holds(solved[0], numbers) is truth, numbers
        seen.add((truth, difference(a, b, c, x) == 0))
    assert (
        seen if solved[1] else {(sign in ("<=", ">="), True), (True, False), (False, False)} <= seen
    )


@pytest.mark.parametrize(
    "written", ["x*x - a > 0", "a - b > 0", "x/(x + a) > 1", "sqrt(x) > a", "x/(a - b) > c"]
)
def test_what_is_not_linear_or_may_turn_round_is_left_alone(written):
    left, right = written.split(" > ")
    assert solve_inequality(Compare(">", parse(left), parse(right)), "x") is None


def meets(branch, numbers):
    """The value of a branch whose conditions hold; none where one does not."""
    try:
        value = evaluate(branch.closed_form, numbers)
        return (
            value
            if all(
                holds(condition.tree, Numbers(**numbers, x=value))
                for condition in branch.conditions
            )
            else None
        )
    except (ArithmeticError, NoValue):
        return None


@pytest.mark.parametrize(
    ("written", "difference"),
    [
        ("a*x - b*x - c", lambda a, b, c, x: a * x - b * x - c),
        ("max(a*x, b) - c", lambda a, b, c, x: max(a * x, b) - c),
        ("min(a*x, b) - c", lambda a, b, c, x: min(a * x, b) - c),
        ("max(a*x, b, c*x) - a - 1", lambda a, b, c, x: max(a * x, b, c * x) - a - 1),
        ("a*x*x - b*x - c", lambda a, b, c, x: a * x * x - b * x - c),
        ("a*x*x - b*x + c", lambda a, b, c, x: a * x * x - b * x + c),
        ("a/(x + b) - c", lambda a, b, c, x: a / (x + b) - c),
        ("max(x, a)*min(x, b) - c", lambda a, b, c, x: max(x, a) * min(x, b) - c),
    ],
)
def test_every_crossing_of_small_numbers_is_one_of_a_branch_and_no_branch_gives_another(
    written, difference
):
    """Crossings are looked for on a grid of sixtieths up to 8, where every rational one of small numbers lies; conditions are strict where equality is none."""
    branches = symbolic(parse(written), "x").branches
    count = 0
    for a, b, c in product(range(1, 5), repeat=3):
        numbers = Numbers(a=a, b=b, c=c)
        told = [value for branch in branches if (value := meets(branch, numbers)) is not None]
        assert all(
            value > 0 and abs(float(difference(a, b, c, value))) < 1e-12 for value in told
        ), numbers
        grid = [Fraction(n, 60) for n in range(1, 481)]
        isolated = [
            x
            for x in grid
            if difference(a, b, c, x) == 0
            and difference(a, b, c, x + Fraction(1, 999)) != 0
            and difference(a, b, c, x - Fraction(1, 999)) != 0
        ]
        assert all(any(abs(float(x - value)) < 1e-12 for value in told) for x in isolated), numbers
        count += len(isolated)
    assert count > 3
