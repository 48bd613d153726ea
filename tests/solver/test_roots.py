"""Positive roots of polynomials that are made from their roots."""

from fractions import Fraction
from itertools import combinations
from math import prod

import pytest

from symroof.solver.roots import positive_roots


def of_roots(*roots):
    """Power -> coefficient of the product of ``x - root``, by the elementary symmetric sums."""
    n = len(roots)
    return {
        n - k: Fraction((-1) ** k * sum(prod(some) for some in combinations(roots, k)))
        for k in range(n + 1)
    }


@pytest.mark.parametrize(
    "chosen",
    [
        (1, 2, 3),
        (1, 10**6, 10**12),
        (Fraction(1, 1000), 1, 1000),
        (-5, 2, 7),
        (-1, -2, 9),
        (2, 2, 5),
        (1, 2, 3, 4, 5),
        (Fraction(1, 3), Fraction(1, 2), 4, 10**9),
    ],
)
def test_every_positive_root_is_there_and_no_other(chosen):
    assert positive_roots(of_roots(*chosen)) == sorted(
        {Fraction(root) for root in chosen if root > 0}
    )


def test_a_root_as_large_as_the_largest_coefficient_is_inside_the_bound():
    """x³ - x² - x - 2 = (x - 2)(x² + x + 1), whose largest coefficient is 2; x³ - x² - x - 1 has the tribonacci constant for its root."""
    assert positive_roots({3: Fraction(1), 2: Fraction(-1), 1: Fraction(-1), 0: Fraction(-2)}) == [
        2
    ]
    (root,) = positive_roots({3: Fraction(1), 2: Fraction(-1), 1: Fraction(-1), 0: Fraction(-1)})
    assert float(root) == pytest.approx(1.8392867552141612, rel=1e-15)


@pytest.mark.parametrize("chosen", [(3,), (3, 8), (3, 5, 8)])
def test_the_ends_of_the_interval_are_outside(chosen):
    """Of the roots that are asked for between 3 and 8, those at the ends are none."""
    assert positive_roots(of_roots(*chosen), Fraction(3), Fraction(8)) == [
        root for root in chosen if 3 < root < 8
    ]
    assert positive_roots(of_roots(*chosen), Fraction(29, 10), Fraction(81, 10)) == list(chosen)


@pytest.mark.parametrize(
    ("degree", "radicand"), [(3, 2), (5, 7), (4, Fraction(1, 10**21)), (3, 10**40 + 1)]
)
def test_an_irrational_root_is_right_to_40_digits(degree, radicand):
    """The root of ``x^n - a`` between the two numbers whose n-th powers enclose ``a``."""
    (root,) = positive_roots({degree: Fraction(1), 0: -Fraction(radicand)})
    near = Fraction(1, 10**40)
    assert (root * (1 - near)) ** degree < radicand < (root * (1 + near)) ** degree


@pytest.mark.parametrize("b", [10**30, -(10**30)])
def test_a_small_root_beside_a_large_one_does_not_cancel(b):
    """x**2 + b*x - 1 and x**2 + b*x + 1: the small root is 1e-30 as nearly as a number is asked for, though b and the root of b**2 + 4 have 30 digits in common."""
    small = positive_roots({2: Fraction(1), 1: Fraction(b), 0: Fraction(-1 if b > 0 else 1)})[0]
    assert abs(small * 10**30 - 1) < Fraction(1, 10**38)


def test_where_newtons_steps_leave_the_bracket_halving_goes_on():
    """(x - 1)⁵ is so flat at its root that Newton's steps gain two digits in nine; beside it stands a simple root."""
    assert positive_roots(of_roots(1, 1, 1, 1, 1, 2)) == [1, 2]
    assert positive_roots(
        of_roots(Fraction(1), 1 + Fraction(1, 10**6), 1 + Fraction(2, 10**6))
    ) == [1, 1 + Fraction(1, 10**6), 1 + Fraction(2, 10**6)]


@pytest.mark.parametrize(
    "chosen", [(7,), (Fraction(1, 10**12),), (10**9, Fraction(2, 3)), (3, 4, 10**6), ()]
)
def test_roots_are_found_among_factors_that_have_none(chosen):
    """Signs that change more often than there are roots, and ones that change as often; (x² - x + 1)(x² + x + 5)(x + 9) has no positive root."""
    p = {0: Fraction(1)}
    for factor in (
        {2: 1, 1: -1, 0: 1},
        {2: 1, 1: 1, 0: 5},
        {1: 1, 0: 9},
        *({1: 1, 0: -root} for root in chosen),
    ):
        p = {
            n: sum(c * Fraction(factor[n - k]) for k, c in p.items() if n - k in factor)
            for n in range(max(p) + max(factor) + 1)
        }
    assert positive_roots(p) == sorted(map(Fraction, chosen))
