"""Elasticities by hand: ten billion parameters of two bytes at 2 TB/s are a step of 10 ms, at 1,000 TFLOP/s one of 20 µs a request, and a prefill of 20 ms."""

from fractions import Fraction

import pytest

from symroof.api import Study
from tests.tables import case_of

from ..near import near

CASE = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
SEARCHED = case_of(
    "output=20 batch=5 arrival_rate='1 request/s' prefill_devices=1 detail=weights "
    "scheduling=disaggregated"
)
OF_MEMORY = {"params": 1, "weight_bytes_per_param": 1, "mbu": -1, "mem_bandwidth": -1}
OF_COMPUTE = {"params": 1, "batch": 1, "mfu": -1, "peak_flops": -1}
HALF = {name: Fraction(value, 2) for name, value in OF_MEMORY.items()}
BOTH = {"params": 1, "mfu": -1, "peak_flops": -1, "batch": Fraction(19038, 21038)}
PROMPTS = dict.fromkeys(("prompt", "prefill_batch"), Fraction(2000, 21038))
NEARLY = {name: value * Fraction(10000, 10050) for name, value in OF_MEMORY.items()}
OF_SEARCH = {"output": Fraction(20, 19), "arrival_rate": 1, **OF_MEMORY}

TABLES = {  # what the case has beside, the quantity -> elasticities
    "the memory's step": ({}, "itl", OF_MEMORY),
    "the arithmetic of 501 requests": ({"batch": 501}, "itl", OF_COMPUTE),
    "half is overhead": ({"step_overhead": "10 ms"}, "itl", HALF | {"step_overhead": 0.5}),
    "an overhead of 50 µs is not noticed": ({"step_overhead": "50 us"}, "itl", NEARLY),
    "both ends of a sum": ({"output": 20, "batch": 501}, "response_time", BOTH | PROMPTS),
    "a plain value has none": ({"itl": "3 ms"}, "itl", {}),
    "what rests on a plain value": ({"itl": "3 ms"}, "user_rate", {"itl": -1}),
    "a truth": ({}, "decode_bound", {}),
    # one request a second, 19 steps of 10 ms each, none of which prefills
    "what is searched": (SEARCHED, "steady_batch", OF_SEARCH),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("label", TABLES)
def test_elasticities_by_hand(label):
    more, quantity, expected = TABLES[label]
    made = Study(**{**CASE, **more}).derive(quantity).elasticities
    assert made == near(expected)
    sizes = [round(abs(x), 9) for x in made.values()]
    assert sizes == sorted(sizes, reverse=True)


def test_elasticities_of_formulas_of_ones_own():
    """Of equal arms the number is their mean; layers do not come by the per cent; what bounds a sum is left out."""
    formulas = {
        "ratio": ("gemm_k/(batch + 1)", {"gemm_k": 1, "batch": -5 / 6}),
        "equal": ("max(batch, 5)*gemm_k", {"batch": 1 / 2, "gemm_k": 1}),
        "rounded": ("ceil(batch/7) + batch", {"batch": 5 / 6}),
        "fixed": ("n_layers*gemm_k", {"gemm_k": 1}),
    }
    study = Study(batch=5, gemm_k=4, n_layers=12)
    for name, (formula, expected) in formulas.items():
        study.define(f"{name}_one", formula)
        assert study.derive(f"{name}_one").elasticities == near(expected), name
    served = Study("llama-3-8b", "h100-sxm", prompt=4096, output=512, efficiency="peak")
    found = served.derive("decode_time").elasticities
    assert "output" not in found and "mem_bandwidth" in found
