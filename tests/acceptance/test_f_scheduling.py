"""Scheduling: asymptotes, filling, chunked prefill, batch limits, loops without a cache (systems 20, 38-41)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B8, B70, H100, KV, WEIGHTS, agree, check, row

ON = {**B70, **H100, "assume": WEIGHTS}
CACHED = {**B70, **H100, "prompt": 4096, "batch": 32, "assume": KV}
PEAK, RATE = Fraction(989_400 * 10**9), Fraction(3350 * 10**9)
MATRICES, HEAD, CORE, KAPPA = 6_979_321_856, 4096 * 128_256, 4 * 32 * 32 * 128, 131_072
"""Llama-3-8B: parameters of its matrices and its head, FLOPs of a pair, bytes of a token's cache."""

LOOPS = [
    row(
        "tokens without a cache",
        "uncached_tokens",
        sum(1000 + j for j in range(500)),
        prompt=1000,
        output=500,
    ),
    row("tokens with one", "cached_tokens", 1499, prompt=1000, output=500),
    row(
        "417 times the work",
        lambda s: s.value("uncached_flops") / s.value("cached_flops"),
        "417",
        params=8 * 10**9,
        prompt=1000,
        output=500,
        assume=WEIGHTS,
    ),
    row(
        "4.2 times the time",
        lambda s: s.value("uncached_time") / s.value("response_time"),
        "4.2",
        params=8 * 10**9,
        prompt=1000,
        output=500,
        assume=WEIGHTS,
        **H100,
    ),
    row(
        "every text read anew, exactly",
        "uncached_flops",
        sum(2 * MATRICES * n + 2 * HEAD + CORE * n * (n + 1) // 2 for n in range(300, 340)),
        model="llama-3-8b",
        prompt=300,
        output=40,
    ),
    row(
        "every token once, exactly",
        "cached_flops",
        2 * MATRICES * 339 + 2 * HEAD * 40 + CORE * 339 * 340 // 2,
        model="llama-3-8b",
        prompt=300,
        output=40,
    ),
]

WAITS = [
    row(
        "31 more to come at 4 a second, half of them on average",
        "static_fill_wait",
        Fraction(31, 8),
        batch=32,
        arrival_rate="4/s",
    ),
    row(
        "half a step",
        "continuous_join_wait",
        (140 * 10**9 + 32 * 4096 * 327_680) / RATE / 2,
        **CACHED,
    ),
    row("Little", "in_flight", 10, arrival_rate="4/s", response_time="2.5 s"),
]

ASYMPTOTES = [
    row(
        "of the cache",
        "bandwidth_throughput_limit",
        RATE / (KAPPA * 2048),
        **B8,
        **H100,
        prompt=2048,
    ),
    row(
        "at mbu 0.8 on two",
        "bandwidth_throughput_limit",
        Fraction(16, 10) * RATE / (KAPPA * 2048),
        **B8,
        **H100,
        prompt=2048,
        mbu=0.8,
        tp=2,
    ),
    row(
        "of compute",
        "compute_throughput_limit",
        PEAK / (2 * 8_030_000_000 + CORE * 2048),
        **B8,
        **H100,
        prompt=2048,
        assume={"detail": "attention"},
    ),
    row(
        "neither moves with the batch",
        "compute_throughput_limit",
        PEAK / (2 * 8_030_000_000),
        **B8,
        **H100,
        prompt=2048,
        batch=77,
        assume=KV,
    ),
    row(
        "a window bounds the cache",
        "bandwidth_throughput_limit",
        RATE / (2 * 32 * 8 * 128 * 2 * 4096),
        model="mistral-7b-v0.1",
        **H100,
        prompt=100_000,
    ),
]

CHUNKS = [
    row("2,048 at a time", "mixed_time", "289.9 ms", **ON, chunk=2048),
    row("512 beside 32", "mixed_time", "77.0 ms", **ON, chunk=512, batch=32),
    row("budget of a step", "step_tokens", 544, chunk=512, batch=32),
    row("4,000 in steps of 512", "chunk_steps", 8, prompt=4000, chunk=512),
    row("what is left for the last", "last_chunk", 416, prompt=4000, chunk=512),
    row("nothing is left over of a whole number", "last_chunk", 512, prompt=4096, chunk=512),
    row(
        "TTFT, every step full",
        "chunked_ttft",
        8 * 544 * 140 * 10**9 / PEAK,
        **ON,
        prompt=4000,
        chunk=512,
        batch=32,
    ),
    row(
        "TTFT, the last as short as it is",
        "chunked_ttft_alone",
        (7 * 544 + 448) * 140 * 10**9 / PEAK,
        **ON,
        prompt=4000,
        chunk=512,
        batch=32,
    ),
    row("a prefix cached", "chunk_steps", 4, prompt=4000, cached_prefix=2000, chunk=512),
    row(
        "short chunks leave the step on the memory roof",
        "mixed_time",
        140 * 10**9 / RATE,
        **ON,
        chunk=64,
        batch=32,
    ),
]


@pytest.mark.parametrize("case", [*LOOPS, *WAITS, *ASYMPTOTES, *CHUNKS])
def test_row(case):
    check(case)


# ----------------------------------------------------------------------------------------------------------------- chunks


@pytest.mark.parametrize(
    ("chunk", "past", "batch", "context"), [(1, 0, 1, 1), (7, 0, 3, 50), (64, 130, 5, 900)]
)
def test_a_mixed_step_token_by_token(chunk, past, batch, context):
    """Every token of the chunk meets the keys before it and its own; every decoding request meets its context."""
    met = sum(past + position for position in range(1, chunk + 1)) + batch * context
    work = 2 * MATRICES * (chunk + batch) + 2 * HEAD * (1 + batch) + CORE * met
    moved = 2 * (MATRICES + HEAD) + KAPPA * (past + chunk + batch * context)
    study = Study(
        model="llama-3-8b",
        **H100,
        chunk=chunk,
        chunk_past=past,
        batch=batch,
        context=context,
        assume={"activations": "off"},
    )
    assert study.value("mixed_flops") == work
    assert study.value("mixed_bytes") == moved
    assert study.value("mixed_time") == near(max(work / PEAK, moved / RATE))


def test_chunks_together_do_the_work_of_the_whole_prompt():
    """Without other requests: the same matrices and pairs; each chunk has a row of logits, reads the weights and the cache before it."""
    chunks, size = 5, 100
    case = {"model": "llama-3-8b", **H100, "assume": {"activations": "off"}}
    parts = [Study(**case, prompt=size * (i + 1), cached_prefix=size * i) for i in range(chunks)]
    whole = Study(**case, prompt=chunks * size)
    assert (
        sum(part.value("prefill_flops") for part in parts)
        == whole.value("prefill_flops") + (chunks - 1) * 2 * HEAD
    )
    again = (chunks - 1) * 2 * (MATRICES + HEAD) + KAPPA * sum(size * i for i in range(chunks))
    assert (
        sum(part.value("prefill_bytes") for part in parts) == whole.value("prefill_bytes") + again
    )


def test_first_token_of_a_chunked_prompt_step_by_step():
    """8B, 1,000 tokens in chunks of 300 beside four requests at 2,000: three full steps and one of 100."""

    def step(chunk, past):
        met = sum(past + position for position in range(1, chunk + 1)) + 4 * 2000
        work = 2 * MATRICES * (chunk + 4) + 2 * HEAD * 5 + CORE * met
        return max(work / PEAK, (2 * (MATRICES + HEAD) + KAPPA * (past + chunk + 4 * 2000)) / RATE)

    study = Study(
        model="llama-3-8b",
        **H100,
        prompt=1000,
        context=2000,
        batch=4,
        chunk=300,
        assume={"activations": "off"},
    )
    full = [step(300, past) for past in (0, 300, 600)]
    assert study.value("chunked_ttft_alone") == near(sum(full) + step(100, 900))
    assert study.value("chunked_ttft") == near(sum(full) + step(300, 900))


def test_largest_chunk_within_the_target_and_the_free_one():
    """C + B <= T F/(2P) = 353 at 50 ms; (b_w/2) R (1 + B S kappa/W) - B = 353 behind the 54.6 ms of 32 requests at 4,096."""
    assert Study(**ON, itl_target="50 ms").solve("max_chunk_itl").integer == {"at_most": 352}
    assert Study(**ON, batch=300, itl_target="50 ms").solve("max_chunk_itl").integer == {
        "at_most": 53
    }
    free = Study(**CACHED).solve("free_chunk")
    assert free.value == near(PEAK / RATE * (1 + Fraction(32 * 4096 * 327_680, 140 * 10**9)) - 32)
    assert free.integer == {"at_most": 353}
    assert (
        Study(**{**CACHED, "batch": 300, "prompt": 1, "assume": WEIGHTS})
        .solve("free_chunk")
        .verdict
        == "lhs_above"
    )


# ----------------------------------------------------------------------------------------------------------- batch limits


@pytest.mark.parametrize(
    ("prompt", "target", "detail", "least"),
    # (0.05 BW - W)/(kappa S) = 564 against 63.94 GB/(kappa S) = 238; 12 ms allow 89; at 128 tokens the ridge, 427, is the least
    [
        (2048, "50 ms", "kv", 238),
        (2048, "12 ms", "kv", 89),
        (128, "50 ms", "kv", 427),
        (2048, "3 ms", "kv", None),
    ],
)
def test_most_requests_at_once_is_the_least_of_three_limits(prompt, target, detail, least):
    seconds = Fraction(target.split()[0]) / 1000
    weights, each = 16_060_000_000, KAPPA * prompt
    limits = {
        "target": (seconds * RATE - weights) / each,
        "memory": (80 * 10**9 - weights) / Fraction(each),
    }
    slack = 2 * 8_030_000_000 - PEAK / RATE * each  # 2 P B = R (W + B S kappa)
    if slack > 0:
        limits["ridge"] = PEAK / RATE * weights / slack
    solution = Study(
        **B8, **H100, prompt=prompt, output=1, itl_target=target, assume={"detail": detail}
    ).solve("max_num_seqs")
    if least is None:
        assert min(limits.values()) < 0
        assert solution.verdict == "lhs_above"
    else:
        assert int(min(limits.values())) == least
        assert solution.integer == {"at_most": least}


def test_most_requests_at_once_is_held_against_the_step_in_service():
    """By the switch: prefills of others lengthen the steps of a server whose responses are known."""
    case = {**B8, **H100, "prompt": 2048, "output": 256, "itl_target": "12 ms", "assume": KV}
    served = Study(**case).solve("max_num_seqs")
    alone = Study(**case | {"assume": {**KV, "targets_under": "isolated"}}).solve("max_num_seqs")
    slower = [Study(**case, batch=served.integer["at_most"] + more) for more in (0, 1)]
    assert [each.value("sustained_itl") <= Fraction(12, 1000) for each in slower] == [True, False]
    assert served.integer["at_most"] < alone.integer["at_most"]


def test_throughput_nears_its_asymptote_and_never_passes_it():
    limit = Study(**B8, **H100, prompt=2048, assume=KV).value("bandwidth_throughput_limit")
    rates = [
        Study(**B8, **H100, prompt=2048, batch=batch, assume=KV).value("decode_throughput")
        for batch in (1, 10, 238, 10**4, 10**6)
    ]
    assert rates == sorted(rates)
    assert rates[-2] < rates[-1] < limit
    agree(rates[2], "9,973 tok/s")
    assert rates[-1] / limit > Fraction(999, 1000)
