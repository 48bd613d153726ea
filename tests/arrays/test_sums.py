"""Sums over steps in closed form against sums taken step by step, in Python's own fractions."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from symroof.arrays import exact_fallback, sums
from symroof.arrays import values as graph_values
from symroof.arrays.graph import Graph
from symroof.arrays.sums import total
from symroof.arrays.values import arrays, exact
from symroof.formula.evaluate import NoValue, written
from symroof.formula.polynomial import constant, plus, power_of, scaled

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


STAIRS = {
    "a chunk inside the larger of two": (
        "floor",
        lambda g, a, b, c, d, n, w, j, lift: g.operation("max", line(g, a, b, plus(j, scaled(lift(plus(c, j)), Fraction(-16)))), line(g, d, w, lift(plus(c, j)))),
        lambda a, b, c, d, w, j, lift: max(a + b * (j - 16 * lift(c + j)), d + w * lift(c + j)),
    ),
    "two roundings of different lines": (
        "ceil",
        lambda g, a, b, c, d, n, w, j, lift: g.operation("max", g.times(a, plus(lift(plus(c, j)), g.operation("floor", scaled(plus(j, d), Fraction(1, 20))))), line(g, b, d, j)),
        lambda a, b, c, d, w, j, lift: max(a * (lift(c + j) + (j + d) // 20), b + d * j),
    ),
    "a product of a stair alone": (
        "ceil",
        lambda g, a, b, c, d, n, w, j, lift: line(g, a, b, lift(plus(c, j))),
        lambda a, b, c, d, w, j, lift: a + b * lift(c + j),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STAIRS)
def test_a_sum_over_stairs_is_taken_stair_by_stair(name):
    """Terms with a line in them that is rounded every sixteen steps: an addition a stair, wherever the first stair begins."""
    kind, made, plain = STAIRS[name]
    graph, summed = built(lambda g, **names: made(g, **names, lift=lambda p: g.operation(kind, scaled(p, Fraction(1, 16)))))
    lift = {"floor": math.floor, "ceil": math.ceil}[kind]
    draw = random.Random(name)
    points = [{k: Fraction(draw.randint(-90, 90), draw.choice((1, 1, 4))) for k in "abcdw"} | {"n": Fraction(draw.randint(-1, 140))} for _ in range(60)]
    point = {k: np.array([float(p[k]) for p in points]) for k in INPUTS}
    values = np.broadcast_to(arrays(graph, point, exact_fallback.mend).form(summed), len(points))
    for point, value in zip(points, values, strict=True):
        terms = [plain(*(point[k] for k in "abcdw"), Fraction(j), lambda x: Fraction(lift(x / 16))) for j in range(1, int(point["n"]) + 1)]
        assert exact(graph, point).form(summed) == sum(terms, Fraction(0)), point
        assert value == pytest.approx(float(sum(terms)), rel=1e-12, abs=1e-8), point


@pytest.mark.parametrize(
    ("rise", "by_stairs"),
    [(Fraction(1, 16), True), (Fraction(1, 15), False), (Fraction(3, 32), False), (Fraction(-1, 16), False), (Fraction(5), False), (Fraction(1, 40), True)],
)
def test_only_a_line_that_rises_by_one_in_sixteen_steps_or_more_is_a_stair(rise, by_stairs):
    """Every other line is rounded step by step, with the same sum."""
    graph, summed = built(lambda g, c, j, **_: g.operation("floor", plus(c, scaled(j, rise))))
    assert any(f"{name}/j" in operation.words for name in graph.operations for operation in graph.operations.values()) is by_stairs
    for c, n in itertools.product((Fraction(0), Fraction(-7, 3), Fraction(100)), (0, 1, 15, 16, 17, 49)):
        assert exact(graph, {**dict.fromkeys("abdw", Fraction(0)), "c": c, "n": Fraction(n)}).form(summed) == sum(
            math.floor(c + rise * j) for j in range(1, n + 1)
        )


def test_stairs_take_as_many_turns_as_there_are_stairs(monkeypatch):
    """10,000 steps in chunks of 1,000, from places far apart: eleven stairs each at most, and exact roundings only of where a sum begins and ends."""
    turns, asked, settled = [], [], exact_fallback.settle
    within = graph_values.Values.at
    monkeypatch.setattr(graph_values.Values, "at", lambda self, changes: turns.extend(np.ravel(*changes.values())) or within(self, changes))
    monkeypatch.setattr(exact_fallback, "settle", lambda result, doubt, *rest: asked.append(np.count_nonzero(doubt)) or settled(result, doubt, *rest))
    graph, summed = built(lambda g, c, j, **_: g.operation("max", j, scaled(g.operation("floor", scaled(plus(c, j), Fraction(1, 1000))), Fraction(900))))
    starts = np.array([0.0, 999.0, 10.0**9 + 500, 10.0**12])
    values = arrays(graph, {**dict.fromkeys("abdw", 0.0), "n": 10_000.0, "c": starts}, exact_fallback.mend).form(summed)
    assert len(turns) <= 11 * len(starts) and sum(asked) <= 2 * len(starts)
    assert values.tolist() == [sum(max(j, (int(c) + j) // 1000 * 900) for j in range(1, 10_001)) for c in starts]


def test_a_sum_over_stairs_ends_where_any_sum_does():
    graph, summed = built(lambda g, j, **_: g.operation("floor", scaled(j, Fraction(1, 100))))
    values = arrays(graph, {**dict.fromkeys("abcdw", 0.0), "n": np.array([0.0, 99, graph_values.MOST_TERMS, graph_values.MOST_TERMS + 1])}).form(summed)
    assert values[:3].tolist() == [sum(j // 100 for j in range(n + 1)) for n in (0, 99, graph_values.MOST_TERMS)]
    assert np.isnan(values[3])


def test_a_window_behind_a_name_is_cut_too():
    """A polynomial that has a name for itself, with a bend inside: the sum of the larger of two has a closed form all the same."""
    graph, summed = built(
        lambda g, a, b, c, d, n, w, j: g.operation("max", g.times(plus(a, b), g.whole(plus(g.operation("min", plus(c, j), w), j))), g.times(d, plus(c, j)))
    )
    assert not any(operation.kind == "steps" for operation in graph.operations.values())
    draw = random.Random(4)
    for _ in range(40):
        point = {k: Fraction(draw.randint(-9, 9)) for k in "abcd"} | {"n": Fraction(draw.randint(-1, 14)), "w": Fraction(draw.randint(-5, 20))}
        a, b, c, d, n, w = (point[k] for k in INPUTS)
        assert exact(graph, point).form(summed) == sum(max((a + b) * (min(c + j, w) + j), d * (c + j)) for j in range(1, int(n) + 1)), point


@pytest.mark.parametrize("inner", ["a slope that is an input", "lines side by side", "a curve"])
def test_a_bend_that_cannot_be_cut_leaves_the_sum_to_its_steps(inner):
    """Under the larger of a line and an inner maximum: of a + b*j and c, of j + a and j + c, of j² and c."""
    made = {"a slope that is an input": lambda a, b, j: a + b * j, "lines side by side": lambda a, b, j: a + j, "a curve": lambda a, b, j: j * j}[inner]

    def body(g, a, b, c, d, j, **_):
        first = {"a slope that is an input": line(g, a, b, j), "lines side by side": plus(a, j), "a curve": g.times(j, j)}[inner]
        return g.operation("max", g.operation("max", first, plus(c, j) if inner == "lines side by side" else c), g.times(d, j))

    graph, found = built(body)
    for a, b, c, d in ((1, 2, 5, 3), (-4, 1, 2, -1), (7, 0, 3, 2), (0, -3, -8, 1)):
        beside = [c + j if inner == "lines side by side" else c for j in range(1, 8)]
        by_hand = sum(max(made(a, b, j), beside[j - 1], d * j) for j in range(1, 8))
        assert exact(graph, {k: Fraction(v) for k, v in {"a": a, "b": b, "c": c, "d": d, "n": 7, "w": 0}.items()}).form(found) == by_hand


def test_what_has_no_closed_form_is_taken_step_by_step():
    graph, found = built(lambda g, a, b, c, d, n, w, j: g.operation("ceil", g.over(j, plus(w, constant(Fraction(20))))))
    assert any(operation.kind == "steps" for operation in graph.operations.values())
    n, w = np.array([0.0, 1, 5, 40]), np.array([-17.0, -16, -10, 3])
    values = arrays(graph, {**dict.fromkeys("abcd", 0.0), "n": n, "w": w}).form(found)
    assert values.tolist() == [sum(-(-j // int(20 + b)) for j in range(1, int(a) + 1)) for a, b in zip(n, w, strict=True)]


def test_a_long_sum_is_the_same_whatever_stands_beside_it(monkeypatch):
    """Terms are added one after the other, many worked out at once: neither the other points nor how many at once move a digit."""
    graph, found = built(lambda g, a, b, n, j, **rest: g.operation("ceil", plus(g.times(a, j), b)))
    scale = graph.over(found, {(("w", 1),): Fraction(1)})
    n, a = np.array([0.0, 7, 900, 4000]), np.array([0.5, 0.25, 0.3, 0.125])
    inputs = {**dict.fromkeys("bcd", 0.1), "w": 3.0}
    together = arrays(graph, {**inputs, "n": n, "a": a}).form(scale)
    alone = [float(arrays(graph, {**inputs, "n": k, "a": x}).form(scale)) for k, x in zip(n, a, strict=True)]
    monkeypatch.setattr(graph_values, "MOST_TOGETHER", 10)
    assert together.tolist() == alone == arrays(graph, {**inputs, "n": n, "a": a}).form(scale).tolist()
    assert float(together[3]) * 3 == pytest.approx(sum(-(-(10 * j + 8) // 80) for j in range(1, 4001)), rel=1e-13)


def test_a_rounding_asks_for_exact_values_only_where_it_is_in_doubt(monkeypatch):
    """Values of very different sizes beside each other: 10**20/3 may be a step, and the others are none."""
    asked = []
    monkeypatch.setattr(exact_fallback, "_or_none", lambda value, point, none: asked.append(point) or float(value({k: Fraction(x) for k, x in point.items()})))
    graph = Graph(("x",))
    steps = graph.operation("floor", {(("x", 1),): Fraction(1, 3)})
    points = np.array([0.7 + 2 * k for k in range(20)] + [1e20, 3e-9])
    values = arrays(graph, {"x": points}, exact_fallback.mend).form(steps)
    assert values.tolist() == [float(Fraction(x) // 3) for x in points]
    assert [point["x"] for point in asked] == [1e20]


@pytest.mark.parametrize("kind", ["floor", "ceil"])
def test_a_rounding_of_one_number_beside_whole_ones_needs_no_exact_value(kind, monkeypatch):
    """Eighths of numbers of any size and of a step: the error of the one addition is known, and so on which side of a whole number it lies."""
    monkeypatch.setattr(exact_fallback, "settle", lambda *_: pytest.fail("worked out exactly"))
    graph, draw = Graph(("x", "j")), random.Random(kind)
    steps = graph.operation(kind, {(("x", 1),): Fraction(1, 8), (("j", 1),): Fraction(1, 8), (): Fraction(-1, 8)})
    near = [8.0 * draw.randint(1, 10**k) + shift for k in range(1, 17) for shift in (0, 1, -1, 1e-9, -1e-3)]
    points = [(x, float(j)) for x in [*near, 1e17, 2.0**60, 1e24, 0.1] for j in (1, 2, 8)]
    x, j = map(np.array, zip(*points, strict=True))
    values = arrays(graph, {"x": x, "j": j}, exact_fallback.mend).form(steps)
    rounded = math.floor if kind == "floor" else math.ceil
    assert values.tolist() == [float(rounded((written(float(a)) + int(b) - 1) / 8)) for a, b in points]


def test_exact_work_is_counted():
    """A rounding of a root at two places in doubt: for each the root and the rounding; at the third floats decide."""
    graph, counted = Graph(("x",)), []
    found = graph.operation("floor", graph.operation("sqrt", power_of("x")))
    values = arrays(graph, {"x": np.array([4.0, 9.0, 5.0])}, lambda *made: exact_fallback.mend(*made, spend=lambda: counted.append(1)))
    assert values.form(found).tolist() == [2, 3, 2]
    assert len(counted) == 4


def test_a_sum_of_numbers_is_a_number():
    """Gauss's, and cubes up to ten; nothing is left to be worked out, and a bound of a half is none."""
    graph, j = Graph(("a",)), power_of("j")
    for power, expected in ((1, 5050), (3, 5050**2), (0, 100)):
        body = power_of("j", power) if power else constant(Fraction(1))
        assert total(graph, body, "j", constant(Fraction(1)), constant(Fraction(100))) == constant(Fraction(expected))
    assert total(graph, j, "j", constant(Fraction(3)), constant(Fraction(2))) == {} and not graph.operations
    with pytest.raises(NoValue, match="not whole"):
        exact(graph, {"a": Fraction(1)}).form(total(graph, j, "j", constant(Fraction(1)), constant(Fraction(5, 2))))


