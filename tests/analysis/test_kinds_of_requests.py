"""Which kind of requests of a mix misses a target that their mean meets: a token of a prompt takes 20 µs of arithmetic, and 2,048 go into a step."""

import pytest

from symroof.analysis.case_warnings import case_warnings, kinds_of_requests
from symroof.api import Study

CASE = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "output": 20,
    "assume": {"detail": "weights"},
    "kv_bytes_per_token": "100 kB",
    "state_bytes": 0,
    "mem_capacity": "80 GB",
    "chunk": 2048,
}
LONG = {"long_share": 0.25, "long_prompt": 5000, "long_output": 20}
"""1,000 tokens are 20 ms, 5,000 in three chunks 100 ms, a quarter of these and the rest of those 40 ms."""
SHORT = {"long_share": 0.75, "long_prompt": 500, "long_output": 20}
"""500 tokens are 10 ms, and the mean 12.5 ms."""
OWN, OTHERS, SPREAD = (
    "{} requests miss the TTFT target that the mean of all requests meets, at " + says
    for says in (
        "20 ms: mix_own_ttft",
        "100 ms: mix_long_ttft",
        "100 ms (100 to 101.9 ms): mix_long_ttft",
    )
)
RANGED = {**LONG, "mbu": "0.5..1"}
"""At half of the bandwidth the last chunk, of 904 tokens, takes the 20 ms of the weights: 101.92 ms; the mean is then 40.48 ms."""


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("mix", "target", "remarks"),
    [
        (LONG, "39.9 ms", []),  # the mean misses it, which is said elsewhere
        (LONG, "40.1 ms", [OTHERS.format("long")]),
        (LONG, "100.1 ms", []),
        (SHORT, "12.49 ms", []),
        (SHORT, "19.99 ms", [OWN.format("the case's own")]),
        (RANGED, "40.4 ms", []),
        (RANGED, "101.8 ms", [SPREAD.format("long")]),
        (RANGED, "102 ms", []),
        (LONG, None, []),
        ({}, "20 ms", []),
    ],
)
def test_a_kind_that_misses_what_the_mean_meets(mix, target, remarks):
    answers = Study(**CASE, **mix, targets={"ttft": target} if target else {}).first
    assert (
        kinds_of_requests(answers)
        == [line for line in case_warnings(answers) if "requests miss" in line]
        == remarks
    )
