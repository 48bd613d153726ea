"""Quantization: weights only, weights and activations, the table of the tutorial without its tax (systems 33-35); as printed it is in `test_m_tables.py`."""

from fractions import Fraction

import pytest

from symroof.api import Study

from . import B8, B70, H100, H100_989, KV, TUTORIAL, WEIGHTS, agree, check, row

Q4 = {**B70, "weights": "int4", "assume": WEIGHTS}
WEIGHT_ONLY = [
    row("70B int4", "weight_bytes", "35 GB", **Q4),
    row("70B int4: step", "itl", "10.45 ms", **Q4, **H100),
    row(
        "4 times as fast",
        "itl",
        "4.0 x",
        {"weights": "int4"},
        **B70,
        **H100,
        weights="fp16",
        assume=WEIGHTS,
    ),
    row(
        "3.89 times with 4k of cache",
        "itl",
        "3.89 x",
        {"weights": "int4"},
        **B70,
        **H100,
        prompt=4096,
        weights="fp16",
        assume=KV,
    ),
    row("intensity", "decode_intensity", 4, **Q4, **H100),
    row(
        "(P b_w + KV)/BW, int8",
        "itl",
        Fraction(70 * 10**9 + 4096 * 327_680, 3350 * 10**9),
        **B70,
        **H100,
        weights="int8",
        activations="fp16",
        prompt=4096,
        assume=KV,
    ),
    row(
        "prefill unchanged",
        "prefill_time",
        1,
        {"weights": "fp16"},
        **Q4,
        **H100,
        activations="fp16",
        prompt=4096,
    ),
    row("still under the ridge at 73", "decode_bound", "memory", **Q4, **H100, batch=73),
    row("over it at 74", "decode_bound", "compute", **Q4, **H100, batch=74),
    row("RTX 4090", "user_rate", "28.8 tok/s", **Q4, hardware="rtx-4090"),
    row("RTX 3090", "user_rate", "26.7 tok/s", **Q4, hardware="rtx-3090"),
    row("A100", "user_rate", "58.3 tok/s", **Q4, hardware="a100-80gb-sxm"),
    row("M2 Ultra", "user_rate", "22.9 tok/s", **Q4, hardware="m2-ultra"),
    row(
        "30 tok/s need 1,050 GB/s",
        "user_rate",
        30,
        **Q4,
        mem_bandwidth="1050 GB/s",
        peak_flops="80 TFLOP/s",
    ),
    row(
        "Q4_K_M, 4.84 bits",
        "weight_bytes",
        "42.4 GB",
        params=70 * 10**9,
        weight_bytes_per_param=0.605,
    ),
    row(
        "Q4_K_M on 1,008 GB/s",
        "user_rate",
        "23.8 tok/s",
        **B70,
        hardware="rtx-4090",
        weight_bytes_per_param=0.605,
        assume=WEIGHTS,
    ),
]

FP8 = {"weights": "fp8", "activations": "fp8", "peak_flops": "1979 TFLOP/s"}
INT8_PREFILL = {
    **B8,
    "hardware": "h100-sxm",
    "prompt": 2048,
    "mfu": 0.5,
    "prefill_overhead": "0.01 ms",
    "assume": WEIGHTS,
}
WEIGHTS_AND_ACTIVATIONS = [
    # n* = b_w F/(2 BW): 295.4 with one byte and 1979 TFLOP/s, 590.7 with two bytes
    *(
        row(
            f"fp8, {bytes_} byte a weight, {batch}: {bound}",
            "decode_bound",
            bound,
            params=70 * 10**9,
            hardware="h100-sxm",
            **{**FP8, "weight_bytes_per_param": bytes_},
            batch=batch,
            assume=WEIGHTS,
        )
        for bytes_, batch, bound in (
            (1, 295, "memory"),
            (1, 296, "compute"),
            (2, 590, "memory"),
            (2, 591, "compute"),
        )
    ),
    row(
        "n* = b_w R/2, one byte",
        lambda s: s.value("ridge_point") * s.value("weight_bytes_per_param") / 2,
        "295.4",
        hardware="h100-sxm",
        **FP8,
    ),
    row(
        "n* = b_w R/2, two bytes",
        lambda s: s.value("ridge_point") * s.value("weight_bytes_per_param") / 2,
        "590.7",
        hardware="h100-sxm",
        **{**FP8, "weight_bytes_per_param": 2},
    ),
    # Both with the tutorial's 0.01 ms of dispatch; without it 33.24 and 66.51
    row(
        "8B prefill, int8",
        "ttft",
        "33.25 ms",
        **INT8_PREFILL,
        weights="int8",
        activations="int8",
        peak_flops="1979 TFLOP/s",
    ),
    row("8B prefill, fp16", "ttft", "66.52 ms", **INT8_PREFILL, peak_flops="989 TFLOP/s"),
]

