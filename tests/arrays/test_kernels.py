"""Every kernel of compiled functions against brute force over small numbers, over arrays and exactly."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from symroof.arrays import kernels
from symroof.arrays import values as graph_values
from symroof.arrays.graph import Graph
from symroof.arrays.kernels import ARRAYS, EXACT, inverted
from symroof.arrays.values import arrays, exact
from symroof.formula.evaluate import NoValue
from symroof.formula.polynomial import constant, plus, power_of, scaled
from symroof.theory.search import most

NONE = math.nan


def both(kind, *points):
    """An operation over arrays and point by point, exactly; NaN where it has no value."""
    columns = [np.array([float(point[i]) for point in points]) for i in range(len(points[0]))]
    with np.errstate(all="ignore"):
        reached = np.broadcast_to(ARRAYS[kind](*columns), len(points)).tolist()
    alone = []
    for point in points:
        try:
            alone.append(float(EXACT[kind](*map(Fraction, point))))
        except NoValue:
            alone.append(NONE)
    return reached, alone


def test_the_positive_terms_of_a_line():
    """Values from -4 to 4, slopes from -3 to 3 in halves, up to six terms, and counts of nothing and less."""
    points = list(itertools.product(range(-4, 5), [Fraction(k, 2) for k in range(-6, 7)], range(-1, 7)))
    by_hand = [float(sum(max(value + slope * j, 0) for j in range(count))) for value, slope, count in points]
    reached, alone = both("ramp", *points)
    assert reached == by_hand and alone == by_hand


@pytest.mark.parametrize("ratio", [0, Fraction(1, 3), Fraction(9, 10), 1, Fraction(3, 2), 2])
def test_a_sum_of_powers(ratio):
    """From every first to every last exponent, none where the last lies below the first."""
    points = [(ratio, first, last) for first in range(4) for last in range(-2, 7)]
    by_hand = [float(sum(Fraction(ratio) ** j for j in range(first, last + 1))) for _, first, last in points]
    reached, alone = both("geometric", *points)
    assert reached == pytest.approx(by_hand, rel=1e-14) and alone == pytest.approx(by_hand, rel=1e-15)


def test_powers_of_a_ratio_close_to_one_keep_their_digits():
    ratios = np.array([1 - 1e-9, 1 - 2.0**-52, 1 + 1e-9])
    assert ARRAYS["geometric"](ratios, 0, 999) == pytest.approx([1000 - 499_500e-9, 1000, 1000 + 499_500e-9], rel=1e-12)


def test_a_ratio_below_zero_has_no_sum_of_floats_unless_it_is_empty():
    with np.errstate(all="ignore"):
        assert np.isnan(ARRAYS["geometric"](np.array([-0.5]), 0, 3)).all()
        assert ARRAYS["geometric"](np.array([-0.5]), 3, 2).tolist() == [0]


@pytest.mark.parametrize("pairs", [1, 2, 3])
def test_the_value_whose_key_is_largest(pairs):
    """Keys of 0, 1 and 2 in every order: a tie goes to the first."""
    keys = list(itertools.product(range(3), repeat=pairs))
    points = [[x for i, key in enumerate(row) for x in (key, 10 + i)] for row in keys]
    reached = ARRAYS["of_largest"](*np.array(points, float).T)
    by_hand = [10 + row.index(max(row)) for row in keys]
    assert reached.tolist() == by_hand
    graph = Graph(("x",))
    for point, expected in zip(points, by_hand, strict=True):
        chosen = graph.operation("of_largest", *(scaled(power_of("x"), Fraction(k, 2)) for k in point))
        assert exact(graph, {"x": Fraction(2)}).form(chosen) == expected


@pytest.mark.parametrize(
    ("kind", "points", "values"),
    [
        ("log2", [(8,), (1,), (Fraction(1, 4),), (0,), (-2,)], [3, 0, -2, NONE, NONE]),
        ("power", [(2, 3), (2, -2), (0, 2), (0, 0), (0, -1), (9, Fraction(1, 2))], [8, 0.25, 0, 1, NONE, 3]),
        ("sqrt", [(16,), (0,), (Fraction(1, 4),)], [4, 0, 0.5]),
        ("whole", [(3,), (0,), (-2,), (Fraction(5, 2),), (Fraction(1, 3),)], [3, 0, -2, NONE, NONE]),
        ("void", [(0,), (3,), (-1,)], [0, NONE, NONE]),
        ("cut", [(Fraction(7, 2),), (-Fraction(1, 2),), (4,)], [3, -1, 4]),
        ("guard", [(5, 1), (5, 0)], [5, NONE]),
        ("max", [(1, 2), (2, 1), (-3, -4)], [2, 2, -3]),
        ("min", [(1, 2), (2, 1), (-3, -4)], [1, 1, -4]),
        ("ceil", [(Fraction(7, 2),), (4,), (-Fraction(1, 2),)], [4, 4, 0]),
        ("floor", [(Fraction(7, 2),), (4,), (-Fraction(1, 2),)], [3, 4, -1]),
        ("<=", [(-1,), (0,), (1,)], [1, 1, 0]),
        ("<", [(-1,), (0,), (1,)], [1, 0, 0]),
        (">=", [(-1,), (0,), (1,)], [0, 1, 1]),
        (">", [(-1,), (0,), (1,)], [0, 0, 1]),
        ("=", [(-1,), (0,), (1,)], [0, 1, 0]),
    ],
)
def test_an_operation_at_its_edges(kind, points, values):
    reached, alone = both(kind, *points)
    assert reached == pytest.approx(values, nan_ok=True) and alone == pytest.approx(values, nan_ok=True)


def test_nothing_over_zero():
    assert inverted(np.array([2.0, 0.0, -4.0])).tolist() == pytest.approx([0.5, NONE, -0.25], nan_ok=True)


@pytest.mark.parametrize("exponent", [-3, -2, -1, 1, 2, 3])
def test_powers_of_a_name_in_a_polynomial(exponent):
    """Two thirds of x to the power, and 5: term by term, whichever terms of it were asked before."""
    graph = Graph(("x",))
    p = plus(scaled(power_of("x", exponent), Fraction(2, 3)), constant(Fraction(5)))
    for point in (Fraction(2), Fraction(-3)):
        values = exact(graph, {"x": point})
        assert values.form(p) == values.form(p) == Fraction(2, 3) * point**exponent + 5
    reached = arrays(graph, {"x": np.array([2.0, -3.0])}).form(p)
    assert reached.tolist() == pytest.approx([2 / 3 * 2.0**exponent + 5, 2 / 3 * (-3.0) ** exponent + 5], rel=1e-15)
    assert exact(graph, {"x": Fraction(2)}).form({}) == 0 and arrays(graph, {"x": 2.0}).form({}) == 0


# ------------------------------------------------------------------------------------------------------------- searches


def counted(body):
    """A body and how often it was asked."""
    asked = []

    def ask(x):
        asked.append(1)
        return body(x)

    return ask, asked


def test_the_fixed_point_of_straight_lines_and_of_curves():
    """x = a + x*b is a/(1 - b); x = a/(20 - x) a root of x² - 20x + a; above ``high`` it stands there."""
    a, b = np.array([0.0, 1.0, 3.0, 50.0]), np.array([0.5, 0.25, 0.9, 0.0])
    reached = kernels._fixed(lambda x: a + x * b, np.full(4, 40.0))
    assert reached == pytest.approx([0, 4 / 3, 30, 40], rel=1e-14)
    curved = kernels._fixed(lambda x: a / (20 - x), np.full(4, 10.0))
    assert curved == pytest.approx(10 - np.sqrt(100 - a), rel=1e-13, abs=1e-14)


def test_the_least_of_several_fixed_points_where_the_body_starts_above_and_ends_below():
    """A step: above the diagonal up to 3, below it from there on."""
    reached = kernels._fixed(lambda x: np.where(x < 3, 4.0, 1.0), np.array([10.0]))
    assert reached == pytest.approx(3, rel=1e-13)


def test_a_fixed_point_where_the_body_has_no_value_is_none():
    reached = kernels._fixed(lambda x: np.where(x > 0.5, np.nan, 2.0), np.array([8.0, 9.0]))
    assert np.isnan(reached).all()


@pytest.mark.parametrize("sharp", [1, 3])
@pytest.mark.parametrize("bend", ["up", "down"])
def test_an_end_that_stands_still_does_not_hold_the_other_back(sharp, bend):
    """Bent to one side only, a plain secant creeps towards the fixed point from the other: with its weight halved it takes no more than fourteen looks."""
    bodies = {"up": lambda x: np.expm1(sharp * x) / np.expm1(sharp) / 2 + 0.1, "down": lambda x: 0.1 + 0.85 * -np.expm1(-sharp * x)}
    body, asked = counted(bodies[bend])
    reached = kernels._fixed(body, np.array([1.0]))
    assert len(asked) <= 14
    assert bodies[bend](reached) == pytest.approx(reached, rel=1e-12)


@pytest.mark.parametrize("mirrored", [False, True])
def test_the_first_looks_by_hand(mirrored):
    """Where 1 - x² is nothing, from 0 to 2, and from the other end, in fractions: secants of the last two looks, but a halving where a gap is not half the one before it."""

    def gap(x):
        return (2 - x) ** 2 - 1 if mirrored else 1 - x**2

    seen, (low, high), halved = [(x, gap(x)) for x in (Fraction(2), Fraction(0))], (Fraction(0), Fraction(2)), []
    for look in range(6):
        (a, far), (b, near) = seen[-2:]
        secant = (a * near - b * far) / (near - far)
        halved.append((look > 0 and not halved[-1] and abs(near) > abs(far) / 2) or not low < secant < high)
        at = (low + high) / 2 if halved[-1] else secant
        seen.append((at, gap(at)))
        low, high = (at, high) if at < 1 else (low, at)
    looked = [at for at, _ in seen]
    assert looked[2:5] == ([Fraction(3, 2), Fraction(6, 5), Fraction(12, 13)] if mirrored else [Fraction(1, 2), Fraction(5, 4), Fraction(13, 14)])
    assert any(halved) is not mirrored
    asked = []

    def body(x):
        asked.append(float(x[0]))
        return x + gap(x)

    assert kernels._fixed(body, np.array([2.0])) == pytest.approx(1, rel=1e-14)
    assert asked[2:8] == pytest.approx([float(x) for x in looked[2:]], rel=1e-12)


def test_one_of_a_stretch_of_fixed_points():
    """All from 3 to 5 are."""
    reached = kernels._fixed(lambda x: x + np.maximum(3 - x, 0) - np.maximum(x - 5, 0), np.array([10.0]))
    assert 3 <= reached <= 5


def test_points_that_are_done_wait_for_the_others():
    """Fixed points at both ends and between, beside one that takes all turns: each as alone."""
    a = np.array([0.0, 1e-9, 0.3, 4.0, 4.999999, 5.0, 6.0])
    together = kernels._fixed(lambda x: np.minimum(a + 0.2 * x**2 / 5, 4 + a / 5), np.full(7, 5.0))
    for value, one in zip(a, together, strict=True):
        alone = kernels._fixed(lambda x, value=value: np.minimum(value + 0.2 * x**2 / 5, 4 + value / 5), np.array([5.0]))
        assert one == pytest.approx(float(alone[0]), rel=1e-13, abs=1e-25)
        assert one == 5 or one == pytest.approx(min(value + 0.04 * one**2, 4 + value / 5), rel=1e-12, abs=1e-12)


def test_a_body_above_the_bound_stands_at_the_bound_and_its_neighbours_are_found():
    a = np.array([9.0, 8.0, 7.99, 0.0])
    assert kernels._fixed(lambda x: a + 0 * x, np.full(4, 8.0)) == pytest.approx([8, 8, 7.99, 0], rel=1e-13)


@pytest.mark.parametrize("sharp", [1, 3, 12, 40])
def test_a_fixed_point_takes_few_looks(sharp):
    """However bent the body, no more than a plain halving of 64 turns takes, and for gentle ones far fewer."""
    body, asked = counted(lambda x: np.expm1(sharp * x) / np.expm1(sharp) / 2 + 0.1)
    reached = kernels._fixed(body, np.array([1.0]))
    assert body(reached) == pytest.approx(reached, rel=1e-12)
    assert len(asked) <= (20 if sharp < 10 else 45)


@pytest.mark.parametrize("high", [0, 0.5, 1, 2, 3, 7, 7.5, 8])
def test_the_largest_whole_number_at_which_a_condition_holds(high):
    """Every threshold: it holds up to there and not beyond."""
    thresholds = np.arange(-1.0, 11)
    reached = kernels._most(lambda n: (n <= thresholds).astype(float), np.full(len(thresholds), float(high)))
    assert reached.tolist() == [max(0, min(math.floor(high), t)) for t in thresholds]


def test_where_small_numbers_have_no_value_larger_ones_are_looked_at():
    """A server that keeps up from a batch of 4 on and is too slow beyond 9; one that never keeps up; one without a bound."""
    first, last = np.array([4.0, 99.0, 1.0]), np.array([9.0, 99.0, 99.0])
    reached = kernels._most(lambda n: np.where(n < first, np.nan, (n <= last).astype(float)), np.array([20.0, 20.0, np.nan]))
    assert reached.tolist() == pytest.approx([9, 0, NONE], nan_ok=True)


@pytest.mark.parametrize("together", [1, 21, 1024])
def test_halvings_at_once_end_where_those_one_by_one_do(monkeypatch, together):
    """Also where a condition holds, fails and has no value at random: a halving does not look everywhere."""
    monkeypatch.setattr(kernels, "TOGETHER", together)
    draws = np.random.default_rng(9).choice([0.0, 1.0, np.nan], size=(7, 200))
    high = np.array([0.0, 1.0, 5.5, 16.0, 40.0, 150.0, 199.0])

    def one_by_one(row):
        def meets(n):
            if np.isnan(value := draws[row, int(n)]):
                raise NoValue("none")
            return value

        return float(most(meets, Fraction(high[row])))

    reached = kernels._most(lambda n: np.take_along_axis(draws.T, n.astype(int).reshape(-1, 7), 0).reshape(n.shape), high)
    assert reached.tolist() == [one_by_one(row) for row in range(7)]


def test_a_search_at_one_point_is_exact():
    """x = 2 + x/3 is 3, and stands at 1 below a bound of 1; of n with n*n < 50 up to 100 the largest is 7."""
    graph = Graph(("a",))
    half, met = plus(scaled(power_of("x"), Fraction(1, 3)), power_of("a")), graph.operation("<", plus(power_of("x", 2), constant(Fraction(-50))))
    for kind, body, high, expected in (("fixed", half, 100, 3), ("fixed", half, 1, 1), ("most", met, 100, 7), ("most", met, 5, 5)):
        found = graph.operation(kind, body, constant(Fraction(high)), words=("x",))
        assert exact(graph, {"a": Fraction(2)}).form(found) == expected
        assert float(arrays(graph, {"a": 2.0}).form(found)) == pytest.approx(expected, rel=1e-14)


# ----------------------------------------------------------------------------------------------------------- long sums


def rooted(first, last):
    """The sum of ceil(j*a/7) from first to last, which has no closed form."""
    graph = Graph(("a", "p", "q"))
    body = graph.operation("ceil", {(("a", 1), ("j", 1)): Fraction(1, 7)})
    return graph, graph.operation("steps", body, first, last, words=("j",))


@pytest.mark.parametrize("together", [1, 2, 7, 2**16])
@pytest.mark.parametrize("shape", ["point", "row", "grid"])
def test_a_sum_term_by_term(monkeypatch, together, shape):
    """From p to q for every p from 0 to 4 and q from -1 to 9, whatever the shape and however many terms at once."""
    monkeypatch.setattr(graph_values, "MOST_TOGETHER", together)
    graph, p = rooted(power_of("p"), power_of("q"))
    first, last = np.arange(0.0, 5)[:, None], np.arange(-1.0, 10)[None, :]
    by_hand = [[float(sum(-(-3 * j // 7) for j in range(p, q + 1))) for q in range(-1, 10)] for p in range(5)]
    if shape == "grid":
        assert arrays(graph, {"a": 3.0, "p": first, "q": last}).form(p).tolist() == by_hand
    elif shape == "row":
        rows, columns = (x.ravel() for x in np.broadcast_arrays(first, last))
        assert arrays(graph, {"a": 3.0, "p": rows, "q": columns}).form(p).tolist() == list(itertools.chain(*by_hand))
    else:
        for i, j in itertools.product(range(5), range(11)):
            assert float(arrays(graph, {"a": 3.0, "p": float(i), "q": float(j - 1)}).form(p)) == by_hand[i][j]
            assert exact(graph, {"a": Fraction(3), "p": Fraction(i), "q": Fraction(j - 1)}).form(p) == by_hand[i][j]


def test_a_sum_whose_body_moves_with_the_points(monkeypatch):
    """Columns of their own factor, rows of their own end; a point without a number leaves the others alone."""
    monkeypatch.setattr(graph_values, "MOST_TOGETHER", 5)
    graph, p = rooted(constant(Fraction(1)), power_of("q"))
    a, q = np.array([1.0, 2.0, np.nan, 5.0])[None, :], np.array([0.0, 3.0, 8.0])[:, None]
    by_hand = [[NONE if a != a else float(sum(-(-int(a) * j // 7) for j in range(1, q + 1))) for a in (1, 2, NONE, 5)] for q in (0, 3, 8)]
    reached = arrays(graph, {"a": a, "q": q, "p": 0.0}).form(p)
    kept = [0, 1, 3]
    assert reached[:, kept].tolist() == [[row[i] for i in kept] for row in by_hand]
    assert np.isnan(reached[1:, 2]).all()


@pytest.mark.parametrize("long", [0, 1, 50, 100])
def test_points_in_a_row_take_as_many_terms_as_each_has(monkeypatch, long):
    """A hundred sums, some of twenty terms, the others of three: no more terms are worked out, however many at a time."""
    monkeypatch.setattr(graph_values, "MOST_TOGETHER", 100)
    graph, p = rooted(constant(Fraction(1)), power_of("q"))
    worked = []

    def noted(values, name, result):
        if "j" in values.graph.reach(name):
            worked.append(np.size(result))
        return result

    q = np.where(np.arange(100) < long, 20.0, 3.0)
    reached = arrays(graph, {"a": np.full(100, 3.0), "p": 0.0, "q": q}, noted).form(p)
    assert reached.tolist() == [sum(-(-3 * j // 7) for j in range(1, int(last) + 1)) for last in q]
    assert sum(worked) == 3 * 100 + 17 * long and max(worked) <= 100


def test_a_sum_that_no_input_moves_is_one_number():
    graph = Graph(())
    body = graph.operation("ceil", {(("j", 1),): Fraction(1, 7)})
    reached = arrays(graph, {}).form(graph.operation("steps", body, constant(Fraction(1)), constant(Fraction(10)), words=("j",)))
    assert np.shape(reached) == () and reached == 7 * 1 + 3 * 2


def test_a_row_of_sums_without_any_end_has_no_value():
    graph, p = rooted(power_of("p"), power_of("q"))
    assert np.isnan(arrays(graph, {"a": 3.0, "p": 0.0, "q": np.full(3, np.nan)}).form(p)).all()
    assert arrays(graph, {"a": 3.0, "p": 0.0, "q": np.zeros(0)}).form(p).shape == (0,)


def test_a_sum_of_too_many_terms_has_no_value(monkeypatch):
    """A bound of 9 terms: nine are added, ten are not, over arrays and exactly."""
    monkeypatch.setattr(graph_values, "MOST_TERMS", 9)
    graph, p = rooted(constant(Fraction(2)), power_of("q"))
    reached = arrays(graph, {"a": 7.0, "p": 0.0, "q": np.array([10.0, 11.0, 1.0])}).form(p)
    assert reached.tolist() == pytest.approx([sum(range(2, 11)), NONE, 0], nan_ok=True)
    point = {"a": Fraction(7), "p": Fraction(0)}
    assert exact(graph, {**point, "q": Fraction(10)}).form(p) == sum(range(2, 11))
    with pytest.raises(NoValue, match=r"^a sum of 10 terms that has no closed form$"):
        exact(graph, {**point, "q": Fraction(11)}).form(p)


@pytest.mark.parametrize(
    ("kind", "says"), [("guard", "it does not exist here"), ("whole", "the bound of a sum is not whole"), ("missing", "an input is not given")]
)
def test_why_there_is_no_value(kind, says):
    args = {"guard": (Fraction(1), Fraction(0)), "whole": (Fraction(1, 2),), "missing": ()}[kind]
    with pytest.raises(NoValue, match=f"^{says}$"):
        EXACT[kind](*args)


def test_what_does_not_move_with_an_unknown_is_worked_out_once():
    """A search of forty steps over a body with a costly part that its unknown does not move: that part is asked for once."""
    graph, asked = Graph(("a",)), []
    still = graph.operation("sqrt", power_of("a"))
    moving = graph.operation("sqrt", plus(power_of("x"), still))
    search = graph.operation("fixed", graph.times(moving, constant(Fraction(1, 2))), constant(Fraction(100)), words=("x",))

    def noted(values, name, result):
        asked.append(name)
        return result

    reached = arrays(graph, {"a": np.array([4.0, 9.0])}, noted).form(search)
    by_hand = [(1 / 4 + math.sqrt(1 / 16 + a)) / 2 for a in (2, 3)]  # 4x² = x + root of a
    assert reached == pytest.approx(by_hand, rel=1e-12)
    ((still_name, _),) = next(iter(still))
    ((moving_name, _),) = next(iter(moving))
    assert asked.count(still_name) == 1 and asked.count(moving_name) > 3
