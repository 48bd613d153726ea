"""What a graph keeps as one name and what it writes out: by counts of terms and operations, with the same values either way."""

from fractions import Fraction

import numpy as np
import pytest

import symroof as sr
from symroof.arrays import graph as graphs
from symroof.arrays.evaluation_plan import Plan, bare, nested, planned
from symroof.arrays.graph import Form, Graph, Operation, added, frozen
from symroof.arrays.lower import Builder
from symroof.arrays.values import exact
from symroof.formula.evaluate import NoValue
from symroof.formula.parse import parse
from symroof.formula.polynomial import constant, plus, power_of, scaled

X, Y, Z = (power_of(name) for name in "xyz")
ONE = constant(Fraction(1))


def number(k):
    return constant(Fraction(k))


def sum_of(name, terms):
    """``1 + x + ... + x**(terms - 1)``."""
    return added([ONE, *(power_of(name, k) for k in range(1, terms))])


def at(graph, p, **point):
    return exact(graph, {name: Fraction(value) for name, value in point.items()}).form(p)


def test_one_term_is_no_name_of_its_own():
    graph = Graph(("x",))
    assert [graph.whole(p) for p in ({}, X, number(3))] == [{}, X, number(3)] and not graph.operations
    two = graph.whole(plus(X, ONE))
    assert len(two) == 1 and [operation.kind for operation in graph.operations.values()] == ["form"]
    assert graph.whole(plus(X, ONE)) == two and len(graph.operations) == 1


@pytest.mark.parametrize(
    ("rows", "columns", "written_out"), [(6, 8, True), (7, 7, False), (1, 60, True), (60, 1, True), (8, 6, True), (24, 2, True), (25, 2, False)]
)
def test_a_product_of_sums_is_written_out_up_to_48_terms(rows, columns, written_out):
    graph = Graph(("x", "y"))
    made = graph.times(sum_of("x", rows), sum_of("y", columns))
    assert (len(made) == rows * columns) is written_out and bool(graph.operations) is not written_out
    assert at(graph, made, x=2, y=3) == (2**rows - 1) * Fraction(3**columns - 1, 2)


def test_a_product_with_a_name_that_moves_with_two_inputs_stays_a_product():
    graph = Graph(("x", "y"))
    larger = graph.operation("max", X, Y)
    made = graph.times(plus(larger, ONE), X)
    assert len(made) == 1 and at(graph, made, x=2, y=5) == 12
    light = graph.times(plus(graph.operation("max", X, number(4)), ONE), X)
    assert len(light) == 2 and at(graph, light, x=2, y=5) == 10
    halves = graph.times(plus(larger, ONE), number(3))
    assert len(halves) == 2 and at(graph, halves, x=2, y=5) == 18
    assert graph.times({}, X) == graph.times(X, {}) == {}


@pytest.mark.parametrize("exponent", [-9, -8, -1, 0, 1, 2, 8, 9])
def test_small_whole_powers_are_terms(exponent):
    graph = Graph(("x",))
    made = graph.raised(scaled(X, Fraction(3)), number(exponent))
    assert at(graph, made, x=2) == Fraction(6) ** exponent
    powers = [operation.kind for operation in graph.operations.values()]
    assert powers == ([] if abs(exponent) <= 8 else ["power"])
    if abs(exponent) <= 8:
        assert made == {(("x", exponent),) if exponent else (): Fraction(3) ** exponent}


def test_other_powers_are_operations_and_those_of_numbers_numbers():
    graph = Graph(("x",))
    assert graph.raised(number(2), number(10)) == number(1024) and graph.raised(number(4), constant(Fraction(1, 2))) == number(2)
    assert not graph.operations
    graph.raised(X, constant(Fraction(1, 2)))
    graph.raised(X, X)
    assert [operation.kind for operation in graph.operations.values()] == ["power", "power"]


def test_a_quotient_by_several_terms_is_one_by_their_name():
    graph = Graph(("x", "y"))
    made = graph.over(plus(X, ONE), plus(X, Y))
    assert len(made) == 2 and at(graph, made, x=2, y=4) == Fraction(1, 2)
    with pytest.raises(NoValue, match="^division by zero$"):
        graph.over(X, {})
    assert graph.over(plus(X, ONE), number(4)) == {(("x", 1),): Fraction(1, 4), (): Fraction(1, 4)}