CLEAN = {**B8, **H100_989, "prompt": 2048, "assume": KV}
CLEAN_TABLE = [
    row("fp16: true cache, no tax", "itl", "4.874 ms", **CLEAN),
    row("int8: true cache, no tax", "itl", "2.437 ms", **CLEAN, weights="int8", kv="int8"),
    row("int4: true cache, no tax", "itl", "1.219 ms", **CLEAN, weights="int4", kv="int4"),
]


@pytest.mark.parametrize("case", [*WEIGHT_ONLY, *WEIGHTS_AND_ACTIVATIONS, *CLEAN_TABLE])
def test_row(case):
    check(case)


@pytest.mark.parametrize(
    ("hardware", "fits"),
    [("rtx-4090", False), ("rtx-3090", False), ("a100-80gb-sxm", True), ("m2-ultra", True)],
)
def test_two_of_the_four_cards_cannot_hold_the_model(hardware, fits):
    """The second source ranks four devices by bandwidth for 35 GB of weights; two of them have 24 GB."""
    assert Study(**Q4, hardware=hardware, prompt=1).value("fits") is fits


def test_one_byte_fp8_does_not_move_the_threshold():
    """The essay: FP8 can turn compute-bound work memory-bound. The ridge does double, but bytes halve with it: at 300 tokens
    one-byte weights stay compute-bound; only FP8 arithmetic on two-byte weights becomes memory-bound."""
    case = {"params": 70 * 10**9, "hardware": "h100-sxm", "batch": 300, "assume": WEIGHTS}
    assert Study(**case).value("decode_bound") == "compute"
    assert Study(**case, **FP8).value("decode_bound") == "compute"
    assert Study(**case, **{**FP8, "weight_bytes_per_param": 2}).value("decode_bound") == "memory"


def test_int4_prefill_of_the_tutorial_is_a_fallback():
    """int4 prefills like fp16 because there is no int4 rate in its table, while int8 computes on int8 units."""
    fp16, int8, int4 = (
        Study(**TUTORIAL, **H100, prompt=2048, weights=weights)
        for weights in ("fp16", "int8", "int4")
    )
    assert fp16.value("ttft") == int4.value("ttft") > int8.value("ttft")
    assert fp16.value("peak_flops") == int4.value("peak_flops") == 989 * 10**12
    assert int8.value("peak_flops") == 1979 * 10**12
    assert any("int4" in warning for warning in int4.first.warnings)


def test_gains_of_the_tutorial_are_not_two_and_four():
    """1.446x and 1.861x (1.44x and 1.86x from the printed digits): 3.2 ms of fixed tax do not shrink with the weights."""
    fp16, int8, int4 = (
        Study(**TUTORIAL, **H100, prompt=2048, weights=weights).value("itl")
        for weights in ("fp16", "int8", "int4")
    )
    agree(fp16 / int8, "1.446 x")
    agree(fp16 / int4, "1.861 x")
    agree(Fraction("8.35") / Fraction("5.78"), "1.44 x")
    agree(Fraction("8.35") / Fraction("4.49"), "1.86 x")
    taxless = [time - Fraction(32, 10_000) for time in (fp16, int8, int4)]
    agree(taxless[0] / taxless[1], "2.000")
    agree(taxless[0] / taxless[2], "4.000")
