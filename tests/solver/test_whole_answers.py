"""Whole answers to equations that a reader solves at a glance: every candidate with its formula, its value, and what it rests on, by hand."""

from fractions import Fraction

import pytest

from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.solver.crossing import crossing
from symroof.solver.result import Solved
from symroof.solver.symbolic import symbolic


class Numbers(dict):
    value = dict.__getitem__


NUMBERS = Numbers(a=Fraction(3), b=Fraction(16), c=Fraction(2), d=Fraction(5))
ANSWERS = {  # equation -> crossings, the formula of the first, and every candidate: formula, value, conditions and whether they hold
    "a*x = b": (["16/3"], "b/a", [("b/a", "16/3", [])]),
    "c*x - a*x + d = 0": ([5], "d/(a - c)", [("d/(a - c)", 5, [("a - c > 0", True)])]),
    "a*x**2 = b - 4": ([2], "sqrt((b - 4)/a)", [("sqrt((b - 4)/a)", 2, [("b - 4 > 0", True)])]),
    "a*x**2 + c*x = b": ([2], "2*b/(c + sqrt(c**2 + 4*a*b))", [("2*b/(c + sqrt(c**2 + 4*a*b))", 2, [])]),
    # both roots of a square, the smaller first
    "x**2 - 10*x + 21 = 0": ([3, 7], "42/(10 + sqrt(16))", [("42/(10 + sqrt(16))", 3, [("16 >= 0", True), ("21 > 0", True)]), ("(10 + sqrt(16))/2", 7, [("16 >= 0", True)])]),
    # an arm that would meet the other side where it does not win says so
    "max(x, 10) = 5": ([], "5", [("5", None, [("x >= 10", False)])]),
    "max(x, 10) = 12": ([12], "12", [("12", 12, [("x >= 10", True)])]),
    "min(x, b) = d": ([5], "d", [("d", 5, [("x <= b", True)])]),
    "min(x, b) = 20": ([], "20", [("20", None, [("x - 20 <= b - 20", False)])]),
    # the same from an edge on, or up to it
    "max(x, b) = x": ([16], "b", [("b", None, [("b >= x", True)]), ("b", 16, [("x >= b", True)])]),
    "min(x, b) = x": ([16], "b", [("b", 16, [("b <= x", True)])]),
    "max(a*x, x + c) = d": (["5/3"], "d/a", [("d - c", None, [("d - c > 0", True), ("x + c >= a*x", False)]), ("d/a", "5/3", [("a*x >= x + c", True)])]),
    "max(x, 10/x) = 5": ([2, 5], "2", [("2", 2, [("10/x - 5 >= x - 5", True)]), ("5", 5, [("x - 5 >= 10/x - 5", True)])]),
    # a numerator without its root at zero, and a root behind a pole
    "(a*x + b)*x = c*x**2 + (a - d)*x": ([], "(a - b - d)/(a - c)", [("(a - b - d)/(a - c)", None, [("a - b - d > 0", False), ("a - c > 0", True)])]),
    "(x - a)/(x - d) = 2": ([7], "-a + 2*d", [("-a + 2*d", None, [("-a + 2*d > 0", True)]), ("-a + 2*d", 7, [("-a + 2*d > 0", True)])]),
    # what is rounded, in an exponent or under a root
    "ceil(x/b) = 2": ([16, 32], "b", [("b", 16, []), ("2*b", 32, [])]),
    "floor(x/b) = 2": ([32, 48], "2*b", [("2*b", 32, []), ("3*b", 48, [])]),
    "2**x = b": ([4], "log2(b)/log2(2)", [("log2(b)/log2(2)", 4, [("log2(b)/log2(2) > 0", True)])]),
    "sqrt(x) = a": ([9], "a**2", [("a**2", 9, [])]),
    "x**3 = 8": ([2], None, [(None, 2, [])]),
}  # fmt: skip
SHARES = {  # up to one
    "2*x = 1": (["1/2"], "0.5", [("0.5", "1/2", [("x <= 1", True)])]),
    "2*x = 2": ([1], "1", [("1", 1, [("x <= 1", True)])]),
    "2*x = 3": ([], "1.5", [("1.5", None, [("x <= 1", False)])]),
    "max(x, 1/2) = 3/4": (
        ["3/4"],
        "0.75",
        [("0.75", "3/4", [("x >= 0.5", True), ("x <= 1", True)])],
    ),
}


def solved(equation, high=None):
    left, right = map(parse, equation.split(" = "))
    difference = parse(f"{text(left)} - ({text(right)})") if text(right) != "0" else left
    return Solved(
        left,
        right,
        crossing(difference, "x", lambda tree, at: evaluate(tree, NUMBERS, at), Fraction(0), high),
    )


@pytest.mark.sample(8)
@pytest.mark.parametrize("equation", [*ANSWERS, *SHARES])
def test_every_candidate_with_what_it_rests_on(equation):
    values, form, candidates = ANSWERS.get(equation) or SHARES[equation]
    answer = solved(equation, Fraction(1) if equation in SHARES else None)
    made = [
        (
            b.closed_form and text(b.closed_form),
            b.value,
            [(text(c.tree), c.holds) for c in b.conditions],
        )
        for b in answer.crossing.branches
    ]
    assert list(answer.crossing.values) == list(map(Fraction, values))
    assert made == [
        (f, value and Fraction(value), conditions) for f, value, conditions in candidates
    ]
    assert all(branch.holds is (branch.value is not None) for branch in answer.crossing.branches)
    assert (answer.closed_form and text(answer.closed_form)) == form
    assert answer.crossing.method == ("closed_form" if form else "numeric")
    if values and form:  # the formula that the value is said to come from gives it
        assert evaluate(answer.closed_form, NUMBERS) == answer.crossing.value


SYMBOLIC = {  # without numbers -> formula: conditions
    "a*x = b": [("b/a", [])],
    "max(x, a + x, c) = d": [("d - a", ["d - a > 0", "a + x >= c"])],  # x alone never wins
    "max(x, c) = d": [("d", ["x >= c"])],
    "min(x, a + x, c) = d": [("d", ["x <= c"])],
    "(a*x - b)/(c - d) = 0": [("b/a", [])],
    "a*x = c*x + b": [("b/(a - c)", ["a - c > 0"])],
    "x**2 = b*x + c": [("(b + sqrt((-b)**2 + 4*c))/2", [])],
    "x**2 + b*x = c": [("2*c/(b + sqrt(b**2 + 4*c))", [])],
}


@pytest.mark.parametrize("equation", SYMBOLIC)
def test_candidates_without_numbers(equation):
    left, right = equation.split(" = ")
    answer = symbolic(parse(f"{left} - ({right})"), "x")
    assert [
        (text(b.closed_form), [text(c.tree) for c in b.conditions]) for b in answer.branches
    ] == SYMBOLIC[equation]
    assert answer.verdict == (
        "crosses" if not all(conditions for _, conditions in SYMBOLIC[equation]) else "conditional"
    )
