"""Values, sums and slopes against SymPy and against loops."""

import contextlib
import math
from fractions import Fraction
from itertools import pairwise

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from symroof.formula.dual import Dual, Gradient
from symroof.formula.evaluate import NoValue, evaluate
from symroof.formula.parse import FormulaError, parse
from symroof.formula.piecewise import NotPolynomial, PiecewisePolynomial
from symroof.formula.to_sympy import symbol, to_sympy

from . import NAMES, Values, arithmetic, points, quotients, with_functions

rationals = quotients(st.integers(-9, 9), st.integers(1, 6))


def as_fraction(expression):
    number = sympy.nsimplify(expression)
    return Fraction(int(number.p), int(number.q))


def read(source):
    try:
        return parse(source)
    except FormulaError:
        return None


def in_sympy(tree, point):
    return to_sympy(tree).subs(
        {symbol(name): sympy.Rational(v.numerator, v.denominator) for name, v in point.items()}
    )


# ----------------------------------------------------------------------------------------------------------- against SymPy


@pytest.mark.full
@given(with_functions, points)
def test_values_are_those_of_sympy(source, point):
    tree = read(source)
    assume(tree is not None)
    found = in_sympy(tree, point)
    assume(found.is_Rational)
    assert evaluate(tree, Values(point)) == Fraction(int(found.p), int(found.q))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "source",
    [
        "sqrt(2)",
        "sqrt(a*b + 1/3)",
        "log2(a)",
        "log2(1000000)*b",
        "a**b",
        "(31/32)**(100*a + 1/2)",
        "sqrt(a)/log2(b + 2)",
        "exp(a)",
        "exp(-100*a)*b",
        "exp(1)",
    ],
)
def test_roots_and_logarithms_to_thirty_digits(source):
    point = {"a": Fraction(7, 3), "b": Fraction(11, 7)}
    found = evaluate(parse(source), Values(point))
    expected = Fraction(str(sympy.N(in_sympy(parse(source), point), 50)))
    assert abs(found / expected - 1) < Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("sqrt(9/4)", Fraction(3, 2)),
        ("sqrt(0)", 0),
        ("a**3", 8),
        ("ceil(-1/2)", 0),
        ("floor(49/49)", 1),
        ("ceil(a)", 2),
    ],
)
def test_exact_where_it_can_be(source, expected):
    assert evaluate(parse(source), Values({"a": Fraction(2)})) == expected


def test_whole_logarithms_are_whole():
    """ceil(log2(8)) is the depth of a tree over 8 devices: 3, not 4."""
    for n in range(1, 40):
        for source in (f"log2({2**n})", f"ceil(log2({2**n}))", f"floor(log2({2**n}))"):
            assert evaluate(parse(source), Values({})) == n, source


@pytest.mark.parametrize(
    "source",
    [
        "1/(a - 2)",
        "sqrt(1 - a)",
        "log2(a - 2)",
        "log2(a - 3)",
        "(1 - a)**(1/a)",
        "(a - 2)**(0 - a)",
        "sum(j, j, 1/2, a)",
    ],
)
def test_no_value_says_so(source):
    with pytest.raises(NoValue):
        evaluate(parse(source), Values({"a": Fraction(2)}))


PARTS = st.sampled_from(["a", "b", "0", "1", "2", "1/2", "a - b", "a - a", "j"])
SHAPES = ["({0})/({1})", "({0})**({1})", "sqrt({0})", "log2({0})", "ceil({0})", "sum({0}, j, {1}, {2})", "sum(({0})**j, j, {1}, {2})", "sum(j**({0}), j, {1}, {2})", "sum(sum({0}, i, 1, {1}), j, 1, {2})",
          "max({0}, {1})", "sum(max({0}, j), j, {1}, {2})", "sum(({0})/({1}), j, 1, {2})", "sum(log2({0} + {1}), j, 0, {2})", "largest(one = {0}, two = {1})"]  # fmt: skip


@given(st.sampled_from(SHAPES), PARTS, PARTS, PARTS)
def test_any_formula_has_a_value_or_says_that_it_has_none(shape, first, second, third):
    tree = read(shape.format(first, second, third))
    if tree is None:
        return
    with contextlib.suppress(NoValue):
        evaluate(
            tree, Values({"a": Fraction(3), "b": Fraction(3), "i": Fraction(2), "j": Fraction(1)})
        )


