"""Values against fractions, SymPy's numbers and against loops, in floats and along scenarios."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from symroof.errors import NoValue
from symroof.symbolic.evaluation import blocks, cut, evaluate
from symroof.symbolic.expressions import parts, symbol
from symroof.symbolic.reading import FormulaError, parse

from ..near import near
from ..tables import table
from .texts import Values, exact_value, points, with_functions

POINT = {"a": 5 / 2, "b": 3.0, "c": 21.0}


def read(source):
    try:
        return parse(source)
    except FormulaError:
        return None


def value(source, **values):
    return evaluate(parse(source), Values(values))


def in_sympy(tree, point):
    at = {symbol(name): sympy.Rational(v.numerator, v.denominator) for name, v in point.items()}
    return tree.subs(at)


@given(with_functions, points)
def test_values_are_those_of_fractions(source, point):
    """Differences of large numbers keep as many digits as floats have."""
    tree = read(source)
    assume(tree is not None)
    found = [exact_value(part, point) for part in parts(tree)]
    assume(None not in found)
    size = max(map(abs, found), default=0)
    rounds = "ceil" in source or "floor" in source
    assume(size < (1e6 if rounds else 1e12))  # what is rounded keeps its digits up to there
    near = pytest.approx(float(exact_value(tree, point)), rel=1e-12, abs=1e-12 * max(size, 1))
    assert evaluate(tree, Values(point)) == near


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "source",
    ["sqrt(a*b + 1/3)", "log2(1000000)*b", "a**b", "(31/32)**(100*a)", "exp(-100*a)*b", "exp(a)"],
)
def test_roots_and_logarithms(source):
    point = {"a": Fraction(7, 3), "b": Fraction(11, 7)}
    expected = sympy.N(in_sympy(parse(source), point), 30)
    assert value(source, **point) == near(expected, 1e-12)


def test_what_is_next_to_a_whole_number_is_it():
    """49*(1/49) and a log of 8 are whole; so is 3*0.1/0.1, which floats put above 3."""
    for n in range(1, 200):
        assert value("ceil(n*(1/n))", n=n) == value("floor(n*(1/n))", n=n) == 1
        assert value("ceil(n*x/x)", n=n, x=0.1) == value("floor(n*x/x)", n=n, x=0.1) == n
    assert [value("ceil(log2(x))", x=2.0**n) for n in range(40)] == list(range(40))


NO_VALUES = """
1/(a - 2) | sqrt(1 - a) | log2(a - 2) | log2(a - 3) | (1 - a)**(1/a) | (a - 2)**(-a)
sum(j, j, 1/2, a)
"""


@pytest.mark.parametrize("source", [cell for row in table(NO_VALUES) for cell in row])
def test_no_value_says_so(source):
    """In an array it is NaN, beside points that have one."""
    with pytest.raises(NoValue):
        value(source, a=2)
    assert np.isnan(np.broadcast_to(value(source, a=np.array([2.0, 0.25])), (2,))[0])


@pytest.mark.parametrize("product", ["a*missing", "a*b*missing", "a*missing/b + 0"])
def test_what_is_multiplied_by_zero_needs_no_value(product):
    class Lacking(Values):
        def value(self, name):
            if name == "missing":
                raise NoValue("missing")
            return super().value(name)

    assert evaluate(parse(product), Lacking({"a": 0, "b": 2})) == 0
    if "missing" in product:
        with pytest.raises(NoValue):
            evaluate(parse(product), Lacking({"a": 1, "b": 2}))


@pytest.mark.parametrize("off", [0, 1e-13, -1e-13])
def test_a_tie_goes_to_the_arm_named_first(off):
    sides = {"a": 3 * (1 + off), "b": 3.0}
    assert value("largest(one = a, two = b)", **sides) == "one"
    assert value("a <= b", **sides) is True and value("a < b", **sides) is False
    assert value("of_largest(a, 7, b, 8)", **sides) == 7
    assert value("largest(one = a, two = b)", a=3 * (1 - 1e-11), b=3) == "two"


def test_sums_of_sums_and_of_other_names():
    assert value("j + sum(j, j, 1, 3)", j=100) == 106
    pairs = [(i, j) for j in range(1, 7) for i in range(1, j + 1)]
    assert value("sum(sum(i*j, i, 1, j), j, 1, 6)") == sum(i * j for i, j in pairs)


def test_a_sum_of_a_hundred_thousand_steps_needs_no_loop():
    """max(3j, 100000 + j): the second arm up to j = 50,000, the first beyond."""
    n, cut = 100_000, 50_000
    expected = cut * 100_000 + cut * (cut + 1) // 2 + 3 * (n * (n + 1) - cut * (cut + 1)) // 2
    assert value("sum(max(3*j, 100000 + j), j, 1, 100000)") == expected
    with pytest.raises(NoValue, match="a sum of 1000000 terms"):
        value("sum(1/j, j, 1, 1000000)")


@given(with_functions, st.lists(points, min_size=2, max_size=4))
def test_arrays_are_their_floats(source, scenarios):
    tree = read(source)
    assume(tree is not None)
    columns = {name: np.array([float(p[name]) for p in scenarios]) for name in scenarios[0]}
    try:
        found = np.broadcast_to(evaluate(tree, Values(columns)), (len(scenarios),))
    except NoValue:  # whatever the names are
        found = np.full(len(scenarios), np.nan)
    for one, point in zip(found, scenarios, strict=True):
        try:
            assert one == pytest.approx(evaluate(tree, Values(point)), rel=1e-12)
        except NoValue:
            assert np.isnan(one)


@pytest.mark.sample(5)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (5, 1, 6), (2, 3, 4), (0, 3)])
@pytest.mark.parametrize("most", [1, 4, 5, 1000])
def test_every_point_lies_in_one_block(shape, most):
    seen = np.zeros(shape, dtype=int)
    for place in blocks(shape, most):
        assert seen[place].size <= most
        seen[place] += 1
    assert (seen == 1).all()


def test_inputs_keep_their_thin_shapes():
    grid = np.arange(12.0).reshape(3, 4)
    row, column = np.arange(4.0)[None, :], np.arange(3.0)[:, None]
    whole = grid + row * 100 + column * 10_000
    found = np.empty((3, 4))
    for place in blocks((3, 4), 2):
        parts = [cut(x, place) for x in (grid, row, column)]
        assert parts[1].shape[0] == 1 and parts[2].shape[1] == 1
        found[place] = parts[0] + parts[1] * 100 + parts[2] * 10_000
    assert (found == whole).all()


def test_a_number_is_in_every_block():
    assert all(cut(np.array(3.0), place) == 3 for place in itertools.islice(blocks((4, 4), 4), 4))
