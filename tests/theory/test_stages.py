"""Runs of layers as the stages of a pipeline: handed out one by one, and which of them hides another."""

from fractions import Fraction

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.symbolic.expressions import ONE, ZERO, number, symbol
from symroof.symbolic.reading import parse
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.layout import SYMBOLIC
from symroof.theory.operator_table import PlacedRow
from symroof.theory.stages import Stage, stages

from . import Floats

KINDS = Layer(label="a", own=frozenset({"n_layers"})), Layer(label="b", own=frozenset({"n_layers"}))


def dealt(order, pp):
    """Layers go to the first stage until it has its part, then to the next."""
    each, runs = -(-len(order) // pp), [[] for _ in range(pp)]
    for i, label in enumerate(order):
        runs[i // each].append(label)
    return runs


@pytest.mark.parametrize("pp", range(1, 6))
def test_stages_of_equal_layers(pp):
    first, last = stages(GENERIC, pp)
    assert ((first.label, first.first, first.last), (last.label, last.first, last.last)) == (
        ("first", True, False),
        ("last", False, True),
    )
    for layers in range(1, 12):
        runs = dealt("x" * layers, pp)
        counts = [
            evaluate(dict(stage.counts)["n_layers"], Floats({"n_layers": layers, "pp": pp}))
            for stage in (first, last)
        ]
        assert counts == [len(runs[0]), len(runs[-1])], layers


ORDERS = ["ab", "aabb", "abab", "aaab", "baaa", "aabab", "abbbaab", "aaaaaaab", "abaabaaab"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_stage_that_has_everything_of_another_hides_it(order):
    """The table of the model stands in the first, the head in the last; what is left is no other's part, and every stage is part of one that is left."""
    architecture = Architecture(KINDS, order=tuple(order))
    for pp in range(2, 6):
        every = {
            f"stage{i}": (run.count("a"), run.count("b"), int(i == 1), int(i == pp))
            for i, run in enumerate(dealt(order, pp), start=1)
        }  # layers of each kind, table, head
        left = {}
        for stage in stages(architecture, pp):
            counts = {name: int(count) for name, count in stage.counts}
            left[stage.label] = (
                counts["n_layers.a"],
                counts["n_layers.b"],
                int(stage.first),
                int(stage.last),
            )
        assert {label: every[label] for label in left} == left

        def within(one, other):
            return all(x <= y for x, y in zip(one, other, strict=True))

        assert all(any(within(run, held) for held in left.values()) for run in every.values())
        assert not any(
            within(one, other) for a, one in left.items() for b, other in left.items() if a != b
        )


def test_layers_that_differ_need_their_order_and_a_number_of_stages():
    assert stages(Architecture(KINDS, order=("a", "b")), SYMBOLIC) is None
    assert stages(Architecture(KINDS), 2) is None
    assert stages(GENERIC, SYMBOLIC) is not None


def cell(count, end=""):
    return PlacedRow("op", "", "params", parse("d_model"), "once", count, None, end=end)


@pytest.mark.parametrize(
    ("first", "last", "held"),
    [
        (True, False, {""}),
        (False, True, {"last", "tied"}),
        (True, True, {"", "last"}),
        (False, False, set()),
    ],
)
def test_where_a_row_outside_the_layers_stands(first, last, held):
    """The table before them in the first stage, what comes after them in the last; a table that is both, once where a stage is both."""
    stage = Stage("s", (("n_layers", number(Fraction(3))),), first, last)
    assert {end for end in ("", "last", "tied") if stage.place(cell(ONE, end)) is not None} == held
    assert stage.place(cell(symbol("n_layers"))).count == number(Fraction(3))
    assert stage.place(cell(symbol("n_layers.other"))).count == ZERO


@pytest.mark.parametrize(
    ("one", "other", "covers"),
    [((2, True, False), (2, True, False), True), ((2, True, False), (1, False, False), True), ((1, True, False), (2, True, False), False), ((2, False, True), (2, True, False), False),
     ((2, True, False), (2, False, True), False), ((2, True, True), (2, False, True), True), ((2, True, True), (2, True, False), True), ((1, False, True), (2, False, False), False)],
)  # fmt: skip
def test_what_a_stage_covers(one, other, covers):
    stage, beside = (
        Stage("s", (("n_layers", number(Fraction(layers))),), first, last)
        for layers, first, last in (one, other)
    )
    assert stage.covers(beside) is covers
    unknown = Stage("u", (("n_layers", symbol("n_layers")),), False, False)
    assert not stage.covers(unknown) and not unknown.covers(stage)
