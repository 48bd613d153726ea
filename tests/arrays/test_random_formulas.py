"""Graphs of random formulas on grids of every layout, cut into tiny blocks, each point against Python's own fractions."""

import itertools
import math
import random
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from symroof.arrays import memory_layout
from symroof.arrays.cache_blocks import Pool
from symroof.arrays.evaluation_plan import Plan, planned
from symroof.arrays.graph import Form, Graph, frozen
from symroof.arrays.program import Output, Program
from symroof.arrays.values import exact
from symroof.formula.polynomial import constant, plus, power_of, scaled

AXES = ("x", "y", "z")
DIVISORS = [Fraction(1, 3), Fraction(1, 7), Fraction(1), Fraction(-2), Fraction(5, 2), Fraction(3)]
RELATIONS = {"<=": lambda x: x <= 0, ">=": lambda x: x >= 0, "<": lambda x: x < 0, ">": lambda x: x > 0, "=": lambda x: x == 0}


class Formula:
    """A formula as the engine's polynomial, and as a function of a point in fractions."""

    def __init__(self, made, at):
        self.made, self.at = made, at


def leaf(draw):
    if draw.random() < 0.75:
        name = draw.choice(AXES)
        return Formula(power_of(name), lambda p: p[name])
    value = draw.choice(DIVISORS)
    return Formula(constant(value), lambda p: value)


def formula(draw, graph, depth):
    """A random formula; what is divided by is above zero wherever inputs are none or more."""
    if not depth:
        return leaf(draw)
    kind = draw.choice(("sum", "sum", "difference", "product", "factor", "quotient", "max", "min", "max", "ceil", "floor", "power"))
    a, b = (formula(draw, graph, depth - 1) for _ in range(2))
    match kind:
        case "sum":
            return Formula(plus(a.made, b.made), lambda p: a.at(p) + b.at(p))
        case "difference":
            return Formula(plus(a.made, scaled(b.made, Fraction(-1))), lambda p: a.at(p) - b.at(p))
        case "product":
            return Formula(graph.times(a.made, b.made), lambda p: a.at(p) * b.at(p))
        case "factor":
            factor = draw.choice(DIVISORS)
            return Formula(scaled(a.made, factor), lambda p: factor * a.at(p))
        case "quotient":
            under = positive(draw, graph)
            return Formula(graph.over(a.made, under.made), lambda p: a.at(p) / under.at(p))
        case "max" | "min":
            of = max if kind == "max" else min
            return Formula(graph.operation(kind, a.made, b.made), lambda p: of(a.at(p), b.at(p)))
        case "power":
            return Formula(graph.raised(a.made, constant(Fraction(2))), lambda p: a.at(p) ** 2)
    rounded = math.ceil if kind == "ceil" else math.floor
    return Formula(graph.operation(kind, a.made), lambda p: Fraction(rounded(a.at(p))))


def positive(draw, graph):
    """A divisor: names alone, their sums with a number, or the larger of both."""
    name, more, number = draw.choice(AXES), draw.choice(AXES), draw.randint(1, 4)
    sum_ = plus(power_of(name), constant(Fraction(number)))
    if draw.random() < 0.4:
        return Formula(sum_, lambda p: p[name] + number)
    if draw.random() < 0.5:
        return Formula(graph.times(sum_, plus(power_of(more), constant(Fraction(1)))), lambda p: (p[name] + number) * (p[more] + 1))
    return Formula(graph.operation("max", power_of(more), sum_), lambda p: max(p[more], p[name] + number))


def grids(draw):
    """Values of the three inputs along axes of a random order, one of them wide; an input may be one number, or two may lie along one axis."""
    lengths = draw.sample([1, 2, 3, 17], 3)
    columns = {
        name: [Fraction(draw.choice((draw.randint(0, 9), draw.randint(1, 4), Fraction(draw.randint(0, 19), 2)))) for _ in range(n)]
        for name, n in zip(AXES, lengths, strict=True)
    }
    order = draw.sample(range(3), 3)
    arrays = [np.array([float(v) for v in columns[name]]).reshape([-1 if axis == order[i] else 1 for axis in range(3)]) for i, name in enumerate(AXES)]
    return arrays


def points(arrays):
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    columns = [np.broadcast_to(x, shape).ravel() for x in arrays]
    return shape, [{name: Fraction(float(column[i])) for name, column in zip(AXES, columns, strict=True)} for i in range(math.prod(shape))]


