"""Corners of formulas that ordinary cases do not reach: just off an edge, exactly on it, one device and several, a prefix and a remainder."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import ATTENTION, B8, B70, H100, WEIGHTS, check, rows

P8, KAPPA8, CORE8 = 8_030_000_000, 131_072, 524_288
"""Parameters, cache of a token, and FLOPs of a pair (4 FLOP, 32 layers, 32 heads, 128 wide) of Llama-3-8B."""
DEVICE = {"peak_flops": "1000 TFLOP/s", "mem_bandwidth": "3.5 TB/s", "mem_capacity": "1 TB"}
STEP = {**B70, **DEVICE, "price": "3600 USD/hour", "prompt": 1000, "output": 11, "assume": WEIGHTS}
"""140 GB of weights at 3.5 TB/s: a step of 40 ms; 0.14 ms a token of a prompt."""
LINKS = {"link_latency": "10 us", "link_bandwidth": "16.384 GB/s", "link_share": 1}
"""A vector of 8,192 16-bit numbers takes 1 µs, and 10 to begin."""
LAUNCHES = {"kernel_launch": "10 us", "kernels_per_layer": 60}
ROWS = rows(
    globals(),
    """
# two devices read half each, 20 ms; 2*80 all-reduces send 2*(1/2) of the vector each: 160*11 us;
# 80*60 launches of 10 us take 48 ms from the start on
itl | = 48/1000 | STEP LINKS LAUNCHES tp=2 launches=hidden
decode_link_time | = 0        | STEP LINKS pp=1
decode_link_time | = 11/10**6 | STEP LINKS pp=2
decode_link_time | = 33/10**6 | STEP LINKS pp=4
# eight responses: ten steps of 40 ms, and two prefills of 4,000 tokens at 0.14 ms
cost_per_request | = (0.4 + 1.12)/8 | STEP batch=8 prefill_batch=4 scheduling=exclusive
# only the prompt's cache is handed over
transfer_time | = 4096*327_680/50e9 | B70 prompt=4096 context=9000 network_bandwidth='50 GB/s'
""",
)


@pytest.mark.parametrize("row", ROWS)
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
