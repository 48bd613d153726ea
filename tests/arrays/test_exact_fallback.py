"""Where floats cannot decide the exact value does, and only there: sizes of terms by hand, roundings of differences that cancel, the points that are asked for."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from symroof.arrays import exact_fallback
from symroof.arrays.exact_fallback import DOUBT, _beside_whole, magnitude, mend, settle, size, whole_terms
from symroof.arrays.graph import Graph, frozen
from symroof.arrays.values import arrays
from symroof.formula.evaluate import NoValue
from symroof.formula.polynomial import constant, plus, power_of, scaled

X, Y = power_of("x"), power_of("y")
HUGE = 3 * 10**15


def added(*parts):
    total = {}
    for part in parts:
        total = plus(total, part)
    return total


@pytest.mark.parametrize(
    ("values", "most", "least"),
    [
        (np.array([3.0, -7.0, 0.0, 2.0]), 7, 2),
        (np.array([0.0, np.nan, np.inf, -0.5]), 0.5, 0.5),
        (np.array([0.0, np.nan, -np.inf]), 1, 1),
        (np.array(-4.0), 4, 4),
        (-2.5, 2.5, 2.5),
        (0.0, 1, 1),
    ],
)
def test_the_sizes_of_values(values, most, least):
    assert (size(values, False), size(values, True)) == (most, least)


def test_how_large_the_terms_get():
    """|-2|*5²/3 + 7 + 5*1/2: x from 3 to 5, y from 2 on below a line, from 3 at most above it."""
    form = frozen(added({(("x", 2), ("y", -1)): Fraction(-2, 3)}, constant(Fraction(-7)), {(("x", 1), ("y", -1)): Fraction(1)}))
    sizes = {("x", False): 5.0, ("x", True): 3.0, ("y", False): 9.0, ("y", True): 2.0}
    assert magnitude(form, lambda name, least: sizes[name, least]) == pytest.approx(2 / 3 * 25 / 2 + 7 + 5 / 2, rel=1e-15)
    assert magnitude(frozen({}), lambda *_: 1.0) == 0


@pytest.mark.parametrize(
    ("form", "x", "whole"),
    [
        (X, 3.0, True),
        (X, 3.5, False),
        (scaled(X, Fraction(3, 8)), 5.0, True),
        (scaled(X, Fraction(1, 3)), 6.0, False),
        (added(scaled(X, Fraction(1, 2)), constant(Fraction(1, 3))), 2.0, False),
        (power_of("x", 2), -4.0, True),
        (power_of("x", -1), 1.0, False),
        (constant(Fraction(5, 4)), 0.5, True),
        (X, 2.0**52 - 1, True),
        (X, 2.0**52, False),
        (scaled(X, Fraction(1, 2)), 2.0**52 - 2, True),
        (scaled(X, Fraction(1, 2)), 2.0**52, False),
        (added(X, constant(Fraction(1, 4))), 2.0**50 - 1, True),
        (added(X, constant(Fraction(1, 4))), 2.0**50, False),
        ({}, 0.5, True),
    ],
)
def test_polynomials_that_floats_hold_without_rounding(form, x, whole):
    """Whole inputs, coefficients over powers of two, and everything over the smallest of them below 2**52."""
    assert whole_terms(Graph(("x",)), frozen(form), {"x": np.array([1.0, x])}.__getitem__) is whole


def test_an_operation_inside_may_have_been_rounded():
    graph = Graph(("x",))
    inner = graph.operation("sqrt", X)
    assert not whole_terms(graph, frozen(inner), lambda name: np.array([2.0, 3.0]))
    for kind, args in (("form", [added(X, constant(Fraction(1)))]), ("max", [X, Y]), ("ceil", [scaled(X, Fraction(1, 3))])):
        whole = frozen(scaled(graph.operation(kind, *args), Fraction(1, 4)))
        assert whole_terms(graph, whole, lambda name: np.array([2.0, 3.0])), kind
    for kind, args in (("form", [added(scaled(X, Fraction(1, 2)), Y)]), ("max", [X, scaled(Y, Fraction(1, 2))]), ("max", [X, scaled(Y, Fraction(3, 2))])):
        assert not whole_terms(graph, frozen(graph.operation(kind, *args)), lambda name: np.array([2.0, 3.0])), "halves are no whole numbers"
    half = {"x": np.array([2.0, 3.0]), "y": np.array([0.5, 1.0])}
    assert [whole_terms(graph, frozen(graph.operation("max", *arms)), arrays(graph, half).name) for arms in ([X], [X, Y], [Y, X])] == [True, False, False]


ROUNDED = {
    "terms that cancel": (lambda g: added(scaled(X, Fraction(1, 3)), scaled(Y, Fraction(-1, 3))), lambda x, y: (x - y) / 3),
    "a sum as one name": (lambda g: scaled(g.operation("form", added(scaled(X, Fraction(1, 3)), scaled(Y, Fraction(-1, 3)))), Fraction(1, 7)), lambda x, y: (x - y) / 21),
    "the larger of two": (lambda g: g.operation("max", added(scaled(X, Fraction(1, 3)), scaled(Y, Fraction(-1, 3))), constant(Fraction(-1, 2))), lambda x, y: max((x - y) / 3, Fraction(-1, 2))),
    "the smaller of two": (lambda g: g.operation("min", constant(Fraction(40)), added(scaled(X, Fraction(1, 3)), scaled(Y, Fraction(-1, 3)))), lambda x, y: min((x - y) / 3, Fraction(40))),
    "a quotient": (lambda g: added({(("x", 1), ("y", -1)): Fraction(6, 7)}, constant(Fraction(1, 7))), lambda x, y: Fraction(6, 7) * x / y + Fraction(1, 7)),
    "a square": (lambda g: added(scaled(power_of("x", 2), Fraction(1, 9)), {(("x", 1), ("y", 1)): Fraction(-1, 9)}), lambda x, y: x * (x - y) / 9),
}  # fmt: skip
"""What is rounded: as a polynomial, and in fractions."""


@pytest.mark.parametrize("kind", ["ceil", "floor"])
@pytest.mark.parametrize("name", ROUNDED)
def test_roundings_of_small_and_of_huge_terms_beside_each_other(kind, name):
    """Two numbers of sixteen digits differ by little: their thirds are off by a quarter, so floats alone miss every other rounding."""
    made, at = ROUNDED[name]
    graph = Graph(("x", "y"))
    rounded = graph.operation(kind, made(graph))
    large = HUGE if name != "a square" else 3 * 10**7
    pairs = [(large + k, large) for k in range(-8, 25)] + [(k, 1) for k in range(-8, 25)] + [(7 * k, 6) for k in range(1, 9)]
    x, y = (np.array(column, float) for column in zip(*pairs, strict=True))
    reached = arrays(graph, {"x": x, "y": y}, mend).form(rounded)
    exact = [float((math.ceil if kind == "ceil" else math.floor)(at(Fraction(a), Fraction(b)))) for a, b in pairs]
    assert reached.tolist() == exact
    plain = arrays(graph, {"x": x, "y": y}).form(rounded)
    if kind == "floor" and name in ("terms that cancel", "the larger of two", "the smaller of two"):
        assert plain.tolist() != exact, "floats alone do as well: the test would show nothing"


@pytest.mark.parametrize("kind", ["form", "max", "min"])
def test_terms_that_cancel_under_a_name_of_their_own(kind):
    """Thirds of 3*10**15 + 21 and 3*10**15 + 1 differ by 20/3, their floats by 6.75: over 6.7 the one lies below 1 and the other above."""
    graph, base = Graph(("x", "y")), HUGE + 1
    difference = added(scaled(X, Fraction(1, 3)), scaled(Y, Fraction(-1, 3)))
    far = {"form": (), "max": (constant(Fraction(-99)),), "min": (constant(Fraction(99)),)}[kind]
    rounded = graph.operation("floor", scaled(graph.operation(kind, difference, *far), Fraction(10, 67)))
    x, y = base + np.arange(60.0), float(base)
    exact = [float(10 * k // 201) for k in range(60)]
    assert arrays(graph, {"x": x, "y": y}).form(rounded).tolist() != exact, "floats alone do as well: the test would show nothing"
    assert arrays(graph, {"x": x, "y": y}, mend).form(rounded).tolist() == exact


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">=", "="])
def test_a_relation_of_terms_that_cancel(relation):
    """(7x - 3y - 1)/21 against nothing, where x and y are around 10**15 and where they are small: floats alone take several for another."""
    graph = Graph(("x", "y"))
    p = added(scaled(X, Fraction(1, 3)), scaled(Y, Fraction(-1, 7)), constant(Fraction(-1, 21)))
    holds = graph.operation(relation, p)
    compare = {"<": lambda v: v < 0, "<=": lambda v: v <= 0, ">": lambda v: v > 0, ">=": lambda v: v >= 0, "=": lambda v: v == 0}[relation]
    wrong = 0
    for base in (3 * 10**15 + 3, 3 * 10**15 + 60, 10**15 + 2, 3000, 0):
        pairs = [(base + i, base // 3 * 7 + j) for i, j in itertools.product(range(-8, 9), repeat=2)]
        x, y = (np.array(column, float) for column in zip(*pairs, strict=True))
        exact = [compare(7 * a - 3 * b - 1) for a, b in pairs]
        reached, plain = (arrays(graph, {"x": x, "y": y}, *with_mend).form(holds) for with_mend in ((mend,), ()))
        assert [bool(one) for one in reached] == exact
        wrong += [bool(one) for one in plain] != exact
    assert wrong, "floats alone do as well: the test would show nothing"


@pytest.fixture
def asked(monkeypatch):
    """The points whose exact value is asked for."""
    points, plain = [], exact_fallback._or_none
    monkeypatch.setattr(exact_fallback, "_or_none", lambda value, point, none: points.append(point) or plain(value, point, none))
    return points


def test_nothing_is_asked_where_floats_are_sure(asked):
    """Whole numbers over powers of two, thirds away from whole numbers, a minimum that is its whole number with nothing near it."""
    graph = Graph(("x",))
    for made, x in (
        (graph.operation("ceil", scaled(X, Fraction(1, 4))), np.arange(100.0)),
        (graph.operation("floor", scaled(X, Fraction(1, 3))), 3 * np.arange(100.0) + 1),
        (graph.operation("ceil", graph.operation("min", scaled(X, Fraction(1, 3)), constant(Fraction(8)))), np.array([25.0, 40, 1e9])),
        (graph.operation("<=", scaled(X, Fraction(1, 3))), np.array([1.0, -1, 1e9])),
    ):
        arrays(graph, {"x": x}, mend).form(made)
    assert asked == []


def test_whole_terms_are_asked_only_where_floats_do_not_hold_them(asked):
    """x*y/8 of whole numbers: with 2**54 + 8 and 3 among them a product of 3*(2**54 + 8) is no float, all products of small ones are."""
    graph = Graph(("x", "y"))
    rounded = graph.operation("floor", added({(("x", 1), ("y", 1)): Fraction(1, 8)}, constant(Fraction(-1, 4))))
    x, y = np.array([1.0, 8, 17, 2**54 + 8]), np.array([[2.0], [3], [16]])
    reached = arrays(graph, {"x": x, "y": y}, mend).form(rounded)
    assert reached.tolist() == [[float((int(a) * int(b) - 2) // 8) for a in x] for (b,) in y]
    assert {point["x"] for point in asked} == {2.0**54 + 8}


@pytest.mark.parametrize(
    ("form", "arms"),
    [
        (lambda g: g.operation("max", scaled(X, Fraction(1, 3)), constant(Fraction(8))), [8 / 3]),
        (lambda g: g.operation("min", constant(Fraction(8)), scaled(X, Fraction(1, 3)), Y), [8 / 3, 5]),
        (lambda g: g.operation("max", X, constant(Fraction(1, 2))), [8, 0.5]),
        (lambda g: g.operation("max", added(X, constant(Fraction(1))), {}), [9]),
        (lambda g: scaled(g.operation("max", X, constant(Fraction(8))), Fraction(2)), []),
        (lambda g: added(g.operation("max", X, constant(Fraction(8))), constant(Fraction(1, 3))), []),
        (lambda g: g.times(g.operation("max", X, constant(Fraction(8))), g.operation("max", X, constant(Fraction(8)))), []),
        (lambda g: g.times(g.operation("max", X, constant(Fraction(8))), Y), []),
        (lambda g: g.operation("sqrt", X), []),
        (lambda g: g.operation("form", added(X, constant(Fraction(1, 2)))), []),
        (lambda g: X, []),
    ],
)
def test_the_arms_beside_a_whole_number(form, arms):
    """Of a maximum or minimum alone, those that are no whole number; at x = 8 and y = 5."""
    graph = Graph(("x", "y"))
    made = frozen(form(graph))
    values = arrays(graph, {"x": np.array([8.0]), "y": np.array([5.0])})
    assert [float(np.ravel(arm)[0]) for arm in _beside_whole(values, made)] == pytest.approx(arms)


def test_each_different_point_in_doubt_is_asked_once(asked):
    graph = Graph(("x",))
    rounded = graph.operation("ceil", graph.operation("min", scaled(X, Fraction(1, 3)), constant(Fraction(8))))
    x = np.array([[24.0, 25, 24, 21, 20], [24, 21, 1e9, 23.9, 1]])
    reached = arrays(graph, {"x": x}, mend).form(rounded)
    assert reached.tolist() == [[8, 8, 8, 7, 7], [8, 7, 8, 8, 1]]
    assert sorted(point["x"] for point in asked) == [21, 24]


def test_a_place_far_from_the_largest_terms_is_not_asked(asked):
    """2*10**15/3 may be a whole number for all that floats tell; 10.3 beside it is none."""
    graph = Graph(("x",))
    rounded = graph.operation("floor", added(scaled(X, Fraction(1, 3)), scaled(graph.operation("form", added(X, constant(Fraction(1)))), Fraction(1, 7))))
    x = np.array([2e15, 31.3, 0.5])
    reached = arrays(graph, {"x": x}, mend).form(rounded)
    assert reached.tolist() == [float((10 * Fraction(v) + 3) // 21) for v in x]
    assert [point["x"] for point in asked] == [2e15]


def test_doubt_reaches_as_far_as_a_few_hundred_roundings(asked):
    """A third of x is off by one rounding; what lies within 512 of them beside a whole number is looked at, what lies farther is not."""
    graph = Graph(("x",))
    rounded = graph.operation("floor", scaled(X, Fraction(1, 3)))
    near, far = 3 * (10 + 5 * DOUBT), 3 * (10 + 20 * DOUBT)
    assert arrays(graph, {"x": np.array([near, far, 3 * (10 - 5 * DOUBT)])}, mend).form(rounded).tolist() == [10, 10, 9]
    assert sorted(point["x"] for point in asked) == sorted([near, 3 * (10 - 5 * DOUBT)])


def test_settled_places_get_their_values_and_no_others():
    """Rows and columns of inputs; a point that raises has none; whole results stay of their own kind."""
    result = np.zeros((2, 3), np.int8)
    calls = []

    def value(point):
        calls.append(point)
        if point["y"] == 30:
            raise NoValue("none")
        return point["x"] + point["y"] / 10

    doubt = np.array([[True, False, True], [True, True, True]])
    settle(result, doubt, ["x", "y"], {"x": np.array([[1.0], [1.0]]), "y": np.array([10.0, 20.0, 30.0])}, value, -1)
    assert result.tolist() == [[2, 0, -1], [2, 3, -1]]
    assert calls == [{"x": 1, "y": 10}, {"x": 1, "y": 20}, {"x": 1, "y": 30}]
    assert all(isinstance(number, Fraction) for point in calls for number in point.values())


def test_a_point_that_is_no_number_is_settled_as_none():
    result = np.ones(3)
    settle(result, np.array([True, True, False]), ["x"], {"x": np.array([np.nan, 0.1, 5.0])}, lambda point: point["x"] * 10)
    assert result.tolist() == pytest.approx([math.nan, 1, 1], nan_ok=True)
