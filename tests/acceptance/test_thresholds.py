"""Thresholds and crossings of systems 4, 9, 11, 19, 26-29, 33, 34, 37 and of the tutorial's exercises 2 and 3."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from symroof.api import Study

from . import ATTENTION, B8, B70, H100, H100_989, KV, WEIGHTS, agree


@dataclass(frozen=True)
class Threshold:
    what: str
    equation: str
    unknown: str | None
    value: Any
    integer: dict | None
    case: dict


def meets(what, equation, value, integer, unknown=None, **case):
    return pytest.param(Threshold(what, equation, unknown, value, integer, case), id=what)


def never(what, equation, verdict, unknown=None, **case):
    return pytest.param(Threshold(what, equation, unknown, verdict, None, case), id=what)


def least(number):
    return {"at_least": number}


def most(number):
    return {"at_most": number}


def solved(row):
    return (
        Study(**row.case).solve(row.equation, for_=row.unknown)
        if row.unknown
        else Study(**row.case).solve(row.equation)
    )


R = Fraction(989_000, 3350)
R_EXACT = Fraction(989_400, 3350)
DEVICE = {"peak_flops": "989 TFLOP/s", "mem_bandwidth": "3.35 TB/s"}
NINETEEN = {"peak_flops": "1979 TFLOP/s", "mem_bandwidth": "3.35 TB/s"}
P70, KAPPA70, CORE70 = 70 * 10**9, 327_680, 2_621_440
P8, KAPPA8, CORE8 = 8_030_000_000, 131_072, 524_288
LINEAR = {"params": P70, "assume": WEIGHTS}


def square(width):
    """n* = b R d/(2(d - bR)) with b = 2, where a square product of width d reaches the ridge."""
    return 2 * R * width / (2 * (width - 2 * R))


REGIME = [
    meets("n* = b_w R/2, fp16", "batch_to_ridge", "295.2", least(296), **LINEAR, **DEVICE),
    meets(
        "n*, int8 weights only",
        "batch_to_ridge",
        "147.6",
        least(148),
        **LINEAR,
        **DEVICE,
        weights="int8",
    ),
    meets(
        "n*, int4 weights only",
        "batch_to_ridge",
        "73.8",
        least(74),
        **LINEAR,
        **DEVICE,
        weights="int4",
    ),
    meets("n*, exactly", "batch_to_ridge", R, least(296), **LINEAR, **DEVICE),
    meets("n* of a prompt", "prompt_to_ridge", R, least(296), **LINEAR, **DEVICE),
    meets(
        "n* moves with the efficiencies",
        "prompt_to_ridge",
        R / 2,
        least(148),
        **LINEAR,
        **DEVICE,
        mfu=0.5,
    ),
    meets(
        "square product, width 4096",
        "gemm_intensity = ridge_point",
        "344.9",
        least(345),
        "gemm_m",
        gemm_k=4096,
        gemm_n=4096,
        **DEVICE,
    ),
    meets(
        "square product, width 8192",
        "gemm_intensity = ridge_point",
        "318.2",
        least(319),
        "gemm_m",
        gemm_k=8192,
        gemm_n=8192,
        **DEVICE,
    ),
    meets(
        "square product, closed form",
        "gemm_intensity = ridge_point",
        square(4096),
        least(345),
        "gemm_m",
        gemm_k=4096,
        gemm_n=4096,
        **DEVICE,
    ),
    meets(
        "fp8, one byte",
        "batch_to_ridge",
        "295.4",
        least(296),
        **LINEAR,
        **NINETEEN,
        weights="fp8",
        activations="fp8",
    ),
    meets("fp8 arithmetic, two bytes", "batch_to_ridge", "590.7", least(591), **LINEAR, **NINETEEN),
    # d <= b R: a narrow product never gets there, its intensity ends at d/b
    never(
        "square product, width 512: never",
        "gemm_intensity = ridge_point",
        "lhs_below",
        "gemm_m",
        gemm_k=512,
        gemm_n=512,
        **DEVICE,
    ),
]

TARGET = {**B70, **H100_989, "mfu": 0.5, "assume": WEIGHTS}
END = {**B70, **H100, "prompt": 4096, "assume": WEIGHTS}
PREFILL = [
    # L H d_h (S + 1)/P = 1: one token earlier than the 106,812 and 10,681.2 that S^2 for S(S + 1) gives
    meets(
        "attention equals linear",
        "attention_equals_linear",
        "1068e2",
        least(106_811),
        **B70,
        assume=ATTENTION,
    ),
    meets(
        "attention equals linear, exactly",
        "attention_equals_linear",
        Fraction(P70, 80 * 64 * 128) - 1,
        least(106_811),
        **B70,
        assume=ATTENTION,
    ),
    meets(
        "attention is 10 %",
        "attention_to_linear = 0.1",
        Fraction(P70, 80 * 64 * 128) / 10 - 1,
        least(10_681),
        "prompt",
        **B70,
        assume=ATTENTION,
    ),
    meets(
        "full square: half of it",
        "attention_equals_linear",
        Fraction(P70, 2 * 80 * 64 * 128),
        least(53_406),
        **B70,
        assume={**ATTENTION, "attention": "full"},
    ),
    meets(
        "prompt of a second: T eta_c F/(2P)",
        "max_prompt_ttft",
        "3,532",
        most(3532),
        **TARGET,
        ttft_target="1 s",
    ),
    meets(
        "prompt of a second, exactly",
        "max_prompt_ttft",
        Fraction(989_000, 4 * 70),
        most(3532),
        **TARGET,
        ttft_target="1 s",
    ),
    meets(
        "prompt of two seconds", "max_prompt_ttft", "7,064", most(7064), **TARGET, ttft_target="2 s"
    ),
    meets(
        "output whose decode exceeds the prefill",
        "output_decode_exceeds_ttft",
        "14.87",
        least(15),
        **END,
    ),
    meets(
        "N* = 1 + 2 S eta_m/(b_w R eta_c)",
        "output_decode_exceeds_ttft",
        1 + 4096 / R_EXACT,
        least(15),
        **END,
    ),
    meets(
        "N* with efficiencies",
        "output_decode_exceeds_ttft",
        1 + 2 * 4096 * Fraction(8, 10) / (2 * R_EXACT * Fraction(1, 2)),
        least(24),
        **END,
        mfu=0.5,
        mbu=0.8,
    ),
    meets(
        "N* does not depend on P",
        "output_decode_exceeds_ttft",
        1 + 4096 / R_EXACT,
        least(15),
        **{**END, "params": P8},
    ),
]

MEMORY = [
    meets("devices for a 70B", "min_devices_memory", "1.75", least(2), **B70, **H100, prompt=1),
    meets(
        "devices for an 8B",
        "min_devices_memory",
        Fraction(16_060_000_000 + 131_072, 80 * 10**9),
        least(1),
        **B8,
        **H100,
        prompt=1,
    ),
    *(
        meets(
            f"batch of 8B at {prompt}",
            "max_batch_memory",
            Fraction(80 * 10**9 - 2 * P8, KAPPA8 * prompt),
            most(batch),
            **B8,
            **H100,
            prompt=prompt,
        )
        for prompt, batch in ((2048, 238), (4096, 119), (8192, 59), (32_768, 14), (131_072, 3))
    ),
    meets(
        "batch of 70B on two at 4608",
        "max_batch_memory",
        Fraction(20 * 10**9, KAPPA70 * 4608),
        most(13),
        **B70,
        **H100,
        tp=2,
        prompt=4608,
    ),
    meets(
        "batch of int4 70B on one at 4608",
        "max_batch_memory",
        Fraction(45 * 10**9, KAPPA70 * 4608),
        most(29),
        **B70,
        **H100,
        weights="int4",
        prompt=4608,
    ),
    *(
        meets(
            f"context of 8B at batch {batch}",
            "max_context_memory",
            Fraction(80 * 10**9 - 2 * P8, batch * KAPPA8),
            most(context),
            **B8,
            **H100,
            prompt=1,
            batch=batch,
        )
        for batch, context in ((1, 487_823), (8, 60_977), (32, 15_244), (64, 7_622))
    ),
    meets(
        "tokens whose cache rivals a 70B",
        "kv_cache_bytes = weight_bytes",
        "427,246",
        least(427_247),
        "context",
        **B70,
    ),
    meets(
        "tokens whose cache rivals an 8B",
        "kv_cache_bytes = weight_bytes",
        "122,528",
        least(122_529),
        "context",
        **B8,
    ),
    meets(
        "requests of 4k that rival a 70B: 104",
        "batch_kv_equals_weights",
        "104.3",
        least(105),
        **B70,
        prompt=4096,
    ),
    meets(
        "requests of 32k that rival a 70B: 13",
        "batch_kv_equals_weights",
        "13.0",
        least(14),
        **B70,
        prompt=32_768,
    ),
    meets(
        "30 tok/s of 35 GB",
        "user_rate = 30 token/s",
        1050 * 10**9,
        None,
        "mem_bandwidth",
        **B70,
        weights="int4",
        peak_flops="80 TFLOP/s",
        assume=WEIGHTS,
    ),
]


def ridge_batch(params, kappa, core, ridge, context):
    """B* = R W/(2P + aS - R kappa S), two-byte weights."""
    return ridge * 2 * params / (2 * params + core * context - ridge * kappa * context)


RIDGE = {**B70, **H100, "assume": ATTENTION}
REACH = [
    meets(
        "B* as S -> 0",
        "batch_to_ridge",
        ridge_batch(P70, KAPPA70, CORE70, R_EXACT, 1),
        least(296),
        **RIDGE,
        context=1,
    ),
    meets(
        "B* without cache or attention",
        "batch_to_ridge",
        "295",
        least(296),
        **B70,
        **H100,
        assume=WEIGHTS,
    ),
    meets("B* at 256", "batch_to_ridge", "357", least(357), **RIDGE, context=256),
    meets("B* at 1024", "batch_to_ridge", "949", least(949), **RIDGE, context=1024),
    meets(
        "B* at 1024, closed form",
        "batch_to_ridge",
        ridge_batch(P70, KAPPA70, CORE70, R_EXACT, 1024),
        least(949),
        **RIDGE,
        context=1024,
    ),
    meets(
        "still reachable at 1486",
        "batch_to_ridge",
        ridge_batch(P70, KAPPA70, CORE70, R_EXACT, 1486),
        least(496_839),
        **RIDGE,
        context=1486,
    ),
    never("unreachable at 1487", "batch_to_ridge", "lhs_below", **RIDGE, context=1487),
    never("unreachable at 4096", "batch_to_ridge", "lhs_below", **RIDGE, context=4096),
    meets(
        "8B: still reachable at 420",
        "batch_to_ridge",
        ridge_batch(P8, KAPPA8, CORE8, R_EXACT, 420),
        least(220_797),
        **B8,
        **H100,
        context=420,
        assume=ATTENTION,
    ),
    never(
        "8B: unreachable at 421",
        "batch_to_ridge",
        "lhs_below",
        **B8,
        **H100,
        context=421,
        assume=ATTENTION,
    ),
]

# S < 2P/(R kappa - a) where weights, attention and cache are counted
BEYOND = [
    meets(
        "no batch beyond, 70B",
        "context_beyond_ridge",
        2 * P70 / (R_EXACT * KAPPA70 - CORE70),
        most(1486),
        **RIDGE,
    ),
    meets(
        "no batch beyond, 8B",
        "context_beyond_ridge",
        2 * P8 / (R_EXACT * KAPPA8 - CORE8),
        most(420),
        **B8,
        **H100,
        assume=ATTENTION,
    ),
    meets(
        "no batch beyond, 70B, fp8 cache",
        "context_beyond_ridge",
        "3,060",
        most(3060),
        **B70,
        **H100_989,
        kv="fp8",
        assume=ATTENTION,
    ),
    meets(
        "no batch beyond, without attention FLOPs",
        "context_beyond_ridge",
        2 * P70 / (R_EXACT * KAPPA70),
        most(1446),
        **B70,
        **H100,
        assume=KV,
    ),
]

# The same with exact counting: matrices and head for 2P, and R times the activations of a token off it
MATRICES70, HEAD70 = 80 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672), 8192 * 128_256
TOKEN70 = 2 * (
    80 * ((8192 + 10_240) + 2 * 8192 + 2 * 8192 + (8192 + 57_344) + (28_672 + 8192))
    + 8192
    + 128_256
)
WORK70 = 2 * (MATRICES70 + HEAD70)
EXACT70 = {"model": "llama-3-70b", **H100}
BEYOND += [
    meets(
        "no batch beyond, exact",
        "context_beyond_ridge",
        (WORK70 - R_EXACT * TOKEN70) / (R_EXACT * KAPPA70 - CORE70),
        most(1398),
        **EXACT70,
    ),
    meets(
        "no batch beyond, no activations",
        "context_beyond_ridge",
        WORK70 / (R_EXACT * KAPPA70 - CORE70),
        most(1476),
        **EXACT70,
        assume={"activations": "off"},
    ),
    meets(
        "no batch beyond, no attention FLOPs",
        "context_beyond_ridge",
        (WORK70 - R_EXACT * TOKEN70) / (R_EXACT * KAPPA70),
        most(1360),
        **EXACT70,
        assume={"attention_flops": "off"},
    ),
]


@pytest.mark.parametrize(
    ("switches", "last"),
    [({}, 1398), ({"activations": "off"}, 1476), ({"attention_flops": "off"}, 1360)],
)
def test_last_context_with_a_ridge_batch(switches, last):
    """What ``context_beyond_ridge`` must say, seen from the other side: the batch exists there and no longer one token on."""
    assert (
        Study(**EXACT70, context=last, assume=switches).solve("batch_to_ridge").verdict == "crosses"
    )
    assert (
        Study(**EXACT70, context=last + 1, assume=switches).solve("batch_to_ridge").verdict
        == "lhs_below"
    )


# Exercise 3: S where TTFT = 256 ITL, 8B on the H100 (989), swept from 128 to 32,768
THREE = {**B8, **H100_989}
HALF = {**THREE, "mfu": 0.5}
TIMES = "ttft = 256*itl"
NO_TAX = {"prefill_overhead": "0 s"}
FULL = {**ATTENTION, "attention": "full"}
EXERCISE = [
    meets(
        "weights only, MFU 0.5: N (b_w/2) R eta_c",
        TIMES,
        "37,789",
        least(37_789),
        "prompt",
        **HALF,
        assume=WEIGHTS,
    ),
    meets(
        "weights only, MFU 0.5, exactly",
        TIMES,
        256 * R / 2,
        least(37_789),
        "prompt",
        **HALF,
        assume=WEIGHTS,
    ),
    meets("weights only, MFU 1", TIMES, "75,577", least(75_578), "prompt", **THREE, assume=WEIGHTS),
    meets("true cache", TIMES, "54,640", least(54_641), "prompt", **HALF, assume=KV),
    meets(
        "true cache, 0.32 ms tax",
        TIMES,
        "58,287",
        least(58_288),
        "prompt",
        **HALF,
        **NO_TAX,
        layer_overhead="0.01 ms",
        assume=KV,
    ),
    meets(
        "true cache, 3.2 ms tax",
        TIMES,
        "91,112",
        least(91_113),
        "prompt",
        **HALF,
        **NO_TAX,
        layer_overhead="0.1 ms",
        assume=KV,
    ),
    meets("full attention", TIMES, "25,041", least(25_042), "prompt", **HALF, assume=FULL),
    meets(
        "full attention, 0.32 ms tax",
        TIMES,
        "26,109",
        least(26_110),
        "prompt",
        **HALF,
        **NO_TAX,
        layer_overhead="0.01 ms",
        assume=FULL,
    ),
    # With S(S + 1) for S^2 the causal crossings lie half a token lower: 31,387.5 here, and the whole numbers hold
    meets("causal attention", TIMES, "31,387.5", least(31_388), "prompt", **HALF, assume=ATTENTION),
    never(
        "the tutorial's tool: no crossing at any prompt",
        TIMES,
        "lhs_below",
        "prompt",
        preset="tutorial-mlsysim",
        model="llama-3-8b",
        **H100,
    ),
    never(
        "the tutorial's tool: none for 186 tokens either",
        "ttft = 186*itl",
        "lhs_below",
        "prompt",
        preset="tutorial-mlsysim",
        model="llama-3-8b",
        **H100,
    ),
    meets(
        "exercise 2: a summary of 100 tokens",
        "prompt_ttft_exceeds_decode",
        "14,614",
        least(14_614),
        **HALF,
        output=100,
        assume=WEIGHTS,
    ),
    meets(
        "exercise 2: counting 100 steps",
        "ttft = 100*itl",
        "14,761",
        least(14_762),
        "prompt",
        **HALF,
        assume=WEIGHTS,
    ),
]


def reached_rows(inner, outer, ridge=R_EXACT):
    """Rows at which a k by n product of two-byte numbers reaches the ridge: 2 m k n = R (2 k n + 2 m (k + n))."""
    return 2 * ridge * inner * outer / (2 * inner * outer - 2 * ridge * (inner + outer))


# System 11 and 37 seen operator by operator, and the thresholds the field asks for beside them
ON70 = {"model": "llama-3-70b", **H100}
HEADS, WIDTH, FF = 64, 128, 28_672
PER_OPERATOR = [
    meets(
        "gate_up alone",
        "batch_to_ridge.gate_up",
        reached_rows(8192, 2 * FF),
        least(309),
        **ON70,
        context=4096,
    ),
    meets(
        "down alone",
        "batch_to_ridge.down",
        reached_rows(FF, 8192),
        least(310),
        **ON70,
        context=4096,
    ),
    meets(
        "qkv alone",
        "batch_to_ridge.qkv",
        reached_rows(8192, (HEADS + 16) * WIDTH),
        least(316),
        **ON70,
        context=4096,
    ),
    meets(
        "the head alone",
        "batch_to_ridge.lm_head",
        reached_rows(8192, 128_256),
        least(308),
        **ON70,
        context=4096,
    ),
    meets(
        "linear layers first order: 295 whatever the context",
        "batch_to_ridge.linear",
        R_EXACT,
        least(296),
        **B70,
        **H100,
        context=100_000,
        assume=KV,
    ),
    meets(
        "prompt of gate_up alone",
        "prompt_to_ridge.gate_up",
        reached_rows(8192, 2 * FF),
        least(309),
        **ON70,
    ),
    meets(
        "an efficiency moves an operator's ridge too",
        "batch_to_ridge.gate_up",
        reached_rows(8192, 2 * FF, R_EXACT / 2),
        least(151),
        **ON70,
        context=4096,
        mfu=0.5,
    ),
    # grouped queries do 8 FLOP a cached byte at any batch: far below the ridge
    never(
        "attention never",
        "batch_to_ridge.attention",
        "lhs_below",
        **ON70,
        context=4096,
        assume=KV | {"attention_flops": "on"},
    ),
    meets(
        "rows of a square product",
        "gemm_rows_to_ridge",
        square(4096),
        least(345),
        gemm_k=4096,
        gemm_n=4096,
        **DEVICE,
    ),
    never(
        "a product too narrow", "gemm_rows_to_ridge", "lhs_below", gemm_k=512, gemm_n=512, **DEVICE
    ),
]
BY_PROMPT = {"prompt": 4096, "output": 512}
WIDTHS = [
    # 2 P B/F = P b B'/BW: b = 2 B/R at batch B, weights alone
    meets(
        "weights narrower than 2 B/R no longer help",
        "weight_width_stops_helping",
        64 / R_EXACT,
        None,
        **B70,
        **H100,
        batch=32,
        context=1,
        assume=WEIGHTS,
    ),
    # 2 P B = R (2 P + kappa' C B), kappa' = kappa b/2: b = 4 P (B/R - 1)/(kappa C B)
    meets(
        "a cache narrower than this no longer helps",
        "cache_width_stops_helping",
        4 * P70 * (512 / R_EXACT - 1) / (KAPPA70 * 1024 * 512),
        None,
        **B70,
        **H100,
        batch=512,
        context=1024,
        assume=KV,
    ),
    meets(
        "widest weights beside the cache",
        "max_weight_width_memory",
        Fraction(160 * 10**9 - 8 * KAPPA70 * 4607, P70),
        None,
        **B70,
        **H100,
        tp=2,
        batch=8,
        **BY_PROMPT,
    ),
    meets(
        "least memory of one of two devices",
        "min_capacity_memory",
        Fraction(2 * P70 + 8 * KAPPA70 * 4607, 2),
        None,
        **B70,
        **H100,
        tp=2,
        batch=8,
        **BY_PROMPT,
    ),
    meets(
        "prompt whose response fits",
        "max_prompt_memory",
        Fraction(20 * 10**9, 8 * KAPPA70) - 511,
        most(7118),
        **B70,
        **H100,
        tp=2,
        batch=8,
        **BY_PROMPT,
    ),
    meets(
        "context of a 50 ms step",
        "max_context_itl",
        Fraction(Fraction(5, 100) * 3350 * 10**9 - 2 * P70, 8 * KAPPA70),
        most(10_490),
        **B70,
        **H100,
        batch=8,
        context=1,
        assume=KV,
        itl_target="50 ms",
    ),
    meets(
        "context whose cache weighs as much as the weights",
        "context_kv_equals_weights",
        Fraction(2 * P70, 8 * KAPPA70),
        least(53_406),
        **B70,
        batch=8,
    ),
    meets(
        "a tenth of the other work is attention",
        "attention_reaches_share",
        Fraction(P70, 80 * 64 * 128) / 10 - 1,
        least(10_681),
        **B70,
        assume=ATTENTION,
    ),
    meets(
        "a chosen share",
        "attention_reaches_share",
        Fraction(P70, 80 * 64 * 128) / 4 - 1,
        least(26_702),
        **B70,
        assume=ATTENTION,
        attention_share="25 %",
    ),
]

ALL = [*REGIME, *PREFILL, *MEMORY, *REACH, *BEYOND, *EXERCISE, *PER_OPERATOR, *WIDTHS]


@pytest.mark.parametrize("threshold", ALL)
def test_threshold(threshold):
    solution = solved(threshold)
    if threshold.value in ("lhs_below", "lhs_above"):
        assert solution.verdict == threshold.value
        assert solution.value is None
        assert solution.integer is None
        return
    assert solution.verdict == "crosses"
    agree(solution.value, threshold.value, threshold.what)
    assert solution.integer == threshold.integer


# "Exact" of exercise 3, by hand: causal attention, head once, matrices of 8B, cache growing over 255 steps
MATRICES, HEAD = 6_979_321_856, 4096 * 128_256


def behind(prompt, mfu, mbu, tax):
    """TTFT less decode time in seconds at a prompt, written out."""
    flops = 2 * MATRICES * prompt + 2 * HEAD + CORE8 * prompt * (prompt + 1) // 2
    streamed = 255 * 2 * (MATRICES + HEAD) + KAPPA8 * sum(prompt + step for step in range(1, 256))
    return flops / (mfu * 989 * 10**12) - streamed / (mbu * 3350 * 10**9) - 255 * tax


@pytest.mark.parametrize(
    ("mfu", "mbu", "tax", "prompt"),
    [
        ("1/2", "1", "0", 32_323),
        ("1/2", "3/4", "0", 41_375),
        ("1", "1", "0", 58_348),
        ("1/2", "1", "0.0032", 45_978),
    ],
)
def test_exercise_three_exactly(mfu, mbu, tax, prompt):
    """TTFT passes the 255 steps of a 256-token response from this prompt on: just inside the sweep at MFU 0.5, outside it else."""
    mfu, mbu, tax = map(Fraction, (mfu, mbu, tax))
    assert behind(prompt - 1, mfu, mbu, tax) < 0 < behind(prompt, mfu, mbu, tax)
    overhead = {"layer_overhead": f"{float(tax) / 32 * 1000} ms", **NO_TAX}
    study = Study(
        **THREE,
        mfu=float(mfu),
        mbu=float(mbu),
        output=256,
        assume={"activations": "off"},
        **overhead,
    )
    solution = study.solve("prompt_ttft_exceeds_decode")
    assert solution.verdict == "crosses"
    assert solution.integer == least(prompt)


def test_root_of_the_tool_needs_fewer_outputs():
    """Per prompt token its TTFT grows by 0.0325 ms and 256 ITL by 0.0447 ms; they can only meet for N < 186."""
    study = Study(preset="tutorial-mlsysim", model="llama-3-8b", **H100, prompt=2048)
    first, step = study.first.case.slope("ttft", "prompt"), study.first.case.slope("itl", "prompt")
    agree(first * 1000, "0.0325")
    agree(256 * step * 1000, "0.0447")
    assert 185 * step < first < 186 * step


def test_intensity_of_an_endless_batch():
    """AI(B -> infinity) = (2P + aS)/(kappa S) = 112.3 at 4096, below the ridge."""
    agree(Study(**RIDGE, context=4096, batch=10**12).value("decode_intensity"), "112.3")
    agree(Fraction(2 * P70 + CORE70 * 4096, KAPPA70 * 4096), "112.3")


@pytest.mark.parametrize(("batch", "compute"), [(295, False), (296, True), (100_000, True)])
def test_operator_by_operator_linear_layers_reach_the_ridge_and_attention_never(batch, compute):
    """At 4096, where the step as a whole never does."""
    study = Study(**RIDGE, context=4096, batch=batch)
    case = study.first.case
    ridge = study.value("ridge_point")
    intensity = {
        o.name: Fraction(case.evaluate(o.flops)) / Fraction(case.evaluate(o.bytes))
        for o in case.theory.operators["decode"]
    }
    assert set(intensity) == {"linear", "attention"}
    assert (intensity["linear"] > ridge) is compute
    assert intensity["attention"] == 8 < ridge


def test_reaching_the_ridge_needs_memory_that_is_not_there():
    """The essay's batch of about 295: 140 GB of weights do not fit one device with any batch, and the solution says so."""
    assert Study(**RIDGE, context=1024).solve("batch_to_ridge").within_memory is False
    assert (
        Study(**B8, **H100, context=256, prompt=256, assume=ATTENTION)
        .solve("batch_to_ridge")
        .within_memory
        is True
    )
