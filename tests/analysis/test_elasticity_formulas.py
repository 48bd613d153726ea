"""Elasticities of formulas: the logarithmic derivative, written as shares."""

import pytest
import sympy

from symroof.analysis.elasticity_formulas import elasticity
from symroof.symbolic.polynomials import NoClosedForm

A, B, C, K, M, P, W, X = sympy.symbols("a b c k m p w x", positive=True)
WRITTEN = [  # formula, its elasticity
    (A * X**3 / B, 3),
    (A / X, -1),
    (A * B, 0),
    ((W + K * X) / M, K * X / (W + K * X)),
    (P * X / (W + K * X), W / (W + K * X)),
    (W / (W + K * X), -K * X / (W + K * X)),
    (W / (W + K * X + M * X**2), -(K * X + 2 * M * X**2) / (W + K * X + M * X**2)),
    ((P + A * X) / (W + K * X), A * X / (P + A * X) - K * X / (W + K * X)),
    ((A * X + B) / (C * X), -B / (B + A * X)),
    (A / X + B * X, (B * X**2 - A) / (A + B * X**2)),
    (A - B * X, -B * X / (A - B * X)),
    ((X - C) * X, (2 * X - C) / (X - C)),  # the full pairs of a prompt behind a cached prefix
    (A * X**2 * (X + C), (3 * X + 2 * C) / (X + C)),
    (A / (X * (X + C)), -(2 * X + C) / (X + C)),
    (X * (X + B) / (X + C), (2 * X + B) / (X + B) - X / (X + C)),
    (0 * X, 0),
]


@pytest.mark.parametrize(("formula", "written"), WRITTEN, ids=str)
def test_an_elasticity_is_the_logarithmic_derivative(formula, written):
    formula, written = sympy.sympify(formula), sympy.sympify(written)
    found = elasticity(formula, X)
    assert sympy.expand(sympy.numer(sympy.together(found - written))) == 0
    if formula != 0:
        assert sympy.simplify(written - sympy.diff(formula, X) * X / formula) == 0


@pytest.mark.parametrize("formula", [sympy.Max(X, A), sympy.ceiling(X), 2**X])
def test_a_maximum_is_never_differentiated(formula):
    with pytest.raises(NoClosedForm):
        elasticity(formula, X)
