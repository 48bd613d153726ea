"""Metrics: rates, requests, step times (system 54)."""

from fractions import Fraction

import pytest

from symroof.api import Study

from ..near import near
from . import B8, H100, KV, check, row

ROWS = [
    row("one request at 100 tok/s", "decode_throughput", 100, batch=1, itl="10 ms"),
    row("a hundred at 1 tok/s", "decode_throughput", 100, batch=100, itl="1 s"),
    row("50 ms a token", "user_rate", 20, itl="50 ms"),
    row("100 ms a token", "user_rate", 10, itl="100 ms"),
    row("RPS = TPS/N", "request_throughput", Fraction(100, 256), batch=100, itl="1 s", output=256),
    row(
        "RPM = 60 TPS/N",
        lambda s: 60 * s.value("request_throughput"),
        "23.4",
        batch=100,
        itl="1 s",
        output=256,
    ),
    # 1.008 TB/s over 15 and 50 tok/s
    row(
        "67.2 GB a step are 15 tok/s",
        lambda s: 1 / s.value("decode_memory_time"),
        15,
        decode_bytes="67.2 GB",
        mem_bandwidth="1.008 TB/s",
    ),
    row(
        "20.16 GB a step are 50 tok/s",
        lambda s: 1 / s.value("decode_memory_time"),
        50,
        decode_bytes="20.16 GB",
        mem_bandwidth="1.008 TB/s",
    ),
]


@pytest.mark.parametrize("case", ROWS)
def test_row(case):
    check(case)


def test_latency_is_ttft_and_the_steps():
    """Total latency TTFT + (N - 1) TPOT; TPOT is the mean step and lies between the first and the last."""
    study = Study(**B8, **H100, prompt=2048, output=256, assume=KV)
    assert study.value("response_time") == study.value("ttft") + 255 * study.value("tpot")
    assert study.value("itl_first") < study.value("tpot") < study.value("itl_last")
    # the mean step reads S + N/2 tokens
    assert study.value("tpot") == near(
        Fraction(16_060_000_000 + 131_072 * (2048 + 128), 3350 * 10**9)
    )