def test_what_a_name_depends_on():
    """The index of a sum and the unknown of a search are no inputs."""
    graph = Graph(("x", "y"))
    inner = graph.operation("max", X, power_of("j"))
    outer = graph.operation("steps", inner, ONE, Y, words=("j",))
    assert graph.inputs_of(inner) == {"x", "j"} and graph.inputs_of(outer) == {"x", "y"} and graph.inputs_of({}) == frozenset()
    assert [graph.light(p) for p in (X, plus(X, Y), inner, outer, {}, graph.operation("max", X, ONE))] == [True, True, False, False, True, True]


def test_inputs_that_a_polynomial_cannot_do_without():
    """However deep, each once; behind a product with nothing they may be done without."""
    graph = Graph(("x",))
    missing, other = (graph.operation("missing", words=(name,)) for name in ("price", "power"))
    deep = graph.operation("max", plus(graph.whole(plus(missing, X)), other), X)
    assert sorted(graph.lacking(deep)) == ["power", "price"]
    assert list(graph.lacking(graph.operation("void", missing))) == [] and list(graph.lacking(X)) == []


def test_names_put_for_others():
    """Under a maximum, a quotient and a power; what does not change keeps its name, and sums that cancel are gone."""
    graph = Graph(("x", "y", "z"))
    still, larger = graph.operation("max", Y, Z), graph.operation("max", X, Y)
    p = added([graph.times(larger, power_of("z", -1)), power_of("x", 2), scaled(still, Fraction(-1)), scaled(X, Fraction(3))])
    put = graph.replaced(p, {"x": plus(Y, ONE)})
    for point in ({"y": 2, "z": 5}, {"y": 7, "z": 1}):
        y, z = point["y"], point["z"]
        assert at(graph, put, **point) == Fraction(y + 1, z) + (y + 1) ** 2 - max(y, z) + 3 * (y + 1)
    assert next(iter(still)) in put
    assert graph.replaced(plus(X, scaled(Y, Fraction(-1))), {"x": Y}) == {}
    assert graph.replaced(graph.times(X, power_of("z", 9)), {"x": Y}) == {(("y", 1), ("z", 9)): Fraction(1)}
    assert at(graph, graph.replaced(power_of("x", -2), {"x": plus(Y, Z)}), y=1, z=2) == Fraction(1, 9)


def test_sums_of_many_cancel_and_a_copy_knows_of_no_other():
    assert added([X, Y, scaled(X, Fraction(-1))]) == Y and added([]) == {}
    graph = Graph(("x",))
    name = next(iter(graph.operation("sqrt", X)))
    other = graph.copy()
    other.operation("floor", X)
    assert len(other.operations) == 2 and len(graph.operations) == 1 and next(iter(other.operation("sqrt", X))) == name
    again, twice = frozen(plus(X, Y)), frozen(plus(scaled(X, Fraction(2)), Y))
    assert hash(again) == hash(Form(tuple(again))) == hash(twice) and again != twice
    assert again.__reduce__() == (Form, (tuple(again),)) and again.floats == tuple((names, 1.0) for names, _ in again)


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("max(batch, batch)", 1),
        ("max(batch, 3, 5)", 2),
        ("max(3, batch, 5, batch)", 2),
        ("max(batch, prompt, batch + 0)", 2),
        ("min(3, 5)", 0),
        ("min(batch, prompt, 2)", 3),
    ],
)
def test_equal_arms_are_one_and_so_are_numbers(text, arms):
    builder = Builder(sr.Study(hardware="h100-sxm").first.case, ("batch", "prompt"))
    p = builder.value(parse(text))
    extremes = [operation for operation in builder.graph.operations.values() if operation.kind in ("max", "min")]
    assert [len(operation.args) for operation in extremes] == ([arms] if arms > 1 else [])
    values = {"batch": Fraction(4), "prompt": Fraction(9)}
    of = max if text.startswith("max") else min
    numbers = {
        "max(batch, batch)": (4,),
        "max(batch, 3, 5)": (4, 3, 5),
        "max(3, batch, 5, batch)": (3, 4, 5),
        "max(batch, prompt, batch + 0)": (4, 9),
        "min(3, 5)": (3, 5),
        "min(batch, prompt, 2)": (4, 9, 2),
    }
    assert exact(builder.graph, values).form(p) == of(numbers[text])


