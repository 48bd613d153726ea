"""Scheduling: asymptotes, filling, chunked prefill, batch limits, loops without a cache (systems 20, 38-41)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B8, H100, KV, agree, check, rows

PEAK, RATE = Fraction(989_400 * 10**9), Fraction(3350 * 10**9)
MATRICES, HEAD, CORE, KAPPA = 6_979_321_856, 4096 * 128_256, 4 * 32 * 32 * 128, 131_072
"""Llama-3-8B: parameters of its matrices and its head, FLOPs of a pair, bytes of a token's cache."""
UNCACHED = sum(2 * MATRICES * n + 2 * HEAD + CORE * n * (n + 1) // 2 for n in range(300, 340))
"""FLOPs of 40 tokens after 300 where every text is read anew."""
ROWS = rows(
    globals(),
    """
uncached_flops | = UNCACHED | model=llama-3-8b prompt=300 output=40
cached_flops | = 2*MATRICES*339 + 2*HEAD*40 + CORE*339*170 | model=llama-3-8b prompt=300 output=40
bandwidth_throughput_limit | = 1.6*RATE/(KAPPA*2048) | B8 H100 prompt=2048 mbu=0.8 tp=2
compute_throughput_limit   | = PEAK/16.06e9 | B8 H100 prompt=2048 batch=77 detail=kv
# a window of 4,096 bounds the cache
bandwidth_throughput_limit | = RATE/(KAPPA*4096) | H100 model=mistral-7b-v0.1 prompt=100_000
step_tokens | = 544 | chunk=512 batch=32
# chunks behind a prefix, with a rest and without
chunk_steps | = 4   | prompt=1000 cached_prefix=100 chunk=256
last_chunk  | = 132 | prompt=1000 cached_prefix=100 chunk=256
chunk_steps | = 3   | prompt=868 cached_prefix=100 chunk=256
last_chunk  | = 256 | prompt=868 cached_prefix=100 chunk=256
# short chunks leave the step on the memory roof
mixed_time  | = 140e9/RATE | B70 H100 detail=weights chunk=64 batch=32
""",
)


@pytest.mark.parametrize("case", ROWS)
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
    step = {"chunk": chunk, "chunk_past": past, "batch": batch, "context": context}
    study = Study(model="llama-3-8b", **H100, **step, assume={"activations": "off"})
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

    work = {"prompt": 1000, "context": 2000, "batch": 4, "chunk": 300}
    study = Study(model="llama-3-8b", **H100, **work, assume={"activations": "off"})
    full = [step(300, past) for past in (0, 300, 600)]
    assert study.value("chunked_ttft_alone") == near(sum(full) + step(100, 900))
    assert study.value("chunked_ttft") == near(sum(full) + step(300, 900))


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
