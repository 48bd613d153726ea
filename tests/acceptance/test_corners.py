"""Corners of formulas that ordinary cases do not reach: just off an edge, exactly on it, one device and several, a prefix and a remainder."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import ATTENTION, B8, B70, H100, WEIGHTS, check, row

P8, KAPPA8, CORE8 = 8_030_000_000, 131_072, 524_288
"""Parameters, cache of a token, and FLOPs of a pair (4 FLOP, 32 layers, 32 heads, 128 wide) of Llama-3-8B."""
STEP = {
    **B70,
    "assume": WEIGHTS,
    "prompt": 1000,
    "output": 11,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "3.5 TB/s",
    "mem_capacity": "1 TB",
}
"""140 GB of weights at 3.5 TB/s: a step of 40 ms; 0.14 ms a token of a prompt."""
STEP_LINKS = {"link_latency": "10 us", "link_bandwidth": "16.384 GB/s", "link_share": 1}
"""A vector of 8,192 16-bit numbers takes 1 µs, and 10 to begin."""


@pytest.mark.parametrize(
    "row",
    [
        # two devices read half each, 20 ms; 2*80 all-reduces send 2*(1/2) of the vector each: 160*11 us; 80*60 launches of 10 us take 48 ms from the start on
        row(
            "launches hide behind links too",
            "itl",
            Fraction(48, 1000),
            **{
                **STEP,
                **STEP_LINKS,
                "tp": 2,
                "kernel_launch": "10 us",
                "kernels_per_layer": 60,
                "assume": {**WEIGHTS, "launches": "hidden"},
            },
        ),
        row("one stage sends nothing", "decode_link_time", 0, **STEP, **STEP_LINKS, pp=1),
        row(
            "two stages send once",
            "decode_link_time",
            Fraction(11, 10**6),
            **STEP,
            **STEP_LINKS,
            pp=2,
        ),
        row(
            "four stages send three times",
            "decode_link_time",
            Fraction(33, 10**6),
            **STEP,
            **STEP_LINKS,
            pp=4,
        ),
        # eight responses: ten steps of 40 ms, and two prefills of 4,000 tokens at 0.14 ms; a device costs 1 USD a second
        row(
            "prefills of four",
            "cost_per_request",
            (10 * Fraction(4, 100) + 2 * Fraction(56, 100)) / 8,
            **{
                **STEP,
                "batch": 8,
                "prefill_batch": 4,
                "price": "3600 USD/hour",
                "assume": {**WEIGHTS, "scheduling": "exclusive"},
            },
        ),
        row(
            "only the prompt's cache is handed over",
            "transfer_time",
            Fraction(4096 * 327_680, 50 * 10**9),
            **B70,
            prompt=4096,
            context=9000,
            network_bandwidth="50 GB/s",
        ),
        row(
            "blocks of 16, one token short of the edge",
            "kv_reserved_bytes",
            1008 * KAPPA8,
            **B8,
            prompt=1007,
            output=1,
            assume={"kv_reserve": "paged"},
        ),
        row(
            "blocks of 16, on the edge",
            "kv_reserved_bytes",
            1008 * KAPPA8,
            **B8,
            prompt=1008,
            output=1,
            assume={"kv_reserve": "paged"},
        ),
        row(
            "blocks of 16, one token past the edge",
            "kv_reserved_bytes",
            1024 * KAPPA8,
            **B8,
            prompt=1009,
            output=1,
            assume={"kv_reserve": "paged"},
        ),
        row(
            "chunks behind a prefix",
            "chunk_steps",
            4,
            **B8,
            prompt=1000,
            cached_prefix=100,
            chunk=256,
        ),
        row(
            "the last of them",
            "last_chunk",
            1000 - 100 - 3 * 256,
            **B8,
            prompt=1000,
            cached_prefix=100,
            chunk=256,
        ),
        row(
            "chunks that come out even",
            "chunk_steps",
            3,
            **B8,
            prompt=868,
            cached_prefix=100,
            chunk=256,
        ),
        row(
            "the last of those is whole",
            "last_chunk",
            256,
            **B8,
            prompt=868,
            cached_prefix=100,
            chunk=256,
        ),
    ],
)
def test_row(row):
    check(row)


def test_a_prompt_in_chunks_behind_a_prefix_by_counting_keys():
    """900 tokens in 4 steps, the last one of 132, beside one request that decodes at 1,000 tokens: every new token sees itself and all before it."""
    case = {
        **B8,
        "assume": ATTENTION,
        "peak_flops": "1 TFLOP/s",
        "mem_bandwidth": "1000 TB/s",
        "mem_capacity": "1 TB",
        "batch": 1,
    }
    keys = sum(range(101, 1001)) + 4 * 1000
    flops = 2 * P8 * (900 + 4) + CORE8 * keys
    assert Study(**case, prompt=1000, cached_prefix=100, chunk=256).value(
        "chunked_ttft_alone"
    ) == near(Fraction(flops, 10**12))


@pytest.mark.parametrize(("spare", "batch"), [(0, 7), (-1, 6), (1, 7)])
def test_memory_that_is_exactly_full_holds_the_batch(spare, batch):
    """Weights and seven caches of 1,000 tokens, to the byte; one byte less, and it is six."""
    capacity = 2 * P8 + 7 * KAPPA8 * 1000 + spare
    case = {
        **B8,
        **H100,
        "mem_capacity": f"{capacity} byte",
        "prompt": 1000,
        "output": 1,
        "assume": WEIGHTS,
    }
    study = Study(**case)
    assert study.solve("max_batch_memory").integer == {"at_most": batch}
    assert study.value("concurrency") == batch
    assert [Study(**{**case, "batch": n}).value("fits") for n in (batch, batch + 1)] == [
        True,
        False,
    ]


def test_activations_of_absorbed_latent_attention():
    """DeepSeek-V2-Lite, a vector in and out of every product of a decode step, 16 bits an element. A query goes into the latent of 512 and a
    rotated key of 64 for each of 16 heads; the result comes back out of the latent to 128.
    """
    heads, latent, rotated, plain, value, d = 16, 512, 64, 128, 128, 2048
    projections = d + heads * (plain + rotated) + latent + rotated + (heads * value + d)
    absorbed = heads * (plain + latent) + heads * (latent + value)
    core = heads * (latent + rotated) + heads * latent
    dense = d + 2 * 10944 + 10944 + d
    experts = (d + 64) + 6 * (d + 2 * 1408 + 1408 + d) + (d + 2 * 2816 + 2816 + d)
    elements = 27 * (projections + absorbed + core) + dense + 26 * experts
    study = Study(model="deepseek-v2-lite", prompt=1000, assume={"mla": "absorbed"})
    assert study.value("activation_bytes_per_token") == 2 * elements
