"""Crossings of plain formulas whose answers are known by hand: roundings, roots, exponents, edges, near misses, poles."""

from fractions import Fraction
from math import ceil, floor, isclose, log, sqrt

import pytest

from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.solver.crossing import crossing


class Numbers(dict):
    value = dict.__getitem__


GIVEN = Numbers(a=Fraction(3), b=Fraction(16), k=Fraction(2), E=Fraction(64), W=Fraction(1000))


def solved(difference, high=None):
    return crossing(parse(difference), "x", lambda tree, at: evaluate(tree, GIVEN, at), high=high)


def at(formula):
    return evaluate(parse(formula), GIVEN)


@pytest.mark.parametrize(
    ("difference", "values", "form"),
    [
        # ceil: 3*ceil(x/16) passes 13 between 4 and 5 blocks, just behind x = 64
        ("a*ceil(x/b) - 13", [64], "(ceil(13/a) - 1)*b"),
        # and equals 12 for 48 < x <= 64
        ("a*ceil(x/b) - 12", [48, 64], None),
        # floor: 3*floor(x/16) reaches 13 where the fifth block is full, at 80
        ("a*floor(x/b) - 13", [80], "(floor(13/a) + 1)*b"),
        ("floor(W/x) - 7", [Fraction(1000, 8), Fraction(1000, 7)], None),
        ("sqrt(x/k) - a", [18], "a**2*k"),
        ("ceil(x/b)^2 - 10", [48], None),
    ],
)
def test_undone(difference, values, form):
    found = solved(difference)
    assert (found.verdict, found.method) == ("crosses", "closed_form")
    assert list(found.values) == values
    if form:
        branch = next(b for b in found.branches if b.holds)
        assert text(branch.closed_form) == form
        assert at(form) == branch.value == values[0]


@pytest.mark.parametrize("wanted", [1, 20, 40, 63])
def test_experts(wanted):
    """Expected distinct experts: E(1 - (1 - k/E)^x) = n from x = log(1 - n/E)/log(1 - k/E) tokens."""
    found = solved(f"E*(1 - (1 - k/E)^x) - {wanted}")
    assert found.method == "closed_form"
    assert isclose(found.value, log(1 - wanted / 64) / log(1 - 2 / 64), rel_tol=1e-12)


def test_more_experts_than_there_are():
    assert solved("E*(1 - (1 - k/E)^x) - 64").verdict == "lhs_below"
    assert solved("E*(1 - (1 - k/E)^x) - 70").verdict == "lhs_below"


def test_an_exponent_beside_the_unknown_is_scanned():
    """Experts read and a cache that grows: two crossings with a straight line, found by looking and said to be numeric."""
    found = solved("E*(1 - (1 - k/E)^x) - (10 + x/4)")
    assert (found.verdict, found.method) == ("crosses", "numeric")
    assert len(found.values) == 2

    def gap(x):
        return 64 * (1 - (1 - 2 / 64) ** x) - 10 - x / 4

    for value in map(float, found.values):
        assert gap(value * (1 - 1e-9)) * gap(value * (1 + 1e-9)) < 0
    assert [value for value in found.values if value < 10]
    assert [value for value in found.values if value > 100]


def test_two_crossings_within_one_step_of_the_grid():
    """A dip below zero between 1.0000 and 1.0002 lies within a step of any coarse grid; log2 keeps it from the closed forms."""
    found = solved("(x - 1)*(x - 1.0002) + 0*log2(x) + 0")
    assert found.values == (1, Fraction(10002, 10000))
    near = solved("(log2(x) - 1)*(log2(x) - 1.0002)")
    assert near.method == "numeric"
    assert [
        isclose(value, 2**power, rel_tol=1e-12)
        for value, power in zip(near.values, (1, 1.0002), strict=True)
    ] == [True, True]


def test_a_pole_is_no_crossing():
    """1/(log2(x) - 3) changes its sign at 8 without being zero there."""
    assert solved("1/(log2(x) - 3)").verdict in ("lhs_below", "lhs_above")
    assert solved("1/(x - 8)").value is None
    assert (solved("1/(x - 8)").verdict, solved("1/(x - 8)").domain) == ("lhs_below", (0, 8))
    assert (solved("1/(x - 8)^2 + 1").verdict, solved("1/(x - 8)^2 + 1").domain) == (
        "lhs_above",
        (0, None),
    )


@pytest.mark.parametrize("size", ["1e-9", "1e-4", "1", "1e6", "1e15"])
def test_crossings_of_any_size(size):
    """Microseconds and FLOP/s: the axis has no natural unit."""
    for difference in (f"x - {size}", f"x*log2(x + 2) - {size}*log2({size} + 2)"):
        assert isclose(solved(difference).value, float(size), rel_tol=1e-12), difference


def test_a_crossing_where_the_winner_changes():
    """max(x, 8) is 8 up to x = 8 and above it from there on: they part at the edge, which has a closed form."""
    found = solved("max(x, a + 5) - (a + 5)")
    assert (found.verdict, found.method, found.values) == ("crosses", "closed_form", (8,))
    assert text(next(b for b in found.branches if b.holds).closed_form) == "a + 5"


def test_a_crossing_in_the_edge_itself():
    """x and 16 - x meet at 8, just where max(x, 8) turns."""
    found = solved("max(x, 8) - (16 - x)")
    assert found.values == (8,)
    assert all(
        condition.holds
        for branch in found.branches
        if branch.holds
        for condition in branch.conditions
    )


