"""Thresholds and crossings of systems 4, 9, 11, 19, 26-29, 33, 34, 37, 40, 44, 49 and of the tutorial's exercises 2 and 3."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..tables import table
from . import ATTENTION, B8, B70, H100, H100_989, KV, WEIGHTS, agree, case_of

R = Fraction(989_000, 3350)
R_EXACT = Fraction(989_400, 3350)
DEVICE = {"peak_flops": "989 TFLOP/s", "mem_bandwidth": "3.35 TB/s"}
P70, KAPPA70, CORE70 = 70 * 10**9, 327_680, 2_621_440
P8, KAPPA8, CORE8 = 8_030_000_000, 131_072, 524_288
PAIRS70 = P70 / (80 * 64 * 128)
"""Tokens at which L H d_h S is P."""
LINEAR = {"params": P70, **DEVICE, "assume": WEIGHTS}
TARGET = {**B70, **H100_989, "mfu": 0.5, "assume": WEIGHTS}
END = {**B70, **H100, "prompt": 4096, "assume": WEIGHTS}
ON70 = {**B70, **H100, "assume": KV}
RIDGE, RIDGE8 = ({**model, **H100, "assume": ATTENTION} for model in (B70, B8))
THREE = {**B8, **H100_989}
HALF = {**THREE, "mfu": 0.5}
TAX, BIG_TAX = ({"prefill_overhead": "0 s", "layer_overhead": f"{t} ms"} for t in (0.01, 0.1))
TOOL = {"preset": "tutorial-mlsysim", "model": "llama-3-8b", **H100}
TWO = {**B70, **H100, "tp": 2, "batch": 8, "prompt": 4096, "output": 512}
# Exact counting: matrices and head for 2P, and R times the activations of a token off it
MATRICES70, HEAD70 = 80 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672), 8192 * 128_256
TOKEN70 = 2 * (80 * (8192 * 7 + 10_240 + 57_344 + 28_672) + 8192 + 128_256)
WORK70 = 2 * (MATRICES70 + HEAD70)
EXACT70 = {"model": "llama-3-70b", **H100}
MATRICES, HEAD = 6_979_321_856, 4096 * 128_256


def square(width):
    """n* = b R d/(2(d - bR)) with b = 2, where a square product of width d reaches the ridge."""
    return 2 * R * width / (2 * (width - 2 * R))


def ridge_batch(params, kappa, core, context):
    """B* = R W/(2P + aS - R kappa S), two-byte weights."""
    return R_EXACT * 2 * params / (2 * params + core * context - R_EXACT * kappa * context)


def reached_rows(inner, outer, ridge=R_EXACT):
    """Rows at which a k by n product of two-byte numbers reaches the ridge: 2 m k n = R (2 k n + 2 m (k + n))."""
    return 2 * ridge * inner * outer / (2 * inner * outer - 2 * ridge * (inner + outer))


TABLE = """
batch_to_ridge  | = R   | >= 296 | LINEAR
prompt_to_ridge | = R   | >= 296 | LINEAR
prompt_to_ridge | = R/2 | >= 148 | LINEAR mfu=0.5
gemm_intensity = ridge_point for gemm_m | = square(4096) | >= 345 | DEVICE gemm_k=4096 gemm_n=4096
# d <= b R: a narrow product never gets there, its intensity ends at d/b
gemm_rows_to_ridge | lhs_below | - | DEVICE gemm_k=512 gemm_n=512
# L H d_h (S + 1)/P = 1: one token earlier than the 106,812 that S^2 for S(S + 1) gives
attention_equals_linear | = PAIRS70 - 1   | >= 106811 | B70 detail=attention
attention_equals_linear | = PAIRS70/2     | >= 53406  | B70 detail=attention attention=full
attention_reaches_share | = PAIRS70/4 - 1 | >= 26702  | B70 detail=attention attention_share='25 %'
max_prompt_ttft | = 989_000/(4*70) | <= 3532 | TARGET ttft_target='1 s'
# N* = 1 + 2 S eta_m/(b_w R eta_c), whatever P
output_decode_exceeds_ttft | = 1 + 4096/R_EXACT | >= 15 | END
output_decode_exceeds_ttft | = 1 + 4096/R_EXACT | >= 15 | END params=8_030_000_000
output_decode_exceeds_ttft | = 1 + 4096*0.8/(R_EXACT*0.5) | >= 24 | END mfu=0.5 mbu=0.8
min_devices_memory | = (2*P8 + KAPPA8)/(80*10**9) | >= 1 | B8 H100 prompt=1
min_devices_memory | - | >= 4 | B70 H100 prompt=65536
max_batch_memory   | = (80*10**9 - 2*P8)/(KAPPA8*2048) | <= 238 | B8 H100 prompt=2048
max_batch_memory   | = 20*10**9/(KAPPA70*4608) | <= 13 | B70 H100 tp=2 prompt=4608
max_context_memory | = (80*10**9 - 2*P8)/(8*KAPPA8) | <= 60977 | B8 H100 prompt=1 batch=8
# B*, to the last context that has one: S < 2P/(R kappa - a) where all are counted
batch_to_ridge | = ridge_batch(P70, KAPPA70, CORE70, 1)    | >= 296    | RIDGE context=1
batch_to_ridge | = ridge_batch(P70, KAPPA70, CORE70, 1024) | >= 949    | RIDGE context=1024
batch_to_ridge | = ridge_batch(P70, KAPPA70, CORE70, 1486) | >= 496839 | RIDGE context=1486
batch_to_ridge | = ridge_batch(P8, KAPPA8, CORE8, 420)     | >= 220797 | RIDGE8 context=420
batch_to_ridge | lhs_below | - | RIDGE8 context=421
context_beyond_ridge | = 2*P70/(R_EXACT*KAPPA70 - CORE70) | <= 1486 | RIDGE
context_beyond_ridge | = 2*P8/(R_EXACT*KAPPA8 - CORE8)    | <= 420  | RIDGE8
context_beyond_ridge | = 2*P70/(R_EXACT*KAPPA70)          | <= 1446 | ON70
context_beyond_ridge | = (WORK70 - R_EXACT*TOKEN70)/(R_EXACT*KAPPA70 - CORE70) | <= 1398 | EXACT70
context_beyond_ridge | = WORK70/(R_EXACT*KAPPA70 - CORE70) | <= 1476 | EXACT70 activations=off
context_beyond_ridge | = (WORK70/R_EXACT - TOKEN70)/KAPPA70 | <= 1360 | EXACT70 attention_flops=off
# exercise 3: S where TTFT = 256 ITL, swept from 128 to 32,768, with a tax of 0.32 and of 3.2 ms
ttft = 256*itl for prompt | = 128*R  | >= 37789 | HALF detail=weights
ttft = 256*itl for prompt | 75,577   | >= 75578 | THREE detail=weights
ttft = 256*itl for prompt | 54,640   | >= 54641 | HALF detail=kv
ttft = 256*itl for prompt | 58,287   | >= 58288 | HALF TAX detail=kv
ttft = 256*itl for prompt | 91,112   | >= 91113 | HALF BIG_TAX detail=kv
ttft = 256*itl for prompt | 25,041   | >= 25042 | HALF detail=attention attention=full
ttft = 256*itl for prompt | 26,109   | >= 26110 | HALF TAX detail=attention attention=full
# with S(S + 1) for S^2 the causal crossing lies half a token lower
ttft = 256*itl for prompt | 31,387.5 | >= 31388 | HALF detail=attention
ttft = 256*itl for prompt | lhs_below | - | TOOL
ttft = 186*itl for prompt | lhs_below | - | TOOL
prompt_ttft_exceeds_decode | 14,614 | >= 14614 | HALF output=100 detail=weights
# operators by themselves; grouped queries do 8 FLOP a cached byte at any batch
batch_to_ridge.gate_up | = reached_rows(8192, 2*28_672) | >= 309 | EXACT70 context=4096
batch_to_ridge.down    | = reached_rows(28_672, 8192)   | >= 310 | EXACT70 context=4096
batch_to_ridge.qkv     | = reached_rows(8192, 80*128)   | >= 316 | EXACT70 context=4096
batch_to_ridge.lm_head | = reached_rows(8192, 128_256)  | >= 308 | EXACT70 context=4096
batch_to_ridge.linear  | = R_EXACT | >= 296 | ON70 context=100_000
prompt_to_ridge.gate_up | = reached_rows(8192, 2*28_672) | >= 309 | EXACT70
batch_to_ridge.gate_up | = reached_rows(8192, 2*28_672, R_EXACT/2) | >= 151 | EXACT70 mfu=0.5
batch_to_ridge.attention | lhs_below | - | EXACT70 context=4096 detail=kv attention_flops=on
# widths: 2 P B/F = P b B'/BW; 2 P B = R (2 P + kappa' C B), kappa' = kappa b/2
weight_width_stops_helping | = 64/R_EXACT | - | END batch=32 prompt=1
cache_width_stops_helping | = P70*(512/R_EXACT - 1)/KAPPA70/2**17 | - | ON70 batch=512 context=1024
max_weight_width_memory | = (160*10**9 - 8*KAPPA70*4607)/P70 | - | TWO
min_capacity_memory | = P70 + 4*KAPPA70*4607 | - | TWO
max_prompt_memory | = 20*10**9/(8*KAPPA70) - 511 | <= 7118 | TWO
max_context_itl | = (167.5e9 - 2*P70)/(8*KAPPA70) | <= 10490 | END batch=8 itl_target=0.05 detail=kv
context_kv_equals_weights | = 2*P70/(8*KAPPA70) | >= 53406 | B70 batch=8
# chunks: C + B <= T F/(2P); drafts: B(g + 1) <= b_w R/2
max_chunk_itl | - | <= 53 | B70 H100 batch=300 itl_target=0.05 detail=weights
free_chunk    | lhs_above | - | END prompt=1 batch=300
batch_verify_ridge | = R_EXACT/2 | <= 147 | END draft_tokens=1
batch_verify_ridge | = R_EXACT/8 | <= 36  | END draft_tokens=7
"""


@pytest.mark.parametrize(("equation", "value", "whole", "case"), table(TABLE))
def test_threshold(equation, value, whole, case):
    equation, _, unknown = equation.partition(" for ")
    name, _, operator = equation.partition(".")
    if operator:  # of a step
        step, unknown = {"batch": ("decode", "batch"), "promp": ("prefill", "prompt")}[name[:5]]
        equation = f"{step}_compute_time.{operator} = {step}_memory_time.{operator}"
    solution = Study(**case_of(case, globals())).solve(equation, for_=unknown or None)
    if value in ("lhs_below", "lhs_above"):
        assert (solution.verdict, solution.value, solution.integer) == (value, None, None)
        return
    assert solution.verdict == "crosses"
    if value != "-":
        agree(solution.value, eval(value[1:]) if value[0] == "=" else value, equation)
    side, _, number = whole.partition(" ")
    ways = {">=": "at_least", "<=": "at_most"}
    assert solution.integer == ({ways[side]: int(number)} if number else None)


@pytest.mark.parametrize(
    ("switches", "last"),
    [({}, 1398), ({"activations": "off"}, 1476), ({"attention_flops": "off"}, 1360)],
)
def test_last_context_with_a_ridge_batch(switches, last):
    """What ``context_beyond_ridge`` must say, seen from the other side: the batch exists there and no longer one token on."""
    verdicts = [
        Study(**EXACT70, context=context, assume=switches).solve("batch_to_ridge").verdict
        for context in (last, last + 1)
    ]
    assert verdicts == ["crosses", "lhs_below"]


# "Exact" of exercise 3, by hand: causal attention, head once, matrices of 8B, cache growing over 255 steps
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
    overhead = {"layer_overhead": f"{float(tax) / 32 * 1000} ms", "prefill_overhead": "0 s"}
    work = {"mfu": float(mfu), "mbu": float(mbu), "output": 256}
    study = Study(**THREE, **work, assume={"activations": "off"}, **overhead)
    solution = study.solve("prompt_ttft_exceeds_decode")
    assert solution.verdict == "crosses"
    assert solution.integer == {"at_least": prompt}


def test_root_of_the_tool_needs_fewer_outputs():
    """Per prompt token its TTFT grows by 0.0325 ms and 256 ITL by 0.0447 ms; they can only meet for N < 186."""
    study = Study(preset="tutorial-mlsysim", model="llama-3-8b", **H100, prompt=2048)
    first, step = study.first.case.slope("ttft", "prompt"), study.first.case.slope("itl", "prompt")
    agree(first * 1000, "0.0325")
    agree(256 * step * 1000, "0.0447")
    assert 185 * step < first < 186 * step


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
