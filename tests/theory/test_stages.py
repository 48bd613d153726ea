"""Runs of layers as the stages of a pipeline: handed out one by one, and which of them hides another."""

import pytest

from symroof.symbolic.evaluation import evaluate
from symroof.theory.architecture import GENERIC, Architecture, Layer
from symroof.theory.layout import SYMBOLIC
from symroof.theory.stages import stages

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
        # layers of each kind, table, head
        every = {
            f"stage{i}": (run.count("a"), run.count("b"), int(i == 1), int(i == pp))
            for i, run in enumerate(dealt(order, pp), start=1)
        }
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