@pytest.mark.parametrize(("exponent", "sign"), [(100, 1), (101, -1)])
def test_a_large_whole_power_of_a_negative_number_has_its_sign(exponent, sign):
    found = evaluate(parse("(0 - a)**b"), Values({"a": Fraction(3, 2), "b": Fraction(exponent)}))
    assert abs(found / (sign * Fraction(3, 2) ** exponent) - 1) < Fraction(1, 10**30)


def test_a_large_power_stays_affordable():
    """(31/32)**131072 as a fraction has half a million bits; 40 digits are enough."""
    found = evaluate(parse("32*(1 - (31/32)**a)"), Values({"a": Fraction(131072)}))
    assert abs(found - 32) < Fraction(1, 10**30)
    assert found.denominator.bit_length() < 10_000


@given(with_functions, points)
def test_floats_follow(source, point):
    """The same walk with floats, where no rounding function stands on a step."""
    tree = read(source)
    assume(tree is not None and "ceil" not in source and "floor" not in source)
    try:
        expected = float(evaluate(tree, Values(point)))
        found = evaluate(tree, Values({name: float(v) for name, v in point.items()}))
    except (NoValue, OverflowError, ZeroDivisionError):
        return
    scale = max(1.0, abs(expected))
    assume(scale < 1e12)
    assert (
        math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-6 * scale) or "-" in source
    )  # differences may cancel


# ------------------------------------------------------------------------------------------------------------------- sums


def polynomial(coefficients, j):
    return sum((c * j**power for power, c in enumerate(coefficients)), Fraction(0))


def piecewise(coefficients, first, last):
    index = PiecewisePolynomial.index(first, last)
    total = PiecewisePolynomial.constant(Fraction(0), first, last)
    for power, coefficient in enumerate(coefficients):
        total = total + coefficient * index**power
    return total


def of_degree(degree):
    return st.lists(rationals, min_size=1, max_size=degree + 1)


