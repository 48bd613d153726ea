"""Sums over steps in closed form against sums taken step by step, in Python's own fractions."""

import random
from fractions import Fraction

import numpy as np
import pytest

from symroof.arrays.graph import Graph
from symroof.arrays.kernels import arrays, exact
from symroof.arrays.sums import total
from symroof.formula.polynomial import constant, plus, power_of

INPUTS = ("a", "b", "c", "d", "n", "w")


def built(body):
    """A sum over steps 1 to n of a body made of polynomials, and whether any of it is left to be taken step by step."""
    graph = Graph(INPUTS)
    names = {name: power_of(name) for name in (*INPUTS, "j")}
    found = total(graph, body(graph, **names), "j", constant(Fraction(1)), names["n"])
    return graph, found


def line(graph, start, slope, j):
    return plus(start, graph.times(slope, j))


BODIES = {
    "powers": (lambda g, a, b, c, d, n, w, j: plus(line(g, a, b, j), g.times(c, g.times(j, j))), lambda a, b, c, d, w, j: a + b * j + c * j * j),
    "the larger of two lines": (lambda g, a, b, c, d, n, w, j: g.operation("max", line(g, a, b, j), line(g, c, d, j)), lambda a, b, c, d, w, j: max(a + b * j, c + d * j)),
    "the smaller of two lines": (lambda g, a, b, c, d, n, w, j: g.operation("min", line(g, a, b, j), line(g, c, d, j)), lambda a, b, c, d, w, j: min(a + b * j, c + d * j)),
    "a window inside the larger of two": (
        lambda g, a, b, c, d, n, w, j: g.operation("max", line(g, a, b, g.operation("min", plus(c, j), w)), line(g, w, d, j)),
        lambda a, b, c, d, w, j: max(a + b * min(c + j, w), w + d * j),
    ),
    "a falling bend": (
        lambda g, a, b, c, d, n, w, j: g.operation("max", line(g, a, b, g.operation("max", plus(w, {(("j", 1),): Fraction(-2)}), c)), d),
        lambda a, b, c, d, w, j: max(a + b * max(w - 2 * j, c), d),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_a_closed_sum_is_the_sum_of_its_terms(name):
    made, plain = BODIES[name]
    graph, found = built(made)
    assert not any(operation.kind == "steps" for operation in graph.operations.values())
    draw = random.Random(name)
    points = [{k: Fraction(draw.randint(-9, 9), draw.choice((1, 1, 4))) for k in "abcd"} | {"n": Fraction(draw.randint(-1, 14)), "w": Fraction(draw.randint(-5, 20))} for _ in range(300)]  # fmt: skip
    values = np.broadcast_to(arrays(graph, {k: np.array([float(p[k]) for p in points]) for k in INPUTS}).form(found), len(points))
    for point, value in zip(points, values, strict=True):
        terms = [plain(*(point[k] for k in "abcdw"), Fraction(j)) for j in range(1, int(point["n"]) + 1)]
        assert exact(graph, point).form(found) == sum(terms, Fraction(0)), point
        assert value == pytest.approx(float(sum(terms)), rel=1e-12, abs=1e-10), point


def test_what_has_no_closed_form_is_taken_step_by_step():
    graph, found = built(lambda g, a, b, c, d, n, w, j: g.operation("ceil", g.over(j, plus(w, constant(Fraction(20))))))
    assert any(operation.kind == "steps" for operation in graph.operations.values())
    n, w = np.array([0.0, 1, 5, 40]), np.array([-17.0, -16, -10, 3])
    values = arrays(graph, {**dict.fromkeys("abcd", 0.0), "n": n, "w": w}).form(found)
    assert values.tolist() == [sum(-(-j // int(20 + b)) for j in range(1, int(a) + 1)) for a, b in zip(n, w, strict=True)]


def test_a_bound_that_is_not_whole_has_no_sum():
    graph, found = built(lambda g, a, **rest: a)
    values = arrays(graph, {**dict.fromkeys(INPUTS, 2.0), "n": np.array([2.0, 2.5])}).form(found)
    assert values[0] == 4 and np.isnan(values[1])


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.999999999, 1.0, 1.5])
def test_powers_of_one_ratio(ratio):
    graph = Graph(("r",))
    found = total(graph, graph.raised(power_of("r"), power_of("j")), "j", constant(Fraction(0)), constant(Fraction(12)))
    assert float(arrays(graph, {"r": np.float64(ratio)}).form(found)) == pytest.approx(float(sum(Fraction(ratio) ** j for j in range(13))), rel=1e-13)