# -------------------------------------------------------------------------------------------------------------------- plans


def plan(graph, outputs, rows=True, positive=("x", "y")):
    """``x`` along the rows, ``y`` along the columns, ``z`` along the outer axis."""
    axes = {"x": frozenset((1,)), "y": frozenset((2,)), "z": frozenset((0,))}
    return Plan(graph, axes, frozenset(positive), rows, tuple(map(frozen, outputs)))


def test_what_is_added_to_cheap_arms_is_taken_in_on_a_grid_alone():
    """The larger of x and 4, and y: one maximum on a grid; in a row as it stands, where nothing is saved. Behind a name of its own too."""
    graph = Graph(("x", "y"))
    p = plus(graph.operation("max", X, number(4)), Y)
    named = graph.whole(p)
    grid, line = plan(graph, [p, named]), plan(graph, [p, named], rows=False)
    assert [len(form) for form in grid.requested] == [1, 1] and line.requested == (frozen(p), frozen(named))
    assert grid.requested[0] == grid.requested[1] and [grid.graph.operations[bare(form)].kind for form in grid.requested] == ["max", "max"]
    assert all(exact(grid.graph, {"x": Fraction(x), "y": Fraction(3)}).form(form) == max(x, 4) + 3 for x in (2, 9) for form in grid.requested)


def test_what_is_worked_out_point_by_point():
    """What moves along rows and columns; with one row alone, what moves along columns."""
    graph = Graph(("x", "y", "z"))
    both, one = graph.operation("max", X, Y), graph.operation("max", Y, Z)
    ((name, _),), ((single, _),) = next(iter(both)), next(iter(one))
    grid, line = plan(graph, [both, one]), plan(graph, [both, one], rows=False)
    assert (grid.full(name), grid.full(single), line.full(name), line.full(single)) == (True, False, True, True)
    assert [grid.is_full(frozen(p)) for p in ({}, X, Y, Z, graph.times(X, Y), plus(X, Y))] == [False, False, False, False, True, True]
    assert grid.axes(name) == {1, 2} and grid.axes(single) == {0, 2}


def test_operations_come_after_their_arguments_and_end_with_their_last_use():
    graph = Graph(("x", "y"))
    first = graph.operation("max", graph.times(X, Y), number(7))
    second = graph.operation("min", graph.times(first, Y), X)
    third = graph.operation("max", graph.times(second, X), graph.times(first, X))
    names = [next(iter(p))[0][0] for p in (first, second, third)]
    made = plan(graph, [third])
    order = list(made.order)
    assert [order.index(name) for name in names] == sorted(order.index(name) for name in names) and len(order) == len(set(order))
    ended = {name: i for i, ends in enumerate(made.ended) for name in ends}
    assert ended[names[1]] == order.index(names[2]) and ended[names[0]] >= order.index(names[1]) and names[2] not in ended
    kept = plan(graph, [third, second])
    assert names[1] not in {name for ends in kept.ended for name in ends}, "a result stays"


@pytest.mark.parametrize(
    ("made", "above"),
    [
        (lambda g: g.operation("max", X, Z), True),
        (lambda g: g.operation("min", X, Z), False),
        (lambda g: g.operation("min", X, Y), True),
        (lambda g: g.operation("max", Z, scaled(Y, Fraction(-1))), False),
        (lambda g: g.operation("form", plus(X, ONE)), True),
        (lambda g: g.operation("form", plus(X, number(-1))), False),
        (lambda g: g.operation("form", plus(X, Z)), False),
        (lambda g: g.operation("form", plus(g.times(X, Z), ONE)), False),
        (lambda g: g.operation("form", plus(g.times(X, Y), ONE)), True),
        (lambda g: g.operation("ceil", X), True),
        (lambda g: g.operation("floor", X), False),
        (lambda g: g.operation("sqrt", X), False),
        (lambda g: g.operation("power", X, Z), True),
        (lambda g: g.operation("power", Z, X), False),
        (lambda g: g.operation("guard", X, Z), True),
        (lambda g: g.operation("max", g.operation("min", X, Y), Z), True),
        (lambda g: g.operation("max", Z, number(1)), True),
    ],
)
def test_what_is_above_zero_by_its_shape(made, above):
    """Where x and y are above zero everywhere and z is not known to be: whether a divisor has to be looked at."""
    graph = Graph(("x", "y", "z"))
    ((name, _),) = next(iter(made(graph)))
    checked = plan(graph, [])
    assert checked.above_zero(name) is above is checked.above_zero(name)
    assert (checked.above_zero("x"), checked.above_zero("z")) == (True, False)


