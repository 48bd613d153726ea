"""The order in which a selection stands, against servers that are simulated step by step in each layout of the same devices."""

import pytest

from symroof.select.selection import select
from symroof.simulate.run_simulation import simulate

TARGETS = {"ttft": "2 s", "itl": "50 ms"}
CASES = {
    "llama-3.1-8b": {"hardware": "h100-sxm", "prompt": 2048, "output": 300, "among": {"devices": 4}},
    "deepseek-v3": {"hardware": "h200", "prompt": 2048, "output": 100, "weights": "fp8", "price": "4 USD/hour", "among": {"instance_devices": 8}},
}  # fmt: skip
SAME = 1.04
"""Two layouts whose simulated rates are nearer than that may change places."""


def simulated(c):
    """Tokens per second of all copies, counted of a closed loop of users."""
    return (
        c.run.copies
        * simulate(c.run.bound_case, "closed-loop", requests=40 * c.run.batch, replications=2)
        .rates["throughput"][0]
        .value
    )


@pytest.fixture(scope="module", params=CASES)
def ordered(request):
    choice = select(model=request.param, **CASES[request.param], targets=TARGETS, efficiency="peak")
    return [(c, simulated(c)) for c in choice.passing]


@pytest.mark.full
def test_the_cheapest_first_are_those_that_a_simulation_counts_most_tokens_of(ordered):
    """All of them have the same devices, so that the cheapest token is that of the most tokens per second."""
    counted = [rate for _, rate in ordered]
    assert len(ordered) > 3 and max(counted) > 1.3 * min(counted)
    assert all(
        first * SAME > later for i, first in enumerate(counted) for later in counted[i + 1 :]
    )
    for c, rate in ordered:
        assert float(c.run.value("sustained_throughput") * c.run.copies) == pytest.approx(
            rate, rel=0.06
        ), c.label


@pytest.mark.full
def test_layouts_of_every_kind_are_among_them(ordered):
    degrees = {
        (int(case.value("tp")), int(case.value("attention_dp")), int(case.value("dp")))
        for case in (c.run.bound_case.case for c, _ in ordered)
    }
    dense, experts = {(4, 1, 1), (2, 1, 2), (1, 1, 4)}, {(8, 1, 1), (4, 2, 1), (2, 4, 1), (1, 8, 1)}
    assert dense <= degrees or experts <= degrees
