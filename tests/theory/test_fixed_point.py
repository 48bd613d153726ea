"""Searches against lines that are solved by hand and against counting, each for several scenarios at once."""

import random

import numpy as np
import pytest

from symroof.api import Study
from symroof.symbolic.evaluation import UndefinedValue
from symroof.symbolic.searches import fixed_points, largest_whole
from symroof.theory.quantity import ImplicitDefinition

from . import made

STEP = 1e-5
"""A relative step: smaller ones are lost in rounding, larger ones in curvature."""

BODIES = {  # a body, the largest value, where it meets the diagonal
    "falls": (lambda x: 3 / (1 + x), 10, (13**0.5 - 1) / 2),
    "rises ever less": (lambda x: 3 - 12 / (x + 6), 10, (33**0.5 - 3) / 2),
    "rises ever more": (lambda x: x * x / 8 + 1, 4, 4 - 8**0.5),
    "far below the largest": (lambda x: 3 - 12 / (x + 6), 1e12, (33**0.5 - 3) / 2),
    "tiny": (lambda x: (3 - 12 / (x * 1e9 + 6)) / 1e9, 1e-8, (33**0.5 - 3) / 2e9),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_fixed_point_is_close_and_soon_there(name):
    """A body may be a whole step of a server: the search ends when floats hold no more digits."""
    body, high, root = BODIES[name]
    calls = []

    def counted(x):
        calls.append(x)
        return body(x)

    assert fixed_points(counted, np.array([float(high)])) == pytest.approx(root, rel=1e-13)
    assert len(calls) <= 60


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(30))
def test_where_lines_meet_the_diagonal(seed):
    """The largest of rising lines ``b + c x`` meets ``x`` where the last of them does, the smallest where the first does: at ``b/(1 - c)``."""
    draw = random.Random(seed)
    lines = [(draw.randint(1, 9), draw.randint(0, 7) / 8) for _ in range(draw.randint(1, 3))]
    meets = [b / (1 - c) for b, c in lines]
    for pick, of in ((max, np.maximum), (min, np.minimum)):
        root = pick(meets)
        high = np.array([100 * root, root, root - 0.1])
        found = fixed_points(lambda x, of=of: of.reduce([b + c * x for b, c in lines]), high)
        assert found == pytest.approx([root, root, root - 0.1], rel=1e-12)
    assert fixed_points(np.zeros_like, np.array([meets[0]])).tolist() == [0]


@pytest.mark.parametrize("high", [0.0, 1.0, 4.0, 4.5, 7.0])
def test_the_largest_that_qualifies_is_that_of_counting(high):
    """Numbers up to ``last`` qualify; below ``first`` there is no value."""
    first, last = (table.ravel().astype(float) for table in np.mgrid[0:9, 0:9])

    def meets(n):
        assert np.all(n == np.rint(n))
        return np.where(n < first, np.nan, n <= last)

    expected = [
        max((n for n in range(max(int(least), 1), int(high) + 1) if n <= most), default=0)
        for least, most in zip(first, last, strict=True)
    ]
    assert largest_whole(meets, np.full(81, high)).tolist() == expected


def test_an_input_that_is_missing_is_missing():
    case = made(judged_itl="batch*prompt", itl_target=6, concurrency=4, batch=1)
    with pytest.raises(UndefinedValue, match="needs prompt"):
        case.value("best_batch")


def test_a_search_is_said_with_its_largest_value():
    own, other = (
        ImplicitDefinition("fixed_point", "batch", "load*batch", "batch"),
        ImplicitDefinition("fixed_point", "batch", "load*batch", "concurrency"),
    )
    assert str(own) == "the batch at which batch = load*batch, at most the case's batch"
    assert str(other) == "the batch at which batch = load*batch, at most concurrency"
    assert (own.required_names, other.required_names) == (("load",), ("load", "concurrency"))


def test_the_slope_of_a_fixed_point_is_that_of_a_small_step():
    """Of inputs that are set, those at a default and those with a formula."""
    work = {"prompt": 500, "output": 100, "batch": 32, "mfu": "0.5", "mbu": "0.7"}
    case = Study("llama-3-8b", "h100-sxm", **work, arrival_rate="5 request/s").first.case
    for by in ("arrival_rate", "mbu", "weight_bytes_per_param", "output_spread"):
        step = max(abs(case.value(by)), 1.0) * STEP
        low, high = (
            case.changed({by: case.value(by) + way * step}).value("steady_batch") for way in (-1, 1)
        )
        slope = case.slope("steady_batch", by)
        assert (high - low) / (2 * step) == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("model", ["llama-3-8b", "gpt-oss-20b"])
def test_elasticities_together_are_those_of_small_steps(model):
    """Of windows, experts, steps with few and many prompts, and a batch that is searched. What counts nothing is worked out at once."""
    together = (
        "mfu",
        "mbu",
        "price",
        "arrival_rate",
        "peak_flops",
        "kv_bytes_per_element",
        "step_overhead",
        "link_bandwidth",
        "output_spread",
    )
    work = {
        "prompt": 1500, "output": 100, "batch": 32, "chunk": 400, "tp": 2,
        "arrival_rate": "2 request/s", "output_spread": "0.5",
    }  # fmt: skip
    case = Study(
        model, "h100-sxm", **work, mfu="0.5", mbu="0.7", step_overhead="1 ms", price=1
    ).first.case
    for name in ("loaded_ttft", "sustained_itl"):
        found = case.elasticities(name, ("prompt", *together, "output"))
        assert found.keys() == {*together, "output", "prompt"} and found["price"] == 0
        for by, elasticity in found.items():
            low, high = (
                case.changed({by: case.value(by) * (1 + way * STEP)}).value(name) for way in (-1, 1)
            )
            moved = (high - low) / (2 * STEP * case.value(name))
            assert moved == pytest.approx(elasticity, abs=1e-7), by
