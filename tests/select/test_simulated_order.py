"""The order in which a selection stands, against servers that are simulated step by step in each layout."""

import pytest

from symroof.select.selection import select
from symroof.simulate.run_simulation import simulate

TARGETS = {"ttft": "2 s", "itl": "50 ms"}
CASE = {"hardware": "h100-sxm", "prompt": 2048, "output": 300, "chunk": 2048}
SAME = 1.04
"""Two layouts whose simulated rates are nearer than that may change places."""


def simulated(c):
    """Tokens per second of a device, counted of a closed loop of users."""
    found = simulate(c.case, "closed-loop", requests=40 * c.batch)
    return found.rates["throughput"][0] / c.case.case.value("tp")


@pytest.mark.full
def test_the_cheapest_first_are_those_that_a_simulation_counts_most_tokens_of():
    """A token is cheapest where a device makes most of them."""
    among = {"tp": [1, 2, 4, 8]}
    choice = select(model="llama-3.1-8b", **CASE, among=among, targets=TARGETS, efficiency="peak")
    counted = [simulated(c) for c in choice.passing]
    assert len(counted) == 4 and max(counted) > 1.3 * min(counted)
    later = ((first, rest) for i, first in enumerate(counted) for rest in counted[i + 1 :])
    assert all(first * SAME > rest for first, rest in later)
    for c, rate in zip(choice.passing, counted, strict=True):
        expected = c.result("sustained_throughput").value / c.case.case.value("tp")
        assert float(expected) == pytest.approx(rate, rel=0.06), c.label
