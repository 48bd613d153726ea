"""Compiled functions as callers use them: what they take, return and refuse."""

import pickle

import numpy as np
import pytest

import symroof as sr
from symroof.errors import InputError

from ..near import near
from .test_compiled import study


def test_it_broadcasts_and_takes_what_numpy_takes():
    function = sr.compile(["itl", "memory_bytes"], ["batch", "prompt"], study("llama-3-8b").first)
    itl, memory = function(8, [1024, 2048])
    assert itl.shape == memory.shape == (2,)
    assert isinstance(function(8, 1024)[0], float)
    assert function(np.zeros((0, 3)), 5)[0].shape == (0, 3)
    with pytest.raises(ValueError, match="takes 2 arrays"):
        function(1)
    with pytest.raises(ValueError):
        function(np.ones(3), np.ones(4))


def test_a_pickled_function_gives_the_same_numbers():
    function = sr.compile(["itl", "decode_bound"], ["batch"], study("mixtral-8x7b").first)
    again = pickle.loads(pickle.dumps(function))
    batch = np.arange(1, 100)
    assert all((a == b).all() for a, b in zip(function(batch), again(batch), strict=True))


def test_no_value_is_no_number():
    function = sr.compile(
        ["queue_wait", "prefill_bound"], ["arrival_rate"], study("llama-3-8b").first
    )
    waits, _ = function(np.array([0.1, 1e6, np.nan]))
    assert waits[0] > 0 and np.isnan(waits[1:]).all()


@pytest.mark.parametrize(
    ("quantities", "inputs", "says"),
    [
        ("itlx", ["batch"], "no such quantity"),
        ("itl", ["batchh"], "no such quantity or input"),
        ("itl", ["prompt", "isl"], "twice"),
        ("itl", [], "needs at least one"),
        ([], ["batch"], "at least one"),
        ("goodput", ["batch"], "needs"),
        ("batch_to_ridge", ["batch"], "threshold"),
    ],
)
def test_bad_input_says_what_is_wrong(quantities, inputs, says):
    with pytest.raises(InputError, match=says):
        sr.compile(quantities, inputs, model="llama-3-8b", hardware="h100-sxm", prompt=64)


def test_an_input_nobody_gave_matters_only_where_it_does():
    """One device sends nothing over a link that is not there; two have no time for it."""
    function = sr.compile(
        ["itl", "decode_bound"], ["tp", "batch"], model="llama-3-8b", hardware="m3-max", prompt=64
    )
    itl, bound = function(np.array([[1.0], [2.0]]), np.array([1.0, 4.0]))
    alone = sr.Study(model="llama-3-8b", hardware="m3-max", prompt=64, batch=4)
    assert itl[0, 1] == near(alone.value("itl"), 1e-12) and bound[0, 1] == alone.value(
        "decode_bound"
    )
    assert np.isnan(itl[1]).all() and (bound[1] == "").all()
    with pytest.raises(InputError, match="needs link_bandwidth"):
        sr.compile("link_ridge", ["batch"], model="llama-3-8b", hardware="m3-max")
