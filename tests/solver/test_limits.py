"""Limits against SymPy's, and against exact values far out and close by."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symroof.formula.evaluate import evaluate
from symroof.formula.parse import parse
from symroof.formula.text import text
from symroof.formula.to_sympy import to_sympy
from symroof.solver.closed_forms import known_sign
from symroof.solver.limits import leading, leading_terms
from symroof.solver.rational import NotRational
from symroof.solver.roots import sign

pytestmark = pytest.mark.full

ENDS = {0: sympy.Integer(0), "infinity": sympy.oo}
QUOTIENTS = [
    "(a*x + b)/(c*x + d)",
    "a*x/(b + c*x)",
    "(a*x^2 + b*x)/(c*x^2 + d)",
    "a/(b*x + c)",
    "(a + b*x)/(c*x)",
    "x*(a + b*x)/(c + d*x)",
    "a*(x + b)/(c*(x + d)) + b",
    "sum(a*x + b*step, step, 1, c)/x",
    "(a*x*(x + 1)/2 + b*x)/(c + d*x)",
]


@pytest.mark.parametrize("to", ENDS)
@pytest.mark.parametrize("written", QUOTIENTS)
def test_a_quotient_of_polynomials_comes_to_what_sympy_says(written, to):
    tree = parse(written)
    found = leading(tree, "x", to, known_sign)
    symbols = {name: sympy.Symbol(name, positive=True) for name in "abcdx"}
    asked = sympy.limit(_in_sympy(tree, symbols), symbols["x"], ENDS[to], "+" if to == 0 else "-")
    limit = found.limit(to)
    if limit is None:
        assert asked == sympy.oo
        ratio = _in_sympy(tree, symbols) / _in_sympy(found.term("x"), symbols)
        assert sympy.simplify(sympy.limit(ratio, symbols["x"], ENDS[to]) - 1) == 0
    else:
        assert sympy.simplify(asked - _in_sympy(limit, symbols)) == 0


def _in_sympy(tree, symbols):
    formula = to_sympy(tree).doit()
    return formula.subs(
        {symbol: symbols[str(symbol)] for symbol in formula.free_symbols if str(symbol) in symbols}
    )


class Values(dict):
    """Numbers for names."""

    def value(self, name):
        return self[name]


small = st.integers(0, 4).map(Fraction)
arm = st.tuples(small, small, small)
"""Coefficients of x, of one and of 1/x."""


@given(arm, arm, arm, st.sampled_from(["max", "min"]), st.sampled_from([0, "infinity"]))
def test_the_arm_that_is_told_is_the_one_that_wins_from_some_point_on(
    first, second, third, function, to
):
    """With numbers one arm is left, and its term is what the formula is there, to twelve digits."""
    numbers = Values(
        {
            f"{letter}{i}": c
            for letter, arm in zip("abc", (first, second, third), strict=True)
            for i, c in enumerate(arm)
        }
    )
    written = f"{function}({', '.join(f'{s}0*x + {s}1 + {s}2/x' for s in 'abc')})"
    (found,) = leading_terms(parse(written), "x", to, lambda part: sign(evaluate(part, numbers)))
    x = Fraction(10) ** (40 if to == "infinity" else -40)
    there = Values(numbers | {"x": x})
    exact, told = evaluate(parse(written), there), evaluate(found.term("x"), there)
    assert told == exact == 0 or abs(told / exact - 1) < Fraction(1, 10**12)


def test_without_numbers_each_arm_comes_with_what_makes_it_win():
    found = list(leading_terms(parse("max(p*x/f, (w + k*x)/m)"), "x", "infinity", known_sign))
    assert [(text(term.term("x")), [text(c) for c in term.conditions]) for term in found] == [
        ("p*x/f", ["p*m >= f*k"]),
        ("k*x/m", ["k*f >= m*p"]),
    ]


def test_an_arm_of_unknown_sign_wins_on_its_sign():
    found = list(leading_terms(parse("max((a - b)*x, c)"), "x", "infinity", known_sign))
    assert [(text(term.term("x")), [text(c) for c in term.conditions]) for term in found] == [
        ("(a - b)*x", ["a - b >= 0"]),
        ("c", ["-a + b >= 0"]),
    ]


@pytest.mark.parametrize(
    "written", ["floor(x/16)", "k^x", "sqrt(x) + 1", "sum(1/step, step, 1, x)", "log2(x)"]
)
def test_what_is_no_quotient_of_polynomials_has_no_closed_limit(written):
    with pytest.raises(NotRational):
        list(leading_terms(parse(written), "x", "infinity", known_sign))


def test_a_sum_with_steps_of_both_kinds_has_none():
    numbers = Values({"a": Fraction(5)})
    tree = parse("sum(max(a, step), step, 1, 9) + x*0 + x")
    with pytest.raises(NotRational, match="both kinds"):
        list(
            leading_terms(
                parse("x*sum(max(a, step)*x, step, 1, 9)"),
                "x",
                "infinity",
                lambda part: sign(evaluate(part, numbers)),
            )
        )
    assert text(leading(tree, "x", 0, known_sign).coefficient)


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("a*x^2/b", True),
        ("a/x", True),
        ("a", True),
        ("x - x", True),
        ("a*x + b", False),
        ("a/(x + b)", False),
        ("(a*x + b)/(c*x)", False),
    ],
)
def test_a_formula_of_one_term_is_its_own_leading_term(written, whole):
    assert [leading(parse(written), "x", to, known_sign).whole for to in ENDS] == [whole] * 2
