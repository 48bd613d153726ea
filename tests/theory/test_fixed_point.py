"""The search for a fixed point: x = 3/(1 + x), whose root is (sqrt(13) - 1)/2, since x² + x = 3."""

from fractions import Fraction

from symroof.theory.search import DIGITS, fixed_point


def test_an_irrational_fixed_point_is_close_and_soon_there():
    """It comes within the digits that are asked for, and the search ends then: a body may be a whole step of a server."""
    calls = []

    def body(x):
        calls.append(x)
        return 3 / (1 + x)

    root = fixed_point(body, Fraction(10))
    near = 20 * DIGITS
    assert (root - near) ** 2 + (root - near) < 3 < (root + near) ** 2 + (root + near)
    assert len(calls) < 25
