"""A claimed formula against a derived one: SymPy and brute force are the oracles, named slips the cases."""

import time
from fractions import Fraction

import pytest
import sympy
from hypothesis import given

from symroof.symbolic.comparison import compare
from symroof.symbolic.printing import text
from symroof.symbolic.reading import FormulaError, parse
from symroof.theory.theory import theory

from .texts import arithmetic, exact_value, points, with_functions

SECONDS = 20.0
"""Half a second of work at most on each of its three ways; no machine is so slow that it takes ten times that."""
KV = "2*n_layers*n_kv_heads*head_dim*kv_bytes_per_element"


def against(claimed, derived, **more):
    return compare(parse(claimed), parse(derived), **more)


# ------------------------------------------------------------------------------------------------------ named slips


@pytest.mark.parametrize(
    ("claimed", "derived", "factor", "ratio"),
    [
        ("2*n_layers*n_heads*head_dim*kv_bytes_per_element", KV, "n_heads/n_kv_heads", None),
        ("n_layers*n_kv_heads*head_dim*kv_bytes_per_element", KV, "0.5", Fraction(1, 2)),
        ("2*params*prompt/peak_flops", "2*params*prompt/(mfu*peak_flops)", "mfu", None),
        ("output*itl", "(output - 1)*itl", "output/(output - 1)", None),
        ("prompt^2*a", "a*prompt*(prompt + 1)/2", "2*prompt/(prompt + 1)", None),
        ("2*(a + b)*c", "c*(a + b)*d", "2/d", None),
        ("2*max(a, b)", "max(3*b, 3*a)", "2/3", Fraction(2, 3)),
        ("sqrt(4*a*b)", "sqrt(a*b)", "2", Fraction(2)),
    ],
)
def test_a_factor(claimed, derived, factor, ratio):
    found = against(claimed, derived)
    assert (found.verdict, text(found.factor), found.ratio) == ("factor", factor, ratio)


def test_four_for_two_in_the_attention_term():
    found = against(
        "2*params*prompt + 4*batch*n_layers*prompt^2", "2*params*prompt + 2*batch*n_layers*prompt^2"
    )
    assert found.verdict == "terms"
    assert str(found) == "n_layers*prompt**2*batch: you have 4, derived 2"


def test_a_missing_and_an_extra_term():
    assert str(against("2*p*s", "2*p*s + 2*d*v")) == "d*v: you have none, derived 2"
    assert str(against("2*p*s + d", "2*p*s")) == "d: you have 1, derived none"
    assert (
        str(against("b/(t + w/m)", "b/(t + 2*w/m)"))
        == "w in the denominator: you have 1, derived 2"
    )


def test_terms_come_with_what_they_stand_over():
    (term,) = against("(a + 2*b)/(c + d)", "(a + b)/(c + d)").terms
    assert (text(term.product), term.claimed, term.derived, text(term.bar)) == ("b", 2, 1, "c + d")


def test_an_inverted_ratio():
    found = against("mem_bandwidth/peak_flops", "peak_flops/mem_bandwidth")
    assert (found.verdict, found.inverted) == ("inverted", True)
    found = against("mem_bandwidth/peak_flops", "peak_flops/mem_bandwidth", of=theory().dimension)
    assert (found.verdict, found.inverted) == ("dimension", True)


def test_maxima():
    assert against("max(a/b, c/d) + t", "t + max(c/d, a/b)").exact
    assert against("max(a/b, c/d) + t", "t + max(c/d, a/b)").verdict == "equal"
    assert (
        str(against("t + max(a/w, c)", "t + max(a/w, 2*c)"))
        == "arm c: is 0.5 times what is derived"
    )
    assert str(against("a/w", "max(a/w, c)")) == "missing arm c"
    assert str(against("max(a, b, c)", "max(a, b)")) == "extra arm c"
    assert str(against("max(2*p*s + 4*d*s^2, w)", "max(w, 2*p*s + 2*d*s^2)")).endswith(
        "d*s**2: you have 4, derived 2"
    )


@pytest.mark.parametrize(
    ("claimed", "derived"),
    [
        ("sum(j, j, 1, n)", "n*(n + 1)/2"),
        ("min(a, b) + max(a, b)", "a + b"),
        ("log2(a*b)", "log2(a) + log2(b)"),
        ("2^n", "2*2^(n - 1)"),
    ],
)
def test_equal_beyond_algebra(claimed, derived):
    found = against(claimed, derived)
    assert (found.verdict, found.exact) == ("equal", False)
    assert found.points >= 4


@pytest.mark.parametrize(
    ("claimed", "derived"),
    [
        ("sqrt(a)*sqrt(a)", "a"),
        ("a*sqrt(a)*(b + 1)", "a*b*sqrt(a) + sqrt(a)*a"),
        ("sqrt(a*(b + c))", "sqrt(a*b + c*a)"),
        ("sum(a*i + a, i, 1, n)", "sum((j + 1)*a, j, 1, n)"),
        ("sum(sum(i*j, i, 1, j), j, 1, n)", "sum(sum(j*i, j, 1, i), i, 1, n)"),
        ("itl(batch = a*(b + c), prompt = 1)", "itl(prompt = 1, batch = a*b + a*c)"),
        ("a*max(b/c, max(d, 2*d)/c)", "max(a*b, 2*d*a)/c"),
        ("(a + b)*(a - b)/(a*c + b*c)", "(a^2 - b^2)/(c*(a + b))"),
    ],
)
def test_equal_by_algebra(claimed, derived):
    found = against(claimed, derived)
    assert (found.verdict, found.exact) == ("equal", True)