@pytest.mark.parametrize(("rows", "columns"), [(1, 3), (3, 1), (2, 2), (4, 2)])
def test_a_thin_polynomial_is_as_few_products_as_its_rows_or_columns(rows, columns):
    graph = Graph(("x", "y"))
    p = graph.times(sum_of("x", rows + 1), plus(sum_of("y", columns + 1), scaled(ONE, Fraction(-1))))
    pairs = plan(graph, [p]).terms(frozen(p)).pairs
    assert len(pairs) == min(rows + 1, columns)
    total = sum(at(graph, dict(row), x=3, y=1) * at(graph, dict(column), x=1, y=2) for row, column in pairs)
    assert total == at(graph, p, x=3, y=2)
    assert all(graph.inputs_of(row) <= {"x"} and graph.inputs_of(column) <= {"y"} for row, column in pairs)


def test_a_name_alone_and_what_is_planned():
    assert [bare(frozen(p)) for p in (X, scaled(X, Fraction(2)), power_of("x", 2), plus(X, ONE), number(1), {}, {(("x", 1), ("y", 1)): Fraction(1)})] == [
        "x",
        *[None] * 6,
    ]
    assert [planned(Operation(kind, ())) for kind in ("max", "min", "form", "ceil", "steps")] == [True, True, True, False, False]


def test_powers_by_horners_rule_are_the_polynomial():
    """3*a²*b + 5*a + 2/a + 7 with numbers for what stands before each power."""

    def value(nest, a, b):
        if isinstance(nest, Form):
            return sum((c for _, c in nest), Fraction(0))
        name = {"a": a, "b": b}[nest.name]
        inner = value(nest.inner, a, b)
        return (inner / name if nest.under else inner * name) + (value(nest.rest, a, b) if nest.rest is not None else 0)

    terms = {(("a", 2), ("b", 1)): 3, (("a", 1),): 5, (("a", -1),): 2, (): 7, (("b", -2),): 11}
    nest = nested({key: frozen(number(k)) for key, k in terms.items()})
    for a, b in ((Fraction(2), Fraction(3)), (Fraction(-1, 2), Fraction(5))):
        assert value(nest, a, b) == 3 * a**2 * b + 5 * a + 2 / a + 7 + 11 / b**2
    assert nested({(): frozen(number(4))}) == frozen(number(4))


def test_the_bound_of_what_is_written_out(monkeypatch):
    monkeypatch.setattr(graphs, "MOST_EXPANDED", 6)
    graph = Graph(("x", "y"))
    assert len(graph.times(sum_of("x", 3), sum_of("y", 2))) == 6 and not graph.operations
    assert len(graph.times(sum_of("x", 3), sum_of("y", 3))) < 9
    assert np.all([len(operation.args) == 1 for operation in graph.operations.values()])


def test_only_cheap_arms_take_in_cheap_terms():
    """A root of x*y moves with both: added to a maximum, or an arm of it, it leaves the sum as it stands; so do two maxima and a maximum that is multiplied by a name."""
    graph = Graph(("x", "y"))
    root, larger = graph.operation("sqrt", graph.times(X, Y)), graph.operation("max", X, number(4))
    for p in (
        plus(larger, root),
        plus(graph.operation("max", root, X), X),
        plus(larger, graph.operation("min", Y, number(2))),
        {(("x", 1), *next(iter(larger))): Fraction(2)},
        larger,
        plus(X, Y),
    ):
        assert graph.absorbed(p) == p
    taken = graph.absorbed(plus(larger, Y))
    assert len(taken) == 1 and at(graph, taken, x=3, y=5) == 9
