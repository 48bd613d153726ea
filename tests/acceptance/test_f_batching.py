"""Batched decode (system 36)."""

import pytest

from symroof.api import Study

from . import B70, H100, KV, WEIGHTS, agree, check, row

FIRST = {**B70, **H100, "assume": WEIGHTS}
CACHED = {**B70, **H100, "prompt": 4096, "assume": KV}
ROWS = [
    *(
        row(f"intensity at batch {batch}", "decode_intensity", batch, **FIRST, batch=batch)
        for batch in (1, 8, 32, 128, 295, 512)
    ),
    row("batch 1", "decode_throughput", "24 tok/s", **FIRST),
    row("batch 32", "decode_throughput", "766 tok/s", **FIRST, batch=32),
    row("batch 128", "decode_throughput", "3,063 tok/s", **FIRST, batch=128),
    row("batch 128: work", "decode_flops", "17.92 TFLOP", **FIRST, batch=128),
    row("4k of cache, batch 32: step", "itl", "54.6 ms", **CACHED, batch=32),
    row("4k of cache, batch 32: rate", "decode_throughput", "586 tok/s", **CACHED, batch=32),
    row(
        "4k of cache, batch 32: gain",
        "decode_throughput",
        "24.7 x",
        {"batch": 1},
        **CACHED,
        batch=32,
    ),
    row("4k of cache, batch 128: rate", "decode_throughput", "1,375 tok/s", **CACHED, batch=128),
    row(
        "4k of cache, batch 128: gain",
        "decode_throughput",
        "58 x",
        {"batch": 1},
        **CACHED,
        batch=128,
    ),
    row("4k of cache, batch 256: one user", "user_rate", "6.9 tok/s", **CACHED, batch=256),
]


@pytest.mark.parametrize("case", ROWS)
def test_row(case):
    check(case)


def test_3072_of_the_essay_multiplies_a_rounded_rate():
    """128*24 = 3,072; 24 is a rounded 23.93, and 128/41.79 ms is 3,063."""
    assert 128 * 24 == 3072
    agree(Study(**FIRST, batch=128).value("decode_throughput"), "3,063 tok/s")


def test_batching_is_free_only_without_the_cache():
    """The essay: "each request still sees about 24 tokens/s" at batch 128. With 4k of cache it sees 10.7."""
    agree(Study(**FIRST, batch=128).value("user_rate"), "23.93 tok/s")
    agree(Study(**CACHED, batch=128).value("user_rate"), "10.7 tok/s")
