"""Random formulas over arrays against their exact values: numbers, truths and labels, roundings and ties among them."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symroof.arrays.values import Arrays, Formulas
from symroof.formula.evaluate import NoValue, evaluate, exact_decimal
from symroof.formula.parse import FormulaError, parse
from symroof.theory.case import Case
from symroof.theory.theory import theory
from tests.formula import Values, with_functions

pytestmark = pytest.mark.full

SPELLED = {"a": "batch", "b": "mfu", "c": "output", "prompt": "prompt", "x1": "mbu"}
"""The names of random formulas as inputs of a case."""
TENTHS = [Fraction(n, d) for n, d in itertools.product((1, 2, 3, 7, 30, 49), (1, 7, 10))]


def over_arrays(tree, points):
    """The values of a formula at some points, at once."""
    columns = {
        name: np.array([float(point[letter]) for point in points])
        for letter, name in SPELLED.items()
    }
    with np.errstate(all="ignore"):
        return np.broadcast_to(
            Arrays(Formulas(Case(theory(), {})), columns).evaluate(tree), len(points)
        )


def exactly(tree, point):
    """The exact value where floats stand, which mean the decimals they are written as; None where there is none."""
    try:
        return evaluate(
            tree,
            Values({name: exact_decimal(float(point[letter])) for letter, name in SPELLED.items()}),
        )
    except NoValue:
        return None


formulas = with_functions.map(
    lambda source: re.sub(r"\b(a|b|c|x1)\b", lambda letter: SPELLED[letter[0]], source)
)
drawn = st.lists(
    st.fixed_dictionaries(dict.fromkeys(SPELLED, st.sampled_from(TENTHS))), min_size=1, max_size=6
)


@given(formulas, drawn)
def test_numbers(source, points):
    try:
        tree = parse(source)
    except FormulaError:
        return
    expected = [exactly(tree, point) for point in points]
    assume(any(value is not None for value in expected))
    for value, float_ in zip(expected, over_arrays(tree, points), strict=True):
        if value is None:
            assert np.isnan(float_)
        elif abs(value) < 1e15:
            assert (
                float_ == pytest.approx(float(value), rel=1e-9, abs=1e-9) or "-" in source
            )  # differences may cancel


@given(
    st.sampled_from(["<=", ">=", "<", ">", "="]),
    st.sampled_from(TENTHS),
    st.sampled_from(TENTHS),
    st.integers(-1, 1),
)
def test_truths_beside_equality(relation, first, second, off):
    """A third and a seventh of two numbers against their exact sum, or a millionth of a millionth beside it."""
    total = first / 3 + second / 7
    tree = parse(f"batch/3 + prompt/7 {relation} output*1")
    point = {
        "a": first,
        "prompt": second,
        "c": Fraction(round(total * 21), 21) if off == 0 else total + Fraction(off, 10**12),
        "b": Fraction(1),
        "x1": Fraction(1),
    }
    assert bool(over_arrays(tree, [point])[0]) is exactly(tree, point)


@pytest.mark.parametrize("tied", [0.0, 1e-12, -1e-12])
def test_a_label_is_exact_beside_a_tie(tied):
    """49ths against a whole number or one that they miss by a millionth of a millionth: of a tie the first, in either order."""
    tree, turned = (
        parse("largest(one = batch/49 + prompt/49, two = output)"),
        parse("largest(two = output, one = batch/49 + prompt/49)"),
    )
    x, y = (7 * np.arange(1.0, 41)).repeat(40), np.tile(7 * np.arange(1.0, 41), 40)
    z = np.round((x + y) / 49) + tied
    assert ((x * (1 / 49) + y * (1 / 49) != z) & ((x + y) % 49 == 0)).any(), (
        "floats alone do as well: the test would show nothing"
    )
    values = Arrays(Formulas(Case(theory(), {})), {"batch": x, "prompt": y, "output": z})
    first, second = values.evaluate(tree), values.evaluate(turned)
    for a, b, c, code, other in zip(x, y, z, first, second, strict=True):
        total = Fraction(int(a + b), 49)
        assert (code == 0) == (total >= exact_decimal(float(c))) and (other == 0) == (
            exact_decimal(float(c)) >= total
        )


@pytest.mark.parametrize("function", ["ceil", "floor"])
def test_roundings_beside_whole_numbers(function):
    """Tenths that add up to whole numbers, quotients of whole numbers, and what lies next to them."""
    tree, quotient = parse(f"{function}(mfu + mbu)"), parse(f"{function}(batch/output)")
    tenths = [Fraction(n, 10) for n in range(1, 40)]
    pairs = list(itertools.product(tenths, tenths))
    points = [{"b": p, "x1": q, "a": p * 10, "c": q * 10, "prompt": Fraction(1)} for p, q in pairs]
    for formula in (tree, quotient):
        assert over_arrays(formula, points).tolist() == [
            float(exactly(formula, point)) for point in points
        ]


def test_a_choice_that_is_not_made_need_not_have_a_value():
    """Of the batch and 50 the larger decides between the batch and 1/(batch - 50), which has no value at 50, where the first is chosen."""
    tree = parse("of_largest(batch, batch, 50, 1/(batch - 50))")
    values = Arrays(Formulas(Case(theory(), {})), {"batch": np.array([98.0, 50.0, 40.0])})
    assert values.evaluate(tree).tolist() == [98, 50, -0.1]
