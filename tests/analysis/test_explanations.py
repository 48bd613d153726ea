"""The sentence beside an answer, in numbers worked out by hand: 10^10 parameters of 16 bits, 10^15 FLOP/s, 2*10^12 byte/s.

A step reads 20 GB in 10 ms and computes 20 µs for each request, so 500 of them take as long as the weights.
"""

import pytest

from symroof.analysis.asymptotics import LONGEST, limit_forms
from symroof.api import Study

CASE = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
LLAMA = {
    "model": "llama-3-8b",
    "params": 8 * 10**9,
    "hardware": "h100-sxm",
    "prompt": 1000,
    "assume": {"detail": "kv"},
    "efficiency": "peak",
}

SENTENCES = [
    ("decode_compute_time = decode_memory_time", "batch", "decode_compute_time stays below decode_memory_time up to 500 and is above it from 501 on"),
    ("decode_memory_time = decode_compute_time", "batch", "decode_memory_time stays above decode_compute_time up to 500 and is below it from 501 on"),
    ("itl = 12 ms", "batch", "itl stays below 12 ms up to 600 and is above it from 601 on"),
    ("itl = 12.01 ms", "batch", "itl stays below 12.01 ms up to 600 and is above it from 601 on"),  # 600.5 requests
    ("itl = 12 ms", "mem_bandwidth", "itl is above 12 ms under this value and below it over it"),
    ("itl = 1 s", "step_overhead", "itl is below 1 s under this value and above it over it"),
    ("itl = decode_memory_time", "batch", "itl and decode_memory_time are the same up to here"),
    ("itl = decode_compute_time", "batch", "itl and decode_compute_time are the same from here on"),
    ("decode_compute_time = -1 s", "batch", "decode_compute_time stays above -1 s for every batch (each request adds 20 µs to decode_compute_time)"),
    ("decode_compute_time = 3*decode_compute_time + decode_memory_time", "batch",
     "decode_compute_time stays below 3*decode_compute_time + decode_memory_time for every batch "
     "(each request adds 20 µs to decode_compute_time and 60 µs to 3*decode_compute_time + decode_memory_time)"),
    ("decode_memory_time = 2*itl", "batch",
     "decode_memory_time stays below 2*itl for every batch (each request adds 40 µs to 2*itl, decode_memory_time is 10 ms)"),
    ("decode_memory_time = 1 s", "batch", "decode_memory_time stays below 1 s for every batch (this does not depend on batch here)"),
    ("ttft = 1 ms", "mfu", "ttft stays above 1 ms for every mfu (even at mfu 1 they are 20 ms and 1 ms)"),
    ("itl = itl", "batch", "both sides are the same formula"),
]  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize(("equation", "unknown", "sentence"), SENTENCES)
def test_a_sentence(equation, unknown, sentence):
    assert Study(**CASE).solve(equation, for_=unknown).reason == sentence


def test_where_both_sides_settle_the_end_is_named():
    """Far out a step of 16 GFLOP a request reads 1,000 tokens of 131,072 byte of it: 122.1 FLOP a byte."""
    reason = Study(**LLAMA).solve("decode_intensity = 1000 FLOP/byte", for_="batch").reason
    assert (
        reason
        == "decode_intensity stays below 1,000 FLOP/byte for every batch (decode_intensity tends to 122.1 FLOP/byte)"
    )


def test_times_of_what_memory_does_not_hold_are_flagged():
    """A thousand requests of 1,000 tokens hold 131 GB; each token of a prompt reads and computes as much, fitting or not."""
    sentence = Study(**LLAMA, batch=1000).solve("decode_memory_time = -1 s", for_="context").reason
    assert sentence == (
        "decode_memory_time stays above -1 s for every context (each token adds 39.13 µs (does not fit) to decode_memory_time)"
    )


def test_an_answer_beyond_what_the_model_was_made_for():
    """30 GB of cache are 228,881.8 tokens."""
    solution = Study(**LLAMA).solve("kv_cache_bytes = 30 GB", for_="context")
    assert solution.reason.endswith(
        "up to 228,881 and is above it from 228,882 on; beyond Llama 3 8B's maximum context of 8,192 tokens"
    )
    short = Study(**LLAMA).solve("kv_cache_bytes = 1 GB", for_="context")
    assert (
        short.reason == "kv_cache_bytes stays below 1 GB up to 7,629 and is above it from 7,630 on"
    )


def test_a_value_has_the_ends_of_its_range():
    """20 GB at 1 and 2 TB/s."""
    ranged = Study(**{**CASE, "mem_bandwidth": "1 TB/s..2 TB/s"}).value("itl")
    assert (ranged.low, ranged.high) == (0.01, 0.02)
    alone = Study(**CASE).value("itl")
    assert (alone.low, alone.high) == (0.01, 0.01)


@pytest.mark.parametrize("model", [None, "mixtral-8x7b"])
@pytest.mark.parametrize("quantity", ["itl", "ttft", "user_rate"])
def test_a_limit_is_as_short_as_a_line_or_left_out_with_all_its_arms(model, quantity):
    limits = limit_forms(quantity, (Study(model=model) if model else Study()).first)
    assert limits
    assert all(
        len(limit.text) + sum(map(len, limit.conditions_text)) <= LONGEST for limit in limits
    )
