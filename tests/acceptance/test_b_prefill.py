"""Prefill: first order, exact, short prompts, time to first token, shorter prompts, flash attention (systems 8-11, 13, 14)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from . import ATTENTION, B8, B70, H100, H100_989, WEIGHTS, agree, check, row, slope

# Llama-3-8B by hand: matrices of 32 layers (queries and outputs d*d, keys and values d*1024, three of d*14336), head d*V
LAYERS_8B = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
HEAD_8B = 4096 * 128256
CORE_8B = 4 * 32 * 32 * 128  # FLOPs of a query-key pair: 4*L*H*d_h
LAYERS_70B = 80 * (2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672)

ESSAY = {**B70, **H100, "prompt": 4096, "assume": WEIGHTS}
FIRST_ORDER = [
    row("70B, 4096 tokens: FLOPs", "prefill_flops", "573.4 TFLOP", **ESSAY),
    row("70B, 4096 tokens: bytes", "prefill_bytes", "140 GB", **ESSAY),
    row("70B, 4096 tokens: intensity is exactly 2S/b_w", "prefill_intensity", 4096, **ESSAY),
    row("70B, 4096 tokens: time", "prefill_time", "0.5796 s", **ESSAY),
    row("the same at MFU 0.5", "prefill_time", "1.16 s", **ESSAY, mfu=0.5),
    row("the same at MFU 0.7", "prefill_time", "0.83 s", **ESSAY, mfu=0.7),
    row("70B, 4096 tokens: rate", "prefill_throughput", "7,067 tok/s", **ESSAY),
    row(
        "8B, 2048 tokens, MFU 0.5",
        "prefill_time",
        "66.51 ms",
        **B8,
        **H100_989,
        prompt=2048,
        mfu=0.5,
        assume=WEIGHTS,
    ),
    row(
        "13x above the ridge",
        lambda s: s.value("prefill_intensity") / s.value("ridge_point"),
        "13.9",
        **ESSAY,
    ),
]

NOMINAL_ATTENTION = {**B70, **H100, "assume": ATTENTION}
EXACT_8B = {**B8, **H100_989, "prompt": 2048, "mfu": 0.5}
EXACT = [
    row(
        "matrix parameters of the 8B",
        lambda s: s.value("linear_flops_per_token") / 2,
        LAYERS_8B,
        model="llama-3-8b",
    ),
    row("6.979e9", lambda s: s.value("linear_flops_per_token") / 2, "6.979e9", model="llama-3-8b"),
    row(
        "head of the 8B: 0.525e9",
        lambda s: s.value("head_flops_per_row") / 2,
        "0.525e9",
        model="llama-3-8b",
    ),
    row(
        "matrix parameters of the 70B",
        lambda s: s.value("linear_flops_per_token") / 2,
        LAYERS_70B,
        model="llama-3-70b",
    ),
    row("68.45e9", lambda s: s.value("linear_flops_per_token") / 2, "68.45e9", model="llama-3-70b"),
    row(
        "head of the 70B: 1.051e9",
        lambda s: s.value("head_flops_per_row") / 2,
        "1.051e9",
        model="llama-3-70b",
    ),
    row("all parameters of the 8B: 8.03e9", "params", "8.03e9", model="llama-3-8b"),
    row("all parameters of the 70B: 70.6e9", "params", "70.6e9", model="llama-3-70b"),
    row("attention FLOPs of a pair, 70B", "attention_flops_per_pair", 2_621_440, **B70),
    row("8B, 2048 tokens, MFU 0.5", "prefill_time", "60.04 ms", **EXACT_8B),
    row(
        "exact FLOPs, causal: 2*P_mm*S + 2*d*V + 4*L*H*d_h*S(S + 1)/2",
        "prefill_flops",
        2 * LAYERS_8B * 2048 + 2 * HEAD_8B + CORE_8B * 2048 * 2049 // 2,
        **EXACT_8B,
    ),
    row(
        "exact FLOPs, full square: 4*L*H*d_h*S^2",
        "prefill_flops",
        2 * LAYERS_8B * 2048 + 2 * HEAD_8B + CORE_8B * 2048 * 2048,
        **EXACT_8B,
        assume={"attention": "full"},
    ),
    row(
        "attention over linear, 70B, 4096 tokens",
        "attention_to_linear",
        "3.8 %",
        **NOMINAL_ATTENTION,
        prompt=4096,
    ),
    row(
        "10 % at 10,681 tokens",
        "attention_to_linear",
        "10.00 %",
        **NOMINAL_ATTENTION,
        prompt=10_681,
    ),
    row(
        "equality at 106.8k tokens",
        "attention_to_linear",
        "100.0 %",
        **NOMINAL_ATTENTION,
        prompt=106_812,
    ),
    row(
        "not yet equal at 106.7k tokens",
        lambda s: s.value("attention_to_linear") < 1,
        True,
        **NOMINAL_ATTENTION,
        prompt=106_700,
    ),
    row(
        "the full square doubles the share",
        "attention_to_linear",
        Fraction(4 * 80 * 64 * 128 * 4096, 2 * 70 * 10**9),
        **B70,
        prompt=4096,
        assume={**ATTENTION, "attention": "full"},
    ),
    row(
        "fp16 logits of every position, 8B",
        "logit_bytes",
        "525 MB",
        **B8,
        prompt=2048,
        assume={"logits": "all"},
    ),
    row("fp16 logits of the last position, 8B", "logit_bytes", 2 * 128256, **B8, prompt=2048),
]

# The third source's widget: 8e9 parameters, 16 GB, 989 TFLOP/s, 6 tokens
WIDGET = {"params": 8 * 10**9, "prompt": 6, "assume": WEIGHTS, **H100_989}
SHORT = [
    row("widget: weight read", "prefill_memory_time", "4.776 ms", **WIDGET),
    row("widget: tensor cores", "prefill_compute_time", "0.0971 ms", **WIDGET),
    row("widget: utilisation", "prefill_mfu", "2.03 %", **WIDGET),
    row(
        "widget: utilisation is S*2/(b_w R)",
        "prefill_mfu",
        Fraction(6 * 2, 2) / (Fraction(989_000) / 3350),
        **WIDGET,
    ),
    row("widget: input rate", "prefill_throughput", "1,256 tok/s", **WIDGET),
    row("widget: output rate", "user_rate", "209 tok/s", **WIDGET),
    row(
        "256 tokens: intensity", "prefill_intensity", 256, **B70, **H100, prompt=256, assume=WEIGHTS
    ),
    row(
        "256 tokens: under the ridge",
        "prefill_bound",
        "memory",
        **B70,
        **H100,
        prompt=256,
        assume=WEIGHTS,
    ),
    row("7 tokens: memory", "prefill_bound", "memory", **B8, **H100, prompt=7, assume=WEIGHTS),
    row(
        "50 tokens, 8B: the memory roof",
        "ttft",
        "4.79 ms",
        **B8,
        **H100_989,
        prompt=50,
        mfu=0.5,
        assume=WEIGHTS,
    ),
    row(
        "50 tokens, 8B: the tutorial's tool has no memory roof",
        "ttft",
        "1.63 ms",
        preset="tutorial-mlsysim",
        model="llama-3-8b",
        **H100,
        prompt=50,
    ),
]

TTFT_70B = {**B70, **H100_989, "mfu": 0.5, "assume": WEIGHTS}
TTFT = [
    row(
        "3,532 tokens within a second",
        lambda s: s.value("ttft") <= 1,
        True,
        **TTFT_70B,
        prompt=3532,
    ),
    row("3,533 tokens not", lambda s: s.value("ttft") <= 1, False, **TTFT_70B, prompt=3533),
    row(
        "7,064 tokens within two seconds",
        lambda s: s.value("ttft") <= 2,
        True,
        **TTFT_70B,
        prompt=7064,
    ),
    row("7,065 tokens not", lambda s: s.value("ttft") <= 2, False, **TTFT_70B, prompt=7065),
    # 3,532 tokens: 2*70e9*3532/(0.5*989e12) s; then 20 ms in a queue and 5 ms of dispatch
    row(
        "queue and dispatch are added",
        "ttft",
        Fraction(2 * 70 * 3532, 494_500) + Fraction(25, 1000),
        **TTFT_70B,
        prompt=3532,
        queue_time="20 ms",
        prefill_overhead="5 ms",
    ),
    row(
        "a step's fixed costs are the dispatch unless it is given",
        "ttft",
        Fraction(2 * 70 * 3532, 494_500) + Fraction(3 + 80, 1000),
        **TTFT_70B,
        prompt=3532,
        step_overhead="3 ms",
        layer_overhead="1 ms",
    ),
]

SHORTER = [
    row(
        "slope, weights only: 2P/(eta_c F)",
        slope("ttft", "prompt"),
        Fraction(2 * 8_030_000_000) / (Fraction(1, 2) * 989 * 10**12),
        **B8,
        **H100_989,
        prompt=2048,
        mfu=0.5,
        assume=WEIGHTS,
    ),
    # d/dS of 2PS + 2*L*H*d_h*S(S + 1) = 2P + 4*L*H*d_h*(S + 1/2); with S^2 for S(S + 1) the half falls away
    row(
        "slope with attention: (2P + 4 L H d_h S)/(eta_c F)",
        slope("ttft", "prompt"),
        (2 * 8_030_000_000 + CORE_8B * Fraction(4097, 2)) / (Fraction(1, 2) * 989 * 10**12),
        **B8,
        **H100_989,
        prompt=2048,
        mfu=0.5,
        assume=ATTENTION,
    ),
    row(
        "no slope on the memory roof",
        slope("ttft", "prompt"),
        0,
        **B8,
        **H100_989,
        prompt=50,
        mfu=0.5,
        assume=WEIGHTS,
    ),
]


@pytest.mark.parametrize("case", [*FIRST_ORDER, *EXACT, *SHORT, *TTFT, *SHORTER])
def test_row(case):
    check(case)


def test_intensity_of_the_essay_is_a_rounding_artefact():
    """The essay divides a rounded 573 TFLOP by 140 GB and gets ~4,093; 573.44/140 is exactly 4,096 = S."""
    assert Study(**ESSAY).value("prefill_intensity") == 4096
    agree(Fraction(573 * 10**12, 140 * 10**9), "4,093")


def test_widget_is_memory_bound():
    """The third source calls its 6-token prefill compute-bound; its own widget has 4.78 ms of reading for 0.10 ms of arithmetic."""
    study = Study(**WIDGET)
    assert study.value("prefill_bound") == "memory"
    assert study.value("prefill_memory_time") > 49 * study.value("prefill_compute_time")


def test_head_at_every_position():
    """Unused logits (the third source's "throw away"): +7.5 % of 2*P_mm*S, 7.2 % of the exact total, 8B at 2048 tokens."""
    last, every = (
        Study(**EXACT_8B, assume={"logits": rows}).value("prefill_flops")
        for rows in ("last", "all")
    )
    assert every - last == 2047 * 2 * HEAD_8B
    agree((every - last) / (2 * LAYERS_8B * 2048), "7.5 %")
    agree((every - last) / last, "7.2 %")


# One head of 128 at 4096 tokens, keys and values of its own; full square; read off the operator table
HEAD = {
    "n_layers": 1,
    "d_model": 128,
    "n_heads": 1,
    "n_kv_heads": 1,
    "head_dim": 128,
    "d_ff": 512,
    "vocab_size": 1000,
    "prompt": 4096,
}


def attention_intensity(prompt, fusion):
    study = Study(**{**HEAD, "prompt": prompt}, assume={"attention": "full", "fusion": fusion})
    case = study.first.case
    core = next(
        operator for operator in case.theory.operators["prefill"] if operator.name == "attention"
    )
    return Fraction(case.evaluate(core.flops)) / Fraction(case.evaluate(core.bytes))


@pytest.mark.parametrize(
    ("prompt", "fusion", "expected"),
    [(4096, "unfused", "62.1"), (4096, "flash", 2048), (10**9, "unfused", "64.0")],
)
def test_attention_core_fused_and_not(prompt, fusion, expected):
    """4 S^2 d_h FLOPs over b(4 S^2 + 4 S d_h) bytes unfused (towards d_h/2 = 64, memory-bound), over b*4 S d_h fused (S/2)."""
    agree(attention_intensity(prompt, fusion), expected)


def test_unfused_attention_is_memory_bound_and_fused_is_not():
    ridge = Study(**H100).value("ridge_point")
    assert attention_intensity(4096, "unfused") < ridge < attention_intensity(4096, "flash")


def test_score_traffic_of_the_70b():
    """One S^2 matrix written and read in fp16 is 343.6 GB, 102.6 ms; scores and probabilities are two of them: 4 L H S^2 b/BW."""
    study = Study(**B70, **H100, prompt=4096, assume={"attention": "full", "fusion": "unfused"})
    both = study.value("score_traffic")
    assert both == 4 * 80 * 64 * 4096**2 * 2
    agree(both / 2, "343.6 GB")
    agree(both / 2 / study.value("mem_bandwidth"), "102.6 ms")
    flash = Study(**B70, **H100, prompt=4096, assume={"attention": "full"})
    assert study.value("prefill_bytes") - flash.value("prefill_bytes") == both
    assert flash.value("score_traffic") == 0


def test_linear_work_beside_the_score_traffic():
    """2*70e9*4096 FLOPs take 579.8 ms at 989 TFLOP/s (579.6 at 989.4)."""
    agree(Study(**B70, **H100_989, prompt=4096, assume=WEIGHTS).value("prefill_time"), "579.8 ms")
