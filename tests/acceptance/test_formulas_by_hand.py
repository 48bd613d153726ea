"""Formulas of one request and one step, written out by hand (systems 1-36, 50-57)."""

from fractions import Fraction

import pytest
import sympy

from symroof.api import Study

from ..near import near
from . import B8, B70, H100, H100_989, KV, TUTORIAL, check, rows

DEVICE = {"peak_flops": "989 TFLOP/s", "mem_bandwidth": "3.35 TB/s"}
WIDTHS = {"weights": "int4", "kv": "fp8", "activations": "fp16"}
LAYERS_8B = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
"""Matrices of 32 layers: queries and outputs d*d, keys and values d*1024, three of d*14336."""
HEAD_8B, HEAD_70B = 4096 * 128_256, 8192 * 128_256
CORE_8B = 4 * 32 * 32 * 128
"""FLOPs of a query-key pair: 4*L*H*d_h."""
LAYERS_70B = 80 * (2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672)
RATE = 3350 * 10**9
W8, KAPPA8 = 16_060_000_000, 131_072
"""Bytes of the 8B's weights and of a token of its cache, 16 bits each."""
W70, KAPPA70 = 140 * 10**9, 327_680
HALF_8B = {**B8, **H100_989, "mfu": 0.5}
EXACT_8B = {**HALF_8B, "prompt": 2048}
RESPONSE = {**B8, **H100_989, "prompt": 4000, "output": 100, "assume": KV}
"""99 steps of W + kappa*(4000 + j)."""
BACK = {**B70, **H100, "prompt": 4096, "mfu": 0.5, "assume": {"detail": "weights"}}
PREFIX = {**HALF_8B, "prompt": 2100, "cached_prefix": 2000}
ON = {**B70, **H100, "assume": {"detail": "weights"}}
LAUNCHED = {**ON, "kernel_launch": "10 us", "kernels_per_layer": 60}
WIDE = {"model": "llama-3-8b", **H100, "prompt": 2048, "batch": 16, "elementwise_bytes": 100}
ONE = Fraction(100 * 32 * 4096, RATE)
"""Seconds of a token between operators: 100 bytes for each of 4,096 elements in 32 layers."""
TAXED = {**TUTORIAL, **H100, "prompt": 2048}
STEP = Fraction(140, 3350)
PRICED = {**ON, "price": "1 USD/hour"}
LOADED = {**PRICED, "prompt": 4096, "output": 256, "batch": 64, "chunk": 512}
TURN = (4096 + 255) * Fraction(2 * 70, 989_400)
"""Seconds of the device for one response where compute limits every step: its tokens, once each."""