@pytest.mark.parametrize("seed", range(60))
def test_numbers_truths_and_labels_of_random_formulas(seed, monkeypatch):
    """Five formulas of one graph, each also against zero by a relation, and the place of the largest of them; truths and labels exactly."""
    draw = random.Random(seed)
    monkeypatch.setattr(memory_layout, "BLOCK", draw.choice((3, 8, 34, 1000)))
    monkeypatch.setattr(memory_layout, "WIDE", draw.choice((4, 40, 1000)))
    monkeypatch.setattr(memory_layout, "FEWEST_COLUMNS", draw.choice((2, 4)))
    graph = Graph(AXES)
    made = [formula(draw, graph, draw.randint(1, 4)) for _ in range(5)]
    relations = [draw.choice(list(RELATIONS)) for _ in made]
    outputs = [Output(f"f{i}", (frozen(f.made),)) for i, f in enumerate(made)]
    outputs += [Output(f"t{i}", (frozen(f.made),), relation) for i, (f, relation) in enumerate(zip(made, relations, strict=True))]
    arms = [*draw.sample(made, 3), draw.choice(made)]
    outputs.append(Output("l", tuple(frozen(f.made) for f in arms), labels=("a", "b", "c", "d")))
    arrays = grids(draw)
    reached = Program(graph, tuple(outputs)).run(arrays)
    shape, each = points(arrays)
    table = [[f.at(p) for p in each] for f in made]
    for i, row in enumerate(table):
        scale = max(1.0, max(abs(float(value)) for value in row))
        np.testing.assert_allclose(reached[i].ravel(), [float(value) for value in row], rtol=1e-11, atol=1e-11 * scale, err_msg=f"formula {i}")
        assert reached[i].shape == shape
        assert reached[5 + i].ravel().tolist() == [RELATIONS[relations[i]](value) for value in row], relations[i]
    rows = [table[made.index(f)] for f in arms]
    assert reached[-1].ravel().tolist() == [max(range(4), key=lambda k: (rows[k][n], -k)) for n in range(len(each))]


@pytest.mark.parametrize("seed", range(12))
def test_a_point_without_a_number_has_no_value_and_no_label_and_its_neighbours_have_theirs(seed, monkeypatch):
    draw = random.Random(1000 + seed)
    monkeypatch.setattr(memory_layout, "BLOCK", draw.choice((3, 8, 1000)))
    graph = Graph(AXES)
    made = [Formula(plus(f.made, power_of("x")), lambda p, f=f: f.at(p) + p["x"]) for f in (formula(draw, graph, 2) for _ in range(3))]
    made = [f for f in made if "x" in graph.inputs_of(f.made)]  # what is added may take the input away
    outputs = [*(Output("f", (frozen(f.made),)) for f in made), *(Output("t", (frozen(f.made),), "<=") for f in made)]
    outputs.append(Output("l", tuple(frozen(f.made) for f in made), labels=("a", "b", "c")))
    x = np.array([3.0, np.nan, 1.0, 4.0])[:, None]
    y, z = np.arange(1.0, 19)[None, :], 2.0
    *numbers, label = Program(graph, tuple(outputs)).run([x, y, z])
    for n, row in enumerate(x[:, 0]):
        for k, column in enumerate(y[0]):
            if row != row:
                assert all(np.isnan(f[n, k]) for f in numbers[: len(made)]) and not any(t[n, k] for t in numbers[len(made) :]) and label[n, k] == -1
                continue
            values = [f.at({"x": Fraction(row), "y": Fraction(column), "z": Fraction(2)}) for f in made]
            assert [f[n, k] for f in numbers[: len(made)]] == pytest.approx([float(v) for v in values], rel=1e-11, abs=1e-11)
            assert [bool(t[n, k]) for t in numbers[len(made) :]] == [v <= 0 for v in values]
            assert label[n, k] == max(range(len(values)), key=lambda i: (values[i], -i))


