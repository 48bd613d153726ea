"""From SymPy: what callers write becomes formulas of the same values, there and back; what has no meaning is named."""

import itertools

import pytest
import sympy
from sympy import Derivative, Dummy, Heaviside, Mod, Piecewise, Rational, Subs, Sum, Symbol

import symroof as sr
from symroof import symbols as s
from symroof.errors import NoValue
from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import DerivativeName, at, is_label, names, symbol
from symroof.symbolic.from_sympy import UnsupportedExpression, to_core
from symroof.symbolic.reading import parse

from ..near import near

a, b, c, d = (sympy.Symbol(name, positive=True) for name in "abcd")


class Point(dict):
    axes = 0

    def value(self, name):
        return self[name]

    def at(self, name, changes):
        raise AssertionError("expressions from SymPy hold no changed inputs")


def value_at(formula, point):
    try:
        return evaluate(formula, Point(point))
    except NoValue:
        return None


# ------------------------------------------------------------------------------------------------------ what callers write

WRITTEN = [  # and the same as text
    (sympy.Abs(a - b), "max(a - b, b - a)"),
    (sympy.sign(a - b), "of_largest(0, 0, a - b, 1, b - a, -1)"),
    (Mod(-a, b), "-a - b*floor(-a/b)"),
    (Heaviside(a - b), "of_largest(min(a - b, 0), 1/2, a - b, 1, 0, 0)"),
    (sympy.Float("0.1") * a, "a/10"),
    (2.5 * a, "5*a/2"),
    (Piecewise((a, a > b), (c, True)), "of_largest(b, c, a, a)"),
    (Piecewise((a, a >= b), (c, True)), "of_largest(a, a, b, c)"),
    (Piecewise((a, (a > b) & (b > c)), (d, (c > 2 * d) | (a < 1)), (b, True)), None),
    (Piecewise((a, sympy.Not(sympy.ITE(a > b, b > c, c > d))), (b, True)), None),
    (Derivative(a**2 * b, a), "2*a*b"),
    (Derivative(sympy.floor(a) * b, a), "0"),
    (Derivative(sympy.Max(2 * a, b), a), "of_largest(min(2*a, b), 1, 2*a, 2, b, 0)"),
    (Subs(a * b, (a, b), (c, 2)), "2*c"),
    (Sum(a * b, (a, 1, 3), (b, 1, c)), "sum(sum(a*b, a, 1, 3), b, 1, c)"),
    (sympy.Eq(a, 2 * b), "a = 2*b"),
    (a < 2 * b, "a < 2*b"),
]


def known(name):
    return name in "abcd"


@pytest.mark.parametrize(("expression", "source"), WRITTEN, ids=[str(part) for part, _ in WRITTEN])
def test_what_callers_write(expression, source):
    formula = to_core(expression, constant=known)
    for values in itertools.product((1, 2, 3), repeat=4):
        point = dict(zip("abcd", map(float, values), strict=True))
        numbers = {Symbol(name, positive=True): int(value) for name, value in point.items()}
        if source is None:
            expected = expression.xreplace(numbers).doit()
        else:
            expected = value_at(parse(source), point)
        assert value_at(formula, point) == near(float(expected))


def test_a_sum_over_an_input_takes_quantities_at_each_of_its_values():
    formula = to_core(Sum(s.itl, (s.batch, 1, 8)), constant=lambda name: name == "batch")
    assert formula.body == at("itl", {"batch": symbol(formula.index)}) != symbol("itl")


def test_a_value_at_a_point_is_that_of_the_quantity_there():
    slope = sympy.diff(s.itl * s.batch, s.batch).subs(s.batch, 5)
    name = DerivativeName.of("itl", "batch")
    assert to_core(slope) == at("itl", {"batch": 5}) + 5 * at(name, {"batch": 5})
    around = s.itl.series(s.batch, 2, 2).removeO()
    assert to_core(around) == at("itl", {"batch": 2}) + (symbol("batch") - 2) * at(
        name, {"batch": 2}
    )
    beside = sympy.diff(s.itl.subs(s.batch, s.batch + 1), s.batch)
    assert to_core(beside) == at(name, {"batch": symbol("batch") + 1})


def test_labels_are_told_from_choices_of_numbers():
    label = s.decode_bound
    made = to_core(sr.Study().sympy(label.name, depth=1))
    assert is_label(made) and [text for text, _ in made.arms][:2] == ["compute", "memory"]


@pytest.mark.parametrize(
    ("expression", "names_it"),
    [
        (sympy.Integral(s.batch, s.batch), "an Integral"),
        (sympy.Limit(s.itl, s.batch, sympy.oo), "a Limit"),
        (s.itl.series(s.batch, 1, 2), "an Order"),
        (1 + sympy.Function("f")(s.batch), "a f"),
        (sympy.oo, "an Infinity"),
        (sympy.I * s.batch, "an ImaginaryUnit"),
        (s.batch**100, "an exponent is at most 64"),
        (s.batch ** Rational(-129, 2), "an exponent is at most 64"),
        (sympy.Ne(s.batch, 1), "an Unequality"),
        (sympy.And(s.batch > 1, s.prompt > 1), "an And"),
        (Piecewise((s.batch, sympy.Ne(s.batch, 1)), (1, True)), "an Unequality"),
        (Piecewise((s.batch, s.batch > 1)), "without a value for every case"),
        (Derivative(s.itl, (s.batch, Symbol("n", integer=True))), "taken so many times"),
        (sympy.diff(s.fits, s.batch) * Derivative(s.itl > 1, s.batch), "has no slope"),
        (sympy.Matrix([1]), "Matrix"),
        (sympy.ImmutableMatrix([1]), "Matrix"),
        (sympy.Integer(2) ** 5000, "4096 bits"),
    ],
    ids=lambda part: str(part)[:40],
)
def test_what_has_no_meaning_is_named(expression, names_it):
    with pytest.raises(UnsupportedExpression, match=names_it):
        to_core(expression)


def test_an_expression_of_too_many_levels_is_refused():
    nested, condition = s.batch, s.batch > 1
    for i in range(120):
        nested = sympy.sqrt(nested + 1)
        both = sympy.And(condition, s.prompt > i, evaluate=False)
        condition = sympy.Or(both, s.output > i, evaluate=False)
    for deep in (nested, Piecewise((s.batch, condition), (1, True))):
        with pytest.raises(UnsupportedExpression, match="levels"):
            to_core(deep)


def test_a_dummy_is_bound_or_has_its_own_name():
    made = to_core(Subs(s.itl.subs(s.batch, Dummy("batch")), Dummy("other"), 3))
    assert names(made) != ("itl",)
