"""Formulas as quotients of polynomials, against what a reader writes down."""

from fractions import Fraction

import pytest

from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.formula.tree import Name, Num, Pow
from symroof.solver.rational import NotRational, rational, shared_factors_out

QUOTIENTS = {  # formula -> numerator and denominator by powers of x
    "a/b": ({0: "a"}, {0: "b"}),
    "a*c": ({0: "a*c"}, {0: "1"}),
    "a/(2*b)": ({0: "a/2"}, {0: "b"}),
    "2*(a - 1)/a*b": ({0: "2*(a - 1)*b"}, {0: "a"}),
    "a*x/b + c": ({1: "a", 0: "c*b"}, {0: "b"}),
    "(x + a)/(x - b)": ({1: "1", 0: "a"}, {1: "1", 0: "-b"}),
    "x**2/(a*x)": ({1: "1"}, {0: "a"}),
    "(x + a)**3": ({3: "1", 2: "3*a", 1: "3*a*a", 0: "a*a*a"}, {0: "1"}),
    "x**16": ({16: "1"}, {0: "1"}),
    "(a*x)**(-2)": ({0: "1"}, {2: "a*a"}),
    "a/(b*x) + c/(b*x**2)": ({1: "a", 0: "c"}, {2: "b"}),
    "a/x + b/(x + c)": ({1: "a + b", 0: "a*c"}, {2: "1", 1: "c"}),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("formula", QUOTIENTS)
def test_a_formula_as_one_quotient(formula):
    over, under = rational(parse(formula), "x")
    assert (
        {k: text(c) for k, c in over.items()},
        {k: text(c) for k, c in under.items()},
    ) == QUOTIENTS[formula]


@pytest.mark.parametrize(
    "formula",
    [*map(parse, ("x**17", "2**x", "max(x, a)", "ceil(x)")), Pow(Name("x"), Num(Fraction(3, 2)))],
    ids=text,
)
def test_what_is_no_quotient(formula):
    with pytest.raises(NotRational):
        rational(formula, "x")


def test_only_what_every_term_has_is_taken_out_and_numbers_stay():
    """2*a*b*x + (a*c - 2*a*b) is a times 2*b*x + (c - 2*b): of three terms all have a, two have b, two have 2."""
    shared = shared_factors_out({1: parse("2*a*b"), 0: parse("a*c - 2*a*b")})
    assert {power: text(c) for power, c in shared.items()} == {1: "2*b", 0: "c - 2*b"}
