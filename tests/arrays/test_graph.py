"""Polynomials over operations, against the values they stand for."""

from fractions import Fraction

import pytest

from symroof.arrays.graph import Graph, number_of
from symroof.formula.polynomial import constant, plus, power_of, scaled

X, Y = power_of("x"), power_of("y")
POINTS = [(Fraction(x), Fraction(y)) for x in (1, 2, 9) for y in (1, 5, 7)]


def value(graph, p, x, y):
    """What a polynomial comes to, each operation worked out from its own arguments."""
    at = {"x": x, "y": y}
    for name, operation in graph.operations.items():
        values = [sum(c * _power(m, at) for m, c in arg) for arg in operation.args]
        at[name] = {"max": max, "min": min, "form": sum}[operation.kind](values)
    return sum(c * _power(m, at) for m, c in p.items())


def _power(monomial, at):
    product = Fraction(1)
    for name, exponent in monomial:
        product *= at[name] ** exponent
    return product


@pytest.mark.parametrize(("p", "number"), [({}, 0), (constant(Fraction(3, 2)), Fraction(3, 2)), (X, None), (plus(X, constant(Fraction(1))), None)])
def test_the_number_that_a_polynomial_is(p, number):
    assert number_of(p) == number


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("factor", [1, 2, -3])
@pytest.mark.parametrize("rest", [{}, X, plus(scaled(Y, Fraction(-1)), constant(Fraction(4)))])
def test_an_extreme_takes_in_its_factor_and_what_is_added(kind, factor, rest):
    """One operation is left, of the same value, unless there is nothing to take in; the other extreme where the factor is negative."""
    graph = Graph(("x", "y"))
    p = plus(scaled(graph.operation(kind, scaled(X, Fraction(2)), Y), Fraction(factor)), rest)
    found = graph.absorbed(p)
    assert all(value(graph, found, x, y) == factor * (max if kind == "max" else min)(2 * x, y) + value(graph, rest, x, y) for x, y in POINTS)
    ((monomial, coefficient),) = found.items()
    assert coefficient == 1 and (found == p) is (factor == 1 and not rest)
    assert graph.operations[monomial[0][0]].kind == (kind if factor > 0 else {"max": "min", "min": "max"}[kind])


def test_a_quotient_of_several_inputs_over_a_name_is_worked_out_once():
    """``(x*y + 3)/x`` has its sum as one name where that moves with both inputs, and its terms where the divisor is a number."""
    graph = Graph(("x", "y"))
    p = plus(graph.operation("max", graph.times(X, Y), X), constant(Fraction(3)))
    over = graph.over(p, X)
    assert len(over) == 1
    assert all(value(graph, over, x, y) == (max(x * y, x) + 3) / x for x, y in POINTS)
    halves = graph.over(p, constant(Fraction(2)))
    assert len(halves) == 2 and all(value(graph, halves, x, y) == (max(x * y, x) + 3) / 2 for x, y in POINTS)
    light = graph.over(plus(X, constant(Fraction(3))), Y)
    assert len(light) == 2 and all(value(graph, light, x, y) == (x + 3) / y for x, y in POINTS)
