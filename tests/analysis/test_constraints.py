"""The conditions behind a headline, by hand: which there are, whether they hold at their limit, how much of it they take, where they are met."""

import pytest

from symroof.analysis.verdict import constraints, passes
from symroof.api import Study

CASE = {
    "params": 10**10,
    "peak_flops": "1000 TFLOP/s",
    "mem_bandwidth": "2 TB/s",
    "prompt": 1000,
    "assume": {"detail": "weights"},
}
CACHED = {"kv_bytes_per_token": "100 kB", "state_bytes": 0, "mem_capacity": "24 GB"}
"""20 GB of weights, and 100 MB for each request; a step of 10 ms."""


def study(**more):
    return Study(**{**CASE, **CACHED, **more}).first


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("more", "names"),
    [
        ({}, ["memory"]),
        ({"mem_capacity": None}, []),
        ({"targets": {"itl": "1 s"}}, ["memory", "itl"]),
        ({"targets": {"ttft": "1 s", "itl": "1 s"}, "output": 20}, ["memory", "ttft", "itl"]),
        ({"arrival_rate": "1 request/s"}, ["memory"]),  # no length of a response
        ({"arrival_rate": "1 request/s", "output": 1}, ["memory"]),  # no step between tokens
        ({"arrival_rate": "1 request/s", "output": 2}, ["memory", "load"]),
        (
            {"arrival_rate": "1 request/s", "output": 20, "targets": {"ttft": "1 s"}},
            ["memory", "load", "ttft"],
        ),
        (
            {"arrival_rate": "100 request/s", "output": 20, "targets": {"ttft": "1 s"}},
            ["memory", "load", "ttft"],
        ),  # a wait without end is against a target too
        (
            {
                "arrival_rate": "100 request/s",
                "output": 20,
                "assume": {"detail": "weights", "targets_under": "isolated"},
            },
            ["memory"],
        ),
    ],
)
def test_which_conditions_a_case_has(more, names):
    answers = study(**more) if "mem_capacity" not in more else Study(**CASE).first
    assert [condition.name for condition in constraints(answers)] == names


@pytest.mark.parametrize(
    ("span", "state"),
    [
        ({"batch": "30..40"}, True),
        ({"batch": "30..41"}, None),
        ({"batch": "38..44"}, False),  # 41 in the middle
        ({"mbu": "0.5..1", "targets": {"itl": "20 ms"}}, True),
        # 10 ms, 20 ms, and 13.33 ms in the middle
        ({"mbu": "0.5..1", "targets": {"itl": "19 ms"}}, None),
        # another that is met makes it no better
        ({"mbu": "0.5..1", "targets": {"itl": "13 ms", "ttft": "1 s"}}, False),
        ({"mbu": "0.5..1", "targets": {"itl": "9 ms"}}, False),
    ],
)
def test_what_passes_over_ranges(span, state):
    assert passes(study(**span)) is state


def test_what_is_not_known_to_fit_does_not_pass():
    assert passes(Study(**CASE).first) is False