def test_a_divisor_of_zero_leaves_no_value_wherever_it_lies():
    """Along rows, along columns and point by point; what does not divide by it has its value."""
    graph = Graph(("x", "y"))
    x, y = power_of("x"), power_of("y")
    difference = plus(x, scaled(y, Fraction(-1)))
    larger = graph.operation("max", graph.times(x, y), plus(x, constant(Fraction(-1))))
    forms = [
        (graph.over(y, x), lambda x, y: y / x),
        (graph.over(x, y), lambda x, y: x / y),
        (graph.over(x, difference), lambda x, y: x / (x - y)),
        (graph.over(plus(larger, y), graph.times(difference, difference)), lambda x, y: (max(x * y, x - 1) + y) / (x - y) ** 2),
        (graph.over(graph.times(x, y), larger), lambda x, y: x * y / max(x * y, x - 1)),
        (plus(graph.over(constant(Fraction(1)), larger), y), lambda x, y: 1 / max(x * y, x - 1) + y),
        (graph.operation("max", graph.over(y, x), y), lambda x, y: max(y / x, y)),
        (larger, lambda x, y: max(x * y, x - 1)),
        (plus(graph.times(x, y), graph.over(constant(Fraction(1)), larger)), lambda x, y: x * y + 1 / max(x * y, x - 1)),
        (plus(graph.times(x, y), graph.times(larger, larger)), lambda x, y: x * y + max(x * y, x - 1) ** 2),
        (plus(graph.times(x, y), larger), lambda x, y: x * y + max(x * y, x - 1)),
    ]
    starts = [[Fraction(k, 2) for k in range(start, 18)] for start in (-2, 0)]
    columns = [np.array([float(v) for v in values]) for values in starts]
    for values, inputs in ((v, way) for v, c in zip(starts, columns, strict=True) for way in ([c[:, None], c[None, :]], [c[None, :], c[:, None]])):
        reached = Program(graph, tuple(Output("f", (frozen(form),)) for form, _ in forms)).run(inputs)
        flip = inputs[0].shape[0] == 1
        for (_, at), grid in zip(forms, reached, strict=True):
            for i, a in enumerate(values):
                for j, b in enumerate(values):
                    try:
                        expected = float(at(a, b))
                    except ZeroDivisionError:
                        expected = math.nan
                    assert grid[(j, i) if flip else (i, j)] == pytest.approx(expected, rel=1e-12, abs=1e-13, nan_ok=True), (a, b)


@pytest.mark.parametrize("seed", range(40))
def test_a_formula_taken_apart_is_the_formula_and_its_parts_are_thin(seed):
    """Products of rows and columns, and powers of full names around what no row and column move both: in fractions at a few points."""
    draw = random.Random(seed)
    graph, rows = Graph(AXES), seed % 4 > 0
    made = [formula(draw, graph, 3) for _ in range(3)]
    axes = {"x": {1} if rows else {0}, "y": {2}, "z": {0}}
    plan = Plan(graph, {name: frozenset(own) for name, own in axes.items()}, frozenset(), rows, tuple(frozen(f.made) for f in made))
    for f, form in zip(made, plan.requested, strict=True):
        if not plan.is_full(form):
            continue
        terms = plan.terms(form)
        moved = [[set().union(*(axes[name] for name in graph.inputs_of(side) | plan.graph.inputs_of(side))) for side in pair] for pair in terms.pairs]
        assert not any(2 in row or 1 in column for row, column in moved)
        for point in ({name: Fraction(draw.randint(1, 9), draw.choice((1, 2))) for name in AXES} for _ in range(3)):
            values = exact(plan.graph, point)
            assert sum((values.form(row) * values.form(column) for row, column in terms.pairs), Fraction(0)) + of_nest(plan, terms.nest, values) == f.at(point)


def of_nest(plan, nest, values):
    """The value of powers by Horner's rule, whatever they are multiplied by being thin."""
    if nest is None or isinstance(nest, Form):
        assert nest is None or not plan.is_full(nest)
        return values.form(nest or {})
    inner = of_nest(plan, nest.inner, values)
    return (inner / values.name(nest.name) if nest.under else inner * values.name(nest.name)) + of_nest(plan, nest.rest, values)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_worked_out_is_there_when_it_is_needed_and_no_longer(seed):
    draw = random.Random(seed)
    graph = Graph(AXES)
    made = [formula(draw, graph, 4) for _ in range(2)]
    plan = Plan(graph, {"x": frozenset((1,)), "y": frozenset((2,)), "z": frozenset((0,))}, frozenset(), True, tuple(frozen(f.made) for f in made))

    def speaks_of(forms):
        return {name for form in forms for monomial, _ in form for name, _ in monomial} & {*plan.order}

    needs = [speaks_of(plan.args(name)) if planned(plan.graph.operations[name]) else set() for name in plan.order]
    results, there = speaks_of(plan.requested), set()
    for i, name in enumerate(plan.order):
        assert needs[i] <= there
        there |= {name}
        ended = set(plan.ended[i])
        there -= ended
        assert there == {one for one in plan.order[: i + 1] if one in results or any(one in later for later in needs[i + 1 :])}
    assert there == results