ROOFLINE = rows(
    globals(),
    """
elasticity attainable_flops intensity | = 1 | DEVICE intensity=256
elasticity attainable_flops intensity | = 0 | DEVICE intensity=512
prefill_roofline_time | = W70/RATE | DEVICE params=70e9 prompt=256 detail=weights
prefill_roofline_time | = 2*70*512/989_000 | DEVICE params=70e9 prompt=512 detail=weights
ridge_point     | 591    | H100 weights=fp8 activations=fp8
effective_ridge | 147.6  | DEVICE mfu=0.5
decode_mfu | = 4/80 | params=70e9 weights=int4 peak_flops=8e13 mem_bandwidth=1e12 detail=weights
# towards d/b with many tokens, 2S/b_w with tiny activations; 2Smn/(b_w mn + b_a S(m + n))
gemm_intensity | 2,048    | gemm_m=100_000_000 gemm_k=4096 gemm_n=4096
gemm_intensity | 2,048.00 | gemm_m=2048 gemm_k=4096 gemm_n=4096 act_bytes_per_element=1e-9
gemm_intensity | = 128/(1 + 128/14_336 + 128/4096) | gemm_m=64 gemm_k=4096 gemm_n=14336 weights=int8
peak_flops | 989.4 TFLOP/s | H100 weights=int8 activations=fp16
weight_bytes_per_param    | = 1/2  | WIDTHS
kv_bytes_per_element      | = 1    | WIDTHS
act_bytes_per_element     | = 2    | WIDTHS
# bits/8 + scale_bits/(8*group)
quantized_bytes_per_param | = 9/16 | weight_bits='4 bit' scale_bits='16 bit' scale_group=32
quantized_bytes_per_param | = 1/2  | weight_bits='4 bit'
""",
)
PREFILL = rows(
    globals(),
    """
linear_flops_per_token   | = 2*LAYERS_8B  | model=llama-3-8b
linear_flops_per_token   | = 2*LAYERS_70B | model=llama-3-70b
head_flops_per_row       | = 2*HEAD_70B   | model=llama-3-70b
attention_flops_per_pair | = 2_621_440    | B70
logit_bytes              | = 2*128_256    | B8 prompt=2048
prefill_flops | = 2*LAYERS_8B*2048 + 2*HEAD_8B + CORE_8B*2048*2049//2 | EXACT_8B
prefill_flops | = 2*LAYERS_8B*2048 + 2*HEAD_8B + CORE_8B*2048*2048 | EXACT_8B attention=full
prefill_compute_time | = 2 | B8 H100_989 prompt=2048 mfu=0.5 detail=weights over:mfu=1
# 2*70e9*3532/(0.5*989e12) s; a step's fixed costs are the dispatch unless it is given
ttft | = 7.064*70/494.5 + 0.025 | BACK DEVICE prompt=3532 queue_time='20 ms' prefill_overhead='5 ms'
ttft | = 7.064*70/494.5 + 0.083 | BACK DEVICE prompt=3532 step_overhead='3 ms' layer_overhead='1 ms'
# 2P/(eta_c F); with attention d/dS of 2PS + 2 L H d_h S(S + 1); nothing where memory binds
slope ttft prompt | = W8/494.5e12 | EXACT_8B detail=weights
slope ttft prompt | = (W8 + CORE_8B*4097/2)/494.5e12 | EXACT_8B detail=attention
slope ttft prompt | = 0 | EXACT_8B prompt=50 detail=weights
# a cached prefix: memory holds the whole prompt; 147.6 new tokens at MFU 0.5 are the edge of memory
kv_cache_bytes | = 2100*KAPPA8 | PREFIX
expected_ttft  | = (W8/RATE + W8*2100/494.5e12)/2 | PREFIX hit_rate=0.5 detail=weights
""",
)
DECODE = rows(
    globals(),
    """
decode_flops | = 32*(140*10**9 + 2_621_440*4608) | B70 context=4608 batch=32 detail=attention
decode_bytes | = W70 + 32*4608*KAPPA70 | B70 context=4608 batch=32 detail=attention
decode_memory_time | = 5/4 | B8 H100_989 mbu=0.8 detail=weights over:mbu=1
slope itl context | = KAPPA70/RATE | B70 H100 context=4608 detail=kv
slope itl batch   | = KAPPA70*4096/RATE | B70 H100 context=4096 detail=kv
decode_time | = (99*W8 + KAPPA8*(99*4000 + 99*100//2))/RATE | RESPONSE
itl_first   | = (W8 + KAPPA8*4001)/RATE | RESPONSE
itl_last    | = (W8 + KAPPA8*4099)/RATE | RESPONSE
tpot        | = (W8 + KAPPA8*4050)/RATE | RESPONSE
decode_time / (255*itl) | 1.004 | TAXED output=256 | the tutorial counts N steps
attention_intensity  | = 16    | B70 kv=fp8
response_time        | = 2*70*4096/989_400 + 255*STEP | ON prompt=4096 output=256
prefill_decode_ratio | 295.3   | B8 H100 prompt=4096 detail=weights | independent of P
sampling_flops       | = 5*128_256 | B70
# of what a step multiplies: the gathered input table is not
head_share | = HEAD_8B/(LAYERS_8B + HEAD_8B) | model=llama-3-8b prompt=1 attention_flops=off
""",
)
MEMORY = rows(
    globals(),
    """
kv_cache_bytes | = 5*2**28 | B70 prompt=4096
kv_cache_bytes | = 2*80*8*128*4096*32 | B70 prompt=4096 batch=32 kv=fp8
kv_cache_bytes | = 1/64 | B70 n_kv_heads=1 prompt=4096 over:n_kv_heads=64
itl | = (W70 + 2**17*KAPPA70)/(W70 + 2**16*KAPPA70) | ON batch=32 prompt=4096 detail=kv over:kv=fp8
fits        | = False  | B70 H100 prompt=4096
fits        | = True   | B70 H100 prompt=4096 tp=2
fits        | = False  | TUTORIAL hardware=t4 prompt=4096
fits        | = False  | B70 hardware=rtx-4090 weights=int4 prompt=1
fits        | = True   | B70 hardware=m2-ultra weights=int4 prompt=1
concurrency | = 0      | B70 H100 prompt=4608
concurrency | = 13     | B70 H100 prompt=4608 tp=2
concurrency | = 238    | B8 H100 prompt=2048
concurrency | = 2*238  | B8 H100 prompt=2048 kv=fp8
# each device's reserve, and the response
free_memory | = 16*10**9 - 4607*KAPPA70 | B70 H100 prompt=4096 output=512 tp=2 memory_reserve='2 GB'
memory_utilization | = (W8 + 2048*KAPPA8)/(81_559*2**20) | B8 prompt=2048 hardware=h100-sxm
recompute_time | = 2*70*4096/494_700 | BACK
swap_time      | = 4096*KAPPA70/(64*10**9) | BACK
# a preemption every ten seconds costs the cheaper way
preemption_overhead | = 4096*KAPPA70/(640*10**9) | BACK preemption_rate=0.1
preemption_overhead | = 2*70*4096/4_947_000 | BACK preemption_rate=0.1 host_bandwidth='1 GB/s'
solve min_host_bandwidth_swap | = KAPPA70*494.7e12/140e9 | BACK
itl | = (70*10**9 + 4096*KAPPA70)/RATE | B70 H100 weights=int8 prompt=4096 detail=kv
prefill_time | = 1 | ON weights=int4 activations=fp16 prompt=4096 over:weights=fp16
# blocks of 16: one token short of the edge, on it, past it
kv_reserved_bytes | = 1008*KAPPA8 | B8 prompt=1007 output=1 kv_reserve=paged
kv_reserved_bytes | = 1008*KAPPA8 | B8 prompt=1008 output=1 kv_reserve=paged
kv_reserved_bytes | = 1024*KAPPA8 | B8 prompt=1009 output=1 kv_reserve=paged
""",
)
OVERHEADS = rows(
    globals(),
    """
itl | = STEP + 0.004 | LAUNCHED kernel_launch='5 us' kernels_per_layer=10 | launches are added
itl | = STEP         | LAUNCHED kernels_per_layer=10 launches=hidden | ahead of the device: hidden
itl | = 0.048        | LAUNCHED launches=hidden | ahead of the device, and too many
itl | = STEP + 1e-5  | LAUNCHED launches=graph | one launch
decode_overhead  | = 16*ONE    | WIDE
prefill_overhead | = 2048*ONE  | WIDE
decode_vector_elements | = 16*32*4096 | WIDE
decode_overhead  | = 16*ONE    | WIDE tp=4 | every device of a group repeats it
decode_overhead  | = 4*ONE     | WIDE pp=4 | a quarter of layers and requests, four times
decode_overhead  | = 2*ONE     | WIDE attention_dp=8
decode_overhead  | = 0         | WIDE elementwise_bytes=0
decode_overhead | = 16*ONE + 33e-5 | WIDE layer_overhead=1e-5 kernel_launch=1e-5 launches=graph
elasticity itl mem_bandwidth | -0.617 | TAXED
elasticity itl mem_bandwidth | = -1   | TAXED layer_overhead=0
prefill_mfu      | = 1/2       | TAXED
""",
)
MONEY = rows(
    globals(),
    """
decode_cost_per_mtok | = 2e6/3600*(STEP + 16_384/450e9) | PRICED pp=2
instance_price       | = 8/3600 | PRICED tp=4 pp=2
decode_throughput_per_device | = 16/(STEP + 16_384*16/450e9) | ON batch=32 pp=2
cost_per_mtok_input  | = 1e6/3600*2*70/989_400 | PRICED prompt=4096
# prompts fill every step up to 512 tokens, which is limited by compute: 4,351 of them a response
cost_per_request     | = TURN/3600 | LOADED
cost_per_mtok        | = 1e6/3600*TURN/256 | LOADED
energy_per_request   | = 700*TURN | LOADED
energy_per_token     | = 700*TURN/256 | LOADED
elasticity ttft peak_flops    | = -1 | ON prompt=4096
elasticity ttft mem_bandwidth | = 0  | ON prompt=4096
elasticity itl mem_bandwidth  | = -1 | ON
elasticity itl peak_flops     | = 0  | ON
""",
)


