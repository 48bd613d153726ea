"""Ranges as people write them: exact values, and every slip refused with what to write instead."""

from fractions import Fraction

import numpy as np
import pytest

from symroof.errors import InputError
from symroof.sweep.axes import MOST_ON_AXIS, axes_of, chosen, read_over
from symroof.theory import declarations

from ..tables import words

VALUES = {
    "batch=1:5": [1, 2, 3, 4, 5],
    "batch=7:7": [7],
    "batch=1:512:x2": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    "batch=3:20:x2": [3, 6, 12],
    "prompt=128:512:+128": [128, 256, 384, 512],
    "prompt=128:512:128": [128, 256, 384, 512],
    "batch=1:4,16,32": [1, 2, 3, 4, 16, 32],
    "batch=8,1:8": [8, 1, 2, 3, 4, 5, 6, 7],
    "bs=4,4": [4],
    "mfu=0.1:0.9:+0.1": [Fraction(n, 10) for n in range(1, 10)],
    "mfu=50 %:70 %:+10 %": [Fraction(1, 2), Fraction(3, 5), Fraction(7, 10)],
    "mem_bandwidth=2 TB/s:8 TB/s:x2": [2 * 10**12, 4 * 10**12, 8 * 10**12],
    "mem_bandwidth=2:8 TB/s:x2": [2 * 10**12, 4 * 10**12, 8 * 10**12],
    "mem_capacity=80 GB,80 GiB": [80 * 10**9, 80 * 2**30],
    "step_overhead=1 ms:3 ms:+1": [Fraction(1, 1000), Fraction(2, 1000), Fraction(3, 1000)],
    "price=1:3 USD/hour:+1": [Fraction(n, 3600) for n in (1, 2, 3)],
    "itl=5 ms:20 ms:x2": [Fraction(5, 1000), Fraction(10, 1000), Fraction(20, 1000)],
    "draft_cost=0,0.1:0.4:x2": [0, Fraction(1, 10), Fraction(2, 10), Fraction(4, 10)],
    "arrival_rate=1:2 request/s:x1.5": [1, Fraction(3, 2)],
}
"""By hand: a:b has both ends, a step goes as far as it gets, units are exact."""


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", VALUES)
def test_values_are_exact(text):
    (axis,) = read_over([text])
    assert axis.values.tolist() == list(map(float, VALUES[text]))


def test_labels_and_names():
    labels = words("attention=causal,full detail=exact,kv activations=fp8 isl=1:2")
    axes = read_over(["hardware=h100-sxm, h200", "weights=fp16,awq,int4-g128", *labels])
    names = words("hardware weights attention detail activations prompt")
    assert [axis.name for axis in axes] == names
    assert [axis.labelled for axis in axes] == [True] * 5 + [False]
    assert axes[0].values.tolist() == ["h100-sxm", "h200"]


def test_activations_is_the_precision_and_on_or_off_the_choice():
    precision, choice = (chosen({"activations": x}, declarations.NONE) for x in ("fp8", False))
    assert precision.precision == {"activations": ("fp8",)}
    assert choice.assume == {"activations": "off"}


def test_whole_numbers_stay_whole_and_others_are_floats():
    batch, mfu = read_over(["batch=1:3", "mfu=0.1,1"])
    assert batch.values.dtype == np.int64
    assert mfu.values.tolist() == [0.1, 1.0]


REFUSED = {
    "batch=": "has no values",
    "batch=8:1": "write 1:8",
    "draft_cost=0:1:0": "step is more than 0",
    "batch=1:8:x1": "write 1:8:x2",
    "draft_cost=0:1:x2": "leads nowhere",
    "bath=1:3": "did you mean 'batch'?",
    "batch=1.5": "write a whole number",
    "batch=1:8:x1.5": "take whole steps",
    "mfu=0.5:1.5:+0.5": "between 0 and 1",
    "mem_bandwidth=1 s": "byte/s is needed",
    "mem_bandwidth=1 TB/s:2 TB/s:+1 s": "byte/s is needed",
    "mem_bandwidth=2 TB/s:8 TB/s": "needs a step: 2 TB/s:8 TB/s:x2",
    "mfu=0.5..0.7": "write 0.5:0.7:+STEP",
    "itl=0.005": "write the unit of a time",
    "price=1:3": "write the unit of a price",
    "batch=1,,2": "empty place",
    "prompt=1,024": "without them",
    "attention=casual": "did you mean 'causal'?",
    "batch=1:1000000000": "an axis at most 1,000,000",
    "arrival_rate=1:2 request/s:x1.000000001": "an axis at most 1,000,000",
    "batch": "is not NAME=VALUES",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("text", REFUSED)
def test_a_slip_is_told_with_the_way_out(text):
    with pytest.raises(InputError) as caught:
        read_over([text])
    assert REFUSED[text] in str(caught.value)
    assert str(caught.value).startswith("--over: ")


def test_every_slip_is_told_in_one_go():
    with pytest.raises(InputError) as caught:
        read_over(["batch=8:1", "bs=3", "bs=4", "hardwear=h200", "mfu=2"])
    assert [problem.path for problem in caught.value.problems] == ["batch", "bs", "hardwear", "mfu"]
    assert "bs: is an axis twice (bs is batch)" in str(caught.value)


def test_python_values():
    tenths = np.linspace(0.1, 0.3, 3)
    for name, given, values in (
        ("batch", range(1, 4), [1, 2, 3]),
        ("mfu", tenths, tenths.tolist()),
        ("itl", [0.005, Fraction(1, 100)], [0.005, 0.01]),
        ("tp", "1:8:x2", [1, 2, 4, 8]),
        ("prompt", np.int64(7), [7]),
        ("mbu", 0.8, [0.8]),
        ("output", ["1:3", 8], [1, 2, 3, 8]),
        ("model", "llama-3-8b", ["llama-3-8b"]),
        ("attention", ["causal"], ["causal"]),
    ):
        (axis,) = axes_of([(name, given)])
        assert (axis.name, axis.values.tolist()) == (name, values)


NONE = [[], "", float("nan"), [1, float("inf")], [True], None, object(), [[1]], {"a": 1}, 1.5, [0]]


@pytest.mark.sample(5)
@pytest.mark.parametrize("values", [*NONE, range(MOST_ON_AXIS + 1)])
def test_python_values_that_are_none(values):
    with pytest.raises(InputError, match="batch"):
        axes_of([("batch", values)])