def test_an_output_that_is_one_name_is_written_where_it_belongs():
    """The larger of x*y and 9 as a truth alone, as a number twice, and both beside what is no name: 12 rows by 20 columns, by Python."""
    graph = Graph(("x", "y"))
    p = frozen(graph.operation("max", graph.times(power_of("x"), power_of("y")), constant(Fraction(9))))
    number, truth, other = Output("f", (p,)), Output("t", (p,), "<="), Output("g", (frozen(plus(dict(p), power_of("x"))),))
    x, y = np.arange(-6.0, 6)[:, None], np.arange(20.0)[None, :]
    larger = np.array([[float(max(a * b, 9)) for b in range(20)] for a in range(-6, 6)])
    by_hand = {"f": larger, "t": larger <= 0, "g": larger + x}
    for outputs in ((truth,), (number,), (number, number), (truth, number, number), (number, other, number, truth)):
        for output, reached in zip(outputs, Program(graph, outputs).run([x, y]), strict=True):
            assert np.array_equal(reached, by_hand[output.name]) and reached.dtype == by_hand[output.name].dtype


def test_a_few_points_in_a_row_need_no_blocks():
    """The larger of x and 9 and a number, by the plain walk: as long as the inputs are together."""
    graph = Graph(("x", "y"))
    outputs = (Output("f", (frozen(graph.operation("max", power_of("x"), constant(Fraction(9)))),)), Output("g", (frozen(constant(Fraction(3))),)))
    larger, three = Program(graph, outputs).plain([np.array([7.0, 9.0, 11.0]), 2.0])
    assert larger.tolist() == [9, 9, 11] and three.tolist() == [3, 3, 3]


def test_buffers_are_used_again():
    pool = Pool()
    first, second = pool.take((3, 4)), pool.take((2, 2))
    assert first.shape == (3, 4) and not np.shares_memory(first, second)
    pool.give(first)
    small = pool.take((5,))
    assert small.shape == (5,) and np.shares_memory(small, first)
    pool.give(small)
    again = pool.take((4, 3))
    assert np.shares_memory(again, first) and not pool.free
    pool.give(again)
    assert not np.shares_memory(pool.take((13,)), again) and len(pool.free) == 1, "too short for thirteen"


@pytest.mark.parametrize("tied", [0.0, 1e-12, -1e-12])
def test_a_label_is_exact_beside_a_tie(tied):
    """49ths against a whole number or one that they miss by a millionth of a millionth: of a tie the first, in either order, and of three."""
    graph = Graph(AXES)
    sum_, z = scaled(plus(power_of("x"), power_of("y")), Fraction(1, 49)), power_of("z")
    x, y = 7 * np.arange(1.0, 41)[:, None], 7 * np.arange(1.0, 41)[None, :]
    whole = np.round((x + y) / 49) + tied
    wrong = (x * (1 / 49) + y * (1 / 49) != whole) & ((x + y) % 49 == 0)
    assert wrong.any(), "floats alone do as well: the test would show nothing"
    low = plus(z, constant(Fraction(-50)))
    for arms in ((sum_, z), (z, sum_), (low, sum_, z), (z, low, sum_), (sum_, z, low)):
        (reached,) = Program(graph, (Output("l", tuple(map(frozen, arms)), labels=("a", "b", "c")[: len(arms)]),)).run([x, y, whole])
        for i, j in itertools.product(range(40), range(40)):
            of = {id(sum_): Fraction(int(x[i, 0] + y[0, j]), 49), id(z): _written(whole[i, j]), id(low): _written(whole[i, j]) - 50}
            values = [of[id(arm)] for arm in arms]
            assert reached[i, j] == values.index(max(values))


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_truth_is_exact_beside_equality(relation):
    """Thirds, sevenths and tenths that add up to a whole number, or miss it by a millionth of a millionth: floats add them to a hair beside it."""
    graph = Graph(AXES)
    p = reduce(plus, (scaled(power_of("x"), Fraction(1, 3)), scaled(power_of("y"), Fraction(1, 7)), scaled(power_of("z"), Fraction(-1))))
    x, y = np.arange(1.0, 41)[:, None], np.arange(1.0, 41)[None, :]
    for off in (0.0, 1e-12, -1e-12):
        z = np.round((x * 7 + y * 3) / 21) + off
        (reached,) = Program(graph, (Output("t", (frozen(p),), relation),)).run([x, y, z])
        exact = [
            [RELATIONS[relation](Fraction(a) / 3 + Fraction(b) / 7 - _written(c)) for b, c in zip(y[0], row, strict=True)]
            for a, row in zip(x[:, 0], z, strict=True)
        ]
        assert reached.tolist() == exact


def _written(x):
    """A float means the decimal that it is written as."""
    return Fraction(repr(float(x)))
