"""The best of a configuration is the best over the batches that pass: a larger batch leaves less of a full budget for prompts."""

import pytest

from symroof.api import Study
from symroof.select.selection import select

CASE = {
    "model": "llama-3.1-8b",
    "hardware": "h100-sxm",
    "prompt": 2048,
    "output": 300,
    "efficiency": "peak",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("token_budget", [512, 4096])
def test_the_most_tokens_per_second_are_those_of_a_walk_over_the_batches(token_budget):
    choice = select(**CASE, token_budget=token_budget)
    (c,), best = choice.configurations, choice.best("throughput")
    walk = {
        batch: Study(**CASE, token_budget=token_budget, batch=batch).first.case.value(
            "sustained_throughput"
        )
        for batch in range(1, c.window.most + 1)
    }
    assert float(best.value("sustained_throughput")) == pytest.approx(
        float(max(walk.values())), rel=1e-3
    )  # the curve has ripples where prompts fill steps
    assert choice.best("cost").batch == best.batch and (best.batch < c.window.most) is (
        token_budget == 512
    )