spans = st.tuples(st.integers(-20, 30), st.integers(0, 40)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


@given(of_degree(5), spans)
def test_a_polynomial_sums_like_a_loop(coefficients, span):
    assert piecewise(coefficients, *span).total() == sum(
        polynomial(coefficients, j) for j in range(span[0], span[1] + 1)
    )


def check_maxima(first, second, third, span):
    p, q, r = (piecewise(c, *span) for c in (first, second, third))
    values = [
        [polynomial(c, j) for c in (first, second, third)] for j in range(span[0], span[1] + 1)
    ]
    assert p.maximum(q).total() == sum(max(v[0], v[1]) for v in values)
    assert p.minimum(q).total() == sum(min(v[0], v[1]) for v in values)
    assert (p.maximum(q).minimum(r) * 3 + p).total() == sum(
        3 * min(max(v[0], v[1]), v[2]) + v[0] for v in values
    )


@given(of_degree(1), of_degree(1), of_degree(1), spans)
def test_maxima_of_lines(first, second, third, span):
    check_maxima(first, second, third, span)


@given(of_degree(2), of_degree(2), of_degree(2), spans)
def test_maxima_of_parabolas(first, second, third, span):
    check_maxima(first, second, third, span)


@given(of_degree(3), of_degree(3), of_degree(2), spans)
def test_maxima_of_cubics(first, second, third, span):
    check_maxima(first, second, third, span)


lines = st.tuples(rationals, quotients(st.integers(-24, 24), st.just(12)))


@given(lines, lines, spans, st.booleans())
def test_rounded_lines(first, second, span, up):
    """Of the larger of two lines, rounded, the sum is its loop, or it is declared to have too many steps."""
    try:
        found = piecewise(first, *span).maximum(piecewise(second, *span)).rounded(up)
    except NotPolynomial:
        return
    values = [max(polynomial(first, j), polynomial(second, j)) for j in range(span[0], span[1] + 1)]
    expected = [math.ceil(v) if up else math.floor(v) for v in values]
    assert found.total() == sum(expected)
    assert [value for a, b, (value,) in found.pieces for _ in range(a, b + 1)] == expected


def test_the_position_in_a_chunk_needs_no_loop():
    """Keys seen in chunks of 8,192 at the positions 1 to 16,384: each chunk counts 1 to 8,192, and its size is looked up twice, not at every position."""
    looked_up = []

    class Counted(Values):
        def value(self, name):
            looked_up.append(name)
            return super().value(name)

    assert (
        evaluate(parse("sum(j - floor((j - 1)/w)*w, j, 1, 16384)"), Counted({"w": Fraction(8192)}))
        == 2 * 8192 * 8193 // 2
    )
    assert looked_up == ["w", "w"]


@pytest.mark.parametrize("j", [1, 7, 8, 9, 8192])
def test_a_sum_of_one_term_is_that_term(j):
    """Whatever its shape: a rounding, a quotient by the index, the index in an exponent."""
    values = Values({"w": Fraction(8), "a": Fraction(j)})
    assert evaluate(parse("sum(ceil(j/w)*j - w/j, j, a, a)"), values) == -(-j // 8) * j - Fraction(
        8, j
    )
    assert evaluate(parse("sum(max(j, w)*2**(j - a), j, a, a)"), values) == max(j, 8)


def test_a_cubic_that_dips_between_two_whole_numbers():
    """(j - 4.9)(j - 5.2)(j - 6.1) rises at every whole number, but it is positive at 5, negative at 6, and positive from 7 on."""
    roots = [Fraction(49, 10), Fraction(26, 5), Fraction(61, 10)]

    def cubic(j):
        return (j - roots[0]) * (j - roots[1]) * (j - roots[2])

    index = PiecewisePolynomial.index(1, 12)
    found = (index - roots[0]) * (index - roots[1]) * (index - roots[2])
    assert [cubic(j) > 0 for j in (4, 5, 6, 7)] == [False, True, False, True]
    assert found.maximum(Fraction(0)).total() == sum(
        max(cubic(j), Fraction(0)) for j in range(1, 13)
    )


STEP_TIMES = ["max(a*j + b, c)", "max(a, j) + min(j*j, 50*b)", "max(a*min(j, 7), b*j)", "j", "3", "max(j*j - 9*j, 0)", "(a + j)/b", "1/(j + 100)", "floor(j/3)", "max(j/7, floor(a))*j",
              "max(10 - j, j - 10)", "min(max(j, 5), 9)**2", "2**j", "a**j", "(j + 1)**-2", "sqrt(j + 30)**2/1", "max(2*j, max(j + 4, a))"]  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("body", STEP_TIMES)
@pytest.mark.parametrize(("first", "last"), [(1, 12), (3, 3), (1, 0), (0, 40), (2, 25)])
def test_a_sum_is_its_loop(body, first, last):
    point = {"a": Fraction(5, 2), "b": Fraction(3), "c": Fraction(21)}
    expected = sum(
        (
            evaluate(parse(body), Values({**point, "j": Fraction(j)}))
            for j in range(first, last + 1)
        ),
        Fraction(0),
    )
    found = evaluate(parse(f"sum({body}, j, {first}, {last})"), Values(point))
    assert abs(found - expected) <= abs(expected) * (Fraction(1, 10**30) if "sqrt" in body else 0)


def test_a_sum_of_a_hundred_thousand_steps_needs_no_loop():
    """max(3j, 100000 + j): the second arm up to j = 50,000, the first beyond."""
    n, cut = 100_000, 50_000
    expected = cut * 100_000 + cut * (cut + 1) // 2 + 3 * (n * (n + 1) - cut * (cut + 1)) // 2
    assert evaluate(parse("sum(max(3*j, 100000 + j), j, 1, 100000)"), Values({})) == expected


def test_a_sum_leaves_a_name_outside_it_alone():
    assert evaluate(parse("j + sum(j, j, 1, 3)"), Values({"j": Fraction(100)})) == 106
    assert evaluate(parse("sum(sum(i*j, i, 1, 4), j, 1, 6)"), Values({})) == 10 * 21


def test_the_end_of_a_sum_may_be_the_index_of_another():
    assert evaluate(parse("sum(sum(i*j, i, 1, j), j, 1, 6)"), Values({})) == sum(
        i * j for j in range(1, 7) for i in range(1, j + 1)
    )


# ----------------------------------------------------------------------------------------------------------------- slopes


def slope_of(tree, point, name):
    moved = evaluate(tree, Values({**point, name: Dual(point[name], Fraction(1))}))
    return moved.slope if isinstance(moved, Dual) else Fraction(0)


def slopes_of(tree, point):
    """In all names at once."""
    moved = evaluate(
        tree,
        Values({name: Dual(value, Gradient({name: Fraction(1)})) for name, value in point.items()}),
    )
    return {
        name: moved.slope.get(name, 0) if isinstance(moved, Dual) and moved.slope else 0
        for name in point
    }


@given(arithmetic, points, st.sampled_from(NAMES))
def test_slopes_are_derivatives(source, point, name):
    tree = read(source)
    assume(tree is not None)
    at = {symbol(n): sympy.Rational(v.numerator, v.denominator) for n, v in point.items()}
    expression = to_sympy(tree)
    assume(expression.subs(at).is_Rational)
    expected = sympy.diff(expression, symbol(name)).subs(at)
    assume(expected.is_Rational)
    try:
        found = slope_of(tree, point, name)
    except (NoValue, ZeroDivisionError):
        raise AssertionError(f"no slope of {source} at {point}") from None
    assert found == Fraction(int(expected.p), int(expected.q)) == slopes_of(tree, point)[name]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "source",
    [
        "sqrt(a*b)",
        "log2(a + b)",
        "a**b",
        "b**(2*a)",
        "sqrt(a)/log2(b + 1)",
        "a**(1/b)",
        "exp(-a*b)",
        "a*exp(a/b)",
    ],
)
@pytest.mark.parametrize("name", ["a", "b"])
def test_slopes_of_roots_and_logarithms(source, name):
    point = {"a": Fraction(7, 3), "b": Fraction(11, 7)}
    at = {symbol(n): sympy.Rational(v.numerator, v.denominator) for n, v in point.items()}
    expected = sympy.diff(to_sympy(parse(source)), symbol(name)).subs(at)
    assert float(slope_of(parse(source), point, name)) == pytest.approx(float(expected), rel=1e-12)
    assert float(slopes_of(parse(source), point)[name]) == pytest.approx(float(expected), rel=1e-12)


