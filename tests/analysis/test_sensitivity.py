"""Elasticities by hand: ten billion parameters of two bytes at 2 TB/s are a step of 10 ms, at 1,000 TFLOP/s one of 20 µs a request, and a prefill of 20 ms."""

from fractions import Fraction

import pytest

from symroof.analysis.sensitivity import (
    elasticities,
    elasticities_over_ranges,
)
from symroof.api import Study

from ..near import near

CASE = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
SEARCHED = {
    "output": 20,
    "batch": 5,
    "arrival_rate": "1 request/s",
    "prefill_devices": 1,
    "assume": {"detail": "weights", "scheduling": "disaggregated"},
}
OF_MEMORY = {"params": 1, "weight_bytes_per_param": 1, "mbu": -1, "mem_bandwidth": -1}
OF_COMPUTE = {"params": 1, "batch": 1, "mfu": -1, "peak_flops": -1}

TABLES = {  # what the case has beside, the quantity -> elasticities
    "the memory's step": ({}, "itl", OF_MEMORY),
    "the arithmetic of 501 requests": ({"batch": 501}, "itl", OF_COMPUTE),
    "a rate": ({}, "user_rate", {name: -value for name, value in OF_MEMORY.items()}),
    "half of the step is overhead": (
        {"step_overhead": "10 ms"},
        "itl",
        {
            **{name: Fraction(value, 2) for name, value in OF_MEMORY.items()},
            "step_overhead": Fraction(1, 2),
        },
    ),
    "an overhead of 51 µs is noticed": (
        {"step_overhead": "51 us"},
        "itl",
        {
            **{name: value * Fraction(10000, 10051) for name, value in OF_MEMORY.items()},
            "step_overhead": Fraction(51, 10051),
        },
    ),
    "an overhead of 50 µs is not": (
        {"step_overhead": "50 us"},
        "itl",
        {name: value * Fraction(10000, 10050) for name, value in OF_MEMORY.items()},
    ),
    "both ends of a sum, one on each arm": (
        {"output": 20, "batch": 501},
        "response_time",
        {
            "params": 1,
            "mfu": -1,
            "peak_flops": -1,
            "batch": Fraction(19038, 21038),
            "prompt": Fraction(2000, 21038),
            "prefill_batch": Fraction(2000, 21038),
        },
    ),
    "a plain value has none": ({"itl": "3 ms"}, "itl", {}),
    "what rests on a plain value": ({"itl": "3 ms"}, "user_rate", {"itl": -1}),
    "nothing": ({}, "decode_link_time", {}),
    "a truth": ({}, "decode_bound", {}),
    "bytes have no arms": ({}, "decode_bytes", {"params": 1, "weight_bytes_per_param": 1}),
    # one request a second, 19 steps of 10 ms each, none of which prefills
    "what is searched": (
        SEARCHED,
        "steady_batch",
        {
            "output": Fraction(20, 19),
            "arrival_rate": 1,
            **OF_MEMORY,
        },
    ),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("label", TABLES)
def test_elasticities_by_hand(label):
    more, quantity, expected = TABLES[label]
    answers = Study(**{**CASE, **more}).first
    made = elasticities(quantity, answers)
    assert {e.symbol.name: e.value for e in made} == near(expected)
    assert all(len(set(e.span)) == 1 and "low" not in e.as_json() for e in made)
    sizes = [round(abs(e.value), 9) for e in made]
    assert sizes == sorted(sizes, reverse=True)


def test_the_elasticity_of_what_is_searched_is_that_of_a_small_step():
    apart = Study(
        "gpt2",
        "h100-sxm",
        prompt=1000,
        output=20,
        batch=5,
        prefill_devices=2,
        assume={"scheduling": "disaggregated"},
    ).first
    for quantity in ("disaggregated_batch", "sustained_itl"):
        (batch,) = [e for e in elasticities(quantity, apart) if e.symbol.name == "batch"]
        below, above = (
            apart.case.changed({"batch": 5 * (1 + step)}).value(quantity) for step in (-1e-6, 1e-6)
        )
        slope = (above - below) / apart.case.value(quantity) * 500000
        assert batch.value == pytest.approx(slope, rel=1e-4)


def test_elasticities_over_ranges():
    """400 to 602 requests: at 400 the memory binds, at the middle and at 602 the arithmetic does."""
    answers = Study(**CASE, batch="400..602").first
    spans = {e.symbol.name: tuple(map(round, e.span)) for e in elasticities("itl", answers)}
    assert spans == {
        "params": (1, 1, 1),
        "batch": (1, 0, 1),
        "mfu": (-1, -1, 0),
        "peak_flops": (-1, -1, 0),
        "weight_bytes_per_param": (0, 0, 1),
        "mbu": (0, -1, 0),
        "mem_bandwidth": (0, -1, 0),
    }
    assert list(spans) == [
        "peak_flops",
        "mfu",
        "params",
        "batch",
        "mem_bandwidth",
        "mbu",
        "weight_bytes_per_param",
    ]  # by their middles
    entries = {e.symbol.name: e.as_json() for e in elasticities("itl", answers)}
    assert [entries["batch"][key] for key in ("value", "low", "high")] == near([1, 0, 1])
    assert "low" not in entries["params"]
    assert elasticities_over_ranges(answers, "itl", ("mbu", "params")) == near(
        {"mbu": (0, -1, 0), "params": (1, 1, 1)}
    )
    assert elasticities_over_ranges(answers, "decode_link_time", ("mbu",)) == {}


def test_elasticities_of_formulas_of_ones_own():
    """Of equal arms the number is their mean; layers do not come by the per cent; four of a thousand are not noticed."""
    formulas = {
        "linear": ("3*batch + 2", {"batch": 15 / 17}),
        "ratio": ("gemm_k/(batch + 1)", {"gemm_k": 1, "batch": -5 / 6}),
        "equal": ("max(batch, 5)*gemm_k", {"batch": 1 / 2, "gemm_k": 1}),
        "rounded": ("ceil(batch/7) + batch", {"batch": 5 / 6}),
        "unnoticed": ("4*batch + 996*gemm_k", {"gemm_k": 996 / 1001}),
        "fixed": ("n_layers*gemm_k", {"gemm_k": 1}),
    }
    study = Study(batch=5, gemm_k=4, n_layers=12)
    for name, (formula, _) in formulas.items():
        study.define(f"{name}_one", formula)
    for name, (_, expected) in formulas.items():
        made = {e.symbol.name: e.value for e in elasticities(f"{name}_one", study.first)}
        assert made == near(expected), name


def test_without_numbers_there_is_none():
    assert elasticities("itl", Study(assume={"detail": "weights"}).first) == ()


def test_what_bounds_a_sum_is_left_out_and_a_label_has_none():
    study = Study("llama-3-8b", "h100-sxm", prompt=4096, output=512, efficiency="peak")
    found = {e.symbol.name for e in elasticities("decode_time", study.first)}
    assert "output" not in found and "mem_bandwidth" in found
    for name in ("fits", "decode_bound", "decode_link_time"):
        assert elasticities(name, study.first) == ()
