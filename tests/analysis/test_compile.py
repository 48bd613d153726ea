"""Compiled functions at their edges: one result or several, constants, and what they are made of."""

import numpy as np
import pytest

from symroof.analysis.compile import compile as compiled
from symroof.analysis.compile import compile_alike
from symroof.api import Study

ROOFS = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
"""A step of 10 ms for the weights, and of 20 µs a request."""
BATCHES = np.array([1.0, 500.0, 1000.0])


@pytest.fixture(scope="module")
def step():
    return compiled("itl", ["batch"], **ROOFS)


@pytest.fixture(scope="module")
def both():
    return compiled(["itl", "decode_bound"], ["batch"], **ROOFS)


def test_one_result_or_a_tuple_of_them(step, both):
    assert step(BATCHES).tolist() == pytest.approx([0.01, 0.01, 0.02])
    (several,) = compiled(["itl"], ["batch"], **ROOFS)(BATCHES)
    assert several.tolist() == step(BATCHES).tolist()
    alone = step(1000)
    assert (
        isinstance(alone, float)
        and alone == pytest.approx(0.02)
        and not isinstance(alone, np.ndarray)
    )
    time, bound = both(BATCHES)
    assert bound.tolist() == ["memory", "compute", "compute"] and time.shape == (3,)
    assert both(1)[1] == "memory"
    assert both.codes(BATCHES)[1].tolist() == [
        both.labels["decode_bound"].index(word) for word in bound
    ]


def test_constants_and_what_moves_with_what():
    """A truth that nothing moves is one everywhere; a step moves with its batch, and not with the price."""
    function = compiled(
        ["fits", "itl", "ttft"],
        ["batch", "price"],
        **ROOFS,
        kv_bytes_per_token="1 kB",
        state_bytes=0,
        mem_capacity="800 GB",
        itl_target="1 s",
    )
    fits, itl, ttft = function(BATCHES, 1.0)
    assert (
        fits.tolist() == [True] * 3
        and itl.shape == ttft.shape == (3,)
        and ttft.tolist() == pytest.approx([0.02] * 3)
    )
    assert compiled("prefill_bound", ["batch"], **ROOFS)(BATCHES).tolist() == ["compute"] * 3
    only = function.only(["itl"])
    assert only.outputs == ("itl",)
    assert repr(only) == "<itl of batch, price>" and only(BATCHES, 1.0)[0].tolist() == itl.tolist()


def test_a_study_a_case_or_keywords():
    study = Study(**{**ROOFS, "mem_bandwidth": ["2 TB/s", "4 TB/s"]})
    assert compiled("itl", ["batch"], study)(1) == pytest.approx(0.01)
    assert compiled("itl", ["batch"], study.cases[1])(1) == pytest.approx(0.005)
    own = study.define("twice", "2*itl", unit="s")
    assert [compiled("twice", ["batch"], case)(1) for case in own.cases] == pytest.approx(
        [0.02, 0.01]
    )
    assert compile_alike(["itl"], ["batch"], study.first)(1000)[0] == pytest.approx(0.02)