@pytest.mark.parametrize("case", [*ROOFLINE, *PREFILL, *DECODE, *MEMORY, *OVERHEADS, *MONEY])
def test_row(case):
    check(case)


def test_first_order_intensity_is_the_limit_of_no_activations():
    """2S/b_w when b_a -> 0 and d/b when S -> infinity, as limits of the derived formula."""
    formula = Study().derive("gemm_intensity").expanded
    named = {symbol.name: symbol for symbol in formula.free_symbols}
    m, k, n = (named[f"gemm_{side}"] for side in "mkn")
    weight, activation = named["weight_bytes_per_param"], named["act_bytes_per_element"]
    assert sympy.simplify(formula.subs(activation, 0) - 2 * m / weight) == 0
    square = formula.subs({n: k, activation: weight})
    assert sympy.simplify(sympy.limit(square, m, sympy.oo) - k / weight) == 0


def test_a_precision_fallback_is_a_warning():
    """Hopper has no INT4 tensor rate: two 4-bit operands compute at 16 bits, and the case says so."""
    study = Study(**H100, weights="int4", activations="int4")
    assert any("int4" in warning for warning in study.first.warnings)
    assert study.value("peak_flops") == 989_400 * 10**9


def test_score_traffic_of_the_70b():
    """Scores and probabilities are two S^2 matrices of 16 bits, each written and read: 4 L H S^2 b."""
    unfused, flash = (
        Study(**B70, **H100, prompt=4096, assume={"attention": "full", "fusion": fusion})
        for fusion in ("unfused", "flash")
    )
    both = 4 * 80 * 64 * 4096**2 * 2
    assert (unfused.value("score_traffic"), flash.value("score_traffic")) == (both, 0)
    assert unfused.value("prefill_bytes") - flash.value("prefill_bytes") == both