def test_an_edge_at_a_place_where_an_arm_has_no_value():
    """(x² - 4)/(x - 2) is x + 2 but at 2 itself, where it rises above 4: the sides are the same from there on."""
    found = solved("max((x^2 - 4)/(x - 2), 4) - (x + 2)")
    assert (found.verdict, found.values) == ("crosses", (2,))
    assert [branch.value for branch in found.branches if branch.holds] == [2]


def test_an_arm_without_a_value_at_the_first_places_that_are_looked_at():
    """An arm with poles at 1 and 1/2 is the larger one everywhere; (x - 1)*(2*x - 1) is 3 at 2."""
    (value,) = solved("max(1/((x - 1)^2*(2*x - 1)^2), -1) - 1/9").values
    assert isclose(value, 2, rel_tol=1e-20)


def test_several_crossings_and_open_ends():
    found = solved("max(10 - x, min(x, 4) - x/8)")
    assert found.value == 32  # 4 - x/8 = 0; before it one of the two is positive
    waves = solved("max(x, 20 - x) - 15")
    assert waves.values == (5, 15)
    assert all(b.closed_form for b in waves.branches if b.holds)


def test_cubic_is_numeric_and_says_so():
    found = solved("x^3 - 2*x - 5")
    assert (found.verdict, found.method) == ("crosses", "numeric")
    assert isclose(found.value, 2.0945514815423265, rel_tol=1e-15)  # Wallis's equation


def test_quadratic_by_its_signs():
    assert isclose(solved("x^2 + 2*x - 7").value, sqrt(8) - 1, rel_tol=1e-15)
    below = solved("x^2 + 2*x + 7")
    assert below.verdict == "lhs_above"
    assert any(
        condition.holds is False for branch in below.branches for condition in branch.conditions
    )
    assert solved("x^2 - 6*x + 9").values == (3,)
    assert [float(v) for v in solved("x^2 - 6*x + 8").values] == [2, 4]


def test_the_end_of_a_share():
    """A share ends at 1: a crossing there counts, one beyond it does not."""
    assert solved("x - 1", Fraction(1)).value == 1
    assert solved("x - 1.01", Fraction(1)).verdict == "lhs_below"


@pytest.mark.parametrize("n", range(1, 60, 7))
def test_a_staircase_against_its_own_values(n):
    """Every n blocks: where the staircase passes n - 1/2 is where block n begins or is full."""
    if n > 1:
        assert solved(f"ceil(x/b) - {n} + 1/2").value == 16 * (ceil(n - 0.5) - 1)
    assert solved(f"floor(x/b) - {n} + 1/2").value == 16 * (floor(n - 0.5) + 1)


def test_a_sum_without_end_is_searched_far_out():
    """Three a step up to the fifth, then fifteen: 45 after five steps, so a billion takes 5 + (10^9 - 45)/15 more."""
    found = solved("sum(a*min(j, 5), j, 1, x) - 10^9")
    assert found.values == (5 + ceil(Fraction(10**9 - 45, 15)),)
    never = solved("sum(a*min(j, 5), j, 1, x) + 1")
    assert (never.verdict, never.searched) == ("lhs_above", (1, 10**24))


def test_a_crossing_within_the_first_step_of_a_sum():
    """The first of the steps is 15 long: the sides change over after 2/15 of it."""
    assert solved("sum(a*max(j, 5), j, 1, x) - 2").values == (Fraction(2, 15),)


def test_a_rounding_that_the_index_of_a_sum_moves_is_searched():
    """1 + 2 + 2 at x = 2, 2 + 2 + 3 at 3, 2 + 3 + 3 at 4: the sum is 7 from 3 on, up to 4."""
    assert 3 <= solved("sum(floor((x + j)/2), j, 1, 3) - 7").value < 4


def test_a_crossing_with_a_closed_form_beside_one_without():
    """10 - x is 9 at 1; x^3 is 9 at its cube root, 2.08, where 10 - x is 7.9."""
    found = solved("max(x^3, 10 - x) - 9")
    assert found.method == "numeric"
    assert [float(value) for value in found.values] == [1, pytest.approx(9 ** (1 / 3), rel=1e-15)]


def test_an_unknown_beside_a_sum_without_closed_form():
    """Steps of 1 + x, 1 + x, 2 + x and 2 + x (a step takes a whole block of two): 6 + 4*x is 10 where x is 1."""
    found = solved("sum(ceil(j/2) + x, j, 1, 4) - 10")
    assert (found.method, found.values) == ("closed_form", (1,))


@pytest.mark.parametrize("high", [None, Fraction(9)])
@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        ("sqrt(x)", "lhs_above"),
        ("-sqrt(x)", "lhs_below"),
        ("ceil(x) + 1", "lhs_above"),
        ("1/2 - ceil(x)", "lhs_below"),
    ],
)
def test_sides_that_meet_at_nothing_alone_do_not_meet(difference, verdict, high):
    """The axis is open at zero: the root of nothing is there, and what lies below is no part of it."""
    assert (solved(difference, high).verdict, solved(difference, high).values) == (verdict, ())


@pytest.mark.parametrize(
    "difference",
    [
        "x^2 - 9",
        "9 - x^2",
        "x^2 + 2*x - 15",
        "x^3 - 27",
        "1 - 3/x",
        "(x^2 - 9)/(x + 1)",
        "max(x^2 - 9, -4)",
    ],
)
def test_a_crossing_at_the_end_of_the_axis_is_one(difference):
    """Also where a power is missing in between."""
    assert solved(difference, Fraction(3)).values == (3,)
    assert solved(difference, Fraction(299, 100)).values == ()
    (branch,) = [branch for branch in solved(difference, Fraction(3)).branches if branch.holds]
    assert "x <= 3" in [text(condition.tree) for condition in branch.conditions]
