"""Decode: first order, with cache, growing cache, attention operator, end to end, phase ratio, sampling and head (systems 15-19, 21, 22)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from . import ATTENTION, B8, B70, H100, H100_989, KV, TUTORIAL, WEIGHTS, check, row, slope

WIDGET = {"params": 8 * 10**9, **H100_989, "assume": WEIGHTS}
FIRST_ORDER = [
    row("70B: FLOPs", "decode_flops", "140 GFLOP", **B70, **H100, assume=WEIGHTS),
    row("70B: bytes", "decode_bytes", "140 GB", **B70, **H100, assume=WEIGHTS),
    row("70B: intensity", "decode_intensity", 1, **B70, **H100, assume=WEIGHTS),
    row("70B: step", "itl", "41.79 ms", **B70, **H100, assume=WEIGHTS),
    row("70B: rate", "user_rate", "23.93 tok/s", **B70, **H100, assume=WEIGHTS),
    row("70B: bound", "decode_bound", "memory", **B70, **H100, assume=WEIGHTS),
    row("8B of 16 GB: step", "itl", "4.776 ms", **WIDGET),
    row("8B of 16 GB: rate", "user_rate", "209.4 tok/s", **WIDGET),
    row("utilisation", "decode_mfu", "0.34 %", **WIDGET),
    row("utilisation is 1/R", "decode_mfu", Fraction(3350, 989_000), **WIDGET),
]

WITH_KV = [
    row("70B at 4608: cache", "kv_cache_bytes", "1.510 GB", **B70, context=4608),
    row("70B at 4608: bytes", "decode_bytes", "141.51 GB", **B70, context=4608, assume=KV),
    row(
        "70B at 4608: share of the cache",
        lambda s: s.value("kv_cache_bytes") / s.value("decode_bytes"),
        "1.07 %",
        **B70,
        context=4608,
        assume=KV,
    ),
    row("70B at 100,000: cache", "kv_cache_bytes", "32.77 GB", **B70, context=100_000),
    row("8B at 100,000: cache", "kv_cache_bytes", "13.11 GB", **B8, context=100_000),
    row(
        "FLOPs B(2P + aS)",
        "decode_flops",
        32 * (140 * 10**9 + 2_621_440 * 4608),
        **B70,
        context=4608,
        batch=32,
        assume=ATTENTION,
    ),
    row(
        "bytes W + B S kappa",
        "decode_bytes",
        140 * 10**9 + 32 * 4608 * 327_680,
        **B70,
        context=4608,
        batch=32,
        assume=ATTENTION,
    ),
    row(
        "a context token costs",
        slope("itl", "context"),
        "0.098 us",
        **B70,
        **H100,
        context=4608,
        assume=KV,
    ),
    row(
        "a context token costs kappa/BW",
        slope("itl", "context"),
        Fraction(327_680, 3350 * 10**9),
        **B70,
        **H100,
        context=4608,
        assume=KV,
    ),
    row(
        "a request at 4k costs",
        slope("itl", "batch"),
        "0.40 ms",
        **B70,
        **H100,
        context=4096,
        assume=KV,
    ),
]

# 8B, 4000 in, 100 out: 99 steps of W + kappa*(4000 + j)
RESPONSE = {**B8, **H100_989, "prompt": 4000, "output": 100, "assume": KV}
GROWING = [
    row("99 steps of a growing cache", "decode_time", "490.30 ms", **RESPONSE),
    row(
        "the closed form of the sum",
        "decode_time",
        Fraction(99 * 16_060_000_000 + 131_072 * (99 * 4000 + 99 * 100 // 2), 3350 * 10**9),
        **RESPONSE,
    ),
    row(
        "the first step reads S + 1 tokens",
        "itl_first",
        Fraction(16_060_000_000 + 131_072 * 4001, 3350 * 10**9),
        **RESPONSE,
    ),
    row(
        "the last step reads S + N - 1 tokens",
        "itl_last",
        Fraction(16_060_000_000 + 131_072 * 4099, 3350 * 10**9),
        **RESPONSE,
    ),
    row("a step appends, 70B", "kv_bytes_per_token", 327_680, **B70),
    row(
        "the essay's 320 KB is 320 KiB", lambda s: s.value("kv_bytes_per_token") / 1024, 320, **B70
    ),
]

# AI_att = (2/b_kv)(H/H_kv)
INTENSITY = [
    row("multi-head", "attention_intensity", 1, **B70, n_kv_heads=64),
    row("8 groups of 8 heads, 70B", "attention_intensity", 8, **B70),
    row("8 groups of 4 heads, 8B", "attention_intensity", 4, **B8),
    row("multi-query: H", "attention_intensity", 64, **B70, n_kv_heads=1),
    row("an fp8 cache doubles it", "attention_intensity", 16, **B70, kv="fp8"),
    *(
        row(
            f"below the ridge, {kv} KV heads",
            lambda s: s.value("attention_intensity") < s.value("ridge_point"),
            True,
            **B70,
            **H100,
            n_kv_heads=kv,
        )
        for kv in (64, 8, 1)
    ),
]

END_TO_END = {**B70, **H100, "prompt": 4096, "assume": WEIGHTS}
WHOLE = [
    row(
        "TTFT + (N - 1) TPOT",
        "response_time",
        Fraction(2 * 70 * 4096, 989_400) + 255 * Fraction(140, 3350),
        **END_TO_END,
        output=256,
    ),
    # N* = 1 + 2S/(b_w R) = 14.87: 14 tokens decode in less than the prefill takes, 15 in more
    row(
        "14 outputs: decode below TTFT",
        lambda s: s.value("decode_time") < s.value("ttft"),
        True,
        **END_TO_END,
        output=14,
    ),
    row(
        "15 outputs: decode above TTFT",
        lambda s: s.value("decode_time") > s.value("ttft"),
        True,
        **END_TO_END,
        output=15,
    ),
    row(
        "the tutorial counts N steps: 0.4 % more at 256",
        lambda s: s.value("decode_time") / (255 * s.value("itl")) - 1,
        "0.4 %",
        **TUTORIAL,
        **H100,
        prompt=2048,
        output=256,
    ),
    row(
        "TPOT is the mean step",
        "tpot",
        Fraction(16_060_000_000 + 131_072 * 4050, 3350 * 10**9),
        **RESPONSE,
    ),
]

RATIO = [
    row(
        "equal efficiencies: R b_w/2",
        "prefill_decode_ratio",
        "295.3",
        **B70,
        **H100,
        prompt=4096,
        assume=WEIGHTS,
    ),
    row(
        "the essay's 300x, to one digit",
        lambda s: s.value("prefill_decode_ratio") / 100,
        "3",
        **B70,
        **H100,
        prompt=4096,
        assume=WEIGHTS,
    ),
    row(
        "the blog post's 100x needs eta_c/eta_m = 0.339",
        "prefill_decode_ratio",
        "100",
        **B70,
        **H100,
        prompt=4096,
        mfu=0.339,
        assume=WEIGHTS,
    ),
    row(
        "independent of P",
        "prefill_decode_ratio",
        "295.3",
        **B8,
        **H100,
        prompt=4096,
        assume=WEIGHTS,
    ),
]

HEADS = [
    row("sampling, 5V FLOP", "sampling_flops", 5 * 128_256, **B70),
    row(
        "sampling over a 70B step",
        lambda s: s.value("sampling_flops") / s.value("decode_flops"),
        "4.6e-6",
        **B70,
        **H100,
        assume=WEIGHTS,
    ),
    row(
        "head over 2P, 70B",
        lambda s: s.value("head_flops_per_row") / (2 * s.value("params")),
        "1.5 %",
        **B70,
    ),
    row(
        "head over 2P, 8B",
        lambda s: s.value("head_flops_per_row") / (2 * s.value("params")),
        "6.5 %",
        **B8,
    ),
    # Of what a step really multiplies (the gathered input table is not), the head is 0.5253/(6.9793 + 0.5253) = 7.0 % of the 8B
    row(
        "head over the matrix work of a step, 8B",
        "head_share",
        Fraction(4096 * 128_256, 6_979_321_856 + 4096 * 128_256),
        model="llama-3-8b",
        prompt=1,
        assume={"attention_flops": "off"},
    ),
]


@pytest.mark.parametrize(
    "case", [*FIRST_ORDER, *WITH_KV, *GROWING, *INTENSITY, *WHOLE, *RATIO, *HEADS]
)
def test_row(case):
    check(case)


def test_third_source_has_twice_the_intensity_and_thrice_the_utilisation():
    """It says ~2 FLOP per byte and ~1 % used: with two-byte weights a token does 2P FLOP on 2P bytes, 1 FLOP/byte, 1/295 = 0.34 %."""
    assert Study(**WIDGET).value("decode_intensity") == 1
    assert Study(**WIDGET, weights="int8").value("decode_intensity") == 2
    assert Study(**WIDGET).value("decode_mfu") < Fraction(1, 200)


@pytest.mark.parametrize("batch", [1, 64, 4096])
def test_attention_is_memory_bound_at_every_batch(batch):
    """The core's FLOPs and its cache traffic both go with the batch, so its intensity does not move."""
    study = Study(**B70, **H100, batch=batch, context=4096)
    case = study.first.case
    core = next(
        operator for operator in case.theory.operators["decode"] if operator.name == "attention"
    )
    traffic = dict(core.streams)["kv"]
    assert case.evaluate(core.flops) == 8 * case.evaluate(traffic)
    assert study.value("attention_intensity") == 8