def test_from_this_cached_prefix_on_memory_binds():
    """147.6 new tokens at MFU 0.5 are the ridge."""
    study = Study(**{**PREFIX, "cached_prefix": 0}, assume={"detail": "weights"})
    assert study.solve("cached_prefix_memory_bound").integer == {"at_least": 1953}


def test_a_latency_that_does_not_fit_is_flagged():
    flags = [Study(**ON, prompt=4096, tp=tp).result("itl").flags for tp in (1, 2)]
    assert flags == [("does_not_fit",), ()]


def test_ledger_lists_what_defaults_to_nothing():
    """An input left at its default is zero and reported so."""
    study = Study(**B70, **H100, prompt=4096)
    reserve = study.first.inputs(("memory_bytes",))["memory_reserve"]
    assert reserve.defaulted
    assert reserve.value == 0
    for name in ("step_overhead", "layer_overhead", "queue_time", "mfu", "mbu"):
        assert study.first.inputs(("ttft", "itl"))[name].defaulted
    assert study.first.assumptions.defaulted("activations")


def test_four_parts_of_memory():
    """Weights, cache, activations and the runtime's own; the last two are unknown and stand in the reserve."""
    study = Study(**B8, **H100, prompt=2048, memory_reserve="activation_memory + 2 GB")
    widest = 2048 * (2 * 4096 + 2 * 14_336) * 2
    assert study.value("activation_memory") == widest
    assert study.value("memory_bytes") == W8 + 2048 * KAPPA8 + widest + 2 * 10**9


def test_latency_is_ttft_and_the_steps():
    """Total latency TTFT + (N - 1) TPOT; TPOT is the mean step and lies between the first and the last."""
    study = Study(**RESPONSE)
    assert study.value("response_time") == study.value("ttft") + 99 * study.value("tpot")
    assert study.value("itl_first") < study.value("tpot") < study.value("itl_last")


def test_break_even_price_is_a_closed_form():
    """Price over price as rate over rate, a device."""
    rates = {"decode_throughput": "3000 token/s", "rival_throughput": "1000 token/s"}
    study = Study(tp=2, rival_price="2 USD/hour", **rates)
    assert study.solve("break_even_price").value == near(Fraction(3, 3600))
    assert study.value("break_even_ratio") == near(1.5)
