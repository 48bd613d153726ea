"""Why no batch is good enough: ten billion parameters at 2 TB/s are a step of 10 ms, a prompt of a thousand tokens at 1,000 TFLOP/s one of 20 ms, and a response nineteen steps more."""

import pytest

from symroof.analysis.best_batch import why_no_batch
from symroof.api import Study

CASE = {
    "params": 10**10, "peak_flops": "1000 TFLOP/s", "mem_bandwidth": "2 TB/s", "prompt": 1000, "output": 20, "assume": {"detail": "weights"},
    "kv_bytes_per_token": "100 kB", "state_bytes": 0, "mem_capacity": "80 GB",
}  # fmt: skip
NONE = "best_batch is 0: "
ONE = f"{NONE}a batch of 1 already has "
TTFT = "a loaded_ttft of 20 ms, over its target of 15 ms"


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"itl_target": "9.99 ms"}, f"{ONE}a sustained_itl of 10 ms, over its target of 9.99 ms"),
        ({"itl_target": "10 ms"}, None),
        ({"itl_target": "10 ms", "ttft_target": "15 ms"}, f"{ONE}{TTFT}"),  # what is met exactly is no reason
        ({"itl_target": "5 ms", "ttft_target": "15 ms"}, f"{ONE}a sustained_itl of 10 ms, over its target of 5 ms and {TTFT}"),
        # weights and one cache of 1,019 tokens of 100 kB
        ({"itl_target": "15 ms", "mem_capacity": "20101899999 byte"}, f"{NONE}a batch of 1 does not fit, it needs 20.10 GB of the 20.10 GB of memory that may be used"),
        ({"itl_target": "15 ms", "mem_capacity": "20101900000 byte"}, None),
        # each of two slots prefills in one of 20 steps: none does in 0.9025 of them, one beside a token of the other, 20.02 ms, in 0.095, both in 0.0025:
        # 11.027 ms for a tenth of a request, and twenty of these a second
        ({"ttft_target": "1 s", "mem_capacity": "20.3 GB", "arrival_rate": "20 request/s"}, f"{NONE}no steady state at any batch that fits; at the largest, 2, load is 2.205"),
        # a budget of one token, and two slots of which each decodes in 19 of 1,019 steps: 3 - 38/1,019 tokens of prompts in a step of 10 ms, far from twenty
        # requests of a thousand tokens a second, though responses would keep up
        ({"ttft_target": "1 s", "mem_capacity": "20.3 GB", "chunk": 1, "sustained_requests": "25 request/s", "arrival_rate": "20 request/s"}, f"{NONE}no steady state at any batch that fits; prompts arrive faster than they are prefilled, 2.963 token a step"),
        ({"output": 1, "itl_target": "15 ms"}, None),  # no step between tokens, and so not known
    ],
)  # fmt: skip
def test_why_by_hand(more, reason):
    assert why_no_batch(Study(**{**CASE, **more}).first) == reason
