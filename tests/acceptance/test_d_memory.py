"""KV cache and memory: size, grouped heads, cache precision, budget, concurrency, length, preemption, loading, the ledger (systems 12, 23-32)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from . import B8, B70, H100, KV, TUTORIAL, WEIGHTS, agree, check, row

SIZE = [
    row("70B at 4096", "kv_cache_bytes", "1.342 GB", **B70, prompt=4096),
    row("70B at 4096 is exactly 1.25 GiB", "kv_cache_bytes", 5 * 2**28, **B70, prompt=4096),
    row("8B at 2048", "kv_cache_bytes", "0.268 GB", **B8, prompt=2048),
    row("a token, 70B", "kv_bytes_per_token", 327_680, **B70),
    row("a token, 8B", "kv_bytes_per_token", 131_072, **B8),
    row("a token, 70B, fp8", "kv_bytes_per_token", 163_840, **B70, kv="fp8"),
    row(
        "2 L H_kv d_h S B b_kv",
        "kv_cache_bytes",
        2 * 80 * 8 * 128 * 4096 * 32 * 1,
        **B70,
        prompt=4096,
        batch=32,
        kv="fp8",
    ),
]

GROUPED = [
    row(
        "70B without grouped heads at 4096",
        "kv_cache_bytes",
        "10.74 GB",
        **B70,
        n_kv_heads=64,
        prompt=4096,
    ),
    row(
        "without grouped heads: H/H_kv times as much",
        "kv_cache_bytes",
        8,
        {"n_kv_heads": 8},
        **B70,
        n_kv_heads=64,
        prompt=4096,
    ),
    row(
        "multi-query: 1/H of multi-head",
        "kv_cache_bytes",
        Fraction(1, 64),
        {"n_kv_heads": 64},
        **B70,
        n_kv_heads=1,
        prompt=4096,
    ),
]

QUANTIZED_CACHE = [
    row(
        "batch 1 at 4096: hardly any faster",
        "itl",
        "1.005 x",
        {"kv": "fp8"},
        **B70,
        **H100,
        prompt=4096,
        kv="fp16",
        assume=KV,
    ),
    row(
        "(W + B S k)/(W + B S k b'/b), batch 32",
        "itl",
        Fraction(140 * 10**9 + 32 * 4096 * 327_680, 140 * 10**9 + 32 * 4096 * 163_840),
        {"kv": "fp8"},
        **B70,
        **H100,
        prompt=4096,
        batch=32,
        kv="fp16",
        assume=KV,
    ),
    row(
        "--kv-cache-dtype fp8 halves a token",
        "kv_bytes_per_token",
        Fraction(1, 2),
        {"kv": "fp16"},
        **B70,
        kv="fp8",
    ),
    row("and doubles how many fit", "concurrency", 2 * 238, **B8, **H100, prompt=2048, kv="fp8"),
]


def left(study):
    """What is left of memory beside the weights."""
    return study.value("usable_memory") - study.value("weight_bytes")


UTILISATION = {"prompt": 2048, "hardware": "h100-sxm"}
BUDGET = [
    row("80 - 30 GB, the essay", left, "50 GB", weight_bytes="30 GB", mem_capacity="80 GB"),
    row("80 - 140 GB", left, "-60 GB", **B70, **H100),
    row("int4 70B", left, "45 GB", **B70, **H100, weights="int4"),
    row("fp8 70B", left, "10 GB", **B70, **H100, weights="fp8"),
    row("fp16 70B on two", left, "20 GB", **B70, **H100, tp=2),
    row("fp16 70B does not fit one", "fits", False, **B70, **H100, prompt=4096),
    row("fp16 70B fits two", "fits", True, **B70, **H100, prompt=4096, tp=2),
    row(
        "free memory counts the cache",
        "free_memory",
        20 * 10**9 - 4096 * 327_680,
        **B70,
        **H100,
        prompt=4096,
        tp=2,
    ),
    row(
        "free memory is negative where it does not fit",
        "free_memory",
        -60 * 10**9 - 4096 * 327_680,
        **B70,
        **H100,
        prompt=4096,
    ),
    row(
        "free memory counts each device's reserve and the response",
        "free_memory",
        20 * 10**9 - 2 * 2 * 10**9 - (4096 + 511) * 327_680,
        **B70,
        **H100,
        prompt=4096,
        output=512,
        tp=2,
        memory_reserve="2 GB",
    ),
    row(
        "utilisation with the tutorial's cache, of 80 GiB",
        "memory_utilization",
        "20.1 %",
        **TUTORIAL,
        **UTILISATION,
    ),
    row(
        "utilisation with the true cache, of 80 GB",
        "memory_utilization",
        "20.4 %",
        **B8,
        **UTILISATION,
        mem_capacity="80 GB",
    ),
    row(
        "of the 81,559 MiB that the driver reports",
        "memory_utilization",
        Fraction(16_060_000_000 + 2048 * 131_072, 81_559 * 2**20),
        **B8,
        **UTILISATION,
    ),
    row(
        "the tutorial's 20.1 % is no 80 GB",
        "memory_utilization",
        "21.6 %",
        **TUTORIAL,
        **UTILISATION,
        mem_capacity="80 GB",
    ),
    row(
        "35 GB on a 24 GB card", "fits", False, **B70, hardware="rtx-4090", weights="int4", prompt=1
    ),
    row(
        "35 GB on an 80 GB card",
        "fits",
        True,
        **B70,
        hardware="a100-80gb-sxm",
        weights="int4",
        prompt=1,
    ),
    row(
        "fp16 8B with the tutorial's cache on a T4",
        "fits",
        False,
        **TUTORIAL,
        hardware="t4",
        prompt=4096,
    ),
]

CONCURRENCY = [
    *(
        row(f"8B at {prompt}", "concurrency", count, **B8, **H100, prompt=prompt)
        for prompt, count in ((2048, 238), (4096, 119), (8192, 59), (32_768, 14), (131_072, 3))
    ),
    row("70B fp16 on two at 4608", "concurrency", 13, **B70, **H100, tp=2, prompt=4608),
    row("70B int4 on one at 4608", "concurrency", 29, **B70, **H100, weights="int4", prompt=4608),
    row("70B fp16 on one: none", "concurrency", 0, **B70, **H100, prompt=4608),
    row(
        "the essay's 26 needs 40 GB of free memory",
        "concurrency",
        26,
        **B70,
        mem_capacity="180 GB",
        prompt=4608,
    ),
    row(
        "--max-num-seqs 256 at 4096 with an fp8 cache",
        "kv_cache_bytes",
        "171.8 GB",
        **B70,
        prompt=4096,
        batch=256,
        kv="fp8",
    ),
    row("the last request fits", "fits", True, **B8, **H100, prompt=2048, batch=238),
    row("one more does not", "fits", False, **B8, **H100, prompt=2048, batch=239),
]

LENGTH = [
    *(
        row(
            f"8B, batch {batch}: {prompt} tokens each {'fit' if fits else 'do not'}",
            "fits",
            fits,
            **B8,
            **H100,
            batch=batch,
            prompt=prompt,
        )
        for batch, longest in ((1, 487_823), (8, 60_977), (32, 15_244), (64, 7_622))
        for prompt, fits in ((longest, True), (longest + 1, False))
    ),
    row("70B at 128K", "kv_cache_bytes", "42.9 GB", **B70, prompt=131_072),
    row("70B at 32K", "kv_cache_bytes", "10.7 GB", **B70, prompt=32_768),
]


def cache_exceeds_weights(study):
    return study.value("kv_cache_bytes") > study.value("weight_bytes")


RIVAL = [
    *(
        row(f"{what}: {'above' if above else 'below'}", cache_exceeds_weights, above, **case)
        for what, case, above in (
            ("70B, 427,246 tokens", {**B70, "prompt": 427_246}, False),
            ("70B, 427,247 tokens", {**B70, "prompt": 427_247}, True),
            ("70B, 104 requests of 4k", {**B70, "prompt": 4096, "batch": 104}, False),
            ("70B, 105 requests of 4k", {**B70, "prompt": 4096, "batch": 105}, True),
            ("70B, 13 requests of 32k", {**B70, "prompt": 32_768, "batch": 13}, False),
            ("70B, 14 requests of 32k", {**B70, "prompt": 32_768, "batch": 14}, True),
            ("8B, 122,528 tokens", {**B8, "prompt": 122_528}, False),
            ("8B, 122,529 tokens", {**B8, "prompt": 122_529}, True),
        )
    ),
]

LOADING = [row("140 GB at 7 GB/s", "load_time", 20, **B70, disk_bandwidth="7 GB/s")]

BACK = {**B70, **H100, "prompt": 4096, "mfu": 0.5, "assume": WEIGHTS}
PREEMPTION = [
    row("computed anew", "recompute_time", Fraction(2 * 70 * 4096, 494_700), **BACK),
    row("brought back over 64 GB/s", "swap_time", Fraction(4096 * 327_680, 64 * 10**9), **BACK),
    row(
        "a preemption every ten seconds: the cheaper way",
        "preemption_overhead",
        Fraction(4096 * 327_680, 640 * 10**9),
        **BACK,
        preemption_rate="0.1/s",
    ),
    row(
        "the cheaper way over 1 GB/s",
        "preemption_overhead",
        Fraction(2 * 70 * 4096, 4_947_000),
        **BACK,
        preemption_rate="0.1/s",
        host_bandwidth="1 GB/s",
    ),
    row(
        "link at which both take equally long: kappa eta_c F/(2P)",
        lambda s: s.solve("min_host_bandwidth_swap").value,
        Fraction(327_680 * 494_700, 140),
        **BACK,
    ),
    row(
        "of the 70B",
        lambda s: s.solve("min_host_bandwidth_swap").value,
        "1.16 GB/s",
        **{**BACK, "prompt": 32_768},
    ),
    row(
        "of the 8B",
        lambda s: s.solve("min_host_bandwidth_swap").value,
        "4.04 GB/s",
        **{**BACK, **B8},
    ),
]

CACHED_PREFIX = {
    **B8,
    "hardware": "h100-sxm",
    "peak_flops": "989 TFLOP/s",
    "prompt": 2100,
    "cached_prefix": 2000,
    "mfu": 0.5,
}
PREFIX = [
    row(
        "100 new tokens after 2,000",
        "prefill_compute_time",
        "3.25 ms",
        **CACHED_PREFIX,
        assume=WEIGHTS,
    ),
    row(
        "with attention",
        "prefill_compute_time",
        "3.47 ms",
        **CACHED_PREFIX,
        assume={"detail": "attention"},
    ),
    row(
        "the weights take longer", "prefill_memory_time", "4.79 ms", **CACHED_PREFIX, assume=WEIGHTS
    ),
    row("so memory binds", "prefill_bound", "memory", **CACHED_PREFIX, assume=WEIGHTS),
    row("memory holds the whole prompt", "kv_cache_bytes", 2100 * 131_072, **CACHED_PREFIX),
    # 147.6 new tokens at MFU 0.5: from 1,953 cached of 2,100 on
    row(
        "from this prefix on",
        lambda s: s.solve("cached_prefix_memory_bound").integer,
        {"at_least": 1953},
        **{**CACHED_PREFIX, "cached_prefix": 0},
        assume=WEIGHTS,
    ),
    row(
        "half of the requests find it",
        "expected_ttft",
        (Fraction(16_060, 3_350_000) + Fraction(2 * 8_030_000_000 * 2100, 494_500 * 10**9)) / 2,
        **CACHED_PREFIX,
        hit_rate=0.5,
        assume=WEIGHTS,
    ),
]


@pytest.mark.parametrize(
    "case",
    [
        *PREEMPTION,
        *PREFIX,
        *SIZE,
        *GROUPED,
        *QUANTIZED_CACHE,
        *BUDGET,
        *CONCURRENCY,
        *LENGTH,
        *RIVAL,
        *LOADING,
    ],
)
def test_row(case):
    check(case)


def test_cache_of_the_tutorial_is_a_guessed_width():
    """It prints 1.20 GB for the 8B at 2048; the model's own heads give 0.268 GB. 1.20 is 2 L sqrt(P/(12 L)) S b: a width of
    4,572.9 guessed from the parameter count and no grouped heads. No whole batch of the true cache yields it."""
    study = Study(**TUTORIAL, **H100, prompt=2048)
    agree(study.value("kv_cache_bytes"), "1.19876 GB")
    agree(study.value("kv_cache_bytes"), "1.20 GB")
    agree(study.value("kv_bytes_per_token") / (2 * 32 * 2), "4,572.9")
    agree(study.value("kv_bytes_per_token"), "585,332")
    agree(study.value("kv_cache_bytes") / Study(**B8, prompt=2048).value("kv_cache_bytes"), "4.47")
    agree(
        study.value("kv_cache_bytes")
        / Study(**B8, prompt=2048, n_kv_heads=32).value("kv_cache_bytes"),
        "1.12",
    )


def test_essay_has_forty_gigabytes_left_of_minus_sixty():
    """ "140 GB of weights leaves only ~40 GB on an 80 GB GPU": the weights alone exceed it by 60 GB. Its 26 requests need 40 GB."""
    study = Study(**B70, **H100, prompt=4608)
    assert left(study) == -60 * 10**9
    assert study.value("fits") is False
    assert study.value("concurrency") == 0


def test_a_latency_that_does_not_fit_is_flagged():
    assert Study(**B70, **H100, prompt=4096, assume=WEIGHTS).result("itl").flags == (
        "does_not_fit",
    )
    assert Study(**B70, **H100, prompt=4096, tp=2, assume=WEIGHTS).result("itl").flags == ()


def test_ledger_lists_what_defaults_to_nothing():
    """Of the essay's four components of memory, an input left at its default is zero and reported so."""
    study = Study(**B70, **H100, prompt=4096)
    reserve = study.first.inputs(("memory_bytes",))["memory_reserve"]
    assert reserve.defaulted
    assert reserve.value == 0
    for name in ("step_overhead", "layer_overhead", "queue_time", "mfu", "mbu"):
        assert study.first.inputs(("ttft", "itl"))[name].defaulted
    assert study.first.assumptions.defaulted("activations")


def test_activations_are_counted_once_in_and_once_out():
    """8B, one token: 32*(d + (H + 2 H_kv) d_h + 2 H d_h + H d_h + d + d + 2 f + f + d) elements in the layers, d + V in the head."""
    study = Study(**B8, **H100, prompt=1)
    layer = (4096 + 6144) + 2 * 4096 + (4096 + 4096) + (4096 + 2 * 14336) + (14336 + 4096)
    quiet = Study(**B8, **H100, prompt=1, assume={"activations": "off"})
    assert study.value("decode_bytes") - quiet.value("decode_bytes") == 2 * (
        32 * layer + 4096 + 128_256
    )
    assert study.value("memory_bytes") == quiet.value("memory_bytes")


def test_four_parts_of_memory():
    """Weights, cache, activations and the runtime's own; the last two are unknown and stand in the reserve."""
    study = Study(**B8, **H100, prompt=2048, memory_reserve="activation_memory + 2 GB")
    widest = 2048 * (2 * 4096 + 2 * 14_336) * 2
    assert study.value("activation_memory") == widest
    assert study.value("memory_bytes") == 16_060_000_000 + 2048 * 131_072 + widest + 2 * 10**9
