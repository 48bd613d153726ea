"""Elasticities as formulas against SymPy's derivative, and in the form a person would write."""

import pytest
import sympy

from symroof.analysis.elasticity_formulas import elasticity
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.formula.to_sympy import to_sympy
from symroof.solver.rational import NotRational

FORMULAS = [
    ("a*x^3/b", "3"),
    ("a/x", "-1"),
    ("a*b", "0"),
    ("(w + k*x)/m", "k*x/(w + k*x)"),
    ("p*x/(w + k*x)", "w/(w + k*x)"),
    ("w/(w + k*x)", "-k*x/(w + k*x)"),
    ("w/(w + k*x + m*x^2)", "-(k*x + 2*m*x**2)/(w + k*x + m*x**2)"),
    ("(p + a*x)/(w + k*x)", "a*x/(p + a*x) - k*x/(w + k*x)"),
    ("a*x^2 + b*x + c", "(b*x + 2*a*x**2)/(c + b*x + a*x**2)"),
    ("(a*x + b)/(c*x)", "-b/(b + a*x)"),
    ("a/x + b*x", "(-a + b*x**2)/(a + b*x**2)"),
    ("y*(a*x + b)/(z*y)", "a*x/(b + a*x)"),
    ("a - b*x", "-b*x/(a - b*x)"),
]


@pytest.mark.sample(8)
@pytest.mark.parametrize(("written", "expected"), FORMULAS)
def test_an_elasticity_is_the_logarithmic_derivative(written, expected):
    found = elasticity(parse(written), "x")
    formula, x = (
        to_sympy(parse(written)),
        next((s for s in to_sympy(parse("x")).free_symbols), None),
    )
    assert sympy.simplify(to_sympy(found) - x * sympy.diff(formula, x) / formula) == 0
    assert sympy.simplify(to_sympy(found) - to_sympy(parse(expected))) == 0
    assert text(found) == expected


def test_nothing_does_not_move():
    assert text(elasticity(parse("0*x"), "x")) == "0"


@pytest.mark.parametrize("written", ["max(x, a)", "ceil(x)", "2^x"])
def test_a_maximum_is_never_differentiated(written):
    with pytest.raises(NotRational):
        elasticity(parse(written), "x")
