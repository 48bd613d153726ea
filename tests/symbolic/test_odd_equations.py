"""Equations that are odd but have a plain answer: powers, roots, roundings, touches, poles, far-off places; and what is said of them."""

import math

import pytest

from symroof.analysis.solution import solution_json
from symroof.api import Study, solve_symbolic
from symroof.errors import InputError
from symroof.symbolic.expressions import names
from symroof.symbolic.printing import text

from ..near import near
from ..tables import case_of, table

pytestmark = pytest.mark.usefixtures("bounded")

CASE = case_of("model=llama-3-8b hardware=h100-sxm engine=ideal prompt=2048 output=128 batch=8")
FREE, TOKEN = 81_559 * 2**20 - 16_060_522_496, 131_072
"""Memory that the driver reports of an H100 beside the weights of Llama 3 8B, and the cache of a token."""


@pytest.fixture(scope="module")
def study():
    return Study(**CASE)


PLACES = {
    "2**batch = 1024": [10],
    "2**(batch/100) = 12": [100 * math.log2(12)],
    "(1 - 1/2)**batch = 1/1024": [10],
    "3**batch = 2**batch + 1": [1],
    "batch*2**batch = 2048": [8],
    "log2(batch) = 5": [32],
    "sqrt(batch) = 1e-3": [1e-6],
    "sqrt(batch) = batch/2": [4],
    "sqrt(batch - 4) = 0": [4],
    "sqrt(batch) + batch = 6": [4],
    "batch**2 - 6*batch + 9 = 0": [3],
    "(batch - 3)**4 = 0": [3],
    "(batch - 3)**2*(batch - 7) = 0": [3, 7],
    "batch**3 - 6*batch**2 + 11*batch = 6": [1, 2, 3],
    "batch*(batch - 1)*(batch - 2)*(batch - 3) = 0": [1, 2, 3],
    "(batch - 1000)*(batch - 1000.001) = 0": [1000, 1000.001],
    "batch**7 = 1e98": [1e14],
    "1/(batch - 5) = 1": [6],
    "batch/(batch + 1) = 0.999": [999],
    "max(batch, 10/batch) = 5": [2, 5],
    "min(batch, 10/batch) = 2": [2, 5],
    "max(batch, 3)*min(batch, 7) = 21": [3, 7],
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("equation", PLACES)
def test_every_crossing_is_found(equation, study):
    values = study.solve(equation, "batch").values
    # from 3 to 7 the product is batch squared; 21 is met once, between them
    if equation.startswith("max(batch, 3)*"):
        assert [float(v) for v in values] == pytest.approx([math.sqrt(21)], rel=1e-12)
    else:
        assert [float(v) for v in values] == pytest.approx(PLACES[equation], rel=1e-12)


def test_context_at_which_concurrency_falls(study):
    """32 requests fit up to 16,560 tokens, 33 up to 16,058: the stretch with exactly 32 begins at 16,059."""
    assert (FREE // (32 * TOKEN), FREE // (33 * TOKEN)) == (16_560, 16_058)
    assert study.solve("concurrency = 32", "context").integer == {"at_least": 16_059}


@pytest.mark.parametrize(
    "equation", ["batch = prompt**64*output**64/3", "batch*prompt**64*output**64 = 1"]
)
def test_numbers_out_of_the_range_of_floats(equation, study):
    """A value is refused or given, and never turned into nothing, nor into a crash."""
    try:
        printed = solution_json(study.solve(equation, "batch"))
    except InputError:
        return
    assert printed["values"] == [printed["value"]]
    assert printed["value"] is None or 0 < printed["value"] < float("inf")


def test_a_width_that_differs_between_layers_is_not_solved_for_as_one():
    """Gemma 2 has two kinds of layers: one number of layers would not say of which."""
    study = Study(model="gemma-2-9b", hardware="h100-sxm", engine="ideal", prompt=4096, output=16)
    with pytest.raises(InputError, match=r"n_layers\.(local|global)"):
        study.solve("itl = 20 ms", "n_layers")


@pytest.mark.parametrize("kind", ["local", "global"])
def test_layers_of_one_kind(kind):
    study = Study(model="gemma-2-9b", hardware="h100-sxm", engine="ideal", prompt=4096, output=16)
    found = study.solve("weight_bytes = 30 GB", f"n_layers.{kind}")
    assert found.verdict == "crosses"
    case = study.first.case
    some, more = (case.changed({f"n_layers.{kind}": n}).value("weight_bytes") for n in (21, 22))
    per_layer = more - some
    by_hand = 21 + (30 * 10**9 - case.value("weight_bytes")) / per_layer
    assert found.value == near(by_hand, 1e-12)


def test_a_threshold_solved_for_something_else_does_not_speak_of_its_own_unknown():
    study = Study(**CASE)
    assert "batch" not in study.solve("max_batch_memory", "context").reason
    assert "weights fit" not in study.solve("max_batch_memory", "mem_capacity").reason


# ------------------------------------------------------------------------------------------------------ without numbers


@pytest.mark.parametrize(
    ("equation", "unknown"),
    table("""
memory_bytes = usable_memory | memory_share
prefill_compute_time = ttft_target | mfu
"""),
)
def test_a_share_above_one_is_no_answer(equation, unknown):
    solution = solve_symbolic(equation, unknown)
    assert solution.verdict == "conditional"
    assert all(
        any(unknown in names(tree) or "1" in text(tree) for tree in form.trees)
        for form in solution.candidates.every
    )