def test_a_bound_that_is_not_whole_has_no_sum():
    graph, found = built(lambda g, a, **rest: a)
    values = arrays(graph, {**dict.fromkeys(INPUTS, 2.0), "n": np.array([2.0, 2.5])}).form(found)
    assert values[0] == 4 and np.isnan(values[1])


@pytest.mark.parametrize("ratio", [0.0, 0.3, 0.999999999, 1.0, 1.5])
def test_powers_of_one_ratio(ratio):
    graph = Graph(("r",))
    found = total(graph, graph.raised(power_of("r"), power_of("j")), "j", constant(Fraction(0)), constant(Fraction(12)))
    assert [operation.kind for operation in graph.operations.values()] == ["power", "geometric"]
    assert float(arrays(graph, {"r": np.float64(ratio)}).form(found)) == pytest.approx(float(sum(Fraction(ratio) ** j for j in range(13))), rel=1e-13)


def test_powers_of_the_index_are_summed_term_by_term():
    """1 + 4 + 27 + 256 + 3125 + 46656, and squares and cubes up to six where the exponent is an input."""
    graph, j = Graph(("a",)), power_of("j")
    for body, a, expected in ((graph.raised(j, j), 1, 50069), (graph.raised(j, power_of("a")), 2, 91), (graph.raised(j, power_of("a")), 3, 441)):
        found = total(graph, body, "j", constant(Fraction(1)), constant(Fraction(6)))
        assert exact(graph, {"a": Fraction(a)}).form(found) == float(arrays(graph, {"a": float(a)}).form(found)) == expected


