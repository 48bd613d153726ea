"""Overheads: launches, tax per layer, dispatch, efficiencies (systems 50-53)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from . import B8, B70, H100, H100_989, TUTORIAL, WEIGHTS, agree, check, elasticity, row

TAXED = {**TUTORIAL, **H100, "prompt": 2048}


def dispatch(study):
    return study.value("ttft") - study.value("prefill_time")


STEP70 = {**B70, **H100, "assume": WEIGHTS}
LAUNCHES = [
    row(
        "80 layers of 10 kernels at 5 us",
        "launch_time",
        Fraction(4, 1000),
        **B70,
        kernel_launch="5 us",
        kernels_per_layer=10,
    ),
    row(
        "added",
        "itl",
        Fraction(140, 3350) + Fraction(4, 1000),
        **STEP70,
        kernel_launch="5 us",
        kernels_per_layer=10,
    ),
    row(
        "ahead of the device: hidden",
        "itl",
        Fraction(140, 3350),
        **{**STEP70, "assume": {**WEIGHTS, "launches": "hidden"}},
        kernel_launch="5 us",
        kernels_per_layer=10,
    ),
    row(
        "ahead of the device, and too many",
        "itl",
        Fraction(48, 1000),
        **{**STEP70, "assume": {**WEIGHTS, "launches": "hidden"}},
        kernel_launch="10 us",
        kernels_per_layer=60,
    ),
    row(
        "as a graph: one launch",
        "itl",
        Fraction(140, 3350) + Fraction(1, 10**5),
        **{**STEP70, "assume": {**WEIGHTS, "launches": "graph"}},
        kernel_launch="10 us",
        kernels_per_layer=60,
    ),
    row(
        "10 % of a step at 5 us",
        lambda s: s.value("launch_time") / s.value("decode_roofline_time"),
        "10 %",
        **STEP70,
        kernel_launch="5 us",
        kernels_per_layer=10,
    ),
    row(
        "19 % at 10 us",
        lambda s: s.value("launch_time") / s.value("decode_roofline_time"),
        "19 %",
        **STEP70,
        kernel_launch="10 us",
        kernels_per_layer=10,
    ),
    row(
        "a layer of the 70B has time for",
        "kernels_to_dominate",
        "52",
        **STEP70,
        kernel_launch="10 us",
    ),
    row(
        "of the 8B",
        "kernels_to_dominate",
        "15",
        **B8,
        **H100,
        assume=WEIGHTS,
        kernel_launch="10 us",
    ),
    row(
        "a step of the 8B",
        lambda s: s.solve("launches_dominate", for_="kernels").value,
        "479",
        **B8,
        **H100,
        assume=WEIGHTS,
        kernel_launch="10 us",
    ),
]

WIDE = {"model": "llama-3-8b", **H100, "prompt": 2048, "batch": 16, "elementwise_bytes": 100}
"""32 layers, vectors of 4,096 elements, 3.35 TB/s."""
ONE = Fraction(100 * 32 * 4096, 3_350_000_000_000)
"""Seconds of one token's work between operators, with 100 bytes for an element."""

BETWEEN = [
    row("16 tokens between the operators of a step", "decode_overhead", 16 * ONE, **WIDE),
    row("a prompt of 2,048", "prefill_overhead", 2048 * ONE, **WIDE),
    row("elements of 16 vectors in 32 layers", "decode_vector_elements", 16 * 32 * 4096, **WIDE),
    row("every device of a group repeats it", "decode_overhead", 16 * ONE, **WIDE, tp=4),
    row(
        "a stage has a quarter of the layers and of the requests, four times",
        "decode_overhead",
        4 * ONE,
        **WIDE,
        pp=4,
    ),
    row(
        "a group has an eighth of the requests", "decode_overhead", 2 * ONE, **WIDE, attention_dp=8
    ),
    row(
        "beside a cost a layer, in a graph",
        "decode_overhead",
        16 * ONE + 32 * Fraction(1, 10**5) + Fraction(1, 10**6),
        **WIDE,
        layer_overhead="10 us",
        kernel_launch="1 us",
        assume={"launches": "graph"},
    ),
    row("nothing unless it is given", "decode_overhead", 0, **{**WIDE, "elementwise_bytes": 0}),
]

ROWS = [
    *LAUNCHES,
    *BETWEEN,
    row("32 layers at 0.1 ms", "decode_overhead", "3.2 ms", n_layers=32, layer_overhead="0.1 ms"),
    row("the tutorial's tax", "decode_overhead", "3.2 ms", **TAXED),
    row(
        "its share of the 8.35 ms",
        lambda s: s.value("decode_overhead") / s.value("itl"),
        "38 %",
        **TAXED,
    ),
    row("bandwidth elasticity with it", elasticity("itl", "mem_bandwidth"), "-0.617", **TAXED),
    row(
        "bandwidth elasticity without it",
        elasticity("itl", "mem_bandwidth"),
        -1,
        **TAXED,
        layer_overhead="0 ms",
    ),
    row("dispatch on the H100", dispatch, "0.01 ms", **TAXED),
    row("dispatch on the H200", dispatch, "0.01 ms", **TUTORIAL, hardware="h200", prompt=2048),
    row(
        "dispatch on the A100",
        dispatch,
        "0.015 ms",
        **TUTORIAL,
        hardware="a100-80gb-sxm",
        prompt=2048,
    ),
    row("dispatch on the T4", dispatch, "0.03 ms", **TUTORIAL, hardware="t4", prompt=2048),
    row(
        "300 of 990 TFLOP/s",
        "prefill_mfu",
        "30.3 %",
        prefill_flops="300 TFLOP",
        prefill_time="1 s",
        peak_flops="990 TFLOP/s",
    ),
    row(
        "2.5 of 3.35 TB/s",
        "decode_mbu",
        "74.6 %",
        decode_bytes="2.5 TB",
        itl="1 s",
        mem_bandwidth="3.35 TB/s",
    ),
    row(
        "the essay's 15 tok/s of a 70B",
        "decode_mbu",
        "0.63",
        **B70,
        **H100,
        itl="1 s/15",
        assume=WEIGHTS,
    ),
    row(
        "the essay's 20 tok/s of a 70B",
        "decode_mbu",
        "0.84",
        **B70,
        **H100,
        itl="50 ms",
        assume=WEIGHTS,
    ),
    row(
        "the tutorial's 8.35 ms, weights alone",
        "decode_mbu",
        "0.57",
        **B8,
        **H100,
        itl="8.35 ms",
        assume=WEIGHTS,
    ),
    row("the tutorial's prefill runs at its hidden MFU", "prefill_mfu", Fraction(1, 2), **TAXED),
    row(
        "an MFU of 0.5 doubles a compute time",
        "prefill_compute_time",
        2,
        {"mfu": 1},
        **B8,
        **H100_989,
        prompt=2048,
        mfu=0.5,
        assume=WEIGHTS,
    ),
    row(
        "an MBU of 0.8 stretches a memory time",
        "decode_memory_time",
        Fraction(5, 4),
        {"mbu": 1},
        **B8,
        **H100_989,
        mbu=0.8,
        assume=WEIGHTS,
    ),
]


@pytest.mark.parametrize("case", ROWS)
def test_row(case):
    check(case)


def test_essay_practice_is_an_efficiency():
    """15 to 20 tok/s in practice and a ceiling of 24: an MBU of 0.63 to 0.84 turns the one into the other."""
    for mbu, rate in ((0.6269, "15.0 tok/s"), (0.8358, "20.0 tok/s")):
        agree(Study(**B70, **H100, mbu=mbu, assume=WEIGHTS).value("user_rate"), rate)