# -------------------------------------------------------------------------------------------------------- dimensions


def test_dimensions_come_first():
    of = theory().dimension
    assert "byte" in str(against("weight_bytes", "weight_bytes/mem_bandwidth", of=of))
    assert against("weight_bytes + prompt", "weight_bytes", of=of).verdict == "dimension"
    assert against("2*params*prompt", "2 FLOP*params*prompt", of=of).verdict == "equal", (
        "work is written without its unit"
    )
    assert (
        against("params*prompt/peak_flops", "2 FLOP*params*prompt/peak_flops", of=of).verdict
        == "factor"
    )


@pytest.mark.parametrize(
    ("claimed", "derived"),
    [
        ("a**n", "itl(a = a**n)"),
        ("log2(a**-64)**b", "log2(3e-7**n)"),
        ("floor(2**b)**3/a", "a"),
        ("itl(a = itl(a = ceil(a**c)))", "1"),
    ],
)
def test_numbers_out_of_all_range_are_no_trouble(claimed, derived):
    assert str(against(claimed, derived))


# ----------------------------------------------------------------------------------------------------------- oracles


@given(arithmetic, arithmetic)
def test_rational_formulas_are_decided_as_sympy_decides(one, other):
    try:
        a, b = parse(one), parse(other)
        found = compare(a, b)
        left, right = (sympy.cancel(sympy.together(formula)) for formula in (a, b))
    except (FormulaError, ZeroDivisionError):
        return
    if any(part.has(sympy.zoo, sympy.nan) for part in (left, right)):
        return
    same = (
        sympy.expand(
            sympy.numer(left) * sympy.denom(right) - sympy.numer(right) * sympy.denom(left)
        )
        == 0
    )
    assert (found.verdict == "equal") == same
    assert found.exact or found.verdict == "undecided"


@given(arithmetic)
def test_the_expanded_formula_is_equal(source):
    try:
        tree = parse(source)
        expanded = sympy.cancel(tree)
    except (FormulaError, ZeroDivisionError):
        return
    if expanded.has(sympy.zoo, sympy.nan):
        return
    assert compare(expanded, tree).verdict in ("equal", "undecided")


@given(with_functions, with_functions, points)
def test_what_is_said_holds_at_any_point(one, other, point):
    try:
        a, b = parse(one), parse(other)
    except FormulaError:
        return
    found = compare(a, b)
    x, y = exact_value(a, point), exact_value(b, point)
    if x is None or y is None or not found.exact:
        return
    assert (x == y) or found.verdict != "equal"
    if found.factor is not None and y:
        assert exact_value(found.factor, point) * y == x


@given(with_functions)
def test_a_formula_is_itself_and_not_twice_itself(source):
    try:
        tree = parse(source)
        twice = parse(f"2*({source})")
    except FormulaError:
        return
    assert compare(tree, tree).verdict == "equal"
    found = compare(twice, tree)
    assert found.ratio == 2 or found.verdict in ("equal", "undecided", "different"), (source, found)


# ------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("claimed", "derived"),
    [
        ("(a + b + c + d + e)**60", "(a + b + c + d + e)**61"),
        (
            "*".join(f"(a{i} + b{i})" for i in range(60)),
            "*".join(f"(a{i} + b{i})" for i in range(60)) + " + 1",
        ),
        (
            "+".join(f"1/(x{i} + {i + 1})" for i in range(200)),
            "+".join(f"1/(x{i} + {i + 2})" for i in range(200)),
        ),
        ("max(" * 60 + "a" + ", b)" * 60 + "+1", "max(" * 60 + "a" + ", 2*b)" * 60),
        (
            "max(" + ",".join(f"x{i}*y" for i in range(16)) + ")",
            "max(" + ",".join(f"x{i}*z" for i in range(16)) + ")",
        ),
        ("sum(sum(sum(i*j*k, i, 1, n), j, 1, n), k, 1, n)", "n"),
        ("sum(max(j, a)**b, j, 1, 1e9)", "a"),
        ("sum(max(j, a)**3, j, 1, 150*n)", "a"),
        ("a**a**a", "b**a**b"),
        ("+".join(f"x{i}*y{i}" for i in range(300)), "+".join(f"y{i}*x{i}*2" for i in range(300))),
        ("(9e60*a + 7e50/b + 3)**64", "(9e60*a + 7e50/b + 2)**64"),
        (
            "max(" + ",".join(f"sqrt(x{i}) + y" for i in range(16)) + ")",
            "max(" + ",".join(f"log2(x{i}) + z" for i in range(16)) + ")",
        ),
        ("sqrt(" * 60 + "a" + ")" * 60, "log2(a)"),
        ("(a + b + c + d + e + f)**12", "(a + b + c + d + e + f)**12 + 1"),
        ("(a + b)**64*(c + d)**64", "(a + b)**64*(c + d)**63"),
        ("+".join(f"x{i}" for i in range(700)), "+".join(f"x{i}" for i in range(701))),
        (
            "+".join(f"sqrt(x{i}+y)" for i in range(200)),
            "+".join(f"log(x{i}+y)" for i in range(200)),
        ),
    ],
)
def test_any_comparison_ends_soon(claimed, derived):
    one, other = parse(claimed), parse(derived)
    start = time.process_time()
    str(compare(one, other))
    assert time.process_time() - start < SECONDS