def test_points_with_more_terms_than_others_are_summed_to_the_same_digits():
    """Term by term, a block at a time: points whose sum has ended are left out, those with too many terms have no value."""
    graph = Graph(("n", "a"))
    body = graph.operation("sqrt", plus(power_of("j"), power_of("a")))
    made = total(graph, body, "j", constant(Fraction(1)), power_of("n"))
    assert any(operation.kind == "steps" for operation in graph.operations.values())
    lengths = [*range(60), 900, 7_000, graph_values.MOST_TERMS + 1]
    values = arrays(graph, {"n": np.array(lengths, dtype=float), "a": 2.0}).form(made)
    for n, value in zip(lengths[:-1], values, strict=False):
        expected = 0.0
        for j in range(1, n + 1):
            expected += float(np.sqrt(j + 2.0))
        assert value == expected, n
    assert np.isnan(values[-1])


def test_a_choice_at_one_point_needs_no_value_of_what_is_not_chosen():
    graph = Graph(("x",))
    x = power_of("x")
    choice = graph.operation("of_largest", x, x, constant(Fraction(3)), graph.over(constant(Fraction(1)), x))
    assert exact(graph, {"x": Fraction(5)}).form(choice) == 5
    assert exact(graph, {"x": Fraction(2)}).form(choice) == Fraction(1, 2)
    zero = graph.operation("of_largest", constant(Fraction(1)), x, x, graph.over(constant(Fraction(1)), x))
    assert exact(graph, {"x": Fraction(0)}).form(zero) == 0


def test_a_bend_is_cut_once_for_all_terms(monkeypatch):
    """Eight maxima of lines under one window: the range is cut for all of them together."""
    graph = Graph(INPUTS)
    names = {name: power_of(name) for name in (*INPUTS, "j")}
    window = graph.operation("min", plus(names["c"], names["j"]), names["w"])
    terms = [graph.operation("max", scaled(window, Fraction(k)), names["d"]) for k in range(1, 9)]
    cuts, cut = [], sums._Sum._beside
    monkeypatch.setattr(sums._Sum, "_beside", lambda self, kink: (cuts.append(kink), cut(self, kink))[1])
    body = {}
    for term in terms:
        body = plus(body, term)
    value = exact(graph, {name: Fraction(x) for name, x in {"a": 0, "b": 0, "c": 3, "d": 20, "n": 9, "w": 7}.items()}).form(
        total(graph, body, "j", constant(Fraction(1)), names["n"])
    )
    assert len(cuts) == 1
    assert value == sum(max(k * min(3 + j, 7), 20) for k in range(1, 9) for j in range(1, 10))
