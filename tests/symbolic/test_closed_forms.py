"""Closed forms against numbers: put back they leave nothing, and their conditions hold; without numbers those that hold give every crossing."""

import math

import numpy as np
import pytest
import sympy
from sympy import Rational, exp, log, sqrt

from symroof.symbolic.closed_forms import every_form, form_at, forms_at, holds
from symroof.symbolic.crossings import Axis, crossings
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import symbol, total
from symroof.symbolic.nodes import Max, Min, ceiling
from symroof.symbolic.printing import text
from symroof.symbolic.reading import parse
from symroof.symbolic.roots import NoClosedForm, vanishes

from .texts import Values

A, B, C, D, J, X = map(symbol, "abcdjx")


def numbers_of(values):
    return lambda expr, at=None: evaluate(expr, Values(values), at)


NUMBERS = numbers_of({"a": 2.0, "b": 3.0, "c": 5.0, "d": 40.0})


def over_axis(difference, numbers):
    """The answer of the search."""
    left = np.vectorize(lambda x: numbers(difference, {X.name: x}), otypes=[float])
    return crossings(lambda x, _: (left(x), 0 * x), [Axis(1e-3, 1e3)])[0]


def crossing(difference, numbers=NUMBERS):
    """The first crossing by the search."""
    return over_axis(difference, numbers).values[0]


FORMS = {  # what is zero -> its root
    A * X - B: B / A,
    A * X**3 - 10: 10 ** Rational(1, 3) / A ** Rational(1, 3),
    B * exp(-A * X) - Rational(1, 10): log(10 * B) / A,
    A * log(1 + X) - 2: exp(2 / A) - 1,
    sqrt(X) + X - 6: sympy.Integer(4),
    X * exp(X) - 1: sympy.LambertW(1),
    D * (1 - (1 - A / D) ** X) - D * Rational(19, 20): log(Rational(1, 20)) / log(1 - A / D),
    A * ceiling(X / B) - 13: 6 * B,
    Max(A * X, B) + Min(X, C) - D: (D - C) / A,
    A * X**2 + B * X - C: (-B + sqrt(B**2 + 4 * A * C)) / (2 * A),
    total(A * J, "j", sympy.S.One, X) - D: (sqrt(1 + 8 * D / A) - 1) / 2,
}


@pytest.mark.parametrize(("difference", "root"), FORMS.items(), ids=map(str, FORMS))
def test_the_form_of_a_crossing(difference, root):
    place = NUMBERS(root)
    form = form_at(difference, X, NUMBERS, place)
    assert NUMBERS(form.whole(form.root)) == pytest.approx(place, rel=1e-12)
    assert all(holds(form.whole(c), NUMBERS, {X.name: place}, 1e-9) for c in form.conditions)
    assert parse(text(form.root)) == form.root


def test_what_has_no_form_says_why():
    for difference, why in {
        X**3 + X - C: "no closed form of readable size exists",
        A**X + X**2 + X - D: "the unknown is in an exponent",
        ceiling(X / B) + X - D: "the unknown is an argument of ceil()",
    }.items():
        with pytest.raises(NoClosedForm, match=why.replace("(", r"\(").replace(")", r"\)")):
            form_at(difference, X, NUMBERS, crossing(difference))


def test_sides_that_never_meet_show_the_condition_that_fails():
    ((form, _),) = forms_at(A * X + D - C * X * 0 + B * X, X, NUMBERS, 1e9)
    assert not all(holds(condition, NUMBERS, {}) for condition in form.conditions)


@pytest.mark.sample(10)
@pytest.mark.parametrize("seed", range(20))
def test_without_numbers_those_that_hold_are_the_crossings(seed):
    values = {name: 10 ** math.sin(7 * seed + i) for i, name in enumerate("abcd")}
    numbers = numbers_of(values)
    for difference in (
        Max(A * X, B) - C,
        Max(A * X, B * X + C) - D,
        Max(A * X, B) - Min(C * X + A, D),
        A * X / (B + C * X) - D,
        A * X**2 - B * X - C,
    ):
        met = []
        for form in every_form(difference, X).every:
            try:
                root = numbers(form.whole(form.root))
            except ArithmeticError:
                continue
            conditions = [*map(form.whole, form.conditions)]
            at = {X.name: root}
            if 1e-3 < root < 1e3 and all(holds(c, numbers, at, 1e-9) for c in conditions):
                met.append(root)
        found = over_axis(difference, numbers)
        assert sorted({round(value, 6) for value in met}) == pytest.approx(
            sorted(round(value, 6) for value in found.values), rel=1e-5, abs=1e-5
        ), difference


def test_sides_whose_signs_are_plain_never_meet():
    assert every_form(A * X + B, X).verdict == "lhs_above"
    assert every_form(A * X - 2 * A * X, X).verdict == "lhs_below"
    assert every_form((A * X + B) / (C + D), X).verdict == "lhs_above"
    assert every_form((A * X + B) / (C - D), X).verdict == "conditional"
    assert every_form(Max(A * X + 1, B + 1) - Max(A * X, B), X).verdict == "lhs_above"
    assert every_form(A * X * (B + C) - A * B * X - A * C * X, X).verdict == "identical"


@pytest.mark.parametrize("k", range(1, 40))
def test_no_number_is_taken_for_a_name(k):
    """A name stands for any number: its difference from one is zero nowhere but there."""
    assert not vanishes(A - k)
    assert vanishes(sympy.Mul(A - k, B, evaluate=False) - A * B + k * B)