def test_an_exponential_at_its_ends():
    """One at zero exactly; next to nothing far below it, but never nothing; no number far above it."""
    at = Values({"a": Fraction(0), "b": Fraction(10**9)})
    assert evaluate(parse("exp(a)"), at) == 1
    assert all(
        0 < evaluate(parse(tiny), at) < Fraction(1, 10**900)
        for tiny in ("exp(-b)", "0.5**b", "(1/b)**b")
    )
    assert evaluate(parse("a**b"), at) == 0
    falling = [evaluate(parse(f"exp(-{n}*b)"), at) for n in (1, 2, 5, 1000)] + [
        evaluate(parse(f"0.5**({n}*b**2)"), at) for n in (1, 2, 10)
    ]
    assert all(later * 10**9 < earlier for earlier, later in pairwise(falling)) and falling[-1] > 0
    assert falling[-1].denominator.bit_length() < 10_000
    with pytest.raises(NoValue, match="too large"):
        evaluate(parse("exp(b)"), at)
    assert evaluate(parse("sum(exp(-j), j, 1, 3)"), at) == pytest.approx(
        sum(math.exp(-j) for j in (1, 2, 3))
    )


def test_the_slope_of_a_maximum_is_that_of_the_arm_that_binds():
    tree = parse("max(3*a, a*a) + min(a, 1)")
    assert slope_of(tree, {"a": Fraction(2)}, "a") == 3
    assert slope_of(tree, {"a": Fraction(4)}, "a") == 8
    assert slope_of(tree, {"a": Fraction(1, 2)}, "a") == 4


def test_the_slope_of_a_sum_is_the_sum_of_slopes():
    """Over steps whose binding arm changes: 4 steps on the constant arm, 6 on the moving one, each moving with j."""
    tree = parse("sum(max(a*j, 9), j, 1, 10)")
    assert slope_of(tree, {"a": Fraction(2)}, "a") == sum(j for j in range(1, 11) if 2 * j > 9)


def test_terms_of_sums_in_sums_multiply():
    """3,000 times 3,000 terms took 46 s: only those of one sum were counted."""
    with pytest.raises(NoValue, match="a sum of 9000000 terms"):
        evaluate(parse("sum(sum(ceil(i*j/7), j, 1, 3000), i, 1, 3000)"), {})
    assert evaluate(parse("sum(sum(ceil(i*j/7), j, 1, 3), i, 1, 4)"), {}) == sum(
        -(-i * j // 7) for i in range(1, 5) for j in range(1, 4)
    )
